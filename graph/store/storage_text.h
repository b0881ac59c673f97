/*
 * Text indexes on SQLite, and searches in them. As storage.h: above it there is no SQL.
 */
#ifndef WEIR_GRAPH_STORAGE_TEXT_H
#define WEIR_GRAPH_STORAGE_TEXT_H

#include <weir/search.h>

#include "storage.h"
#include "text_snippet.h"
#include "text_tokenizer.h"

/* ---- Text indexes (storage_text.c) ----------------------------------------------------------------------
 */

/* A text index. Labels are numbers, paths as weir__path_write makes them. */
typedef struct weir__text_index {
  int64_t id; /* 0: none. Never given again */
  weir_text name;
  weir_tokenizer tokenizer;
  int64_t labels[WEIR_LABELS_MAX]; /* none: all nodes */
  size_t label_count;
  weir_text_field fields[WEIR_TEXT_FIELDS_MAX];
  size_t field_count;
  int ready;
} weir__text_index;

/* The index is valid during the call. */
typedef int (*weir__text_index_visit)(const weir__text_index *index, void *data, weir_error *err);

/* Visits the text index of that name, if there is one; an empty name: all, in the order of their ids. */
int weir__store_text_each(weir_txn *txn, weir_text name, weir__text_index_visit visit, void *data,
                          weir_error *err);

/* *id and *ready are those of the text index with the name; 0 and 0 if there is none. */
int weir__store_text_find(weir_txn *txn, weir_text name, int64_t *id, int *ready, weir_error *err);

/* Adds one that is not there, without a node in it, and sets its id. */
int weir__store_text_add(weir_txn *txn, weir__text_index *index, weir_error *err);

/* How far the filling of a text index is. */
typedef struct weir__text_fill {
  uint64_t looked; /* nodes looked at in this step */
  int gone;        /* 1: it was dropped meanwhile */
  int done;        /* 1: it is ready */
} weir__text_fill;

/* Looks at the next `batch` nodes, and puts those into the index that belong there. */
int weir__store_text_fill(weir_txn *txn, const weir__text_index *index, unsigned batch, weir__text_fill *out,
                          weir_error *err);

/* Drops it; nothing happens if there is no such. */
int weir__store_text_drop(weir_txn *txn, int64_t id, weir_error *err);

/* ---- Their tables (storage_text_schema.c) ---------------------------------------------------------------
 */

/* What the functions above are made of. */
int weir__text_schema_create(weir_txn *txn, const weir__text_index *index, weir_error *err);
int weir__text_schema_drop(weir_txn *txn, int64_t id, weir_error *err);

/* Puts the nodes with numbers above `after`, up to `last`, into the table, as far as they belong there. */
int weir__text_schema_fill(weir_txn *txn, const weir__text_index *index, int64_t after, int64_t last,
                           weir_error *err);

/* ---- Searches (storage_search.c) ------------------------------------------------------------------------
 */

/* Adds to a connection what searches need. *api becomes NULL if SQLite has no FTS5. */
int weir__store_text_connect(struct sqlite3 *db, fts5_api **api, weir_error *err);

/* Where a node is in the order. */
typedef struct weir__rank_place {
  double score;
  int64_t node;
} weir__rank_place;

typedef struct weir__ranking {
  const weir__text_index *index;
  weir_text match;        /* of FTS5 */
  int64_t label;          /* only nodes with it; 0: all */
  const weir_cond *where; /* checked; or NULL */
  size_t limit;           /* at most so many; 0: all */
} weir__ranking;

typedef int (*weir__rank_visit)(const weir__rank_place *place, void *data, weir_error *err);

/* Visits the nodes that match, best first, then by number. `after`: the place to go on behind; NULL: from the
 * beginning. */
int weir__store_rank(weir_txn *txn, const weir__ranking *ranking, const weir__rank_place *after,
                     weir__rank_visit visit, void *data, weir_error *err);

/* Makes snippets of the nodes that match. Close it before the transaction ends. */
typedef struct weir__snippets weir__snippets;

/* `snippet` and `match` have to stay. */
int weir__snippets_open(weir__snippets **out, weir_txn *txn, int64_t index, weir_text match,
                        weir__snippet *snippet, weir_error *err);

/* Makes the snippet of a node that matches; its column is -1 if there is none. */
int weir__snippets_make(weir__snippets *snippets, int64_t node, weir_error *err);

/* NULL is a no-op. */
void weir__snippets_close(weir__snippets *snippets);

#endif
