/* Memory for results: chunks that never move, so pointers into them stay valid until the arena is emptied. */
#ifndef WEIR_GRAPH_ARENA_H
#define WEIR_GRAPH_ARENA_H

#include <weir/graph.h>

/* Empties the arena; its largest chunk is kept for the next use. */
void weir__arena_reset(weir_arena *arena);

/* `size` bytes, aligned for any type; NULL with WEIR_NOMEM in err. */
void *weir__arena_alloc(weir_arena *arena, size_t size, weir_error *err);

#endif
