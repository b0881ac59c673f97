/*
 * Transactions on a leased connection: how they begin, nest and end.
 *
 * Invariant: a connection goes back to its slot with no statement in use, no open transaction and no snapshot
 * held. If that cannot be had, it is marked broken, and the slot closes it.
 */
#include "internal.h"

#define REV_SET "UPDATE weir_commit SET rev=?1"

/* ---- Beginning and ending on a connection ---- */

/* Resets every statement of the connection, also those that user code prepared by itself, and sees that
 * SQLite holds nothing any more. */
static void clean(weir__conn *conn) {
  weir__statements_put_since(&conn->statements, NULL);
  if (!sqlite3_get_autocommit(conn->db) || sqlite3_txn_state(conn->db, NULL) != SQLITE_TXN_NONE) {
    for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(conn->db, stmt)) != NULL;) {
      (void)sqlite3_reset(stmt); /* repeats the error of its last step */
    }
    if (!sqlite3_get_autocommit(conn->db)) {
      (void)weir__conn_run(conn, conn->rollback); /* judged by what it leaves */
    }
    if (!sqlite3_get_autocommit(conn->db) || sqlite3_txn_state(conn->db, NULL) != SQLITE_TXN_NONE) {
      conn->broken = 1;
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

/* Makes the connection's transaction that of `job`. */
static void enter(weir__conn *conn, enum weir__kind kind, const weir__job *job) {
  weir_txn *txn = &conn->txn;
  txn->kind = kind;
  txn->slot = NULL;
  txn->cut = 0;
  txn->rev = 0;
  txn->token = job->token;
  txn->deadline_ns = job->deadline_ns;
  txn->label = job->label;
}

int weir__begin_read(weir__conn *conn, const weir__job *job) {
  enter(conn, WEIR__TXN_READ, job);
  return weir__sqlite_fail(job->error, conn->db, weir__conn_run(conn, conn->begin_read), "beginning a read");
}

int weir__run_in_read(weir__conn *conn, const weir__job *job) {
  int rc = WEIR_OK;
  enter(conn, WEIR__TXN_READ, job);
  if (job->token && __atomic_load_n(&job->token->canceled, __ATOMIC_ACQUIRE)) {
    rc = weir_fail(job->error, WEIR_CANCELED, "canceled before it began");
  } else if (job->deadline_ns && weir__now_ns() >= job->deadline_ns) {
    rc = weir_fail(job->error, WEIR_TIMEOUT, "the deadline passed before it began");
  } else {
    conn->reads++;
    rc = weir__call(job->fn, &conn->txn, job->data, job->error);
    weir__statements_put_since(&conn->statements, NULL);
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
  clean(conn);
}

/*
 * BEGIN IMMEDIATE, so that a transaction never has to upgrade: an upgrade fails at once when someone has
 * committed in between. Only other processes can hold the lock, and, for microseconds, a reader that found
 * the WAL's index torn and recovers it; SQLite's own busy handler would sleep at least a millisecond for
 * those, so the first tries follow each other quickly.
 */
static int begin_immediate(weir__conn *conn, weir_error *err) {
  int timeout_ms = conn->pool->options.busy_timeout_ms;
  uint64_t deadline = 0;
  uint64_t pause_ns = 20 * WEIR__NS_PER_US;
  (void)sqlite3_busy_timeout(conn->db, 0); /* always SQLITE_OK */
  int rc = SQLITE_OK;
  while ((rc = weir__conn_run(conn, conn->begin_write)) != SQLITE_OK && (rc & 0xff) == SQLITE_BUSY) {
    __atomic_add_fetch(&conn->pool->lane.busy, 1, __ATOMIC_RELAXED);
    uint64_t now = weir__now_ns();
    deadline = deadline ? deadline : now + (timeout_ms > 0 ? (uint64_t)timeout_ms : 0) * WEIR__NS_PER_MS;
    if (now >= deadline) {
      break;
    }
    struct timespec pause = weir__timespec(pause_ns);
    (void)nanosleep(&pause, NULL); /* woken early: tries again early */
    pause_ns = pause_ns < 5 * WEIR__NS_PER_MS ? pause_ns * 2 : pause_ns;
  }
  (void)sqlite3_busy_timeout(conn->db, timeout_ms > 0 ? timeout_ms : 0);
  return weir__sqlite_fail(err, conn->db, rc, "beginning a write");
}

/* Stores the transaction's number, if it asked for one, and commits. */
static int commit(weir__conn *conn, weir_error *err) {
  if (conn->txn.rev) {
    sqlite3_stmt *stmt = NULL;
    int rc = weir_txn_prepare(&conn->txn, (weir_text)WEIR_TEXT(REV_SET), &stmt, err);
    if (rc == WEIR_OK) {
      (void)sqlite3_bind_int64(stmt, 1, conn->txn.rev); /* cannot fail: index and type are right */
      rc = weir_txn_check(&conn->txn, weir__conn_run(conn, stmt), err);
      weir_txn_release(&conn->txn, stmt);
    }
    if (rc != WEIR_OK) {
      return rc;
    }
  }
  return weir__sqlite_fail(err, conn->db, weir__conn_run(conn, conn->commit), "committing");
}

int weir__run_write(weir__conn *conn, weir__job *job) {
  enter(conn, WEIR__TXN_WRITE, job);
  int rc = begin_immediate(conn, job->error);
  int begun = rc == WEIR_OK;
  if (begun) {
    rc = weir__call(job->fn, &conn->txn, job->data, job->error);
    if (weir__pool_check(conn->pool, job->error) != WEIR_OK) {
      return WEIR_FORKED; /* in a child that fn has forked: to commit, or roll back, is the parent's */
    }
    weir__statements_put_since(&conn->statements, NULL);
    if (rc >= 0 &&
        sqlite3_get_autocommit(conn->db)) { /* and no statement must run in autocommit by accident */
      rc = weir_fail(job->error, WEIR_SQL,
                     "SQLite rolled the transaction back after an error that the write ignored");
    }
  }
  if (begun && rc >= 0) {
    rc = commit(conn, job->error);
  }
  if (rc == WEIR_OK) {
    job->rev = conn->txn.rev;
  } else if (begun) {
    conn->rollbacks++;
    /* its cache may hold pages that the file does not; a database in memory has no other place than this */
    conn->broken = rc == WEIR_INDETERMINATE && !conn->pool->memory;
  }
  clean(conn); /* rolls back what is not committed */
  return rc;
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
