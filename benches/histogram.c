/*
 * The histogram. Values below 2^(SUB_BITS+1) have a bucket each; above, every power of two is cut into
 * 2^SUB_BITS buckets of equal width, so that a bucket is never wider than 1/128 of the values in it.
 */
#include "histogram.h"

enum { SUB_COUNT = 1 << HISTOGRAM_SUB_BITS };

static unsigned bucket_of(uint64_t value) {
  if (value < SUB_COUNT) {
    return (unsigned)value;
  }
  unsigned top = 63u - (unsigned)__builtin_clzll(value);
  if (top >= HISTOGRAM_MAX_BITS) {
    return HISTOGRAM_BUCKETS - 1;
  }
  unsigned shift = top - HISTOGRAM_SUB_BITS;
  return (shift + 1) * SUB_COUNT + (unsigned)((value >> shift) - SUB_COUNT);
}

static uint64_t middle_of(unsigned bucket) {
  if (bucket < 2 * SUB_COUNT) {
    return bucket;
  }
  unsigned shift = bucket / SUB_COUNT - 1;
  uint64_t low = (uint64_t)(SUB_COUNT + bucket % SUB_COUNT) << shift;
  return low + ((1ull << shift) >> 1);
}

void histogram_record(histogram *h, uint64_t value) {
  h->buckets[bucket_of(value)]++;
  h->count++;
  if (value > h->max) {
    h->max = value;
  }
}

void histogram_merge(histogram *h, const histogram *from) {
  for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
    h->buckets[i] += from->buckets[i];
  }
  h->count += from->count;
  if (from->max > h->max) {
    h->max = from->max;
  }
}

uint64_t histogram_quantile(const histogram *h, double q) {
  if (h->count == 0) {
    return 0;
  }
  double exact = q * (double)h->count;
  uint64_t rank = (uint64_t)exact;
  if ((double)rank < exact || rank == 0) {
    rank++;
  }
  if (rank >= h->count) {
    return h->max;
  }
  uint64_t seen = 0;
  for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
    seen += h->buckets[i];
    if (seen >= rank) {
      uint64_t value = middle_of(i);
      return value < h->max && i != HISTOGRAM_BUCKETS - 1 ? value : h->max;
    }
  }
  return h->max;
}

quantiles histogram_quantiles(const histogram *h) {
  quantiles out = {
      .p50 = (double)histogram_quantile(h, 0.5) / 1e3,
      .p90 = (double)histogram_quantile(h, 0.9) / 1e3,
      .p99 = (double)histogram_quantile(h, 0.99) / 1e3,
      .p999 = (double)histogram_quantile(h, 0.999) / 1e3,
      .max = (double)h->max / 1e3,
  };
  return out;
}
