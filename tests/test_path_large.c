/* The shortest paths of a graph of some thousand nodes, compared with naive searches over arrays. */
#include "paths.h"

#include <math.h>

#include "graph_fixture.h"

enum { NODES = 2000, EDGES = 8000, HUB = 300, PAIRS = 60 };

struct large {
  int count;
  int src[EDGES + HUB], dst[EDGES + HUB];
  double weight[EDGES + HUB];
  double dist[NODES];
};

static char keys[NODES][16];

/* Random edges, and one node with many. */
static void make(struct large *large, weir_test_rng *rng) {
  for (large->count = 0; large->count < EDGES + HUB; large->count++) {
    int i = large->count;
    large->src[i] = i < EDGES ? (int)weir_test_below(rng, NODES) : 17;
    large->dst[i] = (int)weir_test_below(rng, NODES);
    large->weight[i] = (double)weir_test_below(rng, 1000) / 8;
  }
}

static void put(const struct large *large, weir_txn *txn) {
  static weir_edge edges[EDGES + HUB];
  for (int i = 0; i < NODES; i++) {
    snprintf(keys[i], sizeof keys[i], "k%d", i);
    put_node(txn, keys[i], NULL);
  }
  for (int i = 0; i < large->count; i++) {
    edges[i] = WEIR_EDGE(keys[large->src[i]], "e", keys[large->dst[i]]);
    edges[i].rank = i;
    edges[i].weight = large->weight[i];
  }
  OK(weir_edge_put_many(txn, edges, (size_t)large->count, 0, NULL, &err));
}

/* Least costs from one node, by going over all edges until nothing changes. */
static void measure(struct large *large, int from, weir_direction direction, weir_cost cost) {
  for (int i = 0; i < NODES; i++) {
    large->dist[i] = i == from ? 0 : INFINITY;
  }
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < 2 * large->count; i++) {
      int edge = i / 2;
      int near = i % 2 ? large->dst[edge] : large->src[edge];
      int far = i % 2 ? large->src[edge] : large->dst[edge];
      double more = cost == WEIR_COST_HOPS ? 1 : large->weight[edge];
      if ((direction & (i % 2 ? WEIR_IN : WEIR_OUT)) && large->dist[near] + more < large->dist[far]) {
        large->dist[far] = large->dist[near] + more;
        changed = 1;
      }
    }
  }
}

static void check_path(const struct large *large, const weir_path *path, weir_cost cost) {
  double sum = 0;
  for (size_t i = 0; i < path->hop_count; i++) {
    const weir_hop *hop = &path->hops[i];
    int64_t edge = hop->rank; /* is its number */
    int against = hop->direction == WEIR_IN;
    SAME_STRING(hop->from.ptr, keys[against ? large->dst[edge] : large->src[edge]]);
    SAME_STRING(hop->to.ptr, keys[against ? large->src[edge] : large->dst[edge]]);
    sum += cost == WEIR_COST_HOPS ? 1 : large->weight[edge];
  }
  cr_assert(eq(dbl, sum, path->cost));
}

struct tally {
  const struct large *large;
  weir_cost cost;
  double last;
  int count;
};

static int check_one(const weir_path *path, void *data, weir_error *error) {
  struct tally *tally = data;
  (void)error;
  check_path(tally->large, path, tally->cost);
  cr_assert(ge(dbl, path->cost, tally->last));
  tally->last = path->cost;
  tally->count++;
  return WEIR_OK;
}

static void check_pair(struct large *large, weir_txn *txn, int from, int to,
                       const weir_path_options *options) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_path path;
  struct tally all = {large, options->cost, 0, 0};
  struct tally some = {large, options->cost, 0, 0};
  const weir_text keys_of[] = {weir_str(keys[from]), weir_str(keys[to])};
  OK(weir_path_shortest(txn, keys_of[0], keys_of[1], options, &path, &arena, &err));
  cr_assert(eq(int, path.found, isfinite(large->dist[to])));
  if (path.found) {
    cr_assert(eq(dbl, path.cost, large->dist[to]));
    check_path(large, &path, options->cost);
  }
  OK(weir_path_all_shortest(txn, keys_of[0], keys_of[1], options, check_one, &all, NULL, &err));
  cr_assert(eq(int, all.count > 0, path.found));
  OK(weir_path_k_shortest(txn, keys_of[0], keys_of[1], 5, options, check_one, &some, NULL, &err));
  cr_assert(eq(int, some.count > 0, path.found));
  if (path.found) {
    cr_assert(eq(dbl, all.last, path.cost));
    cr_assert(eq(int, some.count, from == to ? 1 : 5));
  }
  weir_arena_clear(&arena);
}

GRAPH_TEST(path_large, distances_are_those_of_a_naive_search) {
  static struct large large;
  weir_test_rng rng = {weir_test_seed()};
  make(&large, &rng);
  put(&large, txn);
  for (int i = 0; i < PAIRS; i++) {
    weir_path_options options = WEIR_PATH_OPTIONS_INIT;
    int from = i % 10 ? (int)weir_test_below(&rng, NODES) : 17;
    int to = (int)weir_test_below(&rng, NODES);
    options.reach.direction = (weir_direction)(1 + i % 3);
    options.cost = i % 2 ? WEIR_COST_WEIGHT : WEIR_COST_HOPS;
    measure(&large, from, options.reach.direction, options.cost);
    check_pair(&large, txn, from, to, &options);
  }
}
