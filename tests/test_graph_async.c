/* The graph's operations as requests on a loop (weir/graph_async.h): the results of their synchronous twins.
 */
#include "graph_fixture.h"

#include <weir/graph_async.h>

#include "loop.h"

/* A handle on a loop, and how the requests on it ended. */
struct setting {
  weir_test_loop loop;
  weir_async async;
  int ended;
  int failed; /* with this code, the last of them */
};

static void begin(struct setting *setting, weir_graph *graph) {
  memset(setting, 0, sizeof *setting);
  weir_test_loop_init(&setting->loop);
  OK(weir_async_init(&setting->async, &setting->loop.uv, weir_graph_pool(graph), &err));
}

static void end(struct setting *setting) {
  OK(weir_async_close(&setting->async, NULL));
  cr_assert(eq(int, weir_test_loop_run(&setting->loop), 1));
  cr_assert(zero(uint, weir_test_loop_close(&setting->loop)));
}

static void count(weir_req *req, int status) {
  struct setting *setting = req->data;
  setting->ended++;
  if (status != WEIR_OK) {
    setting->failed = status;
    err = req->error;
  }
}

/* Runs the loop until all has ended, well. */
static void run(struct setting *setting, int ended) {
  setting->failed = WEIR_OK;
  cr_assert(eq(int, weir_test_loop_run(&setting->loop), 1));
  cr_assert(eq(int, setting->ended, ended));
  OK(setting->failed);
}

GRAPH_TEST(graph_async, nodes_and_edges_are_put_and_read_back) {
  struct setting setting;
  weir_node_put_req node = {.node = WEIR_NODE("a", "x", "{\"a\":1}")};
  weir_edge_put_req edge = {.edge = WEIR_EDGE("a", "e", "b"), .flags = WEIR_CREATE_ENDPOINTS};
  weir_node_get_req get = {.key = WEIR_TEXT("a")};
  begin(&setting, graph);
  node.req.data = edge.req.data = get.req.data = &setting;
  OK(weir_node_put_async(&setting.async, &node, count));
  OK(weir_edge_put_async(&setting.async, &edge, count));
  run(&setting, 2);
  cr_assert(eq(int, node.outcome, WEIR_INSERTED));
  cr_assert(eq(int, edge.outcome, WEIR_INSERTED));
  for (int i = 1; i <= 3; i++) { /* the request and its arena are used again */
    OK(weir_node_get_async(&setting.async, &get, count));
    run(&setting, 2 + i);
    SAME(get.node.key, "a");
    SAME(get.node.label, "x");
    SAME(get.node.props, "{\"a\":1}");
  }
  cr_assert(eq(i64, count_edges(txn, "e"), 1));
  end(&setting);
  weir_arena_clear(&get.arena);
}

GRAPH_TEST(graph_async, errors_come_with_their_detail) {
  struct setting setting;
  weir_node_put_req node = {.node = WEIR_NODE("", "x", NULL)};
  weir_node_get_req get = {.key = WEIR_TEXT("nobody")};
  begin(&setting, graph);
  node.req.data = get.req.data = &setting;
  OK(weir_node_put_async(&setting.async, &node, count));
  cr_assert(eq(int, weir_test_loop_run(&setting.loop), 1));
  cr_assert(eq(int, setting.failed, WEIR_INVALID));
  cr_assert(ne(ptr, strstr(node.req.error.message, "key is empty"), NULL));
  OK(weir_node_get_async(&setting.async, &get, count));
  cr_assert(eq(int, weir_test_loop_run(&setting.loop), 1));
  cr_assert(eq(int, setting.failed, WEIR_NOT_FOUND));
  cr_assert(ne(ptr, strstr(get.req.error.message, "nobody"), NULL));
  cr_assert(eq(int, setting.ended, 2));
  end(&setting);
  weir_arena_clear(&get.arena);
}

GRAPH_TEST(graph_async, neighbors_come_in_pages) {
  enum { NEIGHBORS = 100 };
  int seen[NEIGHBORS] = {0};
  struct setting setting;
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
  begin(&setting, graph);
  page.req.data = &setting;
  for (int pages = 1; !page.cursor.done; pages++) {
    OK(weir_neighbors_async(&setting.async, &page, count));
    run(&setting, pages);
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
  setting.ended = 0;
  OK(weir_neighbors_async(&setting.async, &page, count));
  run(&setting, 1);
  cr_assert(eq(sz, page.count, 2 * NEIGHBORS)); /* all in one */
  cr_assert(eq(ptr, (void *)page.neighbors[0].node.props.ptr, NULL));
  end(&setting);
  weir_arena_clear(&page.arena);
}

GRAPH_TEST(graph_async, many_requests_run_at_once) {
  enum { REQUESTS = 200 };
  static weir_node_put_req put[REQUESTS];
  static weir_node_get_req get[REQUESTS];
  static char keys[REQUESTS][16];
  struct setting setting;
  begin(&setting, graph);
  memset(put, 0, sizeof put);
  memset(get, 0, sizeof get);
  for (int i = 0; i < REQUESTS; i++) {
    snprintf(keys[i], sizeof keys[i], "%d", i);
    put[i].node = WEIR_NODE(keys[i], "x", NULL);
    put[i].req.data = get[i].req.data = &setting;
    get[i].key = weir_str(keys[i]);
    OK(weir_node_put_async(&setting.async, &put[i], count));
  }
  run(&setting, REQUESTS);
  for (int i = 0; i < REQUESTS; i++) {
    OK(weir_node_get_async(&setting.async, &get[i], count));
  }
  run(&setting, 2 * REQUESTS);
  for (int i = 0; i < REQUESTS; i++) {
    SAME(get[i].node.key, keys[i]);
    weir_arena_clear(&get[i].arena);
  }
  cr_assert(eq(i64, count_nodes(txn, "x"), REQUESTS));
  end(&setting);
}

GRAPH_TEST(graph_async, null_is_refused_at_once) {
  struct setting setting;
  weir_node_get_req get = {.key = WEIR_TEXT("a")};
  begin(&setting, graph);
  cr_assert(eq(int, weir_node_get_async(&setting.async, NULL, count), WEIR_INVALID));
  cr_assert(eq(int, weir_node_put_async(&setting.async, NULL, count), WEIR_INVALID));
  cr_assert(eq(int, weir_edge_put_async(&setting.async, NULL, count), WEIR_INVALID));
  cr_assert(eq(int, weir_neighbors_async(&setting.async, NULL, count), WEIR_INVALID));
  cr_assert(eq(int, weir_node_get_async(NULL, &get, count), WEIR_INVALID));
  cr_assert(eq(int, weir_node_get_async(&setting.async, &get, NULL), WEIR_INVALID));
  end(&setting);
}
