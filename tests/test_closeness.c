/* Closeness: against the distances between all pairs, and igraph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "igraph_graphs.h"

enum { SMALL = 100, LARGE = 250 };

static weir_error err;

static const weir_direction directions[] = {WEIR_OUT, WEIR_IN, WEIR_BOTH};
static const igraph_neimode_t modes[] = {IGRAPH_OUT, IGRAPH_IN, IGRAPH_ALL};

/* Distances from s: goes along all edges until nothing is shorter. */
static void find_distances(const algo_graph *g, uint32_t s, const weir_centrality_options *options,
                           double *distance) {
  int out = g->undirected || options->direction != WEIR_IN;
  int in = g->undirected || options->direction == WEIR_IN || options->direction == WEIR_BOTH;
  for (uint32_t i = 0; i < g->nodes; i++) {
    distance[i] = i == s ? 0 : INFINITY;
  }
  for (int again = 1; again;) {
    again = 0;
    for (uint64_t i = 0; i < g->count; i++) {
      double length = g->weighted && !options->unweighted ? g->weight[i] : 1;
      double *src = &distance[g->src[i]], *dst = &distance[g->dst[i]];
      if (out && *src + length < *dst) {
        *dst = *src + length;
        again = 1;
      }
      if (in && *dst + length < *src) {
        *src = *dst + length;
        again = 1;
      }
    }
  }
}

static double naive_score(const algo_graph *g, uint32_t s, const weir_centrality_options *options) {
  double distance[SMALL], sum = 0, inverse = 0, reached = 0;
  find_distances(g, s, options, distance);
  for (uint32_t i = 0; i < g->nodes; i++) {
    if (i != s && distance[i] < INFINITY) {
      reached++;
      sum += distance[i];
      inverse += 1 / distance[i];
    }
  }
  if (options->harmonic) {
    return g->nodes > 1 ? inverse / (g->nodes - 1) : 0;
  }
  return reached > 0 ? reached / sum : NAN;
}

Test(closeness, comes_from_the_distances_to_all_others, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 120; round++) {
    weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
    algo_graph g = algo_graph_random(&rng, round % 2 ? SMALL : 6);
    weir_projection *p = algo_graph_project(&g);
    double score[SMALL + 1];
    options.direction = directions[weir_test_below(&rng, 3)];
    options.unweighted = (int)weir_test_below(&rng, 2);
    options.harmonic = (int)weir_test_below(&rng, 2);
    cr_assert(eq(int, weir_closeness(p, &options, NULL, score, &err), WEIR_OK), "%s", err.message);
    for (uint32_t i = 0; i < g.nodes; i++) {
      double expected = naive_score(&g, i, &options);
      cr_assert(algo_close(score[i], expected, 1e-12, 0), "node %u: %.17g, not %.17g", i, score[i], expected);
    }
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(closeness, of_a_path_of_many_nodes_is_right, .timeout = 60) {
  enum { LONG = 300 }; /* more steps than one word has bits */
  algo_graph g = algo_graph_empty(LONG, 0, 0);
  for (uint32_t i = 0; i + 1 < LONG; i++) {
    algo_graph_add(&g, i, i + 1, 1);
  }
  weir_projection *p = algo_graph_project(&g);
  double score[LONG];
  cr_assert(eq(int, weir_closeness(p, NULL, NULL, score, &err), WEIR_OK));
  for (uint32_t i = 0; i + 1 < LONG; i++) {
    double reached = LONG - 1 - i;
    cr_assert(eq(dbl, score[i], reached / (reached * (reached + 1) / 2)), "node %u", i);
  }
  cr_assert(isnan(score[LONG - 1]));
  weir_projection_close(p);
  algo_graph_free(&g);
}

static void compare(const weir_projection *p, const weir_centrality_options *options,
                    const igraph_vector_t *theirs) {
  double score[LARGE + 1];
  cr_assert(eq(int, weir_closeness(p, options, NULL, score, &err), WEIR_OK), "%s", err.message);
  for (igraph_integer_t i = 0; i < igraph_vector_size(theirs); i++) {
    cr_assert(algo_close(score[i], VECTOR(*theirs)[i], 1e-12, 0), "node %d: %.17g, not %.17g", (int)i,
              score[i], VECTOR(*theirs)[i]);
  }
}

Test(closeness, agrees_with_igraph, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 20; round++) {
    weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
    algo_graph g = algo_graph_random(&rng, LARGE);
    weir_projection *p = algo_graph_project(&g);
    igraph_t other;
    igraph_vector_t weights, theirs;
    igraph_graph_make(&g, &other, &weights);
    igraph_vector_init(&theirs, 0);
    for (int d = 0; d < 3 && g.nodes > 1; d++) {
      const igraph_vector_t *lengths = g.weighted ? &weights : NULL;
      options.direction = directions[d];
      options.harmonic = 0;
      igraph_closeness(&other, &theirs, NULL, NULL, igraph_vss_all(), modes[d], lengths, 1);
      compare(p, &options, &theirs);
      options.harmonic = 1;
      igraph_harmonic_centrality(&other, &theirs, igraph_vss_all(), modes[d], lengths, 1);
      compare(p, &options, &theirs);
    }
    igraph_vector_destroy(&theirs);
    igraph_vector_destroy(&weights);
    igraph_destroy(&other);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(closeness, of_facebook_is_that_of_igraph, .timeout = 60) {
  algo_graph g;
  if (!algo_graph_facebook(&g)) {
    return;
  }
  weir_projection *p = algo_graph_project(&g);
  double *score = calloc(g.nodes, sizeof *score);
  igraph_t other;
  igraph_vector_t theirs;
  igraph_graph_make(&g, &other, NULL);
  igraph_vector_init(&theirs, 0);
  igraph_closeness(&other, &theirs, NULL, NULL, igraph_vss_range(0, 100), IGRAPH_ALL, NULL, 1);
  cr_assert(eq(int, weir_closeness(p, NULL, NULL, score, &err), WEIR_OK));
  for (igraph_integer_t i = 0; i < igraph_vector_size(&theirs); i++) {
    cr_assert(algo_close(score[i], VECTOR(theirs)[i], 1e-12, 0), "node %d", (int)i);
  }
  igraph_vector_destroy(&theirs);
  igraph_destroy(&other);
  free(score);
  weir_projection_close(p);
  algo_graph_free(&g);
}

/* ---- Threads, cancel, mistakes ------------------------------------------------------------------------- */

static int is_same(const void *a, const void *b, size_t size) {
  return memcmp(a, b, size) == 0;
}

static int stop(const weir_progress *progress, void *data) {
  unsigned *left = data;
  return --*left == 0 || progress->done > progress->total;
}

Test(closeness, is_the_same_with_any_number_of_threads, .timeout = 60) {
  static const unsigned threads[] = {1, 2, 3, 8};
  weir_test_rng rng = {weir_test_seed()};
  for (int kind = 0; kind < 4; kind++) {
    weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
    algo_graph g = algo_graph_random_of(&rng, LARGE, kind % 2, 1);
    weir_projection *p = algo_graph_project(&g);
    double score[2][LARGE + 1];
    options.unweighted = kind / 2;
    options.harmonic = 1;
    for (int i = 0; i < 4; i++) {
      weir_run run = {sizeof run, threads[i], NULL, NULL};
      cr_assert(eq(int, weir_closeness(p, &options, &run, score[i > 0], &err), WEIR_OK));
      cr_assert(i == 0 || is_same(score[0], score[1], g.nodes * sizeof score[0][0]), "%u threads",
                threads[i]);
    }
    for (unsigned at = 1; at <= 2; at++) { /* at the beginning; while it runs, or at the end */
      unsigned left = at;
      weir_run run = {sizeof run, 2, stop, &left};
      cr_assert(eq(int, weir_closeness(p, &options, &run, score[0], &err), WEIR_CANCELED));
    }
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(closeness, tells_what_is_wrong, .timeout = 60) {
  weir_centrality_options options = WEIR_CENTRALITY_OPTIONS_INIT;
  algo_graph g = algo_graph_empty(2, 0, 1);
  double score[2];
  algo_graph_add(&g, 0, 1, -1);
  weir_projection *p = algo_graph_project(&g);
  cr_assert(eq(int, weir_closeness(p, NULL, NULL, score, &err), WEIR_INVALID));
  options.unweighted = 1;
  cr_assert(eq(int, weir_closeness(p, &options, NULL, score, &err), WEIR_OK));
  cr_assert(score[0] == 1);
  options.direction = (weir_direction)17;
  cr_assert(eq(int, weir_closeness(p, &options, NULL, score, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_closeness(NULL, NULL, NULL, score, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_closeness(p, NULL, NULL, NULL, &err), WEIR_INVALID));
  weir_projection_close(p);
  algo_graph_free(&g);
}
