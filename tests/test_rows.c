/* Lists of edges become rows: against a naive count of the edges between each two nodes. */
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "algo_graphs.h"

/* What is expected in the row of `node` about `far`. */
struct expected {
  uint64_t count;
  double sum, min, max;
};

static struct expected expect(const algo_graph *g, uint32_t node, uint32_t far, weir_direction direction) {
  struct expected e = {0, 0, 0, 0};
  for (uint64_t i = 0; i < g->count; i++) {
    int there = g->src[i] == node && g->dst[i] == far, back = g->src[i] == far && g->dst[i] == node;
    int times = g->undirected ? there + back : direction == WEIR_OUT ? there : back;
    if (times > 0) {
      e.min = e.count == 0 || g->weight[i] < e.min ? g->weight[i] : e.min;
      e.max = e.count == 0 || g->weight[i] > e.max ? g->weight[i] : e.max;
      e.sum += times * g->weight[i];
      e.count += (uint64_t)times;
    }
  }
  return e;
}

static void check_pair(const algo_graph *g, const weir_projection *p, uint32_t node, uint32_t far,
                       weir_direction direction, weir_parallel parallel, int drop_loops) {
  struct expected e = expect(g, node, far, direction);
  weir_adjacent row = weir_projection_adjacent(p, node, direction);
  uint64_t count = 0;
  double sum = 0;
  for (size_t i = 0; i < row.count; i++) {
    cr_assert(i == 0 || row.nodes[i - 1] <= row.nodes[i], "the row of %u ascends", node);
    if (row.nodes[i] == far) {
      count++;
      sum += row.weights ? row.weights[i] : 0;
    }
  }
  int loop = node == far, sides = loop && g->undirected ? 2 : 1;
  if (loop && drop_loops) {
    e = (struct expected){0, 0, 0, 0};
  } else if (parallel && e.count > 0) {
    double one = parallel == WEIR_PARALLEL_SUM   ? e.sum / sides
                 : parallel == WEIR_PARALLEL_MIN ? e.min
                                                 : e.max;
    e.count = (uint64_t)sides;
    e.sum = sides * one;
  }
  cr_assert(eq(u64, count, e.count), "edges %u to %u", node, far);
  cr_assert(g->weighted == 0 || sum == e.sum, "weight of %u to %u: %f, not %f", node, far, sum, e.sum);
}

Test(rows, hold_each_edge_in_both_directions, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 200; round++) {
    algo_graph g = algo_graph_random(&rng, 24);
    weir_parallel parallel = (weir_parallel)weir_test_below(&rng, 4);
    int drop_loops = (int)weir_test_below(&rng, 2);
    weir_projection *p = algo_graph_project_as(&g, parallel, drop_loops);
    weir_projection_info info;
    uint64_t entries = 0, loops = 0;
    weir_projection_describe(p, &info);
    for (uint32_t node = 0; node < g.nodes; node++) {
      for (uint32_t far = 0; far < g.nodes; far++) {
        check_pair(&g, p, node, far, WEIR_OUT, parallel, drop_loops);
        check_pair(&g, p, node, far, WEIR_IN, parallel, drop_loops);
      }
      weir_adjacent row = weir_projection_adjacent(p, node, WEIR_OUT);
      entries += row.count;
      for (size_t i = 0; i < row.count; i++) {
        loops += row.nodes[i] == node;
      }
    }
    cr_assert(eq(u64, info.edges, g.undirected ? entries / 2 : entries));
    cr_assert(eq(u64, info.loops, g.undirected ? loops / 2 : loops));
    cr_assert(eq(u32, info.nodes, g.nodes));
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}
