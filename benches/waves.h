/*
 * The waves workload: how one cell is run (waves_run.c), and the grid of cells with its report (waves.c).
 */
#ifndef BENCH_WAVES_H
#define BENCH_WAVES_H

#include "histogram.h"
#include "subject.h"

enum { WAVE_READS = 16 };

/*
 * One repetition of one cell. A wave is valid if the writer made progress in its time, counted from the end
 * of the wave before: it began or ended a transaction or upserted a node, or, with durability full, was
 * waiting for the disk in a commit. Without a writer every wave is valid. The figures are of valid waves;
 * those of all waves are named so. NAN: there is none.
 */
typedef struct wave_run {
  double p50_us, p90_us, p99_us, p99_9_us, max_us; /* of waves, first submit to last completion */
  double p50_all_us, p99_all_us;
  double waves_per_s;       /* all of them */
  double writes_per_s;      /* upserts committed beside the waves */
  double commits_per_s;     /* transactions */
  double solo_writes_per_s; /* upserts of the same writer, alone, just before */
  uint64_t waves, valid_waves;
  uint64_t writer_commits;
} wave_run;

/* Runs a cell once. */
wave_run wave_run_once(const subject_kind *kind, subject *s, unsigned txn, uint64_t seed);

#endif
