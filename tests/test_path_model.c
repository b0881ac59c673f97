/* Paths in random graphs, compared with all paths of a model: directions, labels, conditions, costs. */
#include "paths.h"

#include <math.h>

#include "graph_fixture.h"

enum { GRAPHS = WEIR_TEST_ROUNDS(40), QUESTIONS = 40 };

static paths_seen seen; /* what weir has found */

typedef void (*compare_fn)(weir_txn *txn, const paths_ask *ask, const paths_list *model);

static int node_count(weir_txn *txn) {
  return (int)count_nodes(txn, NULL);
}

/* Empties the store. */
static void clear(weir_txn *txn) {
  for (int i = node_count(txn) - 1; i >= 0; i--) {
    OK(weir_node_del(txn, paths_key(i), NULL, &err));
  }
}

struct round {
  const paths_graph *graph;
  weir_test_rng *rng;
  paths_list *model;
  compare_fn compare;
};

static int run_round(weir_txn *txn, void *data, weir_error *error) {
  struct round *round = data;
  (void)error;
  for (int i = 0; i < QUESTIONS; i++) {
    paths_ask ask = paths_question(round->graph, round->rng);
    paths_all(round->graph, &ask, round->model);
    seen.ask = &ask;
    seen.list.count = 0;
    round->compare(txn, &ask, round->model);
  }
  return WEIR_OK;
}

static void run(weir_txn *txn, double unit, compare_fn compare) {
  weir_test_rng rng = {weir_test_seed()};
  paths_list model;
  paths_list_init(&model);
  paths_list_init(&seen.list);
  for (int i = 0; i < GRAPHS; i++) {
    paths_graph graph;
    struct round round = {&graph, &rng, &model, compare};
    paths_make(&graph, &rng, 7, 16, unit);
    paths_put(&graph, txn);
    if (i % 2) { /* in one snapshot, or each for itself */
      OK(weir_read(txn, run_round, &round, NULL, &err));
    } else {
      OK(run_round(txn, &round, &err));
    }
    clear(txn);
  }
  paths_list_free(&model);
  paths_list_free(&seen.list);
}

static int is_near(double a, double b) {
  return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

/* ---- One path ---- */

static void compare_shortest(weir_txn *txn, const paths_ask *ask, const paths_list *model) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_path path;
  OK(weir_path_shortest(txn, paths_key(ask->from), paths_key(ask->to), paths_options(ask), &path, &arena,
                        &err));
  cr_assert(eq(int, (int)path.ending, WEIR_ENDED));
  cr_assert(eq(int, path.found, model->count > 0), "%s", paths_tell(ask));
  if (path.found) {
    paths_note(&seen.list, &path, ask);
    cr_assert(eq(int, paths_has(model, seen.list.items[0].text), 1), "%s: %s", paths_tell(ask),
              seen.list.items[0].text);
    cr_assert(is_near(path.cost, model->items[0].cost), "%s: %.17g, not %.17g", paths_tell(ask), path.cost,
              model->items[0].cost);
  }
  weir_arena_clear(&arena);
}

GRAPH_TEST(path_model, the_shortest_is_one_of_the_least_cost) {
  run(txn, 0.25, compare_shortest);
}

GRAPH_TEST(path_model, the_shortest_is_one_of_the_least_cost_but_for_rounding) {
  run(txn, 0.1, compare_shortest);
}

/* ---- All shortest paths ---- */

static void compare_all(weir_txn *txn, const paths_ask *ask, const paths_list *model) {
  weir_ending ending = WEIR_ENDED_TIME;
  size_t tight = 0;
  OK(weir_path_all_shortest(txn, paths_key(ask->from), paths_key(ask->to), paths_options(ask), paths_see,
                            &seen, &ending, &err));
  cr_assert(eq(int, (int)ending, WEIR_ENDED));
  for (size_t i = 0; i < model->count; i++) {
    if (model->items[i].tight) {
      tight++;
      cr_assert(eq(int, paths_has(&seen.list, model->items[i].text), 1), "%s: %s", paths_tell(ask),
                model->items[i].text);
    }
  }
  cr_assert(eq(sz, seen.list.count, tight), "%s", paths_tell(ask));
  for (size_t i = 0; i < seen.list.count; i++) {
    cr_assert(eq(dbl, seen.list.items[i].cost, model->items[0].cost));
  }
}

GRAPH_TEST(path_model, all_shortest_are_all_of_the_least_cost) {
  run(txn, 0.25, compare_all);
}

GRAPH_TEST(path_model, all_shortest_are_those_with_the_least_sums) {
  run(txn, 0.1, compare_all);
}

/* ---- k shortest paths ---- */

static void compare_k(weir_txn *txn, const paths_ask *ask, const paths_list *model) {
  size_t counts[] = {1, 3, 10, SIZE_MAX};
  for (int i = 0; i < 4 && (counts[i] < SIZE_MAX || model->count < 400); i++) {
    weir_ending ending = WEIR_ENDED_TIME;
    size_t expected = counts[i] < model->count ? counts[i] : model->count;
    seen.list.count = 0;
    OK(weir_path_k_shortest(txn, paths_key(ask->from), paths_key(ask->to), counts[i], paths_options(ask),
                            paths_see, &seen, &ending, &err));
    cr_assert(eq(int, (int)ending, WEIR_ENDED));
    cr_assert(eq(sz, seen.list.count, expected), "%s", paths_tell(ask));
    for (size_t at = 0; at < expected; at++) {
      const paths_list before = {at, seen.list.items};
      const paths_path *path = &seen.list.items[at];
      cr_assert(is_near(path->cost, model->items[at].cost), "%s: %s", paths_tell(ask), path->text);
      cr_assert(eq(int, paths_has(model, path->text), 1), "%s: %s", paths_tell(ask), path->text);
      cr_assert(zero(int, paths_has(&before, path->text)), "%s: %s twice", paths_tell(ask), path->text);
    }
  }
}

GRAPH_TEST(path_model, k_shortest_are_the_first_of_all_by_cost) {
  run(txn, 0.25, compare_k);
}

GRAPH_TEST(path_model, k_shortest_are_the_first_of_all_by_cost_but_for_rounding) {
  run(txn, 0.1, compare_k);
}
