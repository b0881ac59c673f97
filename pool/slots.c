/*
 * Admission: who may use a connection, and who is next.
 *
 * The slots are the permits of a counting semaphore, each with the connection it lends. A slot that becomes
 * free goes to whoever asks first, also to a thread that has just come and is running: to hand it to a waiter
 * each time would make every read of a few microseconds wait for a context switch, a convoy. But a waiter
 * that has been the first in the list for WEIR__FAIR_NS is not passed any more: it gets the next slot, by
 * direct hand-off. Then the clock starts anew for the one behind it. So hand-offs are paced, one in
 * WEIR__FAIR_NS at most while reads are short, and in order if they take longer. A wait is bounded by the
 * place in the list times WEIR__FAIR_NS, plus the work before it.
 *
 * Invariants, under the lock: a slot is either leased or in the free list; a waiter is in the list exactly
 * while it has no grant; when a slot is free and there are waiters, the first of them is roused: it has been
 * signaled and not looked since, so a second signal could not help. Whoever looks and finds nothing is not
 * roused any more; whoever changes who is first, or makes a slot free, sees that the first is.
 */
#include <utlist.h>

#include "evict.h"
#include "internal.h"
#include "registry.h"

/* How long the first waiter lets others pass: so long that the context switch of a hand-off is small beside
 * the reads that are done meanwhile. */
#define WEIR__FAIR_NS (300u * WEIR__NS_PER_US)

/* Is it the turn of the first waiter? */
static int overdue_locked(const weir_pool *pool) {
  return pool->waiters && weir__now_ns() - pool->first_ns >= WEIR__FAIR_NS;
}

static void lend_locked(weir_pool *pool, weir__slot *slot, uint64_t owner) {
  slot->leased = 1;
  slot->owner = owner;
  pool->in_use++;
}

static weir__slot *take_free_locked(weir_pool *pool, uint64_t owner) {
  weir__slot *slot = pool->free;
  if (slot) {
    pool->free = slot->next;
    lend_locked(pool, slot, owner);
  }
  return slot;
}

/* Keeps the third invariant. */
static void rouse_locked(weir_pool *pool) {
  weir__waiter *first = pool->waiters;
  if (pool->free && first && !first->roused) {
    first->roused = 1;
    (void)pthread_cond_signal(&first->wake);
  }
}

static void join_list_locked(weir_pool *pool, weir__waiter *waiter) {
  if (!pool->waiters) {
    pool->first_ns = weir__now_ns();
  }
  DL_APPEND(pool->waiters, waiter);
  pool->waiting++;
}

/* The caller keeps the third invariant. */
static void leave_list_locked(weir_pool *pool, weir__waiter *waiter) {
  if (waiter == pool->waiters) {
    pool->first_ns = weir__now_ns();
  }
  DL_DELETE(pool->waiters, waiter);
  pool->waiting--;
}

/* Waits in the list until there is a slot. */
static int wait_locked(weir_pool *pool, const weir__admission *how, weir__slot **out, weir_error *err) {
  weir__waiter waiter = {.thread = weir__thread_id(), .token = how->token};
  struct timespec until = weir__timespec(weir__now_ns() + how->timeout_ns);
  if (pthread_cond_init(&waiter.wake, &pool->monotonic) != 0) {
    return weir_fail(err, WEIR_NOMEM, "out of memory");
  }
  /* cppcheck-suppress autoVariables ; it leaves the list before this returns */
  join_list_locked(pool, &waiter);
  pool->read_waits += how->writes ? 0 : 1;

  int rc = WEIR_OK;
  while (rc == WEIR_OK && !*out) {
    int timeout = pthread_cond_timedwait(&waiter.wake, &pool->lock, &until);
    waiter.roused = 0;
    if (waiter.granted) {
      *out =
          waiter
              .granted; /* out of the list already; a cancel at the same moment ends the transaction itself */
    } else if (weir__canceled(how->token)) {
      rc = weir_fail(err, WEIR_CANCELED, "canceled while waiting for a connection");
    } else if (pool->expired) {
      rc = weir_fail(err, WEIR_CLOSED, "the pool is closing");
    } else if ((*out = take_free_locked(pool, waiter.thread)) == NULL && timeout != 0) {
      rc = weir_fail(err, WEIR_BUSY,
                     "no connection became free in %llu ms: end transactions sooner, or open more readers",
                     (unsigned long long)(how->timeout_ns / WEIR__NS_PER_MS));
    }
  }
  if (!waiter.granted) {
    leave_list_locked(pool, &waiter);
  }
  rouse_locked(pool);
  if (pool->closing) {
    (void)pthread_cond_broadcast(&pool->returned); /* closing waits for waiters to leave, too */
  }
  (void)pthread_cond_destroy(&waiter.wake);
  return rc;
}

/* Opens the connection of a leased slot if it has none. On error the lease is given back. */
static int open_leased(weir_pool *pool, weir__slot *slot, weir_error *err) {
  if (slot->conn) {
    return WEIR_OK;
  }
  weir__conn *conn = NULL;
  int rc = weir__conn_open(pool, slot->role, &conn, err);
  if (rc != WEIR_OK) {
    weir__slot_release(pool, slot);
    return rc;
  }
  conn->slot = slot;
  (void)pthread_mutex_lock(&pool->lock);
  slot->conn = conn;
  pool->open++;
  (void)pthread_mutex_unlock(&pool->lock);
  return WEIR_OK;
}

int weir__slot_acquire(weir_pool *pool, const weir__admission *how, weir__slot **out, weir_error *err) {
  int rc = WEIR_OK;
  weir__slot *slot = NULL;
  *out = NULL;
  (void)pthread_mutex_lock(&pool->lock);
  if (weir__canceled(how->token)) {
    rc = weir_fail(err, WEIR_CANCELED, "canceled before it began");
  } else if (pool->closing && !how->draining) {
    rc = weir_fail(err, WEIR_CLOSED, "the pool is closed or closing");
  } else if (!overdue_locked(pool)) {
    slot = take_free_locked(pool, weir__thread_id());
  }
  if (rc == WEIR_OK && !slot) {
    rc = how->timeout_ns ? wait_locked(pool, how, &slot, err)
                         : weir_fail(err, WEIR_BUSY, "all connections are in use");
  }
  (void)pthread_mutex_unlock(&pool->lock);
  if (rc == WEIR_OK) {
    rc = open_leased(pool, slot, err);
  }
  if (rc == WEIR_OK) {
    *out = slot;
  }
  return rc;
}

int weir__slot_acquire_writer(weir_pool *pool, weir__slot **out, weir_error *err) {
  (void)pthread_mutex_lock(&pool->lock);
  lend_locked(pool, pool->writer, weir__thread_id());
  (void)pthread_mutex_unlock(&pool->lock);
  int rc = open_leased(pool, pool->writer, err);
  *out = rc == WEIR_OK ? pool->writer : NULL;
  return rc;
}

void weir__slot_release(weir_pool *pool, weir__slot *slot) {
  weir__evict_wait(pool, slot);
  weir__conn *broken = slot->conn && slot->conn->broken ? slot->conn : NULL;
  if (broken) {
    (void)pthread_mutex_lock(&pool->lock);
    slot->conn = NULL;
    pool->reads += broken->reads;
    pool->replaced++;
    pool->open--;
    (void)pthread_mutex_unlock(&pool->lock);
    weir__conn_close(broken);
  }
  (void)pthread_mutex_lock(&pool->lock);
  slot->leased = 0;
  pool->in_use--;
  if (slot->conn) {
    pool->reads += slot->conn->reads;
    slot->conn->reads = 0;
  }
  if (slot == pool->writer) {
    /* only the lane's driver wants it */
  } else if (overdue_locked(pool)) {
    weir__waiter *first = pool->waiters;
    leave_list_locked(pool, first);
    lend_locked(pool, slot, first->thread);
    first->granted = slot;
    (void)pthread_cond_signal(&first->wake);
  } else {
    slot->next = pool->free;
    pool->free = slot;
  }
  rouse_locked(pool);
  if (pool->closing) {
    (void)pthread_cond_broadcast(&pool->returned);
  }
  (void)pthread_mutex_unlock(&pool->lock);
}

weir_txn *weir__slot_own(weir_pool *pool) {
  weir_txn *own = NULL;
  uint64_t self = weir__thread_id();
  (void)pthread_mutex_lock(&pool->lock);
  for (unsigned i = 0; i < pool->slot_count && pool->in_use; i++) {
    weir__slot *slot = &pool->slots[i];
    if (slot->leased && slot->owner == self && slot->conn) {
      own = &slot->conn->txn;
      break;
    }
  }
  (void)pthread_mutex_unlock(&pool->lock);
  return own;
}

void weir__slots_cancel(weir_pool *pool, const weir_token *token) {
  (void)pthread_mutex_lock(&pool->lock);
  weir__waiter *waiter = NULL;
  DL_FOREACH (pool->waiters, waiter) {
    if (waiter->token == token) {
      (void)pthread_cond_signal(&waiter->wake);
    }
  }
  (void)pthread_mutex_unlock(&pool->lock);
}
