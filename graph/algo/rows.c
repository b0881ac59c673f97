/*
 * From edges to rows, in both directions.
 *
 * Rows are turned round by counting: how many entries each has, where it begins, then one after another, in
 * the order of the rows that are read. So what comes out ascends, whatever was in: turned round twice, rows
 * that were in no order ascend, and need no sorting. Parallel edges keep the order in which they were given,
 * in both directions: a sum over them is the same in both.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "projection.h"

#define TICK UINT64_C(1000000) /* entries between two looks at whether to go on */

void weir__rows_clear(weir__rows *rows) {
  free(rows->start);
  free(rows->far);
  free(rows->weight);
  *rows = (weir__rows){NULL, NULL, NULL};
}

/* Empty rows with room for so many entries. */
static int make_rows(weir__rows *rows, uint32_t nodes, uint64_t entries, int weighted, weir_error *err) {
  rows->start = calloc((size_t)nodes + 2, sizeof *rows->start); /* one more: see place_entries */
  rows->far = malloc((entries ? entries : 1) * sizeof *rows->far);
  rows->weight = weighted ? malloc((entries ? entries : 1) * sizeof *rows->weight) : NULL;
  if (!rows->start || !rows->far || (weighted && !rows->weight)) {
    weir__rows_clear(rows);
    (void)weir_fail(err, WEIR_NOMEM, "out of memory for %llu edges", (unsigned long long)entries);
    return WEIR_NOMEM;
  }
  return WEIR_OK;
}

void weir__rows_trim(weir__rows *rows, uint64_t entries) {
  size_t room = entries ? entries : 1;
  uint32_t *far = realloc(rows->far, room * sizeof *far);
  if (far) {
    rows->far = far;
  }
  double *weight = rows->weight ? realloc(rows->weight, room * sizeof *weight) : NULL;
  if (weight) {
    rows->weight = weight;
  }
}

/* ---- Counting -------------------------------------------------------------------------------------------
 */

/* Adds up the lengths, which stand at start[node + 2]: start[node + 1] becomes where the row begins, and
 * moves to its end as it is filled, which is where the next one begins. */
static void place_entries(weir__rows *rows, uint32_t nodes) {
  for (size_t i = 1; i < (size_t)nodes + 1; i++) {
    rows->start[i + 1] += rows->start[i];
  }
}

static inline void put_entry(weir__rows *rows, uint32_t node, uint32_t far, double weight) {
  uint64_t at = rows->start[node + 1]++;
  rows->far[at] = far;
  if (rows->weight) {
    rows->weight[at] = weight;
  }
}

static inline double weight_at(const weir__rows *rows, uint64_t at) {
  return rows->weight ? rows->weight[at] : 0;
}

/* The edges of a list in the rows of their sources, in the order of the list. */
static void scatter_list(weir__rows *rows, const weir__edge_list *list) {
  for (uint64_t i = 0; i < list->count; i++) {
    rows->start[(size_t)list->src[i] + 2]++;
  }
  place_entries(rows, list->nodes);
  for (uint64_t i = 0; i < list->count; i++) {
    put_entry(rows, list->src[i], list->dst[i], list->weight ? list->weight[i] : 0);
  }
}

static void count_far_ends(weir__rows *out, const weir__rows *in, uint32_t nodes) {
  uint64_t entries = in->start[nodes];
  for (uint64_t i = 0; i < entries; i++) {
    out->start[(size_t)in->far[i] + 2]++;
  }
}

/* Looks whether to go on, now and then. */
static int tick(weir__team *team, uint64_t at, uint64_t *told, weir_error *err) {
  if (at - *told < TICK) {
    return WEIR_OK;
  }
  *told = at;
  return weir__team_tick(team, 0, err);
}

/* The same edges seen from their other ends. `out` is empty, with room for them. */
static int turn_round(weir__rows *out, const weir__rows *in, uint32_t nodes, weir__team *team,
                      weir_error *err) {
  uint64_t told = 0;
  int rc = WEIR_OK;
  count_far_ends(out, in, nodes);
  place_entries(out, nodes);
  for (uint32_t node = 0; node < nodes && rc == WEIR_OK; node++) {
    for (uint64_t i = in->start[node]; i < in->start[node + 1]; i++) {
      put_entry(out, in->far[i], node, weight_at(in, i));
    }
    rc = tick(team, in->start[node + 1], &told, err);
  }
  return rc;
}

/* ---- Loops and parallel edges ---------------------------------------------------------------------------
 */

static double merge_two(double a, double b, weir_parallel how) {
  if (how == WEIR_PARALLEL_SUM) {
    return a + b;
  }
  return (how == WEIR_PARALLEL_MIN) == (b < a) ? b : a;
}

/* Merges the entries first to last - 1, which are parallel, and writes the result to `at`; how many entries
 * that are. A loop of an undirected projection is there twice, side by side, and stays so. */
static uint64_t merge_run(weir__rows *rows, uint64_t at, uint64_t first, uint64_t last, int twice,
                          weir_parallel how) {
  uint64_t step = twice ? 2 : 1;
  uint32_t far = rows->far[first];
  double weight = rows->weight ? rows->weight[first] : 0;
  for (uint64_t i = first + step; i < last && rows->weight; i += step) {
    weight = merge_two(weight, rows->weight[i], how);
  }
  for (uint64_t i = 0; i < step; i++) {
    rows->far[at + i] = far;
    if (rows->weight) {
      rows->weight[at + i] = weight;
    }
  }
  return step;
}

/* Takes out what is not wanted; the rows ascend. */
static void merge_rows(weir__rows *rows, const weir__shape *shape) {
  uint64_t at = 0, first = 0;
  if (!shape->parallel && !shape->drop_loops) {
    return;
  }
  for (uint32_t node = 0; node < shape->nodes; node++) {
    uint64_t end = rows->start[node + 1];
    while (first < end) {
      uint32_t far = rows->far[first];
      int loop = far == node;
      uint64_t last = first + 1;
      while (last < end && rows->far[last] == far && (shape->parallel || (loop && shape->drop_loops))) {
        last++;
      }
      if (!loop || !shape->drop_loops) {
        at += merge_run(rows, at, first, last, shape->undirected && loop && shape->parallel, shape->parallel);
      }
      first = last;
    }
    rows->start[node + 1] = at;
  }
  weir__rows_trim(rows, at);
}

/* ---- Directed -------------------------------------------------------------------------------------------
 */

static int fill_directed(weir_projection *p, const weir__shape *shape, weir__team *team, weir_error *err) {
  int weighted = p->out.weight != NULL;
  if (shape->ascending) {
    merge_rows(&p->out, shape);
  }
  int rc = make_rows(&p->in, shape->nodes, p->out.start[shape->nodes], weighted, err);
  if (rc == WEIR_OK) {
    rc = turn_round(&p->in, &p->out, shape->nodes, team, err);
  }
  if (rc || shape->ascending) {
    return rc;
  }
  merge_rows(&p->in, shape);
  memset(p->out.start, 0, ((size_t)shape->nodes + 2) * sizeof *p->out.start);
  rc = turn_round(&p->out, &p->in, shape->nodes, team, err);
  if (rc == WEIR_OK && (shape->parallel || shape->drop_loops)) {
    weir__rows_trim(&p->out, p->out.start[shape->nodes]);
  }
  return rc;
}

/* ---- Undirected -----------------------------------------------------------------------------------------
 */

/* Puts `node` into the rows of those far ends that are not less than it (or that are), a loop twice. */
static void put_both(weir__rows *both, const weir__rows *rows, uint32_t node, int less, int loops) {
  for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
    uint32_t far = rows->far[i];
    if (far == node ? loops : (far < node) == less) {
      put_entry(both, far, node, weight_at(rows, i));
    }
    if (far == node && loops) {
      put_entry(both, far, node, weight_at(rows, i));
    }
  }
}

/*
 * Each node goes into the rows of all its neighbors before the next one does, so those ascend. Of parallel
 * edges those that were given from the lesser node come first in the rows of both.
 */
static int fill_both(weir__rows *both, const weir__rows *out, const weir__rows *in, uint32_t nodes,
                     weir__team *team, weir_error *err) {
  uint64_t told = 0;
  int rc = WEIR_OK;
  count_far_ends(both, out, nodes);
  count_far_ends(both, in, nodes);
  place_entries(both, nodes);
  for (uint32_t node = 0; node < nodes && rc == WEIR_OK; node++) {
    put_both(both, out, node, 0, 1);
    put_both(both, in, node, 1, 0);
    put_both(both, in, node, 0, 0);
    put_both(both, out, node, 1, 0);
    rc = tick(team, out->start[node + 1], &told, err);
  }
  return rc;
}

static int fill_undirected(weir_projection *p, const weir__shape *shape, weir__team *team, weir_error *err) {
  uint64_t count = p->out.start[shape->nodes];
  int weighted = p->out.weight != NULL;
  weir__rows both = {NULL, NULL, NULL};
  int rc = make_rows(&p->in, shape->nodes, count, weighted, err);
  if (rc == WEIR_OK) {
    rc = turn_round(&p->in, &p->out, shape->nodes, team, err);
  }
  if (rc == WEIR_OK) {
    rc = make_rows(&both, shape->nodes, 2 * count, weighted, err);
  }
  if (rc == WEIR_OK) {
    rc = fill_both(&both, &p->out, &p->in, shape->nodes, team, err);
  }
  if (rc) {
    weir__rows_clear(&both);
    return rc;
  }
  weir__rows_clear(&p->in);
  weir__rows_clear(&p->out);
  p->out = both;
  merge_rows(&p->out, shape);
  p->in = p->out;
  return WEIR_OK;
}

/* ---- Both -----------------------------------------------------------------------------------------------
 */

/* The weights that were given are finite; sums of them may not be. */
static int check_sums(const weir__rows *rows, const weir__shape *shape, weir_error *err) {
  uint64_t entries = rows->start[shape->nodes];
  for (uint64_t i = 0; i < entries && rows->weight && shape->parallel == WEIR_PARALLEL_SUM; i++) {
    if (!isfinite(rows->weight[i])) {
      return weir_fail(err, WEIR_INVALID, "the weights of parallel edges are too great to add up");
    }
  }
  return WEIR_OK;
}

static void sum_up(weir_projection *p, const weir__shape *shape) {
  weir_projection_info *info = &p->info;
  const weir__rows *rows = &p->out;
  uint64_t entries = rows->start[shape->nodes], loops = 0;
  for (uint32_t node = 0; node < shape->nodes; node++) {
    for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
      loops += rows->far[i] == node;
    }
  }
  for (uint64_t i = 0; i < entries && rows->weight; i++) {
    info->least_weight =
        i == 0 || rows->weight[i] < info->least_weight ? rows->weight[i] : info->least_weight;
  }
  info->nodes = shape->nodes;
  info->edges = shape->undirected ? entries / 2 : entries;
  info->loops = shape->undirected ? loops / 2 : loops;
  info->undirected = shape->undirected;
  info->weighted = rows->weight != NULL;
  size_t sides = shape->undirected ? 1 : 2;
  info->bytes = sizeof *p + sides * (((size_t)shape->nodes + 2) * sizeof *rows->start +
                                     entries * (sizeof *rows->far + (rows->weight ? sizeof(double) : 0)));
}

int weir__projection_of_rows(weir_projection **out, weir__rows *rows, const weir__shape *shape,
                             weir__team *team, weir_error *err) {
  weir_projection *p = calloc(1, sizeof *p);
  if (!p) {
    weir__rows_clear(rows);
    return weir_fail(err, WEIR_NOMEM, "out of memory for a projection");
  }
  p->out = *rows;
  *rows = (weir__rows){NULL, NULL, NULL};
  int rc = shape->undirected ? fill_undirected(p, shape, team, err) : fill_directed(p, shape, team, err);
  if (rc == WEIR_OK) {
    rc = check_sums(&p->out, shape, err);
  }
  if (rc) {
    weir_projection_close(p);
    return rc;
  }
  sum_up(p, shape);
  *out = p;
  return WEIR_OK;
}

int weir__projection_make(weir_projection **out, const weir__edge_list *list, weir__team *team,
                          weir_error *err) {
  const weir__shape shape = {.nodes = list->nodes,
                             .undirected = list->undirected,
                             .drop_loops = list->drop_loops,
                             .parallel = list->parallel};
  weir__rows rows;
  int rc = make_rows(&rows, list->nodes, list->count, list->weight != NULL, err);
  if (rc) {
    return rc;
  }
  scatter_list(&rows, list);
  return weir__projection_of_rows(out, &rows, &shape, team, err);
}
