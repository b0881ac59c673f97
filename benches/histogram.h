/*
 * A log-linear histogram of durations in nanoseconds, from which quantiles are read with an error below one
 * percent. Fixed size, recording is a few instructions. One thread at a time.
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 7  /* 128 buckets per power of two */
#define HISTOGRAM_MAX_BITS 43 /* values from 2^43 ns (two hours) on share the last bucket */
#define HISTOGRAM_BUCKETS  ((HISTOGRAM_MAX_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/* Zero it to begin with. */
typedef struct histogram {
  uint64_t count;
  uint64_t max; /* exact */
  uint64_t buckets[HISTOGRAM_BUCKETS];
} histogram;

void histogram_record(histogram *h, uint64_t value);

/* Adds what `from` has recorded. */
void histogram_merge(histogram *h, const histogram *from);

/* The value that the fraction `q` (0 to 1) of the recorded values does not exceed: the middle of its bucket,
 * never more than the maximum. 0 if nothing was recorded. */
uint64_t histogram_quantile(const histogram *h, double q);

/* The figures that every table shows, in microseconds. */
typedef struct quantiles {
  double p50, p90, p99, p999, max;
} quantiles;

quantiles histogram_quantiles(const histogram *h);

#endif
