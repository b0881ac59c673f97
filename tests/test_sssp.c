/* Shortest paths from one node: distances and parents, against a plain model and igraph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "distance_model.h"
#include "igraph_graphs.h"

static weir_error err;
static const weir_direction directions[] = {WEIR_OUT, WEIR_IN, WEIR_BOTH};

/* Kinds of weights. */
enum { WHOLE, MANY_ZEROS, REAL, ALL_SCALES, ABSORBED, OVERFLOWING, KINDS };

static double random_weight(weir_test_rng *rng, int kind) {
  double unit = (double)weir_test_below(rng, 1000000) / 1e6;
  switch (kind) {
  case MANY_ZEROS:
    return weir_test_below(rng, 2) ? 0 : (double)weir_test_below(rng, 3);
  case REAL:
    return unit * 100;
  case ALL_SCALES:
    return unit * pow(10, (double)weir_test_below(rng, 600) - 300);
  case ABSORBED:
    return weir_test_below(rng, 3) ? 1e-17 * unit : 1;
  case OVERFLOWING:
    return weir_test_below(rng, 3) ? 1e308 : 0;
  default:
    return (double)(1 + weir_test_below(rng, 10));
  }
}

static void set_weights(weir_test_rng *rng, algo_graph *g, int kind) {
  for (uint64_t i = 0; i < g->count; i++) {
    g->weight[i] = random_weight(rng, kind);
  }
}

/* Parents by their definition: ranks[i] is 1 for the source and nodes with a tight step from a nearer one,
 * and grows along tight steps between nodes that are as far away. */
static void model_parents(const steps *s, uint32_t nodes, uint32_t source, const double *distance,
                          uint32_t *parent) {
  uint32_t *rank = calloc(nodes, sizeof *rank);
  memset(parent, 0xff, nodes * sizeof *parent);
  for (uint32_t level = 1; level <= nodes + 1; level++) {
    for (uint64_t i = 0; i < s->count; i++) {
      const step *e = &s->list[i];
      int tight = isfinite(distance[e->to]) && distance[e->from] + e->weight == distance[e->to];
      int nearer = distance[e->from] < distance[e->to];
      if (tight && e->to != source && (rank[e->to] == 0 || rank[e->to] == level) &&
          (level == 1 ? nearer : rank[e->from] == level - 1 && nearer == 0)) {
        rank[e->to] = level;
        parent[e->to] = e->from < parent[e->to] ? e->from : parent[e->to];
      }
    }
    rank[source] = 1;
  }
  free(rank);
}

static void check_all_directions(const algo_graph *g, uint32_t source, int kind) {
  weir_projection *p = algo_graph_project(g);
  double *distance = malloc(2 * (size_t)g->nodes * sizeof *distance), *expected = distance + g->nodes;
  uint32_t *parent = malloc(2 * (size_t)g->nodes * sizeof *parent), *before = parent + g->nodes;
  for (int d = 0; d < 3; d++) {
    steps s = steps_of(g, directions[d]);
    model_distances(&s, g->nodes, source, expected);
    model_parents(&s, g->nodes, source, expected, before);
    cr_assert(eq(int, weir_sssp(p, source, directions[d], NULL, distance, parent, &err), WEIR_OK));
    for (uint32_t i = 0; i < g->nodes; i++) {
      cr_assert(distance[i] == expected[i], "kind %d: node %u from %u: %g, not %g", kind, i, source,
                distance[i], expected[i]);
      cr_assert(eq(u32, parent[i], before[i]), "kind %d: parent of %u from %u", kind, i, source);
      uint32_t hops = 0, at = i;
      while (parent[at] != WEIR_NO_NODE && hops++ < g->nodes) {
        at = parent[at];
      }
      cr_assert(at == (isinf(distance[i]) ? i : source), "kind %d: parents of %u lead to %u", kind, i, at);
    }
    steps_free(&s);
  }
  free(distance);
  free(parent);
  weir_projection_close(p);
}

Test(sssp, finds_least_sums_and_parents_with_weights_of_all_kinds, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 240; round++) {
    algo_graph g = algo_graph_random(&rng, 40);
    set_weights(&rng, &g, round % KINDS);
    if (g.nodes > 0) {
      check_all_directions(&g, (uint32_t)weir_test_below(&rng, g.nodes), round % KINDS);
    }
    algo_graph_free(&g);
  }
}

static void compare_with_igraph(const algo_graph *g, uint32_t source) {
  static const igraph_neimode_t modes[] = {IGRAPH_OUT, IGRAPH_IN, IGRAPH_ALL};
  weir_projection *p = algo_graph_project(g);
  double *distance = malloc((size_t)g->nodes * sizeof *distance);
  igraph_t graph;
  igraph_vector_t weights;
  igraph_matrix_t theirs;
  igraph_graph_make(g, &graph, &weights);
  igraph_matrix_init(&theirs, 0, 0);
  for (int d = 0; d < 3; d++) {
    igraph_distances_dijkstra(&graph, &theirs, igraph_vss_1((igraph_integer_t)source), igraph_vss_all(),
                              &weights, modes[d]);
    cr_assert(eq(int, weir_sssp(p, source, directions[d], NULL, distance, NULL, &err), WEIR_OK));
    for (uint32_t i = 0; i < g->nodes; i++) {
      cr_assert(distance[i] == MATRIX(theirs, 0, (igraph_integer_t)i), "node %u: %g, not %g", i, distance[i],
                MATRIX(theirs, 0, (igraph_integer_t)i));
    }
  }
  igraph_matrix_destroy(&theirs);
  igraph_vector_destroy(&weights);
  igraph_destroy(&graph);
  free(distance);
  weir_projection_close(p);
}

Test(sssp, finds_what_igraph_does, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 20; round++) {
    algo_graph g = algo_graph_random_of(&rng, 3000, round % 2, round % 3 != 0);
    if (g.nodes > 0) {
      compare_with_igraph(&g, (uint32_t)weir_test_below(&rng, g.nodes));
    }
    algo_graph_free(&g);
  }
  algo_graph g;
  if (algo_graph_facebook(&g)) {
    g.weighted = 1;
    set_weights(&rng, &g, WHOLE);
    compare_with_igraph(&g, 107);
    algo_graph_free(&g);
  }
}

/* Distances, and after them parents. */
static int search(const weir_projection *p, const weir_run *run, void *out, weir_error *e) {
  uint32_t nodes = weir_projection_nodes(p);
  double *distance = out;
  uint32_t *parent = (uint32_t *)(distance + nodes);
  return weir_sssp(p, 0, WEIR_OUT, run, distance, parent, e);
}

Test(sssp, is_the_same_for_any_number_of_threads, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int kind = 0; kind < KINDS; kind++) {
    algo_graph g = algo_graph_empty(20000, kind % 2, 1);
    for (int i = 0; i < 60000; i++) {
      algo_graph_add(&g, (uint32_t)weir_test_below(&rng, g.nodes), (uint32_t)weir_test_below(&rng, g.nodes),
                     1);
    }
    set_weights(&rng, &g, kind);
    weir_projection *p = algo_graph_project(&g);
    size_t size = (size_t)g.nodes * (sizeof(double) + sizeof(uint32_t));
    double *out = malloc(size);
    check_threads(p, search, out, size);
    free(out);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(sssp, goes_to_the_end_of_a_long_path_and_is_canceled_on_the_way, .timeout = 60) {
  for (int weighted = 0; weighted < 2; weighted++) {
    algo_graph g = path_graph(100000, 0, weighted);
    weir_projection *p = algo_graph_project(&g);
    double *out = malloc((size_t)g.nodes * (sizeof(double) + sizeof(uint32_t)));
    cr_assert(eq(int, search(p, NULL, out, &err), WEIR_OK));
    for (uint32_t i = 0; i < g.nodes; i++) {
      cr_assert(out[i] == (weighted ? 2.0 : 1.0) * i, "node %u", i);
    }
    check_cancel(p, search, out);
    free(out);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(sssp, leads_out_of_a_long_cycle_of_zeros, .timeout = 60) {
  enum { NODES = 100000 };
  algo_graph g = path_graph(NODES, 0, 1);
  for (uint32_t i = 0; i < NODES; i++) {
    g.weight[i < NODES - 1 ? i : 0] = 0;
  }
  algo_graph_add(&g, NODES - 1, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  double *distance = malloc(NODES * sizeof *distance);
  uint32_t *parent = malloc(NODES * sizeof *parent);
  cr_assert(eq(int, weir_sssp(p, 500, WEIR_OUT, NULL, distance, parent, &err), WEIR_OK));
  for (uint32_t i = 0; i < NODES; i++) {
    uint32_t expected = i == 500 ? WEIR_NO_NODE : (i + NODES - 1) % NODES;
    cr_assert(distance[i] == 0 && parent[i] == expected, "node %u", i);
  }
  free(distance);
  free(parent);
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(sssp, refuses_bad_arguments, .timeout = 60) {
  algo_graph g = path_graph(3, 0, 1);
  weir_projection *p = algo_graph_project(&g);
  double distance[3];
  cr_assert(eq(int, weir_sssp(NULL, 0, WEIR_OUT, NULL, distance, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_sssp(p, 3, WEIR_OUT, NULL, distance, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_sssp(p, 0, (weir_direction)7, NULL, distance, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_sssp(p, 0, WEIR_OUT, NULL, NULL, NULL, &err), WEIR_INVALID));
  weir_projection_close(p);
  g.weight[1] = -0.5;
  p = algo_graph_project(&g);
  cr_assert(eq(int, weir_sssp(p, 0, WEIR_OUT, NULL, distance, NULL, &err), WEIR_INVALID));
  cr_assert(strstr(err.message, "-0.5") != NULL, "%s", err.message);
  weir_projection_close(p);
  algo_graph_free(&g);
}
