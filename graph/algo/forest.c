/*
 * Minimum spanning forest, by Kruskal's algorithm: edges from the least weight on, each kept that joins two
 * trees.
 *
 * Edges are read off the rows in the order of (a, b), a < b, and sorting by weight keeps the order of equal
 * ones. Without weights there is nothing to sort.
 */
#include <stdlib.h>

#include <weir/algo.h>

#include "../internal.h"
#include "projection.h"
#include "radix.h"
#include "unions.h"

#define NODES_A_PIECE 1024

struct forest {
  const weir_projection *p;
  weir__unions *parent;
  weir__keyed *edges, *spare; /* key: of the weight; value: a, and b in the lower half */
  uint64_t *first;            /* by piece of nodes: where its edges are in `edges`; one more than pieces */
  uint32_t count;             /* edges of the forest */
  weir_link *links;           /* they */
};

/* ---- Edges a < b of a node, ascending by b ------------------------------------------------------------- */

struct upward {
  const weir__rows *rows[2];
  uint64_t at[2], end[2];
};

static uint64_t first_above(const weir__rows *rows, uint32_t node) {
  uint64_t low = rows->start[node], high = rows->start[node + 1];
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (rows->far[middle] > node) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

static struct upward upward_of(const weir_projection *p, uint32_t node) {
  struct upward up = {.rows = {&p->out, &p->in}};
  for (int i = 0; i < (p->info.undirected ? 1 : 2); i++) {
    up.at[i] = first_above(up.rows[i], node);
    up.end[i] = up.rows[i]->start[node + 1];
  }
  return up;
}

static uint64_t upward_count(const struct upward *up) {
  return up->end[0] - up->at[0] + up->end[1] - up->at[1];
}

/* The next edge: the other end, and its weight; WEIR_NO_NODE after the last. */
static uint32_t upward_next(struct upward *up, double *weight) {
  uint32_t one = up->at[0] < up->end[0] ? up->rows[0]->far[up->at[0]] : WEIR_NO_NODE;
  uint32_t two = up->at[1] < up->end[1] ? up->rows[1]->far[up->at[1]] : WEIR_NO_NODE;
  int side = two < one;
  uint32_t next = side ? two : one;
  if (next != WEIR_NO_NODE) {
    *weight = up->rows[side]->weight ? up->rows[side]->weight[up->at[side]] : 1;
    up->at[side]++;
  }
  return next;
}

/* ---- With weights: gathered, sorted, joined ------------------------------------------------------------ */

/* The edges of piece i go to first[i + 1]. */
static int count_edges(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct forest *job = data;
  uint64_t count = 0;
  (void)worker;
  for (uint64_t node = first; node < last; node++) {
    struct upward up = upward_of(job->p, (uint32_t)node);
    count += upward_count(&up);
  }
  job->first[first / NODES_A_PIECE + 1] = count;
  return WEIR_OK;
}

static int gather_edges(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct forest *job = data;
  weir__keyed *to = job->edges + job->first[first / NODES_A_PIECE];
  (void)worker;
  for (uint64_t node = first; node < last; node++) {
    struct upward up = upward_of(job->p, (uint32_t)node);
    double weight = 0;
    for (uint32_t far = 0; (far = upward_next(&up, &weight)) != WEIR_NO_NODE;) {
      *to++ = (weir__keyed){weir__key_of_double(weight), node << 32 | far};
    }
  }
  return WEIR_OK;
}

/* All edges that are no loops, sorted by weight, a, b. */
static int sort_edges(struct forest *job, uint64_t *count, weir__team *team, weir_error *err) {
  uint64_t nodes = job->p->info.nodes, pieces = (nodes + NODES_A_PIECE - 1) / NODES_A_PIECE;
  job->first = calloc(pieces + 1, sizeof *job->first);
  if (!job->first) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a forest");
  }
  int rc = weir__team_each(team, nodes, NODES_A_PIECE, count_edges, job, err);
  if (rc) {
    return rc;
  }
  for (uint64_t i = 0; i < pieces; i++) {
    job->first[i + 1] += job->first[i];
  }
  *count = job->first[pieces];
  job->edges = calloc(*count + 1, sizeof *job->edges);
  job->spare = malloc((*count + 1) * sizeof *job->spare);
  if (!job->edges || !job->spare) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %llu edges", (unsigned long long)*count);
  }
  rc = weir__team_each(team, nodes, NODES_A_PIECE, gather_edges, job, err);
  return rc ? rc : weir__radix_sort(&job->edges, &job->spare, *count, team, err);
}

/* Leaves the edges of the forest in `spare`: by a and b, and with the key of the weight as value. */
static int join_sorted(struct forest *job, uint64_t count, weir__team *team, weir_error *err) {
  uint64_t units = 0;
  for (uint64_t i = 0; i < count && job->count + 1 < job->p->info.nodes; i++) {
    const weir__keyed *edge = &job->edges[i];
    if (weir__unions_join(job->parent, (uint32_t)(edge->value >> 32), (uint32_t)edge->value)) {
      job->spare[job->count++] = (weir__keyed){edge->value, edge->key};
    }
    int rc = weir__team_pace(team, &units, 1, err);
    if (rc) {
      return rc;
    }
  }
  return weir__team_tick(team, units, err);
}

static int grow_weighted(struct forest *job, weir__team *team, weir_error *err) {
  uint64_t count = 0;
  int rc = sort_edges(job, &count, team, err);
  if (rc == WEIR_OK) {
    rc = join_sorted(job, count, team, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__radix_sort(&job->spare, &job->edges, job->count, team, err);
  }
  for (uint32_t i = 0; i < job->count && rc == WEIR_OK; i++) {
    const weir__keyed *edge = &job->spare[i];
    job->links[i] =
        (weir_link){(uint32_t)(edge->key >> 32), (uint32_t)edge->key, weir__double_of_key(edge->value)};
  }
  return rc;
}

/* ---- Without weights ----------------------------------------------------------------------------------- */

static int grow_unweighted(struct forest *job, weir__team *team, weir_error *err) {
  uint64_t units = 0;
  for (uint32_t node = 0; node < job->p->info.nodes; node++) {
    struct upward up = upward_of(job->p, node);
    double weight = 0;
    uint64_t looks = upward_count(&up) + 1;
    for (uint32_t far = 0; (far = upward_next(&up, &weight)) != WEIR_NO_NODE;) {
      if (weir__unions_join(job->parent, node, far)) {
        job->links[job->count++] = (weir_link){node, far, weight};
      }
    }
    int rc = weir__team_pace(team, &units, looks, err);
    if (rc) {
      return rc;
    }
  }
  return weir__team_tick(team, units, err);
}

/* ---- Both ---------------------------------------------------------------------------------------------- */

static int grow_forest(struct forest *job, const weir_run *run, weir_error *err) {
  const weir_projection_info *info = &job->p->info;
  weir__team *team = NULL;
  int rc = WEIR_OK;
  if (info->weighted) {
    rc = weir__team_open(&team, run, 2 * (uint64_t)info->nodes + (WEIR__RADIX_MOST + 1) * info->edges,
                         4 * info->edges, err);
  } else {
    rc = weir__team_open_alone(&team, run, info->nodes + info->edges, err);
  }
  if (rc == WEIR_OK) {
    rc = info->weighted ? grow_weighted(job, team, err) : grow_unweighted(job, team, err);
  }
  return weir__team_close(team, rc, err);
}

static double sum_of(const weir_link *edges, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += edges[i].value;
  }
  return sum;
}

int weir_spanning_forest(const weir_projection *projection, const weir_run *run, weir_link *edges,
                         uint32_t *count, double *total, weir_error *err) {
  int rc = weir__check_set(projection, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(edges, "edges", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(count, "count", err);
  }
  if (rc) {
    return rc;
  }
  uint32_t nodes = projection->info.nodes;
  struct forest job = {.p = projection, .links = edges};
  job.parent = malloc(((size_t)nodes + 1) * sizeof *job.parent);
  if (!job.parent) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a forest of %lu nodes", (unsigned long)nodes);
  }
  weir__unions_init(job.parent, nodes);
  rc = grow_forest(&job, run, err);
  if (rc == WEIR_OK) {
    *count = job.count;
    if (total) {
      *total = sum_of(edges, job.count);
    }
  }
  free(job.parent);
  free(job.edges);
  free(job.spare);
  free(job.first);
  return rc;
}
