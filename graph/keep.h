/* Rows that outlive their visit: copies in an arena, and arrays of them that grow there. */
#ifndef WEIR_GRAPH_KEEP_H
#define WEIR_GRAPH_KEEP_H

#include <weir/search.h>
#include <weir/traverse.h>

/* An array in an arena. Zero it to begin. */
typedef struct weir__kept {
  void *items;
  size_t count;
  size_t room;
} weir__kept;

/* Appends a copy of the `size` bytes at `item`, as they are, and returns it; NULL with WEIR_NOMEM in err.
 * `most` (0: unknown) is how many items there will be at most. What an array has outgrown stays in the arena
 * until that is emptied. */
void *weir__keep(weir__kept *kept, weir_arena *arena, const void *item, size_t size, size_t most,
                 weir_error *err);

/* These replace all texts of what they are given by copies in the arena. */
int weir__keep_node(weir_arena *arena, weir_node *node, weir_error *err);
int weir__keep_edge(weir_arena *arena, weir_edge *edge, weir_error *err);
int weir__keep_neighbor(weir_arena *arena, weir_neighbor *neighbor, weir_error *err);
int weir__keep_hit(weir_arena *arena, weir_hit *hit, weir_error *err);
int weir__keep_step(weir_arena *arena, weir_step *step, weir_error *err);

/* Copies `count` hops; NULL with WEIR_NOMEM in err. */
weir_hop *weir__keep_hops(weir_arena *arena, const weir_hop *hops, size_t count, weir_error *err);

#endif
