/*
 * Walks in many runs: budgets, stops and errors at any visit, in one snapshot and over several transactions,
 * visit what one run visits. Prints its seed.
 */
#include <time.h>

#include "walk_model.h"

#define GRAPHS 12
#define WALKS  12

static struct model_walk walk;

struct task {
  weir_walk *handle;
  struct model_check check;
  weir_test_rng *rng;
  int one_run; /* 1: come back after each */
  int ended;
  int runs;
};

/* Runs until the walk has ended, or once. */
static int run_on(weir_txn *txn, void *data, weir_error *error) {
  struct task *task = data;
  const weir_walk_options *options = task->check.walk->options;
  do {
    weir_walk_result result = {.ending = WEIR_ENDED};
    int before = task->check.at;
    task->check.stop_at = weir_test_below(task->rng, 4) ? -1 : before + (int)weir_test_below(task->rng, 3);
    task->check.fail_at = weir_test_below(task->rng, 4) ? -1 : before + (int)weir_test_below(task->rng, 3);
    int rc = weir_walk_run(task->handle, txn, model_check_step, &task->check, &result, error);
    task->runs++;
    if (rc == WEIR_CONFLICT && result.visited == (uint64_t)(task->check.at - before + 1)) {
      continue;
    }
    if (rc) {
      return rc;
    }
    if (options->budget.nodes && result.met > options->budget.nodes) {
      return weir_fail(error, WEIR_CORRUPT, "%d met", (int)result.met);
    }
    if (result.visited != (uint64_t)(task->check.at - before) ||
        (result.ending == WEIR_ENDED_STOP) !=
            (result.visited > 0 && task->check.at == task->check.stop_at + 1)) {
      return weir_fail(error, WEIR_CORRUPT, "ended by %d", (int)result.ending);
    }
    task->ended = result.ending == WEIR_ENDED;
  } while (!task->ended && !task->one_run);
  return WEIR_OK;
}

static void check_walk(const struct model *model, weir_txn *txn, weir_test_rng *rng) {
  struct model_reach reach;
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  int start = (int)weir_test_below(rng, (uint64_t)model->node_count);
  weir_text key = weir_str(model_key(start));
  struct task task = {.rng = rng, .one_run = (int)weir_test_below(rng, 2)};
  model_reach_make(&reach, rng);
  options.reach = reach.reach;
  options.order = (weir_walk_order)weir_test_below(rng, 2);
  options.unique = (weir_unique)weir_test_below(rng, 3);
  options.min_depth = (uint32_t)weir_test_below(rng, 2);
  options.max_depth = weir_test_below(rng, 2) ? 4 : WEIR_UNLIMITED;
  options.flags = (unsigned)weir_test_below(rng, 8);
  options.budget.nodes = weir_test_below(rng, 4);
  options.budget.memory = weir_test_below(rng, 2);
  walk = (struct model_walk){.model = model, .reach = &reach, .options = &options};
  walk.starts = &start;
  walk.start_count = 1;
  task.check = (struct model_check){.walk = &walk, .stop_at = -1, .fail_at = -1};
  if (!model_walk(&walk) || walk.count > 400) {
    return; /* too many paths */
  }
  OK(weir_walk_open(&task.handle, &key, 1, &options, &err));
  while (!task.ended) {
    OK(task.one_run ? run_on(txn, &task, &err) : weir_read(txn, run_on, &task, NULL, &err));
  }
  cr_assert(eq(int, task.check.at, walk.count));
  weir_walk_close(task.handle);
}

GRAPH_TEST(walk_runs, visit_what_one_run_visits) {
  weir_test_rng rng = {weir_test_seed()};
  struct model model;
  for (int i = 0; i < GRAPHS; i++) {
    int nodes = 1 + (int)weir_test_below(&rng, MODEL_NODES);
    int most = nodes * nodes < MODEL_EDGES ? nodes * nodes : MODEL_EDGES;
    model_make(&model, &rng, nodes, (int)weir_test_below(&rng, (uint64_t)most + 1));
    for (int node = 0; node < MODEL_NODES; node++) {
      OK(weir_node_del(txn, weir_str(model_key(node)), NULL, &err));
    }
    model_put(&model, txn);
    for (int k = 0; k < WALKS; k++) {
      check_walk(&model, txn, &rng);
    }
  }
}

/* ---- Budgets ----------------------------------------------------------------------------------------------
 */

enum { LEAVES = 500 };

struct leaves {
  int visits[LEAVES + 1]; /* the last is the hub */
  int count;
};

static int note_leaf(const weir_step *step, void *data, weir_error *error) {
  struct leaves *leaves = data;
  (void)error;
  leaves->visits[step->node.key.ptr[0] == 'h' ? LEAVES : atoi(step->node.key.ptr + 4)]++;
  leaves->count++;
  return WEIR_OK;
}

static int put_hub(weir_txn *txn, void *data, weir_error *error) {
  char key[16];
  (void)data;
  for (int i = 0; i < LEAVES; i++) {
    snprintf(key, sizeof key, "leaf%d", i);
    weir_edge edge = WEIR_EDGE(i % 2 ? "hub" : key, i % 3 ? "e" : "f", i % 2 ? key : "hub");
    int rc = weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, error);
    if (rc) {
      return rc;
    }
  }
  return WEIR_OK;
}

GRAPH_TEST(walk_runs, end_among_the_edges_of_one_node_by_memory) {
  const weir_text hub = WEIR_TEXT("hub");
  const weir_text labels[] = {WEIR_TEXT("f"), WEIR_TEXT("e")};
  OK(weir_write(txn, put_hub, NULL, NULL, &err));
  for (int unique = WEIR_UNIQUE_NODE; unique <= WEIR_UNIQUE_PATH; unique++) {
    for (int order = WEIR_BREADTH_FIRST; order <= WEIR_DEPTH_FIRST; order++) {
      for (size_t count = 0; count <= 2; count += 2) {
        struct leaves leaves = {.count = 0};
        weir_walk *handle;
        weir_walk_result result = {.ending = WEIR_ENDED_STOP};
        weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
        int runs = 0;
        options.reach.direction = WEIR_BOTH;
        options.reach.labels = labels;
        options.reach.label_count = count;
        options.order = (weir_walk_order)order;
        options.unique = (weir_unique)unique;
        options.budget.memory = 1;
        OK(weir_walk_open(&handle, &hub, 1, &options, &err));
        for (; result.ending != WEIR_ENDED; runs++) {
          OK(weir_walk_run(handle, txn, note_leaf, &leaves, &result, &err));
          cr_assert(le(u64, result.visited, 1));
        }
        weir_walk_close(handle);
        cr_assert(ge(int, runs, LEAVES)); /* a run does little */
        cr_assert(eq(int, leaves.count, LEAVES + 1));
        for (int i = 0; i <= LEAVES; i++) {
          cr_assert(eq(int, leaves.visits[i], 1), "leaf %d", i);
        }
      }
    }
  }
}

/* Lasts until the budget of one millisecond is used up. */
static int note_slowly(const weir_step *step, void *data, weir_error *error) {
  struct timespec begin;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 2000000);
  return note_leaf(step, data, error);
}

GRAPH_TEST(walk_runs, end_by_time_with_one_visit_at_least) {
  const weir_text start = WEIR_TEXT("leaf0");
  struct leaves leaves = {.count = 0};
  weir_walk *handle;
  weir_walk_result result = {.ending = WEIR_ENDED_STOP};
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  options.budget.time_ms = 1;
  for (int i = 0; i < 5; i++) {
    char keys[2][16];
    snprintf(keys[0], sizeof keys[0], "leaf%d", i);
    snprintf(keys[1], sizeof keys[1], "leaf%d", i + 1);
    put_edge(txn, keys[0], "e", keys[1]);
  }
  OK(weir_walk_open(&handle, &start, 1, &options, &err));
  while (result.ending != WEIR_ENDED) {
    int before = leaves.count;
    OK(weir_walk_run(handle, txn, note_slowly, &leaves, &result, &err));
    cr_assert(le(int, leaves.count - before, 1));
    cr_assert(eq(int, (int)result.ending, leaves.count < 6 ? WEIR_ENDED_TIME : (int)result.ending));
  }
  weir_walk_close(handle);
  cr_assert(eq(int, leaves.count, 6));
}

/* A budget of nodes that is just enough is no reason to call the walk partial. */
GRAPH_TEST(walk_runs, end_when_all_was_visited_though_the_budget_is_used_up) {
  const weir_text start = WEIR_TEXT("leaf0");
  struct leaves leaves = {.count = 0};
  weir_walk_result result;
  weir_walk_options options = WEIR_WALK_OPTIONS_INIT;
  put_edge(txn, "leaf0", "e", "leaf1");
  put_edge(txn, "leaf1", "e", "leaf0");
  options.budget.nodes = 2;
  OK(weir_walk_once(txn, &start, 1, &options, note_leaf, &leaves, &result, &err));
  cr_assert(eq(int, (int)result.ending, WEIR_ENDED));
  cr_assert(eq(u64, result.met, 2));
  options.budget.nodes = 1;
  OK(weir_walk_once(txn, &start, 1, &options, note_leaf, &leaves, &result, &err));
  cr_assert(eq(int, (int)result.ending, WEIR_ENDED_NODES));
  cr_assert(eq(u64, result.met, 1));
}
