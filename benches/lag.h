/*
 * The lag of a loop: how late a periodic timer of one millisecond is seen on it. The timer is a timerfd,
 * since libuv's own have a resolution of a millisecond themselves.
 */
#ifndef BENCH_LAG_H
#define BENCH_LAG_H

#include <uv.h>

#include "histogram.h"

typedef struct lag lag;

/* Starts the timer on `loop`. */
lag *lag_start(uv_loop_t *loop);

/* Runs the loop for `ns`, and records in `h` the lateness of every tick due in that time, also of those that
 * were missed because the loop was busy. */
void lag_run(lag *l, uint64_t ns, histogram *h);

/* Closes the timer; runs the loop until that is done. */
void lag_stop(lag *l);

#endif
