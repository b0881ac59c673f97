/* The numbers of write transactions. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(rev, .timeout = 60);

static weir_pool *opened_with(int kind, int busy_timeout_ms) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options, .numbered = 1, .busy_timeout_ms = busy_timeout_ms};
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  return pool;
}

static weir_pool *opened(int kind) {
  return opened_with(kind, 0);
}

static int rev_fn(weir_txn *txn, void *data, weir_error *err) {
  return weir_txn_rev(txn, data, err);
}

static int64_t last_rev(weir_pool *pool) {
  int64_t rev = -1;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, weir_read(weir_pool_auto(pool), rev_fn, &rev, NULL, &err), WEIR_OK), "%s", err.message);
  return rev;
}

static int refuse_after_rev(weir_txn *txn, void *data, weir_error *err) {
  int rc = weir_txn_rev(txn, data, err);
  return rc == WEIR_OK ? weir_fail(err, WEIR_CONFLICT, "no") : rc;
}

static int ask_twice_and_nested(weir_txn *txn, void *data, weir_error *err) {
  int64_t *revs = data;
  weir_error own = WEIR_ERROR_INIT;
  int rc = weir_txn_rev(txn, &revs[0], err);
  rc = rc == WEIR_OK ? weir_txn_rev(txn, &revs[1], err) : rc;
  rc = rc == WEIR_OK ? weir_write(txn, rev_fn, &revs[2], NULL, err) : rc;
  if (rc == WEIR_OK &&
      weir_write(weir_pool_auto(weir_txn_pool(txn)), refuse_after_rev, &revs[3], NULL, &own) != WEIR_CONFLICT)
    rc = weir_fail(err, WEIR_CORRUPT, "not refused");
  return rc == WEIR_OK ? weir_txn_rev(txn, &revs[4], err) : rc;
}

Test(rev, is_given_once_a_transaction_in_commit_order_without_gaps_and_not_to_what_is_rolled_back) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    cr_assert(eq(i64, last_rev(pool), 0));
    for (int64_t expected = 1; expected <= 20; expected++) {
      int64_t revs[5] = {0}, refused = 0;
      cr_assert(
          eq(int, weir_write(weir_pool_auto(pool), refuse_after_rev, &refused, NULL, NULL), WEIR_CONFLICT));
      cr_assert(eq(i64, last_rev(pool), expected - 1));
      cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK)); /* does not ask for one */
      cr_assert(eq(i64, last_rev(pool), expected - 1));
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), ask_twice_and_nested, revs, NULL, NULL), WEIR_OK));
      for (int i = 0; i < 5; i++)
        cr_assert(eq(i64, revs[i], expected));
      cr_assert(eq(i64, last_rev(pool), expected));
    }
    cr_assert(eq(i64, int_of(pool, "SELECT rev FROM weir_commit"), 20));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM weir_commit"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    if (kind != SINGLE_MEMORY) { /* the file knows */
      pool = opened(kind);
      cr_assert(eq(i64, last_rev(pool), 20));
      cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    }
  }
}

static int fail_at_commit(weir_txn *txn, void *data, weir_error *err) {
  int rc = weir_txn_rev(txn, data, err);
  return rc == WEIR_OK ? weir_txn_exec(txn, "INSERT INTO child VALUES(99)", err) : rc;
}

Test(rev, of_a_write_whose_commit_failed_is_given_to_the_next) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    int64_t lost = 0, rev = 0;
    cr_assert(
        eq(int,
           sql_write(weir_pool_auto(pool),
                     CREATE_T ";CREATE TABLE child(t REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED)", NULL),
           WEIR_OK));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), fail_at_commit, &lost, NULL, NULL), WEIR_CONSTRAINT));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), rev_fn, &rev, NULL, NULL), WEIR_OK));
    cr_assert(eq(i64, lost, 1));
    cr_assert(eq(i64, rev, 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(rev, in_a_read_is_that_of_the_last_commit_in_the_snapshot) {
  weir_pool *pool = opened(POOL_FILE);
  int64_t rev = 0;
  weir_txn *snapshot = NULL;
  cr_assert(eq(int, weir_write(weir_pool_auto(pool), rev_fn, &rev, NULL, NULL), WEIR_OK));
  cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, NULL), WEIR_OK));
  for (int i = 0; i < 3; i++) {
    task writer = {.in = weir_pool_auto(pool), .fn = rev_fn, .data = &rev, .write = 1};
    cr_assert(eq(int, task_start(&writer), 0));
    cr_assert(eq(int, task_join(&writer), WEIR_OK));
    cr_assert(eq(i64, rev, i + 2));
    int64_t seen = 0;
    cr_assert(eq(int, weir_txn_rev(snapshot, &seen, NULL), WEIR_OK));
    cr_assert(eq(i64, seen, 1));
  }
  cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
  cr_assert(eq(i64, last_rev(pool), 4));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* ---- Errors ---- */

static int null_out(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  return weir_txn_rev(txn, NULL, err);
}

Test(rev, is_refused_without_the_option_without_a_transaction_and_without_a_place_for_it) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    int64_t rev = 7;
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    for (int write = 0; write < 2; write++) {
      cr_assert(eq(int, (write ? weir_write : weir_read)(weir_pool_auto(pool), rev_fn, &rev, NULL, &err),
                   WEIR_MISUSE));
      cr_assert(ne(ptr, strstr(err.message, "numbered"), NULL));
    }
    cr_assert(
        eq(i64, int_of(pool, "SELECT count(*) FROM sqlite_schema"), 0)); /* nor is there a table for it */
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    pool = opened(kind);
    cr_assert(eq(int, weir_txn_rev(weir_pool_auto(pool), &rev, &err), WEIR_MISUSE));
    cr_assert(eq(int, weir_txn_rev(NULL, &rev, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_txn_rev(weir_pool_auto(pool), NULL, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), null_out, NULL, NULL, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), null_out, NULL, NULL, &err), WEIR_INVALID));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(rev, is_corrupt_if_its_table_was_emptied) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    int64_t rev = 0;
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), "DELETE FROM weir_commit", NULL), WEIR_OK));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), rev_fn, &rev, NULL, NULL), WEIR_CORRUPT));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), rev_fn, &rev, NULL, NULL), WEIR_CORRUPT));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Many writers ---- */

enum { THREADS = 4, WRITES = 50, CHILDREN = 2, CHILD_WRITES = 60 };

static int note_rev(weir_txn *txn, void *data, weir_error *err) {
  int64_t rev = 0;
  char sql[300];
  int rc = weir_txn_rev(txn, &rev, err);
  (void)snprintf(sql, sizeof sql,
                 "CREATE TABLE IF NOT EXISTS revs(rev INTEGER PRIMARY KEY, process INTEGER);"
                 "INSERT INTO revs VALUES(%lld, 0)",
                 (long long)rev);
  rc = rc == WEIR_OK ? weir_txn_exec(txn, sql, err) : rc;
  return rc == WEIR_OK && data ? weir_fail(err, WEIR_CONFLICT, "rolled back") : rc;
}

struct crew {
  weir_pool *pool;
  faults faults;
};

static void write_revs(int index, void *data) {
  struct crew *crew = data;
  for (int i = 0; i < WRITES; i++) {
    weir_error err = WEIR_ERROR_INIT;
    int rc = weir_write(weir_pool_auto(crew->pool), note_rev, (i + index) % 4 == 0 ? crew : NULL, NULL, &err);
    if (rc != ((i + index) % 4 == 0 ? WEIR_CONFLICT : WEIR_OK))
      fault(&crew->faults, "%s", err.message);
  }
}

/* Every number up to the last one is in the table, which has no two of the same. */
static void expect_gapless(weir_pool *pool) {
  cr_assert(eq(i64, int_of(pool, "SELECT min(rev) FROM revs"), 1));
  cr_assert(eq(i64, int_of(pool, "SELECT max(rev) FROM revs"), last_rev(pool)));
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM revs"), last_rev(pool)));
}

Test(rev, of_many_threads_has_no_gap_and_no_double) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    static struct crew crew;
    memset(&crew, 0, sizeof crew);
    crew.pool = opened(kind);
    cr_assert(together(THREADS, write_revs, &crew));
    cr_assert(eq(int, atomic_load(&crew.faults.count), 0), "%s", crew.faults.first);
    expect_gapless(crew.pool);
    cr_assert(eq(u64, (uint64_t)last_rev(crew.pool), stats_of(crew.pool).writes));
    cr_assert(eq(int, weir_pool_close(crew.pool, NULL), WEIR_OK));
  }
}

Test(rev, of_several_processes_is_one_sequence) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    static struct crew crew;
    memset(&crew, 0, sizeof crew);
    crew.pool = opened(kind);
    char writes[16];
    (void)snprintf(writes, sizeof writes, "%d", CHILD_WRITES);
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
      const char *arguments[] = {"write", pool_path(kind), i ? "single" : "pool", writes, NULL};
      children[i] = child_start(arguments, -1);
      cr_assert(gt(int, (int)children[i], 0));
    }
    cr_assert(together(THREADS, write_revs, &crew));
    for (int i = 0; i < CHILDREN; i++)
      cr_assert(eq(int, child_wait(children[i]), 0));
    cr_assert(eq(int, atomic_load(&crew.faults.count), 0), "%s", crew.faults.first);
    expect_gapless(crew.pool);
    cr_assert(eq(i64, int_of(crew.pool, "SELECT count(DISTINCT process) FROM revs"), 1 + CHILDREN));
    cr_assert(eq(int, weir_pool_close(crew.pool, NULL), WEIR_OK));
  }
}

Test(rev, that_a_read_asks_for_is_waited_for_until_its_deadline_and_no_longer) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = opened(kind);
    int64_t rev = 0;
    weir_error err = WEIR_ERROR_INIT;
    weir_txn_options options = {.size = sizeof options, .min_rev = 1, .deadline_ms = 20};
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), rev_fn, &rev, &options, &err), WEIR_TIMEOUT));
    options = (weir_txn_options){.size = sizeof options, .min_rev = 1, .timeout_ms = 20};
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), rev_fn, &rev, &options, &err), WEIR_BUSY));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), rev_fn, &rev, NULL, &err), WEIR_OK), "%s",
              err.message);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* The BEGIN that fails has seen what the other one committed, and got no further. */
Test(rev, after_a_begin_that_was_busy_follows_what_another_has_committed_meanwhile) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool *pool = opened_with(kind, 20);
    sqlite3 *other = NULL;
    int64_t rev = 0;
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(eq(int, sqlite3_open(pool_path(kind), &other), SQLITE_OK));
    for (int64_t last = 0; last < 6; last += 2) {
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), rev_fn, &rev, NULL, &err), WEIR_OK), "%s",
                err.message);
      cr_assert(eq(i64, rev, last + 1));
      cr_assert(eq(int,
                   sqlite3_exec(other,
                                "BEGIN IMMEDIATE; UPDATE weir_commit SET rev = rev + 1; COMMIT;"
                                "BEGIN IMMEDIATE",
                                NULL, NULL, NULL),
                   SQLITE_OK));
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), rev_fn, &rev, NULL, &err), WEIR_BUSY));
      cr_assert(eq(int, sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK));
    }
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), rev_fn, &rev, NULL, &err), WEIR_OK), "%s",
              err.message);
    cr_assert(eq(i64, rev, 7));
    cr_assert(eq(i64, last_rev(pool), 7));
    cr_assert(eq(u64, stats_of(pool).foreign_commits, 3));
    cr_assert(eq(int, sqlite3_close(other), SQLITE_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
