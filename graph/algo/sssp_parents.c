/*
 * Parents on shortest paths, from the distances alone, so that they do not depend on how those were found.
 *
 * An edge is tight if its weight, added to the distance of its begin, is the distance of its end. The parent
 * of a node is the least one before it, by a tight edge, that is nearer to the source. Most nodes have one.
 * Some may not: a weight of 0, or one too small to change the sum, leads to a node that is as far away. Such
 * a level node is reached over others of the same distance, and to keep parents from going round in a circle
 * these are counted: its parent is the least of those that are the fewest tight edges away from a node that
 * has a nearer parent, or from the source.
 */
#include "sssp.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../internal.h"

enum { GRAIN = 1024, TICK_NODES = 4096 };

struct job {
  weir__sides ahead, back;
  uint32_t source;
  const double *distance;
  uint32_t *parent;
  _Atomic uint64_t level; /* nodes that are reached, and have no nearer parent */
};

static inline int is_level(const struct job *job, uint32_t node) {
  return job->parent[node] == WEIR_NO_NODE && node != job->source && job->distance[node] < INFINITY;
}

/* The least node before `node` by a tight edge that is nearer. */
static uint32_t nearer(const struct job *job, uint32_t node) {
  double distance = job->distance[node];
  uint32_t least = WEIR_NO_NODE;
  for (unsigned side = 0; side < job->back.count; side++) {
    const weir__rows *rows = job->back.rows[side];
    for (uint64_t e = rows->start[node]; e < rows->start[node + 1] && rows->far[e] < least; e++) {
      double before = job->distance[rows->far[e]];
      if (before < distance && before + rows->weight[e] == distance) {
        least = rows->far[e];
      }
    }
  }
  return least;
}

static int set_nearer(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct job *job = data;
  uint64_t level = 0;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    job->parent[node] = job->distance[node] < INFINITY ? nearer(job, node) : WEIR_NO_NODE;
    level += is_level(job, node) ? 1 : 0;
  }
  atomic_fetch_add_explicit(&job->level, level, memory_order_relaxed);
  return WEIR_OK;
}

/* ---- Level nodes --------------------------------------------------------------------------------------- */

/* A breadth-first search among level nodes. */
struct search {
  uint32_t *rank;  /* by node; of level nodes: how many tight edges away, 0: not known */
  uint32_t *queue; /* of nodes whose rank is known, in its order */
  size_t count;
};

/* The node is `rank` tight edges away, one of them from `before`. The least node of the rank below stays. */
static void reach(const struct job *job, struct search *s, uint32_t node, uint32_t before, uint32_t rank) {
  if (s->rank[node] == 0) {
    s->rank[node] = rank;
    s->queue[s->count++] = node;
    job->parent[node] = before;
  } else if (s->rank[node] == rank && before < job->parent[node]) {
    job->parent[node] = before;
  }
}

/* Calls reach for each level node that a tight edge leads to from `node`. */
static void pass_on(const struct job *job, struct search *s, uint32_t node) {
  double distance = job->distance[node];
  uint32_t rank = s->rank[node] == UINT32_MAX ? 1 : s->rank[node] + 1;
  for (unsigned side = 0; side < job->ahead.count; side++) {
    const weir__rows *rows = job->ahead.rows[side];
    for (uint64_t e = rows->start[node]; e < rows->start[node + 1]; e++) {
      uint32_t far = rows->far[e];
      if (job->distance[far] == distance && distance + rows->weight[e] == distance &&
          s->rank[far] != UINT32_MAX) {
        reach(job, s, far, node, rank);
      }
    }
  }
}

/* All nodes that are not level pass on first, and have a rank that no other has; then the queue does. */
static int set_level(const struct job *job, struct search *s, uint32_t nodes, weir__team *team,
                     weir_error *err) {
  int rc = WEIR_OK;
  for (uint32_t node = 0; node < nodes; node++) {
    s->rank[node] = is_level(job, node) ? 0 : UINT32_MAX;
  }
  for (uint32_t node = 0; node < nodes && rc == WEIR_OK; node++) {
    if (s->rank[node] == UINT32_MAX && job->distance[node] < INFINITY) {
      pass_on(job, s, node);
    }
    rc = node % TICK_NODES == 0 ? weir__team_tick(team, 0, err) : WEIR_OK;
  }
  for (size_t i = 0; i < s->count && rc == WEIR_OK; i++) {
    pass_on(job, s, s->queue[i]);
    rc = i % TICK_NODES == 0 ? weir__team_tick(team, 0, err) : WEIR_OK;
  }
  return rc;
}

int weir__sssp_parents(const weir_projection *p, uint32_t source, weir_direction direction, weir__team *team,
                       const double *distance, uint32_t *parent, weir_error *err) {
  struct job job = {.ahead = weir__sides_of(p, direction),
                    .back = weir__sides_back(p, direction),
                    .source = source,
                    .distance = distance,
                    .parent = parent};
  uint32_t nodes = p->info.nodes;
  int rc = weir__team_each(team, nodes, GRAIN, set_nearer, &job, err);
  if (rc || job.level == 0) {
    return rc;
  }
  struct search s = {malloc((size_t)nodes * sizeof *s.rank), malloc(job.level * sizeof *s.queue), 0};
  if (s.rank && s.queue) {
    rc = set_level(&job, &s, nodes, team, err);
  } else {
    rc = weir_fail(err, WEIR_NOMEM, "out of memory for the parents of %lu nodes", (unsigned long)nodes);
  }
  free(s.rank);
  free(s.queue);
  return rc;
}
