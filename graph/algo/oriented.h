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

typedef struct weir__oriented {
  const weir_projection *p;
  uint32_t *degree; /* of a node: distinct neighbors in either direction, without itself */
  uint32_t *length; /* of a node's row */
  uint32_t *far;    /* the other ends, ascending. Rows begin where weir__oriented_row says */
  uint8_t *ways; /* of the same edges: in how many directions there is one, 1 or 2; NULL if not asked for */
} weir__oriented;

/* Makes it, with `ways` if asked for. Takes 2 units of progress a node. */
int weir__oriented_make(weir__oriented *out, const weir_projection *p, int ways, weir__team *team,
                        weir_error *err);

void weir__oriented_free(weir__oriented *oriented);

/* Where the row of a node begins. There is room for all its edges: those that stand elsewhere leave a gap. */
static inline uint64_t weir__oriented_row(const weir__oriented *o, uint32_t node) {
  return o->p->out.start[node] + (o->p->info.undirected ? 0 : o->p->in.start[node]);
}

#endif
