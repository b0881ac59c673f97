/* SQLITE_BUSY: from readers of the same process, from other connections and from other processes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "internal.h"
#include "threads.h"

TestSuite(busy, .timeout = 120);

static weir_pool *opened(int kind, int busy_timeout_ms) {
  weir_pool *pool = NULL;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.busy_timeout_ms = busy_timeout_ms;
  options.acquire_timeout_ms = 2 * WEIR_TEST_WAIT_MS;
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  return pool;
}

/* The kinds with a file. */
#define FOR_EACH_FILE(kind) for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE)

/* ---- In one process ---- */

enum { COMMITS = TEST_IS_SLOW ? 1500 : 10000, READERS = 3 };

struct traffic {
  weir_pool *pool;
  atomic_int stop;
  atomic_long reads;
  faults faults;
};

static void traffic(int index, void *data) {
  struct traffic *t = data;
  weir_error err = WEIR_ERROR_INIT;
  int rc = WEIR_OK;
  for (int i = 0; index == 0 && rc == WEIR_OK && i < COMMITS; i++) {
    rc = sql_write(weir_pool_auto(t->pool), "UPDATE t SET v = v + 1", &err);
  }
  while (index > 0 && rc == WEIR_OK && !atomic_load(&t->stop)) {
    int64_t value = 0;
    rc = sql_int(weir_pool_auto(t->pool), "SELECT v FROM t", &value, &err);
    atomic_fetch_add(&t->reads, 1);
  }
  if (rc != WEIR_OK)
    fault(&t->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
  if (index == 0)
    atomic_store(&t->stop, 1);
}

/* A reader that finds the log's index torn takes SQLite's write lock for a moment. */
Test(busy, a_writer_alone_among_readers_is_never_told_busy) {
  struct traffic t = {.pool = opened(POOL_FILE, 0)};
  cr_assert(eq(int, sql_write(weir_pool_auto(t.pool), "INSERT INTO t VALUES(1, 0)", NULL), WEIR_OK));
  cr_assert(together(1 + READERS, traffic, &t));
  cr_assert(eq(int, atomic_load(&t.faults.count), 0), "%s", t.faults.first);
  cr_assert(eq(i64, int_of(t.pool, "SELECT v FROM t"), COMMITS));
  cr_assert(gt(long, atomic_load(&t.reads), 0));
  cr_assert(eq(int, weir_pool_close(t.pool, NULL), WEIR_OK));
}

/* ---- Another connection ---- */

/* A connection past the pool, as other programs have them. */
static sqlite3 *other_connection(int kind) {
  sqlite3 *db = NULL;
  cr_assert(eq(int, sqlite3_open(pool_path(kind), &db), SQLITE_OK));
  cr_assert(eq(int, sqlite3_busy_timeout(db, WEIR_TEST_WAIT_MS), SQLITE_OK));
  return db;
}

static void run(sqlite3 *db, const char *sql) {
  cr_assert(eq(int, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK), "%s: %s", sql, sqlite3_errmsg(db));
}

struct tries {
  weir_pool *pool;
  uint64_t wanted;
};

static int have_been(void *data) {
  struct tries *tries = data;
  return stats_of(tries->pool).busy >= tries->wanted;
}

Test(busy, a_write_waits_for_the_lock_of_another_connection_and_sees_what_that_wrote) {
  FOR_EACH_FILE(kind) {
    weir_pool *pool = opened(kind, WEIR_TEST_WAIT_MS);
    sqlite3 *other = other_connection(kind);
    run(other, "INSERT INTO t VALUES(1, 0)");
    for (int i = 0; i < 20; i++) {
      task writer = {.in = weir_pool_auto(pool), .fn = exec_fn, .write = 1};
      writer.data = (void *)"UPDATE t SET v = v * 2 + 1";
      struct tries tries = {pool, stats_of(pool).busy + (i % 2 ? 3 : 0)};
      run(other, "BEGIN IMMEDIATE; UPDATE t SET v = 10");
      cr_assert(eq(int, task_start(&writer), 0));
      cr_assert(
          weir_test_wait(have_been, &tries, WEIR_TEST_WAIT_MS)); /* every other time it has begun to wait */
      cr_assert(not(task_ended(&writer)));
      run(other, "COMMIT");
      cr_assert(eq(int, task_join(&writer), WEIR_OK), "%s", writer.error.message);
      cr_assert(eq(i64, int_of(pool, "SELECT v FROM t"), 21)); /* not 1: it began after the other had ended */
    }
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(busy, a_begin_that_fails_after_busy_timeout_leaves_the_lane_to_the_next) {
  enum { WRITERS = 4 };
  FOR_EACH_FILE(kind) {
    weir_pool *pool = opened(kind, 20);
    sqlite3 *other = other_connection(kind);
    task writers[WRITERS];
    run(other, "BEGIN IMMEDIATE");
    for (int i = 0; i < WRITERS; i++) {
      writers[i] = (task){.in = weir_pool_auto(pool), .fn = exec_fn, .write = 1};
      writers[i].data = (void *)"INSERT INTO t(v) VALUES(0)";
      cr_assert(eq(int, task_start(&writers[i]), 0));
    }
    for (int i = 0; i < WRITERS; i++) {
      cr_assert(eq(int, task_join(&writers[i]), WEIR_BUSY)); /* one after another */
      cr_assert(eq(int, writers[i].error.code, WEIR_BUSY));
      cr_assert(eq(int, writers[i].error.sqlite_code & 0xff, SQLITE_BUSY));
    }
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0)); /* reads go on */
    run(other, "COMMIT");
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t(v) VALUES(1)", NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(busy, without_busy_timeout_a_locked_file_is_busy_at_once) {
  FOR_EACH_FILE(kind) {
    weir_pool *pool = opened(kind, -1);
    sqlite3 *other = other_connection(kind);
    run(other, "BEGIN IMMEDIATE");
    uint64_t before = stats_of(pool).busy;
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, NULL, NULL), WEIR_BUSY));
    cr_assert(eq(u64, stats_of(pool).busy, before + 1)); /* tried once */
    run(other, "COMMIT");
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Other processes ---- */

static void insert_some(int index, void *data) {
  struct traffic *t = data;
  for (int i = 0; i < 50; i++) {
    weir_error err = WEIR_ERROR_INIT;
    int rc = sql_write(weir_pool_auto(t->pool), "INSERT INTO t(v) VALUES(0)", &err);
    if (rc != WEIR_OK)
      fault(&t->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
  }
}

Test(busy, threads_here_and_in_other_processes_write_and_none_is_told_busy) {
  enum { CHILDREN = 2, THREADS = 4 };
  FOR_EACH_FILE(kind) {
    struct traffic t = {.pool = opened(kind, WEIR_TEST_WAIT_MS)};
    const char *const arguments[] = {"write", pool_path(kind), kind == POOL_FILE ? "pool" : "single", "100",
                                     NULL};
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
      children[i] = child_start(arguments, -1);
    }
    cr_assert(together(THREADS, insert_some, &t));
    for (int i = 0; i < CHILDREN; i++) {
      cr_assert(eq(int, child_wait(children[i]), 0));
    }
    cr_assert(eq(int, atomic_load(&t.faults.count), 0), "%s", t.faults.first);
    cr_assert(eq(i64, int_of(t.pool, "SELECT count(*) FROM t"), THREADS * 50));
    cr_assert(eq(i64, int_of(t.pool, "SELECT count(*) FROM revs"), CHILDREN * 100));
    cr_assert(eq(i64, int_of(t.pool, "SELECT max(rev) FROM revs"), CHILDREN * 100)); /* no number is lost */
    cr_assert(eq(i64, int_of(t.pool, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1));
    cr_assert(eq(int, weir_pool_close(t.pool, NULL), WEIR_OK));
  }
}

/* In a child of a process that has not used SQLite yet: takes the write lock, says so, and stays. */
static void hold_lock(const char *path, int ready) {
  sqlite3 *db = NULL;
  (void)alarm(4 * WEIR_TEST_WAIT_MS / 1000); /* should the test fail before it ends this process */
  if (sqlite3_open(path, &db) == SQLITE_OK &&
      sqlite3_exec(db,
                   "PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, v);"
                   "BEGIN IMMEDIATE; INSERT INTO t VALUES(1, 1)",
                   NULL, NULL, NULL) == SQLITE_OK &&
      write(ready, "", 1) == 1) {
    (void)pause();
  }
  _exit(1);
}

Test(busy, a_process_that_dies_in_its_write_releases_those_who_wait_and_leaves_no_trace) {
  int ready[2];
  char byte;
  const char *path = pool_path(POOL_FILE);
  cr_assert(eq(int, pipe(ready), 0));
  pid_t child = fork();
  if (child == 0)
    hold_lock(path, ready[1]);
  (void)close(ready[1]);
  cr_assert(eq(long, (long)read(ready[0], &byte, 1), 1));
  weir_pool *pool = NULL;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.busy_timeout_ms = WEIR_TEST_WAIT_MS;
  cr_assert(eq(int, pool_open(&pool, POOL_FILE, &options), WEIR_OK));
  task writer = {.in = weir_pool_auto(pool), .fn = exec_fn, .write = 1};
  writer.data = (void *)"INSERT INTO t VALUES(2, 2)";
  cr_assert(eq(int, task_start(&writer), 0));
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0)); /* reads do not wait */
  cr_assert(not(task_ended(&writer)));
  cr_assert(eq(int, kill(child, SIGKILL), 0));
  cr_assert(eq(int, child_wait(child), -1));
  cr_assert(eq(int, task_join(&writer), WEIR_OK), "%s", writer.error.message);
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
  cr_assert(eq(i64, int_of(pool, "SELECT id FROM t"), 2));
  cr_assert(eq(int, close(ready[0]), 0));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* ---- Giving up ---- */

Test(busy, a_write_that_waits_for_the_lock_is_ended_by_its_token_and_by_the_close_of_the_pool) {
  FOR_EACH_FILE(kind) {
    weir_pool *pool = NULL;
    weir_error err = WEIR_ERROR_INIT;
    weir_token token = {0};
    weir_txn_options canceled = {.size = sizeof canceled, .token = &token};
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.busy_timeout_ms = 10 * WEIR_TEST_WAIT_MS; /* longer than the test may take */
    options.close_timeout_ms = 5000;
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
    sqlite3 *other = other_connection(kind);
    run(other, "BEGIN IMMEDIATE");
    for (int i = 0; i < 2; i++) {
      struct tries tries = {pool, stats_of(pool).busy + 1};
      task writer = {.in = weir_pool_auto(pool), .fn = exec_fn, .write = 1};
      writer.data = (void *)"INSERT INTO t VALUES(1, 0)";
      writer.options = i ? NULL : &canceled;
      cr_assert(eq(int, task_start(&writer), 0));
      cr_assert(weir_test_wait(have_been, &tries, WEIR_TEST_WAIT_MS));
      cr_assert(eq(int, i ? weir_pool_close(pool, &err) : weir_cancel(pool, &token), WEIR_OK), "%s",
                err.message);
      cr_assert(weir_test_wait(task_ended, &writer, WEIR_TEST_WAIT_MS));
      cr_assert(eq(int, task_join(&writer), WEIR_CANCELED), "%s", writer.error.message);
      cr_assert(eq(int, writer.error.code, WEIR_CANCELED));
    }
    run(other, "COMMIT");
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
