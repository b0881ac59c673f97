/* Property indexes: making, listing, dropping, and that what is written stays in them. */
#include "graph_fixture.h"

#include <weir/query.h>

static const weir_index by_age = {WEIR_NODES, WEIR_TEXT("person"), WEIR_TEXT("age"), 0, 0};
static const weir_index by_since = {WEIR_EDGES, WEIR_TEXT("knows"), WEIR_TEXT("$.since"), 0, 0};

static void put(weir_txn *txn, const char *key, const char *label, const char *props) {
  OK(weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err));
}

static void put_props(weir_txn *txn, const char *src, const char *dst, const char *props) {
  weir_edge edge = WEIR_EDGE(src, "knows", dst);
  edge.props = weir_str(props);
  OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
}

/* ---- What an index finds ---------------------------------------------------------------------------------
 */

static char found[1024];

static int note_node(const weir_node *node, void *data, weir_error *error) {
  (void)data;
  (void)error;
  strcat(strcat(found, found[0] ? " " : ""), node->key.ptr);
  return WEIR_OK;
}

static int note_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)data;
  (void)error;
  strcat(strcat(strcat(strcat(found, found[0] ? " " : ""), edge->src.ptr), ">"), edge->dst.ptr);
  return WEIR_OK;
}

/* The keys in the order of the index, which has to be used if `served`. */
static const char *in_order(weir_txn *txn, const weir_index *index, int served) {
  weir_find find = WEIR_FIND_INIT;
  weir_plan plan;
  int nodes = index->target == WEIR_NODES;
  find.label = index->label;
  find.order = WEIR_FIELD_PROP;
  find.order_path = index->path;
  found[0] = '\0';
  OK(nodes ? weir_node_explain(txn, &find, &plan, &err) : weir_edge_explain(txn, &find, &plan, &err));
  cr_assert(eq(int, plan.access == WEIR_BY_INDEX, served), "%s", plan.text);
  OK(nodes ? weir_node_find(txn, &find, note_node, NULL, &err)
           : weir_edge_find(txn, &find, note_edge, NULL, &err));
  return found;
}

GRAPH_TEST(index, follows_nodes_that_are_written) {
  put(txn, "before", "person", "{\"age\":5}");
  OK(weir_index_create(txn, &by_age, NULL, &err));
  put(txn, "a", "person", "{\"age\":3}");
  put(txn, "b", "person", "{\"age\":\"3\"}");
  put(txn, "other", "dog", "{\"age\":4}");
  SAME_STRING(in_order(txn, &by_age, 1), "a before b");
  put(txn, "a", "person", "{\"age\":9}");     /* another value */
  put(txn, "before", "dog", "{\"age\":5}");   /* the label goes */
  put(txn, "other", "person", "{\"age\":4}"); /* the label comes */
  SAME_STRING(in_order(txn, &by_age, 1), "other a b");
  OK(weir_node_merge(txn, weir_str("a"), weir_str("{\"age\":null}"), NULL, &err));
  OK(weir_node_del(txn, weir_str("other"), NULL, &err));
  SAME_STRING(in_order(txn, &by_age, 1), "a b");
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM node_index_1"), 2));
}

GRAPH_TEST(index, follows_edges_that_go_with_their_nodes) {
  OK(weir_index_create(txn, &by_since, NULL, &err));
  put_props(txn, "a", "b", "{\"since\":3}");
  put_props(txn, "b", "c", "{\"since\":2}");
  put_props(txn, "c", "c", "{\"since\":1}");
  put_edge(txn, "a", "likes", "c");
  SAME_STRING(in_order(txn, &by_since, 1), "c>c b>c a>b");
  put_props(txn, "b", "c", "{\"since\":4}");
  SAME_STRING(in_order(txn, &by_since, 1), "c>c a>b b>c");
  OK(weir_node_del(txn, weir_str("c"), NULL, &err)); /* by the foreign keys */
  SAME_STRING(in_order(txn, &by_since, 1), "a>b");
  OK(weir_edge_del(txn, &WEIR_EDGE("a", "knows", "b"), NULL, &err));
  SAME_STRING(in_order(txn, &by_since, 1), "");
  cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM edge_index_1")));
}

static int put_twice(weir_txn *txn, void *data, weir_error *error) {
  int rc = weir_node_put(txn, &WEIR_NODE("a", "person", "{\"age\":3,\"x\":2}"), NULL, error);
  *(int64_t *)data = sql_number(txn, "SELECT total_changes()");
  rc = rc ? rc : weir_node_put(txn, &WEIR_NODE("a", "person", "{\"x\":3,\"age\":3.0}"), NULL, error);
  *(int64_t *)data = sql_number(txn, "SELECT total_changes()") - *(int64_t *)data;
  return rc;
}

GRAPH_TEST(index, is_not_touched_by_an_update_that_leaves_the_property) {
  int64_t changes;
  put(txn, "a", "person", "{\"age\":3}");
  OK(weir_index_create(txn, &by_age, NULL, &err));
  OK(weir_write(txn, put_twice, &changes, NULL, &err));
  cr_assert(eq(i64, changes, 1)); /* the node */
}

GRAPH_TEST(index, of_values_of_all_types_is_in_their_order) {
  put(txn, "none", "person", "{}");
  put(txn, "null", "person", "{\"age\":null}");
  put(txn, "true", "person", "{\"age\":true}");
  put(txn, "false", "person", "{\"age\":false}");
  put(txn, "big+1", "person", "{\"age\":9007199254740993}");
  put(txn, "big", "person", "{\"age\":9007199254740992.0}");
  put(txn, "one", "person", "{\"age\":1}");
  put(txn, "text", "person", "{\"age\":\"1\"}");
  put(txn, "empty", "person", "{\"age\":\"\"}");
  put(txn, "array", "person", "{\"age\":[1]}");
  const char *expected = "none null false true one big big+1 empty text array";
  SAME_STRING(in_order(txn, &by_age, 0), expected);
  OK(weir_index_create(txn, &by_age, NULL, &err));
  SAME_STRING(in_order(txn, &by_age, 1), expected);
}

/* ---- The catalog -----------------------------------------------------------------------------------------
 */

static int list_index(const weir_index *index, void *data, weir_error *error) {
  char *to = data;
  (void)error;
  sprintf(to + strlen(to), "%s %s(%s)%s%s\n", index->target == WEIR_NODES ? "nodes" : "edges",
          text_string(index->label), text_string(index->path), index->unique ? " unique" : "",
          index->ready ? "" : " unfinished");
  return WEIR_OK;
}

static const char *list(weir_txn *txn) {
  static char text[1024];
  text[0] = '\0';
  OK(weir_index_list(txn, list_index, text, &err));
  return text;
}

GRAPH_TEST(index, is_listed_until_it_is_dropped) {
  const weir_index deep = {WEIR_EDGES, WEIR_TEXT("e"), WEIR_TEXT("$.a.b[#-1]"), 1, 0};
  const weir_index same = {WEIR_NODES, WEIR_TEXT("person"), WEIR_TEXT("$.\"age\""), 0, 0};
  int existed = -1;
  SAME_STRING(list(txn), "");
  OK(weir_index_create(txn, &by_age, NULL, &err));
  OK(weir_index_create(txn, &deep, NULL, &err));
  SAME_STRING(list(txn), "nodes person(age)\nedges e($.\"a\".\"b\"[#-1]) unique\n");
  FAILS(weir_index_create(txn, &same, NULL, &err), WEIR_EXISTS, "person");
  OK(weir_index_drop(txn, &same, &existed, &err)); /* another spelling */
  cr_assert(eq(int, existed, 1));
  OK(weir_index_drop(txn, &by_age, &existed, &err));
  cr_assert(zero(int, existed));
  OK(weir_index_drop(txn, &(weir_index){WEIR_NODES, WEIR_TEXT("?"), WEIR_TEXT("x"), 0, 0}, &existed, &err));
  cr_assert(zero(int, existed));
  SAME_STRING(list(txn), "edges e($.\"a\".\"b\"[#-1]) unique\n");
  OK(weir_index_drop(txn, &deep, NULL, &err));
  cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"
                                      " OR name GLOB 'node_index_*' OR name GLOB 'edge_index_*'")));
}

GRAPH_TEST(index, that_was_dropped_is_not_used_by_a_connection_that_knew_it) {
  put(txn, "a", "person", "{\"age\":3}");
  for (int i = 0; i < 3; i++) {
    weir_cond where = WEIR_PROP("age", WEIR_GE, weir_int(1));
    weir_find find = WEIR_FIND_INIT;
    OK(weir_index_create(txn, &by_age, NULL, &err));
    SAME_STRING(in_order(txn, &by_age, 1), "a");
    OK(weir_index_drop(txn, &by_age, NULL, &err));
    if (i > 0) { /* with a statement that is new, too */
      find.label = by_age.label;
      find.where = &where;
      find.limit = (size_t)i;
      found[0] = '\0';
      OK(weir_node_find(txn, &find, note_node, NULL, &err));
      SAME_STRING(found, "a");
    }
    found[0] = '\0';
    find.order = WEIR_FIELD_PROP;
    find.label = by_age.label;
    find.order_path = by_age.path;
    OK(weir_node_find(txn, &find, note_node, NULL, &err));
    SAME_STRING(found, "a");
  }
}

GRAPH_TEST(index, with_bad_arguments_is_refused) {
  weir_index index = by_age;
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  FAILS(weir_index_create(txn, NULL, NULL, &err), WEIR_INVALID, "index is NULL");
  FAILS(weir_index_create(NULL, &index, NULL, &err), WEIR_INVALID, "txn is NULL");
  index.target = 3;
  FAILS(weir_index_create(txn, &index, NULL, &err), WEIR_INVALID, "target is 3");
  index = by_age;
  index.label = weir_str("");
  FAILS(weir_index_create(txn, &index, NULL, &err), WEIR_INVALID, "label");
  index = by_age;
  index.path = weir_str("$.a[");
  FAILS(weir_index_create(txn, &index, NULL, &err), WEIR_INVALID, "path");
  index.path = weir_str("");
  FAILS(weir_index_drop(txn, &index, NULL, &err), WEIR_INVALID, "path");
  options.size = 0;
  FAILS(weir_index_create(txn, &by_age, &options, &err), WEIR_INVALID, "_INIT");
  FAILS(weir_index_list(txn, NULL, NULL, &err), WEIR_INVALID, "visit is NULL");
  SAME_STRING(list(txn), "");
}

static int create_inside(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_index_create(txn, &by_age, NULL, error);
}

static int create_and_fail(weir_txn *txn, void *data, weir_error *error) {
  int rc = create_inside(txn, data, error);
  SAME_STRING(in_order(txn, &by_age, 1), "a b"); /* it sees its own */
  return rc ? rc : WEIR_CONFLICT;
}

GRAPH_TEST(index, made_inside_a_write_goes_with_it) {
  put(txn, "b", "person", "{\"age\":4}");
  put(txn, "a", "person", "{\"age\":3}");
  cr_assert(eq(int, weir_write(txn, create_and_fail, NULL, NULL, &err), WEIR_CONFLICT));
  SAME_STRING(list(txn), "");
  SAME_STRING(in_order(txn, &by_age, 0), "a b");
  OK(weir_write(txn, create_inside, NULL, NULL, &err));
  SAME_STRING(in_order(txn, &by_age, 1), "a b");
  FAILS(weir_read(txn, create_inside, NULL, NULL, &err), WEIR_MISUSE, "");
}
