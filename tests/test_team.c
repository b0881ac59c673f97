/* Threads that share the work of one computation: every item once, cancel, failure. */
#include <stdatomic.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <algo/team.h>

#include "support.h"

static weir_error err;

enum { ITEMS = 10000 };

struct job {
  _Atomic unsigned done[ITEMS];
  _Atomic unsigned wrong; /* pieces that are not as they should be */
  uint64_t count, grain, fail_at;
};

static int work(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct job *job = data;
  if (first % job->grain != 0 || last > job->count || worker >= WEIR_THREADS_MAX) {
    atomic_fetch_add(&job->wrong, 1);
  }
  for (uint64_t i = first; i < last; i++) {
    atomic_fetch_add(&job->done[i], 1);
  }
  return job->fail_at >= first && job->fail_at < last ? WEIR_NOMEM : WEIR_OK;
}

Test(team, works_on_every_item_once_with_any_number_of_threads, .timeout = 60) {
  for (unsigned threads = 1; threads <= 8; threads++) {
    weir_run run = WEIR_RUN_INIT;
    weir__team *team = NULL;
    run.threads = threads;
    struct job *job = calloc(1, sizeof *job);
    job->grain = 1 + threads * 37;
    job->fail_at = UINT64_MAX;
    cr_assert(eq(int, weir__team_open(&team, &run, 1000, 1000, &err), WEIR_OK), "%s", err.message);
    cr_assert(le(uint, weir__team_size(team), threads));
    for (unsigned round = 0; round < 20; round++) {
      job->count = ITEMS - round;
      cr_assert(eq(int, weir__team_each(team, job->count, job->grain, work, job, &err), WEIR_OK));
    }
    cr_assert(eq(int, weir__team_close(team, WEIR_OK, &err), WEIR_OK));
    cr_assert(eq(uint, job->wrong, 0));
    for (unsigned i = 0; i < ITEMS; i++) {
      unsigned rounds = ITEMS - i < 20 ? ITEMS - i : 20;
      cr_assert(eq(uint, job->done[i], rounds), "item %u", i);
    }
    free(job);
  }
}

struct watcher {
  uint64_t last, calls, stop_at;
};

static int watch(const weir_progress *progress, void *data) {
  struct watcher *watcher = data;
  cr_assert(ge(u64, progress->done, watcher->last));
  cr_assert(le(u64, progress->done, progress->total));
  watcher->last = progress->done;
  return ++watcher->calls == watcher->stop_at;
}

Test(team, tells_the_beginning_and_the_end, .timeout = 60) {
  struct watcher watcher = {0, 0, 0};
  weir_run run = {sizeof run, 2, watch, &watcher};
  weir__team *team = NULL;
  cr_assert(eq(int, weir__team_open(&team, &run, 100, 100, &err), WEIR_OK));
  cr_assert(eq(u64, watcher.calls, 1));
  cr_assert(eq(int, weir__team_close(team, WEIR_OK, &err), WEIR_OK));
  cr_assert(eq(u64, watcher.last, 100));
}

Test(team, ends_when_on_progress_says_so, .timeout = 60) {
  struct watcher watcher = {0, 0, 1};
  weir_run run = {sizeof run, 3, watch, &watcher};
  weir__team *team = NULL;
  cr_assert(eq(int, weir__team_open(&team, &run, 100, 100, &err), WEIR_CANCELED));
  watcher = (struct watcher){0, 0, 2};
  cr_assert(eq(int, weir__team_open(&team, &run, 100, 100, &err), WEIR_OK));
  cr_assert(eq(int, weir__team_close(team, WEIR_OK, &err), WEIR_CANCELED));
}

/* Ends only if the calling thread asks on_progress meanwhile; other threads are told. */
static int work_for_ever(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)first;
  (void)last;
  while (!weir__team_ended(data, worker)) {
  }
  return WEIR_OK;
}

Test(team, ends_within_a_piece_when_on_progress_says_so, .timeout = 60) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    struct watcher watcher = {0, 0, 3};
    weir_run run = {sizeof run, threads, watch, &watcher};
    weir__team *team = NULL;
    cr_assert(eq(int, weir__team_open(&team, &run, 100, 100, &err), WEIR_OK));
    cr_assert(eq(int, weir__team_each(team, 100, 1, work_for_ever, team, &err), WEIR_CANCELED));
    cr_assert(eq(u64, watcher.calls, 3));
    cr_assert(eq(int, weir__team_close(team, WEIR_CANCELED, &err), WEIR_CANCELED));
  }
}

Test(team, tells_of_memory_that_ran_out_in_a_piece, .timeout = 60) {
  weir_run run = WEIR_RUN_INIT;
  weir__team *team = NULL;
  struct job *job = calloc(1, sizeof *job);
  *job = (struct job){.count = ITEMS, .grain = 10, .fail_at = 5000};
  run.threads = 4;
  cr_assert(eq(int, weir__team_open(&team, &run, 1000, 1000, &err), WEIR_OK));
  cr_assert(eq(int, weir__team_each(team, ITEMS, 10, work, job, &err), WEIR_NOMEM));
  cr_assert(eq(int, weir__team_close(team, WEIR_NOMEM, &err), WEIR_NOMEM));
  free(job);
}

Test(team, refuses_more_threads_than_the_limit, .timeout = 60) {
  weir_run run = WEIR_RUN_INIT;
  weir__team *team = NULL;
  run.threads = WEIR_THREADS_MAX + 1;
  cr_assert(eq(int, weir__team_open(&team, &run, 1000, 1000, &err), WEIR_INVALID));
}
