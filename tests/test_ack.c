/* What a write is told of its commit, above all its number; and reads that want to see a commit's number. */
#define _GNU_SOURCE /* pipe2 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "groups.h"
#include "internal.h"
#include "threads.h"

TestSuite(ack, .timeout = 200);

static weir_pool *opened(int kind) {
  weir_pool *pool = NULL;
  weir_pool_options options = group_options();
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  return pool;
}

static int write_one(weir_pool *pool, weir_txn_fn fn, const char *sql, weir_ack *ack) {
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.ack = ack;
  return weir_write(weir_pool_auto(pool), fn, (void *)sql, &options, NULL);
}

#define INSERT    "INSERT INTO t(v) VALUES(0)"
#define NO_CHANGE "UPDATE t SET v = 1 WHERE id < 0"

/* ---- The number in the acknowledgement ---- */

static int refuse_fn(weir_txn *txn, void *data, weir_error *err) {
  int64_t rev = 0;
  int rc = weir_txn_rev(txn, &rev, err);
  rc = rc == WEIR_OK ? weir_txn_exec(txn, data, err) : rc;
  return rc == WEIR_OK ? weir_fail(err, WEIR_CONFLICT, "no") : rc;
}

static int nested_fn(weir_txn *txn, void *data, weir_error *err) {
  return weir_write(txn, exec_fn, data, NULL, err);
}

static int rev_only_fn(weir_txn *txn, void *data, weir_error *err) {
  int64_t rev = 0;
  (void)data;
  return weir_txn_rev(txn, &rev, err);
}

Test(ack, has_the_number_of_the_change_or_of_the_last_one_that_the_write_has_seen) {
  static const struct {
    weir_txn_fn fn;
    const char *sql;
    int rc, advances;
  } steps[] = {{exec_fn, INSERT, WEIR_OK, 1},   {exec_fn, NO_CHANGE, WEIR_OK, 0},
               {nothing_fn, NULL, WEIR_OK, 0},  {refuse_fn, INSERT, WEIR_CONFLICT, 0},
               {nested_fn, INSERT, WEIR_OK, 1}, {exec_fn, "DELETE FROM t", WEIR_OK, 1},
               {rev_only_fn, NULL, WEIR_OK, 1}, {exec_fn, INSERT ";" INSERT, WEIR_OK, 1},
               {exec_fn, NO_CHANGE, WEIR_OK, 0}};
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    int64_t rev = 0;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
      weir_ack ack = {.rev = -7};
      rev += steps[i].advances;
      cr_assert(eq(int, write_one(pool, steps[i].fn, steps[i].sql, &ack), steps[i].rc), "step %u", i);
      cr_assert(eq(i64, ack.rev, steps[i].rc == WEIR_OK ? rev : -7), "step %u", i);
      cr_assert(eq(uint, ack.members, steps[i].rc == WEIR_OK), "step %u", i);
      cr_assert(eq(i64, int_of(pool, "SELECT rev FROM weir_commit"), rev), "step %u", i);
    }
    cr_assert(eq(int, write_one(pool, exec_fn, INSERT, NULL), WEIR_OK)); /* nobody asks, so it has none */
    cr_assert(eq(i64, int_of(pool, "SELECT rev FROM weir_commit"), rev));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(ack, has_no_number_in_a_pool_without_numbers) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    weir_ack ack = {.rev = -7};
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, write_one(pool, exec_fn, CREATE_T ";" INSERT, &ack), WEIR_OK));
    cr_assert(eq(i64, ack.rev, 0));
    cr_assert(eq(uint, ack.members, 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Many writers, and reads of what they wrote ---- */

enum { WRITERS = 8, WRITES = TEST_IS_SLOW ? 20 : 60 };

static struct crowd {
  weir_pool *pool;
  int64_t ids[WRITERS * WRITES + 1]; /* by number, each of one thread */
  faults faults;
} crowd;

static int insert_fn(weir_txn *txn, void *data, weir_error *err) {
  int rc = weir_txn_exec(txn, INSERT, err);
  *(int64_t *)data = sqlite3_last_insert_rowid(weir_txn_db(txn));
  return rc;
}

static int sees_fn(weir_txn *txn, void *data, weir_error *err) {
  char sql[60];
  int64_t count = 0;
  (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE id = %lld", (long long)*(int64_t *)data);
  int rc = sql_int(txn, sql, &count, err);
  return rc == WEIR_OK && count != 1 ? weir_fail(err, WEIR_CORRUPT, "not there") : rc;
}

static void write_and_read(int index, void *data) {
  int64_t last = 0;
  (void)data;
  for (int i = 0; i < WRITES; i++) {
    weir_error err = WEIR_ERROR_INIT;
    weir_ack ack = {0};
    weir_txn_options writes = WEIR_TXN_OPTIONS_INIT, reads = WEIR_TXN_OPTIONS_INIT;
    int64_t id = 0;
    writes.ack = &ack;
    writes.priority = (weir_priority)(i % 3 == 0);
    int rc = weir_write(weir_pool_auto(crowd.pool), insert_fn, &id, &writes, &err);
    reads.min_rev = ack.rev;
    if (rc == WEIR_OK)
      rc = weir_read(weir_pool_auto(crowd.pool), sees_fn, &id, &reads, &err);
    if (rc != WEIR_OK)
      fault(&crowd.faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
    else if (ack.rev <= last || ack.rev > WRITERS * WRITES || crowd.ids[ack.rev] || ack.members < 1)
      fault(&crowd.faults, "thread %d: rev %lld after %lld", index, (long long)ack.rev, (long long)last);
    else
      crowd.ids[ack.rev] = id;
    last = ack.rev;
  }
}

Test(ack, numbers_of_many_threads_grow_as_they_commit_without_gaps_and_reads_from_them_on_see_the_write) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    memset(&crowd, 0, sizeof crowd);
    crowd.pool = opened(kind);
    cr_assert(together(WRITERS, write_and_read, NULL));
    cr_assert(eq(int, atomic_load(&crowd.faults.count), 0), "%s", crowd.faults.first);
    for (int rev = 1; rev <= WRITERS * WRITES; rev++)
      cr_assert(eq(i64, crowd.ids[rev], rev)); /* SQLite gives row ids in the order of commits, too */
    cr_assert(eq(int, weir_pool_close(crowd.pool, NULL), WEIR_OK));
  }
}

/* ---- Reads that wait for a number ---- */

static int count_fn(weir_txn *txn, void *data, weir_error *err) {
  return sql_int(txn, "SELECT count(*) FROM t", data, err);
}

/* Only one that has found its number missing is awaited: it must look again. */
Test(ack, a_read_waits_for_the_commit_of_its_number) {
  for (int i = 0; i < 2 * POOL_KINDS; i++) {
    weir_pool *pool = opened(i / 2);
    int64_t counts[3] = {0};
    weir_txn_options options[3];
    task readers[3];
    for (int j = 0; j < 3; j++) {
      options[j] = (weir_txn_options)WEIR_TXN_OPTIONS_INIT;
      options[j].min_rev = 2 * j + 1;
      options[j].deadline_ms = i % 2 ? 2 * WEIR_TEST_WAIT_MS : 0;
      readers[j] =
          (task){.in = weir_pool_auto(pool), .fn = count_fn, .data = &counts[j], .options = &options[j]};
      cr_assert(eq(int, task_start(&readers[j]), 0));
    }
    for (int j = 0; j < 3; j++) {
      for (int k = j; k < 3; k++)
        cr_assert(not(task_ended(&readers[k])));
      cr_assert(eq(int, write_one(pool, exec_fn, INSERT, &(weir_ack){0}), WEIR_OK));
      cr_assert(eq(int, task_join(&readers[j]), WEIR_OK), "%s", readers[j].error.message);
      cr_assert(ge(i64, counts[j], 2 * j + 1));
      cr_assert(eq(int, write_one(pool, exec_fn, INSERT, &(weir_ack){0}), WEIR_OK));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    (void)remove(pool_path(i / 2));
  }
}

static int a_read_awaits(void *data) {
  return __atomic_load_n(&((weir_pool *)data)->awaiting, __ATOMIC_ACQUIRE) > 0;
}

Test(ack, a_read_whose_number_does_not_come_is_told_so_in_time_or_when_canceled_or_at_the_close) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    int64_t count = -1;
    weir_txn *snapshot = NULL;
    weir_token token = {0};
    weir_error err = WEIR_ERROR_INIT;
    weir_txn_options hasty = {.size = sizeof hasty, .min_rev = 1, .timeout_ms = 20};
    weir_txn_options at_once = {.size = sizeof at_once, .min_rev = 1, .timeout_ms = -1};
    weir_txn_options cut = {.size = sizeof cut, .min_rev = 1, .deadline_ms = 20};
    weir_txn_options patient = {.size = sizeof patient, .min_rev = 1, .token = &token};
    weir_txn *in = weir_pool_auto(pool);
    cr_assert(eq(int, weir_read(in, count_fn, &count, &hasty, &err), WEIR_BUSY), "%s", err.message);
    cr_assert(strstr(err.message, "commit 1") != NULL, "%s", err.message);
    cr_assert(eq(int, weir_read(in, count_fn, &count, &at_once, &err), WEIR_BUSY));
    cr_assert(eq(int, weir_read(in, count_fn, &count, &cut, &err), WEIR_TIMEOUT));
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, &hasty, &err), WEIR_BUSY));
    cr_assert(zero(ptr, snapshot));
    task reader = {.in = in, .fn = count_fn, .data = &count, .options = &patient};
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(eq(int, weir_cancel(pool, &token), WEIR_OK));
    cr_assert(eq(int, task_join(&reader), WEIR_CANCELED));
    patient.token = NULL;
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(weir_test_wait(a_read_awaits, pool, WEIR_TEST_WAIT_MS)); /* else close would come before it */
    cr_assert(eq(int, write_one(pool, nothing_fn, NULL, &(weir_ack){0}), WEIR_OK)); /* brings no number */
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(eq(int, task_join(&reader), WEIR_CLOSED));
    cr_assert(eq(i64, count, -1)); /* none of them ran */
  }
}

Test(ack, a_snapshot_waits_for_the_commit_of_its_number) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    weir_txn *snapshot = NULL;
    weir_ack ack = {0};
    int64_t count = 0;
    weir_txn_options options = {.size = sizeof options};
    cr_assert(eq(int, write_one(pool, exec_fn, INSERT, &ack), WEIR_OK));
    options.min_rev = ack.rev;
    cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, &options, NULL), WEIR_OK));
    cr_assert(eq(int, weir_read(snapshot, count_fn, &count, NULL, NULL), WEIR_OK));
    cr_assert(eq(i64, count, 1));
    cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* The lane here commits nothing: who waits has to look. */
Test(ack, the_commit_may_be_another_processs) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    int go[2];
    weir_pool *pool = opened(kind);
    int64_t rows = 0;
    weir_txn_options options = {.size = sizeof options, .min_rev = 5, .timeout_ms = WEIR_TEST_WAIT_MS};
    task reader = {.in = weir_pool_auto(pool), .fn = count_fn, .data = &rows, .options = &options};
    cr_assert(eq(int, pipe2(go, O_CLOEXEC), 0));
    pid_t child = child_start((const char *const[]){"write", pool_path(kind), "single", "5", NULL}, go[0]);
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(not(task_ended(&reader)));
    cr_assert(eq(int, close(go[0]) | close(go[1]), 0));
    cr_assert(eq(int, task_join(&reader), WEIR_OK), "%s", reader.error.message);
    cr_assert(eq(int, child_wait(child), 0));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM revs"), 5));
    weir_ack ack = {0};
    cr_assert(eq(int, write_one(pool, exec_fn, INSERT, &ack), WEIR_OK));
    cr_assert(eq(i64, ack.rev, 6));
    cr_assert(gt(u64, stats_of(pool).foreign_commits, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- While the pool is closed ---- */

enum { ROUNDS = TEST_IS_SLOW ? 40 : 150, WAITERS = 6 };

static int all_wait(void *data) {
  const weir_pool *pool = data;
  return __atomic_load_n(&pool->awaiting, __ATOMIC_ACQUIRE) == WAITERS;
}

/* In every other round the commit that they wait for comes, and closing right behind it. */
Test(ack, reads_that_wait_for_a_commit_are_ended_by_the_close_of_the_pool_or_end_before_it) {
  for (int i = 0; i < ROUNDS * POOL_KINDS; i++) {
    int kind = i % POOL_KINDS, comes = i / POOL_KINDS % 2;
    weir_pool *pool = opened(kind);
    weir_txn_options options = {.size = sizeof options,
                                .min_rev = int_of(pool, "SELECT rev FROM weir_commit") + 1};
    int64_t rows[WAITERS];
    task readers[WAITERS];
    for (int j = 0; j < WAITERS; j++) {
      rows[j] = -1;
      readers[j] = (task){.in = weir_pool_auto(pool), .fn = count_fn, .data = &rows[j], .options = &options};
      cr_assert(eq(int, task_start(&readers[j]), 0));
    }
    cr_assert(weir_test_wait(all_wait, pool, WEIR_TEST_WAIT_MS));
    if (comes)
      cr_assert(eq(int, write_one(pool, exec_fn, INSERT, &(weir_ack){0}), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    for (int j = 0; j < WAITERS; j++) {
      int rc = task_join(&readers[j]);
      cr_assert(rc == WEIR_CLOSED || (comes && rc == WEIR_OK), "%d: %s", rc, readers[j].error.message);
      cr_assert(rc == WEIR_OK ? rows[j] > 0 : rows[j] == -1);
    }
  }
}

/* ---- Nonsense ---- */

Test(ack, options_that_are_nonsense_are_refused_and_nothing_runs) {
  for (int i = 0; i < 2 * POOL_KINDS; i++) {
    weir_pool *pool = NULL;
    weir_pool_options numbered = {.size = sizeof numbered, .numbered = i % 2};
    cr_assert(eq(int, pool_open(&pool, i / 2, &numbered), WEIR_OK));
    weir_txn_options bad[] = {
        {.size = sizeof bad[0], .durability = (weir_durability)3},
        {.size = sizeof bad[0], .priority = (weir_priority)2},
        {.size = sizeof bad[0], .min_rev = -1},
        {.size = sizeof bad[0], .deadline_ms = -1},
        {.size = 1},
        {.size = sizeof bad[0] + 1},
        {.size = sizeof bad[0], .min_rev = 1},
    };
    for (unsigned j = 0; j < 7u - (unsigned)numbered.numbered; j++) { /* the last is good if numbered */
      weir_error err = WEIR_ERROR_INIT;
      weir_txn *snapshot = NULL, *in = weir_pool_auto(pool);
      cr_assert(eq(int, weir_read(in, refuse_fn, NULL, &bad[j], &err), WEIR_INVALID), "%u", j);
      cr_assert(eq(int, err.code, WEIR_INVALID));
      cr_assert(eq(int, weir_write(in, refuse_fn, NULL, &bad[j], &err), WEIR_INVALID), "%u", j);
      cr_assert(eq(int, weir_flush(pool, &bad[j], &err), WEIR_INVALID), "%u", j);
      cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, &bad[j], &err), WEIR_INVALID), "%u", j);
    }
    cr_assert(eq(u64, stats_of(pool).rollbacks, 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
