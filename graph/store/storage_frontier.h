/*
 * Numbers in and out of a statement without a call for each, for storage_walk.c and storage_find.c. In SQL
 * they are
 *
 *   weir_frontier(id)   a table: the nodes to step from, or to look at
 *   weir_take(id)       a function: takes a number; true once there is no room for more
 *
 * Both are about the struct in the connection, which is filled for the time of one sqlite3_step, and empty
 * otherwise.
 */
#ifndef WEIR_GRAPH_STORAGE_FRONTIER_H
#define WEIR_GRAPH_STORAGE_FRONTIER_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;

typedef struct weir__frontier {
  const int64_t *nodes; /* of the table */
  size_t node_count;
  size_t at;      /* the one of them that is being stepped from */
  int64_t *ids;   /* taken */
  uint32_t *from; /* for each of these, which of the nodes was being stepped from; NULL: not wanted */
  size_t room;
  size_t count;
} weir__frontier;

/* Makes a connection ready. *out is the connection's. WEIR_OK or WEIR_NOMEM. */
int weir__frontier_connect(struct sqlite3 *db, weir__frontier **out);

#endif
