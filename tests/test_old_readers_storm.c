/* Snapshots that a checkpoint ends because they are old, while their owners end them, too. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

#include "clock.h"
#include "threads.h"

TestSuite(old_readers_storm, .timeout = 200);

enum { READERS = 3, EVICTIONS = TEST_IS_SLOW ? 40 : 200, WRITES_MAX = 100000 };

struct storm {
  weir_pool *pool;
  atomic_int over;
  atomic_long whole, ended; /* snapshots */
  faults faults;
};

static void come_and_go(int index, void *data) {
  struct storm *s = data;
  weir_error err = WEIR_ERROR_INIT;
  for (int i = 0; index == 0 && i < WRITES_MAX && stats_of(s->pool).evicted < EVICTIONS; i++) {
    if (sql_write(weir_pool_auto(s->pool), "INSERT INTO t(v) VALUES(zeroblob(3000))", &err) != WEIR_OK)
      fault(&s->faults, "a write: %s", err.message);
  }
  atomic_fetch_add(&s->over, index == 0);
  weir_test_rng rng = {weir_test_seed() + (uint64_t)index};
  while (!atomic_load(&s->over)) {
    weir_txn *txn = NULL;
    int64_t first = -1, count = -1;
    int rc = weir_snapshot_begin(s->pool, &txn, NULL, &err);
    uint64_t until = weir__now_ns() + weir_test_below(&rng, 3 * WEIR__NS_PER_MS);
    while (rc == WEIR_OK && weir__now_ns() < until) {
      rc = sql_int(txn, "SELECT count(*) FROM t", &count, &err);
      first = first < 0 ? count : first;
      if (rc == WEIR_OK && count != first)
        fault(&s->faults, "%lld rows, then %lld", (long long)first, (long long)count);
    }
    atomic_fetch_add(rc == WEIR_OK ? &s->whole : &s->ended, 1);
    int end = weir_snapshot_end(txn, &err);
    if ((rc != WEIR_OK && rc != WEIR_TIMEOUT) || end != WEIR_OK)
      fault(&s->faults, "a snapshot: %s, %s: %s", weir_error_name(rc), weir_error_name(end), err.message);
  }
}

Test(old_readers_storm, are_ended_by_a_checkpoint_and_by_their_owners_at_once) {
  weir_pool_options options = {.size = sizeof options,
                               .readers = READERS,
                               .checkpoint_pages = 1,
                               .checkpoint_pause_ms = -1,
                               .reader_age_ms = 1,
                               .reader_evict = 1};
  struct storm s = {.over = 0};
  (void)weir_test_seed();
  cr_assert(eq(int, pool_open(&s.pool, POOL_FILE, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(s.pool), CREATE_T, NULL), WEIR_OK));
  cr_assert(together(1 + READERS, come_and_go, &s));
  cr_assert(eq(int, atomic_load(&s.faults.count), 0), "%s", s.faults.first);
  weir_pool_stats stats = stats_of(s.pool);
  fprintf(stderr, "%llu evicted, %ld snapshots ended by that, %ld were whole\n",
          (unsigned long long)stats.evicted, atomic_load(&s.ended), atomic_load(&s.whole));
  cr_assert(ge(u64, stats.evicted, EVICTIONS));
  cr_assert(eq(u64, stats.replaced, stats.evicted));
  cr_assert(gt(long, atomic_load(&s.ended), 0));
  cr_assert(gt(long, atomic_load(&s.whole), 0));
  cr_assert(eq(uint, stats.readers_in_use, 0));
  cr_assert(eq(int, weir_pool_close(s.pool, NULL), WEIR_OK));
}
