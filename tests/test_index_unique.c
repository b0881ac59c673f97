/* Unique indexes: what they refuse, what the error says, and that nothing else is lost. */
#include "graph_fixture.h"

#include <weir/io.h>
#include <weir/query.h>

static const weir_index by_mail = {WEIR_NODES, WEIR_TEXT("person"), WEIR_TEXT("mail"), 1, 0};
static const weir_index by_no = {WEIR_EDGES, WEIR_TEXT("e"), WEIR_TEXT("$.no"), 1, 0};

static int put(weir_txn *txn, const char *key, const char *label, const char *props) {
  return weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err);
}

/* Every row of the label has its one entry. */
static void is_whole(weir_txn *txn) {
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM node_index_1"), count_nodes(txn, "person")));
}

GRAPH_TEST(index_unique, refuses_a_value_that_is_there_and_says_where) {
  OK(weir_index_create(txn, &by_mail, NULL, &err));
  OK(put(txn, "alice", "person", "{\"mail\":\"a@b\"}"));
  FAILS(put(txn, "bob", "person", "{\"mail\":\"a@b\"}"), WEIR_EXISTS, "node \"alice\" has \"mail\": \"a@b\"");
  FAILS(weir_node_add(txn, &WEIR_NODE("bob", "person", "{\"mail\":\"a@b\"}"), NULL, &err), WEIR_EXISTS,
        "alice");
  OK(put(txn, "bob", "person", "{\"mail\":\"b@b\"}"));
  FAILS(put(txn, "bob", "person", "{\"mail\":\"a@b\"}"), WEIR_EXISTS, "alice"); /* as an update */
  FAILS(weir_node_merge(txn, weir_str("bob"), weir_str("{\"mail\":\"a@b\"}"), NULL, &err), WEIR_EXISTS,
        "alice");
  OK(put(txn, "rex", "dog", "{\"mail\":\"a@b\"}"));
  FAILS(put(txn, "rex", "person", "{\"mail\":\"a@b\"}"), WEIR_EXISTS, "person"); /* by its new label */
  OK(put(txn, "alice", "person", "{\"mail\":\"a@b\",\"x\":1}"));                 /* its own value */
  OK(put(txn, "alice", "person", "{\"mail\":\"c@b\"}"));
  OK(put(txn, "bob", "person", "{\"mail\":\"a@b\"}")); /* which is free now */
  OK(weir_node_del(txn, weir_str("bob"), NULL, &err));
  OK(put(txn, "carl", "person", "{\"mail\":\"a@b\"}"));
  is_whole(txn);
}

GRAPH_TEST(index_unique, compares_as_conditions_do) {
  OK(weir_index_create(txn, &by_mail, NULL, &err));
  OK(put(txn, "int", "person", "{\"mail\":1}"));
  FAILS(put(txn, "real", "person", "{\"mail\":1.0}"), WEIR_EXISTS, "node \"int\" has \"mail\": 1 already");
  OK(put(txn, "text", "person", "{\"mail\":\"1\"}"));
  OK(put(txn, "bool", "person", "{\"mail\":true}"));
  FAILS(put(txn, "b", "person", "{\"mail\":true}"), WEIR_EXISTS, "\"bool\" has \"mail\": true");
  OK(put(txn, "none 1", "person", "{}"));
  OK(put(txn, "none 2", "person", "{\"mail\":null}"));
  OK(put(txn, "array 1", "person", "{\"mail\":[1]}"));
  OK(put(txn, "array 2", "person", "{\"mail\":[1]}"));
  OK(put(txn, "empty", "person", "{\"mail\":\"\"}"));
  FAILS(put(txn, "empty 2", "person", "{\"mail\":\"\"}"), WEIR_EXISTS, "\"empty\" has \"mail\": \"\"");
  is_whole(txn);
}

static int put_edge_no(weir_txn *txn, const char *src, int64_t rank, const char *props) {
  weir_edge edge = WEIR_EDGE(src, "e", "z");
  edge.rank = rank;
  edge.props = weir_str(props);
  return weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err);
}

GRAPH_TEST(index_unique, of_edges_names_the_other_edge) {
  const weir_edge second = {.src = WEIR_TEXT("a"), .label = WEIR_TEXT("e"), .dst = WEIR_TEXT("z"), .rank = 2};
  OK(weir_index_create(txn, &by_no, NULL, &err));
  OK(put_edge_no(txn, "a", 1, "{\"no\":7}"));
  FAILS(put_edge_no(txn, "a", 2, "{\"no\":7}"), WEIR_EXISTS, "(\"a\")-[e, rank 1]->(\"z\") has \"no\": 7");
  FAILS(put_edge_no(txn, "new", 1, "{\"no\":7}"), WEIR_EXISTS, "rank 1");
  cr_assert(eq(i64, count_nodes(txn, NULL), 2)); /* no endpoint was left behind */
  OK(put_edge_no(txn, "a", 2, "{\"no\":8}"));
  FAILS(weir_edge_merge(txn, &second, weir_str("{\"no\":7}"), NULL, &err), WEIR_EXISTS, "rank 1");
  put_edge(txn, "a", "f", "z");
  OK(put_edge_no(txn, "a", 1, "{\"no\":9}"));
  OK(put_edge_no(txn, "a", 2, "{\"no\":7}"));
}

GRAPH_TEST(index_unique, is_not_made_over_two_equal_values) {
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  options.batch = 1;
  OK(put(txn, "alice", "person", "{\"mail\":\"a@b\"}"));
  OK(put(txn, "other", "person", "{}"));
  OK(put(txn, "bob", "person", "{\"mail\":\"a@b\"}"));
  for (int i = 0; i < 2; i++) {
    FAILS(weir_index_create(txn, &by_mail, i ? &options : NULL, &err), WEIR_EXISTS, "\"alice\"");
    cr_assert(ne(ptr, strstr(err.message, "\"bob\""), NULL), "%s", err.message);
    cr_assert(ne(ptr, strstr(err.message, "a@b"), NULL), "%s", err.message);
    cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM property_index")));
    cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")));
  }
  OK(put_edge_no(txn, "a", 1, "{\"no\":1}"));
  OK(put_edge_no(txn, "b", 1, "{\"no\":1}"));
  FAILS(weir_index_create(txn, &by_no, NULL, &err), WEIR_EXISTS, "edge (\"b\")-[e, rank 1]->(\"z\")");
  cr_assert(ne(ptr, strstr(err.message, "(\"a\")-[e, rank 1]->(\"z\")"), NULL), "%s", err.message);
  OK(put(txn, "carl", "person", "{\"mail\":\"a@b\"}")); /* nothing refuses it */
}

GRAPH_TEST(index_unique, leaves_no_trace_of_many_of_which_one_is_refused) {
  weir_node nodes[3] = {WEIR_NODE("x", "person", "{\"mail\":1}"), WEIR_NODE("y", "person", "{\"mail\":2}"),
                        WEIR_NODE("z", "person", "{\"mail\":1}")};
  OK(weir_index_create(txn, &by_mail, NULL, &err));
  FAILS(weir_node_put_many(txn, nodes, 3, NULL, &err), WEIR_EXISTS, "node 2: node \"x\" has \"mail\": 1");
  cr_assert(zero(i64, count_nodes(txn, NULL)));
  is_whole(txn);
  nodes[2].props = weir_str("{\"mail\":3}");
  OK(weir_node_put_many(txn, nodes, 3, NULL, &err));
  is_whole(txn);
}

/* A refused write may be passed over: the transaction goes on as if it had not been. */
static int write_past_refusals(weir_txn *txn, void *data, weir_error *error) {
  weir_error refused = WEIR_ERROR_INIT;
  int *refusals = data;
  *refusals = 0;
  for (int i = 0; i < 6; i++) {
    char key[16];
    char props[32];
    snprintf(key, sizeof key, "n%d", i);
    snprintf(props, sizeof props, "{\"mail\":%d}", i / 2);
    int rc = weir_node_put(txn, &WEIR_NODE(key, "person", props), NULL, &refused);
    *refusals += rc == WEIR_EXISTS;
    if (rc != WEIR_OK && rc != WEIR_EXISTS) {
      *error = refused;
      return rc;
    }
  }
  return WEIR_OK;
}

GRAPH_TEST(index_unique, refuses_one_write_and_not_its_transaction) {
  int refusals;
  OK(weir_index_create(txn, &by_mail, NULL, &err));
  OK(weir_write(txn, write_past_refusals, &refusals, NULL, &err));
  cr_assert(eq(int, refusals, 3));
  cr_assert(eq(i64, count_nodes(txn, "person"), 3));
  is_whole(txn);
}

/* ---- Loads -----------------------------------------------------------------------------------------------
 */

static void note_bad_row(const weir_bad_row *row, void *data) {
  snprintf(data, 256, "line %d: %s", (int)row->line, row->message);
}

GRAPH_TEST(index_unique, refuses_rows_of_a_load) {
  char path[512];
  char bad[256] = "";
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  weir_load_report report;
  weir_test_path(path, sizeof path, "mail.csv");
  FILE *file = fopen(path, "w");
  fputs("key,label,mail\na,person,x@y\nb,person,z@y\nc,person,x@y\nd,person,\n", file);
  fclose(file);
  OK(weir_index_create(txn, &by_mail, NULL, &err));
  FAILS(weir_load_csv_nodes(txn, path, NULL, NULL, &err), WEIR_EXISTS,
        "mail.csv:4: node \"a\" has \"mail\": \"x@y\"");
  cr_assert(zero(i64, count_nodes(txn, NULL)));
  options.bad_rows = WEIR_BAD_ROWS_SKIP;
  options.on_bad_row = note_bad_row;
  options.data = bad;
  OK(weir_load_csv_nodes(txn, path, &options, &report, &err));
  cr_assert(eq(u64, report.bad, 1));
  cr_assert(eq(u64, report.inserted, 3));
  cr_assert(ne(ptr, strstr(bad, "line 4: node \"a\" has"), NULL), "%s", bad);
  is_whole(txn);
}
