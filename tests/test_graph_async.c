/* The graph's operations as requests on a loop (weir/graph_async.h): the results of their synchronous twins.
 */
#include "graph_fixture.h"

#include "graph_loop.h"

GRAPH_TEST(graph_async, nodes_and_edges_are_put_and_read_back) {
  graph_loop loop;
  weir_node_put_req node = {.node = WEIR_NODE("a", "x", "{\"a\":1}")};
  weir_edge_put_req edge = {.edge = WEIR_EDGE("a", "e", "b"), .flags = WEIR_CREATE_ENDPOINTS};
  weir_node_get_req get = {.key = WEIR_TEXT("a")};
  graph_loop_begin(&loop, graph);
  node.req.data = edge.req.data = get.req.data = &loop;
  OK(weir_node_put_async(&loop.async, &node, graph_loop_count));
  OK(weir_edge_put_async(&loop.async, &edge, graph_loop_count));
  graph_loop_run(&loop, 2);
  cr_assert(eq(int, node.outcome, WEIR_INSERTED));
  cr_assert(eq(int, edge.outcome, WEIR_INSERTED));
  for (int i = 1; i <= 3; i++) { /* the request and its arena are used again */
    OK(weir_node_get_async(&loop.async, &get, graph_loop_count));
    graph_loop_run(&loop, 2 + i);
    SAME(get.node.key, "a");
    SAME(get.node.label, "x");
    SAME(get.node.props, "{\"a\":1}");
  }
  cr_assert(eq(i64, count_edges(txn, "e"), 1));
  graph_loop_end(&loop);
  weir_arena_clear(&get.arena);
}

GRAPH_TEST(graph_async, errors_come_with_their_detail) {
  graph_loop loop;
  weir_node_put_req node = {.node = WEIR_NODE("", "x", NULL)};
  weir_node_get_req get = {.key = WEIR_TEXT("nobody")};
  graph_loop_begin(&loop, graph);
  node.req.data = get.req.data = &loop;
  OK(weir_node_put_async(&loop.async, &node, graph_loop_count));
  cr_assert(eq(int, weir_test_loop_run(&loop.loop), 1));
  cr_assert(eq(int, loop.failed, WEIR_INVALID));
  cr_assert(ne(ptr, strstr(node.req.error.message, "key is empty"), NULL));
  OK(weir_node_get_async(&loop.async, &get, graph_loop_count));
  cr_assert(eq(int, weir_test_loop_run(&loop.loop), 1));
  cr_assert(eq(int, loop.failed, WEIR_NOT_FOUND));
  cr_assert(ne(ptr, strstr(get.req.error.message, "nobody"), NULL));
  cr_assert(eq(int, loop.ended, 2));
  graph_loop_end(&loop);
  weir_arena_clear(&get.arena);
}

GRAPH_TEST(graph_async, neighbors_come_in_pages) {
  enum { NEIGHBORS = 100 };
  int seen[NEIGHBORS] = {0};
  graph_loop loop;
  weir_neighbors_req page = {.key = WEIR_TEXT("hub"),
                             .direction = WEIR_OUT,
                             .flags = WEIR_WITH_NODES | WEIR_WITH_EDGES,
                             .label = WEIR_TEXT("e"),
                             .limit = 33};
  for (int i = 0; i < NEIGHBORS; i++) {
    char key[16];
    snprintf(key, sizeof key, "%d", i);
    put_edge(txn, "hub", "e", key);
    put_edge(txn, "hub", "f", key);
    put_node(txn, key, "x");
  }
  graph_loop_begin(&loop, graph);
  page.req.data = &loop;
  for (int pages = 1; !page.cursor.done; pages++) {
    OK(weir_neighbors_async(&loop.async, &page, graph_loop_count));
    graph_loop_run(&loop, pages);
    cr_assert(page.count == 33 || page.cursor.done);
    for (size_t i = 0; i < page.count; i++) {
      const weir_neighbor *neighbor = &page.neighbors[i];
      seen[atoi(neighbor->node.key.ptr)]++;
      SAME(neighbor->label, "e");
      SAME(neighbor->props, "{}");
      SAME(neighbor->node.label, "x");
      SAME(neighbor->node.labels[0], "x");
      SAME(neighbor->node.props, "{}");
      cr_assert(eq(dbl, neighbor->weight, 1.0));
    }
  }
  for (int i = 0; i < NEIGHBORS; i++) {
    cr_assert(eq(int, seen[i], 1));
  }
  page.cursor = (weir_cursor)WEIR_CURSOR_INIT;
  page.limit = 0;
  page.flags = 0;
  page.label = weir_str(NULL);
  loop.ended = 0;
  OK(weir_neighbors_async(&loop.async, &page, graph_loop_count));
  graph_loop_run(&loop, 1);
  cr_assert(eq(sz, page.count, 2 * NEIGHBORS)); /* all in one */
  cr_assert(eq(ptr, (void *)page.neighbors[0].node.props.ptr, NULL));
  graph_loop_end(&loop);
  weir_arena_clear(&page.arena);
}

GRAPH_TEST(graph_async, many_requests_run_at_once) {
  enum { REQUESTS = 200 };
  static weir_node_put_req put[REQUESTS];
  static weir_node_get_req get[REQUESTS];
  static char keys[REQUESTS][16];
  graph_loop loop;
  graph_loop_begin(&loop, graph);
  memset(put, 0, sizeof put);
  memset(get, 0, sizeof get);
  for (int i = 0; i < REQUESTS; i++) {
    snprintf(keys[i], sizeof keys[i], "%d", i);
    put[i].node = WEIR_NODE(keys[i], "x", NULL);
    put[i].req.data = get[i].req.data = &loop;
    get[i].key = weir_str(keys[i]);
    OK(weir_node_put_async(&loop.async, &put[i], graph_loop_count));
  }
  graph_loop_run(&loop, REQUESTS);
  for (int i = 0; i < REQUESTS; i++) {
    OK(weir_node_get_async(&loop.async, &get[i], graph_loop_count));
  }
  graph_loop_run(&loop, 2 * REQUESTS);
  for (int i = 0; i < REQUESTS; i++) {
    SAME(get[i].node.key, keys[i]);
    weir_arena_clear(&get[i].arena);
  }
  cr_assert(eq(i64, count_nodes(txn, "x"), REQUESTS));
  graph_loop_end(&loop);
}

GRAPH_TEST(graph_async, null_is_refused_at_once) {
  graph_loop loop;
  weir_node_get_req get = {.key = WEIR_TEXT("a")};
  graph_loop_begin(&loop, graph);
  cr_assert(eq(int, weir_node_get_async(&loop.async, NULL, graph_loop_count), WEIR_INVALID));
  cr_assert(eq(int, weir_node_put_async(&loop.async, NULL, graph_loop_count), WEIR_INVALID));
  cr_assert(eq(int, weir_edge_put_async(&loop.async, NULL, graph_loop_count), WEIR_INVALID));
  cr_assert(eq(int, weir_neighbors_async(&loop.async, NULL, graph_loop_count), WEIR_INVALID));
  cr_assert(eq(int, weir_node_get_async(NULL, &get, graph_loop_count), WEIR_INVALID));
  cr_assert(eq(int, weir_node_get_async(&loop.async, &get, NULL), WEIR_INVALID));
  graph_loop_end(&loop);
}
