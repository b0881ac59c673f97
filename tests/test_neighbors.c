/* The neighbors of a node: which, in what pages, with what, and how many. */
#include "graph_fixture.h"

/* What a visitor saw, one line an edge. */
struct seen {
  weir_txn *txn;
  char text[4096];
  int count;
  int stop_after;
};

static int note(const weir_neighbor *neighbor, void *data, weir_error *error) {
  struct seen *seen = data;
  size_t at = strlen(seen->text);
  (void)error;
  snprintf(seen->text + at, sizeof seen->text - at, "%s %s %s %d\n",
           neighbor->direction == WEIR_OUT ? "to" : "from", neighbor->node.key.ptr, neighbor->label.ptr,
           (int)neighbor->rank);
  return ++seen->count == seen->stop_after ? WEIR_STOP : WEIR_OK;
}

static const char *walk(weir_txn *txn, const char *key, weir_direction direction, const char *label) {
  static struct seen seen;
  weir_scan scan = WEIR_SCAN_INIT;
  memset(&seen, 0, sizeof seen);
  scan.label = weir_str(label);
  OK(weir_neighbors(txn, weir_str(key), direction, 0, &scan, note, &seen, &err));
  return seen.text;
}

static int64_t degree(weir_txn *txn, const char *key, weir_direction direction, const char *label) {
  int64_t count = -1;
  OK(weir_degree(txn, weir_str(key), direction, weir_str(label), &count, &err));
  return count;
}

/* b and c around a, with a loop and parallel edges. */
static void put_star(weir_txn *txn) {
  weir_edge parallel = WEIR_EDGE("a", "e", "b");
  parallel.rank = 1;
  put_edge(txn, "a", "e", "b");
  put_edge(txn, "a", "e", "a");
  put_edge(txn, "a", "f", "c");
  put_edge(txn, "b", "e", "a");
  put_edge(txn, "c", "e", "b");
  OK(weir_edge_put(txn, &parallel, 0, NULL, &err));
}

#define SEES(key, direction, label, lines) SAME_STRING(walk(txn, key, direction, label), lines)

GRAPH_TEST(neighbors, are_visited_once_an_edge_and_direction) {
  put_star(txn); /* numbers: a, b, c; e, f */
  SEES("a", WEIR_OUT, NULL, "to a e 0\nto b e 0\nto b e 1\nto c f 0\n");
}

GRAPH_TEST(neighbors, a_loop_counts_once_each_way) {
  put_edge(txn, "a", "e", "a");
  SEES("a", WEIR_OUT, NULL, "to a e 0\n");
  SEES("a", WEIR_IN, NULL, "from a e 0\n");
  SEES("a", WEIR_BOTH, NULL, "to a e 0\nfrom a e 0\n");
  cr_assert(eq(i64, degree(txn, "a", WEIR_BOTH, NULL), 2));
}

GRAPH_TEST(neighbors, are_filtered_by_direction_and_label) {
  put_star(txn);
  SEES("a", WEIR_OUT, "f", "to c f 0\n");
  SEES("a", WEIR_IN, NULL, "from a e 0\nfrom b e 0\n");
  SEES("a", WEIR_IN, "f", "");
  SEES("b", WEIR_BOTH, "e", "to a e 0\nfrom a e 0\nfrom a e 1\nfrom c e 0\n");
  SEES("a", WEIR_BOTH, "unheard of", "");
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 2));
}

GRAPH_TEST(neighbors, degree_counts_what_would_be_visited) {
  const char *keys[] = {"a", "b", "c"};
  const char *labels[] = {NULL, "e", "f", "unheard of"};
  put_star(txn);
  for (int k = 0; k < 3; k++) {
    for (int l = 0; l < 4; l++) {
      for (int direction = WEIR_OUT; direction <= WEIR_BOTH; direction++) {
        struct seen seen = {.count = 0};
        weir_scan scan = WEIR_SCAN_INIT;
        scan.label = weir_str(labels[l]);
        OK(weir_neighbors(txn, weir_str(keys[k]), direction, 0, &scan, note, &seen, &err));
        cr_assert(eq(i64, degree(txn, keys[k], direction, labels[l]), seen.count));
      }
    }
  }
  cr_assert(eq(i64, degree(txn, "a", WEIR_BOTH, NULL), 6));
}

GRAPH_TEST(neighbors, of_a_missing_node_are_not_found) {
  struct seen seen = {.count = 0};
  int64_t count;
  FAILS(weir_neighbors(txn, weir_str("x"), WEIR_OUT, 0, NULL, note, &seen, &err), WEIR_NOT_FOUND, "\"x\"");
  FAILS(weir_degree(txn, weir_str("x"), WEIR_OUT, weir_str(NULL), &count, &err), WEIR_NOT_FOUND, "\"x\"");
  put_node(txn, "x", NULL);
  OK(weir_neighbors(txn, weir_str("x"), WEIR_BOTH, 0, NULL, note, &seen, &err));
  cr_assert(zero(int, seen.count));
}

static int check_filled(const weir_neighbor *neighbor, void *data, weir_error *error) {
  unsigned flags = *(const unsigned *)data;
  int nodes = neighbor->node.label_count == 2 && strcmp(neighbor->node.label.ptr, "x") == 0 &&
              strcmp(neighbor->node.labels[1].ptr, "y") == 0 &&
              strcmp(neighbor->node.props.ptr, "{\"n\":1}") == 0 && neighbor->node.rev == 1;
  int edges = neighbor->weight == 2 && neighbor->rev == 2 && strcmp(neighbor->props.ptr, "{\"e\":1}") == 0;
  int bare_node = !neighbor->node.props.ptr && !neighbor->node.labels && neighbor->node.rev == 0;
  int bare_edge = !neighbor->props.ptr && neighbor->weight == 0 && neighbor->rev == 0;
  if (!(flags & WEIR_WITH_NODES ? nodes : bare_node) || !(flags & WEIR_WITH_EDGES ? edges : bare_edge)) {
    return weir_fail(error, WEIR_CONSTRAINT, "wrong with flags %u", flags);
  }
  return WEIR_OK;
}

GRAPH_TEST(neighbors, come_with_nodes_and_edges_as_asked) {
  const weir_text labels[] = {WEIR_TEXT("y"), WEIR_TEXT("x")};
  weir_node node = {
      .key = WEIR_TEXT("b"), .labels = labels, .label_count = 2, .props = WEIR_TEXT("{\"n\":1}")};
  weir_edge edge = WEIR_EDGE("b", "e", "b");
  edge.weight = 2;
  edge.props = weir_str("{\"e\":1}");
  OK(weir_node_put(txn, &node, NULL, &err));
  OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  for (unsigned flags = 0; flags <= (WEIR_WITH_NODES | WEIR_WITH_EDGES); flags++) {
    OK(weir_neighbors(txn, weir_str("b"), WEIR_BOTH, flags, NULL, check_filled, &flags, &err));
  }
}

GRAPH_TEST(neighbors, come_in_pages_across_both_directions) {
  put_star(txn);
  char whole[4096];
  snprintf(whole, sizeof whole, "%s", walk(txn, "a", WEIR_BOTH, NULL));
  for (size_t limit = 1; limit <= 7; limit++) {
    struct seen seen = {.count = 0};
    weir_cursor cursor = WEIR_CURSOR_INIT;
    weir_scan scan = WEIR_SCAN_INIT;
    int pages = 0;
    scan.limit = limit;
    scan.cursor = &cursor;
    while (!cursor.done) {
      OK(weir_neighbors(txn, weir_str("a"), WEIR_BOTH, 0, &scan, note, &seen, &err));
      pages++;
    }
    SAME_STRING(seen.text, whole);
    cr_assert(eq(int, pages, (6 + (int)limit - 1) / (int)limit)); /* no empty page at the end */
    OK(weir_neighbors(txn, weir_str("a"), WEIR_BOTH, 0, &scan, note, &seen, &err));
    cr_assert(eq(int, seen.count, 6)); /* done stays done */
  }
}

GRAPH_TEST(neighbors, stop_ends_the_scan_behind_the_edge) {
  weir_cursor cursor = WEIR_CURSOR_INIT;
  weir_scan scan = WEIR_SCAN_INIT;
  struct seen seen = {.stop_after = 2};
  put_star(txn);
  scan.cursor = &cursor;
  OK(weir_neighbors(txn, weir_str("a"), WEIR_BOTH, 0, &scan, note, &seen, &err));
  cr_assert(eq(int, seen.count, 2));
  cr_assert(zero(int, cursor.done));
  OK(weir_neighbors(txn, weir_str("a"), WEIR_BOTH, 0, &scan, note, &seen, &err));
  cr_assert(eq(int, seen.count, 6));
  cr_assert(eq(int, cursor.done, 1));
}

/* Reads the neighbors of each neighbor, with the very statement that is in use. */
static int note_two_steps(const weir_neighbor *neighbor, void *data, weir_error *error) {
  struct seen *seen = data;
  char key[16];
  snprintf(key, sizeof key, "%s", neighbor->node.key.ptr);
  int rc = weir_neighbors(seen->txn, neighbor->node.key, WEIR_OUT, 0, NULL, note, seen, error);
  /* What this call was given is still there. */
  return rc == WEIR_OK && strcmp(key, neighbor->node.key.ptr) != 0 ? WEIR_CONFLICT : rc;
}

static int walk_two_steps(weir_txn *txn, void *data, weir_error *error) {
  struct seen *seen = data;
  seen->txn = txn;
  return weir_neighbors(txn, weir_str("a"), WEIR_OUT, 0, NULL, note_two_steps, seen, error);
}

GRAPH_TEST(neighbors, a_visitor_may_read_on) {
  struct seen seen = {.count = 0};
  put_star(txn);
  OK(weir_read(txn, walk_two_steps, &seen, NULL, &err));
  /* a has itself, b twice, c; from each of them on */
  cr_assert(eq(int, seen.count, 4 + 2 * 1 + 1));
}

GRAPH_TEST(neighbors, of_many_edges_come_in_order_and_complete) {
  char key[16];
  weir_cursor cursor = WEIR_CURSOR_INIT;
  weir_scan scan = WEIR_SCAN_INIT;
  struct seen seen = {.count = 0};
  for (int i = 0; i < 100; i++) {
    snprintf(key, sizeof key, "n%d", i);
    put_edge(txn, "hub", i % 3 ? "e" : "f", key);
  }
  scan.limit = 7;
  scan.label = weir_str("e");
  for (scan.cursor = &cursor; !cursor.done;) {
    OK(weir_neighbors(txn, weir_str("hub"), WEIR_OUT, 0, &scan, note, &seen, &err));
  }
  cr_assert(eq(int, seen.count, 66));
  cr_assert(eq(i64, degree(txn, "hub", WEIR_OUT, NULL), 100));
}
