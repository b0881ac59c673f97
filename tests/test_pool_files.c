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

/* ---- A process that goes elsewhere, and a file that does ---- */

/* Holds one reader connection, so that the read inside `data` needs another one. */
static int read_beside(weir_txn *txn, void *data, weir_error *err) {
  task other = {.in = weir_pool_auto(weir_txn_pool(txn)), .fn = exec_fn, .data = (void *)"SELECT * FROM t"};
  if (task_start(&other) != 0)
    return weir_fail(err, WEIR_NOMEM, "no thread");
  int rc = task_join(&other);
  *(weir_error *)data = other.error;
  return rc;
}

static void make_directory(char *buf, size_t size, const char *name) {
  weir_test_path(buf, size, name);
  cr_assert(eq(int, mkdir(buf, 0777), 0));
}

Test(pool_files, relative_path_means_the_same_file_after_the_process_has_changed_its_directory) {
  static const struct {
    const char *path, *name; /* as it is given; the file's */
  } cases[] = {{"plain.db", "plain.db"},
               {"./a?b#c%20.db", "a?b#c%20.db"},
               {"file:uri.db", "uri.db"},
               {"file:odd%20%3f%23%25&=+\xc3\xa4.db?mode=rwc&psow=0#end", "odd ?#%&=+\xc3\xa4.db"},
               {"file:./vfs.db?%6dode=rw&vfs=unix&modest=1", "vfs.db"},
               {"file:hidden.db%00x?m=1&mode=rwc", "hidden.db"}};
  char here[600], there[600], file[700];
  make_directory(here, sizeof here, "here");
  make_directory(there, sizeof there, "there");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_pool *pool = NULL;
    weir_error err = WEIR_ERROR_INIT, other = WEIR_ERROR_INIT;
    weir_pool_options options = {.size = sizeof options, .checkpoint_pages = 1, .wal_limit_pages = 1000};
    struct stat status;
    (void)snprintf(file, sizeof file, "%s/%s", here, cases[i].name);
    cr_assert(eq(int, chdir(here), 0));
    if (strstr(cases[i].path, "ode=rw&"))
      cr_assert(eq(int, mknod(file, S_IFREG | 0666, 0), 0)); /* that does not create it */
    cr_assert(eq(int, weir_pool_open(&pool, cases[i].path, &options, &err), WEIR_OK), "%s", err.message);
    cr_assert(eq(int, chdir(there), 0));
    cr_assert(eq(int,
                 sql_write(weir_pool_auto(pool), CREATE_T ";INSERT INTO t(v) VALUES(zeroblob(100000))", &err),
                 WEIR_OK));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), read_beside, &other, NULL, &err), WEIR_OK), "%s: %s",
              cases[i].path, other.message);
    cr_assert(eq(u32, stats_of(pool).readers_open, 2));
    cr_assert(await_idle_lane(pool));
    cr_assert(eq(int, stat(file, &status), 0));
    cr_assert(gt(i64, status.st_size, 100000), "%s: not copied by a checkpoint", cases[i].path);
    cr_assert(eq(int, rmdir(there), 0)); /* nothing was made there */
    cr_assert(eq(int, mkdir(there, 0777), 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_files, file_that_was_replaced_or_removed_is_not_mistaken_for_the_one_that_is_open) {
  make_file(POOL_FILE);
  for (int uri = 0; uri < 2; uri++) {
    weir_pool *pool = NULL;
    weir_error err = WEIR_ERROR_INIT, beside = WEIR_ERROR_INIT;
    char path[700], moved[700];
    (void)snprintf(path, sizeof path, "%s%s", uri ? "file:" : "", pool_path(POOL_FILE));
    (void)snprintf(moved, sizeof moved, "%s.moved", pool_path(POOL_FILE));
    cr_assert(eq(int, weir_pool_open(&pool, path, NULL, NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, rename(pool_path(POOL_FILE), moved), 0));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), read_beside, &beside, NULL, &err), WEIR_IO));
    cr_assert(ne(ptr, strstr(beside.message, "removed"), NULL), "%s", beside.message);
    cr_assert(not(file_exists(pool_path(POOL_FILE), "")));
    FILE *file = fopen(pool_path(POOL_FILE), "w");
    cr_assert(ne(ptr, file, NULL));
    cr_assert(eq(int, fclose(file), 0));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), read_beside, &beside, NULL, &err), WEIR_IO));
    cr_assert(ne(ptr, strstr(beside.message, "replaced"), NULL), "%s", beside.message);
    struct stat status;
    cr_assert(eq(int, stat(pool_path(POOL_FILE), &status), 0));
    cr_assert(eq(i64, status.st_size, 0)); /* and it was left as it is */
    cr_assert(eq(int, rename(moved, pool_path(POOL_FILE)), 0));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), read_beside, &beside, NULL, &err), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
