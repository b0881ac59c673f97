/*
 * The rows that a search follows: one, or both for WEIR_BOTH on a directed projection.
 */
#ifndef WEIR_GRAPH_ALGO_SIDES_H
#define WEIR_GRAPH_ALGO_SIDES_H

#include "projection.h"

typedef struct weir__sides {
  const weir__rows *rows[2];
  unsigned count;
} weir__sides;

/* Of steps in a direction, as weir__direction_of returns it. */
static inline weir__sides weir__sides_of(const weir_projection *p, weir_direction direction) {
  if (direction == WEIR_BOTH) {
    return (weir__sides){{&p->out, &p->in}, 2};
  }
  return (weir__sides){{weir__rows_of(p, direction), NULL}, 1};
}

/* Of the same steps, taken backwards. */
static inline weir__sides weir__sides_back(const weir_projection *p, weir_direction direction) {
  return weir__sides_of(p, direction == WEIR_OUT ? WEIR_IN : direction == WEIR_IN ? WEIR_OUT : direction);
}

/* How many edges lead on from a node. */
static inline uint64_t weir__sides_length(const weir__sides *sides, uint32_t node) {
  uint64_t length = 0;
  for (unsigned side = 0; side < sides->count; side++) {
    length += weir__row_length(sides->rows[side], node);
  }
  return length;
}

/* How many edges there are for all nodes. */
static inline uint64_t weir__sides_total(const weir__sides *sides, uint32_t nodes) {
  uint64_t total = 0;
  for (unsigned side = 0; side < sides->count; side++) {
    total += sides->rows[side]->start[nodes];
  }
  return total;
}

/* Searches go from node to node at random, and would wait for memory at each. A loop over a list of nodes
 * calls these for those that it comes to so many nodes later; the second one after the first. */
#define WEIR__START_AHEAD 8
#define WEIR__ROW_AHEAD   4

static inline void weir__fetch_start(const weir__sides *sides, uint32_t node) {
  for (unsigned side = 0; side < sides->count; side++) {
    __builtin_prefetch(&sides->rows[side]->start[node]);
  }
}

static inline void weir__fetch_row(const weir__sides *sides, uint32_t node) {
  for (unsigned side = 0; side < sides->count; side++) {
    const weir__rows *rows = sides->rows[side];
    uint64_t at = rows->start[node];
    __builtin_prefetch(rows->far + at);
    if (rows->weight) {
      __builtin_prefetch(rows->weight + at);
    }
  }
}

#endif
