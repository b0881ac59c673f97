/*
 * A statement in use, for the storage files only: begin, bind in the order of the parameters, step, end. The
 * first error of a bind is kept and returned by the next step.
 */
#ifndef WEIR_GRAPH_SQL_H
#define WEIR_GRAPH_SQL_H

#include <sqlite3.h>

#include <weir/pool.h>

typedef struct weir__sql {
  weir_txn *txn;
  sqlite3_stmt *stmt;
  int bound;  /* parameters bound so far */
  int failed; /* SQLite's code of a bind that failed, or 0 */
} weir__sql;

/* Takes the statement from the cache. The address of the text is a hint to the cache: let it be static. On
 * error nothing needs ending. */
static inline int weir__sql_begin(weir__sql *sql, weir_txn *txn, weir_text text, weir_error *err) {
  sql->txn = txn;
  sql->bound = 0;
  sql->failed = SQLITE_OK;
  return weir_txn_prepare(txn, text, &sql->stmt, err);
}

static inline void weir__sql_end(weir__sql *sql) {
  weir_txn_release(sql->txn, sql->stmt);
}

/* To bind and step once more. */
static inline void weir__sql_again(weir__sql *sql) {
  (void)sqlite3_reset(sql->stmt); /* repeats the error of the last step */
  sql->bound = 0;
}

static inline void weir__sql_int(weir__sql *sql, int64_t value) {
  sql->bound++;
  if (sql->failed == SQLITE_OK) {
    sql->failed = sqlite3_bind_int64(sql->stmt, sql->bound, value);
  }
}

static inline void weir__sql_real(weir__sql *sql, double value) {
  sql->bound++;
  if (sql->failed == SQLITE_OK) {
    sql->failed = sqlite3_bind_double(sql->stmt, sql->bound, value);
  }
}

/* The text must stay until the statement is bound anew or ended. */
static inline void weir__sql_text(weir__sql *sql, weir_text value) {
  sql->bound++;
  if (sql->failed == SQLITE_OK) {
    sql->failed =
        sqlite3_bind_text64(sql->stmt, sql->bound, value.ptr, value.len, SQLITE_STATIC, SQLITE_UTF8);
  }
}

/* 1: there is a row. 0: there is none (any more). Negative: a weir code. */
static inline int weir__sql_step(weir__sql *sql, weir_error *err) {
  int rc = sql->failed != SQLITE_OK ? sql->failed : sqlite3_step(sql->stmt);
  if (rc == SQLITE_ROW) {
    return 1;
  }
  return rc == SQLITE_DONE ? 0 : weir_txn_check(sql->txn, rc, err);
}

/* Steps a statement that returns no rows, and ends it. */
static inline int weir__sql_run(weir__sql *sql, weir_error *err) {
  int rc = weir__sql_step(sql, err);
  weir__sql_end(sql);
  return rc;
}

/* Runs a statement that has one parameter, a number, and returns no rows. */
static inline int weir__sql_run_int(weir_txn *txn, weir_text text, int64_t value, weir_error *err) {
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, value);
  return weir__sql_run(&sql, err);
}

/* A column of text; followed by a NUL, valid until the next step. Its ptr is NULL for an SQL NULL and when
 * memory ran out. */
static inline weir_text weir__sql_get_text(const weir__sql *sql, int column) {
  weir_text text;
  text.ptr = (const char *)sqlite3_column_text(sql->stmt, column);
  text.len = (size_t)sqlite3_column_bytes(sql->stmt, column);
  return text;
}

static inline int64_t weir__sql_get_int(const weir__sql *sql, int column) {
  return sqlite3_column_int64(sql->stmt, column);
}

/* One number from the first row, `missing` if there is none; ends the statement. */
static inline int weir__sql_number(weir__sql *sql, int64_t missing, int64_t *out, weir_error *err) {
  int rc = weir__sql_step(sql, err);
  if (rc >= 0) {
    *out = rc ? weir__sql_get_int(sql, 0) : missing;
    rc = WEIR_OK;
  }
  weir__sql_end(sql);
  return rc;
}

#endif
