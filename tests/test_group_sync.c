/*
 * A sync of the log that fails. The kernel does not try again, so nobody knows what of the log is on the
 * disk: those who share the commit hear so, and nothing durable is acknowledged until all of the log was
 * copied.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "fault_vfs.h"
#include "groups.h"
#include "threads.h"

static void set_up(void) {
  cr_assert(eq(int, fault_vfs_register(), SQLITE_OK));
}

TestSuite(group_sync, .timeout = 200, .init = set_up);

/* ---- Pools that tell what happens to them ---- */

static struct {
  char path[700];
  atomic_int failed, healed;
  atomic_int keeps_failing; /* 0: one failure, and syncs work again */
  atomic_int pages_left;    /* the log was not empty when it was said to be healed */
} seen;

static void on_trace(const weir_trace *event, void *data) {
  char log[710];
  struct stat st;
  (void)data;
  if (event->kind == WEIR_TRACE_SYNC_FAILED) {
    atomic_fetch_add(&seen.failed, 1);
    if (!atomic_load(&seen.keeps_failing))
      atomic_store(&fault_sync, 0);
  } else if (event->kind == WEIR_TRACE_SYNC_HEALED) {
    atomic_fetch_add(&seen.healed, 1);
    (void)snprintf(log, sizeof log, "%s-wal", seen.path);
    if (stat(log, &st) == 0 && st.st_size > 0)
      atomic_fetch_add(&seen.pages_left, 1);
  }
}

static weir_pool *opened_with(int kind, weir_pool_options options) {
  weir_pool *pool = NULL;
  char uri[720];
  weir_error err = WEIR_ERROR_INIT;
  options.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
  options.trace = on_trace;
  memset(&seen, 0, sizeof seen);
  (void)snprintf(seen.path, sizeof seen.path, "%s", pool_path(kind));
  (void)snprintf(uri, sizeof uri, "file:%s?vfs=fault", pool_path(kind));
  cr_assert(eq(int, weir_pool_open(&pool, uri, &options, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, &err), WEIR_OK), "%s", err.message);
  return pool;
}

static weir_pool *opened(int kind, weir_durability durability, unsigned checkpoint_pages) {
  weir_pool_options options = group_options();
  options.durability = durability;
  options.checkpoint_pages = checkpoint_pages;
  return opened_with(kind, options);
}

static void closed(weir_pool *pool) {
  cr_assert(eq(int, atomic_load(&seen.pages_left), 0));
  cr_assert(eq(i64, int_of(pool, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* The kinds that have a file. */
#define FOR_FILES(kind) for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE)

static void check_all(const group *g, int first, int code) {
  for (int i = first; i < g->count; i++) {
    cr_assert(eq(int, g->members[i].task.rc, code), "member %d: %s", i, g->members[i].task.error.message);
    cr_assert(eq(int, g->members[i].task.error.code, code));
  }
}

/* The member looks whether what failed has been healed before it begins; `data` is an int. */
static int look_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  (void)err;
  *(int *)data = atomic_load(&seen.healed);
  return WEIR_OK;
}

static int fail_sync_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  (void)data;
  (void)err;
  atomic_store(&fault_sync, SQLITE_IOERR_FSYNC);
  return WEIR_OK;
}

/* ---- Tests ---- */

enum { MEMBERS = 4 };

Test(group_sync, that_fails_at_the_commit_leaves_all_members_in_doubt_and_is_healed_before_the_next) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind, WEIR_FULL_SYNC, 0);
    group bad = group_of(MEMBERS, 0), good = group_of(MEMBERS, 100);
    int healed = -1;
    bad.members[MEMBERS - 1].then = fail_sync_fn;
    good.members[0].then = look_fn;
    good.members[0].data = &healed;
    cr_assert(group_run(&bad, pool));
    check_all(&bad, 0, WEIR_INDETERMINATE);
    cr_assert(eq(int, bad.members[1].task.error.sqlite_code, SQLITE_IOERR_FSYNC));
    cr_assert(eq(u64, stats_of(pool).sync_failures, 1));
    cr_assert(eq(u64, stats_of(pool).rollbacks, MEMBERS));
    cr_assert(eq(u64, stats_of(pool).reruns, 0));
    cr_assert(eq(u64, stats_of(pool).replaced, 1));
    cr_assert(eq(int, atomic_load(&seen.failed), 1));
    cr_assert(eq(int, atomic_load(&seen.healed), 0));
    long syncs = atomic_load(&fault_syncs);
    cr_assert(group_run(&good, pool));
    check_all(&good, 0, WEIR_OK);
    cr_assert(eq(int, healed, 1));
    cr_assert(eq(int, atomic_load(&seen.healed), 1));
    cr_assert(ge(long, atomic_load(&fault_syncs) - syncs, 2)); /* of what was copied, and of the commit */
    cr_assert(eq(uint, good.members[1].ack.members, MEMBERS));
    cr_assert(eq(int, good.members[1].ack.durability, WEIR_FULL_SYNC));
    int64_t doubtful = int_of(pool, "SELECT count(*) FROM t WHERE id < 100");
    cr_assert(doubtful == 0 || doubtful == MEMBERS, "%d", (int)doubtful); /* never half of them */
    cr_assert(eq(i64, good.members[MEMBERS - 1].ack.rev, doubtful + MEMBERS));
    closed(pool);
  }
}

Test(group_sync, that_keeps_failing_fails_every_write_before_it_runs_and_the_first_that_works_heals) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind, WEIR_FULL_SYNC, 0);
    group bad = group_of(MEMBERS, 0), good = group_of(MEMBERS, 200);
    atomic_store(&seen.keeps_failing, 1);
    bad.members[0].then = fail_sync_fn;
    cr_assert(group_run(&bad, pool));
    check_all(&bad, 0, WEIR_INDETERMINATE);
    for (int i = 0; i < MEMBERS; i++) { /* one after another: none of them gets as far as the latch */
      weir_error err = WEIR_ERROR_INIT;
      int healed = -1;
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), look_fn, &healed, NULL, &err), WEIR_IO), "%s",
                err.message);
      cr_assert(eq(int, weir_flush(pool, NULL, &err), WEIR_IO), "%s", err.message);
      cr_assert(eq(int, healed, -1));
    }
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) % 4 FROM t"), 0)); /* reads go on */
    cr_assert(eq(int, atomic_load(&seen.healed), 0));
    atomic_store(&fault_sync, 0);
    cr_assert(group_run(&good, pool));
    check_all(&good, 0, WEIR_OK);
    cr_assert(eq(int, atomic_load(&seen.healed), 1));
    closed(pool);
  }
}

Test(group_sync, cannot_be_healed_while_a_read_holds_the_log_and_only_durable_writes_wait_for_that) {
  weir_pool *pool = opened(POOL_FILE, WEIR_NORMAL, 0);
  weir_txn *snapshot = NULL;
  group bad = group_of(MEMBERS, 0);
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(900, 0)", NULL), WEIR_OK));
  bad.members[0].durability = WEIR_FULL_SYNC;
  bad.members[1].then = fail_sync_fn;
  cr_assert(group_start(&bad, pool));
  cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
  group_join(&bad);
  check_all(&bad, 0, WEIR_INDETERMINATE);
  for (int i = 0; i < 2; i++) {
    group mixed = group_of(MEMBERS, 100 + 10 * i);
    mixed.members[2].durability = WEIR_FULL_SYNC;
    cr_assert(group_run(&mixed, pool));
    for (int j = 0; j < MEMBERS; j++) {
      cr_assert(eq(int, mixed.members[j].task.rc, j == 2 ? WEIR_IO : WEIR_OK));
      cr_assert(eq(int, mixed.members[j].runs, j != 2));
      cr_assert(j == 2 || mixed.members[j].ack.durability == WEIR_NORMAL);
    }
  }
  cr_assert(eq(int, atomic_load(&seen.healed), 0));
  cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
  group good = group_of(MEMBERS, 200);
  good.members[0].durability = WEIR_FULL_SYNC;
  cr_assert(group_run(&good, pool));
  check_all(&good, 0, WEIR_OK);
  cr_assert(eq(int, atomic_load(&seen.healed), 1));
  cr_assert(eq(int, good.members[3].ack.durability, WEIR_FULL_SYNC));
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t WHERE id >= 100"), 1 + 2 * (MEMBERS - 1) + MEMBERS));
  closed(pool);
}

/* Those whose commit failed for another reason are run again one by one, and then a sync fails. */
struct again {
  const member *member;
  int healed; /* as it was at the last run */
};

static int again_fn(weir_txn *txn, void *data, weir_error *err) {
  struct again *again = data;
  const group *g = again->member->group;
  int index = (int)(again->member - g->members);
  if (again->member->runs == 1 && index == g->count - 1)
    atomic_store(&fault_write, SQLITE_FULL);
  if (again->member->runs == 2)
    atomic_store(&fault_write, 0);
  if (again->member->runs == 2 && index == 1)
    (void)fail_sync_fn(txn, NULL, err);
  again->healed = atomic_load(&seen.healed);
  return WEIR_OK;
}

Test(group_sync, that_fails_for_one_that_is_run_again_is_healed_before_the_others_are) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind, WEIR_FULL_SYNC, 0);
    group g = group_of(MEMBERS, 0);
    struct again again[MEMBERS];
    for (int i = 0; i < MEMBERS; i++) {
      again[i] = (struct again){&g.members[i], -1};
      g.members[i].then = again_fn;
      g.members[i].data = &again[i];
    }
    cr_assert(group_run(&g, pool));
    for (int i = 0; i < MEMBERS; i++) {
      cr_assert(eq(int, g.members[i].task.rc, i == 1 ? WEIR_INDETERMINATE : WEIR_OK), "%d: %s", i,
                g.members[i].task.error.message);
      cr_assert(eq(int, again[i].healed, i > 1), "member %d", i);
    }
    cr_assert(eq(u64, stats_of(pool).replaced, 1));
    closed(pool);
  }
}

static int a_checkpoint_was_run(const weir_pool_stats *stats) {
  return stats->checkpoints > 0;
}

Test(group_sync, that_fails_in_a_checkpoint_is_not_forgotten_by_the_next_flush) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind, WEIR_NORMAL, 20);
    weir_error err = WEIR_ERROR_INIT;
    atomic_store(&fault_sync, SQLITE_IOERR_FSYNC);
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t VALUES(1, randomblob(100000))", &err),
                 WEIR_OK),
              "%s", err.message);
    cr_assert(stats_await(pool, a_checkpoint_was_run));
    atomic_store(&fault_sync, 0);
    cr_assert(eq(int, weir_flush(pool, NULL, &err), WEIR_OK), "%s", err.message);
    cr_assert(eq(int, atomic_load(&seen.failed), 1));
    cr_assert(eq(int, atomic_load(&seen.healed), 1));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    closed(pool);
  }
}

static atomic_int armed;

/* The next sync fails, and no other. */
static void fail_next(void) {
  atomic_store(&fault_sync, atomic_exchange(&armed, 0) ? SQLITE_IOERR_FSYNC : 0);
}

static int write_much_fn(weir_txn *txn, void *data, weir_error *err) {
  latch_pass(data);
  return weir_txn_exec(txn, "INSERT INTO t(v) VALUES(randomblob(400000))", err);
}

static int write_of(weir_pool *pool, weir_durability durability, weir_ack *ack) {
  weir_txn_options options = {.size = sizeof options, .durability = durability, .ack = ack};
  return weir_write(weir_pool_auto(pool), exec_fn, (void *)"INSERT INTO t(v) VALUES(1)", &options, NULL);
}

/* The checkpoint copies what the reader has seen: that sync fails. Then it tries to empty the log: its syncs
 * succeed, but there is the reader. */
Test(group_sync, that_fails_in_the_first_half_of_a_checkpoint_at_the_limit_is_not_forgotten) {
  FOR_FILES(kind) {
    weir_pool_options options = group_options();
    sqlite3 *other = NULL;
    latch first = LATCH_INIT, second = LATCH_INIT;
    weir_ack ack = {0};
    options.durability = WEIR_NORMAL;
    options.checkpoint_pages = options.wal_limit_pages = 80;
    options.checkpoint_pause_ms = -1;
    options.group_max = 1;
    weir_pool *pool = opened_with(kind, options);
    task tasks[2];
    for (int i = 0; i < 2; i++) {
      tasks[i] = (task){.in = weir_pool_auto(pool), .fn = i ? write_much_fn : latch_fn, .write = 1};
      tasks[i].data = i ? &second : &first;
    }
    cr_assert(eq(int, write_of(pool, WEIR_NORMAL, &ack), WEIR_OK));
    cr_assert(eq(int, task_start(&tasks[0]), 0));
    cr_assert(latch_await(&first, 1));
    cr_assert(task_start_queued(&tasks[1], pool, 1));
    latch_open(&first);
    cr_assert(latch_await(&second, 1));
    other = fault_vfs_open(seen.path);
    cr_assert(eq(int, sqlite3_exec(other, "BEGIN; SELECT count(*) FROM t", NULL, NULL, NULL), SQLITE_OK));
    atomic_store(&armed, 1);
    atomic_store(&fault_before_sync, fail_next);
    latch_open(&second);
    cr_assert(eq(int, task_join(&tasks[0]), WEIR_OK));
    cr_assert(eq(int, task_join(&tasks[1]), WEIR_OK), "%s", tasks[1].error.message);
    cr_assert(stats_await(pool, a_checkpoint_was_run));
    cr_assert(eq(int, atomic_load(&armed), 0));
    cr_assert(eq(u64, stats_of(pool).wal_limits, 1));
    cr_assert(eq(u64, stats_of(pool).sync_failures, 1));
    cr_assert(eq(int, atomic_load(&seen.failed), 1));
    cr_assert(eq(int, weir_flush(pool, NULL, NULL), WEIR_IO));
    cr_assert(eq(int, write_of(pool, WEIR_FULL_SYNC, &ack), WEIR_IO));
    uint64_t pages =
        stats_of(pool).wal_pages; /* the new connection, which wrote none of them, need not know */
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "UPDATE t SET v = 1 WHERE id < 0", NULL), WEIR_OK));
    cr_assert(eq(u64, stats_of(pool).wal_pages, pages));
    cr_assert(eq(int, write_of(pool, WEIR_NORMAL, &ack), WEIR_OK));
    cr_assert(eq(int, ack.durability, WEIR_NORMAL));
    cr_assert(eq(int, atomic_load(&seen.healed), 0));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, write_of(pool, WEIR_FULL_SYNC, &ack), WEIR_OK));
    cr_assert(eq(int, ack.durability, WEIR_FULL_SYNC));
    cr_assert(eq(int, atomic_load(&seen.healed), 1));
    cr_assert(eq(int, weir_flush(pool, NULL, NULL), WEIR_OK));
    atomic_store(&fault_before_sync, NULL);
    closed(pool);
  }
}
