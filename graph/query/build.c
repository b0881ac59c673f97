/*
 * The making of an index.
 *
 * The first write adds triggers and an empty table, so that from then on every write keeps the index right.
 * The following ones enter what was there before, in order, and the last one makes it ready. Between them no
 * lock is held, and others write.
 */
#include "build.h"

#include "../internal.h"

#define BYTES_MAX  1000000u /* a batch fills a group, but does not need one of its own */
#define DROP_TRIES 12       /* of a wait for the lane each */

struct build {
  const weir__build_steps *steps;
  void *index;
  weir_build_options options;
  int64_t total;
};

static int begin(weir_txn *txn, void *data, weir_error *err) {
  struct build *build = data;
  return build->steps->begin(txn, build->index, &build->total, err);
}

static int fill(weir_txn *txn, void *data, weir_error *err) {
  const struct build *build = data;
  return build->steps->fill(txn, build->index, build->options.batch, err);
}

static int drop(weir_txn *txn, void *data, weir_error *err) {
  const struct build *build = data;
  return build->steps->drop(txn, build->index, err);
}

static int tell_progress(const struct build *build, uint64_t done, weir_error *err) {
  const weir_progress progress = {.done = done, .total = (uint64_t)build->total};
  if (build->options.on_progress && build->options.on_progress(&progress, build->options.data) != 0) {
    return weir_fail(err, WEIR_CANCELED, "%s was given up by on_progress after %llu rows",
                     build->steps->label, (unsigned long long)done);
  }
  return WEIR_OK;
}

int weir__batch_run(weir_txn *txn, weir_txn_fn fn, void *data, const char *label, size_t rows,
                    size_t row_bytes, weir_error *err) {
  if (txn && weir_txn_writes(txn)) {
    return fn(txn, data, err);
  }
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.priority = WEIR_BULK;
  options.label = label;
  options.bytes = rows < BYTES_MAX / row_bytes ? rows * row_bytes : BYTES_MAX;
  return weir__graph_write_with(txn, fn, data, &options, err);
}

static int run_step(weir_txn *txn, weir_txn_fn fn, struct build *build, weir_error *err) {
  return weir__batch_run(txn, fn, build, build->steps->label, build->options.batch, build->steps->row_bytes,
                         err);
}

static int fill_all(weir_txn *txn, struct build *build, weir_error *err) {
  int ready = 0;
  int rc = tell_progress(build, 0, err);
  while (rc == WEIR_OK && !ready) {
    rc = run_step(txn, fill, build, err);
    if (rc == WEIR_OK) {
      rc = tell_progress(build, build->steps->advance(build->index, &ready), err);
    }
  }
  return rc;
}

/* After an error, which stays the one that is told. */
static void give_up(weir_txn *txn, struct build *build) {
  int rc = WEIR_BUSY;
  for (int i = 0; i < DROP_TRIES && rc == WEIR_BUSY; i++) {
    rc = weir__graph_write(txn, drop, build, NULL);
  }
}

static int run_in_steps(weir_txn *txn, struct build *build, weir_error *err) {
  int rc = run_step(txn, begin, build, err);
  if (rc) {
    return rc;
  }
  rc = fill_all(txn, build, err);
  if (rc) {
    give_up(txn, build);
  }
  return rc;
}

static int run_at_once(weir_txn *txn, void *data, weir_error *err) {
  int rc = begin(txn, data, err);
  return rc ? rc : fill_all(txn, data, err);
}

int weir__build_run(weir_txn *txn, const weir__build_steps *steps, void *index,
                    const weir_build_options *options, weir_error *err) {
  struct build build = {.steps = steps, .index = index, .options = WEIR_BUILD_OPTIONS_INIT};
  int rc = weir__options_copy(&build.options, sizeof build.options, options, "weir_build_options", err);
  if (rc) {
    return rc;
  }
  build.options.batch = build.options.batch ? build.options.batch : WEIR__BATCH;
  return txn && weir_txn_writes(txn) ? weir__graph_write(txn, run_at_once, &build, err)
                                     : run_in_steps(txn, &build, err);
}
