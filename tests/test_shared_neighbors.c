/* Common neighbors and triangles, against the steps of random graphs. Prints its seed. */
#include "walk_model.h"

struct graph {
  struct model model;
  int near[MODEL_NODES][MODEL_NODES]; /* one step leads from the one to the other */
};

static void fill_near(struct graph *graph, const struct model_reach *reach) {
  struct model_hop steps[2 * MODEL_EDGES];
  int far[2 * MODEL_EDGES];
  memset(graph->near, 0, sizeof graph->near);
  for (int node = 0; node < graph->model.node_count; node++) {
    int count = model_steps(&graph->model, reach, node, steps, far);
    for (int i = 0; i < count; i++) {
      graph->near[node][far[i]] = 1;
    }
  }
}

static void remake(struct graph *graph, weir_txn *txn, weir_test_rng *rng) {
  int nodes = 1 + (int)weir_test_below(rng, MODEL_NODES);
  int most = nodes * nodes < MODEL_EDGES ? nodes * nodes : MODEL_EDGES;
  model_make(&graph->model, rng, nodes, (int)weir_test_below(rng, (uint64_t)most + 1));
  for (int node = 0; node < MODEL_NODES; node++) {
    OK(weir_node_del(txn, weir_str(model_key(node)), NULL, &err));
  }
  model_put(&graph->model, txn);
}

/* ---- Common neighbors --------------------------------------------------------------------------------- */

struct commons {
  int nodes[MODEL_NODES];
  int count;
  int stop_after;
};

static int note_common(const weir_node *node, void *data, weir_error *error) {
  struct commons *commons = data;
  if (commons->count == MODEL_NODES || !node->props.ptr || node->label_count != 1) {
    return weir_fail(error, WEIR_CORRUPT, "too many, or not complete");
  }
  commons->nodes[commons->count++] = model_node(node->key);
  return commons->count == commons->stop_after ? WEIR_STOP : WEIR_OK;
}

static void check_common(struct graph *graph, weir_txn *txn, weir_test_rng *rng) {
  struct model_reach reach;
  struct commons commons = {.count = 0};
  uint64_t count = 0;
  uint64_t alone = 0;
  int expected = 0;
  const struct model *model = &graph->model;
  int a = (int)weir_test_below(rng, (uint64_t)model->node_count);
  int b = (int)weir_test_below(rng, (uint64_t)model->node_count);
  model_reach_make(&reach, rng);
  fill_near(graph, &reach);
  OK(weir_common_neighbors(txn, weir_str(model_key(a)), weir_str(model_key(b)), &reach.reach, note_common,
                           &commons, &count, &err));
  OK(weir_common_neighbors(txn, weir_str(model_key(a)), weir_str(model_key(b)), &reach.reach, NULL, NULL,
                           &alone, &err));
  for (int node = 0; node < model->node_count; node++) {
    if (graph->near[a][node] && graph->near[b][node] && node != a && node != b &&
        model_lets_in(model, &reach, node)) {
      cr_assert(lt(int, expected, commons.count));
      cr_assert(eq(int, commons.nodes[expected], node));
      expected++;
    }
  }
  cr_assert(eq(int, commons.count, expected));
  cr_assert(eq(u64, count, (uint64_t)expected));
  cr_assert(eq(u64, alone, (uint64_t)expected));
}

GRAPH_TEST(shared_neighbors, common_ones_are_those_of_the_model) {
  weir_test_rng rng = {weir_test_seed()};
  struct graph random;
  for (int i = 0; i < 30; i++) {
    remake(&random, txn, &rng);
    for (int k = 0; k < 20; k++) {
      check_common(&random, txn, &rng);
    }
  }
}

GRAPH_TEST(shared_neighbors, a_visitor_may_stop) {
  struct commons commons = {.stop_after = 1};
  weir_node node = WEIR_NODE("n1", "x", NULL);
  for (int i = 0; i < 4; i++) {
    node.key = weir_str(model_key(i));
    OK(weir_node_put(txn, &node, NULL, &err));
    put_edge(txn, "a", "e", model_key(i));
    put_edge(txn, "b", "e", model_key(i));
  }
  OK(weir_common_neighbors(txn, weir_str("a"), weir_str("b"), NULL, note_common, &commons, NULL, &err));
  cr_assert(eq(int, commons.count, 1));
}

/* ---- Triangles ----------------------------------------------------------------------------------------- */

struct triangles {
  int seen[MODEL_NODES][MODEL_NODES];
  int count;
};

static int note_triangle(weir_text second, weir_text third, void *data, weir_error *error) {
  struct triangles *triangles = data;
  int a = model_node(second);
  int b = model_node(third);
  if (a < 0 || b < 0 || a == b || triangles->seen[a][b]) {
    return weir_fail(error, WEIR_CORRUPT, "%d and %d", a, b);
  }
  triangles->seen[a][b] = triangles->seen[b][a] = 1;
  triangles->count++;
  return WEIR_OK;
}

static void check_triangles(struct graph *graph, weir_txn *txn, weir_test_rng *rng) {
  struct model_reach reach;
  struct triangles triangles = {.count = 0};
  uint64_t count = 0;
  uint64_t alone = 0;
  int expected = 0;
  const struct model *model = &graph->model;
  int node = (int)weir_test_below(rng, (uint64_t)model->node_count);
  model_reach_make(&reach, rng);
  reach.direction = WEIR_BOTH;
  reach.reach.direction = weir_test_below(rng, 2) ? WEIR_BOTH : (weir_direction)0;
  fill_near(graph, &reach);
  OK(weir_triangles(txn, weir_str(model_key(node)), &reach.reach, note_triangle, &triangles, &count, &err));
  OK(weir_triangles(txn, weir_str(model_key(node)), &reach.reach, NULL, NULL, &alone, &err));
  for (int a = 0; a < model->node_count; a++) {
    for (int b = a + 1; b < model->node_count; b++) {
      int is_one = a != node && b != node && graph->near[node][a] && graph->near[node][b] &&
                   graph->near[a][b] && model_lets_in(model, &reach, a) && model_lets_in(model, &reach, b);
      cr_assert(eq(int, triangles.seen[a][b], is_one), "%d, %d, %d", node, a, b);
      expected += is_one;
    }
  }
  cr_assert(eq(u64, count, (uint64_t)expected));
  cr_assert(eq(u64, alone, (uint64_t)expected));
}

GRAPH_TEST(shared_neighbors, triangles_are_those_of_the_model) {
  weir_test_rng rng = {weir_test_seed()};
  struct graph random;
  for (int i = 0; i < 30; i++) {
    remake(&random, txn, &rng);
    for (int k = 0; k < 20; k++) {
      check_triangles(&random, txn, &rng);
    }
  }
}

static int put_leaves(weir_txn *txn, void *data, weir_error *error) {
  const char *const *hubs = data;
  int rc = WEIR_OK;
  for (int i = 0; i < 400 && rc == WEIR_OK; i++) {
    char key[16];
    snprintf(key, sizeof key, "leaf%d", i);
    weir_edge edge = WEIR_EDGE(hubs[i % 2], "e", key);
    rc = weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, error);
  }
  return rc;
}

/* n1 and n2 have far more edges than n0 has, n3 and n4 have few; all of them are near each other. */
GRAPH_TEST(shared_neighbors, triangles_with_nodes_of_many_edges_are_found) {
  struct triangles triangles = {.count = 0};
  const char *hubs[] = {"n1", "n2"};
  for (int i = 0; i < 5; i++) {
    put_node(txn, model_key(i), NULL);
  }
  for (int i = 0; i < 5; i++) {
    for (int k = 0; k < i; k++) {
      put_edge(txn, model_key(i), "e", model_key(k));
    }
  }
  OK(weir_write(txn, put_leaves, (void *)hubs, NULL, &err));
  OK(weir_triangles(txn, weir_str("n0"), NULL, note_triangle, &triangles, NULL, &err));
  cr_assert(eq(int, triangles.count, 6));
}

GRAPH_TEST(shared_neighbors, refuse_what_makes_no_sense) {
  uint64_t count = 7;
  weir_reach reach = {.direction = WEIR_OUT};
  const weir_text unheard = WEIR_TEXT("unheard of");
  put_edge(txn, "a", "e", "b");
  FAILS(weir_common_neighbors(txn, weir_str("a"), weir_str("x"), NULL, NULL, NULL, &count, &err),
        WEIR_NOT_FOUND, "\"x\"");
  FAILS(weir_common_neighbors(txn, weir_str(""), weir_str("a"), NULL, NULL, NULL, &count, &err), WEIR_INVALID,
        "key a");
  FAILS(weir_triangles(txn, weir_str("x"), NULL, NULL, NULL, &count, &err), WEIR_NOT_FOUND, "\"x\"");
  FAILS(weir_triangles(txn, weir_str("a"), &reach, NULL, NULL, &count, &err), WEIR_INVALID, "direction 1");
  FAILS(weir_triangles(NULL, weir_str("a"), NULL, NULL, NULL, &count, &err), WEIR_INVALID, "txn");
  cr_assert(eq(u64, count, 7));
  OK(weir_triangles(txn, weir_str("a"), NULL, NULL, NULL, NULL, &err));
  reach = (weir_reach){.labels = &unheard, .label_count = 1};
  OK(weir_common_neighbors(txn, weir_str("a"), weir_str("b"), &reach, NULL, NULL, &count, &err));
  cr_assert(eq(u64, count, 0));
}
