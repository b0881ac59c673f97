/*
 * weir/traverse.h - following edges: walks, shortest paths, what is within some steps, what is shared.
 *
 * All of them read the store as they go, from one snapshot a call; nothing is loaded beforehand. Memory grows
 * with the nodes (or edges) that were met, not with the paths between them: paths are only listed by the
 * functions that are asked for paths.
 *
 * A step from a node goes along an edge that leads away from it (WEIR_OUT), to it (WEIR_IN), or both. A loop
 * leads back to its node. Edges and nodes that a filter leaves out are treated as if they were not there.
 *
 * Threads, transactions and errors are those of weir/graph.h.
 */
#ifndef WEIR_TRAVERSE_H
#define WEIR_TRAVERSE_H

#include <weir/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A visitor of a walk returns this to go on without stepping beyond the node at hand. */
#define WEIR_PRUNE 2

#define WEIR_UNLIMITED 0xffffffffu /* as a depth: as far as edges lead */

/* Which edges and nodes are there for a walk or a path. Zeros: all edges that lead away, all nodes. */
typedef struct weir_reach {
  weir_direction direction; /* 0: WEIR_OUT */
  const weir_text *labels;  /* labels of the edges; none: any */
  size_t label_count;       /* how many; at most WEIR_LABELS_MAX */
  const weir_cond *edges;   /* only edges for which this is true; NULL: all */
  const weir_cond *nodes;   /* only nodes for which this is true; NULL: all. The nodes that a walk or a path
                               begins at are not asked; the one that a path ends at is */
} weir_reach;

/* What ends a walk or the search for a path before its end. Zeros: nothing. A call does something, however
 * little it may use, so a walk that is run again and again comes to its end. */
typedef struct weir_budget {
  size_t nodes;     /* nodes met (of WEIR_UNIQUE_EDGE and _PATH: visits) */
  unsigned time_ms; /* milliseconds since the call began. The clock is looked at between visits, and among the
                       edges of a node every now and then, those that a condition leaves out not counted */
  size_t memory; /* bytes allocated for what was met; what is needed for one more node may exceed it. A walk
                    keeps them: once it has used them up, each further run does very little */
} weir_budget;

/* Why a walk or the search for a path has come back. */
typedef enum weir_ending {
  WEIR_ENDED = 0,       /* everything was visited */
  WEIR_ENDED_STOP = 1,  /* the visitor returned WEIR_STOP */
  WEIR_ENDED_NODES = 2, /* partial: the budget of nodes is used up */
  WEIR_ENDED_TIME = 3,  /* partial: that of time */
  WEIR_ENDED_MEMORY = 4 /* partial: that of memory */
} weir_ending;

/* ---- Walks ---- */

/*
 * In which order. The edges of a node are followed in a stable order: those that lead away, then those that
 * lead to it.
 *
 * Breadth first all starts come first, and a node is reached by as few steps as possible. Depth first is a
 * preorder: a start is begun when all that the one before leads to was visited, unless it was among that; and
 * the depth of a node is that of the way on which the walk got there first, which may be a long one. With
 * max_depth, a node that is reached again on a shorter way is not visited again, but stepped from again: all
 * nodes within max_depth are visited, in either order. (So it may be stepped from max_depth times.)
 */
typedef enum weir_walk_order { WEIR_BREADTH_FIRST = 0, WEIR_DEPTH_FIRST = 1 } weir_walk_order;

/* What a walk visits once. */
typedef enum weir_unique {
  WEIR_UNIQUE_NODE = 0, /* each node, when it is first reached; breadth first: at its least depth */
  WEIR_UNIQUE_EDGE = 1, /* each edge: its far end once for each edge that leads there. The starts once each.
                           With WEIR_BOTH an edge is met from both ends and followed once. A node is stepped
                           from where it is reached first */
  WEIR_UNIQUE_PATH = 2  /* each path that meets no node twice: may be very many */
} weir_unique;

/* Options of a walk. NULL: those of WEIR_WALK_OPTIONS_INIT; else start from that: `size` has to be set, and
 * with a max_depth of 0 there are no steps. Other members that are zero mean their defaults. */
typedef struct weir_walk_options {
  size_t size;           /* sizeof(weir_walk_options) */
  weir_reach reach;      /* which edges and nodes */
  uint32_t min_depth;    /* nodes less deep are passed through, but not visited; the starts are at 0 */
  uint32_t max_depth;    /* nodes are not reached beyond; WEIR_UNLIMITED */
  weir_walk_order order; /* breadth or depth first */
  weir_unique unique;    /* by node, edge or path */
  unsigned flags;        /* WEIR_WITH_NODES, WEIR_WITH_EDGES, WEIR_WITH_PATHS: what steps are filled with */
  weir_budget budget;    /* of each run */
} weir_walk_options;

#define WEIR_WALK_OPTIONS_INIT                                                                               \
  {                                                                                                          \
    sizeof(weir_walk_options), {WEIR_OUT, NULL, 0, NULL, NULL}, 0, WEIR_UNLIMITED, WEIR_BREADTH_FIRST,       \
        WEIR_UNIQUE_NODE, 0, {                                                                               \
      0, 0, 0                                                                                                \
    }                                                                                                        \
  }

/* Flag beside WEIR_WITH_NODES and WEIR_WITH_EDGES: the way from the start. */
enum { WEIR_WITH_PATHS = 4 };

/* One step along an edge. */
typedef struct weir_hop {
  weir_text from;           /* key of the node that it starts at */
  weir_text to;             /* key of the node that it ends at */
  weir_direction direction; /* WEIR_OUT: the edge leads from `from` to `to`; WEIR_IN: the other way */
  weir_text label;          /* of the edge */
  int64_t rank;             /* of the edge */
  double weight;            /* of the edge, in a weir_path and with WEIR_WITH_EDGES (else 0) */
  weir_text props;          /* of the edge, with WEIR_WITH_EDGES */
} weir_hop;

/* A visit of a walk. */
typedef struct weir_step {
  weir_node node;       /* where the walk is: key; the rest with WEIR_WITH_NODES */
  uint32_t depth;       /* steps from a start */
  const weir_hop *hop;  /* the edge by which it was reached; NULL at a start */
  const weir_hop *path; /* with WEIR_WITH_PATHS: the `depth` hops from the start, in order */
} weir_step;

/* Visits one node; as weir_node_fn, and may return WEIR_PRUNE. */
typedef int (*weir_step_fn)(const weir_step *step, void *data, weir_error *err);

/* What a run of a walk did. */
typedef struct weir_walk_result {
  weir_ending ending; /* why it came back */
  uint64_t visited;   /* steps that the visitor was called for */
  uint64_t met;       /* nodes reached, also those not visited since they are less than min_depth deep */
  uint64_t edges;     /* edges looked at, those that labels or a condition leave out not counted */
} weir_walk_result;

typedef struct weir_walk weir_walk; /* a walk that can be gone on with; opaque. One thread at a time */

/*
 * Begins a walk from the `count` nodes with these keys (repetitions count once; of none it ends at once); it
 * is gone on by weir_walk_run. Everything that options and keys point to is copied.
 *
 * It keeps what it has met, so it can be run in several transactions, and each run sees the store as it is
 * then: edges are those of the run, nodes that were deleted meanwhile are passed over, what is new is found
 * where the walk has not been. A node made after a deletion may take the place of the one that was deleted.
 * On the way to a step, keys and props are empty, and weights 0, of what was deleted meanwhile. What the
 * condition on nodes says of a node is asked once. A walk that ran in a transaction that was rolled back is
 * only good for closing.
 */
WEIR_API int weir_walk_open(weir_walk **out, const weir_text *keys, size_t count,
                            const weir_walk_options *options, weir_error *err) WEIR_CHECKED;

/*
 * Goes on with a walk until it ends: see result->ending (`result` may be NULL; it is filled after an error,
 * too). Unless that is WEIR_ENDED, the next run goes on behind the last visit: a node at which the visitor
 * returned WEIR_STOP is still stepped from. After WEIR_ENDED a run visits nothing. After an error the walk is
 * behind its last visit that succeeded, so the next run repeats the one that did not.
 *
 * The visitor may read, and run other walks, but not this one. Errors: WEIR_NOT_FOUND (in the first run: no
 * node has one of the keys), WEIR_MISUSE (run by its own visitor, or in another store).
 */
WEIR_API int weir_walk_run(weir_walk *walk, weir_txn *txn, weir_step_fn visit, void *data,
                           weir_walk_result *result, weir_error *err);

/* Frees the walk, which is not running. NULL is a no-op. */
WEIR_API void weir_walk_close(weir_walk *walk);

/* weir_walk_open, _run and _close in one: a walk that is not gone on with. */
WEIR_API int weir_walk_once(weir_txn *txn, const weir_text *keys, size_t count,
                            const weir_walk_options *options, weir_step_fn visit, void *data,
                            weir_walk_result *result, weir_error *err);

/*
 * Counts the distinct nodes within `depth` steps of the node `key`, itself included: out[d], for d = 0 to
 * depth, becomes the number at distance d. `out` has depth + 1 elements, so `depth` is not WEIR_UNLIMITED.
 * Errors: WEIR_NOT_FOUND.
 */
WEIR_API int weir_within_count(weir_txn *txn, weir_text key, uint32_t depth, const weir_reach *reach,
                               uint64_t *out, weir_error *err);

/* ---- Paths ---- */

/* What a step costs. */
typedef enum weir_cost {
  WEIR_COST_HOPS = 0,   /* 1 */
  WEIR_COST_WEIGHT = 1, /* the edge's weight; of an edge made from a zeroed weir_edge 0 */
  WEIR_COST_PROP = 2    /* the number that `cost_path` names in the edge's props */
} weir_cost;

/* Options of shortest paths. NULL: those of WEIR_PATH_OPTIONS_INIT; else start from that: `size` has to be
 * set, and with a max_depth of 0 there are no hops. Other members that are zero mean their defaults. */
typedef struct weir_path_options {
  size_t size;         /* sizeof(weir_path_options) */
  weir_reach reach;    /* which edges and nodes */
  weir_cost cost;      /* what is to be least */
  weir_text cost_path; /* of WEIR_COST_PROP, as in weir_cond */
  uint32_t max_depth;  /* hops; WEIR_UNLIMITED. Only with WEIR_COST_HOPS */
  unsigned flags;      /* 0 or WEIR_WITH_EDGES */
  weir_budget budget;  /* of the call: of the search, and of the listing of paths */
} weir_path_options;

#define WEIR_PATH_OPTIONS_INIT                                                                               \
  {                                                                                                          \
    sizeof(weir_path_options), {WEIR_OUT, NULL, 0, NULL, NULL}, WEIR_COST_HOPS, {NULL, 0}, WEIR_UNLIMITED,   \
        0, {                                                                                                 \
      0, 0, 0                                                                                                \
    }                                                                                                        \
  }

/* A path. */
typedef struct weir_path {
  int found;            /* 1; 0: there is none (or the search was ended, see `ending`) */
  double cost;          /* sum of the costs of its hops, from the first on, as double */
  const weir_hop *hops; /* in order; none if it begins where it ends */
  size_t hop_count;     /* how many */
  weir_ending ending;   /* WEIR_ENDED; else the budget ended the search and there may be a path */
  uint64_t met;         /* nodes that the search has met; of k shortest paths the searches so far, together */
} weir_path;

/*
 * A path of least cost between two nodes. "No path" is a result, not an error. Of several the one that is
 * found first; costs that differ by rounding alone are taken for equal. Without costs the search goes from
 * both ends; with costs it is Dijkstra's (E. W. Dijkstra, A note on two problems in connexion with graphs,
 * 1959), from both ends too. The path lives in `arena`.
 *
 * Errors: WEIR_NOT_FOUND (one of the nodes), WEIR_INVALID (an edge that was met has a negative cost, or its
 * property is no number: the message names the edge).
 */
WEIR_API int weir_path_shortest(weir_txn *txn, weir_text from, weir_text to, const weir_path_options *options,
                                weir_path *out, weir_arena *arena, weir_error *err);

/* Visits one path; as weir_node_fn. */
typedef int (*weir_path_fn)(const weir_path *path, void *data, weir_error *err);

/*
 * Visits all paths of least cost, in no certain order. Parallel edges make paths of their own. With costs,
 * paths that meet a node twice (over edges that cost 0) are left out. Sums are compared as they are, without
 * tolerance: a path is one of them if it, and each of its beginnings, has the least sum from `from` on that
 * its end can be had for. The search goes from `from` alone if there are costs.
 *
 * Paths are not held in memory, so there may be any number. *ending (NULL: not wanted) tells why it came
 * back. Errors: as weir_path_shortest.
 */
WEIR_API int weir_path_all_shortest(weir_txn *txn, weir_text from, weir_text to,
                                    const weir_path_options *options, weir_path_fn visit, void *data,
                                    weir_ending *ending, weir_error *err);

/*
 * Visits up to `count` paths in the order of their costs, none meeting a node twice (J. Y. Yen, Finding the k
 * shortest loopless paths in a network, 1971), each as soon as it is known. Paths that differ in an edge
 * alone are different. Paths whose costs are equal, or differ by rounding alone, come in an order that is the
 * same each time as long as the store is the same. Memory grows with the paths visited; of others at most as
 * many are held as are still wanted. *ending as above. Errors: as weir_path_shortest.
 */
WEIR_API int weir_path_k_shortest(weir_txn *txn, weir_text from, weir_text to, size_t count,
                                  const weir_path_options *options, weir_path_fn visit, void *data,
                                  weir_ending *ending, weir_error *err);

/* ---- What nodes share ---- */

/*
 * Visits the distinct nodes that are one step from both `a` and `b`, neither of them included, in the order
 * of weir_node_scan. The nodes are complete (labels, props). *count (NULL: not wanted) is how many there are,
 * also if the visitor stops; `visit` may be NULL to count alone. Time and memory grow with the edges of both.
 * Errors: WEIR_NOT_FOUND.
 */
WEIR_API int weir_common_neighbors(weir_txn *txn, weir_text a, weir_text b, const weir_reach *reach,
                                   weir_node_fn visit, void *data, uint64_t *count, weir_error *err);

/* Visits one triangle: the keys of the two other nodes; as weir_node_fn. */
typedef int (*weir_triangle_fn)(weir_text second, weir_text third, void *data, weir_error *err);

/*
 * Visits the triangles of the node `key`: pairs of distinct nodes that are neighbors of it and of each other,
 * each pair once, in no certain order; directions, loops and parallel edges do not matter, reach->direction
 * must be 0 or WEIR_BOTH. *count (NULL: not wanted) is how many were found; `visit` may be NULL.
 *
 * Time grows with the edges of the node and of its neighbors, n of them. Of a neighbor with more than about
 * 4 n edges so many are read; all of its edges only if there are several such neighbors, and not of the last.
 * Errors: WEIR_NOT_FOUND.
 */
WEIR_API int weir_triangles(weir_txn *txn, weir_text key, const weir_reach *reach, weir_triangle_fn visit,
                            void *data, uint64_t *count, weir_error *err);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_TRAVERSE_H */
