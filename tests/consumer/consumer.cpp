/* The headers in C++: each initializer and inline function, and a link to the library. */
#include <cstdio>

#include <weir/async.h>
#include <weir/error.h>
#include <weir/graph.h>
#include <weir/io.h>
#include <weir/pool.h>

static int put(weir_txn *txn, void *, weir_error *err) {
  weir_node node = weir_node();
  node.key = weir_str("carol");
  weir_edge edge = WEIR_EDGE_INIT;
  edge.src = edge.dst = node.key;
  edge.label = weir_str("knows");
  int rc = weir_node_put(txn, &node, nullptr, err);
  return rc == WEIR_OK ? weir_edge_put(txn, &edge, 0, nullptr, err) : rc;
}

int main() {
  const weir_text label = WEIR_TEXT("knows");
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  weir_txn_options limits = WEIR_TXN_OPTIONS_INIT;
  weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
  weir_scan scan = WEIR_SCAN_INIT;
  weir_cursor cursor = WEIR_CURSOR_INIT;
  weir_arena arena = WEIR_ARENA_INIT;
  weir_req req = WEIR_REQ_INIT;
  weir_error err = WEIR_ERROR_INIT;
  (void)load, (void)scan, (void)cursor, (void)req;

  weir_graph *graph = nullptr;
  int64_t edges = 0;
  int rc = weir_graph_open(&graph, ":memory:", &options, &err);
  if (rc == WEIR_OK)
    rc = weir_write(weir_graph_auto(graph), put, nullptr, &limits, &err);
  if (rc == WEIR_OK)
    rc = weir_edge_count(weir_graph_auto(graph), label, &edges, &err);
  weir_arena_clear(&arena);
  int closed = weir_graph_close(graph, &err);
  if (rc == WEIR_OK)
    rc = closed;
  if (rc != WEIR_OK)
    std::fprintf(stderr, "%s: %s\n", weir_error_name(rc), err.message);
  return rc == WEIR_OK && edges == 1 ? 0 : 1;
}
