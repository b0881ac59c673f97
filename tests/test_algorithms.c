/* The C of docs/algorithms.md, compiled and run. */
#include "graph_fixture.h"

#include <stdatomic.h>

#include <weir/algo.h>
#include <weir/query.h>

#include "printed.h"

static int rank_people(weir_txn *txn, weir_error *error) {
  const weir_text person = weir_str("person"), knows = weir_str("knows");
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  weir_projection *people = NULL;
  double *score = NULL;
  options.node_labels = &person;
  options.node_label_count = 1;
  options.edge_labels = &knows;
  options.edge_label_count = 1;
  options.weight = WEIR_COST_WEIGHT;
  int rc = weir_projection_open(&people, txn, &options, NULL, error);
  if (rc == WEIR_OK) {
    score = calloc(weir_projection_nodes(people) + 1, sizeof *score);
    rc = score ? weir_pagerank(people, NULL, NULL, score, NULL, error)
               : weir_fail(error, WEIR_NOMEM, "no memory for the scores");
  }
  if (rc == WEIR_OK) {
    const weir_column column = {weir_str("rank"), WEIR_COLUMN_REAL, score};
    rc = weir_projection_write(people, txn, &column, 1, NULL, NULL, error);
  }
  free(score);
  weir_projection_close(people);
  return rc;
}

static int print_person(const weir_node *node, void *data, weir_error *error) {
  (void)data;
  (void)error;
  printf("%s\n", node->key.ptr);
  return WEIR_OK;
}

static int print_first(weir_txn *txn, weir_error *error) {
  weir_find find = WEIR_FIND_INIT;
  find.label = weir_str("person");
  find.order = WEIR_FIELD_PROP;
  find.order_path = weir_str("rank");
  find.descending = 1;
  find.limit = 3;
  return weir_node_find(txn, &find, print_person, NULL, error);
}

/* steps[] is by node. */
static int print_reached(const weir_projection *people, const char *from, uint32_t *steps,
                         weir_error *error) {
  uint32_t source;
  int rc = weir_projection_find(people, weir_str(from), &source, error);
  if (rc == WEIR_OK)
    rc = weir_bfs(people, source, WEIR_OUT, NULL, steps, NULL, error);
  for (uint32_t node = 0; rc == WEIR_OK && node < weir_projection_nodes(people); node++)
    if (steps[node] != WEIR_UNREACHED)
      printf("%s: %" PRIu32 "\n", weir_projection_key(people, node).ptr, steps[node]);
  return rc;
}

static int on_progress(const weir_progress *progress, void *data) {
  const atomic_int *given_up = data; /* another thread may set it */
  printf("%.0f %%\n", progress->total ? 100.0 * (double)progress->done / (double)progress->total : 100.0);
  return atomic_load(given_up);
}

static int count_parts(const weir_projection *people, atomic_int *given_up, uint32_t *component,
                       uint32_t *count, weir_error *error) {
  weir_run run = WEIR_RUN_INIT;
  run.threads = 2;
  run.on_progress = on_progress;
  run.data = given_up;
  return weir_wcc(people, &run, component, count, error);
}

/* Makes the projection anew if it has missed more than 100 writes. */
static int refresh(weir_projection **people, const weir_projection_options *options, weir_txn *txn,
                   weir_error *error) {
  weir_projection *fresh = NULL;
  int64_t writes = 0;
  int rc = weir_projection_behind(*people, txn, &writes, error);
  if (rc == WEIR_OK && writes > 100)
    rc = weir_projection_open(&fresh, txn, options, NULL, error);
  if (fresh) {
    weir_projection_close(*people);
    *people = fresh;
  }
  return rc;
}

/* ---- It does what the page says ------------------------------------------------------------------------ */

GRAPH_TEST(algorithms, page_says_what_is_so) {
  weir_projection *people = NULL;
  weir_projection_info info;
  uint32_t by_node[8], count = 0;
  atomic_int given_up = 0;
  put_node(txn, "alice", "person");
  put_node(txn, "bob", "person");
  put_node(txn, "carol", "person");
  put_node(txn, "acme", "company");
  put_node(txn, "dora", "person");
  put_edge(txn, "alice", "knows", "bob");
  put_edge(txn, "carol", "knows", "bob");
  put_edge(txn, "bob", "knows", "carol");
  put_edge(txn, "alice", "owns", "acme");
  OK(rank_people(txn, &err));
  OK(print_first(txn, &err));
  SAME_STRING(printed(), "bob\ncarol\ndora\n");
  OK(weir_projection_open(&people, txn, NULL, NULL, &err));
  OK(print_reached(people, "alice", by_node, &err));
  SAME_STRING(printed(), "alice: 0\nbob: 1\ncarol: 2\nacme: 1\n");
  FAILS(print_reached(people, "eve", by_node, &err), WEIR_NOT_FOUND, "eve");
  OK(count_parts(people, &given_up, by_node, &count, &err));
  SAME_STRING(printed(), "0 %\n100 %\n");
  cr_assert(eq(u32, count, 2));
  given_up = 1;
  FAILS(count_parts(people, &given_up, by_node, &count, &err), WEIR_CANCELED, "on_progress");
  SAME_STRING(printed(), "0 %\n");
  for (int i = 0; i < 101; i++) {
    weir_projection_describe(people, &info);
    cr_assert(eq(u32, info.nodes, 5));
    OK(refresh(&people, NULL, txn, &err));
    (void)weir_node_put(txn, &WEIR_NODE("eve", "person", i % 2 ? "{}" : "{\"odd\":1}"), NULL, &err);
  }
  OK(refresh(&people, NULL, txn, &err));
  weir_projection_describe(people, &info);
  cr_assert(eq(u32, info.nodes, 6));
  weir_projection_close(people);
}
