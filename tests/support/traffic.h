/*
 * Random traffic of appends (support/appends.h) by synchronous callers and on loops: both priorities and
 * durabilities, flushes, writes that fail or end their transaction, cancels, short timeouts and deadlines.
 * Every end is judged: whether it may have ended so, and whether a write that was given up was ever begun.
 * Nothing here asserts.
 */
#ifndef WEIR_TEST_TRAFFIC_H
#define WEIR_TEST_TRAFFIC_H

#include <uv.h>

#include "appends.h"
#include "threads.h"

enum { TRAFFIC_TOKENS = 32, TRAFFIC_FLIGHTS = 24 };

typedef struct traffic {
  /* The caller's to set. */
  weir_pool *pool;
  int gives_up;                                /* 1: writes are canceled, and wait for a moment only */
  int fails;                                   /* 1: some fail */
  int in_memory;                               /* 1: nothing is durable */
  int bytes_max;                               /* beside a row's other columns */
  void (*told)(const append *row, void *data); /* of a row that was acknowledged; on its writer's thread */
  void *data;                                  /* handed to told */

  /* What became of it. */
  atomic_long kept, nothings, failed, canceled, busy, timed_out, flushed;
  atomic_long shared; /* acknowledged writes that shared their commit */
  faults faults;
  weir_token tokens[TRAFFIC_TOKENS]; /* by writer, modulo */
} traffic;

/* Writes `count` times, one after another, as `writer`. */
void traffic_write(traffic *t, int writer, int count, uint64_t seed);

/* Writes `count` times as `writer`, up to TRAFFIC_FLIGHTS at once, on `loop`, which nobody else uses. The
 * test's main thread makes and closes it: ThreadSanitizer does not see libuv close its descriptors, and would
 * report a race with a loop that another thread makes later and that gets the same numbers. */
void traffic_loop(traffic *t, uv_loop_t *loop, int writer, int count, uint64_t seed);

#endif
