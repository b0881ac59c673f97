/*
 * A member of a group that fails: it hears its own error, and the others are committed once each, as if it
 * had never run; whether SQLite undoes the statement, or ends the transaction of all of them for it.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "groups.h"
#include "threads.h"

TestSuite(group_failures, .timeout = 200);

/* ---- What every connection has: functions that fail, and no more than PAGES pages ---- */

enum { PAGES = 200 };

static void fail_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_result_error(context, "this function fails", -1);
}

static void interrupt_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  sqlite3_interrupt(sqlite3_context_db_handle(context));
  sqlite3_result_value(context, argv[0]);
}

static int connect_hook(sqlite3 *db, void **local, void *data, weir_error *err) {
  char sql[60];
  (void)local;
  (void)data;
  (void)snprintf(sql, sizeof sql, "PRAGMA max_page_count=%d", PAGES);
  if (sqlite3_create_function(db, "fails", 0, SQLITE_UTF8, NULL, fail_function, NULL, NULL) != SQLITE_OK ||
      sqlite3_create_function(db, "interrupts", 1, SQLITE_UTF8, NULL, interrupt_function, NULL, NULL) !=
          SQLITE_OK ||
      sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
    return weir_fail(err, WEIR_SQL, "%s", sqlite3_errmsg(db));
  return WEIR_OK;
}

static const weir_pool_hooks hooks = {.connect = connect_hook};

static weir_pool *opened(int kind) {
  weir_pool *pool = NULL;
  weir_pool_options options = group_options();
  options.hooks = &hooks;
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int,
               sql_write(weir_pool_auto(pool),
                         CREATE_T "; CREATE TABLE child(p REFERENCES t DEFERRABLE INITIALLY DEFERRED);"
                                  "CREATE TABLE trap(x); CREATE TRIGGER snap BEFORE INSERT ON trap BEGIN "
                                  "SELECT RAISE(ROLLBACK, 'snapped'); END;"
                                  "INSERT INTO t VALUES(1, 0)",
                         NULL),
               WEIR_OK));
  return pool;
}

/* ---- Ways to fail ---- */

/* Goes on after an error for which SQLite has rolled back: in autocommit, if nobody minds. */
static int ignore_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)err;
  sqlite3 *db = weir_txn_db(txn);
  (void)sqlite3_exec(db, data, NULL, NULL, NULL);
  (void)sqlite3_exec(db, "INSERT INTO t(id) VALUES(901)", NULL, NULL, NULL);
  return WEIR_OK;
}

/* Goes past the pool. */
static int raw_fn(weir_txn *txn, void *data, weir_error *err) {
  return weir_txn_check(txn, sqlite3_exec(weir_txn_db(txn), data, NULL, NULL, NULL), err);
}

static int late_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)weir_txn_exec(txn, data, err);
  return weir_fail(err, WEIR_INVALID, "on purpose");
}

#define TEN(what)                                                                                            \
  "WITH RECURSIVE c(x) AS (SELECT 900 UNION ALL SELECT x + 1 FROM c WHERE x < 910) " what " FROM c"

static const struct failure {
  weir_txn_fn fn; /* NULL: exec_fn */
  const char *sql;
  int code, sqlite_code;
  const char *message; /* is in it */
  int ends;            /* 1: SQLite ends the transaction */
} failures[] = {
    {NULL, "INSERT INTO t(id) VALUES(1)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE", 0},
    {NULL, "INSERT OR FAIL INTO t(id) VALUES(900), (1)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_PRIMARYKEY,
     "UNIQUE", 0},
    {NULL, "SELECT abs(-9223372036854775807 - 1)", WEIR_SQL, SQLITE_ERROR, "integer overflow", 0},
    {NULL, "SELECT fails()", WEIR_SQL, SQLITE_ERROR, "this function fails", 0},
    {NULL, "INSERT INTO t(id, v) VALUES(900, 1), (901, fails())", WEIR_SQL, SQLITE_ERROR, "function fails",
     0},
    {NULL, "SELECT nonsense", WEIR_SQL, SQLITE_ERROR, "nonsense", 0},
    {NULL, TEN("SELECT interrupts(x)"), WEIR_CANCELED, SQLITE_INTERRUPT, "interrupted", 0},
    {NULL, "INSERT INTO t(id, v) VALUES(900, 1), (901, zeroblob(2000000))", WEIR_FULL, SQLITE_FULL, "full",
     0},
    {NULL, "INSERT INTO child VALUES(999)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_FOREIGNKEY, "foreign key", 0},
    {late_fn, "CREATE TABLE other(x); DELETE FROM t", WEIR_INVALID, 0, "on purpose", 0},
    {NULL, "COMMIT", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "ROLLBACK", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "BEGIN", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "SAVEPOINT x", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "RELEASE weir", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "ROLLBACK TO weir", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "ATTACH ':memory:' AS a", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "PRAGMA synchronous=OFF", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "PRAGMA journal_mode=DELETE", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {NULL, "PRAGMA wal_checkpoint", WEIR_MISUSE, SQLITE_AUTH, "the pool's own", 0},
    {raw_fn, "COMMIT", WEIR_MISUSE, SQLITE_AUTH, "not authorized", 0},
    {raw_fn, "RELEASE weir", WEIR_MISUSE, SQLITE_AUTH, "not authorized", 0},
    {NULL, "INSERT OR ROLLBACK INTO t(id) VALUES(900), (1)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_PRIMARYKEY,
     "UNIQUE", 1},
    {NULL, "INSERT INTO trap VALUES(1)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_TRIGGER, "snapped", 1},
    {NULL, "INSERT INTO t(v) VALUES(zeroblob(2000000))", WEIR_FULL, SQLITE_FULL, "full", 1},
    {NULL, TEN("INSERT INTO t(id) SELECT interrupts(x)"), WEIR_CANCELED, SQLITE_INTERRUPT, "interrupted", 1},
    {ignore_fn, "INSERT OR ROLLBACK INTO t(id) VALUES(1)", WEIR_SQL, 0, "ignored", 1},
    {ignore_fn, "INSERT INTO trap VALUES(1)", WEIR_SQL, 0, "ignored", 1},
};

enum { FAILURES = sizeof failures / sizeof failures[0], MEMBERS = 5 };

/* ---- The test ---- */

static void check_members(const group *g, int place, const struct failure *failure, int64_t rev) {
  const char *sql = failure->sql;
  for (int i = 0; i < MEMBERS; i++) {
    const member *m = &g->members[i];
    int runs = !failure->ends ? 1 : i == place ? 1 + (place > 0) : 1 + (i < place);
    cr_assert(eq(int, m->runs, runs), "%s at %d: member %d", sql, place, i);
    if (i == place) {
      cr_assert(eq(int, m->task.rc, failure->code), "%s: %s", sql, m->task.error.message);
      cr_assert(eq(int, m->task.error.code, failure->code), "%s", sql);
      cr_assert(eq(int, m->task.error.sqlite_code, failure->sqlite_code), "%s: %s", sql,
                m->task.error.message);
      cr_assert(strstr(m->task.error.message, failure->message) != NULL, "%s: %s", sql,
                m->task.error.message);
      cr_assert(eq(i64, m->ack.rev, 0));
      continue;
    }
    int shared = place == 0 || !failure->ends ? MEMBERS - 1 : i < place ? place : MEMBERS - 1 - place;
    rev++;
    cr_assert(eq(int, m->task.rc, WEIR_OK), "%s: %s", sql, m->task.error.message);
    cr_assert(eq(i64, m->rev, rev), "%s at %d: member %d", sql, place, i);
    cr_assert(eq(i64, m->ack.rev, rev), "%s at %d: member %d", sql, place, i);
    cr_assert(eq(uint, m->ack.members, (unsigned)shared), "%s at %d: member %d", sql, place, i);
  }
}

static void fail_one(weir_pool *pool, int place, const struct failure *failure, int id) {
  group g = group_of(MEMBERS, id);
  weir_pool_stats before = stats_of(pool);
  int64_t rows = int_of(pool, "SELECT count(*) FROM t");
  int64_t rev = int_of(pool, "SELECT rev FROM weir_commit");
  g.members[place].then = failure->fn ? failure->fn : exec_fn;
  g.members[place].data = (void *)failure->sql;
  cr_assert(group_run(&g, pool));
  check_members(&g, place, failure, rev);
  char sql[200];
  (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE id BETWEEN %d AND %d AND id <> %d", id,
                 id + MEMBERS - 1, id + place);
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), rows + MEMBERS - 1), "%s", failure->sql);
  cr_assert(eq(i64, int_of(pool, sql), MEMBERS - 1), "%s", failure->sql);
  cr_assert(eq(i64, int_of(pool, "SELECT rev FROM weir_commit"), rev + MEMBERS - 1), "%s", failure->sql);
  weir_pool_stats after = stats_of(pool);
  cr_assert(eq(u64, after.commits - before.commits, failure->ends && place % (MEMBERS - 1) ? 2 : 1),
            "%s at %d", failure->sql, place);
  cr_assert(eq(u64, after.writes - before.writes, MEMBERS - 1));
  cr_assert(eq(u64, after.rollbacks - before.rollbacks, 1));
  cr_assert(eq(u64, after.reruns - before.reruns, failure->ends && place ? (unsigned)place + 1 : 0));
  cr_assert(eq(u64, after.replaced, 0));
}

Test(group_failures, of_one_is_its_own_and_the_others_are_committed_once_each_wherever_it_stands) {
  static const int places[] = {0, MEMBERS / 2, MEMBERS - 1};
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    int id = 1000;
    for (int i = 0; i < 3 * FAILURES; i++, id += MEMBERS) {
      fail_one(pool, places[i % 3], &failures[i / 3], id);
    }
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t WHERE id BETWEEN 900 AND 999"), 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM child"), 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1 + 3 * FAILURES * (MEMBERS - 1)));
    cr_assert(eq(i64, int_of(pool, "SELECT count(DISTINCT v) FROM t"), 1 + 3 * FAILURES * (MEMBERS - 1)));
    cr_assert(eq(i64, int_of(pool, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* Each of them ends the transaction of all that ran before it, also of those that will. */
Test(group_failures, of_several_that_end_the_transaction_blame_nobody_else) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    group g = group_of(12, 1000);
    for (int i = 0; i < 12; i++) {
      const struct failure *failure = &failures[FAILURES - 5 + i % 4]; /* and every fifth is innocent */
      g.members[i].then = i % 5 == 4 ? NULL : failure->fn ? failure->fn : exec_fn;
      g.members[i].data = (void *)failure->sql;
    }
    cr_assert(group_run(&g, pool));
    int64_t rev = 0;
    for (int i = 0; i < 12; i++) {
      const member *m = &g.members[i];
      cr_assert(eq(int, m->task.rc, i % 5 == 4 ? WEIR_OK : failures[FAILURES - 5 + i % 4].code), "%d: %s", i,
                m->task.error.message);
      rev += i % 5 == 4;
      cr_assert(eq(i64, m->ack.rev, i % 5 == 4 ? rev : 0));
      cr_assert(le(int, m->runs, 1 + 4 + 1)); /* with each that is behind it, and alone */
    }
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 3));
    cr_assert(eq(i64, int_of(pool, "SELECT rev FROM weir_commit"), rev));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* Ends the transaction in its first run, as long as others have theirs in it. */
static int fail_once_fn(weir_txn *txn, void *data, weir_error *err) {
  const member *m = data;
  return m->runs == 1 ? weir_txn_exec(txn, "INSERT OR ROLLBACK INTO t(id) VALUES(1)", err) : WEIR_OK;
}

Test(group_failures, of_a_first_run_leave_no_trace_in_the_error_if_the_second_succeeds) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    for (int place = 1; place < MEMBERS; place++) {
      group g = group_of(MEMBERS, 1000 * place);
      g.members[place].then = fail_once_fn;
      g.members[place].data = &g.members[place];
      cr_assert(group_run(&g, pool));
      cr_assert(eq(int, g.members[place].runs, 2));
      for (int i = 0; i < MEMBERS; i++) {
        const member *m = &g.members[i];
        cr_assert(eq(int, m->task.rc, WEIR_OK), "%d: %s", i, m->task.error.message);
        cr_assert(eq(int, m->task.error.code, WEIR_OK), "%d: %s", i, m->task.error.message);
        cr_assert(eq(int, m->task.error.sqlite_code, SQLITE_OK));
        cr_assert(eq(int, m->task.error.message[0], 0), "%d: %s", i, m->task.error.message);
        cr_assert(eq(i64, m->ack.rev, m->rev));
      }
    }
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1 + (MEMBERS - 1) * MEMBERS));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
