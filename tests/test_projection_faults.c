/*
 * Memory runs out at each place where a projection asks for some while it is made, or written from. Each time
 * the call fails with WEIR_NOMEM (or succeeds as if nothing had been), and the next one on the same
 * connection works. That nothing leaks is seen in a build with a sanitizer.
 */
#include <weir/projection.h>

#include "graph_fixture.h"
#include "scarce.h"

enum { NODES = 1500, EDGES = 9000, FEW = 40 }; /* more than there is room for at first */

TestSuite(projection_faults, .timeout = 200, .init = scarce_init);

static int fill(weir_txn *txn, void *data, weir_error *error) {
  weir_test_rng rng = {1};
  char src[16], dst[16];
  int rc = WEIR_OK;
  (void)data;
  for (int i = 0; i < NODES && rc == WEIR_OK; i++) {
    (void)snprintf(src, sizeof src, "n%d", i);
    rc = weir_node_put(txn, &WEIR_NODE(src, i < FEW ? "few" : "many", "{\"k\":1}"), NULL, error);
  }
  for (int i = 0; i < EDGES && rc == WEIR_OK; i++) {
    (void)snprintf(src, sizeof src, "n%d", (int)weir_test_below(&rng, NODES));
    (void)snprintf(dst, sizeof dst, "n%d", (int)weir_test_below(&rng, NODES));
    weir_edge edge = WEIR_EDGE(src, i % 2 ? "e" : "f", dst);
    edge.props = weir_str("{\"w\":2}");
    rc = weir_edge_add(txn, &edge, WEIR_NEXT_RANK, NULL, error);
  }
  return rc;
}

/* Some nodes far from the others. */
static int fill_far(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_txn_exec(txn, "INSERT INTO node(id, key, label_set, rev) VALUES (90000000, 'far', 1, 1)",
                       error);
}

static int open_with(weir_txn *txn, const weir_projection_options *options, uint64_t *value,
                     weir_error *error) {
  weir_projection *p = NULL;
  weir_projection_info info;
  uint32_t node = 0;
  int rc = weir_projection_open(&p, txn, options, NULL, error);
  if (rc) {
    return rc;
  }
  weir_projection_describe(p, &info);
  *value = info.edges + info.nodes;
  rc = weir_projection_find(p, weir_str("n7"), &node, error);
  weir_projection_close(p);
  return rc;
}

static int open_all(weir_txn *txn, uint64_t *value, weir_error *error) {
  return open_with(txn, NULL, value, error);
}

static int open_some(weir_txn *txn, uint64_t *value, weir_error *error) {
  const weir_text labels[] = {WEIR_TEXT("f"), WEIR_TEXT("e"), WEIR_TEXT("none")};
  const weir_text nodes[] = {WEIR_TEXT("many"), WEIR_TEXT("few")};
  const weir_cond loaded = WEIR_PROP("w", WEIR_GT, weir_int(1)), k = WEIR_PROP("k", WEIR_EQ, weir_int(1));
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  options.node_labels = nodes;
  options.node_label_count = 2;
  options.edge_labels = labels;
  options.edge_label_count = 3;
  options.nodes = &k;
  options.edges = &loaded;
  options.undirected = 1;
  options.parallel = WEIR_PARALLEL_SUM;
  options.weight = WEIR_COST_PROP;
  options.weight_path = weir_str("w");
  return open_with(txn, &options, value, error);
}

/* Other values each time. */
static int write_few(weir_txn *txn, uint64_t *value, weir_error *error) {
  static uint32_t round;
  static double reals[FEW];
  static uint32_t numbers[FEW];
  const weir_text few = WEIR_TEXT("few");
  const weir_column columns[] = {{WEIR_TEXT("r"), WEIR_COLUMN_REAL, reals},
                                 {WEIR_TEXT("n"), WEIR_COLUMN_NODE, numbers}};
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  weir_build_options build = {.size = sizeof build, .batch = 15};
  weir_written written = {0, 0, 0};
  weir_projection *p = NULL;
  round++;
  for (uint32_t i = 0; i < FEW; i++) {
    reals[i] = (round + i) / 3.0;
    numbers[i] = i;
  }
  options.node_labels = &few;
  options.node_label_count = 1;
  int rc = weir_projection_open(&p, txn, &options, NULL, error);
  if (rc == WEIR_OK) {
    rc = weir_projection_write(p, txn, columns, 2, &build, &written, error);
  }
  *value = written.updated;
  weir_projection_close(p);
  return rc;
}

/* The JSON library does not always tell that it was memory that it lacked. */
static int is_lack(int rc) {
  return rc == WEIR_NOMEM || (rc == WEIR_INVALID && strstr(err.message, "stored props: not a JSON object"));
}

typedef int (*call)(weir_txn *txn, uint64_t *value, weir_error *error);

static void fails_well(weir_txn *txn, const char *name, call fn) {
  uint64_t expected = 0, value = 0;
  int failures = 0, reached = 1;
  OK(fn(txn, &expected, &err));
  for (long at = 1; reached; at += 1 + at / 8) {
    scarce_begin(at);
    int rc = fn(txn, &value, &err);
    reached = scarce_end();
    cr_assert(is_lack(rc) || (rc == WEIR_OK && value == expected), "%s, request %ld: %d %s", name, at, rc,
              err.message);
    failures += rc != WEIR_OK;
    OK(fn(txn, &value, &err));
    cr_assert(eq(u64, value, expected), "%s after request %ld", name, at);
  }
  cr_assert(gt(int, failures, 5), "%s", name);
}

/* `statements`: how many a connection keeps. With one alone they are prepared again and again. */
static void run_out(unsigned statements) {
  char path[512];
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  weir_graph *graph;
  options.mode = WEIR_SINGLE;
  options.statements = statements;
  weir_test_path(path, sizeof path, "faults.db");
  OK(weir_graph_open(&graph, path, &options, &err));
  weir_txn *txn = weir_graph_auto(graph);
  OK(weir_write(txn, fill, NULL, NULL, &err));
  fails_well(txn, "all", open_all);
  fails_well(txn, "some", open_some);
  fails_well(txn, "write", write_few);
  OK(weir_write(txn, fill_far, NULL, NULL, &err));
  fails_well(txn, "far", open_all);
  OK(weir_graph_close(graph, &err));
}

Test(projection_faults, warm) {
  run_out(64);
}

Test(projection_faults, with_statements_prepared_anew) {
  run_out(1);
}
