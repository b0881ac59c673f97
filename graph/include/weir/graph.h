/*
 * weir/graph.h - the property graph: nodes and edges in one SQLite file.
 *
 *   node   a key (text, unique), labels (a set), props (a JSON object)
 *   edge   from src to dst with a label and a rank; a weight, props. (src, label, dst, rank) is its identity
 *
 * Texts are a weir_text, pointer and length; weir_str("...") makes one (weir/pool.h).
 *
 * Every function takes a weir_txn. weir_graph_auto(graph) makes each call a transaction of its own; inside
 * weir_read, weir_write or a snapshot (weir/pool.h), pass the transaction at hand and all calls share it. A
 * function that changes several rows does so as a whole or leaves no trace, also inside a larger transaction.
 *
 * Who may call from where
 *
 *   weir_graph   any thread, any number at once
 *   weir_txn     one thread at a time (weir_graph_auto: any)
 *   weir_arena, weir_cursor, weir_node, weir_edge: one owner, no locking inside
 *
 * Errors that every function may return, and that are not listed again: those of weir_read or weir_write,
 * WEIR_INVALID for a NULL where an object is wanted, for text that is not UTF-8 or holds a NUL, for a key or
 * label that is empty or too long, and for props that are not a JSON object (the message names the byte
 * offset); WEIR_MISUSE for a write in a read transaction, or a txn whose pool is not a graph's.
 */
#ifndef WEIR_GRAPH_H
#define WEIR_GRAPH_H

#include <weir/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_KEY_MAX     1024      /* bytes in a node key; the least is 1 */
#define WEIR_LABEL_MAX   255       /* bytes in a label; the least is 1 */
#define WEIR_LABELS_MAX  64        /* labels on one node */
#define WEIR_PROPS_MAX   100000000 /* bytes of props, SQLite's own limit leaves room for more */
#define WEIR_PROPS_DEPTH 1000      /* objects and arrays one within another in props */

/* ---- The store ---- */

typedef struct weir_graph weir_graph; /* an open store; opaque */

/*
 * Opens (and creates, unless read_only) the graph store at `path` and returns it in *out. `options` may be
 * NULL: pool mode for a file, single mode for ":memory:". Its hooks, data and numbered are the graph's own
 * and must be left zero. An older store is brought to this version's schema in one transaction.
 *
 * Errors: as weir_pool_open, and WEIR_VERSION (made by a newer weir), WEIR_CORRUPT (a database of another
 * application, or a damaged one).
 */
WEIR_API int weir_graph_open(weir_graph **out, const char *path, const weir_pool_options *options,
                             weir_error *err) WEIR_CHECKED;

/* Closes the store as weir_pool_close closes its pool, with the same errors. NULL is a no-op. */
WEIR_API int weir_graph_close(weir_graph *graph, weir_error *err);

/* The pool under the graph, for snapshots, weir_async_init and statistics. Owned by the graph. */
WEIR_API weir_pool *weir_graph_pool(weir_graph *graph);

/* weir_pool_auto() of the graph's pool: makes each call a transaction of its own. NULL for NULL. */
WEIR_API weir_txn *weir_graph_auto(weir_graph *graph);

/* ---- Memory for results ---- */

/*
 * An arena that results live in, so that reading allocates nothing once it has grown: each function that
 * takes an arena empties it first and puts its results there. They are valid until its next use or
 * weir_arena_clear. Zero or WEIR_ARENA_INIT to begin with.
 */
typedef struct weir_arena {
  struct weir__chunk *chunk; /* private */
} weir_arena;

#define WEIR_ARENA_INIT                                                                                      \
  { NULL }

/* Frees the memory; the arena may be used again. NULL is a no-op. */
WEIR_API void weir_arena_clear(weir_arena *arena);

/* ---- Nodes ---- */

/*
 * A node. As input: `label` is the one label, or empty for none; for several, set `labels` and `label_count`
 * instead (both: `label` must be among them). Order and repetition do not matter. Empty props mean {}. `rev`
 * is not looked at. As output: labels in the order of their bytes, `label` the first of them; `rev` is the
 * number of the write transaction that last wrote the node. Every text is followed by a NUL that is not
 * counted.
 */
typedef struct weir_node {
  weir_text key;           /* unique in the store */
  weir_text label;         /* the one label, or the first */
  weir_text props;         /* a JSON object */
  const weir_text *labels; /* all labels */
  size_t label_count;      /* how many */
  int64_t rev;             /* when it was last written */
} weir_node;

#ifndef __cplusplus
/* A node from C strings: weir_node_put(txn, &WEIR_NODE("alice", "person", "{\"age\":42}"), NULL, &err). */
#define WEIR_NODE(key_, label_, props_)                                                                      \
  ((weir_node){.key = weir_str(key_), .label = weir_str(label_), .props = weir_str(props_)})
#endif

/* What an upsert did. */
typedef enum weir_outcome { WEIR_UNCHANGED = 0, WEIR_INSERTED = 1, WEIR_UPDATED = 2 } weir_outcome;

/* A node key that weir makes: a UUID version 7 (RFC 9562, section 5.7), 36 characters and a NUL. */
#define WEIR_UUID_SIZE 37

/*
 * Inserts the node, or replaces labels and props of the one with its key. *outcome (NULL: not wanted) tells
 * which; WEIR_UNCHANGED if it was there with these labels and these very bytes of props, and nothing was
 * written.
 */
WEIR_API int weir_node_put(weir_txn *txn, const weir_node *node, weir_outcome *outcome, weir_error *err);

/*
 * Inserts a node. If node->key is empty it gets a new UUIDv7. `key` (NULL: not wanted; else WEIR_UUID_SIZE
 * bytes) receives a key so made, and "" otherwise. Errors: WEIR_EXISTS.
 */
WEIR_API int weir_node_add(weir_txn *txn, const weir_node *node, char *key, weir_error *err);

/*
 * Patches the props of a node by RFC 7396 (JSON Merge Patch): members of `patch` replace those of the same
 * name, null removes, objects merge. Errors: WEIR_NOT_FOUND.
 */
WEIR_API int weir_node_merge(weir_txn *txn, weir_text key, weir_text patch, weir_outcome *outcome,
                             weir_error *err);

/* Deletes a node and, in the same transaction, its edges. *existed (NULL: not wanted) becomes 1 or 0; none is
 * no error. */
WEIR_API int weir_node_del(weir_txn *txn, weir_text key, int *existed, weir_error *err);

/* Reads one node into *out; its texts live in `arena`. Errors: WEIR_NOT_FOUND. */
WEIR_API int weir_node_get(weir_txn *txn, weir_text key, weir_node *out, weir_arena *arena, weir_error *err);

/*
 * Reads `count` nodes from one snapshot into out[0..count-1], in the order of `keys`. A key that is not there
 * gives a node with key.ptr NULL. *found (NULL: not wanted) is how many were.
 */
WEIR_API int weir_node_get_many(weir_txn *txn, const weir_text *keys, size_t count, weir_node *out,
                                size_t *found, weir_arena *arena, weir_error *err);

/*
 * Puts `count` nodes in one transaction; outcomes[i] (NULL: not wanted) tells what became of nodes[i]. The
 * first error ends it, nothing is kept, and the message names the index.
 */
WEIR_API int weir_node_put_many(weir_txn *txn, const weir_node *nodes, size_t count, weir_outcome *outcomes,
                                weir_error *err);

/* Counts the nodes that have `label`; empty: all nodes. Time grows with the number counted. */
WEIR_API int weir_node_count(weir_txn *txn, weir_text label, int64_t *out, weir_error *err);

/* ---- Reading many, in pages ---- */

/*
 * A place in a scan. Zero it to begin; a scan that ends early leaves it where the next call goes on, also in
 * another transaction. It stays valid while others write: what was there all the time is visited exactly
 * once. Plain data.
 */
typedef struct weir_cursor {
  int64_t place[4]; /* private */
  int done;         /* 1 once the scan has come to its end */
} weir_cursor;

#define WEIR_CURSOR_INIT                                                                                     \
  { {0, 0, 0, 0}, 0 }

/* Options of scans and of weir_neighbors. NULL: everything, from the start; else start from WEIR_SCAN_INIT,
 * since `size` has to be set. A member that is zero means its default. */
typedef struct weir_scan {
  size_t size;         /* sizeof(weir_scan) */
  weir_text label;     /* only nodes, or edges, with this label; empty: any */
  size_t limit;        /* visit at most so many; 0: no limit */
  weir_cursor *cursor; /* in and out; NULL: from the start */
} weir_scan;

#define WEIR_SCAN_INIT                                                                                       \
  { sizeof(weir_scan), {NULL, 0}, 0, NULL }

/*
 * Visits one node. The node's memory is the library's, valid during the call. Returns WEIR_OK to go on,
 * WEIR_STOP to end the scan with success, a negative code to end it with that. May read in the same
 * transaction, but must not write.
 */
typedef int (*weir_node_fn)(const weir_node *node, void *data, weir_error *err);

/* Visits all nodes, or those with scan->label, from one snapshot, in an order that is stable but not that of
 * the keys. */
WEIR_API int weir_node_scan(weir_txn *txn, const weir_scan *scan, weir_node_fn visit, void *data,
                            weir_error *err);

/* ---- Edges ---- */

/*
 * An edge. (src, label, dst, rank) is its identity; rank tells parallel edges apart. Start from
 * WEIR_EDGE_INIT or WEIR_EDGE, which set the weight to 1; one that is zeroed has weight 0. Weights are
 * finite. Empty props mean {}. `rev` is output only.
 */
typedef struct weir_edge {
  weir_text src;   /* key of the node that it leaves */
  weir_text label; /* its one label */
  weir_text dst;   /* key of the node that it leads to */
  int64_t rank;    /* tells parallel edges apart */
  double weight;   /* finite */
  weir_text props; /* a JSON object */
  int64_t rev;     /* when it was last written */
} weir_edge;

#define WEIR_EDGE_INIT                                                                                       \
  { {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, 1.0, {NULL, 0}, 0 }

#ifndef __cplusplus
/* An edge of rank 0 and weight 1 from C strings: weir_edge_put(txn, &WEIR_EDGE("alice", "knows", "bob"), 0,
 * NULL, &err). */
#define WEIR_EDGE(src_, label_, dst_)                                                                        \
  ((weir_edge){.src = weir_str(src_), .label = weir_str(label_), .dst = weir_str(dst_), .weight = 1.0})
#endif

/* Flags of functions that write edges. */
enum {
  WEIR_CREATE_ENDPOINTS = 1, /* make missing endpoints: nodes without labels, props {} */
  WEIR_NEXT_RANK = 2         /* weir_edge_add: take the next rank above those in use, from 0 */
};

/* Inserts the edge, or replaces weight and props of the one with its identity. Errors: WEIR_NOT_FOUND (an
 * endpoint). */
WEIR_API int weir_edge_put(weir_txn *txn, const weir_edge *edge, unsigned flags, weir_outcome *outcome,
                           weir_error *err);

/* Inserts an edge; *rank (NULL: not wanted) receives its rank. Errors: WEIR_EXISTS, WEIR_NOT_FOUND (an
 * endpoint). */
WEIR_API int weir_edge_add(weir_txn *txn, const weir_edge *edge, unsigned flags, int64_t *rank,
                           weir_error *err);

/* Patches the props of the edge with the identity of `id` by RFC 7396. Errors: WEIR_NOT_FOUND. */
WEIR_API int weir_edge_merge(weir_txn *txn, const weir_edge *id, weir_text patch, weir_outcome *outcome,
                             weir_error *err);

/* Deletes the edge with the identity of `id`. *existed (NULL: not wanted) becomes 1 or 0; none is no error.
 */
WEIR_API int weir_edge_del(weir_txn *txn, const weir_edge *id, int *existed, weir_error *err);

/* Reads the edge with the identity of `id` into *out; its texts live in `arena`. Errors: WEIR_NOT_FOUND. */
WEIR_API int weir_edge_get(weir_txn *txn, const weir_edge *id, weir_edge *out, weir_arena *arena,
                           weir_error *err);

/* Puts `count` edges in one transaction, as weir_node_put_many does nodes. */
WEIR_API int weir_edge_put_many(weir_txn *txn, const weir_edge *edges, size_t count, unsigned flags,
                                weir_outcome *outcomes, weir_error *err);

/* Counts the edges that have `label`; empty: all edges. Time grows with the number of edges in the store. */
WEIR_API int weir_edge_count(weir_txn *txn, weir_text label, int64_t *out, weir_error *err);

/* Visits one edge; as weir_node_fn. */
typedef int (*weir_edge_fn)(const weir_edge *edge, void *data, weir_error *err);

/* Visits all edges, or those with scan->label, from one snapshot, in a stable order. */
WEIR_API int weir_edge_scan(weir_txn *txn, const weir_scan *scan, weir_edge_fn visit, void *data,
                            weir_error *err);

/* ---- Neighbors ---- */

/* Which edges of a node. */
typedef enum weir_direction {
  WEIR_OUT = 1, /* edges that lead away from the node */
  WEIR_IN = 2,  /* edges that lead to it */
  WEIR_BOTH = 3 /* both; a loop counts twice, once each way */
} weir_direction;

/* What weir_neighbors fills in beside key, label, rank and direction. */
enum {
  WEIR_WITH_NODES = 1, /* labels, props and rev of the neighbor */
  WEIR_WITH_EDGES = 2  /* weight, props and rev of the edge */
};

/* One step from a node along an edge. */
typedef struct weir_neighbor {
  weir_node node;           /* the neighbor: key; the rest with WEIR_WITH_NODES */
  weir_direction direction; /* WEIR_OUT: the edge leads to the neighbor; WEIR_IN: from it */
  weir_text label;          /* of the edge */
  int64_t rank;             /* of the edge */
  double weight;            /* of the edge, with WEIR_WITH_EDGES (else 0) */
  weir_text props;          /* of the edge, with WEIR_WITH_EDGES */
  int64_t rev;              /* of the edge, with WEIR_WITH_EDGES */
} weir_neighbor;

/* Visits one neighbor; as weir_node_fn. */
typedef int (*weir_neighbor_fn)(const weir_neighbor *neighbor, void *data, weir_error *err);

/*
 * Visits the neighbors of the node `key`, one call an edge, so a neighbor reached by parallel edges is
 * visited for each. `flags` are WEIR_WITH_*. scan->label is the label of the edges. One range scan; time
 * grows with the edges visited. Errors: WEIR_NOT_FOUND (no such node).
 */
WEIR_API int weir_neighbors(weir_txn *txn, weir_text key, weir_direction direction, unsigned flags,
                            const weir_scan *scan, weir_neighbor_fn visit, void *data, weir_error *err);

/* Counts the edges that weir_neighbors would visit. Errors: WEIR_NOT_FOUND (no such node). */
WEIR_API int weir_degree(weir_txn *txn, weir_text key, weir_direction direction, weir_text label,
                         int64_t *out, weir_error *err);

/* ---- Members of props ---- */

/*
 * Reads the member `name`, an integer, of the JSON object `props`. Each call parses `props` anew. Errors:
 * WEIR_NOT_FOUND (no such member, or null), WEIR_INVALID (not a JSON object; a member of another type; an
 * integer beyond 64 bits).
 */
WEIR_API int weir_props_int(weir_text props, const char *name, int64_t *out, weir_error *err);

/* As weir_props_int, for a number, integers included. */
WEIR_API int weir_props_real(weir_text props, const char *name, double *out, weir_error *err);

/* As weir_props_int, for true (1) or false (0). */
WEIR_API int weir_props_bool(weir_text props, const char *name, int *out, weir_error *err);

/* As weir_props_int, for a string, which is put in `arena`. */
WEIR_API int weir_props_text(weir_text props, const char *name, weir_text *out, weir_arena *arena,
                             weir_error *err);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_GRAPH_H */
