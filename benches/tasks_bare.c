/*
 * The ways that use SQLite alone. In all of them but one a transaction is BEGIN IMMEDIATE, the inserts, the
 * reading back, COMMIT, with every statement prepared once.
 */
#include <sched.h>
#include <stdlib.h>

#include "baseline.h"
#include "tasks.h"

enum { BEGIN, COMMIT, ROLLBACK, INSERT, SELECT, STATEMENTS };

/* A connection with its statements. */
typedef struct conn {
  sqlite3 *db;
  sqlite3_stmt *statement[STATEMENTS];
} conn;

typedef struct bare {
  pthread_mutex_t lock;
  unsigned count; /* of conns: one for all tasks, or one for each */
  conn *conns;
} bare;

/* ---- Opening, closing ---- */

static void open_conn(conn *c, const task_set *t) {
  const char *const sql[STATEMENTS] = {"BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", rows_insert_sql(t->read_back),
                                       rows_select_sql()};
  c->db = baseline_connect(t->path, t->settings, t->durability);
  for (int i = 0; i < (t->read_back ? STATEMENTS : SELECT); i++) {
    if (sqlite3_prepare_v3(c->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &c->statement[i], NULL) !=
        SQLITE_OK) {
      bench_fail("bare SQLite: %s: %s", sql[i], sqlite3_errmsg(c->db));
    }
  }
}

static void open_conns(task_set *t, unsigned count) {
  bare *b = t->state = bench_alloc(sizeof *b);
  pthread_mutex_init(&b->lock, NULL);
  b->count = count;
  b->conns = bench_alloc(count * sizeof *b->conns);
  for (unsigned i = 0; i < count; i++) {
    open_conn(&b->conns[i], t);
  }
}

void tasks_bare_open(task_set *t) {
  open_conns(t, 1);
}

void tasks_contend_open(task_set *t) {
  open_conns(t, t->count);
}

void tasks_bare_close(task_set *t) {
  bare *b = t->state;
  for (unsigned i = 0; i < b->count; i++) {
    for (int s = 0; s < STATEMENTS; s++) {
      sqlite3_finalize(b->conns[i].statement[s]);
    }
    if (sqlite3_close(b->conns[i].db) != SQLITE_OK) {
      bench_fail("bare SQLite: close: %s", sqlite3_errmsg(b->conns[i].db));
    }
  }
  pthread_mutex_destroy(&b->lock);
  free(b->conns);
  free(b);
}

/* ---- Writing ---- */

static int run(conn *c, int which) {
  sqlite3_step(c->statement[which]);
  return sqlite3_reset(c->statement[which]); /* repeats the error of the step */
}

/* Ends the transaction: with a commit if `rc` says that all is well so far. */
static int end(conn *c, int rc) {
  if (rc == SQLITE_OK) {
    rc = run(c, COMMIT);
  }
  if (rc != SQLITE_OK && !sqlite3_get_autocommit(c->db)) {
    run(c, ROLLBACK);
  }
  return rc;
}

static int write_rows(conn *c, batch *b) {
  int rc = rows_insert(c->statement[INSERT], b);
  if (rc == SQLITE_OK && b->read_back) {
    b->id = sqlite3_last_insert_rowid(c->db);
    rc = rows_read_back(c->statement[SELECT], b);
  }
  return rc;
}

static int transact(conn *c, batch *b) {
  int rc = run(c, BEGIN);
  return rc == SQLITE_OK ? end(c, write_rows(c, b)) : rc;
}

static int counted(task_set *t, int rc) {
  tally_sqlite(&t->errors, rc);
  return rc != SQLITE_OK;
}

int tasks_bare_write(task_set *t, task *k) {
  bare *b = t->state;
  return counted(t, transact(&b->conns[0], &k->batch));
}

int tasks_autocommit_write(task_set *t, task *k) {
  bare *b = t->state;
  return counted(t, write_rows(&b->conns[0], &k->batch));
}

int tasks_mutex_write(task_set *t, task *k) {
  bare *b = t->state;
  pthread_mutex_lock(&b->lock);
  int rc = transact(&b->conns[0], &k->batch);
  pthread_mutex_unlock(&b->lock);
  return counted(t, rc);
}

int tasks_contend_write(task_set *t, task *k) {
  bare *b = t->state;
  return counted(t, transact(&b->conns[k->batch.task], &k->batch));
}

/* What a program does that thinks each call on a shared connection to be safe by itself. */
int tasks_race_write(task_set *t, task *k) {
  bare *b = t->state;
  conn *c = &b->conns[0];
  pthread_mutex_lock(&b->lock);
  int rc = run(c, BEGIN);
  if (rc == SQLITE_OK) {
    rc = end(c, rows_insert(c->statement[INSERT], &k->batch));
  }
  pthread_mutex_unlock(&b->lock);
  sched_yield();
  k->batch.id = sqlite3_last_insert_rowid(c->db);
  if (rc == SQLITE_OK) {
    pthread_mutex_lock(&b->lock);
    rc = rows_read_back(c->statement[SELECT], &k->batch);
    pthread_mutex_unlock(&b->lock);
  }
  return counted(t, rc);
}
