/* Asynchronous reads that share a thread and a snapshot: what one of them does must not reach the others. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "async_store.h"

TestSuite(async_readers, .timeout = 60);

/* ---- SQLite ends a transaction when memory runs out in it ---- */

static void out_of_memory(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  (void)values;
  sqlite3_result_error_nomem(context);
}

static int connect_function(struct sqlite3 *db, void **local, void *data, weir_error *err) {
  (void)local;
  (void)data;
  int rc = sqlite3_create_function(db, "out_of_memory", 0, SQLITE_UTF8, NULL, out_of_memory, NULL, NULL);
  return rc == SQLITE_OK ? WEIR_OK : weir_fail(err, WEIR_SQL, "cannot register a function");
}

static const weir_pool_hooks hooks = {.connect = connect_function};

Test(async_readers, one_that_runs_out_of_memory_fails_alone) {
  enum { ROUNDS = 50, AFTER = 4 }; /* a snapshot is shared for a short time only: not in every round */
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    weir_pool_options options = {.size = sizeof options, .readers = 1, .hooks = &hooks};
    cr_assert(eq(int, store_open(&s, kind, &options), WEIR_OK));
    for (int round = 0; round < ROUNDS; round++) {
      call gated = {.done = 0}, fails = {.sql = "SELECT out_of_memory(), count(*) FROM sqlite_schema"},
           after[AFTER] = {{.done = 0}};
      gate_close();
      cr_assert(eq(int, call_read(&s, &gated, work_gated), WEIR_OK));
      cr_assert(gate_wait_for(1)); /* so that those behind it are queued together, and share a snapshot */
      cr_assert(eq(int, call_read(&s, &fails, work_value), WEIR_OK));
      for (int i = 0; i < AFTER; i++) {
        after[i].sql = "SELECT count(*) FROM sqlite_schema";
        cr_assert(eq(int, call_read(&s, &after[i], work_value), WEIR_OK));
      }
      gate_open();
      cr_assert(weir_test_loop_run(&s.loop));
      cr_assert(eq(int, fails.status, WEIR_NOMEM));
      for (int i = 0; i < AFTER; i++) {
        cr_assert(eq(int, after[i].status, WEIR_OK), "read %d: %s", i, after[i].req.error.message);
      }
    }
    cr_assert(store_close(&s));
  }
}

/* ---- One slow read, others unaffected ---- */

Test(async_readers, those_behind_one_that_does_not_end_are_run_by_another_thread) {
  enum { SHORT = 20 };
  store s;
  call gated = {.done = 0}, one = {.sql = "SELECT 1"}, many[SHORT] = {{.done = 0}};
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  gate_close();
  cr_assert(eq(int, call_read(&s, &gated, work_gated), WEIR_OK));
  for (int i = 0; i < SHORT; i++) { /* in the same turn of the loop */
    many[i].sql = "SELECT 1";
    cr_assert(eq(int, call_read(&s, &many[i], work_value), WEIR_OK));
  }
  for (int i = 0; i < SHORT; i++) {
    cr_assert(call_await(&many[i]));
    cr_assert(eq(int, many[i].status, WEIR_OK));
  }
  cr_assert(eq(int, call_read_now(&s, &one, work_value), WEIR_OK)); /* and in a later one */
  cr_assert(eq(int, gated.done, 0));
  gate_open();
  cr_assert(call_await(&gated));
  cr_assert(store_close(&s));
}

/* ---- min_rev ---- */

static int work_numbered(weir_req *req, weir_txn *txn) {
  int64_t rev = 0;
  int rc = weir_txn_rev(txn, &rev, &req->error);
  return rc == WEIR_OK ? work_exec(req, txn) : rc;
}

Test(async_readers, one_that_asks_for_a_commit_waits_for_it) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    weir_pool_options options = {.size = sizeof options, .readers = 1, .numbered = 1};
    cr_assert(eq(int, store_open(&s, kind, &options), WEIR_OK));
    call early = {.sql = "SELECT count(*) FROM t", .req = {.min_rev = 1}};
    call write = {.sql = "CREATE TABLE t(k)"};
    cr_assert(eq(int, call_read(&s, &early, work_value), WEIR_OK));
    cr_assert(eq(int, call_write(&s, &write, work_numbered), WEIR_OK));
    cr_assert(weir_test_loop_run(&s.loop));
    cr_assert(eq(int, write.status, WEIR_OK), "%s", write.req.error.message);
    cr_assert(eq(i64, write.req.ack.rev, 1));
    cr_assert(eq(int, early.status, WEIR_OK), "%s", early.req.error.message);
    cr_assert(eq(i64, early.value, 0));
    call late = {.sql = "SELECT 1", .req = {.min_rev = 2, .timeout_ms = 10}};
    cr_assert(eq(int, call_read_now(&s, &late, work_value), WEIR_TIMEOUT));
    cr_assert(eq(int, late.runs, 0));
    cr_assert(store_close(&s));
  }
}
