/*
 * A set of node numbers that gives each an index: 0, 1, 2, ... in the order in which they came. What else is
 * known of a node lies in arrays of the user's, at its index; ids[] alone is a queue of the nodes met.
 *
 * 16 to 32 bytes a number. Not for the number 0, which no node has, nor for more than 2^31 numbers.
 */
#ifndef WEIR_GRAPH_IDMAP_H
#define WEIR_GRAPH_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#include <weir/pool.h>

#define WEIR__IDMAP_NONE UINT32_MAX

/* Zero it to begin. */
typedef struct weir__idmap {
  int64_t *ids;    /* by index */
  uint32_t count;  /* how many */
  uint32_t room;   /* for so many; there are twice as many slots */
  uint32_t *slots; /* index + 1, 0: empty; open addressing, linear probing */
  unsigned shift;  /* of the product that is the hash */
} weir__idmap;

/* Makes room for more; put does it by itself. Errors: WEIR_NOMEM. */
int weir__idmap_grow(weir__idmap *map, weir_error *err);

/* Empties it, and keeps the memory. */
void weir__idmap_reset(weir__idmap *map);

/* Frees the memory; it may be used again. */
void weir__idmap_clear(weir__idmap *map);

/* How many bytes it has allocated. */
static inline size_t weir__idmap_bytes(const weir__idmap *map) {
  return map->room * (sizeof *map->ids + 2 * sizeof *map->slots);
}

/* The slot that holds `id`, or the empty one where it belongs. */
static inline uint32_t *weir__idmap_slot(const weir__idmap *map, int64_t id) {
  size_t mask = 2 * (size_t)map->room - 1;
  size_t at = ((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15)) >> map->shift; /* 2^64 / golden ratio */
  while (map->slots[at] != 0 && map->ids[map->slots[at] - 1] != id) {
    at = (at + 1) & mask;
  }
  return &map->slots[at];
}

/* The index of `id`, or WEIR__IDMAP_NONE. */
static inline uint32_t weir__idmap_find(const weir__idmap *map, int64_t id) {
  return map->room > 0 ? *weir__idmap_slot(map, id) - 1 : WEIR__IDMAP_NONE;
}

/* *index becomes that of `id`, which is put in if it is not there: *inserted tells. Errors: WEIR_NOMEM. */
static inline int weir__idmap_put(weir__idmap *map, int64_t id, uint32_t *index, int *inserted,
                                  weir_error *err) {
  if (map->count == map->room) {
    int rc = weir__idmap_grow(map, err);
    if (rc) {
      return rc;
    }
  }
  uint32_t *slot = weir__idmap_slot(map, id);
  *inserted = *slot == 0;
  if (*slot == 0) {
    map->ids[map->count++] = id;
    *slot = map->count;
  }
  *index = *slot - 1;
  return WEIR_OK;
}

#endif
