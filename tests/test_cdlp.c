/* Label propagation, against the definition computed naively. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "algo_graphs.h"

static weir_error err;

/* One iteration by the definition; 1 if a label changed. Time: nodes x edges, or nodes if few labels. */
static int model_step(const weir_projection *p, uint32_t *label, uint32_t *next, uint32_t *count) {
  uint32_t nodes = weir_projection_nodes(p);
  weir_projection_info info;
  weir_projection_describe(p, &info);
  for (uint32_t node = 0; node < nodes; node++) {
    memset(count, 0, nodes * sizeof *count);
    for (int side = 0; side < (info.undirected ? 1 : 2); side++) {
      weir_adjacent row = weir_projection_adjacent(p, node, side ? WEIR_IN : WEIR_OUT);
      for (size_t i = 0; i < row.count; i++) {
        count[label[row.nodes[i]]]++;
      }
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < nodes; i++) {
      best = count[i] > count[best] ? i : best;
    }
    next[node] = count[best] ? best : label[node];
  }
  int changed = memcmp(label, next, nodes * sizeof *label) != 0;
  memcpy(label, next, nodes * sizeof *label);
  return changed;
}

static uint32_t *model(const weir_projection *p, unsigned iterations, unsigned *made) {
  uint32_t nodes = weir_projection_nodes(p);
  uint32_t *label = calloc(nodes + 1, sizeof *label), *next = calloc(nodes + 1, sizeof *next);
  uint32_t *count = calloc(nodes + 1, sizeof *count);
  for (uint32_t i = 0; i < nodes; i++) {
    label[i] = i;
  }
  for (*made = 0; *made < iterations && nodes > 0;) {
    ++*made;
    if (!model_step(p, label, next, count)) {
      break;
    }
  }
  free(next);
  free(count);
  return label;
}

static uint32_t *propagate(const weir_projection *p, unsigned iterations, unsigned threads, unsigned *made) {
  weir_run run = WEIR_RUN_INIT;
  run.threads = threads;
  uint32_t *label = calloc(weir_projection_nodes(p) + 1, sizeof *label);
  cr_assert(eq(int, weir_cdlp(p, iterations, &run, label, made, &err), WEIR_OK), "%s", err.message);
  return label;
}

static void check(const algo_graph *g, unsigned iterations, unsigned threads) {
  weir_projection *p = algo_graph_project(g);
  unsigned made = 99, want_made = 0;
  uint32_t *got = propagate(p, iterations, threads, &made), *want = model(p, iterations, &want_made);
  for (uint32_t i = 0; i < g->nodes; i++) {
    cr_assert(eq(u32, got[i], want[i]), "node %u of %u, %u iterations", i, g->nodes, iterations);
  }
  cr_assert(eq(uint, made, want_made));
  free(got);
  free(want);
  weir_projection_close(p);
}

Test(cdlp, is_what_the_definition_says, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (unsigned round = 0; round < 300; round++) {
    algo_graph g = algo_graph_random(&rng, round % 10 ? 30 : 300);
    check(&g, (unsigned)weir_test_below(&rng, 12), 1 + round % 3);
    algo_graph_free(&g);
  }
}

/* Cliques in a row: after the first iterations labels change at few of them only, and are marked. */
Test(cdlp, looks_at_all_that_can_change, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (unsigned round = 0; round < 6; round++) {
    algo_graph g = algo_graph_empty(800, (int)(round % 2), 0);
    for (uint32_t node = 0; node < g.nodes; node++) {
      for (uint32_t i = 1; i < 6; i++) {
        algo_graph_add(&g, node,
                       node / 6 * 6 + (node + i) % 6 < g.nodes ? node / 6 * 6 + (node + i) % 6 : node, 1);
      }
      algo_graph_add(&g, node, node + 1 < g.nodes ? node + 1 : node, 1);
      if (weir_test_below(&rng, 20) == 0) {
        algo_graph_add(&g, node, (uint32_t)weir_test_below(&rng, g.nodes), 1);
      }
    }
    check(&g, 12, 1 + round % 2);
    algo_graph_free(&g);
  }
}

Test(cdlp, goes_to_and_fro_as_often_as_asked_for, .timeout = 60) {
  algo_graph g = algo_graph_empty(5, 1, 0);
  algo_graph_add(&g, 0, 1, 1);
  algo_graph_add(&g, 2, 3, 1);
  for (unsigned iterations = 0; iterations < 9; iterations++) {
    check(&g, iterations, 2);
  }
  check(&g, 100000, 2);
  check(&g, 100001, 2);
  algo_graph_free(&g);
}

Test(cdlp, counts_a_loop_twice_for_its_node, .timeout = 60) {
  for (int undirected = 0; undirected < 2; undirected++) {
    algo_graph g = algo_graph_empty(2, undirected, 0);
    unsigned made = 0;
    algo_graph_add(&g, 1, 1, 1);
    algo_graph_add(&g, 0, 1, 1);
    weir_projection *p = algo_graph_project(&g);
    uint32_t *label = propagate(p, 10, 1, &made);
    cr_assert(eq(u32, label[0], 1));
    cr_assert(eq(u32, label[1], 1));
    cr_assert(eq(uint, made, 2));
    free(label);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(cdlp, has_the_same_bytes_with_any_number_of_threads, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int undirected = 0; undirected < 2; undirected++) {
    algo_graph g = algo_graph_random_of(&rng, 20000, undirected, 0);
    weir_projection *p = algo_graph_project(&g);
    unsigned made = 0, many_made = 0;
    uint32_t *one = propagate(p, 20, 1, &made);
    for (unsigned threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
      uint32_t *many = propagate(p, 20, threads, &many_made);
      cr_assert(eq(int, memcmp(one, many, g.nodes * sizeof *one), 0), "%u threads", threads);
      cr_assert(eq(uint, made, many_made));
      free(many);
    }
    free(one);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

static int stop(const weir_progress *progress, void *data) {
  (void)data;
  return progress->done > 0;
}

Test(cdlp, ends_when_on_progress_says_so, .timeout = 60) {
  weir_run run = {sizeof run, 2, stop, NULL};
  algo_graph g = algo_graph_empty(100000, 1, 0);
  for (uint32_t i = 0; i + 1 < g.nodes; i++) {
    algo_graph_add(&g, i, i + 1, 1);
  }
  weir_projection *p = algo_graph_project(&g);
  uint32_t *label = calloc(g.nodes, sizeof *label);
  cr_assert(eq(int, weir_cdlp(p, 1000000, &run, label, NULL, &err), WEIR_CANCELED));
  free(label);
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(cdlp, refuses_null, .timeout = 60) {
  algo_graph g = algo_graph_empty(1, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  uint32_t label = 7;
  cr_assert(eq(int, weir_cdlp(NULL, 1, NULL, &label, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_cdlp(p, 1, NULL, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_cdlp(p, 0, NULL, &label, NULL, &err), WEIR_OK));
  cr_assert(eq(u32, label, 0));
  weir_projection_close(p);
}
