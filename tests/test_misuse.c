/* Calls that are not allowed where they are made: writes in reads and in visitors, transactions of others. */
#include "graph_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

/* All functions that write, on a store that has the edge a-[e]->b. */
static int call_writer(weir_txn *txn, int which, weir_error *error) {
  const weir_node node = WEIR_NODE("w", "label of w", NULL);
  const weir_edge edge = WEIR_EDGE("a", "e", "b");
  switch (which) {
  case 0:
    return weir_node_put(txn, &node, NULL, error);
  case 1:
    return weir_node_add(txn, &node, NULL, error);
  case 2:
    return weir_node_merge(txn, weir_str("a"), weir_str("{\"a\":1}"), NULL, error);
  case 3:
    return weir_node_del(txn, weir_str("a"), NULL, error);
  case 4:
    return weir_node_put_many(txn, &node, 1, NULL, error);
  case 5:
    return weir_edge_put(txn, &edge, 0, NULL, error);
  case 6:
    return weir_edge_add(txn, &edge, WEIR_NEXT_RANK, NULL, error);
  case 7:
    return weir_edge_merge(txn, &edge, weir_str("{\"a\":1}"), NULL, error);
  case 8:
    return weir_edge_del(txn, &edge, NULL, error);
  default:
    return weir_edge_put_many(txn, &edge, 1, 0, NULL, error);
  }
}

#define WRITERS 10

/* Every function that writes is refused with WEIR_MISUSE in `txn`. */
static int all_refused(weir_txn *txn, weir_error *error) {
  for (int which = 0; which < WRITERS; which++) {
    int rc = call_writer(txn, which, error);
    if (rc != WEIR_MISUSE || error->code != WEIR_MISUSE) {
      return weir_fail(error, WEIR_CONFLICT, "function %d returned %s", which, weir_error_name(rc));
    }
  }
  return WEIR_OK;
}

static int write_in_read(weir_txn *txn, void *data, weir_error *error) {
  int rc = all_refused(txn, error);
  return rc ? rc : all_refused(weir_graph_auto(data), error);
}

GRAPH_TEST(misuse, writes_inside_a_read_are_refused) {
  put_edge(txn, "a", "e", "b");
  OK(weir_read(txn, write_in_read, graph, NULL, &err));
  cr_assert(eq(i64, last_rev(txn), 1));
}

struct visit {
  weir_graph *graph;
  weir_txn *txn;
  int visits;
};

static int write_from_visitor(struct visit *visit, weir_error *error) {
  visit->visits++;
  int rc = all_refused(visit->txn, error);
  return rc ? rc : all_refused(weir_graph_auto(visit->graph), error);
}

static int write_from_node(const weir_node *node, void *data, weir_error *error) {
  int rc = write_from_visitor(data, error);
  return rc == WEIR_OK && node->label_count == 1 && strcmp(node->label.ptr, "x") ? WEIR_CONFLICT : rc;
}

static int write_from_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  return write_from_visitor(data, error);
}

static int write_from_neighbor(const weir_neighbor *neighbor, void *data, weir_error *error) {
  (void)neighbor;
  return write_from_visitor(data, error);
}

static int write_in_visitors(weir_txn *txn, void *data, weir_error *error) {
  struct visit *visit = data;
  visit->txn = txn;
  visit->visits = 0;
  int rc = weir_node_scan(txn, NULL, write_from_node, visit, error);
  if (rc == WEIR_OK) {
    rc = weir_edge_scan(txn, NULL, write_from_edge, visit, error);
  }
  if (rc == WEIR_OK) {
    rc = weir_neighbors(txn, weir_str("a"), WEIR_BOTH, 0, NULL, write_from_neighbor, visit, error);
  }
  return rc ? rc : weir_node_put(txn, &WEIR_NODE("after", NULL, NULL), NULL, error); /* allowed again */
}

GRAPH_TEST(misuse, writes_from_a_visitor_are_refused) {
  struct visit visit = {.graph = graph};
  put_edge(txn, "a", "e", "b");
  put_node(txn, "a", "x");
  OK(weir_write(txn, write_in_visitors, &visit, NULL, &err));
  cr_assert(eq(int, visit.visits, 4));
  cr_assert(eq(i64, count_nodes(txn, NULL), 3));
}

/* A nested write of the user's own that is rolled back must not pull away what the visitor was given. */
static int fail_at_once(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_txn_exec(txn, "CREATE TABLE own(a)", error) ? WEIR_INVALID : WEIR_CONFLICT;
}

static int roll_back_in_visitor(const weir_node *node, void *data, weir_error *error) {
  struct visit *visit = data;
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node other;
  visit->visits++;
  if (weir_write(visit->txn, fail_at_once, NULL, NULL, error) != WEIR_CONFLICT) {
    return WEIR_INVALID;
  }
  int rc = weir_node_get(visit->txn, weir_str("b"), &other, &arena, error);
  if (rc == WEIR_OK && (strcmp(other.label.ptr, "y") != 0 || strcmp(node->label.ptr, "x") != 0)) {
    rc = weir_fail(error, WEIR_CONFLICT, "labels %s and %s", node->label.ptr, other.label.ptr);
  }
  weir_arena_clear(&arena);
  return rc ? rc : WEIR_STOP;
}

static int scan_with_rollback(weir_txn *txn, void *data, weir_error *error) {
  struct visit *visit = data;
  visit->txn = txn;
  return weir_node_scan(txn, NULL, roll_back_in_visitor, visit, error);
}

GRAPH_TEST(misuse, a_rollback_under_a_visitor_keeps_what_it_was_given) {
  struct visit visit = {.graph = graph};
  put_node(txn, "a", "x");
  put_node(txn, "b", "y");
  OK(weir_write(txn, scan_with_rollback, &visit, NULL, &err));
  cr_assert(eq(int, visit.visits, 1));
}

/* ---- Whose transaction -----------------------------------------------------------------------------------
 */

Test(misuse, a_pool_that_is_no_graph_is_refused, .timeout = 100) {
  weir_pool *pool;
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  int64_t count;
  OK(weir_pool_open(&pool, ":memory:", NULL, &err));
  weir_txn *txn = weir_pool_auto(pool);
  FAILS(all_refused(txn, &err) ? WEIR_OK : WEIR_MISUSE, WEIR_MISUSE, "weir_graph_open");
  FAILS(weir_node_get(txn, weir_str("a"), &node, &arena, &err), WEIR_MISUSE, "weir_graph_open");
  FAILS(weir_node_count(txn, weir_str(NULL), &count, &err), WEIR_MISUSE, "weir_graph_open");
  OK(weir_pool_close(pool, &err));
  weir_arena_clear(&arena);
}

/* ---- A store that closes
 * ------------------------------------------------------------------------------------ */

static int leave_open(weir_txn *txn, void *data, weir_error *error) {
  weir_graph *graph = data;
  (void)txn;
  return weir_graph_close(graph, error);
}

GRAPH_TEST(misuse, closing_inside_a_transaction_is_refused) {
  FAILS(weir_read(txn, leave_open, graph, NULL, &err), WEIR_MISUSE, "");
  FAILS(weir_write(txn, leave_open, graph, NULL, &err), WEIR_MISUSE, "");
  put_node(txn, "a", NULL); /* it is still open */
}

/* Holds a snapshot until it is told to end it: a store with another thread's transaction cannot close. */
struct holder {
  weir_graph *graph;
  atomic_int holds;
  atomic_int end;
  int rc;
};

static int is_set(void *flag) {
  return atomic_load((atomic_int *)flag);
}

static void *hold_snapshot(void *data) {
  struct holder *holder = data;
  weir_txn *snapshot;
  holder->rc = weir_snapshot_begin(weir_graph_pool(holder->graph), &snapshot, NULL, NULL);
  atomic_store(&holder->holds, 1);
  if (holder->rc == WEIR_OK) {
    (void)weir_test_wait(is_set, &holder->end, WEIR_TEST_WAIT_MS);
    holder->rc = weir_snapshot_end(snapshot, NULL);
  }
  return NULL;
}

Test(misuse, a_store_that_is_closing_refuses_new_work, .timeout = 100) {
  char path[512];
  struct holder holder = {.graph = NULL};
  pthread_t thread;
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.close_timeout_ms = 1;
  weir_test_path(path, sizeof path, "closing.db");
  OK(weir_graph_open(&holder.graph, path, &options, &err));
  weir_txn *txn = weir_graph_auto(holder.graph);
  put_node(txn, "a", NULL);
  cr_assert(zero(int, pthread_create(&thread, NULL, hold_snapshot, &holder)));
  cr_assert(eq(int, weir_test_wait(is_set, &holder.holds, WEIR_TEST_WAIT_MS), 1));
  FAILS(weir_graph_close(holder.graph, &err), WEIR_BUSY, "");
  FAILS(weir_node_get(txn, weir_str("a"), &node, &arena, &err), WEIR_CLOSED, "");
  FAILS(weir_node_put(txn, &WEIR_NODE("b", NULL, NULL), NULL, &err), WEIR_CLOSED, "");
  FAILS(weir_node_put_many(txn, &WEIR_NODE("b", NULL, NULL), 1, NULL, &err), WEIR_CLOSED, "");
  atomic_store(&holder.end, 1);
  cr_assert(zero(int, pthread_join(thread, NULL)));
  OK(holder.rc);
  OK(weir_graph_close(holder.graph, &err));
  weir_arena_clear(&arena);
}
