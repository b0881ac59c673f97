/*
 * Shortest paths from one node: what sssp.c and sssp_parents.c share.
 */
#ifndef WEIR_GRAPH_ALGO_SSSP_H
#define WEIR_GRAPH_ALGO_SSSP_H

#include "sides.h"

#include <weir/algo.h>

/* Sets the parents that belong to distances, of a projection with weights, none of which is negative. */
int weir__sssp_parents(const weir_projection *p, uint32_t source, weir_direction direction, weir__team *team,
                       const double *distance, uint32_t *parent, weir_error *err);

#endif
