/*
 * The workload pinned: how one mode is run (pinned_run.c), and its curves (pinned.c).
 */
#ifndef BENCH_PINNED_H
#define BENCH_PINNED_H

#include "data.h"

enum {
  PINNED_SAMPLES = 20, /* while the snapshot is wanted */
  PINNED_AFTER = 3,    /* and after that */
  PINNED_LIMIT = 4     /* the pool's wal_limit_pages in checkpoint thresholds */
};

#define PINNED_WAL_MAX ((uint64_t)2 << 30) /* a mode whose WAL has passed this is stopped */

/* What was seen at the end of one interval. NAN: not known in this mode. */
typedef struct pinned_sample {
  double at_s;          /* since the snapshot was begun */
  double held_s;        /* the snapshot's age; NAN once it has ended */
  double wal_mib;       /* size of the WAL file */
  double used_mib;      /* the part of it that holds commits since it began anew */
  double checkpoints;   /* run so far */
  double commits_per_s; /* in the interval */
  double slowest_us;    /* the longest write of the interval */
} pinned_sample;

typedef struct pinned_run {
  unsigned count;
  pinned_sample samples[PINNED_SAMPLES + PINNED_AFTER];
  double evicted_s; /* when the pool was found to have ended the snapshot; NAN: never */
  int stopped;      /* 1: the WAL has passed PINNED_WAL_MAX */
  tally errors;
} pinned_run;

/* The age in seconds at which the pool may end a snapshot. */
double pinned_age_s(const bench_settings *settings);

/* Runs the pool, or with `bare` two bare connections. */
void pinned_run_once(const bench_settings *settings, dataset *data, int bare, pinned_run *run);

#endif
