/* What others use of edges. */
#ifndef WEIR_GRAPH_EDGE_H
#define WEIR_GRAPH_EDGE_H

#include "internal.h"
#include "store/storage.h"

/* Checks src, label and dst. */
int weir__edge_check_id(const weir_edge *edge, weir_error *err);

/* Looks up the numbers of src, label and dst; 0 for what is not there. No stored edge has a 0 in it. */
int weir__edge_resolve(weir_txn *txn, const weir_edge *edge, weir__edge_id *id, weir_error *err);

/* WEIR_NOT_FOUND, with the identity in the message. */
int weir__edge_missing(const weir_edge *edge, weir_error *err);

/* Points *out to the row, which has its keys, and to the name of its label. */
int weir__edge_view(weir_txn *txn, const weir__edge_row *row, weir_edge *out, weir_error *err);

#endif
