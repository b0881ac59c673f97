/* What others use of nodes. */
#ifndef WEIR_GRAPH_NODE_H
#define WEIR_GRAPH_NODE_H

#include "internal.h"
#include "store/storage.h"

/* Checks a key. */
static inline int weir__key_check(weir_text key, const char *what, weir_error *err) {
  return weir__text_check(key, what, 1, WEIR_KEY_MAX, err);
}

/* WEIR_NOT_FOUND, with the key in the message. */
int weir__node_missing(weir_text key, weir_error *err);

/* *id becomes the number of the node with the key. Errors: WEIR_NOT_FOUND. */
int weir__node_number(weir_txn *txn, weir_text key, int64_t *id, weir_error *err);

/* Points *out to the row and to the names of its labels. */
int weir__node_view(weir_txn *txn, const weir__node_row *row, weir_node *out, weir_error *err);

#endif
