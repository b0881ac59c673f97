/* What is easily got wrong when asking: it is refused, or works as one would expect. */
#include "graph_fixture.h"

#include <weir/search.h>

static int count(const weir_node *node, void *data, weir_error *error) {
  (void)node, (void)error;
  ++*(int *)data;
  return WEIR_OK;
}

static int found(weir_txn *txn, weir_cond where) {
  weir_find find = WEIR_FIND_INIT;
  int nodes = 0;
  find.where = &where;
  OK(weir_node_find(txn, &find, count, &nodes, &err));
  return nodes;
}

static void put(weir_txn *txn, const char *key, const char *label, const char *props) {
  OK(weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err));
}

GRAPH_TEST(query_mistakes, a_condition_without_an_operator_is_refused) {
  weir_find find = WEIR_FIND_INIT;
  int nodes = 0;
  const weir_cond mistakes[] = {{.field = WEIR_FIELD_PROP},
                                {.path = WEIR_TEXT("year")},
                                {.value = {.type = WEIR_TYPE_INT}},
                                {.parts = &find.where[0], .count = 1},
                                {.values = &(weir_value){.type = WEIR_TYPE_INT}}};
  put(txn, "a", "x", "{\"year\":3}");
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    find.where = &mistakes[i];
    FAILS(weir_node_find(txn, &find, count, &nodes, &err), WEIR_INVALID, "no operator");
  }
  cr_assert(eq(int, found(txn, (weir_cond){.op = WEIR_ALWAYS}), 1));
}

GRAPH_TEST(query_mistakes, what_is_wrong_with_a_condition_is_named) {
  weir_find find = WEIR_FIND_INIT;
  int nodes = 0;
  const struct {
    weir_cond cond;
    const char *says;
  } mistakes[] = {{{.op = (weir_op)99}, "operator 99, which is none"},
                  {{.op = WEIR_EQ, .value = {.type = WEIR_TYPE_INT}}, "no field"},
                  {{.op = WEIR_EQ, .field = (weir_field)99}, "field 99"},
                  {{.op = WEIR_NOT}, "0 parts"},
                  {{.op = WEIR_CONTAINS, .field = WEIR_FIELD_KEY, .value = {.type = WEIR_TYPE_TEXT}},
                   "WEIR_CONTAINS asks the key"}};
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    find.where = &mistakes[i].cond;
    FAILS(weir_node_find(txn, &find, count, &nodes, &err), WEIR_INVALID, mistakes[i].says);
  }
}

static int return_seven(const weir_node *node, void *data, weir_error *error) {
  (void)node, (void)data, (void)error;
  return 7;
}

GRAPH_TEST(query_mistakes, a_visitor_that_returns_anything_else_is_told_so) {
  put(txn, "a", "x", "{}");
  FAILS(weir_node_find(txn, NULL, return_seven, NULL, &err), WEIR_MISUSE, "the visitor returned 7");
  FAILS(weir_node_scan(txn, NULL, return_seven, NULL, &err), WEIR_MISUSE, "the visitor returned 7");
}

GRAPH_TEST(query_mistakes, a_label_in_the_condition_leads_to_its_index) {
  const weir_index year = {.target = WEIR_NODES, .label = WEIR_TEXT("movie"), .path = WEIR_TEXT("year")};
  const weir_cond where =
      WEIR_ALL(WEIR_ALL(WEIR_LABELED("movie")), WEIR_PROP("year", WEIR_EQ, weir_int(1999)));
  const weir_cond either = WEIR_ANY(WEIR_LABELED("movie"), WEIR_LABELED("person"));
  weir_find find = WEIR_FIND_INIT;
  weir_plan plan;
  put(txn, "a", "movie", "{\"year\":1999}");
  put(txn, "b", "person", "{\"year\":1999}");
  OK(weir_index_create(txn, &year, NULL, &err));
  find.where = &where;
  OK(weir_node_explain(txn, &find, &plan, &err));
  cr_assert(eq(int, plan.access, WEIR_BY_INDEX), "%s", plan.text);
  cr_assert(eq(int, found(txn, where), 1));
  cr_assert(eq(int, found(txn, either), 2)); /* neither label is one that all rows have */
}

GRAPH_TEST(query_mistakes, arrays_are_asked_for_their_elements) {
  put(txn, "a", "x", "{\"tags\":[\"red\",1,true,null,[\"blue\"],{\"v\":\"green\"}]}");
  put(txn, "b", "x", "{\"tags\":\"red\"}");
  put(txn, "c", "x", "{\"tags\":[]}");
  put(txn, "d", "x", "{}");
  put(txn, "e", "x", "{\"tags\":{\"red\":\"red\"},\"in\":{\"side\":[2.0]}}");
  cr_assert(eq(int, found(txn, WEIR_PROP("tags", WEIR_CONTAINS, weir_string("red"))), 1));
  cr_assert(eq(int, found(txn, WEIR_PROP("tags", WEIR_CONTAINS, weir_int(1))), 1)); /* and not true */
  cr_assert(eq(int, found(txn, WEIR_PROP("tags", WEIR_CONTAINS, weir_real(1.0))), 1));
  cr_assert(eq(int, found(txn, WEIR_PROP("tags", WEIR_CONTAINS, weir_bool(1))), 1));
  cr_assert(eq(int, found(txn, WEIR_PROP("tags", WEIR_CONTAINS, weir_string("1"))), 0));
  cr_assert(eq(int, found(txn, WEIR_PROP("tags", WEIR_CONTAINS, weir_string("blue"))), 0));
  cr_assert(eq(int, found(txn, WEIR_PROP("tags", WEIR_CONTAINS, weir_string("green"))), 0));
  cr_assert(eq(int, found(txn, WEIR_PROP("$.in.side", WEIR_CONTAINS, weir_int(2))), 1));
  cr_assert(eq(int, found(txn, WEIR_EXCEPT(WEIR_PROP("tags", WEIR_CONTAINS, weir_string("red")))), 4));
  cr_assert(eq(int,
               found(txn, WEIR_ALL(WEIR_PROP("tags", WEIR_CONTAINS, weir_string("red")),
                                   WEIR_PROP("tags", WEIR_CONTAINS, weir_int(1)))),
               1));
}

static int keep_path(const weir_index *index, void *data, weir_error *error) {
  (void)error;
  strcat(strcat(data, index->path.ptr), " "); /* it is a string too */
  return WEIR_OK;
}

static int keep_fields(const weir_text_index *index, void *data, weir_error *error) {
  (void)error;
  for (size_t i = 0; i < index->field_count; i++) {
    strcat(strcat(data, index->fields[i].path.ptr), " ");
  }
  return WEIR_OK;
}

static int keep_field(const weir_hit *hit, void *data, weir_error *error) {
  (void)error;
  strcat(data, hit->field.ptr);
  return WEIR_OK;
}

GRAPH_TEST(query_mistakes, paths_that_are_told_end_with_a_nul) {
  const weir_index name = {.target = WEIR_NODES, .label = WEIR_TEXT("x"), .path = WEIR_TEXT("name")};
  const weir_index town = {.target = WEIR_NODES, .label = WEIR_TEXT("x"), .path = WEIR_TEXT("$.home.town")};
  const weir_text_field fields[] = {{WEIR_TEXT("name"), 0}, {WEIR_TEXT("$.a[0]"), 0}};
  const weir_text_index text = {.name = WEIR_TEXT("t"), .fields = fields, .field_count = 2};
  weir_search search = WEIR_SEARCH_INIT;
  char told[128] = "";
  put(txn, "a", "x", "{\"name\":\"word\"}");
  OK(weir_index_create(txn, &name, NULL, &err));
  OK(weir_index_create(txn, &town, NULL, &err));
  OK(weir_text_index_create(txn, &text, NULL, &err));
  OK(weir_index_list(txn, keep_path, told, &err));
  OK(weir_text_index_list(txn, keep_fields, told, &err));
  search.index = weir_str("t");
  search.query = weir_str("word");
  search.snippet_tokens = 4;
  OK(weir_node_search(txn, &search, keep_field, told, &err));
  SAME_STRING(told, "name $.\"home\".\"town\" name $.\"a\"[0] name");
}
