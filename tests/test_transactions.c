/* Several operations in one transaction: atomic writes, one snapshot for reads, what is not allowed inside.
 */
#include "graph_fixture.h"

#include <pthread.h>

/* ---- Writes ---------------------------------------------------------------------------------------------
 */

static int put_and_fail(weir_txn *txn, void *data, weir_error *error) {
  int rc = weir_edge_put(txn, &WEIR_EDGE("a", "fresh", "b"), WEIR_CREATE_ENDPOINTS, NULL, error);
  if (rc == WEIR_OK) {
    rc = weir_node_put(txn, &WEIR_NODE("c", "fresh", "{\"a\":1}"), NULL, error);
  }
  if (rc == WEIR_OK) {
    rc = weir_node_del(txn, weir_str("kept"), NULL, error);
  }
  (void)data;
  return rc ? rc : weir_fail(error, WEIR_CONFLICT, "changed my mind");
}

GRAPH_TEST(transactions, a_write_that_fails_leaves_no_trace) {
  put_node(txn, "kept", "old");
  FAILS(weir_write(txn, put_and_fail, NULL, NULL, &err), WEIR_CONFLICT, "changed my mind");
  cr_assert(eq(i64, count_nodes(txn, NULL), 1));
  cr_assert(eq(i64, count_edges(txn, NULL), 0));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 1));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label_set"), 2));
  cr_assert(eq(i64, last_rev(txn), 1));
}

/* The label was made, its number cached and then rolled back: another label may get that number. */
GRAPH_TEST(transactions, labels_that_were_rolled_back_are_forgotten) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  FAILS(weir_write(txn, put_and_fail, NULL, NULL, &err), WEIR_CONFLICT, "");
  put_node(txn, "x", "other");
  put_node(txn, "y", "fresh");
  put_edge(txn, "x", "fresh", "y");
  OK(weir_node_get(txn, weir_str("x"), &node, &arena, &err));
  SAME(node.label, "other");
  OK(weir_node_get(txn, weir_str("y"), &node, &arena, &err));
  SAME(node.label, "fresh");
  cr_assert(eq(i64,
               sql_number(txn, "SELECT count(*) FROM node JOIN label_set_member USING (label_set)"
                               " JOIN label ON label.id = label WHERE (key, name) IN (VALUES ('x', 'other'),"
                               " ('y', 'fresh'))"),
               2));
  weir_arena_clear(&arena);
}

static int fail_inside_and_go_on(weir_txn *txn, void *data, weir_error *error) {
  weir_graph *graph = data;
  int64_t count = -1;
  int rc = weir_write(txn, put_and_fail, NULL, NULL, error);
  if (rc != WEIR_CONFLICT) {
    return weir_fail(error, WEIR_INVALID, "the inner write returned %d", rc);
  }
  rc = weir_node_put(txn, &WEIR_NODE("d", "other", NULL), NULL, error);
  if (rc == WEIR_OK) { /* the automatic transaction is this one */
    rc = weir_edge_put(weir_graph_auto(graph), &WEIR_EDGE("d", "fresh", "kept"), 0, NULL, error);
  }
  if (rc == WEIR_OK) {
    rc = weir_node_count(weir_graph_auto(graph), weir_str("other"), &count, error);
  }
  return rc == WEIR_OK && count != 1 ? weir_fail(error, WEIR_INVALID, "%d nodes", (int)count) : rc;
}

GRAPH_TEST(transactions, an_inner_write_fails_alone) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_edge edge;
  put_node(txn, "kept", NULL);
  OK(weir_write(txn, fail_inside_and_go_on, graph, NULL, &err));
  cr_assert(eq(i64, count_nodes(txn, NULL), 2));
  OK(weir_edge_get(txn, &WEIR_EDGE("d", "fresh", "kept"), &edge, &arena, &err));
  cr_assert(eq(i64, edge.rev, 2));
  weir_arena_clear(&arena);
}

/* A failed operation is undone; the transaction goes on as the function that called it likes. */
static int ignore_failures(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  int rc = weir_node_add(txn, &WEIR_NODE("a", "x", NULL), NULL, error);
  if (rc == WEIR_OK) {
    rc = weir_node_add(txn, &WEIR_NODE("a", "new label", NULL), NULL, error) == WEIR_EXISTS ? WEIR_OK
                                                                                            : WEIR_CONFLICT;
  }
  if (rc == WEIR_OK) {
    rc = weir_edge_put(txn, &WEIR_EDGE("a", "new label", "b"), 0, NULL, error) == WEIR_NOT_FOUND
             ? WEIR_OK
             : WEIR_CONFLICT;
  }
  return rc;
}

GRAPH_TEST(transactions, failed_operations_in_a_write_leave_no_trace) {
  OK(weir_write(txn, ignore_failures, NULL, NULL, &err));
  cr_assert(eq(i64, count_nodes(txn, "x"), 1));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 1));
}

/* Rows that SQLite refuses, when what comes before them is written already: new labels, new endpoints. */
static int put_what_is_refused(weir_txn *txn, void *data, weir_error *error) {
  const weir_node node = WEIR_NODE("bad", "new", NULL);
  const weir_edge edge = WEIR_EDGE("a", "new", "b");
  (void)data;
  int rc =
      weir_txn_exec(txn,
                    "CREATE TRIGGER no_node BEFORE INSERT ON node WHEN NEW.key = 'bad'"
                    " BEGIN SELECT RAISE(ABORT, 'refused'); END;"
                    "CREATE TRIGGER no_edge BEFORE INSERT ON edge BEGIN SELECT RAISE(ABORT, 'refused'); END",
                    error);
  if (rc == WEIR_OK && weir_node_put(txn, &node, NULL, error) != WEIR_CONSTRAINT) {
    rc = WEIR_CONFLICT;
  }
  if (rc == WEIR_OK && weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, error) != WEIR_CONSTRAINT) {
    rc = WEIR_CONFLICT;
  }
  return rc;
}

GRAPH_TEST(transactions, refused_rows_take_new_labels_and_endpoints_with_them) {
  OK(weir_write(txn, put_what_is_refused, NULL, NULL, &err));
  cr_assert(eq(i64, count_nodes(txn, NULL), 0));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 0));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label_set"), 1));
}

/* ---- Numbers of writes ----------------------------------------------------------------------------------
 */

#define WRITERS 4
#define WRITES  50

struct writer {
  weir_graph *graph;
  int index;
  int rc;
  int64_t revs[WRITES];
};

struct numbered {
  char key[16];
  int fail;
  int64_t rev;
};

static int put_numbered(weir_txn *txn, void *data, weir_error *error) {
  struct numbered *numbered = data;
  int rc = weir_node_put(txn, &WEIR_NODE(numbered->key, "x", NULL), NULL, error);
  if (rc == WEIR_OK) {
    rc = weir_txn_rev(txn, &numbered->rev, error);
  }
  return rc == WEIR_OK && numbered->fail ? WEIR_CONFLICT : rc;
}

static void *write_numbered(void *data) {
  struct writer *writer = data;
  for (int i = 0; i < WRITES && writer->rc == WEIR_OK; i++) {
    struct numbered numbered = {.fail = 1};
    snprintf(numbered.key, sizeof numbered.key, "%d/%d", writer->index, i);
    /* One that fails, which takes no number, then one that does not. */
    int rc = weir_write(weir_graph_auto(writer->graph), put_numbered, &numbered, NULL, NULL);
    numbered.fail = 0;
    writer->rc = rc != WEIR_CONFLICT
                     ? WEIR_INVALID
                     : weir_write(weir_graph_auto(writer->graph), put_numbered, &numbered, NULL, NULL);
    writer->revs[i] = numbered.rev;
  }
  return NULL;
}

GRAPH_TEST(transactions, writes_are_numbered_in_order_without_gaps) {
  static struct writer writers[WRITERS];
  int seen[WRITERS * WRITES + 1] = {0};
  pthread_t threads[WRITERS];
  for (int w = 0; w < WRITERS; w++) {
    writers[w] = (struct writer){.graph = graph, .index = w};
    cr_assert(zero(int, pthread_create(&threads[w], NULL, write_numbered, &writers[w])));
  }
  for (int w = 0; w < WRITERS; w++) {
    cr_assert(zero(int, pthread_join(threads[w], NULL)));
  }
  for (int w = 0; w < WRITERS; w++) {
    OK(writers[w].rc);
    for (int i = 0; i < WRITES; i++) {
      cr_assert(writers[w].revs[i] >= 1 && writers[w].revs[i] <= WRITERS * WRITES);
      cr_assert(i == 0 || writers[w].revs[i - 1] < writers[w].revs[i]);
      cr_assert(zero(int, seen[writers[w].revs[i]]++));
    }
  }
  cr_assert(eq(i64, last_rev(txn), WRITERS * WRITES));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(DISTINCT rev) FROM node"), WRITERS * WRITES));
}

GRAPH_TEST(transactions, all_rows_of_a_write_have_its_number_and_deletions_count) {
  int existed;
  put_edge(txn, "a", "e", "b");
  cr_assert(eq(i64,
               sql_number(txn, "SELECT min(rev) + max(rev) FROM (SELECT rev FROM node UNION ALL"
                               " SELECT rev FROM edge)"),
               2));
  OK(weir_edge_del(txn, &WEIR_EDGE("a", "e", "b"), &existed, &err));
  cr_assert(eq(i64, last_rev(txn), 2));
  OK(weir_node_del(txn, weir_str("a"), &existed, &err));
  cr_assert(eq(i64, last_rev(txn), 3));
}
