/* A text index follows every write, and is left alone by those that do not concern it. */
#include "searches.h"

#define FINDS(query, keys) SAME_STRING(found(txn, query), keys)

GRAPH_TEST(search_upkeep, puts_merges_and_deletes_are_followed) {
  make_index(txn, "doc", WEIR_WORDS);
  put_text(txn, "a", "doc", "one two");
  FINDS("one", "a");
  put_text(txn, "a", "doc", "two three");
  FINDS("one", "");
  FINDS("three", "a");
  OK(weir_node_merge(txn, weir_str("a"), weir_str("{\"title\":\"four\"}"), NULL, &err));
  FINDS("three four", "a");
  OK(weir_node_merge(txn, weir_str("a"), weir_str("{\"body\":null}"), NULL, &err));
  FINDS("three", "");
  FINDS("four", "a");
  OK(weir_node_del(txn, weir_str("a"), NULL, &err));
  FINDS("four", "");
  check_indexes(txn);
}

GRAPH_TEST(search_upkeep, only_strings_and_arrays_are_text) {
  make_index(txn, NULL, WEIR_WORDS);
  put_props(txn, "a", NULL, "{\"body\":5}");
  put_props(txn, "b", NULL, "{\"body\":{\"x\":\"5\"}}");
  put_props(txn, "c", NULL, "{\"body\":\"5\"}");
  put_props(txn, "d", NULL, "{\"body\":[5,\"5\",\"x\"]}");
  put_props(txn, "e", NULL, "{\"other\":\"5\"}");
  put_props(txn, "f", NULL, "{\"body\":\"\"}");
  FINDS("5", "c d");
  FINDS("x", "d");
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM node_text_1_source"), 3));
  check_indexes(txn);
}

GRAPH_TEST(search_upkeep, labels_decide_who_is_in) {
  make_index(txn, "doc", WEIR_WORDS);
  put_text(txn, "a", "doc", "text");
  put_text(txn, "b", "other", "text");
  put_text(txn, "c", NULL, "text");
  FINDS("text", "a");
  put_text(txn, "a", "other", "text");
  put_text(txn, "b", "doc", "text");
  FINDS("text", "b");
  const weir_text both[] = {WEIR_TEXT("doc"), WEIR_TEXT("other")};
  const weir_node node = {
      .key = WEIR_TEXT("c"), .labels = both, .label_count = 2, .props = WEIR_TEXT("{\"body\":\"text\"}")};
  OK(weir_node_put(txn, &node, NULL, &err));
  FINDS("text", "b c");
  check_indexes(txn);
}

GRAPH_TEST(search_upkeep, an_index_without_labels_holds_all_nodes) {
  put_text(txn, "a", "doc", "text");
  make_index(txn, NULL, WEIR_WORDS);
  put_text(txn, "b", NULL, "text");
  put_text(txn, "c", "never seen before", "text");
  FINDS("text", "a b c");
}

/* What is found inside of the writes: of a node put in one that fails, and around that. */
struct inside {
  char failed[1024];
  char around[1024];
  int fails; /* the inner write has failed */
};

static int put_and_fail(weir_txn *txn, void *data, weir_error *error) {
  struct inside *inside = data;
  weir_node node = WEIR_NODE("b", "doc", "{\"body\":\"text\"}");
  weir_node other = WEIR_NODE("a", "doc", "{\"body\":\"else\"}");
  int rc = weir_node_put(txn, &node, NULL, error);
  if (rc == WEIR_OK) {
    rc = weir_node_put(txn, &other, NULL, error);
  }
  if (rc == WEIR_OK) {
    rc = find_keys(txn, "text", inside->failed, error);
  }
  return rc ? rc : weir_fail(error, WEIR_CONFLICT, "on purpose");
}

static int put_around(weir_txn *txn, void *data, weir_error *error) {
  struct inside *inside = data;
  weir_node node = WEIR_NODE("c", "doc", "{\"body\":\"text\"}");
  int rc = weir_node_put(txn, &node, NULL, error);
  inside->fails = weir_write(txn, put_and_fail, data, NULL, NULL) == WEIR_CONFLICT;
  return rc ? rc : find_keys(txn, "text", inside->around, error);
}

GRAPH_TEST(search_upkeep, what_is_rolled_back_is_not_in) {
  struct inside inside = {.fails = 0};
  make_index(txn, "doc", WEIR_WORDS);
  put_text(txn, "a", "doc", "text");
  FAILS(weir_write(txn, put_and_fail, &inside, NULL, &err), WEIR_CONFLICT, "on purpose");
  SAME_STRING(inside.failed, "b");
  FINDS("text", "a");
  OK(weir_write(txn, put_around, &inside, NULL, &err));
  cr_assert(eq(int, inside.fails, 1));
  SAME_STRING(inside.failed, "b c");
  SAME_STRING(inside.around, "a c");
  FINDS("text", "a c");
  check_indexes(txn);
}

GRAPH_TEST(search_upkeep, numbers_of_deleted_nodes_come_again) {
  make_index(txn, "doc", WEIR_WORDS);
  for (int i = 0; i < 20; i++) {
    put_text(txn, "a", i % 3 ? "doc" : "other", i % 2 ? "odd" : "even");
    OK(weir_node_del(txn, weir_str("a"), NULL, &err));
  }
  put_text(txn, "b", "doc", "odd");
  FINDS("odd", "b");
  FINDS("even", "");
  check_indexes(txn);
}

/* ---- What leaves the index alone
 * --------------------------------------------------------------------------- */

/* Keeps a copy of all that is stored of the index. */
static int save(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_txn_exec(txn,
                       "CREATE TABLE saved AS SELECT id, block FROM node_text_1_data;"
                       "CREATE TABLE saved_sizes AS SELECT id, sz FROM node_text_1_docsize",
                       error);
}

/* 1 if what is stored is what was saved, byte by byte. */
static int is_untouched(weir_txn *txn) {
  return sql_number(txn, "SELECT (SELECT count(*) FROM (SELECT * FROM saved EXCEPT SELECT id, block FROM"
                         " node_text_1_data)) + (SELECT count(*) FROM (SELECT id, block FROM"
                         " node_text_1_data EXCEPT SELECT * FROM saved)) + (SELECT count(*) FROM (SELECT *"
                         " FROM saved_sizes EXCEPT SELECT id, sz FROM node_text_1_docsize))") == 0;
}

/* Rows written by the statements of weir itself count, too; `with` and without an index it is the same. */
static int64_t changes_of(weir_txn *txn, const char *label, const char *props) {
  int64_t before = sql_number(txn, "SELECT total_changes()");
  put_props(txn, "a", label, props);
  return sql_number(txn, "SELECT total_changes()") - before;
}

Test(search_untouched, an_update_of_other_properties_does_not_touch_it, .timeout = 60) {
  weir_graph *graph = NULL;
  OK(weir_graph_open(&graph, ":memory:", NULL, &err)); /* one connection: total_changes() counts all */
  weir_txn *txn = weir_graph_auto(graph);
  put_props(txn, "a", "doc", "{\"body\":\"text\",\"n\":1}");
  int64_t without = changes_of(txn, "doc", "{\"body\":\"text\",\"n\":2}");
  make_index(txn, "doc", WEIR_WORDS);
  OK(weir_write(txn, save, NULL, NULL, &err));
  /* Another property; the same props again; a label beside; a property that is text in no index. */
  cr_assert(eq(i64, changes_of(txn, "doc", "{\"body\":\"text\",\"n\":3}"), without));
  cr_assert(eq(i64, changes_of(txn, "doc", "{\"n\":[3],\"body\":\"text\",\"title\":7}"), without));
  cr_assert(is_untouched(txn));
  const weir_text both[] = {WEIR_TEXT("doc"), WEIR_TEXT("other")};
  const weir_node more = {
      .key = WEIR_TEXT("a"), .labels = both, .label_count = 2, .props = WEIR_TEXT("{\"body\":\"text\"}")};
  OK(weir_node_put(txn, &more, NULL, &err));
  cr_assert(is_untouched(txn));
  /* A node that is not in it. */
  put_text(txn, "b", "other", "text");
  put_text(txn, "b", "other", "changed");
  OK(weir_node_del(txn, weir_str("b"), NULL, &err));
  cr_assert(is_untouched(txn));
  /* And this touches it. */
  cr_assert(gt(i64, changes_of(txn, "doc", "{\"body\":\"texts\",\"n\":3}"), without));
  cr_assert(zero(int, is_untouched(txn)));
  SAME_STRING(found(txn, "texts"), "a");
  OK(weir_graph_close(graph, &err));
}
