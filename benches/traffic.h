/*
 * Traffic: a closed loop of asynchronous reads on one loop. A number of requests is kept in flight; each,
 * when it is done, is submitted again, until the time is over.
 */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include "histogram.h"
#include "subject.h"

typedef struct traffic traffic;

/* Submits `inflight` reads on the loop of an open asynchronous subject: empty ones, or with `point` reads of
 * one node. They go on while the loop runs, until traffic_stop. */
traffic *traffic_start(subject *s, int point, unsigned inflight, uint64_t seed);

/* Records round trips, from submit to callback, in `h` from now on; NULL: no more. */
void traffic_record(traffic *t, histogram *h);

/* Requests done so far. */
uint64_t traffic_done(const traffic *t);

/* Runs the loop for `ns`. */
void traffic_run(traffic *t, uint64_t ns);

/* Submits no more, runs the loop until nothing is in flight, frees. */
void traffic_stop(traffic *t);

#endif
