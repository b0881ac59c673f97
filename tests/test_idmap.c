/* The map from node numbers to indexes, against an array. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support.h"
#include "traverse/idmap.h"

#define NUMBERS 5000

/* Some numbers are small and dense, some lie far apart, some are negative. */
static int64_t number(int i) {
  return i % 3 == 0 ? i + 1 : i % 3 == 1 ? (int64_t)i << 40 : -(int64_t)i * 4096;
}

static uint32_t put(weir__idmap *map, int64_t id, int expected) {
  uint32_t index = 0;
  int inserted = -1;
  cr_assert(eq(int, weir__idmap_put(map, id, &index, &inserted, NULL), WEIR_OK));
  cr_assert(eq(int, inserted, expected));
  return index;
}

Test(idmap, gives_indexes_in_the_order_of_arrival, .timeout = 60) {
  weir__idmap map = {NULL, 0, 0, NULL, 0};
  cr_assert(eq(u32, weir__idmap_find(&map, 1), WEIR__IDMAP_NONE));
  cr_assert(zero(sz, weir__idmap_bytes(&map)));
  for (int i = 0; i < NUMBERS; i++) {
    cr_assert(eq(u32, put(&map, number(i), 1), (uint32_t)i));
  }
  for (int i = 0; i < NUMBERS; i++) {
    cr_assert(eq(u32, put(&map, number(i), 0), (uint32_t)i));
    cr_assert(eq(u32, weir__idmap_find(&map, number(i)), (uint32_t)i));
    cr_assert(eq(i64, map.ids[i], number(i)));
  }
  cr_assert(eq(u32, map.count, NUMBERS));
  cr_assert(eq(u32, weir__idmap_find(&map, NUMBERS + 10), WEIR__IDMAP_NONE));
  cr_assert(ge(sz, weir__idmap_bytes(&map), NUMBERS * (size_t)16));
  cr_assert(le(sz, weir__idmap_bytes(&map), NUMBERS * (size_t)32));
  weir__idmap_clear(&map);
}

Test(idmap, a_reset_keeps_memory_and_forgets_numbers, .timeout = 60) {
  weir__idmap map = {NULL, 0, 0, NULL, 0};
  weir__idmap_reset(&map);
  put(&map, 7, 1);
  put(&map, 8, 1);
  size_t bytes = weir__idmap_bytes(&map);
  weir__idmap_reset(&map);
  cr_assert(eq(sz, weir__idmap_bytes(&map), bytes));
  cr_assert(eq(u32, weir__idmap_find(&map, 7), WEIR__IDMAP_NONE));
  cr_assert(zero(u32, put(&map, 8, 1)));
  weir__idmap_clear(&map);
  cr_assert(zero(u32, put(&map, 8, 1)));
  weir__idmap_clear(&map);
}
