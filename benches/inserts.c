/*
 * The four ways to insert. All have the same table, the same prepared INSERT, the same pragmas, and make the
 * text of a row from its number, so that a row can be checked by itself. The numbers are the caller's: a
 * write function that is run again inserts the same rows.
 */
#include "inserts.h"

#include <inttypes.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "rows.h"

#define INSERT_SQL "INSERT INTO entry (id, data) VALUES (?1, ?2)"

enum { TEXT_SIZE = 32 };

static void check(sqlite3 *db, int rc, const char *doing) {
  if (rc != SQLITE_OK) {
    bench_fail("bare SQLite: %s: %s", doing, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
  }
}

/* Inserts the rows with the prepared INSERT; SQLITE_OK or the code of what failed. */
static int insert_rows(sqlite3_stmt *insert, int64_t first) {
  for (int64_t id = first; id < first + INSERT_ROWS; id++) {
    char text[TEXT_SIZE];
    int len = snprintf(text, sizeof text, "row %016" PRId64, id);
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_text(insert, 2, text, len, SQLITE_STATIC);
    sqlite3_step(insert);
    int rc = sqlite3_reset(insert); /* repeats the error of the step */
    if (rc != SQLITE_OK) {
      return rc;
    }
  }
  return SQLITE_OK;
}

/* ---- Bare ---- */

enum { BEGIN, INSERT, COMMIT, ROLLBACK, STATEMENTS };

typedef struct conn {
  sqlite3 *db;
  sqlite3_stmt *statement[STATEMENTS];
} conn;

typedef struct bare {
  pthread_mutex_t lock; /* of the mutex mode */
  unsigned count;
  conn conns[];
} bare;

static sqlite3 *open_bare(const inserts *s) {
  return baseline_connect(s->path, s->settings, s->durability);
}

static void open_conns(inserts *s, unsigned count) {
  static const char *const sql[STATEMENTS] = {
      [BEGIN] = "BEGIN IMMEDIATE", [INSERT] = INSERT_SQL, [COMMIT] = "COMMIT", [ROLLBACK] = "ROLLBACK"};
  bare *b = s->state = bench_alloc(sizeof *b + count * sizeof b->conns[0]);
  pthread_mutex_init(&b->lock, NULL);
  b->count = count;
  for (unsigned i = 0; i < count; i++) {
    conn *c = &b->conns[i];
    c->db = open_bare(s);
    for (int k = 0; k < STATEMENTS; k++) {
      check(c->db, sqlite3_prepare_v3(c->db, sql[k], -1, SQLITE_PREPARE_PERSISTENT, &c->statement[k], NULL),
            sql[k]);
    }
  }
}

static void contend_open(inserts *s) {
  open_conns(s, s->connections);
}

static void mutex_open(inserts *s) {
  open_conns(s, 1);
}

static int step(conn *c, int which) {
  sqlite3_step(c->statement[which]);
  return sqlite3_reset(c->statement[which]);
}

static int insert_on(inserts *s, conn *c, int64_t first) {
  int rc = step(c, BEGIN);
  if (rc == SQLITE_OK) {
    rc = insert_rows(c->statement[INSERT], first);
  }
  if (rc == SQLITE_OK) {
    rc = step(c, COMMIT);
  }
  if (rc == SQLITE_OK) {
    return WEIR_OK;
  }
  if (!sqlite3_get_autocommit(c->db)) {
    step(c, ROLLBACK);
  }
  if ((rc & 0xff) == SQLITE_BUSY) {
    return WEIR_BUSY;
  }
  tally_sqlite(&s->errors, rc);
  return WEIR_SQL;
}

static int contend_insert(inserts *s, unsigned connection, int64_t first) {
  bare *b = s->state;
  return insert_on(s, &b->conns[connection], first);
}

static int mutex_insert(inserts *s, unsigned connection, int64_t first) {
  bare *b = s->state;
  (void)connection;
  pthread_mutex_lock(&b->lock);
  int rc = insert_on(s, &b->conns[0], first);
  pthread_mutex_unlock(&b->lock);
  return rc;
}

static void bare_close(inserts *s) {
  bare *b = s->state;
  for (unsigned i = 0; i < b->count; i++) {
    for (int k = 0; k < STATEMENTS; k++) {
      sqlite3_finalize(b->conns[i].statement[k]);
    }
    check(b->conns[i].db, sqlite3_close(b->conns[i].db), "close");
  }
  pthread_mutex_destroy(&b->lock);
  free(b);
}

/* ---- weir ---- */

static void open_weir(inserts *s, weir_mode mode) {
  weir_error err = WEIR_ERROR_INIT;
  weir_pool *pool = NULL;
  weir_pool_options options = bench_pool_options(s->settings, mode, 1, s->durability);
  bench_check(weir_pool_open(&pool, s->path, &options, &err), &err, "opening the file");
  s->state = pool;
}

static void single_open(inserts *s) {
  open_weir(s, WEIR_SINGLE);
}

static void lane_open(inserts *s) {
  open_weir(s, WEIR_POOL);
}

static int insert_all(weir_txn *txn, void *data, weir_error *err) {
  const int64_t *first = data;
  sqlite3_stmt *insert = NULL;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT(INSERT_SQL), &insert, err);
  return rc == WEIR_OK ? weir_txn_check(txn, insert_rows(insert, *first), err) : rc;
}

static int weir_insert(inserts *s, unsigned connection, int64_t first) {
  (void)connection;
  weir_error err = WEIR_ERROR_INIT;
  int rc = weir_write(weir_pool_auto(s->state), insert_all, &first, NULL, &err);
  if (rc != WEIR_BUSY) {
    tally_weir(&s->errors, rc);
  }
  return rc;
}

static void weir_close(inserts *s) {
  weir_error err = WEIR_ERROR_INIT;
  bench_check(weir_pool_close(s->state, &err), &err, "closing the file");
}

const inserts_kind inserts_kinds[INSERTS_KINDS] = {
    {"contend", 1, contend_open, contend_insert, bare_close},
    {"mutex", 1, mutex_open, mutex_insert, bare_close},
    {"single", 0, single_open, weir_insert, weir_close},
    {"lane", 0, lane_open, weir_insert, weir_close},
};

/* ---- The file ---- */

void inserts_create(inserts *s) {
  if (snprintf(s->path, sizeof s->path, "%s/inserts.db", bench_directory(s->settings)) >=
      (int)sizeof s->path) {
    bench_fail("the name of the file is too long");
  }
  rows_create(s->path, 0);
}

/* The first column of the first row, as an integer; `text` gets it as text. */
static int64_t ask(sqlite3 *db, const char *sql, char *text, size_t size) {
  sqlite3_stmt *statement = NULL;
  check(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL), sql);
  int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
  if (text) {
    const unsigned char *found = sqlite3_column_text(statement, 0);
    snprintf(text, size, "%s", found ? (const char *)found : "none");
  }
  check(db, sqlite3_finalize(statement), sql);
  return value;
}

void inserts_verify(inserts *s, uint64_t transactions, int64_t sum) {
  char sound[64];
  sqlite3 *db = open_bare(s);
  int64_t rows = (int64_t)transactions * INSERT_ROWS;
  int64_t total = sum * INSERT_ROWS + (int64_t)transactions * (INSERT_ROWS * (INSERT_ROWS - 1) / 2);
  s->errors.wrong += ask(db, "SELECT count(*) FROM entry", NULL, 0) != rows;
  s->errors.wrong += ask(db, "SELECT coalesce(sum(id), 0) FROM entry", NULL, 0) != total;
  s->errors.wrong +=
      ask(db, "SELECT count(*) FROM entry WHERE data IS NOT printf('row %016d', id)", NULL, 0) != 0;
  ask(db, "PRAGMA integrity_check", sound, sizeof sound);
  s->errors.other += strcmp(sound, "ok") != 0;
  check(db, sqlite3_close(db), "close");
}

int inserts_checkpoint(const inserts *s, sqlite3 **db) {
  if (!*db) {
    *db = open_bare(s);
  }
  return sqlite3_wal_checkpoint_v2(*db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL) == SQLITE_OK;
}

void inserts_checkpoint_end(sqlite3 *db) {
  check(db, sqlite3_close(db), "close");
}
