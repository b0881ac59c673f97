/* Uses each installed header: writes a graph, reads it back through the caller's own loop. */
#include <stdio.h>
#include <string.h>

#include <weir/async.h>
#include <weir/error.h>
#include <weir/graph.h>
#include <weir/io.h>
#include <weir/pool.h>

struct answer {
  int status;
  char label[32];
};

static int work(weir_req *req, weir_txn *txn) {
  struct answer *answer = req->data;
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  int rc = weir_node_get(txn, weir_str("alice"), &node, &arena, &req->error);
  if (rc == WEIR_OK)
    (void)snprintf(answer->label, sizeof answer->label, "%s", node.label.ptr);
  weir_arena_clear(&arena);
  return rc;
}

static void done(weir_req *req, int status) {
  struct answer *answer = req->data;
  answer->status = status;
}

static int ask(weir_graph *graph, struct answer *answer, weir_error *err) {
  uv_loop_t loop;
  weir_async async;
  weir_req req = WEIR_REQ_INIT;
  req.data = answer;
  if (uv_loop_init(&loop) != 0)
    return weir_fail(err, WEIR_IO, "no loop");
  int rc = weir_async_init(&async, &loop, weir_graph_pool(graph), err);
  if (rc == WEIR_OK) {
    rc = weir_read_async(&async, &req, work, done);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    int closed = weir_async_close(&async, NULL);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    if (rc == WEIR_OK)
      rc = closed;
  }
  if (uv_loop_close(&loop) != 0 && rc == WEIR_OK)
    rc = weir_fail(err, WEIR_MISUSE, "the loop still has handles");
  return rc;
}

int main(int argc, char **argv) {
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = NULL;
  struct answer answer = {WEIR_CANCELED, ""};
  if (argc != 2)
    return 2;
  int rc = weir_graph_open(&graph, argv[1], NULL, &err);
  if (rc == WEIR_OK)
    rc = weir_node_put(weir_graph_auto(graph), &WEIR_NODE("alice", "person", "{\"age\":42}"), NULL, &err);
  if (rc == WEIR_OK)
    rc = weir_edge_put(weir_graph_auto(graph), &WEIR_EDGE("alice", "knows", "bob"), WEIR_CREATE_ENDPOINTS,
                       NULL, &err);
  if (rc == WEIR_OK)
    rc = ask(graph, &answer, &err);
  if (rc == WEIR_OK)
    rc = answer.status;
  int closed = weir_graph_close(graph, &err);
  if (rc == WEIR_OK)
    rc = closed;
  if (rc != WEIR_OK) {
    fprintf(stderr, "%s: %s\n", weir_error_name(rc), err.message);
    return 1;
  }
  printf("alice is a %s\n", answer.label);
  return strcmp(answer.label, "person") == 0 ? 0 : 1;
}
