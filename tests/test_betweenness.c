/* Betweenness: against counting the paths between all pairs, and igraph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "igraph_graphs.h"

enum { SMALL = 20, LARGE = 150 };

static weir_error err;

/* Lengths of the shortest paths between all pairs, and how many of them there are. */
struct pairs {
  double distance[SMALL][SMALL], paths[SMALL][SMALL];
};

static double length_of(const algo_graph *g, uint64_t edge, int weighted) {
  return weighted && g->weighted ? g->weight[edge] : 1;
}

/* One way along an edge; 1: something is shorter now. */
static int shorten(struct pairs *x, uint32_t nodes, uint32_t src, uint32_t dst, double length) {
  int any = 0;
  for (uint32_t s = 0; s < nodes; s++) {
    if (x->distance[s][src] + length < x->distance[s][dst]) {
      x->distance[s][dst] = x->distance[s][src] + length;
      any = 1;
    }
  }
  return any;
}

/* The paths to t of one more edge, of those from s that have length d. */
static double count_last(const algo_graph *g, const struct pairs *x, uint32_t s, uint32_t t, int weighted) {
  double sum = 0;
  for (uint64_t i = 0; i < g->count; i++) {
    double length = length_of(g, i, weighted);
    if (g->dst[i] == t && x->distance[s][g->src[i]] + length == x->distance[s][t]) {
      sum += x->paths[s][g->src[i]];
    }
    if (g->undirected && g->src[i] == t && x->distance[s][g->dst[i]] + length == x->distance[s][t]) {
      sum += x->paths[s][g->dst[i]];
    }
  }
  return sum;
}

static void find_pairs(const algo_graph *g, struct pairs *x, int weighted) {
  for (uint32_t s = 0; s < g->nodes; s++) {
    for (uint32_t t = 0; t < g->nodes; t++) {
      x->distance[s][t] = s == t ? 0 : INFINITY;
      x->paths[s][t] = s == t;
    }
  }
  for (int again = 1; again;) {
    again = 0;
    for (uint64_t i = 0; i < g->count; i++) {
      again |= shorten(x, g->nodes, g->src[i], g->dst[i], length_of(g, i, weighted));
      again |= g->undirected && shorten(x, g->nodes, g->dst[i], g->src[i], length_of(g, i, weighted));
    }
  }
  for (uint32_t s = 0; s < g->nodes; s++) {
    for (unsigned d = 1; d <= 10 * SMALL; d++) { /* lengths are whole numbers from 1 to 10 */
      for (uint32_t t = 0; t < g->nodes; t++) {
        if (x->distance[s][t] == d) {
          x->paths[s][t] = count_last(g, x, s, t, weighted);
        }
      }
    }
  }
}

static double naive_score(const algo_graph *g, const struct pairs *x, uint32_t v) {
  double sum = 0;
  for (uint32_t s = 0; s < g->nodes; s++) {
    for (uint32_t t = 0; t < g->nodes; t++) {
      if (s != t && s != v && t != v && x->distance[s][t] < INFINITY &&
          x->distance[s][v] + x->distance[v][t] == x->distance[s][t]) {
        sum += x->paths[s][v] * x->paths[v][t] / x->paths[s][t];
      }
    }
  }
  return g->undirected ? sum / 2 : sum;
}

Test(betweenness, is_the_share_of_the_paths_between_all_pairs, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  static struct pairs x;
  for (int round = 0; round < 150; round++) {
    weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
    algo_graph g = algo_graph_random(&rng, SMALL);
    weir_projection *p = algo_graph_project(&g);
    double score[SMALL + 1], n = g.nodes;
    options.unweighted = (int)weir_test_below(&rng, 2);
    options.normalized = (int)weir_test_below(&rng, 2);
    double pairs = options.normalized && n > 2 ? (n - 1) * (n - 2) / (g.undirected ? 2 : 1) : 1;
    cr_assert(eq(int, weir_betweenness(p, &options, NULL, score, &err), WEIR_OK), "%s", err.message);
    find_pairs(&g, &x, !options.unweighted);
    for (uint32_t i = 0; i < g.nodes; i++) {
      double expected = naive_score(&g, &x, i) / pairs;
      cr_assert(algo_close(score[i], expected, 1e-10, 1e-12), "node %u: %.17g, not %.17g", i, score[i],
                expected);
    }
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(betweenness, agrees_with_igraph, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 30; round++) {
    algo_graph g = algo_graph_random(&rng, LARGE);
    weir_projection *p = algo_graph_project(&g);
    double score[LARGE + 1];
    igraph_t other;
    igraph_vector_t weights, theirs;
    igraph_graph_make(&g, &other, &weights);
    igraph_vector_init(&theirs, 0);
    igraph_betweenness(&other, &theirs, igraph_vss_all(), !g.undirected, g.weighted ? &weights : NULL);
    cr_assert(eq(int, weir_betweenness(p, NULL, NULL, score, &err), WEIR_OK), "%s", err.message);
    for (uint32_t i = 0; i < g.nodes; i++) {
      cr_assert(algo_close(score[i], VECTOR(theirs)[i], 1e-9, 1e-9), "node %u: %.17g, not %.17g", i, score[i],
                VECTOR(theirs)[i]);
    }
    igraph_vector_destroy(&theirs);
    igraph_vector_destroy(&weights);
    igraph_destroy(&other);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(betweenness, counts_steps_whose_weight_is_lost_in_a_sum, .timeout = 60) {
  algo_graph g = algo_graph_empty(4, 0, 1);
  double score[4];
  algo_graph_add(&g, 0, 1, 1);
  algo_graph_add(&g, 1, 2, 1e-20);
  algo_graph_add(&g, 2, 1, 1e-20);
  algo_graph_add(&g, 2, 3, 1);
  weir_projection *p = algo_graph_project(&g);
  cr_assert(eq(int, weir_betweenness(p, NULL, NULL, score, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(dbl, score[0], 0));
  cr_assert(eq(dbl, score[1], 2));
  cr_assert(eq(dbl, score[2], 2));
  weir_projection_close(p);
  algo_graph_free(&g);
}

/* ---- Threads, samples ---------------------------------------------------------------------------------- */

enum { MIDDLE = 700 };

static algo_graph make_middle(weir_test_rng *rng, int undirected, int weighted) {
  algo_graph g = algo_graph_empty(MIDDLE, undirected, weighted);
  for (int i = 0; i < 4 * MIDDLE; i++) {
    algo_graph_add(&g, (uint32_t)weir_test_below(rng, MIDDLE), (uint32_t)weir_test_below(rng, MIDDLE),
                   1 + 0.1 * (double)weir_test_below(rng, 30));
  }
  return g;
}

static int is_same(const void *a, const void *b, size_t size) {
  return memcmp(a, b, size) == 0;
}

Test(betweenness, is_the_same_with_any_number_of_threads, .timeout = 60) {
  static const unsigned threads[] = {1, 2, 3, 8};
  weir_test_rng rng = {weir_test_seed()};
  for (int kind = 0; kind < 4; kind++) {
    algo_graph g = make_middle(&rng, kind % 2, kind / 2);
    weir_projection *p = algo_graph_project(&g);
    weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
    options.samples = 40;
    double score[2][MIDDLE];
    for (int i = 0; i < 4; i++) {
      weir_run run = {sizeof run, threads[i], NULL, NULL};
      cr_assert(eq(int, weir_betweenness(p, &options, &run, score[i > 0], &err), WEIR_OK));
      cr_assert(i == 0 || is_same(score[0], score[1], sizeof score[0]), "%u threads", threads[i]);
    }
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

static void sample(const weir_projection *p, uint32_t samples, uint64_t seed, double *score) {
  weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
  options.samples = samples;
  options.seed = seed;
  cr_assert(eq(int, weir_betweenness(p, &options, NULL, score, &err), WEIR_OK), "%s", err.message);
}

Test(betweenness, of_samples_comes_from_the_seed, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  algo_graph g = make_middle(&rng, 1, 0);
  weir_projection *p = algo_graph_project(&g);
  double one[MIDDLE], two[MIDDLE], exact[MIDDLE];
  sample(p, 50, 7, one);
  sample(p, 50, 7, two);
  cr_assert(is_same(one, two, sizeof one));
  sample(p, 50, 8, two);
  cr_assert(eq(int, is_same(one, two, sizeof one), 0));
  sample(p, 0, 7, exact);
  sample(p, MIDDLE, 7, one);
  cr_assert(is_same(one, exact, sizeof one));
  sample(p, UINT32_MAX, 8, one);
  cr_assert(is_same(one, exact, sizeof one));
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(betweenness, of_samples_is_right_on_average, .timeout = 60) {
  weir_test_rng rng = {1}; /* chance has no part in it */
  algo_graph g = make_middle(&rng, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  double one[MIDDLE], exact[MIDDLE], mean[MIDDLE] = {0}, wrong = 0, all = 0;
  sample(p, 0, 0, exact);
  for (uint64_t seed = 0; seed < 60; seed++) {
    sample(p, 35, seed, one);
    for (uint32_t i = 0; i < MIDDLE; i++) {
      mean[i] += one[i] / 60;
    }
  }
  for (uint32_t i = 0; i < MIDDLE; i++) {
    wrong += fabs(mean[i] - exact[i]);
    all += exact[i];
  }
  cr_assert(lt(dbl, wrong, 0.1 * all));
  weir_projection_close(p);
  algo_graph_free(&g);
}

/* ---- Mistakes, cancel ---------------------------------------------------------------------------------- */

static int stop(const weir_progress *progress, void *data) {
  unsigned *left = data;
  return --*left == 0 || progress->done > progress->total;
}

Test(betweenness, ends_when_asked_to, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  algo_graph g = make_middle(&rng, 1, 1);
  weir_projection *p = algo_graph_project(&g);
  double score[MIDDLE];
  for (unsigned at = 1; at <= 2; at++) { /* at the beginning; while it runs, or at the end */
    unsigned left = at;
    weir_run run = {sizeof run, 2, stop, &left};
    cr_assert(eq(int, weir_betweenness(p, NULL, &run, score, &err), WEIR_CANCELED));
  }
  weir_projection_close(p);
  algo_graph_free(&g);
}

/* Diamonds in a row: each doubles the paths from one end to the other. */
Test(betweenness, refuses_more_paths_than_can_be_counted, .timeout = 60) {
  enum { DIAMONDS = 1030, NODES = 3 * DIAMONDS + 1 };
  weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
  algo_graph g = algo_graph_empty(NODES, 0, 1);
  static double score[NODES];
  for (uint32_t at = 0; at + 1 < NODES; at += 3) {
    algo_graph_add(&g, at, at + 1, 1);
    algo_graph_add(&g, at, at + 2, 1);
    algo_graph_add(&g, at + 1, at + 3, 1);
    algo_graph_add(&g, at + 2, at + 3, 1);
  }
  weir_projection *p = algo_graph_project(&g);
  for (options.unweighted = 0; options.unweighted < 2; options.unweighted++) {
    cr_assert(eq(int, weir_betweenness(p, &options, NULL, score, &err), WEIR_FULL));
    cr_assert(ne(ptr, strstr(err.message, "shortest paths"), NULL), "%s", err.message);
  }
  weir_projection_close(p);
  g.count -= 40; /* ten diamonds less */
  p = algo_graph_project(&g);
  for (options.unweighted = 0; options.unweighted < 2; options.unweighted++) {
    cr_assert(eq(int, weir_betweenness(p, &options, NULL, score, &err), WEIR_OK), "%s", err.message);
    cr_assert(algo_close(score[300], 300.0 * (NODES - 30 - 301), 1e-9, 0), "%g", score[300]);
  }
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(betweenness, refuses_weights_that_are_not_above_0, .timeout = 60) {
  weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
  algo_graph g = algo_graph_empty(3, 0, 1);
  double score[3];
  weir_projection *p = algo_graph_project(&g); /* no edge: none is wrong */
  cr_assert(eq(int, weir_betweenness(p, NULL, NULL, score, &err), WEIR_OK), "%s", err.message);
  weir_projection_close(p);
  algo_graph_add(&g, 0, 1, 1);
  algo_graph_add(&g, 1, 2, 0);
  p = algo_graph_project(&g);
  cr_assert(eq(int, weir_betweenness(p, NULL, NULL, score, &err), WEIR_INVALID));
  options.unweighted = 1;
  cr_assert(eq(int, weir_betweenness(p, &options, NULL, score, &err), WEIR_OK));
  cr_assert(score[1] == 1);
  options.size = 1000000;
  cr_assert(eq(int, weir_betweenness(p, &options, NULL, score, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_betweenness(NULL, NULL, NULL, score, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_betweenness(p, NULL, NULL, NULL, &err), WEIR_INVALID));
  weir_projection_close(p);
  algo_graph_free(&g);
}
