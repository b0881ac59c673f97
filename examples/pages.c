/*
 * Results in pages on a libuv loop, by the requests of weir/graph_async.h: a find, a search, a walk, a path.
 * A request is submitted again for its next page. Everything here runs on the loop's thread but work_fill.
 */
#include <stdio.h>

#include <weir/graph_async.h>

static weir_graph *graph;
static weir_async async;
static weir_req fill = WEIR_REQ_INIT;
static weir_node_find_req find = {.find = WEIR_FIND_INIT};
static weir_node_search_req search = {.search = WEIR_SEARCH_INIT};
static weir_walk_req walk;
static weir_path_req path = {.options = WEIR_PATH_OPTIONS_INIT};
static int failed;

static void close_handle(void) {
  failed |= weir_async_close(&async, NULL) != WEIR_OK;
}

/* Closes the handle if `rc` is an error, of a submission or of a request. */
static int is_over(int rc, const weir_req *req) {
  if (rc == WEIR_OK)
    return 0;
  fprintf(stderr, "pages: %s: %s\n", weir_error_name(rc), req->error.message);
  failed = 1;
  close_handle();
  return 1;
}

/* 5. A path lives in the arena of its request, like all results. */
static void on_path(weir_req *req, int status) {
  if (is_over(status, req))
    return;
  printf(path.path.found ? "path: %s" : "no path from %s", path.from.ptr);
  for (size_t i = 0; i < path.path.hop_count; i++)
    printf(" %s", path.path.hops[i].to.ptr);
  printf("\n");
  close_handle();
}

/* 4. Steps of the walk. The request has a limit, the walk a budget: either may end a run. */
static void on_steps(weir_req *req, int status) {
  if (is_over(status, req))
    return;
  printf("walk:");
  for (size_t i = 0; i < walk.count; i++)
    printf(" %s(%u)", walk.steps[i].node.key.ptr, walk.steps[i].depth);
  printf("\n");
  if (walk.result.ending != WEIR_ENDED) {
    is_over(weir_walk_async(&async, &walk, on_steps), req);
    return;
  }
  path.from = weir_str("ada");
  path.to = weir_str("dan");
  path.options.reach.direction = WEIR_BOTH;
  is_over(weir_path_shortest_async(&async, &path, on_path), &path.req);
}

static void begin_walk(void) {
  const weir_text start = weir_str("ada");
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.reach.direction = WEIR_BOTH;
  options.max_depth = 4; /* two films away */
  walk.limit = 4;
  int rc = weir_walk_open(&walk.walk, &start, 1, &options, &walk.req.error); /* copies what it is given */
  if (rc == WEIR_OK)
    rc = weir_walk_async(&async, &walk, on_steps);
  is_over(rc, &walk.req);
}

/* 3. Hits of the search, best first. */
static void on_hits(weir_req *req, int status) {
  if (is_over(status, req))
    return;
  for (size_t i = 0; i < search.count; i++)
    printf("search: %s: %s\n", search.hits[i].node.key.ptr, search.hits[i].snippet.ptr);
  if (search.place.done)
    begin_walk();
  else
    is_over(weir_node_search_async(&async, &search, on_hits), req);
}

/* 2. A page of the find. Its nodes are valid until the request is submitted again. */
static void on_people(weir_req *req, int status) {
  if (is_over(status, req))
    return;
  printf("find:");
  for (size_t i = 0; i < find.count; i++)
    printf(" %s", find.nodes[i].key.ptr);
  printf("\n");
  if (!find.place.done) {
    is_over(weir_node_find_async(&async, &find, on_people), req);
    return;
  }
  search.search.index = weir_str("plots");
  search.search.query = weir_str("ship");
  search.search.limit = 1;
  search.search.snippet_tokens = 8;
  is_over(weir_node_search_async(&async, &search, on_hits), &search.req);
}

/* 1. The store is filled. */
static void on_filled(weir_req *req, int status) {
  if (is_over(status, req))
    return;
  find.find.label = weir_str("person");
  find.find.order = WEIR_FIELD_KEY;
  find.find.limit = 2;
  is_over(weir_node_find_async(&async, &find, on_people), &find.req);
}

static int work_fill(weir_req *req, weir_txn *txn) {
  static const char *const films[][2] = {{"storm", "{\"plot\":\"A ship is lost in a storm\"}"},
                                         {"island", "{\"plot\":\"The crew of a ship finds an island\"}"},
                                         {"bank", "{\"plot\":\"Three clerks rob their own bank\"}"}};
  static const char *const cast[][2] = {{"ada", "storm"}, {"bea", "storm"},  {"bea", "island"},
                                        {"cem", "bank"},  {"cem", "island"}, {"dan", "bank"}};
  const weir_text label = weir_str("film");
  const weir_text_field plot = {.path = weir_str("plot")};
  const weir_text_index plots = {
      .name = weir_str("plots"), .labels = &label, .label_count = 1, .fields = &plot, .field_count = 1};
  int rc = weir_text_index_create(txn, &plots, NULL, &req->error);
  for (size_t i = 0; rc == WEIR_OK && i < sizeof films / sizeof films[0]; i++)
    rc = weir_node_put(txn, &WEIR_NODE(films[i][0], "film", films[i][1]), NULL, &req->error);
  for (size_t i = 0; rc == WEIR_OK && i < sizeof cast / sizeof cast[0]; i++) {
    rc = weir_node_put(txn, &WEIR_NODE(cast[i][0], "person", "{}"), NULL, &req->error);
    if (rc == WEIR_OK)
      rc = weir_edge_put(txn, &WEIR_EDGE(cast[i][0], "acts", cast[i][1]), 0, NULL, &req->error);
  }
  return rc;
}

/* What requests hold is the caller's to free, once they are not pending. */
static void free_results(void) {
  weir_place_clear(&find.place);
  weir_arena_clear(&find.arena);
  weir_place_clear(&search.place);
  weir_arena_clear(&search.arena);
  weir_walk_close(walk.walk);
  weir_arena_clear(&walk.arena);
  weir_arena_clear(&path.arena);
}

int main(void) {
  uv_loop_t *loop = uv_default_loop();
  weir_error error = WEIR_ERROR_INIT;
  int rc = weir_graph_open(&graph, ":memory:", NULL, &error);
  if (rc == WEIR_OK)
    rc = weir_async_init(&async, loop, weir_graph_pool(graph), &error);
  if (rc != WEIR_OK)
    return fprintf(stderr, "pages: %s\n", error.message), 1;
  is_over(weir_write_async(&async, &fill, work_fill, on_filled), &fill);
  (void)uv_run(loop, UV_RUN_DEFAULT); /* returns when the handle is closed */
  free_results();
  rc = weir_graph_close(graph, &error);
  return failed || rc != WEIR_OK || uv_loop_close(loop) != 0;
}
