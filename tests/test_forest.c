/* Minimum spanning forests: against a naive one, edge for edge, and igraph's weight; sorting by digits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <algo/radix.h>
#include <weir/algo.h>

#include "igraph_graphs.h"

static weir_error err;
static const unsigned threads[] = {1, 2, 3, 8};

/* ---- The model ----------------------------------------------------------------------------------------- */

static int by_weight(const void *x, const void *y) {
  const weir_link *a = x, *b = y;
  if (a->value != b->value) {
    return a->value < b->value ? -1 : 1;
  }
  return a->a != b->a ? (a->a < b->a ? -1 : 1) : (a->b > b->b) - (a->b < b->b);
}

static int by_ends(const void *x, const void *y) {
  const weir_link *a = x, *b = y;
  return a->a != b->a ? (a->a < b->a ? -1 : 1) : (a->b > b->b) - (a->b < b->b);
}

/* Kruskal with a list of components; `out` has room for one edge a node. */
static uint32_t expect(const algo_graph *g, weir_link *out) {
  weir_link *edges = malloc((g->count + 1) * sizeof *edges);
  uint32_t *component = malloc((g->nodes + 1) * sizeof *component), count = 0;
  for (uint32_t i = 0; i < g->nodes; i++) {
    component[i] = i;
  }
  for (uint64_t i = 0; i < g->count; i++) {
    uint32_t a = g->src[i], b = g->dst[i];
    edges[i] = (weir_link){a < b ? a : b, a < b ? b : a, g->weighted ? g->weight[i] : 1};
  }
  qsort(edges, g->count, sizeof *edges, by_weight);
  for (uint64_t i = 0; i < g->count; i++) {
    uint32_t from = component[edges[i].a], to = component[edges[i].b];
    if (from != to) {
      out[count++] = edges[i];
      for (uint32_t k = 0; k < g->nodes; k++) {
        component[k] = component[k] == from ? to : component[k];
      }
    }
  }
  qsort(out, count, sizeof *out, by_ends);
  free(edges);
  free(component);
  return count;
}

static double igraph_weight(const algo_graph *g) {
  igraph_t ig;
  igraph_vector_t weights;
  igraph_vector_int_t edges;
  double sum = 0;
  igraph_graph_make(g, &ig, &weights);
  igraph_vector_int_init(&edges, 0);
  igraph_minimum_spanning_tree(&ig, &edges, &weights);
  for (igraph_integer_t i = 0; i < igraph_vector_int_size(&edges); i++) {
    sum += VECTOR(weights)[VECTOR(edges)[i]];
  }
  igraph_vector_int_destroy(&edges);
  igraph_vector_destroy(&weights);
  igraph_destroy(&ig);
  return sum;
}

/* Weights like those of all kinds of data: few, many, negative, zeroes of both signs. */
static void change_weights(algo_graph *g, weir_test_rng *rng) {
  uint64_t kind = weir_test_below(rng, 4);
  for (uint64_t i = 0; i < g->count; i++) {
    double fraction = (double)weir_test_below(rng, 1000000) / 1000003;
    g->weight[i] = kind == 0   ? g->weight[i]
                   : kind == 1 ? fraction
                   : kind == 2 ? (fraction - 0.5) * 1e9
                               : copysign(g->weight[i] > 5 ? 0 : g->weight[i], fraction - 0.5);
  }
}

Test(forest, is_that_of_a_naive_search_and_weighs_as_much_as_igraphs, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 200; round++) {
    algo_graph g = algo_graph_random(&rng, round % 10 ? 40 : 1500);
    change_weights(&g, &rng);
    weir_projection *p = algo_graph_project(&g);
    weir_link *expected = malloc((g.nodes + 1) * sizeof *expected),
              *edges = malloc((g.nodes + 1) * sizeof *edges);
    uint32_t count = 0, wanted = expect(&g, expected);
    double total = NAN, sum = 0;
    weir_run run = WEIR_RUN_INIT;
    run.threads = threads[weir_test_below(&rng, 4)];
    cr_assert(eq(int, weir_spanning_forest(p, &run, edges, &count, &total, &err), WEIR_OK), "%s",
              err.message);
    cr_assert(eq(u32, count, wanted));
    for (uint32_t i = 0; i < count; i++) {
      cr_assert(by_ends(&edges[i], &expected[i]) == 0 && edges[i].value == expected[i].value, "edge %u", i);
      sum += expected[i].value;
    }
    cr_assert(total == sum, "%f, not %f", total, sum);
    cr_assert(algo_close(total, igraph_weight(&g), 1e-9, 1e-3), "%f, igraph: %f", total, igraph_weight(&g));
    free(expected);
    free(edges);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

Test(forest, of_ego_facebook_is_the_same_by_any_number_of_threads, .timeout = 60) {
  algo_graph g;
  weir_test_rng rng = {weir_test_seed()};
  if (!algo_graph_facebook(&g)) {
    return;
  }
  for (int weighted = 0; weighted <= 1; weighted++) {
    static weir_link edges[4039], other[4039];
    double total = 0, first = 0;
    g.weighted = weighted;
    for (uint64_t i = 0; i < g.count; i++) {
      g.weight[i] = (double)weir_test_below(&rng, 1000) / 7;
    }
    weir_projection *p = algo_graph_project(&g);
    for (unsigned i = 0; i < 4; i++) {
      weir_run run = WEIR_RUN_INIT;
      uint32_t count = 0;
      run.threads = threads[i];
      cr_assert(eq(int, weir_spanning_forest(p, &run, i ? other : edges, &count, &total, &err), WEIR_OK));
      cr_assert(eq(u32, count, 4038));
      cr_assert(i == 0 || (memcmp(edges, other, count * sizeof *edges) == 0 && total == first));
      first = total;
    }
    cr_assert(algo_close(total, igraph_weight(&g), 1e-9, 0));
    weir_projection_close(p);
  }
  algo_graph_free(&g);
}

Test(forest, of_a_long_path_is_the_path, .timeout = 60) {
  enum { LONG = 100000 };
  algo_graph g = algo_graph_empty(LONG, 0, 1);
  for (uint32_t i = 0; i + 1 < LONG; i++) {
    algo_graph_add(&g, i, i + 1, -(double)i);
  }
  weir_projection *p = algo_graph_project(&g);
  weir_link *edges = malloc(LONG * sizeof *edges);
  uint32_t count = 0;
  cr_assert(eq(int, weir_spanning_forest(p, NULL, edges, &count, NULL, &err), WEIR_OK));
  cr_assert(eq(u32, count, LONG - 1));
  for (uint32_t i = 0; i < count; i++) {
    cr_assert(edges[i].a == i && edges[i].b == i + 1 && edges[i].value == -(double)i);
  }
  free(edges);
  weir_projection_close(p);
  algo_graph_free(&g);
}

/* ---- Sorting ------------------------------------------------------------------------------------------- */

Test(forest, records_are_sorted_and_equal_ones_stay_in_order, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 60; round++) {
    uint64_t count = weir_test_below(&rng, round % 2 ? 40 : 3000);
    uint64_t mask = weir_test_next(&rng);
    mask &= weir_test_next(&rng);
    weir__keyed *records = malloc((count + 1) * sizeof *records),
                *spare = malloc((count + 1) * sizeof *spare);
    weir_run run = WEIR_RUN_INIT;
    weir__team *team = NULL;
    run.threads = threads[round % 4];
    for (uint64_t i = 0; i < count; i++) {
      records[i] = (weir__keyed){weir_test_next(&rng) & mask & (round % 3 ? 0xff00000000ff : UINT64_MAX), i};
    }
    cr_assert(eq(int, weir__team_open(&team, &run, count, count, &err), WEIR_OK));
    cr_assert(eq(int, weir__radix_sort(&records, &spare, count, team, &err), WEIR_OK));
    cr_assert(eq(int, weir__team_close(team, WEIR_OK, &err), WEIR_OK));
    for (uint64_t i = 1; i < count; i++) {
      const weir__keyed *a = &records[i - 1], *b = &records[i];
      cr_assert(a->key < b->key || (a->key == b->key && a->value < b->value), "place %lu", (unsigned long)i);
    }
    free(records);
    free(spare);
  }
}

Test(forest, keys_of_doubles_are_in_their_order, .timeout = 60) {
  static const double ascending[] = {-INFINITY, -1e300, -2,  -1, -1e-310, 0,
                                     1e-310,    1,      1.5, 2,  1e300,   INFINITY};
  for (size_t i = 0; i < sizeof ascending / sizeof *ascending; i++) {
    uint64_t key = weir__key_of_double(ascending[i]);
    cr_assert(weir__double_of_key(key) == ascending[i]);
    cr_assert(i == 0 || key > weir__key_of_double(ascending[i - 1]));
  }
  uint64_t minus = weir__key_of_double(copysign(0, -1)), plus = weir__key_of_double(0);
  cr_assert(eq(u64, minus, plus));
}

/* ---- Arguments, cancel --------------------------------------------------------------------------------- */

static int stop(const weir_progress *progress, void *data) {
  int *calls = data;
  (void)progress;
  return --*calls == 0;
}

Test(forest, ends_when_on_progress_says_so_and_refuses_what_makes_no_sense, .timeout = 60) {
  algo_graph g = algo_graph_empty(2, 0, 1);
  algo_graph_add(&g, 0, 1, 1);
  for (int weighted = 0; weighted <= 1; weighted++) {
    weir_link edges[2];
    uint32_t count = 0;
    g.weighted = weighted;
    weir_projection *p = algo_graph_project(&g);
    for (int at = 1; at <= 2; at++) {
      int calls = at;
      weir_run run = {sizeof run, 2, stop, &calls};
      cr_assert(eq(int, weir_spanning_forest(p, &run, edges, &count, NULL, &err), WEIR_CANCELED));
    }
    cr_assert(eq(int, weir_spanning_forest(NULL, NULL, edges, &count, NULL, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_spanning_forest(p, NULL, NULL, &count, NULL, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_spanning_forest(p, NULL, edges, NULL, NULL, &err), WEIR_INVALID));
    weir_projection_close(p);
  }
  algo_graph_free(&g);
}
