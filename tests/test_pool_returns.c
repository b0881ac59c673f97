/* How transactions end when something is wrong, and that a connection comes back from them clean: no
 * transaction, no statement in progress, no snapshot. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_returns, .timeout = 60);

static weir_pool *opened(int kind, const char *sql, const weir_pool_options *options) {
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, pool_open(&pool, kind, options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), sql, &err), WEIR_OK), "%s", err.message);
  return pool;
}

/* Writes work, and the reader's connection (the only one) sees them at once. */
static void expect_clean(weir_pool *pool) {
  weir_error err = WEIR_ERROR_INIT;
  for (int i = 0; i < 3; i++) {
    int64_t before = int_of(pool, "SELECT count(*) FROM t");
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t(v) VALUES(0)", &err), WEIR_OK), "%s",
              err.message);
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), before + 1));
  }
  cr_assert(eq(u64, stats_of(pool).replaced, 0));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), "DELETE FROM t WHERE v=0", NULL), WEIR_OK));
}

/* ---- SQLite ends the transaction by itself ---- */

typedef struct ended {
  const char *sql;                                  /* ends it */
  int code, ignore;                                 /* what that returns; ignore it? */
  int prepare, exec, nested, held, held_autocommit; /* what came of going on */
} ended;

static int nothing(weir_txn *txn, void *data, weir_error *err) {
  (void)txn, (void)data, (void)err;
  return WEIR_OK;
}

static int go_on_after_the_end(weir_txn *txn, void *data, weir_error *err) {
  ended *e = data;
  sqlite3_stmt *held = NULL, *stmt = NULL;
  int rc = weir_txn_exec(txn, "INSERT INTO t VALUES(10, 'early')", err);
  if (rc == WEIR_OK)
    rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("INSERT INTO t VALUES(11, 'held')"), &held, err);
  if (rc != WEIR_OK)
    return rc;
  weir_error own = WEIR_ERROR_INIT;
  e->code = weir_txn_exec(txn, e->sql, &own);
  e->prepare = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("INSERT INTO t VALUES(12, 'late')"), &stmt, &own);
  e->exec = weir_txn_exec(txn, "INSERT INTO t VALUES(13, 'late')", &own);
  e->nested = weir_write(txn, nothing, NULL, NULL, &own);
  e->held = weir_txn_check(txn, sqlite3_step(held), &own);
  (void)sqlite3_exec(weir_txn_db(txn), "INSERT INTO t VALUES(14, 'past the pool')", NULL, NULL, NULL);
  return e->ignore ? WEIR_OK : weir_fail(err, e->code, "SQLite has ended it");
}

Test(pool_returns, write_whose_transaction_sqlite_ended_fails_and_nothing_of_it_is_kept) {
  static const char *const endings[] = {"INSERT OR ROLLBACK INTO t VALUES(1, 'again')",
                                        "UPDATE OR ROLLBACK t SET id=1 WHERE id=10",
                                        "INSERT INTO refusing VALUES(1)"};
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind,
                             CREATE_T ";INSERT INTO t VALUES(1, 'one'); CREATE TABLE refusing(x);"
                                      "CREATE TRIGGER refuse BEFORE INSERT ON refusing BEGIN"
                                      " SELECT RAISE(ROLLBACK, 'refused'); END",
                             NULL);
    for (int i = 0; i < 6; i++) {
      ended e = {.sql = endings[i / 2], .ignore = i % 2};
      weir_error err = WEIR_ERROR_INIT;
      int rc = weir_write(weir_pool_auto(pool), go_on_after_the_end, &e, NULL, &err);
      cr_assert(eq(int, e.code, WEIR_CONSTRAINT));
      cr_assert(eq(int, rc, e.ignore ? WEIR_SQL : WEIR_CONSTRAINT), "%s", err.message);
      cr_assert(eq(int, err.code, rc));
      cr_assert(e.ignore == 0 || strstr(err.message, "rolled the transaction back"), "%s", err.message);
      cr_assert(eq(int, e.prepare, WEIR_MISUSE));
      cr_assert(eq(int, e.exec, WEIR_MISUSE));
      cr_assert(eq(int, e.nested, WEIR_MISUSE));
      cr_assert(ne(int, e.held, WEIR_OK));
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
      expect_clean(pool);
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_returns, rows_that_a_failed_statement_left_are_undone) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, CREATE_T ";INSERT INTO t VALUES(3, 3)", NULL);
    weir_error err = WEIR_ERROR_INIT;
    const char *sql = "INSERT OR FAIL INTO t VALUES(1,1),(2,2),(3,3),(4,4)";
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), sql, &err), WEIR_CONSTRAINT));
    cr_assert(eq(int, err.sqlite_code, SQLITE_CONSTRAINT_PRIMARYKEY));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    expect_clean(pool);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_returns, deferred_foreign_key_violation_fails_the_write_at_commit_and_blocks_nobody) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool =
        opened(kind, CREATE_T ";CREATE TABLE child(t REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED)", NULL);
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(
        eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO child VALUES(99)", &err), WEIR_CONSTRAINT));
    cr_assert(eq(int, err.sqlite_code, SQLITE_CONSTRAINT_FOREIGNKEY));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM child"), 0));
    expect_clean(pool);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- What user code leaves behind ---- */

/* Leaves statements in the middle of their rows: one of the pool's, one that it prepared by itself. */
static int leave_statements(weir_txn *txn, void *data, weir_error *err) {
  sqlite3_stmt *stmt = NULL, *own = NULL;
  (void)data;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT * FROM t"), &stmt, err);
  if (rc != WEIR_OK)
    return rc;
  if (sqlite3_step(stmt) != SQLITE_ROW ||
      sqlite3_prepare_v2(weir_txn_db(txn), "SELECT v FROM t", -1, &own, NULL) != SQLITE_OK ||
      sqlite3_step(own) != SQLITE_ROW)
    return weir_fail(err, WEIR_SQL, "no row");
  return weir_txn_writes(txn) ? weir_txn_exec(txn, "INSERT INTO t(v) VALUES('kept')", err) : WEIR_OK;
}

Test(pool_returns, statement_that_was_not_reset_holds_no_snapshot_after_the_transaction) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = {.size = sizeof options, .readers = 1};
    weir_pool *pool = opened(kind, CREATE_T ";INSERT INTO t VALUES(1,1),(2,2),(3,3)", &options);
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), leave_statements, NULL, NULL, NULL), WEIR_OK));
    expect_clean(pool);
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), leave_statements, NULL, NULL, NULL), WEIR_OK));
    expect_clean(pool);
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 4));
    if (kind != SINGLE_MEMORY) { /* a checkpoint that needs every snapshot gone gets through */
      sqlite3 *other = NULL;
      int pages = -1, copied = -1;
      cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
      cr_assert(eq(int, sqlite3_exec(other, "SELECT * FROM t", NULL, NULL, NULL), SQLITE_OK));
      cr_assert(eq(int, sqlite3_wal_checkpoint_v2(other, NULL, SQLITE_CHECKPOINT_TRUNCATE, &pages, &copied),
                   SQLITE_OK));
      cr_assert(eq(int, pages, 0));
      cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK)); /* in spite of the statements */
    cr_assert(eq(int, descriptors_of(weir_test_dir()), 0));
  }
}

/* Transaction control that does not go through weir_txn_exec. */
static int control_past_the_pool(weir_txn *txn, void *data, weir_error *err) {
  static const char *const control[] = {"COMMIT",      "ROLLBACK",     "BEGIN",
                                        "SAVEPOINT s", "RELEASE weir", "ROLLBACK TO weir"};
  int *bad = data;
  for (size_t i = 0; i < sizeof control / sizeof control[0]; i++) {
    int code = sqlite3_exec(weir_txn_db(txn), control[i], NULL, NULL, NULL);
    weir_error own = WEIR_ERROR_INIT;
    *bad += code != SQLITE_AUTH || weir_txn_check(txn, code, &own) != WEIR_MISUSE ||
            own.sqlite_code != SQLITE_AUTH;
  }
  return weir_txn_writes(txn) ? weir_txn_exec(txn, "INSERT INTO t(v) VALUES('kept')", err) : WEIR_OK;
}

Test(pool_returns, transaction_control_past_the_pool_is_refused_and_none_is_left_open) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = {.size = sizeof options, .readers = 1};
    weir_pool *pool = opened(kind, CREATE_T, &options);
    int bad = 0;
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), control_past_the_pool, &bad, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), control_past_the_pool, &bad, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, bad, 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    expect_clean(pool);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Another owner of the file's write lock ---- */

static int busy_seen(const weir_pool_stats *stats) {
  return stats->busy > 0;
}

Test(pool_returns, write_waits_for_the_lock_of_another_connection_and_gives_up_after_busy_timeout) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool *pool = opened(kind, CREATE_T, NULL);
    sqlite3 *other = NULL;
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
    cr_assert(eq(int, sqlite3_exec(other, "BEGIN IMMEDIATE; INSERT INTO t VALUES(1, 1)", NULL, NULL, NULL),
                 SQLITE_OK));
    task writer = {
        .in = weir_pool_auto(pool), .fn = exec_fn, .data = (void *)"INSERT INTO t VALUES(2, 2)", .write = 1};
    cr_assert(eq(int, task_start(&writer), 0));
    cr_assert(stats_await(pool, busy_seen));
    cr_assert(eq(int, sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, task_join(&writer), WEIR_OK), "%s", writer.error.message);
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));

    weir_pool_options options = {.size = sizeof options, .busy_timeout_ms = 20};
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    cr_assert(eq(int, sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(3, 3)", &err), WEIR_BUSY));
    cr_assert(eq(int, err.sqlite_code, SQLITE_BUSY));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2)); /* reads go on */
    cr_assert(eq(int, sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK));
    expect_clean(pool);
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
