/*
 * Reporting and ending old reads; see evict.h.
 *
 * A read that is at work is ended by SQLite's progress handler, on its own thread, once `evicted` is set. One
 * that rests, between two statements, holds its snapshot all the same, and nobody but this file's thread is
 * there to end it: so with reader_evict the reader connections are serialized by SQLite, and the snapshot is
 * given up under the connection's mutex. Rows in use are never taken away: a read that rests in the middle of
 * a result goes on to its next step and ends there.
 *
 * Afterwards every statement on the connection fails, and it is closed when it is given back.
 */
#include "evict.h"

#include "internal.h"
#include "trace.h"

/* How long the lane waits for a read at work to come to its end: longer only if SQLite waits for the disk, or
 * for a function of the application. */
#define EVICT_NS (100u * WEIR__NS_PER_MS)

/* An ended read must not begin anew in its next statement: the progress handler looks at every instruction
 * from now on. On the reader's thread. */
static int on_evicted(void *data) {
  weir__conn *conn = data;
  conn->txn.cut = WEIR_TIMEOUT;
  return !conn->trusted;
}

static void evict(weir__conn *conn) {
  sqlite3_mutex *mutex = sqlite3_db_mutex(conn->db);
  uint64_t until = weir__now_ns() + EVICT_NS;
  __atomic_store_n(&conn->evicted, 1, __ATOMIC_RELEASE); /* first: a query that runs has the mutex */
  while (sqlite3_mutex_try(mutex) != SQLITE_OK) {
    if (weir__now_ns() >= until) {
      return; /* it ends by itself, or at its next call */
    }
    struct timespec pause = weir__timespec(20 * WEIR__NS_PER_US);
    (void)nanosleep(&pause, NULL); /* woken early: tries again early */
  }
  int busy = 0;
  for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(conn->db, stmt)) != NULL;) {
    busy |= sqlite3_stmt_busy(stmt);
  }
  if (!busy) {
    (void)sqlite3_step(conn->commit); /* of a read: gives its snapshot up; sqlite3_reset repeats an error */
    (void)sqlite3_reset(conn->commit);
  }
  sqlite3_progress_handler(conn->db, 1, on_evicted, conn);
  sqlite3_mutex_leave(mutex);
}

unsigned weir__evict_old(weir_pool *pool, int pages) {
  if (pool->options.reader_age_ms < 0 || !pool->writer) { /* in single mode a read keeps writes out anyway */
    return 0;
  }
  uint64_t age_ns = (uint64_t)pool->options.reader_age_ms * WEIR__NS_PER_MS;
  unsigned count = 0;
  for (unsigned i = 0; i < pool->slot_count; i++) {
    weir__slot *slot = &pool->slots[i];
    weir_trace event = {.kind = WEIR_TRACE_OLD_READER, .pages = (uint64_t)pages};
    (void)pthread_mutex_lock(&pool->lock);
    uint64_t since = __atomic_load_n(&slot->since_ns, __ATOMIC_RELAXED);
    uint64_t now = weir__now_ns();
    int old = slot->leased && slot->role == WEIR__READER && since && now > since && now - since >= age_ns &&
              slot->reported_ns != since;
    int ends = old && pool->options.reader_evict && slot->conn;
    if (old) {
      slot->reported_ns = since;
      slot->evicting = ends;
      pool->old_readers++;
      pool->evicted += (unsigned)ends;
      event.label = __atomic_load_n(&slot->label, __ATOMIC_RELAXED);
      event.ran_us = (now - since) / WEIR__NS_PER_US;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (old && pool->options.trace) {
      weir__trace(pool, &event);
    }
    if (ends) {
      evict(slot->conn);
      (void)pthread_mutex_lock(&pool->lock);
      slot->evicting = 0;
      (void)pthread_cond_broadcast(&pool->evicted_one);
      (void)pthread_mutex_unlock(&pool->lock);
      count++;
      event.kind = WEIR_TRACE_EVICTED;
      if (pool->options.trace) {
        weir__trace(pool, &event);
      }
    }
  }
  return count;
}

void weir__evict_wait(weir_pool *pool, struct weir__slot *slot) {
  if (!pool->options.reader_evict) {
    return;
  }
  (void)pthread_mutex_lock(&pool->lock);
  while (slot->evicting) {
    (void)pthread_cond_wait(&pool->evicted_one, &pool->lock);
  }
  (void)pthread_mutex_unlock(&pool->lock);
  if (slot->conn && __atomic_load_n(&slot->conn->evicted, __ATOMIC_ACQUIRE)) {
    slot->conn->broken = 1;
  }
}
