/* A find as an SQL statement, for storage_find.c, which runs it. */
#ifndef WEIR_GRAPH_STORAGE_FIND_H
#define WEIR_GRAPH_STORAGE_FIND_H

#include "draft.h"
#include "storage_query.h"

#define WEIR__ORDER_MAX 6 /* kind, value, the identity of an edge */

/* A column of the order. */
struct weir__order_column {
  const char *sql;
  int pinned; /* an equality gives it one value */
  int place;  /* where its value is in a weir__position; see storage_find_sql.c */
};

/* Set txn, spec and only_set; the draft is to be cleared. */
typedef struct weir__find_sql {
  weir__draft draft;
  weir_txn *txn;
  const weir__plan_spec *spec;
  int64_t only_set; /* the one set of labels that holds the label; 0: there are several */
  struct weir__order_column order[WEIR__ORDER_MAX];
  size_t order_count;
  int first_extra; /* the column of the result where kind and value begin */
} weir__find_sql;

/* Writes the whole find. */
int weir__find_write(weir__find_sql *st, weir_error *err);

/* Writes a statement for the nodes in weir_frontier (storage_frontier.h), in their order: the columns of
 * those for which the conditions are true. */
int weir__find_write_lookup(weir__find_sql *st, weir_error *err);

#endif
