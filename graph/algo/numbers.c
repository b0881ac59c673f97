/*
 * Numbers of nodes. Most often there are no holes between them: then one is subtracted. Else a table over all
 * that lie between the first and the last, unless that is mostly holes: then a hash table.
 */
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

#define LEAST    1024 /* numbers that there is room for at first */
#define SPARSE   4    /* so many times as many numbers as nodes make a table too large */
#define NODE_MAX (UINT32_MAX - 1)

static int grow(weir__numbers *numbers, weir_error *err) {
  size_t room = numbers->room ? 2 * numbers->room : LEAST;
  int64_t *ids = realloc(numbers->ids, room * sizeof *ids);
  if (!ids) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %zu nodes", room);
  }
  numbers->ids = ids;
  numbers->room = room;
  return WEIR_OK;
}

int weir__numbers_add(weir__numbers *numbers, int64_t id, weir_error *err) {
  if (numbers->count == NODE_MAX) {
    return weir_fail(err, WEIR_FULL, "more than %lu nodes: project a part", (unsigned long)NODE_MAX);
  }
  int rc = numbers->count == numbers->room ? grow(numbers, err) : WEIR_OK;
  if (rc == WEIR_OK) {
    numbers->ids[numbers->count++] = id;
  }
  return rc;
}

static int make_table(weir__numbers *numbers, weir_error *err) {
  numbers->table = malloc(numbers->span * sizeof *numbers->table);
  if (!numbers->table) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)numbers->count);
  }
  memset(numbers->table, 0xff, numbers->span * sizeof *numbers->table); /* WEIR_NO_NODE */
  for (uint32_t i = 0; i < numbers->count; i++) {
    numbers->table[numbers->ids[i] - numbers->base] = i;
  }
  return WEIR_OK;
}

static int make_map(weir__numbers *numbers, weir_error *err) {
  int rc = WEIR_OK;
  for (uint32_t i = 0; i < numbers->count && rc == WEIR_OK; i++) {
    uint32_t index;
    int inserted;
    rc = weir__idmap_put(&numbers->map, numbers->ids[i], &index, &inserted, err);
  }
  return rc;
}

int weir__numbers_end(weir__numbers *numbers, weir_error *err) {
  if (numbers->count == 0) {
    return WEIR_OK;
  }
  numbers->base = numbers->ids[0];
  numbers->span = (uint64_t)numbers->ids[numbers->count - 1] - (uint64_t)numbers->base + 1;
  int rc = WEIR_OK;
  if (numbers->span - 1 >= (uint64_t)SPARSE * numbers->count + LEAST) {
    rc = make_map(numbers, err);
  } else if (numbers->span > numbers->count) {
    rc = make_table(numbers, err);
  }
  free(numbers->ids);
  numbers->ids = NULL;
  return rc;
}

void weir__numbers_clear(weir__numbers *numbers) {
  free(numbers->ids);
  free(numbers->table);
  weir__idmap_clear(&numbers->map);
  *numbers = (weir__numbers){.ids = NULL};
}
