/*
 * Property indexes, and finds over nodes and edges, below weir/query.h. As storage.h: above it there is no
 * SQL, and the functions check no arguments.
 */
#ifndef WEIR_GRAPH_STORAGE_QUERY_H
#define WEIR_GRAPH_STORAGE_QUERY_H

#include <weir/query.h>

#include "storage.h"

/* ---- Property indexes (storage_catalog.c) ------------------------------------------------------------- */

typedef struct weir__index_row {
  int64_t id; /* never given twice; 0: there is none */
  weir_target target;
  int64_t label;
  weir_text path; /* as weir__path_write makes it */
  int unique;
  int ready;
} weir__index_row;

typedef int (*weir__index_visit)(const weir__index_row *row, void *data, weir_error *err);

/* Visits all indexes, in the order in which they were made. */
int weir__store_index_list(weir_txn *txn, weir__index_visit visit, void *data, weir_error *err);

/*
 * Visits those that are ready, of one target and label; `visit` must not read. A connection remembers them.
 * In a read whose snapshot has not begun, since no statement has run, nobody knows yet if that still holds:
 * with `guessed` (NULL: it must not) it is taken to, and *guessed becomes 1. Since an index that is ready
 * stays so until it is dropped, and ids are not given twice, the guess is wrong only if its table is not
 * there.
 */
int weir__store_index_of(weir_txn *txn, weir_target target, int64_t label, int *guessed,
                         weir__index_visit visit, void *data, weir_error *err);

struct weir__indexes;

/* Frees what is remembered. NULL is a no-op. */
void weir__store_indexes_free(struct weir__indexes *indexes);

/* Sets id and ready of the index with target, label and path of `row`. */
int weir__store_index_find(weir_txn *txn, weir__index_row *row, weir_error *err);

/* ---- Their tables (storage_index.c) ------------------------------------------------------------------- */

/* Adds an index, and sets its id. From now on what is written goes into it; what is there, does not. */
int weir__store_index_add(weir_txn *txn, weir__index_row *row, weir_error *err);

/* Drops the index with id and target of `row`. */
int weir__store_index_drop(weir_txn *txn, const weir__index_row *row, weir_error *err);

/* How many rows there are to look at for an index. */
int weir__store_index_total(weir_txn *txn, const weir__index_row *row, int64_t *total, weir_error *err);

/* How far an index is filled. */
typedef struct weir__fill {
  int64_t after[4]; /* the last row looked at: a node's id, an edge's identity */
  uint64_t seen;    /* rows looked at */
  int end;          /* 1: there are no more */
} weir__fill;

/* Looks at the next `batch` rows, and puts them into the index. After the last ones it makes the index ready.
 * Errors: WEIR_CANCELED (somebody else has dropped it), WEIR_EXISTS. */
int weir__store_index_fill(weir_txn *txn, const weir__index_row *row, size_t batch, weir__fill *fill,
                           weir_error *err);

/* ---- Unique ones (storage_unique.c) ------------------------------------------------------------------- */

/* What their triggers raise, with the id behind it. */
#define WEIR__UNIQUE_MESSAGE "weir: unique index "

/* After a write of a node or an edge has failed with `rc`: if that was because of a unique index, returns
 * WEIR_EXISTS, and the message names property, value and the row that has it. Else returns rc. */
int weir__store_node_conflict(weir_txn *txn, const weir__node_row *row, int rc, weir_error *err);
int weir__store_edge_conflict(weir_txn *txn, const weir__edge_row *row, int rc, weir_error *err);

/* ---- Finds (storage_find.c) ---------------------------------------------------------------------------- */

/* Where a row is in the order of a find. */
typedef struct weir__position {
  int64_t kind;     /* ordered by a property: its place among the types, see draft.h; else 0 */
  weir_value value; /* what it is ordered by; WEIR_TYPE_NONE without an order */
  int64_t id[4];    /* a node's id, an edge's identity */
} weir__position;

/* A find, taken apart, and how it is to be answered. */
typedef struct weir__plan_spec {
  weir_target target;
  int64_t label;                  /* 0: any */
  const weir_cond *const *checks; /* conditions to look at row by row */
  size_t check_count;
  weir_access access;             /* not WEIR_BY_NOTHING */
  const weir_cond *const *ranges; /* BY_KEY, BY_INDEX: conditions on what is in order there. On a property: of
                                     values of one type, or one WEIR_PRESENT */
  size_t range_count;
  int64_t index;        /* BY_INDEX: its id */
  int guessed;          /* BY_INDEX: that it is there is a guess, see weir__store_index_of */
  int ordered_by_index; /* BY_INDEX: the find is ordered by its path */
  weir_field order;
  weir_text order_path;
  int descending;
  const weir__position *after; /* where to go on, or NULL */
  size_t wants;                /* rows at most; 0: all */
} weir__plan_spec;

/* *set: the one set that holds the label; 0 if there are several, or none. (storage_labels.c) */
int weir__store_label_only_set(weir_txn *txn, int64_t label, int64_t *set, weir_error *err);

typedef int (*weir__node_id_visit)(int64_t id, void *data, weir_error *err);

/* Visits the numbers of the nodes with a label, behind `after` (NULL: all), in their order or against it. At
 * most about `limit` will be wanted; 0: unknown. (storage_nodes.c) */
int weir__store_node_merge(weir_txn *txn, int64_t label, const int64_t *after, int descending, size_t limit,
                           weir__node_id_visit visit, void *data, weir_error *err);

typedef int (*weir__node_found)(const weir__node_row *row, const weir__position *at, void *data,
                                weir_error *err);
typedef int (*weir__edge_found)(const weir__edge_row *row, const weir__position *at, void *data,
                                weir_error *err);

/* What these return, and have visited nothing, if the index is not there: a new plan is needed. */
#define WEIR__STALE 2

/* Visits what is found, in order. */
int weir__store_node_query(weir_txn *txn, const weir__plan_spec *spec, weir__node_found visit, void *data,
                           weir_error *err);
int weir__store_edge_query(weir_txn *txn, const weir__plan_spec *spec, weir__edge_found visit, void *data,
                           weir_error *err);

#endif
