/*
 * Members that are run again, and what their commits survive: whatever went wrong in between, what was asked
 * for.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "fault_vfs.h"
#include "groups.h"
#include "threads.h"

static void set_up(void) {
  cr_assert(eq(int, fault_vfs_register(), SQLITE_OK));
}

TestSuite(group_reruns, .timeout = 200, .init = set_up);

static atomic_int failed, healed;

/* One sync fails, and then they work again. */
static void on_trace(const weir_trace *event, void *data) {
  (void)data;
  if (event->kind == WEIR_TRACE_SYNC_FAILED) {
    atomic_fetch_add(&failed, 1);
    atomic_store(&fault_sync, 0);
  } else if (event->kind == WEIR_TRACE_SYNC_HEALED) {
    atomic_fetch_add(&healed, 1);
  }
}

static weir_pool *opened(void) {
  weir_pool *pool = NULL;
  char uri[720];
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = group_options();
  options.mode = WEIR_POOL; /* a reader must be in the way of healing */
  options.checkpoint_pause_ms = -1;
  options.trace = on_trace;
  atomic_store(&failed, 0);
  atomic_store(&healed, 0);
  (void)snprintf(uri, sizeof uri, "file:%s?vfs=fault", pool_path(POOL_FILE));
  cr_assert(eq(int, weir_pool_open(&pool, uri, &options, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int,
               sql_write(weir_pool_auto(pool), CREATE_T "; DELETE FROM t; INSERT INTO t VALUES(0, 0)", &err),
               WEIR_OK),
            "%s", err.message);
  return pool;
}

/* ---- What happens to them ---- */

enum { MEMBERS = 6 };

static struct {
  int doubtful;        /* its sync fails when it is run alone */
  int ends;            /* it ends the snapshot then, so that the next one heals */
  weir_txn *snapshot;  /* in the way of healing */
  long syncs[MEMBERS]; /* so many had been when it was run last */
} plan;

static int planned_fn(weir_txn *txn, void *data, weir_error *err) {
  const member *m = data;
  int index = (int)(m - m->group->members);
  (void)txn;
  if (m->runs == 1 && index == MEMBERS - 1)
    atomic_store(&fault_write, SQLITE_FULL); /* the COMMIT of all of them fails */
  if (m->runs == 2) {
    atomic_store(&fault_write, 0);
    if (index == plan.doubtful)
      atomic_store(&fault_sync, SQLITE_IOERR_FSYNC);
    if (index == plan.ends) {
      int rc = weir_snapshot_end(plan.snapshot, err);
      plan.snapshot = NULL;
      if (rc != WEIR_OK)
        return rc;
    }
  }
  plan.syncs[index] = atomic_load(&fault_syncs);
  return WEIR_OK;
}

/* The first has a group of its own. The last is durable, and so are all whose commit fails. */
static void run(weir_pool *pool, group *g, int doubtful, int ends) {
  *g = group_of(MEMBERS, 1);
  plan.doubtful = doubtful;
  plan.ends = ends;
  for (int i = 0; i < MEMBERS; i++) {
    g->members[i].durability = i == MEMBERS - 1 ? WEIR_FULL_SYNC : WEIR_NORMAL;
    g->members[i].then = i ? planned_fn : exec_and_fail_fn;
    g->members[i].data = i ? (void *)&g->members[i] : (void *)"INSERT INTO t(v) VALUES(1)";
  }
  cr_assert(group_start(g, pool));
  cr_assert(eq(int, weir_snapshot_begin(pool, &plan.snapshot, NULL, NULL), WEIR_OK));
  group_join(g);
}

/* ---- Tests ---- */

Test(group_reruns, are_as_durable_as_was_asked_for_also_after_one_whose_sync_failed) {
  for (int doubtful = 1; doubtful < MEMBERS - 2; doubtful++) {
    for (int ends = doubtful + 1; ends < MEMBERS - 1; ends++) {
      weir_pool *pool = opened();
      static group g;
      run(pool, &g, doubtful, ends);
      for (int i = 1; i < MEMBERS; i++) {
        const member *m = &g.members[i];
        cr_assert(eq(int, m->runs, 2));
        cr_assert(eq(int, m->task.rc, i == doubtful ? WEIR_INDETERMINATE : WEIR_OK), "%d: %s", i,
                  m->task.error.message);
        cr_assert(i == doubtful || m->ack.durability >= m->durability, "member %d: %d", i, m->ack.durability);
        cr_assert(i == doubtful || m->ack.members == 1);
      }
      cr_assert(eq(int, g.members[doubtful + 1].ack.durability, WEIR_NORMAL)); /* not healed yet */
      cr_assert(eq(int, g.members[MEMBERS - 1].ack.durability, WEIR_FULL_SYNC));
      cr_assert(gt(long, atomic_load(&fault_syncs), plan.syncs[MEMBERS - 1])); /* truly */
      cr_assert(eq(int, atomic_load(&failed), 1));
      cr_assert(eq(int, atomic_load(&healed), 1));
      cr_assert(eq(ptr, plan.snapshot, NULL));
      int64_t rows = int_of(pool, "SELECT count(*) FROM t WHERE id <> 0");
      cr_assert(rows == MEMBERS - 2 || rows == MEMBERS - 1, "%d", (int)rows); /* one is in doubt */
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    }
  }
}

/* Nobody ends the reader: the durable one is refused, and not acknowledged. */
Test(group_reruns, that_ask_to_be_durable_fail_while_what_failed_cannot_be_healed) {
  weir_pool *pool = opened();
  static group g;
  run(pool, &g, 1, -1);
  for (int i = 1; i < MEMBERS; i++) {
    const member *m = &g.members[i];
    int code = i == 1 ? WEIR_INDETERMINATE : i == MEMBERS - 1 ? WEIR_IO : WEIR_OK;
    cr_assert(eq(int, m->task.rc, code), "%d: %s", i, m->task.error.message);
    cr_assert(code != WEIR_OK || m->ack.durability == WEIR_NORMAL);
  }
  cr_assert(eq(int, g.members[MEMBERS - 1].runs, 1));
  cr_assert(eq(int, atomic_load(&healed), 0));
  cr_assert(eq(int, weir_snapshot_end(plan.snapshot, NULL), WEIR_OK));
  cr_assert(eq(int, weir_flush(pool, NULL, NULL), WEIR_OK));
  cr_assert(eq(int, atomic_load(&healed), 1));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}
