/*
 * The queue of writes is bounded. An asynchronous write that finds it full waits for room, and is then told
 * busy; those that have room are not hurt by it, and everybody hears exactly once.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "async_store.h"
#include "support.h"

TestSuite(queue_bounds, .timeout = 200);

enum { CALLS = 8 };

/* A store whose lane is held by `holder`. */
static void hold(store *s, call *holder, int kind, const weir_pool_options *options) {
  cr_assert(eq(int, store_open(s, kind, options), WEIR_OK));
  cr_assert(eq(int, store_exec(s, "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v)"), WEIR_OK));
  gate_close();
  cr_assert(eq(int, call_write(s, holder, work_gated), WEIR_OK));
  cr_assert(gate_wait_for(1));
}

static weir_pool_options bounded(unsigned queue_max, unsigned queue_kib, int acquire_timeout_ms) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.queue_max = queue_max;
  options.queue_kib = queue_kib;
  options.acquire_timeout_ms = acquire_timeout_ms;
  return options;
}

#define INSERT "INSERT INTO t(v) VALUES(1)"

/* Submits so many. A full queue is no reason to refuse them. */
static void submit(store *s, call *calls, int count, const size_t *bytes) {
  for (int i = 0; i < count; i++) {
    calls[i].sql = INSERT;
    calls[i].req.bytes = bytes ? bytes[i] : 0;
    cr_assert(eq(int, call_write(s, &calls[i], work_exec), WEIR_OK));
    cr_assert(eq(int, calls[i].done, 0));
  }
}

static int has_ended(void *data) {
  return ((call *)data)->done > 0;
}

static void check(const call *c, int status) {
  cr_assert(eq(int, c->done, 1));
  cr_assert(eq(int, c->status, status), "%s", c->req.error.message);
  cr_assert(eq(int, c->req.error.code, status));
  cr_assert(eq(int, c->runs, status == WEIR_OK));
  cr_assert(not(c->early));
  cr_assert(not(c->wrong_thread));
}

static void check_rows(store *s, int64_t expected) {
  int64_t rows = -1;
  cr_assert(eq(int, store_value(s, "SELECT count(*) FROM t", &rows), WEIR_OK));
  cr_assert(eq(i64, rows, expected));
}

static void closed(store *s, int kind) {
  char path[600];
  cr_assert(store_close(s));
  if (kind != SINGLE_MEMORY) {
    weir_test_path(path, sizeof path, kind == POOL_FILE ? "pool.db" : "single.db");
    (void)remove(path);
  }
}

/* ---- Over the bounds ---- */

static const struct {
  unsigned max, kib;
  size_t bytes[CALLS];
  int room; /* so many of them have it */
} cases[] = {
    {3, 0, {0}, 3},
    {1, 0, {0}, 1},
    {0, 1, {500, 500, 25, 500, 1, 1, 0, 0}, 3}, /* 1025 bytes are before the others */
    {0, 1, {5000, 1, 1, 1, 1, 1, 1, 1}, 1},     /* one that is larger than the queue is taken by it */
    {4, 1, {512, 512, 1, 1, 1, 1, 1, 1}, 3},    /* whichever comes first */
    {2, 1, {100, 100, 100, 100, 100, 100, 1, 1}, 2},
};

enum { CASES = sizeof cases / sizeof cases[0] };

Test(queue_bounds, writes_over_them_are_told_busy_when_they_have_waited_and_the_others_are_served) {
  for (int i = 0; i < CASES * STORE_KINDS; i++) {
    int kind = i % STORE_KINDS, room = cases[i / STORE_KINDS].room;
    /* without any wait, too: even then not within the submission */
    weir_pool_options options =
        bounded(cases[i / STORE_KINDS].max, cases[i / STORE_KINDS].kib, i / STORE_KINDS % 2 ? -1 : 30);
    store s;
    call holder = {0}, calls[CALLS] = {0};
    hold(&s, &holder, kind, &options);
    submit(&s, calls, CALLS, cases[i / STORE_KINDS].bytes);
    for (int j = room; j < CALLS; j++)
      cr_assert(weir_test_loop_until(&s.loop, has_ended, &calls[j]), "case %d: call %d", i / STORE_KINDS, j);
    for (int j = 0; j < room; j++)
      cr_assert(eq(int, calls[j].done, 0), "case %d: call %d", i / STORE_KINDS, j);
    gate_open();
    cr_assert(weir_test_loop_run(&s.loop));
    check(&holder, WEIR_OK);
    for (int j = 0; j < CALLS; j++)
      check(&calls[j], j < room ? WEIR_OK : WEIR_BUSY);
    check_rows(&s, room);
    closed(&s, kind);
  }
}

Test(queue_bounds, room_that_comes_in_time_is_given_to_all_who_wait_for_it) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    weir_pool_options options = bounded(2, 1, WEIR_TEST_WAIT_MS);
    static const size_t bytes[CALLS] = {600, 600, 600, 600, 5000, 600, 600, 600};
    store s;
    call holder = {0}, calls[CALLS] = {0};
    hold(&s, &holder, kind, &options);
    submit(&s, calls, CALLS, bytes);
    gate_open();
    cr_assert(weir_test_loop_run(&s.loop));
    for (int i = 0; i < CALLS; i++) {
      check(&calls[i], WEIR_OK);
      cr_assert(eq(int, calls[i].order, i + 3)); /* after the table's and the holder's */
    }
    check_rows(&s, CALLS);
    closed(&s, kind);
  }
}

Test(queue_bounds, deadline_of_a_request_holds_while_it_waits_for_room) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    weir_pool_options options = bounded(1, 0, WEIR_TEST_WAIT_MS);
    store s;
    call holder = {0}, calls[3] = {0};
    hold(&s, &holder, kind, &options);
    calls[1].req.timeout_ms = 10;
    submit(&s, calls, 3, NULL);
    cr_assert(call_await(&calls[1]));
    gate_open();
    cr_assert(weir_test_loop_run(&s.loop));
    check(&calls[0], WEIR_OK);
    check(&calls[1], WEIR_TIMEOUT);
    check(&calls[2], WEIR_OK);
    closed(&s, kind);
  }
}

/* ---- Those who leave ---- */

Test(queue_bounds, a_cancel_ends_one_that_waits_for_room_and_makes_room) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    weir_pool_options options = bounded(2, 0, 200);
    store s;
    call holder = {0}, calls[5] = {0};
    hold(&s, &holder, kind, &options);
    submit(&s, calls, 4, NULL);
    cr_assert(eq(int, weir_req_cancel(&calls[3].req), WEIR_OK)); /* waits for room */
    cr_assert(eq(int, weir_req_cancel(&calls[0].req), WEIR_OK)); /* has it; now the third has */
    cr_assert(eq(int, weir_req_cancel(&holder.req), WEIR_BUSY)); /* runs */
    cr_assert(eq(int, calls[3].done, 0));
    submit(&s, &calls[4], 1, NULL); /* the queue is full again, with the second and third */
    cr_assert(call_await(&calls[4]));
    gate_open();
    cr_assert(weir_test_loop_run(&s.loop));
    static const int status[5] = {WEIR_CANCELED, WEIR_OK, WEIR_OK, WEIR_CANCELED, WEIR_BUSY};
    check(&holder, WEIR_OK);
    for (int i = 0; i < 5; i++)
      check(&calls[i], status[i]);
    check_rows(&s, 2);
    closed(&s, kind);
  }
}

static void open_gate(void *data) {
  (void)data;
  gate_open();
}

Test(queue_bounds, a_close_ends_those_who_wait_with_room_and_without) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    weir_pool_options options = bounded(2, 0, WEIR_TEST_WAIT_MS);
    store s;
    call holder = {0}, calls[5] = {0};
    uv_thread_t opener;
    hold(&s, &holder, kind, &options);
    submit(&s, calls, 5, NULL);
    cr_assert(eq(int, store_close_handle(&s), WEIR_OK));
    cr_assert(eq(int, uv_thread_create(&opener, open_gate, NULL), 0));
    cr_assert(weir_test_loop_run(&s.loop));
    cr_assert(eq(int, uv_thread_join(&opener), 0));
    check(&holder, WEIR_OK);
    for (int i = 0; i < 5; i++)
      check(&calls[i], WEIR_CANCELED);
    closed(&s, kind);
  }
}

/* ---- Synchronous callers ---- */

static int exec_fn(weir_txn *txn, void *data, weir_error *err) {
  return weir_txn_exec(txn, data, err);
}

Test(queue_bounds, a_synchronous_write_waits_as_long_as_it_says_however_full_the_queue_is) {
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    weir_pool_options options = bounded(1, 0, WEIR_TEST_WAIT_MS);
    weir_txn_options hasty = WEIR_TXN_OPTIONS_INIT;
    weir_error err = WEIR_ERROR_INIT;
    store s;
    call holder = {0}, calls[3] = {0};
    hasty.timeout_ms = 20;
    hold(&s, &holder, kind, &options);
    submit(&s, calls, 3, NULL);
    cr_assert(eq(int, weir_write(weir_pool_auto(s.pool), exec_fn, (void *)INSERT, &hasty, &err), WEIR_BUSY));
    cr_assert(eq(int, err.code, WEIR_BUSY));
    gate_open();
    cr_assert(eq(int, weir_write(weir_pool_auto(s.pool), exec_fn, (void *)INSERT, NULL, &err), WEIR_OK));
    cr_assert(weir_test_loop_run(&s.loop));
    for (int i = 0; i < 3; i++)
      check(&calls[i], WEIR_OK);
    check_rows(&s, 4);
    closed(&s, kind);
  }
}

Test(queue_bounds, bytes_whose_sum_could_wrap_are_refused_and_the_most_is_taken) {
  const size_t most = (size_t)1 << 40;
  const size_t bad[] = {most + 1, SIZE_MAX / 2, SIZE_MAX};
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    weir_pool_options options = bounded(0, 0, WEIR_TEST_WAIT_MS);
    weir_txn_options large = WEIR_TXN_OPTIONS_INIT;
    weir_error err = WEIR_ERROR_INIT;
    store s;
    call holder = {0}, calls[2] = {0};
    hold(&s, &holder, kind, &options);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
      calls[0].req.bytes = large.bytes = bad[i];
      cr_assert(eq(int, call_write(&s, &calls[0], work_exec), WEIR_INVALID));
      cr_assert(ne(ptr, strstr(calls[0].req.error.message, "bytes"), NULL));
      cr_assert(
          eq(int, weir_write(weir_pool_auto(s.pool), exec_fn, (void *)INSERT, &large, &err), WEIR_INVALID));
      cr_assert(ne(ptr, strstr(err.message, "bytes"), NULL));
    }
    submit(&s, calls, 2, (const size_t[]){most, most}); /* the second one waits for room */
    gate_open();
    large.bytes = most;
    cr_assert(eq(int, weir_write(weir_pool_auto(s.pool), exec_fn, (void *)INSERT, &large, &err), WEIR_OK));
    cr_assert(weir_test_loop_run(&s.loop));
    check(&calls[0], WEIR_OK);
    check(&calls[1], WEIR_OK);
    check_rows(&s, 3);
    closed(&s, kind);
  }
}

/* ---- Behind a snapshot ---- */

struct pin {
  weir_pool *pool;
  weir_txn *snapshot;
};

/* On a thread that does nothing else. */
static void *pin_main(void *data) {
  struct pin *p = data;
  int rc = weir_snapshot_begin(p->pool, &p->snapshot, NULL, NULL);
  return rc == WEIR_OK ? p : NULL;
}

/* One after another they would take BEHIND times as long as the first. */
Test(queue_bounds, behind_a_snapshot_in_single_mode_all_hear_busy_together) {
  enum { BEHIND = 12, TIMEOUT_MS = 2000 };
  for (int kind = SINGLE_FILE; kind <= SINGLE_MEMORY; kind++) {
    weir_pool_options options = bounded(0, 0, TIMEOUT_MS);
    store s;
    call calls[BEHIND] = {0};
    cr_assert(eq(int, store_open(&s, kind, &options), WEIR_OK));
    cr_assert(eq(int, store_exec(&s, "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v)"), WEIR_OK));
    struct pin p = {.pool = s.pool};
    pthread_t thread;
    cr_assert(eq(int, pthread_create(&thread, NULL, pin_main, &p), 0));
    cr_assert(eq(int, pthread_join(thread, NULL), 0));
    cr_assert(ne(ptr, p.snapshot, NULL));
    uint64_t begin = uv_hrtime();
    submit(&s, calls, BEHIND, NULL);
    cr_assert(weir_test_loop_run(&s.loop));
    cr_assert(lt(u64, (uv_hrtime() - begin) / 1000000, BEHIND * TIMEOUT_MS / 2));
    for (int i = 0; i < BEHIND; i++)
      check(&calls[i], WEIR_BUSY);
    cr_assert(eq(int, weir_snapshot_end(p.snapshot, NULL), WEIR_OK));
    check_rows(&s, 0);
    closed(&s, kind);
  }
}

/* ---- Everybody hears once ---- */

enum { STORM = 1000 };

static call storm[STORM];

Test(queue_bounds, at_random_everybody_hears_once_and_what_succeeded_is_there) {
  weir_test_rng rng = {weir_test_seed()};
  for (int kind = 0; kind < STORE_KINDS; kind++) {
    weir_pool_options options = bounded(3, 1, -1);
    store s;
    int64_t good = 0;
    call first = {.sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, v)"};
    cr_assert(eq(int, store_open(&s, kind, &options), WEIR_OK));
    cr_assert(eq(int, call_write_now(&s, &first, work_exec), WEIR_OK));
    for (int i = 0; i < STORM; i++) {
      storm[i] = (call){.sql = INSERT};
      storm[i].req.bytes = weir_test_below(&rng, 700);
      storm[i].req.priority = (weir_priority)weir_test_below(&rng, 2);
      storm[i].req.timeout_ms = (int)weir_test_below(&rng, 4);
      cr_assert(eq(int, call_write(&s, &storm[i], work_exec), WEIR_OK));
      if (weir_test_below(&rng, 10) == 0) {
        int rc = weir_req_cancel(&storm[weir_test_below(&rng, (uint64_t)i + 1)].req);
        cr_assert(rc == WEIR_OK || rc == WEIR_BUSY || rc == WEIR_INVALID);
      }
      if (weir_test_below(&rng, 6) == 0)
        cr_assert(call_await(&storm[i]));
    }
    cr_assert(weir_test_loop_run(&s.loop));
    for (int i = 0; i < STORM; i++) {
      const call *c = &storm[i];
      cr_assert(eq(int, c->done, 1), "call %d", i);
      cr_assert(c->status == WEIR_OK || c->status == WEIR_BUSY || c->status == WEIR_CANCELED ||
                    c->status == WEIR_TIMEOUT,
                "call %d: %s", i, c->req.error.message);
      good += c->status == WEIR_OK;
    }
    check_rows(&s, good);
    cr_assert(gt(i64, good, 0));
    closed(&s, kind);
  }
}
