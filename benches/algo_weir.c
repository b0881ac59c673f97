/*
 * The side of weir: one call of the library a work. The arrays for results are kept from one run to the next.
 */
#include "algo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct algo_weir {
  const algo_graph *g;
  weir_explorer *explorer;
  uint32_t *whole; /* results, by node */
  uint64_t *large;
  double *real; /* also by pair */
  weir_link *links;
};

/* One computation, as its functions see it. */
typedef struct call {
  algo_weir *w;
  const weir_projection *p;
  uint32_t nodes;
  uint32_t source;
  weir_run run;
  algo_answer *out;
  weir_error err;
} call;

/* Computes, and says how long that took in out->ns and what was found in out->number. */
typedef int (*compute_fn)(call *c);

/* ---- Results ---- */

static void give_whole(const call *c) {
  for (uint32_t i = 0; c->out->values && i < c->nodes; i++) {
    c->out->values[i] = c->w->whole[i];
    c->out->count = c->nodes;
  }
}

static void give_depths(const call *c) {
  give_whole(c);
  for (uint32_t i = 0; c->out->values && i < c->nodes; i++) {
    if (c->w->whole[i] == WEIR_UNREACHED) {
      c->out->values[i] = INFINITY;
    }
  }
}

static void give_large(const call *c) {
  for (uint32_t i = 0; c->out->values && i < c->nodes; i++) {
    c->out->values[i] = (double)c->w->large[i];
    c->out->count = c->nodes;
  }
}

static void give_real(const call *c, size_t count) {
  for (size_t i = 0; c->out->values && i < count; i++) {
    c->out->values[i] = c->w->real[i];
    c->out->count = count;
  }
}

/* ---- Works ---- */

/* Times one call of the library. */
#define TIMED(c, rc, expression)                                                                             \
  do {                                                                                                       \
    uint64_t timed_from = bench_now();                                                                       \
    (rc) = (expression);                                                                                     \
    (c)->out->ns = bench_now() - timed_from;                                                                 \
  } while (0)

static int bfs(call *c) {
  int rc;
  TIMED(c, rc, weir_bfs(c->p, c->source, WEIR_OUT, &c->run, c->w->whole, NULL, &c->err));
  give_depths(c);
  return rc;
}

static int sssp(call *c) {
  int rc;
  TIMED(c, rc, weir_sssp(c->p, c->source, WEIR_OUT, &c->run, c->w->real, NULL, &c->err));
  give_real(c, c->nodes);
  return rc;
}

static int wcc(call *c) {
  uint32_t count = 0;
  int rc;
  TIMED(c, rc, weir_wcc(c->p, &c->run, c->w->whole, &count, &c->err));
  c->out->number = count;
  give_whole(c);
  return rc;
}

static int scc(call *c) {
  uint32_t count = 0;
  int rc;
  TIMED(c, rc, weir_scc(c->p, &c->run, c->w->whole, &count, &c->err));
  c->out->number = count;
  give_whole(c);
  return rc;
}

static int pagerank_of(call *c, int unweighted) {
  weir_pagerank_options options = WEIR_PAGERANK_OPTIONS_INIT;
  weir_pagerank_result result = {0, 0};
  int rc;
  options.unweighted = unweighted;
  TIMED(c, rc, weir_pagerank(c->p, &options, &c->run, c->w->real, &result, &c->err));
  c->out->number = result.iterations;
  give_real(c, c->nodes);
  return rc;
}

static int pagerank(call *c) {
  return pagerank_of(c, 1);
}

static int pagerank_weighted(call *c) {
  return pagerank_of(c, 0);
}

static int lcc(call *c) {
  int rc;
  TIMED(c, rc, weir_lcc(c->p, &c->run, c->w->real, &c->err));
  give_real(c, c->nodes);
  return rc;
}

static int cdlp(call *c) {
  unsigned made = 0;
  int rc;
  TIMED(c, rc, weir_cdlp(c->p, ALGO_ITERATIONS, &c->run, c->w->whole, &made, &c->err));
  c->out->number = made;
  give_whole(c);
  return rc;
}

static int core(call *c) {
  uint32_t greatest = 0;
  int rc;
  TIMED(c, rc, weir_core_numbers(c->p, WEIR_BOTH, &c->run, c->w->whole, &greatest, &c->err));
  c->out->number = greatest;
  give_whole(c);
  return rc;
}

static int triangles(call *c) {
  uint64_t total = 0;
  int rc;
  TIMED(c, rc, weir_triangle_counts(c->p, &c->run, c->w->large, &total, &c->err));
  c->out->number = (double)total;
  give_large(c);
  return rc;
}

static int leiden(call *c) {
  weir_leiden_options options = WEIR_LEIDEN_OPTIONS_INIT;
  weir_leiden_result result = {0, 0, 0};
  int rc;
  options.iterations = ALGO_ROUNDS;
  TIMED(c, rc, weir_leiden(c->p, &options, &c->run, c->w->whole, &result, &c->err));
  c->out->number = result.modularity;
  give_whole(c);
  return rc;
}

static int betweenness_from(call *c, uint32_t samples) {
  weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
  int rc;
  options.unweighted = 1;
  options.samples = samples;
  options.seed = c->w->g->seed;
  TIMED(c, rc, weir_betweenness(c->p, &options, &c->run, c->w->real, &c->err));
  give_real(c, c->nodes);
  return rc;
}

static int betweenness(call *c) {
  return betweenness_from(c, 0);
}

static int sampled(call *c) {
  return betweenness_from(c, ALGO_SAMPLES);
}

static int closeness(call *c) {
  weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
  int rc;
  options.unweighted = 1;
  TIMED(c, rc, weir_closeness(c->p, &options, &c->run, c->w->real, &c->err));
  give_real(c, c->nodes);
  return rc;
}

static int jaccard(call *c) {
  const algo_graph *g = c->w->g;
  int rc;
  TIMED(c, rc,
        weir_similar_pairs(c->p, WEIR_JACCARD, WEIR_OUT, g->a, g->b, g->pairs, &c->run, c->w->real, &c->err));
  give_real(c, g->pairs);
  return rc;
}

static int predict(call *c) {
  size_t count = 0;
  int rc;
  TIMED(c, rc,
        weir_predict_links(c->p, WEIR_ADAMIC_ADAR, WEIR_OUT, &c->run, c->w->links, ALGO_LINKS, &count,
                           &c->err));
  c->out->number = 0;
  for (size_t i = 0; i < count; i++) {
    c->out->number += c->w->links[i].value;
  }
  return rc;
}

static int order(call *c) {
  uint32_t count = 0;
  int cyclic = 0, rc;
  TIMED(c, rc, weir_topological_order(c->p, &c->run, c->w->whole, &count, &cyclic, NULL, &c->err));
  c->out->number = !cyclic;
  return rc;
}

static int forest(call *c) {
  uint32_t count = 0;
  double total = 0;
  int rc;
  TIMED(c, rc, weir_spanning_forest(c->p, &c->run, c->w->links, &count, &total, &c->err));
  c->out->number = total;
  return rc;
}

static const compute_fn functions[ALGO_WORKS] = {
    [ALGO_BFS] = bfs,
    [ALGO_SSSP] = sssp,
    [ALGO_WCC] = wcc,
    [ALGO_PAGERANK] = pagerank,
    [ALGO_PAGERANK_WEIGHTED] = pagerank_weighted,
    [ALGO_LCC] = lcc,
    [ALGO_CDLP] = cdlp,
    [ALGO_SCC] = scc,
    [ALGO_CORE] = core,
    [ALGO_TRIANGLES] = triangles,
    [ALGO_LEIDEN] = leiden,
    [ALGO_BETWEENNESS] = betweenness,
    [ALGO_SAMPLED] = sampled,
    [ALGO_CLOSENESS] = closeness,
    [ALGO_JACCARD] = jaccard,
    [ALGO_PREDICT] = predict,
    [ALGO_ORDER] = order,
    [ALGO_FOREST] = forest,
};

void algo_weir_run(algo_weir *w, algo_work work, unsigned turn, unsigned threads, algo_answer *out) {
  call c = {.w = w,
            .p = w->g->projection,
            .nodes = w->g->info.nodes,
            .source = w->g->sources[turn % ALGO_SOURCES],
            .run = WEIR_RUN_INIT,
            .out = out,
            .err = WEIR_ERROR_INIT};
  c.run.threads = threads;
  out->number = NAN;
  out->count = 0;
  bench_check(functions[work](&c), &c.err, algo_name(work));
}

/* ---- Questions about single nodes ---- */

void algo_weir_within(algo_weir *w, size_t first, size_t count, uint64_t *sum) {
  weir_error err = WEIR_ERROR_INIT;
  uint64_t found[ALGO_HOPS + 1];
  for (size_t i = first; i < first + count; i++) {
    bench_check(weir_explorer_within(w->explorer, w->g->from[i], ALGO_HOPS, WEIR_OUT, found, &err), &err,
                "asking what is within some steps");
    for (int d = 0; d <= ALGO_HOPS; d++) {
      *sum += found[d];
    }
  }
}

void algo_weir_path(algo_weir *w, size_t first, size_t count, uint64_t *sum) {
  weir_error err = WEIR_ERROR_INIT;
  for (size_t i = first; i < first + count; i++) {
    size_t length = 0;
    bench_check(weir_explorer_path(w->explorer, w->g->from[i], w->g->to[i], WEIR_OUT, w->whole,
                                   w->g->info.nodes, &length, &err),
                &err, "asking for a path");
    *sum += length;
  }
}

/* ---- Opening ---- */

/* Memory that is there, not only promised: so that it does not count as a work's. */
static void *touched(size_t size) {
  return memset(bench_alloc(size), 1, size);
}

algo_weir *algo_weir_open(const algo_graph *g) {
  weir_error err = WEIR_ERROR_INIT;
  algo_weir *w = bench_alloc(sizeof *w);
  w->g = g;
  w->whole = touched(g->info.nodes * sizeof *w->whole);
  w->large = touched(g->info.nodes * sizeof *w->large);
  w->real = touched(algo_room(g) * sizeof *w->real);
  w->links = touched(algo_room(g) * sizeof *w->links);
  bench_check(weir_explorer_open(&w->explorer, g->projection, &err), &err, "opening an explorer");
  return w;
}

void algo_weir_close(algo_weir *w) {
  weir_explorer_close(w->explorer);
  free(w->whole);
  free(w->large);
  free(w->real);
  free(w->links);
  free(w);
}
