/* The size of the WAL: when checkpoints begin, when the lane stops to empty it, when its file shrinks. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "internal.h"
#include "threads.h"
#include "traces.h"

TestSuite(wal_limits, .timeout = 120);

enum { PAGES = 20, LIMIT = 60, PAGE = 4096 }; /* checkpoint_pages, wal_limit_pages */

/* The kinds with a file. */
#define FOR_EACH_FILE(kind) for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE)

static traces events = TRACES_INIT;

static const weir_pool_options limited = {.size = sizeof limited,
                                          .checkpoint_pages = PAGES,
                                          .wal_limit_pages = LIMIT,
                                          .acquire_timeout_ms = WEIR_TEST_WAIT_MS,
                                          .trace = traces_note,
                                          .trace_data = &events};

static weir_pool *opened(int kind, const weir_pool_options *options) {
  weir_pool *pool = NULL;
  events.count = 0;
  cr_assert(eq(int, pool_open(&pool, kind, options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  return pool;
}

/* Writes some three pages. */
#define INSERT "INSERT INTO t(v) VALUES(randomblob(8000))"

static void insert(weir_pool *pool) {
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), INSERT, &err), WEIR_OK), "%s", err.message);
}

static task insertion(weir_pool *pool) {
  return (task){.in = weir_pool_auto(pool), .fn = exec_fn, .data = (void *)INSERT, .write = 1};
}

/* Another program reads. */
static sqlite3 *reading(int kind) {
  sqlite3 *other = NULL;
  cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
  cr_assert(eq(int, sqlite3_exec(other, "BEGIN; SELECT count(*) FROM t", NULL, NULL, NULL), SQLITE_OK));
  return other;
}

static void end_reading(sqlite3 *other) {
  cr_assert(eq(int, sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK));
  cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
}

static int64_t wal_size(int kind) {
  char name[700];
  struct stat status;
  (void)snprintf(name, sizeof name, "%s-wal", pool_path(kind));
  cr_assert(eq(int, stat(name, &status), 0));
  return status.st_size;
}

static int one_checkpoint(const weir_pool_stats *stats) {
  return stats->checkpoints >= 1;
}

static int emptied(const weir_pool_stats *stats) {
  return stats->wal_emptied > 0;
}

/* ---- The soft limit ---- */

Test(wal_limits, a_checkpoint_begins_after_checkpoint_pages_at_the_latest_if_no_write_waits) {
  FOR_EACH_FILE(kind) {
    weir_pool_options options = limited;
    options.wal_limit_pages = 100 * PAGES;
    weir_pool *pool = opened(kind, &options);
    while (stats_of(pool).wal_pages < PAGES) {
      cr_assert(stats_of(pool).checkpoints == 0 || stats_of(pool).wal_pages >= PAGES / 8);
      insert(pool);
    }
    cr_assert(lt(u64, stats_of(pool).wal_pages, 2 * PAGES));
    cr_assert(stats_await(pool, one_checkpoint));
    cr_assert(eq(u64, stats_of(pool).wal_limits, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

enum { WAITING = 50 };

struct sight {
  weir_pool_stats at[WAITING];
  int count;
};

/* In the lane: one at a time. */
static int look_and_insert(weir_txn *txn, void *data, weir_error *err) {
  struct sight *sight = data;
  sight->at[sight->count++] = stats_of(weir_txn_pool(txn));
  return weir_txn_exec(txn, INSERT, err);
}

Test(wal_limits, a_checkpoint_begins_later_but_begins_while_writes_wait) {
  FOR_EACH_FILE(kind) {
    weir_pool_options options = limited;
    options.wal_limit_pages = 100 * PAGES;
    options.group_max = 1; /* or all that wait are one commit */
    weir_pool *pool = opened(kind, &options);
    latch held = LATCH_INIT;
    struct sight sight = {.count = 0};
    task first = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &held, .write = 1}, tasks[WAITING];
    cr_assert(eq(int, task_start(&first), 0));
    cr_assert(latch_await(&held, 1));
    for (unsigned i = 0; i < WAITING; i++) {
      tasks[i] = (task){.in = weir_pool_auto(pool), .fn = look_and_insert, .data = &sight, .write = 1};
      cr_assert(task_start_queued(&tasks[i], pool, i + 1));
    }
    latch_open(&held);
    cr_assert(eq(int, task_join(&first), WEIR_OK));
    for (int i = 0; i < WAITING; i++) {
      cr_assert(eq(int, task_join(&tasks[i]), WEIR_OK));
    }
    int later = 0, meanwhile = 0;
    for (int i = 0; i < sight.count; i++) {
      const weir_pool_stats *at = &sight.at[i];
      later += at->checkpoints == 0 && at->wal_pages > 2 * PAGES;
      meanwhile += at->checkpoints > 0 && at->writes_queued > 0;
      if (at->checkpoints == 0)
        cr_assert(lt(u64, at->wal_pages, 5 * PAGES));
    }
    cr_assert(eq(int, sight.count, WAITING));
    cr_assert(gt(int, later, 0));
    cr_assert(gt(int, meanwhile, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- The hard limit ---- */

Test(wal_limits, the_lane_stops_at_wal_limit_pages_until_a_reader_ends_and_the_log_is_emptied) {
  weir_pool_options options = limited;
  options.checkpoint_pause_ms = WEIR_TEST_WAIT_MS;
  weir_pool *pool = opened(POOL_FILE, &options);
  weir_txn *snapshot = NULL;
  cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
  while (stats_of(pool).wal_pages < LIMIT) { /* on a thread that is in no transaction */
    task writer = insertion(pool);
    cr_assert(eq(int, task_start(&writer), 0));
    cr_assert(eq(int, task_join(&writer), WEIR_OK));
  }
  task waiting = insertion(pool);
  cr_assert(task_start_queued(&waiting, pool, 1));
  cr_assert(eq(u64, stats_of(pool).wal_emptied, 0));
  cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
  cr_assert(eq(int, task_join(&waiting), WEIR_OK));
  weir_pool_stats stats = stats_of(pool);
  cr_assert(eq(u64, stats.wal_limits, 1));
  cr_assert(eq(u64, stats.wal_emptied, 1));
  cr_assert(lt(u64, stats.wal_pages, PAGES));
  cr_assert(lt(i64, wal_size(POOL_FILE), PAGES * PAGE));
  cr_assert(eq(int, traces_count(&events, WEIR_TRACE_WAL_LIMIT, NULL), 0));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

Test(wal_limits, a_reader_that_does_not_end_stops_the_lane_for_a_moment_only_and_is_traced) {
  static const int pauses[] = {1, -1};
  for (int i = 0; i < 2; i++) {
    FOR_EACH_FILE(kind) {
      weir_pool_options options = limited;
      options.checkpoint_pause_ms = pauses[i];
      options.checkpoint_pages = LIMIT;
      weir_pool *pool = opened(kind, &options);
      sqlite3 *other = reading(kind);
      while (stats_of(pool).wal_limits < 2) { /* each of these is acknowledged */
        insert(pool);
      }
      weir_pool_stats stats = stats_of(pool);
      cr_assert(eq(u64, stats.wal_emptied, 0));
      cr_assert(ge(u64, stats.wal_pages, LIMIT));
      int traced = traces_count(&events, WEIR_TRACE_WAL_LIMIT, NULL);
      cr_assert(ge(int, traced, 1));
      cr_assert(le(u64, (uint64_t)traced, stats_of(pool).wal_limits));
      cr_assert(ge(u64, traces_last(&events, WEIR_TRACE_WAL_LIMIT, NULL).pages, LIMIT));
      end_reading(other);
      while (!emptied(&stats)) { /* and after it the log begins anew */
        insert(pool);
        stats = stats_of(pool);
      }
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    }
  }
}

/* ---- The size of the file ---- */

enum { KEEP_KIB = 64 };

#define BURST "INSERT INTO t(v) VALUES(randomblob(600000))"

static int file_is_small(void *data) {
  const int *kind = data;
  return wal_size(*kind) <= KEEP_KIB * 1024;
}

Test(wal_limits, the_file_shrinks_to_wal_keep_kib_once_the_lane_is_idle) {
  FOR_EACH_FILE(kind) {
    weir_pool_options options = {.size = sizeof options, .wal_keep_kib = KEEP_KIB};
    weir_pool *pool = opened(kind, &options);
    sqlite3 *other = reading(kind);
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), BURST, NULL), WEIR_OK));
    cr_assert(stats_await(pool, one_checkpoint)); /* tried, but there is a reader */
    cr_assert(not(file_is_small(&kind)));
    cr_assert(eq(u64, stats_of(pool).wal_emptied, 0));
    end_reading(other);
    insert(pool);
    cr_assert(weir_test_wait(file_is_small, &kind, WEIR_TEST_WAIT_MS));
    cr_assert(stats_await(pool, emptied));
    cr_assert(eq(u64, stats_of(pool).wal_pages, 0));
    cr_assert(eq(u64, stats_of(pool).wal_limits, 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(wal_limits, the_file_shrinks_to_wal_keep_kib_when_the_log_begins_anew) {
  enum { TRIES = 50 };
  FOR_EACH_FILE(kind) {
    weir_pool_options options = {.size = sizeof options, .wal_keep_kib = KEEP_KIB, .checkpoint_pages = PAGES};
    options.wal_limit_pages = 1000000;
    weir_pool *pool = opened(kind, &options);
    int shrunk = 0;
    for (int i = 0; i < TRIES && !shrunk; i++) { /* unless the lane is held up: then it was idle, too */
      uint64_t before = stats_of(pool).wal_emptied;
      cr_assert(eq(int, sql_write(weir_pool_auto(pool), BURST, NULL), WEIR_OK));
      for (int j = 0; j < 100 && !file_is_small(&kind); j++) {
        insert(pool);
      }
      shrunk = stats_of(pool).wal_emptied == before;
    }
    cr_assert(shrunk);
    cr_assert(file_is_small(&kind));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(wal_limits, the_largest_wal_keep_kib_keeps_the_file_also_with_the_smallest_pages) {
  FOR_EACH_FILE(kind) {
    weir_pool *pool = NULL;
    sqlite3 *db = NULL;
    weir_pool_options options = {.size = sizeof options, .wal_keep_kib = INT32_MAX};
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &db), SQLITE_OK));
    cr_assert(eq(int, sqlite3_exec(db, "PRAGMA page_size=512; " CREATE_T, NULL, NULL, NULL), SQLITE_OK));
    cr_assert(eq(int, sqlite3_close(db), SQLITE_OK));
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    cr_assert(eq(int, pool->lane.keep_pages, INT32_MAX));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int two_checkpoints(const weir_pool_stats *stats) {
  return stats->checkpoints >= 2;
}

/* One checkpoint comes because of the pages, the second one was to shrink the file. */
Test(wal_limits, the_file_shrinks_also_if_the_reader_in_the_way_ends_after_the_first_attempt) {
  FOR_EACH_FILE(kind) {
    weir_pool_options options = {.size = sizeof options, .wal_keep_kib = KEEP_KIB};
    weir_pool *pool = opened(kind, &options);
    sqlite3 *other = reading(kind);
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), BURST, NULL), WEIR_OK));
    cr_assert(stats_await(pool, two_checkpoints));
    cr_assert(not(file_is_small(&kind)));
    end_reading(other); /* and nothing is written any more */
    cr_assert(weir_test_wait(file_is_small, &kind, WEIR_TEST_WAIT_MS));
    cr_assert(stats_await(pool, emptied));
    cr_assert(eq(u64, stats_of(pool).wal_pages, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(wal_limits, a_write_that_changes_nothing_does_not_bring_the_pages_of_an_emptied_log_back) {
  FOR_EACH_FILE(kind) {
    weir_pool_options options = {.size = sizeof options, .wal_keep_kib = KEEP_KIB, .checkpoint_pages = PAGES};
    weir_pool *pool = opened(kind, &options);
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), BURST, NULL), WEIR_OK));
    cr_assert(stats_await(pool, emptied));
    cr_assert(await_idle_lane(pool));
    weir_pool_stats before = stats_of(pool);
    cr_assert(eq(u64, before.wal_pages, 0));
    for (int i = 0; i < 5; i++) {
      cr_assert(eq(int, sql_write(weir_pool_auto(pool), "UPDATE t SET v = 1 WHERE id < 0", NULL), WEIR_OK));
      cr_assert(eq(u64, stats_of(pool).wal_pages, 0));
      cr_assert(await_idle_lane(pool)); /* a checkpoint would come right behind the write */
    }
    cr_assert(eq(u64, stats_of(pool).commits, before.commits + 5));
    cr_assert(eq(u64, stats_of(pool).checkpoints, before.checkpoints));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
