/*
 * Reporting and ending old reads; see evict.h.
 *
 * A read that is at work is ended by SQLite's progress handler, on its own thread, once `evicted` is set. One
 * that rests, between two statements, holds its snapshot all the same, and nobody but this file's thread is
 * there to end it: so with reader_evict the reader connections are serialized by SQLite, and the snapshot is
 * given up under the connection's mutex. Rows in use are never taken away: a read that rests in the middle of
 * a result keeps its snapshot until it goes on. So does one inside a function of the application. Each later
 * call looks whether it can be ended by now.
 *
 * Invariant: a read that was told to end is counted and traced as evicted once, when its snapshot is gone,
 * here or by its holder (`told` is 1 until then). Every statement on its connection fails from the beginning,
 * and the connection is closed when it is given back.
 */
#include "evict.h"

#include "internal.h"
#include "trace.h"

/* How long the lane waits, once, for a read at work to come to its end: longer only if SQLite waits for the
 * disk, or for a function of the application. */
#define EVICT_NS (100u * WEIR__NS_PER_MS)

/* An ended read must not begin anew in its next statement: the progress handler looks at every instruction
 * from now on. On the reader's thread. */
static int on_evicted(void *data) {
  weir__conn *conn = data;
  conn->txn.cut = WEIR_TIMEOUT;
  return !conn->trusted;
}

/* Tells a read to end. 1 if its snapshot is gone. */
static int evict(weir__conn *conn, uint64_t patience_ns) {
  sqlite3_mutex *mutex = sqlite3_db_mutex(conn->db);
  uint64_t until = weir__now_ns() + patience_ns;
  __atomic_store_n(&conn->evicted, 1, __ATOMIC_RELEASE); /* first: a query that runs has the mutex */
  while (sqlite3_mutex_try(mutex) != SQLITE_OK) {
    if (weir__now_ns() >= until) {
      return 0;
    }
    weir__pause(20 * WEIR__NS_PER_US);
  }
  int busy = 0;
  for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(conn->db, stmt)) != NULL;) {
    busy |= sqlite3_stmt_busy(stmt);
  }
  if (!busy) {
    sqlite3_progress_handler(conn->db, 0, NULL, NULL); /* of an earlier call: it would stop this, too */
    (void)sqlite3_step(conn->commit);                  /* gives the snapshot up; judged by what it leaves */
    (void)sqlite3_reset(conn->commit);
  }
  sqlite3_progress_handler(conn->db, 1, on_evicted, conn);
  int gone = sqlite3_txn_state(conn->db, NULL) == SQLITE_TXN_NONE;
  sqlite3_mutex_leave(mutex);
  return gone;
}

/* The snapshot of a read that was told to end is gone. */
static void note_evicted_locked(weir_pool *pool, weir__slot *slot, weir_trace *event) {
  slot->told = 0;
  pool->evicted++;
  *event = slot->old;
  event->kind = WEIR_TRACE_EVICTED;
  event->ran_us = (weir__now_ns() - slot->reported_ns) / WEIR__NS_PER_US;
}

/* What is to be done about the read of a slot? */
typedef struct finding {
  int report; /* it was not yet */
  int end;    /* and it has not ended yet */
} finding;

static finding look_locked(weir_pool *pool, weir__slot *slot, uint64_t age_ns, int pages) {
  finding found = {0, 0};
  uint64_t since = __atomic_load_n(&slot->since_ns, __ATOMIC_RELAXED);
  uint64_t now = weir__now_ns();
  if (!slot->leased || slot->role != WEIR__READER || !since || now <= since || now - since < age_ns) {
    return found;
  }
  if (slot->reported_ns != since) {
    found.report = 1;
    slot->reported_ns = since;
    slot->told = pool->options.reader_evict && slot->conn;
    pool->old_readers++;
    slot->old = (weir_trace){.kind = WEIR_TRACE_OLD_READER,
                             .label = __atomic_load_n(&slot->label, __ATOMIC_RELAXED),
                             .ran_us = (now - since) / WEIR__NS_PER_US};
  }
  slot->old.pages = (uint64_t)pages;
  found.end = slot->told;
  slot->evicting = slot->told;
  return found;
}

unsigned weir__evict_old(weir_pool *pool, int pages) {
  if (pool->options.reader_age_ms < 0 || !pool->writer) { /* in single mode a read keeps writes out anyway */
    return 0;
  }
  uint64_t age_ns = (uint64_t)pool->options.reader_age_ms * WEIR__NS_PER_MS;
  unsigned count = 0;
  for (unsigned i = 0; i < pool->slot_count; i++) {
    weir__slot *slot = &pool->slots[i];
    (void)pthread_mutex_lock(&pool->lock);
    finding found = look_locked(pool, slot, age_ns, pages);
    weir_trace event = slot->old;
    (void)pthread_mutex_unlock(&pool->lock);
    if (found.report) {
      weir__trace(pool, &event);
    }
    if (found.end) {
      int gone = evict(slot->conn, found.report ? EVICT_NS : 0);
      (void)pthread_mutex_lock(&pool->lock);
      if (gone) {
        note_evicted_locked(pool, slot, &event);
      }
      slot->evicting = 0;
      (void)pthread_cond_broadcast(&pool->evicted_one);
      (void)pthread_mutex_unlock(&pool->lock);
      if (gone) {
        weir__trace(pool, &event);
        count++;
      }
    }
  }
  return count;
}

void weir__evict_wait(weir_pool *pool, struct weir__slot *slot) {
  if (!pool->options.reader_evict) {
    return;
  }
  weir_trace event = {.label = NULL};
  (void)pthread_mutex_lock(&pool->lock);
  while (slot->evicting) {
    (void)pthread_cond_wait(&pool->evicted_one, &pool->lock);
  }
  int gone = slot->told; /* its holder has ended it just now */
  if (gone) {
    note_evicted_locked(pool, slot, &event);
  }
  (void)pthread_mutex_unlock(&pool->lock);
  if (gone) {
    weir__trace(pool, &event);
  }
  if (slot->conn && __atomic_load_n(&slot->conn->evicted, __ATOMIC_ACQUIRE)) {
    slot->conn->broken = 1;
  }
}
