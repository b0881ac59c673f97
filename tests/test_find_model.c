/*
 * Find against a naive model: random rows, conditions and orders, with and without indexes, in one page and
 * in many.
 */
#include "find_model.h"
#include "graph_fixture.h"

enum { NODES = 60, EDGES = 150, ROUNDS = 12, QUESTIONS = 25 };

/* ---- Random stores ---------------------------------------------------------------------------------------
 */

static void put_random_node(weir_txn *txn, weir_test_rng *rng, unsigned number) {
  char key[16];
  char props[1024];
  weir_text labels[MODEL_LABELS];
  weir_node node = {.labels = labels};
  snprintf(key, sizeof key, "n%u", number);
  model_props(rng, props, sizeof props);
  unsigned bits = (unsigned)weir_test_below(rng, 1u << MODEL_LABELS);
  for (unsigned i = 0; i < MODEL_LABELS; i++) {
    if (bits & (1u << i)) {
      labels[node.label_count++] = weir_str(model_labels[i]);
    }
  }
  node.key = weir_str(key);
  node.props = weir_str(props);
  OK(weir_node_put(txn, &node, NULL, &err));
}

static void put_random_edge(weir_txn *txn, weir_test_rng *rng) {
  char src[16];
  char dst[16];
  char props[1024];
  snprintf(src, sizeof src, "n%u", (unsigned)weir_test_below(rng, NODES / 4));
  snprintf(dst, sizeof dst, "n%u", (unsigned)weir_test_below(rng, NODES / 4));
  model_props(rng, props, sizeof props);
  const char *label = model_labels[weir_test_below(rng, MODEL_LABELS)];
  weir_edge edge = WEIR_EDGE(src, label, dst);
  edge.rank = (int64_t)weir_test_below(rng, 4) - 1;
  edge.weight = (double)weir_test_below(rng, 20) / 4;
  edge.props = weir_str(props);
  OK(weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, &err));
}

/* Makes an index, or drops it if it is there. */
static void change_index(weir_txn *txn, weir_test_rng *rng) {
  weir_index index = {.target = weir_test_below(rng, 2) ? WEIR_NODES : WEIR_EDGES};
  index.label = weir_str(model_labels[weir_test_below(rng, 2)]);
  index.path = weir_str(model_paths[weir_test_below(rng, MODEL_PATHS)]);
  int existed;
  OK(weir_index_drop(txn, &index, &existed, &err));
  if (!existed) {
    weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
    options.batch = 1 + (unsigned)weir_test_below(rng, 70);
    OK(weir_index_create(txn, &index, &options, &err));
  }
}

static void change_rows(weir_txn *txn, weir_test_rng *rng) {
  for (int i = 0; i < 20; i++) {
    char key[16];
    snprintf(key, sizeof key, "n%u", (unsigned)weir_test_below(rng, NODES));
    if (weir_test_below(rng, 4) == 0) {
      OK(weir_node_del(txn, weir_str(key), NULL, &err));
    } else {
      put_random_node(txn, rng, (unsigned)weir_test_below(rng, NODES));
    }
    put_random_edge(txn, rng);
  }
}

/* ---- Questions -------------------------------------------------------------------------------------------
 */

struct seen {
  const find_model *model;
  const size_t *expected;
  size_t count;
  size_t at;
  char wrong[256];
};

static void note(struct seen *seen, const char *name) {
  const char *wanted =
      seen->at < seen->count ? seen->model->rows[seen->expected[seen->at]].name : "(no more)";
  if (!seen->wrong[0] && strcmp(name, wanted) != 0) {
    snprintf(seen->wrong, sizeof seen->wrong, "row %zu is %s, not %s", seen->at, name, wanted);
  }
  seen->at++;
}

static int note_node(const weir_node *node, void *data, weir_error *error) {
  char name[64];
  (void)error;
  model_name_node(node, name);
  note(data, name);
  return WEIR_OK;
}

static int note_edge(const weir_edge *edge, void *data, weir_error *error) {
  char name[64];
  (void)error;
  model_name_edge(edge, name);
  note(data, name);
  return WEIR_OK;
}

static void run_find(weir_txn *txn, const find_model *model, const weir_find *find, struct seen *seen) {
  OK(model->target == WEIR_NODES ? weir_node_find(txn, find, note_node, seen, &err)
                                 : weir_edge_find(txn, find, note_edge, seen, &err));
}

static void is_right(weir_txn *txn, struct seen *seen, weir_find find, const char *how) {
  weir_plan plan;
  OK(seen->model->target == WEIR_NODES ? weir_node_explain(txn, &find, &plan, &err)
                                       : weir_edge_explain(txn, &find, &plan, &err));
  cr_assert(eq(str, seen->wrong, (char *)""), "%s, %s", how, plan.text);
  cr_assert(eq(sz, seen->at, seen->count), "%s, %s", how, plan.text);
}

/* Asks one question as a whole and in pages, between which `rng` may change the indexes. */
static void ask(weir_txn *txn, const find_model *model, weir_test_rng *rng) {
  model_cond memory;
  weir_find find = WEIR_FIND_INIT;
  size_t *expected = calloc(model->count + 1, sizeof *expected);
  if (weir_test_below(rng, 4)) {
    find.label = weir_str(model_labels[weir_test_below(rng, MODEL_LABELS)]);
  }
  find.where = weir_test_below(rng, 6) ? model_condition(&memory, rng, model->target) : NULL;
  model_order(&find, rng, model->target);
  struct seen seen = {.model = model, .expected = expected};
  seen.count = model_find(model, &find, expected);

  run_find(txn, model, &find, &seen);
  is_right(txn, &seen, find, "as a whole");

  weir_place place = WEIR_PLACE_INIT;
  seen.at = 0;
  find.limit = 1 + weir_test_below(rng, seen.count + 2);
  find.place = &place;
  size_t pages = 0;
  size_t change_at = weir_test_below(rng, 20); /* often beyond the last page */
  while (!place.done) {
    run_find(txn, model, &find, &seen);
    pages++;
    if (pages == change_at) {
      change_index(txn, rng);
    }
  }
  is_right(txn, &seen, find, "in pages");
  cr_assert(eq(sz, pages, seen.count ? (seen.count + find.limit - 1) / find.limit : 1));
  weir_place_clear(&place);
  free(expected);
}

GRAPH_TEST(find_model, agrees_with_naive_evaluation) {
  weir_test_rng rng = {weir_test_seed()};
  for (unsigned i = 0; i < NODES; i++) {
    put_random_node(txn, &rng, i);
  }
  for (unsigned i = 0; i < EDGES; i++) {
    put_random_edge(txn, &rng);
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (weir_target target = WEIR_NODES; target <= WEIR_EDGES; target++) {
      find_model model;
      OK(model_load(&model, txn, target, &err));
      for (int i = 0; i < QUESTIONS; i++) {
        ask(txn, &model, &rng);
      }
      model_clear(&model);
    }
    change_rows(txn, &rng);
    change_index(txn, &rng);
  }
}
