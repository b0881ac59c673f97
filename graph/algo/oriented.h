/*
 * A projection as a simple graph, whose edges each stand in one row only: that of the end with fewer
 * neighbors, of equal ones the lesser number. So no row is longer than the square root of twice the edges,
 * and a triangle is found once: T. Schank, D. Wagner, Finding, counting and listing all triangles in large
 * graphs, 2005; M. Latapy, Main-memory triangle computations for very large (sparse (power-law)) graphs,
 * 2008.
 */
#ifndef WEIR_GRAPH_ALGO_ORIENTED_H
#define WEIR_GRAPH_ALGO_ORIENTED_H

#include "projection.h"

/* The row of a node: far[start] to far[start + length - 1]. */
typedef struct weir__oriented_row {
  uint64_t start; /* there is room for all edges of the node: those that stand elsewhere leave a gap */
  uint32_t length;
} weir__oriented_row;

typedef struct weir__oriented {
  uint32_t *degree;         /* of a node: distinct neighbors in either direction, without itself */
  weir__oriented_row *rows; /* by node */
  uint32_t *far;            /* the other ends; ascending in a row */
  uint8_t *ways;            /* of the same edges: in how many directions there is one, 1 or 2; or NULL */
} weir__oriented;

/* Makes it, with `ways` if asked for and the projection is directed. Takes 2 units of progress a node. */
int weir__oriented_make(weir__oriented *out, const weir_projection *p, int ways, weir__team *team,
                        weir_error *err);

void weir__oriented_free(weir__oriented *oriented);

#endif
