/* Reads that are older than reader_age_ms and in the way of a checkpoint: they are reported, or ended. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include <weir/async.h>
#include <weir/graph.h>

#include "internal.h"
#include "loop.h"
#include "threads.h"
#include "traces.h"

TestSuite(old_readers, .timeout = 120);

enum { AGE_MS = 30000 };

static traces events = TRACES_INIT;

/* A pool that does a checkpoint after each write, and would like to empty the log each time. */
static weir_pool *opened(int kind, int evict) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options,
                               .checkpoint_pages = 1,
                               .wal_limit_pages = 1,
                               .checkpoint_pause_ms = -1,
                               .reader_age_ms = AGE_MS,
                               .reader_evict = evict,
                               .acquire_timeout_ms = WEIR_TEST_WAIT_MS,
                               .trace = traces_note,
                               .trace_data = &events};
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(
      eq(int,
         sql_write(weir_pool_auto(pool),
                   CREATE_T ";INSERT INTO t(v) VALUES(printf('%.3000c','a')),(printf('%.3000c','b'))", NULL),
         WEIR_OK));
  return pool;
}

/* Makes a read look as if it had begun long ago. */
static void age(weir_txn *txn) {
  (void)__atomic_sub_fetch(&txn->conn->slot->since_ns, (AGE_MS + 10000) * WEIR__NS_PER_MS, __ATOMIC_RELAXED);
}

/* A write, on a thread that is in no transaction, and the checkpoint behind it. 0 if that does not end. */
static int checkpoint(weir_pool *pool) {
  task writer = {.in = weir_pool_auto(pool),
                 .fn = exec_fn,
                 .data = (void *)"INSERT INTO t(v) VALUES(printf('%.3000c','c'))",
                 .write = 1};
  return task_start(&writer) == 0 && task_join(&writer) == WEIR_OK && await_idle_lane(pool);
}

/* Checkpoints until one has emptied the log: it is not tried each time. */
static int checkpoint_empties(weir_pool *pool) {
  for (int i = 0; i < 1000; i++) {
    if (!checkpoint(pool) || stats_of(pool).wal_pages == 0)
      break;
  }
  return stats_of(pool).wal_pages == 0;
}

static weir_txn *snapshot_of(weir_pool *pool, const char *label) {
  weir_txn *txn = NULL;
  weir_error err = WEIR_ERROR_INIT;
  weir_txn_options options = {.size = sizeof options, .label = label};
  cr_assert(eq(int, weir_snapshot_begin(pool, &txn, &options, &err), WEIR_OK), "%s", err.message);
  return txn;
}

static int count_rows(weir_txn *txn, int64_t *count) {
  weir_error err = WEIR_ERROR_INIT;
  return sql_int(txn, "SELECT count(*) FROM t", count, &err);
}

/* Every call on the transaction says that it was ended. */
static int all_time_out(weir_txn *txn) {
  int64_t count = 0;
  sqlite3_stmt *stmt = NULL;
  weir_error err = WEIR_ERROR_INIT;
  int ok = count_rows(txn, &count) == WEIR_TIMEOUT;
  ok &= weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT 1"), &stmt, &err) == WEIR_TIMEOUT;
  ok &= stmt == NULL && strstr(err.message, "reader_age_ms") != NULL;
  return ok && weir_txn_exec(txn, "SELECT 1", NULL) == WEIR_TIMEOUT;
}

/* What the pool counts after one read was ended and has given its connection back; and it works on. */
static void expect_one_evicted(weir_pool *pool) {
  cr_assert(checkpoint_empties(pool));
  weir_pool_stats stats = stats_of(pool);
  cr_assert(eq(u64, stats.old_readers, 1));
  cr_assert(eq(u64, stats.evicted, 1));
  cr_assert(eq(u64, stats.replaced, 1));
  cr_assert(eq(uint, stats.readers_in_use, 0));
  cr_assert(gt(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
  cr_assert(eq(int, traces_count(&events, WEIR_TRACE_OLD_READER, "old"), 1));
  cr_assert(eq(int, traces_count(&events, WEIR_TRACE_EVICTED, "old"), 1));
  cr_assert(eq(int, traces_count(&events, WEIR_TRACE_EVICTED, NULL), 1));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* ---- Reported ---- */

Test(old_readers, are_reported_once_each_with_label_and_age_and_left_alone) {
  weir_pool *pool = opened(POOL_FILE, 0);
  const char *const labels[] = {"first", "second"};
  for (uint64_t i = 0; i < 2; i++) {
    weir_txn *old = snapshot_of(pool, labels[i]);
    int64_t before = 0, after = 0;
    cr_assert(eq(int, count_rows(old, &before), WEIR_OK));
    cr_assert(checkpoint(pool)); /* it is young */
    cr_assert(eq(u64, stats_of(pool).old_readers, i));
    age(old);
    for (int j = 0; j < 3; j++) {
      cr_assert(checkpoint(pool));
    }
    weir_pool_stats stats = stats_of(pool);
    cr_assert(eq(u64, stats.old_readers, i + 1));
    cr_assert(eq(u64, stats.evicted, 0));
    cr_assert(ge(u64, stats.oldest_reader_us, AGE_MS * 1000));
    cr_assert(eq(str, (char *)stats.oldest_reader_label, (char *)labels[i]));
    cr_assert(eq(int, traces_count(&events, WEIR_TRACE_OLD_READER, labels[i]), 1));
    weir_trace event = traces_last(&events, WEIR_TRACE_OLD_READER, labels[i]);
    cr_assert(ge(u64, event.ran_us, AGE_MS * 1000));
    cr_assert(gt(u64, event.pages, 0));
    cr_assert(eq(int, count_rows(old, &after), WEIR_OK));
    cr_assert(eq(i64, after, before));
    cr_assert(eq(int, weir_snapshot_end(old, NULL), WEIR_OK));
    cr_assert(eq(u64, stats_of(pool).oldest_reader_us, 0));
    cr_assert(eq(ptr, (void *)stats_of(pool).oldest_reader_label, NULL));
  }
  cr_assert(eq(int, traces_count(&events, WEIR_TRACE_EVICTED, NULL), 0));
  cr_assert(eq(u64, stats_of(pool).replaced, 0));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* ---- Ended ---- */

Test(old_readers, an_old_snapshot_that_rests_is_ended_and_a_young_read_is_not) {
  weir_pool *pool = opened(POOL_FILE, 1);
  latch held = LATCH_INIT;
  weir_txn *old = snapshot_of(pool, "old");
  weir_txn_options options = {.size = sizeof options, .label = "young"};
  task young = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &held, .options = &options};
  age(old);
  cr_assert(eq(int, task_start(&young), 0));
  cr_assert(latch_await(&held, 1));
  cr_assert(checkpoint(pool));
  cr_assert(eq(u64, stats_of(pool).evicted, 1));
  latch_open(&held);
  cr_assert(eq(int, task_join(&young), WEIR_OK));
  cr_assert(checkpoint_empties(pool)); /* although the snapshot was not given back yet */
  cr_assert(all_time_out(old));
  cr_assert(eq(int, weir_snapshot_end(old, NULL), WEIR_OK));
  expect_one_evicted(pool);
}

/* A read on a thread of its own, which says how far it has come. */
struct read {
  _Atomic(weir_txn *) txn;
  latch held, again;
  int ok; /* all that it met was as it should be */
};

#define READ_INIT                                                                                            \
  { .held = LATCH_INIT, .again = LATCH_INIT }

static int has_begun(void *data) {
  struct read *r = data;
  return atomic_load(&r->txn) != NULL;
}

/* Rests between two statements, with one more at hand. */
static int rest_between(weir_txn *txn, void *data, weir_error *err) {
  struct read *r = data;
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT count(*) FROM t"), &stmt, err);
  r->ok = rc == WEIR_OK && sqlite3_step(stmt) == SQLITE_ROW && sqlite3_reset(stmt) == SQLITE_OK;
  atomic_store(&r->txn, txn);
  latch_pass(&r->held);
  r->ok &= weir_txn_check(txn, sqlite3_step(stmt), err) == WEIR_TIMEOUT && all_time_out(txn);
  weir_txn_release(txn, stmt);
  return weir_txn_exec(txn, "SELECT 1", err);
}

/* Rests in the middle of a result: the row stays what it is. Then gives it back and rests again, or goes on.
 */
static int rest_at_row(weir_txn *txn, struct read *r, int release, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT v FROM t ORDER BY id"), &stmt, err);
  r->ok = rc == WEIR_OK && sqlite3_step(stmt) == SQLITE_ROW;
  const char *text = (const char *)sqlite3_column_text(stmt, 0);
  atomic_store(&r->txn, txn);
  latch_pass(&r->held);
  r->ok &= strlen(text) == 3000 && strspn(text, "a") == 3000;
  if (release) {
    weir_txn_release(txn, stmt);
    latch_pass(&r->again);
    return weir_txn_exec(txn, "SELECT 1", err);
  }
  rc = weir_txn_check(txn, sqlite3_step(stmt), err);
  r->ok &= rc == WEIR_TIMEOUT && all_time_out(txn);
  weir_txn_release(txn, stmt);
  return rc;
}

static int rest_within(weir_txn *txn, void *data, weir_error *err) {
  return rest_at_row(txn, data, 0, err);
}

static int rest_within_and_after(weir_txn *txn, void *data, weir_error *err) {
  return rest_at_row(txn, data, 1, err);
}

static void pass(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count, (void)values;
  latch_pass(sqlite3_user_data(context));
}

/* Stays in a function of its own, where nobody can reach it; then rests. */
static int rest_beyond_reach(weir_txn *txn, void *data, weir_error *err) {
  struct read *r = data;
  r->ok = sqlite3_create_function(weir_txn_db(txn), "pass", 0, SQLITE_UTF8, &r->held, pass, NULL, NULL) ==
          SQLITE_OK;
  int rc = weir_txn_exec(txn, "SELECT count(*) FROM t", err);
  atomic_store(&r->txn, txn);
  rc = rc == WEIR_OK ? weir_txn_exec(txn, "SELECT pass() FROM t LIMIT 1", err) : rc;
  latch_pass(&r->again);
  return weir_txn_exec(txn, "SELECT 1", err);
}

/* Is at work all the time. */
static int run_long(weir_txn *txn, void *data, weir_error *err) {
  struct read *r = data;
  atomic_store(&r->txn, txn);
  int rc = weir_txn_exec(txn, "SELECT count(*) FROM t;" ENDLESS_SQL, err);
  r->ok = all_time_out(txn);
  return rc;
}

/* When the snapshot of a read can be ended. */
enum when { SOON, AT_ONCE, AFTER_REST, AT_END };

static void expect_read_evicted(weir_txn_fn fn, enum when when) {
  weir_pool *pool = opened(POOL_FILE, 1);
  struct read r = READ_INIT;
  weir_txn_options options = {.size = sizeof options, .label = "old"};
  task old = {.in = weir_pool_auto(pool), .fn = fn, .data = &r, .options = &options};
  cr_assert(eq(int, task_start(&old), 0));
  cr_assert(weir_test_wait(has_begun, &r, WEIR_TEST_WAIT_MS));
  if (when != SOON)
    cr_assert(latch_await(&r.held, 1));
  age(atomic_load(&r.txn));
  for (int i = 0; when == SOON && i < 1000 && stats_of(pool).evicted == 0; i++) {
    cr_assert(checkpoint(pool)); /* until it has read something */
  }
  for (int i = 0; when != SOON && i < 3; i++) {
    cr_assert(checkpoint(pool));
    cr_assert(eq(u64, stats_of(pool).old_readers, 1));
    cr_assert(eq(u64, stats_of(pool).evicted, when == AT_ONCE));
    cr_assert(eq(int, traces_count(&events, WEIR_TRACE_EVICTED, NULL), when == AT_ONCE));
  }
  if (when >= AFTER_REST)
    cr_assert(gt(u64, stats_of(pool).wal_pages, 1)); /* what is counted as evicted is not in the way */
  latch_open(&r.held);
  if (when == AFTER_REST) {
    cr_assert(latch_await(&r.again, 1));
    cr_assert(checkpoint_empties(pool)); /* although it has not ended */
    cr_assert(eq(u64, stats_of(pool).evicted, 1));
    cr_assert(eq(uint, stats_of(pool).readers_in_use, 1));
  }
  latch_open(&r.again);
  cr_assert(eq(int, task_join(&old), WEIR_TIMEOUT), "%s", old.error.message);
  cr_assert(r.ok);
  expect_one_evicted(pool);
}

Test(old_readers, a_function_that_rests_between_statements_is_ended) {
  expect_read_evicted(rest_between, AT_ONCE);
}

Test(old_readers, a_function_that_rests_in_a_result_keeps_its_row_and_is_ended_at_the_next) {
  expect_read_evicted(rest_within, AT_END);
}

Test(old_readers, a_function_that_gives_its_row_back_and_rests_is_ended_then) {
  expect_read_evicted(rest_within_and_after, AFTER_REST);
}

Test(old_readers, a_function_that_could_not_be_reached_is_ended_once_it_can_be) {
  expect_read_evicted(rest_beyond_reach, AFTER_REST);
}

Test(old_readers, a_long_query_is_ended) {
  expect_read_evicted(run_long, SOON);
}

/* ---- Asynchronous reads ---- */

struct request {
  weir_req req; /* first: the request is the struct */
  weir_pool *pool;
  struct read read;
  int status, evicted;
};

static int work(weir_req *req, weir_txn *txn) {
  return run_long(txn, &((struct request *)req)->read, &req->error);
}

static void done(weir_req *req, int status) {
  ((struct request *)req)->status = status;
}

static void evict_request(int index, void *data) {
  struct request *r = data;
  if (index == 0) {
    (void)weir_test_wait(has_begun, &r->read, WEIR_TEST_WAIT_MS);
    age(atomic_load(&r->read.txn));
    for (int i = 0; i < 1000 && stats_of(r->pool).evicted == 0 && checkpoint(r->pool); i++) {
    }
    r->evicted = (int)stats_of(r->pool).evicted;
  } else {
    weir_test_loop loop;
    weir_async async;
    weir_test_loop_init(&loop);
    if (weir_async_init(&async, &loop.uv, r->pool, NULL) == WEIR_OK) {
      r->req.label = "old";
      if (weir_read_async(&async, &r->req, work, done) == WEIR_OK)
        (void)weir_test_loop_run(&loop);
      (void)weir_async_close(&async, NULL);
    }
    (void)weir_test_loop_run(&loop);
    (void)weir_test_loop_close(&loop);
  }
}

Test(old_readers, an_asynchronous_read_is_ended) {
  struct request r = {.pool = opened(POOL_FILE, 1), .read = READ_INIT};
  cr_assert(together(2, evict_request, &r));
  cr_assert(eq(int, r.evicted, 1));
  cr_assert(eq(int, r.status, WEIR_TIMEOUT));
  cr_assert(r.read.ok);
  expect_one_evicted(r.pool);
}

/* ---- Elsewhere ---- */

Test(old_readers, calls_of_the_graph_in_an_ended_snapshot_say_so) {
  weir_graph *graph = NULL;
  char path[600];
  weir_pool_options options = {
      .size = sizeof options, .checkpoint_pages = 1, .reader_age_ms = AGE_MS, .reader_evict = 1};
  weir_test_path(path, sizeof path, "graph.db");
  cr_assert(eq(int, weir_graph_open(&graph, path, &options, NULL), WEIR_OK));
  weir_pool *pool = weir_graph_pool(graph);
  cr_assert(eq(int, sql_write(weir_graph_auto(graph), CREATE_T, NULL), WEIR_OK));
  cr_assert(eq(int, weir_node_put(weir_graph_auto(graph), &WEIR_NODE("a", "x", NULL), NULL, NULL), WEIR_OK));
  weir_txn *old = snapshot_of(pool, "old");
  int64_t count = 0, degree = 0;
  cr_assert(eq(int, weir_node_count(old, weir_str("x"), &count, NULL), WEIR_OK));
  cr_assert(eq(i64, count, 1));
  age(old);
  cr_assert(checkpoint(pool));
  cr_assert(eq(int, weir_node_count(old, weir_str("x"), &count, NULL), WEIR_TIMEOUT));
  cr_assert(eq(int, weir_degree(old, weir_str("a"), WEIR_OUT, weir_str(""), &degree, NULL), WEIR_TIMEOUT));
  cr_assert(eq(int, weir_snapshot_end(old, NULL), WEIR_OK));
  cr_assert(eq(int, weir_node_count(weir_graph_auto(graph), weir_str("x"), &count, NULL), WEIR_OK));
  cr_assert(eq(int, weir_graph_close(graph, NULL), WEIR_OK));
}

Test(old_readers, are_never_ended_in_single_mode) {
  sqlite3 *other = NULL;
  weir_pool *pool = opened(SINGLE_FILE, 1);
  cr_assert(eq(int, sqlite3_open(pool_path(SINGLE_FILE), &other), SQLITE_OK)); /* another program reads */
  cr_assert(eq(int, sqlite3_exec(other, "BEGIN; SELECT count(*) FROM t", NULL, NULL, NULL), SQLITE_OK));
  cr_assert(checkpoint(pool));
  weir_txn *old = snapshot_of(pool, "old");
  task writer = {.in = weir_pool_auto(pool), .fn = nothing_fn, .write = 1};
  int64_t count = 0;
  age(old);
  cr_assert(eq(int, task_start(&writer), 0));
  cr_assert(stats_await(pool, a_read_waits));
  cr_assert(eq(int, count_rows(old, &count), WEIR_OK));
  cr_assert(eq(i64, count, 3));
  cr_assert(eq(int, weir_snapshot_end(old, NULL), WEIR_OK));
  cr_assert(eq(int, task_join(&writer), WEIR_OK));
  cr_assert(checkpoint(pool));
  cr_assert(eq(u64, stats_of(pool).old_readers, 0));
  cr_assert(eq(u64, stats_of(pool).replaced, 0));
  cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}
