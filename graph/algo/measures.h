/* Measures that other algorithms need, on a team that is there. */
#ifndef WEIR_GRAPH_ALGO_MEASURES_H
#define WEIR_GRAPH_ALGO_MEASURES_H

#include "projection.h"

/* As weir_degrees, with a direction that is one. (degrees.c) */
int weir__degrees(weir__team *team, const weir_projection *p, weir_direction direction, uint64_t *degree,
                  double *strength, weir_error *err);

/* As weir_modularity, with arguments that are right. (modularity.c) */
int weir__modularity(weir__team *team, const weir_projection *p, const uint32_t *community, double resolution,
                     double *out, weir_error *err);

#endif
