/* Edges one at a time: writing, reading, counting. */
#include "graph_fixture.h"

/* The edge a-[e]->b. */
static weir_edge edge_of_rank(int64_t rank) {
  weir_edge edge = WEIR_EDGE("a", "e", "b");
  edge.rank = rank;
  return edge;
}

GRAPH_TEST(edges, get_gives_what_put_was_given) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_edge edge = edge_of_rank(-7);
  weir_edge out;
  put_node(txn, "a", NULL);
  put_node(txn, "b", NULL);
  edge.weight = 0.1;
  edge.props = weir_str("{\"since\":2001}");
  OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  OK(weir_edge_get(txn, &edge, &out, &arena, &err));
  SAME(out.src, "a");
  SAME(out.label, "e");
  SAME(out.dst, "b");
  SAME(out.props, "{\"since\":2001}");
  cr_assert(eq(i64, out.rank, -7));
  cr_assert(eq(dbl, out.weight, 0.1));
  cr_assert(eq(i64, out.rev, 3));
  cr_assert(zero(chr, out.dst.ptr[out.dst.len]));
  weir_arena_clear(&arena);
}

GRAPH_TEST(edges, put_tells_inserted_updated_unchanged) {
  weir_edge edge = edge_of_rank(0);
  weir_outcome outcome;
  OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_INSERTED));
  OK(weir_edge_put(txn, &edge, 0, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UNCHANGED));
  edge.weight = 2.5;
  OK(weir_edge_put(txn, &edge, 0, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UPDATED));
  edge.props = weir_str("{\"a\":1}");
  OK(weir_edge_put(txn, &edge, 0, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UPDATED));
  OK(weir_edge_put(txn, &edge, 0, &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UNCHANGED));
  cr_assert(eq(i64, last_rev(txn), 3));
  cr_assert(eq(i64, count_edges(txn, NULL), 1));
}

GRAPH_TEST(edges, a_missing_endpoint_is_not_found_and_leaves_no_trace) {
  put_node(txn, "a", NULL);
  FAILS(weir_edge_put(txn, &WEIR_EDGE("a", "new", "b"), 0, NULL, &err), WEIR_NOT_FOUND, "dst key \"b\"");
  FAILS(weir_edge_put(txn, &WEIR_EDGE("b", "new", "a"), 0, NULL, &err), WEIR_NOT_FOUND, "src key \"b\"");
  FAILS(weir_edge_add(txn, &WEIR_EDGE("b", "new", "a"), WEIR_NEXT_RANK, NULL, &err), WEIR_NOT_FOUND,
        "WEIR_CREATE_ENDPOINTS");
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 0));
  cr_assert(eq(i64, last_rev(txn), 1));
}

GRAPH_TEST(edges, create_endpoints_makes_what_is_missing) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  put_node(txn, "a", "kept");
  OK(weir_edge_put(txn, &WEIR_EDGE("a", "e", "b"), WEIR_CREATE_ENDPOINTS, NULL, &err));
  OK(weir_edge_put(txn, &WEIR_EDGE("loop", "e", "loop"), WEIR_CREATE_ENDPOINTS, NULL, &err));
  cr_assert(eq(i64, count_nodes(txn, NULL), 3));
  cr_assert(eq(i64, count_nodes(txn, "kept"), 1));
  OK(weir_node_get(txn, weir_str("b"), &node, &arena, &err));
  SAME(node.props, "{}");
  cr_assert(zero(sz, node.label_count));
  cr_assert(eq(i64, node.rev, 2)); /* of the transaction that put the edge */
  weir_arena_clear(&arena);
}

GRAPH_TEST(edges, rank_tells_parallel_edges_apart) {
  const int64_t ranks[] = {0, 1, -1, INT64_MIN, INT64_MAX};
  weir_arena arena = WEIR_ARENA_INIT;
  weir_edge out;
  for (int i = 0; i < 5; i++) {
    weir_edge edge = edge_of_rank(ranks[i]);
    edge.weight = i;
    OK(weir_edge_add(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
  }
  for (int i = 0; i < 5; i++) {
    weir_edge edge = edge_of_rank(ranks[i]);
    OK(weir_edge_get(txn, &edge, &out, &arena, &err));
    cr_assert(eq(dbl, out.weight, i));
  }
  cr_assert(eq(i64, count_edges(txn, "e"), 5));
  weir_arena_clear(&arena);
}

GRAPH_TEST(edges, label_and_direction_are_of_the_identity) {
  int existed;
  put_edge(txn, "a", "e", "b");
  put_edge(txn, "b", "e", "a");
  put_edge(txn, "a", "f", "b");
  cr_assert(eq(i64, count_edges(txn, NULL), 3));
  OK(weir_edge_del(txn, &WEIR_EDGE("a", "e", "b"), &existed, &err));
  cr_assert(eq(int, existed, 1));
  cr_assert(eq(i64, count_edges(txn, "e"), 1));
  cr_assert(eq(i64, count_edges(txn, "f"), 1));
}

GRAPH_TEST(edges, add_refuses_an_identity_that_exists) {
  weir_edge edge = edge_of_rank(4);
  int64_t rank = -1;
  OK(weir_edge_add(txn, &edge, WEIR_CREATE_ENDPOINTS, &rank, &err));
  cr_assert(eq(i64, rank, 4));
  FAILS(weir_edge_add(txn, &edge, 0, &rank, &err), WEIR_EXISTS, "rank 4");
  cr_assert(eq(i64, count_edges(txn, NULL), 1));
}

GRAPH_TEST(edges, next_rank_goes_up_from_zero) {
  weir_edge edge = edge_of_rank(-5);
  int64_t rank = -1;
  OK(weir_edge_add(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
  for (int64_t i = 0; i < 3; i++) { /* negative ranks do not count */
    OK(weir_edge_add(txn, &edge, WEIR_NEXT_RANK, &rank, &err));
    cr_assert(eq(i64, rank, i));
  }
  edge.rank = 10;
  OK(weir_edge_add(txn, &edge, 0, NULL, &err));
  OK(weir_edge_add(txn, &edge, WEIR_NEXT_RANK, &rank, &err));
  cr_assert(eq(i64, rank, 11)); /* above those in use, not into the gap */
}

GRAPH_TEST(edges, next_rank_does_not_wrap) {
  weir_edge edge = edge_of_rank(INT64_MAX);
  OK(weir_edge_add(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
  FAILS(weir_edge_add(txn, &edge, WEIR_NEXT_RANK, NULL, &err), WEIR_CONSTRAINT, "9223372036854775807");
  cr_assert(eq(i64, count_edges(txn, NULL), 1));
}

GRAPH_TEST(edges, merge_patches_props_and_keeps_weight) {
  weir_edge edge = edge_of_rank(0);
  weir_arena arena = WEIR_ARENA_INIT;
  weir_outcome outcome;
  weir_edge out;
  edge.weight = 3;
  edge.props = weir_str("{\"a\":1,\"b\":2}");
  OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
  OK(weir_edge_merge(txn, &WEIR_EDGE("a", "e", "b"), weir_str("{\"b\":2}"), &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UNCHANGED));
  OK(weir_edge_merge(txn, &WEIR_EDGE("a", "e", "b"), weir_str("{\"b\":null}"), &outcome, &err));
  cr_assert(eq(int, outcome, WEIR_UPDATED));
  OK(weir_edge_get(txn, &edge, &out, &arena, &err));
  SAME(out.props, "{\"a\":1}");
  cr_assert(eq(dbl, out.weight, 3));
  cr_assert(eq(i64, out.rev, 2));
  weir_arena_clear(&arena);
}

/* What is not there: an endpoint, the label, the edge. */
GRAPH_TEST(edges, a_missing_edge_is_not_found) {
  const weir_edge missing[] = {WEIR_EDGE("a", "e", "x"), WEIR_EDGE("x", "e", "b"), WEIR_EDGE("a", "x", "b"),
                               WEIR_EDGE("b", "e", "a"), edge_of_rank(1)};
  weir_arena arena = WEIR_ARENA_INIT;
  weir_edge out;
  put_edge(txn, "a", "e", "b");
  for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
    int existed = -1;
    FAILS(weir_edge_get(txn, &missing[i], &out, &arena, &err), WEIR_NOT_FOUND, "no edge");
    FAILS(weir_edge_merge(txn, &missing[i], weir_str("{\"a\":1}"), NULL, &err), WEIR_NOT_FOUND, "no edge");
    OK(weir_edge_del(txn, &missing[i], &existed, &err));
    cr_assert(eq(int, existed, 0));
  }
  cr_assert(eq(i64, last_rev(txn), 1));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 1));
  weir_arena_clear(&arena);
}

GRAPH_TEST(edges, an_edge_that_was_read_names_itself) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_arena other = WEIR_ARENA_INIT;
  weir_edge edge = edge_of_rank(2);
  int existed;
  OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
  OK(weir_edge_get(txn, &edge, &edge, &arena, &err));
  OK(weir_edge_get(txn, &edge, &edge, &other, &err));
  cr_assert(eq(i64, edge.rank, 2));
  OK(weir_edge_del(txn, &edge, &existed, &err));
  cr_assert(eq(int, existed, 1));
  weir_arena_clear(&arena);
  weir_arena_clear(&other);
}

GRAPH_TEST(edges, count_by_label) {
  put_edge(txn, "a", "e", "b");
  put_edge(txn, "b", "e", "a");
  put_edge(txn, "a", "f", "a");
  cr_assert(eq(i64, count_edges(txn, NULL), 3));
  cr_assert(eq(i64, count_edges(txn, "e"), 2));
  cr_assert(eq(i64, count_edges(txn, "unheard of"), 0));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), 2));
}
