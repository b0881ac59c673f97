/* Shortest paths by weights, from one node after another, with memory that is used again and again. */
#ifndef WEIR_GRAPH_ALGO_DIJKSTRA_H
#define WEIR_GRAPH_ALGO_DIJKSTRA_H

#include "sides.h"

typedef struct weir__waiting {
  double distance;
  uint32_t node;
} weir__waiting;

/* One thread at a time. Arrays are by node, and at rest but for what the last source reached. */
typedef struct weir__dijkstra {
  weir__sides sides; /* whose edges are gone along */
  weir__team *team;  /* that a search is a part of: it ends early, with less found, if that is over */
  unsigned worker;
  uint32_t *order;  /* the nodes reached, the nearest first, which is the source */
  uint32_t reached; /* how many */
  double *distance; /* INFINITY: not reached */
  double *paths;    /* how many shortest ones there are */

  weir__waiting *heap; /* nodes found that are not yet in order */
  uint32_t count;      /* how many */
  uint32_t *slot;      /* by node: 0: not found; place in heap + 1; or SETTLED: in order */
} weir__dijkstra;

/* Begin with a zeroed struct, sides, team and worker. Clear it after errors, too. Errors: WEIR_NOMEM. */
int weir__dijkstra_init(weir__dijkstra *d, uint32_t nodes);
void weir__dijkstra_clear(weir__dijkstra *d);

/*
 * Finds all nodes that can be reached from `source`. Distances are added from the source on, and compared as
 * they are. An edge is on a shortest path if it leads from a node to one that comes later in `order`, whose
 * distance is the sum of the two. Weights are above 0.
 */
void weir__dijkstra_from(weir__dijkstra *d, uint32_t source);

/* *wanted becomes 1 if the edges of a projection have weights, and these matter. Errors: WEIR_INVALID (one is
 * not above 0). */
int weir__dijkstra_wanted(const weir_projection *p, int unweighted, int *wanted, weir_error *err);

#endif
