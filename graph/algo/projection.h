/*
 * A projection as the algorithms see it: compressed sparse rows, which never change once they are made.
 */
#ifndef WEIR_GRAPH_ALGO_PROJECTION_H
#define WEIR_GRAPH_ALGO_PROJECTION_H

#include <weir/projection.h>

#include "team.h"

/* The edges of node i in one direction are at start[i] to start[i + 1] - 1, ascending by `far`. */
typedef struct weir__rows {
  uint64_t *start; /* one more than nodes */
  uint32_t *far;   /* the other ends */
  double *weight;  /* NULL: no weights */
} weir__rows;

/* The keys of the nodes: one text after another, each followed by a NUL. Zero it to begin. */
typedef struct weir__keys {
  char *bytes;
  size_t byte_room;
  uint64_t *start; /* one more than nodes */
  size_t room;     /* of start */
  uint32_t count;  /* how many; none in a projection that was made of a list */
  uint32_t *slots; /* by hash of the key: number + 1, 0: empty; open addressing, linear probing */
  size_t mask;     /* slots - 1 */
} weir__keys;

struct weir_projection {
  weir_projection_info info;
  weir__rows out; /* undirected: an edge stands in the rows of both ends, a loop twice in that of its node */
  weir__rows in;  /* undirected: the same arrays as out, and not freed */
  weir__keys keys;
};

/* Frees the memory. (rows.c) */
void weir__rows_clear(weir__rows *rows);

/* Gives back the memory that so many entries do not need; if that fails it stays. */
void weir__rows_trim(weir__rows *rows, uint64_t entries);

/* What is to be made of edges. */
typedef struct weir__shape {
  uint32_t nodes;
  int undirected;
  int drop_loops;
  weir_parallel parallel;
  int ascending; /* 1: rows that are given ascend */
} weir__shape;

/* Makes a projection without keys of `rows`, in which each edge stands once, in the row of its source; they
 * are taken over, and cleared, also on error. start has room for nodes + 2 numbers. (rows.c) */
int weir__projection_of_rows(weir_projection **out, weir__rows *rows, const weir__shape *shape,
                             weir__team *team, weir_error *err);

/* Edges, in any order, and what is to be made of them. The arrays stay the caller's. */
typedef struct weir__edge_list {
  uint32_t nodes;
  uint64_t count;
  const uint32_t *src, *dst;
  const double *weight; /* NULL: no weights */
  int undirected;
  int drop_loops;
  weir_parallel parallel;
} weir__edge_list;

/* The same of a list of edges. Tests make theirs so. (rows.c) */
int weir__projection_make(weir_projection **out, const weir__edge_list *list, weir__team *team,
                          weir_error *err);

/* The rows for a direction that is not WEIR_BOTH. */
static inline const weir__rows *weir__rows_of(const weir_projection *p, weir_direction direction) {
  return direction == WEIR_IN ? &p->in : &p->out;
}

/* How many edges a node has in these rows. */
static inline uint64_t weir__row_length(const weir__rows *rows, uint32_t node) {
  return rows->start[node + 1] - rows->start[node];
}

/* ---- Keys (keys.c) ------------------------------------------------------------------------------------ */

/* Adds the key of the next node. Errors: WEIR_NOMEM. */
int weir__keys_add(weir__keys *keys, weir_text key, weir_error *err);

/* All were added: makes them ready to be found. Errors: WEIR_NOMEM. */
int weir__keys_end(weir__keys *keys, weir_error *err);

/* How many bytes they take. */
size_t weir__keys_bytes(const weir__keys *keys);

/* Frees the memory. */
void weir__keys_clear(weir__keys *keys);

/* ---- Arguments of algorithms (projection.c) ----------------------------------------------------------- */

/* WEIR_OK if the projection is there and `node` is one of its nodes. */
int weir__node_check(const weir_projection *p, uint32_t node, weir_error *err);

/* Makes 0 WEIR_OUT, and for undirected projections every direction WEIR_OUT. */
int weir__direction_of(const weir_projection *p, weir_direction *direction, weir_error *err);

#endif
