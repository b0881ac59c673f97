/* Input that is not valid: each kind has its own message, nothing is written, nothing is read. */
#include "graph_fixture.h"

#include <math.h>

static weir_arena arena;
static weir_node node_out;
static weir_edge edge_out;
static int64_t number;

static int see_node(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  (void)data;
  return weir_fail(error, WEIR_CONFLICT, "visited");
}

static int see_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  (void)data;
  return weir_fail(error, WEIR_CONFLICT, "visited");
}

static int see_neighbor(const weir_neighbor *neighbor, void *data, weir_error *error) {
  (void)neighbor;
  (void)data;
  return weir_fail(error, WEIR_CONFLICT, "visited");
}

/* The store of every test: one node, nothing else; and it is still so at the end. */
static void put_base(weir_txn *txn) {
  put_node(txn, "a", NULL);
}

static void check_base(weir_txn *txn) {
  cr_assert(eq(i64, count_nodes(txn, NULL), 1));
  cr_assert(eq(i64, count_edges(txn, NULL), 0));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 0));
  cr_assert(eq(i64, last_rev(txn), 1));
  weir_arena_clear(&arena);
}

/* ---- Text -------------------------------------------------------------------------------------------------
 */

typedef int (*with_text)(weir_txn *txn, weir_text text);

static int put_key(weir_txn *txn, weir_text text) {
  return weir_node_put(txn, &(weir_node){.key = text}, NULL, &err);
}
static int put_many_key(weir_txn *txn, weir_text text) {
  return weir_node_put_many(txn, &(weir_node){.key = text}, 1, NULL, &err);
}
static int merge_key(weir_txn *txn, weir_text text) {
  return weir_node_merge(txn, text, weir_str("{}"), NULL, &err);
}
static int del_key(weir_txn *txn, weir_text text) {
  return weir_node_del(txn, text, NULL, &err);
}
static int get_key(weir_txn *txn, weir_text text) {
  return weir_node_get(txn, text, &node_out, &arena, &err);
}
static int get_many_key(weir_txn *txn, weir_text text) {
  return weir_node_get_many(txn, &text, 1, &node_out, NULL, &arena, &err);
}
static int put_src(weir_txn *txn, weir_text text) {
  return weir_edge_put(txn, &(weir_edge){.src = text, .label = weir_str("e"), .dst = weir_str("a")},
                       WEIR_CREATE_ENDPOINTS, NULL, &err);
}
static int put_dst(weir_txn *txn, weir_text text) {
  return weir_edge_put_many(txn, &(weir_edge){.src = weir_str("a"), .label = weir_str("e"), .dst = text}, 1,
                            WEIR_CREATE_ENDPOINTS, NULL, &err);
}
static int add_dst(weir_txn *txn, weir_text text) {
  return weir_edge_add(txn, &(weir_edge){.src = weir_str("a"), .label = weir_str("e"), .dst = text},
                       WEIR_CREATE_ENDPOINTS, NULL, &err);
}
static int merge_src(weir_txn *txn, weir_text text) {
  return weir_edge_merge(txn, &(weir_edge){.src = text, .label = weir_str("e"), .dst = weir_str("a")},
                         weir_str("{}"), NULL, &err);
}
static int del_dst(weir_txn *txn, weir_text text) {
  return weir_edge_del(txn, &(weir_edge){.src = weir_str("a"), .label = weir_str("e"), .dst = text}, NULL,
                       &err);
}
static int get_src(weir_txn *txn, weir_text text) {
  return weir_edge_get(txn, &(weir_edge){.src = text, .label = weir_str("e"), .dst = weir_str("a")},
                       &edge_out, &arena, &err);
}
static int neighbors_key(weir_txn *txn, weir_text text) {
  return weir_neighbors(txn, text, WEIR_OUT, 0, NULL, see_neighbor, NULL, &err);
}
static int degree_key(weir_txn *txn, weir_text text) {
  return weir_degree(txn, text, WEIR_OUT, weir_str(NULL), &number, &err);
}

static int put_edge_label(weir_txn *txn, weir_text text) {
  return weir_edge_put(txn, &(weir_edge){.src = weir_str("a"), .label = text, .dst = weir_str("a")}, 0, NULL,
                       &err);
}
static int get_edge_label(weir_txn *txn, weir_text text) {
  return weir_edge_get(txn, &(weir_edge){.src = weir_str("a"), .label = text, .dst = weir_str("a")},
                       &edge_out, &arena, &err);
}
static int put_labels(weir_txn *txn, weir_text text) {
  const weir_text labels[] = {WEIR_TEXT("x"), text};
  return weir_node_put(txn, &(weir_node){.key = weir_str("a"), .labels = labels, .label_count = 2}, NULL,
                       &err);
}
static int put_label(weir_txn *txn, weir_text text) {
  return weir_node_put(txn, &(weir_node){.key = weir_str("a"), .label = text}, NULL, &err);
}
static int add_label(weir_txn *txn, weir_text text) {
  return weir_node_add(txn, &(weir_node){.label = text}, NULL, &err);
}
static int count_node_label(weir_txn *txn, weir_text text) {
  return weir_node_count(txn, text, &number, &err);
}
static int count_edge_label(weir_txn *txn, weir_text text) {
  return weir_edge_count(txn, text, &number, &err);
}
static int scan_node_label(weir_txn *txn, weir_text text) {
  const weir_scan scan = {.size = sizeof scan, .label = text};
  return weir_node_scan(txn, &scan, see_node, NULL, &err);
}
static int scan_edge_label(weir_txn *txn, weir_text text) {
  const weir_scan scan = {.size = sizeof scan, .label = text};
  return weir_edge_scan(txn, &scan, see_edge, NULL, &err);
}
static int neighbors_label(weir_txn *txn, weir_text text) {
  const weir_scan scan = {.size = sizeof scan, .label = text};
  return weir_neighbors(txn, weir_str("a"), WEIR_OUT, 0, &scan, see_neighbor, NULL, &err);
}
static int degree_label(weir_txn *txn, weir_text text) {
  return weir_degree(txn, weir_str("a"), WEIR_OUT, text, &number, &err);
}

static const with_text keys[] = {put_key,      put_many_key, merge_key,     del_key,   get_key,
                                 get_many_key, put_src,      put_dst,       add_dst,   merge_src,
                                 del_dst,      get_src,      neighbors_key, degree_key};
static const with_text labels_needed[] = {put_edge_label, get_edge_label, put_labels};
static const with_text labels_optional[] = {put_label,        add_label,       count_node_label,
                                            count_edge_label, scan_node_label, scan_edge_label,
                                            neighbors_label,  degree_label};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char long_text[WEIR_KEY_MAX + 2];

static void refuse(weir_txn *txn, const with_text *calls, size_t count, size_t most) {
  char too_long[32];
  snprintf(too_long, sizeof too_long, "has %zu bytes", most + 1);
  for (size_t i = 0; i < count; i++) {
    FAILS(calls[i](txn, (weir_text){NULL, 3}), WEIR_INVALID, "is NULL with a length of 3");
    FAILS(calls[i](txn, (weir_text){long_text, most + 1}), WEIR_INVALID, too_long);
    FAILS(calls[i](txn, (weir_text){"ab\0c", 4}), WEIR_INVALID, "holds a NUL at byte 2");
    FAILS(calls[i](txn, weir_str("12345678\xFF")), WEIR_INVALID, "is not UTF-8 at byte 8");
  }
}

GRAPH_TEST(bad_input, keys_and_labels_are_checked_by_every_function) {
  put_base(txn);
  memset(long_text, 'x', sizeof long_text - 1);
  refuse(txn, keys, COUNT(keys), WEIR_KEY_MAX);
  refuse(txn, labels_needed, COUNT(labels_needed), WEIR_LABEL_MAX);
  refuse(txn, labels_optional, COUNT(labels_optional), WEIR_LABEL_MAX);
  for (size_t i = 0; i < COUNT(keys); i++) {
    FAILS(keys[i](txn, weir_str("")), WEIR_INVALID, "is empty: give 1 to 1024 bytes");
  }
  for (size_t i = 0; i < COUNT(labels_needed); i++) {
    FAILS(labels_needed[i](txn, weir_str("")), WEIR_INVALID, "is empty: give 1 to 255 bytes");
  }
  check_base(txn);
}

GRAPH_TEST(bad_input, text_that_is_not_utf8_is_refused) {
  const char *bad[] = {"\x80",
                       "\xC3",
                       "\xC0\x80",
                       "\xC1\xBF",
                       "\xE0\x9F\xBF",
                       "\xED\xA0\x80",
                       "\xED\xBF\xBF",
                       "\xF0\x8F\xBF\xBF",
                       "\xF4\x90\x80\x80",
                       "\xF5\x80\x80\x80",
                       "\xE2\x82",
                       "\xE2\x28\xA1",
                       "\xF0\x9F\x98\x28",
                       "\xFE",
                       "\xC3\xA4\xC3"};
  const char *good[] = {"\xC2\x80",
                        "\xDF\xBF",
                        "\xE0\xA0\x80",
                        "\xED\x9F\xBF",
                        "\xEE\x80\x80",
                        "\xEF\xBF\xBF",
                        "\xF0\x90\x80\x80",
                        "\xF4\x8F\xBF\xBF",
                        "1234567\xC3\xA4"
                        "12345678"};
  put_base(txn);
  for (size_t i = 0; i < COUNT(bad); i++) {
    FAILS(get_key(txn, weir_str(bad[i])), WEIR_INVALID, "not UTF-8");
  }
  for (size_t i = 0; i < COUNT(good); i++) {
    FAILS(get_key(txn, weir_str(good[i])), WEIR_NOT_FOUND, good[i]);
  }
  check_base(txn);
}

/* ---- Everything else
 * --------------------------------------------------------------------------------------- */

GRAPH_TEST(bad_input, null_is_refused_where_an_object_is_wanted) {
  const weir_text key = WEIR_TEXT("a");
  const weir_edge edge = WEIR_EDGE("a", "e", "a");
  put_base(txn);
  FAILS(weir_node_put(txn, NULL, NULL, &err), WEIR_INVALID, "node is NULL");
  FAILS(weir_node_add(txn, NULL, NULL, &err), WEIR_INVALID, "node is NULL");
  FAILS(weir_node_put_many(txn, NULL, 1, NULL, &err), WEIR_INVALID, "nodes is NULL");
  FAILS(weir_node_get(txn, key, NULL, &arena, &err), WEIR_INVALID, "out is NULL");
  FAILS(weir_node_get(txn, key, &node_out, NULL, &err), WEIR_INVALID, "arena is NULL");
  FAILS(weir_node_get_many(txn, NULL, 1, &node_out, NULL, &arena, &err), WEIR_INVALID, "keys is NULL");
  FAILS(weir_node_get_many(txn, &key, 1, NULL, NULL, &arena, &err), WEIR_INVALID, "out is NULL");
  FAILS(weir_node_count(txn, key, NULL, &err), WEIR_INVALID, "out is NULL");
  FAILS(weir_node_scan(txn, NULL, NULL, NULL, &err), WEIR_INVALID, "visit is NULL");
  FAILS(weir_edge_put(txn, NULL, 0, NULL, &err), WEIR_INVALID, "edge is NULL");
  FAILS(weir_edge_add(txn, NULL, 0, NULL, &err), WEIR_INVALID, "edge is NULL");
  FAILS(weir_edge_merge(txn, NULL, key, NULL, &err), WEIR_INVALID, "edge is NULL");
  FAILS(weir_edge_del(txn, NULL, NULL, &err), WEIR_INVALID, "edge is NULL");
  FAILS(weir_edge_get(txn, NULL, &edge_out, &arena, &err), WEIR_INVALID, "edge is NULL");
  FAILS(weir_edge_get(txn, &edge, NULL, &arena, &err), WEIR_INVALID, "out is NULL");
  FAILS(weir_edge_put_many(txn, NULL, 1, 0, NULL, &err), WEIR_INVALID, "edges is NULL");
  FAILS(weir_edge_count(txn, key, NULL, &err), WEIR_INVALID, "out is NULL");
  FAILS(weir_edge_scan(txn, NULL, NULL, NULL, &err), WEIR_INVALID, "visit is NULL");
  FAILS(weir_neighbors(txn, key, WEIR_OUT, 0, NULL, NULL, NULL, &err), WEIR_INVALID, "visit is NULL");
  FAILS(weir_degree(txn, key, WEIR_OUT, weir_str(NULL), NULL, &err), WEIR_INVALID, "out is NULL");
  FAILS(get_key(NULL, key), WEIR_INVALID, "txn is NULL");
  FAILS(put_key(NULL, key), WEIR_INVALID, "txn is NULL");
  FAILS(put_many_key(NULL, key), WEIR_INVALID, "txn is NULL");
  cr_assert(eq(int, weir_node_put(txn, NULL, NULL, NULL), WEIR_INVALID)); /* err may be NULL */
  check_base(txn);
}

GRAPH_TEST(bad_input, labels_that_contradict_themselves_are_refused) {
  static weir_text many[WEIR_LABELS_MAX + 1];
  const weir_text labels[] = {WEIR_TEXT("x"), WEIR_TEXT("y")};
  put_base(txn);
  for (int i = 0; i <= WEIR_LABELS_MAX; i++) {
    many[i] = weir_str("x");
  }
  weir_node node = {.key = WEIR_TEXT("b"), .labels = many, .label_count = WEIR_LABELS_MAX + 1};
  FAILS(weir_node_put(txn, &node, NULL, &err), WEIR_INVALID, "at most 64");
  node.labels = NULL;
  FAILS(weir_node_put(txn, &node, NULL, &err), WEIR_INVALID, "labels is NULL");
  node = (weir_node){.key = WEIR_TEXT("b"), .label = WEIR_TEXT("z"), .labels = labels, .label_count = 2};
  FAILS(weir_node_put(txn, &node, NULL, &err), WEIR_INVALID, "not among labels");
  check_base(txn);
}

GRAPH_TEST(bad_input, weights_flags_and_directions_are_checked) {
  const double weights[] = {NAN, INFINITY, -INFINITY};
  weir_edge edge = WEIR_EDGE("a", "e", "a");
  put_base(txn);
  for (size_t i = 0; i < COUNT(weights); i++) {
    edge.weight = weights[i];
    FAILS(weir_edge_put(txn, &edge, 0, NULL, &err), WEIR_INVALID, "not finite");
  }
  edge.weight = 1;
  FAILS(weir_edge_put(txn, &edge, WEIR_NEXT_RANK, NULL, &err), WEIR_INVALID, "flags");
  FAILS(weir_edge_put_many(txn, &edge, 1, 8, NULL, &err), WEIR_INVALID, "flags");
  FAILS(weir_edge_add(txn, &edge, 4, NULL, &err), WEIR_INVALID, "flags");
  FAILS(weir_neighbors(txn, edge.src, WEIR_OUT, 4, NULL, see_neighbor, NULL, &err), WEIR_INVALID, "flags");
  FAILS(weir_neighbors(txn, edge.src, (weir_direction)0, 0, NULL, see_neighbor, NULL, &err), WEIR_INVALID,
        "direction 0");
  FAILS(weir_degree(txn, edge.src, (weir_direction)4, weir_str(NULL), &number, &err), WEIR_INVALID,
        "direction 4");
  check_base(txn);
}

/* Options of an older caller are shorter, those of a newer one longer. */
GRAPH_TEST(bad_input, options_are_read_by_their_size) {
  struct {
    weir_scan scan;
    int64_t more;
  } newer = {.scan = WEIR_SCAN_INIT, .more = 0};
  put_base(txn);
  newer.scan.limit = 1;
  newer.scan.size = 0;
  FAILS(weir_node_scan(txn, &newer.scan, see_node, NULL, &err), WEIR_INVALID, "_INIT");
  newer.scan.size = SIZE_MAX;
  FAILS(weir_node_scan(txn, &newer.scan, see_node, NULL, &err), WEIR_INVALID, "_INIT");
  newer.scan.size = sizeof newer;
  FAILS(weir_node_scan(txn, &newer.scan, see_node, NULL, &err), WEIR_CONFLICT, "visited");
  newer.more = 1;
  FAILS(weir_node_scan(txn, &newer.scan, see_node, NULL, &err), WEIR_INVALID, "does not know");
  newer.scan.label = weir_str("unheard of");
  newer.scan.size = sizeof(size_t); /* no label yet */
  FAILS(weir_node_scan(txn, &newer.scan, see_node, NULL, &err), WEIR_CONFLICT, "visited");
  check_base(txn);
}
