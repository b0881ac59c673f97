/* The numbers that nodes have in the store, as those that they have in a projection: while it is made. */
#ifndef WEIR_GRAPH_ALGO_NUMBERS_H
#define WEIR_GRAPH_ALGO_NUMBERS_H

#include <weir/projection.h>

#include "../traverse/idmap.h"

/* Zero it to begin. The i-th number that was added becomes i. */
typedef struct weir__numbers {
  int64_t *ids; /* those of the store, ascending; until all were added */
  size_t room;
  uint32_t count;
  int64_t base;    /* the least */
  uint64_t span;   /* how far they reach: the largest is base + span - 1 */
  uint32_t *table; /* by the distance from base, if there are holes; NULL if these are too large */
  weir__idmap map; /* then */
} weir__numbers;

/* Adds a number that is larger than all before. Errors: WEIR_NOMEM, WEIR_FULL. */
int weir__numbers_add(weir__numbers *numbers, int64_t id, weir_error *err);

/* All were added: makes them ready to be found. Errors: WEIR_NOMEM. */
int weir__numbers_end(weir__numbers *numbers, weir_error *err);

/* Frees the memory. */
void weir__numbers_clear(weir__numbers *numbers);

/* What it becomes; WEIR_NO_NODE: it was not added. */
static inline uint32_t weir__numbers_find(const weir__numbers *numbers, int64_t id) {
  uint64_t at = (uint64_t)id - (uint64_t)numbers->base;
  if (at >= numbers->span) {
    return WEIR_NO_NODE;
  }
  if (numbers->span == numbers->count) {
    return (uint32_t)at;
  }
  return numbers->table ? numbers->table[at] : weir__idmap_find(&numbers->map, id);
}

#endif
