/*
 * The primitive operations on stored rows: all that the graph asks of its engine. Above this header there is
 * no SQL and no SQLite; another engine would implement these functions.
 *
 * Rows are named by numbers here: nodes, labels and sets of labels. A number is the row's as long as the row
 * exists; that of a deleted node may be given to a new one. Labels and their sets are never deleted.
 *
 * Functions that read rows hand them to a visitor one at a time; a row's memory is valid during that call. A
 * visitor returns WEIR_OK to go on, anything else ends the reading and is what the function returns. It may
 * call other storage functions.
 *
 * Every function runs inside a transaction, writes inside a write transaction; they check no arguments.
 */
#ifndef WEIR_GRAPH_STORAGE_H
#define WEIR_GRAPH_STORAGE_H

#include <weir/graph.h>

/* The set of no labels is in every store. */
#define WEIR__LABEL_SET_EMPTY 1

/* ---- Labels --------------------------------------------------------------------------------------- */

typedef int (*weir__label_visit)(int64_t id, weir_text name, void *data, weir_error *err);

/* The number of a label; 0 if there is none. */
int weir__store_label_find(weir_txn *txn, weir_text name, int64_t *id, weir_error *err);

/* The label of that number. */
int weir__store_label_get(weir_txn *txn, int64_t id, weir__label_visit visit, void *data, weir_error *err);

/* Adds a label that is not there. */
int weir__store_label_add(weir_txn *txn, weir_text name, int64_t *id, weir_error *err);

/* The number of the set that holds just the labels ids[0..count-1], which ascend; 0 if there is none. */
int weir__store_label_set_find(weir_txn *txn, const int64_t *ids, size_t count, int64_t *id, weir_error *err);

/* The labels in the set of that number. */
int weir__store_label_set_get(weir_txn *txn, int64_t id, weir__label_visit visit, void *data,
                              weir_error *err);

/* Adds a set that is not there. */
int weir__store_label_set_add(weir_txn *txn, const int64_t *ids, size_t count, int64_t *id, weir_error *err);

/* ---- Nodes ------------------------------------------------------------------------------------------ */

typedef struct weir__node_row {
  int64_t id;
  weir_text key;
  int64_t label_set;
  weir_text props;
  int64_t rev;
} weir__node_row;

/* `index` is that of the key or number that asked for the row; it means nothing in a scan. */
typedef int (*weir__node_visit)(const weir__node_row *row, size_t index, void *data, weir_error *err);

/* ids[i] becomes the number of the node with keys[i], 0 if there is none. */
int weir__store_node_ids(weir_txn *txn, const weir_text *keys, size_t count, int64_t *ids, weir_error *err);

/* Visits the nodes that have one of the keys, in the order of the keys. */
int weir__store_node_find(weir_txn *txn, const weir_text *keys, size_t count, weir__node_visit visit,
                          void *data, weir_error *err);

/* Visits the nodes of these numbers, in their order. */
int weir__store_node_get(weir_txn *txn, const int64_t *ids, size_t count, weir__node_visit visit, void *data,
                         weir_error *err);

/* Visits nodes with a number above `after`, ascending: all, or those with `label` (not 0). At most about
 * `limit` will be wanted; 0: unknown. */
int weir__store_node_scan(weir_txn *txn, int64_t label, int64_t after, size_t limit, weir__node_visit visit,
                          void *data, weir_error *err);

/* Counts nodes: all, or those with `label` (not 0). */
int weir__store_node_count(weir_txn *txn, int64_t label, int64_t *count, weir_error *err);

/* Inserts the row if its id is 0, and sets it; else replaces label_set, props and rev of the row with that
 * id. */
int weir__store_node_write(weir_txn *txn, weir__node_row *row, weir_error *err);

/* Deletes a node and its edges. */
int weir__store_node_delete(weir_txn *txn, int64_t id, weir_error *err);

/* ---- Edges ------------------------------------------------------------------------------------------- */

/* The identity of an edge; edges are in the order of its members. */
typedef struct weir__edge_id {
  int64_t src;
  int64_t label;
  int64_t dst;
  int64_t rank;
} weir__edge_id;

typedef struct weir__edge_row {
  weir__edge_id id;
  double weight;
  weir_text props;
  int64_t rev;
  weir_text src_key; /* in a scan only */
  weir_text dst_key; /* in a scan only */
} weir__edge_row;

typedef int (*weir__edge_visit)(const weir__edge_row *row, void *data, weir_error *err);

/* Visits the edge of that identity, if there is one. */
int weir__store_edge_get(weir_txn *txn, const weir__edge_id *id, weir__edge_visit visit, void *data,
                         weir_error *err);

/* The highest rank of edges with src, label and dst of `id`; *used 0 if there are none. */
int weir__store_edge_last_rank(weir_txn *txn, const weir__edge_id *id, int64_t *rank, int *used,
                               weir_error *err);

/* Visits edges after the identity `after`: all, or those with `label` (not 0). Time grows with the number of
 * all edges behind `after` in either case. */
int weir__store_edge_scan(weir_txn *txn, int64_t label, const weir__edge_id *after, weir__edge_visit visit,
                          void *data, weir_error *err);

/* Counts edges of the node `node` in one direction, or of the store (0), all or those with `label` (not 0).
 */
int weir__store_edge_count(weir_txn *txn, int64_t node, weir_direction direction, int64_t label,
                           int64_t *count, weir_error *err);

int weir__store_edge_insert(weir_txn *txn, const weir__edge_row *row, weir_error *err);

/* Replaces weight, props and rev. */
int weir__store_edge_update(weir_txn *txn, const weir__edge_row *row, weir_error *err);

int weir__store_edge_delete(weir_txn *txn, const weir__edge_id *id, weir_error *err);

/* ---- From a node to its neighbors ---------------------------------------------------------------------- */

/* How much of a node is read. */
enum weir__reach { WEIR__REACH_ID, WEIR__REACH_KEY, WEIR__REACH_NODE };

/* The edges of one node in one direction are in the order of label, far, rank. */
typedef struct weir__hop_place {
  int64_t label;
  int64_t far; /* the node at the other end */
  int64_t rank;
} weir__hop_place;

typedef struct weir__hop {
  weir__hop_place place; /* far: with `places` */
  double weight;         /* weight, props, rev: with `edges` */
  weir_text props;
  int64_t rev;
  weir__node_row node; /* by `reach`: key; the rest as well; never its number */
} weir__hop;

typedef int (*weir__hop_visit)(const weir__hop *hop, void *data, weir_error *err);

typedef struct weir__expansion {
  weir_text key;                /* of the node to start from */
  weir_direction direction;     /* WEIR_OUT or WEIR_IN */
  int64_t label;                /* of the edges; 0: any */
  enum weir__reach reach;       /* of the neighbors: WEIR__REACH_KEY or _NODE */
  int edges;                    /* 1: weight, props and rev of the edges */
  int places;                   /* 1: the far ends' numbers, which a place has to name */
  const weir__hop_place *after; /* where to go on, with `places`; NULL: from the start */
} weir__expansion;

/* Visits the edges of a node: one range of an index, in one statement. *found: is the node there? */
int weir__store_expand(weir_txn *txn, const weir__expansion *what, weir__hop_visit visit, void *data,
                       int *found, weir_error *err);

#endif
