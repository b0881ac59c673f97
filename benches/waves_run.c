/*
 * One repetition of one cell: open, let the writer run alone, warm up, measure waves beside the writer, close
 * and check the store. Only what lies between the first submit and the last completion of a wave is in its
 * time.
 */
#include "waves.h"

#include <math.h>
#include <stdlib.h>

#include "texts.h"

/* The shortest time for anything that is measured: a fifth of the longest. */
static uint64_t slice_ns(const subject *s) {
  return (uint64_t)(s->settings->seconds * 1e9 / 5);
}

static void sleep_ns(uint64_t ns) {
  struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  while (nanosleep(&left, &left) != 0) {
  }
}

static double solo_rate(const subject_kind *kind, subject *s, unsigned txn) {
  writer *w = writer_start(kind, s, txn);
  uint64_t begin = bench_now();
  sleep_ns(slice_ns(s) / 10);
  writer_figures before = writer_so_far(w);
  uint64_t from = bench_now();
  sleep_ns(slice_ns(s) - (from - begin < slice_ns(s) / 2 ? from - begin : 0));
  writer_figures after = writer_so_far(w);
  uint64_t to = bench_now();
  writer_stop(w);
  return (double)(after.upserts - before.upserts) * 1e9 / (double)(to - from);
}

static uint64_t one_wave(const subject_kind *kind, subject *s, uint64_t *random) {
  unsigned items[WAVE_READS];
  for (int i = 0; i < WAVE_READS; i++) {
    items[i] = (unsigned)bench_below(random, s->data->count);
  }
  uint64_t begin = bench_now();
  kind->wave(s, items, WAVE_READS);
  return bench_now() - begin;
}

/* Waves until the cell has had its time; the figures go into *run. */
static void measure(const subject_kind *kind, subject *s, uint64_t *random, wave_run *run) {
  histogram *valid = bench_alloc(sizeof *valid), *all = bench_alloc(sizeof *all);
  uint64_t longest = (uint64_t)(s->settings->seconds * 1e9);
  uint64_t steps = atomic_load_explicit(&s->steps, memory_order_relaxed);
  uint64_t begin = bench_now(), now = begin;
  while (now - begin < longest && (valid->count < s->settings->least || now - begin < slice_ns(s))) {
    uint64_t taken = one_wave(kind, s, random);
    uint64_t seen = atomic_load_explicit(&s->steps, memory_order_relaxed);
    histogram_record(all, taken);
    if (seen != steps || !kind->writes || s->syncing) {
      histogram_record(valid, taken);
    }
    steps = seen;
    now = bench_now();
  }
  quantiles none = {NAN, NAN, NAN, NAN, NAN};
  quantiles q = valid->count > 0 ? histogram_quantiles(valid) : none;
  quantiles q_all = histogram_quantiles(all);
  run->p50_us = q.p50;
  run->p90_us = q.p90;
  run->p99_us = q.p99;
  run->p99_9_us = q.p999;
  run->max_us = q.max;
  run->p50_all_us = q_all.p50;
  run->p99_all_us = q_all.p99;
  run->waves = all->count;
  run->valid_waves = valid->count;
  run->waves_per_s = (double)all->count * 1e9 / (double)(now - begin);
  free(valid);
  free(all);
}

wave_run wave_run_once(const subject_kind *kind, subject *s, unsigned txn, uint64_t seed) {
  wave_run run = {0};
  uint64_t random = seed;
  kind->open(s);
  run.solo_writes_per_s = kind->writes ? solo_rate(kind, s, txn) : NAN;
  writer *w = kind->writes ? writer_start(kind, s, txn) : NULL;
  uint64_t warm = bench_now() + slice_ns(s) / 5;
  do {
    one_wave(kind, s, &random);
  } while (bench_now() < warm);

  writer_figures before = {0}, after = {0};
  uint64_t from = bench_now();
  if (w) {
    before = writer_so_far(w);
  }
  measure(kind, s, &random, &run);
  if (w) {
    after = writer_so_far(w);
    double seconds = (double)(bench_now() - from) / 1e9;
    writer_stop(w);
    run.writer_commits = after.commits - before.commits;
    run.commits_per_s = (double)run.writer_commits / seconds;
    run.writes_per_s = (double)(after.upserts - before.upserts) / seconds;
  } else {
    run.commits_per_s = run.writes_per_s = NAN;
  }
  kind->close(s);
  dataset_verify(s->data, s->settings, &s->errors);
  texts_verify(s->data, s->settings, &s->errors);
  return run;
}
