/* What a path tells, its edge cases, and what is refused. */
#include "paths.h"

#include "graph_fixture.h"

static weir_path path;
static weir_arena arena;

static void put_costly(weir_txn *txn, const char *src, const char *dst, int rank, double weight,
                       const char *props) {
  weir_edge edge = WEIR_EDGE(src, "road", dst);
  edge.rank = rank;
  edge.weight = weight;
  edge.props = weir_str(props);
  OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
}

static int shortest(weir_txn *txn, const char *from, const char *to, const weir_path_options *options) {
  return weir_path_shortest(txn, weir_str(from), weir_str(to), options, &path, &arena, &err);
}

/* a -> b -> c, and a -> c, which is dear. Two edges from b to c. */
static void put_triangle(weir_txn *txn) {
  put_costly(txn, "a", "b", 0, 1, "{\"toll\":2}");
  put_costly(txn, "b", "c", 0, 3, "{\"toll\":1.5}");
  put_costly(txn, "b", "c", 7, 2, "{\"toll\":2}");
  put_costly(txn, "a", "c", 0, 10, "{\"toll\":9}");
}

GRAPH_TEST(path, tells_its_hops) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  put_triangle(txn);
  options.cost = WEIR_COST_WEIGHT;
  OK(shortest(txn, "a", "c", &options));
  cr_assert(eq(int, path.found, 1));
  cr_assert(eq(dbl, path.cost, 3));
  cr_assert(eq(sz, path.hop_count, 2));
  cr_assert(gt(u64, path.met, 2));
  SAME(path.hops[0].from, "a");
  SAME(path.hops[0].to, "b");
  SAME(path.hops[1].from, "b");
  SAME(path.hops[1].to, "c");
  SAME(path.hops[1].label, "road");
  cr_assert(eq(i64, path.hops[1].rank, 7));
  cr_assert(eq(dbl, path.hops[1].weight, 2));
  cr_assert(eq(int, (int)path.hops[1].direction, WEIR_OUT));
  cr_assert(zero(ptr, (void *)path.hops[1].props.ptr));
  cr_assert(zero(int, path.hops[1].label.ptr[4]));
  weir_arena_clear(&arena);
}

GRAPH_TEST(path, comes_with_props_if_asked) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  put_triangle(txn);
  options.cost = WEIR_COST_PROP;
  options.cost_path = weir_str("toll");
  options.flags = WEIR_WITH_EDGES;
  options.reach.direction = WEIR_IN;
  OK(shortest(txn, "c", "a", &options));
  cr_assert(eq(dbl, path.cost, 3.5));
  SAME(path.hops[0].from, "c");
  SAME(path.hops[0].to, "b");
  SAME(path.hops[0].props, "{\"toll\":1.5}");
  SAME(path.hops[1].props, "{\"toll\":2}");
  cr_assert(eq(int, (int)path.hops[0].direction, WEIR_IN));
  cr_assert(eq(dbl, path.hops[0].weight, 3));
  weir_arena_clear(&arena);
}

GRAPH_TEST(path, without_costs_has_the_fewest_hops) {
  put_triangle(txn);
  OK(shortest(txn, "a", "c", NULL));
  cr_assert(eq(dbl, path.cost, 1));
  cr_assert(eq(sz, path.hop_count, 1));
  cr_assert(eq(dbl, path.hops[0].weight, 10));
  weir_arena_clear(&arena);
}

GRAPH_TEST(path, from_a_node_to_itself_has_no_hops) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  weir_cond none = WEIR_HAS("unheard of");
  put_costly(txn, "a", "a", 0, 1, "");
  for (int cost = WEIR_COST_HOPS; cost <= WEIR_COST_WEIGHT; cost++) {
    options.cost = cost;
    options.reach.nodes = &none; /* is not asked where a path begins */
    OK(shortest(txn, "a", "a", &options));
    cr_assert(eq(int, path.found, 1));
    cr_assert(zero(dbl, path.cost));
    cr_assert(zero(sz, path.hop_count));
  }
}

GRAPH_TEST(path, none_is_a_result) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  weir_text label = WEIR_TEXT("unheard of");
  weir_cond none = WEIR_HAS("unheard of");
  put_costly(txn, "a", "b", 0, 1, "");
  put_node(txn, "island", NULL);
  for (int i = 0; i < 10; i++) {
    options = (weir_path_options)WEIR_PATH_OPTIONS_INIT;
    options.cost = i % 2 ? WEIR_COST_WEIGHT : WEIR_COST_HOPS;
    options.reach.labels = i / 2 == 1 ? &label : NULL;
    options.reach.label_count = i / 2 == 1;
    options.reach.nodes = i / 2 == 2 ? &none : NULL; /* is asked where a path ends */
    options.reach.edges = i / 2 == 3 ? &none : NULL;
    options.reach.direction = i / 2 == 4 ? WEIR_IN : 0;
    OK(shortest(txn, "a", i / 2 == 0 ? "island" : "b", &options));
    cr_assert(zero(int, path.found));
    cr_assert(eq(int, (int)path.ending, WEIR_ENDED));
    cr_assert(zero(sz, path.hop_count));
  }
}

GRAPH_TEST(path, max_depth_bounds_the_hops) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  const char *keys[] = {"a", "b", "c", "d", "e"};
  for (int i = 0; i < 4; i++) {
    put_edge(txn, keys[i], "e", keys[i + 1]);
  }
  for (uint32_t depth = 0; depth < 6; depth++) {
    options.max_depth = depth;
    OK(shortest(txn, "a", "e", &options));
    cr_assert(eq(int, path.found, depth >= 4));
  }
  weir_arena_clear(&arena);
}

GRAPH_TEST(path, what_is_asked_may_lie_in_the_arena) {
  weir_arena own = WEIR_ARENA_INIT;
  weir_node node;
  put_triangle(txn);
  OK(weir_node_get(txn, weir_str("a"), &node, &own, &err));
  OK(weir_path_shortest(txn, node.key, weir_str("c"), NULL, &path, &own, &err));
  cr_assert(eq(sz, path.hop_count, 1));
  OK(weir_path_shortest(txn, path.hops[0].from, path.hops[0].to, NULL, &path, &own, &err));
  SAME(path.hops[0].from, "a");
  weir_arena_clear(&own);
}

static int no_visit(const weir_path *found, void *data, weir_error *error) {
  (void)found;
  (void)data;
  return weir_fail(error, WEIR_CONSTRAINT, "not to be visited");
}

GRAPH_TEST(path, unknown_nodes_are_not_found) {
  put_node(txn, "a", NULL);
  FAILS(shortest(txn, "a", "x", NULL), WEIR_NOT_FOUND, "\"x\"");
  FAILS(shortest(txn, "y", "a", NULL), WEIR_NOT_FOUND, "\"y\"");
  FAILS(shortest(txn, "y", "y", NULL), WEIR_NOT_FOUND, "\"y\"");
  FAILS(weir_path_all_shortest(txn, weir_str("a"), weir_str("x"), NULL, no_visit, NULL, NULL, &err),
        WEIR_NOT_FOUND, "\"x\"");
  FAILS(weir_path_k_shortest(txn, weir_str("a"), weir_str("x"), 0, NULL, no_visit, NULL, NULL, &err),
        WEIR_NOT_FOUND, "\"x\"");
}

/* All three functions refuse what is asked. */
#define REFUSED(txn, options, part)                                                                          \
  do {                                                                                                       \
    FAILS(shortest(txn, "a", "d", options), WEIR_INVALID, part);                                             \
    FAILS(weir_path_all_shortest(txn, weir_str("a"), weir_str("d"), options, no_visit, NULL, NULL, &err),    \
          WEIR_INVALID, part);                                                                               \
    FAILS(weir_path_k_shortest(txn, weir_str("a"), weir_str("d"), 9, options, no_visit, NULL, NULL, &err),   \
          WEIR_INVALID, part);                                                                               \
  } while (0)

GRAPH_TEST(path, an_edge_without_a_usable_cost_is_named) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  put_costly(txn, "a", "b", 0, 1, "{\"toll\":1}");
  put_costly(txn, "c", "b", -4, -1.5, "{\"toll\":\"2\"}"); /* followed against its direction */
  put_costly(txn, "c", "d", 0, 1, "{\"toll\":1}");
  options.reach.direction = WEIR_BOTH;
  options.cost = WEIR_COST_WEIGHT;
  REFUSED(txn, &options, "edge \"c\" -[road]-> \"b\", rank -4, costs -1.5");
  options.cost = WEIR_COST_PROP;
  options.cost_path = weir_str("toll");
  REFUSED(txn, &options, "edge \"c\" -[road]-> \"b\", rank -4, has no number at \"toll\"");
}

GRAPH_TEST(path, an_edge_that_is_left_out_may_cost_anything) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  weir_cond cheap = WEIR_TEST(WEIR_FIELD_WEIGHT, WEIR_GE, weir_int(0));
  weir_cond other = WEIR_TEST(WEIR_FIELD_KEY, WEIR_NE, weir_string("x"));
  put_costly(txn, "a", "c", 0, 1, "");
  put_costly(txn, "a", "c", 1, -1, "");
  options.cost = WEIR_COST_WEIGHT;
  options.reach.edges = &cheap;
  OK(shortest(txn, "a", "c", &options));
  cr_assert(eq(dbl, path.cost, 1));
  options.reach.edges = NULL;
  put_costly(txn, "a", "c", 1, 2, "");
  put_costly(txn, "a", "x", 0, -1, ""); /* leads to a node that is left out */
  options.reach.nodes = &other;
  OK(shortest(txn, "a", "c", &options));
  cr_assert(eq(dbl, path.cost, 1));
  weir_arena_clear(&arena);
}

static int count_paths(const weir_path *found, void *data, weir_error *error) {
  (void)error;
  ++*(int *)data;
  return found->cost == 3 ? WEIR_OK : WEIR_CONFLICT;
}

/* a -> x -> c costs 5 - 2. The search has not met x's edges when it ends, as x alone is further than c. */
GRAPH_TEST(path, an_edge_that_was_not_met_is_on_no_path) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  int count = 0;
  put_costly(txn, "a", "c", 0, 3, "");
  put_costly(txn, "a", "x", 0, 5, "");
  put_costly(txn, "x", "c", 0, -2, "");
  options.cost = WEIR_COST_WEIGHT;
  OK(weir_path_all_shortest(txn, weir_str("a"), weir_str("c"), &options, count_paths, &count, NULL, &err));
  cr_assert(eq(int, count, 1));
}

GRAPH_TEST(path, senseless_options_are_refused) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  weir_path_options init = WEIR_PATH_OPTIONS_INIT;
  put_edge(txn, "a", "e", "d");
  options.cost = WEIR_COST_WEIGHT;
  options.max_depth = 3;
  REFUSED(txn, &options, "max_depth 3");
  options = init;
  options.cost = 7;
  REFUSED(txn, &options, "cost 7");
  options = init;
  options.cost = WEIR_COST_PROP;
  REFUSED(txn, &options, "cost_path");
  options = init;
  options.flags = WEIR_WITH_PATHS | WEIR_WITH_EDGES;
  REFUSED(txn, &options, "flags 0x6");
  options = init;
  options.reach.direction = 4;
  REFUSED(txn, &options, "direction 4");
  options = init;
  options.reach.label_count = 1;
  REFUSED(txn, &options, "labels");
}

GRAPH_TEST(path, null_arguments_are_refused) {
  const weir_text a = WEIR_TEXT("a");
  const weir_text none = {NULL, 0};
  put_node(txn, "a", NULL);
  FAILS(weir_path_shortest(txn, a, a, NULL, NULL, &arena, &err), WEIR_INVALID, "out");
  FAILS(weir_path_shortest(txn, a, a, NULL, &path, NULL, &err), WEIR_INVALID, "arena");
  FAILS(weir_path_shortest(txn, none, a, NULL, &path, &arena, &err), WEIR_INVALID, "from");
  FAILS(weir_path_shortest(txn, a, none, NULL, &path, &arena, &err), WEIR_INVALID, "to");
  FAILS(weir_path_shortest(NULL, a, a, NULL, &path, &arena, &err), WEIR_INVALID, "txn");
  FAILS(weir_path_all_shortest(txn, a, a, NULL, NULL, NULL, NULL, &err), WEIR_INVALID, "visit");
  FAILS(weir_path_k_shortest(txn, a, a, 1, NULL, NULL, NULL, NULL, &err), WEIR_INVALID, "visit");
}
