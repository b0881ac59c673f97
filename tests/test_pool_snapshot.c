/* Snapshots that last until they are ended. */
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_snapshot, .timeout = 60);

static weir_pool *opened(int kind, unsigned readers) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options, .readers = readers};
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T ";INSERT INTO t VALUES(1, 1)", NULL), WEIR_OK));
  return pool;
}

static int64_t count_in(weir_txn *txn) {
  int64_t count = -1;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, sql_int(txn, "SELECT count(*) FROM t", &count, &err), WEIR_OK), "%s", err.message);
  return count;
}

static task insertion(weir_pool *pool) {
  return (task){
      .in = weir_pool_auto(pool), .fn = exec_fn, .data = (void *)"INSERT INTO t(v) VALUES(0)", .write = 1};
}

Test(pool_snapshot, is_fixed_when_begin_returns_and_stays_until_its_end) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 2);
    weir_txn *snapshot = NULL;
    weir_error err = WEIR_ERROR_INIT;
    task writer = insertion(pool);
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, &err), WEIR_OK), "%s", err.message);
    cr_assert(eq(int, task_start(&writer), 0)); /* before the snapshot has read anything */
    if (kind == POOL_FILE)
      cr_assert(eq(int, task_join(&writer), WEIR_OK));
    else
      cr_assert(stats_await(pool, a_read_waits)); /* single mode: writes wait */
    cr_assert(eq(i64, count_in(snapshot), 1));
    cr_assert(eq(i64, count_in(snapshot), 1));
    cr_assert(eq(int, weir_txn_writes(snapshot), 0));
    cr_assert(eq(ptr, weir_txn_pool(snapshot), pool));
    cr_assert(ne(ptr, weir_txn_db(snapshot), NULL));
    cr_assert(eq(int, weir_snapshot_end(snapshot, &err), WEIR_OK), "%s", err.message);
    if (kind != POOL_FILE)
      cr_assert(eq(int, task_join(&writer), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_snapshot, of_an_empty_file_stays_empty) {
  weir_pool *pool = NULL;
  weir_txn *snapshot = NULL;
  int64_t tables = -1;
  cr_assert(eq(int, pool_open(&pool, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
  task writer = {.in = weir_pool_auto(pool), .fn = exec_fn, .data = (void *)CREATE_T, .write = 1};
  cr_assert(eq(int, task_start(&writer), 0));
  cr_assert(eq(int, task_join(&writer), WEIR_OK));
  cr_assert(eq(int, sql_int(snapshot, "SELECT count(*) FROM sqlite_schema", &tables, NULL), WEIR_OK));
  cr_assert(eq(i64, tables, 0));
  cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* A snapshot that goes from thread to thread. */
typedef struct relay {
  weir_txn *snapshot;
  int64_t count;
  int rc;
} relay;

static void *use_and_end(void *data) {
  relay *r = data;
  r->rc = sql_int(r->snapshot, "SELECT count(*) FROM t", &r->count, NULL);
  if (r->rc == WEIR_OK)
    r->rc = weir_snapshot_end(r->snapshot, NULL);
  return NULL;
}

Test(pool_snapshot, may_be_used_and_ended_by_another_thread) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    for (int i = 0; i < 20; i++) {
      relay r = {.rc = -1};
      pthread_t thread;
      cr_assert(eq(int, weir_snapshot_begin(pool, &r.snapshot, NULL, NULL), WEIR_OK));
      cr_assert(eq(i64, count_in(r.snapshot), 1 + i));
      cr_assert(eq(int, pthread_create(&thread, NULL, use_and_end, &r), 0));
      cr_assert(eq(int, pthread_join(thread, NULL), 0));
      cr_assert(eq(int, r.rc, WEIR_OK));
      cr_assert(eq(i64, r.count, 1 + i));
      /* this thread is inside no transaction any more */
      cr_assert(eq(int, sql_write(weir_pool_auto(pool), "INSERT INTO t(v) VALUES(0)", NULL), WEIR_OK));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_snapshot, holds_one_connection) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    weir_txn *snapshot = NULL;
    const weir_txn_options no_wait = {.size = sizeof no_wait, .timeout_ms = -1};
    task reader = {.in = weir_pool_auto(pool), .fn = nothing_fn, .options = &no_wait};
    task writer = insertion(pool);
    writer.options = &no_wait;
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
    cr_assert(eq(u32, stats_of(pool).readers_in_use, 1));
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(eq(int, task_join(&reader), WEIR_BUSY));
    cr_assert(eq(int, reader.error.code, WEIR_BUSY));
    cr_assert(eq(int, task_start(&writer), 0));
    cr_assert(eq(int, task_join(&writer), kind == POOL_FILE ? WEIR_OK : WEIR_BUSY));
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    cr_assert(eq(u32, stats_of(pool).readers_in_use, 0));
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(eq(int, task_join(&reader), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

typedef struct refused {
  int end_self, end_auto;
  weir_error err;
} refused;

static int end_wrongly(weir_txn *txn, void *data, weir_error *err) {
  refused *r = data;
  (void)err;
  r->end_self = weir_snapshot_end(txn, &r->err);
  r->end_auto = weir_snapshot_end(weir_pool_auto(weir_txn_pool(txn)), &r->err);
  return count_in(txn) == 1 ? WEIR_OK : weir_fail(err, WEIR_CORRUPT, "the transaction was ended");
}

Test(pool_snapshot, end_is_misuse_for_other_transactions_and_nothing_for_null) {
  cr_assert(eq(int, weir_snapshot_end(NULL, NULL), WEIR_OK));
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    for (int write = 0; write < 2; write++) {
      refused r = {.end_self = 0};
      weir_error err = WEIR_ERROR_INIT;
      cr_assert(eq(int, (write ? weir_write : weir_read)(weir_pool_auto(pool), end_wrongly, &r, NULL, &err),
                   WEIR_OK),
                "%s", err.message);
      cr_assert(eq(int, r.end_self, WEIR_MISUSE));
      cr_assert(eq(int, r.end_auto, WEIR_MISUSE));
      cr_assert(eq(int, r.err.code, WEIR_MISUSE));
    }
    cr_assert(eq(int, weir_snapshot_end(weir_pool_auto(pool), NULL), WEIR_MISUSE));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int write_must_not_run(weir_txn *txn, void *data, weir_error *err) {
  (void)txn, (void)data;
  return weir_fail(err, WEIR_CORRUPT, "it ran");
}

Test(pool_snapshot, is_a_read_transaction_for_nested_calls) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    weir_txn *snapshot = NULL;
    sqlite3_stmt *stmt = NULL;
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, weir_write(snapshot, write_must_not_run, NULL, NULL, NULL), WEIR_MISUSE));
    cr_assert(eq(int, weir_txn_exec(snapshot, "DELETE FROM t", NULL), WEIR_MISUSE));
    cr_assert(eq(int, weir_txn_prepare(snapshot, weir_str("DELETE FROM t"), &stmt, NULL), WEIR_MISUSE));
    cr_assert(eq(int, weir_read(snapshot, nothing_fn, NULL, NULL, NULL), WEIR_OK));
    cr_assert(eq(i64, count_in(snapshot), 1));
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_snapshot, begin_refuses_bad_arguments_and_leaves_null) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    weir_txn *snapshot = (weir_txn *)&snapshot;
    weir_error err = WEIR_ERROR_INIT;
    const weir_txn_options bad[] = {
        {.size = 0}, {.size = sizeof bad[0] + 8}, {.size = sizeof bad[0], .deadline_ms = -1}};
    weir_token canceled = {0};
    cr_assert(eq(int, weir_snapshot_begin(pool, NULL, NULL, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_snapshot_begin(NULL, &snapshot, NULL, &err), WEIR_INVALID));
    cr_assert(eq(ptr, snapshot, NULL));
    for (int i = 0; i < 3; i++) {
      snapshot = (weir_txn *)&snapshot;
      cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, &bad[i], &err), WEIR_INVALID));
      cr_assert(eq(ptr, snapshot, NULL));
    }
    const weir_txn_options with_token = {.size = sizeof with_token, .token = &canceled};
    cr_assert(eq(int, weir_cancel(pool, &canceled), WEIR_OK));
    snapshot = (weir_txn *)&snapshot;
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, &with_token, &err), WEIR_CANCELED));
    cr_assert(eq(ptr, snapshot, NULL));
    cr_assert(eq(u32, stats_of(pool).readers_in_use, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
