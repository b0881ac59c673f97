/* Modularity against a naive sum and igraph; communities by what Leiden promises of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "igraph_graphs.h"

enum { NODES = 40 };

static weir_error err;

static double modularity_of(const weir_projection *p, const uint32_t *community, double resolution) {
  double out = NAN;
  cr_assert(eq(int, weir_modularity(p, community, resolution, NULL, &out, &err), WEIR_OK), "%s", err.message);
  return out;
}

static weir_leiden_result find(const weir_projection *p, const weir_leiden_options *options, unsigned threads,
                               uint32_t *community) {
  weir_run run = {sizeof run, threads, NULL, NULL};
  weir_leiden_result result = {77, 77, 77};
  cr_assert(eq(int, weir_leiden(p, options, &run, community, &result, &err), WEIR_OK), "%s", err.message);
  return result;
}

static double weight_of(const algo_graph *g, uint64_t edge) {
  return g->weighted ? g->weight[edge] : 1;
}

/* ---- Modularity ---------------------------------------------------------------------------------------- */

/* Over pairs of nodes: in the same community, what is between them less what chance would put there. */
static double naive_modularity(const algo_graph *g, const uint32_t *community, double resolution) {
  double twice = 0, sum = 0, degree[NODES] = {0};
  for (uint64_t i = 0; i < g->count; i++) {
    twice += 2 * weight_of(g, i);
    degree[g->src[i]] += weight_of(g, i);
    degree[g->dst[i]] += weight_of(g, i);
    sum += community[g->src[i]] == community[g->dst[i]] ? 2 * weight_of(g, i) : 0;
  }
  for (uint32_t a = 0; a < g->nodes && twice > 0; a++) {
    for (uint32_t b = 0; b < g->nodes; b++) {
      sum -= community[a] == community[b] ? resolution * degree[a] * degree[b] / twice : 0;
    }
  }
  return twice > 0 ? sum / twice : 0;
}

static double igraph_says(const algo_graph *g, const uint32_t *community, double resolution) {
  igraph_t other;
  igraph_vector_t weights;
  igraph_vector_int_t membership;
  igraph_real_t out = NAN;
  igraph_graph_make(g, &other, &weights);
  igraph_vector_int_init(&membership, (igraph_integer_t)g->nodes);
  for (uint32_t i = 0; i < g->nodes; i++) {
    VECTOR(membership)[i] = community[i];
  }
  igraph_modularity(&other, &membership, &weights, resolution, 0, &out);
  igraph_vector_int_destroy(&membership);
  igraph_vector_destroy(&weights);
  igraph_destroy(&other);
  return out;
}

Test(modularity, agrees_with_the_sum_over_pairs_and_with_igraph, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 150; round++) {
    algo_graph g = algo_graph_random(&rng, NODES);
    weir_projection *p = algo_graph_project(&g);
    uint32_t community[NODES + 1], scattered[NODES + 1];
    double resolution = 0.25 * (double)weir_test_below(&rng, 9);
    for (uint32_t i = 0; i < g.nodes; i++) {
      community[i] = (uint32_t)weir_test_below(&rng, g.nodes);
      scattered[i] = UINT32_MAX - 1000 * community[i];
    }
    double ours = modularity_of(p, community, resolution);
    cr_assert(algo_close(ours, naive_modularity(&g, community, resolution), 1e-9, 1e-12));
    cr_assert(g.count == 0 || algo_close(ours, igraph_says(&g, community, resolution), 1e-9, 1e-12));
    cr_assert(algo_close(ours, modularity_of(p, scattered, resolution), 1e-9, 1e-12));
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

/* ---- What Leiden promises ------------------------------------------------------------------------------ */

/* Spreads from each node to all of its community: each is one piece, and numbered by its least node. */
static void check_communities(const algo_graph *g, const uint32_t *community, uint32_t count) {
  uint32_t *label = calloc((size_t)g->nodes + 1, sizeof *label), next = 0;
  for (uint32_t i = 0; i < g->nodes; i++) {
    label[i] = i;
  }
  for (int again = 1; again;) {
    again = 0;
    for (uint64_t i = 0; i < g->count; i++) {
      uint32_t *a = &label[g->src[i]], *b = &label[g->dst[i]];
      if (community[g->src[i]] == community[g->dst[i]] && *a != *b) {
        *a = *b = *a < *b ? *a : *b;
        again = 1;
      }
    }
  }
  for (uint32_t i = 0; i < g->nodes; i++) {
    if (label[i] == i) {
      cr_assert(eq(u32, community[i], next), "node %u is the first of a connected part", i);
      next++;
    }
    cr_assert(eq(u32, community[i], community[label[i]]));
  }
  cr_assert(eq(u32, next, count));
  free(label);
}

/* No node would be better off elsewhere. */
static void check_nodes(const algo_graph *g, uint32_t *community, uint32_t count, double resolution) {
  double modularity = naive_modularity(g, community, resolution);
  for (uint32_t i = 0; i < g->nodes; i++) {
    uint32_t own = community[i];
    for (uint32_t there = 0; there <= count; there++) {
      community[i] = there;
      double other = naive_modularity(g, community, resolution);
      cr_assert(le(dbl, other, modularity + 1e-8), "node %u from %u to %u", i, own, there);
    }
    community[i] = own;
  }
}

Test(leiden, finds_connected_communities_that_no_node_wants_to_leave, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 60; round++) {
    algo_graph g = algo_graph_random(&rng, round % 3 ? 20 : NODES);
    weir_projection *p = algo_graph_project(&g);
    weir_leiden_options options = WEIR_LEIDEN_OPTIONS_INIT;
    uint32_t community[NODES + 1];
    options.iterations = 1000;
    options.resolution = 0.5 * (double)(1 + weir_test_below(&rng, 4));
    options.randomness = round % 2 ? 0.01 : 10; /* ten: nearly any choice is as likely */
    options.seed = weir_test_next(&rng);
    weir_leiden_result result = find(p, &options, 0, community);
    check_communities(&g, community, result.communities);
    check_nodes(&g, community, result.communities, options.resolution);
    cr_assert(eq(dbl, result.modularity, modularity_of(p, community, options.resolution)));
    cr_assert(lt(uint, result.iterations, 1000));
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

/* Communities of 20 nodes, in each half of all edges; between them a few. */
static algo_graph make_planted(weir_test_rng *rng, uint32_t communities, int undirected) {
  algo_graph g = algo_graph_empty(20 * communities, undirected, 1);
  for (uint32_t a = 0; a < g.nodes; a++) {
    for (uint32_t b = 20 * (a / 20); b < a; b++) {
      if (weir_test_below(rng, 2)) {
        algo_graph_add(&g, a, b, 1 + 0.01 * (double)weir_test_below(rng, 100));
      }
    }
    algo_graph_add(&g, a, (uint32_t)weir_test_below(rng, g.nodes), 1);
  }
  return g;
}

Test(leiden, finds_communities_that_were_planted, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int undirected = 0; undirected < 2; undirected++) {
    algo_graph g = make_planted(&rng, 12, undirected);
    weir_projection *p = algo_graph_project(&g);
    uint32_t community[240];
    weir_leiden_result result = find(p, NULL, 0, community);
    cr_assert(eq(u32, result.communities, 12));
    for (uint32_t i = 0; i < g.nodes; i++) {
      cr_assert(eq(u32, community[i], i / 20));
    }
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(leiden, is_as_good_on_facebook_as_igraphs_multilevel, .timeout = 60) {
  algo_graph g;
  if (!algo_graph_facebook(&g)) {
    return;
  }
  weir_projection *p = algo_graph_project(&g);
  uint32_t *community = calloc(g.nodes, sizeof *community);
  igraph_t other;
  igraph_vector_int_t membership;
  igraph_vector_t levels;
  igraph_graph_make(&g, &other, NULL);
  igraph_vector_int_init(&membership, 0);
  igraph_vector_init(&levels, 0);
  igraph_community_multilevel(&other, NULL, 1, &membership, NULL, &levels);
  for (uint64_t seed = 0; seed < 3; seed++) {
    weir_leiden_options options = WEIR_LEIDEN_OPTIONS_INIT;
    options.seed = seed;
    weir_leiden_result result = find(p, &options, 0, community);
    check_communities(&g, community, result.communities);
    cr_assert(ge(dbl, result.modularity, 0.834));
    cr_assert(ge(dbl, result.modularity, igraph_vector_max(&levels) - 0.001));
  }
  igraph_vector_destroy(&levels);
  igraph_vector_int_destroy(&membership);
  igraph_destroy(&other);
  free(community);
  weir_projection_close(p);
  algo_graph_free(&g);
}

/* ---- Seeds, threads, cancel, mistakes ------------------------------------------------------------------ */

Test(leiden, comes_from_the_seed_whatever_the_threads, .timeout = 60) {
  enum { MANY = 3000 };
  static const unsigned threads[] = {1, 2, 3, 8};
  weir_test_rng rng = {weir_test_seed()};
  algo_graph g = algo_graph_empty(MANY, 0, 1);
  for (int i = 0; i < 4 * MANY; i++) {
    algo_graph_add(&g, (uint32_t)weir_test_below(&rng, MANY), (uint32_t)weir_test_below(&rng, MANY),
                   0.1 * (double)weir_test_below(&rng, 50));
  }
  weir_projection *p = algo_graph_project(&g);
  weir_leiden_options options = WEIR_LEIDEN_OPTIONS_INIT;
  weir_leiden_result result[2];
  uint32_t community[2][MANY];
  options.iterations = 2;
  for (int i = 0; i < 4; i++) {
    result[i > 0] = find(p, &options, threads[i], community[i > 0]);
    cr_assert(i == 0 || memcmp(community[0], community[1], sizeof community[0]) == 0, "%u threads",
              threads[i]);
    cr_assert(i == 0 || result[0].modularity == result[1].modularity, "%u threads", threads[i]);
  }
  options.seed = 1;
  (void)find(p, &options, 1, community[1]);
  cr_assert(memcmp(community[0], community[1], sizeof community[0]) != 0);
  weir_projection_close(p);
  algo_graph_free(&g);
}

static int stop(const weir_progress *progress, void *data) {
  unsigned *left = data;
  return --*left == 0 || progress->done > progress->total;
}

Test(leiden, ends_when_asked_to, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  algo_graph g = make_planted(&rng, 50, 1);
  weir_projection *p = algo_graph_project(&g);
  uint32_t community[1000];
  for (unsigned at = 1; at <= 2; at++) { /* at the beginning; while it runs, or at the end */
    unsigned left = at;
    weir_run run = {sizeof run, 2, stop, &left};
    cr_assert(eq(int, weir_leiden(p, NULL, &run, community, NULL, &err), WEIR_CANCELED));
  }
  weir_projection_close(p);
  algo_graph_free(&g);
}

static int refuses(const weir_projection *p, double resolution, double randomness, unsigned iterations) {
  weir_leiden_options options = {sizeof options, resolution, randomness, iterations, 0};
  uint32_t community[3];
  return weir_leiden(p, &options, NULL, community, NULL, &err) == WEIR_INVALID;
}

Test(leiden, tells_what_is_wrong, .timeout = 60) {
  algo_graph g = algo_graph_empty(3, 0, 1);
  uint32_t community[3] = {5, 5, 5};
  double out = 5;
  algo_graph_add(&g, 0, 1, 0); /* as if it were not there */
  weir_projection *p = algo_graph_project(&g);
  cr_assert(eq(u32, find(p, NULL, 0, community).communities, 3));
  cr_assert(eq(u32, community[1], 1));
  cr_assert(eq(dbl, modularity_of(p, community, 1), 0));
  cr_assert(refuses(p, 0, 0.01, 10));
  cr_assert(refuses(p, NAN, 0.01, 10));
  cr_assert(refuses(p, 1, 0, 10));
  cr_assert(refuses(p, 1, INFINITY, 10));
  cr_assert(refuses(p, 1, 0.01, 0));
  cr_assert(eq(int, weir_leiden(NULL, NULL, NULL, community, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_leiden(p, NULL, NULL, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_modularity(p, NULL, 1, NULL, &out, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_modularity(p, community, -1, NULL, &out, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_modularity(p, community, 1, NULL, NULL, &err), WEIR_INVALID));
  weir_projection_close(p);
  for (int i = 0; i < 2; i++) {
    g.weight[0] = i ? 1e-310 : 1.7e308; /* twice of it is infinite; 1 divided by it is */
    p = algo_graph_project(&g);
    cr_assert(refuses(p, 1, 0.01, 10));
    cr_assert(eq(int, weir_modularity(p, community, 1, NULL, &out, &err), i ? WEIR_OK : WEIR_INVALID));
    weir_projection_close(p);
  }
  algo_graph_add(&g, 1, 2, -1);
  p = algo_graph_project(&g);
  cr_assert(refuses(p, 1, 0.01, 10));
  cr_assert(eq(int, weir_modularity(p, community, 1, NULL, &out, &err), WEIR_INVALID));
  weir_projection_close(p);
  algo_graph_free(&g);
}
