/* Write functions that leave something behind: a statement that has not ended, or a second process. */
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_unfinished, .timeout = 60);

/* Inserts, and stops at the row that INSERT ... RETURNING hands out: SQLite refuses to end the savepoint. */
static int insert_and_stop(weir_txn *txn, void *data, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  (void)data;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("INSERT INTO t(v) VALUES(7) RETURNING id"), &stmt, err);
  if (rc == WEIR_OK && sqlite3_step(stmt) != SQLITE_ROW)
    rc = weir_fail(err, WEIR_SQL, "no row");
  return rc;
}

static int nest_and_ignore(weir_txn *txn, void *data, weir_error *err) {
  *(int *)data = weir_write(txn, insert_and_stop, NULL, NULL, err);
  return WEIR_OK;
}

Test(pool_unfinished, a_nested_write_whose_savepoint_cannot_end_fails_and_leaves_nothing) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    int nested = WEIR_OK;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nest_and_ignore, &nested, NULL, NULL), WEIR_OK));
    cr_assert(lt(int, nested, 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

struct forking {
  pid_t child;
  int failed; /* fork() itself */
};

static int insert_and_fork(weir_txn *txn, void *data, weir_error *err) {
  struct forking *f = data;
  int rc = weir_txn_exec(txn, "INSERT INTO t(v) VALUES(1)", err);
  if (rc == WEIR_OK) {
    f->child = fork();
    f->failed = f->child < 0;
  }
  return rc;
}

Test(pool_unfinished, a_child_forked_in_a_write_function_neither_commits_nor_rolls_back) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    struct forking f = {0};
    int status = -1;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
    int rc = weir_write(weir_pool_auto(pool), insert_and_fork, &f, NULL, NULL);
    if (f.child == 0 && !f.failed)
      _exit(rc == WEIR_FORKED ? 0 : 1);
    cr_assert(eq(int, f.failed, 0));
    cr_assert(eq(int, rc, WEIR_OK));
    cr_assert(eq(int, waitpid(f.child, &status, 0) == f.child && WIFEXITED(status), 1));
    cr_assert(eq(int, WEXITSTATUS(status), 0), "the child's write did not end with WEIR_FORKED");
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* What runs on a connection, one statement after another, also the pool's own. */
static int count_statement(unsigned event, void *data, void *statement, void *sql) {
  (void)event, (void)statement, (void)sql;
  (*(int *)data)++;
  return 0;
}

struct inner {
  struct forking forking;
  int statements; /* begun since the fork */
  int fails;
};

static int fork_and_end(weir_txn *txn, void *data, weir_error *err) {
  struct inner *inner = data;
  int rc = weir_txn_exec(txn, "INSERT INTO t(v) VALUES(1)", err);
  inner->forking.child = fork();
  inner->forking.failed = inner->forking.child < 0;
  inner->statements = 0;
  return rc == WEIR_OK && inner->fails && inner->forking.child == 0
             ? weir_fail(err, WEIR_CONSTRAINT, "the child's is to be undone")
             : rc;
}

static int nest_and_fork(weir_txn *txn, void *data, weir_error *err) {
  struct inner *inner = data;
  (void)sqlite3_trace_v2(weir_txn_db(txn), SQLITE_TRACE_STMT, count_statement, &inner->statements);
  int rc = weir_write(txn, fork_and_end, data, NULL, err);
  if (inner->forking.child == 0 && !inner->forking.failed)
    _exit(rc == WEIR_FORKED && err->code == WEIR_FORKED && inner->statements == 0 ? 0 : 1);
  (void)sqlite3_trace_v2(weir_txn_db(txn), 0, NULL, NULL);
  return rc;
}

Test(pool_unfinished, a_child_forked_in_a_nested_write_leaves_the_connection_alone) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    for (int fails = 0; fails < 2; fails++) {
      weir_pool *pool = NULL;
      struct inner inner = {.fails = fails};
      int status = -1;
      cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
      cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T ";DELETE FROM t", NULL), WEIR_OK));
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), nest_and_fork, &inner, NULL, NULL), WEIR_OK));
      cr_assert(eq(int, waitpid(inner.forking.child, &status, 0) == inner.forking.child, 1));
      cr_assert(eq(int, WIFEXITED(status) && WEXITSTATUS(status) == 0, 1), "the child used the connection");
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    }
  }
}

static int read_and_fork(weir_txn *txn, void *data, weir_error *err) {
  struct inner *inner = data;
  int rc = weir_txn_exec(txn, "SELECT count(*) FROM t", err);
  (void)sqlite3_trace_v2(weir_txn_db(txn), SQLITE_TRACE_STMT, count_statement, &inner->statements);
  inner->forking.child = fork();
  inner->forking.failed = inner->forking.child < 0;
  return rc;
}

Test(pool_unfinished, a_child_forked_in_a_read_function_leaves_the_connection_alone) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    struct inner inner = {.fails = 0};
    int status = -1;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
    int rc = weir_read(weir_pool_auto(pool), read_and_fork, &inner, NULL, NULL);
    if (inner.forking.child == 0 && !inner.forking.failed)
      _exit(rc == WEIR_FORKED && inner.statements == 0 ? 0 : 1);
    cr_assert(eq(int, rc, WEIR_OK));
    cr_assert(eq(int, waitpid(inner.forking.child, &status, 0) == inner.forking.child, 1));
    cr_assert(eq(int, WIFEXITED(status) && WEXITSTATUS(status) == 0, 1), "the child used the connection");
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- A database in memory ---- */

/* Leaves a blob open, which keeps a transaction open that nobody but its owner can end. */
static int leave_blob(weir_txn *txn, void *data, weir_error *err) {
  return weir_txn_check(txn, sqlite3_blob_open(weir_txn_db(txn), "main", "t", "v", 1, 1, data), err);
}

static int refuse_all(void *data, int action, const char *a, const char *b, const char *c, const char *d) {
  (void)data, (void)a, (void)b, (void)c, (void)d;
  return action == SQLITE_TRANSACTION ? SQLITE_DENY : SQLITE_OK;
}

static int write_and_spoil(weir_txn *txn, void *data, weir_error *err) {
  int rc = weir_txn_exec(txn, data, err);
  return rc == WEIR_OK ? weir_txn_check(txn, sqlite3_set_authorizer(weir_txn_db(txn), refuse_all, NULL), err)
                       : rc;
}

Test(pool_unfinished, a_database_in_memory_is_not_lost_with_a_connection_that_cannot_be_cleaned) {
  weir_pool *pool = NULL;
  sqlite3_blob *blob = NULL;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, pool_open(&pool, SINGLE_MEMORY, NULL), WEIR_OK));
  weir_txn *in = weir_pool_auto(pool);
  cr_assert(eq(int, sql_write(in, CREATE_T ";INSERT INTO t VALUES(1, zeroblob(10))", NULL), WEIR_OK));
  for (int write = 0; write < 2; write++) {
    (void)(write ? weir_write : weir_read)(in, leave_blob, &blob, NULL, &err);
    cr_assert(ne(ptr, blob, NULL));
    (void)sql_write(in, "INSERT INTO t VALUES(9, 9)", &err); /* refused, or not: the blob is in the way */
    cr_assert(eq(int, sqlite3_blob_close(blob), SQLITE_OK));
    blob = NULL;
    cr_assert(eq(int, sql_write(in, "DELETE FROM t WHERE id > 1", &err), WEIR_OK), "%s", err.message);
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(lt(int, weir_write(in, write_and_spoil, (void *)"DELETE FROM t", NULL, &err), 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
  }
  cr_assert(eq(u64, stats_of(pool).replaced, 0));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}
