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
#include <weir/search.h>
#include <weir/traverse.h>

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
  weir_edge edge;       /* in: start from WEIR_EDGE_INIT or WEIR_EDGE: a zeroed one has weight 0 */
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

/* weir_node_find, collected. For the next page submit it again as it is, unless place.done; a page that fails
 * leaves the place where it was. weir_place_clear frees the place. */
typedef struct weir_node_find_req {
  weir_req req;     /* its base */
  weir_find find;   /* in: start from WEIR_FIND_INIT; its place is not looked at, but the one below */
  weir_place place; /* in and out: zero to begin with */
  weir_node *nodes; /* out */
  size_t count;     /* out */
  weir_arena arena; /* of nodes */
} weir_node_find_req;

/* Submits the request. */
WEIR_API int weir_node_find_async(weir_async *handle, weir_node_find_req *req, weir_done_fn done);

/* weir_edge_find, collected, as weir_node_find_req. */
typedef struct weir_edge_find_req {
  weir_req req;     /* its base */
  weir_find find;   /* in */
  weir_place place; /* in and out: zero to begin with */
  weir_edge *edges; /* out */
  size_t count;     /* out */
  weir_arena arena; /* of edges */
} weir_edge_find_req;

/* Submits the request. */
WEIR_API int weir_edge_find_async(weir_async *handle, weir_edge_find_req *req, weir_done_fn done);

/* weir_node_search, collected, as weir_node_find_req. */
typedef struct weir_node_search_req {
  weir_req req;       /* its base */
  weir_search search; /* in: start from WEIR_SEARCH_INIT; its place is not looked at, but the one below */
  weir_place place;   /* in and out: zero to begin with */
  weir_hit *hits;     /* out */
  size_t count;       /* out */
  weir_arena arena;   /* of hits */
} weir_node_search_req;

/* Submits the request. */
WEIR_API int weir_node_search_async(weir_async *handle, weir_node_search_req *req, weir_done_fn done);

/* weir_walk_run, collected. For the next steps submit it again, until result.ending is WEIR_ENDED. The walk
 * is the library's from submitting until `done`. If it fails, steps and count are what it has visited before
 * that: the next run does not visit it again. */
typedef struct weir_walk_req {
  weir_req req;            /* its base */
  weir_walk *walk;         /* in: from weir_walk_open */
  size_t limit;            /* in: steps at a time; 0: as many as the walk's budget allows */
  weir_walk_result result; /* out */
  weir_step *steps;        /* out */
  size_t count;            /* out */
  weir_arena arena;        /* of steps */
} weir_walk_req;

/* Submits the request. */
WEIR_API int weir_walk_async(weir_async *handle, weir_walk_req *req, weir_done_fn done);

/* weir_path_shortest. */
typedef struct weir_path_req {
  weir_req req;              /* its base */
  weir_text from;            /* in */
  weir_text to;              /* in */
  weir_path_options options; /* in: start from WEIR_PATH_OPTIONS_INIT */
  weir_path path;            /* out */
  weir_arena arena;          /* of path */
} weir_path_req;

/* Submits the request. */
WEIR_API int weir_path_shortest_async(weir_async *handle, weir_path_req *req, weir_done_fn done);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_GRAPH_ASYNC_H */
