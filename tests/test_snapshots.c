/* Several operations in one read: all of one moment, whatever others write. */
#include "graph_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

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

GRAPH_TEST(snapshots, a_read_sees_one_moment_while_another_thread_writes) {
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
