/*
 * weir/projection.h - a part of the graph in memory, for computing on it (weir/algo.h).
 *
 * A projection is the nodes and edges that its options choose, as one snapshot of the store had them: for
 * each node the nodes that its edges lead to, and those that they come from, in arrays (compressed sparse
 * rows). It never changes, needs no transaction, and may be used by any number of threads at once until it is
 * closed.
 *
 * Its nodes are numbered from 0. The numbers are the projection's own: a key is looked up once, and results
 * are arrays by number. Nodes are in the order of weir_node_scan.
 *
 * Memory: weir_projection_describe tells it. A node takes about 35 bytes and its key; an edge 8, with weights
 * 24. While it is made about 3 more an edge are in use, undirected 12, with weights 28; and 8 to 40 a node.
 */
#ifndef WEIR_PROJECTION_H
#define WEIR_PROJECTION_H

#include <weir/traverse.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_projection weir_projection; /* opaque */

/* No node: as the number of one. */
#define WEIR_NO_NODE UINT32_MAX

/* How a computation is run. NULL: the defaults; else start from WEIR_RUN_INIT, since `size` has to be set. A
 * member that is zero means its default. Results are the same for any number of threads. */
typedef struct weir_run {
  size_t size;      /* sizeof(weir_run) */
  unsigned threads; /* that take part, the calling one included; at most WEIR_THREADS_MAX. Default: as many as
                       there are processors for this process, and fewer where they would not pay */
  int (*on_progress)(const weir_progress *progress, void *data); /* or NULL. On the calling thread, some times
                       a second, at the beginning and at the end; done and total are in units of work, which
                       differ in size. Nonzero ends the computation soon: WEIR_CANCELED */
  void *data;                                                    /* handed to it */
} weir_run;

#define WEIR_THREADS_MAX 64 /* threads of one computation */

#define WEIR_RUN_INIT                                                                                        \
  { sizeof(weir_run), 0, NULL, NULL }

/* What becomes of parallel edges: those from one node to another, of all labels and ranks; if undirected,
 * also those the other way. */
typedef enum weir_parallel {
  WEIR_PARALLEL_KEEP = 0, /* each is an edge */
  WEIR_PARALLEL_SUM = 1,  /* one edge, with the sum of the weights */
  WEIR_PARALLEL_MIN = 2,  /* one edge, with the least weight */
  WEIR_PARALLEL_MAX = 3   /* one edge, with the greatest */
} weir_parallel;

/* What is projected. NULL: everything, directed, without weights; else start from
 * WEIR_PROJECTION_OPTIONS_INIT, since `size` has to be set. A member that is zero means its default. */
typedef struct weir_projection_options {
  size_t size;                  /* sizeof(weir_projection_options) */
  const weir_text *node_labels; /* only nodes with at least one of these; none: all */
  size_t node_label_count;      /* how many; at most WEIR_LABELS_MAX */
  const weir_cond *nodes;       /* only nodes for which this is true; NULL: all */
  const weir_text *edge_labels; /* only edges with one of these; none: all */
  size_t edge_label_count;      /* how many; at most WEIR_LABELS_MAX */
  const weir_cond *edges;       /* only edges for which this is true; NULL: all */
  int undirected;               /* 1: an edge leads both ways */
  int drop_loops;               /* 1: without edges from a node to itself */
  weir_parallel parallel;       /* what becomes of parallel edges */
  weir_cost weight;             /* WEIR_COST_HOPS: no weights. Else where they come from */
  weir_text weight_path;        /* of WEIR_COST_PROP, as in weir_cond */
  const double *weight_missing; /* of WEIR_COST_PROP: the weight of edges without that property, or where it
                                   is no number; NULL: that is an error */
} weir_projection_options;

#define WEIR_PROJECTION_OPTIONS_INIT                                                                         \
  {                                                                                                          \
    sizeof(weir_projection_options), NULL, 0, NULL, NULL, 0, NULL, 0, 0, WEIR_PARALLEL_KEEP, WEIR_COST_HOPS, \
        {NULL, 0}, NULL                                                                                      \
  }

/*
 * Makes a projection of what `txn` sees, and returns it in *out (NULL after an error). The calling thread
 * reads the store, another takes what was read apart (if run->threads allows; more are not used). Edges with
 * an end that is not projected are left out. All nodes and edges of the store are looked at once, whatever is
 * chosen.
 *
 * Progress is in nodes of the store: those that were looked at, and then those whose edges were. on_progress
 * may read in `txn`. A token or a deadline of `txn` ends it, too.
 *
 * In a write transaction it holds what that has written so far; its rev is then the number of that, which
 * is given to it if need be: what that writes later does not count as behind. If the transaction is undone
 * the projection is of a state that never was, and the number becomes another's: do not keep it.
 *
 * Errors: WEIR_INVALID (also: an edge whose weight is no number, which the message names; parallel edges
 * whose weights add up to more than a double holds), WEIR_NOMEM, WEIR_CANCELED (by on_progress), WEIR_FULL
 * (more than 2^32 - 2 nodes).
 */
WEIR_API int weir_projection_open(weir_projection **out, weir_txn *txn,
                                  const weir_projection_options *options, const weir_run *run,
                                  weir_error *err) WEIR_CHECKED;

/* Frees the projection, which nobody uses. NULL is a no-op. */
WEIR_API void weir_projection_close(weir_projection *projection);

/* What a projection is. */
typedef struct weir_projection_info {
  uint32_t nodes;      /* how many; their numbers are 0 to nodes - 1 */
  uint64_t edges;      /* how many, parallel edges that became one counted once; undirected ones once, too */
  uint64_t loops;      /* of these, edges from a node to itself */
  uint64_t left_out;   /* edges that were chosen, but have an end that is not projected */
  int undirected;      /* 1: an edge leads both ways */
  int weighted;        /* 1: edges have weights; 0: each counts 1 */
  double least_weight; /* of all edges; 0 if there are none, or no weights */
  int64_t rev;         /* the last write transaction that it sees */
  size_t bytes;        /* of memory */
} weir_projection_info;

/* Tells what it is. Of NULL it, and the functions below that return no code, say that it is empty. */
WEIR_API void weir_projection_describe(const weir_projection *projection, weir_projection_info *out);

/* How many nodes it has: the length of the arrays that results go to. */
WEIR_API uint32_t weir_projection_nodes(const weir_projection *projection);

/*
 * *writes becomes the number of write transactions that `txn` sees and the projection does not; 0: it is what
 * the store is. Those that wrote a node or an edge count, whether it is projected or not; a write transaction
 * sees itself. `txn` is of the store that was projected: of another the number means nothing. Errors:
 * WEIR_MISUSE (`txn` sees less than the projection).
 */
WEIR_API int weir_projection_behind(const weir_projection *projection, weir_txn *txn, int64_t *writes,
                                    weir_error *err);

/* The number of the node with that key. Errors: WEIR_NOT_FOUND (it is not projected). */
WEIR_API int weir_projection_find(const weir_projection *projection, weir_text key, uint32_t *node,
                                  weir_error *err);

/* The key of a node, which lives as long as the projection; {NULL, 0} for a number that no node has. */
WEIR_API weir_text weir_projection_key(const weir_projection *projection, uint32_t node);

/* The edges of a node in one direction. */
typedef struct weir_adjacent {
  const uint32_t *nodes; /* the other ends, ascending; a loop of an undirected projection twice */
  const double *weights; /* of the edges; NULL: without weights */
  size_t count;          /* how many */
} weir_adjacent;

/* The edges that lead away from a node (WEIR_OUT, or 0), or to it (WEIR_IN); of an undirected projection all
 * directions are the same, else there are none for WEIR_BOTH: ask for both. None for a number that no node
 * has. They live as long as the projection. */
WEIR_API weir_adjacent weir_projection_adjacent(const weir_projection *projection, uint32_t node,
                                                weir_direction direction);

/* ---- Results as properties ---- */

/* What the values of a column are. */
typedef enum weir_column_type {
  WEIR_COLUMN_UINT32 = 1, /* uint32_t; UINT32_MAX: none */
  WEIR_COLUMN_UINT64 = 2, /* uint64_t, at most INT64_MAX; above: none */
  WEIR_COLUMN_REAL = 3,   /* double; infinite or NAN: none */
  WEIR_COLUMN_NODE = 4    /* uint32_t, the number of a node: its key is written; WEIR_NO_NODE: none */
} weir_column_type;

/* A result, and the property that it becomes. */
typedef struct weir_column {
  weir_text name;        /* of the property: a member of props. Not a path: "a.b" is one name */
  weir_column_type type; /* of the values */
  const void *values;    /* one a node, in the order of their numbers */
} weir_column;

/* What weir_projection_write did. */
typedef struct weir_written {
  uint64_t updated;   /* nodes written */
  uint64_t unchanged; /* nodes that had these values */
  uint64_t missing;   /* nodes that the store does not have any more */
} weir_written;

/*
 * Writes columns into the props of the nodes of the projection: sets a member of each name, or removes it
 * where the column has none. With weir_graph_auto in many small writes of priority WEIR_BULK, between which
 * others write; options->batch is in nodes. After an error those batches are kept, and the call can be
 * repeated: what is right already is not written again. Inside a write transaction it is all within that.
 * Nodes are found by key, in the store of `txn`, so what was written since the projection was made is kept. A
 * real is written so that it is read back as the same; a node that had all the values is not written, and
 * keeps its rev. on_progress is called at the beginning and after each batch. `written` (NULL: not wanted) is
 * filled after an error, too, with what was kept.
 *
 * Errors: WEIR_INVALID (a name that is empty, or twice there; a number that no node has), WEIR_CANCELED (by
 * on_progress), and those of weir_node_merge: WEIR_EXISTS (a unique index).
 */
WEIR_API int weir_projection_write(const weir_projection *projection, weir_txn *txn,
                                   const weir_column *columns, size_t count,
                                   const weir_build_options *options, weir_written *written, weir_error *err);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_PROJECTION_H */
