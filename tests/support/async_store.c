/* What tests/support/async_store.h declares. */
#include "async_store.h"

#include <stdio.h>

#include <sqlite3.h>

#include "support.h"

/* ---- The store ---- */

int store_open(store *s, int kind, const weir_pool_options *options) {
  static const char *const names[STORE_KINDS] = {"single.db", ":memory:", "pool.db"};
  weir_pool_options chosen = WEIR_POOL_OPTIONS_INIT;
  weir_error err = WEIR_ERROR_INIT;
  char path[600];
  if (options)
    chosen = *options;
  chosen.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
  if (kind == SINGLE_MEMORY)
    (void)snprintf(path, sizeof path, "%s", names[kind]);
  else
    weir_test_path(path, sizeof path, names[kind]);
  *s = (store){.thread = uv_thread_self()};
  weir_test_loop_init(&s->loop);
  int rc = weir_pool_open(&s->pool, path, &chosen, &err);
  if (rc == WEIR_OK)
    rc = weir_async_init(&s->async, &s->loop.uv, s->pool, &err);
  if (rc != WEIR_OK)
    fprintf(stderr, "opening %s: %s: %s\n", path, weir_error_name(rc), err.message);
  return rc;
}

static void on_close(weir_async *handle) {
  store *s = (store *)((char *)handle - offsetof(store, async));
  s->closed++;
}

int store_close_handle(store *s) {
  return weir_async_close(&s->async, on_close);
}

int store_close(store *s) {
  weir_error err = WEIR_ERROR_INIT;
  int good = 1;
  if (!s->closed) {
    int rc = store_close_handle(s);
    good = (rc == WEIR_OK || rc == WEIR_CLOSED) && weir_test_loop_run(&s->loop) && s->closed == 1;
    if (!good)
      fprintf(stderr, "closing the handle: %s, called back %d times\n", weir_error_name(rc), s->closed);
  }
  int rc = weir_pool_close(s->pool, &err);
  if (rc != WEIR_OK)
    fprintf(stderr, "closing the pool: %s: %s\n", weir_error_name(rc), err.message);
  return (weir_test_loop_close(&s->loop) == 0) & good & (rc == WEIR_OK);
}

/* ---- Calls ---- */

void call_done(weir_req *req, int status) {
  call *c = (call *)req;
  uv_thread_t self = uv_thread_self();
  c->done++;
  c->status = status;
  c->order = ++c->store->ended;
  c->early = !c->returned;
  c->wrong_thread = !uv_thread_equal(&self, &c->store->thread);
}

static int submit(store *s, call *c, weir_work_fn work, int write) {
  c->store = s;
  c->returned = 0;
  int rc = write ? weir_write_async(&s->async, &c->req, work, call_done)
                 : weir_read_async(&s->async, &c->req, work, call_done);
  c->returned = 1;
  return rc;
}

int call_read(store *s, call *c, weir_work_fn work) {
  return submit(s, c, work, 0);
}

int call_write(store *s, call *c, weir_work_fn work) {
  return submit(s, c, work, 1);
}

static int has_ended(void *data) {
  return ((call *)data)->done > 0;
}

int call_await(call *c) {
  return weir_test_loop_until(&c->store->loop, has_ended, c);
}

static int now(store *s, call *c, weir_work_fn work, int write) {
  c->done = 0;
  int rc = submit(s, c, work, write);
  if (rc == WEIR_OK)
    rc = call_await(c) ? c->status : WEIR_TIMEOUT;
  return rc;
}

int call_read_now(store *s, call *c, weir_work_fn work) {
  return now(s, c, work, 0);
}

int call_write_now(store *s, call *c, weir_work_fn work) {
  return now(s, c, work, 1);
}

int store_exec(store *s, const char *sql) {
  call c = {.sql = sql};
  int rc = call_write_now(s, &c, work_exec);
  if (rc != WEIR_OK)
    fprintf(stderr, "%s: %s: %s\n", sql, weir_error_name(rc), c.req.error.message);
  return rc;
}

int store_value(store *s, const char *sql, int64_t *value) {
  call c = {.sql = sql};
  int rc = call_read_now(s, &c, work_value);
  *value = c.value;
  if (rc != WEIR_OK)
    fprintf(stderr, "%s: %s: %s\n", sql, weir_error_name(rc), c.req.error.message);
  return rc;
}

/* ---- Work ---- */

static call *begin(weir_req *req) {
  call *c = (call *)req;
  uv_thread_t self = uv_thread_self();
  c->runs++;
  c->on_loop = uv_thread_equal(&self, &c->store->thread);
  return c;
}

int work_nothing(weir_req *req, weir_txn *txn) {
  (void)txn;
  (void)begin(req);
  return WEIR_OK;
}

int work_exec(weir_req *req, weir_txn *txn) {
  return weir_txn_exec(txn, begin(req)->sql, &req->error);
}

int work_value(weir_req *req, weir_txn *txn) {
  call *c = begin(req);
  sqlite3_stmt *statement;
  int rc = weir_txn_prepare(txn, weir_str(c->sql), &statement, &req->error);
  if (rc != WEIR_OK)
    return rc;
  int stepped = sqlite3_step(statement);
  c->value = stepped == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
  rc = weir_txn_check(txn, stepped, &req->error);
  weir_txn_release(txn, statement);
  return rc;
}

int work_gated(weir_req *req, weir_txn *txn) {
  (void)txn;
  (void)begin(req);
  gate_pass();
  return WEIR_OK;
}

/* ---- The gate ---- */

static atomic_int arrivals, opened;

static int is_open(void *data) {
  (void)data;
  return atomic_load(&opened);
}

void gate_pass(void) {
  atomic_fetch_add(&arrivals, 1);
  (void)weir_test_wait(is_open, NULL, WEIR_TEST_WAIT_MS);
}

void gate_open(void) {
  atomic_store(&opened, 1);
}

void gate_close(void) {
  atomic_store(&arrivals, 0);
  atomic_store(&opened, 0);
}

static int have_arrived(void *data) {
  return atomic_load(&arrivals) >= *(int *)data;
}

int gate_wait_for(int arrived) {
  return weir_test_wait(have_arrived, &arrived, WEIR_TEST_WAIT_MS);
}
