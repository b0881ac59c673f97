/*
 * How many nodes are within some steps: breadth first, one level after the other, over numbers alone.
 *
 * Invariant: met.ids is the queue. It begins with the levels that are done, each in one piece.
 */
#include <stdlib.h>

#include "../node.h"
#include "idmap.h"
#include "reach.h"

#define CHUNK 128  /* far ends read at once */
#define LARGE 4096 /* nodes in a level: sorting them pays */

struct within {
  weir_text key;
  uint32_t depth;
  const weir_reach *reach;
  uint64_t *out;
  weir__steps steps;
  weir__idmap met;
  int64_t *level; /* a copy of the last level */
  size_t level_room;
  weir__idmap left_out; /* nodes for which reach->nodes is false: none is asked twice */
};

/* *passes: is the node one to step to? */
static int ask_node(struct within *within, int64_t id, int *passes, weir_error *err) {
  uint32_t index;
  int inserted;
  *passes = weir__idmap_find(&within->met, id) != WEIR__IDMAP_NONE;
  if (*passes || weir__idmap_find(&within->left_out, id) != WEIR__IDMAP_NONE) {
    return WEIR_OK;
  }
  int rc = weir__lookup_passes(within->steps.node, id, passes, err);
  return rc || *passes ? rc : weir__idmap_put(&within->left_out, id, &index, &inserted, err);
}

static int meet(struct within *within, const int64_t *ids, size_t count, weir_error *err) {
  int rc = WEIR_OK;
  for (size_t i = 0; i < count && rc == WEIR_OK; i++) {
    uint32_t index;
    int inserted;
    int passes = 1;
    if (within->steps.node) {
      rc = ask_node(within, ids[i], &passes, err);
    }
    if (rc == WEIR_OK && passes) {
      rc = weir__idmap_put(&within->met, ids[i], &index, &inserted, err);
    }
  }
  return rc;
}

/* Meets what is one step from the level. */
static int expand(struct within *within, weir__hops *hops, size_t level_count, weir_error *err) {
  int64_t ids[CHUNK];
  size_t count = hops ? CHUNK : 0;
  int rc = WEIR_OK;
  if (hops) {
    weir__hops_seek_all(hops, within->level, level_count);
  }
  while (rc == WEIR_OK && count == CHUNK) {
    rc = weir__hops_ids(hops, ids, NULL, CHUNK, &count, err);
    if (rc == WEIR_OK) {
      rc = meet(within, ids, count, err);
    }
  }
  return rc;
}

/* Copies the level that begins at met.ids[from], since met.ids moves while the level is expanded. A large one
 * in the order of the numbers, so that the pages of the table are met one after the other. */
static int copy_level(struct within *within, uint32_t from, uint32_t to, weir_error *err) {
  size_t count = to - from;
  if (within->level_room < count) {
    int64_t *level = realloc(within->level, 2 * count * sizeof *level);
    if (!level) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for %zu nodes", count);
    }
    within->level = level;
    within->level_room = 2 * count;
  }
  memcpy(within->level, within->met.ids + from, count * sizeof *within->level);
  if (count >= LARGE) {
    qsort(within->level, count, sizeof *within->level, weir__compare_ids);
  }
  return WEIR_OK;
}

static int run_levels(struct within *within, int64_t start, weir_error *err) {
  uint32_t from = 0;
  uint32_t index;
  int inserted;
  int rc = weir__idmap_put(&within->met, start, &index, &inserted, err); /* not asked */
  for (uint32_t depth = 0; rc == WEIR_OK; depth++) {
    uint32_t to = within->met.count;
    within->out[depth] = to - from;
    if (depth == within->depth || from == to) {
      break;
    }
    rc = copy_level(within, from, to, err);
    if (rc == WEIR_OK) {
      rc = expand(within, within->steps.out, to - from, err);
    }
    if (rc == WEIR_OK) {
      rc = expand(within, within->steps.in, to - from, err);
    }
    from = to;
  }
  return rc;
}

static int count_within(weir_txn *txn, void *data, weir_error *err) {
  struct within *within = data;
  int64_t start;
  int rc = weir__node_number(txn, within->key, &start, err);
  if (rc == WEIR_OK) {
    rc = weir__steps_open(&within->steps, txn, within->reach, 0, WEIR__HOPS_FRONTIER, NULL, err);
  }
  if (rc) {
    return rc;
  }
  memset(within->out, 0, ((size_t)within->depth + 1) * sizeof *within->out);
  rc = run_levels(within, start, err);
  weir__steps_close(&within->steps);
  weir__idmap_clear(&within->met);
  free(within->level);
  weir__idmap_clear(&within->left_out);
  return rc;
}

int weir_within_count(weir_txn *txn, weir_text key, uint32_t depth, const weir_reach *reach, uint64_t *out,
                      weir_error *err) {
  static const weir_reach all = {.direction = WEIR_OUT};
  struct within within = {.key = key, .depth = depth, .reach = reach ? reach : &all, .out = out};
  int rc = weir__check_set(out, "out", err);
  if (rc == WEIR_OK && depth == WEIR_UNLIMITED) {
    rc = weir_fail(err, WEIR_INVALID, "depth is WEIR_UNLIMITED, but out has depth + 1 elements: use a walk");
  }
  if (rc == WEIR_OK) {
    rc = weir__key_check(key, "key", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__reach_check(within.reach, err);
  }
  return rc ? rc : weir__graph_read(txn, count_within, &within, err);
}
