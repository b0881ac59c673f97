/* weir_pool_close: what it waits for, what it ends, what it leaves. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_close, .timeout = 60);

static weir_pool *opened(int kind, int close_timeout_ms) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options, .readers = 2, .close_timeout_ms = close_timeout_ms};
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  return pool;
}

/* weir_pool_close on a thread of its own. */
typedef struct closer {
  weir_pool *pool;
  int rc;
  weir_error error;
  atomic_int ended;
  pthread_t thread;
} closer;

static void *closer_main(void *data) {
  closer *c = data;
  c->rc = weir_pool_close(c->pool, &c->error);
  atomic_store(&c->ended, 1);
  return NULL;
}

/* Asked on another thread, since this one may be inside a snapshot. */
static int refuses_work(void *data) {
  const weir_txn_options no_wait = {.size = sizeof no_wait, .timeout_ms = -1};
  task t = {.in = weir_pool_auto(data), .fn = nothing_fn, .options = &no_wait};
  return task_start(&t) == 0 && task_join(&t) == WEIR_CLOSED;
}

/* Starts it and waits until the pool refuses new work. */
static void start(closer *c, weir_pool *pool) {
  c->pool = pool;
  atomic_store(&c->ended, 0);
  cr_assert(eq(int, pthread_create(&c->thread, NULL, closer_main, c), 0));
  cr_assert(weir_test_wait(refuses_work, pool, WEIR_TEST_WAIT_MS));
}

static int join(closer *c) {
  (void)pthread_join(c->thread, NULL);
  return c->rc;
}

/* Every call that begins something is refused. */
static void expect_closed(weir_pool *pool) {
  weir_error err = WEIR_ERROR_INIT;
  weir_txn *snapshot = (weir_txn *)&snapshot;
  cr_assert(eq(int, weir_read(weir_pool_auto(pool), nothing_fn, NULL, NULL, &err), WEIR_CLOSED));
  cr_assert(eq(int, err.code, WEIR_CLOSED));
  err = (weir_error)WEIR_ERROR_INIT;
  cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, NULL, &err), WEIR_CLOSED));
  cr_assert(eq(int, err.code, WEIR_CLOSED));
  cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, &err), WEIR_CLOSED));
  cr_assert(eq(ptr, snapshot, NULL));
}

Test(pool_close, of_null_does_nothing) {
  cr_assert(eq(int, weir_pool_close(NULL, NULL), WEIR_OK));
  weir_error err = {.code = 7};
  cr_assert(eq(int, weir_pool_close(NULL, &err), WEIR_OK));
  cr_assert(eq(int, err.code, 7));
}

Test(pool_close, leaves_one_file_with_all_that_was_committed_and_no_descriptor) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    const char *path = pool_path(kind);
    weir_pool *pool = opened(kind, 0);
    latch both = LATCH_INIT;
    task readers[2];
    for (int i = 0; i < 2; i++) { /* so that all readers are open, and were opened before the last write */
      readers[i] = (task){.in = weir_pool_auto(pool), .fn = latch_fn, .data = &both};
      cr_assert(eq(int, task_start(&readers[i]), 0));
    }
    cr_assert(latch_await(&both, kind == POOL_FILE ? 2 : 1));
    latch_open(&both);
    for (int i = 0; i < 2; i++)
      cr_assert(eq(int, task_join(&readers[i]), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(1, 1)", NULL), WEIR_OK));
    cr_assert(file_exists(path, "-wal"));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(file_exists(path, ""));
    cr_assert(not(file_exists(path, "-wal")));
    cr_assert(not(file_exists(path, "-shm")));
    cr_assert(eq(int, descriptors_of(weir_test_dir()), 0));
    sqlite3 *other = NULL; /* no lock is left either */
    cr_assert(eq(int, sqlite3_open(path, &other), SQLITE_OK));
    cr_assert(eq(int, sqlite3_exec(other, "BEGIN EXCLUSIVE; SELECT v FROM t; COMMIT", NULL, NULL, NULL),
                 SQLITE_OK));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_close, succeeds_while_another_connection_reads_and_the_log_stays_whole) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool *pool = opened(kind, 0);
    sqlite3 *other = NULL;
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
    cr_assert(eq(int, sqlite3_exec(other, "BEGIN; SELECT count(*) FROM t", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(1, 1)", NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(eq(int, sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int close_inside(weir_txn *txn, void *data, weir_error *err) {
  *(int *)data = weir_pool_close(weir_txn_pool(txn), err);
  return WEIR_OK;
}

Test(pool_close, is_misuse_inside_a_transaction_and_closes_nothing) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 0);
    for (int write = 0; write < 2; write++) {
      int rc = 0;
      weir_error err = WEIR_ERROR_INIT;
      cr_assert(eq(int, (write ? weir_write : weir_read)(weir_pool_auto(pool), close_inside, &rc, NULL, &err),
                   WEIR_OK));
      cr_assert(eq(int, rc, WEIR_MISUSE));
      cr_assert(eq(int, err.code, WEIR_MISUSE));
    }
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(1, 1)", NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_close, is_busy_while_a_snapshot_is_open_and_can_be_repeated_after_its_end) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 20);
    weir_txn *snapshot = NULL;
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
    for (int i = 0; i < 2; i++) {
      closer c;
      start(&c, pool);
      cr_assert(eq(int, join(&c), WEIR_BUSY));
      cr_assert(eq(int, c.error.code, WEIR_BUSY));
      cr_assert(ne(ptr, strstr(c.error.message, "1 "), NULL), "%s", c.error.message);
    }
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    expect_closed(pool); /* it stays closing */
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(not(file_exists(pool_path(kind), "-wal")));
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_close, waits_for_a_transaction_to_end_and_refuses_new_ones_and_a_second_close_meanwhile) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    for (int write = 0; write < 2; write++) {
      weir_pool *pool = opened(kind, WEIR_TEST_WAIT_MS);
      latch l = LATCH_INIT;
      task running = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &l, .write = write};
      closer first;
      weir_error err = WEIR_ERROR_INIT;
      cr_assert(eq(int, task_start(&running), 0));
      cr_assert(latch_await(&l, 1));
      start(&first, pool);
      expect_closed(pool);
      cr_assert(eq(int, weir_pool_close(pool, &err), WEIR_CLOSED));
      cr_assert(eq(int, err.code, WEIR_CLOSED));
      cr_assert(eq(int, atomic_load(&first.ended), 0));
      latch_open(&l);
      cr_assert(eq(int, task_join(&running), WEIR_OK));
      cr_assert(eq(int, join(&first), WEIR_OK), "%s", first.error.message);
    }
  }
}

static int endless(weir_txn *txn, void *data, weir_error *err) {
  int64_t never = 0;
  latch_pass(data);
  return sql_int(txn, ENDLESS_SQL, &never, err);
}

Test(pool_close, interrupts_a_read_that_outlasts_its_patience) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    for (int patience = -1; patience <= 20; patience += 21) {
      weir_pool *pool = opened(kind, patience);
      latch l = LATCH_INIT;
      weir_error err = WEIR_ERROR_INIT;
      task reader = {.in = weir_pool_auto(pool), .fn = endless, .data = &l};
      cr_assert(eq(int, task_start(&reader), 0));
      cr_assert(latch_await(&l, 1));
      latch_open(&l);
      int rc = weir_pool_close(pool, &err);
      while (rc == WEIR_BUSY) /* on a very busy machine */
        rc = weir_pool_close(pool, &err);
      cr_assert(eq(int, rc, WEIR_OK), "%s", err.message);
      cr_assert(eq(int, task_join(&reader), WEIR_CLOSED));
      cr_assert(eq(int, reader.error.code, WEIR_CLOSED));
    }
  }
}

Test(pool_close, lets_queued_writes_run_in_time_and_cancels_them_after_it) {
  enum { QUEUED = 5 };
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    for (int late = 0; late < 2; late++) {
      weir_pool *pool = opened(kind, late ? 20 : WEIR_TEST_WAIT_MS);
      latch l = LATCH_INIT;
      closer c;
      task running = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &l, .write = 1}, queued[QUEUED];
      cr_assert(eq(int, task_start(&running), 0));
      cr_assert(latch_await(&l, 1));
      for (int i = 0; i < QUEUED; i++) {
        queued[i] = (task){.in = weir_pool_auto(pool),
                           .fn = exec_fn,
                           .data = (void *)"INSERT INTO t(v) VALUES(1)",
                           .write = 1};
        cr_assert(task_start_queued(&queued[i], pool, (unsigned)i + 1));
      }
      start(&c, pool);
      if (!late)
        latch_open(&l);
      for (int i = 0; i < QUEUED; i++)
        cr_assert(eq(int, task_join(&queued[i]), late ? WEIR_CANCELED : WEIR_OK), "%s",
                  queued[i].error.message);
      latch_open(&l); /* a write that runs is not cut */
      cr_assert(eq(int, task_join(&running), WEIR_OK));
      int rc = join(&c);
      while (rc == WEIR_BUSY) /* the write ended after close had given up */
        rc = weir_pool_close(pool, NULL);
      cr_assert(eq(int, rc, WEIR_OK));
    }
  }
}

Test(pool_close, ends_those_who_wait_for_a_connection) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 20);
    latch l = LATCH_INIT;
    closer c;
    task running[2], waiting = {.in = weir_pool_auto(pool), .fn = nothing_fn};
    int readers = kind == POOL_FILE ? 2 : 1;
    for (int i = 0; i < readers; i++) {
      running[i] = (task){.in = weir_pool_auto(pool), .fn = latch_fn, .data = &l};
      cr_assert(eq(int, task_start(&running[i]), 0));
    }
    cr_assert(latch_await(&l, readers));
    cr_assert(task_start_waiting(&waiting, pool, 1));
    start(&c, pool);
    cr_assert(eq(int, task_join(&waiting), WEIR_CLOSED));
    latch_open(&l);
    for (int i = 0; i < readers; i++)
      cr_assert(eq(int, task_join(&running[i]), WEIR_OK)); /* they never asked SQLite for anything */
    int rc = join(&c);
    while (rc == WEIR_BUSY)
      rc = weir_pool_close(pool, NULL);
    cr_assert(eq(int, rc, WEIR_OK));
  }
}
