/*
 * Group commit on the lane's connection; see group.h.
 *
 * Invariants: a member is in exactly one of the lists, or at work. Nothing runs in autocommit: after every
 * member the connection is asked whether the transaction still stands. A member that is run alone is never
 * put into `redo` again, so every job ends.
 */
#include "group.h"

#include "checkpoint.h"
#include "trace.h"

#define REV_SET "UPDATE weir_commit SET rev=?1"

/* A write that waited long in the queue still tries so long to get the file's lock. */
#define BUSY_LEAST_NS (100u * WEIR__NS_PER_MS)

/* ---- The transaction ---- */

/*
 * BEGIN IMMEDIATE, so that a transaction never has to upgrade: an upgrade fails at once when someone has
 * committed in between. Only other processes can hold the lock, and, for microseconds, a reader that found
 * the WAL's index torn and recovers it; SQLite's own busy handler would sleep at least a millisecond for
 * those, so the first tries follow each other quickly. The busy timeout counts from when the job came: those
 * that waited behind one that did not get the lock do not wait as long again.
 */
static int begin_immediate(weir__conn *conn, const weir__job *job) {
  uint64_t timeout_ns = weir__ms(conn->pool->options.busy_timeout_ms);
  uint64_t deadline = 0;
  uint64_t pause_ns = 20 * WEIR__NS_PER_US;
  (void)sqlite3_busy_timeout(conn->db, 0); /* always SQLITE_OK */
  int rc = SQLITE_OK;
  int given_up = 0;
  while ((rc = weir__conn_run(conn, conn->begin_write)) != SQLITE_OK && (rc & 0xff) == SQLITE_BUSY) {
    __atomic_add_fetch(&conn->pool->lane.busy, 1, __ATOMIC_RELAXED);
    uint64_t now = weir__now_ns();
    if (!deadline) {
      uint64_t least = now + (timeout_ns < BUSY_LEAST_NS ? timeout_ns : BUSY_LEAST_NS);
      deadline = job->queued_ns + timeout_ns > least ? job->queued_ns + timeout_ns : least;
    }
    given_up = weir__canceled(job->token) || __atomic_load_n(&conn->pool->interrupt, __ATOMIC_ACQUIRE);
    if (now >= deadline || given_up) {
      break;
    }
    weir__pause(pause_ns);
    pause_ns = pause_ns < 5 * WEIR__NS_PER_MS ? pause_ns * 2 : pause_ns;
  }
  int described = given_up
                      ? weir_fail(job->error, WEIR_CANCELED,
                                  "canceled, or the pool closed, while another process had the file locked")
                      : weir__sqlite_fail(job->error, conn->db, rc, "beginning a write");
  (void)sqlite3_busy_timeout(conn->db, conn->pool->options.busy_timeout_ms);
  return described;
}

/* `synchronous` cannot change within a transaction, so it is chosen before. */
static int set_durability(weir__conn *conn, weir_durability wanted, weir_error *err) {
  if (conn->durability == wanted || conn->pool->memory) {
    return WEIR_OK;
  }
  int rc = weir__conn_exec(
      conn, wanted == WEIR_FULL_SYNC ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", err);
  if (rc == WEIR_OK) {
    conn->durability = wanted;
  }
  return rc;
}

/* A number that SQLite changes whenever somebody else has changed the database. */
static unsigned data_version(const weir__conn *conn) {
  unsigned version = 0;
  (void)sqlite3_file_control(conn->db, "main", SQLITE_FCNTL_DATA_VERSION, &version); /* always known */
  return version;
}

static int begin(weir__conn *conn, weir__group *group, const weir__job *job) {
  int rc = set_durability(conn, group->durability, job->error);
  if (rc == WEIR_OK) {
    rc = begin_immediate(conn, job);
  }
  if (rc != WEIR_OK) {
    return rc;
  }
  unsigned version = data_version(conn);
  if (!conn->version_known || version != conn->version) {
    group->foreign += conn->version_known ? 1 : 0;
    conn->rev = -1;
  }
  group->begun = 1;
  return WEIR_OK;
}

/* The transaction has ended, one way or another. */
static void ended(weir__conn *conn, weir__group *group) {
  weir__conn_clean(conn); /* rolls back what is not committed */
  conn->version = data_version(conn);
  conn->version_known = 1;
  group->begun = 0;
  group->bytes = 0;
  group->interactive = 0;
  group->numbered = 0;
}

static void end_job(weir__group *group, weir__job *job, int rc) {
  job->rc = rc;
  weir__jobs_push(&group->ended, job);
  group->rollbacks += rc != WEIR_OK ? 1 : 0;
}

/* The transaction is lost, and with it what ran in it; `job` was at work and fails, or is to blame. */
static void lost(weir__conn *conn, weir__group *group, weir__job *job, int rc, int blame) {
  conn->rollbacks++;
  conn->rev = -1;
  ended(conn, group);
  if (blame && group->ran.head) {
    job->alone = 1;
    *job->error = (weir_error)WEIR_ERROR_INIT; /* it may succeed yet */
    weir__jobs_push(&group->ran, job);
  } else {
    end_job(group, job, rc);
  }
  group->reruns += group->ran.count;
  weir__jobs_put_first(&group->redo, &group->ran);
}

/* ---- A member ---- */

/* For the acknowledgement: a member that has changed something gets a number, if it has none; for others the
 * last one is found out. */
static int number(weir__conn *conn, int changed, weir_error *err) {
  int64_t rev = 0;
  return changed ? weir_txn_rev(&conn->txn, &rev, err) : weir__rev_known(&conn->txn, err);
}

/* Calls the job's function within the transaction, and judges what it has left. */
static int call(weir__conn *conn, weir__job *job) {
  weir_txn *txn = &conn->txn;
  int64_t changes = sqlite3_total_changes64(conn->db);
  weir__txn_enter(conn, WEIR__TXN_WRITE, job);
  int rc = weir__call(job->fn, txn, job->data, job->error);
  if (weir__pool_check(conn->pool, NULL) != WEIR_OK) {
    return rc;
  }
  weir__statements_put_since(&conn->statements, NULL);
  if (rc >= 0 && sqlite3_get_autocommit(conn->db)) {
    return weir_fail(job->error, WEIR_SQL,
                     "SQLite rolled the transaction back after an error that the write ignored");
  }
  int owed = 0;
  int peak = 0;
  if (rc >= 0 && sqlite3_db_status(conn->db, SQLITE_DBSTATUS_DEFERRED_FKS, &owed, &peak, 0) == SQLITE_OK &&
      owed) { /* at the COMMIT it would be everybody's */
    rc = weir_fail(job->error, WEIR_CONSTRAINT,
                   "a deferred foreign key is violated: add the row it refers to in the same write");
    job->error->sqlite_code = SQLITE_CONSTRAINT_FOREIGNKEY;
  }
  if (rc >= 0 && job->wants_ack && conn->pool->options.numbered) {
    rc = number(conn, sqlite3_total_changes64(conn->db) != changes, job->error);
  }
  return rc < 0 ? rc : WEIR_OK;
}

/* Undoes a member that has failed, alone. 0: that failed too. */
static int undo(weir__conn *conn, const weir__group *group) {
  if (!group->ran.head) { /* it has the transaction to itself */
    return 0;
  }
  int undone = weir__conn_run(conn, conn->rollback_to);
  int released = weir__conn_run(conn, conn->release);
  return undone == SQLITE_OK && released == SQLITE_OK;
}

int weir__group_run(weir__conn *conn, weir__group *group, weir__job *job) {
  int first = !group->begun;
  int rc = WEIR_OK;
  if (first) {
    rc = begin(conn, group, job);
    if (rc != WEIR_OK) {
      weir__conn_clean(conn); /* the version stays: what SQLite has seen of others, the next BEGIN finds */
      end_job(group, job, rc);
      return WEIR_OK;
    }
  } else {
    rc = weir__sqlite_fail(job->error, conn->db, weir__conn_run(conn, conn->savepoint), "beginning a write");
    if (rc != WEIR_OK) {
      lost(conn, group, job, rc, 1);
      return WEIR_OK;
    }
  }
  uint64_t start = weir__now_ns();
  group->begun_ns = first ? start : group->begun_ns;
  rc = call(conn, job);
  if (weir__pool_check(conn->pool, job->error) != WEIR_OK) {
    return WEIR_FORKED; /* in a child that fn has forked: to commit, or roll back, is the parent's */
  }
  if (rc == WEIR_INDETERMINATE && weir__sqlite_code(job->error->sqlite_code) == rc && !conn->pool->memory) {
    weir__sync_failed(conn); /* of the WAL's header, when the cache was full */
  }
  int64_t rev = conn->txn.rev;
  conn->txn.kind = WEIR__TXN_NONE;
  group->now_ns = weir__now_ns();
  weir__trace_slow(conn->pool, WEIR_TRACE_SLOW_WRITE, job->label, start - job->queued_ns,
                   group->now_ns - start);
  if (sqlite3_get_autocommit(conn->db)) {
    lost(conn, group, job, rc, 1);
    return WEIR_OK;
  }
  if (rc == WEIR_OK && group->ran.head) {
    rc = weir__sqlite_fail(job->error, conn->db, weir__conn_run(conn, conn->release), "ending a write");
    if (rc != WEIR_OK) {
      lost(conn, group, job, rc, 1);
      return WEIR_OK;
    }
  }
  if (rc != WEIR_OK) {
    conn->rollbacks++;
    if (undo(conn, group)) {
      end_job(group, job, rc);
    } else {
      lost(conn, group, job, rc, 0);
    }
    return WEIR_OK;
  }
  if (rev) {
    conn->rev = rev;
    group->numbered = 1;
  }
  job->ack.rev = conn->rev > 0 ? conn->rev : 0;
  weir__jobs_push(&group->ran, job);
  group->bytes += job->bytes;
  group->interactive |= job->priority == WEIR_INTERACTIVE;
  return WEIR_OK;
}

weir_durability weir__group_durability(const weir__group *group, const weir__job *job, int full) {
  weir_durability strongest = full ? WEIR_FULL_SYNC : job->durability;
  if (!job->alone) {
    for (const weir__job *next = group->redo.head; next && !next->alone; next = next->next) {
      strongest = next->durability > strongest ? next->durability : strongest;
    }
  }
  return strongest;
}

int weir__group_may_redo(const weir__group *group) {
  const weir__job *next = group->redo.head;
  return next &&
         !(group->begun && (next->alone || group->ran.head->alone || next->durability > group->durability));
}

/* ---- The commit ---- */

/* Stores the number of the last member, if any has one, and commits. */
static int commit(weir__conn *conn, weir__group *group, weir_error *err) {
  weir__lane *lane = &conn->pool->lane;
  uint64_t before = conn->wal_commits;
  int rc = WEIR_OK;
  if (group->numbered) {
    sqlite3_stmt *stmt = NULL;
    conn->txn.kind = WEIR__TXN_WRITE;
    rc = weir_txn_prepare(&conn->txn, (weir_text)WEIR_TEXT(REV_SET), &stmt, err);
    if (rc == WEIR_OK) {
      (void)sqlite3_bind_int64(stmt, 1, conn->rev); /* cannot fail: index and type are right */
      rc = weir_txn_check(&conn->txn, weir__conn_run(conn, stmt), err);
      if (rc == WEIR_OK && sqlite3_changes64(conn->db) != 1) {
        rc = weir_fail(err, WEIR_CORRUPT, "the table weir_commit has lost its row");
      }
      weir_txn_release(&conn->txn, stmt);
    }
  }
  if (rc == WEIR_OK) {
    rc = weir__sqlite_fail(err, conn->db, weir__conn_run(conn, conn->commit), "committing");
  }
  if (rc == WEIR_OK) {
    int full = group->durability == WEIR_FULL_SYNC;
    group->wrote = conn->wal_commits != before;
    if (group->wrote) {
      lane->unsynced = !full;
    } else if (full && lane->unsynced) { /* it may have found what others wrote, which must last as long */
      rc = weir__wal_sync(conn, err);
    }
  }
  return rc;
}

void weir__group_commit(weir__conn *conn, weir__group *group) {
  if (!group->begun) {
    return;
  }
  weir_error err = WEIR_ERROR_INIT;
  uint64_t start = weir__now_ns();
  int rc = commit(conn, group, &err);
  group->commit_ns = weir__now_ns() - start;
  if (rc == WEIR_OK) {
    group->commits++;
    group->members = group->ran.count;
    group->writes += group->ran.count;
    weir__trace_slow(conn->pool, WEIR_TRACE_SLOW_COMMIT, NULL, 0, group->commit_ns);
  } else {
    conn->rollbacks++;
    conn->rev = -1;
    if (rc == WEIR_INDETERMINATE) {
      weir__sync_failed(conn);
    }
  }
  unsigned members = group->ran.count;
  ended(conn, group);
  weir__job *job = NULL;
  while ((job = weir__jobs_pop(&group->ran)) != NULL) {
    if (rc == WEIR_OK) {
      job->ack.durability = conn->pool->memory ? WEIR_NORMAL : group->durability;
      job->ack.members = members;
      end_job(group, job, WEIR_OK);
    } else if (rc == WEIR_INDETERMINATE || members == 1) {
      *job->error = err;
      end_job(group, job, rc);
    } else { /* whose fault it is shows when each has a transaction of its own */
      job->alone = 1;
      group->reruns++;
      weir__jobs_push(&group->redo, job);
    }
  }
}
