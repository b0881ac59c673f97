/*
 * A graph on your own libuv loop: write, read what was written, close. Nothing here holds up the loop: each
 * `work` runs on a thread of weir's, each `on_...` on the loop's thread, in the order of the numbers below.
 */
#include <stdio.h>

#include <weir/async.h>
#include <weir/graph.h>

/* A request, with what its work needs and what it finds. Only one thread has it at a time, so nothing is
 * locked: the loop's until it is submitted, the work's while it is pending, the loop's again in done. */
struct friends {
  weir_req req; /* first, so that a weir_req pointer is also a struct friends pointer */
  const char *of;
  int count;
  char names[8][32];
};

static weir_graph *graph;
static weir_async async; /* the graph's handle on the loop */
static weir_req fill = WEIR_REQ_INIT;
static struct friends friends = {.req = WEIR_REQ_INIT, .of = "alice"};
static int failed;

static void give_up(const char *doing, int status, const weir_error *error) {
  fprintf(stderr, "%s: %s: %s\n", doing, weir_error_name(status), error->message);
  failed = 1;
}

/* 5. The handle is closed: nothing is pending any more, and the graph can be closed. */
static void on_closed(weir_async *handle) {
  (void)handle;
  printf("closed\n");
}

static void close_handle(void) {
  weir_error error = WEIR_ERROR_INIT;
  int rc = weir_async_close(&async, on_closed);
  if (rc != WEIR_OK)
    give_up("close", rc, &error);
}

/* 4. The friends are found. */
static void on_found(weir_req *req, int status) {
  struct friends *found = (struct friends *)req;
  if (status != WEIR_OK)
    give_up("read", status, &req->error);
  for (int i = 0; i < found->count; i++)
    printf("%s knows %s\n", found->of, found->names[i]);
  close_handle();
}

static int collect(const weir_neighbor *neighbor, void *data, weir_error *err) {
  struct friends *found = data;
  (void)err;
  if (found->count == 8)
    return WEIR_STOP;
  (void)snprintf(found->names[found->count++], 32, "%s",
                 neighbor->node.key.ptr); /* copied: it is the library's */
  return WEIR_OK;
}

/* 3. Off the loop: everything that is read here is of one moment. */
static int work_find(weir_req *req, weir_txn *txn) {
  struct friends *found = (struct friends *)req;
  weir_scan scan = WEIR_SCAN_INIT;
  scan.label = weir_str("knows");
  found->count = 0;
  return weir_neighbors(txn, weir_str(found->of), WEIR_OUT, 0, &scan, collect, found, &req->error);
}

/* 2. The write is committed, so a read that is submitted now sees it. */
static void on_filled(weir_req *req, int status) {
  if (status != WEIR_OK) {
    give_up("write", status, &req->error);
    close_handle();
    return;
  }
  printf("written\n");
  friends.req.timeout_ms = 1000; /* or the read ends with WEIR_TIMEOUT */
  int rc = weir_read_async(&async, &friends.req, work_find, on_found);
  if (rc != WEIR_OK) { /* a submission that fails never calls back */
    give_up("submit", rc, &friends.req.error);
    close_handle();
  }
}

/* 1. Off the loop: one transaction, all of it or nothing. A write may be run again before it is committed, so
 * it changes nothing but the graph. */
static int work_fill(weir_req *req, weir_txn *txn) {
  static const char *const people[] = {"alice", "bob", "carol"};
  int rc = WEIR_OK;
  for (int i = 0; i < 3 && rc == WEIR_OK; i++)
    rc = weir_node_put(txn, &WEIR_NODE(people[i], "person", "{}"), NULL, &req->error);
  for (int i = 1; i < 3 && rc == WEIR_OK; i++)
    rc = weir_edge_put(txn, &WEIR_EDGE("alice", "knows", people[i]), 0, NULL, &req->error);
  return rc;
}

int main(void) {
  weir_error error = WEIR_ERROR_INIT;
  uv_loop_t *loop = uv_default_loop();
  int rc = weir_graph_open(&graph, ":memory:", NULL, &error); /* or the name of a file */
  if (rc == WEIR_OK)
    rc = weir_async_init(&async, loop, weir_graph_pool(graph), &error);
  if (rc == WEIR_OK)
    rc = weir_write_async(&async, &fill, work_fill, on_filled);
  if (rc != WEIR_OK) {
    give_up("start", rc, &error);
    return 1;
  }
  (void)uv_run(loop, UV_RUN_DEFAULT); /* returns when the handle is closed */
  rc = weir_graph_close(graph, &error);
  if (rc != WEIR_OK)
    give_up("close", rc, &error);
  return failed || uv_loop_close(loop) != 0;
}
