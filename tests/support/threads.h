/*
 * What the tests of the pool's concurrency share beside pool_fixture.h: notes of what went wrong on a thread,
 * threads that do the same thing, waiting for the pool's counters. Nothing here asserts.
 */
#ifndef WEIR_TEST_THREADS_H
#define WEIR_TEST_THREADS_H

#include <stdatomic.h>

#include "pool_fixture.h"
#include "support.h"

/* Under a sanitizer everything takes several times as long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TEST_IS_SLOW 1
#else
#define TEST_IS_SLOW 0
#endif

/* What threads found to be wrong; the test's main thread asserts that nothing was. */
typedef struct faults {
  atomic_int count;
  char first[256]; /* what it was; look when the threads have ended */
} faults;

/* Notes a fault. */
void fault(faults *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Runs fn(0, data) to fn(count-1, data), each on a thread of its own, to their ends; 0 if there are no
 * threads. At most 64. */
int together(int count, void (*fn)(int index, void *data), void *data);

/* Starts a task; waits until so many wait for a connection or for the lane. 0 if it does not come to that. */
int task_start_waiting(task *t, weir_pool *pool, unsigned waiting);
int task_start_queued(task *t, weir_pool *pool, unsigned queued);

/* Wait until so many wait for a connection, wait for the lane, have a reader connection; 0 if it does not
 * come to that. */
int await_waiting(weir_pool *pool, unsigned count);
int await_queued(weir_pool *pool, unsigned count);
int await_in_use(weir_pool *pool, unsigned count);

/* Waits until nobody drives the lane: writes have ended, and a checkpoint behind them. 0 if it does not come
 * to that. */
int await_idle_lane(weir_pool *pool);

/* The pool's counters; all zero if it has none for us. */
weir_pool_stats stats_of(weir_pool *pool);

/* A weir_txn_fn that runs the SQL `data` and then fails with WEIR_INVALID. */
int exec_and_fail_fn(weir_txn *txn, void *data, weir_error *err);

/* A weir_txn_fn that does nothing. */
int nothing_fn(weir_txn *txn, void *data, weir_error *err);

/* A read of one number; -1 if it failed, and stderr says why. */
int64_t int_of(weir_pool *pool, const char *sql);

#endif
