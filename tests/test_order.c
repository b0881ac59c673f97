/* Topological order and cycles: against the definition, and against igraph. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "igraph_graphs.h"

static weir_error err;

/* What the function gave; the arrays are its own. */
struct order {
  uint32_t count;
  int cyclic;
  uint32_t *nodes, *level;
};

static struct order order_of(const weir_projection *p, int with_level) {
  struct order o = {.count = 0};
  size_t room = (size_t)weir_projection_nodes(p) + 1;
  o.nodes = calloc(room, sizeof *o.nodes);
  o.level = with_level ? calloc(room, sizeof *o.level) : NULL;
  cr_assert(eq(int, weir_topological_order(p, NULL, o.nodes, &o.count, &o.cyclic, o.level, &err), WEIR_OK));
  return o;
}

static void free_order(struct order *o) {
  free(o->nodes);
  free(o->level);
}

static int has_edge(const weir_projection *p, uint32_t from, uint32_t to) {
  weir_adjacent row = weir_projection_adjacent(p, from, WEIR_OUT);
  for (size_t i = 0; i < row.count; i++) {
    if (row.nodes[i] == to) {
      return 1;
    }
  }
  return 0;
}

static void check_cycle(const weir_projection *p, const struct order *o) {
  cr_assert(gt(u32, o->count, 0));
  for (uint32_t i = 0; i < o->count; i++) {
    uint32_t next = o->nodes[(i + 1) % o->count];
    cr_assert(has_edge(p, o->nodes[i], next), "an edge from %u to %u", o->nodes[i], next);
    cr_assert(i == 0 || o->nodes[i] > o->nodes[0], "it begins with the least, and has it once");
    for (uint32_t k = 0; k < i; k++) {
      cr_assert(ne(u32, o->nodes[k], o->nodes[i]));
    }
  }
}

/* The level of each node is one more than the greatest of those before it, and the order is by that. */
static void check_levels(const weir_projection *p, const struct order *o) {
  uint32_t nodes = weir_projection_nodes(p);
  cr_assert(eq(u32, o->count, nodes));
  for (uint32_t i = 0; i < nodes; i++) {
    uint32_t node = o->nodes[i], level = 0;
    weir_adjacent row = weir_projection_adjacent(p, node, WEIR_IN);
    for (size_t k = 0; k < row.count; k++) {
      uint32_t before = o->level[row.nodes[k]] + 1;
      level = before > level ? before : level;
    }
    cr_assert(eq(u32, o->level[node], level), "node %u", node);
    if (i > 0) {
      uint32_t last = o->nodes[i - 1];
      cr_assert(o->level[last] < level || (o->level[last] == level && last < node), "place %u", i);
    }
  }
}

/* Half of the graphs get their edges turned to lead from a lesser to a greater node. */
static algo_graph random_graph(weir_test_rng *rng, uint32_t nodes) {
  algo_graph g = algo_graph_random_of(rng, nodes, 0, 0), acyclic = algo_graph_empty(g.nodes, 0, 0);
  if (weir_test_below(rng, 2)) {
    return g;
  }
  for (uint64_t i = 0; i < g.count; i++) {
    uint32_t a = g.src[i] * 7 % g.nodes,
             b = g.dst[i] * 7 % g.nodes; /* the order of numbers is not the only one */
    if (g.src[i] < g.dst[i] && g.nodes % 7) {
      algo_graph_add(&acyclic, a, b, 1);
    }
  }
  algo_graph_free(&g);
  return acyclic;
}

Test(order, has_levels_or_a_cycle_and_igraph_agrees, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  int cyclic = 0, rounds = 300;
  for (int round = 0; round < rounds; round++) {
    algo_graph g = random_graph(&rng, 40);
    weir_projection *p = algo_graph_project(&g);
    struct order o = order_of(p, 1), without = order_of(p, 0);
    igraph_t ig;
    igraph_bool_t dag = 0;
    igraph_graph_make(&g, &ig, NULL);
    igraph_is_dag(&ig, &dag);
    cr_assert(eq(int, o.cyclic, !dag));
    if (o.cyclic) {
      check_cycle(p, &o);
    } else {
      check_levels(p, &o);
    }
    cr_assert(eq(u32, without.count, o.count));
    cr_assert(eq(int, without.cyclic, o.cyclic));
    cr_assert(memcmp(without.nodes, o.nodes, o.count * sizeof *o.nodes) == 0);
    cyclic += o.cyclic;
    igraph_destroy(&ig);
    free_order(&o);
    free_order(&without);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
  cr_assert(cyclic > 0 && cyclic < rounds, "both kinds were tried: %d of %d", cyclic, rounds);
}

Test(order, of_a_long_path_and_a_long_cycle, .timeout = 60) {
  enum { LONG = 100000 };
  algo_graph g = algo_graph_empty(LONG, 0, 0);
  for (uint32_t i = 1; i < LONG; i++) {
    algo_graph_add(&g, i, i - 1, 1);
  }
  weir_projection *p = algo_graph_project(&g);
  struct order o = order_of(p, 1);
  cr_assert(eq(int, o.cyclic, 0));
  for (uint32_t i = 0; i < LONG; i++) {
    cr_assert(o.nodes[i] == LONG - 1 - i && o.level[i] == LONG - 1 - i);
  }
  free_order(&o);
  weir_projection_close(p);
  algo_graph_add(&g, 0, LONG - 1, 1);
  p = algo_graph_project(&g);
  o = order_of(p, 0);
  cr_assert(eq(int, o.cyclic, 1));
  cr_assert(eq(u32, o.count, LONG));
  for (uint32_t i = 0; i < LONG; i++) {
    cr_assert(o.nodes[i] == (LONG - i) % LONG);
  }
  free_order(&o);
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(order, of_a_loop_is_a_cycle_of_one, .timeout = 60) {
  algo_graph g = algo_graph_empty(4, 0, 0);
  algo_graph_add(&g, 0, 1, 1);
  algo_graph_add(&g, 2, 2, 1);
  algo_graph_add(&g, 2, 3, 1);
  weir_projection *p = algo_graph_project(&g);
  struct order o = order_of(p, 1);
  cr_assert(eq(int, o.cyclic, 1));
  cr_assert(eq(u32, o.count, 1));
  cr_assert(eq(u32, o.nodes[0], 2));
  free_order(&o);
  weir_projection_close(p);
  algo_graph_free(&g);
}

static int stop(const weir_progress *progress, void *data) {
  int *calls = data;
  (void)progress;
  return --*calls == 0;
}

Test(order, ends_when_on_progress_says_so, .timeout = 60) {
  algo_graph g = algo_graph_empty(3, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  uint32_t nodes[3], count = 0;
  int cyclic = 0;
  for (int at = 1; at <= 2; at++) {
    int calls = at;
    weir_run run = {sizeof run, 0, stop, &calls};
    cr_assert(eq(int, weir_topological_order(p, &run, nodes, &count, &cyclic, NULL, &err), WEIR_CANCELED));
  }
  weir_projection_close(p);
}

Test(order, refuses_what_makes_no_sense, .timeout = 60) {
  algo_graph directed = algo_graph_empty(1, 0, 0), undirected = algo_graph_empty(1, 1, 0);
  weir_projection *p = algo_graph_project(&directed), *both = algo_graph_project(&undirected);
  weir_run run = WEIR_RUN_INIT;
  uint32_t node = 0, count = 0;
  int cyclic = 0;
  cr_assert(eq(int, weir_topological_order(NULL, NULL, &node, &count, &cyclic, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_topological_order(p, NULL, NULL, &count, &cyclic, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_topological_order(p, NULL, &node, NULL, &cyclic, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_topological_order(p, NULL, &node, &count, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_topological_order(both, NULL, &node, &count, &cyclic, NULL, &err), WEIR_INVALID));
  cr_assert(eq(str, err.message, (char *)"the projection is undirected: an order needs directed edges"));
  run.threads = WEIR_THREADS_MAX + 1;
  cr_assert(eq(int, weir_topological_order(p, &run, &node, &count, &cyclic, NULL, &err), WEIR_INVALID));
  weir_projection_close(p);
  weir_projection_close(both);
}
