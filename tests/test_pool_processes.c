/* A pool and other processes: many that open a new file at once, locks that no call drops, fork(). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_processes, .timeout = 100);

/* ---- Opening at once ---- */

enum { CHILDREN = 8, CHILD_WRITES = 5, ROUNDS = 3 };

Test(pool_processes, many_that_open_a_new_file_at_once_all_succeed) {
  for (int round = 0; round < ROUNDS; round++) {
    char path[600], name[32], writes[16];
    int go[2];
    pid_t children[CHILDREN];
    (void)snprintf(name, sizeof name, "new%d.db", round);
    (void)snprintf(writes, sizeof writes, "%d", CHILD_WRITES);
    weir_test_path(path, sizeof path, name);
    cr_assert(eq(int, pipe2(go, O_CLOEXEC), 0));
    for (int i = 0; i < CHILDREN; i++) {
      const char *arguments[] = {"write", path, i % 2 ? "single" : "pool", writes, NULL};
      children[i] = child_start(arguments, go[0]);
      cr_assert(gt(int, (int)children[i], 0));
    }
    cr_assert(eq(int, close(go[1]), 0)); /* now */
    cr_assert(eq(int, close(go[0]), 0));
    for (int i = 0; i < CHILDREN; i++)
      cr_assert(eq(int, child_wait(children[i]), 0));
    weir_pool *pool = NULL;
    cr_assert(eq(int, weir_pool_open(&pool, path, NULL, NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT journal_mode='wal' FROM pragma_journal_mode"), 1));
    cr_assert(eq(i64, int_of(pool, "PRAGMA page_size"), 4096));
    cr_assert(eq(i64, int_of(pool, "SELECT rev FROM weir_commit"), CHILDREN * CHILD_WRITES));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM revs"), CHILDREN * CHILD_WRITES));
    cr_assert(eq(i64, int_of(pool, "SELECT integrity_check='ok' FROM pragma_integrity_check"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* weir_pool_open on a thread of its own. */
typedef struct opener {
  int kind, rc;
  weir_pool *pool;
  atomic_int ended;
  pthread_t thread;
} opener;

static void *opener_main(void *data) {
  opener *o = data;
  o->rc = pool_open(&o->pool, o->kind, NULL);
  atomic_store(&o->ended, 1);
  return NULL;
}

static int opener_ended(void *data) {
  return atomic_load(&((opener *)data)->ended);
}

/* SQLite itself does not wait for this lock: it has a read lock already, and reports a deadlock. */
Test(pool_processes, change_to_wal_waits_for_a_writer_in_the_old_journal_mode) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    opener o = {.kind = kind};
    sqlite3 *other = NULL;
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
    cr_assert(eq(
        int,
        sqlite3_exec(other, "CREATE TABLE x(y); BEGIN IMMEDIATE; INSERT INTO x VALUES(1)", NULL, NULL, NULL),
        SQLITE_OK));
    cr_assert(eq(int, pthread_create(&o.thread, NULL, opener_main, &o), 0));
    cr_assert(eq(int, weir_test_wait(opener_ended, &o, 100), 0)); /* does not give up */
    cr_assert(eq(int, sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, pthread_join(o.thread, NULL), 0));
    cr_assert(eq(int, o.rc, WEIR_OK));
    cr_assert(eq(i64, int_of(o.pool, "SELECT journal_mode='wal' FROM pragma_journal_mode"), 1));
    cr_assert(eq(i64, int_of(o.pool, "SELECT count(*) FROM x"), 1));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(o.pool, NULL), WEIR_OK));
  }
}

/* ---- Locks ---- */

/* Does this process hold a lock on those bytes? Asked by a forked child, whose own descriptors and locks do
 * not matter to ours. */
static int holds_lock(const char *path, const char *suffix, off_t start, off_t length) {
  char name[700];
  (void)snprintf(name, sizeof name, "%s%s", path, suffix);
  pid_t owner = getpid(), child = fork();
  if (child == 0) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    int file = open(name, O_RDWR);
    _exit(file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid == owner ? 1
                                                                                                         : 0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/* In WAL mode each connection holds SQLite's shared lock on the file, and the one that says that the log's
 * index is in use. Closing any descriptor of these files would drop all of them. */
static void expect_locks(const char *path, const char *after) {
  cr_expect(holds_lock(path, "", 0x40000002, 510), "no lock on the database after %s", after);
  cr_expect(holds_lock(path, "-shm", 128, 1), "no lock on the log's index after %s", after);
}

Test(pool_processes, no_call_drops_the_locks_of_the_database) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    const char *path = pool_path(kind);
    char other_path[600];
    weir_pool *pool = NULL, *second = NULL;
    weir_pool_options options = {.size = sizeof options, .numbered = 1, .checkpoint_pages = 1};
    weir_test_path(other_path, sizeof other_path, "other.db");
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    expect_locks(path, "opening");
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
    expect_locks(path, "a write");
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0));
    expect_locks(path, "a read");
    cr_assert(eq(int, weir_pool_open(&second, path, NULL, NULL), WEIR_EXISTS));
    expect_locks(path, "a second opening that was refused");
    weir_pool_options read_only = {.size = sizeof read_only, .read_only = 1};
    cr_assert(eq(int, weir_pool_open(&second, path, &read_only, NULL), WEIR_EXISTS));
    expect_locks(path, "a second opening for reading");
    cr_assert(eq(int, weir_pool_open(&second, other_path, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(second, NULL), WEIR_OK));
    expect_locks(path, "another pool was closed");
    weir_txn *snapshot = NULL;
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    expect_locks(path, "a snapshot");
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "no sql", NULL), WEIR_SQL));
    (void)stats_of(pool);
    expect_locks(path, "an error");
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(not(holds_lock(path, "", 0x40000002, 510)));
  }
}

Test(pool_processes, file_that_another_locks_is_busy_after_busy_timeout) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool_options options = {.size = sizeof options, .busy_timeout_ms = 20};
    weir_pool *pool = (weir_pool *)&pool;
    weir_error err = WEIR_ERROR_INIT;
    sqlite3 *other = NULL;
    options.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
    cr_assert(eq(int, sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, weir_pool_open(&pool, pool_path(kind), &options, &err), WEIR_BUSY));
    cr_assert(eq(ptr, pool, NULL));
    cr_assert(eq(int, err.code, WEIR_BUSY));
    cr_assert(ne(ptr, strstr(err.message, pool_path(kind)), NULL));
    cr_assert(eq(int, sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, weir_pool_open(&pool, pool_path(kind), &options, &err), WEIR_OK));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- fork() ---- */

/* In the child: 0, or the number of the first check that failed. */
static int in_child(weir_pool *pool, weir_txn *snapshot, int kind) {
  weir_txn *txn = (weir_txn *)&txn;
  sqlite3_stmt *stmt = NULL;
  weir_pool *second = NULL;
  weir_token token = {0};
  weir_pool_stats stats;
  weir_error err = WEIR_ERROR_INIT;
  int64_t rev = 0;
  if (weir_read(weir_pool_auto(pool), nothing_fn, NULL, NULL, &err) != WEIR_FORKED || err.code != WEIR_FORKED)
    return 1;
  if (weir_write(weir_pool_auto(pool), nothing_fn, NULL, NULL, NULL) != WEIR_FORKED)
    return 2;
  if (weir_read(snapshot, nothing_fn, NULL, NULL, NULL) != WEIR_FORKED)
    return 3;
  if (weir_snapshot_begin(pool, &txn, NULL, NULL) != WEIR_FORKED || txn)
    return 4;
  if (weir_txn_prepare(snapshot, weir_str("SELECT 1"), &stmt, NULL) != WEIR_FORKED || stmt)
    return 5;
  if (weir_txn_exec(snapshot, "SELECT 1", NULL) != WEIR_FORKED ||
      weir_txn_rev(snapshot, &rev, NULL) != WEIR_FORKED)
    return 6;
  if (weir_snapshot_end(snapshot, NULL) != WEIR_FORKED)
    return 7;
  if (weir_cancel(pool, &token) != WEIR_FORKED)
    return 8;
  if (weir_pool_stats_get(pool, &stats, sizeof stats) != WEIR_FORKED)
    return 9;
  if (kind != SINGLE_MEMORY && weir_pool_open(&second, pool_path(kind), NULL, NULL) != WEIR_FORKED)
    return 10;
  if (weir_pool_close(pool, NULL) != WEIR_FORKED)
    return 11;
  /* no thread is started for a database in memory, as a forked child of a program with threads should not */
  if (weir_pool_open(&second, ":memory:", NULL, NULL) != WEIR_OK || int_of(second, "SELECT 1") != 1)
    return 12;
  return weir_pool_close(second, NULL) == WEIR_OK ? 0 : 13;
}

Test(pool_processes, forked_child_is_refused_everything_and_the_parent_goes_on) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    weir_txn *snapshot = NULL;
    weir_pool_options options = {.size = sizeof options, .numbered = 1};
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    cr_assert(
        eq(int, sql_write(weir_pool_auto(pool), CREATE_T ";INSERT INTO t VALUES(1, 1)", NULL), WEIR_OK));
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
    pid_t child = fork();
    if (child == 0)
      _exit(in_child(pool, snapshot, kind));
    cr_assert(eq(int, child_wait(child), 0));
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    if (kind != SINGLE_MEMORY)
      expect_locks(pool_path(kind), "a fork");
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(2, 2)", NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
    cr_assert(eq(i64, int_of(pool, "SELECT integrity_check='ok' FROM pragma_integrity_check"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
