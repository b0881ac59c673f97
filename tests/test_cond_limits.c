/* Conditions at their limits: many parts, deep ones, and members that a condition does not use. */
#include <weir/traverse.h>

#include "graph_fixture.h"

/* Conditions within conditions, each of two parts: one that is true for n1 alone, and the next one. */
struct nest {
  weir_cond conds[WEIR_COND_MAX];
  size_t used;
};

static weir_cond *take(struct nest *nest, size_t count) {
  cr_assert(le(sz, nest->used + count, (size_t)WEIR_COND_MAX));
  nest->used += count;
  return nest->conds + nest->used - count;
}

/* `inner`, within `op`, where it is the first or the last part. */
static weir_cond within(struct nest *nest, weir_op op, weir_cond inner, int last) {
  size_t count = op == WEIR_NOT ? 1 : 2;
  weir_cond *parts = take(nest, count);
  parts[0] = parts[count - 1] = WEIR_PROP("a", WEIR_EQ, weir_int(1));
  parts[last ? count - 1 : 0] = inner;
  return (weir_cond){.op = op, .parts = parts, .count = count};
}

static void put_three(weir_txn *txn) {
  for (int i = 0; i < 3; i++) {
    char key[16];
    char props[24];
    snprintf(key, sizeof key, "n%d", i);
    snprintf(props, sizeof props, "{\"a\":%d}", i);
    const weir_node node = {.key = weir_str(key), .props = weir_str(props)};
    weir_edge edge = WEIR_EDGE("n0", "e", key);
    edge.props = weir_str(props);
    OK(weir_node_put(txn, &node, NULL, &err));
    OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  }
}

static int count_node(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  (void)error;
  ++*(int *)data;
  return WEIR_OK;
}

static int count_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  (void)error;
  ++*(int *)data;
  return WEIR_OK;
}

/* The condition is true for n1 and for the edge to it alone, whatever takes it. */
static void holds_for(weir_txn *txn, const weir_cond *cond) {
  weir_find find = WEIR_FIND_INIT;
  const weir_reach reach = {.nodes = cond, .edges = cond};
  uint64_t around[2];
  int nodes = 0;
  int edges = 0;
  find.where = cond;
  OK(weir_node_find(txn, &find, count_node, &nodes, &err));
  OK(weir_edge_find(txn, &find, count_edge, &edges, &err));
  OK(weir_within_count(txn, weir_str("n0"), 1, &reach, around, &err));
  cr_assert(eq(int, nodes, 1));
  cr_assert(eq(int, edges, 1));
  cr_assert(eq(u64, around[1], 1));
}

GRAPH_TEST(cond_limits, a_chain_of_one_operator_may_be_long) {
  put_three(txn);
  for (int last = 0; last < 2; last++) {
    for (int op = WEIR_AND; op <= WEIR_OR; op++) {
      struct nest nest = {.used = 1};
      weir_cond cond = WEIR_PROP("a", WEIR_EQ, weir_int(1));
      weir_find find = WEIR_FIND_INIT;
      int count = 0;
      while (nest.used + 2 <= WEIR_COND_MAX) {
        cond = within(&nest, (weir_op)op, cond, last);
      }
      holds_for(txn, &cond);
      cond = (weir_cond){.op = (weir_op)op, .parts = (const weir_cond[]){cond, cond}, .count = 2};
      find.where = &cond;
      FAILS(weir_node_find(txn, &find, count_node, &count, &err), WEIR_INVALID, "more than 256 parts");
    }
  }
}

GRAPH_TEST(cond_limits, operators_may_alternate_to_a_depth) {
  static const weir_op turns[][2] = {{WEIR_AND, WEIR_OR}, {WEIR_NOT, WEIR_NOT}};
  put_three(txn);
  for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
    for (int last = 0; last < 2; last++) {
      struct nest nest = {.used = 1};
      weir_cond cond = WEIR_PROP("a", WEIR_EQ, weir_int(1));
      weir_find find = WEIR_FIND_INIT;
      int count = 0;
      for (int depth = 0; depth < WEIR_COND_DEPTH; depth++) {
        cond = within(&nest, turns[i][depth % 2], cond, last);
      }
      holds_for(txn, &cond); /* for n1, as without all that is around it */
      cond = within(&nest, turns[i][WEIR_COND_DEPTH % 2], cond, last);
      find.where = &cond;
      FAILS(weir_node_find(txn, &find, count_node, &count, &err), WEIR_INVALID, "more than 16 deep");
    }
  }
}

static int count_step(const weir_step *step, void *data, weir_error *error) {
  (void)step;
  (void)error;
  ++*(int *)data;
  return WEIR_OK;
}

/* A walk copies its conditions; what they do not use may be anything. */
GRAPH_TEST(cond_limits, what_a_condition_does_not_use_is_not_read) {
  static const char nothing[1];
  const weir_text wild = {nothing, (size_t)1 << 40};
  const weir_text start = WEIR_TEXT("n0");
  weir_value value = weir_int(1);
  value.text = wild;
  const weir_cond parts[] = {
      {.op = WEIR_EQ, .field = WEIR_FIELD_PROP, .path = weir_str("a"), .value = value},
      {.op = WEIR_ONE_OF,
       .field = WEIR_FIELD_PROP,
       .path = weir_str("a"),
       .value = value,
       .values = &value,
       .count = 1},
      {.op = WEIR_GE, .field = WEIR_FIELD_REV, .path = wild, .value = weir_int(1)},
      {.op = WEIR_PRESENT, .field = WEIR_FIELD_PROP, .path = weir_str("a"), .value = value}};
  const weir_cond cond = {.op = WEIR_AND, .path = wild, .value = value, .parts = parts, .count = 4};
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  int count = 0;
  put_three(txn);
  options.reach.nodes = &cond;
  OK(weir_walk_once(txn, &start, 1, &options, count_step, &count, NULL, &err));
  cr_assert(eq(int, count, 2)); /* n0, and n1 */
}
