/*
 * What the tests of weir/pool.h share: the kinds of pool, SQL in one call, transactions on threads of their
 * own, a latch that holds them, child processes. Nothing here asserts.
 */
#ifndef WEIR_TEST_POOL_FIXTURE_H
#define WEIR_TEST_POOL_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

#include <weir/pool.h>

/* The kinds of pool that everything must work on alike. */
enum { SINGLE_FILE, SINGLE_MEMORY, POOL_FILE, POOL_KINDS };

/* The path of a kind, the same throughout a test: a file in its directory, or ":memory:". Static memory. */
const char *pool_path(int kind);

/* Opens a pool of a kind; `options` may be NULL, and their mode is not looked at. Returns a weir code, and
 * says on stderr what went wrong. */
int pool_open(weir_pool **out, int kind, const weir_pool_options *options);

/* ---- SQL ---- */

#define CREATE_T "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v)"

/* A weir_txn_fn that runs the SQL text `data` with weir_txn_exec. */
int exec_fn(weir_txn *txn, void *data, weir_error *err);

/* A write of that text: in `in`, or a transaction of its own if that is weir_pool_auto(). */
int sql_write(weir_txn *in, const char *sql, weir_error *err);

/* A read of the first column of the first row; -1 if there is no row. */
int sql_int(weir_txn *in, const char *sql, int64_t *out, weir_error *err);

/* Inside a transaction: the first column of the first row as text; "" if there is no row. */
int txn_text(weir_txn *txn, const char *sql, char *buf, size_t size, weir_error *err);

/* ---- Threads ---- */

/* A place where threads wait for the test. It opens by itself after WEIR_TEST_WAIT_MS, so that a test that
 * failed ends. Zero is not enough: start from LATCH_INIT. */
typedef struct latch {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int arrived;
  int open;
} latch;

#define LATCH_INIT                                                                                           \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 }

/* Counts the calling thread as arrived and waits until the latch is open. */
void latch_pass(latch *l);
/* Waits until so many have arrived; 0 if they have not in time. */
int latch_await(latch *l, int arrived);
void latch_open(latch *l);

/* A weir_txn_fn that passes the latch `data`. */
int latch_fn(weir_txn *txn, void *data, weir_error *err);

/* One weir_read or weir_write on a thread of its own. Set the first part, task_start, task_join, look at the
 * second part. */
typedef struct task {
  weir_txn *in;
  weir_txn_fn fn;
  void *data;
  const weir_txn_options *options;
  int write;

  int rc;
  weir_error error;
  atomic_int ended;
  pthread_t thread;
} task;

/* 0, or why there is no thread. */
int task_start(task *t);
/* Waits for the end and returns rc. */
int task_join(task *t);
/* A condition for weir_test_wait: the task `data` has ended. */
int task_ended(void *data);

/* Waits until condition(stats of the pool) holds; 0 if it does not in time. */
int stats_await(weir_pool *pool, int (*condition)(const weir_pool_stats *stats));
int a_write_is_queued(const weir_pool_stats *stats);
int a_read_waits(const weir_pool_stats *stats);

/* A query that runs until it is interrupted. */
#define ENDLESS_SQL "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

/* ---- Processes ---- */

/*
 * Runs tests/children/pool_child.c with the NULL-terminated arguments; it says what they can be. `go` is the
 * read end of a pipe, which the child gets as descriptor 3, or -1: then it need not wait. Returns its
 * process, or -1.
 */
pid_t child_start(const char *const arguments[], int go);
/* Runs another program of tests/children/, which need not wait, and returns in *reports what it writes to its
 * descriptor 4; the caller closes that. */
pid_t child_report(const char *name, const char *const arguments[], FILE **reports);
/* Waits for it. Returns its exit status, or -1 if a signal ended it. */
int child_wait(pid_t child);

/* How many descriptors of this process refer to files whose names begin with `prefix`. */
int descriptors_of(const char *prefix);

/* 1 if `path` exists with `suffix` appended. */
int file_exists(const char *path, const char *suffix);

#endif
