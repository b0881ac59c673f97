/* Graphs for tests of algorithms. */
#include "algo_graphs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static void *grow(void *array, size_t size) {
  void *grown = realloc(array, size);
  if (!grown) {
    abort();
  }
  return grown;
}

algo_graph algo_graph_empty(uint32_t nodes, int undirected, int weighted) {
  return (algo_graph){.nodes = nodes, .undirected = undirected, .weighted = weighted};
}

void algo_graph_add(algo_graph *g, uint32_t src, uint32_t dst, double weight) {
  if (g->count == g->room) {
    g->room = g->room ? 2 * g->room : 16;
    g->src = grow(g->src, g->room * sizeof *g->src);
    g->dst = grow(g->dst, g->room * sizeof *g->dst);
    g->weight = grow(g->weight, g->room * sizeof *g->weight);
  }
  g->src[g->count] = src;
  g->dst[g->count] = dst;
  g->weight[g->count] = weight;
  g->count++;
}

/* An eighth of the ends are one of four hubs; a quarter of the nodes, at the end, have no edges. */
static uint32_t random_end(weir_test_rng *rng, uint32_t nodes) {
  uint32_t used = nodes - nodes / 4;
  return weir_test_below(rng, 8) == 0 ? (uint32_t)weir_test_below(rng, used < 4 ? used : 4)
                                      : (uint32_t)weir_test_below(rng, used);
}

algo_graph algo_graph_random_of(weir_test_rng *rng, uint32_t nodes, int undirected, int weighted) {
  algo_graph g = algo_graph_empty((uint32_t)weir_test_below(rng, (uint64_t)nodes + 1), undirected, weighted);
  uint64_t edges = g.nodes ? weir_test_below(rng, 4 * (uint64_t)g.nodes + 1) : 0;
  for (uint64_t i = 0; i < edges; i++) {
    uint32_t src = random_end(rng, g.nodes);
    uint32_t dst = weir_test_below(rng, 16) == 0 ? src : random_end(rng, g.nodes);
    algo_graph_add(&g, src, dst, (double)(1 + weir_test_below(rng, 10)));
    if (weir_test_below(rng, 10) == 0) { /* a parallel one */
      algo_graph_add(&g, src, dst, (double)(1 + weir_test_below(rng, 10)));
    }
  }
  return g;
}

algo_graph algo_graph_random(weir_test_rng *rng, uint32_t nodes) {
  int undirected = (int)weir_test_below(rng, 2);
  return algo_graph_random_of(rng, nodes, undirected, (int)weir_test_below(rng, 2));
}

int algo_graph_facebook(algo_graph *g) {
  static const char path[] = WEIR_SOURCE_DIR "/../shared/data/snap/facebook_combined.txt.gz";
  gzFile file = gzopen(path, "rb");
  if (!file) {
    cr_assert(getenv("CI") == NULL, "%s is missing", path);
    cr_log_warn("left out: %s is not there", path);
    return 0;
  }
  char line[64];
  *g = algo_graph_empty(4039, 1, 0);
  while (gzgets(file, line, sizeof line)) {
    if (line[0] != '#') {
      char *rest = NULL;
      uint32_t src = (uint32_t)strtoul(line, &rest, 10);
      algo_graph_add(g, src, (uint32_t)strtoul(rest, NULL, 10), 1);
    }
  }
  gzclose(file);
  cr_assert(eq(u64, g->count, 88234));
  return 1;
}

void algo_graph_free(algo_graph *g) {
  free(g->src);
  free(g->dst);
  free(g->weight);
  *g = (algo_graph){.nodes = 0};
}

weir_projection *algo_graph_project(const algo_graph *g) {
  return algo_graph_project_as(g, WEIR_PARALLEL_KEEP, 0);
}

weir_projection *algo_graph_project_as(const algo_graph *g, weir_parallel parallel, int drop_loops) {
  const weir__edge_list list = {.nodes = g->nodes,
                                .count = g->count,
                                .src = g->src,
                                .dst = g->dst,
                                .weight = g->weighted ? (g->weight ? g->weight : (double[]){0}) : NULL,
                                .undirected = g->undirected,
                                .parallel = parallel,
                                .drop_loops = drop_loops};
  weir_error err = WEIR_ERROR_INIT;
  weir_projection *p = NULL;
  weir__team *team = NULL;
  cr_assert(eq(int, weir__team_open(&team, NULL, g->count, g->count, &err), WEIR_OK), "%s", err.message);
  int rc = weir__projection_make(&p, &list, team, &err);
  cr_assert(eq(int, weir__team_close(team, rc, &err), WEIR_OK), "%s", err.message);
  return p;
}

int algo_close(double a, double b, double relative, double least) {
  if (isnan(a) || isnan(b) || isinf(a) || isinf(b)) {
    return (isnan(a) && isnan(b)) || a == b;
  }
  double difference = fabs(a - b);
  return difference <= least || difference <= relative * fmax(fabs(a), fabs(b));
}
