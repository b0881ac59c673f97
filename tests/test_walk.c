/* Walks on small graphs: order, depth, what is visited once, what steps tell, how they end. */
#include <weir/traverse.h>

#include "graph_fixture.h"

/* What a visitor saw: "key/depth" and a space for each step. */
struct seen {
  char text[4096];
  int count;
  int stop_at;       /* the visit that returns WEIR_STOP */
  int fail_at;       /* that returns an error */
  const char *prune; /* the key at which it returns WEIR_PRUNE */
};

static int note(const weir_step *step, void *data, weir_error *error) {
  struct seen *seen = data;
  size_t at = strlen(seen->text);
  if (++seen->count == seen->fail_at) {
    return weir_fail(error, WEIR_CONFLICT, "not %s", step->node.key.ptr);
  }
  snprintf(seen->text + at, sizeof seen->text - at, "%s/%u ", step->node.key.ptr, (unsigned)step->depth);
  if (seen->prune && strcmp(step->node.key.ptr, seen->prune) == 0) {
    return WEIR_PRUNE;
  }
  return seen->count == seen->stop_at ? WEIR_STOP : WEIR_OK;
}

static const char *walk(weir_txn *txn, const char *key, const weir_walk_options *options) {
  static struct seen seen;
  weir_text start = weir_str(key);
  memset(&seen, 0, sizeof seen);
  OK(weir_walk_once(txn, &start, 1, options, note, &seen, NULL, &err));
  return seen.text;
}

/* a -> b, c; b -> d; c -> d, c; d -> a, e. */
static void put_graph(weir_txn *txn) {
  static const char edges[][2][2] = {{"a", "b"}, {"a", "c"}, {"b", "d"}, {"c", "d"},
                                     {"c", "c"}, {"d", "a"}, {"d", "e"}};
  for (const char *key = "abcde"; *key; key++) {
    put_node(txn, (const char[]){*key, 0}, "n"); /* numbers in this order */
  }
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
    put_edge(txn, edges[i][0], "e", edges[i][1]);
  }
}

#define WALKS(key, options, steps) SAME_STRING(walk(txn, key, options), steps)

GRAPH_TEST(walk, breadth_first_visits_each_node_at_its_least_depth) {
  put_graph(txn);
  WALKS("a", NULL, "a/0 b/1 c/1 d/2 e/3 ");
  WALKS("e", NULL, "e/0 ");
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.reach.direction = WEIR_IN;
  WALKS("e", &options, "e/0 d/1 b/2 c/2 a/3 ");
  options.reach.direction = WEIR_BOTH;
  WALKS("e", &options, "e/0 d/1 a/2 b/2 c/2 ");
}

GRAPH_TEST(walk, depth_first_is_a_preorder) {
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.order = WEIR_DEPTH_FIRST;
  put_graph(txn);
  WALKS("a", &options, "a/0 b/1 d/2 e/3 c/1 ");
}

GRAPH_TEST(walk, depths_bound_what_is_visited) {
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  put_graph(txn);
  options.max_depth = 0;
  WALKS("a", &options, "a/0 ");
  options.max_depth = 2;
  WALKS("a", &options, "a/0 b/1 c/1 d/2 ");
  options.min_depth = 1;
  WALKS("a", &options, "b/1 c/1 d/2 ");
  options.max_depth = WEIR_UNLIMITED;
  options.min_depth = 3;
  WALKS("a", &options, "e/3 ");
}

/* a -> b -> c -> d -> x, and d's short way from a: first reached at 3, where max_depth ends it. */
GRAPH_TEST(walk, depth_first_within_a_depth_misses_nothing) {
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.order = WEIR_DEPTH_FIRST;
  options.max_depth = 3;
  put_edge(txn, "a", "e", "b");
  put_edge(txn, "b", "e", "c");
  put_edge(txn, "c", "e", "d");
  put_edge(txn, "d", "e", "x");
  put_edge(txn, "a", "e", "d");
  WALKS("a", &options, "a/0 b/1 c/2 d/3 x/2 ");
}

GRAPH_TEST(walk, by_edge_visits_the_far_end_of_each_edge) {
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.unique = WEIR_UNIQUE_EDGE;
  put_graph(txn);
  WALKS("a", &options, "a/0 b/1 c/1 d/2 c/2 d/2 a/3 e/3 ");
  options.order = WEIR_DEPTH_FIRST;
  WALKS("a", &options, "a/0 b/1 d/2 a/3 e/3 c/1 c/2 d/2 ");
  options.order = WEIR_BREADTH_FIRST;
  options.reach.direction = WEIR_BOTH;
  options.max_depth = 1;
  WALKS("c", &options, "c/0 c/1 d/1 a/1 ");
}

GRAPH_TEST(walk, by_path_visits_each_way_without_a_repetition) {
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.unique = WEIR_UNIQUE_PATH;
  put_graph(txn);
  WALKS("a", &options, "a/0 b/1 c/1 d/2 d/2 e/3 e/3 ");
  options.order = WEIR_DEPTH_FIRST;
  WALKS("a", &options, "a/0 b/1 d/2 e/3 c/1 d/2 e/3 ");
}

GRAPH_TEST(walk, by_several_starts_each_once) {
  const weir_text keys[] = {WEIR_TEXT("c"), WEIR_TEXT("a"), WEIR_TEXT("c")};
  struct seen seen = {.count = 0};
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  put_graph(txn);
  OK(weir_walk_once(txn, keys, 3, NULL, note, &seen, NULL, &err));
  SAME_STRING(seen.text, "c/0 a/0 d/1 b/1 e/2 ");
  seen = (struct seen){.count = 0};
  options.order = WEIR_DEPTH_FIRST;
  OK(weir_walk_once(txn, keys, 3, &options, note, &seen, NULL, &err));
  SAME_STRING(seen.text, "c/0 d/1 a/2 b/3 e/2 ");
  seen = (struct seen){.count = 0};
  OK(weir_walk_once(txn, NULL, 0, NULL, note, &seen, NULL, &err));
  cr_assert(zero(int, seen.count));
}

GRAPH_TEST(walk, a_pruned_node_is_not_stepped_beyond) {
  const weir_text start = WEIR_TEXT("a");
  for (int order = WEIR_BREADTH_FIRST; order <= WEIR_DEPTH_FIRST; order++) {
    for (uint32_t max = 5; max != 0; max = max == 5 ? WEIR_UNLIMITED : 0) {
      struct seen seen = {.prune = "d"};
      weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
      options.order = (weir_walk_order)order;
      options.max_depth = max;
      weir_txn *at = txn;
      if (count_nodes(txn, NULL) == 0) {
        put_graph(txn);
      }
      OK(weir_walk_once(at, &start, 1, &options, note, &seen, NULL, &err));
      SAME_STRING(seen.text, order == WEIR_BREADTH_FIRST ? "a/0 b/1 c/1 d/2 " : "a/0 b/1 d/2 c/1 ");
    }
  }
}

GRAPH_TEST(walk, goes_on_behind_a_stop_and_before_an_error) {
  const weir_text start = WEIR_TEXT("a");
  put_graph(txn);
  for (int at = 1; at <= 5; at++) {
    weir_walk *handle;
    weir_walk_result result;
    struct seen seen = {.stop_at = at};
    OK(weir_walk_open(&handle, &start, 1, NULL, &err));
    OK(weir_walk_run(handle, txn, note, &seen, &result, &err));
    cr_assert(eq(int, (int)result.ending, WEIR_ENDED_STOP));
    cr_assert(eq(u64, result.visited, (uint64_t)at));
    seen.stop_at = 0;
    seen.count = 0;
    OK(weir_walk_run(handle, txn, note, &seen, &result, &err));
    cr_assert(eq(int, (int)result.ending, WEIR_ENDED));
    SAME_STRING(seen.text, "a/0 b/1 c/1 d/2 e/3 ");
    OK(weir_walk_run(handle, txn, note, &seen, &result, &err));
    cr_assert(eq(u64, result.visited, 0));
    weir_walk_close(handle);

    seen = (struct seen){.fail_at = at};
    OK(weir_walk_open(&handle, &start, 1, NULL, &err));
    FAILS(weir_walk_run(handle, txn, note, &seen, &result, &err), WEIR_CONFLICT, "not ");
    OK(weir_walk_run(handle, txn, note, &seen, &result, &err));
    SAME_STRING(seen.text, "a/0 b/1 c/1 d/2 e/3 ");
    weir_walk_close(handle);
  }
}

GRAPH_TEST(walk, refuses_what_makes_no_sense) {
  weir_walk *handle;
  const weir_text keys[] = {WEIR_TEXT("a"), WEIR_TEXT("nobody"), WEIR_TEXT("")};
  struct seen seen = {.count = 0};
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  put_graph(txn);
  FAILS(weir_walk_once(txn, keys, 2, NULL, note, &seen, NULL, &err), WEIR_NOT_FOUND, "nobody");
  FAILS(weir_walk_once(txn, keys, 3, NULL, note, &seen, NULL, &err), WEIR_INVALID, "key 2");
  FAILS(weir_walk_once(txn, NULL, 1, NULL, note, &seen, NULL, &err), WEIR_INVALID, "keys");
  FAILS(weir_walk_once(txn, keys, 1, NULL, NULL, &seen, NULL, &err), WEIR_INVALID, "visit");
  FAILS(weir_walk_once(NULL, keys, 1, NULL, note, &seen, NULL, &err), WEIR_INVALID, "txn");
  FAILS(weir_walk_open(NULL, keys, 1, NULL, &err), WEIR_INVALID, "out");
  FAILS(weir_walk_run(NULL, txn, note, NULL, NULL, &err), WEIR_INVALID, "walk");
  options.min_depth = 3;
  options.max_depth = 2;
  FAILS(weir_walk_open(&handle, keys, 1, &options, &err), WEIR_INVALID, "min_depth 3");
  options = (weir_walk_options)WEIR_WALK_OPTIONS_INIT;
  options.flags = 8;
  FAILS(weir_walk_open(&handle, keys, 1, &options, &err), WEIR_INVALID, "flags 0x8");
  options.flags = 0;
  options.order = (weir_walk_order)2;
  FAILS(weir_walk_open(&handle, keys, 1, &options, &err), WEIR_INVALID, "order 2");
  options.order = WEIR_DEPTH_FIRST;
  options.unique = (weir_unique)3;
  FAILS(weir_walk_open(&handle, keys, 1, &options, &err), WEIR_INVALID, "unique 3");
  options.unique = WEIR_UNIQUE_NODE;
  options.reach.direction = (weir_direction)4;
  FAILS(weir_walk_open(&handle, keys, 1, &options, &err), WEIR_INVALID, "direction 4");
  weir_walk_close(NULL);
  cr_assert(zero(int, seen.count));
}

/* What is unknown in the first run is asked for again in the next. */
GRAPH_TEST(walk, begins_when_its_start_is_there) {
  weir_walk *handle;
  const weir_text start = WEIR_TEXT("late");
  struct seen seen = {.count = 0};
  OK(weir_walk_open(&handle, &start, 1, NULL, &err));
  FAILS(weir_walk_run(handle, txn, note, &seen, NULL, &err), WEIR_NOT_FOUND, "late");
  put_node(txn, "late", NULL);
  OK(weir_walk_run(handle, txn, note, &seen, NULL, &err));
  SAME_STRING(seen.text, "late/0 ");
  weir_walk_close(handle);
}
