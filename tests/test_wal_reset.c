/*
 * The fault that SQLite has from 3.7.0 to 3.51.2: a checkpoint copies the header of the log's index; all that
 * the log holds has been copied to the database already, so a commit on another connection begins the log
 * anew; the checkpoint then marks pages of the new log as copied that are not, and they are lost. Here a VFS
 * stops each checkpoint in just that window, and others try to commit: threads of this program, and a
 * connection past the pool, as another program has it. A naive pool loses pages, a weir_pool does not.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

#include <sqlite3.h>

#include "clock.h"
#include "fault_vfs.h"
#include "rows.h"
#include "threads.h"

TestSuite(wal_reset, .timeout = 120);

/* Has this SQLite the fault? 3.44.6 and 3.50.7 are mended, too. */
static int has_fault(void) {
  int version = sqlite3_libversion_number();
  int mended = version >= 3051003 || (version >= 3050007 && version < 3051000) ||
               (version >= 3044006 && version < 3045000);
  if (mended)
    fprintf(stderr, "SQLite %s has the fault no more: not asserted that it shows\n", sqlite3_libversion());
  return !mended;
}

/* ---- A naive pool: one connection writes, another one does checkpoints, nothing keeps them apart ---- */

struct naive {
  sqlite3 *writer;
  const char *commit; /* what the writer does in the window */
  int windows, rc;
};

static void commit_in_window(void *data) {
  struct naive *naive = data;
  naive->windows++;
  naive->rc = sqlite3_exec(naive->writer, naive->commit, NULL, NULL, NULL);
}

/* How the second connection does its checkpoint, and what becomes of the file if the writer commits then. */
static const struct {
  const char *what;
  int mode;
  int writing; /* the writer is in a transaction when the checkpoint begins */
  int keeps;   /* nothing is lost */
} cases[] = {
    {"passive", SQLITE_CHECKPOINT_PASSIVE, 0, 0},
    /* does not get the writer's lock, and goes on as a passive one */
    {"truncate, while there is a writer", SQLITE_CHECKPOINT_TRUNCATE, 1, 0},
    /* has the writer's lock */
    {"truncate", SQLITE_CHECKPOINT_TRUNCATE, 0, 1},
};

Test(wal_reset, loses_pages_in_a_naive_pool_whose_checkpoint_meets_a_commit) {
  int fault_shows = has_fault();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[600], name[32], sql[ROWS_SQL], commit[ROWS_SQL + 20], why[160];
    int64_t rows = 0;
    (void)snprintf(name, sizeof name, "naive%d.db", (int)i);
    weir_test_path(path, sizeof path, name);
    sqlite3 *writer = fault_vfs_open(path), *checkpointer = fault_vfs_open(path);
    cr_assert(writer && checkpointer);
    /* The log is copied after each commit, as SQLite does by itself every 1,000 pages. */
    cr_assert(eq(int,
                 sqlite3_exec(writer, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=1;" CREATE_ROWS,
                              NULL, NULL, NULL),
                 SQLITE_OK));
    cr_assert(eq(i64, rows_number(checkpointer, "SELECT count(*) FROM t"), 0));
    rows_insert(sql, rows, ROWS_MAX, NULL);
    cr_assert(eq(int, sqlite3_exec(writer, sql, NULL, NULL, NULL), SQLITE_OK));
    rows += ROWS_MAX;

    rows_insert(sql, rows, 1, NULL);
    (void)snprintf(commit, sizeof commit, "%s%s", sql, cases[i].writing ? "; COMMIT" : "");
    struct naive naive = {.writer = writer, .commit = commit};
    const fault_checkpoint at = {.window = commit_in_window, .data = &naive};
    if (cases[i].writing)
      cr_assert(eq(int, sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK));
    atomic_store(&fault_at_checkpoint, &at);
    int rc = sqlite3_wal_checkpoint_v2(checkpointer, NULL, cases[i].mode, NULL, NULL);
    atomic_store(&fault_at_checkpoint, NULL);
    cr_assert(eq(int, rc, cases[i].writing ? SQLITE_BUSY : SQLITE_OK), "%s", cases[i].what);
    cr_assert(eq(int, naive.windows, 1), "%s", cases[i].what);
    cr_assert(eq(int, naive.rc, cases[i].keeps ? SQLITE_BUSY : SQLITE_OK), "%s", cases[i].what);
    rows += naive.rc == SQLITE_OK; /* acknowledged */

    cr_assert(eq(int, sqlite3_close(checkpointer), SQLITE_OK));
    cr_assert(eq(int, sqlite3_close(writer), SQLITE_OK));
    int kept = rows_whole(path, rows, why);
    fprintf(stderr, "%s: %s\n", cases[i].what, why);
    if (cases[i].keeps || fault_shows)
      cr_assert(eq(int, kept, cases[i].keeps), "%s: %s", cases[i].what, why);
  }
}

/* ---- A weir_pool on the same VFS ---- */

enum { PAGES = 4, READERS = 2, WRITERS_MAX = 4 };
enum { ROUNDS = TEST_IS_SLOW ? 3 : 6, WRITES = 60, INTERRUPTS = 3 };

/*
 * Only what has been copied in whole can begin anew, and only a header that is new to the checkpointing
 * connection opens the window. In a weir_pool neither comes to pass by itself. So after each write of the
 * pool another connection, such as another program has, commits and does a checkpoint of its own.
 */
struct storm {
  weir_pool *pool;
  sqlite3 *other;
  int writers, writes;
  unsigned limit_pages;
  uint64_t seed;
  pthread_mutex_t lock; /* of the next two */
  weir_test_rng rng;
  int copied;            /* the other connection's checkpoint has just copied all of the log */
  int windows, attempts; /* windows, and those of them in which a writer of the pool waited */
  int ripe;              /* windows with all of the log copied: a commit would begin it anew */
  int refused;           /* windows in which the other connection was told busy */
  int holds;             /* the other connection takes the lock of writing, and commits in the window */
  atomic_int holding, released; /* it has the lock now; has so often committed in the window */
  atomic_int writing;
  atomic_llong rows; /* so many were begun */
  faults faults;
};

static int other_does(struct storm *s, const char *sql) {
  int rc = sqlite3_exec(s->other, sql, NULL, NULL, NULL);
  if (rc != SQLITE_OK)
    fault(&s->faults, "the other connection: %.80s: %s", sql, sqlite3_errmsg(s->other));
  return rc == SQLITE_OK;
}

static void other_inserts(struct storm *s) {
  char sql[ROWS_SQL];
  rows_insert(sql, atomic_fetch_add(&s->rows, 1), 1, &s->rng);
  (void)other_does(s, sql);
}

static void make_ripe(void *data) {
  struct storm *s = data;
  int pages = -1, copied = -1;
  (void)pthread_mutex_lock(&s->lock);
  if (!atomic_load(&s->holding)) {
    other_inserts(s);
    (void)sqlite3_wal_checkpoint_v2(s->other, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
    s->copied = pages > 0 && pages == copied;
    if (s->holds && other_does(s, "BEGIN IMMEDIATE")) {
      other_inserts(s);
      atomic_store(&s->holding, 1);
    }
  }
  (void)pthread_mutex_unlock(&s->lock);
}

static int a_writer_waits_or_none_is_left(void *data) {
  struct storm *s = data;
  return atomic_load(&s->writing) == 0 || stats_of(s->pool).writes_queued > 0;
}

static void stay_in_window(void *data) {
  struct storm *s = data;
  if (!weir_test_wait(a_writer_waits_or_none_is_left, s, WEIR_TEST_WAIT_MS))
    fault(&s->faults, "nobody wants to write");
  uint64_t until = weir__now_ns() + 300 * WEIR__NS_PER_US;
  int64_t before = rows_number(s->other, "SELECT count(*) FROM t");
  while (weir__now_ns() < until) { /* whoever can commit now has the time to */
  }
  (void)pthread_mutex_lock(&s->lock);
  s->windows++;
  s->attempts += atomic_load(&s->writing) > 0;
  s->ripe += s->copied;
  if (rows_number(s->other, "SELECT count(*) FROM t") != before)
    fault(&s->faults, "a commit met a checkpoint");
  (void)sqlite3_busy_timeout(s->other, 0); /* always SQLITE_OK */
  if (sqlite3_exec(s->other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_BUSY) {
    s->refused++;
  } else {
    fault(&s->faults, "another connection may write");
    other_inserts(s);
    (void)other_does(s, "COMMIT");
  }
  (void)sqlite3_busy_timeout(s->other, WEIR_TEST_WAIT_MS);
  (void)pthread_mutex_unlock(&s->lock);
}

static void storm_thread(int index, void *data) {
  struct storm *s = data;
  weir_test_rng rng = {s->seed + (uint64_t)index};
  weir_error err = WEIR_ERROR_INIT;
  int rc = WEIR_OK;
  for (int i = 0; index < s->writers && rc == WEIR_OK && i < s->writes; i++) {
    char sql[ROWS_SQL];
    int count = 1 + (int)weir_test_below(&rng, ROWS_MAX);
    rows_insert(sql, atomic_fetch_add(&s->rows, count), count, &rng);
    rc = sql_write(weir_pool_auto(s->pool), sql, &err);
  }
  atomic_fetch_sub(&s->writing, index < s->writers);
  int64_t last = 0;
  while (index >= s->writers && rc == WEIR_OK && atomic_load(&s->writing) > 0) {
    int64_t count = 0;
    rc = sql_int(weir_pool_auto(s->pool), "SELECT count(*) FROM t", &count, &err);
    if (rc == WEIR_OK && count < last)
      fault(&s->faults, "%lld rows after %lld", (long long)count, (long long)last);
    last = count;
  }
  if (rc != WEIR_OK)
    fault(&s->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
}

/* Opens a new file with both, lets `play` loose on it while the VFS calls `window`, closes it. */
static void storm(struct storm *s, int kind, void (*window)(void *data), int threads,
                  void (*play)(int index, void *data)) {
  static int storms;
  char name[32], path[600], uri[700], why[160];
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
  options.checkpoint_pages = PAGES;
  options.wal_limit_pages = s->limit_pages;
  options.checkpoint_pause_ms = 1;
  options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
  (void)snprintf(name, sizeof name, "%d.db", storms++);
  weir_test_path(path, sizeof path, name);
  s->other = fault_vfs_open(path);
  cr_assert(s->other != NULL);
  (void)snprintf(uri, sizeof uri, "file:%s?vfs=fault", path);
  cr_assert(eq(int, weir_pool_open(&s->pool, uri, &options, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, sql_write(weir_pool_auto(s->pool), CREATE_ROWS, NULL), WEIR_OK));
  cr_assert(eq(int, sqlite3_busy_timeout(s->other, WEIR_TEST_WAIT_MS), SQLITE_OK));
  cr_assert(other_does(s, "PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=OFF"));
  cr_assert(eq(int, pthread_mutex_init(&s->lock, NULL), 0));
  cr_assert(await_idle_lane(s->pool)); /* whose checkpoint may come early */
  const fault_checkpoint at = {.written = make_ripe, .window = window, .data = s};
  atomic_store(&s->writing, s->writers);
  s->rng.state = s->seed - 1;
  atomic_store(&fault_at_checkpoint, &at);
  cr_assert(together(threads, play, s));
  int rc = weir_pool_close(s->pool, NULL);
  atomic_store(&fault_at_checkpoint, NULL);
  cr_assert(eq(int, sqlite3_close(s->other), SQLITE_OK));
  cr_assert(rows_whole(path, atomic_load(&s->rows), why), "%s; %s", why, s->faults.first);
  cr_assert(eq(int, atomic_load(&s->faults.count), 0), "%s", s->faults.first);
  cr_assert(eq(int, rc, WEIR_OK));
}

/* The kinds with a file. */
#define FOR_EACH_FILE(kind) for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE)

static void expect_whole(int readers) {
  weir_test_rng rng = {weir_test_seed()};
  FOR_EACH_FILE(kind) {
    int windows = 0, attempts = 0, ripe = 0;
    for (int round = 0; round < ROUNDS; round++) {
      struct storm s = {.writers = 1 + (int)weir_test_below(&rng, WRITERS_MAX), .seed = weir_test_next(&rng)};
      s.writes = WRITES / s.writers;
      s.limit_pages = round % 2 ? PAGES : 0; /* also those that empty the log */
      storm(&s, kind, stay_in_window, s.writers + readers, storm_thread);
      cr_assert(eq(int, s.refused, s.windows));
      windows += s.windows;
      attempts += s.attempts;
      ripe += s.ripe;
    }
    fprintf(stderr, "%s: %d windows; a writer waited in %d, all of the log was copied in %d\n",
            kind == POOL_FILE ? "pool" : "single", windows, attempts, ripe);
    cr_assert(gt(int, attempts, ROUNDS));
    cr_assert(gt(int, ripe, readers ? 0 : ROUNDS)); /* who can be in the way of copying all */
  }
}

Test(wal_reset, lets_nobody_commit_in_the_window_of_a_checkpoint) {
  expect_whole(0);
}

Test(wal_reset, lets_nobody_commit_there_while_snapshots_come_and_go) {
  expect_whole(READERS);
}

/* ---- A checkpoint that does not get the lock of writing ---- */

static void release(struct storm *s) {
  if (atomic_exchange(&s->holding, 0))
    (void)other_does(s, "COMMIT");
}

static void release_in_window(void *data) {
  struct storm *s = data;
  atomic_fetch_add(&s->released, atomic_load(&s->holding) && s->copied);
  release(s);
}

/* One write after another, with a checkpoint behind it while the other connection has the lock. */
static void write_and_wait(int index, void *data) {
  struct storm *s = data;
  (void)index;
  for (int i = 0; i < 500 && atomic_load(&s->released) < INTERRUPTS; i++) {
    char sql[ROWS_SQL];
    weir_error err = WEIR_ERROR_INIT;
    rows_insert(sql, atomic_fetch_add(&s->rows, ROWS_MAX), ROWS_MAX, NULL);
    if (sql_write(weir_pool_auto(s->pool), sql, &err) != WEIR_OK)
      fault(&s->faults, "a write: %s", err.message);
    if (!await_idle_lane(s->pool))
      fault(&s->faults, "the lane never rests");
    const fault_checkpoint *at = atomic_exchange(&fault_at_checkpoint, NULL);
    release(s); /* if that was a passive one, which was not even begun */
    atomic_store(&fault_at_checkpoint, at);
  }
  if (stats_of(s->pool).wal_limits < INTERRUPTS || stats_of(s->pool).wal_emptied > 0)
    fault(&s->faults, "the log was emptied, or this was not tried");
}

/* SQLite makes a passive one of it then. */
Test(wal_reset, ends_a_checkpoint_that_would_empty_the_log_and_does_not_get_the_lock_of_writing) {
  FOR_EACH_FILE(kind) {
    struct storm s = {.seed = weir_test_seed(), .limit_pages = PAGES, .holds = 1};
    storm(&s, kind, release_in_window, 1, write_and_wait);
    cr_assert(ge(int, atomic_load(&s.released), INTERRUPTS));
  }
}
