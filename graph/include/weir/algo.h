/*
 * weir/algo.h - graph algorithms on a projection (weir/projection.h).
 *
 * Results go to arrays of the caller's. An array "by node" has as many elements as the projection has nodes,
 * and element i is about node number i; weir_projection_key gives its key, and weir_projection_write makes an
 * array a property of the nodes. After an error what is in the arrays means nothing.
 *
 * A result is the same for any number of threads, and each time; what is random takes its numbers from a
 * seed. Every function may be called on any thread, on one projection by many at once. docs/algorithms.md
 * says how time and memory grow.
 *
 * "Graphalytics" is: A. Iosup et al., The LDBC Graphalytics Benchmark, version 1.0.
 *
 * An undirected projection has each edge once; but a loop counts twice in the degree of its node, and steps
 * along it lead back. WEIR_OUT, WEIR_IN and WEIR_BOTH are then the same. A direction of 0 is WEIR_OUT. Where
 * weights matter and a projection has none, each is 1.
 *
 * Errors that every function may return, and that are not listed again: WEIR_INVALID for a NULL where an
 * object is wanted, for the number of a node that is not there, and for options that make no sense;
 * WEIR_NOMEM; WEIR_CANCELED (by run->on_progress).
 */
#ifndef WEIR_ALGO_H
#define WEIR_ALGO_H

#include <weir/projection.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Two nodes, and a number about them. */
typedef struct weir_link {
  uint32_t a;   /* a node */
  uint32_t b;   /* the other one */
  double value; /* a weight, or a score */
} weir_link;

/* ---- Distances from one node ---- */

/* Not reached: in arrays of steps. */
#define WEIR_UNREACHED UINT32_MAX

/*
 * Breadth-first search: depth[i] becomes the least number of steps from `source` to node i, WEIR_UNREACHED if
 * there is no way. parent[i] (NULL: not wanted) becomes the node before it on such a way, the one with the
 * least number; WEIR_NO_NODE for the source and what is not reached. Graphalytics. Both arrays by node.
 */
WEIR_API int weir_bfs(const weir_projection *projection, uint32_t source, weir_direction direction,
                      const weir_run *run, uint32_t *depth, uint32_t *parent, weir_error *err);

/*
 * Single-source shortest paths: distance[i] becomes the least sum of weights on a way from `source` to node
 * i, added from the source on; INFINITY if there is no way, or the sum is more than a double holds. parent[i]
 * (NULL: not wanted) becomes the node before it on such a way: of those nearer to the source the one with the
 * least number, and only where there is none, one that is as far, over an edge of no length; WEIR_NO_NODE for
 * the source and what is not reached. Following parents always leads to the source. Graphalytics. Both arrays
 * by node. Errors: WEIR_INVALID (an edge has a negative weight).
 */
WEIR_API int weir_sssp(const weir_projection *projection, uint32_t source, weir_direction direction,
                       const weir_run *run, double *distance, uint32_t *parent, weir_error *err);

/* Answers questions about single nodes again and again, with memory of its own: 12 bytes a node. One thread
 * at a time; opaque. The projection has to stay as long. */
typedef struct weir_explorer weir_explorer;

/* Opens an explorer of a projection. */
WEIR_API int weir_explorer_open(weir_explorer **out, const weir_projection *projection,
                                weir_error *err) WEIR_CHECKED;

/* Frees it. NULL is a no-op. */
WEIR_API void weir_explorer_close(weir_explorer *explorer);

/* Counts the nodes within `depth` steps of `node`, itself included: out[d], for d = 0 to depth, becomes the
 * number at distance d. `out` has depth + 1 elements. Time grows with the edges of the nodes nearer than
 * `depth`. */
WEIR_API int weir_explorer_within(weir_explorer *explorer, uint32_t node, uint32_t depth,
                                  weir_direction direction, uint64_t *out, weir_error *err);

/*
 * A path of the fewest steps: the nodes on it, `from` and `to` included, go to `nodes`, which has room for
 * `room`; *count becomes how many there are, 0 if there is no path; if it is more than `room`, `nodes` is not
 * filled. `nodes` may be NULL with a room of 0. Of several paths the same one each time. The search goes from
 * both ends.
 */
WEIR_API int weir_explorer_path(weir_explorer *explorer, uint32_t from, uint32_t to, weir_direction direction,
                                uint32_t *nodes, size_t room, size_t *count, weir_error *err);

/* ---- Components ---- */

/* Weakly connected components: component[i], by node, becomes the least number of a node that is connected
 * with node i, whatever the directions of edges. *count (NULL: not wanted) is how many components there are.
 * Graphalytics. */
WEIR_API int weir_wcc(const weir_projection *projection, const weir_run *run, uint32_t *component,
                      uint32_t *count, weir_error *err);

/* Strongly connected components: component[i], by node, becomes the least number of a node that can be
 * reached from node i and from which node i can be reached. *count as above. */
WEIR_API int weir_scc(const weir_projection *projection, const weir_run *run, uint32_t *component,
                      uint32_t *count, weir_error *err);

/* ---- Rank ---- */

/* Options of PageRank. NULL: the defaults; else start from WEIR_PAGERANK_OPTIONS_INIT, since `size` has to be
 * set. */
typedef struct weir_pagerank_options {
  size_t size;         /* sizeof(weir_pagerank_options) */
  double damping;      /* at least 0, less than 1 */
  unsigned iterations; /* at most so many; at least 1 */
  double tolerance; /* ends once an iteration's change is no more than this: the differences from the scores
                       before, summed up over all nodes; 0: make all the iterations, as Graphalytics asks */
  int unweighted;   /* 1: weights do not matter */
  const uint32_t
      *sources; /* personalised: where jumps lead; none: to any node. One given twice counts twice */
  const double *source_weights; /* how likely each of them is, relatively; NULL: alike */
  size_t source_count;          /* how many */
} weir_pagerank_options;

#define WEIR_PAGERANK_OPTIONS_INIT                                                                           \
  { sizeof(weir_pagerank_options), 0.85, 1000, 1e-10, 0, NULL, NULL, 0 }

/* What PageRank did. */
typedef struct weir_pagerank_result {
  unsigned iterations; /* made */
  double change; /* of the last one, summed up over all nodes, or up to twice that: the sum of all errors
                    of the scores is at most change / (1 - damping), and rounding */
} weir_pagerank_result;

/*
 * PageRank: score[i], by node, becomes the probability of being at node i for one who goes along a random
 * edge (likely as its weight) with probability `damping`, and else, or where no edge leads away, jumps: to
 * any node, or to one of the sources. Scores add up to 1. L. Page et al., The PageRank Citation Ranking,
 * 1999; Graphalytics. With a tolerance of 0 it is the power iteration that Graphalytics defines, from 1/n on;
 * else the iterations may take a shorter way to the same scores. `result` may be NULL. Errors: WEIR_INVALID
 * (an edge has a negative weight, and weights matter; those of a node cannot be added up).
 */
WEIR_API int weir_pagerank(const weir_projection *projection, const weir_pagerank_options *options,
                           const weir_run *run, double *score, weir_pagerank_result *result, weir_error *err);

/* ---- Communities ---- */

/*
 * Community detection by label propagation: each node begins with its own number as label, and in each
 * iteration takes, of the labels that its neighbors had before, the most frequent, of several the least. A
 * neighbor counts once for each edge, in either direction; so one with edges both ways counts twice, and
 * along a loop a node counts twice for itself. A node without edges keeps its label. Ends after `iterations`,
 * or once one of them changes nothing: *made (NULL: not wanted) tells after how many, that one included.
 * label[i] is by node; of 0 iterations it is the node. U. Raghavan et al., Near linear time algorithm to
 * detect community structures, 2007; Graphalytics.
 */
WEIR_API int weir_cdlp(const weir_projection *projection, unsigned iterations, const weir_run *run,
                       uint32_t *label, unsigned *made, weir_error *err);

/* Options of Leiden. NULL: the defaults; else start from WEIR_LEIDEN_OPTIONS_INIT, since `size` has to be
 * set. */
typedef struct weir_leiden_options {
  size_t size;       /* sizeof(weir_leiden_options) */
  double resolution; /* above 0; more makes more and smaller communities */
  double randomness; /* of the refinement, above 0: theta in the paper, for gains in units of the mean weight
                        of an edge */
  unsigned iterations; /* at most so many; it ends earlier when one brings less than 1e-9 */
  uint64_t seed;       /* of its random numbers */
} weir_leiden_options;

#define WEIR_LEIDEN_OPTIONS_INIT                                                                             \
  { sizeof(weir_leiden_options), 1.0, 0.01, 10, 0 }

/* What it found. */
typedef struct weir_leiden_result {
  uint32_t communities; /* how many */
  double modularity;    /* as weir_modularity, with the resolution */
  unsigned iterations;  /* made */
} weir_leiden_result;

/*
 * Communities of high modularity by the Leiden algorithm: V. Traag, L. Waltman, N. van Eck, From Louvain to
 * Leiden: guaranteeing well-connected communities, 2019. Edges count in both directions; those of weight 0
 * do not count. community[i], by node, becomes the number of a community, from 0 in the order of their least
 * nodes; each is connected. Nodes move on one thread; more of them speed up only a part of the work.
 * `result` may be NULL. Errors: WEIR_INVALID (an edge has a negative weight, or all weights add up to more
 * than a double holds, or so little that nothing can be divided by it).
 */
WEIR_API int weir_leiden(const weir_projection *projection, const weir_leiden_options *options,
                         const weir_run *run, uint32_t *community, weir_leiden_result *result,
                         weir_error *err);

/*
 * Modularity of a division into communities (any numbers, by node), directions ignored: the sum over
 * communities of in/m - resolution (deg/2m)^2, where m is the weight of all edges, `in` that of the edges
 * within the community, `deg` the weighted degree of its nodes. 0 without edges. M. Newman, M. Girvan,
 * Finding and evaluating community structure in networks, 2004. Errors: WEIR_INVALID (an edge has a negative
 * weight, or all weights add up to more than a double holds, or the resolution is below 0).
 */
WEIR_API int weir_modularity(const weir_projection *projection, const uint32_t *community, double resolution,
                             const weir_run *run, double *out, weir_error *err);

/* ---- Triangles and cores ---- */

/*
 * Local clustering: coefficient[i], by node, becomes the share of ordered pairs of distinct neighbors of node
 * i that an edge leads from the one to the other of. Neighbors are those in either direction; loops do not
 * matter, parallel edges count once. 0 for a node with fewer than two neighbors. Graphalytics; on
 * undirected projections: D. Watts, S. Strogatz, Collective dynamics of 'small-world' networks, 1998.
 */
WEIR_API int weir_lcc(const weir_projection *projection, const weir_run *run, double *coefficient,
                      weir_error *err);

/* Counts triangles: triangles[i], by node (NULL: not wanted), becomes the number of those that node i is part
 * of, *total (NULL: not wanted) how many there are. Directions, loops and parallel edges do not matter. */
WEIR_API int weir_triangle_counts(const weir_projection *projection, const weir_run *run, uint64_t *triangles,
                                  uint64_t *total, weir_error *err);

/*
 * Core numbers: core[i], by node, becomes the greatest k for which node i is in the k-core, the largest part
 * of the graph in which each node has a degree of k or more. The degree counts the edges in `direction`,
 * parallel ones each, loops not at all. *greatest (NULL: not wanted) becomes the greatest of them. V.
 * Batagelj, M. Zaversnik, An O(m) algorithm for cores decomposition of networks, 2003. Errors: WEIR_FULL (a
 * node has 2^32 - 1 edges or more).
 */
WEIR_API int weir_core_numbers(const weir_projection *projection, weir_direction direction,
                               const weir_run *run, uint32_t *core, uint32_t *greatest, weir_error *err);

/* ---- Centrality ---- */

/* Degrees: degree[i] becomes the number of edges of node i in that direction, strength[i] the sum of their
 * weights. Both by node; either may be NULL. A loop counts twice with WEIR_BOTH and if undirected. */
WEIR_API int weir_degrees(const weir_projection *projection, weir_direction direction, const weir_run *run,
                          uint64_t *degree, double *strength, weir_error *err);

/* Options of betweenness and closeness. NULL: the defaults; else start from WEIR_CENTRALITY_OPTIONS_INIT,
 * since `size` has to be set. A member that is zero means its default. */
typedef struct weir_centrality_options {
  size_t size; /* sizeof(weir_centrality_options) */
  weir_direction
      direction;    /* of closeness: ways from the node (0, WEIR_OUT), or to it; WEIR_BOTH: either way */
  int unweighted;   /* 1: each edge is one step, whatever its weight */
  int normalized;   /* betweenness: 1: divided by the number of pairs of other nodes */
  int harmonic;     /* closeness: 1: the harmonic one */
  uint32_t samples; /* betweenness: so many sources; 0, or not fewer than nodes: all, which is exact */
  uint64_t seed;    /* of the choice of samples */
} weir_centrality_options;

#define WEIR_CENTRALITY_OPTIONS_INIT                                                                         \
  { sizeof(weir_centrality_options), WEIR_OUT, 0, 0, 0, 0, 0 }

/*
 * Betweenness: score[i], by node, becomes the sum, over pairs of other nodes (ordered ones, of an undirected
 * projection unordered ones), of the share of the shortest paths between them that pass through node i.
 * Parallel edges make different paths; lengths of paths are added from the source on, and compared as they
 * are. How many paths there are is counted in doubles. U. Brandes, A faster algorithm for betweenness
 * centrality, 2001. With samples: of random sources (each at most once), scaled up to all: U. Brandes, C.
 * Pich, Centrality estimation in large networks, 2007. Errors: WEIR_INVALID (an edge has a weight that is not
 * above 0, and weights matter), WEIR_FULL (more paths lead from one node to another than a double can tell,
 * about 10^308: as between the corners of a grid of 520 by 520).
 */
WEIR_API int weir_betweenness(const weir_projection *projection, const weir_centrality_options *options,
                              const weir_run *run, double *score, weir_error *err);

/*
 * Closeness: score[i], by node, becomes the number of other nodes that node i reaches, divided by the sum of
 * its distances to them; NAN if there are none. Harmonic: the mean over all other nodes of 1/distance, which
 * is 0 for those not reached; 0 if there are no others. L. Freeman, Centrality in social networks, 1978; M.
 * Marchiori, V. Latora, Harmony in the small-world, 2000. Errors: WEIR_INVALID (an edge has a weight that is
 * not above 0, and weights matter).
 */
WEIR_API int weir_closeness(const weir_projection *projection, const weir_centrality_options *options,
                            const weir_run *run, double *score, weir_error *err);

/* ---- Similarity ---- */

/* How alike two nodes are, by their neighbors: the distinct other nodes in the direction that is asked for.
 */
typedef enum weir_similarity {
  WEIR_COMMON_NEIGHBORS = 0, /* how many they share */
  WEIR_JACCARD = 1,          /* that, divided by how many either has; 0 if none. P. Jaccard, 1901 */
  WEIR_ADAMIC_ADAR = 2 /* sum of 1/ln(neighbors) over those they share, whose neighbors are counted in the
                          other direction: at least these two (of a node and itself, a neighbor that has
                          one alone adds 0). L. Adamic, E. Adar, Friends and neighbors on the web, 2003 */
} weir_similarity;

/* score[i] becomes the similarity of a[i] and b[i]; the three arrays have `count` elements. */
WEIR_API int weir_similar_pairs(const weir_projection *projection, weir_similarity kind,
                                weir_direction direction, const uint32_t *a, const uint32_t *b, size_t count,
                                const weir_run *run, double *score, weir_error *err);

/* The `room` nodes that are most like `node`, which is `a` of each link, of those that share a neighbor with
 * it: by score, of equal ones the least first. *count becomes how many there are, at most `room`. Time grows
 * with the edges of its neighbors, of WEIR_JACCARD also with those of the nodes that share them. */
WEIR_API int weir_similar_nodes(const weir_projection *projection, weir_similarity kind,
                                weir_direction direction, uint32_t node, const weir_run *run, weir_link *out,
                                size_t room, size_t *count, weir_error *err);

/*
 * Link prediction: the `room` pairs of nodes a < b that are most alike, of those that share a neighbor and
 * have no edge between them: by score, of equal ones in the order of a and b. *count becomes how many there
 * are, at most `room`. Looks at pairs that share a neighbor only. D. Liben-Nowell, J. Kleinberg, The
 * link-prediction problem for social networks, 2007.
 */
WEIR_API int weir_predict_links(const weir_projection *projection, weir_similarity kind,
                                weir_direction direction, const weir_run *run, weir_link *out, size_t room,
                                size_t *count, weir_error *err);

/* ---- Order and trees ---- */

/*
 * Topological order: if no way leads back to where it began, *cyclic becomes 0 and nodes[0..*count-1] all
 * nodes, each before those that its edges lead to; first those to which no edge leads, then those that only
 * these lead to, and so on, each time in the order of their numbers. level[i] (NULL: not wanted), by node, is
 * in which of these groups node i is, from 0: the most edges on a way to it. Else *cyclic becomes 1, and
 * nodes[0..*count-1] a cycle as witness: an edge leads from each to the next, and from the last to the first;
 * no node is twice in it, and the least is the first; a loop is a cycle of one. What is in level[] then means
 * nothing. `nodes` has room for all nodes. A. Kahn, Topological sorting of large networks, 1962. Errors:
 * WEIR_INVALID (the projection is undirected).
 */
WEIR_API int weir_topological_order(const weir_projection *projection, const weir_run *run, uint32_t *nodes,
                                    uint32_t *count, int *cyclic, uint32_t *level, weir_error *err);

/*
 * Minimum spanning forest, directions ignored: edges of the least sum of weights that connect what is
 * connected. edges[0..*count-1] (give room for one a node) are sorted by a, then b, with a < b; *total (NULL:
 * not wanted) is the sum of their weights. Of edges of the same weight those with the lesser (a, b). J.
 * Kruskal, On the shortest spanning subtree of a graph, 1956.
 */
WEIR_API int weir_spanning_forest(const weir_projection *projection, const weir_run *run, weir_link *edges,
                                  uint32_t *count, double *total, weir_error *err);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_ALGO_H */
