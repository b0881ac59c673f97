/* Reads with the option one_statement, which have no BEGIN and COMMIT: what they see, and what they leave. */
#include <sqlite3.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support.h"
#include "threads.h"

TestSuite(one_statement, .timeout = 60);

static const weir_txn_options one = {.size = sizeof one, .one_statement = 1};

static weir_pool *opened(int kind) {
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
  cr_assert(
      eq(int,
         sql_write(weir_pool_auto(pool), CREATE_T ";DELETE FROM t;INSERT INTO t VALUES(1, 1), (2, 2)", &err),
         WEIR_OK),
      "%s", err.message);
  return pool;
}

/* Steps to the first row of t, passes the latch, asks by another statement, and steps on. */
typedef struct look {
  latch wait;
  int64_t rows, counted;
  int leave; /* 1: at the first row */
} look;

static int look_on(weir_txn *txn, void *data, weir_error *err) {
  look *l = data;
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT id FROM t ORDER BY id"), &stmt, err);
  if (rc != WEIR_OK)
    return rc;
  int step = sqlite3_step(stmt);
  l->rows = step == SQLITE_ROW;
  latch_pass(&l->wait);
  rc = sql_int(txn, "SELECT count(*) FROM t", &l->counted, err);
  if (l->leave || rc != WEIR_OK)
    return rc;
  while (step == SQLITE_ROW && (step = sqlite3_step(stmt)) == SQLITE_ROW)
    l->rows++;
  weir_txn_release(txn, stmt);
  return weir_txn_check(txn, step, err);
}

Test(one_statement, others_see_its_snapshot_while_it_has_a_row) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    for (int leave = 0; leave < 2; leave++) {
      weir_pool *pool = opened(kind);
      look l = {.wait = LATCH_INIT, .leave = leave};
      task reader = {.in = weir_pool_auto(pool), .fn = look_on, .data = &l, .options = &one};
      task writer = {.in = weir_pool_auto(pool),
                     .fn = exec_fn,
                     .data = (void *)"INSERT INTO t VALUES(3, 3)",
                     .write = 1};
      cr_assert(eq(int, task_start(&reader), 0));
      cr_assert(latch_await(&l.wait, 1));
      cr_assert(eq(int, task_start(&writer), 0));
      if (kind == POOL_FILE) /* the write does not wait for the read */
        cr_assert(eq(int, task_join(&writer), WEIR_OK));
      else
        cr_assert(stats_await(pool, a_read_waits)); /* for the connection, that is */
      latch_open(&l.wait);
      cr_assert(eq(int, task_join(&reader), WEIR_OK), "%s", reader.error.message);
      if (kind != POOL_FILE)
        cr_assert(eq(int, task_join(&writer), WEIR_OK));
      cr_assert(eq(i64, l.rows, leave ? 1 : 2));
      cr_assert(eq(i64, l.counted, 2));

      /* what comes after sees the write, on the same connection as well */
      look again = {.wait = LATCH_INIT};
      latch_open(&again.wait);
      cr_assert(eq(int, weir_read(weir_pool_auto(pool), look_on, &again, &one, NULL), WEIR_OK));
      cr_assert(eq(i64, again.rows, 3));
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    }
  }
}

static int write_in(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  return weir_txn_exec(txn, "DELETE FROM t", err);
}

static int nest_write(weir_txn *txn, void *data, weir_error *err) {
  return weir_write(txn, write_in, data, NULL, err);
}

Test(one_statement, does_not_write) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    int64_t rows = 0;
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), write_in, NULL, &one, NULL), WEIR_MISUSE));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), nest_write, NULL, &one, NULL), WEIR_MISUSE));
    cr_assert(eq(int, sql_int(weir_pool_auto(pool), "SELECT count(*) FROM t", &rows, NULL), WEIR_OK));
    cr_assert(eq(i64, rows, 2));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int run_endless(weir_txn *txn, void *data, weir_error *err) {
  return sql_int(txn, ENDLESS_SQL, data, err);
}

Test(one_statement, is_cut_at_its_deadline) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    weir_txn_options options = one;
    int64_t rows = 0;
    options.deadline_ms = 20;
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), run_endless, &rows, &options, NULL), WEIR_TIMEOUT));
    cr_assert(eq(int, sql_int(weir_pool_auto(pool), "SELECT count(*) FROM t", &rows, NULL), WEIR_OK));
    cr_assert(eq(i64, rows, 2));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
