/* A read never turns into a write: not by its snapshot's upgrade, which fails when it is stale, nor in any
 * other way. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_upgrade, .timeout = 60);

static weir_pool *opened(int kind, const char *sql) {
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), sql, &err), WEIR_OK), "%s", err.message);
  return pool;
}

struct upgrade {
  sqlite3 *other; /* commits in between, so that an upgrade would be stale; NULL: none */
  int bad;
};

static int try_to_write(weir_txn *txn, void *data, weir_error *err) {
  static const char *const writing[] = {"INSERT INTO t VALUES(9, 9)",
                                        "UPDATE t SET v=9",
                                        "DELETE FROM t",
                                        "CREATE TABLE x(y)",
                                        "CREATE INDEX i ON t(v)",
                                        "CREATE TEMP TABLE x(y)",
                                        "PRAGMA user_version=9",
                                        "ALTER TABLE t RENAME TO u",
                                        "ANALYZE",
                                        "WITH n(x) AS (SELECT 7) INSERT INTO t SELECT x, x FROM n",
                                        "DROP TABLE t"};
  struct upgrade *u = data;
  int64_t count = 0;
  int rc = sql_int(txn, "SELECT count(*) FROM t", &count, err);
  if (rc != WEIR_OK || (u->other && sqlite3_exec(u->other, "INSERT INTO t(v) VALUES(1)", NULL, NULL, NULL)))
    return weir_fail(err, WEIR_SQL, "the other connection: %s", sqlite3_errmsg(u->other));
  for (size_t i = 0; i < 2 * sizeof writing / sizeof writing[0]; i++) {
    sqlite3_stmt *stmt = NULL;
    weir_error own = WEIR_ERROR_INIT;
    const char *sql = writing[i / 2];
    rc = i % 2 ? weir_txn_exec(txn, sql, &own) : weir_txn_prepare(txn, weir_str(sql), &stmt, &own);
    if (rc != WEIR_MISUSE || stmt || !strstr(own.message, "weir_write")) {
      fprintf(stderr, "%s: %s: %s\n", sql, weir_error_name(rc), own.message);
      u->bad++;
    }
  }
  /* nor does anything stay that goes past the pool */
  for (size_t i = 0; i < sizeof writing / sizeof writing[0]; i++)
    (void)sqlite3_exec(weir_txn_db(txn), writing[i], NULL, NULL, NULL);
  return WEIR_OK;
}

Test(pool_upgrade, statement_that_writes_is_refused_in_a_read_also_when_its_snapshot_is_stale) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, CREATE_T ";INSERT INTO t VALUES(1, 1)");
    struct upgrade u = {NULL, 0};
    for (int stale = 0; stale <= (kind != SINGLE_MEMORY); stale++) {
      if (stale)
        cr_assert(eq(int, sqlite3_open(pool_path(kind), &u.other), SQLITE_OK));
      weir_error err = WEIR_ERROR_INIT;
      (void)weir_read(weir_pool_auto(pool), try_to_write, &u, NULL, &err);
      cr_assert(eq(int, u.bad, 0));
      cr_assert(eq(i64, int_of(pool, "SELECT sum(v) FROM t"), 1 + stale));
      cr_assert(eq(i64, int_of(pool, "PRAGMA user_version"), 0));
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM sqlite_schema"), 1));
    }
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(9, 9)", NULL), WEIR_OK));
    cr_assert(eq(int, sqlite3_close(u.other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
