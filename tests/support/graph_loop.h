/* A loop with a handle on a graph's pool, for tests of requests. Asserts, so for the test's main thread. */
#ifndef WEIR_TEST_GRAPH_LOOP_H
#define WEIR_TEST_GRAPH_LOOP_H

#include <weir/graph_async.h>

#include "loop.h"

/* How the requests on it ended. */
typedef struct graph_loop {
  weir_test_loop loop;
  weir_async async;
  int ended;
  int failed; /* with this code, the last of them; its detail is in `err` */
} graph_loop;

void graph_loop_begin(graph_loop *loop, weir_graph *graph);

/* Closes all; nothing may be left on the loop. */
void graph_loop_end(graph_loop *loop);

/* The `done` of requests whose data is a graph_loop. */
void graph_loop_count(weir_req *req, int status);

/* Runs the loop until `ended` requests in all have ended, well. */
void graph_loop_run(graph_loop *loop, int ended);

#endif
