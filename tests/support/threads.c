/* What tests/support/threads.h declares. */
#include "threads.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

void fault(faults *f, const char *format, ...) {
  if (atomic_fetch_add(&f->count, 1) > 0)
    return;
  va_list args;
  va_start(args, format);
  (void)vsnprintf(f->first, sizeof f->first, format, args);
  va_end(args);
}

/* ---- Threads ---- */

struct member {
  void (*fn)(int index, void *data);
  void *data;
  int index;
};

static void *member_main(void *data) {
  struct member *member = data;
  member->fn(member->index, member->data);
  return NULL;
}

int together(int count, void (*fn)(int index, void *data), void *data) {
  pthread_t threads[64];
  struct member members[64];
  int started = 0;
  while (started < count && started < 64) {
    members[started] = (struct member){fn, data, started};
    if (pthread_create(&threads[started], NULL, member_main, &members[started]) != 0)
      break;
    started++;
  }
  for (int i = 0; i < started; i++)
    (void)pthread_join(threads[i], NULL);
  return started == count;
}

int task_start_waiting(task *t, weir_pool *pool, unsigned waiting) {
  return task_start(t) == 0 && await_waiting(pool, waiting);
}

int task_start_queued(task *t, weir_pool *pool, unsigned queued) {
  return task_start(t) == 0 && await_queued(pool, queued);
}

/* ---- Counters ---- */

weir_pool_stats stats_of(weir_pool *pool) {
  weir_pool_stats stats;
  memset(&stats, 0, sizeof stats);
  (void)weir_pool_stats_get(pool, &stats, sizeof stats);
  return stats;
}

struct counter {
  weir_pool *pool;
  size_t offset; /* in weir_pool_stats, of an unsigned */
  unsigned wanted;
};

static int counter_is(void *data) {
  const struct counter *counter = data;
  weir_pool_stats stats = stats_of(counter->pool);
  unsigned now = 0;
  memcpy(&now, (const char *)&stats + counter->offset, sizeof now);
  return now == counter->wanted;
}

static int await(weir_pool *pool, size_t offset, unsigned wanted) {
  struct counter counter = {pool, offset, wanted};
  return weir_test_wait(counter_is, &counter, WEIR_TEST_WAIT_MS);
}

int await_waiting(weir_pool *pool, unsigned count) {
  return await(pool, offsetof(weir_pool_stats, readers_waiting), count);
}

int await_queued(weir_pool *pool, unsigned count) {
  return await(pool, offsetof(weir_pool_stats, writes_queued), count);
}

int await_in_use(weir_pool *pool, unsigned count) {
  return await(pool, offsetof(weir_pool_stats, readers_in_use), count);
}

static int lane_is_idle(void *data) {
  weir_pool *pool = data;
  (void)pthread_mutex_lock(&pool->lane.lock);
  int idle = !pool->lane.driven;
  (void)pthread_mutex_unlock(&pool->lane.lock);
  return idle;
}

int await_idle_lane(weir_pool *pool) {
  return weir_test_wait(lane_is_idle, pool, WEIR_TEST_WAIT_MS);
}

/* ---- Transactions ---- */

int exec_and_fail_fn(weir_txn *txn, void *data, weir_error *err) {
  int rc = weir_txn_exec(txn, data, err);
  return rc == WEIR_OK ? weir_fail(err, WEIR_INVALID, "fails on purpose") : rc;
}

int nothing_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  (void)data;
  (void)err;
  return WEIR_OK;
}

int64_t int_of(weir_pool *pool, const char *sql) {
  weir_error err = WEIR_ERROR_INIT;
  int64_t value = -1;
  int rc = sql_int(weir_pool_auto(pool), sql, &value, &err);
  if (rc != WEIR_OK)
    fprintf(stderr, "%s: %s: %s\n", sql, weir_error_name(rc), err.message);
  return rc == WEIR_OK ? value : -1;
}
