/* A set of edges that gives each an index: 0, 1, 2, ... in the order in which they came. As idmap.h, for
 * what has four numbers. */
#ifndef WEIR_GRAPH_EDGESET_H
#define WEIR_GRAPH_EDGESET_H

#include "../store/storage.h"

/* Zero it to begin. */
typedef struct weir__edgeset {
  weir__edge_id *edges; /* by index */
  uint8_t *flags;       /* by index; the user's, 0 at first */
  uint32_t count;
  uint32_t room;   /* for so many; there are twice as many slots */
  uint32_t *slots; /* index + 1, 0: empty */
  unsigned shift;
} weir__edgeset;

/* *index becomes that of the edge, which is put in if it is not there: *inserted tells. Errors: WEIR_NOMEM.
 */
int weir__edgeset_put(weir__edgeset *set, const weir__edge_id *edge, uint32_t *index, int *inserted,
                      weir_error *err);

/* Frees the memory; it may be used again. */
void weir__edgeset_clear(weir__edgeset *set);

/* How many bytes a set with this room has allocated. */
static inline size_t weir__edgeset_bytes(size_t room) {
  return room * (sizeof(weir__edge_id) + sizeof(uint8_t) + 2 * sizeof(uint32_t));
}

#endif
