/* Checkpoints: when they are run, by whom, and that nobody is hurt by them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

#include <sqlite3.h>

#include "internal.h"
#include "registry.h"
#include "threads.h"

TestSuite(checkpoint, .timeout = 120);

enum { PAGES = 20 }; /* checkpoint_pages */

/* ---- A VFS that tells of each write to the database and to the log ---- */

static struct watch {
  sqlite3_vfs vfs;
  sqlite3_vfs *real;
  const sqlite3_io_methods *real_methods[2]; /* of the database and of the log */
  sqlite3_io_methods methods[2];
  _Atomic(weir_pool *) pool; /* watched, once it is open */
  atomic_long writes[2];
  faults faults;
} watch;

/* Only who has the lane's connection may write, to either file; only the lane's thread to the database. */
static void judge(int log) {
  weir_pool *pool = atomic_load(&watch.pool);
  if (!pool)
    return; /* opening or closing: one thread */
  atomic_fetch_add(&watch.writes[log], 1);
  (void)pthread_mutex_lock(&pool->lock);
  const weir__slot *slot = pool->writer ? pool->writer : &pool->slots[0];
  int leased = slot->leased && slot->owner == weir__thread_id();
  (void)pthread_mutex_unlock(&pool->lock);
  (void)pthread_mutex_lock(&pool->lane.lock);
  int driven = pool->lane.driven;
  int lane_thread = pthread_equal(pool->lane.thread, pthread_self());
  (void)pthread_mutex_unlock(&pool->lane.lock);
  if (!leased || !driven)
    fault(&watch.faults, "the %s was written outside of the lane", log ? "log" : "database");
  if (!log && !lane_thread)
    fault(&watch.faults, "a caller had to do a checkpoint");
}

static int write_database(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset) {
  judge(0);
  return watch.real_methods[0]->xWrite(file, data, size, offset);
}

static int write_log(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset) {
  judge(1);
  return watch.real_methods[1]->xWrite(file, data, size, offset);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int rc = watch.real->xOpen(watch.real, name, file, flags, out_flags);
  (void)vfs;
  if (rc != SQLITE_OK || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
    return rc;
  int log = (flags & SQLITE_OPEN_WAL) != 0;
  (void)pthread_mutex_lock(&lock);
  if (!watch.real_methods[log]) {
    watch.real_methods[log] = file->pMethods;
    watch.methods[log] = *file->pMethods;
    watch.methods[log].xWrite = log ? write_log : write_database;
  }
  if (file->pMethods == watch.real_methods[log])
    file->pMethods = &watch.methods[log];
  else
    fault(&watch.faults, "a file has other methods");
  (void)pthread_mutex_unlock(&lock);
  return SQLITE_OK;
}

static weir_pool *opened(int kind) {
  weir_pool *pool = NULL;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  weir_error err = WEIR_ERROR_INIT;
  char uri[700];
  if (!watch.real) {
    watch.real = sqlite3_vfs_find(NULL);
    watch.vfs = *watch.real;
    watch.vfs.zName = "watch";
    watch.vfs.pNext = NULL;
    watch.vfs.xOpen = open_file;
    cr_assert(eq(int, sqlite3_vfs_register(&watch.vfs, 0), SQLITE_OK));
  }
  options.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
  options.checkpoint_pages = PAGES;
  options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
  (void)snprintf(uri, sizeof uri, "file:%s?vfs=watch", pool_path(kind));
  cr_assert(eq(int, weir_pool_open(&pool, uri, &options, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  atomic_store(&watch.pool, pool);
  return pool;
}

static void closed(weir_pool *pool) {
  atomic_store(&watch.pool, NULL);
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  cr_assert(eq(int, atomic_load(&watch.faults.count), 0), "%s", watch.faults.first);
}

/* The kinds with a file. */
#define FOR_EACH_FILE(kind) for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE)

/* Writes some two pages. */
#define INSERT "INSERT INTO t(v) VALUES(randomblob(4000))"

static void insert(weir_pool *pool, int times) {
  for (int i = 0; i < times; i++) {
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), INSERT, NULL), WEIR_OK));
  }
}

struct goal {
  weir_pool *pool;
  uint64_t checkpoints;
};

static int reached(void *data) {
  struct goal *goal = data;
  return stats_of(goal->pool).checkpoints >= goal->checkpoints;
}

/* ---- Tests ---- */

Test(checkpoint, is_run_after_so_many_pages_and_the_log_begins_anew) {
  FOR_EACH_FILE(kind) {
    weir_pool *pool = opened(kind);
    uint64_t highest = 0;
    for (uint64_t i = 1; i <= 10; i++) {
      struct goal goal = {pool, stats_of(pool).checkpoints + 1};
      while (!reached(&goal) && stats_of(pool).wal_pages < 10 * PAGES) {
        insert(pool, 1);
        highest = stats_of(pool).wal_pages > highest ? stats_of(pool).wal_pages : highest;
      }
      cr_assert(weir_test_wait(reached, &goal, WEIR_TEST_WAIT_MS), "kind %d, checkpoint %d", kind, (int)i);
    }
    cr_assert(ge(u64, highest, PAGES / 8)); /* not all the time, either */
    cr_assert(lt(u64, highest, 5 * PAGES));
    cr_assert(gt(long, atomic_load(&watch.writes[0]), 0));
    closed(pool);
  }
}

Test(checkpoint, leaves_a_snapshot_as_it_was_and_goes_on_after_its_end) {
  weir_pool *pool = opened(POOL_FILE);
  weir_txn *snapshot = NULL;
  int64_t seen = -1;
  insert(pool, 3);
  cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
  struct goal goal = {pool, stats_of(pool).checkpoints + 3};
  task writer = {.in = weir_pool_auto(pool), .fn = exec_fn, .data = (void *)INSERT, .write = 1};
  for (int i = 0; i < 100 * PAGES && (!reached(&goal) || stats_of(pool).wal_pages < 2 * PAGES);
       i++) { /* on a thread that is in no transaction */
    cr_assert(eq(int, task_start(&writer), 0));
    cr_assert(eq(int, task_join(&writer), WEIR_OK));
    cr_assert(eq(int, sql_int(snapshot, "SELECT count(*) FROM t", &seen, NULL), WEIR_OK));
    cr_assert(eq(i64, seen, 3));
  }
  cr_assert(weir_test_wait(reached, &goal, WEIR_TEST_WAIT_MS));
  uint64_t grown = stats_of(pool).wal_pages;
  cr_assert(ge(u64, grown, 2 * PAGES)); /* the log cannot begin anew */
  cr_assert(eq(int,
               sql_int(snapshot, "SELECT integrity_check = 'ok' FROM pragma_integrity_check", &seen, NULL),
               WEIR_OK));
  cr_assert(eq(i64, seen, 1));
  cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
  for (int i = 0; i < 100 * PAGES && stats_of(pool).wal_pages >= grown; i++) {
    insert(pool, 1);
  }
  cr_assert(lt(u64, stats_of(pool).wal_pages, grown));
  closed(pool);
}

/* ---- Under load ---- */

enum { WRITERS = 3, ALL = 6, INSERTS = TEST_IS_SLOW ? 50 : 200 };

struct load {
  weir_pool *pool;
  atomic_int writing;
  faults faults;
};

static void load(int index, void *data) {
  struct load *l = data;
  weir_error err = WEIR_ERROR_INIT;
  int rc = WEIR_OK;
  for (int i = 0; index < WRITERS && rc == WEIR_OK && i < INSERTS; i++) {
    rc = sql_write(weir_pool_auto(l->pool), INSERT, &err);
  }
  atomic_fetch_sub(&l->writing, index < WRITERS);
  int64_t last = 0;
  while (index >= WRITERS && rc == WEIR_OK && atomic_load(&l->writing) > 0) {
    int64_t count = 0;
    rc = sql_int(weir_pool_auto(l->pool), "SELECT count(*) FROM t", &count, &err);
    if (rc == WEIR_OK && count < last)
      fault(&l->faults, "%lld rows after %lld", (long long)count, (long long)last);
    last = count;
  }
  if (rc != WEIR_OK)
    fault(&l->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
}

/* A checkpoint on one connection that meets a commit on another can lose pages (SQLite 3.7.0 to 3.51.2). */
Test(checkpoint, never_meets_a_commit_and_is_never_left_to_a_caller) {
  FOR_EACH_FILE(kind) {
    struct load l = {.pool = opened(kind), .writing = WRITERS};
    cr_assert(together(ALL, load, &l));
    cr_assert(eq(int, atomic_load(&l.faults.count), 0), "%s", l.faults.first);
    cr_assert(eq(i64, int_of(l.pool, "SELECT count(*) FROM t"), WRITERS * INSERTS));
    cr_assert(gt(u64, stats_of(l.pool).checkpoints, 3));
    cr_assert(gt(long, atomic_load(&watch.writes[0]), 0)); /* the watch saw both kinds */
    cr_assert(gt(long, atomic_load(&watch.writes[1]), 0));
    closed(l.pool);
    /* What the log held is in the file, which is whole. */
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &db), SQLITE_OK));
    cr_assert(eq(int, sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL), SQLITE_OK));
    cr_assert(eq(int, sqlite3_step(stmt), SQLITE_ROW));
    cr_assert(eq(str, (char *)sqlite3_column_text(stmt, 0), (char *)"ok"));
    cr_assert(eq(int, sqlite3_finalize(stmt), SQLITE_OK));
    cr_assert(eq(int, sqlite3_close(db), SQLITE_OK));
  }
}

/* Another program that reads keeps the log from being copied: that is nobody's failure here. */
Test(checkpoint, that_a_reader_of_another_connection_holds_up_fails_no_write) {
  weir_pool *pool = opened(POOL_FILE);
  sqlite3 *other = NULL;
  cr_assert(eq(int, sqlite3_open(pool_path(POOL_FILE), &other), SQLITE_OK));
  cr_assert(eq(int, sqlite3_exec(other, "BEGIN; SELECT count(*) FROM t", NULL, NULL, NULL), SQLITE_OK));
  struct goal goal = {pool, stats_of(pool).checkpoints + 2};
  for (int i = 0; i < 100 * PAGES && (!reached(&goal) || stats_of(pool).wal_pages < 2 * PAGES); i++) {
    insert(pool, 1);
  }
  cr_assert(weir_test_wait(reached, &goal, WEIR_TEST_WAIT_MS));
  cr_assert(eq(int, sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK));
  cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
  closed(pool);
}
