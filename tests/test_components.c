/* Weakly and strongly connected components, against a plain model and igraph. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "distance_model.h"
#include "igraph_graphs.h"

static weir_error err;

/* The component of a node is the least one that it reaches and that reaches it. */
static uint32_t model_component(const steps *ahead, const steps *back, uint32_t nodes, uint32_t node) {
  uint32_t to[64], from[64];
  model_depths(ahead, nodes, node, to);
  model_depths(back, nodes, node, from);
  uint32_t least = 0;
  while (to[least] == WEIR_UNREACHED || from[least] == WEIR_UNREACHED) {
    least++;
  }
  return least;
}

static void check_model(const algo_graph *g, const weir_projection *p, int strong) {
  steps ahead = steps_of(g, strong ? WEIR_OUT : WEIR_BOTH), back = steps_of(g, strong ? WEIR_IN : WEIR_BOTH);
  uint32_t component[64], count = 0, roots = 0;
  cr_assert(eq(int, (strong ? weir_scc : weir_wcc)(p, NULL, component, &count, &err), WEIR_OK));
  for (uint32_t i = 0; i < g->nodes; i++) {
    cr_assert(eq(u32, component[i], model_component(&ahead, &back, g->nodes, i)), "node %u, strong: %d", i,
              strong);
    roots += component[i] == i;
  }
  cr_assert(eq(u32, count, roots));
  steps_free(&ahead);
  steps_free(&back);
}

Test(components, are_named_by_their_least_node, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 200; round++) {
    algo_graph g = algo_graph_random(&rng, 40);
    if (round % 2) {
      g.count = g.count / 4; /* many small components */
    }
    weir_projection *p = algo_graph_project(&g);
    check_model(&g, p, 0);
    check_model(&g, p, 1);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

static void compare_with_igraph(const algo_graph *g, int strong) {
  weir_projection *p = algo_graph_project(g);
  uint32_t *component = malloc(((size_t)g->nodes + 1) * sizeof *component), count = 0;
  uint32_t *least = malloc(((size_t)g->nodes + 1) * sizeof *least);
  igraph_t graph;
  igraph_vector_int_t theirs;
  igraph_integer_t their_count = 0;
  igraph_graph_make(g, &graph, NULL);
  igraph_vector_int_init(&theirs, 0);
  igraph_connected_components(&graph, &theirs, NULL, &their_count, strong ? IGRAPH_STRONG : IGRAPH_WEAK);
  cr_assert(eq(int, (strong ? weir_scc : weir_wcc)(p, NULL, component, &count, &err), WEIR_OK));
  cr_assert(eq(i64, count, their_count));
  memset(least, 0xff, (size_t)g->nodes * sizeof *least);
  for (uint32_t i = 0; i < g->nodes; i++) {
    uint32_t *first = &least[VECTOR(theirs)[i]];
    *first = *first == UINT32_MAX ? i : *first;
    cr_assert(eq(u32, component[i], *first), "node %u, strong: %d", i, strong);
  }
  igraph_vector_int_destroy(&theirs);
  igraph_destroy(&graph);
  free(least);
  free(component);
  weir_projection_close(p);
}

Test(components, are_those_that_igraph_finds, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 20; round++) {
    algo_graph g = algo_graph_random(&rng, 3000);
    g.count = round % 2 ? g.count / 3 : g.count;
    if (g.nodes > 0) {
      compare_with_igraph(&g, 0);
      compare_with_igraph(&g, 1);
    }
    algo_graph_free(&g);
  }
  algo_graph g;
  if (algo_graph_facebook(&g)) {
    compare_with_igraph(&g, 0);
    compare_with_igraph(&g, 1);
    g.undirected = 0; /* the file has the lesser node of an edge first: no cycle at all */
    compare_with_igraph(&g, 1);
    algo_graph_free(&g);
  }
}

static int weak(const weir_projection *p, const weir_run *run, void *out, weir_error *e) {
  return weir_wcc(p, run, out, NULL, e);
}

static int strong(const weir_projection *p, const weir_run *run, void *out, weir_error *e) {
  return weir_scc(p, run, out, NULL, e);
}

Test(components, are_the_same_for_any_number_of_threads, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 4; round++) {
    algo_graph g = algo_graph_empty(30000, round % 2, 0);
    for (int i = 0; i < 10000 * (round + 1); i++) {
      algo_graph_add(&g, (uint32_t)weir_test_below(&rng, g.nodes), (uint32_t)weir_test_below(&rng, g.nodes),
                     1);
    }
    weir_projection *p = algo_graph_project(&g);
    uint32_t *out = malloc(g.nodes * sizeof *out);
    check_threads(p, weak, out, g.nodes * sizeof *out);
    check_threads(p, strong, out, g.nodes * sizeof *out);
    free(out);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

/* A path, and the edge that makes it a cycle or not. */
static void check_long(int cycle) {
  enum { NODES = 100000 };
  algo_graph g = path_graph(NODES, 0, 0);
  if (cycle) {
    algo_graph_add(&g, NODES - 1, 0, 1);
  }
  weir_projection *p = algo_graph_project(&g);
  uint32_t *out = malloc(NODES * sizeof *out), count = 0;
  cr_assert(eq(int, weir_wcc(p, NULL, out, &count, &err), WEIR_OK));
  cr_assert(count == 1 && out[NODES - 1] == 0 && out[NODES / 2] == 0);
  cr_assert(eq(int, weir_scc(p, NULL, out, &count, &err), WEIR_OK));
  cr_assert(eq(u32, count, cycle ? 1 : NODES));
  for (uint32_t i = 0; i < NODES; i++) {
    cr_assert(out[i] == (cycle ? 0 : i), "node %u", i);
  }
  check_cancel(p, weak, out);
  check_cancel(p, strong, out);
  free(out);
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(components, of_a_long_path_and_a_long_cycle_and_canceled_on_the_way, .timeout = 60) {
  check_long(0);
  check_long(1);
}

Test(components, refuse_bad_arguments, .timeout = 60) {
  algo_graph g = algo_graph_empty(0, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  weir_run run = WEIR_RUN_INIT;
  uint32_t component = 0, count = 7;
  run.threads = WEIR_THREADS_MAX + 1;
  cr_assert(eq(int, weir_wcc(NULL, NULL, &component, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_wcc(p, NULL, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_wcc(p, &run, &component, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_scc(NULL, NULL, &component, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_scc(p, NULL, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_scc(p, &run, &component, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_wcc(p, NULL, &component, &count, &err), WEIR_OK));
  cr_assert(eq(u32, count, 0));
  count = 7;
  cr_assert(eq(int, weir_scc(p, NULL, &component, &count, &err), WEIR_OK));
  cr_assert(eq(u32, count, 0));
  weir_projection_close(p);
  algo_graph_free(&g);
}
