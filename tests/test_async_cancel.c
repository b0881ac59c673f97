/* Rule 4 of weir/async.h, cancellation; and deadlines. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/async.h>

#include "async_store.h"
#include "support.h"

TestSuite(async_cancel, .timeout = 60);
TestSuite(async_deadline, .timeout = 60);

/* One reader, so that a read can be made to wait behind another. */
static void open_store(store *s, int kind) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = 1;
  cr_assert(eq(int, store_open(s, kind, &options), WEIR_OK));
  cr_assert(eq(int, store_exec(s, "DROP TABLE IF EXISTS t; CREATE TABLE t(k INTEGER PRIMARY KEY)"), WEIR_OK));
  gate_close();
}

static int64_t rows(store *s) {
  int64_t out = -2;
  cr_assert(eq(int, store_value(s, "SELECT count(*) FROM t", &out), WEIR_OK));
  return out;
}

typedef int submit_fn(store *s, call *c, weir_work_fn work);
static submit_fn *const submit[] = {call_read, call_write};

Test(async_cancel, a_queued_request_ends_at_once_and_never_runs) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    for (int write = 0; write < 2; write++) {
      store s;
      call blocker = {0}, queued = {.sql = "INSERT INTO t VALUES(1)"};
      open_store(&s, kind);
      cr_assert(eq(int, submit[write](&s, &blocker, work_gated), WEIR_OK));
      cr_assert(gate_wait_for(1));
      cr_assert(eq(int, submit[write](&s, &queued, work_exec), WEIR_OK));
      queued.returned = 0; /* from here on: called back before the cancel returned? */
      cr_assert(eq(int, weir_req_cancel(&queued.req), WEIR_OK));
      queued.returned = 1;
      cr_assert(eq(int, queued.done, 0));
      cr_assert(eq(int, weir_req_cancel(&queued.req), WEIR_OK)); /* again: no harm */
      cr_assert(call_await(&queued));                            /* with the blocker still running */
      cr_assert(eq(int, queued.status, WEIR_CANCELED));
      cr_assert(eq(int, queued.req.error.code, WEIR_CANCELED));
      cr_assert(eq(int, queued.runs + queued.early + blocker.done, 0));
      gate_open();
      cr_assert(weir_test_loop_run(&s.loop));
      cr_assert(eq(int, blocker.status, WEIR_OK));
      cr_assert(eq(int, queued.done, 1));
      cr_assert(eq(i64, rows(&s), 0));
      cr_assert(store_close(&s));
    }
  }
}

static int work_endless(weir_req *req, weir_txn *txn) {
  gate_pass();
  return work_exec(req, txn);
}

Test(async_cancel, a_running_read_is_interrupted) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    call c = {.sql = ENDLESS_SQL};
    open_store(&s, kind);
    gate_open();
    cr_assert(eq(int, call_read(&s, &c, work_endless), WEIR_OK));
    cr_assert(gate_wait_for(1));
    cr_assert(eq(int, weir_req_cancel(&c.req), WEIR_OK));
    cr_assert(call_await(&c));
    cr_assert(eq(int, c.status, WEIR_CANCELED));
    cr_assert(eq(int, c.req.error.code, WEIR_CANCELED));
    c.sql = "SELECT 7"; /* the cancel does not stick to the request, nor to the connection */
    cr_assert(eq(int, call_read_now(&s, &c, work_value), WEIR_OK));
    cr_assert(eq(i64, c.value, 7));
    cr_assert(store_close(&s));
  }
}

static int insert_at_gate(weir_req *req, weir_txn *txn) {
  int rc = work_exec(req, txn);
  gate_pass();
  return rc;
}

Test(async_cancel, a_running_write_goes_on_and_is_committed) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    call c = {.sql = "INSERT INTO t VALUES(1)"};
    open_store(&s, kind);
    cr_assert(eq(int, call_write(&s, &c, insert_at_gate), WEIR_OK));
    cr_assert(gate_wait_for(1));
    cr_assert(eq(int, weir_req_cancel(&c.req), WEIR_BUSY));
    gate_open();
    cr_assert(call_await(&c));
    cr_assert(eq(int, c.status, WEIR_OK));
    cr_assert(eq(i64, rows(&s), 1));
    cr_assert(store_close(&s));
  }
}

static int all_over(void *data) {
  weir_pool_stats stats;
  store *s = data;
  return weir_pool_stats_get(s->pool, &stats, sizeof stats) == WEIR_OK && stats.commits == 2 &&
         stats.readers_in_use == 0;
}

Test(async_cancel, what_has_ended_keeps_its_status) {
  store s;
  call c = {.sql = "INSERT INTO t VALUES(1)"};
  open_store(&s, POOL_FILE);
  cr_assert(eq(int, call_write(&s, &c, work_exec), WEIR_OK));
  cr_assert(weir_test_wait(all_over, &s, WEIR_TEST_WAIT_MS)); /* committed, while the loop does not run */
  cr_assert(eq(int, weir_req_cancel(&c.req), WEIR_BUSY));
  cr_assert(call_await(&c));
  cr_assert(eq(int, c.status, WEIR_OK));
  cr_assert(eq(i64, rows(&s), 1));
  cr_assert(store_close(&s));
}

Test(async_cancel, of_a_request_that_is_not_pending_is_refused) {
  store s;
  call c = {0};
  open_store(&s, POOL_FILE);
  cr_assert(eq(int, weir_req_cancel(NULL), WEIR_INVALID));
  cr_assert(eq(int, weir_req_cancel(&c.req), WEIR_INVALID));
  cr_assert(eq(int, call_read_now(&s, &c, work_nothing), WEIR_OK));
  cr_assert(eq(int, weir_req_cancel(&c.req), WEIR_INVALID));
  cr_assert(store_close(&s));
  cr_assert(eq(int, weir_req_cancel(&c.req), WEIR_INVALID)); /* its handle is gone */
}

static call *victims;
static int victim_rc[2];

static void cancel_the_others(weir_req *req, int status) {
  call_done(req, status);
  victim_rc[0] = weir_req_cancel(&victims[0].req);
  victim_rc[1] = weir_req_cancel(&victims[1].req);
}

Test(async_cancel, works_inside_done) {
  store s;
  call first = {.store = &s, .returned = 1}, blocker = {0}, others[2] = {{.done = 0}};
  open_store(&s, POOL_FILE);
  victims = others;
  cr_assert(eq(int, call_write(&s, &blocker, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
  cr_assert(eq(int, call_write(&s, &others[0], work_nothing), WEIR_OK));
  cr_assert(eq(int, call_write(&s, &others[1], work_nothing), WEIR_OK));
  cr_assert(eq(int, weir_read_async(&s.async, &first.req, work_nothing, cancel_the_others), WEIR_OK));
  cr_assert(call_await(&others[1]));
  cr_assert(eq(int, victim_rc[0] | victim_rc[1], WEIR_OK));
  cr_assert(eq(int, others[0].status, WEIR_CANCELED));
  cr_assert(eq(int, others[1].status, WEIR_CANCELED));
  gate_open();
  cr_assert(store_close(&s));
}

/* ---- Deadlines ---- */

Test(async_deadline, a_queued_request_is_ended_and_never_runs) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    for (int write = 0; write < 2; write++) {
      store s;
      call blocker = {0}, patient = {.req.timeout_ms = 10 * WEIR_TEST_WAIT_MS};
      call queued = {.sql = "INSERT INTO t VALUES(1)", .req.timeout_ms = 2};
      open_store(&s, kind);
      cr_assert(eq(int, submit[write](&s, &blocker, work_gated), WEIR_OK));
      cr_assert(gate_wait_for(1));
      cr_assert(eq(int, submit[write](&s, &patient, work_nothing), WEIR_OK));
      cr_assert(eq(int, submit[write](&s, &queued, work_exec), WEIR_OK));
      cr_assert(call_await(&queued)); /* with the blocker still running */
      cr_assert(eq(int, queued.status, WEIR_TIMEOUT));
      cr_assert(eq(int, queued.req.error.code, WEIR_TIMEOUT));
      cr_assert(eq(int, queued.runs + blocker.done + patient.done, 0));
      gate_open();
      cr_assert(weir_test_loop_run(&s.loop));
      cr_assert(eq(int, patient.status, WEIR_OK));
      cr_assert(eq(int, blocker.status, WEIR_OK));
      cr_assert(eq(i64, rows(&s), 0));
      cr_assert(store_close(&s));
    }
  }
}

Test(async_deadline, each_of_many_is_kept_whatever_their_order) {
  enum { CALLS = 64 };
  store s;
  static call calls[CALLS];
  call blocker = {0}, patient = {.req.timeout_ms = 10 * WEIR_TEST_WAIT_MS};
  open_store(&s, POOL_FILE);
  cr_assert(eq(int, call_write(&s, &blocker, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
  s.ended = 0;
  for (int i = 0; i < CALLS; i++) {
    calls[i].req.timeout_ms = i % 2 ? 200 - i : 1 + i;
    cr_assert(eq(int, call_write(&s, &calls[i], work_nothing), WEIR_OK));
  }
  cr_assert(eq(int, call_write(&s, &patient, work_nothing), WEIR_OK));
  for (int i = 0; i < CALLS; i++) {
    cr_assert(call_await(&calls[i]));
    cr_assert(eq(int, calls[i].status, WEIR_TIMEOUT));
  }
  cr_assert(lt(int, calls[0].order, calls[1].order));
  cr_assert(eq(int, blocker.done + patient.done, 0));
  gate_open();
  cr_assert(store_close(&s));
}

Test(async_deadline, a_running_read_is_cut) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    call c = {.sql = ENDLESS_SQL, .req.timeout_ms = 20};
    open_store(&s, kind);
    cr_assert(eq(int, call_read_now(&s, &c, work_exec), WEIR_TIMEOUT));
    cr_assert(eq(int, c.req.error.code, WEIR_TIMEOUT));
    c.sql = "SELECT 7";
    c.req.timeout_ms = 0;
    cr_assert(eq(int, call_read_now(&s, &c, work_value), WEIR_OK));
    cr_assert(eq(i64, c.value, 7));
    cr_assert(store_close(&s));
  }
}

static int is_past(void *data) {
  return uv_hrtime() > *(uint64_t *)data;
}

/* The deadline of a request submitted now, if it has `ms`, is past once this returns. */
static void wait_past(int ms) {
  uint64_t due = uv_hrtime() + (uint64_t)ms * 1000000;
  (void)weir_test_wait(is_past, &due, WEIR_TEST_WAIT_MS);
}

static int insert_late(weir_req *req, weir_txn *txn) {
  wait_past(req->timeout_ms);
  return work_exec(req, txn);
}

Test(async_deadline, a_write_that_has_begun_is_never_cut) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    call c = {.sql = "INSERT INTO t VALUES(1)", .req.timeout_ms = 20};
    open_store(&s, kind);
    int rc = call_write_now(&s, &c, insert_late);
    if (c.runs > 0) /* else the machine was too slow to begin it in time */
      cr_assert(eq(int, rc, WEIR_OK));
    else
      cr_assert(eq(int, rc, WEIR_TIMEOUT));
    cr_assert(eq(i64, rows(&s), c.runs > 0));
    cr_assert(store_close(&s));
  }
}

static int lane_is_empty(void *data) {
  weir_pool_stats stats;
  return weir_pool_stats_get(((store *)data)->pool, &stats, sizeof stats) == WEIR_OK &&
         stats.writes_queued == 0;
}

Test(async_deadline, is_kept_while_the_loop_does_not_run) {
  store s;
  call blocker = {0}, late = {.sql = "INSERT INTO t VALUES(1)", .req.timeout_ms = 1};
  open_store(&s, POOL_FILE);
  cr_assert(eq(int, call_write(&s, &blocker, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
  cr_assert(eq(int, call_write(&s, &late, work_exec), WEIR_OK));
  wait_past(late.req.timeout_ms);
  gate_open(); /* the lane goes on without the loop, which would have ended the request */
  cr_assert(weir_test_wait(lane_is_empty, &s, WEIR_TEST_WAIT_MS));
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, late.status, WEIR_TIMEOUT));
  cr_assert(eq(i64, rows(&s), 0));
  cr_assert(store_close(&s));
}
