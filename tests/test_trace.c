/* The trace function: what waits or runs for slow_ms is told of, with its label, and nothing else is. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

#include <sqlite3.h>

#include <weir/async.h>

#include "clock.h"
#include "fault_vfs.h"
#include "loop.h"
#include "threads.h"
#include "traces.h"

TestSuite(trace, .timeout = 60);

enum { SLOW_US = 2000 }; /* twice slow_ms */

static traces events = TRACES_INIT;

static weir_pool *opened(int kind, unsigned slow_ms) {
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = {.size = sizeof options,
                               .mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE,
                               .readers = 1,
                               .acquire_timeout_ms = WEIR_TEST_WAIT_MS,
                               .slow_ms = slow_ms,
                               .trace = traces_note,
                               .trace_data = &events};
  char uri[700];
  (void)snprintf(uri, sizeof uri, kind == SINGLE_MEMORY ? "%s" : "file:%s?vfs=fault", pool_path(kind));
  cr_assert(eq(int, fault_vfs_register(), SQLITE_OK));
  cr_assert(eq(int, weir_pool_open(&pool, uri, &options, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  events.count = 0;
  return pool;
}

static void spin(void *data) {
  (void)data;
  uint64_t until = weir__now_ns() + SLOW_US * WEIR__NS_PER_US;
  while (weir__now_ns() < until) {
  }
}

static int spin_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  (void)err;
  spin(data);
  return WEIR_OK;
}

static int spin_and_fail_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)spin_fn(txn, data, err);
  return weir_fail(err, WEIR_INVALID, "fails on purpose");
}

Test(trace, tells_of_what_runs_long_with_its_label_also_if_it_fails) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    weir_txn *in = weir_pool_auto(pool);
    static const char *const labels[] = {"kept", "failed"};
    for (int i = 0; i < 2; i++) {
      weir_txn_options options = {.size = sizeof options, .label = labels[i]};
      weir_txn_fn fn = i ? spin_and_fail_fn : spin_fn;
      int expected = i ? WEIR_INVALID : WEIR_OK;
      cr_assert(eq(int, weir_read(in, fn, NULL, &options, NULL), expected));
      cr_assert(eq(int, weir_write(in, fn, NULL, &options, NULL), expected));
      cr_assert(eq(int, traces_count(&events, WEIR_TRACE_SLOW_READ, labels[i]), 1));
      cr_assert(eq(int, traces_count(&events, WEIR_TRACE_SLOW_WRITE, labels[i]), 1));
      cr_assert(ge(u64, traces_last(&events, WEIR_TRACE_SLOW_READ, labels[i]).ran_us, SLOW_US));
      cr_assert(ge(u64, traces_last(&events, WEIR_TRACE_SLOW_WRITE, labels[i]).ran_us, SLOW_US));
    }
    cr_assert(eq(int, weir_read(in, spin_fn, NULL, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, traces_count(&events, WEIR_TRACE_SLOW_READ, NULL), 3));
    cr_assert(eq(ptr, (void *)traces_last(&events, WEIR_TRACE_SLOW_READ, NULL).label, NULL));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(trace, tells_of_what_waits_long_however_short_it_runs) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    for (int write = 0; write < 2; write++) {
      weir_pool *pool = opened(kind, 1);
      latch held = LATCH_INIT;
      weir_txn_options options = {.size = sizeof options, .label = "waits"};
      task first = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &held, .write = write};
      task second = first;
      second.fn = nothing_fn;
      second.options = &options;
      cr_assert(eq(int, task_start(&first), 0));
      cr_assert(latch_await(&held, 1));
      cr_assert(write ? task_start_queued(&second, pool, 1) : task_start_waiting(&second, pool, 1));
      spin(NULL);
      latch_open(&held);
      cr_assert(eq(int, task_join(&first), WEIR_OK));
      cr_assert(eq(int, task_join(&second), WEIR_OK));
      weir_trace_kind traced = write ? WEIR_TRACE_SLOW_WRITE : WEIR_TRACE_SLOW_READ;
      cr_assert(eq(int, traces_count(&events, traced, "waits"), 1));
      cr_assert(ge(u64, traces_last(&events, traced, "waits").waited_us, SLOW_US));
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    }
  }
}

/* The VFS holds it up when it has written. */
Test(trace, tells_of_a_commit_that_takes_long) {
  const fault_checkpoint at = {.written = spin};
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool *pool = opened(kind, 1);
    atomic_store(&fault_at_checkpoint, &at);
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t(v) VALUES(1)", NULL), WEIR_OK));
    atomic_store(&fault_at_checkpoint, NULL);
    cr_assert(eq(int, traces_count(&events, WEIR_TRACE_SLOW_COMMIT, NULL), 1));
    cr_assert(ge(u64, traces_last(&events, WEIR_TRACE_SLOW_COMMIT, NULL).ran_us, SLOW_US));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(trace, tells_nothing_of_what_is_not_slow) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1000000);
    for (int i = 0; i < 20; i++) {
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), spin_fn, NULL, NULL, NULL), WEIR_OK));
      cr_assert(eq(int, weir_read(weir_pool_auto(pool), spin_fn, NULL, NULL, NULL), WEIR_OK));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(eq(int, events.count, 0));
  }
}

/* ---- Asynchronous ---- */

static int work(weir_req *req, weir_txn *txn) {
  return spin_fn(txn, NULL, &req->error);
}

static void done(weir_req *req, int status) {
  *(int *)req->data = status;
}

Test(trace, tells_of_asynchronous_reads_and_writes_alike) {
  enum { REQUESTS = 6 }; /* reads, then writes: one runs, the others wait */
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    weir_test_loop loop;
    weir_async async;
    weir_req reqs[REQUESTS] = {WEIR_REQ_INIT};
    int status[REQUESTS];
    weir_test_loop_init(&loop);
    cr_assert(eq(int, weir_async_init(&async, &loop.uv, pool, NULL), WEIR_OK));
    for (int i = 0; i < REQUESTS; i++) {
      int write = i >= REQUESTS / 2;
      status[i] = 1;
      reqs[i] = (weir_req)WEIR_REQ_INIT;
      reqs[i].label = write ? "write" : "read";
      reqs[i].data = &status[i];
      cr_assert(eq(int, (write ? weir_write_async : weir_read_async)(&async, &reqs[i], work, done), WEIR_OK));
    }
    cr_assert(weir_test_loop_run(&loop));
    for (int i = 0; i < REQUESTS; i++) {
      cr_assert(eq(int, status[i], WEIR_OK));
    }
    cr_assert(eq(int, weir_async_close(&async, NULL), WEIR_OK));
    cr_assert(weir_test_loop_run(&loop));
    cr_assert(eq(uint, weir_test_loop_close(&loop), 0));
    cr_assert(eq(int, traces_count(&events, WEIR_TRACE_SLOW_READ, "read"), REQUESTS / 2));
    cr_assert(eq(int, traces_count(&events, WEIR_TRACE_SLOW_WRITE, "write"), REQUESTS / 2));
    weir_trace last = traces_last(&events, WEIR_TRACE_SLOW_WRITE, "write");
    cr_assert(ge(u64, last.ran_us, SLOW_US));
    cr_assert(ge(u64, last.waited_us, SLOW_US)); /* behind the first one */
    last = traces_last(&events, WEIR_TRACE_SLOW_READ, "read");
    cr_assert(ge(u64, last.ran_us, SLOW_US));
    cr_assert(ge(u64, last.waited_us, SLOW_US));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
