/*
 * Transactions on a leased connection: how they begin, nest and end.
 *
 * Invariant: a connection goes back to its slot with no statement in use, no open transaction and no snapshot
 * held. If that cannot be had, it is marked broken, and the slot closes it. Not so for a database in memory,
 * which ends with its connection: then transactions fail until whatever is in the way has ended.
 */
#include "internal.h"

/* ---- Beginning and ending on a connection ---- */

static int is_unfinished(const weir__conn *conn) {
  return !sqlite3_get_autocommit(conn->db) || sqlite3_txn_state(conn->db, NULL) != SQLITE_TXN_NONE;
}

/* Also those statements that user code prepared by itself. */
void weir__conn_clean(weir__conn *conn) {
  weir__statements_put_since(&conn->statements, NULL);
  if (is_unfinished(conn)) {
    for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(conn->db, stmt)) != NULL;) {
      (void)sqlite3_reset(stmt); /* repeats the error of its last step */
    }
    if (!sqlite3_get_autocommit(conn->db)) {
      (void)weir__conn_run(conn, conn->rollback); /* judged by what it leaves */
    }
    if (is_unfinished(conn) && conn->pool->memory) {
      weir__conn_guard(conn);
      (void)weir__conn_run(conn, conn->rollback);
    } else {
      conn->broken |= is_unfinished(conn);
    }
  }
  conn->txn.kind = WEIR__TXN_NONE;
}

int weir__call(weir_txn_fn fn, weir_txn *txn, void *data, weir_error *err) {
  int rc = fn(txn, data, err);
  if (rc < 0 && err->code != rc) { /* it left no detail, or that of another failure */
    (void)weir_fail(err, rc, "%s", weir_strerror(rc));
  }
  return rc;
}

void weir__txn_enter(weir__conn *conn, enum weir__kind kind, const weir__job *job) {
  weir_txn *txn = &conn->txn;
  txn->kind = kind;
  txn->slot = NULL;
  txn->one_statement = job->one_statement;
  txn->cut = 0;
  txn->rev = 0;
  txn->token = job->token;
  txn->deadline_ns = job->deadline_ns;
  txn->label = job->label;
}

int weir__begin_read(weir__conn *conn, const weir__job *job) {
  weir__txn_enter(conn, WEIR__TXN_READ, job);
  __atomic_store_n(&conn->slot->label, job->label, __ATOMIC_RELAXED);
  __atomic_store_n(&conn->slot->since_ns, weir__now_ns(), __ATOMIC_RELAXED);
  if (job->one_statement) {
    return WEIR_OK;
  }
  return weir__sqlite_fail(job->error, conn->db, weir__conn_run(conn, conn->begin_read), "beginning a read");
}

int weir__run_in_read(weir__conn *conn, const weir__job *job) {
  int rc = WEIR_OK;
  weir__txn_enter(conn, WEIR__TXN_READ, job);
  if (weir__canceled(job->token)) {
    rc = weir_fail(job->error, WEIR_CANCELED, "canceled before it began");
  } else if (job->deadline_ns && weir__now_ns() >= job->deadline_ns) {
    rc = weir_fail(job->error, WEIR_TIMEOUT, "the deadline passed before it began");
  } else {
    conn->reads++;
    rc = weir__call(job->fn, &conn->txn, job->data, job->error);
    if (weir__pool_check(conn->pool, job->error) != WEIR_OK) { /* `fn` forked, see weir__run_nested */
      return WEIR_FORKED;
    }
    weir__statements_put_since(&conn->statements, NULL);
  }
  if (__atomic_load_n(&conn->evicted, __ATOMIC_ACQUIRE)) {
    conn->broken = 1; /* so that no other job is run in it */
  }
  conn->txn.token = NULL; /* the job may be gone before the transaction is */
  conn->txn.deadline_ns = 0;
  conn->txn.label = NULL;
  return rc;
}

void weir__end_read(weir__conn *conn) {
  weir__statements_put_since(&conn->statements, NULL);
  if (!sqlite3_get_autocommit(conn->db)) {
    (void)weir__conn_run(conn, conn->commit); /* judged by what it leaves */
  }
  weir__conn_clean(conn);
  __atomic_store_n(&conn->slot->since_ns, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&conn->slot->label, NULL, __ATOMIC_RELAXED);
}

/* Runs `fn` within the write transaction `txn`, behind a savepoint. */
int weir__run_nested(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err) {
  weir__conn *conn = txn->conn;
  if (sqlite3_get_autocommit(conn->db)) {
    return weir_fail(err, WEIR_MISUSE,
                     "the transaction was rolled back by an earlier error: return it to the caller");
  }
  int rc =
      weir__sqlite_fail(err, conn->db, weir__conn_run(conn, conn->savepoint), "beginning a nested write");
  if (rc != WEIR_OK) {
    return rc;
  }
  const struct weir__statement *mark = weir__statements_mark(&conn->statements);
  rc = weir__call(fn, txn, data, err);
  if (weir__pool_check(conn->pool, err) != WEIR_OK) { /* `fn` forked: this is the parent's connection */
    return WEIR_FORKED;
  }
  if (sqlite3_get_autocommit(
          conn->db)) { /* SQLite has rolled everything back; the outer function will be told */
    conn->rollbacks++;
    return rc < 0 ? rc : weir_fail(err, WEIR_SQL, "SQLite rolled the transaction back after an error");
  }
  if (rc >= 0) {
    rc = weir__sqlite_fail(err, conn->db, weir__conn_run(conn, conn->release), "ending a nested write");
    if (rc == WEIR_OK) {
      return WEIR_OK;
    }
  }
  conn->rollbacks++;
  weir__statements_put_since(&conn->statements, mark);
  int undone = weir__conn_run(conn, conn->rollback_to);
  int released = weir__conn_run(conn, conn->release);
  if (undone != SQLITE_OK || released != SQLITE_OK) {
    /* nothing half-done may be committed: the outer function fails too */
    (void)weir__conn_run(conn, conn->rollback);
  }
  return rc;
}
