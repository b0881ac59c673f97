/* Telling the owner of a pool what happened: weir_pool_options.trace, and histograms. */
#ifndef WEIR_POOL_TRACE_H
#define WEIR_POOL_TRACE_H

#include "internal.h"

/* Tells the trace function, if there is one. No lock may be held. */
void weir__trace(const weir_pool *pool, const weir_trace *event);

/* Tells it of something that waited and ran so many nanoseconds, if that was slow. */
static inline void weir__trace_slow(const weir_pool *pool, weir_trace_kind kind, const char *label,
                                    uint64_t waited_ns, uint64_t ran_ns) {
  uint64_t slow_ns = pool->options.slow_ms * WEIR__NS_PER_MS;
  if (waited_ns >= slow_ns || ran_ns >= slow_ns) {
    weir__trace(pool, &(weir_trace){.kind = kind,
                                    .label = label,
                                    .waited_us = waited_ns / WEIR__NS_PER_US,
                                    .ran_us = ran_ns / WEIR__NS_PER_US});
  }
}

/* Counts a value. Under the lock that guards the histogram. */
static inline void weir__histogram_add(weir_histogram *histogram, uint64_t value) {
  unsigned bucket = value ? 63u - (unsigned)__builtin_clzll(value) : 0;
  histogram->buckets[bucket < WEIR_HISTOGRAM_SIZE ? bucket : WEIR_HISTOGRAM_SIZE - 1]++;
}

#endif
