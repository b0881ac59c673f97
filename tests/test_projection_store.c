/* Projections of a store in use: one moment of it while others write, how old they are, many threads, cancel.
 */
#include <weir/projection.h>

#include "graph_fixture.h"
#include "threads.h"

enum { NODES = 60, EDGES = 400, WEIGHT = EDGES / 10 * 45, ROUNDS = TEST_IS_SLOW ? 10 : 40 };

static const char *key_of(unsigned node) {
  static _Thread_local char keys[2][16];
  static _Thread_local int next;
  char *key = keys[next++ % 2];
  (void)snprintf(key, sizeof keys[0], "n%u", node);
  return key;
}

/* Puts an edge with this weight, wherever there is none. */
static int put_somewhere(weir_txn *txn, weir_test_rng *rng, double weight, weir_error *error) {
  weir_edge edge = {.label = WEIR_TEXT("e"), .weight = weight};
  edge.src = weir_str(key_of((unsigned)weir_test_below(rng, NODES)));
  edge.dst = weir_str(key_of((unsigned)weir_test_below(rng, NODES)));
  return weir_edge_add(txn, &edge, WEIR_NEXT_RANK, NULL, error);
}

struct filling {
  weir_test_rng *rng;
  unsigned nodes, edges;
};

static int fill(weir_txn *txn, void *data, weir_error *error) {
  const struct filling *filling = data;
  int rc = WEIR_OK;
  for (unsigned i = 0; i < filling->nodes && rc == WEIR_OK; i++) {
    rc = weir_node_put(txn, &WEIR_NODE(key_of(i), "node", ""), NULL, error);
  }
  for (unsigned i = 0; i < filling->edges && rc == WEIR_OK; i++) {
    rc = put_somewhere(txn, filling->rng, i % 10, error);
  }
  return rc;
}

static weir_test_rng filled(weir_txn *txn, unsigned edges) {
  weir_test_rng rng = {weir_test_seed()};
  struct filling filling = {&rng, NODES, edges};
  OK(weir_write(txn, fill, &filling, NULL, &err));
  return rng;
}

static double weight_in(const weir_projection *p, weir_direction direction) {
  double sum = 0;
  for (uint32_t node = 0; node < weir_projection_nodes(p); node++) {
    weir_adjacent row = weir_projection_adjacent(p, node, direction);
    for (size_t i = 0; i < row.count; i++) {
      sum += row.weights[i];
    }
  }
  return sum;
}

/* ---- While another thread writes ------------------------------------------------------------------------
 */

struct mover {
  weir_graph *graph;
  weir_test_rng rng;
  atomic_int stop, written;
  int rc;
  weir_error error;
};

static int first_edge(const weir_edge *edge, void *data, weir_error *error) {
  weir_edge *kept = data;
  static _Thread_local char src[16], dst[16];
  (void)error;
  (void)snprintf(src, sizeof src, "%s", edge->src.ptr);
  (void)snprintf(dst, sizeof dst, "%s", edge->dst.ptr);
  *kept = (weir_edge){.src = weir_str(src),
                      .label = WEIR_TEXT("e"),
                      .dst = weir_str(dst),
                      .rank = edge->rank,
                      .weight = edge->weight};
  return WEIR_STOP;
}

/* An edge goes, and one with the same weight comes: their number and the sum of weights stay. */
static int move_edge(weir_txn *txn, void *data, weir_error *error) {
  weir_test_rng *rng = data;
  weir_edge edge = {.weight = 0};
  int rc = weir_edge_scan(txn, NULL, first_edge, &edge, error);
  if (rc == WEIR_OK || rc == WEIR_STOP) {
    rc = weir_edge_del(txn, &edge, NULL, error);
  }
  return rc ? rc : put_somewhere(txn, rng, edge.weight, error);
}

static void *move_edges(void *data) {
  struct mover *mover = data;
  while (!atomic_load(&mover->stop) && mover->rc == WEIR_OK) {
    mover->rc = weir_write(weir_graph_auto(mover->graph), move_edge, &mover->rng, NULL, &mover->error);
    atomic_fetch_add(&mover->written, 1);
  }
  return NULL;
}

static int has_written(void *data) {
  const struct mover *mover = data;
  return atomic_load(&mover->written) > 0;
}

struct opened {
  weir_projection *p;
  int64_t behind;
};

static int open_both(weir_txn *txn, void *data, weir_error *error) {
  struct opened *opened = data;
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  options.weight = WEIR_COST_WEIGHT;
  int rc = weir_projection_open(&opened->p, txn, &options, NULL, error);
  return rc ? rc : weir_projection_behind(opened->p, txn, &opened->behind, error);
}

static void check_moment(weir_txn *txn, int64_t *rev) {
  struct opened opened = {NULL, -1};
  weir_projection_info info;
  int64_t behind = -1;
  OK(weir_read(txn, open_both, &opened, NULL, &err));
  cr_assert(eq(i64, opened.behind, 0), "in its own transaction");
  weir_projection_describe(opened.p, &info);
  cr_assert(eq(u64, info.edges, EDGES));
  cr_assert(eq(dbl, weight_in(opened.p, WEIR_OUT), (double)WEIGHT));
  cr_assert(eq(dbl, weight_in(opened.p, WEIR_IN), (double)WEIGHT));
  OK(weir_projection_behind(opened.p, txn, &behind, &err));
  cr_assert(ge(i64, behind, 0));
  cr_assert(ge(i64, info.rev, *rev));
  *rev = info.rev;
  weir_projection_close(opened.p);
}

GRAPH_TEST(projection_store, is_of_one_moment_while_another_thread_writes) {
  static struct mover mover;
  pthread_t thread;
  int64_t rev = 0;
  memset(&mover, 0, sizeof mover);
  mover.graph = graph;
  mover.rng = filled(txn, EDGES);
  cr_assert(zero(int, pthread_create(&thread, NULL, move_edges, &mover)));
  int began = weir_test_wait(has_written, &mover, WEIR_TEST_WAIT_MS);
  for (int i = 0; i < ROUNDS; i++) {
    check_moment(txn, &rev);
  }
  atomic_store(&mover.stop, 1);
  cr_assert(zero(int, pthread_join(thread, NULL)));
  cr_assert(eq(int, began, 1));
  cr_assert(eq(int, mover.rc, WEIR_OK), "%s", mover.error.message);
}

/* ---- How old it is --------------------------------------------------------------------------------------
 */

static int open_in_write(weir_txn *txn, void *data, weir_error *error) {
  int rc = weir_node_put(txn, &WEIR_NODE("inside", "", ""), NULL, error);
  return rc ? rc : open_both(txn, data, error);
}

GRAPH_TEST(projection_store, tells_how_many_writes_it_does_not_see) {
  struct opened opened = {NULL, -1};
  int64_t behind = -1;
  uint32_t node = 0;
  put_node(txn, "a", "");
  weir_projection *p = NULL;
  OK(weir_projection_open(&p, txn, NULL, NULL, &err));
  for (int i = 0; i < 3; i++) {
    OK(weir_projection_behind(p, txn, &behind, &err));
    cr_assert(eq(i64, behind, i));
    put_node(txn, i == 0 ? "b" : i == 1 ? "c" : "d", "");
  }
  cr_assert(eq(u32, weir_projection_nodes(p), 1), "it stays what it was");
  FAILS(weir_projection_behind(NULL, txn, &behind, &err), WEIR_INVALID, "projection is NULL");
  FAILS(weir_projection_behind(p, txn, NULL, &err), WEIR_INVALID, "writes is NULL");
  weir_projection_close(p);
  OK(weir_write(txn, open_in_write, &opened, NULL, &err));
  cr_assert(eq(i64, opened.behind, 0));
  OK(weir_projection_find(opened.p, weir_str("inside"), &node, &err));
  OK(weir_projection_behind(opened.p, txn, &behind, &err));
  cr_assert(eq(i64, behind, 0));
  weir_projection_close(opened.p);
}

struct later {
  weir_graph *graph;
  weir_projection *p;
  int rc;
};

/* On a thread that is not inside the snapshot. */
static void put_and_open(int index, void *data) {
  struct later *later = data;
  weir_txn *txn = weir_graph_auto(later->graph);
  (void)index;
  later->rc = weir_node_put(txn, &WEIR_NODE("b", "", ""), NULL, NULL);
  if (later->rc == WEIR_OK) {
    later->rc = weir_projection_open(&later->p, txn, NULL, NULL, NULL);
  }
}

Test(projection_store, of_a_later_moment_than_a_snapshot_is_refused_there, .timeout = 60) {
  char path[512];
  weir_graph *graph;
  weir_txn *snapshot;
  int64_t behind = 0;
  weir_projection *p = NULL;
  weir_test_path(path, sizeof path, "later.db");
  OK(weir_graph_open(&graph, path, NULL, &err));
  put_node(weir_graph_auto(graph), "a", "");
  OK(weir_snapshot_begin(weir_graph_pool(graph), &snapshot, NULL, &err));
  struct later later = {.graph = graph};
  cr_assert(eq(int, together(1, put_and_open, &later), 1));
  cr_assert(eq(int, later.rc, WEIR_OK));
  FAILS(weir_projection_behind(later.p, snapshot, &behind, &err), WEIR_MISUSE,
        "sees write 1, the projection is of write 2");
  weir_projection_close(later.p);
  OK(weir_projection_open(&p, snapshot, NULL, NULL, &err));
  cr_assert(eq(u32, weir_projection_nodes(p), 1));
  OK(weir_snapshot_end(snapshot, &err));
  cr_assert(ne(ptr, (void *)weir_projection_key(p, 0).ptr, NULL), "it needs no transaction");
  weir_projection_close(p);
  OK(weir_graph_close(graph, &err));
}

/* ---- Many threads ---------------------------------------------------------------------------------------
 */

struct crowd {
  weir_txn *txn;
  const weir_projection *shared;
  faults faults;
};

static void use_and_open(int index, void *data) {
  struct crowd *crowd = data;
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  weir_run run = WEIR_RUN_INIT;
  weir_error error = WEIR_ERROR_INIT;
  options.weight = WEIR_COST_WEIGHT;
  run.threads = 1 + (unsigned)index % 3;
  for (int i = 0; i < ROUNDS / 4; i++) {
    weir_projection *p = NULL;
    uint32_t node = WEIR_NO_NODE;
    if (weir_projection_open(&p, crowd->txn, &options, &run, &error) != WEIR_OK) {
      fault(&crowd->faults, "%s", error.message);
      return;
    }
    if (weight_in(p, WEIR_OUT) != weight_in(crowd->shared, WEIR_IN)) {
      fault(&crowd->faults, "other weights");
    }
    if (weir_projection_find(crowd->shared, weir_str(key_of((unsigned)i)), &node, &error) != WEIR_OK ||
        node != (uint32_t)i) {
      fault(&crowd->faults, "n%d is node %u", i, node);
    }
    weir_projection_close(p);
  }
}

GRAPH_TEST(projection_store, is_used_and_made_by_many_threads_at_once) {
  struct opened opened = {NULL, -1};
  (void)filled(txn, EDGES);
  OK(weir_read(txn, open_both, &opened, NULL, &err));
  struct crowd crowd = {.txn = txn, .shared = opened.p};
  cr_assert(eq(int, together(6, use_and_open, &crowd), 1));
  cr_assert(eq(int, atomic_load(&crowd.faults.count), 0), "%s", crowd.faults.first);
  weir_projection_close(opened.p);
}
