/* Several operations in one transaction: atomic writes, one snapshot for reads, what is not allowed inside.
 */
#include "graph_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

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

/* ---- Reads ----------------------------------------------------------------------------------------------
 */

struct pairs {
  weir_graph *graph;
  atomic_int stop;
  atomic_int written;
  int rc;
};

/* Two nodes and an edge with each write: whoever counts sees as many pairs as edges. */
static int put_pair(weir_txn *txn, void *data, weir_error *error) {
  char keys[2][32];
  int number = *(const int *)data;
  snprintf(keys[0], sizeof keys[0], "%d left", number);
  snprintf(keys[1], sizeof keys[1], "%d right", number);
  return weir_edge_put(txn, &WEIR_EDGE(keys[0], "pair", keys[1]), WEIR_CREATE_ENDPOINTS, NULL, error);
}

static void *write_pairs(void *data) {
  struct pairs *pairs = data;
  for (int i = 0; i < 100000 && !atomic_load(&pairs->stop) && pairs->rc == WEIR_OK; i++) {
    pairs->rc = weir_write(weir_graph_auto(pairs->graph), put_pair, &i, NULL, NULL);
    atomic_store(&pairs->written, i + 1);
  }
  return NULL;
}

static int count_node(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  (void)error;
  ++*(int64_t *)data;
  return WEIR_OK;
}

static int read_twice(weir_txn *txn, void *data, weir_error *error) {
  int64_t nodes[2];
  int64_t edges;
  int64_t scanned = 0;
  (void)data;
  int rc = weir_node_count(txn, weir_str(NULL), &nodes[0], error);
  if (rc == WEIR_OK) {
    rc = weir_edge_count(txn, weir_str("pair"), &edges, error);
  }
  if (rc == WEIR_OK) {
    rc = weir_node_scan(txn, NULL, count_node, &scanned, error);
  }
  if (rc == WEIR_OK) {
    rc = weir_node_count(txn, weir_str(NULL), &nodes[1], error);
  }
  if (rc == WEIR_OK && (nodes[0] != nodes[1] || nodes[0] != scanned || nodes[0] != 2 * edges)) {
    rc = weir_fail(error, WEIR_CONSTRAINT, "%d nodes, then %d, %d visited, %d edges", (int)nodes[0],
                   (int)nodes[1], (int)scanned, (int)edges);
  }
  return rc;
}

static int has_written(void *data) {
  const struct pairs *pairs = data;
  return atomic_load(&pairs->written) > 0;
}

GRAPH_TEST(transactions, a_read_sees_one_moment_while_another_thread_writes) {
  static struct pairs pairs;
  pthread_t thread;
  memset(&pairs, 0, sizeof pairs);
  pairs.graph = graph;
  cr_assert(zero(int, pthread_create(&thread, NULL, write_pairs, &pairs)));
  int began = weir_test_wait(has_written, &pairs, WEIR_TEST_WAIT_MS);
  int rc = WEIR_OK;
  for (int i = 0; i < 50 && rc == WEIR_OK; i++) {
    rc = weir_read(txn, read_twice, NULL, NULL, &err);
  }
  atomic_store(&pairs.stop, 1);
  cr_assert(zero(int, pthread_join(thread, NULL)));
  cr_assert(eq(int, began, 1));
  OK(rc);
  OK(pairs.rc);
}

Test(snapshots, stay_as_they_are_while_others_write, .timeout = 100) {
  char path[512];
  weir_graph *graph;
  weir_txn *snapshot;
  weir_test_path(path, sizeof path, "snapshot.db");
  OK(weir_graph_open(&graph, path, NULL, &err));
  weir_txn *txn = weir_graph_auto(graph);
  put_node(txn, "a", "x");
  OK(weir_snapshot_begin(weir_graph_pool(graph), &snapshot, NULL, &err));
  struct pairs pairs = {.graph = graph};
  pthread_t thread;
  cr_assert(zero(int, pthread_create(&thread, NULL, write_pairs, &pairs)));
  cr_assert(eq(int, weir_test_wait(has_written, &pairs, WEIR_TEST_WAIT_MS), 1));
  for (int i = 0; i < 20; i++) {
    cr_assert(eq(i64, count_nodes(snapshot, NULL), 1));
    cr_assert(eq(i64, count_nodes(snapshot, "x"), 1));
    cr_assert(eq(i64, count_edges(snapshot, NULL), 0));
  }
  FAILS(weir_node_put(snapshot, &WEIR_NODE("b", NULL, NULL), NULL, &err), WEIR_MISUSE, "");
  atomic_store(&pairs.stop, 1);
  cr_assert(zero(int, pthread_join(thread, NULL)));
  OK(weir_snapshot_end(snapshot, &err));
  OK(pairs.rc);
  cr_assert(eq(i64, count_edges(txn, NULL), atomic_load(&pairs.written)));
  OK(weir_graph_close(graph, &err));
}
