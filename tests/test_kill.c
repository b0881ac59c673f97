/* A process that writes is killed, again and again: what it had acknowledged is in the file, nothing of what
 * it had not is there in part, and the numbers go on without a gap. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "appends.h"
#include "threads.h"

TestSuite(kill, .timeout = 3600);

#ifndef KILL_ROUNDS
#define KILL_ROUNDS (TEST_IS_SLOW ? 10 : 40)
#endif

enum {
  FILE_ROUNDS = 10, /* so many on one file */
  WRITERS = 4,      /* of a child */
  ROWS_MAX = 3000,  /* acknowledged in a round before it is killed */
  ENDING_WRITES = 60,
  SIZE = FILE_ROUNDS * ROWS_MAX * 4
};

struct killer {
  weir_test_rng rng;
  appends told;
  char path[600];
  int kind, round;
  long acknowledged, killed, ended;
};

/* What is to happen in a round. */
struct fate {
  int ends;   /* the child writes a little, and closes the pool */
  int rows;   /* it is killed when it has acknowledged so many; or when it closes */
  int pauses; /* and a moment later */
};

static void strike(struct killer *k, pid_t child, const struct fate *fate) {
  for (int i = 0; i < fate->pauses; i++)
    (void)sched_yield();
  cr_assert(eq(int, kill(child, SIGKILL), 0));
  k->killed++;
}

/* Reads the reports of the child to their end, and kills it when its time has come. */
static void follow(struct killer *k, pid_t child, FILE *reports, const struct fate *fate) {
  append row;
  int rows = 0, struck = fate->rows == 0;
  if (struck)
    strike(k, child, fate);
  while (fread(&row, sizeof row, 1, reports) == 1) {
    int closes = row.rev == 0;
    cr_assert(closes || appends_tell(&k->told, &row), "rev %lld was acknowledged twice, or is none",
              (long long)row.rev);
    rows += !closes;
    if (!struck && (closes || rows == fate->rows)) {
      strike(k, child, fate);
      struck = 1;
    }
  }
  k->acknowledged += rows;
}

static void run_child(struct killer *k, const struct fate *fate) {
  char count[16], seed[32], writer[16];
  int status = 0;
  (void)snprintf(count, sizeof count, "%d", fate->ends ? ENDING_WRITES : 0);
  (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)(weir_test_next(&k->rng) >> 16));
  (void)snprintf(writer, sizeof writer, "%d", k->round * WRITERS);
  const char *arguments[] = {
      k->path, weir_test_below(&k->rng, 2) ? "pool" : "single", count, seed, writer, "close", "20", NULL};
  FILE *reports = NULL;
  pid_t child = child_report("append_child", arguments, &reports);
  cr_assert(gt(int, (int)child, 0));
  follow(k, child, reports, fate);
  (void)fclose(reports);
  cr_assert(eq(int, waitpid(child, &status, 0), child));
  int as_it_should = WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL;
  cr_assert(as_it_should, "status %x", status);
  k->ended += WIFEXITED(status);
}

/* Opens what the child has left. Now and then the next child does so first. */
static void check_file(struct killer *k) {
  char problem[300] = "";
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.numbered = 1;
  options.mode = weir_test_below(&k->rng, 2) ? WEIR_POOL : WEIR_SINGLE;
  cr_assert(eq(int, weir_pool_open(&pool, k->path, &options, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, weir_write(weir_pool_auto(pool), append_tables_fn, NULL, NULL, &err), WEIR_OK), "%s",
            err.message);
  cr_assert(appends_check(pool, &k->told, 0, problem, sizeof problem), "round %d: %s", k->round, problem);
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

static void new_file(struct killer *k) {
  char name[32];
  (void)snprintf(name, sizeof name, "killed%d.db", k->round);
  if (k->round > 0)
    (void)unlink(k->path);
  weir_test_path(k->path, sizeof k->path, name);
  free(k->told.by_rev);
  k->told = (appends){calloc((size_t)SIZE + 1, sizeof(append)), SIZE};
  cr_assert(ne(ptr, k->told.by_rev, NULL));
}

Test(kill, at_any_moment_loses_nothing_acknowledged_and_leaves_nothing_in_part) {
  struct killer k = {.rng = {.state = weir_test_seed()}};
  for (k.round = 0; k.round < KILL_ROUNDS; k.round++) {
    if (k.round % FILE_ROUNDS == 0)
      new_file(&k);
    struct fate fate = {.ends = weir_test_below(&k.rng, 4) == 0,
                        .rows = (int)weir_test_below(&k.rng, weir_test_below(&k.rng, 4) ? 400 : ROWS_MAX),
                        .pauses = (int)weir_test_below(&k.rng, 2000)};
    fate.rows = fate.ends ? ROWS_MAX : fate.rows;
    run_child(&k, &fate);
    if (weir_test_below(&k.rng, 3) || (k.round + 1) % FILE_ROUNDS == 0 || k.round + 1 == KILL_ROUNDS)
      check_file(&k);
  }
  cr_log_info("%d rounds, %ld rows, killed %ld times, ended %ld times\n", k.round, k.acknowledged, k.killed,
              k.ended);
  cr_assert(gt(long, k.acknowledged, 0));
  cr_assert(gt(long, k.killed, k.ended));
  free(k.told.by_rev);
}
