/* Cancels and deadlines, at every point in the life of a read and of a write. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sched.h>
#include <stdio.h>

#include <sqlite3.h>

#include "internal.h"
#include "threads.h"

TestSuite(cancel, .timeout = 120);

static weir_pool *opened(int kind, unsigned readers) {
  weir_pool *pool = NULL;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = readers;
  options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  return pool;
}

static void closed(weir_pool *pool) {
  cr_assert(eq(uint, stats_of(pool).readers_in_use + stats_of(pool).readers_waiting, 0));
  cr_assert(eq(uint, stats_of(pool).writes_queued, 0));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

static weir_txn_options with(weir_token *token) {
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.token = token;
  return options;
}

/* ---- Reads ---- */

Test(cancel, ends_the_waits_that_have_the_token_and_no_other) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    latch l = LATCH_INIT;
    weir_token canceled = {0}, other = {0};
    weir_txn_options options[] = {with(&canceled), with(&other), with(NULL), with(&canceled)};
    task holder = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &l}, tasks[4];
    cr_assert(eq(int, task_start(&holder), 0));
    cr_assert(latch_await(&l, 1));
    for (unsigned i = 0; i < 4; i++) {
      tasks[i] = (task){.in = weir_pool_auto(pool), .fn = nothing_fn, .options = &options[i]};
      cr_assert(task_start_waiting(&tasks[i], pool, i + 1));
    }
    cr_assert(eq(int, weir_cancel(pool, &canceled), WEIR_OK));
    cr_assert(eq(int, task_join(&tasks[0]), WEIR_CANCELED));
    cr_assert(eq(int, task_join(&tasks[3]), WEIR_CANCELED));
    cr_assert(eq(int, tasks[0].error.code, WEIR_CANCELED));
    cr_assert(await_waiting(pool, 2));
    latch_open(&l);
    cr_assert(eq(int, task_join(&holder), WEIR_OK));
    cr_assert(eq(int, task_join(&tasks[1]), WEIR_OK));
    cr_assert(eq(int, task_join(&tasks[2]), WEIR_OK));
    closed(pool);
  }
}

/* A read that never ends by itself, after it has said that it is inside. */
struct endless {
  latch inside;
  int nested; /* 1: the statement runs in a nested read */
};

static int endless_fn(weir_txn *txn, void *data, weir_error *err) {
  struct endless *e = data;
  if (e->nested) {
    e->nested = 0;
    return weir_read(txn, endless_fn, e, NULL, err);
  }
  latch_pass(&e->inside);
  return weir_txn_exec(txn, ENDLESS_SQL, err);
}

Test(cancel, and_deadline_end_a_read_that_runs_and_its_connection_lives_on) {
  for (int round = 0; round < 4 * POOL_KINDS; round++) {
    weir_pool *pool = opened(round / 4, 1);
    weir_token token = {0};
    weir_txn_options options = with(&token);
    options.deadline_ms = round & 1 ? 30 : 0;
    struct endless e = {.inside = LATCH_INIT, .nested = round & 2};
    task reader = {.in = weir_pool_auto(pool), .fn = endless_fn, .data = &e, .options = &options};
    latch_open(&e.inside);
    cr_assert(eq(int, task_start(&reader), 0));
    if (!options.deadline_ms) { /* which may also pass before it is inside */
      cr_assert(latch_await(&e.inside, 1));
      cr_assert(eq(int, weir_cancel(pool, &token), WEIR_OK));
    }
    int expected = options.deadline_ms ? WEIR_TIMEOUT : WEIR_CANCELED;
    cr_assert(eq(int, task_join(&reader), expected));
    cr_assert(eq(int, reader.error.code, expected));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 0)); /* the only connection */
    cr_assert(eq(u64, stats_of(pool).replaced, 0));
    closed(pool);
    (void)remove(pool_path(round / 4));
  }
}

Test(cancel, comes_before_all_else_once_the_token_is_canceled) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    weir_token token = {0};
    weir_txn_options options = with(&token);
    weir_txn *snapshot = NULL;
    cr_assert(eq(int, weir_cancel(pool, &token), WEIR_OK));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), nothing_fn, NULL, &options, NULL), WEIR_CANCELED));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), nothing_fn, NULL, &options, NULL), WEIR_CANCELED));
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, &options, NULL), WEIR_CANCELED));
    cr_assert(eq(ptr, snapshot, NULL));
    closed(pool);
  }
}

Test(cancel, a_deadline_ends_the_wait_for_a_connection_too) {
  weir_pool *pool = opened(POOL_FILE, 1);
  latch l = LATCH_INIT;
  task holder = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &l};
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.deadline_ms = 10;
  options.timeout_ms = 100 * WEIR_TEST_WAIT_MS;
  weir_txn *snapshot = NULL;
  cr_assert(eq(int, task_start(&holder), 0));
  cr_assert(latch_await(&l, 1));
  cr_assert(eq(int, weir_read(weir_pool_auto(pool), nothing_fn, NULL, &options, NULL), WEIR_TIMEOUT));
  cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, &options, NULL), WEIR_TIMEOUT));
  cr_assert(not(task_ended(&holder)));
  latch_open(&l);
  cr_assert(eq(int, task_join(&holder), WEIR_OK));
  closed(pool);
}

/* ---- A cancel at the moment of the grant ---- */

/* One thread gives the connection back while the other one cancels the first waiter. */
struct moment {
  weir_pool *pool;
  weir__slot *slot;
  weir_token token;
  atomic_int ready;
  unsigned delays[2];
};

static void moment(int index, void *data) {
  struct moment *m = data;
  atomic_fetch_add(&m->ready, 1);
  while (atomic_load(&m->ready) < 2)
    (void)sched_yield();
  while (m->delays[index]-- > 0)
    (void)atomic_load(&m->ready);
  if (index == 0)
    weir__slot_release(m->pool, m->slot);
  else
    (void)weir_cancel(m->pool, &m->token);
}

/* Notices it sooner than await_waiting, so that the waiters may be young enough to be passed. */
static void waits_soon(weir_pool *pool, unsigned count) {
  for (int i = 0; i < 200 && stats_of(pool).readers_waiting != count; i++)
    (void)sched_yield();
  cr_assert(await_waiting(pool, count));
}

Test(cancel, of_a_waiter_that_is_being_granted_passes_the_grant_on) {
  enum { ROUNDS = TEST_IS_SLOW ? 100 : 1000 };
  weir_pool *pool = opened(POOL_FILE, 1);
  weir_test_rng rng = {.state = weir_test_seed()};
  const weir__admission at_once = {.timeout_ns = 0};
  for (int round = 0; round < ROUNDS; round++) {
    struct moment m = {
        .pool = pool,
        .delays = {(unsigned)weir_test_below(&rng, 3000), (unsigned)weir_test_below(&rng, 3000)}};
    weir_txn_options options = with(&m.token);
    task first = {.in = weir_pool_auto(pool), .fn = nothing_fn, .options = &options};
    task second = {.in = weir_pool_auto(pool), .fn = nothing_fn};
    cr_assert(eq(int, weir__slot_acquire(pool, &at_once, &m.slot, NULL), WEIR_OK), "round %d", round);
    cr_assert(eq(int, task_start(&first), 0));
    waits_soon(pool, 1);
    cr_assert(eq(int, task_start(&second), 0));
    waits_soon(pool, 2);
    cr_assert(together(2, moment, &m));
    int rc = task_join(&first);
    cr_assert(rc == WEIR_OK || rc == WEIR_CANCELED, "%s", weir_error_name(rc));
    cr_assert(eq(int, task_join(&second), WEIR_OK), "round %d: the first one got %s", round,
              weir_error_name(rc));
  }
  closed(pool);
}

/* ---- Writes ---- */

Test(cancel, of_a_queued_write_takes_it_out_and_of_one_that_runs_does_nothing) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind, 1);
    latch l = LATCH_INIT;
    weir_token token = {0}, running = {0};
    weir_txn_options options[4] = {with(&running), with(NULL), with(&token), with(NULL)};
    const char *const inserts[4] = {NULL, "INSERT INTO t(v) VALUES(1)", "INSERT INTO t(v) VALUES(2)",
                                    "INSERT INTO t(v) VALUES(3)"};
    task tasks[4];
    for (unsigned i = 0; i < 4; i++) {
      tasks[i] = (task){.in = weir_pool_auto(pool), .options = &options[i], .write = 1};
      tasks[i].fn = i == 0 ? latch_fn : exec_fn;
      tasks[i].data = i == 0 ? (void *)&l : (void *)inserts[i];
      cr_assert(eq(int, task_start(&tasks[i]), 0));
      cr_assert(i == 0 ? latch_await(&l, 1) : await_queued(pool, i));
    }
    cr_assert(eq(int, weir_cancel(pool, &running), WEIR_OK));
    cr_assert(eq(int, weir_cancel(pool, &token), WEIR_OK));
    cr_assert(eq(int, task_join(&tasks[2]), WEIR_CANCELED));
    cr_assert(eq(int, tasks[2].error.code, WEIR_CANCELED));
    cr_assert(await_queued(pool, 2));
    latch_open(&l);
    for (int i = 0; i < 4; i += i == 1 ? 2 : 1) {
      cr_assert(eq(int, task_join(&tasks[i]), WEIR_OK));
    }
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 2));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t WHERE v = 2"), 0));
    closed(pool);
  }
}

enum { STORM_THREADS = 8, STORM_CALLS = TEST_IS_SLOW ? 200 : 1000 };

struct storm {
  weir_pool *pool;
  weir_token tokens[STORM_THREADS];
  char kept[STORM_THREADS * STORM_CALLS]; /* by what was inserted: its writer was told that it is kept */
  atomic_int canceled, busy;
  faults faults;
};

/* Threads 0 and 1 give no token: whatever is canceled, it is not they. */
static void storm(int index, void *data) {
  struct storm *s = data;
  weir_test_rng rng = {.state = weir_test_seed() + (uint64_t)index};
  for (int i = 0; i < STORM_CALLS; i++) {
    weir_error err = WEIR_ERROR_INIT;
    weir_txn_options options = with(index < 2 ? NULL : &s->tokens[index]);
    char sql[128];
    int id = index * STORM_CALLS + i;
    int write = weir_test_below(&rng, 3) > 0;
    __atomic_store_n(&s->tokens[index].canceled, 0, __ATOMIC_RELEASE);
    (void)weir_cancel(s->pool, &s->tokens[weir_test_below(&rng, STORM_THREADS)]);
    options.timeout_ms = index < 2 || weir_test_below(&rng, 4) ? 0 : weir_test_below(&rng, 2) ? 1 : -1;
    (void)snprintf(sql, sizeof sql,
                   write ? "INSERT INTO t VALUES(%d, 0)"
                         : "WITH RECURSIVE c(x) AS (SELECT %d UNION ALL SELECT x + 1 FROM c LIMIT 3000) "
                           "SELECT count(*) FROM c",
                   id);
    int rc = (write ? weir_write : weir_read)(weir_pool_auto(s->pool), exec_fn, sql, &options, &err);
    s->kept[id] = write && rc == WEIR_OK;
    atomic_fetch_add(&s->canceled, rc == WEIR_CANCELED);
    atomic_fetch_add(&s->busy, rc == WEIR_BUSY);
    if (rc != WEIR_OK && (index < 2 || (rc != WEIR_CANCELED && rc != WEIR_BUSY)))
      fault(&s->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
  }
}

/* The rows are those that are kept. */
static int compare_fn(weir_txn *txn, void *data, weir_error *err) {
  struct storm *s = data;
  sqlite3_stmt *stmt = NULL;
  int step = SQLITE_DONE, rows = 0, kept = 0;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT id FROM t"), &stmt, err);
  while (rc == WEIR_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
    int id = sqlite3_column_int(stmt, 0);
    rows++;
    if (!s->kept[id])
      fault(&s->faults, "row %d is there, its writer was told that it is not", id);
  }
  for (int id = 0; id < STORM_THREADS * STORM_CALLS; id++)
    kept += s->kept[id];
  if (rows != kept)
    fault(&s->faults, "%d rows, and %d writers were told that theirs is there", rows, kept);
  return rc == WEIR_OK ? weir_txn_check(txn, step, err) : rc;
}

Test(cancel, storm_ends_only_what_has_the_token_and_keeps_exactly_the_writes_that_were_acknowledged) {
  static struct storm s;
  (void)weir_test_seed();
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    s = (struct storm){.pool = opened(kind, 2)};
    cr_assert(together(STORM_THREADS, storm, &s));
    cr_assert(eq(int, atomic_load(&s.faults.count), 0), "%s", s.faults.first);
    cr_assert(gt(int, atomic_load(&s.canceled), 0));
    cr_assert(gt(int, atomic_load(&s.busy), 0));
    cr_assert(eq(int, weir_read(weir_pool_auto(s.pool), compare_fn, &s, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, atomic_load(&s.faults.count), 0), "%s", s.faults.first);
    closed(s.pool);
  }
}
