/*
 * The ways that are weir's: the same inserts and the same reading back in a write transaction, from a thread
 * a task or from one loop.
 */
#include <stdlib.h>

#include <weir/async.h>

#include "tasks.h"

typedef struct store {
  weir_pool *pool;
  weir_txn *autocommit;
  int looped; /* 1: what follows is in use */
  uv_loop_t loop;
  weir_async async;
  weir_req *reqs; /* one a task */
} store;

/* ---- Opening, closing ---- */

static store *open_store(task_set *t, weir_mode mode) {
  weir_error err = WEIR_ERROR_INIT;
  store *w = t->state = bench_alloc(sizeof *w);
  weir_pool_options options = bench_pool_options(t->settings, mode, 1, t->durability);
  bench_check(weir_pool_open(&w->pool, t->path, &options, &err), &err, "opening the store");
  w->autocommit = weir_pool_auto(w->pool);
  return w;
}

void tasks_single_open(task_set *t) {
  open_store(t, WEIR_SINGLE);
}

void tasks_lane_open(task_set *t) {
  open_store(t, WEIR_POOL);
}

void tasks_async_open(task_set *t) {
  weir_error err = WEIR_ERROR_INIT;
  store *w = open_store(t, WEIR_POOL);
  w->looped = 1;
  w->reqs = bench_alloc(t->count * sizeof *w->reqs);
  for (unsigned i = 0; i < t->count; i++) {
    w->reqs[i].data = &t->task[i];
  }
  if (uv_loop_init(&w->loop) != 0) {
    bench_fail("cannot make a loop");
  }
  bench_check(weir_async_init(&w->async, &w->loop, w->pool, &err), &err, "weir_async_init");
}

void tasks_weir_close(task_set *t) {
  store *w = t->state;
  weir_error err = WEIR_ERROR_INIT;
  if (w->looped) {
    bench_check(weir_async_close(&w->async, NULL), &err, "weir_async_close");
    uv_run(&w->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&w->loop) != 0) {
      bench_fail("the loop has handles left after weir_async_close");
    }
  }
  bench_check(weir_pool_close(w->pool, &err), &err, "closing the store");
  free(w->reqs);
  free(w);
}

/* ---- Writing ---- */

static int transact(weir_txn *txn, void *data, weir_error *err) {
  batch *b = data;
  sqlite3_stmt *insert, *select;
  int rc = weir_txn_prepare(txn, weir_str(rows_insert_sql(b->read_back)), &insert, err);
  if (rc == WEIR_OK) {
    rc = weir_txn_check(txn, rows_insert(insert, b), err);
  }
  if (rc == WEIR_OK && b->read_back) {
    b->id = sqlite3_last_insert_rowid(weir_txn_db(txn));
    rc = weir_txn_prepare(txn, weir_str(rows_select_sql()), &select, err);
    if (rc == WEIR_OK) {
      rc = weir_txn_check(txn, rows_read_back(select, b), err);
    }
  }
  return rc;
}

int tasks_weir_write(task_set *t, task *k) {
  store *w = t->state;
  weir_error err = WEIR_ERROR_INIT;
  int rc = weir_write(w->autocommit, transact, &k->batch, NULL, &err);
  tally_weir(&t->errors, rc);
  return rc != WEIR_OK;
}

uint64_t tasks_weir_commits(const task_set *t) {
  const store *w = t->state;
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_stats stats;
  bench_check(weir_pool_stats_get(w->pool, &stats, sizeof stats), &err, "weir_pool_stats_get");
  return stats.commits;
}

/* ---- On a loop ---- */

static int work(weir_req *req, weir_txn *txn) {
  task *k = req->data;
  return transact(txn, &k->batch, &req->error);
}

static void done(weir_req *req, int status);

static void submit(weir_req *req) {
  task *k = req->data;
  store *w = k->all->state;
  while (task_next(k)) {
    int rc = weir_write_async(&w->async, req, work, done);
    if (rc == WEIR_OK) {
      return;
    }
    tally_weir(&k->all->errors, rc);
  }
}

static void done(weir_req *req, int status) {
  task *k = req->data;
  tally_weir(&k->all->errors, status);
  task_done(k, status == WEIR_OK);
  submit(req);
}

void tasks_async_loop(task_set *t) {
  store *w = t->state;
  for (unsigned i = 0; i < t->count; i++) {
    submit(&w->reqs[i]);
  }
  uv_run(&w->loop, UV_RUN_DEFAULT);
}
