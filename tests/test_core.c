/* Degrees and core numbers: against naive models, and igraph. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "igraph_graphs.h"

enum { NODES = 60, ROUNDS = 150 };

static weir_error err;

static const weir_direction directions[] = {WEIR_OUT, WEIR_IN, WEIR_BOTH};
static const igraph_neimode_t modes[] = {IGRAPH_OUT, IGRAPH_IN, IGRAPH_ALL};

/* How many edges of the nodes that are left have `node` as an end, in that direction; loops not at all. */
static uint32_t degree_within(const algo_graph *g, const int *left, uint32_t node, weir_direction direction) {
  uint32_t degree = 0;
  for (uint64_t i = 0; i < g->count; i++) {
    if (g->src[i] != g->dst[i] && left[g->src[i]] && left[g->dst[i]]) {
      degree += g->src[i] == node && (g->undirected || direction != WEIR_IN);
      degree += g->dst[i] == node && (g->undirected || direction != WEIR_OUT);
    }
  }
  return degree;
}

/* Takes away what has too few edges, for k = 1, 2, ... */
static void naive_cores(const algo_graph *g, weir_direction direction, uint32_t *core) {
  int left[NODES], any = g->nodes > 0;
  for (uint32_t i = 0; i < g->nodes; i++) {
    left[i] = 1;
  }
  for (uint32_t k = 0; any; k++) {
    for (int again = 1; again;) {
      again = any = 0;
      for (uint32_t i = 0; i < g->nodes; i++) {
        if (left[i] && degree_within(g, left, i, direction) < k) {
          left[i] = 0;
          again = 1;
        }
        any |= left[i];
      }
    }
    for (uint32_t i = 0; i < g->nodes; i++) {
      core[i] = left[i] ? k : core[i];
    }
  }
}

static void check_cores(const algo_graph *g, const weir_projection *p, const igraph_t *other, int d) {
  uint32_t core[NODES + 1] = {0}, expected[NODES + 1] = {0}, greatest = 77, most = 0;
  igraph_vector_int_t theirs;
  cr_assert(eq(int, weir_core_numbers(p, directions[d], NULL, core, &greatest, &err), WEIR_OK), "%s",
            err.message);
  naive_cores(g, directions[d], expected);
  igraph_vector_int_init(&theirs, 0);
  igraph_coreness(other, &theirs, modes[d]);
  for (uint32_t i = 0; i < g->nodes; i++) {
    cr_assert(eq(u32, core[i], expected[i]), "node %u", i);
    cr_assert(core[i] == (uint32_t)VECTOR(theirs)[i], "node %u: %u, and %d by igraph", i, core[i],
              (int)VECTOR(theirs)[i]);
    most = expected[i] > most ? expected[i] : most;
  }
  cr_assert(eq(u32, greatest, most));
  igraph_vector_int_destroy(&theirs);
}

static void check_degrees(const algo_graph *g, const weir_projection *p, const igraph_t *other,
                          const igraph_vector_t *weights, int d) {
  uint64_t degree[NODES + 1];
  double strength[NODES + 1];
  igraph_vector_t theirs;
  igraph_vector_int_t counts;
  igraph_vector_init(&theirs, 0);
  igraph_vector_int_init(&counts, 0);
  cr_assert(eq(int, weir_degrees(p, directions[d], NULL, degree, strength, &err), WEIR_OK), "%s",
            err.message);
  igraph_strength(other, &theirs, igraph_vss_all(), modes[d], IGRAPH_LOOPS, weights);
  igraph_degree(other, &counts, igraph_vss_all(), modes[d], IGRAPH_LOOPS);
  for (uint32_t i = 0; i < g->nodes; i++) {
    cr_assert(degree[i] == (uint64_t)VECTOR(counts)[i], "degree of %u", i);
    cr_assert(strength[i] == VECTOR(theirs)[i], "strength of %u: %f", i, strength[i]);
  }
  cr_assert(eq(int, weir_degrees(p, directions[d], NULL, degree, NULL, &err), WEIR_OK));
  cr_assert(eq(int, weir_degrees(p, directions[d], NULL, NULL, strength, &err), WEIR_OK));
  cr_assert(eq(int, weir_degrees(p, directions[d], NULL, NULL, NULL, &err), WEIR_OK));
  igraph_vector_destroy(&theirs);
  igraph_vector_int_destroy(&counts);
}

/* Without loops, which igraph counts in the degrees of cores. */
static algo_graph drop_loops(const algo_graph *g) {
  algo_graph kept = algo_graph_empty(g->nodes, g->undirected, g->weighted);
  for (uint64_t i = 0; i < g->count; i++) {
    if (g->src[i] != g->dst[i]) {
      algo_graph_add(&kept, g->src[i], g->dst[i], g->weight[i]);
    }
  }
  return kept;
}

Test(core, agrees_with_taking_nodes_away_and_with_igraph, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < ROUNDS; round++) {
    algo_graph g = algo_graph_random(&rng, NODES);
    weir_projection *p = algo_graph_project(&g);
    algo_graph kept = drop_loops(&g);
    igraph_t other, without;
    igraph_vector_t weights;
    igraph_graph_make(&g, &other, &weights);
    igraph_graph_make(&kept, &without, NULL);
    for (int d = 0; d < 3; d++) {
      check_cores(&g, p, &without, d);
      check_degrees(&g, p, &other, &weights, d);
    }
    igraph_vector_destroy(&weights);
    igraph_destroy(&other);
    igraph_destroy(&without);
    weir_projection_close(p);
    algo_graph_free(&kept);
    algo_graph_free(&g);
  }
}

Test(core, of_facebook_are_those_of_igraph, .timeout = 60) {
  algo_graph g;
  if (!algo_graph_facebook(&g)) {
    return;
  }
  weir_projection *p = algo_graph_project(&g);
  uint32_t *core = calloc(g.nodes, sizeof *core), greatest = 0;
  igraph_t other;
  igraph_vector_int_t theirs;
  igraph_graph_make(&g, &other, NULL);
  igraph_vector_int_init(&theirs, 0);
  igraph_coreness(&other, &theirs, IGRAPH_ALL);
  cr_assert(eq(int, weir_core_numbers(p, 0, NULL, core, &greatest, &err), WEIR_OK));
  for (uint32_t i = 0; i < g.nodes; i++) {
    cr_assert(core[i] == (uint32_t)VECTOR(theirs)[i], "node %u", i);
  }
  cr_assert(eq(u32, greatest, 115));
  igraph_vector_int_destroy(&theirs);
  igraph_destroy(&other);
  free(core);
  weir_projection_close(p);
  algo_graph_free(&g);
}

static int is_same(const void *a, const void *b, size_t size) {
  return memcmp(a, b, size) == 0;
}

Test(core, and_degrees_are_the_same_with_any_number_of_threads, .timeout = 60) {
  static const unsigned threads[] = {1, 2, 3, 8};
  weir_test_rng rng = {weir_test_seed()};
  algo_graph g = algo_graph_empty(5000, 0, 1);
  for (int i = 0; i < 20000; i++) {
    algo_graph_add(&g, (uint32_t)weir_test_below(&rng, 5000), (uint32_t)weir_test_below(&rng, 5000),
                   0.1 * (double)weir_test_below(&rng, 100));
  }
  weir_projection *p = algo_graph_project(&g);
  uint32_t core[2][5000];
  double strength[2][5000];
  for (int i = 0; i < 4; i++) {
    weir_run run = {sizeof run, threads[i], NULL, NULL};
    int at = i > 0;
    cr_assert(eq(int, weir_core_numbers(p, WEIR_BOTH, &run, core[at], NULL, &err), WEIR_OK));
    cr_assert(eq(int, weir_degrees(p, WEIR_BOTH, &run, NULL, strength[at], &err), WEIR_OK));
    cr_assert(at == 0 || is_same(core[0], core[1], sizeof core[0]), "%u threads", threads[i]);
    cr_assert(at == 0 || is_same(strength[0], strength[1], sizeof strength[0]), "%u threads", threads[i]);
  }
  weir_projection_close(p);
  algo_graph_free(&g);
}

static int stop(const weir_progress *progress, void *data) {
  unsigned *left = data;
  (void)progress;
  return --*left == 0;
}

Test(core, tells_what_is_wrong_and_ends_when_asked_to, .timeout = 60) {
  algo_graph g = algo_graph_empty(3, 0, 0);
  algo_graph_add(&g, 0, 1, 1);
  weir_projection *p = algo_graph_project(&g);
  uint32_t core[3];
  double strength[3];
  cr_assert(eq(int, weir_core_numbers(NULL, WEIR_OUT, NULL, core, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_core_numbers(p, WEIR_OUT, NULL, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_core_numbers(p, (weir_direction)9, NULL, core, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_degrees(NULL, WEIR_OUT, NULL, NULL, strength, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_degrees(p, (weir_direction)9, NULL, NULL, strength, &err), WEIR_INVALID));
  for (unsigned at = 1; at <= 2; at++) {
    unsigned left = at;
    weir_run run = {sizeof run, 2, stop, &left};
    cr_assert(eq(int, weir_core_numbers(p, WEIR_OUT, &run, core, NULL, &err), WEIR_CANCELED));
    left = at;
    cr_assert(eq(int, weir_degrees(p, WEIR_OUT, &run, NULL, strength, &err), WEIR_CANCELED));
  }
  weir_projection_close(p);
  algo_graph_free(&g);
}
