/* What edge.c and neighbors.c use of nodes. */
#ifndef WEIR_GRAPH_NODE_H
#define WEIR_GRAPH_NODE_H

#include "internal.h"
#include "store/storage.h"

/* Checks a key. */
static inline int weir__key_check(weir_text key, const char *what, weir_error *err) {
  return weir__text_check(key, what, 1, WEIR_KEY_MAX, err);
}

/* Points *out to the row and to the names of its labels. */
int weir__node_view(weir_txn *txn, const weir__node_row *row, weir_node *out, weir_error *err);

#endif
