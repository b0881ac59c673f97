/*
 * Text indexes: making, dropping, listing.
 *
 * Whoever makes one (build.c) finds out, by its number, that another has dropped it or begun it anew.
 */
#include <math.h>

#include "../internal.h"
#include "../labels.h"
#include "../scan.h"
#include "../store/storage_text.h"
#include "build.h"
#include "cond.h"

#define NAME_MAX_BYTES 255

/* ---- Arguments --------------------------------------------------------------------------------------------
 */

/* A text index on its way. */
struct work {
  const weir_text_index *given;
  weir__text_index index;
  char paths[WEIR_TEXT_FIELDS_MAX][WEIR__PATH_ROOM]; /* of the index's fields */
  uint64_t looked;                                   /* nodes, as far as is committed */
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

static int begin_index(weir_txn *txn, void *given, int64_t *total, weir_error *err) {
  struct work *work = given;
  int64_t id;
  int ready;
  work->looked = 0;
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
  return rc ? rc : weir__store_node_count(txn, 0, total, err);
}

static int fill_index(weir_txn *txn, void *given, unsigned batch, weir_error *err) {
  struct work *work = given;
  int rc = weir__store_text_fill(txn, &work->index, batch, &work->fill, err);
  if (rc == WEIR_OK && work->fill.gone) {
    rc = weir_fail(err, WEIR_CANCELED,
                   "the text index \"%.*s\" was dropped, or begun anew, while it was being made",
                   WEIR__SHOW(work->index.name));
  }
  return rc;
}

static uint64_t advance_index(void *given, int *ready) {
  struct work *work = given;
  work->looked += work->fill.looked;
  *ready = work->fill.done;
  return work->looked;
}

static int drop_unfinished(weir_txn *txn, void *given, weir_error *err) {
  const struct work *work = given;
  return weir__store_text_drop(txn, work->index.id, err);
}

static const weir__build_steps steps = {.label = "making a text index",
                                        .row_bytes = 100, /* terms of some short texts */
                                        .begin = begin_index,
                                        .fill = fill_index,
                                        .advance = advance_index,
                                        .drop = drop_unfinished};

int weir_text_index_create(weir_txn *txn, const weir_text_index *index, const weir_build_options *options,
                           weir_error *err) {
  struct work work = {.given = index};
  int rc = take_index(&work, index, err);
  return rc ? rc : weir__build_run(txn, &steps, &work, options, err);
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
  char paths[WEIR_TEXT_FIELDS_MAX][WEIR__PATH_ROOM];
  for (size_t i = 0; i < row->label_count; i++) {
    int rc = weir__label_name(listing->txn, row->labels[i], &labels[i], err);
    if (rc) {
      return rc;
    }
  }
  for (size_t i = 0; i < row->field_count; i++) {
    fields[i] = (weir_text_field){weir__path_show(row->fields[i].path, paths[i]), row->fields[i].weight};
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
