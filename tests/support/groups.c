/* What tests/support/groups.h declares. */
#include "groups.h"

#include <limits.h>
#include <stdio.h>

#include <sqlite3.h>

#include "threads.h"

weir_pool_options group_options(void) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
  options.numbered = 1;
  options.group_us = UINT_MAX;
  return options;
}

static int insert(weir_txn *txn, member *m, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_rev(txn, &m->rev, err);
  if (rc == WEIR_OK)
    rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("INSERT INTO t(id, v) VALUES(?1, ?2)"), &stmt, err);
  if (rc != WEIR_OK)
    return rc;
  (void)sqlite3_bind_int(stmt, 1, m->id);
  (void)sqlite3_bind_int64(stmt, 2, m->rev);
  return weir_txn_check(txn, sqlite3_step(stmt), err);
}

static int member_fn(weir_txn *txn, void *data, weir_error *err) {
  member *m = data;
  int rc = WEIR_OK;
  if (m->runs++ == 0 && m == m->group->members)
    latch_pass(&m->group->latch);
  m->order = atomic_fetch_add(&m->group->begun, 1) + 1;
  if (!m->passive)
    rc = insert(txn, m, err);
  return rc == WEIR_OK && m->then ? m->then(txn, m->data, err) : rc;
}

group group_of(int count, int id) {
  group g = {.count = count, .latch = LATCH_INIT};
  for (int i = 0; i < count; i++)
    g.members[i].id = id + i;
  return g;
}

int group_start(group *g, weir_pool *pool) {
  for (int i = 0; i < g->count; i++) {
    member *m = &g->members[i];
    m->group = g;
    m->options = (weir_txn_options)WEIR_TXN_OPTIONS_INIT;
    m->options.durability = m->durability;
    m->options.priority = m->priority;
    m->options.bytes = m->bytes;
    m->options.ack = &m->ack;
    m->task =
        (task){.in = weir_pool_auto(pool), .fn = member_fn, .data = m, .options = &m->options, .write = 1};
    if (task_start(&m->task) != 0 ||
        (i == 0 ? !latch_await(&g->latch, 1) : !await_queued(pool, (unsigned)i))) {
      for (int j = 0; j <= i; j++)
        fprintf(stderr, "member %d: ended %d, runs %d: %d %s\n", j, atomic_load(&g->members[j].task.ended),
                g->members[j].runs, g->members[j].task.rc, g->members[j].task.error.message);
      return 0;
    }
  }
  return 1;
}

void group_join(group *g) {
  latch_open(&g->latch);
  for (int i = 0; i < g->count; i++)
    (void)task_join(&g->members[i].task);
}

int group_run(group *g, weir_pool *pool) {
  int started = group_start(g, pool);
  if (started)
    group_join(g);
  return started;
}
