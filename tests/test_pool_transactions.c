/* Transactions of weir/pool.h: one snapshot a read, all or nothing a write, and how a function's result is
 * passed on. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_transactions, .timeout = 60);

static weir_pool *opened(int kind, const char *sql) {
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), sql, &err), WEIR_OK), "%s", err.message);
  return pool;
}

/* ---- Reads ---- */

typedef struct look {
  latch wait;
  int64_t before, after;
} look;

static int look_twice(weir_txn *txn, void *data, weir_error *err) {
  look *l = data;
  int rc = sql_int(txn, "SELECT count(*) FROM t", &l->before, err);
  latch_pass(&l->wait);
  return rc == WEIR_OK ? sql_int(txn, "SELECT count(*) FROM t", &l->after, err) : rc;
}

Test(pool_transactions, read_sees_one_snapshot_throughout_while_another_thread_commits) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, CREATE_T ";INSERT INTO t VALUES(1, 1)");
    look l = {.wait = LATCH_INIT};
    task reader = {.in = weir_pool_auto(pool), .fn = look_twice, .data = &l};
    task writer = {
        .in = weir_pool_auto(pool), .fn = exec_fn, .data = (void *)"INSERT INTO t VALUES(2, 2)", .write = 1};
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(latch_await(&l.wait, 1));
    cr_assert(eq(int, task_start(&writer), 0));
    if (kind == POOL_FILE) /* the write does not wait for the read */
      cr_assert(eq(int, task_join(&writer), WEIR_OK));
    else
      cr_assert(stats_await(pool, a_read_waits)); /* for the connection, that is */
    latch_open(&l.wait);
    cr_assert(eq(int, task_join(&reader), WEIR_OK));
    if (kind != POOL_FILE)
      cr_assert(eq(int, task_join(&writer), WEIR_OK));
    cr_assert(eq(i64, l.before, 1));
    cr_assert(eq(i64, l.after, 1));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* Writers move money between accounts, in several statements; whoever reads must find all of it. */
enum { ACCOUNTS = 10, MONEY = 1000, ROUNDS = 300, MOVERS = 2, AUDITORS = 3 };

typedef struct bank {
  weir_pool *pool;
  faults faults;
} bank;

static int move(weir_txn *txn, void *data, weir_error *err) {
  weir_test_rng *rng = data;
  char sql[200];
  int from = (int)weir_test_below(rng, ACCOUNTS), to = (int)weir_test_below(rng, ACCOUNTS);
  (void)snprintf(sql, sizeof sql, "UPDATE t SET v=v-1 WHERE id=%d", from);
  int rc = weir_txn_exec(txn, sql, err);
  if (rc == WEIR_OK && weir_test_below(rng, 4) == 0)
    return weir_fail(err, WEIR_CONFLICT, "half done");
  (void)snprintf(sql, sizeof sql, "UPDATE t SET v=v+1 WHERE id=%d; UPDATE moved SET n=n+1", to);
  return rc == WEIR_OK ? weir_txn_exec(txn, sql, err) : rc;
}

static int audit(weir_txn *txn, void *data, weir_error *err) {
  int64_t *moved = data, sum = 0, again = 0;
  int rc = sql_int(txn, "SELECT sum(v) FROM t", &sum, err);
  rc = rc == WEIR_OK ? sql_int(txn, "SELECT n FROM moved", moved, err) : rc;
  rc = rc == WEIR_OK ? sql_int(txn, "SELECT sum(v) FROM t", &again, err) : rc;
  if (rc == WEIR_OK && (sum != MONEY || again != MONEY))
    rc = weir_fail(err, WEIR_CORRUPT, "the sum is %lld, then %lld", (long long)sum, (long long)again);
  return rc;
}

static void use_bank(int index, void *data) {
  bank *b = data;
  weir_test_rng rng = {.state = weir_test_seed() + (uint64_t)index};
  int64_t last = 0;
  for (int i = 0; i < ROUNDS; i++) {
    weir_error err = WEIR_ERROR_INIT;
    if (index < MOVERS) {
      int rc = weir_write(weir_pool_auto(b->pool), move, &rng, NULL, &err);
      if (rc != WEIR_OK && rc != WEIR_CONFLICT)
        fault(&b->faults, "write: %s", err.message);
    } else {
      int64_t moved = 0;
      if (weir_read(weir_pool_auto(b->pool), audit, &moved, NULL, &err) != WEIR_OK)
        fault(&b->faults, "read: %s", err.message);
      if (moved < last)
        fault(&b->faults, "a later read saw an older state");
      last = moved;
    }
  }
}

Test(pool_transactions, reads_see_all_of_a_write_or_nothing) {
  (void)weir_test_seed();
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    static bank b;
    memset(&b, 0, sizeof b);
    b.pool = opened(kind, CREATE_T ";CREATE TABLE moved(n); INSERT INTO moved VALUES(0);"
                                   "INSERT INTO t SELECT value, 100 FROM json_each('[0,1,2,3,4,5,6,7,8,9]')");
    cr_assert(together(MOVERS + AUDITORS, use_bank, &b));
    cr_assert(eq(int, atomic_load(&b.faults.count), 0), "%s", b.faults.first);
    weir_pool_stats stats = stats_of(b.pool);
    cr_assert(eq(i64, int_of(b.pool, "SELECT n FROM moved"), (int64_t)stats.writes - 1));
    cr_assert(eq(u64, stats.writes - 1 + stats.rollbacks, MOVERS * ROUNDS));
    cr_assert(eq(int, weir_pool_close(b.pool, NULL), WEIR_OK));
  }
}

/* ---- Results ---- */

struct outcome {
  const char *sql;
  int code;
};

static int exec_and_return(weir_txn *txn, void *data, weir_error *err) {
  const struct outcome *outcome = data;
  int rc = outcome->sql ? weir_txn_exec(txn, outcome->sql, err) : WEIR_OK;
  return rc != WEIR_OK || outcome->code == WEIR_OK
             ? rc
             : weir_fail(err, outcome->code, "own words %d", outcome->code);
}

Test(pool_transactions, function_that_fails_leaves_no_trace_and_its_code_and_message_are_the_result) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, CREATE_T);
    for (int code = -1; code >= -19; code--) {
      struct outcome writes = {"INSERT INTO t VALUES(1, 1); CREATE TABLE other(x)", code},
                     reads = {NULL, code};
      weir_error err = WEIR_ERROR_INIT;
      char words[32];
      (void)snprintf(words, sizeof words, "own words %d", code);
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), exec_and_return, &writes, NULL, &err), code));
      cr_assert(eq(int, err.code, code));
      cr_assert(eq(str, err.message, words));
      err = (weir_error)WEIR_ERROR_INIT;
      cr_assert(eq(int, weir_read(weir_pool_auto(pool), exec_and_return, &reads, NULL, &err), code));
      cr_assert(eq(str, err.message, words));
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), exec_and_return, &writes, NULL, NULL), code));
    }
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM sqlite_schema"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int fail_without_a_word(weir_txn *txn, void *data, weir_error *err) {
  (void)txn, (void)err;
  return *(int *)data;
}

Test(pool_transactions, code_of_a_function_that_left_no_detail_is_in_the_error_all_the_same) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, CREATE_T);
    int code = WEIR_NOT_FOUND;
    weir_error err = {.code = WEIR_IO, .message = "of another operation"};
    cr_assert(
        eq(int, weir_read(weir_pool_auto(pool), fail_without_a_word, &code, NULL, &err), WEIR_NOT_FOUND));
    cr_assert(eq(int, err.code, WEIR_NOT_FOUND));
    err = (weir_error){.code = WEIR_IO, .message = "of another operation"};
    cr_assert(
        eq(int, weir_write(weir_pool_auto(pool), fail_without_a_word, &code, NULL, &err), WEIR_NOT_FOUND));
    cr_assert(eq(int, err.code, WEIR_NOT_FOUND));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

typedef struct surroundings {
  int has_err, same_thread, nested_has_err;
  pthread_t caller;
  uint64_t rollbacks;
} surroundings;

static int note_nested(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  ((surroundings *)data)->nested_has_err = err != NULL;
  return WEIR_OK;
}

static int note(weir_txn *txn, void *data, weir_error *err) {
  surroundings *s = data;
  s->has_err = err != NULL;
  s->same_thread = pthread_equal(s->caller, pthread_self()) != 0;
  s->rollbacks = weir_txn_rollbacks(txn);
  return weir_read(txn, note_nested, s, NULL, NULL);
}

Test(pool_transactions, function_always_has_an_error_to_fill_and_a_read_runs_on_its_callers_thread) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, CREATE_T);
    for (int write = 0; write < 2; write++) {
      surroundings s = {.caller = pthread_self()};
      cr_assert(
          eq(int, (write ? weir_write : weir_read)(weir_pool_auto(pool), note, &s, NULL, NULL), WEIR_OK));
      cr_assert(eq(int, s.has_err, 1));
      cr_assert(eq(int, s.nested_has_err, 1));
      cr_assert(write || s.same_thread);
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_transactions, rollbacks_tell_a_cache_on_the_connection_that_it_is_stale) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, CREATE_T);
    surroundings s = {.caller = pthread_self()};
    struct outcome refused = {"INSERT INTO t VALUES(1, 1)", WEIR_INVALID};
    uint64_t before = 0;
    for (int i = 0; i < 3; i++) {
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), note, &s, NULL, NULL), WEIR_OK));
      cr_assert(i == 0 || s.rollbacks > before);
      before = s.rollbacks;
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), note, &s, NULL, NULL), WEIR_OK));
      cr_assert(eq(u64, s.rollbacks, before)); /* not by what is committed */
      cr_assert(
          eq(int, weir_write(weir_pool_auto(pool), exec_and_return, &refused, NULL, NULL), WEIR_INVALID));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
