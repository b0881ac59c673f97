/* Asynchronous transactions do what the synchronous ones do, in every mode. Their rules: test_async_rules.c.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sqlite3.h>

#include <weir/async.h>

#include "async_store.h"
#include "support.h"

TestSuite(async, .timeout = 60);

#define TABLE "CREATE TABLE t(k INTEGER PRIMARY KEY, v INTEGER)"

static void open_with_table(store *s, int kind) {
  cr_assert(eq(int, store_open(s, kind, NULL), WEIR_OK));
  cr_assert(eq(int, store_exec(s, TABLE), WEIR_OK));
}

static int64_t value(store *s, const char *sql) {
  int64_t out = -2;
  cr_assert(eq(int, store_value(s, sql, &out), WEIR_OK));
  return out;
}

Test(async, a_read_sees_what_a_write_called_back_for) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    open_with_table(&s, kind);
    cr_assert(eq(int, store_exec(&s, "INSERT INTO t VALUES(1, 42)"), WEIR_OK));
    cr_assert(eq(i64, value(&s, "SELECT v FROM t WHERE k = 1"), 42));
    cr_assert(store_close(&s));
  }
}

static int insert_then_fail(weir_req *req, weir_txn *txn) {
  int rc = work_exec(req, txn);
  return rc == WEIR_OK ? weir_fail(&req->error, WEIR_CONFLICT, "on purpose") : rc;
}

Test(async, a_failed_write_leaves_no_trace_and_its_detail_arrives) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    open_with_table(&s, kind);
    call c = {.sql = "INSERT INTO t VALUES(1, 1), (2, 2)"};
    cr_assert(eq(int, call_write_now(&s, &c, insert_then_fail), WEIR_CONFLICT));
    cr_assert(eq(int, c.req.error.code, WEIR_CONFLICT));
    cr_assert(eq(int, strcmp(c.req.error.message, "on purpose"), 0));
    cr_assert(eq(i64, value(&s, "SELECT count(*) FROM t"), 0));
    cr_assert(store_close(&s));
  }
}

static int fail_without_detail(weir_req *req, weir_txn *txn) {
  (void)txn;
  (void)weir_fail(&req->error, WEIR_NOT_FOUND, "of an earlier attempt");
  return WEIR_INVALID;
}

Test(async, a_status_never_comes_with_the_detail_of_another) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    open_with_table(&s, kind);
    call c = {0};
    cr_assert(eq(int, call_read_now(&s, &c, fail_without_detail), WEIR_INVALID));
    cr_assert(eq(int, c.req.error.code, WEIR_INVALID));
    cr_assert(eq(int, strcmp(c.req.error.message, weir_strerror(WEIR_INVALID)), 0));
    cr_assert(eq(int, call_write_now(&s, &c, fail_without_detail), WEIR_INVALID));
    cr_assert(eq(int, c.req.error.code, WEIR_INVALID));
    cr_assert(store_close(&s));
  }
}

Test(async, sqlite_errors_arrive_translated) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    open_with_table(&s, kind);
    call c = {.sql = "INSERT INTO t VALUES(1, 1), (1, 1)"};
    cr_assert(eq(int, call_write_now(&s, &c, work_exec), WEIR_CONSTRAINT));
    cr_assert(eq(int, c.req.error.sqlite_code, SQLITE_CONSTRAINT_PRIMARYKEY));
    c.sql = "SELECT nonsense FROM t";
    cr_assert(eq(int, call_read_now(&s, &c, work_value), WEIR_SQL));
    cr_assert(ne(ptr, strstr(c.req.error.message, "nonsense"), NULL), "%s", c.req.error.message);
    cr_assert(store_close(&s));
  }
}

Test(async, a_read_cannot_write) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    open_with_table(&s, kind);
    call c = {.sql = "INSERT INTO t VALUES(1, 1)"};
    cr_assert(eq(int, call_read_now(&s, &c, work_exec), WEIR_MISUSE));
    cr_assert(eq(i64, value(&s, "SELECT count(*) FROM t"), 0));
    cr_assert(store_close(&s));
  }
}

static int write_nested(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  return weir_txn_exec(txn, "INSERT INTO t VALUES(1, 1)", err);
}

static int work_nested_write(weir_req *req, weir_txn *txn) {
  return weir_write(txn, write_nested, NULL, NULL, &req->error);
}

Test(async, a_write_nested_in_a_read_is_refused_and_in_a_write_joins_it) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    open_with_table(&s, kind);
    call c = {0};
    cr_assert(eq(int, call_read_now(&s, &c, work_nested_write), WEIR_MISUSE));
    cr_assert(eq(i64, value(&s, "SELECT count(*) FROM t"), 0));
    cr_assert(eq(int, call_write_now(&s, &c, work_nested_write), WEIR_OK));
    cr_assert(eq(i64, value(&s, "SELECT count(*) FROM t"), 1));
    cr_assert(store_close(&s));
  }
}

static int count_before_and_after_the_gate(weir_req *req, weir_txn *txn) {
  int rc = work_value(req, txn);
  int64_t before = ((call *)req)->value;
  gate_pass();
  if (rc == WEIR_OK)
    rc = work_value(req, txn);
  ((call *)req)->value -= before;
  return rc;
}

Test(async, a_read_sees_one_snapshot_throughout) {
  store s;
  open_with_table(&s, POOL_FILE);
  call c = {.sql = "SELECT count(*) FROM t"};
  cr_assert(eq(int, call_read(&s, &c, count_before_and_after_the_gate), WEIR_OK));
  cr_assert(gate_wait_for(1));
  cr_assert(eq(int, store_exec(&s, "INSERT INTO t VALUES(1, 1)"), WEIR_OK));
  cr_assert(eq(int, c.done, 0));
  gate_open();
  cr_assert(call_await(&c));
  cr_assert(eq(int, c.status, WEIR_OK));
  cr_assert(eq(i64, c.value, 0));
  cr_assert(eq(i64, value(&s, "SELECT count(*) FROM t"), 1));
  cr_assert(store_close(&s));
}

Test(async, writes_take_effect_in_the_order_of_submission) {
  enum { WRITES = 200 };
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    static call calls[WRITES];
    static char sql[WRITES][64];
    open_with_table(&s, kind);
    s.ended = 0;
    for (int i = 0; i < WRITES; i++) {
      (void)snprintf(sql[i], sizeof sql[i], "INSERT INTO t(v) VALUES(%d)", i);
      calls[i] = (call){.sql = sql[i]};
      cr_assert(eq(int, call_write(&s, &calls[i], work_exec), WEIR_OK));
    }
    cr_assert(weir_test_loop_run(&s.loop));
    for (int i = 0; i < WRITES; i++) {
      cr_assert(eq(int, calls[i].status, WEIR_OK));
      cr_assert(eq(int, calls[i].order, i + 1));
    }
    cr_assert(eq(i64, value(&s, "SELECT count(*) FROM t WHERE v = k - 1"), WRITES));
    cr_assert(store_close(&s));
  }
}

Test(async, work_runs_off_the_loop_and_done_on_it) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    cr_assert(eq(int, store_open(&s, kind, NULL), WEIR_OK));
    call read = {0}, write = {0};
    cr_assert(eq(int, call_read_now(&s, &read, work_nothing), WEIR_OK));
    cr_assert(eq(int, call_write_now(&s, &write, work_nothing), WEIR_OK));
    cr_assert(eq(int, read.runs, 1));
    cr_assert(ge(int, write.runs, 1));
    cr_assert(not(read.on_loop | write.on_loop | read.wrong_thread | write.wrong_thread));
    cr_assert(store_close(&s));
  }
}

static void write_synchronously(weir_req *req, int status) {
  call *c = (call *)req;
  call_done(req, status);
  c->value = weir_write(weir_pool_auto(c->store->pool), write_nested, NULL, NULL, &req->error);
}

Test(async, synchronous_calls_work_inside_done) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    open_with_table(&s, kind);
    call c = {.store = &s, .returned = 1, .value = -1};
    cr_assert(eq(int, weir_read_async(&s.async, &c.req, work_nothing, write_synchronously), WEIR_OK));
    cr_assert(call_await(&c));
    cr_assert(eq(i64, c.value, WEIR_OK));
    cr_assert(eq(i64, value(&s, "SELECT count(*) FROM t"), 1));
    cr_assert(store_close(&s));
  }
}

Test(async, writes_to_a_read_only_store_are_refused_and_reads_work) {
  store s;
  char path[600];
  open_with_table(&s, POOL_FILE);
  cr_assert(eq(int, store_exec(&s, "INSERT INTO t VALUES(1, 7)"), WEIR_OK));
  cr_assert(store_close(&s));
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.read_only = 1;
  weir_test_path(path, sizeof path, "pool.db");
  cr_assert(eq(int, store_open(&s, POOL_FILE, &options), WEIR_OK));
  call c = {0};
  cr_assert(eq(int, call_write(&s, &c, work_exec), WEIR_READONLY));
  cr_assert(eq(i64, value(&s, "SELECT v FROM t"), 7));
  cr_assert(eq(int, c.done, 0));
  cr_assert(store_close(&s));
}

static void never(uv_timer_t *timer) {
  (void)timer;
}

/* Another handle keeps the loop alive, so a turn that slept would sleep until the watchdog. */
Test(async, a_turn_of_the_loop_that_calls_back_does_not_sleep_after_it) {
  store s;
  uv_timer_t other;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, uv_timer_init(&s.loop.uv, &other), 0));
  cr_assert(eq(int, uv_timer_start(&other, never, 3600 * 1000, 0), 0));
  for (int i = 0; i < 1000; i++) {
    call c = {0};
    cr_assert(eq(int, call_read_now(&s, &c, work_nothing), WEIR_OK));
    cr_assert(eq(int, s.loop.late, 0), "read %d", i);
  }
  uv_close((uv_handle_t *)&other, NULL);
  cr_assert(store_close(&s));
}
