/* Nodes one at a time: writing, reading, counting. */
#include "graph_fixture.h"

#include <ctype.h>
#include <time.h>

GRAPH_TEST(nodes, get_gives_what_put_was_given) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  OK(weir_node_put(txn, &WEIR_NODE("alice", "person", " {\"age\": 42} "), NULL, &err));
  OK(weir_node_get(txn, weir_str("alice"), &node, &arena, &err));
  SAME(node.key, "alice");
  SAME(node.label, "person");
  SAME(node.props, " {\"age\": 42} ");
  cr_assert(eq(sz, node.label_count, 1));
  SAME(node.labels[0], "person");
  cr_assert(eq(i64, node.rev, 1));
  cr_assert(zero(chr, node.key.ptr[node.key.len]));
  cr_assert(zero(chr, node.label.ptr[node.label.len]));
  cr_assert(zero(chr, node.props.ptr[node.props.len]));
  weir_arena_clear(&arena);
}

GRAPH_TEST(nodes, no_label_and_no_props_are_empty) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  OK(weir_node_put(txn, &WEIR_NODE("n", NULL, NULL), NULL, &err));
  OK(weir_node_get(txn, weir_str("n"), &node, &arena, &err));
  SAME(node.label, "");
  SAME(node.props, "{}");
  cr_assert(zero(sz, node.label_count));
  weir_arena_clear(&arena);
}

GRAPH_TEST(nodes, put_tells_inserted_updated_unchanged) {
  const weir_node first = WEIR_NODE("a", "x", "{\"n\":1}");
  const weir_node props = WEIR_NODE("a", "x", "{\"n\": 1}");
  const weir_node label = WEIR_NODE("a", "y", "{\"n\": 1}");
  weir_outcome outcome = WEIR_UNCHANGED;
  OK(weir_node_put(txn, &first, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_INSERTED));
  OK(weir_node_put(txn, &first, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UNCHANGED));
  OK(weir_node_put(txn, &props, &outcome, &err)); /* other bytes */
  cr_assert(eq(int, outcome, WEIR_UPDATED));
  OK(weir_node_put(txn, &label, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UPDATED));
  OK(weir_node_put(txn, &label, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UNCHANGED));
  OK(weir_node_put(txn, &WEIR_NODE("b", NULL, NULL), &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_INSERTED));
  OK(weir_node_put(txn, &WEIR_NODE("b", NULL, "{}"), &outcome, &err)); /* empty means {} */
  cr_assert(eq(int, outcome, WEIR_UNCHANGED));
  cr_assert(eq(i64, last_rev(txn), 4));
}

GRAPH_TEST(nodes, labels_are_a_set_in_byte_order) {
  const weir_text given[] = {WEIR_TEXT("b"), WEIR_TEXT("aa"), WEIR_TEXT("b"), WEIR_TEXT("a"),
                             WEIR_TEXT("\xC3\xA4")};
  const weir_text again[] = {WEIR_TEXT("\xC3\xA4"), WEIR_TEXT("a"), WEIR_TEXT("aa"), WEIR_TEXT("b")};
  weir_node node = {.key = WEIR_TEXT("n"), .labels = given, .label_count = 5};
  weir_arena arena = WEIR_ARENA_INIT;
  weir_outcome outcome;
  OK(weir_node_put(txn, &node, &outcome, &err));
  node.labels = again;
  node.label_count = 4;
  node.label = weir_str("aa"); /* may be named too */
  OK(weir_node_put(txn, &node, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UNCHANGED));
  OK(weir_node_get(txn, node.key, &node, &arena, &err));
  cr_assert(eq(sz, node.label_count, 4));
  SAME(node.label, "a");
  SAME(node.labels[0], "a");
  SAME(node.labels[1], "aa");
  SAME(node.labels[2], "b");
  SAME(node.labels[3], "\xC3\xA4");
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 4));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label_set"), 2));
  weir_arena_clear(&arena);
}

GRAPH_TEST(nodes, a_node_may_have_64_labels) {
  char names[WEIR_LABELS_MAX][8];
  weir_text labels[WEIR_LABELS_MAX];
  weir_arena arena = WEIR_ARENA_INIT;
  for (int i = 0; i < WEIR_LABELS_MAX; i++) {
    snprintf(names[i], sizeof names[i], "l%02d", (i * 37) % WEIR_LABELS_MAX);
    labels[i] = weir_str(names[i]);
  }
  weir_node node = {.key = WEIR_TEXT("n"), .labels = labels, .label_count = WEIR_LABELS_MAX};
  OK(weir_node_put(txn, &node, NULL, &err));
  OK(weir_node_get(txn, node.key, &node, &arena, &err));
  cr_assert(eq(sz, node.label_count, WEIR_LABELS_MAX));
  SAME(node.labels[63], "l63");
  cr_assert(eq(i64, count_nodes(txn, "l17"), 1));
  weir_arena_clear(&arena);
}

GRAPH_TEST(nodes, add_refuses_a_key_that_exists_and_leaves_no_trace) {
  char key[WEIR_UUID_SIZE] = "x";
  OK(weir_node_add(txn, &WEIR_NODE("a", "old", NULL), key, &err));
  cr_assert(zero(chr, key[0]));
  FAILS(weir_node_add(txn, &WEIR_NODE("a", "new", NULL), NULL, &err), WEIR_EXISTS, "\"a\"");
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 1));
  cr_assert(eq(i64, count_nodes(txn, "old"), 1));
  cr_assert(eq(i64, last_rev(txn), 1));
}

GRAPH_TEST(nodes, add_without_a_key_makes_a_uuid_of_version_7) {
  char keys[64][WEIR_UUID_SIZE];
  int64_t before = (int64_t)time(NULL) * 1000;
  for (int i = 0; i < 64; i++) {
    OK(weir_node_add(txn, &WEIR_NODE(NULL, "x", NULL), keys[i], &err));
    cr_assert(eq(sz, strlen(keys[i]), 36));
    for (int at = 0; at < 36; at++) {
      int dash = at == 8 || at == 13 || at == 18 || at == 23;
      cr_assert(dash ? keys[i][at] == '-' : isxdigit(keys[i][at]) && !isupper(keys[i][at]));
    }
    cr_assert(eq(chr, keys[i][14], '7'));
    cr_assert(strchr("89ab", keys[i][19]) != NULL);
    char ms[13];
    snprintf(ms, sizeof ms, "%.8s%.4s", keys[i], keys[i] + 9);
    int64_t made = (int64_t)strtoll(ms, NULL, 16);
    cr_assert(made >= before && made <= ((int64_t)time(NULL) + 2) * 1000); /* time() may lag a tick */
  }
  cr_assert(eq(i64, count_nodes(txn, "x"), 64)); /* so all are different */
}

GRAPH_TEST(nodes, merge_patches_props_and_keeps_labels) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_outcome outcome;
  weir_node node;
  OK(weir_node_put(txn, &WEIR_NODE("a", "x", "{ \"a\": 1, \"b\": {\"c\": true} }"), NULL, &err));
  OK(weir_node_merge(txn, weir_str("a"), weir_str("{\"a\":1,\"b\":{\"c\":true},\"none\":null}"), &outcome,
                     &err));
  cr_assert(eq(int, outcome, WEIR_UNCHANGED));
  OK(weir_node_merge(txn, weir_str("a"), weir_str("{\"a\":null,\"b\":{\"d\":2}}"), &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UPDATED));
  OK(weir_node_get(txn, weir_str("a"), &node, &arena, &err));
  SAME(node.props, "{\"b\":{\"c\":true,\"d\":2}}");
  SAME(node.label, "x");
  cr_assert(eq(i64, node.rev, 2));
  FAILS(weir_node_merge(txn, weir_str("zed"), weir_str("{}"), NULL, &err), WEIR_NOT_FOUND, "\"zed\"");
  weir_arena_clear(&arena);
}

GRAPH_TEST(nodes, del_takes_the_edges_of_both_directions) {
  int existed = -1;
  put_edge(txn, "a", "e", "b");
  put_edge(txn, "b", "e", "a");
  put_edge(txn, "a", "e", "a");
  put_edge(txn, "b", "e", "c");
  OK(weir_node_del(txn, weir_str("a"), &existed, &err));
  cr_assert(eq(int, existed, 1));
  cr_assert(eq(i64, count_nodes(txn, NULL), 2));
  cr_assert(eq(i64, count_edges(txn, NULL), 1));
  int64_t rev = last_rev(txn);
  OK(weir_node_del(txn, weir_str("a"), &existed, &err));
  cr_assert(eq(int, existed, 0));
  cr_assert(eq(i64, last_rev(txn), rev));
}

GRAPH_TEST(nodes, get_of_a_missing_key_is_not_found) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  FAILS(weir_node_get(txn, weir_str("nobody"), &node, &arena, &err), WEIR_NOT_FOUND, "\"nobody\"");
  weir_arena_clear(&arena);
}

GRAPH_TEST(nodes, keys_are_bytes_of_up_to_1024) {
  char longest[WEIR_KEY_MAX + 1];
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  memset(longest, 'k', WEIR_KEY_MAX);
  longest[WEIR_KEY_MAX] = '\0';
  put_node(txn, longest, NULL);
  put_node(txn, "K\xC3\xB6ln", NULL);
  put_node(txn, "k\xC3\xB6ln", NULL);
  OK(weir_node_get(txn, weir_str(longest), &node, &arena, &err));
  cr_assert(eq(sz, node.key.len, WEIR_KEY_MAX));
  OK(weir_node_get(txn, (weir_text){"K\xC3\xB6ln, and more", 5}, &node, &arena, &err)); /* needs no NUL */
  SAME(node.key, "K\xC3\xB6ln");
  cr_assert(eq(i64, count_nodes(txn, NULL), 3));
  weir_arena_clear(&arena);
}

GRAPH_TEST(nodes, count_by_label_goes_over_all_sets) {
  const weir_text both[] = {WEIR_TEXT("a"), WEIR_TEXT("b")};
  put_node(txn, "1", "a");
  put_node(txn, "2", "b");
  OK(weir_node_put(txn, &(weir_node){.key = WEIR_TEXT("3"), .labels = both, .label_count = 2}, NULL, &err));
  put_node(txn, "4", NULL);
  cr_assert(eq(i64, count_nodes(txn, "a"), 2));
  cr_assert(eq(i64, count_nodes(txn, "b"), 2));
  cr_assert(eq(i64, count_nodes(txn, NULL), 4));
  cr_assert(eq(i64, count_nodes(txn, "unheard of"), 0));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 2)); /* asking makes no label */
}

GRAPH_TEST(nodes, props_may_be_large) {
  size_t size = 3000000;
  char *props = malloc(size + 1);
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  memset(props, 'x', size);
  memcpy(props, "{\"a\":\"", 6);
  memcpy(props + size - 2, "\"}", 3);
  OK(weir_node_put(txn, &WEIR_NODE("a", NULL, props), NULL, &err));
  OK(weir_node_get(txn, weir_str("a"), &node, &arena, &err));
  cr_assert(eq(sz, node.props.len, size));
  cr_assert(zero(int, memcmp(node.props.ptr, props, size)));
  weir_arena_clear(&arena);
  free(props);
}

GRAPH_TEST(nodes, one_arena_serves_many_reads) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  put_node(txn, "a", "x");
  put_node(txn, "b", "x");
  for (int i = 0; i < 1000; i++) {
    OK(weir_node_get(txn, weir_str(i % 2 ? "a" : "b"), &node, &arena, &err));
    SAME(node.key, i % 2 ? "a" : "b");
    OK(weir_node_get(txn, node.key, &node, &arena, &err)); /* a key that lies in the arena */
    SAME(node.key, i % 2 ? "a" : "b");
  }
  weir_arena_clear(&arena);
  weir_arena_clear(&arena);
  weir_arena_clear(NULL);
}
