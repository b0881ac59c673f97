/* Finds, searches, walks and paths as requests on a loop: the results of their synchronous twins, in pages.
 */
#include "graph_fixture.h"

#include "graph_loop.h"

enum { NODES = 50 };

/* A ring of nodes n0, n1, ... with a chord from n0 to the middle. */
static void fill(weir_txn *txn) {
  const weir_text label = WEIR_TEXT("x");
  const weir_text_field field = {.path = WEIR_TEXT("text")};
  const weir_text_index index = {
      .name = WEIR_TEXT("texts"), .labels = &label, .label_count = 1, .fields = &field, .field_count = 1};
  char key[16];
  char next[16];
  char props[64];
  for (int i = 0; i < NODES; i++) {
    snprintf(key, sizeof key, "n%d", i);
    snprintf(props, sizeof props, "{\"i\":%d,\"text\":\"number %d %s\"}", i, i, i % 2 ? "odd" : "even");
    OK(weir_node_put(txn, &WEIR_NODE(key, "x", props), NULL, &err));
  }
  for (int i = 0; i < NODES; i++) {
    snprintf(key, sizeof key, "n%d", i);
    snprintf(next, sizeof next, "n%d", (i + 1) % NODES);
    OK(weir_edge_put(txn, &WEIR_EDGE(key, "e", next), 0, NULL, &err));
  }
  put_edge(txn, "n0", "e", "n25");
  OK(weir_text_index_create(txn, &index, NULL, &err));
}

GRAPH_TEST(query_async, finds_come_in_pages) {
  graph_loop loop;
  weir_node_find_req page = {.find = WEIR_FIND_INIT};
  const weir_cond where = WEIR_PROP("i", WEIR_GE, weir_int(10));
  int next = NODES - 1;
  fill(txn);
  page.find.where = &where;
  page.find.order = WEIR_FIELD_PROP;
  page.find.order_path = weir_str("i");
  page.find.descending = 1;
  page.find.limit = 7;
  graph_loop_begin(&loop, graph);
  page.req.data = &loop;
  for (int pages = 1; !page.place.done; pages++) {
    OK(weir_node_find_async(&loop.async, &page, graph_loop_count));
    graph_loop_run(&loop, pages);
    cr_assert(page.count == 7 || page.place.done);
    for (size_t i = 0; i < page.count; i++, next--) {
      cr_assert(eq(int, atoi(page.nodes[i].key.ptr + 1), next));
      SAME(page.nodes[i].label, "x");
    }
  }
  cr_assert(eq(int, next, 9));
  graph_loop_end(&loop);
  weir_arena_clear(&page.arena);
  weir_place_clear(&page.place);
}

GRAPH_TEST(query_async, edges_are_found) {
  graph_loop loop;
  weir_edge_find_req page = {.find = WEIR_FIND_INIT};
  const weir_cond where = WEIR_TEST(WEIR_FIELD_SRC, WEIR_EQ, weir_string("n0"));
  fill(txn);
  page.find.where = &where;
  graph_loop_begin(&loop, graph);
  page.req.data = &loop;
  OK(weir_edge_find_async(&loop.async, &page, graph_loop_count));
  graph_loop_run(&loop, 1);
  cr_assert(eq(sz, page.count, 2));
  SAME(page.edges[0].src, "n0");
  SAME(page.edges[0].dst, "n1");
  SAME(page.edges[1].dst, "n25");
  SAME(page.edges[1].props, "{}");
  graph_loop_end(&loop);
  weir_arena_clear(&page.arena);
  weir_place_clear(&page.place);
}

GRAPH_TEST(query_async, hits_come_in_pages_with_their_snippets) {
  graph_loop loop;
  weir_node_search_req page = {.search = WEIR_SEARCH_INIT};
  int seen[NODES] = {0};
  fill(txn);
  page.search.index = weir_str("texts");
  page.search.query = weir_str("odd");
  page.search.limit = 10;
  page.search.snippet_tokens = 8;
  graph_loop_begin(&loop, graph);
  page.req.data = &loop;
  for (int pages = 1; !page.place.done; pages++) {
    OK(weir_node_search_async(&loop.async, &page, graph_loop_count));
    graph_loop_run(&loop, pages);
    for (size_t i = 0; i < page.count; i++) {
      const weir_hit *hit = &page.hits[i];
      seen[atoi(hit->node.key.ptr + 1)]++;
      SAME(hit->field, "text");
      cr_assert(eq(sz, hit->span_count, 1));
      cr_assert(zero(int, strncmp(hit->snippet.ptr + hit->spans[0].start, "odd", 3)));
    }
  }
  for (int i = 0; i < NODES; i++) {
    cr_assert(eq(int, seen[i], i % 2));
  }
  graph_loop_end(&loop);
  weir_arena_clear(&page.arena);
  weir_place_clear(&page.place);
}

GRAPH_TEST(query_async, a_page_that_fails_leaves_the_place_where_it_was) {
  graph_loop loop;
  weir_node_find_req page = {.find = WEIR_FIND_INIT};
  fill(txn);
  page.find.limit = 20;
  graph_loop_begin(&loop, graph);
  page.req.data = &loop;
  OK(weir_node_find_async(&loop.async, &page, graph_loop_count));
  graph_loop_run(&loop, 1);
  page.find.order = WEIR_FIELD_KEY; /* another question: its place is refused */
  OK(weir_node_find_async(&loop.async, &page, graph_loop_count));
  cr_assert(eq(int, weir_test_loop_run(&loop.loop), 1));
  cr_assert(eq(int, loop.failed, WEIR_INVALID));
  cr_assert(zero(sz, page.count));
  page.find.order = WEIR_FIELD_NONE;
  OK(weir_node_find_async(&loop.async, &page, graph_loop_count));
  graph_loop_run(&loop, 3);
  SAME(page.nodes[0].key, "n20");
  graph_loop_end(&loop);
  weir_arena_clear(&page.arena);
  weir_place_clear(&page.place);
}

GRAPH_TEST(query_async, a_walk_goes_on_page_by_page) {
  graph_loop loop;
  weir_walk_req page = {.limit = 6};
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  const weir_text start = WEIR_TEXT("n0");
  size_t visited = 0;
  fill(txn);
  options.flags = WEIR_WITH_NODES | WEIR_WITH_PATHS;
  OK(weir_walk_open(&page.walk, &start, 1, &options, &err));
  graph_loop_begin(&loop, graph);
  page.req.data = &loop;
  for (int pages = 1; pages == 1 || page.result.ending != WEIR_ENDED; pages++) {
    OK(weir_walk_async(&loop.async, &page, graph_loop_count));
    graph_loop_run(&loop, pages);
    for (size_t i = 0; i < page.count; i++) {
      const weir_step *step = &page.steps[i];
      SAME(step->node.label, "x");
      cr_assert(eq(int, step->hop != NULL, step->depth > 0));
      if (step->depth > 0) {
        SAME(step->path[0].from, "n0");
        SAME(step->path[step->depth - 1].to, step->node.key.ptr);
      }
    }
    visited += page.count;
  }
  cr_assert(eq(sz, visited, NODES));
  graph_loop_end(&loop);
  weir_walk_close(page.walk);
  weir_arena_clear(&page.arena);
}

/* What a page holds is what the walk has passed, whether it was canceled before it began, or in the middle.
 */
GRAPH_TEST(query_async, a_walk_that_is_canceled_loses_nothing) {
  graph_loop loop;
  weir_walk_req page = {.limit = 6};
  const weir_text start = WEIR_TEXT("n0");
  int visits[NODES] = {0};
  fill(txn);
  OK(weir_walk_open(&page.walk, &start, 1, NULL, &err));
  graph_loop_begin(&loop, graph);
  page.req.data = &loop;
  for (int pages = 1; pages < 3 || loop.failed || page.result.ending != WEIR_ENDED; pages++) {
    loop.failed = 0;
    OK(weir_walk_async(&loop.async, &page, graph_loop_count));
    if (pages % 2 == 0) {
      OK(weir_req_cancel(&page.req));
    }
    cr_assert(eq(int, weir_test_loop_run(&loop.loop), 1));
    cr_assert(eq(int, loop.ended, pages));
    cr_assert(loop.failed == 0 || loop.failed == WEIR_CANCELED);
    for (size_t i = 0; i < page.count; i++) {
      visits[atoi(page.steps[i].node.key.ptr + 1)]++;
    }
  }
  for (int i = 0; i < NODES; i++) {
    cr_assert(eq(int, visits[i], 1), "n%d", i);
  }
  graph_loop_end(&loop);
  weir_walk_close(page.walk);
  weir_arena_clear(&page.arena);
}

GRAPH_TEST(query_async, a_path_is_found) {
  graph_loop loop;
  weir_path_req ask = {.from = WEIR_TEXT("n0"), .to = WEIR_TEXT("n26"), .options = WEIR_PATH_OPTIONS_INIT};
  fill(txn);
  graph_loop_begin(&loop, graph);
  ask.req.data = &loop;
  OK(weir_path_shortest_async(&loop.async, &ask, graph_loop_count));
  graph_loop_run(&loop, 1);
  cr_assert(eq(int, ask.path.found, 1));
  cr_assert(eq(sz, ask.path.hop_count, 2));
  SAME(ask.path.hops[0].to, "n25");
  graph_loop_end(&loop);
  weir_arena_clear(&ask.arena);
}
