/*
 * The workload latency: when transactions come due, how one cell is run (latency_run.c), and the grid of
 * cells with its report (latency.c).
 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "histogram.h"
#include "inserts.h"

/* When each transaction is due, in nanoseconds from the start: Poisson arrivals. The figures are of those
 * that are due from `begin` to `end`; the offer goes on until `cut`, when what has not begun is given up. */
typedef struct schedule {
  uint64_t begin, end, cut;
  size_t count;   /* of all */
  size_t offered; /* from begin to end */
  uint64_t *due;  /* ascending */
} schedule;

/* The schedule of settings->warmup and settings->seconds at `rate` transactions a second. */
schedule schedule_make(const bench_settings *settings, unsigned rate, uint64_t seed);
void schedule_free(schedule *plan);

/* One repetition of one cell. Latencies are from the time due to the return of the commit, in microseconds;
 * for a transaction that was given up, what it had waited until then. */
typedef struct latency_run {
  double p50_us, p90_us, p99_us, p99_9_us, max_us;
  double offered_per_s;  /* due in the time that counts */
  double achieved_per_s; /* committed in that time */
  double timely;         /* share of what was due then that was committed then */
  uint64_t given_up, busy, checkpoints;
} latency_run;

latency_run latency_run_once(const inserts_kind *kind, inserts *s, const schedule *plan, histogram *h);

#endif
