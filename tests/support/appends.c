/* What tests/support/appends.h declares. */
#include "appends.h"

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "threads.h"

int append_tables_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  return weir_txn_exec(
      txn,
      "CREATE TABLE IF NOT EXISTS log(rev INTEGER PRIMARY KEY, writer INTEGER, n INTEGER, key INTEGER,"
      " kind INTEGER, bytes BLOB);"
      "CREATE TABLE IF NOT EXISTS lists(key INTEGER PRIMARY KEY, n INTEGER, hash INTEGER);"
      "INSERT OR IGNORE INTO lists VALUES(0,0,0),(1,0,0),(2,0,0),(3,0,0),(4,0,0),(5,0,0),(6,0,0)",
      err);
}

/* ---- Writing ---- */

static int64_t mark_of(const append *row) {
  return row->rev * 64 + (int64_t)row->writer * 1009 + row->n;
}

/* Runs a statement with integers for its parameters. */
static int run(weir_txn *txn, const char *sql, const int64_t *values, int count, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, weir_str(sql), &stmt, err);
  for (int i = 0; rc == WEIR_OK && i < count; i++)
    rc = weir_txn_check(txn, sqlite3_bind_int64(stmt, i + 1, values[i]), err);
  rc = rc == WEIR_OK ? weir_txn_check(txn, sqlite3_step(stmt), err) : rc;
  weir_txn_release(txn, stmt);
  return rc;
}

/* The list first: were one of the two lost alone, the log would not fit the lists. */
static int write_row(weir_txn *txn, const append *a, weir_error *err) {
  int rc = run(txn, "UPDATE lists SET n = n + 1, hash = (hash * 31 + ?2) % 2147483647 WHERE key = ?1",
               (const int64_t[]){a->key, mark_of(a)}, 2, err);
  return rc == WEIR_OK ? run(txn, "INSERT INTO log VALUES(?1, ?2, ?3, ?4, ?5, zeroblob(?6))",
                             (const int64_t[]){a->rev, a->writer, a->n, a->key, a->kind, a->bytes}, 6, err)
                       : rc;
}

int append_fn(weir_txn *txn, void *data, weir_error *err) {
  append *a = data;
  a->runs++;
  if (a->kind == APPEND_NOTHING)
    return WEIR_OK;
  int rc = weir_txn_rev(txn, &a->rev, err);
  rc = rc == WEIR_OK ? write_row(txn, a, err) : rc;
  if (rc != WEIR_OK || a->kind == APPEND_KEPT)
    return rc;
  if (a->kind == APPEND_REFUSED)
    return weir_fail(err, WEIR_CONFLICT, "on purpose");
  rc = run(txn, "INSERT OR ROLLBACK INTO lists VALUES(?1, 0, 0)", (const int64_t[]){a->key}, 1, err);
  return a->kind == APPEND_IGNORED ? WEIR_OK : rc;
}

int append_result(int kind) {
  static const int results[APPEND_KINDS] = {WEIR_OK, WEIR_OK, WEIR_CONFLICT, WEIR_CONSTRAINT, WEIR_SQL};
  return results[kind];
}

/* ---- Reading ---- */

void append_state_add(append_state *state, const append *row) {
  state->rev = row->rev;
  state->rows++;
  state->counts[row->key]++;
  state->hashes[row->key] = (state->hashes[row->key] * 31 + mark_of(row)) % 2147483647;
}

int append_state_fn(weir_txn *txn, void *data, weir_error *err) {
  append_state *state = data;
  sqlite3_stmt *stmt = NULL;
  *state = (append_state){.rows = -1};
  int rc = sql_int(txn, "SELECT count(*) FROM log", &state->rows, err);
  rc = rc == WEIR_OK ? weir_txn_prepare(txn, weir_str("SELECT key, n, hash FROM lists"), &stmt, err) : rc;
  int step = SQLITE_OK;
  while (rc == WEIR_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
    state->counts[sqlite3_column_int(stmt, 0)] = sqlite3_column_int64(stmt, 1);
    state->hashes[sqlite3_column_int(stmt, 0)] = sqlite3_column_int64(stmt, 2);
  }
  rc = rc == WEIR_OK ? weir_txn_check(txn, step, err) : rc;
  return rc == WEIR_OK ? weir_txn_rev(txn, &state->rev, err) : rc;
}

/* ---- What was acknowledged ---- */

int appends_tell(appends *told, const append *row) {
  int64_t nobody = 0;
  if (row->rev < 1 || row->rev > told->size)
    return 0;
  append *place = &told->by_rev[row->rev];
  if (!__atomic_compare_exchange_n(&place->rev, &nobody, row->rev, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return 0;
  place->writer = row->writer;
  place->n = row->n;
  place->key = row->key;
  place->bytes = row->bytes;
  return 1;
}

struct check {
  const appends *told;
  int exact;
  append_state state; /* of the rows so far */
  char *problem;
  size_t size;
};

/* Looks at the rows in their order. 0: there is a problem. */
static int check_row(struct check *c, const append *row) {
  const append *told = row->rev <= c->told->size ? &c->told->by_rev[row->rev] : NULL;
  const char *what = NULL;
  if (row->rev != c->state.rev + 1)
    what = "is not the next number";
  else if (row->kind != APPEND_KEPT)
    what = "has failed, and is there";
  else if (c->exact && (!told || told->rev == 0))
    what = "is there, and nobody was told";
  else if (told && told->rev != 0 &&
           (told->writer != row->writer || told->n != row->n || told->key != row->key ||
            told->bytes != row->bytes))
    what = "is another one's than was told";
  if (what)
    (void)snprintf(c->problem, c->size, "rev %lld (write %d of %d), after %lld: %s", (long long)row->rev,
                   row->n, row->writer, (long long)c->state.rev, what);
  append_state_add(&c->state, row);
  return !what;
}

static int check_log_fn(weir_txn *txn, void *data, weir_error *err) {
  struct check *c = data;
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(
      txn, weir_str("SELECT rev, writer, n, key, kind, length(bytes) FROM log ORDER BY rev"), &stmt, err);
  int step = SQLITE_OK;
  while (rc == WEIR_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
    append row = {.rev = sqlite3_column_int64(stmt, 0),
                  .writer = sqlite3_column_int(stmt, 1),
                  .n = sqlite3_column_int(stmt, 2),
                  .key = sqlite3_column_int(stmt, 3),
                  .kind = sqlite3_column_int(stmt, 4),
                  .bytes = sqlite3_column_int(stmt, 5)};
    if (!check_row(c, &row))
      return weir_fail(err, WEIR_CORRUPT, "%s", c->problem);
  }
  return rc == WEIR_OK ? weir_txn_check(txn, step, err) : rc;
}

int appends_check(weir_pool *pool, const appends *told, int exact, char *problem, size_t size) {
  struct check c = {.told = told, .exact = exact, .problem = problem, .size = size};
  append_state now;
  weir_error err = WEIR_ERROR_INIT;
  weir_txn *in = weir_pool_auto(pool);
  int rc = weir_read(in, check_log_fn, &c, NULL, &err);
  rc = rc == WEIR_OK ? weir_read(in, append_state_fn, &now, NULL, &err) : rc;
  if (rc != WEIR_OK) {
    (void)snprintf(problem, size, "%s: %s", weir_error_name(rc), err.message);
    return 0;
  }
  for (int64_t rev = c.state.rev + 1; rev <= told->size; rev++) {
    if (told->by_rev[rev].rev != 0) {
      (void)snprintf(problem, size, "rev %lld was acknowledged and is lost: %lld is the last", (long long)rev,
                     (long long)c.state.rev);
      return 0;
    }
  }
  const char *what = NULL;
  if (memcmp(&now, &c.state, sizeof now) != 0)
    what = "the lists, or weir_commit, are not those of the rows";
  else if (int_of(pool, "SELECT count(*) FROM (SELECT 1 FROM log GROUP BY writer, n HAVING count(*) > 1)"))
    what = "a write is there twice";
  else if (int_of(pool, "SELECT integrity_check = 'ok' FROM pragma_integrity_check") != 1)
    what = "the file is damaged";
  if (what)
    (void)snprintf(problem, size, "at rev %lld: %s", (long long)c.state.rev, what);
  return !what;
}
