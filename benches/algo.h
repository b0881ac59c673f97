/*
 * The workload `algo`: algorithms on a projection, on one thread and on several, beside igraph where that was
 * there when weir-bench was built.
 *
 * Both sides work on the same graph: igraph's is made of the projection, so nodes have the same numbers, and
 * all edges are there, parallel ones and loops included. What fails ends the program.
 */
#ifndef BENCH_ALGO_H
#define BENCH_ALGO_H

#include <limits.h>

#include <weir/algo.h>

#include "report.h"

/* What is computed. */
typedef enum algo_work {
  ALGO_BFS,
  ALGO_SSSP,
  ALGO_WCC,
  ALGO_PAGERANK,          /* weights do not matter */
  ALGO_PAGERANK_WEIGHTED, /* they do */
  ALGO_LCC,
  ALGO_CDLP,
  ALGO_SCC,
  ALGO_CORE,
  ALGO_TRIANGLES,
  ALGO_LEIDEN,
  ALGO_BETWEENNESS, /* exact, without weights */
  ALGO_SAMPLED,     /* betweenness from ALGO_SAMPLES sources */
  ALGO_CLOSENESS,   /* without weights */
  ALGO_JACCARD,     /* of the pairs of the graph */
  ALGO_PREDICT,
  ALGO_ORDER,
  ALGO_FOREST,
  ALGO_WORKS
} algo_work;

enum {
  ALGO_ITERATIONS = 10, /* of CDLP */
  ALGO_ROUNDS = 2,      /* iterations of Leiden */
  ALGO_SAMPLES = 32,
  ALGO_LINKS = 100, /* that are predicted */
  ALGO_SOURCES = 16,
  ALGO_PAIRS = 20000,
  ALGO_QUESTIONS = 2000,
  ALGO_HOPS = 3
};

/* A store, its projection, and what is asked about it: drawn from the seed, the same for both sides. */
typedef struct algo_graph {
  const char *name;
  char path[PATH_MAX];
  int undirected;
  weir_graph *store; /* open */
  weir_projection *projection;
  weir_projection_info info;
  uint32_t sources[ALGO_SOURCES];                    /* that edges lead away from, if there are such */
  uint32_t from[ALGO_QUESTIONS], to[ALGO_QUESTIONS]; /* anywhere */
  uint32_t a[ALGO_PAIRS], b[ALGO_PAIRS];             /* two without loops whose edges lead to the same node */
  size_t pairs;
  uint64_t seed;
} algo_graph;

/* What a computation found. */
typedef struct algo_answer {
  uint64_t ns;    /* that the call took */
  double number;  /* in one number: components, triangles, a sum; NAN: nothing of the kind */
  double *values; /* NULL: not wanted; else room for algo_room values: by node, or by pair */
  size_t count;   /* of them; 0: the number alone */
} algo_answer;

/* Room for values of any work. */
static inline size_t algo_room(const algo_graph *g) {
  return g->info.nodes > ALGO_PAIRS ? g->info.nodes : ALGO_PAIRS;
}

/* ---- Graphs (algo_store.c) ---- */

/* Makes a store with a uniform random graph, or from the SNAP edge list settings->snap, whose edges get
 * weights of 1 to 100 (with `bare` by bare statements, which is faster); opens it, projects all of it with
 * weights, and draws the questions. */
algo_graph *algo_graph_uniform(const bench_settings *settings, int bare);
algo_graph *algo_graph_snap(const bench_settings *settings);
void algo_graph_close(algo_graph *g);

/* The options of that projection. */
weir_projection_options algo_projection_options(int undirected);

/* ---- The parts of the workload ---- */

struct algo_weir;
struct algo_igraph;

/* How fast the projection is made of the store, beside a bare scan of the edges. (algo_build.c) */
void algo_build(const bench_settings *settings, algo_graph *g, jsonl *out);

/* Questions about single nodes. 1: the sides found different things. (algo_ask.c) */
int algo_ask(const bench_settings *settings, const algo_graph *g, struct algo_weir *weir,
             struct algo_igraph *igraph, jsonl *out);

/* The works. 1: the sides found different things. (algo_works.c) */
int algo_run(const bench_settings *settings, const algo_graph *g, struct algo_weir *weir,
             struct algo_igraph *igraph, jsonl *out);

/* How time and memory grow with settings->sizes. (algo_scale.c) */
void algo_scale(const bench_settings *settings, jsonl *out);

/* The name of a work, for --works, and what the tables call it. */
const char *algo_name(algo_work work);
const char *algo_text(algo_work work);

/* "2 threads"; 0: "default", as many as weir chooses. */
enum { ALGO_THREADS_SIZE = 24 };
const char *algo_threads(unsigned threads, char out[ALGO_THREADS_SIZE]);

/* Whether a work makes sense for a graph, and was asked for. */
int algo_wanted(const bench_settings *settings, const algo_graph *g, algo_work work);

/* ---- weir (algo_weir.c) ---- */

typedef struct algo_weir algo_weir;

algo_weir *algo_weir_open(const algo_graph *g);
void algo_weir_close(algo_weir *w);

/* `turn` says which of the sources. */
void algo_weir_run(algo_weir *w, algo_work work, unsigned turn, unsigned threads, algo_answer *out);

/* Each answers questions first to first + count - 1, adding the nodes within ALGO_HOPS steps, or on a
 * shortest path, to *sum. */
void algo_weir_within(algo_weir *w, size_t first, size_t count, uint64_t *sum);
void algo_weir_path(algo_weir *w, size_t first, size_t count, uint64_t *sum);

/* ---- igraph (algo_igraph.c) ---- */

typedef struct algo_igraph algo_igraph;

/* "0.10.2"; NULL: weir-bench was built without it, and the others are not to be called. */
const char *algo_igraph_version(void);

algo_igraph *algo_igraph_open(const algo_graph *g);
void algo_igraph_close(algo_igraph *s);

/* 0: it has nothing like this. */
int algo_igraph_has(algo_work work);
void algo_igraph_run(algo_igraph *s, algo_work work, unsigned turn, algo_answer *out);
void algo_igraph_within(algo_igraph *s, size_t first, size_t count, uint64_t *sum);
void algo_igraph_path(algo_igraph *s, size_t first, size_t count, uint64_t *sum);

#endif
