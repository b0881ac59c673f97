/*
 * The floor of every round trip through a loop: libuv's own uv_queue_work, with work that does nothing, in
 * the same closed loop as traffic.h.
 */
#ifndef BENCH_UVWORK_H
#define BENCH_UVWORK_H

#include "histogram.h"

/* Keeps `inflight` works in flight for a fifth of `ns`, then records for `ns`; returns works a second. */
double uvwork_run(unsigned inflight, uint64_t ns, histogram *h);

#endif
