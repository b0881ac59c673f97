/* What is refused as a projection, and what is said of none. */
#include <weir/projection.h>

#include "graph_fixture.h"

#define REFUSED(member_, value_, part_)                                                                      \
  do {                                                                                                       \
    weir_projection_options options_ = WEIR_PROJECTION_OPTIONS_INIT;                                         \
    options_.member_ = (value_);                                                                             \
    FAILS(weir_projection_open(&p, txn, &options_, NULL, &err), WEIR_INVALID, part_);                        \
  } while (0)

GRAPH_TEST(projection_refusals, refuses_options_that_make_no_sense) {
  weir_projection *p = NULL;
  const weir_cond bad = WEIR_TEST(WEIR_FIELD_WEIGHT, WEIR_GT, weir_int(1));
  REFUSED(size, 0, "size");
  REFUSED(node_label_count, 1, "node_labels is NULL");
  REFUSED(edge_label_count, 65, "65 edge_labels");
  REFUSED(nodes, &bad, "weight");
  REFUSED(parallel, (weir_parallel)4, "parallel 4");
  REFUSED(weight, (weir_cost)3, "weight 3");
  REFUSED(weight, WEIR_COST_PROP, "weight_path");
  REFUSED(weight_path, weir_str("w"), "set weight to WEIR_COST_PROP");
}

GRAPH_TEST(projection_refusals, refuses_arguments_that_make_no_sense) {
  weir_projection *p = NULL;
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  const weir_text empty[] = {WEIR_TEXT("a"), WEIR_TEXT("")};
  const double nan = 0.0 / 0.0;
  FAILS(weir_projection_open(NULL, txn, NULL, NULL, &err), WEIR_INVALID, "out is NULL");
  FAILS(weir_projection_open(&p, NULL, NULL, NULL, &err), WEIR_INVALID, "txn is NULL");
  options.edge_labels = empty;
  options.edge_label_count = 2;
  FAILS(weir_projection_open(&p, txn, &options, NULL, &err), WEIR_INVALID, "edge_labels 1");
  options.edge_label_count = 0;
  options.weight = WEIR_COST_PROP;
  options.weight_path = weir_str("w");
  options.weight_missing = &nan;
  FAILS(weir_projection_open(&p, txn, &options, NULL, &err), WEIR_INVALID, "weight_missing");
  weir_run run = {.size = sizeof run, .threads = WEIR_THREADS_MAX + 1};
  FAILS(weir_projection_open(&p, txn, NULL, &run, &err), WEIR_INVALID, "threads");
  cr_assert(eq(ptr, p, NULL));
  weir_projection_close(NULL);
}

GRAPH_TEST(projection_refusals, refuses_weights_that_add_up_to_infinity) {
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  weir_projection *p = NULL;
  put_node(txn, "a", NULL);
  put_node(txn, "b", NULL);
  weir_edge edge = WEIR_EDGE("a", "knows", "b");
  edge.weight = 1.7e308;
  OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  edge.rank = 1;
  OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  options.weight = WEIR_COST_WEIGHT;
  options.parallel = WEIR_PARALLEL_SUM;
  for (options.undirected = 0; options.undirected < 2; options.undirected++) {
    FAILS(weir_projection_open(&p, txn, &options, NULL, &err), WEIR_INVALID, "too great to add up");
    cr_assert(eq(ptr, p, NULL));
  }
  options.undirected = 0;
  options.parallel = WEIR_PARALLEL_MAX;
  OK(weir_projection_open(&p, txn, &options, NULL, &err));
  cr_assert(eq(dbl, weir_projection_adjacent(p, 0, WEIR_OUT).weights[0], 1.7e308));
  weir_projection_close(p);
}

GRAPH_TEST(projection_refusals, no_projection_is_empty) {
  weir_projection_info info = {.nodes = 1};
  weir_projection_describe(NULL, &info);
  cr_assert(eq(u32, info.nodes, 0));
  cr_assert(eq(u32, weir_projection_nodes(NULL), 0));
  cr_assert(eq(ptr, (void *)weir_projection_key(NULL, 0).ptr, NULL));
  cr_assert(eq(sz, weir_projection_adjacent(NULL, 0, WEIR_OUT).count, 0));
}

GRAPH_TEST(projection_refusals, a_direction_of_zero_is_out_and_both_are_one_if_undirected) {
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  weir_projection *p = NULL;
  put_node(txn, "a", NULL);
  put_node(txn, "b", NULL);
  put_edge(txn, "a", "knows", "b");
  OK(weir_projection_open(&p, txn, &options, NULL, &err));
  cr_assert(eq(sz, weir_projection_adjacent(p, 0, (weir_direction)0).count, 1));
  cr_assert(eq(sz, weir_projection_adjacent(p, 0, WEIR_BOTH).count, 0));
  weir_projection_close(p);
  options.undirected = 1;
  OK(weir_projection_open(&p, txn, &options, NULL, &err));
  cr_assert(eq(sz, weir_projection_adjacent(p, 1, WEIR_BOTH).count, 1));
  weir_projection_close(p);
}
