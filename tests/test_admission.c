/* Admission: who gets a connection, in what order, and that waiting costs nothing. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "internal.h"
#include "threads.h"

TestSuite(admission, .timeout = 120);

static weir_pool *opened(int kind, unsigned readers) {
  weir_pool *pool = NULL;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = readers;
  options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  return pool;
}

/* ---- Order ---- */

/* Has the first waiter been the first for longer than others may pass it? */
static int first_is_overdue(void *data) {
  weir_pool *pool = data;
  (void)pthread_mutex_lock(&pool->lock);
  int overdue = pool->waiters && weir__now_ns() - pool->first_ns > 5 * WEIR__NS_PER_MS;
  (void)pthread_mutex_unlock(&pool->lock);
  return overdue;
}

/* A thread that waits for a slot, and leaves it to the test's main thread. */
struct comer {
  weir_pool *pool;
  _Atomic(weir__slot *) got;
  pthread_t thread;
};

static const weir__admission impatient = {.timeout_ns = 0};
static const weir__admission patient = {.timeout_ns = (uint64_t)WEIR_TEST_WAIT_MS * WEIR__NS_PER_MS};

static void *come(void *data) {
  struct comer *c = data;
  weir__slot *slot = NULL;
  (void)weir__slot_acquire(c->pool, &patient, &slot, NULL);
  atomic_store(&c->got, slot);
  return NULL;
}

static int has_got_it(void *data) {
  return atomic_load(&((struct comer *)data)->got) != NULL;
}

Test(admission, the_first_waiter_when_overdue_is_passed_by_nobody_and_so_all_are_served_in_order) {
  enum { WAITERS = 8 };
  weir_pool *pool = opened(POOL_FILE, 1);
  struct comer comers[WAITERS];
  weir__slot *slot = NULL, *none = NULL;
  cr_assert(eq(int, weir__slot_acquire(pool, &impatient, &slot, NULL), WEIR_OK));
  for (unsigned i = 0; i < WAITERS; i++) {
    comers[i] = (struct comer){.pool = pool};
    cr_assert(eq(int, pthread_create(&comers[i].thread, NULL, come, &comers[i]), 0));
    cr_assert(await_waiting(pool, i + 1));
  }
  for (unsigned i = 0; i < WAITERS; i++) {
    cr_assert(weir_test_wait(first_is_overdue, pool, WEIR_TEST_WAIT_MS));
    weir__slot_release(pool, slot);
    /* this thread runs, and has the time to take it back before anybody has woken */
    cr_assert(eq(int, weir__slot_acquire(pool, &impatient, &none, NULL), WEIR_BUSY), "place %u", i);
    cr_assert(weir_test_wait(has_got_it, &comers[i], WEIR_TEST_WAIT_MS), "place %u", i);
    slot = atomic_load(&comers[i].got);
    cr_assert(eq(int, pthread_join(comers[i].thread, NULL), 0));
  }
  weir__slot_release(pool, slot);
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

Test(admission, no_waiter_waits_while_a_connection_is_idle) {
  enum { WAITERS = 12 };
  weir_pool *pool = opened(POOL_FILE, 2);
  latch short_latch = LATCH_INIT, long_latch = LATCH_INIT;
  task holders[2] = {{.in = weir_pool_auto(pool), .fn = latch_fn, .data = &short_latch},
                     {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &long_latch}};
  task tasks[WAITERS] = {{.rc = 0}};
  cr_assert(eq(int, task_start(&holders[0]), 0));
  cr_assert(eq(int, task_start(&holders[1]), 0));
  cr_assert(latch_await(&short_latch, 1));
  cr_assert(latch_await(&long_latch, 1));
  for (unsigned i = 0; i < WAITERS; i++) {
    tasks[i] = (task){.in = weir_pool_auto(pool), .fn = nothing_fn};
    cr_assert(task_start_waiting(&tasks[i], pool, i + 1));
  }
  latch_open(&short_latch); /* one connection serves them all while the other one stays lent */
  for (int i = 0; i < WAITERS; i++) {
    cr_assert(eq(int, task_join(&tasks[i]), WEIR_OK));
  }
  cr_assert(eq(int, task_join(&holders[0]), WEIR_OK));
  cr_assert(not(task_ended(&holders[1])));
  cr_assert(eq(uint, stats_of(pool).readers_in_use, 1));
  latch_open(&long_latch);
  cr_assert(eq(int, task_join(&holders[1]), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* ---- A writer that never rests against readers, on one connection ---- */

enum { STARVED_READERS = 4, READS_EACH = 100, COMMITS_A_READ = 20 };

/* A write that holds the connection longer than it takes to wake a thread. */
#define THOUSAND_ROWS                                                                                        \
  "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000) SELECT x, 0 "    \
  "FROM c"

struct race {
  weir_pool *pool;
  atomic_int reading; /* readers that are not done */
  atomic_long commits;
  faults faults;
};

static void race(int index, void *data) {
  struct race *r = data;
  weir_error err = WEIR_ERROR_INIT;
  int rc = WEIR_OK;
  for (int i = 0; i < READS_EACH && index > 0 && rc == WEIR_OK; i++) {
    rc = weir_read(weir_pool_auto(r->pool), nothing_fn, NULL, NULL, &err);
  }
  while (index == 0 && rc == WEIR_OK && atomic_load(&r->reading) > 0 &&
         atomic_load(&r->commits) < READS_EACH * COMMITS_A_READ) {
    rc = sql_write(weir_pool_auto(r->pool), "UPDATE t SET v = v + 1", &err);
    atomic_fetch_add(&r->commits, 1);
  }
  atomic_fetch_sub(&r->reading, index > 0);
  if (rc != WEIR_OK)
    fault(&r->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
}

Test(admission, a_writer_that_never_rests_does_not_starve_readers_of_the_same_connection) {
  struct race r = {.pool = opened(SINGLE_MEMORY, 0), .reading = STARVED_READERS};
  cr_assert(eq(int, sql_write(weir_pool_auto(r.pool), CREATE_T ";" THOUSAND_ROWS, NULL), WEIR_OK));
  cr_assert(together(1 + STARVED_READERS, race, &r));
  cr_assert(eq(int, atomic_load(&r.faults.count), 0), "%s", r.faults.first);
  cr_assert(lt(long, atomic_load(&r.commits), READS_EACH *COMMITS_A_READ));
  cr_assert(eq(i64, int_of(r.pool, "SELECT v FROM t WHERE id = 1"), atomic_load(&r.commits)));
  cr_assert(eq(int, weir_pool_close(r.pool, NULL), WEIR_OK));
}

/* ---- Sleeping ---- */

/* The test is linked so that the library's calls of pthread_cond_timedwait come here. */
static _Atomic(pthread_cond_t *) watched;
static atomic_int waits_on_watched;
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until) {
  if (cond == atomic_load(&watched))
    atomic_fetch_add(&waits_on_watched, 1);
  return __real_pthread_cond_timedwait(cond, lock, until);
}

static int has_waited_again(void *data) {
  return atomic_load(&waits_on_watched) >= *(int *)data;
}

static int long_since(void *data) {
  return weir__now_ns() > *(uint64_t *)data + 50 * WEIR__NS_PER_MS;
}

/* Wakes whoever waits on `cond`, which `lock` guards, for nothing, and sees that it goes back to sleep each
 * time and stays asleep. (A wait that is a little short would spin.) */
static void wake_for_nothing(pthread_cond_t *cond, pthread_mutex_t *lock) {
  enum { TIMES = 50 };
  atomic_store(&waits_on_watched, 0);
  atomic_store(&watched, cond);
  for (int i = 1; i <= TIMES; i++) {
    (void)pthread_mutex_lock(lock);
    (void)pthread_cond_signal(cond);
    (void)pthread_mutex_unlock(lock);
    cr_assert(weir_test_wait(has_waited_again, &i, WEIR_TEST_WAIT_MS));
  }
  uint64_t now = weir__now_ns();
  cr_assert(weir_test_wait(long_since, &now, WEIR_TEST_WAIT_MS));
  cr_assert(le(int, atomic_load(&waits_on_watched), TIMES + 5)); /* the system may wake it for nothing, too */
  atomic_store(&watched, NULL);
}

Test(admission, a_waiter_that_is_woken_for_nothing_sleeps_again_and_does_not_spin) {
  weir_pool *pool = opened(POOL_FILE, 1);
  latch reading = LATCH_INIT, writing = LATCH_INIT;
  task reader = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &reading};
  task writer = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &writing, .write = 1};
  task waiting = {.in = weir_pool_auto(pool), .fn = nothing_fn};
  task queued = {.in = weir_pool_auto(pool), .fn = nothing_fn, .write = 1};
  cr_assert(eq(int, task_start(&reader), 0));
  cr_assert(latch_await(&reading, 1));
  cr_assert(eq(int, task_start(&writer), 0));
  cr_assert(latch_await(&writing, 1));
  cr_assert(task_start_waiting(&waiting, pool, 1));
  cr_assert(task_start_queued(&queued, pool, 1));
  wake_for_nothing(&pool->waiters->wake, &pool->lock); /* both stay while the latches are closed */
  latch_open(&reading);
  latch_open(&writing);
  cr_assert(eq(int, task_join(&reader), WEIR_OK));
  cr_assert(eq(int, task_join(&writer), WEIR_OK));
  cr_assert(eq(int, task_join(&waiting), WEIR_OK));
  cr_assert(eq(int, task_join(&queued), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* ---- Nesting ---- */

struct nest {
  latch all_inside;
  weir_pool *pool;
  int nested;  /* the code of a read in the read */
  int written; /* the code of a write in the read */
};

static int nest_fn(weir_txn *txn, void *data, weir_error *err) {
  struct nest *n = data;
  (void)txn;
  latch_pass(&n->all_inside);
  weir_txn_options at_once = WEIR_TXN_OPTIONS_INIT;
  at_once.timeout_ms = -1;
  n->nested = weir_read(weir_pool_auto(n->pool), nothing_fn, NULL, &at_once, err);
  n->written = weir_write(weir_pool_auto(n->pool), nothing_fn, NULL, NULL, err);
  return WEIR_OK;
}

Test(admission, nested_reads_of_all_readers_at_once_do_not_deadlock) {
  for (unsigned readers = 1; readers <= 4; readers++) {
    weir_pool *pool = opened(POOL_FILE, readers);
    struct nest nests[4];
    task tasks[4] = {{.rc = 0}};
    for (unsigned i = 0; i < readers; i++) {
      nests[i] = (struct nest){.all_inside = LATCH_INIT, .pool = pool};
      tasks[i] = (task){.in = weir_pool_auto(pool), .fn = nest_fn, .data = &nests[i]};
      cr_assert(eq(int, task_start(&tasks[i]), 0));
    }
    for (unsigned i = 0; i < readers; i++) {
      cr_assert(latch_await(&nests[i].all_inside, 1)); /* none is idle now */
    }
    for (unsigned i = 0; i < readers; i++) {
      latch_open(&nests[i].all_inside);
    }
    for (unsigned i = 0; i < readers; i++) {
      cr_assert(eq(int, task_join(&tasks[i]), WEIR_OK));
      cr_assert(eq(int, nests[i].nested, WEIR_OK));
      cr_assert(eq(int, nests[i].written, WEIR_MISUSE));
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* ---- Who is inside ---- */

static void *begin_snapshot(void *data) {
  weir_pool *pool = data;
  weir_txn *txn = NULL;
  return weir_snapshot_begin(pool, &txn, NULL, NULL) == WEIR_OK ? txn : NULL;
}

static void *write_nothing(void *data) {
  return weir_write(weir_pool_auto(data), nothing_fn, NULL, NULL, NULL) == WEIR_OK ? data : NULL;
}

static void *on_a_thread(void *(*main)(void *data), void *data) {
  pthread_t thread;
  void *result = NULL;
  cr_assert(eq(int, pthread_create(&thread, NULL, main, data), 0));
  cr_assert(eq(int, pthread_join(thread, &result), 0));
  return result;
}

/* A new thread may get the pthread_t of one that has ended. */
Test(admission, a_thread_is_not_taken_for_one_that_ended_and_left_a_snapshot_to_others) {
  weir_pool *pool = opened(POOL_FILE, 2);
  weir_txn *snapshot = on_a_thread(begin_snapshot, pool);
  cr_assert(ne(ptr, snapshot, NULL));
  for (int i = 0; i < 4; i++) {
    cr_assert(ne(ptr, on_a_thread(write_nothing, pool), NULL));
  }
  cr_assert(eq(int, weir_snapshot_end(snapshot, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}
