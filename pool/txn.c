/*
 * The functions of weir/pool.h for use inside a transaction: statements, errors, the number. How a caller
 * gets into one is pool/transact.c's.
 */
#include <stdio.h>

#include "internal.h"

#define REV_GET "SELECT rev FROM weir_commit"

/* Is this a transaction in progress, in which statements may run? */
static int check_live(const weir_txn *txn, weir_error *err) {
  if (!txn) {
    return weir_fail(err, WEIR_INVALID, "the transaction is NULL");
  }
  int rc = weir__pool_check(txn->pool, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  if (!txn->conn) {
    return weir_fail(err, WEIR_MISUSE,
                     "the automatic transaction has no connection: call this inside weir_read or weir_write");
  }
  if (txn->kind == WEIR__TXN_NONE) {
    return weir_fail(err, WEIR_MISUSE, "the transaction has ended");
  }
  int over = !txn->one_statement && sqlite3_get_autocommit(txn->conn->db);
  if (over) { /* perhaps ended just now by pool/evict.c, which sets `evicted` before, and still has the mutex
               */
    sqlite3_mutex *mutex = sqlite3_db_mutex(txn->conn->db);
    sqlite3_mutex_enter(mutex); /* NULL, which does nothing, unless there is reader_evict */
    sqlite3_mutex_leave(mutex);
  }
  if (__atomic_load_n(&txn->conn->evicted, __ATOMIC_ACQUIRE)) {
    return weir_fail(err, WEIR_TIMEOUT, "the read was ended: it was older than reader_age_ms and in the way");
  }
  if (over) {
    return weir_fail(err, WEIR_MISUSE,
                     "the transaction was rolled back by an earlier error: return it to the caller");
  }
  return WEIR_OK;
}

static int refuse_write(const weir_txn *txn, sqlite3_stmt *stmt, weir_error *err) {
  if (txn->kind == WEIR__TXN_READ && !sqlite3_stmt_readonly(stmt)) {
    return weir_fail(err, WEIR_MISUSE, "'%.120s' writes: run it inside weir_write", sqlite3_sql(stmt));
  }
  return WEIR_OK;
}

/* `before`: how many bytes of the caller's text stand before `sql`. */
static int prepare_failed(weir_txn *txn, int sqlite_code, weir_text sql, int before, weir_error *err) {
  if ((sqlite_code & 0xff) == SQLITE_AUTH) {
    int code = weir_fail(err, WEIR_MISUSE,
                         "'%.*s' is refused: transactions, attached files and settings are the pool's own",
                         (int)(sql.len < 120 ? sql.len : 120), sql.ptr);
    if (err) {
      err->sqlite_code = sqlite_code;
    }
    return code;
  }
  if ((sqlite_code & 0xff) == SQLITE_INTERRUPT) { /* from SQLite 3.41 on preparing can be interrupted too */
    return weir_txn_check(txn, sqlite_code, err);
  }
  int offset = sqlite3_error_offset(txn->conn->db);
  char doing[64];
  (void)snprintf(doing, sizeof(doing), offset >= 0 ? "SQL, at byte %d" : "SQL", before + offset);
  return weir__sqlite_fail(err, txn->conn->db, sqlite_code, doing);
}

int weir_txn_prepare(weir_txn *txn, weir_text sql, struct sqlite3_stmt **out, weir_error *err) {
  if (out) {
    *out = NULL;
  }
  int rc = check_live(txn, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  if (!sql.ptr || !out) {
    return weir_fail(err, WEIR_INVALID, "%s is NULL", out ? "the SQL text" : "out");
  }
  int more = 0;
  int sqlite_code = weir__statements_get(&txn->conn->statements, txn->conn->db, sql, out, &more);
  if (sqlite_code != SQLITE_OK) {
    return prepare_failed(txn, sqlite_code, sql, 0, err);
  }
  if (!*out) {
    return weir_fail(err, WEIR_INVALID,
                     more ? "more than one statement: use weir_txn_exec" : "the SQL text holds no statement");
  }
  rc = refuse_write(txn, *out, err);
  if (rc != WEIR_OK) {
    weir__statements_put(&txn->conn->statements, *out);
    *out = NULL;
  }
  return rc;
}

void weir_txn_release(weir_txn *txn, struct sqlite3_stmt *statement) {
  if (txn && txn->conn && statement) {
    weir__statements_put(&txn->conn->statements, statement);
  }
}

int weir_txn_exec(weir_txn *txn, const char *sql, weir_error *err) {
  int rc = check_live(txn, err);
  if (rc == WEIR_OK && !sql) {
    rc = weir_fail(err, WEIR_INVALID, "the SQL text is NULL");
  }
  const char *begin = sql;
  while (rc == WEIR_OK && *sql) {
    sqlite3_stmt *stmt = NULL;
    const char *tail = NULL;
    int sqlite_code = sqlite3_prepare_v2(txn->conn->db, sql, -1, &stmt, &tail);
    if (sqlite_code != SQLITE_OK) {
      return prepare_failed(txn, sqlite_code, weir_str(sql), (int)(sql - begin), err);
    }
    if (stmt && (rc = refuse_write(txn, stmt, err)) == WEIR_OK) {
      do {
        sqlite_code = sqlite3_step(stmt);
      } while (sqlite_code == SQLITE_ROW);
      rc = weir_txn_check(txn, sqlite_code, err);
    }
    (void)sqlite3_finalize(stmt); /* repeats the error of the step */
    sql = tail;
  }
  return rc;
}

int weir_txn_check(weir_txn *txn, int sqlite_code, weir_error *err) {
  if (sqlite_code == SQLITE_OK || sqlite_code == SQLITE_ROW || sqlite_code == SQLITE_DONE) {
    return WEIR_OK;
  }
  if (!txn || !txn->conn) {
    return weir_fail(err, WEIR_MISUSE, "no transaction");
  }
  if ((sqlite_code & 0xff) == SQLITE_INTERRUPT && txn->cut) {
    return weir_fail(err, txn->cut, "the read was ended: %s", weir_strerror(txn->cut));
  }
  return weir__sqlite_fail(err, txn->conn->db, sqlite_code, txn->label ? txn->label : "SQL");
}

struct sqlite3 *weir_txn_db(weir_txn *txn) {
  return txn && txn->conn && txn->kind != WEIR__TXN_NONE ? txn->conn->db : NULL;
}

void *weir_txn_local(weir_txn *txn) {
  return txn && txn->conn ? txn->conn->local : NULL;
}

uint64_t weir_txn_rollbacks(const weir_txn *txn) {
  return txn && txn->conn ? txn->conn->rollbacks : 0;
}

weir_pool *weir_txn_pool(const weir_txn *txn) {
  return txn ? txn->pool : NULL;
}

int weir_txn_writes(const weir_txn *txn) {
  return txn && txn->kind == WEIR__TXN_WRITE;
}

/* The number of the last commit that the transaction sees. */
static int read_rev(weir_txn *txn, int64_t *out, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT(REV_GET), &stmt, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  int sqlite_code = sqlite3_step(stmt);
  if (sqlite_code == SQLITE_ROW) {
    *out = sqlite3_column_int64(stmt, 0);
  } else if (sqlite_code == SQLITE_DONE) {
    rc = weir_fail(err, WEIR_CORRUPT, "the table weir_commit has lost its row");
  } else {
    rc = weir_txn_check(txn, sqlite_code, err);
  }
  weir_txn_release(txn, stmt);
  return rc;
}

int weir__rev_known(weir_txn *txn, weir_error *err) {
  return txn->conn->rev >= 0 ? WEIR_OK : read_rev(txn, &txn->conn->rev, err);
}

int weir_txn_rev(weir_txn *txn, int64_t *out, weir_error *err) {
  if (!out) {
    return weir_fail(err, WEIR_INVALID, "out is NULL");
  }
  *out = 0;
  int rc = check_live(txn, err);
  if (rc == WEIR_OK && !txn->pool->options.numbered) {
    rc = weir_fail(err, WEIR_MISUSE, "the pool was not opened with the option 'numbered'");
  }
  if (rc == WEIR_OK && txn->kind == WEIR__TXN_READ) {
    rc = read_rev(txn, out, err);
  } else if (rc == WEIR_OK) {
    rc = txn->rev ? WEIR_OK : weir__rev_known(txn, err);
    if (rc == WEIR_OK && !txn->rev) {
      txn->rev = txn->conn->rev + 1;
    }
    *out = txn->rev;
  }
  return rc;
}
