/* Questions about single nodes again and again: how many are within some steps, and paths. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "distance_model.h"
#include "igraph_graphs.h"

static weir_error err;
static const weir_direction directions[] = {WEIR_OUT, WEIR_IN, WEIR_BOTH};

enum { DEPTH = 6, ROOM = 64 };

static weir_explorer *explorer_of(const weir_projection *p) {
  weir_explorer *x = NULL;
  cr_assert(eq(int, weir_explorer_open(&x, p, &err), WEIR_OK), "%s", err.message);
  return x;
}

static void check_within(weir_explorer *x, const uint32_t *depth, uint32_t nodes, uint32_t node,
                         weir_direction direction) {
  uint64_t found[DEPTH + 1], expected[DEPTH + 1] = {0};
  for (uint32_t i = 0; i < nodes; i++) {
    if (depth[i] <= DEPTH) {
      expected[depth[i]]++;
    }
  }
  cr_assert(eq(int, weir_explorer_within(x, node, DEPTH, direction, found, &err), WEIR_OK));
  for (int d = 0; d <= DEPTH; d++) {
    cr_assert(eq(u64, found[d], expected[d]), "at distance %d from %u", d, node);
  }
}

/* Each step is one; as many as the least; and another explorer finds the same. */
static void check_path(weir_explorer *x, weir_explorer *fresh, const steps *s, const uint32_t *depth,
                       uint32_t from, uint32_t to, weir_direction direction) {
  uint32_t path[ROOM], again[ROOM];
  size_t count = 0, count_again = 0, expected = depth[to] == WEIR_UNREACHED ? 0 : depth[to] + 1;
  cr_assert(eq(int, weir_explorer_path(x, from, to, direction, path, ROOM, &count, &err), WEIR_OK));
  cr_assert(eq(sz, count, expected), "from %u to %u", from, to);
  for (size_t i = 0; i + 1 < count; i++) {
    cr_assert(steps_have(s, path[i], path[i + 1]), "no step from %u to %u", path[i], path[i + 1]);
  }
  cr_assert(count == 0 || (path[0] == from && path[count - 1] == to));
  cr_assert(
      eq(int, weir_explorer_path(fresh, from, to, direction, again, ROOM, &count_again, &err), WEIR_OK));
  cr_assert(count_again == count && memcmp(path, again, count * sizeof *path) == 0, "another path");
}

Test(explorer, counts_and_finds_paths_as_a_plain_model, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 100; round++) {
    algo_graph g = algo_graph_random(&rng, 40);
    weir_projection *p = algo_graph_project(&g);
    weir_explorer *x = explorer_of(p);
    uint32_t depth[41];
    for (int question = 0; question < 12 && g.nodes > 0; question++) {
      uint32_t from = (uint32_t)weir_test_below(&rng, g.nodes);
      weir_direction direction = directions[question % 3];
      weir_explorer *fresh = explorer_of(p);
      steps s = steps_of(&g, direction);
      model_depths(&s, g.nodes, from, depth);
      check_within(x, depth, g.nodes, from, direction);
      for (int i = 0; i < 5; i++) {
        check_path(x, fresh, &s, depth, from, (uint32_t)weir_test_below(&rng, g.nodes), direction);
      }
      check_path(x, fresh, &s, depth, from, from, direction);
      steps_free(&s);
      weir_explorer_close(fresh);
    }
    weir_explorer_close(x);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

static void compare_with_igraph(const algo_graph *g, weir_test_rng *rng) {
  static const igraph_neimode_t modes[] = {IGRAPH_OUT, IGRAPH_IN, IGRAPH_ALL};
  weir_projection *p = algo_graph_project(g);
  weir_explorer *x = explorer_of(p);
  igraph_t graph;
  igraph_vector_int_t sizes, path;
  igraph_graph_make(g, &graph, NULL);
  igraph_vector_int_init(&sizes, 0);
  igraph_vector_int_init(&path, 0);
  for (int i = 0; i < 30; i++) {
    uint32_t from = (uint32_t)weir_test_below(rng, g->nodes), to = (uint32_t)weir_test_below(rng, g->nodes);
    uint64_t out[4];
    size_t count = 0;
    igraph_neighborhood_size(&graph, &sizes, igraph_vss_1((igraph_integer_t)from), 3, modes[i % 3], 0);
    cr_assert(eq(int, weir_explorer_within(x, from, 3, directions[i % 3], out, &err), WEIR_OK));
    cr_assert(eq(u64, out[0] + out[1] + out[2] + out[3], (uint64_t)VECTOR(sizes)[0]), "around %u", from);
    cr_assert(eq(int, weir_explorer_path(x, from, to, directions[i % 3], NULL, 0, &count, &err), WEIR_OK));
    if (count > 0) { /* igraph warns of a node that cannot be reached */
      igraph_get_shortest_path(&graph, &path, NULL, (igraph_integer_t)from, (igraph_integer_t)to,
                               modes[i % 3]);
      cr_assert(eq(sz, count, (size_t)igraph_vector_int_size(&path)), "from %u to %u", from, to);
    }
  }
  igraph_vector_int_destroy(&path);
  igraph_vector_int_destroy(&sizes);
  igraph_destroy(&graph);
  weir_explorer_close(x);
  weir_projection_close(p);
}

Test(explorer, counts_and_finds_paths_as_igraph_does, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 10; round++) {
    algo_graph g = algo_graph_random(&rng, 3000);
    if (g.nodes > 0) {
      compare_with_igraph(&g, &rng);
    }
    algo_graph_free(&g);
  }
  algo_graph g;
  if (algo_graph_facebook(&g)) {
    compare_with_igraph(&g, &rng);
    algo_graph_free(&g);
  }
}

Test(explorer, goes_to_the_end_of_a_long_path, .timeout = 60) {
  enum { NODES = 100000 };
  algo_graph g = path_graph(NODES, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  weir_explorer *x = explorer_of(p);
  uint32_t *path = malloc(NODES * sizeof *path);
  uint64_t *out = malloc((NODES + 10) * sizeof *out);
  size_t count = 0;
  cr_assert(eq(int, weir_explorer_path(x, 0, NODES - 1, WEIR_OUT, path, NODES, &count, &err), WEIR_OK));
  cr_assert(eq(sz, count, NODES));
  cr_assert(eq(int, weir_explorer_within(x, 0, NODES + 9, WEIR_OUT, out, &err), WEIR_OK));
  for (uint32_t i = 0; i < NODES; i++) {
    cr_assert(path[i] == i && out[i] == 1, "node %u", i);
  }
  cr_assert(out[NODES] == 0 && out[NODES + 9] == 0);
  cr_assert(eq(int, weir_explorer_path(x, NODES - 1, 0, WEIR_OUT, path, NODES, &count, &err), WEIR_OK));
  cr_assert(eq(sz, count, 0));
  free(out);
  free(path);
  weir_explorer_close(x);
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(explorer, leaves_the_array_alone_if_the_path_is_longer, .timeout = 60) {
  algo_graph g = path_graph(4, 1, 0);
  weir_projection *p = algo_graph_project(&g);
  weir_explorer *x = explorer_of(p);
  uint32_t path[4] = {9, 9, 9, 9};
  size_t count = 0;
  cr_assert(eq(int, weir_explorer_path(x, 3, 0, WEIR_OUT, path, 3, &count, &err), WEIR_OK));
  cr_assert(count == 4 && path[0] == 9 && path[2] == 9);
  cr_assert(eq(int, weir_explorer_path(x, 2, 2, WEIR_OUT, NULL, 0, &count, &err), WEIR_OK));
  cr_assert(eq(sz, count, 1));
  cr_assert(eq(int, weir_explorer_path(x, 3, 0, WEIR_OUT, path, 4, &count, &err), WEIR_OK));
  cr_assert(path[0] == 3 && path[1] == 2 && path[2] == 1 && path[3] == 0);
  weir_explorer_close(x);
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(explorer, refuses_bad_arguments, .timeout = 60) {
  algo_graph g = path_graph(3, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  weir_explorer *x = explorer_of(p), *none = NULL;
  uint64_t out[2];
  uint32_t path[3];
  size_t count = 0;
  cr_assert(eq(int, weir_explorer_open(NULL, p, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_open(&none, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_within(NULL, 0, 1, WEIR_OUT, out, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_within(x, 3, 1, WEIR_OUT, out, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_within(x, 0, 1, (weir_direction)7, out, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_within(x, 0, 1, WEIR_OUT, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_path(NULL, 0, 1, WEIR_OUT, path, 3, &count, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_path(x, 3, 1, WEIR_OUT, path, 3, &count, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_path(x, 0, 3, WEIR_OUT, path, 3, &count, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_path(x, 0, 1, (weir_direction)7, path, 3, &count, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_path(x, 0, 1, WEIR_OUT, NULL, 3, &count, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_explorer_path(x, 0, 1, WEIR_OUT, path, 3, NULL, &err), WEIR_INVALID));
  weir_explorer_close(NULL);
  weir_explorer_close(x);
  weir_projection_close(p);
  algo_graph_free(&g);
}
