/*
 * Faults of the disk and of memory within a group: no space or an error while a member's pages are written
 * early, at the COMMIT of all, and allocations that fail. Who is to blame hears of it, the others are
 * committed once each.
 */
#include <stdio.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "fault_vfs.h"
#include "groups.h"
#include "threads.h"

/* ---- Memory: the n-th allocation of a thread fails ---- */

static sqlite3_mem_methods real_memory;
static _Thread_local long fail_at; /* counts down: 1 is the next; 0: none */
static _Thread_local int fail_on;  /* and all that follow */

static int fails(void) {
  if (fail_at == 0)
    return 0;
  if (fail_at > 1) {
    fail_at--;
    return 0;
  }
  fail_at = fail_on;
  return 1;
}

static void *fallible_malloc(int size) {
  return fails() ? NULL : real_memory.xMalloc(size);
}

static void *fallible_realloc(void *memory, int size) {
  return fails() ? NULL : real_memory.xRealloc(memory, size);
}

static void set_up(void) {
  cr_assert(eq(int, sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory), SQLITE_OK));
  sqlite3_mem_methods fallible = real_memory;
  fallible.xMalloc = fallible_malloc;
  fallible.xRealloc = fallible_realloc;
  cr_assert(eq(int, sqlite3_config(SQLITE_CONFIG_MALLOC, &fallible), SQLITE_OK));
  cr_assert(eq(int, fault_vfs_register(), SQLITE_OK));
}

TestSuite(group_faults, .timeout = 200, .init = set_up);

/* ---- Pools ---- */

static weir_pool *opened(int kind) {
  weir_pool *pool = NULL;
  char uri[700];
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = group_options();
  options.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
  (void)snprintf(uri, sizeof uri, kind == SINGLE_MEMORY ? "%s" : "file:%s?vfs=fault", pool_path(kind));
  cr_assert(eq(int, weir_pool_open(&pool, uri, &options, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T "; CREATE TABLE big(v)", &err), WEIR_OK), "%s",
            err.message);
  return pool;
}

/* The kinds that have a file. */
#define FOR_FILES(kind) for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE)

enum { MEMBERS = 5 };

/* All but the one at `place` (-1: all) are committed, once each, with numbers in their order. */
static void check_others(const group *g, int place, int64_t rev) {
  for (int i = 0; i < g->count; i++) {
    const member *m = &g->members[i];
    if (i == place)
      continue;
    rev++;
    cr_assert(eq(int, m->task.rc, WEIR_OK), "member %d: %s", i, m->task.error.message);
    cr_assert(eq(i64, m->ack.rev, rev));
    cr_assert(eq(i64, m->rev, rev));
  }
}

static void check_rows(weir_pool *pool, const group *g, int place, int64_t rows) {
  char sql[100];
  (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE id = %d",
                 place < 0 ? 0 : g->members[place].id);
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), rows));
  cr_assert(eq(i64, int_of(pool, "SELECT count(DISTINCT v) FROM t"), rows));
  cr_assert(eq(i64, int_of(pool, "SELECT rev FROM weir_commit"), rows));
  cr_assert(eq(i64, int_of(pool, sql), 0));
  cr_assert(eq(i64, int_of(pool, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1));
}

static const struct {
  int sqlite_code, code;
} faults_of_disk[] = {{SQLITE_FULL, WEIR_FULL}, {SQLITE_IOERR_WRITE, WEIR_IO}};

/* ---- A statement that outgrows the cache ---- */

#define INSERT_40                                                                                            \
  "INSERT INTO t(v) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<40)"                \
  " SELECT zeroblob(100000) FROM c"

static int spill_fn(weir_txn *txn, void *data, weir_error *err) {
  atomic_store(&fault_write, *(const int *)data);
  int rc = weir_txn_exec(txn, INSERT_40, err);
  atomic_store(&fault_write, 0);
  return rc;
}

Test(group_faults, of_one_whose_pages_find_no_place_while_it_runs_are_its_own) {
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind);
    int64_t rows = 0;
    for (int i = 0; i < 6; i++) {
      int place = i % 3 * (MEMBERS - 1) / 2, ends = place > 0;
      group g = group_of(MEMBERS, 1000 + i * MEMBERS);
      uint64_t reruns = stats_of(pool).reruns;
      g.members[place].then = spill_fn;
      g.members[place].data = (void *)&faults_of_disk[i / 3].sqlite_code;
      cr_assert(group_run(&g, pool));
      cr_assert(eq(int, g.members[place].task.rc, faults_of_disk[i / 3].code));
      cr_assert(eq(int, g.members[place].task.error.sqlite_code, faults_of_disk[i / 3].sqlite_code));
      cr_assert(eq(int, g.members[place].runs, 1 + ends));
      cr_assert(eq(u64, stats_of(pool).reruns - reruns, ends ? (unsigned)place + 1 : 0));
      check_others(&g, place, rows);
      rows += MEMBERS - 1;
      check_rows(pool, &g, place, rows);
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- The COMMIT ---- */

struct at_commit {
  const member *member;
  int first;  /* writes fail so after its first run; 0: as they did */
  int second; /* and after the second */
};

static int at_commit_fn(weir_txn *txn, void *data, weir_error *err) {
  const struct at_commit *at = data;
  (void)txn;
  (void)err;
  if (at->member->runs > 1 || at->first)
    atomic_store(&fault_write, at->member->runs > 1 ? at->second : at->first);
  return WEIR_OK;
}

/* place -1: when each runs alone, the fault is over. */
static void fail_commit(weir_pool *pool, int place, int code, int sqlite_code, int round) {
  group g = group_of(MEMBERS, 1000 + round * MEMBERS);
  struct at_commit at[MEMBERS];
  weir_pool_stats before = stats_of(pool);
  int64_t rows = int_of(pool, "SELECT count(*) FROM t");
  for (int i = 0; i < MEMBERS; i++) {
    at[i] =
        (struct at_commit){&g.members[i], i == MEMBERS - 1 ? sqlite_code : 0, i == place ? sqlite_code : 0};
    g.members[i].then = at_commit_fn;
    g.members[i].data = &at[i];
  }
  cr_assert(group_run(&g, pool));
  atomic_store(&fault_write, 0);
  check_others(&g, place, rows);
  for (int i = 0; i < MEMBERS; i++) {
    cr_assert(eq(int, g.members[i].runs, 2));
    cr_assert(eq(uint, g.members[i].ack.members, i != place));
  }
  if (place >= 0) {
    cr_assert(eq(int, g.members[place].task.rc, code), "%s", g.members[place].task.error.message);
    cr_assert(eq(int, g.members[place].task.error.sqlite_code, sqlite_code));
  }
  rows += MEMBERS - (place >= 0);
  check_rows(pool, &g, place, rows);
  weir_pool_stats after = stats_of(pool);
  cr_assert(eq(u64, after.commits - before.commits, (unsigned)(MEMBERS - (place >= 0))));
  cr_assert(eq(u64, after.rollbacks - before.rollbacks, place >= 0));
  cr_assert(eq(u64, after.reruns - before.reruns, MEMBERS));
}

Test(group_faults, at_the_commit_give_each_member_a_commit_of_its_own) {
  static const int places[] = {-1, 0, MEMBERS / 2, MEMBERS - 1};
  FOR_FILES(kind) {
    weir_pool *pool = opened(kind);
    for (int i = 0; i < 8; i++) {
      fail_commit(pool, places[i % 4], faults_of_disk[i / 4].code, faults_of_disk[i / 4].sqlite_code, i);
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Memory ---- */

struct scarce {
  const char *sql;
  long at;
  int on;
  int failed; /* some allocation did */
};

static int scarce_fn(weir_txn *txn, void *data, weir_error *err) {
  struct scarce *scarce = data;
  fail_at = scarce->at;
  fail_on = scarce->on;
  int rc = weir_txn_exec(txn, scarce->sql, err);
  scarce->failed |= fail_at == 0 || (fail_on && fail_at == 1);
  fail_at = fail_on = 0;
  return rc;
}

Test(group_faults, of_memory_in_one_are_its_own_whichever_allocation_fails) {
  static const char *const statements[] = {
      "INSERT INTO big VALUES(zeroblob(100000))", "UPDATE t SET v = v",
      "CREATE TABLE other(x); INSERT INTO other SELECT v FROM t; DROP TABLE other"};
  for (int i = 0; i < 2 * 3 * POOL_KINDS; i++) {
    weir_pool *pool = opened(i % POOL_KINDS);
    int64_t rev = 0, failures = 0;
    struct scarce scarce = {.sql = statements[i / POOL_KINDS / 2], .on = i / POOL_KINDS % 2};
    do {
      group g = group_of(3, 1000 + (int)scarce.at * 3);
      scarce.at++;
      scarce.failed = 0;
      g.members[1].then = scarce_fn;
      g.members[1].data = &scarce;
      cr_assert(group_run(&g, pool));
      int rc = g.members[1].task.rc;
      cr_assert(rc == WEIR_NOMEM || rc == WEIR_OK, "%s: %s", scarce.sql, g.members[1].task.error.message);
      cr_assert(rc == WEIR_OK || scarce.failed);
      check_others(&g, rc == WEIR_OK ? -1 : 1, rev);
      rev += 2 + (rc == WEIR_OK);
      failures += rc != WEIR_OK;
      cr_assert(eq(i64, int_of(pool, "SELECT rev FROM weir_commit"), rev));
      cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), rev));
    } while (scarce.failed && scarce.at < 500);
    cr_assert(not(scarce.failed));
    cr_assert(gt(i64, failures, 3), "%s", scarce.sql);
    cr_assert(eq(i64, int_of(pool, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    (void)remove(pool_path(i % POOL_KINDS));
  }
}
