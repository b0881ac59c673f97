/* Admission under storms of threads: no permit is lost, none is lent twice. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"
#include "threads.h"

TestSuite(admission_storm, .timeout = 300);

/* Stored with each connection: who has it. */
struct marker {
  atomic_int holder; /* 0: nobody */
};

static int connect(struct sqlite3 *db, void **local, void *data, weir_error *err) {
  (void)db;
  (void)data;
  *local = calloc(1, sizeof(struct marker));
  return *local ? WEIR_OK : weir_fail(err, WEIR_NOMEM, "no memory");
}

static void disconnect(void *local, void *data) {
  struct marker *marker = local;
  if (atomic_load(&marker->holder) != 0)
    fault(data, "a connection was closed while it was lent");
  free(marker);
}

static const weir_pool_hooks hooks = {.connect = connect, .disconnect = disconnect};

/* Stays a while with the connection, and sees that nobody else has it. */
static void hold(struct marker *marker, int who, uint64_t turns, faults *f) {
  int other = atomic_exchange(&marker->holder, who);
  if (other != 0)
    fault(f, "thread %d was lent the connection of thread %d", who, other);
  while (turns-- > 0)
    (void)sched_yield();
  other = atomic_exchange(&marker->holder, 0);
  if (other != who)
    fault(f, "thread %d had the connection of thread %d", other, who);
}

/* ---- Cancels and timeouts ---- */

enum { STORM_THREADS = 12, STORM_READERS = 2, GIVEN_UP = TEST_IS_SLOW ? 100000 : 1000000 };

struct storm {
  weir_pool *pool;
  weir_token tokens[STORM_THREADS];
  atomic_long canceled, timed_out, served;
  faults faults;
};

static void storm(int index, void *data) {
  struct storm *s = data;
  weir_token *token = &s->tokens[index];
  weir_test_rng rng = {.state = weir_test_seed() + (uint64_t)index};
  while (atomic_load(&s->canceled) + atomic_load(&s->timed_out) < GIVEN_UP) {
    __atomic_store_n(&token->canceled, 0, __ATOMIC_RELEASE);
    if (weir_test_below(&rng, 2) &&
        weir_cancel(s->pool, &s->tokens[weir_test_below(&rng, STORM_THREADS)]) != 0)
      fault(&s->faults, "a cancel failed");
    weir__admission how = {.timeout_ns = 1 + weir_test_below(&rng, 20 * WEIR__NS_PER_US), .token = token};
    weir__slot *slot = NULL;
    int rc = weir__slot_acquire(s->pool, &how, &slot, NULL);
    if (rc == WEIR_OK) {
      hold(slot->conn->local, index + 1, weir_test_below(&rng, 4), &s->faults);
      weir__slot_release(s->pool, slot);
    } else if (slot) {
      fault(&s->faults, "a slot came with an error");
    }
    if (rc != WEIR_OK && rc != WEIR_CANCELED && rc != WEIR_BUSY)
      fault(&s->faults, "%s", weir_error_name(rc));
    atomic_fetch_add(rc == WEIR_OK ? &s->served : rc == WEIR_BUSY ? &s->timed_out : &s->canceled, 1);
  }
}

/* All connections are to be had at once, and no more. */
static void all_permits_are_there(weir_pool *pool, unsigned permits) {
  const weir__admission at_once = {.timeout_ns = 0};
  weir__slot *slots[STORM_READERS], *none = NULL;
  cr_assert(eq(uint, stats_of(pool).readers_in_use, 0));
  cr_assert(eq(uint, stats_of(pool).readers_waiting, 0));
  for (unsigned i = 0; i < permits; i++) {
    cr_assert(eq(int, weir__slot_acquire(pool, &at_once, &slots[i], NULL), WEIR_OK));
  }
  cr_assert(eq(int, weir__slot_acquire(pool, &at_once, &none, NULL), WEIR_BUSY));
  for (unsigned i = 0; i < permits; i++) {
    weir__slot_release(pool, slots[i]);
  }
}

Test(admission_storm, waiters_that_are_canceled_or_time_out_while_being_granted_lose_no_permit) {
  static struct storm s;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = STORM_READERS;
  options.hooks = &hooks;
  options.data = &s.faults;
  (void)weir_test_seed();
  cr_assert(eq(int, pool_open(&s.pool, POOL_FILE, &options), WEIR_OK));
  cr_assert(together(STORM_THREADS, storm, &s));
  cr_assert(eq(int, atomic_load(&s.faults.count), 0), "%s", s.faults.first);
  /* It was a storm: each way for a wait to end was taken often. */
  cr_assert(gt(long, atomic_load(&s.canceled), GIVEN_UP / 1000));
  cr_assert(gt(long, atomic_load(&s.timed_out), GIVEN_UP / 1000));
  cr_assert(gt(long, atomic_load(&s.served), GIVEN_UP / 1000));
  cr_assert(gt(u64, stats_of(s.pool).read_waits, GIVEN_UP / 2));
  all_permits_are_there(s.pool, STORM_READERS);
  cr_assert(eq(int, weir_pool_close(s.pool, NULL), WEIR_OK));
}

/* ---- Running threads that never wait against threads that do ---- */

enum { BARGING = 2, PATIENT = 6, TURNS = TEST_IS_SLOW ? 50 : 200, QUIET_ROUNDS = TEST_IS_SLOW ? 40 : 200 };

struct crowd {
  weir_pool *pool;
  int barging, patient, turns;
  atomic_int waiting; /* patient threads that have not had all their turns */
  atomic_long barged; /* turns of the others meanwhile */
  faults faults;
};

static void barge(struct crowd *c, int who) {
  const weir__admission at_once = {.timeout_ns = 0};
  while (atomic_load(&c->waiting) > 0) {
    weir__slot *slot = NULL;
    if (weir__slot_acquire(c->pool, &at_once, &slot, NULL) == WEIR_OK) {
      hold(slot->conn->local, who, 0, &c->faults);
      weir__slot_release(c->pool, slot);
      atomic_fetch_add(&c->barged, 1);
    }
  }
}

/* Every third wait is so short that it may end just as it is roused. */
static void crowd(int index, void *data) {
  struct crowd *c = data;
  weir_test_rng rng = {.state = weir_test_seed() + (uint64_t)index};
  if (index < c->barging) {
    barge(c, index + 1);
    return;
  }
  for (int i = 0; i < c->turns; i++) {
    uint64_t patience = (uint64_t)WEIR_TEST_WAIT_MS * WEIR__NS_PER_MS;
    int hasty = weir_test_below(&rng, 3) == 0;
    weir__admission how = {.timeout_ns = hasty ? 1 + weir_test_below(&rng, 50 * WEIR__NS_PER_US) : patience};
    weir__slot *slot = NULL;
    int rc = weir__slot_acquire(c->pool, &how, &slot, NULL);
    if (rc == WEIR_OK) {
      hold(slot->conn->local, index + 1, weir_test_below(&rng, 2), &c->faults);
      weir__slot_release(c->pool, slot);
    } else if (!hasty || rc != WEIR_BUSY) {
      fault(&c->faults, "thread %d, turn %d: %s", index, i, weir_error_name(rc));
      break;
    }
  }
  atomic_fetch_sub(&c->waiting, 1);
}

static void gather(struct crowd *c, unsigned readers, int rounds) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = readers;
  options.hooks = &hooks;
  options.data = &c->faults;
  (void)weir_test_seed();
  cr_assert(eq(int, pool_open(&c->pool, POOL_FILE, &options), WEIR_OK));
  for (int i = 0; i < rounds && atomic_load(&c->faults.count) == 0; i++) {
    atomic_store(&c->waiting, c->patient);
    cr_assert(together(c->barging + c->patient, crowd, c));
  }
  cr_assert(eq(int, atomic_load(&c->faults.count), 0), "%s", c->faults.first);
  all_permits_are_there(c->pool, readers);
  cr_assert(eq(int, weir_pool_close(c->pool, NULL), WEIR_OK));
}

Test(admission_storm, no_waiter_is_passed_forever_by_threads_that_run_and_never_wait) {
  struct crowd c = {.barging = BARGING, .patient = PATIENT, .turns = TURNS};
  gather(&c, 1, 1);
  cr_assert(gt(long, atomic_load(&c.barged), 0)); /* they did pass those who wait */
}

/* Each round ends without anybody who would wake a waiter that was forgotten. */
Test(admission_storm, a_slot_that_is_free_is_never_forgotten_while_somebody_waits) {
  struct crowd c = {.patient = PATIENT, .turns = 20};
  gather(&c, STORM_READERS, QUIET_ROUNDS);
}

/* ---- Everything at once, with connections that break ----
 *
 * Under ThreadSanitizer also an inversion of the order of locks would show. */

enum { MIX_THREADS = 6, MIX_CALLS = TEST_IS_SLOW ? 500 : 4000 };

struct mix {
  weir_pool *pool;
  atomic_long broken;
  faults faults;
};

struct visit {
  struct mix *mix;
  weir_test_rng *rng;
  int who;
};

static int visit_fn(weir_txn *txn, void *data, weir_error *err) {
  struct visit *v = data;
  (void)err;
  hold(weir_txn_local(txn), v->who, weir_test_below(v->rng, 4), &v->mix->faults);
  if (weir_test_below(v->rng, 50) == 0 && !v->mix->pool->memory) { /* memory goes with its connection */
    atomic_fetch_add(&v->mix->broken, !txn->conn->broken);
    txn->conn->broken = 1;
  }
  return WEIR_OK;
}

static int nested_fn(weir_txn *txn, void *data, weir_error *err) {
  struct visit *v = data;
  int rc = weir_read(weir_pool_auto(v->mix->pool), visit_fn, v, NULL, err);
  return rc == WEIR_OK ? visit_fn(txn, data, err) : rc;
}

static void mix(int index, void *data) {
  struct mix *m = data;
  weir_test_rng rng = {.state = weir_test_seed() + (uint64_t)index};
  struct visit v = {m, &rng, index + 1};
  weir_txn *in = weir_pool_auto(m->pool);
  for (int i = 0; i < MIX_CALLS; i++) {
    weir_error err = WEIR_ERROR_INIT;
    weir_txn_fn fn = weir_test_below(&rng, 4) ? visit_fn : nested_fn;
    weir_txn *snapshot = NULL;
    weir_token nobodys = {0};
    int rc = weir_cancel(m->pool, &nobodys);
    (void)stats_of(m->pool);
    switch (weir_test_below(&rng, 4)) {
    case 0:
      rc = weir_write(in, fn, &v, NULL, &err);
      break;
    case 1:
      rc = weir_snapshot_begin(m->pool, &snapshot, NULL, &err);
      rc = rc == WEIR_OK ? weir_read(snapshot, fn, &v, NULL, &err) : rc;
      rc = rc == WEIR_OK ? weir_snapshot_end(snapshot, &err) : rc;
      break;
    default:
      rc = weir_read(in, fn, &v, NULL, &err);
    }
    if (rc != WEIR_OK)
      fault(&m->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
  }
}

Test(admission_storm, a_connection_is_never_lent_to_two_owners_even_when_some_break) {
  (void)weir_test_seed();
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    struct mix m = {.broken = 0};
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.readers = 3;
    options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
    options.hooks = &hooks;
    options.data = &m.faults;
    cr_assert(eq(int, pool_open(&m.pool, kind, &options), WEIR_OK));
    cr_assert(together(MIX_THREADS, mix, &m));
    cr_assert(eq(int, atomic_load(&m.faults.count), 0), "%s", m.faults.first);
    weir_pool_stats stats = stats_of(m.pool);
    cr_assert(eq(u64, stats.replaced, (uint64_t)atomic_load(&m.broken)));
    cr_assert(eq(u64, stats.reads + stats.writes, MIX_THREADS * MIX_CALLS));
    cr_assert(eq(uint, stats.readers_in_use + stats.readers_waiting + stats.writes_queued, 0));
    cr_assert(eq(int, weir_pool_close(m.pool, NULL), WEIR_OK));
    cr_assert(eq(int, atomic_load(&m.faults.count), 0), "%s", m.faults.first);
  }
}
