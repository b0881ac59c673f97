/* Walks while the graph changes, and what their visitors may do. */
#include <weir/traverse.h>

#include "graph_fixture.h"

struct seen {
  weir_walk *handle;
  weir_txn *txn;
  char text[4096];
  int count;
  int stop_at;
};

static int note(const weir_step *step, void *data, weir_error *error) {
  struct seen *seen = data;
  size_t at = strlen(seen->text);
  (void)error;
  snprintf(seen->text + at, sizeof seen->text - at, "%s/%u ", step->node.key.ptr, (unsigned)step->depth);
  return ++seen->count == seen->stop_at ? WEIR_STOP : WEIR_OK;
}

/* a -> b, c, d; b -> e; c -> f. */
static void put_tree(weir_txn *txn) {
  static const char *const edges[][2] = {{"a", "b"}, {"a", "c"}, {"a", "d"}, {"b", "e"}, {"c", "f"}};
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
    put_edge(txn, edges[i][0], "e", edges[i][1]);
  }
}

static void del_edge(weir_txn *txn, const char *src, const char *dst) {
  int existed = 0;
  weir_edge edge = WEIR_EDGE(src, "e", dst);
  OK(weir_edge_del(txn, &edge, &existed, &err));
  cr_assert(eq(int, existed, 1));
}

static void begin(struct seen *seen, weir_txn *txn, weir_walk_order order, int stop_at) {
  const weir_text start = WEIR_TEXT("a");
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.order = order;
  options.flags = WEIR_WITH_EDGES | WEIR_WITH_NODES | WEIR_WITH_PATHS;
  memset(seen, 0, sizeof *seen);
  seen->stop_at = stop_at;
  OK(weir_walk_open(&seen->handle, &start, 1, &options, &err));
  OK(weir_walk_run(seen->handle, txn, note, seen, NULL, &err));
  cr_assert(eq(int, seen->count, stop_at));
}

static const char *finish(struct seen *seen, weir_txn *txn) {
  weir_walk_result result;
  OK(weir_walk_run(seen->handle, txn, note, seen, &result, &err));
  cr_assert(eq(int, (int)result.ending, WEIR_ENDED));
  weir_walk_close(seen->handle);
  return seen->text;
}

GRAPH_TEST(walk_changes, nodes_that_were_deleted_are_passed_over) {
  struct seen seen;
  put_tree(txn);
  begin(&seen, txn, WEIR_BREADTH_FIRST, 2);
  OK(weir_node_del(txn, weir_str("c"), NULL, &err));
  SAME_STRING(finish(&seen, txn), "a/0 b/1 d/1 e/2 ");
}

GRAPH_TEST(walk_changes, edges_are_those_of_the_run) {
  struct seen seen;
  put_tree(txn);
  begin(&seen, txn, WEIR_DEPTH_FIRST, 2); /* a, b: its edges and the other ones of a come later */
  del_edge(txn, "b", "e");
  del_edge(txn, "a", "c");
  put_edge(txn, "b", "e", "g");
  SAME_STRING(finish(&seen, txn), "a/0 b/1 g/2 d/1 ");
}

/* The stops on the way are gone: their edges are, too. */
GRAPH_TEST(walk_changes, a_way_that_is_gone_leads_nowhere) {
  struct seen seen;
  put_tree(txn);
  begin(&seen, txn, WEIR_DEPTH_FIRST, 2);
  OK(weir_node_del(txn, weir_str("a"), NULL, &err));
  SAME_STRING(finish(&seen, txn), "a/0 b/1 e/2 ");
}

static int write_and_walk(weir_txn *txn, void *data, weir_error *error) {
  struct seen *seen = data;
  const weir_text start = WEIR_TEXT("a");
  weir_edge edge = WEIR_EDGE("e", "e", "new");
  int rc = weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, error);
  return rc ? rc : weir_walk_once(txn, &start, 1, NULL, note, seen, NULL, error);
}

GRAPH_TEST(walk_changes, a_transaction_walks_over_its_own_writes) {
  struct seen seen = {.count = 0};
  put_tree(txn);
  OK(weir_write(txn, write_and_walk, &seen, NULL, &err));
  SAME_STRING(seen.text, "a/0 b/1 c/1 d/1 e/2 f/2 new/3 ");
}

/* ---- Visitors ---------------------------------------------------------------------------------------------
 */

/* Walks from each node that it visits, counts around it, and looks at what it was handed afterwards. */
static int walk_within(const weir_step *step, void *data, weir_error *error) {
  struct seen *seen = data;
  char key[16];
  uint64_t around[3];
  snprintf(key, sizeof key, "%s", step->node.key.ptr);
  int rc = weir_walk_once(seen->txn, &step->node.key, 1, NULL, note, seen, NULL, error);
  if (rc == WEIR_OK) {
    rc = weir_within_count(seen->txn, step->node.key, 2, NULL, around, error);
  }
  if (rc == WEIR_OK && (strcmp(key, step->node.key.ptr) != 0 || around[0] != 1)) {
    rc = weir_fail(error, WEIR_CORRUPT, "the step has changed");
  }
  return rc;
}

static int walk_nested(weir_txn *txn, void *data, weir_error *error) {
  struct seen *seen = data;
  const weir_text start = WEIR_TEXT("a");
  seen->txn = txn;
  return weir_walk_once(txn, &start, 1, NULL, walk_within, seen, NULL, error);
}

GRAPH_TEST(walk_changes, a_visitor_may_walk) {
  struct seen seen = {.count = 0};
  put_tree(txn);
  OK(weir_read(txn, walk_nested, &seen, NULL, &err));
  SAME_STRING(seen.text, "a/0 b/1 c/1 d/1 e/2 f/2 b/0 e/1 c/0 f/1 d/0 e/0 f/0 ");
}

static int run_itself(const weir_step *step, void *data, weir_error *error) {
  struct seen *seen = data;
  (void)step;
  return weir_walk_run(seen->handle, seen->txn, note, seen, NULL, error);
}

static int run_outer(weir_txn *txn, void *data, weir_error *error) {
  struct seen *seen = data;
  seen->txn = txn;
  return weir_walk_run(seen->handle, txn, run_itself, seen, NULL, error);
}

GRAPH_TEST(walk_changes, a_visitor_must_not_run_its_own_walk) {
  struct seen seen = {.count = 0};
  const weir_text start = WEIR_TEXT("a");
  put_tree(txn);
  OK(weir_walk_open(&seen.handle, &start, 1, NULL, &err));
  FAILS(weir_read(txn, run_outer, &seen, NULL, &err), WEIR_MISUSE, "the walk is running");
  OK(weir_walk_run(seen.handle, txn, note, &seen, NULL, &err));
  SAME_STRING(seen.text, "a/0 b/1 c/1 d/1 e/2 f/2 ");
  weir_walk_close(seen.handle);
}

static int write_in_visitor(const weir_step *step, void *data, weir_error *error) {
  struct seen *seen = data;
  return weir_node_del(seen->txn, step->node.key, NULL, error);
}

static int run_writing(weir_txn *txn, void *data, weir_error *error) {
  struct seen *seen = data;
  const weir_text start = WEIR_TEXT("a");
  seen->txn = txn;
  return weir_walk_once(txn, &start, 1, NULL, write_in_visitor, seen, NULL, error);
}

GRAPH_TEST(walk_changes, a_visitor_must_not_write) {
  struct seen seen = {.count = 0};
  put_tree(txn);
  FAILS(weir_write(txn, run_writing, &seen, NULL, &err), WEIR_MISUSE, "a visitor must not write");
  cr_assert(eq(i64, count_nodes(txn, NULL), 6));
}

/* Forty diamonds in a row: 2^40 paths, 121 nodes, 160 edges. */
GRAPH_TEST(walk_changes, paths_are_not_listed_unless_they_are_asked_for) {
  struct seen seen = {.count = 0};
  const weir_text start = WEIR_TEXT("v0");
  uint64_t around[81];
  weir_walk_result result;
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  for (int i = 0; i < 40; i++) {
    char keys[4][16];
    snprintf(keys[0], sizeof keys[0], "v%d", i);
    snprintf(keys[1], sizeof keys[1], "l%d", i);
    snprintf(keys[2], sizeof keys[2], "r%d", i);
    snprintf(keys[3], sizeof keys[3], "v%d", i + 1);
    for (int side = 1; side <= 2; side++) {
      put_edge(txn, keys[0], "e", keys[side]);
      put_edge(txn, keys[side], "e", keys[3]);
    }
  }
  for (int order = WEIR_BREADTH_FIRST; order <= WEIR_DEPTH_FIRST; order++) {
    options.order = (weir_walk_order)order;
    options.max_depth = 80;
    options.unique = WEIR_UNIQUE_NODE;
    OK(weir_walk_once(txn, &start, 1, &options, note, &seen, &result, &err));
    cr_assert(eq(u64, result.visited, 121));
    cr_assert(le(u64, result.edges, 160 * 2));
    options.unique = WEIR_UNIQUE_EDGE;
    OK(weir_walk_once(txn, &start, 1, &options, note, &seen, &result, &err));
    cr_assert(eq(u64, result.visited, 161));
    cr_assert(le(u64, result.edges, 160 * 2));
  }
  OK(weir_within_count(txn, start, 80, NULL, around, &err));
  for (int i = 0; i <= 80; i++) {
    cr_assert(eq(u64, around[i], i % 2 ? 2 : 1));
  }
}
