/* Notes of what a pool tells its trace function. Nothing here asserts. */
#ifndef WEIR_TEST_TRACES_H
#define WEIR_TEST_TRACES_H

#include <pthread.h>

#include <weir/pool.h>

/* Zero is not enough: start from TRACES_INIT. */
typedef struct traces {
  pthread_mutex_t lock;
  int count;
  weir_trace events[200]; /* the first ones; their labels are static text */
} traces;

#define TRACES_INIT                                                                                          \
  { .lock = PTHREAD_MUTEX_INITIALIZER }

/* A weir_trace_fn; `data` is a traces. */
void traces_note(const weir_trace *event, void *data);

/* How many of this kind there are with this label; of any label if it is NULL. */
int traces_count(traces *t, weir_trace_kind kind, const char *label);

/* The last of these; all zero if there is none. */
weir_trace traces_last(traces *t, weir_trace_kind kind, const char *label);

#endif
