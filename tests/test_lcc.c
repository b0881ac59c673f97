/* Local clustering and triangles, against the definition computed naively, and against igraph. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "igraph_graphs.h"

static weir_error err;

struct results {
  double *coefficient;
  uint64_t *triangles, total;
};

static struct results make_results(uint32_t nodes) {
  return (struct results){calloc(nodes + 1, sizeof(double)), calloc(nodes + 1, sizeof(uint64_t)), 0};
}

static void free_results(struct results *r) {
  free(r->coefficient);
  free(r->triangles);
}

static struct results find(const weir_projection *p, unsigned threads) {
  struct results r = make_results(weir_projection_nodes(p));
  weir_run run = WEIR_RUN_INIT;
  run.threads = threads;
  cr_assert(eq(int, weir_lcc(p, &run, r.coefficient, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, weir_triangle_counts(p, &run, r.triangles, &r.total, &err), WEIR_OK), "%s", err.message);
  return r;
}

/* ---- The definition ------------------------------------------------------------------------------------ */

static struct results model(const algo_graph *g) {
  uint32_t n = g->nodes;
  struct results r = make_results(n);
  char *edge = calloc((size_t)n * n + 1, 1);
  for (uint64_t e = 0; e < g->count; e++) {
    edge[(size_t)g->src[e] * n + g->dst[e]] = 1;
    if (g->undirected) {
      edge[(size_t)g->dst[e] * n + g->src[e]] = 1;
    }
  }
#define EDGE(a, b) (edge[(size_t)(a)*n + (b)])
#define NEAR(a, b) ((a) != (b) && (EDGE(a, b) || EDGE(b, a)))
  for (uint32_t node = 0; node < n; node++) {
    uint64_t degree = 0, pairs = 0;
    for (uint32_t a = 0; a < n; a++) {
      degree += NEAR(node, a);
      for (uint32_t b = 0; b < n && NEAR(node, a); b++) {
        pairs += a != b && NEAR(node, b) && EDGE(a, b);
        r.triangles[node] += a < b && NEAR(node, b) && NEAR(a, b);
      }
    }
    r.coefficient[node] = degree < 2 ? 0 : (double)pairs / ((double)degree * (double)(degree - 1));
    r.total += r.triangles[node];
  }
  r.total /= 3;
  free(edge);
  return r;
}

static void check(const struct results *got, const struct results *want, uint32_t nodes) {
  for (uint32_t i = 0; i < nodes; i++) {
    cr_assert(eq(u64, got->triangles[i], want->triangles[i]), "node %u", i);
    cr_assert(algo_close(got->coefficient[i], want->coefficient[i], 1e-14, 0), "node %u: %g, not %g", i,
              got->coefficient[i], want->coefficient[i]);
  }
  cr_assert(eq(u64, got->total, want->total));
}

Test(lcc, is_what_the_definition_says, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (unsigned round = 0; round < 300; round++) {
    algo_graph g = algo_graph_random(&rng, round % 20 ? 20 : 120);
    weir_projection *p = algo_graph_project(&g);
    struct results got = find(p, 1 + round % 3), want = model(&g);
    check(&got, &want, g.nodes);
    free_results(&got);
    free_results(&want);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

/* ---- igraph -------------------------------------------------------------------------------------------- */

static void compare_with_igraph(const algo_graph *g) {
  weir_projection *p = algo_graph_project(g);
  struct results got = find(p, 2), want = make_results(g->nodes);
  igraph_t other;
  igraph_vector_t values;
  igraph_graph_make(g, &other, NULL);
  igraph_simplify(&other, 1, 1, NULL);
  igraph_vector_init(&values, 0);
  igraph_transitivity_local_undirected(&other, &values, igraph_vss_all(), IGRAPH_TRANSITIVITY_ZERO);
  for (uint32_t i = 0; i < g->nodes; i++) {
    want.coefficient[i] = VECTOR(values)[i];
  }
  igraph_adjacent_triangles(&other, &values, igraph_vss_all());
  for (uint32_t i = 0; i < g->nodes; i++) {
    want.triangles[i] = (uint64_t)VECTOR(values)[i];
    want.total += want.triangles[i];
  }
  want.total /= 3;
  check(&got, &want, g->nodes);
  free_results(&got);
  free_results(&want);
  igraph_vector_destroy(&values);
  igraph_destroy(&other);
  weir_projection_close(p);
}

Test(lcc, agrees_with_igraph, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (unsigned round = 0; round < 20; round++) {
    algo_graph g = algo_graph_random_of(&rng, 2000, 1, 0);
    compare_with_igraph(&g);
    algo_graph_free(&g);
  }
}

Test(lcc, agrees_with_igraph_on_facebook, .timeout = 60) {
  algo_graph g;
  if (algo_graph_facebook(&g)) {
    compare_with_igraph(&g);
    algo_graph_free(&g);
  }
}

/* ---- The rest ------------------------------------------------------------------------------------------ */

Test(lcc, has_the_same_bytes_with_any_number_of_threads, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int undirected = 0; undirected < 2; undirected++) {
    algo_graph g = algo_graph_random_of(&rng, 20000, undirected, 0);
    weir_projection *p = algo_graph_project(&g);
    struct results one = find(p, 1);
    for (unsigned threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
      struct results many = find(p, threads);
      cr_assert(eq(int, memcmp(one.coefficient, many.coefficient, g.nodes * sizeof(double)), 0));
      cr_assert(eq(int, memcmp(one.triangles, many.triangles, g.nodes * sizeof(uint64_t)), 0));
      cr_assert(eq(u64, one.total, many.total));
      free_results(&many);
    }
    free_results(&one);
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

/* Every node of a hub's row looked through for each of its edges would be 10^10 steps. */
Test(lcc, takes_hubs_that_all_nodes_are_neighbors_of, .timeout = 60) {
  algo_graph g = algo_graph_empty(100000, 0, 0);
  for (uint32_t i = 2; i < g.nodes; i++) {
    algo_graph_add(&g, 0, i, 1);
    algo_graph_add(&g, i, 1, 1);
  }
  algo_graph_add(&g, 1, 0, 1);
  weir_projection *p = algo_graph_project(&g);
  struct results r = find(p, 2);
  cr_assert(eq(u64, r.total, 99998));
  cr_assert(eq(u64, r.triangles[0], 99998));
  cr_assert(eq(u64, r.triangles[99999], 1));
  cr_assert(eq(dbl, r.coefficient[99999], 0.5));
  free_results(&r);
  weir_projection_close(p);
  algo_graph_free(&g);
}

static int stop(const weir_progress *progress, void *data) {
  (void)data;
  return progress->done > 0;
}

Test(lcc, ends_when_on_progress_says_so_and_refuses_null, .timeout = 60) {
  weir_run run = {sizeof run, 2, stop, NULL};
  algo_graph g = algo_graph_empty(1000, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  struct results r = make_results(g.nodes);
  cr_assert(eq(int, weir_lcc(p, &run, r.coefficient, &err), WEIR_CANCELED));
  cr_assert(eq(int, weir_triangle_counts(p, &run, r.triangles, &r.total, &err), WEIR_CANCELED));
  cr_assert(eq(int, weir_triangle_counts(p, NULL, NULL, NULL, &err), WEIR_OK));
  cr_assert(eq(int, weir_triangle_counts(NULL, NULL, r.triangles, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_lcc(NULL, NULL, r.coefficient, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_lcc(p, NULL, NULL, &err), WEIR_INVALID));
  free_results(&r);
  weir_projection_close(p);
}
