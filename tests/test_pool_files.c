/* Kinds of database: in memory, read-only, unwritable; and a schema that another connection changes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_files, .timeout = 60);

/* ---- In memory ---- */

enum { THREADS = 8, ROWS = 50 };

struct crew {
  weir_pool *pool;
  faults faults;
};

static void insert_rows(int index, void *data) {
  struct crew *crew = data;
  for (int i = 0; i < ROWS; i++) {
    char sql[100];
    int64_t found = 0;
    weir_error err = WEIR_ERROR_INIT;
    (void)snprintf(sql, sizeof sql, "INSERT INTO t VALUES(%d, %d)", index * ROWS + i, index);
    if (sql_write(weir_pool_auto(crew->pool), sql, &err) != WEIR_OK)
      fault(&crew->faults, "%s", err.message);
    (void)snprintf(sql, sizeof sql, "SELECT v FROM t WHERE id=%d", index * ROWS + i);
    if (sql_int(weir_pool_auto(crew->pool), sql, &found, &err) != WEIR_OK || found != index)
      fault(&crew->faults, "thread %d found %d: %s", index, (int)found, err.message);
  }
}

Test(pool_files, database_in_memory_is_one_for_all_threads_and_lives_as_long_as_the_pool) {
  static const char *const paths[] = {":memory:", "file::memory:", "file:a?mode=memory", "file:/a?vfs=memdb"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    static struct crew crew;
    memset(&crew, 0, sizeof crew);
    cr_assert(eq(int, weir_pool_open(&crew.pool, paths[i], NULL, NULL), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(crew.pool), CREATE_T, NULL), WEIR_OK));
    cr_assert(together(THREADS, insert_rows, &crew));
    cr_assert(eq(int, atomic_load(&crew.faults.count), 0), "%s: %s", paths[i], crew.faults.first);
    cr_assert(eq(i64, int_of(crew.pool, "SELECT count(*) FROM t"), THREADS * ROWS));
    cr_assert(eq(int, weir_pool_close(crew.pool, NULL), WEIR_OK));
  }
}

Test(pool_files, each_pool_in_memory_has_a_database_of_its_own) {
  weir_pool *one = NULL, *two = NULL;
  cr_assert(eq(int, pool_open(&one, SINGLE_MEMORY, NULL), WEIR_OK));
  cr_assert(eq(int, pool_open(&two, SINGLE_MEMORY, NULL), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(one), CREATE_T, NULL), WEIR_OK));
  cr_assert(eq(i64, int_of(two, "SELECT count(*) FROM sqlite_schema"), 0));
  cr_assert(eq(int, weir_pool_close(one, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(two, NULL), WEIR_OK));
}

/* ---- Read-only ---- */

#define FOR_FILES(kind) for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE)

static void make_file(int kind) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options, .numbered = 1};
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T ";INSERT INTO t VALUES(1, 1)", NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

static int must_not_run(weir_txn *txn, void *data, weir_error *err) {
  (void)txn, (void)data;
  return weir_fail(err, WEIR_CORRUPT, "it ran");
}

static int rev_fn(weir_txn *txn, void *data, weir_error *err) {
  return weir_txn_rev(txn, data, err);
}

Test(pool_files, read_only_pool_reads_and_refuses_writes) {
  FOR_FILES(kind) {
    weir_pool *pool = NULL;
    weir_txn *snapshot = NULL;
    int64_t rev = -1, count = 0;
    weir_error err = WEIR_ERROR_INIT;
    weir_pool_options read_only = {.size = sizeof read_only, .read_only = 1, .numbered = 1};
    make_file(kind);
    cr_assert(eq(int, pool_open(&pool, kind, &read_only), WEIR_OK));
    cr_assert(eq(u32, stats_of(pool).readers_open, 1));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(i64, int_of(pool, "PRAGMA query_only"), 1));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), must_not_run, NULL, NULL, &err), WEIR_READONLY));
    cr_assert(eq(int, err.code, WEIR_READONLY));
    cr_assert(ne(ptr, strstr(err.message, pool_path(kind)), NULL));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), rev_fn, &rev, NULL, NULL), WEIR_OK));
    cr_assert(eq(i64, rev, 0));
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, sql_int(snapshot, "SELECT count(*) FROM t", &count, NULL), WEIR_OK));
    cr_assert(eq(int, weir_txn_exec(snapshot, "DELETE FROM t", NULL), WEIR_MISUSE));
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    cr_assert(eq(i64, count, 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(eq(int, descriptors_of(weir_test_dir()), 0));
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_files, read_only_pool_sees_what_another_connection_commits) {
  FOR_FILES(kind) {
    weir_pool *pool = NULL;
    sqlite3 *other = NULL;
    weir_pool_options read_only = {.size = sizeof read_only, .read_only = 1};
    make_file(kind);
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
    cr_assert(eq(int, pool_open(&pool, kind, &read_only), WEIR_OK));
    cr_assert(eq(int, sqlite3_exec(other, "INSERT INTO t VALUES(2, 2)", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
  }
}

/* Opens for writing; the error is to name the file and say what to do. */
static void expect_unwritable(const char *path, int kind) {
  weir_pool *pool = (weir_pool *)&pool;
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = {.size = sizeof options, .mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE};
  cr_assert(eq(int, weir_pool_open(&pool, path, &options, &err), WEIR_READONLY), "%s", err.message);
  cr_assert(eq(ptr, pool, NULL));
  cr_assert(eq(int, err.code, WEIR_READONLY));
  cr_assert(ne(ptr, strstr(err.message, pool_path(kind)), NULL));
  cr_assert(ne(ptr, strstr(err.message, "read_only"), NULL));
}

Test(pool_files, unwritable_file_is_read_only_and_the_error_says_what_to_do) {
  FOR_FILES(kind) {
    char uri[700];
    make_file(kind);
    (void)snprintf(uri, sizeof uri, "file:%s?mode=ro", pool_path(kind));
    expect_unwritable(uri, kind);
    cr_assert(eq(int, chmod(pool_path(kind), 0444), 0));
    if (geteuid() == 0 && seteuid(65534) != 0) /* root may write it all the same */
      cr_skip_test("cannot become another user");
    if (access(pool_path(kind), R_OK) == 0)
      expect_unwritable(pool_path(kind), kind);
    cr_assert(getuid() != 0 || seteuid(0) == 0);
    cr_assert(eq(int, chmod(pool_path(kind), 0644), 0));
    weir_pool *pool = NULL;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_files, wal_database_in_a_directory_that_cannot_be_written_says_so_to_a_reader) {
  weir_pool_options read_only = {.size = sizeof read_only, .read_only = 1};
  make_file(POOL_FILE);
  cr_assert(eq(int, chmod(weir_test_dir(), 0555), 0));
  if (geteuid() == 0 && seteuid(65534) != 0)
    cr_skip_test("cannot become another user");
  if (access(pool_path(POOL_FILE), R_OK) == 0) {
    for (int mode = WEIR_SINGLE; mode <= WEIR_POOL; mode++) {
      weir_pool *pool = NULL;
      weir_error err = WEIR_ERROR_INIT;
      char uri[700];
      read_only.mode = (weir_mode)mode;
      cr_assert(eq(int, weir_pool_open(&pool, pool_path(POOL_FILE), &read_only, &err), WEIR_READONLY));
      cr_assert(eq(int, err.code, WEIR_READONLY));
      cr_assert(eq(int, err.sqlite_code, SQLITE_READONLY_DIRECTORY));
      cr_assert(ne(ptr, strstr(err.message, "directory"), NULL), "%s", err.message);
      (void)snprintf(uri, sizeof uri, "file:%s?immutable=1", pool_path(POOL_FILE)); /* as the message says */
      cr_assert(eq(int, weir_pool_open(&pool, uri, &read_only, &err), WEIR_OK), "%s", err.message);
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    }
  }
  cr_assert(getuid() != 0 || seteuid(0) == 0);
  cr_assert(eq(int, chmod(weir_test_dir(), 0777), 0));
}

/* ---- A schema that changes ---- */

typedef struct row {
  int columns, value, last;
} row;

static int all_columns(weir_txn *txn, void *data, weir_error *err) {
  row *r = data;
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT * FROM t"), &stmt, err);
  if (rc != WEIR_OK)
    return rc;
  rc = weir_txn_check(txn, sqlite3_step(stmt), err);
  if (rc == WEIR_OK) { /* only now: before the step the count may be the old one */
    r->columns = sqlite3_column_count(stmt);
    r->value = sqlite3_column_int(stmt, 1);
    r->last = sqlite3_column_int(stmt, r->columns - 1);
  }
  return rc;
}

Test(pool_files, cached_statement_follows_a_schema_that_another_connection_changed) {
  FOR_FILES(kind) {
    weir_pool *pool = NULL;
    sqlite3 *other = NULL;
    row r = {0, 0, 0};
    weir_error err = WEIR_ERROR_INIT;
    make_file(kind);
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
    for (int columns = 2; columns < 12; columns++) {
      char sql[100];
      for (int write = 0; write < 2; write++) { /* on the reader's connection, and on the writer's */
        cr_assert(eq(int, (write ? weir_write : weir_read)(weir_pool_auto(pool), all_columns, &r, NULL, &err),
                     WEIR_OK),
                  "%s", err.message);
        cr_assert(eq(int, r.columns, columns));
        cr_assert(eq(int, r.value, 1));
        cr_assert(eq(int, r.last, columns == 2 ? 1 : columns));
      }
      (void)snprintf(sql, sizeof sql, "ALTER TABLE t ADD COLUMN c%d DEFAULT %d", columns, columns + 1);
      cr_assert(eq(int, sqlite3_exec(other, sql, NULL, NULL, NULL), SQLITE_OK));
    }
    cr_assert(eq(int, sqlite3_exec(other, "DROP TABLE t", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), all_columns, &r, NULL, &err), WEIR_SQL));
    cr_assert(ne(ptr, strstr(err.message, "no such table"), NULL));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
