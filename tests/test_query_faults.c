/*
 * Memory runs out at each place where a walk, a search for a path or a find asks for some: of the library's
 * own requests, of SQLite's and of the JSON library's. Each time the call fails with WEIR_NOMEM (or succeeds
 * as if nothing had been, where memory is only wanted to be quick), and the next call on the same connection
 * works. That nothing leaks is seen in a build with a sanitizer.
 */
#include <weir/traverse.h>

#include "graph_fixture.h"
#include "scarce.h"

TestSuite(query_faults, .timeout = 200, .init = scarce_init);

/* ---- What is asked ----------------------------------------------------------------------------------------
 */

enum { LEAVES = 70 }; /* more than are read at once */

/* h -> l0, l1, ... -> t -> h, and a second edge from h to each seventh. */
static void fill(weir_txn *txn) {
  for (int i = 0; i < LEAVES; i++) {
    char leaf[16];
    snprintf(leaf, sizeof leaf, "l%d", i);
    weir_edge to = WEIR_EDGE("h", "e", leaf);
    weir_edge from = WEIR_EDGE(leaf, "f", "t");
    to.weight = 1 + i / 4;
    to.props = from.props = weir_str("{\"toll\":2,\"open\":true}");
    OK(weir_edge_put(txn, &to, WEIR_CREATE_ENDPOINTS, NULL, &err));
    OK(weir_edge_put(txn, &from, WEIR_CREATE_ENDPOINTS, NULL, &err));
    to.rank = 1;
    if (i % 7 == 0) {
      OK(weir_edge_put(txn, &to, 0, NULL, &err));
    }
  }
  put_edge(txn, "t", "back", "h");
}

/* A sum over all that a call shows. */
struct sum {
  uint64_t value;
  weir_txn *txn;
};

static void add(struct sum *sum, weir_text text) {
  for (size_t i = 0; i < text.len; i++) {
    sum->value = (sum->value ^ (unsigned char)text.ptr[i]) * UINT64_C(1099511628211);
  }
}

static void add_hops(struct sum *sum, const weir_hop *hops, size_t count) {
  for (size_t i = 0; i < count; i++) {
    add(sum, hops[i].from);
    add(sum, hops[i].to);
    add(sum, hops[i].label);
    add(sum, hops[i].props);
    sum->value += (uint64_t)hops[i].rank;
  }
}

static int add_step(const weir_step *step, void *data, weir_error *error) {
  (void)error;
  add(data, step->node.key);
  add(data, step->node.props);
  if (step->path) {
    add_hops(data, step->path, step->depth);
  }
  return WEIR_OK;
}

static int add_path(const weir_path *path, void *data, weir_error *error) {
  (void)error;
  add_hops(data, path->hops, path->hop_count);
  return WEIR_OK;
}

static int add_node(const weir_node *node, void *data, weir_error *error) {
  (void)error;
  add(data, node->key);
  return WEIR_OK;
}

static int add_triangle(weir_text second, weir_text third, void *data, weir_error *error) {
  (void)error;
  add(data, second);
  add(data, third);
  return WEIR_OK;
}

static weir_reach reach_of(weir_direction direction) {
  static weir_cond edges;
  static weir_cond nodes;
  static weir_cond parts[2];
  static weir_value keys[2];
  static weir_text labels[3];
  keys[0] = weir_string("l3");
  keys[1] = weir_string("l13");
  parts[0] = (weir_cond){.op = WEIR_ONE_OF, .field = WEIR_FIELD_KEY, .values = keys, .count = 2};
  parts[1] = WEIR_TEST(WEIR_FIELD_KEY, WEIR_PREFIX, weir_string("l2"));
  nodes = (weir_cond){.op = WEIR_NOT, .parts = parts, .count = 1};
  edges = (weir_cond){.op = WEIR_OR, .parts = parts + 1, .count = 1};
  parts[1] = WEIR_PROP("open", WEIR_NE, weir_bool(0));
  labels[0] = weir_str("e");
  labels[1] = weir_str("f");
  labels[2] = weir_str("none");
  return (weir_reach){direction, labels, 3, &edges, &nodes};
}

static int walk(struct sum *sum, weir_walk_order order, weir_unique unique, weir_error *error) {
  const weir_text keys[] = {WEIR_TEXT("h"), WEIR_TEXT("t")};
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  weir_walk *handle;
  weir_walk_result result = {.ending = WEIR_ENDED_NODES};
  options.reach = reach_of(unique == WEIR_UNIQUE_PATH ? WEIR_OUT : WEIR_BOTH);
  options.order = order;
  options.unique = unique;
  options.max_depth = 4;
  options.flags = WEIR_WITH_EDGES | WEIR_WITH_NODES | WEIR_WITH_PATHS;
  options.budget.nodes = 30; /* so there are several runs */
  int rc = weir_walk_open(&handle, keys, 2, &options, error);
  while (rc == WEIR_OK && result.ending == WEIR_ENDED_NODES) {
    rc = weir_walk_run(handle, sum->txn, add_step, sum, &result, error);
  }
  weir_walk_close(handle);
  return rc;
}

static int walk_breadth(struct sum *sum, weir_error *error) {
  return walk(sum, WEIR_BREADTH_FIRST, WEIR_UNIQUE_NODE, error);
}

static int walk_edges(struct sum *sum, weir_error *error) {
  return walk(sum, WEIR_DEPTH_FIRST, WEIR_UNIQUE_EDGE, error);
}

static int walk_paths(struct sum *sum, weir_error *error) {
  return walk(sum, WEIR_DEPTH_FIRST, WEIR_UNIQUE_PATH, error);
}

static int within(struct sum *sum, weir_error *error) {
  uint64_t out[4];
  const weir_reach reach = reach_of(WEIR_BOTH);
  int rc = weir_within_count(sum->txn, weir_str("h"), 3, &reach, out, error);
  sum->value += rc ? 0 : out[1] + 100 * out[2];
  return rc;
}

static weir_path_options path_options(weir_cost cost) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  options.reach = reach_of(WEIR_BOTH);
  options.cost = cost;
  options.cost_path = weir_str("toll");
  options.flags = WEIR_WITH_EDGES;
  return options;
}

static int shortest(struct sum *sum, weir_cost cost, weir_error *error) {
  const weir_path_options options = path_options(cost);
  weir_arena arena = WEIR_ARENA_INIT;
  weir_path path;
  int rc = weir_path_shortest(sum->txn, weir_str("h"), weir_str("t"), &options, &path, &arena, error);
  if (rc == WEIR_OK) {
    add_hops(sum, path.hops, path.hop_count);
  }
  weir_arena_clear(&arena);
  return rc;
}

static int shortest_hops(struct sum *sum, weir_error *error) {
  return shortest(sum, WEIR_COST_HOPS, error);
}

static int shortest_tolls(struct sum *sum, weir_error *error) {
  return shortest(sum, WEIR_COST_PROP, error);
}

static int all_hops(struct sum *sum, weir_error *error) {
  const weir_path_options options = path_options(WEIR_COST_HOPS);
  return weir_path_all_shortest(sum->txn, weir_str("h"), weir_str("t"), &options, add_path, sum, NULL, error);
}

static int all_weights(struct sum *sum, weir_error *error) {
  const weir_path_options options = path_options(WEIR_COST_WEIGHT);
  return weir_path_all_shortest(sum->txn, weir_str("h"), weir_str("t"), &options, add_path, sum, NULL, error);
}

static int k_shortest(struct sum *sum, weir_error *error) {
  const weir_path_options options = path_options(WEIR_COST_WEIGHT);
  return weir_path_k_shortest(sum->txn, weir_str("h"), weir_str("t"), 5, &options, add_path, sum, NULL,
                              error);
}

static int common(struct sum *sum, weir_error *error) {
  const weir_reach reach = reach_of(WEIR_BOTH);
  return weir_common_neighbors(sum->txn, weir_str("h"), weir_str("t"), &reach, add_node, sum, NULL, error);
}

static int triangles(struct sum *sum, weir_error *error) {
  weir_reach reach = reach_of(WEIR_BOTH);
  reach.label_count = 0;
  reach.edges = NULL;
  return weir_triangles(sum->txn, weir_str("h"), &reach, add_triangle, sum, NULL, error);
}

static int find(struct sum *sum, weir_error *error) {
  weir_find find = WEIR_FIND_INIT;
  const weir_reach reach = reach_of(WEIR_BOTH);
  find.where = reach.nodes;
  return weir_node_find(sum->txn, &find, add_node, sum, error);
}

/* ---- The loop -------------------------------------------------------------------------------------------
 */

static const struct {
  const char *name;
  int (*run)(struct sum *sum, weir_error *error);
} calls[] = {{"walk_breadth", walk_breadth},   {"walk_edges", walk_edges},
             {"walk_paths", walk_paths},       {"within", within},
             {"shortest_hops", shortest_hops}, {"shortest_tolls", shortest_tolls},
             {"all_hops", all_hops},           {"all_weights", all_weights},
             {"k_shortest", k_shortest},       {"common", common},
             {"triangles", triangles},         {"find", find}};

/* The call with its `at`th request for memory failing; 0: none. *reached: there was such a request. */
static int run(size_t call, weir_txn *txn, long at, int *reached, uint64_t *value) {
  struct sum sum = {UINT64_C(14695981039346656037), txn};
  err = (weir_error)WEIR_ERROR_INIT;
  scarce_begin(at);
  int rc = calls[call].run(&sum, &err);
  *reached = scarce_end();
  *value = sum.value;
  return rc;
}

/* `statements`: how many a connection keeps. With one alone they are prepared again and again. */
static void run_out(unsigned statements) {
  char path[512];
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  weir_graph *graph;
  options.mode = WEIR_SINGLE;
  options.statements = statements;
  weir_test_path(path, sizeof path, "faults.db");
  OK(weir_graph_open(&graph, path, &options, &err));
  weir_txn *txn = weir_graph_auto(graph);
  fill(txn);
  for (size_t call = 0; call < sizeof calls / sizeof calls[0]; call++) {
    uint64_t expected;
    uint64_t value;
    long failures = 0;
    int reached = 1;
    OK(run(call, txn, 0, &reached, &expected));
    for (long at = 1; reached; at += 1 + at / 8) {
      int rc = run(call, txn, at, &reached, &value);
      cr_assert(rc == WEIR_NOMEM || (rc == WEIR_OK && value == expected), "%s, request %ld: %d %s",
                calls[call].name, at, rc, err.message);
      failures += rc != WEIR_OK;
      OK(run(call, txn, 0, &(int){0}, &value));
      cr_assert(eq(u64, value, expected), "%s after request %ld", calls[call].name, at);
    }
    cr_assert(gt(i64, failures, 5), "%s", calls[call].name);
  }
  OK(weir_graph_close(graph, &err));
}

Test(query_faults, warm) {
  run_out(64);
}

Test(query_faults, with_statements_prepared_anew) {
  run_out(1);
}
