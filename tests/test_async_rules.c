/* Each numbered rule of weir/async.h, and every error of its functions. */
#include <pthread.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/async.h>

#include "async_store.h"
#include "support.h"

TestSuite(async_rules, .timeout = 60);

static const weir_pool_options one_reader = {.size = sizeof(weir_pool_options), .readers = 1};

/* ---- 1. Only the thread of the loop may call ---- */

enum { FOREIGN_THREADS = 4, FOREIGN_ROUNDS = 200 };

typedef struct foreigner {
  store *store;
  call *pending;
  int others; /* results that were not WEIR_MISUSE */
} foreigner;

static void *call_from_elsewhere(void *data) {
  foreigner *self = data;
  for (int i = 0; i < FOREIGN_ROUNDS; i++) {
    call c = {.store = self->store};
    self->others += weir_read_async(&self->store->async, &c.req, work_nothing, call_done) != WEIR_MISUSE;
    self->others += weir_write_async(&self->store->async, &c.req, work_nothing, call_done) != WEIR_MISUSE;
    self->others += weir_req_cancel(&self->pending->req) != WEIR_MISUSE;
    self->others += weir_async_close(&self->store->async, NULL) != WEIR_MISUSE;
  }
  return NULL;
}

Test(async_rules, calls_on_a_foreign_thread_are_refused_and_touch_nothing) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  call pending = {0}, traffic = {0};
  cr_assert(eq(int, call_read(&s, &pending, work_gated), WEIR_OK));
  pthread_t threads[FOREIGN_THREADS];
  foreigner foreigners[FOREIGN_THREADS];
  for (int i = 0; i < FOREIGN_THREADS; i++) {
    foreigners[i] = (foreigner){.store = &s, .pending = &pending};
    cr_assert(eq(int, pthread_create(&threads[i], NULL, call_from_elsewhere, &foreigners[i]), 0));
  }
  for (int i = 0; i < 100; i++) { /* the loop is busy meanwhile */
    cr_assert(eq(int, call_read_now(&s, &traffic, work_nothing), WEIR_OK));
  }
  for (int i = 0; i < FOREIGN_THREADS; i++) {
    cr_assert(eq(int, pthread_join(threads[i], NULL), 0));
    cr_assert(eq(int, foreigners[i].others, 0));
  }
  cr_assert(eq(sz, weir_async_pending(&s.async), 1));
  gate_open();
  cr_assert(call_await(&pending));
  cr_assert(eq(int, pending.status, WEIR_OK));
  cr_assert(eq(int, s.ended, 101));
  cr_assert(store_close(&s));
}

static int submit_from_work(weir_req *req, weir_txn *txn) {
  (void)txn;
  call other = {0};
  call *c = (call *)req;
  c->value = weir_read_async(&c->store->async, &other.req, work_nothing, call_done);
  return WEIR_OK;
}

Test(async_rules, work_is_a_foreign_thread_too) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  call c = {0};
  cr_assert(eq(int, call_write_now(&s, &c, submit_from_work), WEIR_OK));
  cr_assert(eq(i64, c.value, WEIR_MISUSE));
  cr_assert(store_close(&s));
}

/* ---- 2. Never, or exactly once and after the submission ---- */

Test(async_rules, a_submission_that_fails_never_calls_back) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  call c = {.store = &s, .req.timeout_ms = -1}, pending = {0};
  cr_assert(eq(int, weir_read_async(NULL, &c.req, work_nothing, call_done), WEIR_INVALID));
  cr_assert(eq(int, weir_read_async(&s.async, NULL, work_nothing, call_done), WEIR_INVALID));
  cr_assert(eq(int, weir_read_async(&s.async, &c.req, NULL, call_done), WEIR_INVALID));
  cr_assert(eq(int, weir_write_async(&s.async, &c.req, work_nothing, NULL), WEIR_INVALID));
  cr_assert(eq(int, call_write(&s, &c, work_nothing), WEIR_INVALID));
  cr_assert(eq(int, c.req.error.code, WEIR_INVALID));
  cr_assert(eq(sz, weir_async_pending(&s.async), 0));

  cr_assert(eq(int, call_read(&s, &pending, work_gated), WEIR_OK));
  cr_assert(eq(int, weir_read_async(&s.async, &pending.req, work_gated, call_done), WEIR_INVALID));
  cr_assert(eq(int, weir_write_async(&s.async, &pending.req, work_gated, call_done), WEIR_INVALID));
  gate_open();
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, pending.done, 1));
  cr_assert(eq(int, pending.status, WEIR_OK));
  cr_assert(eq(int, s.ended, 1));
  cr_assert(store_close(&s));
  weir_async never_opened = {0};
  cr_assert(eq(int, weir_read_async(&never_opened, &c.req, work_nothing, call_done), WEIR_CLOSED));
}

Test(async_rules, a_full_queue_refuses_reads_and_never_calls_back) {
  store s;
  weir_pool_options options = one_reader;
  options.queue_max = 2;
  cr_assert(eq(int, store_open(&s, POOL_FILE, &options), WEIR_OK));
  call blocker = {0}, queued[2] = {{.done = 0}}, refused = {0};
  gate_close();
  cr_assert(eq(int, call_read(&s, &blocker, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
  cr_assert(eq(int, call_read(&s, &queued[0], work_nothing), WEIR_OK));
  cr_assert(eq(int, call_read(&s, &queued[1], work_nothing), WEIR_OK));
  cr_assert(eq(int, call_read(&s, &refused, work_nothing), WEIR_BUSY));
  cr_assert(eq(int, refused.req.error.code, WEIR_BUSY));
  gate_open();
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, queued[0].done + queued[1].done + blocker.done, 3));
  cr_assert(eq(int, refused.done + refused.runs, 0));
  cr_assert(eq(int, call_read_now(&s, &refused, work_nothing), WEIR_OK));
  cr_assert(store_close(&s));
}

Test(async_rules, every_request_calls_back_once_and_after_its_submission) {
  enum { CALLS = 500 };
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    cr_assert(eq(int, store_open(&s, kind, NULL), WEIR_OK));
    call *calls = calloc(CALLS, sizeof *calls);
    cr_assert(ne(ptr, calls, NULL));
    for (int i = 0; i < CALLS; i++) {
      cr_assert(eq(int, (i % 3 ? call_read : call_write)(&s, &calls[i], work_nothing), WEIR_OK));
      cr_assert(eq(int, s.ended, 0));
    }
    cr_assert(eq(sz, weir_async_pending(&s.async), CALLS));
    cr_assert(weir_test_loop_run(&s.loop));
    for (int i = 0; i < CALLS; i++) {
      cr_assert(eq(int, calls[i].done, 1));
      cr_assert(eq(int, calls[i].status, WEIR_OK));
      cr_assert(not(calls[i].early | calls[i].wrong_thread));
    }
    free(calls);
    cr_assert(store_close(&s));
  }
}

/* ---- 3. In done the request is the caller's ---- */

static void submit_again(weir_req *req, int status) {
  call *c = (call *)req;
  call_done(req, status);
  if (c->done < 100)
    c->value |=
        (c->done % 2 ? weir_write_async : weir_read_async)(&c->store->async, req, work_nothing, submit_again);
}

Test(async_rules, a_request_may_be_submitted_again_in_done) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    cr_assert(eq(int, store_open(&s, kind, NULL), WEIR_OK));
    call c = {.store = &s, .returned = 1};
    cr_assert(eq(int, weir_read_async(&s.async, &c.req, work_nothing, submit_again), WEIR_OK));
    cr_assert(weir_test_loop_run(&s.loop));
    cr_assert(eq(int, c.done, 100));
    cr_assert(eq(int, c.runs, 100));
    cr_assert(eq(i64, c.value, WEIR_OK));
    cr_assert(store_close(&s));
  }
}

static void free_call(weir_req *req, int status) {
  call_done(req, status);
  free(req);
}

Test(async_rules, a_request_may_be_freed_in_done) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  for (int i = 0; i < 100; i++) {
    call *c = calloc(1, sizeof *c);
    cr_assert(ne(ptr, c, NULL));
    c->store = &s;
    cr_assert(eq(int,
                 (i % 2 ? weir_read_async : weir_write_async)(&s.async, &c->req, work_nothing, free_call),
                 WEIR_OK));
  }
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, s.ended, 100));
  cr_assert(store_close(&s));
}

/* ---- 5. The handle keeps the loop alive only while requests are pending ---- */

Test(async_rules, an_idle_handle_lets_the_loop_end) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  cr_assert(not(uv_loop_alive(&s.loop.uv)));
  cr_assert(weir_test_loop_run(&s.loop));
  call c = {0};
  cr_assert(eq(int, call_read_now(&s, &c, work_nothing), WEIR_OK));
  cr_assert(not(uv_loop_alive(&s.loop.uv)));
  cr_assert(store_close(&s));
}

Test(async_rules, a_pending_request_keeps_the_loop_alive) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  call c = {0};
  cr_assert(eq(int, call_read(&s, &c, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
  cr_assert(ne(int, uv_run(&s.loop.uv, UV_RUN_NOWAIT), 0));
  cr_assert(eq(int, c.done, 0));
  gate_open();
  cr_assert(weir_test_loop_run(&s.loop)); /* returns by itself, and only after the callback */
  cr_assert(eq(int, c.done, 1));
  cr_assert(store_close(&s));
}

/* ---- The errors of init ---- */

Test(async_rules, init_refuses_null_and_leaves_nothing_open) {
  store s;
  weir_async handle = {.port = NULL};
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, weir_async_init(NULL, &s.loop.uv, s.pool, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_async_init(&handle, NULL, s.pool, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_async_init(&handle, &s.loop.uv, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, err.code, WEIR_INVALID));
  cr_assert(eq(ptr, handle.port, NULL));
  cr_assert(eq(sz, weir_async_pending(NULL), 0));
  cr_assert(eq(sz, weir_async_pending(&handle), 0));
  cr_assert(store_close(&s));
}

Test(async_rules, init_leaves_the_callers_data_alone) {
  store s;
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  weir_async handle = {.data = &s};
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, weir_async_init(&handle, &s.loop.uv, s.pool, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(ptr, handle.data, &s));
  cr_assert(eq(int, weir_async_close(&handle, NULL), WEIR_OK));
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(ptr, handle.data, &s));
  cr_assert(store_close(&s));
}
