/*
 * The neighbors of all nodes as sets: rows without loops and parallel edges, and of WEIR_BOTH those of either
 * direction. Where the rows of the projection are that already, they are used as they are.
 */
#ifndef WEIR_GRAPH_ALGO_SETS_H
#define WEIR_GRAPH_ALGO_SETS_H

#include "similar.h"

/* The neighbors of node i are at start[i] to start[i + 1] - 1, ascending. */
typedef struct weir__sets {
  const uint64_t *start; /* one more than nodes */
  const uint32_t *far;
  uint64_t *own_start; /* what is freed; NULL: the projection's */
  uint32_t *own_far;
} weir__sets;

/* Makes them; a unit of progress a node, twice. After an error, too, weir__sets_free them. */
int weir__sets_make(weir__sets *sets, const weir_projection *p, weir_direction direction, weir__team *team,
                    weir_error *err);

void weir__sets_free(weir__sets *sets);

static inline uint32_t weir__sets_count(const weir__sets *sets, uint32_t node) {
  return (uint32_t)(sets->start[node + 1] - sets->start[node]);
}

#endif
