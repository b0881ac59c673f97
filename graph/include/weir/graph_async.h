/*
 * weir/graph_async.h - the commonest operations on a graph as asynchronous requests.
 *
 * For everything else, and for several operations in one transaction, submit a function of your own with
 * weir_read_async or weir_write_async (weir/async.h), whose rules hold here too.
 *
 * A request is a struct of the caller's, zeroed before its first use. Its first member is the weir_req, so
 * that `done` casts the weir_req that it gets to the type of the request; data, timeout_ms and label of it
 * may be set before submitting. The members marked "in" are set before submitting, and what they point to
 * must stay until `done`; those marked "out" may be read in `done` when status is WEIR_OK. Results live in
 * the arena of the request until it is submitted again; weir_arena_clear frees it.
 *
 * Errors: submitting fails as weir_read_async or weir_write_async do, and with WEIR_INVALID for a NULL;
 * `done` gets what the synchronous function of the same name returns.
 */
#ifndef WEIR_GRAPH_ASYNC_H
#define WEIR_GRAPH_ASYNC_H

#include <weir/async.h>
#include <weir/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* weir_node_get. */
typedef struct weir_node_get_req {
  weir_req req;     /* its base */
  weir_text key;    /* in */
  weir_node node;   /* out */
  weir_arena arena; /* of node */
} weir_node_get_req;

/* Submits the request. */
WEIR_API int weir_node_get_async(weir_async *handle, weir_node_get_req *req, weir_done_fn done);

/* weir_node_put. */
typedef struct weir_node_put_req {
  weir_req req;         /* its base */
  weir_node node;       /* in */
  weir_outcome outcome; /* out */
} weir_node_put_req;

/* Submits the request. */
WEIR_API int weir_node_put_async(weir_async *handle, weir_node_put_req *req, weir_done_fn done);

/* weir_edge_put. */
typedef struct weir_edge_put_req {
  weir_req req;         /* its base */
  weir_edge edge;       /* in: start from WEIR_EDGE_INIT or WEIR_EDGE */
  unsigned flags;       /* in: 0 or WEIR_CREATE_ENDPOINTS */
  weir_outcome outcome; /* out */
} weir_edge_put_req;

/* Submits the request. */
WEIR_API int weir_edge_put_async(weir_async *handle, weir_edge_put_req *req, weir_done_fn done);

/* weir_neighbors, collected. For the next page submit it again as it is, unless cursor.done. */
typedef struct weir_neighbors_req {
  weir_req req;             /* its base */
  weir_text key;            /* in */
  weir_direction direction; /* in */
  unsigned flags;           /* in: WEIR_WITH_* */
  weir_text label;          /* in: of the edges; empty: any */
  size_t limit;             /* in: neighbors in a page; 0: all in one */
  weir_cursor cursor;       /* in and out: zero to begin with */
  weir_neighbor *neighbors; /* out */
  size_t count;             /* out */
  weir_arena arena;         /* of neighbors */
} weir_neighbors_req;

/* Submits the request. */
WEIR_API int weir_neighbors_async(weir_async *handle, weir_neighbors_req *req, weir_done_fn done);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_GRAPH_ASYNC_H */
