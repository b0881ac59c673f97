/*
 * A history checker. Writers append rows numbered by rev and log what they were told; readers check each
 * snapshot against the log: it holds exactly the writes up to its rev, among them all that were acknowledged
 * before it began, and one thread never goes back in time.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

#include <sqlite3.h>

#include "threads.h"

TestSuite(history, .timeout = 300);

enum {
  KEYS = 7,
  WRITERS = 3,
  READERS = 4,
  WRITES = TEST_IS_SLOW ? 150 : 1200, /* by each writer */
  REVS = WRITERS * WRITES + 1,
  SIGHTS = 4000 /* of each reader, at most */
};

/* What a reader saw in one snapshot. */
struct sight {
  int64_t acknowledged; /* the highest rev that had been when it began */
  int64_t rev;
  int64_t counts[KEYS]; /* rows by key */
  int64_t rows, sum;    /* of all rows: how many, and the sum of their revs */
};

struct history {
  weir_pool *pool;
  atomic_int writing;
  atomic_llong acknowledged;
  signed char key_of[REVS + 1]; /* by rev; -1: no write was told so. Each is one writer's */
  struct sight sights[READERS][SIGHTS];
  int seen[READERS];
  faults faults;
};

/* ---- Writers ---- */

struct append {
  int key;
  int fails; /* 1: after the row was written */
  int64_t rev;
};

static int append_fn(weir_txn *txn, void *data, weir_error *err) {
  struct append *a = data;
  char sql[200];
  int rc = weir_txn_rev(txn, &a->rev, err);
  (void)snprintf(sql, sizeof sql,
                 "INSERT INTO log VALUES(%lld, %d); UPDATE keys SET n = n + 1, last = %lld WHERE key = %d",
                 (long long)a->rev, a->key, (long long)a->rev, a->key);
  rc = rc == WEIR_OK ? weir_txn_exec(txn, sql, err) : rc;
  return rc == WEIR_OK && a->fails ? weir_fail(err, WEIR_CONFLICT, "on purpose") : rc;
}

static void write_history(int index, struct history *h, weir_test_rng *rng) {
  for (int i = 0; i < WRITES; i++) {
    struct append a = {.key = (int)weir_test_below(rng, KEYS), .fails = weir_test_below(rng, 5) == 0};
    weir_error err = WEIR_ERROR_INIT;
    int rc = weir_write(weir_pool_auto(h->pool), append_fn, &a, NULL, &err);
    if (rc != (a.fails ? WEIR_CONFLICT : WEIR_OK) || a.rev < 1 || a.rev > REVS) {
      fault(&h->faults, "writer %d: %s: %s", index, weir_error_name(rc), err.message);
      return;
    }
    if (a.fails)
      continue;
    if (h->key_of[a.rev] != -1)
      fault(&h->faults, "rev %lld was given twice", (long long)a.rev);
    h->key_of[a.rev] = (signed char)a.key;
    long long before = atomic_load(&h->acknowledged);
    while (before < a.rev && !atomic_compare_exchange_weak(&h->acknowledged, &before, a.rev))
      ;
  }
}

/* ---- Readers ---- */

static int look_fn(weir_txn *txn, void *data, weir_error *err) {
  struct sight *s = data;
  sqlite3_stmt *stmt = NULL;
  int rc = sql_int(txn, "SELECT count(*) FROM log", &s->rows, err);
  if (rc == WEIR_OK)
    rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT key, n FROM keys"), &stmt, err);
  int step = SQLITE_OK;
  while (rc == WEIR_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW)
    s->counts[sqlite3_column_int(stmt, 0)] = sqlite3_column_int64(stmt, 1);
  rc = rc == WEIR_OK ? weir_txn_check(txn, step, err) : rc;
  rc = rc == WEIR_OK ? sql_int(txn, "SELECT coalesce(sum(rev), 0) FROM log", &s->sum, err) : rc;
  return rc == WEIR_OK ? weir_txn_rev(txn, &s->rev, err) : rc;
}

/* One sight by weir_read, or two in a snapshot that lasts: they must be the same. */
static int look(struct history *h, struct sight *s, int lasting, weir_error *err) {
  weir_txn *snapshot = NULL;
  struct sight again = {.rev = 0};
  if (!lasting)
    return weir_read(weir_pool_auto(h->pool), look_fn, s, NULL, err);
  int rc = weir_snapshot_begin(h->pool, &snapshot, NULL, err);
  rc = rc == WEIR_OK ? weir_read(snapshot, look_fn, s, NULL, err) : rc;
  rc = rc == WEIR_OK ? weir_read(snapshot, look_fn, &again, NULL, err) : rc;
  if (rc == WEIR_OK && (again.rev != s->rev || again.rows != s->rows || again.sum != s->sum))
    fault(&h->faults, "a snapshot went from rev %lld to %lld", (long long)s->rev, (long long)again.rev);
  int ended = weir_snapshot_end(snapshot, err);
  return rc == WEIR_OK ? ended : rc;
}

static void read_history(int index, struct history *h, weir_test_rng *rng) {
  int last = 0;
  for (int i = 0; i < SIGHTS && !last; i++) {
    weir_error err = WEIR_ERROR_INIT;
    struct sight *s = &h->sights[index][i];
    last = atomic_load(&h->writing) == 0; /* once more after the last write */
    s->acknowledged = atomic_load(&h->acknowledged);
    int rc = look(h, s, weir_test_below(rng, 4) == 0, &err);
    if (rc != WEIR_OK) {
      fault(&h->faults, "reader %d: %s: %s", index, weir_error_name(rc), err.message);
      return;
    }
    h->seen[index] = i + 1;
  }
}

static void live(int index, void *data) {
  struct history *h = data;
  weir_test_rng rng = {.state = weir_test_seed() + (uint64_t)index};
  if (index < WRITERS) {
    write_history(index, h, &rng);
    atomic_fetch_sub(&h->writing, 1);
  } else {
    read_history(index - WRITERS, h, &rng);
  }
}

/* ---- The check ---- */

static void check_reader(const struct history *h, int reader) {
  const struct sight *before = NULL;
  for (int i = 0; i < h->seen[reader]; i++) {
    const struct sight *s = &h->sights[reader][i];
    int64_t counts[KEYS] = {0};
    for (int64_t rev = 1; rev <= s->rev; rev++) {
      cr_assert(ne(int, h->key_of[rev], -1), "rev %lld was seen, but nobody was told of it", (long long)rev);
      counts[h->key_of[rev]]++;
    }
    for (int key = 0; key < KEYS; key++)
      cr_assert(eq(i64, s->counts[key], counts[key]), "key %d at rev %lld", key, (long long)s->rev);
    cr_assert(eq(i64, s->rows, s->rev));
    cr_assert(eq(i64, s->sum, s->rev * (s->rev + 1) / 2));
    cr_assert(ge(i64, s->rev, s->acknowledged), "acknowledged before the read, and not in it");
    cr_assert(before == NULL || s->rev >= before->rev, "back in time");
    before = s;
  }
}

Test(history, every_snapshot_is_the_writes_up_to_its_rev_with_all_that_were_acknowledged) {
  static struct history h;
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.numbered = 1;
    options.readers = 3;
    options.checkpoint_pages = 50;
    options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
    h = (struct history){.writing = WRITERS};
    for (int rev = 0; rev <= REVS; rev++)
      h.key_of[rev] = -1;
    cr_assert(eq(int, pool_open(&h.pool, kind, &options), WEIR_OK));
    cr_assert(eq(int,
                 sql_write(weir_pool_auto(h.pool),
                           "CREATE TABLE log(rev INTEGER PRIMARY KEY, key INTEGER);"
                           "CREATE TABLE keys(key INTEGER PRIMARY KEY, n INTEGER, last INTEGER);"
                           "INSERT INTO keys VALUES(0,0,0),(1,0,0),(2,0,0),(3,0,0),(4,0,0),(5,0,0),(6,0,0)",
                           NULL),
                 WEIR_OK));
    (void)weir_test_seed();
    cr_assert(together(WRITERS + READERS, live, &h));
    cr_assert(eq(int, atomic_load(&h.faults.count), 0), "%s", h.faults.first);
    for (int reader = 0; reader < READERS; reader++) {
      cr_assert(gt(int, h.seen[reader], 0));
      check_reader(&h, reader);
    }
    cr_assert(eq(i64, int_of(h.pool, "SELECT rev FROM weir_commit"), atomic_load(&h.acknowledged)));
    cr_assert(eq(i64, int_of(h.pool, "SELECT count(*) FROM log"), atomic_load(&h.acknowledged)));
    cr_assert(eq(i64, int_of(h.pool, "SELECT count(*) FROM keys WHERE last > 0"), KEYS));
    cr_assert(eq(int, weir_pool_close(h.pool, NULL), WEIR_OK));
  }
}
