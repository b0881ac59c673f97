/*
 * What the files of graph/ and its directories share.
 *
 *   weir/graph.h      node.c edge.c neighbors.c   what the public functions do, in terms of
 *                     labels.c props.c scan.c     names, JSON and pages, and of
 *                     store/storage.h             the primitive operations on rows; all SQL is below it
 *   weir/query.h      query/find.c index.c        in terms of store/storage_query.h
 *   weir/search.h     query/search.c              in terms of store/storage_text.h
 *   weir/traverse.h   traverse/                   in terms of store/storage_walk.h
 */
#ifndef WEIR_GRAPH_INTERNAL_H
#define WEIR_GRAPH_INTERNAL_H

#include <weir/graph.h>

#include "text.h"

/* What the graph keeps in each connection. Used by the thread that has the connection. */
typedef struct weir__local {
  struct weir__labels *labels;     /* see labels.h */
  struct weir__frontier *frontier; /* see store/storage_frontier.h */
  struct weir__indexes *indexes;   /* what is known of property indexes, or NULL; see store/storage_query.h */
  struct weir__terms *terms;       /* see store/text_tokenizer.h */
  struct weir__taking *taking;     /* see store/storage_project.h */
  uint64_t rollbacks;              /* weir_txn_rollbacks when the labels were last known to be right */
  unsigned visiting;               /* visitors of the user's that are running */
} weir__local;

/* ---- Running operations (graph.c) ---------------------------------------------------------------- */

/* Runs `fn` as a read of the graph's, nested in `txn` or on its own. */
int weir__graph_read(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err);

/* As weir__graph_read, without the cost of BEGIN and COMMIT, for an `fn` that reads by one statement, and by
 * others only while that has a row at hand. Labels may be looked up before: they are never changed, and one
 * that is added later is of no row that the statement could have been about. */
int weir__graph_read_one(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err);

/* Runs `fn` as a write: as a whole or not at all, also inside a larger transaction. */
int weir__graph_write(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err);

/* As weir__graph_write, with options. */
int weir__graph_write_with(weir_txn *txn, weir_txn_fn fn, void *data, const weir_txn_options *options,
                           weir_error *err);

/* As weir__graph_write, without the cost of a savepoint, for an `fn` that does at most one thing that can
 * fail after it has begun to write, and does it in one statement. */
int weir__graph_write_one(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err);

/* ---- The schema (schema.c) ------------------------------------------------------------------------- */

/* Brings the database behind `txn` to this version's schema, creating it in an empty one. `path` is for
 * messages. Errors: WEIR_VERSION, WEIR_CORRUPT, WEIR_READONLY. */
int weir__schema_open(weir_txn *txn, const char *path, int read_only, weir_error *err);

/* Refuses a database that weir__schema_open would refuse, by reading alone. One that cannot be read is left
 * to that. Errors: WEIR_VERSION, WEIR_CORRUPT. */
int weir__schema_inspect(struct sqlite3 *db, const char *path, weir_error *err);

/* ---- Arguments -------------------------------------------------------------------------------------- */

/* Copies options of the caller's, whose first member is their size, over the defaults in `known`: a smaller
 * struct is an older caller's; a larger one is a newer caller's, and WEIR_INVALID if what this version does
 * not know is set. */
int weir__options_copy(void *known, size_t known_size, const void *given, const char *what, weir_error *err);

/* WEIR_INVALID if `pointer` is NULL. */
static inline int weir__check_set(const void *pointer, const char *what, weir_error *err) {
  return pointer ? WEIR_OK : weir_fail(err, WEIR_INVALID, "%s is NULL", what);
}

/* WEIR_INVALID unless it is WEIR_OUT, WEIR_IN or WEIR_BOTH. */
int weir__direction_check(weir_direction direction, weir_error *err);

/* Nanoseconds on a clock that only goes forward. */
uint64_t weir__clock_ns(void);

/* For qsort() of int64_t: ascending. */
int weir__compare_ids(const void *a, const void *b);

/* Puts "<what> <index>: " before the message, and returns rc. */
int weir__fail_at(weir_error *err, int rc, const char *what, size_t index);

#endif
