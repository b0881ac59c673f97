/* Admission when connections cannot be opened, and when the pool is closed under those who wait. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "threads.h"

TestSuite(admission_faults, .timeout = 120);

enum { READERS = 4 };

/* ---- Connections that cannot be opened ---- */

struct failing_hooks {
  atomic_int calls;
  int fail_from, fail_to; /* the calls that fail: fail_from <= call < fail_to */
  atomic_int alive;       /* what connect made and disconnect has not undone */
};

static int connect(struct sqlite3 *db, void **local, void *data, weir_error *err) {
  struct failing_hooks *h = data;
  int call = atomic_fetch_add(&h->calls, 1);
  int fails = call >= h->fail_from && call < h->fail_to;
  (void)db;
  if (fails)
    return weir_fail(err, WEIR_CONSTRAINT, "connect %d fails", call);
  *local = h;
  atomic_fetch_add(&h->alive, 1);
  return WEIR_OK;
}

static void disconnect(void *local, void *data) {
  struct failing_hooks *h = local;
  (void)data;
  atomic_fetch_sub(&h->alive, 1);
}

static const weir_pool_hooks hooks = {.connect = connect, .disconnect = disconnect};

/* Opens the pool's READERS snapshots, each by a thread of its own, since a thread has one at most. */
struct opening {
  weir_pool *pool;
  weir_txn *snapshots[READERS];
  int rcs[READERS];
};

static void open_one(int index, void *data) {
  struct opening *o = data;
  weir_txn_options at_once = WEIR_TXN_OPTIONS_INIT;
  at_once.timeout_ms = -1;
  o->rcs[index] = weir_snapshot_begin(o->pool, &o->snapshots[index], &at_once, NULL);
}

/* How many of so many snapshots at once there are to be had. */
static int snapshots_to_be_had(weir_pool *pool, int wanted) {
  struct opening o = {.pool = pool};
  int had = 0;
  if (!together(wanted, open_one, &o))
    return -1;
  for (int i = 0; i < wanted; i++) {
    had += o.rcs[i] == WEIR_OK;
    if (weir_snapshot_end(o.snapshots[i], NULL) != WEIR_OK)
      return -1;
  }
  return had;
}

Test(admission_faults, a_connection_that_fails_in_its_set_up_costs_no_permit_and_no_descriptor) {
  for (int k = 1; k <= READERS; k++) { /* call 0 is the writer's, when the pool is opened */
    weir_pool *pool = NULL;
    struct failing_hooks h = {.fail_from = k, .fail_to = k + 1};
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.readers = READERS;
    options.hooks = &hooks;
    options.data = &h;
    cr_assert(eq(int, pool_open(&pool, POOL_FILE, &options), WEIR_OK));
    cr_assert(eq(int, snapshots_to_be_had(pool, READERS), READERS - 1), "failing call %d", k);
    weir_pool_stats stats = stats_of(pool);
    cr_assert(eq(uint, stats.readers_in_use, 0));
    cr_assert(eq(uint, stats.readers_open, READERS - 1));
    int alive = atomic_load(&h.alive);
    cr_assert(eq(int, alive, READERS), "failing call %d", k); /* the writer's too */
    cr_assert(eq(int, snapshots_to_be_had(pool, READERS), READERS));
    cr_assert(eq(int, descriptors_of(pool_path(POOL_FILE)), 3 * (READERS + 1) - READERS),
              "one file each, the WAL each, one shared memory for all");
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(eq(int, atomic_load(&h.alive), 0));
    cr_assert(eq(int, descriptors_of(pool_path(POOL_FILE)), 0));
  }
}

Test(admission_faults, the_error_of_a_failed_set_up_reaches_its_caller_and_only_that_one) {
  weir_pool *pool = NULL;
  struct failing_hooks h = {.fail_from = 1, .fail_to = 2};
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.hooks = &hooks;
  options.data = &h;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, pool_open(&pool, POOL_FILE, &options), WEIR_OK));
  cr_assert(eq(int, weir_read(weir_pool_auto(pool), nothing_fn, NULL, NULL, &err), WEIR_CONSTRAINT));
  cr_assert(eq(str, err.message, (char *)"connect 1 fails"));
  cr_assert(eq(int, weir_read(weir_pool_auto(pool), nothing_fn, NULL, NULL, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* Leaves the process so many descriptors. Returns the old limit; the kernel counts from the lowest free one.
 */
static rlim_t leave_descriptors(rlim_t count) {
  struct rlimit limit;
  int lowest_free = open("/dev/null", O_RDONLY | O_CLOEXEC);
  cr_assert(ge(int, lowest_free, 0));
  cr_assert(eq(int, close(lowest_free), 0));
  cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &limit), 0));
  rlim_t old = limit.rlim_cur;
  limit.rlim_cur = (rlim_t)lowest_free + count;
  cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &limit), 0));
  return old;
}

static void restore_descriptors(rlim_t old) {
  struct rlimit limit;
  cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &limit), 0));
  limit.rlim_cur = old;
  cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &limit), 0));
}

Test(admission_faults, running_out_of_descriptors_costs_no_permit_and_is_over_when_there_are_some) {
  weir_pool *pool = NULL;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = READERS;
  cr_assert(eq(int, pool_open(&pool, POOL_FILE, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  int before = descriptors_of(pool_path(POOL_FILE));
  for (int i = 0; i < 10; i++) { /* first there is none for the file; later none for the WAL */
    weir_error err = WEIR_ERROR_INIT;
    rlim_t old = leave_descriptors(i == 1);
    int rc = weir_read(weir_pool_auto(pool), nothing_fn, NULL, NULL, &err);
    int written = sql_write(weir_pool_auto(pool), "INSERT INTO t(v) VALUES(1)", NULL);
    restore_descriptors(old);
    cr_assert(eq(int, rc, WEIR_IO), "%s", err.message);
    cr_assert(eq(int, written, WEIR_OK)); /* has its connection */
    cr_assert(eq(uint, stats_of(pool).readers_open, 0));
  }
  /* SQLite keeps one for its next connection, as long as another one locks the file. */
  cr_assert(le(int, descriptors_of(pool_path(POOL_FILE)), before + 1));
  cr_assert(eq(int, snapshots_to_be_had(pool, READERS), READERS));
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 10));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

/* ---- Closing ---- */

enum { WAITERS = 10 };

/* One read and one write are held, others wait; the pool is closed, and told to give up waiting after
 * close_timeout_ms. */
static void close_under_waiters(int kind, int close_timeout_ms, int release, task *readers, task *writers) {
  weir_pool *pool = NULL;
  latch reading = LATCH_INIT, writing = LATCH_INIT;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = 1;
  options.acquire_timeout_ms = 10 * WEIR_TEST_WAIT_MS;
  options.close_timeout_ms = close_timeout_ms;
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  int lane_is_apart = kind == POOL_FILE;
  task reader = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &reading};
  task writer = {.in = weir_pool_auto(pool), .fn = latch_fn, .data = &writing, .write = 1};
  cr_assert(eq(int, task_start(&writer), 0));
  cr_assert(latch_await(&writing, 1));
  if (lane_is_apart) {
    cr_assert(eq(int, task_start(&reader), 0));
    cr_assert(latch_await(&reading, 1));
  }
  for (unsigned i = 0; i < WAITERS; i++) {
    readers[i] = (task){.in = weir_pool_auto(pool), .fn = nothing_fn};
    writers[i] = (task){.in = weir_pool_auto(pool), .fn = nothing_fn, .write = 1};
    cr_assert(task_start_waiting(&readers[i], pool, i + 1));
    cr_assert(task_start_queued(&writers[i], pool, i + 1));
  }
  if (release) {
    latch_open(&reading);
    latch_open(&writing);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  } else {
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_BUSY));
  }
  for (int i = 0; i < WAITERS; i++) { /* each returns, also when the holders go on */
    (void)task_join(&readers[i]);
    (void)task_join(&writers[i]);
  }
  latch_open(&reading);
  latch_open(&writing);
  cr_assert(eq(int, task_join(&writer), WEIR_OK));
  if (lane_is_apart)
    cr_assert(eq(int, task_join(&reader), WEIR_OK));
  if (!release)
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

Test(admission_faults, closing_lets_those_who_wait_have_their_turn) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    task readers[WAITERS], writers[WAITERS];
    close_under_waiters(kind, WEIR_TEST_WAIT_MS, 1, readers, writers);
    for (int i = 0; i < WAITERS; i++) {
      cr_assert(eq(int, readers[i].rc, WEIR_OK), "kind %d", kind);
      cr_assert(eq(int, writers[i].rc, WEIR_OK), "kind %d", kind);
    }
  }
}

Test(admission_faults, closing_that_runs_out_of_time_ends_every_wait) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    task readers[WAITERS], writers[WAITERS];
    close_under_waiters(kind, 20, 0, readers, writers);
    for (int i = 0; i < WAITERS; i++) {
      cr_assert(eq(int, readers[i].rc, WEIR_CLOSED), "kind %d", kind);
      cr_assert(eq(int, writers[i].rc, WEIR_CANCELED), "kind %d", kind);
    }
  }
}

static int insert_and_latch_fn(weir_txn *txn, void *data, weir_error *err) {
  latch_pass(data);
  return weir_txn_exec(txn, "CREATE TABLE IF NOT EXISTS t(x)", err);
}

/* Writes that were run by the lane's thread, or canceled by the closing one, still have to wake up and leave:
 * the pool must be there until they have. */
Test(admission_faults, closing_waits_for_writers_whose_write_has_ended_to_leave) {
  enum { ROUNDS = TEST_IS_SLOW ? 40 : 100, QUEUED = 4 };
  for (int round = 0; round < ROUNDS; round++) {
    weir_pool *pool = NULL;
    latch writing = LATCH_INIT;
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.checkpoint_pages = 1; /* the lane's thread goes on after the first write */
    options.close_timeout_ms = round % 2 ? -1 : WEIR_TEST_WAIT_MS;
    (void)remove(pool_path(POOL_FILE));
    cr_assert(eq(int, pool_open(&pool, POOL_FILE, &options), WEIR_OK));
    task writer = {.in = weir_pool_auto(pool), .fn = insert_and_latch_fn, .data = &writing, .write = 1};
    task queued[QUEUED];
    cr_assert(eq(int, task_start(&writer), 0));
    cr_assert(latch_await(&writing, 1));
    for (unsigned i = 0; i < QUEUED; i++) {
      queued[i] = (task){.in = weir_pool_auto(pool), .fn = nothing_fn, .write = 1};
      cr_assert(task_start_queued(&queued[i], pool, i + 1));
    }
    latch_open(&writing);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(eq(int, task_join(&writer), WEIR_OK));
    for (int i = 0; i < QUEUED; i++) {
      int rc = task_join(&queued[i]);
      cr_assert(rc == WEIR_OK || (round % 2 && rc == WEIR_CANCELED), "%s", weir_error_name(rc));
    }
  }
}
