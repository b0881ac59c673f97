/* What a projection holds of a store: what its options choose, its keys and numbers, what it tells of itself.
 */
#include <weir/projection.h>

#include "graph_fixture.h"

/* a..d, loops and parallel edges:
 *   a -knows-> b (w 2, prop w 20)   a -knows-> b rank 1 (w 3, "x")   a -likes-> c (w 5, 50)
 *   b -knows-> a (w 7, 70)          c -likes-> c (w 1, none)         b -knows-> d (w 4, 40.5) */
static void fill(weir_txn *txn) {
  static const struct {
    const char *key, *label, *props;
  } nodes[] = {{"a", "user", "{\"age\":1}"},
               {"b", "user", "{\"age\":2}"},
               {"c", "thing", "{\"age\":3}"},
               {"d", "other", "{}"}};
  static const struct {
    const char *src, *label, *dst;
    int64_t rank;
    double weight;
    const char *props;
  } edges[] = {{"a", "knows", "b", 0, 2, "{\"w\":20}"}, {"a", "knows", "b", 1, 3, "{\"w\":\"x\"}"},
               {"a", "likes", "c", 0, 5, "{\"w\":50}"}, {"b", "knows", "a", 0, 7, "{\"w\":70}"},
               {"c", "likes", "c", 0, 1, "{}"},         {"b", "knows", "d", 0, 4, "{\"w\":40.5}"}};
  for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
    weir_node node = {
        .key = weir_str(nodes[i].key), .label = weir_str(nodes[i].label), .props = weir_str(nodes[i].props)};
    OK(weir_node_put(txn, &node, NULL, &err));
  }
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
    weir_edge edge = {.src = weir_str(edges[i].src),
                      .label = weir_str(edges[i].label),
                      .dst = weir_str(edges[i].dst),
                      .rank = edges[i].rank,
                      .weight = edges[i].weight,
                      .props = weir_str(edges[i].props)};
    OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  }
}

static weir_projection *project(weir_txn *txn, const weir_projection_options *options) {
  weir_projection *p = NULL;
  OK(weir_projection_open(&p, txn, options, NULL, &err));
  return p;
}

/* "a: b2 b3 c5; b: a7 d4; ..." in one direction, and then closes the projection. */
static const char *shown(weir_projection *p, weir_direction direction) {
  static char text[1024];
  size_t at = 0;
  for (uint32_t node = 0; node < weir_projection_nodes(p); node++) {
    weir_adjacent row = weir_projection_adjacent(p, node, direction);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s:", node ? "; " : "",
                           weir_projection_key(p, node).ptr);
    for (size_t i = 0; i < row.count; i++) {
      at += (size_t)snprintf(text + at, sizeof text - at, " %s", weir_projection_key(p, row.nodes[i]).ptr);
      if (row.weights) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%g", row.weights[i]);
      }
    }
  }
  text[at] = '\0';
  weir_projection_close(p);
  return text;
}

GRAPH_TEST(projection, holds_everything_by_default) {
  fill(txn);
  SAME_STRING(shown(project(txn, NULL), WEIR_OUT), "a: b b c; b: a d; c: c; d:");
  SAME_STRING(shown(project(txn, NULL), WEIR_IN), "a: b; b: a a; c: a c; d: b");
  weir_projection *p = project(txn, NULL);
  weir_projection_info info;
  weir_projection_describe(p, &info);
  cr_assert(eq(u32, info.nodes, 4));
  cr_assert(eq(u64, info.edges, 6));
  cr_assert(eq(u64, info.loops, 1));
  cr_assert(eq(u64, info.left_out, 0));
  cr_assert(eq(int, info.undirected, 0));
  cr_assert(eq(int, info.weighted, 0));
  cr_assert(eq(i64, info.rev, last_rev(txn)));
  cr_assert(gt(sz, info.bytes, (size_t)48));
  weir_projection_close(p);
}

GRAPH_TEST(projection, of_an_empty_store_is_empty) {
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  weir_projection *p = project(txn, NULL);
  uint32_t node = 7;
  FAILS(weir_projection_find(p, weir_str("a"), &node, &err), WEIR_NOT_FOUND, "\"a\"");
  cr_assert(eq(u32, weir_projection_nodes(p), 0));
  cr_assert(eq(ptr, (void *)weir_projection_key(p, 0).ptr, NULL));
  weir_projection_close(p);
  put_node(txn, "a", "");
  options.weight = WEIR_COST_WEIGHT;
  p = project(txn, &options);
  weir_projection_info info;
  weir_projection_describe(p, &info);
  cr_assert(eq(int, info.weighted, 1), "also if no edge is there");
  SAME_STRING(shown(p, WEIR_OUT), "a:");
}

GRAPH_TEST(projection, takes_only_what_is_chosen) {
  fill(txn);
  const weir_text users[] = {WEIR_TEXT("user"), WEIR_TEXT("nobody")}, likes[] = {WEIR_TEXT("likes")};
  const weir_text nobody[] = {WEIR_TEXT("nobody")};
  const weir_cond older = WEIR_PROP("age", WEIR_GE, weir_int(2));
  const weir_cond heavy = WEIR_TEST(WEIR_FIELD_WEIGHT, WEIR_GT, weir_real(3));
  weir_projection_info info;
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  options.node_labels = users;
  options.node_label_count = 2;
  weir_projection *p = project(txn, &options);
  weir_projection_describe(p, &info);
  cr_assert(eq(u64, info.left_out, 3));
  SAME_STRING(shown(p, WEIR_OUT), "a: b b; b: a");
  options.nodes = &older;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "b:");
  options.node_label_count = 0;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "b:; c: c");
  options.nodes = NULL;
  options.edges = &heavy;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "a: c; b: a d; c:; d:");
  options.edge_labels = likes;
  options.edge_label_count = 1;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "a: c; b:; c:; d:");
  options.edges = NULL;
  SAME_STRING(shown(project(txn, &options), WEIR_IN), "a:; b:; c: a c; d:");
  options.edge_labels = nobody;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "a:; b:; c:; d:");
  options.node_labels = nobody;
  options.node_label_count = 1;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "");
}

GRAPH_TEST(projection, merges_loops_and_parallel_edges_as_told) {
  fill(txn);
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  options.weight = WEIR_COST_WEIGHT;
  options.parallel = WEIR_PARALLEL_SUM;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "a: b5 c5; b: a7 d4; c: c1; d:");
  options.parallel = WEIR_PARALLEL_MIN;
  options.drop_loops = 1;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "a: b2 c5; b: a7 d4; c:; d:");
  options.undirected = 1;
  SAME_STRING(shown(project(txn, &options), WEIR_IN), "a: b2 c5; b: a2 d4; c: a5; d: b4");
  options.parallel = WEIR_PARALLEL_MAX;
  options.drop_loops = 0;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "a: b7 c5; b: a7 d4; c: a5 c1 c1; d: b4");
}

GRAPH_TEST(projection, takes_weights_from_a_property) {
  fill(txn);
  const double missing = -1;
  const weir_cond number = WEIR_PROP("w", WEIR_GT, weir_int(0));
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  options.weight = WEIR_COST_PROP;
  options.weight_path = weir_str("w");
  weir_projection *p = NULL;
  FAILS(weir_projection_open(&p, txn, &options, &(weir_run){.size = sizeof(weir_run), .threads = 2}, &err),
        WEIR_INVALID, "edge \"a\" -[knows]-> \"b\", rank 1, has no number at \"w\"");
  cr_assert(eq(ptr, p, NULL));
  options.weight_missing = &missing;
  p = project(txn, &options);
  weir_projection_info info;
  weir_projection_describe(p, &info);
  cr_assert(eq(dbl, info.least_weight, -1));
  SAME_STRING(shown(p, WEIR_OUT), "a: b20 b-1 c50; b: a70 d40.5; c: c-1; d:");
  options.weight_missing = NULL;
  options.edges = &number;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "a: b20 c50; b: a70 d40.5; c:; d:");
  const weir_text others[] = {WEIR_TEXT("other"), WEIR_TEXT("user")}; /* what is left out needs no weight */
  const weir_cond rank0 = WEIR_TEST(WEIR_FIELD_RANK, WEIR_EQ, weir_int(0));
  options.edges = &rank0;
  options.node_labels = others;
  options.node_label_count = 2;
  SAME_STRING(shown(project(txn, &options), WEIR_OUT), "a: b20; b: a70 d40.5; d:");
}

enum { NODES = 3000 };

/* Keys of all lengths. */
static int put_many(weir_txn *txn, void *data, weir_error *error) {
  char key[1025];
  int rc = WEIR_OK;
  (void)data;
  for (int i = 0; i < NODES && rc == WEIR_OK; i += 3) {
    (void)snprintf(key, sizeof key, "%0*d", 1 + i % 1024, i);
    rc = weir_node_put(txn, &WEIR_NODE(key, "", ""), NULL, error);
  }
  return rc;
}

GRAPH_TEST(projection, finds_nodes_by_their_keys) {
  char key[1025];
  OK(weir_write(txn, put_many, NULL, NULL, &err));
  weir_projection *p = project(txn, NULL);
  uint32_t count = 0;
  for (int i = 0; i < NODES; i++) {
    uint32_t node = 0;
    (void)snprintf(key, sizeof key, "%0*d", 1 + i % 1024, i);
    int rc = weir_projection_find(p, weir_str(key), &node, &err);
    cr_assert(eq(int, rc, i % 3 ? WEIR_NOT_FOUND : WEIR_OK));
    if (rc == WEIR_OK) {
      cr_assert(eq(u32, node, count++), "in the order of the scan");
      SAME(weir_projection_key(p, node), key);
    }
  }
  cr_assert(eq(u32, weir_projection_nodes(p), count));
  FAILS(weir_projection_find(p, weir_str(""), &count, &err), WEIR_INVALID, "key");
  weir_projection_close(p);
}

static int insert_far_apart(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_txn_exec(txn,
                       "INSERT INTO node(id, key, label_set, rev) VALUES (3, 'a', 1, 1),"
                       " (4000000000, 'b', 1, 1), (4000000007, 'c', 1, 1), (9000000000000000000, 'd', 1, 1);"
                       "INSERT INTO edge(src, label, dst, rev) VALUES (4000000000, 1, 3, 1),"
                       " (3, 1, 9000000000000000000, 1), (9000000000000000000, 1, 4000000007, 1)",
                       error);
}

GRAPH_TEST(projection, holds_nodes_whose_numbers_lie_far_apart) {
  OK(weir_write(txn, insert_far_apart, NULL, NULL, &err));
  SAME_STRING(shown(project(txn, NULL), WEIR_OUT), "a: d; b: a; c:; d: c");
}

struct watching {
  weir_txn *txn;
  int calls, cancel_at, wrong;
  uint64_t done;
};

/* It may read, too. */
static int watch(const weir_progress *progress, void *data) {
  struct watching *watching = data;
  int64_t count = 0;
  watching->wrong |= progress->done < watching->done || progress->done > progress->total;
  watching->done = progress->done;
  watching->wrong |= weir_node_count(watching->txn, weir_str(NULL), &count, NULL) != WEIR_OK || count != 4;
  return ++watching->calls == watching->cancel_at;
}

GRAPH_TEST(projection, ends_at_any_call_of_on_progress) {
  fill(txn);
  int rc = WEIR_CANCELED;
  for (int cancel_at = 1; rc == WEIR_CANCELED; cancel_at++) {
    struct watching watching = {.txn = txn, .cancel_at = cancel_at};
    weir_run run = {.size = sizeof run, .on_progress = watch, .data = &watching};
    weir_projection *p = NULL;
    rc = weir_projection_open(&p, txn, NULL, &run, &err);
    cr_assert(eq(int, watching.wrong, 0));
    cr_assert(eq(int, rc, watching.calls < cancel_at ? WEIR_OK : WEIR_CANCELED), "%s", err.message);
    cr_assert(eq(int, p == NULL, rc != WEIR_OK));
    cr_assert(ge(int, watching.calls, cancel_at < 2 ? cancel_at : 2), "at the beginning and at the end");
    weir_projection_close(p);
  }
  OK(rc);
}
