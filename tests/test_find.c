/* Find: visitors, limits, transactions and arguments. What is found is test_find_model's. */
#include "graph_fixture.h"

#include <weir/query.h>

struct seen {
  weir_txn *txn;
  char text[2048];
  int count;
  int stop_at;
  int fail_at;
};

static int note(struct seen *seen, const char *name, weir_error *error) {
  strcat(strcat(seen->text, seen->count ? " " : ""), name);
  seen->count++;
  if (seen->count == seen->fail_at) {
    return weir_fail(error, WEIR_CONFLICT, "no more of these");
  }
  return seen->count == seen->stop_at ? WEIR_STOP : WEIR_OK;
}

static int note_node(const weir_node *node, void *data, weir_error *error) {
  return note(data, node->key.ptr, error);
}

static int note_edge(const weir_edge *edge, void *data, weir_error *error) {
  char name[128];
  snprintf(name, sizeof name, "%s-%s-%s-%d", edge->src.ptr, edge->label.ptr, edge->dst.ptr, (int)edge->rank);
  return note(data, name, error);
}

static void put(weir_txn *txn, const char *key, const char *label, const char *props) {
  OK(weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err));
}

static void put_people(weir_txn *txn) {
  put(txn, "carl", "person", "{\"age\":30,\"city\":\"Ulm\"}");
  put(txn, "alice", "person", "{\"age\":42,\"city\":\"Bonn\"}");
  put(txn, "bob", "person", "{\"age\":42}");
  put(txn, "rex", "dog", "{\"age\":3}");
}

static const char *nodes(weir_txn *txn, weir_find find) {
  static struct seen seen;
  memset(&seen, 0, sizeof seen);
  OK(weir_node_find(txn, &find, note_node, &seen, &err));
  return seen.text;
}

/* ---- What is visited -------------------------------------------------------------------------------------
 */

GRAPH_TEST(find, of_nothing_finds_nothing) {
  weir_find find = WEIR_FIND_INIT;
  SAME_STRING(nodes(txn, find), "");
  find.label = weir_str("nobody");
  SAME_STRING(nodes(txn, find), "");
  struct seen seen = {.count = 0};
  OK(weir_node_find(txn, NULL, note_node, &seen, &err));
  OK(weir_edge_find(txn, &find, note_edge, &seen, &err));
  cr_assert(zero(int, seen.count));
}

GRAPH_TEST(find, combines_label_conditions_order_and_limit) {
  weir_cond old = WEIR_PROP("age", WEIR_GE, weir_int(30));
  weir_cond not_ulm = WEIR_ALL(old, WEIR_PROP("city", WEIR_NE, weir_string("Ulm")));
  weir_find find = WEIR_FIND_INIT;
  put_people(txn);
  find.where = &old;
  find.order = WEIR_FIELD_KEY;
  SAME_STRING(nodes(txn, find), "alice bob carl");
  find.descending = 1;
  SAME_STRING(nodes(txn, find), "carl bob alice");
  find.limit = 2;
  SAME_STRING(nodes(txn, find), "carl bob");
  find.limit = 0;
  find.where = &not_ulm;
  SAME_STRING(nodes(txn, find), "bob alice"); /* also who has no city */
  find.where = NULL;
  find.label = weir_str("person");
  find.order = WEIR_FIELD_PROP;
  find.order_path = weir_str("age");
  SAME_STRING(nodes(txn, find), "bob alice carl"); /* backwards, ties too */
  find.descending = 0;
  SAME_STRING(nodes(txn, find), "carl alice bob");
}

GRAPH_TEST(find, of_edges_knows_both_ends) {
  weir_cond from_a = WEIR_TEST(WEIR_FIELD_SRC, WEIR_EQ, weir_string("a"));
  weir_cond to_a = WEIR_TEST(WEIR_FIELD_DST, WEIR_EQ, weir_string("a"));
  weir_cond loop = WEIR_ALL(from_a, to_a);
  weir_cond nowhere = WEIR_TEST(WEIR_FIELD_SRC, WEIR_EQ, weir_string("nowhere"));
  weir_cond high = WEIR_ALL(from_a, WEIR_TEST(WEIR_FIELD_RANK, WEIR_GT, weir_int(0)));
  weir_edge second = WEIR_EDGE("a", "e", "b");
  const struct {
    const weir_cond *where;
    const char *text;
  } cases[] = {{&from_a, "a-e-a-0 a-e-b-0 a-e-b-1"},
               {&to_a, "a-e-a-0 b-f-a-0"},
               {&loop, "a-e-a-0"},
               {&high, "a-e-b-1"},
               {&nowhere, ""}};
  put_edge(txn, "a", "e", "b");
  put_edge(txn, "a", "e", "a");
  put_edge(txn, "b", "f", "a");
  second.rank = 1;
  OK(weir_edge_put(txn, &second, 0, NULL, &err));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct seen seen = {.count = 0};
    weir_find find = WEIR_FIND_INIT;
    find.where = cases[i].where;
    OK(weir_edge_find(txn, &find, note_edge, &seen, &err));
    SAME_STRING(seen.text, cases[i].text);
  }
}

static int check_whole(const weir_node *node, void *data, weir_error *error) {
  (void)data;
  return node->label_count == 2 && strcmp(node->label.ptr, "x") == 0 &&
                 strcmp(node->labels[1].ptr, "y") == 0 && strcmp(node->props.ptr, "{\"n\":1}") == 0 &&
                 node->rev == 1
             ? WEIR_OK
             : weir_fail(error, WEIR_CONSTRAINT, "%s is not whole", node->key.ptr);
}

GRAPH_TEST(find, hands_out_whole_nodes) {
  const weir_text labels[] = {WEIR_TEXT("y"), WEIR_TEXT("x")};
  weir_node node = {
      .key = WEIR_TEXT("a"), .labels = labels, .label_count = 2, .props = WEIR_TEXT("{\"n\":1}")};
  weir_find find = WEIR_FIND_INIT;
  OK(weir_node_put(txn, &node, NULL, &err));
  OK(weir_node_find(txn, NULL, check_whole, NULL, &err));
  find.label = weir_str("y");
  OK(weir_node_find(txn, &find, check_whole, NULL, &err));
}

/* ---- Visitors --------------------------------------------------------------------------------------------
 */

GRAPH_TEST(find, ends_where_the_visitor_says) {
  struct seen seen = {.stop_at = 2};
  weir_find find = WEIR_FIND_INIT;
  put_people(txn);
  find.order = WEIR_FIELD_KEY;
  OK(weir_node_find(txn, &find, note_node, &seen, &err));
  SAME_STRING(seen.text, "alice bob");
  seen = (struct seen){.fail_at = 2};
  FAILS(weir_node_find(txn, &find, note_node, &seen, &err), WEIR_CONFLICT, "no more of these");
  cr_assert(eq(int, seen.count, 2));
}

/* The very same find, for each row of the first. */
static int find_again(const weir_node *node, void *data, weir_error *error) {
  struct seen *seen = data;
  char key[32];
  weir_cond where = WEIR_PROP("age", WEIR_EQ, weir_int(42));
  weir_find find = WEIR_FIND_INIT;
  snprintf(key, sizeof key, "%s", node->key.ptr);
  find.label = weir_str("person");
  find.where = &where;
  int rc = weir_node_find(seen->txn, &find, note_node, seen, error);
  return rc ? rc : strcmp(key, node->key.ptr) != 0 ? WEIR_CORRUPT : WEIR_OK;
}

static int find_nested(weir_txn *txn, void *data, weir_error *error) {
  struct seen *seen = data;
  weir_cond where = WEIR_PROP("age", WEIR_EQ, weir_int(42));
  weir_find find = WEIR_FIND_INIT;
  seen->txn = txn;
  find.label = weir_str("person");
  find.where = &where;
  return weir_node_find(txn, &find, find_again, seen, error);
}

static int write_in_visitor(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  return weir_node_put(data, &WEIR_NODE("new", NULL, NULL), NULL, error);
}

static int find_and_write(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_node_find(txn, NULL, write_in_visitor, txn, error);
}

GRAPH_TEST(find, lets_a_visitor_read_and_not_write) {
  const weir_index index = {WEIR_NODES, WEIR_TEXT("person"), WEIR_TEXT("age"), 0, 0};
  put_people(txn);
  for (int i = 0; i < 2; i++) {
    struct seen seen = {.count = 0};
    OK(weir_read(txn, find_nested, &seen, NULL, &err));
    SAME_STRING(seen.text, "alice bob alice bob");
    if (i == 0) {
      OK(weir_index_create(txn, &index, NULL, &err));
    }
  }
  FAILS(weir_write(txn, find_and_write, NULL, NULL, &err), WEIR_MISUSE, "a visitor must not write");
  FAILS(weir_read(txn, find_and_write, NULL, NULL, &err), WEIR_MISUSE, "");
}

/* A find in a write sees what was written before, also by an index that is not committed. */
static int find_own_writes(weir_txn *txn, void *data, weir_error *error) {
  const weir_index index = {WEIR_NODES, WEIR_TEXT("person"), WEIR_TEXT("age"), 0, 0};
  int rc = weir_index_create(txn, &index, NULL, error);
  rc = rc ? rc : weir_node_put(txn, &WEIR_NODE("eve", "person", "{\"age\":42}"), NULL, error);
  rc = rc ? rc : find_nested(txn, data, error);
  rc = rc ? rc : weir_index_drop(txn, &index, NULL, error);
  return rc ? rc : find_nested(txn, data, error);
}

GRAPH_TEST(find, sees_the_writes_of_its_transaction) {
  struct seen seen = {.count = 0};
  put_people(txn);
  OK(weir_write(txn, find_own_writes, &seen, NULL, &err));
  cr_assert(eq(int, seen.count, 2 * 3 * 3));
}

/* ---- Arguments -------------------------------------------------------------------------------------------
 */

GRAPH_TEST(find, with_bad_arguments_is_refused) {
  struct seen seen = {.count = 0};
  weir_find find = WEIR_FIND_INIT;
  FAILS(weir_node_find(NULL, &find, note_node, &seen, &err), WEIR_INVALID, "txn is NULL");
  FAILS(weir_node_find(txn, &find, NULL, &seen, &err), WEIR_INVALID, "visit is NULL");
  FAILS(weir_edge_find(txn, &find, NULL, &seen, &err), WEIR_INVALID, "visit is NULL");
  find.order = WEIR_FIELD_WEIGHT;
  FAILS(weir_node_find(txn, &find, note_node, &seen, &err), WEIR_INVALID, "nodes can be ordered by key");
  find.order = WEIR_FIELD_KEY;
  FAILS(weir_edge_find(txn, &find, note_edge, &seen, &err), WEIR_INVALID, "edges can be ordered by weight");
  find.order = (weir_field)77;
  FAILS(weir_edge_find(txn, &find, note_edge, &seen, &err), WEIR_INVALID, "field 77");
  find.order = WEIR_FIELD_PROP;
  FAILS(weir_edge_find(txn, &find, note_edge, &seen, &err), WEIR_INVALID, "order_path");
  find = (weir_find)WEIR_FIND_INIT;
  find.label = (weir_text){"\xff", 1};
  FAILS(weir_node_find(txn, &find, note_node, &seen, &err), WEIR_INVALID, "label");
  find = (weir_find)WEIR_FIND_INIT;
  find.size = 0;
  FAILS(weir_node_find(txn, &find, note_node, &seen, &err), WEIR_INVALID, "_INIT");
  cr_assert(zero(int, seen.count));
}
