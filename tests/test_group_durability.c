/* What a commit survives: what was asked for, or more; that is synced before anybody is told, and once. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include <weir/async.h>

#include "fault_vfs.h"
#include "groups.h"
#include "loop.h"
#include "threads.h"

static void set_up(void) {
  cr_assert(eq(int, fault_vfs_register(), SQLITE_OK));
}

TestSuite(group_durability, .timeout = 200, .init = set_up);

static weir_pool *opened(int kind, weir_durability durability) {
  weir_pool *pool = NULL;
  char uri[700];
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = group_options();
  options.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
  options.durability = durability;
  options.bulk_age_ms = INT32_MAX;
  (void)snprintf(uri, sizeof uri, kind == SINGLE_MEMORY ? "%s" : "file:%s?vfs=fault", pool_path(kind));
  cr_assert(eq(int, weir_pool_open(&pool, uri, &options, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, weir_flush(pool, NULL, &err), WEIR_OK), "%s", err.message);
  return pool;
}

/* The kinds that have a file. */
#define FOR_FILES(kind) for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE)

static int write_one(weir_pool *pool, const char *sql, weir_durability durability, weir_ack *ack) {
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.durability = durability;
  options.ack = ack;
  return weir_write(weir_pool_auto(pool), exec_fn, (void *)sql, &options, NULL);
}

#define INSERT    "INSERT INTO t(v) VALUES(0)"
#define NO_CHANGE "UPDATE t SET v = 1 WHERE id < 0"

/* ---- In a group ---- */

enum { MEMBERS = 6 };

static group *in_doubt; /* whose durable members must not have been told before the sync */
static faults told;

static void before_sync(void) {
  for (int i = 0; i < in_doubt->count; i++) {
    member *m = &in_doubt->members[i];
    if (m->durability == WEIR_FULL_SYNC && task_ended(&m->task))
      fault(&told, "member %d was told before the sync", i);
  }
}

/* The first is alone in a commit that is not synced if it is not durable itself: it had begun. */
Test(group_durability, of_one_member_is_that_of_all_and_one_sync_comes_before_any_is_told) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind, WEIR_NORMAL);
    for (int durable = 0; durable < MEMBERS; durable++) {
      static group g;
      long syncs = atomic_load(&fault_syncs);
      uint64_t commits = stats_of(pool).commits;
      g = group_of(MEMBERS, 1 + durable * MEMBERS);
      g.members[durable].durability = WEIR_FULL_SYNC;
      g.members[durable].passive = durable % 2;
      cr_assert(group_start(&g, pool));
      in_doubt = &g;
      atomic_store(&fault_before_sync, before_sync);
      group_join(&g);
      atomic_store(&fault_before_sync, NULL);
      cr_assert(eq(int, atomic_load(&told.count), 0), "%s", told.first);
      cr_assert(eq(long, atomic_load(&fault_syncs) - syncs, 1));
      /* a group that is not durable ends before the first who wants it so */
      cr_assert(eq(u64, stats_of(pool).commits - commits, durable ? 2 : 1));
      for (int i = 0; i < MEMBERS; i++) {
        const member *m = &g.members[i];
        int full = i >= durable;
        cr_assert(eq(int, m->task.rc, WEIR_OK), "%s", m->task.error.message);
        cr_assert(eq(int, m->ack.durability, full ? WEIR_FULL_SYNC : WEIR_NORMAL), "%d of %d", i, durable);
        cr_assert(eq(uint, m->ack.members, (unsigned)(full ? MEMBERS - durable : durable)));
      }
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* Behind the first they are one group, whichever of them is durable. */
Test(group_durability, of_one_that_waits_is_that_of_the_group_that_begins_before_it) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind, WEIR_NORMAL);
    long syncs = atomic_load(&fault_syncs);
    group g = group_of(MEMBERS, 1);
    g.members[0].durability = WEIR_NORMAL;
    g.members[0].then = exec_and_fail_fn; /* so that it has a group of its own */
    g.members[0].data = (void *)INSERT;
    g.members[MEMBERS - 1].durability = WEIR_FULL_SYNC;
    cr_assert(group_run(&g, pool));
    for (int i = 1; i < MEMBERS; i++) {
      cr_assert(eq(int, g.members[i].ack.durability, WEIR_FULL_SYNC));
      cr_assert(eq(uint, g.members[i].ack.members, MEMBERS - 1));
    }
    cr_assert(eq(long, atomic_load(&fault_syncs) - syncs, 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* Those that are durable are the last ones here, of another priority: the others do not pay for them. */
Test(group_durability, of_bulk_writes_that_wait_is_not_that_of_interactive_ones) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind, WEIR_NORMAL);
    long syncs = atomic_load(&fault_syncs);
    group g = group_of(MEMBERS, 1);
    g.members[0].then = exec_and_fail_fn; /* so that it has a group of its own */
    g.members[0].data = (void *)INSERT;
    for (int i = 1; i < MEMBERS; i += 2) {
      g.members[i].priority = WEIR_BULK;
      g.members[i].durability = WEIR_FULL_SYNC;
    }
    cr_assert(group_run(&g, pool));
    for (int i = 1; i < MEMBERS; i++) {
      cr_assert(eq(int, g.members[i].task.rc, WEIR_OK), "%s", g.members[i].task.error.message);
      cr_assert(eq(int, g.members[i].ack.durability, i % 2 ? WEIR_FULL_SYNC : WEIR_NORMAL), "%d", i);
      cr_assert(eq(uint, g.members[i].ack.members, i % 2 ? MEMBERS / 2 : (MEMBERS - 1) / 2));
    }
    cr_assert(eq(long, atomic_load(&fault_syncs) - syncs, 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* At random, and a sync has come between the call and the acknowledgement of each durable one. */
enum { WRITERS = 6, WRITES = TEST_IS_SLOW ? 30 : 100 };

static struct {
  weir_pool *pool;
  uint64_t seed;
  atomic_long durable; /* acknowledged as such */
  faults faults;
} crowd;

static void write_at_random(int index, void *data) {
  weir_test_rng rng = {crowd.seed + (uint64_t)index};
  (void)data;
  for (int i = 0; i < WRITES; i++) {
    weir_durability asked = (weir_durability)weir_test_below(&rng, 3); /* 0: the pool's, which is NORMAL */
    weir_ack ack = {0};
    long syncs = atomic_load(&fault_syncs);
    int rc = write_one(crowd.pool, INSERT, asked, &ack);
    if (rc != WEIR_OK || ack.durability < asked || ack.durability < WEIR_NORMAL || ack.members < 1)
      fault(&crowd.faults, "%d: asked for %d, got %d", rc, (int)asked, (int)ack.durability);
    if (ack.durability == WEIR_FULL_SYNC && atomic_load(&fault_syncs) == syncs)
      fault(&crowd.faults, "acknowledged without a sync");
    atomic_fetch_add(&crowd.durable, ack.durability == WEIR_FULL_SYNC);
  }
}

Test(group_durability, is_never_weaker_than_asked_for_when_many_write_at_once) {
  FOR_FILES(kind) {
    memset(&crowd, 0, sizeof crowd);
    crowd.seed = weir_test_seed();
    crowd.pool = opened(kind, WEIR_NORMAL);
    cr_assert(together(WRITERS, write_at_random, NULL));
    cr_assert(eq(int, atomic_load(&crowd.faults.count), 0), "%s", crowd.faults.first);
    cr_assert(gt(long, atomic_load(&crowd.durable), 0));
    cr_assert(eq(i64, int_of(crowd.pool, "SELECT count(*) FROM t"), WRITERS * WRITES));
    cr_assert(eq(int, weir_pool_close(crowd.pool, NULL), WEIR_OK));
  }
}

/* ---- One by one ---- */

Test(group_durability, is_the_pools_unless_the_write_says_otherwise_and_costs_a_sync_only_if_full) {
  FOR_FILES(kind) {
    for (int i = 0; i < 6; i++) {
      weir_durability of_pool = i % 2 ? WEIR_FULL_SYNC : WEIR_NORMAL, of_write = (weir_durability)(i / 2);
      weir_durability expected = of_write ? of_write : of_pool;
      weir_pool *pool = opened(kind, of_pool);
      weir_ack ack = {0};
      cr_assert(eq(int, write_one(pool, INSERT, expected, NULL), WEIR_OK)); /* may find the log new */
      for (int j = 1; j <= 3; j++) {
        long syncs = atomic_load(&fault_syncs);
        cr_assert(eq(int, write_one(pool, INSERT, of_write, &ack), WEIR_OK));
        cr_assert(eq(int, ack.durability, expected));
        cr_assert(eq(long, atomic_load(&fault_syncs) - syncs, expected == WEIR_FULL_SYNC));
      }
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
      (void)remove(pool_path(kind));
    }
  }
}

/* It may have read, and told its caller of, what others wrote. */
Test(group_durability, of_a_write_that_changes_nothing_is_that_of_what_it_has_seen) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind, WEIR_NORMAL);
    static const struct {
      const char *sql;
      weir_durability durability;
      int syncs;
    } steps[] = {{INSERT, WEIR_NORMAL, 0},       {NO_CHANGE, WEIR_NORMAL, 0}, {NO_CHANGE, WEIR_FULL_SYNC, 1},
                 {NO_CHANGE, WEIR_FULL_SYNC, 0}, {INSERT, WEIR_FULL_SYNC, 1}, {NO_CHANGE, WEIR_FULL_SYNC, 0},
                 {INSERT, WEIR_NORMAL, 0},       {INSERT, WEIR_FULL_SYNC, 1}, {NO_CHANGE, WEIR_FULL_SYNC, 0}};
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
      weir_ack ack = {0};
      long syncs = atomic_load(&fault_syncs);
      cr_assert(eq(int, write_one(pool, steps[i].sql, steps[i].durability, &ack), WEIR_OK));
      cr_assert(eq(int, ack.durability, steps[i].durability), "step %u", i);
      cr_assert(eq(long, atomic_load(&fault_syncs) - syncs, steps[i].syncs), "step %u", i);
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Flush ---- */

static void on_flushed(weir_req *req, int status) {
  *(int *)req->data = status;
}

static int flush_async(weir_pool *pool) {
  weir_test_loop loop;
  weir_async async;
  weir_req req = WEIR_REQ_INIT;
  int status = 1;
  req.data = &status;
  weir_test_loop_init(&loop);
  cr_assert(eq(int, weir_async_init(&async, &loop.uv, pool, NULL), WEIR_OK));
  cr_assert(eq(int, weir_flush_async(&async, &req, on_flushed), WEIR_OK));
  cr_assert(weir_test_loop_run(&loop));
  cr_assert(eq(int, weir_async_close(&async, NULL), WEIR_OK));
  cr_assert(weir_test_loop_run(&loop));
  cr_assert(eq(uint, weir_test_loop_close(&loop), 0));
  return status;
}

Test(group_durability, of_all_that_was_acknowledged_comes_with_a_flush_which_syncs_once_if_need_be) {
  for (int i = 0; i < 2 * POOL_KINDS; i++) {
    int kind = i / 2, has_file = kind != SINGLE_MEMORY;
    weir_pool *pool = opened(kind, WEIR_NORMAL);
    for (int j = 0; j < 3; j++) {
      long syncs = atomic_load(&fault_syncs);
      cr_assert(eq(int, write_one(pool, INSERT, WEIR_NORMAL, NULL), WEIR_OK));
      cr_assert(eq(int, write_one(pool, INSERT, WEIR_NORMAL, NULL), WEIR_OK));
      for (int again = 0; again < 2; again++) {
        cr_assert(eq(int, i % 2 ? flush_async(pool) : weir_flush(pool, NULL, NULL), WEIR_OK));
        cr_assert(eq(long, atomic_load(&fault_syncs) - syncs, has_file));
      }
      cr_assert(eq(int, write_one(pool, INSERT, WEIR_FULL_SYNC, NULL), WEIR_OK));
      cr_assert(eq(int, i % 2 ? flush_async(pool) : weir_flush(pool, NULL, NULL), WEIR_OK));
      cr_assert(eq(long, atomic_load(&fault_syncs) - syncs, 2 * has_file));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    (void)remove(pool_path(kind));
  }
}

static int flush_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  return weir_flush(weir_txn_pool(txn), NULL, err);
}

Test(group_durability, flush_takes_its_turn_and_can_be_refused) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, WEIR_NORMAL);
    weir_txn_options hasty = WEIR_TXN_OPTIONS_INIT, canceled = hasty;
    weir_token token = {.canceled = 1};
    weir_error err = WEIR_ERROR_INIT;
    hasty.timeout_ms = 10;
    canceled.token = &token;
    group g = group_of(1, 1);
    cr_assert(group_start(&g, pool));
    cr_assert(eq(int, weir_flush(pool, &hasty, &err), WEIR_BUSY));
    cr_assert(eq(int, weir_flush(pool, &canceled, &err), WEIR_CANCELED));
    group_join(&g);
    cr_assert(eq(int, weir_flush(pool, &hasty, &err), WEIR_OK), "%s", err.message);
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), flush_fn, NULL, NULL, &err), WEIR_MISUSE));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), flush_fn, NULL, NULL, &err), WEIR_MISUSE));
    hasty.size = 1;
    cr_assert(eq(int, weir_flush(pool, &hasty, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_flush(NULL, NULL, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* A sync that a flush, or a write that changes nothing, needs and that fails. */
Test(group_durability, that_cannot_be_had_without_a_commit_is_in_doubt_too) {
  FOR_FILES(kind) {
    for (int flush = 0; flush < 2; flush++) {
      weir_pool *pool = opened(kind, WEIR_NORMAL);
      weir_error err = WEIR_ERROR_INIT;
      cr_assert(eq(int, write_one(pool, INSERT, WEIR_NORMAL, NULL), WEIR_OK));
      atomic_store(&fault_sync, SQLITE_IOERR_FSYNC);
      int rc = flush ? weir_flush(pool, NULL, &err) : write_one(pool, NO_CHANGE, WEIR_FULL_SYNC, NULL);
      atomic_store(&fault_sync, 0);
      cr_assert(eq(int, rc, WEIR_INDETERMINATE));
      cr_assert(eq(u64, stats_of(pool).sync_failures, 1));
      cr_assert(eq(int, weir_flush(pool, NULL, &err), WEIR_OK), "%s", err.message);
      cr_assert(eq(int, write_one(pool, INSERT, WEIR_FULL_SYNC, NULL), WEIR_OK));
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
      (void)remove(pool_path(kind));
    }
  }
}
