/* Many nodes or edges in one call: as a whole or without a trace. */
#include "graph_fixture.h"

#define MANY 1000

static weir_node nodes[MANY];
static weir_edge edges[MANY];
static weir_outcome outcomes[MANY];

/* n0, n1, ... with the label and props; edges n0-[label]->n1, n1-[label]->n2, ... */
static void fill(const char *label, const char *props) {
  static char keys[MANY + 1][16];
  for (int i = 0; i <= MANY; i++) {
    snprintf(keys[i], sizeof keys[i], "n%d", i);
  }
  for (int i = 0; i < MANY; i++) {
    nodes[i] = WEIR_NODE(keys[i], label, props);
    edges[i] = WEIR_EDGE(keys[i], label, keys[i + 1]);
    outcomes[i] = (weir_outcome)-1;
  }
}

static int all_are(weir_outcome outcome) {
  for (int i = 0; i < MANY; i++) {
    if (outcomes[i] != outcome) {
      return 0;
    }
  }
  return 1;
}

GRAPH_TEST(batches, put_many_nodes_tells_of_each) {
  fill("x", "{\"a\":1}");
  OK(weir_node_put_many(txn, nodes, MANY, outcomes, &err));
  cr_assert(all_are(WEIR_INSERTED));
  OK(weir_node_put_many(txn, nodes, MANY, outcomes, &err));
  cr_assert(all_are(WEIR_UNCHANGED));
  nodes[7].props = weir_str("{\"a\":2}");
  OK(weir_node_put_many(txn, nodes, MANY, outcomes, &err));
  cr_assert(eq(int, outcomes[7], WEIR_UPDATED));
  cr_assert(eq(int, outcomes[8], WEIR_UNCHANGED));
  cr_assert(eq(i64, count_nodes(txn, "x"), MANY));
  cr_assert(eq(i64, last_rev(txn), 2)); /* one transaction each, the unchanged one has no number */
}

GRAPH_TEST(batches, put_many_edges_tells_of_each) {
  fill("x", NULL);
  OK(weir_edge_put_many(txn, edges, MANY, WEIR_CREATE_ENDPOINTS, outcomes, &err));
  cr_assert(all_are(WEIR_INSERTED));
  OK(weir_edge_put_many(txn, edges, MANY, 0, outcomes, &err));
  cr_assert(all_are(WEIR_UNCHANGED));
  edges[3].weight = 2;
  OK(weir_edge_put_many(txn, edges, MANY, 0, NULL, &err));
  cr_assert(eq(i64, count_edges(txn, "x"), MANY));
  cr_assert(eq(i64, count_nodes(txn, NULL), MANY + 1));
  cr_assert(eq(i64, last_rev(txn), 2));
}

GRAPH_TEST(batches, a_bad_item_is_named_and_nothing_is_kept) {
  fill("x", NULL);
  nodes[500].props = weir_str("{\"a\":}");
  FAILS(weir_node_put_many(txn, nodes, MANY, outcomes, &err), WEIR_INVALID, "node 500: props");
  nodes[500].props = weir_str(NULL);
  nodes[501].key = weir_str("");
  FAILS(weir_node_put_many(txn, nodes, MANY, outcomes, &err), WEIR_INVALID, "node 501: key is empty");
  edges[2].label = weir_str("");
  FAILS(weir_edge_put_many(txn, edges, MANY, WEIR_CREATE_ENDPOINTS, NULL, &err), WEIR_INVALID,
        "edge 2: label");
  cr_assert(eq(i64, count_nodes(txn, NULL), 0));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 0));
  cr_assert(eq(i64, last_rev(txn), 0));
}

GRAPH_TEST(batches, a_failure_on_the_way_undoes_what_came_before) {
  fill("fresh", NULL);
  put_node(txn, "n0", NULL);
  put_node(txn, "n1", NULL);
  put_node(txn, "n2", NULL);
  FAILS(weir_edge_put_many(txn, edges, MANY, 0, outcomes, &err), WEIR_NOT_FOUND,
        "edge 2: no node has the dst key \"n3\"");
  cr_assert(eq(i64, count_edges(txn, NULL), 0));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 0));
  cr_assert(eq(i64, last_rev(txn), 3));
}

/* A batch that fails in the middle of a transaction which goes on, and uses what the batch had made. */
static int fail_and_go_on(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  int rc = weir_node_put(txn, &WEIR_NODE("n0", "before", NULL), NULL, error);
  if (rc == WEIR_OK) {
    rc = weir_edge_put_many(txn, edges, MANY, 0, NULL, error) == WEIR_NOT_FOUND ? WEIR_OK : WEIR_CONFLICT;
  }
  if (rc == WEIR_OK) {
    rc = weir_node_put(txn, &WEIR_NODE("n9", "other", NULL), NULL, error);
  }
  if (rc == WEIR_OK) {
    rc = weir_edge_put(txn, &WEIR_EDGE("n0", "fresh", "n9"), 0, NULL, error);
  }
  return rc;
}

GRAPH_TEST(batches, a_failed_batch_leaves_the_larger_transaction_as_it_was) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_edge out;
  fill("fresh", NULL);
  put_node(txn, "n1", NULL); /* so that the first edge of the batch is written, with its new label */
  OK(weir_write(txn, fail_and_go_on, NULL, NULL, &err));
  cr_assert(eq(i64, count_nodes(txn, "before"), 1));
  cr_assert(eq(i64, count_edges(txn, NULL), 1));
  OK(weir_edge_get(txn, &WEIR_EDGE("n0", "fresh", "n9"), &out, &arena, &err));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 3));
  cr_assert(eq(i64,
               sql_number(txn, "SELECT count(*) FROM edge JOIN label ON label.id = edge.label"
                               " WHERE name = 'fresh'"),
               1));
  weir_arena_clear(&arena);
}

GRAPH_TEST(batches, the_same_key_twice_is_put_twice) {
  const weir_node twice[] = {WEIR_NODE("a", "x", NULL), WEIR_NODE("a", "y", NULL), WEIR_NODE("a", "y", NULL)};
  OK(weir_node_put_many(txn, twice, 3, outcomes, &err));
  cr_assert(eq(int, outcomes[0], WEIR_INSERTED));
  cr_assert(eq(int, outcomes[1], WEIR_UPDATED));
  cr_assert(eq(int, outcomes[2], WEIR_UNCHANGED));
  cr_assert(eq(i64, count_nodes(txn, "y"), 1));
}

GRAPH_TEST(batches, none_is_no_error) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  size_t found = 1;
  OK(weir_node_put_many(txn, NULL, 0, NULL, &err));
  OK(weir_edge_put_many(txn, NULL, 0, 0, NULL, &err));
  OK(weir_node_get_many(txn, NULL, 0, &node, &found, &arena, &err));
  cr_assert(zero(sz, found));
  cr_assert(eq(i64, last_rev(txn), 0));
  weir_arena_clear(&arena);
}

GRAPH_TEST(batches, get_many_keeps_the_order_of_the_keys) {
  static weir_text keys[MANY];
  static weir_node out[MANY];
  weir_arena arena = WEIR_ARENA_INIT;
  size_t found;
  fill("x", "{\"a\":1}");
  OK(weir_node_put_many(txn, nodes, MANY, NULL, &err));
  for (int i = 0; i < MANY; i++) {
    keys[i] = i % 10 == 3 ? weir_str("missing") : nodes[(i * 7) % MANY].key;
  }
  for (int round = 0; round < 2; round++) { /* the second reuses the arena */
    OK(weir_node_get_many(txn, keys, MANY, out, &found, &arena, &err));
    cr_assert(eq(sz, found, MANY - MANY / 10));
    for (int i = 0; i < MANY; i++) {
      if (i % 10 == 3) {
        cr_assert(eq(ptr, (void *)out[i].key.ptr, NULL));
      } else {
        SAME(out[i].key, text_string(keys[i]));
        SAME(out[i].label, "x");
        SAME(out[i].props, "{\"a\":1}");
      }
    }
  }
  weir_arena_clear(&arena);
}
