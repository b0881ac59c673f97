/* Node numbers to indexes. Invariant: half of the slots are empty at least, so a probe ends. */
#include "idmap.h"

#include <stdlib.h>
#include <string.h>

#define LEAST UINT32_C(1024)      /* numbers in the smallest map */
#define MOST  (UINT32_C(1) << 31) /* numbers in the largest */

static void fill_slots(const weir__idmap *map) {
  for (uint32_t i = 0; i < map->count; i++) {
    *weir__idmap_slot(map, map->ids[i]) = i + 1;
  }
}

int weir__idmap_grow(weir__idmap *map, weir_error *err) {
  uint32_t room = map->room > 0 ? map->room * 2 : LEAST;
  if (map->room == MOST) {
    return weir_fail(err, WEIR_NOMEM, "more than %u nodes met", (unsigned)MOST);
  }
  uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);
  int64_t *ids = slots ? realloc(map->ids, room * sizeof *ids) : NULL;
  if (!ids) {
    free(slots);
    return weir_fail(err, WEIR_NOMEM, "out of memory for %u nodes", (unsigned)room);
  }
  free(map->slots);
  map->ids = ids;
  map->slots = slots;
  map->room = room;
  map->shift = 63 - (unsigned)__builtin_ctz(room); /* there are 2 * room slots */
  fill_slots(map);
  return WEIR_OK;
}

void weir__idmap_reset(weir__idmap *map) {
  if (map->room > 0) {
    memset(map->slots, 0, 2 * (size_t)map->room * sizeof *map->slots);
  }
  map->count = 0;
}

void weir__idmap_clear(weir__idmap *map) {
  free(map->slots);
  free(map->ids);
  *map = (weir__idmap){.ids = NULL};
}
