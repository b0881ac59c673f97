#include "graph_loop.h"

#include "graph_fixture.h"

void graph_loop_begin(graph_loop *loop, weir_graph *graph) {
  memset(loop, 0, sizeof *loop);
  weir_test_loop_init(&loop->loop);
  OK(weir_async_init(&loop->async, &loop->loop.uv, weir_graph_pool(graph), &err));
}

void graph_loop_end(graph_loop *loop) {
  OK(weir_async_close(&loop->async, NULL));
  cr_assert(eq(int, weir_test_loop_run(&loop->loop), 1));
  cr_assert(zero(uint, weir_test_loop_close(&loop->loop)));
}

void graph_loop_count(weir_req *req, int status) {
  graph_loop *loop = req->data;
  loop->ended++;
  if (status != WEIR_OK) {
    loop->failed = status;
    err = req->error;
  }
}

void graph_loop_run(graph_loop *loop, int ended) {
  loop->failed = WEIR_OK;
  cr_assert(eq(int, weir_test_loop_run(&loop->loop), 1));
  cr_assert(eq(int, loop->ended, ended));
  OK(loop->failed);
}
