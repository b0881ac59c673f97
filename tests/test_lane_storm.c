/* Storms on the write lane: callers that give up at every moment, members that fail and that end the
 * transaction of their group. Everyone hears exactly once, the file holds exactly what was acknowledged, and
 * the lane is whole afterwards. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>

#include "internal.h"
#include "loop.h"
#include "traffic.h"

TestSuite(lane_storm, .timeout = 300);

enum { CALLERS = 8, LOOPS = 2, READERS = 2, SHARE = TEST_IS_SLOW ? 10 : 1 };

struct storm {
  traffic traffic;
  appends told;
  int each; /* writes of a caller, and of a loop */
  atomic_int writing;
  atomic_long reads, reads_given_up;
  weir_test_loop loops[LOOPS];
};

static void tell(const append *row, void *data) {
  struct storm *s = data;
  if (!appends_tell(&s->told, row))
    fault(&s->traffic.faults, "rev %lld was acknowledged twice, or is none", (long long)row->rev);
}

/* How many rows the lists have that the log has not. */
static int missing_fn(weir_txn *txn, void *data, weir_error *err) {
  return sql_int(txn, "SELECT sum(n) - coalesce((SELECT max(rev) FROM log), 0) FROM lists", data, err);
}

/* Reads until the last write has ended: in single mode they take turns with the lane, and get in its way. */
static void read_on(struct storm *s, int index) {
  weir_test_rng rng = {.state = weir_test_seed() + (uint64_t)index};
  while (atomic_load(&s->writing) > 0) {
    int64_t missing = 0;
    weir_error err = WEIR_ERROR_INIT;
    weir_token *token = &s->traffic.tokens[index];
    weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
    options.timeout_ms = (int)weir_test_below(&rng, 4) - 1;
    options.deadline_ms = (int)weir_test_below(&rng, 3);
    options.token = token;
    __atomic_store_n(&token->canceled, 0, __ATOMIC_RELEASE);
    int rc = weir_read(weir_pool_auto(s->traffic.pool), missing_fn, &missing, &options, &err);
    if (rc == WEIR_OK && missing != 0)
      fault(&s->traffic.faults, "%lld rows are missing", (long long)missing);
    if (rc != WEIR_OK && rc != WEIR_BUSY && rc != WEIR_CANCELED && rc != WEIR_TIMEOUT)
      fault(&s->traffic.faults, "a read: %s: %s", weir_error_name(rc), err.message);
    atomic_fetch_add(rc == WEIR_OK ? &s->reads : &s->reads_given_up, 1);
  }
}

static void take_part(int index, void *data) {
  struct storm *s = data;
  uint64_t seed = weir_test_seed() + 1000 * (uint64_t)index;
  if (index >= CALLERS + LOOPS) {
    read_on(s, index);
    return;
  }
  if (index < CALLERS)
    traffic_write(&s->traffic, index, s->each, seed);
  else
    traffic_loop(&s->traffic, &s->loops[index - CALLERS].uv, index, s->each, seed);
  atomic_fetch_sub(&s->writing, 1);
}

/* Nobody waits, nobody drives, and what has come has gone. */
static int lane_is_whole(void *data) {
  weir__lane *lane = &((weir_pool *)data)->lane;
  (void)pthread_mutex_lock(&lane->lock);
  int whole = !lane->driven && !lane->handed && !lane->queued && !lane->queues[WEIR_INTERACTIVE].head &&
              !lane->queues[WEIR_BULK].head && lane->submitted == lane->left &&
              lane->submitted_bytes == lane->left_bytes && !(lane->full[0] || lane->full[1]) &&
              !__atomic_load_n(&((weir_pool *)data)->awaiting, __ATOMIC_ACQUIRE) &&
              !__atomic_load_n(&lane->waiting, __ATOMIC_ACQUIRE);
  (void)pthread_mutex_unlock(&lane->lock);
  return whole;
}

static void check_counters(const struct storm *s, uint64_t others) {
  weir_pool_stats stats = stats_of(s->traffic.pool);
  uint64_t kept = (uint64_t)(atomic_load(&s->traffic.kept) + atomic_load(&s->traffic.nothings));
  uint64_t failed = (uint64_t)atomic_load(&s->traffic.failed);
  uint64_t shared = 0;
  for (int i = 1; i < WEIR_HISTOGRAM_SIZE; i++)
    shared += stats.members.buckets[i];
  cr_assert(eq(uint, stats.readers_in_use, 0));
  cr_assert(eq(uint, stats.readers_waiting, 0));
  cr_assert(eq(uint, stats.writes_queued, 0));
  cr_assert(eq(u64, stats.writes_queued_bytes, 0));
  cr_assert(eq(u64, stats.writes, kept + others));
  /* A deadline may also pass between the queue and the function. */
  cr_assert(ge(u64, stats.rollbacks, failed));
  cr_assert(le(u64, stats.rollbacks, failed + (uint64_t)atomic_load(&s->traffic.timed_out)));
  /* It was a storm: each way to end was taken. */
  cr_assert(gt(u64, shared, 0));
  cr_assert(gt(u64, stats.reruns, 0));
  cr_assert(gt(long, atomic_load(&s->traffic.shared), 0));
  cr_assert(gt(u64, kept, 0));
  cr_assert(gt(u64, failed, 0));
  cr_assert(gt(long, atomic_load(&s->traffic.canceled), 0));
  cr_assert(gt(long, atomic_load(&s->traffic.busy), 0));
  cr_assert(gt(long, atomic_load(&s->traffic.timed_out), 0));
  cr_assert(gt(long, atomic_load(&s->traffic.flushed), 0));
  cr_assert(gt(long, atomic_load(&s->reads), 0));
}

/* The next writes have the lane at once, each for itself. */
static void lane_serves(weir_pool *pool) {
  for (int i = 0; i < 10; i++) {
    weir_ack ack = {.members = 0};
    weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
    append nothing = {.kind = APPEND_NOTHING};
    options.timeout_ms = WEIR_TEST_WAIT_MS;
    options.ack = &ack;
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), append_fn, &nothing, &options, NULL), WEIR_OK));
    cr_assert(eq(uint, ack.members, 1));
  }
}

static void run_storm(int kind, int writes) {
  static struct storm s;
  char problem[300] = "";
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.numbered = 1;
  options.readers = 2;
  options.checkpoint_pages = 500;
  options.group_max = 16;
  options.acquire_timeout_ms = 4 * WEIR_TEST_WAIT_MS;
  (void)weir_test_seed();
  s = (struct storm){.writing = CALLERS + LOOPS, .each = writes / SHARE / (CALLERS + LOOPS)};
  s.traffic.gives_up = 1;
  s.traffic.in_memory = kind == SINGLE_MEMORY;
  s.traffic.fails = 1;
  s.traffic.bytes_max = 20000;
  s.traffic.told = tell;
  s.traffic.data = &s;
  s.told.size = writes;
  s.told.by_rev = calloc((size_t)writes + 1, sizeof *s.told.by_rev);
  cr_assert(ne(ptr, s.told.by_rev, NULL));
  cr_assert(eq(int, pool_open(&s.traffic.pool, kind, &options), WEIR_OK));
  weir_pool *pool = s.traffic.pool;
  cr_assert(eq(int, weir_write(weir_pool_auto(pool), append_tables_fn, NULL, NULL, NULL), WEIR_OK));
  for (int i = 0; i < LOOPS; i++)
    weir_test_loop_init(&s.loops[i]);
  cr_assert(together(CALLERS + LOOPS + READERS, take_part, &s));
  for (int i = 0; i < LOOPS; i++)
    cr_assert(eq(uint, weir_test_loop_close(&s.loops[i]), 0));
  cr_assert(eq(int, atomic_load(&s.traffic.faults.count), 0), "%s", s.traffic.faults.first);
  cr_assert(weir_test_wait(lane_is_whole, pool, WEIR_TEST_WAIT_MS));
  check_counters(&s, 1);
  lane_serves(pool);
  cr_assert(appends_check(pool, &s.told, 1, problem, sizeof problem), "%s", problem);
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM log"), atomic_load(&s.traffic.kept)));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  free(s.told.by_rev);
}

Test(lane_storm, of_writes_that_fail_or_are_given_up_keeps_exactly_what_was_acknowledged_in_pool_mode) {
  run_storm(POOL_FILE, 100000);
}

Test(lane_storm, of_writes_that_fail_or_are_given_up_keeps_exactly_what_was_acknowledged_in_single_mode) {
  run_storm(SINGLE_FILE, 30000);
}

Test(lane_storm, of_writes_that_fail_or_are_given_up_keeps_exactly_what_was_acknowledged_in_memory) {
  run_storm(SINGLE_MEMORY, 30000);
}
