/*
 * Walks, as the user has them: what they are asked is checked and copied, and each run is one read.
 */
#include "walk.h"

#include <stdlib.h>

#include "../node.h"
#include "../query/cond.h"

/* ---- Opening --------------------------------------------------------------------------------------------
 */

static int check_options(const weir_walk_options *options, weir_error *err) {
  if ((unsigned)options->order > WEIR_DEPTH_FIRST) {
    return weir_fail(err, WEIR_INVALID, "order %d: give WEIR_BREADTH_FIRST or WEIR_DEPTH_FIRST",
                     (int)options->order);
  }
  if ((unsigned)options->unique > WEIR_UNIQUE_PATH) {
    return weir_fail(err, WEIR_INVALID,
                     "unique %d: give WEIR_UNIQUE_NODE, WEIR_UNIQUE_EDGE or WEIR_UNIQUE_PATH",
                     (int)options->unique);
  }
  if (options->flags & ~(unsigned)(WEIR_WITH_NODES | WEIR_WITH_EDGES | WEIR_WITH_PATHS)) {
    return weir_fail(err, WEIR_INVALID, "flags 0x%x: give WEIR_WITH_NODES, WEIR_WITH_EDGES, WEIR_WITH_PATHS",
                     options->flags);
  }
  if (options->min_depth > options->max_depth) {
    return weir_fail(err, WEIR_INVALID, "min_depth %u is more than max_depth %u",
                     (unsigned)options->min_depth, (unsigned)options->max_depth);
  }
  return weir__reach_check(&options->reach, err);
}

/* A copy of texts, in one piece of memory. NULL: out of memory. */
static weir_text *copy_texts(const weir_text *texts, size_t count) {
  size_t size = count * (sizeof *texts + 1);
  for (size_t i = 0; i < count; i++) {
    size += texts[i].len;
  }
  weir_text *copy = malloc(size + 1);
  if (!copy) {
    return NULL;
  }
  char *at = (char *)(copy + count);
  for (size_t i = 0; i < count; i++) {
    copy[i] = weir__text_copy(&at, texts[i]);
  }
  return copy;
}

/* The conditions and texts that were given become the walk's own. 0: out of memory. */
static int own_options(weir_walk *walk, const weir_text *keys, size_t count) {
  weir_reach *reach = &walk->options.reach;
  walk->labels = copy_texts(reach->labels, reach->label_count);
  walk->keys = copy_texts(keys, count);
  walk->key_count = count;
  walk->edge_cond = reach->edges ? weir__cond_copy(reach->edges) : NULL;
  walk->node_cond = reach->nodes ? weir__cond_copy(reach->nodes) : NULL;
  int complete =
      walk->labels && walk->keys && !walk->edge_cond == !reach->edges && !walk->node_cond == !reach->nodes;
  reach->labels = walk->labels;
  reach->edges = walk->edge_cond;
  reach->nodes = walk->node_cond;
  return complete;
}

static int check_keys(const weir_text *keys, size_t count, weir_error *err) {
  int rc = count > 0 ? weir__check_set(keys, "keys", err) : WEIR_OK;
  for (size_t i = 0; rc == WEIR_OK && i < count; i++) {
    rc = weir__key_check(keys[i], "key", err);
    if (rc) {
      return weir__fail_at(err, rc, "key", i);
    }
  }
  return rc;
}

int weir_walk_open(weir_walk **out, const weir_text *keys, size_t count, const weir_walk_options *options,
                   weir_error *err) {
  weir_walk_options known = WEIR_WALK_OPTIONS_INIT;
  int rc = weir__check_set((const void *)out, "out", err);
  if (rc) {
    return rc;
  }
  *out = NULL;
  rc = weir__options_copy(&known, sizeof known, options, "weir_walk_options", err);
  if (rc == WEIR_OK) {
    rc = check_options(&known, err);
  }
  if (rc == WEIR_OK) {
    rc = check_keys(keys, count, err);
  }
  if (rc) {
    return rc;
  }
  weir_walk *walk = calloc(1, sizeof *walk);
  if (walk) {
    walk->options = known;
    walk->options.reach.direction = known.reach.direction ? known.reach.direction : WEIR_OUT;
  }
  if (!walk || !own_options(walk, keys, count)) {
    weir_walk_close(walk);
    return weir_fail(err, WEIR_NOMEM, "out of memory for a walk");
  }
  *out = walk;
  return WEIR_OK;
}

void weir_walk_close(weir_walk *walk) {
  if (!walk) {
    return;
  }
  free(walk->labels);
  free(walk->edge_cond);
  free(walk->node_cond);
  free(walk->keys);
  free(walk->starts);
  free(walk->stops);
  free(walk->frames);
  free(walk->ahead);
  weir__met_clear(walk);
  free(walk);
}

/* ---- Running ---------------------------------------------------------------------------------------------
 */

/* Numbers of the starts in the order of the keys, each once. */
static int find_numbers(weir_walk *walk, weir_txn *txn, int64_t *ids, weir_error *err) {
  weir__idmap seen = {.ids = NULL};
  size_t count = 0;
  int rc = weir__store_node_ids(txn, walk->keys, walk->key_count, ids, err);
  for (size_t i = 0; i < walk->key_count && rc == WEIR_OK; i++) {
    uint32_t index;
    int inserted = 0;
    if (ids[i] == 0) {
      rc = weir__node_missing(walk->keys[i], err);
    } else {
      rc = weir__idmap_put(&seen, ids[i], &index, &inserted, err);
      ids[count] = ids[i];
      count += inserted != 0;
    }
  }
  weir__idmap_clear(&seen);
  walk->start_count = count;
  return rc;
}

static int find_starts(weir_walk *walk, weir_txn *txn, weir_error *err) {
  int64_t *ids = malloc((walk->key_count + 1) * sizeof *ids);
  if (!ids) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %zu keys", walk->key_count);
  }
  int rc = find_numbers(walk, txn, ids, err);
  if (rc == WEIR_OK) {
    walk->starts = ids;
    rc = weir__met_starts(walk, err);
  }
  if (rc) {
    free(ids);
    walk->starts = NULL;
    walk->start_count = 0;
  }
  return rc;
}

static int run_walk(weir_txn *txn, void *data, weir_error *err) {
  weir__walk_run *run = data;
  weir_walk *walk = run->walk;
  if (walk->pool && walk->pool != weir_txn_pool(txn)) {
    return weir_fail(err, WEIR_MISUSE, "the walk was begun in another store");
  }
  walk->pool = weir_txn_pool(txn);
  run->txn = txn;
  int rc = walk->starts ? WEIR_OK : find_starts(walk, txn, err);
  if (rc == WEIR_OK) {
    rc = weir__steps_open(&run->steps, txn, &walk->options.reach, 0, WEIR__HOPS_ORDERED, NULL, err);
  }
  if (rc) {
    return rc;
  }
  rc = weir__trail_open(&run->trail, run, err);
  if (rc == WEIR_OK) {
    rc = weir__walk_go(run, err);
  }
  weir__trail_close(run->trail);
  weir__steps_close(&run->steps);
  return rc;
}

int weir_walk_run(weir_walk *walk, weir_txn *txn, weir_step_fn visit, void *data, weir_walk_result *result,
                  weir_error *err) {
  weir__walk_run run = {.walk = walk, .visit = visit, .data = data};
  if (result) {
    *result = run.result;
  }
  if (!walk || !visit) {
    return weir_fail(err, WEIR_INVALID, "%s is NULL", walk ? "visit" : "walk");
  }
  if (walk->running) {
    return weir_fail(err, WEIR_MISUSE, "the walk is running: its visitor must not run it");
  }
  walk->running = 1;
  walk->runs++;
  run.deadline = weir__deadline(walk->options.budget.time_ms);
  int rc = weir__graph_read(txn, run_walk, &run, err);
  walk->running = 0;
  if (result) {
    *result = run.result;
  }
  return rc;
}

int weir_walk_once(weir_txn *txn, const weir_text *keys, size_t count, const weir_walk_options *options,
                   weir_step_fn visit, void *data, weir_walk_result *result, weir_error *err) {
  weir_walk *walk;
  if (result) {
    *result = (weir_walk_result){.ending = WEIR_ENDED};
  }
  int rc = weir_walk_open(&walk, keys, count, options, err);
  if (rc == WEIR_OK) {
    rc = weir_walk_run(walk, txn, visit, data, result, err);
    weir_walk_close(walk);
  }
  return rc;
}
