/*
 * Text indexes: making, dropping, listing.
 *
 * One that is made outside a write is made in many of them: the first adds its tables and triggers, the
 * following ones take the nodes in, in the order of their numbers, and the last one makes it ready. What an
 * error leaves behind is dropped at once; what a crash leaves behind, by the next who makes one of that name.
 * Whoever makes one finds out, by its number, that another has dropped it or begun it anew.
 */
#include <math.h>

#include "../internal.h"
#include "../labels.h"
#include "../scan.h"
#include "../store/storage_text.h"
#include "cond.h"

#define NAME_MAX_BYTES 255
#define BATCH          2000
#define DROP_TRIES     12 /* of a wait for the lane each */

/* ---- Arguments --------------------------------------------------------------------------------------------
 */

/* A text index on its way. */
struct work {
  const weir_text_index *given;
  weir_build_options options;
  weir__text_index index;
  char paths[WEIR_TEXT_FIELDS_MAX][WEIR__PATH_ROOM]; /* of the index's fields */
  int64_t total;
  uint64_t looked; /* nodes, as far as is committed */
  weir__text_fill fill;
};

static int check_name(weir_text name, weir_error *err) {
  return weir__text_check(name, "name", 1, NAME_MAX_BYTES, err);
}

static int check_labels(const weir_text_index *given, weir_error *err) {
  if (given->label_count > WEIR_LABELS_MAX) {
    return weir_fail(err, WEIR_INVALID, "%zu labels: give at most %d", given->label_count, WEIR_LABELS_MAX);
  }
  int rc = given->label_count > 0 ? weir__check_set(given->labels, "labels", err) : WEIR_OK;
  for (size_t i = 0; rc == WEIR_OK && i < given->label_count; i++) {
    rc = weir__text_check(given->labels[i], "label", 1, WEIR_LABEL_MAX, err);
    if (rc) {
      return weir__fail_at(err, rc, "label", i);
    }
  }
  return rc;
}

/* Checks a field and takes it over. */
static int take_field(struct work *work, size_t at, weir_error *err) {
  const weir_text_field *given = &work->given->fields[at];
  int rc = weir__path_check(given->path, "path", err);
  if (rc) {
    return rc;
  }
  if (!isfinite(given->weight) || given->weight < 0) {
    return weir_fail(err, WEIR_INVALID, "weight %g: give one above 0, or 0 for 1.0", given->weight);
  }
  size_t len = weir__path_write(given->path, work->paths[at]);
  work->index.fields[at] = (weir_text_field){{work->paths[at], len}, given->weight > 0 ? given->weight : 1.0};
  for (size_t i = 0; i < at; i++) {
    if (weir__text_same(work->index.fields[i].path, work->index.fields[at].path)) {
      return weir_fail(err, WEIR_INVALID, "\"%.*s\" is there twice", WEIR__SHOW(given->path));
    }
  }
  return WEIR_OK;
}

static int take_fields(struct work *work, weir_error *err) {
  size_t count = work->given->field_count;
  if (count == 0 || count > WEIR_TEXT_FIELDS_MAX) {
    return weir_fail(err, WEIR_INVALID, "%zu fields: give 1 to %d", count, WEIR_TEXT_FIELDS_MAX);
  }
  int rc = weir__check_set(work->given->fields, "fields", err);
  for (size_t i = 0; rc == WEIR_OK && i < count; i++) {
    rc = take_field(work, i, err);
    if (rc) {
      return weir__fail_at(err, rc, "field", i);
    }
  }
  work->index.field_count = count;
  return rc;
}

static int take_index(struct work *work, const weir_text_index *given, weir_error *err) {
  int rc = weir__check_set(given, "index", err);
  if (rc == WEIR_OK) {
    rc = check_name(given->name, err);
  }
  if (rc == WEIR_OK) {
    rc = check_labels(given, err);
  }
  if (rc == WEIR_OK && !weir__tokenizer_name(given->tokenizer)) {
    rc = weir_fail(err, WEIR_INVALID, "tokenizer %d: give WEIR_WORDS or WEIR_SUBSTRING",
                   (int)given->tokenizer);
  }
  if (rc) {
    return rc;
  }
  work->given = given;
  work->index.name = given->name;
  work->index.tokenizer = given->tokenizer;
  return take_fields(work, err);
}

/* ---- Making -----------------------------------------------------------------------------------------------
 */

/* The numbers of the labels, each once. */
static int make_labels(weir_txn *txn, struct work *work, weir_error *err) {
  weir__text_index *index = &work->index;
  index->label_count = 0;
  for (size_t i = 0; i < work->given->label_count; i++) {
    int64_t label;
    int rc = weir__label_make(txn, work->given->labels[i], &label, err);
    if (rc) {
      return rc;
    }
    size_t at = 0;
    while (at < index->label_count && index->labels[at] != label) {
      at++;
    }
    index->labels[at] = label;
    index->label_count += at == index->label_count;
  }
  return WEIR_OK;
}

static int begin_index(weir_txn *txn, void *data, weir_error *err) {
  struct work *work = data;
  int64_t id;
  int ready;
  int rc = weir__store_text_find(txn, work->index.name, &id, &ready, err);
  if (rc == WEIR_OK && ready) {
    rc = weir_fail(err, WEIR_EXISTS, "there is a text index \"%.*s\" already", WEIR__SHOW(work->index.name));
  }
  if (rc == WEIR_OK && id) { /* cut off */
    rc = weir__store_text_drop(txn, id, err);
  }
  if (rc == WEIR_OK) {
    rc = make_labels(txn, work, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__store_text_add(txn, &work->index, err);
  }
  return rc ? rc : weir__store_node_count(txn, 0, &work->total, err);
}

static int fill_index(weir_txn *txn, void *data, weir_error *err) {
  struct work *work = data;
  int rc = weir__store_text_fill(txn, &work->index, work->options.batch, &work->fill, err);
  if (rc == WEIR_OK && work->fill.gone) {
    rc = weir_fail(err, WEIR_CANCELED,
                   "the text index \"%.*s\" was dropped, or begun anew, while it was being made",
                   WEIR__SHOW(work->index.name));
  }
  return rc;
}

static int tell_progress(const struct work *work, weir_error *err) {
  const weir_progress progress = {.done = work->looked, .total = (uint64_t)work->total};
  if (work->options.on_progress && work->options.on_progress(&progress, work->options.data) != 0) {
    return weir_fail(err, WEIR_CANCELED, "the text index was given up by on_progress after %llu nodes",
                     (unsigned long long)progress.done);
  }
  return WEIR_OK;
}

/* One write of its own. */
static int write_step(weir_txn *txn, struct work *work, weir_txn_fn fn, weir_error *err) {
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.priority = WEIR_BULK;
  options.label = "making a text index";
  options.bytes = (size_t)work->options.batch * 100; /* terms of some short texts */
  return weir__graph_write_with(txn, fn, work, &options, err);
}

typedef int (*step_fn)(weir_txn *txn, struct work *work, weir_txn_fn fn, weir_error *err);

/* A part of the write at hand. */
static int plain_step(weir_txn *txn, struct work *work, weir_txn_fn fn, weir_error *err) {
  return fn(txn, work, err);
}

static int fill_all(weir_txn *txn, struct work *work, step_fn step, weir_error *err) {
  work->looked = 0;
  work->fill.done = 0;
  int rc = tell_progress(work, err);
  while (rc == WEIR_OK && !work->fill.done) {
    rc = step(txn, work, fill_index, err);
    if (rc == WEIR_OK) {
      work->looked += work->fill.looked;
      rc = tell_progress(work, err);
    }
  }
  return rc;
}

static int drop_unfinished(weir_txn *txn, void *data, weir_error *err) {
  const struct work *work = data;
  return weir__store_text_drop(txn, work->index.id, err);
}

/* After an error, which stays the one that is told. */
static void give_up(weir_txn *txn, struct work *work) {
  int rc = WEIR_BUSY;
  for (int i = 0; i < DROP_TRIES && rc == WEIR_BUSY; i++) {
    rc = weir__graph_write(txn, drop_unfinished, work, NULL);
  }
}

static int create_in_steps(weir_txn *txn, struct work *work, weir_error *err) {
  int rc = write_step(txn, work, begin_index, err);
  if (rc) {
    return rc;
  }
  rc = fill_all(txn, work, write_step, err);
  if (rc) {
    give_up(txn, work);
  }
  return rc;
}

static int create_at_once(weir_txn *txn, void *data, weir_error *err) {
  int rc = begin_index(txn, data, err);
  return rc ? rc : fill_all(txn, data, plain_step, err);
}

int weir_text_index_create(weir_txn *txn, const weir_text_index *index, const weir_build_options *options,
                           weir_error *err) {
  struct work work = {.options = WEIR_BUILD_OPTIONS_INIT};
  int rc = take_index(&work, index, err);
  if (rc == WEIR_OK) {
    rc = weir__options_copy(&work.options, sizeof work.options, options, "weir_build_options", err);
  }
  if (rc) {
    return rc;
  }
  work.options.batch = work.options.batch ? work.options.batch : BATCH;
  return txn && weir_txn_writes(txn) ? weir__graph_write(txn, create_at_once, &work, err)
                                     : create_in_steps(txn, &work, err);
}

/* ---- Dropping ---------------------------------------------------------------------------------------------
 */

struct drop {
  weir_text name;
  int64_t id;
};

static int drop_index(weir_txn *txn, void *data, weir_error *err) {
  struct drop *drop = data;
  int ready;
  int rc = weir__store_text_find(txn, drop->name, &drop->id, &ready, err);
  return rc || drop->id == 0 ? rc : weir__store_text_drop(txn, drop->id, err);
}

int weir_text_index_drop(weir_txn *txn, weir_text name, int *existed, weir_error *err) {
  struct drop drop = {.name = name};
  int rc = check_name(name, err);
  if (rc == WEIR_OK) {
    rc = weir__graph_write(txn, drop_index, &drop, err);
  }
  if (rc == WEIR_OK && existed) {
    *existed = drop.id != 0;
  }
  return rc;
}

/* ---- Listing ----------------------------------------------------------------------------------------------
 */

struct listing {
  weir_txn *txn;
  weir__page page;
  weir_text_index_fn visit;
  void *data;
};

static int list_index(const weir__text_index *row, void *data, weir_error *err) {
  struct listing *listing = data;
  weir_text labels[WEIR_LABELS_MAX];
  weir_text_field fields[WEIR_TEXT_FIELDS_MAX];
  for (size_t i = 0; i < row->label_count; i++) {
    int rc = weir__label_name(listing->txn, row->labels[i], &labels[i], err);
    if (rc) {
      return rc;
    }
  }
  for (size_t i = 0; i < row->field_count; i++) {
    fields[i] = (weir_text_field){weir__path_show(row->fields[i].path), row->fields[i].weight};
  }
  const weir_text_index index = {.name = row->name,
                                 .labels = labels,
                                 .label_count = row->label_count,
                                 .fields = fields,
                                 .field_count = row->field_count,
                                 .tokenizer = row->tokenizer,
                                 .ready = row->ready};
  weir__visit_begin(listing->txn);
  return weir__visit_end(listing->txn, &listing->page,
                         listing->visit(&index, listing->data, &listing->page.error), err);
}

static int list_indexes(weir_txn *txn, void *data, weir_error *err) {
  struct listing *listing = data;
  listing->txn = txn;
  return weir__store_text_each(txn, (weir_text){NULL, 0}, list_index, listing, err);
}

int weir_text_index_list(weir_txn *txn, weir_text_index_fn visit, void *data, weir_error *err) {
  struct listing listing = {.visit = visit, .data = data};
  int rc = weir__page_begin(&listing.page, NULL, visit != NULL, err);
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, list_indexes, &listing, err);
  }
  return rc < 0 ? rc : WEIR_OK;
}
