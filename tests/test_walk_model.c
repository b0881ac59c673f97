/*
 * Walks of every kind over random graphs, in one run, compared step by step with walks that are done naively.
 * Prints its seed.
 */
#include "walk_model.h"

#define GRAPHS WEIR_TEST_ROUNDS(25)
#define WALKS  16

static struct model_walk walk;

static void clear(weir_txn *txn) {
  for (int i = 0; i < MODEL_NODES; i++) {
    OK(weir_node_del(txn, weir_str(model_key(i)), NULL, &err));
  }
}

static void pick_options(weir_walk_options *options, weir_test_rng *rng) {
  *options = (weir_walk_options)WEIR_WALK_OPTIONS_INIT;
  options->order = (weir_walk_order)weir_test_below(rng, 2);
  options->unique = (weir_unique)weir_test_below(rng, 3);
  options->min_depth = (uint32_t)weir_test_below(rng, 3);
  options->max_depth = weir_test_below(rng, 3) ? (uint32_t)weir_test_below(rng, 6) : WEIR_UNLIMITED;
  options->min_depth = options->min_depth > options->max_depth ? options->max_depth : options->min_depth;
  options->flags = (unsigned)weir_test_below(rng, 8);
}

/* Some starts, each once. */
static int pick_starts(const struct model *model, weir_test_rng *rng, int starts[MODEL_NODES]) {
  int count = 0;
  int most = weir_test_below(rng, 2) ? 1 : 3;
  for (int i = 0; i < most; i++) {
    int start = (int)weir_test_below(rng, (uint64_t)model->node_count);
    int known = 0;
    for (int k = 0; k < count; k++) {
      known = known || starts[k] == start;
    }
    if (!known) {
      starts[count++] = start;
    }
  }
  return count;
}

/* By WEIR_UNIQUE_NODE exactly the nodes within max_depth are visited, breadth first at their distance. */
static void check_reached(const struct model_walk *done) {
  int distance[MODEL_NODES];
  int visited[MODEL_NODES] = {0};
  model_distances(done->model, done->reach, done->starts, done->start_count, distance);
  for (int i = 0; i < done->count; i++) {
    const struct model_visit *visit = &done->visits[i];
    visited[visit->node]++;
    cr_assert(ge(int, (int)visit->depth, distance[visit->node]));
    if (done->options->order == WEIR_BREADTH_FIRST) {
      cr_assert(eq(int, (int)visit->depth, distance[visit->node]));
    }
  }
  for (int node = 0; node < done->model->node_count; node++) {
    int within = distance[node] >= 0 && (unsigned)distance[node] <= done->options->max_depth;
    cr_assert(eq(int, visited[node], within), "node %d", node);
  }
}

static void check_walk(const struct model *model, weir_txn *txn, weir_test_rng *rng) {
  struct model_reach reach;
  weir_walk_options options;
  weir_walk_result result;
  int starts[MODEL_NODES];
  weir_text keys[MODEL_NODES];
  model_reach_make(&reach, rng);
  pick_options(&options, rng);
  options.reach = reach.reach;
  walk = (struct model_walk){.model = model, .reach = &reach, .options = &options, .starts = starts};
  walk.start_count = pick_starts(model, rng, starts);
  for (int i = 0; i < walk.start_count; i++) {
    keys[i] = weir_str(model_key(starts[i]));
  }
  struct model_check check = {.walk = &walk, .stop_at = -1, .fail_at = -1};
  if (!model_walk(&walk)) {
    return; /* too many paths */
  }
  OK(weir_walk_once(txn, keys, (size_t)walk.start_count, &options, model_check_step, &check, &result, &err));
  cr_assert(eq(int, check.at, walk.count));
  cr_assert(eq(u64, result.visited, (uint64_t)walk.count));
  cr_assert(ge(u64, result.met, result.visited));
  cr_assert(eq(int, (int)result.ending, WEIR_ENDED));
  if (options.unique == WEIR_UNIQUE_NODE && options.min_depth == 0) {
    check_reached(&walk);
  }
}

struct task {
  const struct model *model;
  weir_test_rng *rng;
};

static int check_walks(weir_txn *txn, void *data, weir_error *error) {
  const struct task *task = data;
  (void)error;
  for (int i = 0; i < WALKS; i++) {
    check_walk(task->model, txn, task->rng);
  }
  return WEIR_OK;
}

GRAPH_TEST(walk_model, walks_are_those_of_the_model) {
  weir_test_rng rng = {weir_test_seed()};
  struct model model;
  struct task task = {&model, &rng};
  for (int i = 0; i < GRAPHS; i++) {
    int nodes = 1 + (int)weir_test_below(&rng, MODEL_NODES);
    int most = nodes * nodes < MODEL_EDGES ? nodes * nodes : MODEL_EDGES;
    model_make(&model, &rng, nodes, (int)weir_test_below(&rng, (uint64_t)most + 1));
    clear(txn);
    model_put(&model, txn);
    OK(check_walks(txn, &task, &err));
    OK(weir_read(txn, check_walks, &task, NULL, &err));
    OK(weir_write(txn, check_walks, &task, NULL, &err));
  }
}
