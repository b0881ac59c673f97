/* PageRank, against the definition computed naively, and against igraph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "igraph_graphs.h"

static weir_error err;

/* ---- The definition ------------------------------------------------------------------------------------ */

static double weight_of(const algo_graph *g, const weir_pagerank_options *o, uint64_t edge) {
  return g->weighted && !o->unweighted ? g->weight[edge] : 1;
}

static double *model_jump(const algo_graph *g, const weir_pagerank_options *o) {
  double *jump = calloc(g->nodes + 1, sizeof *jump), sum = 0;
  for (size_t i = 0; i < o->source_count; i++) {
    jump[o->sources[i]] += o->source_weights ? o->source_weights[i] : 1;
    sum += o->source_weights ? o->source_weights[i] : 1;
  }
  for (uint32_t i = 0; i < g->nodes; i++) {
    jump[i] = o->source_count ? jump[i] / sum : 1.0 / g->nodes;
  }
  return jump;
}

/* One power iteration. */
static void model_step(const algo_graph *g, const weir_pagerank_options *o, const double *jump,
                       const double *strength, double *score, double *next) {
  double dangling = 0;
  for (uint32_t i = 0; i < g->nodes; i++) {
    dangling += strength[i] > 0 ? 0 : score[i];
  }
  for (uint32_t i = 0; i < g->nodes; i++) {
    next[i] = (1 - o->damping + o->damping * dangling) * jump[i];
  }
  for (uint64_t e = 0; e < g->count; e++) {
    uint32_t a = g->src[e], b = g->dst[e];
    double weight = o->damping * weight_of(g, o, e);
    next[b] += strength[a] > 0 ? weight * score[a] / strength[a] : 0;
    if (g->undirected) {
      next[a] += strength[b] > 0 ? weight * score[b] / strength[b] : 0;
    }
  }
  memcpy(score, next, g->nodes * sizeof *score);
}

static double *model(const algo_graph *g, const weir_pagerank_options *o, unsigned iterations) {
  double *jump = model_jump(g, o), *strength = calloc(g->nodes + 1, sizeof(double));
  double *score = calloc(g->nodes + 1, sizeof(double)), *next = calloc(g->nodes + 1, sizeof(double));
  for (uint64_t e = 0; e < g->count; e++) {
    strength[g->src[e]] += weight_of(g, o, e);
    strength[g->dst[e]] += g->undirected ? weight_of(g, o, e) : 0;
  }
  for (uint32_t i = 0; i < g->nodes; i++) {
    score[i] = 1.0 / g->nodes;
  }
  for (unsigned i = 0; i < iterations; i++) {
    model_step(g, o, jump, strength, score, next);
  }
  free(jump);
  free(strength);
  free(next);
  return score;
}

/* ---- Comparing ----------------------------------------------------------------------------------------- */

static double *rank(const weir_projection *p, const weir_pagerank_options *o, unsigned threads,
                    weir_pagerank_result *result) {
  weir_run run = WEIR_RUN_INIT;
  run.threads = threads;
  double *score = calloc(weir_projection_nodes(p) + 1, sizeof *score);
  cr_assert(eq(int, weir_pagerank(p, o, &run, score, result, &err), WEIR_OK), "%s", err.message);
  return score;
}

/* The sum of the differences. */
static double distance(const double *a, const double *b, uint32_t nodes) {
  double sum = 0;
  for (uint32_t i = 0; i < nodes; i++) {
    cr_assert(not(isnan(a[i])));
    sum += fabs(a[i] - b[i]);
  }
  return sum;
}

static void check(const algo_graph *g, weir_pagerank_options o, unsigned iterations, double tolerance) {
  weir_pagerank_result result = {0, -1};
  weir_projection *p = algo_graph_project(g);
  o.tolerance = tolerance;
  o.iterations = iterations;
  double *got = rank(p, &o, 2, &result);
  double *want = model(g, &o, tolerance > 0 ? 220 : iterations);
  double most = tolerance > 0 ? result.change / (1 - o.damping) + 1e-13 : 1e-13;
  cr_assert(le(dbl, distance(got, want, g->nodes), most), "%u nodes, %lu edges, undirected %d, change %g",
            g->nodes, (unsigned long)g->count, g->undirected, result.change);
  cr_assert(le(uint, result.iterations, iterations));
  cr_assert(result.change <= (tolerance > 0 ? tolerance : 2) || result.iterations == iterations);
  free(got);
  free(want);
  weir_projection_close(p);
}

Test(pagerank, is_what_the_definition_says, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (unsigned round = 0; round < 80; round++) {
    weir_pagerank_options o = WEIR_PAGERANK_OPTIONS_INIT;
    algo_graph g = algo_graph_random(&rng, round < 70 ? 30 : 700);
    uint32_t sources[3] = {0, 0, 0};
    double weights[3] = {1, 2.5, 0};
    for (uint64_t e = 0; e < g.count; e++) {
      g.weight[e] -= g.weight[e] < 4 ? g.weight[e] : 0; /* often 0: nodes whose edges weigh nothing */
    }
    o.unweighted = (int)weir_test_below(&rng, 2);
    o.damping = (double[]){0.85, 0.5, 0}[weir_test_below(&rng, 3)];
    if (g.nodes > 0 && weir_test_below(&rng, 2)) {
      for (int i = 0; i < 3; i++) {
        sources[i] = (uint32_t)weir_test_below(&rng, g.nodes);
      }
      o.sources = sources;
      o.source_weights = weir_test_below(&rng, 2) ? weights : NULL;
      o.source_count = 3;
    }
    check(&g, o, 1 + (unsigned)weir_test_below(&rng, 20), 0);
    check(&g, o, 1000, 1e-10);
    check(&g, o, 1000, 1e-3);
    check(&g, o, 1 + (unsigned)weir_test_below(&rng, 20), 1e-10); /* ended before: the change says how far */
    algo_graph_free(&g);
  }
}

/* Of several pieces. */
static algo_graph large(weir_test_rng *rng, uint64_t edges, int undirected) {
  algo_graph g = algo_graph_empty(3000, undirected, 1);
  for (uint64_t i = 0; i < edges; i++) {
    algo_graph_add(&g, (uint32_t)weir_test_below(rng, 2900), (uint32_t)weir_test_below(rng, 3000),
                   (double)(1 + weir_test_below(rng, 10)));
  }
  return g;
}

Test(pagerank, is_what_the_definition_says_of_many_nodes, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int undirected = 0; undirected < 2; undirected++) {
    weir_pagerank_options o = WEIR_PAGERANK_OPTIONS_INIT;
    algo_graph g = large(&rng, 10000, undirected);
    check(&g, o, 10, 0);
    check(&g, o, 100, 1e-10);
    algo_graph_free(&g);
  }
}

/* With so many edges that they are shared among threads. */
Test(pagerank, has_the_same_bytes_with_any_number_of_threads, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int kind = 0; kind < 4; kind++) {
    static const uint64_t edges[] = {260000, 130000, 510000, 130000};
    weir_pagerank_options o = WEIR_PAGERANK_OPTIONS_INIT;
    algo_graph g = large(&rng, edges[kind], kind & 1);
    weir_projection *p = algo_graph_project(&g);
    o.tolerance = kind & 2 ? 1e-4 : 0;
    o.iterations = 4;
    double *one = rank(p, &o, 1, NULL);
    for (unsigned threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
      double *many = rank(p, &o, threads, NULL);
      cr_assert(eq(int, memcmp(one, many, g.nodes * sizeof *one), 0), "%u threads, kind %d", threads, kind);
      free(many);
    }
    free(one);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

/* ---- igraph -------------------------------------------------------------------------------------------- */

static void compare_with_igraph(const algo_graph *g, const uint32_t *source) {
  weir_pagerank_options o = WEIR_PAGERANK_OPTIONS_INIT;
  weir_projection *p = algo_graph_project(g);
  igraph_t other;
  igraph_vector_t weights, want, reset;
  igraph_real_t value = 0;
  o.sources = source;
  o.source_count = source != NULL;
  double *got = rank(p, &o, 2, NULL);
  igraph_graph_make(g, &other, &weights);
  igraph_vector_init(&want, 0);
  igraph_vector_init(&reset, g->nodes);
  if (source) {
    VECTOR(reset)[*source] = 1;
    igraph_personalized_pagerank(&other, IGRAPH_PAGERANK_ALGO_PRPACK, &want, &value, igraph_vss_all(), 1,
                                 0.85, &reset, &weights, NULL);
  } else {
    igraph_pagerank(&other, IGRAPH_PAGERANK_ALGO_PRPACK, &want, &value, igraph_vss_all(), 1, 0.85, &weights,
                    NULL);
  }
  for (uint32_t i = 0; i < g->nodes; i++) {
    cr_assert(le(dbl, fabs(got[i] - VECTOR(want)[i]), 1e-9), "node %u: %.17g, igraph's %.17g", i, got[i],
              VECTOR(want)[i]);
  }
  igraph_vector_destroy(&want);
  igraph_vector_destroy(&reset);
  igraph_vector_destroy(&weights);
  igraph_destroy(&other);
  free(got);
  weir_projection_close(p);
}

Test(pagerank, agrees_with_igraph, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (unsigned round = 0; round < 60; round++) {
    algo_graph g = algo_graph_random(&rng, 200);
    uint32_t source = g.nodes ? (uint32_t)weir_test_below(&rng, g.nodes) : 0;
    if (g.nodes) {
      compare_with_igraph(&g, round % 2 ? &source : NULL);
    }
    algo_graph_free(&g);
  }
}

Test(pagerank, agrees_with_igraph_on_facebook, .timeout = 60) {
  algo_graph g;
  if (algo_graph_facebook(&g)) {
    compare_with_igraph(&g, NULL);
    compare_with_igraph(&g, (uint32_t[]){107});
    algo_graph_free(&g);
  }
}

/* ---- What is refused, and ended ------------------------------------------------------------------------ */

static void refuse(const weir_projection *p, weir_pagerank_options o, const char *says) {
  double score[3];
  cr_assert(eq(int, weir_pagerank(p, &o, NULL, score, NULL, &err), WEIR_INVALID), "%s", says);
  cr_assert(ne(ptr, strstr(err.message, says), NULL), "%s", err.message);
}

Test(pagerank, refuses_options_without_sense, .timeout = 60) {
  const weir_pagerank_options plain = WEIR_PAGERANK_OPTIONS_INIT;
  weir_pagerank_options o = plain;
  algo_graph g = algo_graph_empty(3, 0, 1);
  algo_graph_add(&g, 0, 1, 2);
  weir_projection *p = algo_graph_project(&g);
  const uint32_t source = 1, outside = 3;
  double score[3], weight = -1, none = 0;
  cr_assert(eq(int, weir_pagerank(NULL, &o, NULL, score, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_pagerank(p, &o, NULL, NULL, NULL, &err), WEIR_INVALID));
  refuse(p, (o = plain, o.damping = 1, o), "damping is 1");
  refuse(p, (o = plain, o.damping = -0.1, o), "damping is -0.1");
  refuse(p, (o = plain, o.damping = NAN, o), "damping is");
  refuse(p, (o = plain, o.iterations = 0, o), "iterations is 0");
  refuse(p, (o = plain, o.tolerance = -1, o), "tolerance is -1");
  refuse(p, (o = plain, o.tolerance = NAN, o), "tolerance is");
  refuse(p, (o = plain, o.source_count = 1, o), "sources is NULL");
  refuse(p, (o.sources = &outside, o), "source 0: there is no node 3");
  refuse(p, (o.sources = &source, o.source_weights = &weight, o), "source 0 has the weight -1");
  refuse(p, (o.source_weights = &none, o), "add up to 0");
  weir_projection_close(p);
  g.weight[0] = -2;
  p = algo_graph_project(&g);
  refuse(p, plain, "an edge has the weight -2");
  cr_assert(eq(int, weir_pagerank(p, (o = plain, o.unweighted = 1, &o), NULL, score, NULL, &err), WEIR_OK),
            "%s", err.message);
  weir_projection_close(p);
  g.weight[0] = 1e-310;
  p = algo_graph_project(&g);
  refuse(p, plain, "too small or too great");
  weir_projection_close(p);
  algo_graph_free(&g);
}

static int stop(const weir_progress *progress, void *data) {
  return progress->done >= *(uint64_t *)data;
}

Test(pagerank, ends_when_on_progress_says_so, .timeout = 60) {
  weir_pagerank_options o = WEIR_PAGERANK_OPTIONS_INIT;
  weir_test_rng rng = {weir_test_seed()};
  uint64_t at = 1;
  weir_run run = {sizeof run, 2, stop, &at};
  algo_graph g = large(&rng, 100000, 0);
  weir_projection *p = algo_graph_project(&g);
  double *score = calloc(g.nodes, sizeof *score);
  o.tolerance = 0;
  o.iterations = 1000000; /* for hours */
  cr_assert(eq(int, weir_pagerank(p, &o, &run, score, NULL, &err), WEIR_CANCELED));
  free(score);
  weir_projection_close(p);
  algo_graph_free(&g);
}
