/*
 * All nodes and all edges that are chosen, for those who take the graph into memory. As storage.h: above it
 * there is no SQL. What is read is handed over inside SQLite, without a return from it for each row.
 */
#ifndef WEIR_GRAPH_STORAGE_PROJECT_H
#define WEIR_GRAPH_STORAGE_PROJECT_H

#include <weir/traverse.h>

#include "storage.h"

/* At most so many rows are looked at between two calls of `pause`. */
#define WEIR__TAKE_ROWS 8192

/* Which rows. */
typedef struct weir__chosen {
  const int64_t *labels; /* numbers: rows with one of them; none: all */
  size_t label_count;
  const weir_cond *where; /* checked; or NULL: all */
} weir__chosen;

/* Who takes them. Neither function may write. */
typedef struct weir__taker {
  /* Takes one; of nodes or of edges. What goes wrong it keeps, for `pause` to return. A weight is NAN if the
   * property is no number, 0 if none is asked for. */
  void (*node)(void *data, int64_t id, weir_text key);
  void (*edge)(void *data, int64_t near, int64_t far, double weight);
  /* Called before the first row, then after some, and at the end. `at` is the node, or the near end of the
   * edge, that was looked at last. Anything but WEIR_OK ends the reading, and is returned. */
  int (*pause)(void *data, int64_t at, weir_error *err);
  void *data;
} weir__taker;

struct sqlite3;
struct weir__taking;

/* Makes a connection ready. *out is the connection's. WEIR_OK or WEIR_NOMEM. */
int weir__take_connect(struct sqlite3 *db, struct weir__taking **out);

/* Takes the nodes, in the order of their numbers. */
int weir__store_take_nodes(weir_txn *txn, const weir__chosen *chosen, const weir__taker *taker,
                           weir_error *err);

/* What to take of edges. */
typedef struct weir__edges_spec {
  weir__chosen chosen;
  weir_cost cost; /* where weights come from */
  weir_text path; /* of WEIR_COST_PROP */
  int against;    /* 1: in the order of dst, which is the near end then; else of src. Only if nothing but
                     ends and labels is looked at; reads no props then */
} weir__edges_spec;

/* Takes the edges, in the order of near end, label, far end and rank. */
int weir__store_take_edges(weir_txn *txn, const weir__edges_spec *spec, const weir__taker *taker,
                           weir_error *err);

/* Finds the first edge from src to dst that was chosen and has no number at `path`. *found: is there one? */
int weir__store_edge_without(weir_txn *txn, const weir__chosen *chosen, weir_text path, int64_t src,
                             int64_t dst, weir__edge_id *id, int *found, weir_error *err);

/* *most: no node has a larger number; 0: there are none. */
int weir__store_node_last(weir_txn *txn, int64_t *most, weir_error *err);

#endif
