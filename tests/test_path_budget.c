/* What ends a search or a listing early: budgets, visitors that stop or fail. And what visitors may do. */
#include "paths.h"

#include "graph_fixture.h"

static weir_path path;
static weir_arena arena;

typedef int (*list_fn)(weir_txn *txn, weir_text from, weir_text to, const weir_path_options *options,
                       weir_path_fn visit, void *data, weir_ending *ending, weir_error *error);

static int list_k(weir_txn *txn, weir_text from, weir_text to, const weir_path_options *options,
                  weir_path_fn visit, void *data, weir_ending *ending, weir_error *error) {
  return weir_path_k_shortest(txn, from, to, 1000000, options, visit, data, ending, error);
}

static const list_fn lists[] = {weir_path_all_shortest, list_k};

/* A chain of `length` diamonds: n0 to n`length` in 2^length ways. */
static void put_diamonds(weir_txn *txn, int length) {
  char keys[2][16];
  weir_edge edge = WEIR_EDGE_INIT;
  edge.label = weir_str("e");
  for (int i = 0; i < length; i++) {
    snprintf(keys[0], sizeof keys[0], "n%d", i);
    snprintf(keys[1], sizeof keys[1], "n%d", i + 1);
    edge.src = weir_str(keys[0]);
    edge.dst = weir_str(keys[1]);
    for (edge.rank = 0; edge.rank < 2; edge.rank++) {
      OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
    }
  }
}

struct seen {
  weir_txn *txn;
  int count;
  int stop_after;
  int fail;
  size_t hops;
  uint64_t ranks; /* of the last path, a bit a hop */
};

static int see(const weir_path *found, void *data, weir_error *error) {
  struct seen *seen = data;
  seen->count++;
  seen->hops = found->hop_count;
  seen->ranks = 0;
  for (size_t i = 0; i < found->hop_count; i++) {
    seen->ranks |= (uint64_t)found->hops[i].rank << i;
  }
  if (seen->fail) {
    return weir_fail(error, WEIR_CONSTRAINT, "enough of it");
  }
  return seen->count == seen->stop_after ? WEIR_STOP : WEIR_OK;
}

GRAPH_TEST(path_budget, a_visitor_can_stop_among_very_many_paths) {
  const weir_text from = WEIR_TEXT("n0");
  const weir_text to = WEIR_TEXT("n40");
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  put_diamonds(txn, 40);
  for (int i = 0; i < 4; i++) {
    struct seen seen = {.stop_after = 10};
    weir_ending ending = WEIR_ENDED;
    options.cost = i / 2 ? WEIR_COST_WEIGHT : WEIR_COST_HOPS;
    OK(lists[i % 2](txn, from, to, &options, see, &seen, &ending, &err));
    cr_assert(eq(int, (int)ending, WEIR_ENDED_STOP));
    cr_assert(eq(int, seen.count, 10));
    cr_assert(eq(sz, seen.hops, 40));
  }
}

GRAPH_TEST(path_budget, an_error_of_the_visitor_comes_back) {
  const weir_text from = WEIR_TEXT("n0");
  const weir_text to = WEIR_TEXT("n3");
  put_diamonds(txn, 3);
  for (int i = 0; i < 2; i++) {
    struct seen seen = {.fail = 1};
    FAILS(lists[i](txn, from, to, NULL, see, &seen, NULL, &err), WEIR_CONSTRAINT, "enough of it");
    cr_assert(eq(int, seen.count, 1));
    FAILS(lists[i](txn, from, from, NULL, see, &seen, NULL, &err), WEIR_CONSTRAINT, "enough of it");
  }
}

/* Lists the same again for the first path, and looks for one path. */
static int see_and_read(const weir_path *found, void *data, weir_error *error) {
  struct seen *seen = data;
  struct seen inner = {.txn = NULL};
  weir_arena own = WEIR_ARENA_INIT;
  weir_path one;
  weir_text from = found->hops[0].from;
  weir_text to = found->hops[found->hop_count - 1].to;
  uint64_t expected = 0;
  for (size_t i = 0; i < found->hop_count; i++) {
    expected |= (uint64_t)found->hops[i].rank << i;
  }
  for (int i = 0; i < 2; i++) {
    inner.count = 0;
    int rc = lists[i](seen->txn, from, to, NULL, see, &inner, NULL, error);
    if (rc || inner.count != 8) {
      return rc ? rc : weir_fail(error, WEIR_CONSTRAINT, "%d paths within", inner.count);
    }
  }
  int rc = weir_path_shortest(seen->txn, from, to, NULL, &one, &own, error);
  weir_arena_clear(&own);
  if (rc == WEIR_OK) {
    rc = see(found, seen, error);
  }
  return rc == WEIR_OK && seen->ranks != expected ? weir_fail(error, WEIR_CONSTRAINT, "it was changed") : rc;
}

static int see_and_write(const weir_path *found, void *data, weir_error *error) {
  struct seen *seen = data;
  (void)found;
  return weir_node_del(seen->txn, weir_str("n0"), NULL, error);
}

struct listing {
  list_fn list;
  weir_path_fn visit;
  struct seen seen;
};

static int list_in(weir_txn *txn, void *data, weir_error *error) {
  struct listing *listing = data;
  listing->seen.txn = txn;
  return listing->list(txn, weir_str("n0"), weir_str("n3"), NULL, listing->visit, &listing->seen, NULL,
                       error);
}

GRAPH_TEST(path_budget, a_visitor_may_read_but_not_write) {
  put_diamonds(txn, 3);
  for (int i = 0; i < 2; i++) {
    struct listing reading = {lists[i], see_and_read, {.count = 0}};
    struct listing writing = {lists[i], see_and_write, {.count = 0}};
    OK(weir_read(txn, list_in, &reading, NULL, &err));
    cr_assert(eq(int, reading.seen.count, 8));
    FAILS(weir_write(txn, list_in, &writing, NULL, &err), WEIR_MISUSE, "must not write");
  }
}

/* The target is one of 20 nodes that are joined, each with each, by edges that cost nothing. Paths among them
 * that lead nowhere are far too many to be tried. */
GRAPH_TEST(path_budget, edges_that_cost_nothing_are_no_maze) {
  enum { MAZE = 20 };
  char names[MAZE][16];
  struct seen seen = {.count = 0};
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  options.cost = WEIR_COST_WEIGHT;
  for (int i = 0; i < MAZE; i++) {
    snprintf(names[i], sizeof names[i], "m%d", i);
    for (int j = 0; j < i; j++) {
      weir_edge edge = WEIR_EDGE(names[i], "e", names[j]);
      edge.weight = 0;
      OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
      edge.src = weir_str(names[j]);
      edge.dst = weir_str(names[i]);
      OK(weir_edge_put(txn, &edge, 0, NULL, &err));
    }
  }
  put_edge(txn, "start", "e", names[0]);
  OK(weir_path_all_shortest(txn, weir_str("start"), weir_str(names[0]), &options, see, &seen, NULL, &err));
  cr_assert(eq(int, seen.count, 1));
}

/* ---- Budgets ---- */

static weir_path_options options_of(int cost) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  options.cost = cost;
  return options;
}

/* A tree of three levels under n, 10 nodes each, and one way out of it to "end". */
static void put_tree(weir_txn *txn) {
  static char keys[1112][16];
  static weir_edge edges[1111];
  snprintf(keys[0], sizeof keys[0], "t0");
  for (int i = 1; i < 1111; i++) {
    snprintf(keys[i], sizeof keys[i], "t%d", i);
    edges[i - 1] = WEIR_EDGE(keys[(i - 1) / 10], "e", keys[i]);
  }
  edges[1110] = WEIR_EDGE(keys[1110], "e", "end");
  OK(weir_edge_put_many(txn, edges, 1111, WEIR_CREATE_ENDPOINTS, NULL, &err));
  OK(weir_edge_put(txn, &WEIR_EDGE("t0", "e", "end"), 0, NULL, &err));
}

/* The far ends have 1000 nodes between them, met from the start alone. */
static const char *const leaf = "t1110";

GRAPH_TEST(path_budget, nodes_end_the_search) {
  put_tree(txn);
  put_node(txn, "island", NULL);
  put_edge(txn, "isthmus", "e", "island");
  for (int cost = WEIR_COST_HOPS; cost <= WEIR_COST_WEIGHT; cost++) {
    weir_path_options options = options_of(cost);
    uint64_t all;
    options.reach.direction = WEIR_IN;
    OK(weir_path_shortest(txn, weir_str(leaf), weir_str("t0"), &options, &path, &arena, &err));
    cr_assert(eq(int, path.found, 1));
    cr_assert(eq(sz, path.hop_count, 3));
    all = path.met;
    for (options.budget.nodes = 1; options.budget.nodes <= all; options.budget.nodes++) {
      OK(weir_path_shortest(txn, weir_str(leaf), weir_str("t0"), &options, &path, &arena, &err));
      cr_assert(eq(int, path.found, options.budget.nodes == all));
      cr_assert(eq(int, (int)path.ending, path.found ? WEIR_ENDED : WEIR_ENDED_NODES));
      cr_assert(eq(u64, path.met, options.budget.nodes));
    }
  }
  weir_arena_clear(&arena);
}

GRAPH_TEST(path_budget, memory_ends_the_search) {
  put_tree(txn);
  put_edge(txn, "isthmus", "e", "island");
  put_edge(txn, "island", "e", "isthmus");
  for (int cost = WEIR_COST_HOPS; cost <= WEIR_COST_WEIGHT; cost++) {
    weir_path_options options = options_of(cost);
    options.reach.direction = WEIR_BOTH;
    options.budget.memory = 10;
    OK(weir_path_shortest(txn, weir_str(leaf), weir_str("t5"), &options, &path, &arena, &err));
    cr_assert(eq(int, (int)path.ending, WEIR_ENDED_MEMORY));
    cr_assert(zero(int, path.found));
    options.budget.memory = 100000000;
    OK(weir_path_shortest(txn, weir_str(leaf), weir_str("t5"), &options, &path, &arena, &err));
    cr_assert(eq(int, path.found, 1));
  }
  weir_arena_clear(&arena);
}

GRAPH_TEST(path_budget, time_and_memory_end_a_listing_too) {
  put_diamonds(txn, 40);
  for (int i = 0; i < 2; i++) {
    struct seen seen = {.count = 0};
    weir_path_options options = options_of(WEIR_COST_HOPS);
    weir_ending ending = WEIR_ENDED;
    options.budget.time_ms = 50;
    OK(lists[i](txn, weir_str("n0"), weir_str("n40"), &options, see, &seen, &ending, &err));
    cr_assert(eq(int, (int)ending, WEIR_ENDED_TIME)); /* all of them would take years */
    options.budget.time_ms = 0;
    options.budget.memory = 4000;
    OK(lists[i](txn, weir_str("n0"), weir_str("n40"), &options, see, &seen, &ending, &err));
    cr_assert(eq(int, (int)ending, WEIR_ENDED_MEMORY));
  }
}

GRAPH_TEST(path_budget, nodes_end_a_listing) {
  put_diamonds(txn, 8);
  for (int i = 0; i < 2; i++) {
    struct seen seen = {.count = 0};
    weir_path_options options = options_of(WEIR_COST_WEIGHT);
    weir_ending ending = WEIR_ENDED;
    options.budget.nodes = 5;
    OK(lists[i](txn, weir_str("n0"), weir_str("n8"), &options, see, &seen, &ending, &err));
    cr_assert(eq(int, (int)ending, WEIR_ENDED_NODES));
    cr_assert(zero(int, seen.count));
  }
}

GRAPH_TEST(path_budget, a_listing_from_a_node_to_itself_has_one_path) {
  put_diamonds(txn, 1);
  OK(weir_edge_put(txn, &WEIR_EDGE("n0", "e", "n0"), 0, NULL, &err));
  for (int i = 0; i < 2; i++) {
    struct seen seen = {.count = 0};
    weir_ending ending = WEIR_ENDED_TIME;
    OK(lists[i](txn, weir_str("n0"), weir_str("n0"), NULL, see, &seen, &ending, &err));
    cr_assert(eq(int, (int)ending, WEIR_ENDED));
    cr_assert(eq(int, seen.count, 1));
    cr_assert(zero(sz, seen.hops));
  }
}

GRAPH_TEST(path_budget, no_paths_wanted_are_none_visited) {
  struct seen seen = {.count = 0};
  weir_ending ending = WEIR_ENDED_TIME;
  put_diamonds(txn, 1);
  OK(weir_path_k_shortest(txn, weir_str("n0"), weir_str("n1"), 0, NULL, see, &seen, &ending, &err));
  cr_assert(zero(int, seen.count));
  cr_assert(eq(int, (int)ending, WEIR_ENDED));
}
