/* What tests/support/puppets.h declares. */
#include "puppets.h"

#include <stddef.h>
#include <time.h>

#include "internal.h"
#include "support.h"
#include "threads.h"

/* Is the nested transaction on the connection of the one around it? */
static int compare_fn(weir_txn *txn, void *data, weir_error *err) {
  puppet *p = data;
  (void)err;
  p->same = weir_txn_db(txn) == p->db;
  return WEIR_OK;
}

static int compare_and_fail_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)compare_fn(txn, data, err);
  return weir_fail(err, WEIR_INVALID, "on purpose");
}

/* One act inside a transaction that does not end it. */
static void nest(puppet *p, act what) {
  weir_txn *in = weir_pool_auto(p->pool);
  p->nested = what == NEST_READ    ? weir_read(in, compare_fn, p, NULL, NULL)
              : what == NEST_WRITE ? weir_write(in, compare_fn, p, NULL, NULL)
                                   : weir_write(in, compare_and_fail_fn, p, NULL, NULL);
}

/* Waits for the next act. Called, and returns, with the lock held. */
static act next_locked(puppet *p) {
  p->act = REST;
  (void)pthread_cond_broadcast(&p->changed);
  while (p->act == REST)
    (void)pthread_cond_wait(&p->changed, &p->lock);
  return p->act;
}

static int inside_fn(weir_txn *txn, void *data, weir_error *err) {
  puppet *p = data;
  act what = REST;
  (void)pthread_mutex_lock(&p->lock);
  p->inside = 1;
  p->db = weir_txn_db(txn);
  while ((what = next_locked(p)) < LEAVE)
    nest(p, what);
  p->inside = 0;
  (void)pthread_mutex_unlock(&p->lock);
  if (what == LEAVE_BROKEN)
    txn->conn->broken = 1;
  return what == LEAVE_FAILING ? weir_fail(err, WEIR_INVALID, "on purpose") : WEIR_OK;
}

static int perform(puppet *p, act what) {
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  weir_txn *in = weir_pool_auto(p->pool);
  int rc = WEIR_OK;
  options.timeout_ms = p->timeout_ms;
  options.token = &p->token;
  switch (what) {
  case READ:
    return weir_read(in, inside_fn, p, &options, NULL);
  case WRITE:
    return weir_write(in, inside_fn, p, &options, NULL);
  case SNAPSHOT_BEGIN:
    if (p->snapshot) {
      weir_txn *second = NULL;
      return weir_snapshot_begin(p->pool, &second, &options, NULL);
    }
    rc = weir_snapshot_begin(p->pool, &p->snapshot, &options, NULL);
    p->db = weir_txn_db(p->snapshot);
    return rc;
  case SNAPSHOT_END:
    rc = weir_snapshot_end(p->snapshot, NULL);
    p->snapshot = NULL;
    return rc;
  default:
    nest(p, what);
    return p->nested;
  }
}

static void *puppet_main(void *data) {
  puppet *p = data;
  act what = REST;
  (void)pthread_mutex_lock(&p->lock);
  while ((what = next_locked(p)) != QUIT) {
    (void)pthread_mutex_unlock(&p->lock);
    int rc = perform(p, what);
    (void)pthread_mutex_lock(&p->lock);
    p->rc = rc;
  }
  (void)pthread_mutex_unlock(&p->lock);
  return NULL;
}

int puppet_start(puppet *p, weir_pool *pool) {
  *p = (puppet){.pool = pool, .act = READ}; /* its first rest is to come */
  return pthread_mutex_init(&p->lock, NULL) == 0 && pthread_cond_init(&p->changed, NULL) == 0 &&
         pthread_create(&p->thread, NULL, puppet_main, p) == 0 && puppet_rests(p);
}

void puppet_quit(puppet *p) {
  puppet_do(p, QUIT);
  (void)pthread_join(p->thread, NULL);
  (void)pthread_cond_destroy(&p->changed);
  (void)pthread_mutex_destroy(&p->lock);
}

void puppet_do(puppet *p, act what) {
  (void)pthread_mutex_lock(&p->lock);
  p->act = what;
  (void)pthread_cond_broadcast(&p->changed);
  (void)pthread_mutex_unlock(&p->lock);
}

int puppet_rests(puppet *p) {
  struct timespec until;
  int timeout = 0;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += WEIR_TEST_WAIT_MS / 1000;
  (void)pthread_mutex_lock(&p->lock);
  while (p->act != REST && timeout == 0)
    timeout = pthread_cond_timedwait(&p->changed, &p->lock, &until);
  int rests = p->act == REST;
  (void)pthread_mutex_unlock(&p->lock);
  return rests;
}
