/* Transactions inside transactions, through the explicit and through the automatic one. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_nesting, .timeout = 60);

/* One reader, and nobody may wait for it. */
static weir_pool *opened(int kind) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options, .readers = 1, .acquire_timeout_ms = -1};
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T ";INSERT INTO t VALUES(1, 1)", NULL), WEIR_OK));
  return pool;
}

/* A transaction as it is found in the middle of a function: its handle, or the automatic one. */
static weir_txn *within(weir_txn *txn, int automatic) {
  return automatic ? weir_pool_auto(weir_txn_pool(txn)) : txn;
}

static int64_t count_in(weir_txn *txn) {
  int64_t count = -1;
  weir_error err = WEIR_ERROR_INIT;
  if (sql_int(txn, "SELECT count(*) FROM t", &count, &err) != WEIR_OK)
    fprintf(stderr, "nested read: %s\n", err.message);
  return count;
}

/* ---- Reads in reads ---- */

typedef struct nest {
  int automatic;
  sqlite3 *other; /* commits between the two looks; NULL: none */
  int64_t counts[3];
  struct sqlite3 *outer, *inner;
  int write_rc, snapshot_rc, bad_options_rc;
  weir_error write_err;
} nest;

static int inner_read(weir_txn *txn, void *data, weir_error *err) {
  nest *n = data;
  (void)err;
  n->inner = weir_txn_db(txn);
  n->counts[1] = count_in(txn);
  n->counts[2] = count_in(weir_pool_auto(weir_txn_pool(txn))); /* and a third level */
  return WEIR_OK;
}

static int outer_read(weir_txn *txn, void *data, weir_error *err) {
  nest *n = data;
  n->outer = weir_txn_db(txn);
  n->counts[0] = count_in(txn);
  if (n->other && sqlite3_exec(n->other, "INSERT INTO t(v) VALUES(0)", NULL, NULL, NULL) != SQLITE_OK)
    return weir_fail(err, WEIR_SQL, "the other connection: %s", sqlite3_errmsg(n->other));
  const weir_txn_options not_looked_at = {.size = 0, .timeout_ms = -1, .deadline_ms = -1};
  return weir_read(within(txn, n->automatic), inner_read, n, &not_looked_at, err);
}

Test(pool_nesting, read_in_a_read_sees_the_same_snapshot_and_needs_no_connection) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    nest n = {.other = NULL};
    if (kind != SINGLE_MEMORY)
      cr_assert(eq(int, sqlite3_open(pool_path(kind), &n.other), SQLITE_OK));
    for (n.automatic = 0; n.automatic < 2; n.automatic++) {
      weir_error err = WEIR_ERROR_INIT;
      int64_t before = int_of(pool, "SELECT count(*) FROM t");
      cr_assert(eq(int, weir_read(weir_pool_auto(pool), outer_read, &n, NULL, &err), WEIR_OK), "%s",
                err.message);
      for (int i = 0; i < 3; i++)
        cr_assert(eq(i64, n.counts[i], before));
      cr_assert(eq(ptr, n.inner, n.outer));
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), before + (n.other != NULL)));
    }
    cr_assert(eq(int, sqlite3_close(n.other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Writes in reads ---- */

static int must_not_run(weir_txn *txn, void *data, weir_error *err) {
  (void)txn, (void)data;
  return weir_fail(err, WEIR_CORRUPT, "it ran");
}

static int write_in_read(weir_txn *txn, void *data, weir_error *err) {
  nest *n = data;
  weir_txn *other = NULL;
  (void)err;
  n->write_rc = weir_write(within(txn, n->automatic), must_not_run, NULL, NULL, &n->write_err);
  n->snapshot_rc = weir_snapshot_begin(weir_txn_pool(txn), &other, NULL, NULL);
  n->counts[0] = count_in(txn);
  return other ? weir_fail(err, WEIR_CORRUPT, "a snapshot was begun") : WEIR_OK;
}

Test(pool_nesting, write_in_a_read_is_misuse_at_once_even_while_the_lane_is_taken) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    latch lane = LATCH_INIT;
    task writer = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &lane, .write = 1};
    if (kind == POOL_FILE) { /* in single mode there can be no read then */
      cr_assert(eq(int, task_start(&writer), 0));
      cr_assert(latch_await(&lane, 1));
    }
    for (int automatic = 0; automatic < 2; automatic++) {
      nest n = {.automatic = automatic};
      cr_assert(eq(int, weir_read(weir_pool_auto(pool), write_in_read, &n, NULL, NULL), WEIR_OK));
      cr_assert(eq(int, n.write_rc, WEIR_MISUSE));
      cr_assert(eq(int, n.write_err.code, WEIR_MISUSE));
      cr_assert(ne(ptr, strstr(n.write_err.message, "read"), NULL));
      cr_assert(eq(int, n.snapshot_rc, WEIR_MISUSE));
      cr_assert(eq(i64, n.counts[0], 1)); /* the read goes on */
    }
    latch_open(&lane);
    if (kind == POOL_FILE)
      cr_assert(eq(int, task_join(&writer), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- In writes ---- */

typedef struct step {
  const char *sql;
  int code; /* what the nested function returns */
} step;

static int nested_write(weir_txn *txn, void *data, weir_error *err) {
  const step *s = data;
  sqlite3_stmt *taken = NULL; /* a failing function need not give back what it took */
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT * FROM t"), &taken, err);
  if (rc == WEIR_OK && sqlite3_step(taken) != SQLITE_ROW)
    rc = weir_fail(err, WEIR_CORRUPT, "no row");
  rc = rc == WEIR_OK ? weir_txn_exec(txn, s->sql, err) : rc;
  return rc == WEIR_OK && s->code ? weir_fail(err, s->code, "undone") : rc;
}

static int deeper_write(weir_txn *txn, void *data, weir_error *err) {
  int automatic = *(int *)data;
  step kept = {"INSERT INTO t VALUES(20, 'kept')", WEIR_OK},
       undone = {"INSERT INTO t VALUES(21, 'undone')", WEIR_CONFLICT};
  weir_error own = WEIR_ERROR_INIT;
  int rc = weir_txn_exec(txn, "INSERT INTO t VALUES(22, 'kept')", err);
  rc = rc == WEIR_OK ? weir_write(within(txn, automatic), nested_write, &kept, NULL, err) : rc;
  if (rc == WEIR_OK &&
      (weir_write(within(txn, automatic), nested_write, &undone, NULL, &own) != WEIR_CONFLICT ||
       strcmp(own.message, "undone") != 0))
    rc = weir_fail(err, WEIR_CORRUPT, "not what the function returned: %s", own.message);
  return rc;
}

typedef struct outer {
  int automatic, code, writes_in_read;
  int64_t seen;
  uint64_t rollbacks;
} outer;

static int see(weir_txn *txn, void *data, weir_error *err) {
  outer *o = data;
  (void)err;
  o->seen = count_in(txn);
  o->writes_in_read = weir_txn_writes(txn);
  return WEIR_OK;
}

static int outer_write(weir_txn *txn, void *data, weir_error *err) {
  outer *o = data;
  step undone = {"INSERT INTO t VALUES(11, 'undone'); DELETE FROM t; CREATE TABLE undone(x)", WEIR_INVALID};
  sqlite3_stmt *insert = NULL;
  weir_error own = WEIR_ERROR_INIT;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("INSERT INTO t VALUES(?1, 'outer')"), &insert, err);
  if (rc != WEIR_OK)
    return rc;
  (void)sqlite3_bind_int(insert, 1, 10);
  rc = weir_txn_check(txn, sqlite3_step(insert), err);
  uint64_t before = weir_txn_rollbacks(txn);
  if (rc == WEIR_OK &&
      weir_write(within(txn, o->automatic), nested_write, &undone, NULL, &own) != WEIR_INVALID)
    return weir_fail(err, WEIR_CORRUPT, "not what the function returned");
  o->rollbacks = weir_txn_rollbacks(txn) - before;
  rc = rc == WEIR_OK ? weir_write(within(txn, o->automatic), deeper_write, &o->automatic, NULL, err) : rc;
  rc = rc == WEIR_OK ? weir_read(within(txn, o->automatic), see, o, NULL, err) : rc;
  (void)sqlite3_reset(insert); /* and the outer function's statement is still its own */
  (void)sqlite3_bind_int(insert, 1, 12);
  rc = rc == WEIR_OK ? weir_txn_check(txn, sqlite3_step(insert), err) : rc;
  return rc == WEIR_OK && o->code ? weir_fail(err, o->code, "the whole") : rc;
}

Test(pool_nesting, write_in_a_write_joins_it_and_its_failure_is_undone_alone) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    for (int i = 0; i < 4; i++) {
      outer o = {.automatic = i % 2, .code = i < 2 ? WEIR_EXISTS : WEIR_OK};
      weir_error err = WEIR_ERROR_INIT;
      uint64_t commits = stats_of(pool).commits;
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), outer_write, &o, NULL, &err), o.code), "%s",
                err.message);
      cr_assert(eq(i64, o.seen, 4)); /* 1, 10, 20, 22: a read sees the write so far */
      cr_assert(eq(int, o.writes_in_read, 1));
      cr_assert(eq(u64, o.rollbacks, 1));
      cr_assert(eq(u64, stats_of(pool).commits, commits + (o.code == WEIR_OK)));
      const char *expected =
          o.code ? "SELECT group_concat(id)='1' FROM t"
                 : "SELECT group_concat(id)='1,10,12,20,22' FROM (SELECT id FROM t ORDER BY id)";
      cr_assert(eq(i64, int_of(pool, expected), 1));
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM sqlite_schema"), 1));
      cr_assert(eq(int, sql_write(weir_pool_auto(pool), "DELETE FROM t WHERE id>1", NULL), WEIR_OK));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int ignore_the_end(weir_txn *txn, void *data, weir_error *err) {
  step ends = {"INSERT INTO t VALUES(30, 30); INSERT OR ROLLBACK INTO t VALUES(1, 1)", WEIR_OK};
  weir_error own = WEIR_ERROR_INIT;
  int rc = weir_txn_exec(txn, "INSERT INTO t VALUES(31, 31)", err);
  *(int *)data = weir_write(txn, nested_write, &ends, NULL, &own);
  return rc;
}

Test(pool_nesting, whole_write_fails_if_sqlite_ended_it_inside_a_nested_one) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    int nested = 0;
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), ignore_the_end, &nested, NULL, NULL), WEIR_SQL));
    cr_assert(eq(int, nested, WEIR_CONSTRAINT));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(2, 2)", NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Beside each other ---- */

static int write_other_pool(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  return sql_write(weir_pool_auto(data), "INSERT INTO t VALUES(40, 40)", err);
}

Test(pool_nesting, transaction_of_one_pool_is_not_that_of_another) {
  weir_pool *one = opened(SINGLE_FILE), *two = opened(POOL_FILE);
  cr_assert(eq(int, weir_read(weir_pool_auto(one), write_other_pool, two, NULL, NULL), WEIR_OK));
  cr_assert(eq(int, weir_write(weir_pool_auto(two), write_other_pool, one, NULL, NULL), WEIR_OK));
  cr_assert(eq(i64, int_of(one, "SELECT count(*) FROM t"), 2));
  cr_assert(eq(i64, int_of(two, "SELECT count(*) FROM t"), 2));
  cr_assert(eq(int, weir_pool_close(one, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(two, NULL), WEIR_OK));
}

static int read_on_another_thread(weir_txn *txn, void *data, weir_error *err) {
  outer o = {.seen = -1};
  task reader = {.in = weir_pool_auto(weir_txn_pool(txn)), .fn = see, .data = &o};
  int rc = weir_txn_exec(txn, "INSERT INTO t VALUES(50, 50)", err);
  if (rc == WEIR_OK && (task_start(&reader) != 0 || task_join(&reader) != WEIR_OK))
    rc = weir_fail(err, WEIR_CORRUPT, "%s", reader.error.message);
  *(int64_t *)data = o.seen;
  return rc;
}

Test(pool_nesting, automatic_transaction_on_another_thread_is_its_own) {
  weir_pool *pool = opened(POOL_FILE);
  int64_t seen = -1;
  cr_assert(eq(int, weir_write(weir_pool_auto(pool), read_on_another_thread, &seen, NULL, NULL), WEIR_OK));
  cr_assert(eq(i64, seen, 1)); /* without what is not committed yet */
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}
