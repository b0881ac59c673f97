/* The option `exclusive`: other processes are kept out, and everything works as without it. */
#define _GNU_SOURCE /* pipe2 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <sqlite3.h>

#include "threads.h"

TestSuite(exclusive, .timeout = 120);

enum { THREADS = 4, WRITERS = 2, WRITES = 40, ROWS = WRITERS * WRITES };

static weir_pool *opened(int kind, int exclusive) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options,
                               .exclusive = exclusive,
                               .checkpoint_pages = 5,
                               .group_us =
                                   60 * 1000 * 1000, /* however slow: writes that wait share a commit */
                               .acquire_timeout_ms = WEIR_TEST_WAIT_MS};
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  return pool;
}

/* What another process gets that opens and reads the file, with SQLite alone or with weir. */
static int look(int kind, const char *mode, int rows) {
  char wanted[16];
  (void)snprintf(wanted, sizeof wanted, "%d", rows);
  const char *const arguments[] = {"look", pool_path(kind), mode, wanted, NULL};
  return child_wait(child_start(arguments, -1));
}

struct load {
  weir_pool *pool;
  atomic_int writing;
  faults faults;
};

static void load(int index, void *data) {
  struct load *l = data;
  weir_error err = WEIR_ERROR_INIT;
  int rc = WEIR_OK;
  for (int i = 0; index < WRITERS && i < WRITES && rc == WEIR_OK; i++)
    rc = sql_write(weir_pool_auto(l->pool), "INSERT INTO t(v) VALUES(zeroblob(3000))", &err);
  atomic_fetch_sub(&l->writing, index < WRITERS);
  int64_t last = 0;
  while (index >= WRITERS && atomic_load(&l->writing) > 0 && rc == WEIR_OK) {
    int64_t count = 0;
    rc = sql_int(weir_pool_auto(l->pool), "SELECT count(*) FROM t", &count, &err);
    if (rc == WEIR_OK && count < last)
      fault(&l->faults, "%lld rows after %lld", (long long)count, (long long)last);
    last = count;
  }
  if (rc != WEIR_OK)
    fault(&l->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
}

/* Writes and reads on several threads, writes that share a commit, checkpoints. */
static void work(weir_pool *pool) {
  struct load l = {.pool = pool, .writing = WRITERS};
  latch held = LATCH_INIT;
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  cr_assert(together(THREADS, load, &l));
  cr_assert(eq(int, atomic_load(&l.faults.count), 0), "%s", l.faults.first);

  task first = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &held, .write = 1}, second[2];
  cr_assert(eq(int, task_start(&first), 0));
  cr_assert(latch_await(&held, 1));
  for (unsigned i = 0; i < 2; i++) {
    second[i] =
        (task){.in = weir_pool_auto(pool), .fn = exec_fn, .data = (void *)"UPDATE t SET v = 1", .write = 1};
    cr_assert(task_start_queued(&second[i], pool, i + 1));
  }
  latch_open(&held);
  cr_assert(eq(int, task_join(&first), WEIR_OK));
  cr_assert(eq(int, task_join(&second[0]), WEIR_OK));
  cr_assert(eq(int, task_join(&second[1]), WEIR_OK));
  weir_pool_stats stats = stats_of(pool);
  cr_assert(lt(u64, stats.commits, stats.writes));
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t WHERE v = 1"), ROWS));
}

Test(exclusive, keeps_other_processes_out_until_the_pool_is_closed) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool *pool = opened(kind, 1);
    work(pool);
    cr_assert(gt(u64, stats_of(pool).checkpoints, 0));
    cr_assert(not(file_exists(pool_path(kind), "-shm"))); /* the index of the log is in memory */
    cr_assert(eq(int, look(kind, "-", ROWS), SQLITE_BUSY));
    cr_assert(eq(int, look(kind, "single", ROWS), -WEIR_BUSY));
    cr_assert(eq(int, look(kind, "pool", ROWS), -WEIR_BUSY));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), ROWS));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "UPDATE t SET v = 2", NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(not(file_exists(pool_path(kind), "-wal")));
    cr_assert(eq(int, look(kind, "-", ROWS), 0));
    cr_assert(eq(int, look(kind, "single", ROWS), 0));
    cr_assert(eq(int, look(kind, "pool", ROWS), 0));
  }
}

Test(exclusive, lets_them_in_if_it_was_not_asked_for) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool *pool = opened(kind, 0);
    work(pool);
    cr_assert(file_exists(pool_path(kind), "-shm"));
    cr_assert(eq(int, look(kind, "-", ROWS), 0));
    cr_assert(eq(int, look(kind, "single", ROWS), 0));
    cr_assert(eq(int, look(kind, "pool", ROWS), 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(exclusive, works_in_memory_and_refuses_another_vfs) {
  weir_pool *pool = opened(SINGLE_MEMORY, 1);
  work(pool);
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  weir_pool_options options = {.size = sizeof options, .exclusive = 1};
  char uri[700];
  (void)snprintf(uri, sizeof uri, "file:%s?vfs=unix", pool_path(POOL_FILE)); /* others could come in */
  cr_assert(eq(int, weir_pool_open(&pool, uri, &options, NULL), WEIR_INVALID));
  (void)snprintf(uri, sizeof uri, "file:%s?vfs=unix-excl", pool_path(POOL_FILE));
  cr_assert(eq(int, weir_pool_open(&pool, uri, &options, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* ---- While another process has the file ---- */

static int opens(int exclusive) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options, .exclusive = exclusive, .busy_timeout_ms = -1};
  int rc = weir_pool_open(&pool, pool_path(POOL_FILE), &options, NULL);
  (void)weir_pool_close(pool, NULL);
  return rc;
}

static int is_held(void *data) {
  return file_exists(data, "-held");
}

Test(exclusive, is_busy_while_another_process_has_the_file) {
  weir_pool *pool = opened(POOL_FILE, 0);
  int go[2];
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  const char *const arguments[] = {"hold", pool_path(POOL_FILE), "-", "0", NULL};
  cr_assert(eq(int, pipe2(go, O_CLOEXEC), 0));
  pid_t child = child_start(arguments, go[0]);
  cr_assert(eq(int, close(go[0]), 0));
  cr_assert(weir_test_wait(is_held, (void *)pool_path(POOL_FILE), WEIR_TEST_WAIT_MS));
  cr_assert(eq(int, opens(1), WEIR_BUSY));
  cr_assert(eq(int, opens(0), WEIR_OK));
  cr_assert(eq(int, opens(1), WEIR_BUSY));
  cr_assert(eq(int, close(go[1]), 0));
  cr_assert(eq(int, child_wait(child), 0));
  cr_assert(eq(int, opens(1), WEIR_OK));
}
