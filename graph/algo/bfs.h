/*
 * Breadth-first search as a part of other computations.
 */
#ifndef WEIR_GRAPH_ALGO_BFS_H
#define WEIR_GRAPH_ALGO_BFS_H

#include "sides.h"

#include <weir/algo.h>

/* How many units of progress a search takes, at most. */
uint64_t weir__bfs_units(const weir_projection *p, weir_direction direction);

/* weir_bfs, with arguments that are checked, by a team that is there. */
int weir__bfs(const weir_projection *p, uint32_t source, weir_direction direction, weir__team *team,
              uint32_t *depth, uint32_t *parent, weir_error *err);

#endif
