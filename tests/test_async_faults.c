/* Known faults of stores on event loops, and that weir does not have them. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/async.h>

#include "async_store.h"
#include "support.h"

TestSuite(async_faults, .timeout = 120);

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MANY = 100000 };
#else
enum { MANY = 1000000 };
#endif

/* ---- libuv's worker pool: its threads are few, and shared with files and DNS ---- */

static int stat_ended;

static void on_stat(uv_fs_t *stat) {
  stat_ended = stat->result == 0;
  gate_open(); /* nothing in the store can end before this */
}

Test(async_faults, a_store_full_of_waiting_work_leaves_libuvs_only_worker_free) {
  enum { EACH = 10 };
  store s;
  uv_fs_t stat;
  call reads[EACH] = {{.done = 0}}, writes[EACH] = {{.done = 0}};
  cr_assert(eq(int, setenv("UV_THREADPOOL_SIZE", "1", 1), 0)); /* before its first use */
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  for (int i = 0; i < EACH; i++) {
    cr_assert(eq(int, call_read(&s, &reads[i], work_gated), WEIR_OK));
    cr_assert(eq(int, call_write(&s, &writes[i], work_gated), WEIR_OK));
  }
  cr_assert(gate_wait_for(5)); /* all four readers and the lane */
  cr_assert(eq(int, uv_fs_stat(&s.loop.uv, &stat, "/", on_stat), 0));
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, stat_ended, 1));
  cr_assert(eq(int, s.ended, 2 * EACH));
  uv_fs_req_cleanup(&stat);
  cr_assert(store_close(&s));
}

static void wait_in_worker(uv_work_t *work) {
  (void)work;
  gate_pass();
}

static void after_worker(uv_work_t *work, int status) {
  *(int *)work->data = status;
}

Test(async_faults, a_blocked_worker_of_libuv_does_not_hold_the_store_up) {
  store s;
  int worker_status = 1;
  uv_work_t work = {.data = &worker_status};
  call c = {0};
  cr_assert(eq(int, setenv("UV_THREADPOOL_SIZE", "1", 1), 0));
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, uv_queue_work(&s.loop.uv, &work, wait_in_worker, after_worker), 0));
  cr_assert(gate_wait_for(1));
  cr_assert(eq(int, call_read_now(&s, &c, work_nothing), WEIR_OK));
  cr_assert(eq(int, call_write_now(&s, &c, work_nothing), WEIR_OK));
  cr_assert(eq(int, worker_status, 1));
  gate_open();
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, worker_status, 0));
  cr_assert(store_close(&s));
}

/* ---- uv_async_send coalesces: one wake-up may stand for many completions ---- */

static int to_submit = MANY, unexpected;

static void go_on(weir_req *req, int status) {
  call *c = (call *)req;
  c->value++;
  c->store->ended++;
  unexpected += status != WEIR_OK || c->value != c->runs;
  if (to_submit > 0) {
    to_submit--;
    unexpected += weir_read_async(&c->store->async, req, work_nothing, go_on) != WEIR_OK;
  }
}

Test(async_faults, a_million_completions_of_four_threads_all_arrive_once) {
  enum { IN_FLIGHT = 256 };
  store s;
  static call calls[IN_FLIGHT];
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  for (int i = 0; i < IN_FLIGHT; i++) {
    calls[i].store = &s;
    to_submit--;
    cr_assert(eq(int, weir_read_async(&s.async, &calls[i].req, work_nothing, go_on), WEIR_OK));
  }
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, unexpected, 0));
  cr_assert(eq(int, s.ended, MANY));
  int64_t delivered = 0;
  for (int i = 0; i < IN_FLIGHT; i++) {
    delivered += calls[i].value;
  }
  cr_assert(eq(i64, delivered, MANY));
  cr_assert(store_close(&s));
}

static atomic_int flood_runs;
static uv_timer_t flood_timer;
static int flood_over;

static int work_flood(weir_req *req, weir_txn *txn) {
  atomic_fetch_add(&flood_runs, 1);
  return work_nothing(req, txn);
}

static int more_than(void *data) {
  return atomic_load(&flood_runs) > *(int *)data;
}

static void on_timer(uv_timer_t *timer) {
  flood_over = 1;
  uv_close((uv_handle_t *)timer, NULL);
}

static void flood_done(weir_req *req, int status) {
  call *c = (call *)req;
  int runs = atomic_load(&flood_runs);
  unexpected += status != WEIR_OK;
  if (c->store->ended++ == 0)
    unexpected += uv_timer_start(&flood_timer, on_timer, 1, 0) != 0;
  if (flood_over)
    return;
  unexpected += weir_read_async(&c->store->async, req, work_flood, flood_done) != WEIR_OK;
  /* Slower than the readers: there always is one more to call back. */
  unexpected += !weir_test_wait(more_than, &runs, WEIR_TEST_WAIT_MS);
}

Test(async_faults, completions_without_end_do_not_starve_the_other_handles_of_the_loop) {
  store s;
  static call calls[16];
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, uv_timer_init(&s.loop.uv, &flood_timer), 0));
  for (int i = 0; i < 16; i++) {
    calls[i].store = &s;
    cr_assert(eq(int, weir_read_async(&s.async, &calls[i].req, work_flood, flood_done), WEIR_OK));
  }
  cr_assert(weir_test_loop_run(&s.loop));
  cr_assert(eq(int, flood_over, 1));
  cr_assert(eq(int, unexpected, 0));
  cr_assert(store_close(&s));
}

/* ---- Several loops share one store: each request ends on the loop that submitted it ---- */

enum { LOOPS = 3, PER_LOOP = 2000, LOOP_SLOTS = 32 };

typedef struct looper {
  weir_pool *pool;
  store store; /* its own loop and handle; the pool is shared */
  call calls[LOOP_SLOTS];
  int left;
  int bad; /* results that should not be */
} looper;

static void looper_done(weir_req *req, int status) {
  call *c = (call *)req;
  looper *self = (looper *)((char *)c->store - offsetof(looper, store));
  call_done(req, status);
  self->bad += status != WEIR_OK || c->wrong_thread;
  if (self->left == 0)
    return;
  int write = self->left-- % 4 == 0;
  c->sql = write ? "UPDATE t SET v = v + 1" : "SELECT v FROM t";
  self->bad += (write ? weir_write_async(&self->store.async, req, work_exec, looper_done)
                      : weir_read_async(&self->store.async, req, work_value, looper_done)) != WEIR_OK;
}

static void *run_looper(void *data) {
  looper *self = data;
  store *s = &self->store;
  s->pool = self->pool;
  s->thread = uv_thread_self();
  weir_test_loop_init(&s->loop);
  self->bad += weir_async_init(&s->async, &s->loop.uv, s->pool, NULL) != WEIR_OK;
  for (int i = 0; i < LOOP_SLOTS; i++) {
    self->calls[i] = (call){.store = s, .sql = "UPDATE t SET v = v + 1", .returned = 1};
    self->bad += weir_write_async(&s->async, &self->calls[i].req, work_exec, looper_done) != WEIR_OK;
  }
  self->bad += !weir_test_loop_run(&s->loop);
  self->bad += s->ended != PER_LOOP + LOOP_SLOTS;
  self->bad += store_close_handle(s) != WEIR_OK;
  self->bad += !weir_test_loop_run(&s->loop);
  self->bad += (int)weir_test_loop_close(&s->loop);
  return NULL;
}

Test(async_faults, loops_in_threads_share_one_store_and_each_gets_its_own_callbacks) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    store s;
    static looper loopers[LOOPS];
    pthread_t threads[LOOPS];
    cr_assert(eq(int, store_open(&s, kind, NULL), WEIR_OK));
    cr_assert(eq(int, store_exec(&s, "CREATE TABLE t(v); INSERT INTO t VALUES(0)"), WEIR_OK));
    for (int i = 0; i < LOOPS; i++) {
      loopers[i] = (looper){.pool = s.pool, .left = PER_LOOP};
      cr_assert(eq(int, pthread_create(&threads[i], NULL, run_looper, &loopers[i]), 0));
    }
    int64_t writes = 0;
    int64_t counted = -1;
    for (int i = 0; i < LOOPS; i++) {
      cr_assert(eq(int, pthread_join(threads[i], NULL), 0));
      cr_assert(eq(int, loopers[i].bad, 0));
    }
    for (int left = PER_LOOP; left > 0; left--) {
      writes += LOOPS * (left % 4 == 0);
    }
    writes += LOOPS * LOOP_SLOTS;
    cr_assert(eq(int, store_value(&s, "SELECT v FROM t", &counted), WEIR_OK));
    cr_assert(eq(i64, counted, writes));
    cr_assert(store_close(&s));
  }
}

/* ---- fork(): the child has the memory, but neither the threads nor the locks ---- */

static int call_all_in_child(store *s, call *pending) {
  call c = {.store = s};
  weir_async handle = {0};
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0)
    return 1;
  if (weir_read_async(&s->async, &c.req, work_nothing, call_done) != WEIR_FORKED)
    return 2;
  if (weir_write_async(&s->async, &c.req, work_nothing, call_done) != WEIR_FORKED)
    return 3;
  if (weir_req_cancel(&pending->req) != WEIR_FORKED)
    return 4;
  if (weir_async_close(&s->async, NULL) != WEIR_FORKED)
    return 5;
  if (weir_async_init(&handle, &loop, s->pool, NULL) != WEIR_FORKED || handle.port)
    return 6;
  return uv_loop_close(&loop) == 0 ? 0 : 7;
}

Test(async_faults, a_forked_child_is_refused_and_the_parent_goes_on) {
  store s;
  call pending = {0};
  cr_assert(eq(int, store_open(&s, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, call_write(&s, &pending, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
  pid_t child = fork();
  if (child == 0)
    _exit(call_all_in_child(&s, &pending));
  cr_assert(gt(int, child, 0));
  int status = -1;
  cr_assert(eq(int, waitpid(child, &status, 0), child));
  cr_assert(eq(int, status, 0)); /* else: the first call in call_all_in_child that was not refused */
  gate_open();
  cr_assert(call_await(&pending));
  cr_assert(eq(int, pending.status, WEIR_OK));
  cr_assert(store_close(&s));
}
