/* Breadth-first search: depths and parents, against a plain model and igraph. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "distance_model.h"
#include "igraph_graphs.h"

static weir_error err;
static const weir_direction directions[] = {WEIR_OUT, WEIR_IN, WEIR_BOTH};

/* The least node one step before, of all that are one level nearer. */
static uint32_t model_parent(const steps *s, const uint32_t *depth, uint32_t node) {
  uint32_t parent = WEIR_NO_NODE;
  for (uint64_t i = 0; i < s->count && depth[node] != WEIR_UNREACHED; i++) {
    const step *e = &s->list[i];
    if (e->to == node && depth[e->from] != WEIR_UNREACHED && depth[e->from] + 1 == depth[node] &&
        e->from < parent) {
      parent = e->from;
    }
  }
  return parent;
}

static void check_all_directions(const algo_graph *g, const weir_projection *p, uint32_t source) {
  uint32_t *depth = malloc(3 * (size_t)g->nodes * sizeof *depth), *parent = depth + g->nodes,
           *expected = parent + g->nodes;
  for (int d = 0; d < 3; d++) {
    steps s = steps_of(g, directions[d]);
    model_depths(&s, g->nodes, source, expected);
    cr_assert(eq(int, weir_bfs(p, source, directions[d], NULL, depth, parent, &err), WEIR_OK));
    for (uint32_t i = 0; i < g->nodes; i++) {
      cr_assert(eq(u32, depth[i], expected[i]), "node %u from %u", i, source);
      cr_assert(eq(u32, parent[i], model_parent(&s, depth, i)), "parent of %u from %u", i, source);
    }
    steps_free(&s);
  }
  free(depth);
}

Test(bfs, finds_depths_and_least_parents, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 150; round++) {
    algo_graph g = algo_graph_random(&rng, 40);
    weir_projection *p = algo_graph_project(&g);
    if (g.nodes > 0) {
      check_all_directions(&g, p, (uint32_t)weir_test_below(&rng, g.nodes));
    }
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

static void compare_with_igraph(const algo_graph *g, uint32_t source) {
  static const igraph_neimode_t modes[] = {IGRAPH_OUT, IGRAPH_IN, IGRAPH_ALL};
  weir_projection *p = algo_graph_project(g);
  uint32_t *depth = malloc((size_t)g->nodes * sizeof *depth);
  igraph_t graph;
  igraph_matrix_t distances;
  igraph_graph_make(g, &graph, NULL);
  igraph_matrix_init(&distances, 0, 0);
  for (int d = 0; d < 3; d++) {
    igraph_distances(&graph, &distances, igraph_vss_1((igraph_integer_t)source), igraph_vss_all(), modes[d]);
    cr_assert(eq(int, weir_bfs(p, source, directions[d], NULL, depth, NULL, &err), WEIR_OK));
    for (uint32_t i = 0; i < g->nodes; i++) {
      igraph_real_t theirs = MATRIX(distances, 0, (igraph_integer_t)i);
      igraph_real_t ours = depth[i] == WEIR_UNREACHED ? IGRAPH_INFINITY : depth[i];
      cr_assert(ours == theirs, "node %u: %g, not %g", i, ours, theirs);
    }
  }
  igraph_matrix_destroy(&distances);
  igraph_destroy(&graph);
  free(depth);
  weir_projection_close(p);
}

Test(bfs, finds_what_igraph_does, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 20; round++) {
    algo_graph g = algo_graph_random(&rng, 3000);
    if (g.nodes > 0) {
      compare_with_igraph(&g, (uint32_t)weir_test_below(&rng, g.nodes));
    }
    algo_graph_free(&g);
  }
  algo_graph g;
  if (algo_graph_facebook(&g)) {
    compare_with_igraph(&g, 0);
    compare_with_igraph(&g, 4038);
    algo_graph_free(&g);
  }
}

static int search(const weir_projection *p, const weir_run *run, void *out, weir_error *e) {
  uint32_t *depth = out;
  return weir_bfs(p, 0, WEIR_OUT, run, depth, depth + weir_projection_nodes(p), e);
}

Test(bfs, is_the_same_for_any_number_of_threads, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 4; round++) {
    algo_graph g = algo_graph_empty(20000, round % 2, 0);
    for (int i = 0; i < 80000; i++) {
      algo_graph_add(&g, (uint32_t)weir_test_below(&rng, g.nodes), (uint32_t)weir_test_below(&rng, g.nodes),
                     1);
    }
    weir_projection *p = algo_graph_project(&g);
    uint32_t *out = malloc(2 * (size_t)g.nodes * sizeof *out);
    check_threads(p, search, out, 2 * (size_t)g.nodes * sizeof *out);
    free(out);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(bfs, goes_to_the_end_of_a_long_path_and_is_canceled_on_the_way, .timeout = 60) {
  algo_graph g = path_graph(100000, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  uint32_t *out = malloc(2 * (size_t)g.nodes * sizeof *out);
  cr_assert(eq(int, search(p, NULL, out, &err), WEIR_OK));
  for (uint32_t i = 0; i < g.nodes; i++) {
    cr_assert(out[i] == i && out[g.nodes + i] == (i > 0 ? i - 1 : WEIR_NO_NODE), "node %u", i);
  }
  check_cancel(p, search, out);
  free(out);
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(bfs, refuses_bad_arguments, .timeout = 60) {
  algo_graph g = path_graph(3, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  uint32_t depth[3];
  weir_run run = WEIR_RUN_INIT;
  run.threads = WEIR_THREADS_MAX + 1;
  cr_assert(eq(int, weir_bfs(NULL, 0, WEIR_OUT, NULL, depth, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_bfs(p, 3, WEIR_OUT, NULL, depth, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_bfs(p, 0, (weir_direction)7, NULL, depth, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_bfs(p, 0, WEIR_OUT, NULL, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_bfs(p, 0, WEIR_OUT, &run, depth, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_bfs(p, 1, (weir_direction)0, NULL, depth, NULL, &err), WEIR_OK));
  cr_assert(depth[0] == WEIR_UNREACHED && depth[1] == 0 && depth[2] == 1);
  weir_projection_close(p);
  algo_graph_free(&g);
}
