/*
 * Admission: who may use a connection, and who is next.
 *
 * The slots are the permits of a counting semaphore, each with the connection it lends. A slot that becomes
 * free goes to whoever asks first, also to a thread that has just come and is running: waking a waiter for
 * each read of a few microseconds would make a convoy. But a waiter that has waited WEIR__FAIR_NS is not
 * passed any more: then newcomers queue, and slots are handed over in order. So every wait is bounded by the
 * work before it plus that time.
 *
 * Invariants, under the lock: a slot is either leased or in the free list; a waiter is in the list exactly
 * while it has no grant; when a slot is free and there are waiters, the first of them has been signaled.
 * Whoever leaves the list without its grant passes that signal on.
 */
#include <utlist.h>

#include "evict.h"
#include "internal.h"
#include "registry.h"

/* How long a waiter lets others pass. About the cost of a few context switches. */
#define WEIR__FAIR_NS (200u * WEIR__NS_PER_US)

static int overdue(const weir__waiter *waiter) {
  return weir__now_ns() - waiter->since_ns >= WEIR__FAIR_NS;
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
static void signal_first_locked(weir_pool *pool) {
  if (pool->free && pool->waiters) {
    (void)pthread_cond_signal(&pool->waiters->wake);
  }
}

static int canceled(const weir_token *token) {
  return token && __atomic_load_n(&token->canceled, __ATOMIC_ACQUIRE);
}

/* Waits in the list until there is a slot. */
static int wait_locked(weir_pool *pool, const weir__admission *how, weir__slot **out, weir_error *err) {
  weir__waiter waiter = {.thread = weir__thread_id(), .since_ns = weir__now_ns(), .token = how->token};
  struct timespec until = weir__timespec(waiter.since_ns + how->timeout_ns);
  if (pthread_cond_init(&waiter.wake, &pool->monotonic) != 0) {
    return weir_fail(err, WEIR_NOMEM, "out of memory");
  }
  /* cppcheck-suppress autoVariables ; it leaves the list before this returns */
  DL_APPEND(pool->waiters, &waiter);
  pool->waiting++;
  pool->read_waits += how->writes ? 0 : 1;

  int rc = WEIR_OK;
  while (rc == WEIR_OK && !*out) {
    int timeout = pthread_cond_timedwait(&waiter.wake, &pool->lock, &until);
    if (waiter.granted) {
      *out =
          waiter
              .granted; /* out of the list already; a cancel at the same moment ends the transaction itself */
    } else if (canceled(how->token)) {
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
    DL_DELETE(pool->waiters, &waiter);
    pool->waiting--;
  }
  signal_first_locked(pool);
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
  if (canceled(how->token)) {
    rc = weir_fail(err, WEIR_CANCELED, "canceled before it began");
  } else if (pool->closing && !how->draining) {
    rc = weir_fail(err, WEIR_CLOSED, "the pool is closed or closing");
  } else if (!pool->waiters || (pool->free && !overdue(pool->waiters))) {
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
  weir__waiter *first = pool->waiters;
  if (slot == pool->writer) {
    /* only the lane's driver wants it */
  } else if (first && overdue(first)) {
    DL_DELETE(pool->waiters, first);
    pool->waiting--;
    lend_locked(pool, slot, first->thread);
    first->granted = slot;
    (void)pthread_cond_signal(&first->wake);
  } else {
    slot->next = pool->free;
    pool->free = slot;
    signal_first_locked(pool);
  }
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
