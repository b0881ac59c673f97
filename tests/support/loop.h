/*
 * A libuv loop for tests: it never runs longer than WEIR_TEST_WAIT_MS, and names what is left open when it is
 * closed. Nothing here asserts; each loop belongs to one thread.
 */
#ifndef WEIR_TEST_LOOP_H
#define WEIR_TEST_LOOP_H

#include <uv.h>

typedef struct weir_test_loop {
  uv_loop_t uv;
  uv_timer_t watchdog;
  int late; /* 1: the watchdog has stopped a run */
} weir_test_loop;

/* Makes a loop. Aborts if it cannot. */
void weir_test_loop_init(weir_test_loop *loop);

/* Runs the loop until it has nothing more to do; 0 if it still has when the time is up. */
int weir_test_loop_run(weir_test_loop *loop);

/* Runs the loop until condition(data), asked after each turn, is nonzero; 0 if the loop runs out of work, or
 * the time is up, before. */
int weir_test_loop_until(weir_test_loop *loop, int (*condition)(void *data), void *data);

/* Closes the loop. Returns how many handles were left open, after naming them on stderr and closing them. */
unsigned weir_test_loop_close(weir_test_loop *loop);

#endif
