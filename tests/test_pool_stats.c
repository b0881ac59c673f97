/* The counters of a pool. */
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_stats, .timeout = 60);

static weir_pool *opened(int kind, weir_pool_options options) {
  weir_pool *pool = NULL;
  options.size = sizeof options;
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  return pool;
}

Test(pool_stats, one_connection_is_opened_at_first_and_others_when_they_are_needed) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, (weir_pool_options){.readers = 3});
    latch l = LATCH_INIT;
    task tasks[3];
    cr_assert(
        eq(u32, stats_of(pool).readers_open, kind == POOL_FILE ? 0 : 1)); /* a pool's first one writes */
    for (int i = 0; i < 3; i++) {
      cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
      cr_assert(eq(i64, int_of(pool, "SELECT 1"), 1));
      cr_assert(eq(u32, stats_of(pool).readers_open, 1)); /* one after another: one is enough */
    }
    int at_once = kind == POOL_FILE ? 3 : 1;
    for (int i = 0; i < at_once; i++) {
      tasks[i] = (task){.in = weir_pool_auto(pool), .fn = latch_fn, .data = &l};
      cr_assert(eq(int, task_start(&tasks[i]), 0));
      cr_assert(latch_await(&l, i + 1));
      weir_pool_stats stats = stats_of(pool);
      cr_assert(eq(u32, stats.readers_open, (unsigned)i + 1));
      cr_assert(eq(u32, stats.readers_in_use, (unsigned)i + 1));
    }
    latch_open(&l);
    for (int i = 0; i < at_once; i++)
      cr_assert(eq(int, task_join(&tasks[i]), WEIR_OK));
    cr_assert(eq(u32, stats_of(pool).readers_in_use, 0));
    cr_assert(eq(u32, stats_of(pool).readers_open, (unsigned)at_once));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int fail_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)txn, (void)data;
  return weir_fail(err, WEIR_INVALID, "no");
}

Test(pool_stats, reads_commits_and_rollbacks_are_counted) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, (weir_pool_options){.readers = 2});
    weir_pool_stats stats = stats_of(pool);
    cr_assert(eq(u64, stats.reads + stats.commits + stats.writes + stats.rollbacks + stats.read_waits, 0));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
    for (int i = 0; i < 5; i++)
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0));
    for (int i = 0; i < 3; i++)
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), fail_fn, NULL, NULL, NULL), WEIR_INVALID));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), fail_fn, NULL, NULL, NULL), WEIR_INVALID));
    weir_txn *snapshot = NULL;
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
    cr_assert(eq(u64, stats_of(pool).reads, 6));
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    stats = stats_of(pool);
    cr_assert(eq(u64, stats.reads, 7));
    cr_assert(eq(u64, stats.commits, 1));
    cr_assert(eq(u64, stats.writes, 1));
    cr_assert(eq(u64, stats.rollbacks, 3));
    cr_assert(eq(u64, stats.read_waits, 0));
    cr_assert(eq(u64, stats.busy, 0));
    cr_assert(eq(u64, stats.replaced, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_stats, those_who_wait_are_counted_while_they_do_and_reads_also_after_it) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, (weir_pool_options){.readers = 1});
    latch held = LATCH_INIT, lane = LATCH_INIT;
    task read = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &held};
    task waits[2], write = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &lane, .write = 1}, queued[2];
    cr_assert(eq(int, task_start(&read), 0));
    cr_assert(latch_await(&held, 1));
    for (int i = 0; i < 2; i++) {
      waits[i] = (task){.in = weir_pool_auto(pool), .fn = nothing_fn};
      cr_assert(task_start_waiting(&waits[i], pool, (unsigned)i + 1));
    }
    cr_assert(eq(u32, stats_of(pool).readers_waiting, 2));
    latch_open(&held);
    cr_assert(eq(int, task_join(&read) | task_join(&waits[0]) | task_join(&waits[1]), WEIR_OK));
    weir_pool_stats stats = stats_of(pool);
    cr_assert(eq(u32, stats.readers_waiting, 0));
    cr_assert(eq(u64, stats.reads, 3));
    cr_assert(eq(u64, stats.read_waits, 2));

    cr_assert(eq(int, task_start(&write), 0));
    cr_assert(latch_await(&lane, 1));
    for (int i = 0; i < 2; i++) {
      queued[i] = (task){.in = weir_pool_auto(pool), .fn = nothing_fn, .write = 1};
      cr_assert(task_start_queued(&queued[i], pool, (unsigned)i + 1));
    }
    cr_assert(eq(u32, stats_of(pool).writes_queued, 2));
    latch_open(&lane);
    cr_assert(eq(int, task_join(&write) | task_join(&queued[0]) | task_join(&queued[1]), WEIR_OK));
    stats = stats_of(pool);
    cr_assert(eq(u32, stats.writes_queued, 0));
    cr_assert(eq(u64, stats.writes, 3));
    cr_assert(eq(u64, stats.write_waits, 2));
    cr_assert(eq(u64, stats.read_waits, 2));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_stats, write_that_waits_for_a_read_is_no_read_that_waited) {
  for (int kind = SINGLE_FILE; kind <= SINGLE_MEMORY; kind++) {
    weir_pool *pool = opened(kind, (weir_pool_options){.readers = 1});
    latch held = LATCH_INIT;
    task read = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &held};
    task write = {.in = weir_pool_auto(pool), .fn = nothing_fn, .write = 1};
    cr_assert(eq(int, task_start(&read), 0));
    cr_assert(latch_await(&held, 1));
    cr_assert(task_start_waiting(&write, pool, 1));
    latch_open(&held);
    cr_assert(eq(int, task_join(&read) | task_join(&write), WEIR_OK));
    cr_assert(eq(u64, stats_of(pool).read_waits, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int has_checkpointed(const weir_pool_stats *stats) {
  return stats->checkpoints > 0;
}

Test(pool_stats, log_grows_with_commits_and_a_checkpoint_is_run_when_it_has_grown_enough) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool *pool = opened(kind, (weir_pool_options){.checkpoint_pages = 50});
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
    uint64_t before = stats_of(pool).wal_pages;
    cr_assert(gt(u64, before, 0));
    cr_assert(
        eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(1, zeroblob(40000))", NULL), WEIR_OK));
    cr_assert(ge(u64, stats_of(pool).wal_pages, before + 10));
    cr_assert(eq(u64, stats_of(pool).checkpoints, 0));
    cr_assert(
        eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(2, zeroblob(400000))", NULL), WEIR_OK));
    cr_assert(stats_await(pool, has_checkpointed));
    /* all of it was copied, so the next commit begins the log anew */
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(3, 3)", NULL), WEIR_OK));
    cr_assert(lt(u64, stats_of(pool).wal_pages, 10));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 3));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_stats, no_checkpoint_is_run_before_that_nor_by_other_connections) {
  weir_pool *pool = opened(POOL_FILE, (weir_pool_options){.checkpoint_pages = 1000000});
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  for (int i = 0; i < 20; i++) /* beyond SQLite's own limit of 1000 pages */
    cr_assert(
        eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t(v) VALUES(zeroblob(400000))", NULL), WEIR_OK));
  cr_assert(gt(u64, stats_of(pool).wal_pages, 1900));
  cr_assert(eq(u64, stats_of(pool).checkpoints, 0));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

Test(pool_stats, get_refuses_bad_arguments_and_fills_no_more_than_size) {
  weir_pool *pool = opened(SINGLE_MEMORY, (weir_pool_options){.readers = 1});
  weir_pool_stats stats;
  memset(&stats, 0x5a, sizeof stats);
  cr_assert(eq(int, weir_pool_stats_get(NULL, &stats, sizeof stats), WEIR_INVALID));
  cr_assert(eq(int, weir_pool_stats_get(pool, NULL, sizeof stats), WEIR_INVALID));
  cr_assert(eq(int, weir_pool_stats_get(pool, &stats, 0), WEIR_INVALID));
  cr_assert(eq(int, weir_pool_stats_get(pool, &stats, sizeof stats + 1), WEIR_INVALID));
  cr_assert(eq(u32, stats.readers_open, 0x5a5a5a5a));
  cr_assert(eq(int, weir_pool_stats_get(pool, &stats, offsetof(weir_pool_stats, reads)),
               WEIR_OK)); /* an older one */
  cr_assert(eq(u32, stats.readers_open, 1));
  cr_assert(eq(u64, stats.reads, 0x5a5a5a5a5a5a5a5a));
  cr_assert(eq(int, (int)weir_pool_mode(NULL), (int)WEIR_MODE_DEFAULT));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}
