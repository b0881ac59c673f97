/*
 * What the tests of weir/async.h share: a store with a handle on a loop, requests that record how they ended,
 * work functions that run SQL or wait. Nothing here asserts.
 */
#ifndef WEIR_TEST_ASYNC_STORE_H
#define WEIR_TEST_ASYNC_STORE_H

#include <stdatomic.h>

#include <weir/async.h>

#include "loop.h"

/* The kinds of store that every operation works on. */
enum { SINGLE_FILE, SINGLE_MEMORY, POOL_FILE, STORE_KINDS };

typedef struct store {
  weir_test_loop loop;
  weir_pool *pool;
  weir_async async;
  uv_thread_t thread; /* that opened it */
  int ended;          /* calls that were called back */
  int closed;         /* the handle's close callback was called */
} store;

/* Opens a new store of a kind with a handle on a new loop; `options` may be NULL, its mode is not looked at.
 * Returns a weir code. */
int store_open(store *s, int kind, const weir_pool_options *options);

/* Closes handle, pool and loop, in this order, running the loop. Returns 1 if all went well and nothing was
 * left on the loop; says on stderr what did not. */
int store_close(store *s);

/* Closes the handle only, without running the loop. Returns what weir_async_close does. */
int store_close_handle(store *s);

/* A request and what became of it. Zero it first; `sql` is what work_exec and work_value run. */
typedef struct call {
  weir_req req;
  store *store;
  const char *sql;
  int64_t value;    /* work_value: the first column of the first row; -1: no row */
  int runs;         /* how often its work was begun. The worker's */
  int on_loop;      /* its work ran on the loop's thread */
  int done;         /* how often it was called back */
  int status;       /* with what */
  int order;        /* as which of the store's */
  int returned;     /* the submission has returned */
  int early;        /* called back before that */
  int wrong_thread; /* called back on another thread than the loop's */
} call;

int call_read(store *s, call *c, weir_work_fn work);
int call_write(store *s, call *c, weir_work_fn work);

/* Submits, and runs the loop until the call has ended. Returns its status, or what the submission returned.
 */
int call_read_now(store *s, call *c, weir_work_fn work);
int call_write_now(store *s, call *c, weir_work_fn work);

/* Runs `sql` as a write or for its value, as a call of its own. Returns a weir code. */
int store_exec(store *s, const char *sql);
int store_value(store *s, const char *sql, int64_t *value);

/* The `done` of every call. */
void call_done(weir_req *req, int status);

/* Work: nothing; run sql; run sql for a value; wait for gate_open(). */
int work_nothing(weir_req *req, weir_txn *txn);
int work_exec(weir_req *req, weir_txn *txn);
int work_value(weir_req *req, weir_txn *txn);
int work_gated(weir_req *req, weir_txn *txn);

/* A statement that runs until it is interrupted. */
#define ENDLESS_SQL "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

/* The gate that work_gated, and works that call gate_pass, wait at. It is closed to begin with; gate_close
 * closes it again and forgets who came. gate_wait_for waits until so many have come since; 0 if they do not.
 */
void gate_pass(void);
void gate_open(void);
void gate_close(void);
int gate_wait_for(int arrived);

/* Runs the loop until call `c` has ended; 0 if it does not. */
int call_await(call *c);

#endif
