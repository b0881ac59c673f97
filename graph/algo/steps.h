/* Breadth-first search from many nodes at once. */
#ifndef WEIR_GRAPH_ALGO_STEPS_H
#define WEIR_GRAPH_ALGO_STEPS_H

#include "sides.h"

#define WEIR__STEPS_SOURCES 64 /* at once: bits of a word */

/* One thread at a time. Arrays are by node, with a bit for each source. */
typedef struct weir__steps {
  weir__sides sides; /* whose edges are gone along */
  uint32_t nodes;
  uint64_t *seen;                    /* has reached the node */
  uint64_t *visit;                   /* reached it in the latest step */
  uint64_t *next;                    /* may reach it in this step; zero between steps */
  uint32_t *frontier;                /* the nodes with bits in visit */
  uint32_t count;                    /* how many */
  uint32_t *found;                   /* the nodes with bits in next */
  uint32_t met[WEIR__STEPS_SOURCES]; /* by source: how many nodes it reached in the latest step */
} weir__steps;

/* Begin with a zeroed struct, and the sides. Clear it after errors, too. Errors: WEIR_NOMEM. */
int weir__steps_init(weir__steps *s, uint32_t nodes);
void weir__steps_clear(weir__steps *s);

/* Begins with the sources first to last - 1, at most WEIR__STEPS_SOURCES, of which each has met itself. */
void weir__steps_begin(weir__steps *s, uint32_t first, uint32_t last);

/* All sources go one step on. 0: they had reached all they can. */
int weir__steps_go(weir__steps *s);

#endif
