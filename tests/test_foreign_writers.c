/*
 * Other processes that write to the file while this one does: one with a pool of its own, one with SQLite
 * alone. Nothing is lost, nobody is told busy, and the numbers of write transactions are one sequence.
 */
#define _GNU_SOURCE /* pipe2 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <sqlite3.h>

#include "threads.h"

TestSuite(foreign_writers, .timeout = 200);

enum { CHILDREN = 2, WRITERS = 3, READERS = 2, PAGES = 30 };
enum { CHILD_WRITES = TEST_IS_SLOW ? 80 : 200 };

static struct crew {
  weir_pool *pool;
  pid_t children[CHILDREN];
  int status[CHILDREN];
  int go; /* the children start when it is closed */
  atomic_int stop;
  atomic_long written[WRITERS]; /* acknowledged */
  atomic_long reads;
  faults faults;
} crew;

/* ---- What the threads here do ---- */

struct note {
  int writer;
  long n;
};

/* As children do, and notes who wrote what. */
static int write_note(weir_txn *txn, void *data, weir_error *err) {
  const struct note *note = data;
  char sql[200];
  int64_t rev = 0;
  int rc = weir_txn_rev(txn, &rev, err);
  (void)snprintf(sql, sizeof sql,
                 "INSERT INTO revs VALUES(%lld, 0); INSERT INTO here VALUES(%d, %ld, randomblob(%ld))",
                 (long long)rev, note->writer, note->n, note->n * 53 % 3000);
  return rc == WEIR_OK ? weir_txn_exec(txn, sql, err) : rc;
}

static void keep_writing(int writer) {
  struct note note = {.writer = writer};
  while (!atomic_load(&crew.stop)) {
    weir_error err = WEIR_ERROR_INIT;
    int rc = weir_write(weir_pool_auto(crew.pool), write_note, &note, NULL, &err);
    if (rc != WEIR_OK) {
      fault(&crew.faults, "writer %d: %s: %s", writer, weir_error_name(rc), err.message);
      return;
    }
    note.n = atomic_fetch_add(&crew.written[writer], 1) + 1;
  }
}

struct sight {
  int64_t rev, revs, plain, plain_last;
};

static int look(weir_txn *txn, void *data, weir_error *err) {
  struct sight *now = data;
  int rc = weir_txn_rev(txn, &now->rev, err);
  rc = rc == WEIR_OK ? sql_int(txn, "SELECT count(*) FROM revs", &now->revs, err) : rc;
  rc = rc == WEIR_OK ? sql_int(txn, "SELECT count(*) FROM plain", &now->plain, err) : rc;
  return rc == WEIR_OK ? sql_int(txn, "SELECT ifnull(max(n), -1) FROM plain", &now->plain_last, err) : rc;
}

/* In every snapshot the numbers and what the other process wrote are whole, and none is older than the last.
 */
static void keep_reading(void) {
  struct sight last = {0};
  while (!atomic_load(&crew.stop)) {
    struct sight now = {0};
    weir_error err = WEIR_ERROR_INIT;
    int rc = weir_read(weir_pool_auto(crew.pool), look, &now, NULL, &err);
    if (rc != WEIR_OK) {
      fault(&crew.faults, "a reader: %s: %s", weir_error_name(rc), err.message);
      return;
    }
    if (now.revs != now.rev || now.plain != now.plain_last + 1)
      fault(&crew.faults, "rev %lld with %lld numbers, row %lld is the last of %lld", (long long)now.rev,
            (long long)now.revs, (long long)now.plain_last, (long long)now.plain);
    if (now.rev < last.rev || now.plain < last.plain)
      fault(&crew.faults, "back from rev %lld to %lld, from %lld rows to %lld", (long long)last.rev,
            (long long)now.rev, (long long)last.plain, (long long)now.plain);
    last = now;
    atomic_fetch_add(&crew.reads, 1);
  }
}

static int all_have_written(void *data) {
  (void)data;
  for (int i = 0; i < WRITERS; i++) {
    if (atomic_load(&crew.written[i]) == 0)
      return atomic_load(&crew.faults.count) > 0;
  }
  return 1;
}

static void play(int index, void *data) {
  (void)data;
  if (index < WRITERS) {
    keep_writing(index);
  } else if (index < WRITERS + READERS) {
    keep_reading();
  } else { /* the children write in the midst of all this */
    if (!weir_test_wait(all_have_written, NULL, WEIR_TEST_WAIT_MS))
      fault(&crew.faults, "a writer never had its turn");
    (void)close(crew.go);
    for (int i = 0; i < CHILDREN; i++)
      crew.status[i] = child_wait(crew.children[i]);
    atomic_store(&crew.stop, 1);
  }
}

/* ---- The test ---- */

static void open_all(int kind) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.numbered = 1;
  options.checkpoint_pages = PAGES;
  options.busy_timeout_ms = WEIR_TEST_WAIT_MS;
  options.acquire_timeout_ms = 2 * WEIR_TEST_WAIT_MS;
  cr_assert(eq(int, pool_open(&crew.pool, kind, &options), WEIR_OK));
  cr_assert(eq(int,
               sql_write(weir_pool_auto(crew.pool),
                         "CREATE TABLE revs(rev INTEGER PRIMARY KEY, process INTEGER);"
                         "CREATE TABLE here(writer, n, v, UNIQUE(writer, n));"
                         "CREATE TABLE plain(n INTEGER PRIMARY KEY, v)",
                         NULL),
               WEIR_OK));
  int go[2];
  char writes[16];
  (void)snprintf(writes, sizeof writes, "%d", CHILD_WRITES);
  const char *const arguments[CHILDREN][5] = {
      {"write", pool_path(kind), kind == POOL_FILE ? "single" : "pool", writes, NULL},
      {"plain", pool_path(kind), "-", writes, NULL}};
  cr_assert(eq(int, pipe2(go, O_CLOEXEC), 0));
  for (int i = 0; i < CHILDREN; i++) {
    crew.children[i] = child_start(arguments[i], go[0]);
    cr_assert(gt(int, (int)crew.children[i], 0));
  }
  cr_assert(eq(int, close(go[0]), 0));
  crew.go = go[1];
}

Test(foreign_writers, and_threads_here_lose_nothing_and_are_never_told_busy) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    crew = (struct crew){0};
    open_all(kind);
    cr_assert(together(WRITERS + READERS + 1, play, NULL));
    cr_assert(eq(int, atomic_load(&crew.faults.count), 0), "%s", crew.faults.first);
    cr_assert(eq(int, crew.status[0], 0)); /* none of them was told busy */
    cr_assert(eq(int, crew.status[1], 0));

    /* All that was acknowledged is there, and nothing else. */
    int64_t here = 0;
    for (int i = 0; i < WRITERS; i++) {
      char sql[100];
      int64_t written = atomic_load(&crew.written[i]);
      (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM here WHERE writer = %d AND n < %lld", i,
                     (long long)written);
      cr_assert(eq(i64, int_of(crew.pool, sql), written));
      here += written;
    }
    cr_assert(eq(i64, int_of(crew.pool, "SELECT count(*) FROM here"), here));
    cr_assert(eq(i64, int_of(crew.pool, "SELECT count(*) FROM plain"), CHILD_WRITES));
    cr_assert(eq(i64, int_of(crew.pool, "SELECT max(n) FROM plain"), CHILD_WRITES - 1));

    /* One sequence of numbers, of which the processes took turns. */
    cr_assert(eq(i64, int_of(crew.pool, "SELECT rev FROM weir_commit"), here + CHILD_WRITES));
    cr_assert(eq(i64, int_of(crew.pool, "SELECT count(*) FROM revs"), here + CHILD_WRITES));
    cr_assert(eq(i64, int_of(crew.pool, "SELECT max(rev) - min(rev) + 1 FROM revs"), here + CHILD_WRITES));
    cr_assert(eq(i64, int_of(crew.pool, "SELECT count(*) FROM revs WHERE process = 0"), here));
    cr_assert(gt(i64,
                 int_of(crew.pool, "SELECT count(*) FROM revs a JOIN revs b ON b.rev = a.rev + 1"
                                   " WHERE a.process = 0 AND b.process <> 0"),
                 1));

    weir_pool_stats stats = stats_of(crew.pool);
    cr_assert(eq(u64, stats.writes, (uint64_t)here + 1)); /* and the tables */
    cr_assert(gt(u64, stats.checkpoints, 1));
    cr_assert(gt(long, atomic_load(&crew.reads), 0));
    cr_assert(gt(u64, stats.foreign_commits, 0));
    fprintf(stderr, "%s: %lld commits here, %d there, %llu checkpoints, %llu times busy, %ld reads\n",
            kind == POOL_FILE ? "pool" : "single", (long long)here, CHILDREN * CHILD_WRITES,
            (unsigned long long)stats.checkpoints, (unsigned long long)stats.busy, atomic_load(&crew.reads));
    cr_assert(eq(i64, int_of(crew.pool, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1));
    cr_assert(eq(int, weir_pool_close(crew.pool, NULL), WEIR_OK));
  }
}
