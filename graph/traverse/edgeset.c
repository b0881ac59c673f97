/* Edges to indexes, by open addressing. Invariant: half of the slots are empty at least. */
#include "edgeset.h"

#include <stdlib.h>
#include <string.h>

#define LEAST UINT32_C(256)       /* edges in the smallest set */
#define MOST  (UINT32_C(1) << 31) /* edges in the largest */

static int same(const weir__edge_id *a, const weir__edge_id *b) {
  return a->src == b->src && a->dst == b->dst && a->label == b->label && a->rank == b->rank;
}

/* The slot that holds the edge, or the empty one where it belongs. */
static uint32_t *slot_of(const weir__edgeset *set, const weir__edge_id *edge) {
  static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
  uint64_t hash = (uint64_t)edge->src * golden;
  hash = ((hash ^ (hash >> 32)) + (uint64_t)edge->dst) * golden;
  hash = ((hash ^ (hash >> 32)) + (uint64_t)edge->label) * golden;
  hash = ((hash ^ (hash >> 32)) + (uint64_t)edge->rank) * golden;
  size_t mask = 2 * (size_t)set->room - 1;
  size_t at = hash >> set->shift;
  while (set->slots[at] != 0 && !same(&set->edges[set->slots[at] - 1], edge)) {
    at = (at + 1) & mask;
  }
  return &set->slots[at];
}

static int grow(weir__edgeset *set, weir_error *err) {
  uint32_t room = set->room > 0 ? set->room * 2 : LEAST;
  if (set->room == MOST) {
    return weir_fail(err, WEIR_NOMEM, "more than %u edges followed", (unsigned)MOST);
  }
  uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);
  weir__edge_id *edges = slots ? realloc(set->edges, room * sizeof *edges) : NULL;
  set->edges = edges ? edges : set->edges;
  uint8_t *flags = edges ? realloc(set->flags, room) : NULL;
  if (!flags) {
    free(slots);
    return weir_fail(err, WEIR_NOMEM, "out of memory for %u edges", (unsigned)room);
  }
  free(set->slots);
  set->slots = slots;
  set->flags = flags;
  set->room = room;
  set->shift = 63 - (unsigned)__builtin_ctz(room);
  for (uint32_t i = 0; i < set->count; i++) {
    *slot_of(set, &set->edges[i]) = i + 1;
  }
  return WEIR_OK;
}

int weir__edgeset_put(weir__edgeset *set, const weir__edge_id *edge, uint32_t *index, int *inserted,
                      weir_error *err) {
  if (set->count == set->room) {
    int rc = grow(set, err);
    if (rc) {
      return rc;
    }
  }
  uint32_t *slot = slot_of(set, edge);
  *inserted = *slot == 0;
  if (*slot == 0) {
    set->edges[set->count] = *edge;
    set->flags[set->count] = 0;
    *slot = ++set->count;
  }
  *index = *slot - 1;
  return WEIR_OK;
}

void weir__edgeset_clear(weir__edgeset *set) {
  free(set->edges);
  free(set->flags);
  free(set->slots);
  *set = (weir__edgeset){.edges = NULL};
}
