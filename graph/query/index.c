/*
 * Property indexes: making, dropping, listing.
 *
 * An index that is made outside a write is made in many of them: the first adds its triggers and its empty
 * table, so that from then on every write keeps it right; the following ones enter what was there before, in
 * order; the last one makes it ready. Each of them works on what it finds, and any may be run again. What an
 * error leaves behind is dropped; what a crash leaves behind, by the next who makes or drops it.
 */
#include <string.h>

#include "../internal.h"
#include "../labels.h"
#include "../scan.h"
#include "../store/storage_query.h"
#include "cond.h"

#define BATCH       2000
#define ENTRY_BYTES 100u
#define BYTES_MAX   1000000u
#define DROP_TRIES  12 /* of a wait for the lane each */

/* ---- Arguments -------------------------------------------------------------------------------------------
 */

static int check_index(const weir_index *index, weir_error *err) {
  int rc = weir__check_set(index, "index", err);
  if (rc == WEIR_OK && index->target != WEIR_NODES && index->target != WEIR_EDGES) {
    rc = weir_fail(err, WEIR_INVALID, "target is %d: give WEIR_NODES or WEIR_EDGES", (int)index->target);
  }
  if (rc == WEIR_OK) {
    rc = weir__text_check(index->label, "label", 1, WEIR_LABEL_MAX, err);
  }
  return rc ? rc : weir__path_check(index->path, "path", err);
}

/* An index on its way. */
struct work {
  const weir_index *index;
  weir_build_options options;
  char path[WEIR__PATH_ROOM];
  weir__index_row row; /* its path is `path` */
  int64_t total;
  weir__fill fill;      /* as far as is committed */
  weir__fill next_fill; /* with the batch at hand */
  int existed;
};

static void begin_work(struct work *work, const weir_index *index) {
  work->index = index;
  work->row.target = index->target;
  work->row.unique = index->unique != 0;
  work->row.path = (weir_text){work->path, weir__path_write(index->path, work->path)};
}

/* ---- Making ----------------------------------------------------------------------------------------------
 */

static int begin_index(weir_txn *txn, void *data, weir_error *err) {
  struct work *work = data;
  int rc = weir__label_make(txn, work->index->label, &work->row.label, err);
  if (rc == WEIR_OK) {
    rc = weir__store_index_find(txn, &work->row, err);
  }
  if (rc == WEIR_OK && work->row.ready) {
    rc = weir_fail(err, WEIR_EXISTS, "there is an index of %s with label \"%.*s\" on \"%.*s\" already",
                   work->row.target == WEIR_NODES ? "nodes" : "edges", WEIR__SHOW(work->index->label),
                   WEIR__SHOW(work->index->path));
  }
  if (rc == WEIR_OK && work->row.id) { /* cut off */
    rc = weir__store_index_drop(txn, &work->row, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__store_index_add(txn, &work->row, err);
  }
  return rc ? rc : weir__store_index_total(txn, &work->row, &work->total, err);
}

static int fill_index(weir_txn *txn, void *data, weir_error *err) {
  struct work *work = data;
  work->next_fill = work->fill;
  return weir__store_index_fill(txn, &work->row, work->options.batch, &work->next_fill, err);
}

static int tell_progress(const struct work *work, weir_error *err) {
  const weir_progress progress = {.done = work->fill.seen, .total = (uint64_t)work->total};
  if (work->options.on_progress && work->options.on_progress(&progress, work->options.data) != 0) {
    return weir_fail(err, WEIR_CANCELED, "the index was given up by on_progress after %llu rows",
                     (unsigned long long)progress.done);
  }
  return WEIR_OK;
}

/* One write. Entries are some tens of bytes each; the size is for groups, which a batch fills at the most. */
static int write_step(weir_txn *txn, struct work *work, weir_txn_fn fn, weir_error *err) {
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.priority = WEIR_BULK;
  options.label = "making an index";
  options.bytes =
      work->options.batch < BYTES_MAX / ENTRY_BYTES ? work->options.batch * ENTRY_BYTES : BYTES_MAX;
  return weir__graph_write_with(txn, fn, work, &options, err);
}

static int fill_all(weir_txn *txn, struct work *work, weir_error *err) {
  int rc = tell_progress(work, err);
  while (rc == WEIR_OK && !work->fill.end) {
    rc = write_step(txn, work, fill_index, err);
    if (rc == WEIR_OK) {
      work->fill = work->next_fill;
      rc = tell_progress(work, err);
    }
  }
  return rc;
}

static int drop_unfinished(weir_txn *txn, void *data, weir_error *err) {
  struct work *work = data;
  weir__index_row row = work->row;
  int rc = weir__store_index_find(txn, &row, err);
  return rc || row.id != work->row.id ? rc : weir__store_index_drop(txn, &row, err);
}

/* After an error, which stays the one that is told. */
static void give_up(weir_txn *txn, struct work *work) {
  int rc = WEIR_BUSY;
  for (int i = 0; i < DROP_TRIES && rc == WEIR_BUSY; i++) {
    rc = weir__graph_write_with(txn, drop_unfinished, work, NULL, NULL);
  }
}

/* In many writes. */
static int create_in_steps(weir_txn *txn, struct work *work, weir_error *err) {
  int rc = write_step(txn, work, begin_index, err);
  if (rc) {
    return rc;
  }
  rc = fill_all(txn, work, err);
  if (rc) {
    give_up(txn, work);
  }
  return rc;
}

/* Within the write at hand. */
static int create_at_once(weir_txn *txn, void *data, weir_error *err) {
  struct work *work = data;
  memset(&work->fill, 0, sizeof work->fill);
  int rc = begin_index(txn, work, err);
  if (rc == WEIR_OK) {
    rc = tell_progress(work, err);
  }
  while (rc == WEIR_OK && !work->fill.end) {
    rc = fill_index(txn, work, err);
    work->fill = work->next_fill;
    if (rc == WEIR_OK) {
      rc = tell_progress(work, err);
    }
  }
  return rc;
}

int weir_index_create(weir_txn *txn, const weir_index *index, const weir_build_options *options,
                      weir_error *err) {
  struct work work = {.options = WEIR_BUILD_OPTIONS_INIT};
  int rc = check_index(index, err);
  if (rc == WEIR_OK) {
    rc = weir__options_copy(&work.options, sizeof work.options, options, "weir_build_options", err);
  }
  if (rc) {
    return rc;
  }
  work.options.batch = work.options.batch ? work.options.batch : BATCH;
  begin_work(&work, index);
  return txn && weir_txn_writes(txn) ? weir__graph_write(txn, create_at_once, &work, err)
                                     : create_in_steps(txn, &work, err);
}

/* ---- Dropping --------------------------------------------------------------------------------------------
 */

static int drop_index(weir_txn *txn, void *data, weir_error *err) {
  struct work *work = data;
  int rc = weir__label_find(txn, work->index->label, &work->row.label, err);
  work->row.id = 0;
  if (rc == WEIR_OK && work->row.label) {
    rc = weir__store_index_find(txn, &work->row, err);
  }
  work->existed = work->row.id != 0;
  return rc || !work->existed ? rc : weir__store_index_drop(txn, &work->row, err);
}

int weir_index_drop(weir_txn *txn, const weir_index *index, int *existed, weir_error *err) {
  struct work work = {.existed = 0};
  int rc = check_index(index, err);
  if (rc) {
    return rc;
  }
  begin_work(&work, index);
  rc = weir__graph_write(txn, drop_index, &work, err);
  if (rc == WEIR_OK && existed) {
    *existed = work.existed;
  }
  return rc;
}

/* ---- Listing ---------------------------------------------------------------------------------------------
 */

struct listing {
  weir_txn *txn;
  weir__page page;
  weir_index_fn visit;
  void *data;
};

static int list_row(const weir__index_row *row, void *data, weir_error *err) {
  struct listing *listing = data;
  weir_index index = {
      .target = row->target, .path = weir__path_show(row->path), .unique = row->unique, .ready = row->ready};
  int rc = weir__label_name(listing->txn, row->label, &index.label, err);
  if (rc) {
    return rc;
  }
  weir__visit_begin(listing->txn);
  return weir__visit_end(listing->txn, &listing->page,
                         listing->visit(&index, listing->data, &listing->page.error), err);
}

static int list_indexes(weir_txn *txn, void *data, weir_error *err) {
  struct listing *listing = data;
  listing->txn = txn;
  return weir__store_index_list(txn, list_row, listing, err);
}

int weir_index_list(weir_txn *txn, weir_index_fn visit, void *data, weir_error *err) {
  struct listing listing = {.visit = visit, .data = data};
  int rc = weir__page_begin(&listing.page, NULL, visit != NULL, err);
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, list_indexes, &listing, err);
  }
  return rc < 0 ? rc : WEIR_OK;
}
