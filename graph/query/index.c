/*
 * Property indexes: making, dropping, listing.
 *
 * Each step of making one works on what it finds, and may be run again (build.c).
 */
#include <string.h>

#include "../internal.h"
#include "../labels.h"
#include "../scan.h"
#include "../store/storage_query.h"
#include "build.h"
#include "cond.h"

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
  char path[WEIR__PATH_ROOM];
  weir__index_row row;  /* its path is `path` */
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

static int begin_index(weir_txn *txn, void *index, int64_t *total, weir_error *err) {
  struct work *work = index;
  memset(&work->fill, 0, sizeof work->fill);
  int rc = weir__label_make(txn, work->index->label, &work->row.label, err);
  if (rc == WEIR_OK) {
    rc = weir__store_index_find(txn, &work->row, err);
  }
  if (rc == WEIR_OK && work->row.ready) {
    rc = weir_fail(err, WEIR_EXISTS, "there is %s index of %s with label \"%.*s\" on \"%.*s\" already",
                   work->row.unique ? "a unique" : "an", work->row.target == WEIR_NODES ? "nodes" : "edges",
                   WEIR__SHOW(work->index->label), WEIR__SHOW(work->index->path));
  }
  if (rc == WEIR_OK && work->row.id) { /* cut off */
    rc = weir__store_index_drop(txn, &work->row, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__store_index_add(txn, &work->row, err);
  }
  return rc ? rc : weir__store_index_total(txn, &work->row, total, err);
}

static int fill_index(weir_txn *txn, void *index, unsigned batch, weir_error *err) {
  struct work *work = index;
  work->next_fill = work->fill;
  return weir__store_index_fill(txn, &work->row, batch, &work->next_fill, err);
}

static uint64_t advance_index(void *index, int *ready) {
  struct work *work = index;
  work->fill = work->next_fill;
  *ready = work->fill.end;
  return work->fill.seen;
}

static int drop_unfinished(weir_txn *txn, void *index, weir_error *err) {
  const struct work *work = index;
  weir__index_row row = work->row;
  int rc = weir__store_index_find(txn, &row, err);
  return rc || row.id != work->row.id ? rc : weir__store_index_drop(txn, &row, err);
}

static const weir__build_steps steps = {.label = "making an index",
                                        .row_bytes = 100,
                                        .begin = begin_index,
                                        .fill = fill_index,
                                        .advance = advance_index,
                                        .drop = drop_unfinished};

int weir_index_create(weir_txn *txn, const weir_index *index, const weir_build_options *options,
                      weir_error *err) {
  struct work work = {.existed = 0};
  int rc = check_index(index, err);
  if (rc) {
    return rc;
  }
  begin_work(&work, index);
  return weir__build_run(txn, &steps, &work, options, err);
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
  char path[WEIR__PATH_ROOM];
  weir_index index = {.target = row->target,
                      .path = weir__path_show(row->path, path),
                      .unique = row->unique,
                      .ready = row->ready};
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
