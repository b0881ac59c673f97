/* The C of docs/traversal.md, compiled and run. */
#include "graph_fixture.h"

#include <weir/traverse.h>

#include "printed.h"

static int print_step(const weir_step *step, void *data, weir_error *error) {
  (void)data;
  (void)error;
  printf("%u %s\n", step->depth, step->node.key.ptr);
  return WEIR_OK;
}

static int walk_friends(weir_txn *txn, const char *person, weir_error *error) {
  const weir_text start = weir_str(person), knows = weir_str("knows");
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.reach.labels = &knows;
  options.reach.label_count = 1;
  options.min_depth = 1;
  options.max_depth = 2;
  return weir_walk_once(txn, &start, 1, &options, print_step, NULL, NULL, error);
}

static int walk_in_runs(weir_txn *txn, const char *person, weir_error *error) {
  const weir_text start = weir_str(person);
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  weir_walk *walk = NULL;
  weir_walk_result result = {.ending = WEIR_ENDED_NODES};
  options.budget.nodes = 100; /* of each run */
  int rc = weir_walk_open(&walk, &start, 1, &options, error);
  while (rc == WEIR_OK && result.ending != WEIR_ENDED)
    rc = weir_walk_run(walk, txn, print_step, NULL, &result, error); /* others may write in between */
  weir_walk_close(walk);
  return rc;
}

static int print_up_to_gates(const weir_step *step, void *data, weir_error *error) {
  (void)data;
  (void)error;
  printf("%s\n", step->node.key.ptr);
  return strcmp(step->node.label.ptr, "gate") == 0 ? WEIR_PRUNE : WEIR_OK;
}

static int walk_within_gates(weir_txn *txn, const char *room, weir_error *error) {
  const weir_text start = weir_str(room);
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.flags = WEIR_WITH_NODES; /* for the label */
  return weir_walk_once(txn, &start, 1, &options, print_up_to_gates, NULL, NULL, error);
}

static int print_way(weir_txn *txn, const char *from, const char *to, weir_error *error) {
  weir_path_options options = WEIR_PATH_OPTIONS_INIT;
  weir_arena arena = WEIR_ARENA_INIT;
  weir_path path;
  options.cost = WEIR_COST_WEIGHT;
  int rc = weir_path_shortest(txn, weir_str(from), weir_str(to), &options, &path, &arena, error);
  if (rc == WEIR_OK && !path.found)
    printf("no way\n");
  for (size_t i = 0; rc == WEIR_OK && path.found && i < path.hop_count; i++)
    printf("%s -%s-> %s, %g\n", path.hops[i].from.ptr, path.hops[i].label.ptr, path.hops[i].to.ptr,
           path.hops[i].weight);
  weir_arena_clear(&arena);
  return rc;
}

/* ---- It does what the page says --------------------------------------------------------------------------
 */

static void put_way(weir_txn *txn, const char *src, const char *dst, double weight) {
  weir_edge edge = WEIR_EDGE(src, "way", dst);
  edge.weight = weight;
  OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
}

GRAPH_TEST(traversing, page_says_what_is_so) {
  put_node(txn, "alice", "person");
  put_node(txn, "bob", "person");
  put_node(txn, "carol", "person");
  put_node(txn, "dora", "person");
  put_edge(txn, "alice", "knows", "bob");
  put_edge(txn, "bob", "knows", "carol");
  put_edge(txn, "carol", "knows", "dora");
  OK(walk_friends(txn, "alice", &err));
  SAME_STRING(printed(), "1 bob\n2 carol\n");
  OK(walk_in_runs(txn, "alice", &err));
  SAME_STRING(printed(), "0 alice\n1 bob\n2 carol\n3 dora\n");
  put_way(txn, "hall", "stairs", 1);
  put_way(txn, "stairs", "attic", 2);
  put_way(txn, "hall", "attic", 9);
  OK(print_way(txn, "hall", "attic", &err));
  SAME_STRING(printed(), "hall -way-> stairs, 1\nstairs -way-> attic, 2\n");
  OK(print_way(txn, "attic", "hall", &err));
  SAME_STRING(printed(), "no way\n");
  OK(weir_node_put(txn, &WEIR_NODE("stairs", "gate", "{}"), NULL, &err));
  OK(weir_edge_del(txn, &WEIR_EDGE("hall", "way", "attic"), NULL, &err));
  OK(walk_within_gates(txn, "hall", &err));
  SAME_STRING(printed(), "hall\nstairs\n");
}

GRAPH_TEST(traversing, a_walk_in_runs_visits_all) {
  char key[16];
  size_t lines = 0;
  put_node(txn, "0", "n");
  for (int i = 1; i < 250; i++) {
    (void)snprintf(key, sizeof key, "%d", i);
    put_node(txn, key, "n");
    put_edge(txn, "0", "to", key);
  }
  OK(walk_in_runs(txn, "0", &err));
  for (const char *at = printed(); *at; at++)
    lines += *at == '\n';
  cr_assert(eq(sz, lines, 250));
}
