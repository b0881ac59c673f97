/* From the nodes of a path to the edges between them, and from these to hops. */
#ifndef WEIR_GRAPH_PATH_HOPS_H
#define WEIR_GRAPH_PATH_HOPS_H

#include "../scan.h"
#include "path.h"

/* An edge as a path follows it. */
typedef struct weir__arc {
  int64_t near;
  int64_t far;
  weir_direction direction; /* WEIR_OUT: from near to far */
  int64_t label;
  int64_t rank;
  double weight;
  double cost; /* not a number: it has none */
} weir__arc;

/* The edge that leads to `far`, seen from `node`. flip: it was followed from the target's side. away: 1 along
 * the edge, 0 against it. */
weir__arc weir__arc_of(const weir__search *search, int64_t node, int flip, int away, const weir__far *far);

/* WEIR_INVALID for an edge whose cost is negative or none; the message names it. */
int weir__arc_refuse(weir__search *search, const weir__arc *arc, weir_error *err);

typedef struct weir__arcs {
  weir__arc *items;
  size_t count;
  size_t room;
} weir__arcs;

int weir__arcs_add(weir__arcs *arcs, const weir__arc *arc, weir_error *err);

/* Opens search->arcs, with what a path tells of an edge. flip: as in weir__steps_open. */
int weir__arcs_open(weir__search *search, int flip, weir_error *err);

typedef int (*weir__arc_visit)(const weir__arc *arc, void *data, weir_error *err);

/* Visits the edges that search->arcs leads along from the node. */
int weir__arcs_each(weir__search *search, int64_t node, int flip, weir__arc_visit visit, void *data,
                    weir_error *err);

/* Adds the edges of the path that was found: of parallel ones the cheapest. */
int weir__arcs_find(weir__search *search, weir__arcs *arcs, weir_error *err);

/* The sum of the costs, from the first on. */
double weir__arcs_cost(const weir__arc *arcs, size_t count);

/* A copy of the key in the arena. */
int weir__key_copy(weir__search *search, int64_t id, weir_arena *arena, weir_text *out, weir_error *err);

/* Fills in all but the keys. */
int weir__hop_fill(weir__search *search, const weir__arc *arc, weir_arena *arena, weir_hop *out,
                   weir_error *err);

/* *out becomes the path over these edges. */
int weir__path_fill(weir__search *search, const weir__arc *arcs, size_t count, weir_arena *arena,
                    weir_path *out, weir_error *err);

/* Hands the path to the user's visitor. WEIR_STOP also becomes the search's ending. */
int weir__path_visit(weir__search *search, weir__page *page, const weir_path *path, weir_path_fn visit,
                     void *data, weir_error *err);

#endif
