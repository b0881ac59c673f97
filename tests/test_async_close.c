/* Rule 6 of weir/async.h: closing a handle. */
#include <pthread.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/async.h>

#include "async_store.h"
#include "support.h"

TestSuite(async_close, .timeout = 60);

Test(async_close, lets_running_work_finish_cancels_queued_work_then_calls_back) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    enum { QUEUED = 50 };
    store s;
    call running = {0}, queued[QUEUED] = {{.done = 0}};
    gate_close();
    cr_assert(eq(int, store_open(&s, kind, NULL), WEIR_OK));
    cr_assert(eq(int, call_write(&s, &running, work_gated), WEIR_OK));
    cr_assert(gate_wait_for(1));
    for (int i = 0; i < QUEUED; i++) {
      cr_assert(eq(int, call_write(&s, &queued[i], work_nothing), WEIR_OK));
    }
    cr_assert(eq(int, store_close_handle(&s), WEIR_OK));
    cr_assert(eq(int, s.ended, 0)); /* not inside the call */
    cr_assert(eq(sz, weir_async_pending(&s.async), QUEUED + 1));
    gate_open();
    cr_assert(weir_test_loop_run(&s.loop));
    cr_assert(eq(int, s.closed, 1));
    cr_assert(eq(int, s.ended, QUEUED + 1));
    cr_assert(eq(int, running.status, WEIR_OK));
    for (int i = 0; i < QUEUED; i++) {
      cr_assert(eq(int, queued[i].done, 1));
      cr_assert(eq(int, queued[i].status, WEIR_CANCELED));
      cr_assert(eq(int, queued[i].req.error.code, WEIR_CANCELED));
      cr_assert(eq(int, queued[i].runs, 0));
    }
    cr_assert(store_close(&s));
  }
}

Test(async_close, cancels_queued_reads_and_lets_running_reads_finish) {
  store s;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = 1;
  call running = {0}, queued = {0};
  cr_assert(eq(int, store_open(&s, POOL_FILE, &options), WEIR_OK));
  cr_assert(eq(int, call_read(&s, &running, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
  cr_assert(eq(int, call_read(&s, &queued, work_nothing), WEIR_OK));
  cr_assert(eq(int, store_close_handle(&s), WEIR_OK));
  gate_open();
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, running.status, WEIR_OK));
  cr_assert(eq(int, queued.status, WEIR_CANCELED));
  cr_assert(eq(int, queued.runs, 0));
  cr_assert(store_close(&s));
}

Test(async_close, of_an_idle_handle_calls_back_from_the_loop) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, store_close_handle(&s), WEIR_OK));
  cr_assert(eq(int, s.closed, 0));
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, s.closed, 1));
  cr_assert(store_close(&s));
}

Test(async_close, is_refused_the_second_time_and_further_use_too) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  call running = {0}, late = {0};
  cr_assert(eq(int, call_read(&s, &running, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
  cr_assert(eq(int, store_close_handle(&s), WEIR_OK));
  for (int closed = 0; closed < 2; closed++) {
    cr_assert(eq(int, weir_async_close(&s.async, NULL), WEIR_CLOSED));
    cr_assert(eq(int, call_read(&s, &late, work_nothing), WEIR_CLOSED));
    cr_assert(eq(int, call_write(&s, &late, work_nothing), WEIR_CLOSED));
    gate_open();
    cr_assert(weir_test_loop_run(&s.loop));
  }
  cr_assert(eq(int, weir_async_close(NULL, NULL), WEIR_INVALID));
  cr_assert(eq(int, running.status, WEIR_OK));
  cr_assert(eq(int, late.done + late.runs, 0));
  cr_assert(eq(int, s.closed, 1));
  cr_assert(store_close(&s));
}

static void close_in_done(weir_req *req, int status) {
  call *c = (call *)req;
  call_done(req, status);
  c->value = store_close_handle(c->store);
  c->value |= c->store->closed; /* not inside the call */
}

Test(async_close, works_inside_done_of_the_last_request) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  call c = {.store = &s, .returned = 1, .value = -1};
  cr_assert(eq(int, weir_write_async(&s.async, &c.req, work_nothing, close_in_done), WEIR_OK));
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(i64, c.value, WEIR_OK));
  cr_assert(eq(int, s.closed, 1));
  cr_assert(store_close(&s));
}

Test(async_close, works_inside_done_while_others_are_pending) {
  enum { OTHERS = 300 };
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    static call others[OTHERS];
    cr_assert(eq(int, store_open(&s, kind, NULL), WEIR_OK));
    call c = {.store = &s, .returned = 1, .value = -1};
    memset(others, 0, sizeof others);
    cr_assert(eq(int, weir_read_async(&s.async, &c.req, work_nothing, close_in_done), WEIR_OK));
    for (int i = 0; i < OTHERS; i++) {
      cr_assert(eq(int, (i % 2 ? call_read : call_write)(&s, &others[i], work_nothing), WEIR_OK));
    }
    cr_assert(weir_test_loop_run(&s.loop));
    cr_assert(eq(i64, c.value, WEIR_OK));
    cr_assert(eq(int, s.ended, OTHERS + 1));
    for (int i = 0; i < OTHERS; i++) {
      cr_assert(eq(int, others[i].done, 1));
      int canceled = others[i].status == WEIR_CANCELED;
      cr_assert(eq(int, others[i].status, canceled ? WEIR_CANCELED : WEIR_OK));
      cr_assert(eq(int, others[i].runs > 0, !canceled));
    }
    cr_assert(store_close(&s));
  }
}

Test(async_close, needs_no_callback) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, weir_async_close(&s.async, NULL), WEIR_OK));
  cr_assert(weir_test_loop_run(&s.loop));
  s.closed = 1;
  cr_assert(store_close(&s));
}

static int reuses, reuse_rc, pool_rc;

static void init_again(weir_async *handle) {
  store *s = handle->data;
  memset(handle, 0x5a, sizeof *handle); /* nothing in it is needed any more */
  handle->data = s;
  reuse_rc |= weir_async_init(handle, &s->loop.uv, s->pool, NULL);
  if (++reuses < 3)
    reuse_rc |= weir_async_close(handle, init_again);
}

Test(async_close, callback_may_use_the_handles_memory_again) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  s.async.data = &s;
  cr_assert(eq(int, weir_async_close(&s.async, init_again), WEIR_OK));
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, reuses, 3));
  cr_assert(eq(int, reuse_rc, WEIR_OK));
  call c = {0};
  cr_assert(eq(int, call_read_now(&s, &c, work_nothing), WEIR_OK));
  cr_assert(store_close(&s));
}

static void close_pool(weir_async *handle) {
  store *s = handle->data;
  pool_rc = weir_pool_close(s->pool, NULL);
  s->pool = NULL;
  s->closed = 1;
}

Test(async_close, callback_may_close_the_pool_but_not_before) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(eq(int, store_open(&s, kind, NULL), WEIR_OK));
    s.async.data = &s;
    cr_assert(eq(int, weir_pool_close(s.pool, &err), WEIR_MISUSE));
    call c = {0};
    cr_assert(eq(int, call_write_now(&s, &c, work_nothing), WEIR_OK)); /* nothing was closed */
    pool_rc = -1;
    cr_assert(eq(int, weir_async_close(&s.async, close_pool), WEIR_OK));
    cr_assert(weir_test_loop_run(&s.loop));
    cr_assert(eq(int, pool_rc, WEIR_OK));
    cr_assert(store_close(&s));
  }
}

static void *begin_snapshot(void *data) {
  store *s = data;
  weir_txn *snapshot = NULL;
  return weir_snapshot_begin(s->pool, &snapshot, NULL, NULL) == WEIR_OK ? snapshot : NULL;
}

Test(async_close, of_the_pool_refuses_new_handles_while_it_goes_on) {
  store s;
  pthread_t thread;
  void *snapshot = NULL; /* keeps the pool from closing */
  weir_async late = {.port = NULL};
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.close_timeout_ms = 1;
  cr_assert(eq(int, store_open(&s, POOL_FILE, &options), WEIR_OK));
  cr_assert(eq(int, store_close_handle(&s), WEIR_OK));
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, pthread_create(&thread, NULL, begin_snapshot, &s), 0));
  cr_assert(eq(int, pthread_join(thread, &snapshot), 0));
  cr_assert(ne(ptr, snapshot, NULL));
  cr_assert(eq(int, weir_pool_close(s.pool, &err), WEIR_BUSY));
  cr_assert(eq(int, weir_async_init(&late, &s.loop.uv, s.pool, &err), WEIR_CLOSED));
  cr_assert(eq(int, err.code, WEIR_CLOSED));
  cr_assert(eq(ptr, late.port, NULL));
  cr_assert(eq(int, weir_snapshot_end(snapshot, &err), WEIR_OK));
  cr_assert(store_close(&s));
}
