/* The write lane: order, limits, and that whatever ends a write leaves the lane to the next one. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

#include <sqlite3.h>

#include "internal.h"
#include "lane.h"
#include "threads.h"

TestSuite(lane, .timeout = 120);

static weir_pool *opened(int kind, unsigned checkpoint_pages, unsigned queue_max) {
  weir_pool *pool = NULL;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
  options.checkpoint_pages = checkpoint_pages;
  options.queue_max = queue_max;
  options.numbered = 1;
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  return pool;
}

static task writing(weir_pool *pool, weir_txn_fn fn, void *data) {
  return (task){.in = weir_pool_auto(pool), .fn = fn, .data = data, .write = 1};
}

/* Starts a write that has the lane until the latch is opened. */
static void hold_lane(task *holder, weir_pool *pool, latch *l) {
  *holder = writing(pool, latch_fn, l);
  cr_assert(eq(int, task_start(holder), 0));
  cr_assert(latch_await(l, 1));
}

static void release_lane(task *holder, latch *l) {
  latch_open(l);
  cr_assert(eq(int, task_join(holder), WEIR_OK));
}

/* A write of the number `v`, which tells its rev. */
struct insert {
  int v;
  int fails; /* 1: after the row was written */
  int64_t rev;
};

static int insert_fn(weir_txn *txn, void *data, weir_error *err) {
  struct insert *insert = data;
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("INSERT INTO t(v) VALUES(?1)"), &stmt, err);
  if (rc == WEIR_OK)
    rc = weir_txn_check(txn, sqlite3_bind_int(stmt, 1, insert->v), err);
  if (rc == WEIR_OK)
    rc = weir_txn_check(txn, sqlite3_step(stmt), err);
  if (rc == WEIR_OK)
    rc = weir_txn_rev(txn, &insert->rev, err);
  return rc == WEIR_OK && insert->fails ? weir_fail(err, WEIR_INVALID, "on purpose") : rc;
}

/* ---- Order ---- */

/* An asynchronous write, as pool/async.c submits it. */
struct async_insert {
  weir__job job; /* first */
  weir_error error;
  atomic_int ended;
};

static void finish(weir__job *job) {
  atomic_store(&((struct async_insert *)job)->ended, 1);
}

static int has_ended(void *data) {
  return atomic_load(&((struct async_insert *)data)->ended);
}

Test(lane, writers_commit_in_the_order_in_which_they_queued_also_asynchronous_ones) {
  enum { WRITERS = 32 };
  for (int round = 0; round < 2 * POOL_KINDS; round++) {
    latch l = LATCH_INIT;
    /* With one page a checkpoint is due at once: the lane's thread takes over, and runs the writes. */
    weir_pool *pool = opened(round / 2, round % 2, 0);
    task holder, tasks[WRITERS];
    struct async_insert asyncs[WRITERS];
    struct insert first = {.v = -1}, inserts[WRITERS];
    int over = 0;
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), insert_fn, &first, NULL, NULL), WEIR_OK));
    hold_lane(&holder, pool, &l);
    for (int i = 0; i < WRITERS; i++) {
      inserts[i] = (struct insert){.v = i, .fails = i % 4 == 3};
      tasks[i] = writing(pool, insert_fn, &inserts[i]);
      asyncs[i] = (struct async_insert){.job = {.fn = insert_fn, .data = &inserts[i], .finish = finish}};
      asyncs[i].job.error = &asyncs[i].error;
      if (i % 5 < 3)
        cr_assert(task_start_queued(&tasks[i], pool, (unsigned)i + 1));
      else
        cr_assert(eq(int, weir__lane_submit(pool, &asyncs[i].job, &over), WEIR_OK));
    }
    release_lane(&holder, &l);
    int64_t rev = first.rev;
    for (int i = 0; i < WRITERS; i++) {
      cr_assert(i % 5 < 3 || weir_test_wait(has_ended, &asyncs[i], WEIR_TEST_WAIT_MS));
      int rc = i % 5 < 3 ? task_join(&tasks[i]) : asyncs[i].job.rc;
      cr_assert(eq(int, rc, inserts[i].fails ? WEIR_INVALID : WEIR_OK));
      rev += !inserts[i].fails; /* a failed write's number is the next one's */
      cr_assert(eq(i64, inserts[i].rev, inserts[i].fails ? rev + 1 : rev));
    }
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t WHERE v % 4 = 3"), 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t WHERE v >= 0"), WRITERS * 3 / 4));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t a JOIN t b ON a.id < b.id AND a.v > b.v"), 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    (void)remove(pool_path(round / 2));
  }
}

/* ---- Many writers ---- */

enum { CROWD = 32, INCREMENTS = TEST_IS_SLOW ? 10 : 60 };

struct crowd {
  weir_pool *pool;
  char seen[CROWD * INCREMENTS + 1]; /* by rev; a rev is one thread's */
  faults faults;
};

/* Reads and then writes: increments are lost if two of these overlap. */
static int increment_fn(weir_txn *txn, void *data, weir_error *err) {
  int64_t value = 0;
  char sql[64];
  int rc = sql_int(txn, "SELECT v FROM t WHERE id = 1", &value, err);
  (void)snprintf(sql, sizeof sql, "UPDATE t SET v = %lld WHERE id = 1", (long long)value + 1);
  rc = rc == WEIR_OK ? weir_txn_exec(txn, sql, err) : rc;
  return rc == WEIR_OK ? weir_txn_rev(txn, data, err) : rc;
}

static void increment(int index, void *data) {
  struct crowd *c = data;
  int64_t last = 0;
  for (int i = 0; i < INCREMENTS; i++) {
    weir_error err = WEIR_ERROR_INIT;
    int64_t rev = 0;
    int rc = weir_write(weir_pool_auto(c->pool), increment_fn, &rev, NULL, &err);
    if (rc != WEIR_OK)
      fault(&c->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
    else if (rev <= last || rev > CROWD * INCREMENTS || c->seen[rev]++)
      fault(&c->faults, "thread %d: rev %lld after %lld", index, (long long)rev, (long long)last);
    last = rev;
  }
}

Test(lane, thirty_two_threads_that_write_lose_no_write_and_no_number) {
  static struct crowd c;
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    c = (struct crowd){.pool = opened(kind, 0, 0)};
    cr_assert(eq(int, sql_write(weir_pool_auto(c.pool), "INSERT INTO t VALUES(1, 0)", NULL), WEIR_OK));
    uint64_t before = stats_of(c.pool).writes;
    cr_assert(together(CROWD, increment, &c));
    cr_assert(eq(int, atomic_load(&c.faults.count), 0), "%s", c.faults.first);
    cr_assert(eq(i64, int_of(c.pool, "SELECT v FROM t"), CROWD * INCREMENTS));
    cr_assert(eq(u64, stats_of(c.pool).writes - before, CROWD * INCREMENTS));
    cr_assert(eq(u64, stats_of(c.pool).rollbacks, 0));
    cr_assert(eq(int, weir_pool_close(c.pool, NULL), WEIR_OK));
  }
}

/* ---- Limits ---- */

Test(lane, a_write_that_times_out_in_the_queue_leaves_it_and_is_never_run) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    latch l = LATCH_INIT;
    weir_pool *pool = opened(kind, 0, 0);
    task holder, queued[3];
    struct insert inserts[3] = {{.v = 0}, {.v = 1}, {.v = 2}};
    weir_txn_options hasty = WEIR_TXN_OPTIONS_INIT, at_once = WEIR_TXN_OPTIONS_INIT;
    hasty.timeout_ms = 20;
    at_once.timeout_ms = -1;
    hold_lane(&holder, pool, &l);
    for (int i = 0; i < 3; i++) {
      queued[i] = writing(pool, insert_fn, &inserts[i]);
      queued[i].options = i == 1 ? &hasty : NULL;
      cr_assert(eq(int, task_start(&queued[i]), 0));
      cr_assert(i == 1 ? task_join(&queued[i]) == WEIR_BUSY : await_queued(pool, i == 0 ? 1 : 2));
    }
    cr_assert(eq(int, queued[1].error.code, WEIR_BUSY));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, &at_once, NULL), WEIR_BUSY));
    cr_assert(await_queued(pool, 2));
    release_lane(&holder, &l);
    cr_assert(eq(int, task_join(&queued[0]), WEIR_OK));
    cr_assert(eq(int, task_join(&queued[2]), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t WHERE v = 1"), 0));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, &at_once, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* In single mode a write that has the lane may still have to wait for the connection. */
Test(lane, the_timeout_and_the_token_of_a_write_hold_while_it_waits_for_a_read_to_end) {
  for (int kind = 0; kind < POOL_FILE; kind++) {
    latch l = LATCH_INIT;
    weir_pool *pool = opened(kind, 0, 0);
    task reader = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &l};
    weir_token token = {0};
    weir_txn_options at_once = WEIR_TXN_OPTIONS_INIT, hasty = at_once, cancelable = at_once;
    at_once.timeout_ms = -1;
    hasty.timeout_ms = 20;
    cancelable.token = &token;
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(latch_await(&l, 1));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, &at_once, NULL), WEIR_BUSY));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, &hasty, NULL), WEIR_BUSY));
    task writer = writing(pool, nothing_fn, NULL);
    writer.options = &cancelable;
    cr_assert(task_start_waiting(&writer, pool, 1));
    cr_assert(eq(int, weir_cancel(pool, &token), WEIR_OK));
    cr_assert(eq(int, task_join(&writer), WEIR_CANCELED));
    cr_assert(not(task_ended(&reader)));
    latch_open(&l);
    cr_assert(eq(int, task_join(&reader), WEIR_OK));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, &at_once, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Failures ---- */

/* SQL that fails, each in its own way, and what its writer is told. */
static const struct failure {
  const char *sql;
  int code;
} failures[] = {
    {"INSERT INTO t(v) VALUES(-1); SELECT nonsense", WEIR_SQL},
    {"INSERT INTO t(v) VALUES(-1); INSERT INTO t(id) VALUES(1)", WEIR_CONSTRAINT},
    {"INSERT INTO t(v) VALUES(-1); INSERT OR ROLLBACK INTO t(id) VALUES(1)", WEIR_CONSTRAINT},
    {"INSERT INTO t(v) VALUES(-1); INSERT INTO child VALUES(999)", WEIR_CONSTRAINT}, /* at COMMIT */
    {"INSERT INTO t(v) VALUES(-1); COMMIT", WEIR_MISUSE},
};

Test(lane, a_write_or_a_commit_that_fails_leaves_the_lane_to_the_next) {
  enum { FAILURES = sizeof failures / sizeof failures[0] };
  for (int round = 0; round < 2 * POOL_KINDS; round++) {
    latch l = LATCH_INIT;
    weir_pool *pool = opened(round / 2, round % 2, 0);
    weir_txn *in = weir_pool_auto(pool);
    task holder, bad[FAILURES], good[FAILURES];
    cr_assert(eq(int, sql_write(in, "CREATE TABLE child(p REFERENCES t DEFERRABLE INITIALLY DEFERRED)", NULL),
                 WEIR_OK));
    cr_assert(eq(int, sql_write(in, "INSERT INTO t VALUES(1, 0)", NULL), WEIR_OK));
    hold_lane(&holder, pool, &l);
    for (unsigned i = 0; i < FAILURES; i++) {
      bad[i] = writing(pool, exec_fn, (void *)failures[i].sql);
      cr_assert(task_start_queued(&bad[i], pool, 2 * i + 1));
      good[i] = writing(pool, exec_fn, (void *)"UPDATE t SET v = v + 1 WHERE id = 1");
      cr_assert(task_start_queued(&good[i], pool, 2 * i + 2));
    }
    release_lane(&holder, &l);
    for (int i = 0; i < FAILURES; i++) {
      cr_assert(eq(int, task_join(&bad[i]), failures[i].code), "%s", failures[i].sql);
      cr_assert(eq(int, bad[i].error.code, failures[i].code), "%s", failures[i].sql);
      cr_assert(eq(int, task_join(&good[i]), WEIR_OK), "after %s", failures[i].sql);
    }
    cr_assert(eq(i64, int_of(pool, "SELECT v FROM t WHERE id = 1"), FAILURES));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1)); /* failures leave no trace */
    cr_assert(eq(u64, stats_of(pool).rollbacks, FAILURES));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    (void)remove(pool_path(round / 2));
  }
}
