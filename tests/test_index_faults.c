/* The making of an index on a disk that fails: after an error there is no index and nothing of one. */
#include "graph_fixture.h"

#include <sqlite3.h>
#include <stdatomic.h>

#include <weir/query.h>

#include "fault_vfs.h"

enum { ROWS = 12, BATCH = 4 };

static const weir_index by_n = {WEIR_NODES, WEIR_TEXT("x"), WEIR_TEXT("n"), 1, 0};

static void set_up(void) {
  cr_assert(eq(int, fault_vfs_register(), SQLITE_OK));
}

TestSuite(index_faults, .timeout = 100, .init = set_up);

/* ---- The store -------------------------------------------------------------------------------------------
 */

static weir_graph *open_store(weir_mode mode, int fresh) {
  weir_graph *graph;
  char path[500];
  char uri[600];
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.mode = mode;
  options.durability = WEIR_FULL_SYNC; /* each commit syncs the log */
  options.checkpoint_pages = 100000;   /* nothing else does */
  weir_test_path(path, sizeof path, mode == WEIR_POOL ? "faults-pool.db" : "faults-single.db");
  if (fresh) {
    (void)remove(path);
  }
  snprintf(uri, sizeof uri, "file:%s?vfs=fault", path);
  OK(weir_graph_open(&graph, uri, &options, &err));
  return graph;
}

static void put_rows(weir_txn *txn) {
  for (int i = 0; i < ROWS; i++) {
    char key[16];
    char props[32];
    snprintf(key, sizeof key, "n%d", i);
    snprintf(props, sizeof props, "{\"n\":%d}", i);
    OK(weir_node_put(txn, &WEIR_NODE(key, "x", props), NULL, &err));
  }
}

static int64_t traces(weir_txn *txn) {
  return sql_number(txn, "SELECT (SELECT count(*) FROM property_index)"
                         " + (SELECT count(*) FROM sqlite_schema WHERE name GLOB 'node_index_*')");
}

/* ---- A sync that fails -----------------------------------------------------------------------------------
 */

static atomic_int failing; /* counts down: 1 is the next sync; 0: none */

static void count_sync(void) {
  int left = atomic_load(&failing);
  atomic_store(&fault_sync, left == 1 ? SQLITE_IOERR_FSYNC : 0);
  if (left > 0) {
    atomic_store(&failing, left - 1);
  }
}

/* WEIR_IO: if the sync was one by which an earlier failure is healed. */
static void fails_at_each_sync(weir_mode mode) {
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  options.batch = BATCH;
  weir_graph *graph = open_store(mode, 1);
  put_rows(weir_graph_auto(graph));
  atomic_store(&fault_before_sync, count_sync);
  int rc = WEIR_INDETERMINATE;
  int at = 1;
  for (; rc != WEIR_OK && at < 50; at++) {
    atomic_store(&failing, at);
    rc = weir_index_create(weir_graph_auto(graph), &by_n, &options, &err);
    cr_assert(rc == WEIR_OK || rc == WEIR_INDETERMINATE || rc == WEIR_IO, "sync %d: %s", at, err.message);
    cr_assert(eq(i64, traces(weir_graph_auto(graph)) == 0, rc != WEIR_OK), "sync %d", at);
  }
  cr_assert(gt(int, at, 1 + (ROWS + BATCH - 1) / BATCH)); /* the beginning, and each batch */
  atomic_store(&failing, 0);
  OK(weir_node_put(weir_graph_auto(graph), &WEIR_NODE("last", "x", "{\"n\":99}"), NULL, &err));
  cr_assert(
      eq(i64, sql_number(weir_graph_auto(graph), "SELECT count(*) FROM property_index WHERE ready"), 1));
  atomic_store(&fault_before_sync, NULL);
  SAME_STRING(integrity(weir_graph_auto(graph)), "ok");
  OK(weir_graph_close(graph, &err));
}

Test(index_faults, a_sync_that_fails_leaves_no_index) {
  fails_at_each_sync(WEIR_SINGLE);
  fails_at_each_sync(WEIR_POOL);
}

/* ---- A disk that is full ---------------------------------------------------------------------------------
 */

static int fill_disk(const weir_progress *progress, void *data) {
  if (progress->done >= *(uint64_t *)data) {
    atomic_store(&fault_write, SQLITE_FULL);
  }
  return 0;
}

/* As long as nothing can be written nothing can be dropped either; but what is left harms nobody after. */
static void fails_on_a_full_disk(weir_mode mode) {
  for (uint64_t rows = 0; rows < ROWS; rows += BATCH) {
    weir_graph *graph = open_store(mode, rows == 0);
    weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
    options.batch = BATCH;
    options.on_progress = fill_disk;
    options.data = &rows;
    put_rows(weir_graph_auto(graph));
    int rc = weir_index_create(weir_graph_auto(graph), &by_n, &options, &err);
    atomic_store(&fault_write, 0);
    cr_assert(lt(int, rc, WEIR_OK));
    cr_assert(
        zero(i64, sql_number(weir_graph_auto(graph), "SELECT count(*) FROM property_index WHERE ready")));
    OK(weir_graph_close(graph, &err));
    graph = open_store(mode, 0);
    OK(weir_node_put(weir_graph_auto(graph), &WEIR_NODE("n1", "x", "{\"n\":77}"), NULL, &err));
    OK(weir_index_create(weir_graph_auto(graph), &by_n, NULL, &err));
    cr_assert(eq(i64,
                 sql_number(weir_graph_auto(graph), "SELECT count(*) FROM sqlite_schema"
                                                    " WHERE type = 'table' AND name GLOB 'node_index_*'"),
                 1));
    OK(weir_index_drop(weir_graph_auto(graph), &by_n, NULL, &err));
    cr_assert(zero(i64, traces(weir_graph_auto(graph))));
    OK(weir_graph_close(graph, &err));
  }
}

Test(index_faults, a_full_disk_leaves_nothing_that_is_used) {
  fails_on_a_full_disk(WEIR_SINGLE);
  fails_on_a_full_disk(WEIR_POOL);
}
