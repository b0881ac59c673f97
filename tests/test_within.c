/* Counting what is within some steps, against distances in random graphs. Prints its seed. */
#include "walk_model.h"

static void check_counts(const struct model *model, weir_txn *txn, weir_test_rng *rng) {
  struct model_reach reach;
  int distance[MODEL_NODES];
  uint64_t out[MODEL_NODES + 2];
  int start = (int)weir_test_below(rng, (uint64_t)model->node_count);
  int depth = (int)weir_test_below(rng, MODEL_NODES);
  model_reach_make(&reach, rng);
  model_distances(model, &reach, &start, 1, distance);
  memset(out, 0xff, sizeof out);
  OK(weir_within_count(txn, weir_str(model_key(start)), (uint32_t)depth, &reach.reach, out, &err));
  for (int d = 0; d <= depth; d++) {
    uint64_t expected = 0;
    for (int node = 0; node < model->node_count; node++) {
      expected += distance[node] == d;
    }
    cr_assert(eq(u64, out[d], expected), "at distance %d of %d", d, depth);
  }
  cr_assert(eq(u64, out[depth + 1], UINT64_MAX)); /* not written behind the end */
}

GRAPH_TEST(within, counts_are_those_of_the_distances) {
  weir_test_rng rng = {weir_test_seed()};
  struct model model;
  for (int i = 0; i < WEIR_TEST_ROUNDS(30); i++) {
    int nodes = 1 + (int)weir_test_below(&rng, MODEL_NODES);
    int most = nodes * nodes < MODEL_EDGES ? nodes * nodes : MODEL_EDGES;
    model_make(&model, &rng, nodes, (int)weir_test_below(&rng, (uint64_t)most + 1));
    for (int node = 0; node < MODEL_NODES; node++) {
      OK(weir_node_del(txn, weir_str(model_key(node)), NULL, &err));
    }
    model_put(&model, txn);
    for (int k = 0; k < 20; k++) {
      check_counts(&model, txn, &rng);
    }
  }
}

/* More neighbors than are read at once, and more nodes than fit at first. */
GRAPH_TEST(within, many_neighbors_are_counted) {
  uint64_t out[3];
  int64_t leaves = 0;
  for (int i = 0; i < 300; i++) {
    char key[16];
    snprintf(key, sizeof key, "leaf%d", i);
    put_edge(txn, "hub", "e", key);
    if (i % 3 == 0) {
      put_edge(txn, key, "e", "end");
    }
    leaves++;
  }
  OK(weir_within_count(txn, weir_str("hub"), 2, NULL, out, &err));
  cr_assert(eq(u64, out[0], 1));
  cr_assert(eq(u64, out[1], (uint64_t)leaves));
  cr_assert(eq(u64, out[2], 1));
}

enum { WIDE = 9000 };

static int put_wide(weir_txn *txn, void *data, weir_error *error) {
  int rc = WEIR_OK;
  (void)data;
  for (int i = 0; i < WIDE && rc == WEIR_OK; i++) {
    char keys[2][16];
    snprintf(keys[0], sizeof keys[0], "wide%d", i);
    snprintf(keys[1], sizeof keys[1], "end%d", i % 10);
    weir_edge edge = WEIR_EDGE("hub", "e", keys[0]);
    rc = weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, error);
    edge = WEIR_EDGE(keys[0], "e", keys[1]);
    rc = rc ? rc : weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, error);
  }
  return rc;
}

/* A level that is sorted. */
GRAPH_TEST(within, a_wide_level_is_counted) {
  uint64_t out[4];
  weir_reach reach = {.direction = WEIR_BOTH};
  OK(weir_write(txn, put_wide, NULL, NULL, &err));
  OK(weir_within_count(txn, weir_str("hub"), 3, NULL, out, &err));
  cr_assert(eq(u64, out[1], WIDE));
  cr_assert(eq(u64, out[2], 10));
  cr_assert(eq(u64, out[3], 0));
  OK(weir_within_count(txn, weir_str("end0"), 3, &reach, out, &err));
  cr_assert(eq(u64, out[1], WIDE / 10));
  cr_assert(eq(u64, out[2], 1));
  cr_assert(eq(u64, out[3], WIDE - WIDE / 10));
}

GRAPH_TEST(within, the_start_is_not_asked_and_loops_do_not_count) {
  uint64_t out[3];
  weir_cond others = WEIR_TEST(WEIR_FIELD_KEY, WEIR_NE, weir_string("a"));
  weir_reach reach = {.direction = WEIR_BOTH, .nodes = &others};
  put_edge(txn, "a", "e", "a");
  put_edge(txn, "a", "e", "b");
  put_edge(txn, "b", "f", "a");
  OK(weir_within_count(txn, weir_str("a"), 2, &reach, out, &err));
  cr_assert(eq(u64, out[0], 1));
  cr_assert(eq(u64, out[1], 1));
  cr_assert(eq(u64, out[2], 0));
}

GRAPH_TEST(within, refuses_what_makes_no_sense) {
  uint64_t out[2];
  weir_reach reach = {.direction = (weir_direction)9};
  const weir_text unheard = WEIR_TEXT("unheard of");
  put_node(txn, "a", NULL);
  FAILS(weir_within_count(txn, weir_str("b"), 1, NULL, out, &err), WEIR_NOT_FOUND, "\"b\"");
  FAILS(weir_within_count(txn, weir_str(""), 1, NULL, out, &err), WEIR_INVALID, "key");
  FAILS(weir_within_count(txn, weir_str("a"), 1, NULL, NULL, &err), WEIR_INVALID, "out");
  FAILS(weir_within_count(NULL, weir_str("a"), 1, NULL, out, &err), WEIR_INVALID, "txn");
  FAILS(weir_within_count(txn, weir_str("a"), WEIR_UNLIMITED, NULL, out, &err), WEIR_INVALID, "depth");
  FAILS(weir_within_count(txn, weir_str("a"), 1, &reach, out, &err), WEIR_INVALID, "direction 9");
  reach = (weir_reach){.labels = &unheard, .label_count = 1};
  OK(weir_within_count(txn, weir_str("a"), 1, &reach, out, &err));
  cr_assert(eq(u64, out[0], 1));
  cr_assert(eq(u64, out[1], 0));
}
