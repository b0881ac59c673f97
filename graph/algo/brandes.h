/* Betweenness from one source after another, with memory that is used again and again. */
#ifndef WEIR_GRAPH_ALGO_BRANDES_H
#define WEIR_GRAPH_ALGO_BRANDES_H

#include "dijkstra.h"

/* One thread at a time. Arrays are by node, and at rest between sources. */
typedef struct weir__brandes {
  const weir_projection *p;
  weir__dijkstra ways; /* without weights its order, reached and paths are used */
  uint32_t *depth;     /* without weights: steps from the source */
  double *share;       /* 0: not known yet */
  double *passing;     /* by place in order: what passes through the nodes of one depth, or paths to them */
} weir__brandes;

/* Begin with a zeroed struct. Clear it after errors, too. Errors: WEIR_NOMEM. */
int weir__brandes_init(weir__brandes *b, const weir_projection *p);
void weir__brandes_clear(weir__brandes *b);

/* Adds to each node how much of the shortest paths from `source` to all others passes through it. Errors:
 * WEIR_FULL (more paths lead to a node than a double can tell). */
int weir__brandes_add(weir__brandes *b, uint32_t source, double *sum);

/* The same with weights, which are above 0. Errors: WEIR_FULL. */
int weir__brandes_add_weighted(weir__brandes *b, uint32_t source, double *sum);

#endif
