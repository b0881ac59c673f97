/* Options of a transaction: how long it waits, tokens that cancel it, deadlines, and a full queue. */
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_waiting, .timeout = 60);

static weir_pool *opened(int kind, int acquire_timeout_ms) {
  weir_pool *pool = NULL;
  weir_pool_options options = {
      .size = sizeof options, .readers = 1, .acquire_timeout_ms = acquire_timeout_ms};
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  return pool;
}

/* Takes what a read, or a write, of the pool needs, until the latch opens. */
static task occupy(weir_pool *pool, int write, latch *l) {
  return (task){.in = weir_pool_auto(pool), .fn = latch_fn, .data = l, .write = write};
}

static int must_not_run(weir_txn *txn, void *data, weir_error *err) {
  (void)txn, (void)data;
  return weir_fail(err, WEIR_CORRUPT, "it ran");
}

/* Runs what must not run with `options` while the pool is occupied. */
static int attempt(weir_pool *pool, int write, const weir_txn_options *options, weir_error *err) {
  return (write ? weir_write : weir_read)(weir_pool_auto(pool), must_not_run, NULL, options, err);
}

Test(pool_waiting, is_not_done_at_all_with_a_negative_timeout) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    for (int by_option = 0; by_option < 2; by_option++) { /* of the transaction, or of the pool */
      weir_pool *pool = opened(kind, by_option ? 0 : -1);
      const weir_txn_options no_wait = {.size = sizeof no_wait, .timeout_ms = -1};
      for (int write = 0; write < 2; write++) {
        latch l = LATCH_INIT;
        task owner = occupy(pool, write, &l);
        weir_error err = WEIR_ERROR_INIT;
        cr_assert(eq(int, task_start(&owner), 0));
        cr_assert(latch_await(&l, 1));
        cr_assert(eq(int, attempt(pool, write, by_option ? &no_wait : NULL, &err), WEIR_BUSY));
        cr_assert(eq(int, err.code, WEIR_BUSY));
        if (kind != POOL_FILE) /* the one connection serves both */
          cr_assert(eq(int, attempt(pool, !write, by_option ? &no_wait : NULL, &err), WEIR_BUSY));
        latch_open(&l);
        cr_assert(eq(int, task_join(&owner), WEIR_OK));
      }
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    }
  }
}

Test(pool_waiting, ends_after_the_timeout_of_the_transaction) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 100 * WEIR_TEST_WAIT_MS);
    const weir_txn_options a_moment = {.size = sizeof a_moment, .timeout_ms = 20};
    for (int owner_writes = 0; owner_writes < 2; owner_writes++) {
      latch l = LATCH_INIT;
      task owner = occupy(pool, owner_writes, &l);
      cr_assert(eq(int, task_start(&owner), 0));
      cr_assert(latch_await(&l, 1));
      for (int write = 0; write < 2; write++) {
        weir_error err = WEIR_ERROR_INIT;
        if (kind != POOL_FILE || write == owner_writes)
          cr_assert(eq(int, attempt(pool, write, &a_moment, &err), WEIR_BUSY), "%s", err.message);
      }
      latch_open(&l);
      cr_assert(eq(int, task_join(&owner), WEIR_OK));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_waiting, ends_with_canceled_when_its_token_is_canceled) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 100 * WEIR_TEST_WAIT_MS);
    for (int i = 0; i < 4; i++) {
      int owner_writes = i / 2, write = i % 2;
      if (kind == POOL_FILE && write != owner_writes)
        continue;
      latch l = LATCH_INIT;
      weir_token token = {0}, other = {0};
      const weir_txn_options options = {.size = sizeof options, .token = &token};
      task owner = occupy(pool, owner_writes, &l);
      task waiter = {.in = weir_pool_auto(pool), .fn = must_not_run, .options = &options, .write = write};
      cr_assert(eq(int, task_start(&owner), 0));
      cr_assert(latch_await(&l, 1));
      cr_assert(eq(int, task_start(&waiter), 0));
      cr_assert(stats_await(pool, write && owner_writes ? a_write_is_queued : a_read_waits));
      cr_assert(eq(int, weir_cancel(pool, &other), WEIR_OK)); /* means nobody here */
      cr_assert(eq(int, task_ended(&waiter), 0));
      cr_assert(eq(int, weir_cancel(pool, &token), WEIR_OK));
      cr_assert(eq(int, task_join(&waiter), WEIR_CANCELED));
      cr_assert(eq(int, waiter.error.code, WEIR_CANCELED));
      cr_assert(eq(int, attempt(pool, write, &options, NULL), WEIR_CANCELED)); /* and later uses at once */
      latch_open(&l);
      cr_assert(eq(int, task_join(&owner), WEIR_OK));
      cr_assert(eq(int, attempt(pool, write, &options, NULL),
                   WEIR_CANCELED)); /* also when nothing is to wait for */
      cr_assert(eq(u32, stats_of(pool).readers_waiting + stats_of(pool).writes_queued, 0));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Running transactions ---- */

static int endless(weir_txn *txn, void *data, weir_error *err) {
  latch *l = data;
  if (l)
    latch_pass(l);
  int64_t never = 0;
  return sql_int(txn, ENDLESS_SQL, &never, err);
}

Test(pool_waiting, read_that_runs_is_interrupted_by_its_token_and_its_connection_is_good_after_it) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 0);
    latch l = LATCH_INIT;
    weir_token token = {0};
    const weir_txn_options options = {.size = sizeof options, .token = &token};
    task reader = {.in = weir_pool_auto(pool), .fn = endless, .data = &l, .options = &options};
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(latch_await(&l, 1));
    latch_open(&l);
    cr_assert(eq(int, weir_cancel(pool, &token), WEIR_OK));
    cr_assert(eq(int, task_join(&reader), WEIR_CANCELED));
    cr_assert(eq(int, reader.error.code, WEIR_CANCELED));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0));
    cr_assert(eq(u64, stats_of(pool).replaced, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_waiting, read_that_runs_is_ended_at_its_deadline) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 0);
    const weir_txn_options options = {.size = sizeof options, .deadline_ms = 20};
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), endless, NULL, &options, &err), WEIR_TIMEOUT));
    cr_assert(eq(int, err.code, WEIR_TIMEOUT));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0));
    weir_txn *snapshot = NULL;
    int64_t never = 0;
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, &options, &err), WEIR_OK));
    cr_assert(eq(int, sql_int(snapshot, ENDLESS_SQL, &never, &err), WEIR_TIMEOUT));
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* A write that cancels its own token, and runs beyond its deadline. */
static int canceled_write(weir_txn *txn, void *data, weir_error *err) {
  int64_t number = 0;
  int rc = weir_cancel(weir_txn_pool(txn), data);
  if (rc == WEIR_OK) /* long enough for SQLite to look */
    rc = sql_int(
        txn,
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<200000) SELECT count(*) FROM c",
        &number, err);
  return rc == WEIR_OK ? weir_txn_exec(txn, "INSERT INTO t VALUES(1, 1)", err) : rc;
}

Test(pool_waiting, write_that_runs_is_never_cut) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 0);
    weir_token token = {0};
    weir_error err = WEIR_ERROR_INIT;
    const weir_txn_options options = {.size = sizeof options, .token = &token, .deadline_ms = 1};
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), canceled_write, &token, &options, &err), WEIR_OK),
              "%s", err.message);
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Bad arguments ---- */

Test(pool_waiting, bad_arguments_are_invalid_and_nothing_runs) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 0);
    const weir_txn_options bad[] = {
        {.size = 0}, {.size = sizeof bad[0] + 8}, {.size = sizeof bad[0], .deadline_ms = -1}};
    weir_token token = {0};
    for (int write = 0; write < 2; write++) {
      int (*call)(weir_txn *, weir_txn_fn, void *, const weir_txn_options *, weir_error *) =
          write ? weir_write : weir_read;
      weir_error err = WEIR_ERROR_INIT;
      for (int i = 0; i < 3; i++) {
        cr_assert(eq(int, call(weir_pool_auto(pool), must_not_run, NULL, &bad[i], &err), WEIR_INVALID));
        cr_assert(ne(ptr, strstr(err.message, i < 2 ? "size" : "deadline_ms"), NULL));
      }
      cr_assert(eq(int, call(NULL, must_not_run, NULL, NULL, &err), WEIR_INVALID));
      cr_assert(eq(int, call(weir_pool_auto(pool), NULL, NULL, NULL, &err), WEIR_INVALID));
      cr_assert(eq(int, call(NULL, NULL, NULL, NULL, NULL), WEIR_INVALID));
    }
    cr_assert(eq(int, weir_cancel(NULL, &token), WEIR_INVALID));
    cr_assert(eq(int, weir_cancel(pool, NULL), WEIR_INVALID));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
