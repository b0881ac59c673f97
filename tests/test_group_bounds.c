/* How many writes share a commit, and which is next: the bounds of a group, priorities, age. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "groups.h"
#include "internal.h"
#include "lane.h"
#include "threads.h"

TestSuite(group_bounds, .timeout = 200);

static weir_pool *opened(int kind, weir_pool_options options) {
  weir_pool *pool = NULL;
  cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  return pool;
}

static void closed(weir_pool *pool, int kind) {
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  (void)remove(pool_path(kind));
}

/* Runs the group, whose members must then have shared commits as `sizes`, ended by 0, says: so many the
 * first, so many the next. They run in their order. */
static void check_sizes(weir_pool *pool, group *g, const unsigned *sizes) {
  uint64_t commits = stats_of(pool).commits;
  int i = 0, groups = 0;
  cr_assert(group_run(g, pool));
  for (; sizes[groups]; groups++) {
    for (unsigned j = 0; j < sizes[groups]; j++, i++) {
      const member *m = &g->members[i];
      cr_assert(eq(int, m->task.rc, WEIR_OK), "%s", m->task.error.message);
      cr_assert(eq(uint, m->ack.members, sizes[groups]), "member %d", i);
      cr_assert(eq(int, m->order, i + 1));
      cr_assert(eq(int, m->runs, 1));
    }
  }
  cr_assert(eq(int, i, g->count));
  cr_assert(eq(u64, stats_of(pool).commits - commits, (unsigned)groups));
}

/* ---- Bounds ---- */

enum { MEMBERS = 11 };

Test(group_bounds, group_max_is_the_most_that_share_a_commit_and_one_turns_sharing_off) {
  static const struct {
    unsigned max, sizes[MEMBERS + 1];
  } cases[] = {{1, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
               {2, {2, 2, 2, 2, 2, 1}},
               {3, {3, 3, 3, 2}},
               {10, {10, 1}},
               {11, {11}},
               {0, {11}}};
  for (int i = 0; i < POOL_KINDS * 6; i++) {
    weir_pool_options options = group_options();
    options.group_max = cases[i / POOL_KINDS].max;
    weir_pool *pool = opened(i % POOL_KINDS, options);
    group g = group_of(MEMBERS, 1);
    check_sizes(pool, &g, cases[i / POOL_KINDS].sizes);
    closed(pool, i % POOL_KINDS);
  }
}

Test(group_bounds, group_kib_is_the_most_in_bytes_and_a_write_over_it_has_a_commit_of_its_own) {
  static const struct {
    size_t bytes[6];
    unsigned sizes[7];
  } cases[] = {{{1365, 1365, 1365, 1365, 1365, 1365}, {3, 3}},
               {{1366, 1366, 1366, 1366, 1366, 1366}, {2, 2, 2}},
               {{4096, 0, 0, 1, 0, 4095}, {3, 3}},
               {{4097, 0, 1, 1, 1, 1}, {1, 5}},
               {{1, 1, 4095, 1, (size_t)1 << 40, 1}, {2, 2, 1, 1}},
               {{0, 0, 0, 0, 0, 0}, {6}}};
  for (int i = 0; i < POOL_KINDS * 6; i++) {
    weir_pool_options options = group_options();
    options.group_kib = 4;
    weir_pool *pool = opened(i % POOL_KINDS, options);
    group g = group_of(6, 1);
    for (int j = 0; j < 6; j++)
      g.members[j].bytes = cases[i / POOL_KINDS].bytes[j];
    check_sizes(pool, &g, cases[i / POOL_KINDS].sizes);
    closed(pool, i % POOL_KINDS);
  }
}

/* Runs until the clock has gone on by two microseconds. */
static int two_us(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  (void)data;
  (void)err;
  for (uint64_t begun = weir__now_ns(); weir__now_ns() - begun < 2000;) {
  }
  return WEIR_OK;
}

Test(group_bounds, group_us_is_how_long_after_its_beginning_others_may_join) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = group_options();
    options.group_us = 1;
    weir_pool *pool = opened(kind, options);
    group g = group_of(5, 1);
    for (int i = 0; i < g.count; i++)
      g.members[i].then = two_us;
    check_sizes(pool, &g, (const unsigned[]){1, 1, 1, 1, 1, 0});
    closed(pool, kind);
  }
}

/* ---- Priorities ---- */

/* Sets the priorities by a text: B is bulk, I interactive. */
static group of_priorities(const char *text) {
  group g = group_of((int)strlen(text), 1);
  for (int i = 0; i < g.count; i++)
    g.members[i].priority = text[i] == 'B' ? WEIR_BULK : WEIR_INTERACTIVE;
  return g;
}

Test(group_bounds, interactive_writes_come_before_bulk_ones_and_each_kind_keeps_its_order) {
  static const struct {
    const char *priorities;
    int order[9];
  } cases[] = {{"IBBIIBI", {1, 5, 6, 2, 3, 7, 4}},
               {"BBBIB", {1, 3, 4, 2, 5}},
               {"BBBBBBBBI", {1, 3, 4, 5, 6, 7, 8, 9, 2}}}; /* a click behind a long queue */
  for (int i = 0; i < POOL_KINDS * 3; i++) {
    weir_pool_options options = group_options();
    options.group_max = 1;
    options.bulk_age_ms = INT32_MAX;
    weir_pool *pool = opened(i % POOL_KINDS, options);
    group g = of_priorities(cases[i / POOL_KINDS].priorities);
    cr_assert(group_run(&g, pool));
    for (int j = 0; j < g.count; j++) {
      cr_assert(eq(int, g.members[j].order, cases[i / POOL_KINDS].order[j]), "%s: %d",
                cases[i / POOL_KINDS].priorities, j);
      cr_assert(eq(i64, g.members[j].ack.rev, g.members[j].order));
    }
    closed(pool, i % POOL_KINDS);
  }
}

Test(group_bounds, a_bulk_write_does_not_join_a_commit_for_which_an_interactive_one_waits) {
  static const struct {
    const char *priorities;
    unsigned members[7];
  } cases[] = {
      {"IBBIBI", {3, 3, 3, 3, 3, 3}}, {"BBIB", {2, 2, 2, 2}}, {"BBBB", {4, 4, 4, 4}}, {"IB", {1, 1}}};
  for (int i = 0; i < POOL_KINDS * 4; i++) {
    weir_pool_options options = group_options();
    options.bulk_age_ms = INT32_MAX;
    weir_pool *pool = opened(i % POOL_KINDS, options);
    group g = of_priorities(cases[i / POOL_KINDS].priorities);
    cr_assert(group_run(&g, pool));
    for (int j = 0; j < g.count; j++)
      cr_assert(eq(uint, g.members[j].ack.members, cases[i / POOL_KINDS].members[j]), "%s: %d",
                cases[i / POOL_KINDS].priorities, j);
    closed(pool, i % POOL_KINDS);
  }
}

/* ---- Age ---- */

enum { STREAM = 4, BULKS = 3 };

/* Writes as pool/async.c submits them; those of the stream submit themselves again at once. */
static struct stream {
  weir_pool *pool;
  weir__job jobs[STREAM + BULKS];
  weir_error errors[STREAM + BULKS];
  int order[BULKS];
  atomic_int bulks;  /* have ended */
  atomic_int leaves; /* of the stream, have ended for good */
  atomic_long rounds;
  faults faults;
} stream;

static void submit(weir__job *job, weir_priority priority, void (*finish)(weir__job *job)) {
  int over = 0;
  *job = (weir__job){.fn = nothing_fn, .finish = finish, .priority = priority};
  job->error = &stream.errors[job - stream.jobs];
  if (weir__lane_submit(stream.pool, job, &over) != WEIR_OK)
    fault(&stream.faults, "not submitted");
}

static void on_stream(weir__job *job) {
  atomic_fetch_add(&stream.rounds, 1);
  if (atomic_load(&stream.bulks) < BULKS)
    submit(job, WEIR_INTERACTIVE, on_stream);
  else
    atomic_fetch_add(&stream.leaves, 1);
}

static void on_bulk(weir__job *job) {
  stream.order[atomic_load(&stream.bulks)] = (int)(job - stream.jobs) - STREAM;
  atomic_fetch_add(&stream.bulks, 1);
}

static int stream_has_ended(void *data) {
  (void)data;
  return atomic_load(&stream.leaves) == STREAM;
}

Test(group_bounds, bulk_writes_get_their_turns_although_interactive_ones_never_cease_to_wait) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = group_options();
    options.group_max = 1; /* so that some of the stream always wait */
    options.bulk_age_ms = 20;
    memset(&stream, 0, sizeof stream);
    stream.pool = opened(kind, options);
    group g = group_of(1, 1);
    cr_assert(group_start(&g, stream.pool));
    for (int i = 0; i < STREAM + BULKS; i++)
      submit(&stream.jobs[i], i < STREAM ? WEIR_INTERACTIVE : WEIR_BULK, i < STREAM ? on_stream : on_bulk);
    group_join(&g);
    cr_assert(weir_test_wait(stream_has_ended, NULL, WEIR_TEST_WAIT_MS), "%d bulk writes in %ld rounds",
              atomic_load(&stream.bulks), atomic_load(&stream.rounds));
    for (int i = 0; i < BULKS; i++)
      cr_assert(eq(int, stream.order[i], i));
    cr_assert(gt(long, atomic_load(&stream.rounds), STREAM));
    cr_assert(eq(int, atomic_load(&stream.faults.count), 0), "%s", stream.faults.first);
    closed(stream.pool, kind);
  }
}

/* ---- A write that queues just as the lane looks for the next ---- */

static struct {
  weir_pool *pool;
  weir__job job;
  weir_error error;
  atomic_int order; /* of all that were begun */
  int own;
  atomic_int ended;
} late;

static int note_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  (void)err;
  *(int *)data = atomic_fetch_add(&late.order, 1);
  return WEIR_OK;
}

static void on_late(weir__job *job) {
  (void)job;
  atomic_store(&late.ended, 1);
}

static int late_has_ended(void *data) {
  (void)data;
  return atomic_load(&late.ended);
}

/* The lane has just noted the time at which the first member was done. */
static void submit_late(const weir_trace *event, void *data) {
  int over = 0;
  (void)data;
  if (event->kind != WEIR_TRACE_SLOW_WRITE || !late.pool || late.job.fn)
    return;
  late.job = (weir__job){.fn = note_fn, .data = &late.own, .finish = on_late, .priority = WEIR_BULK};
  late.job.error = &late.error;
  (void)weir__lane_submit(late.pool, &late.job, &over);
}

Test(group_bounds, a_bulk_write_that_has_come_this_moment_is_not_old_and_has_not_waited_for_ages) {
  const struct timespec two_ms = {.tv_nsec = 2000000};
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = group_options();
    options.slow_ms = 1;
    options.trace = submit_late;
    memset(&late, 0, sizeof late);
    late.pool = opened(kind, options);
    group g = group_of(2, 1);
    int order[2] = {-1, -1};
    g.members[0].priority = WEIR_BULK; /* so that a bulk write may join it */
    for (int i = 0; i < 2; i++) {
      g.members[i].then = note_fn;
      g.members[i].data = &order[i];
    }
    cr_assert(group_start(&g, late.pool));
    (void)nanosleep(&two_ms, NULL); /* the first is slow, so its end is traced */
    group_join(&g);
    cr_assert(weir_test_wait(late_has_ended, NULL, WEIR_TEST_WAIT_MS));
    cr_assert(eq(int, order[0], 0));
    cr_assert(eq(int, order[1], 1));
    cr_assert(eq(int, late.own, 2));
    cr_assert(eq(u64, stats_of(late.pool).write_wait_us.buckets[WEIR_HISTOGRAM_SIZE - 1], 0));
    closed(late.pool, kind);
  }
}
