/* Walks and searches that are canceled while they run, or come to their deadline: they end soon, the
 * connection is as good as new, and a walk can be gone on with. */
#include <weir/traverse.h>

#include "graph_fixture.h"

enum { LEAVES = 3000, ROWS = 40, TOO_MANY = 200000 };

static int put(weir_txn *txn, const char *src, int from, const char *dst, int to, weir_error *error) {
  char keys[2][16];
  snprintf(keys[0], sizeof keys[0], "%s%d", src, from);
  snprintf(keys[1], sizeof keys[1], "%s%d", dst, to);
  return weir_edge_put(txn, &WEIR_EDGE(keys[0], "e", keys[1]), WEIR_CREATE_ENDPOINTS, NULL, error);
}

/* h0 -> l0, l1, ..., each of which leads to h1; and diamonds in a row, v0 -> a0, b0 -> v1 -> ...: 2^ROWS
 * paths. */
static int fill(weir_txn *txn, void *data, weir_error *error) {
  static const char *const sides[] = {"a", "b"};
  int rc = WEIR_OK;
  (void)data;
  for (int i = 0; i < LEAVES && rc == WEIR_OK; i++) {
    rc = put(txn, "h", 0, "l", i, error);
    rc = rc ? rc : put(txn, "l", i, "h", 1, error);
  }
  for (int i = 0; i < 2 * ROWS && rc == WEIR_OK; i++) {
    rc = put(txn, "v", i / 2, sides[i % 2], i / 2, error);
    rc = rc ? rc : put(txn, sides[i % 2], i / 2, "v", i / 2 + 1, error);
  }
  return rc;
}

/* ---- Visitors that cancel what they are in ---------------------------------------------------------------
 */

struct run {
  int (*call)(weir_txn *txn, struct run *run, weir_error *error);
  weir_pool *pool;
  weir_token token;
  weir_walk *walk;
  int cancels; /* 1: the first visit does */
  int visits;
};

static int visit(struct run *run, weir_error *error) {
  if (++run->visits == 1 && run->cancels) {
    (void)weir_cancel(run->pool, &run->token); /* cannot fail with these */
  }
  return run->visits < TOO_MANY ? WEIR_OK : weir_fail(error, WEIR_CONFLICT, "it does not end");
}

static int visit_step(const weir_step *step, void *data, weir_error *error) {
  (void)step;
  return visit(data, error);
}

static int visit_path(const weir_path *path, void *data, weir_error *error) {
  (void)path;
  return visit(data, error);
}

static int visit_node(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  return visit(data, error);
}

static int walk(weir_txn *txn, struct run *run, weir_error *error) {
  return weir_walk_run(run->walk, txn, visit_step, run, NULL, error);
}

static int all_shortest(weir_txn *txn, struct run *run, weir_error *error) {
  return weir_path_all_shortest(txn, weir_str("v0"), weir_str("v40"), NULL, visit_path, run, NULL, error);
}

static int k_shortest(weir_txn *txn, struct run *run, weir_error *error) {
  return weir_path_k_shortest(txn, weir_str("v0"), weir_str("v40"), TOO_MANY, NULL, visit_path, run, NULL,
                              error);
}

static int common(weir_txn *txn, struct run *run, weir_error *error) {
  const weir_reach both = {.direction = WEIR_BOTH};
  return weir_common_neighbors(txn, weir_str("h0"), weir_str("h1"), &both, visit_node, run, NULL, error);
}

static int call(weir_txn *txn, void *data, weir_error *error) {
  struct run *run = data;
  return run->call(txn, run, error);
}

static void begin_walk(struct run *run) {
  const weir_text start = WEIR_TEXT("h0");
  OK(weir_walk_open(&run->walk, &start, 1, NULL, &err));
}

GRAPH_TEST(query_cancel, what_is_canceled_ends) {
  int (*const calls[])(weir_txn *, struct run *, weir_error *) = {walk, all_shortest, k_shortest, common};
  OK(weir_write(txn, fill, NULL, NULL, &err));
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    struct run run = {.call = calls[i], .pool = weir_graph_pool(graph), .cancels = 1};
    weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
    options.token = &run.token;
    begin_walk(&run);
    FAILS(weir_read(txn, call, &run, &options, &err), WEIR_CANCELED, "");
    cr_assert(lt(int, run.visits, LEAVES));
    if (run.call == walk) { /* goes on where it was */
      OK(walk(txn, &run, &err));
      cr_assert(eq(int, run.visits, LEAVES + 2));
    }
    weir_walk_close(run.walk);
  }
}

/* ---- Deadlines: what has no visitor, or none that is called ---------------------------------------------
 */

static int within(weir_txn *txn, struct run *run, weir_error *error) {
  uint64_t out[3];
  int rc = WEIR_OK;
  while (rc == WEIR_OK) { /* it ends by itself, so once more */
    rc = weir_within_count(txn, weir_str("h0"), 2, NULL, out, error);
    run->visits++;
  }
  return rc;
}

static int shortest(weir_txn *txn, struct run *run, weir_error *error) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_path path;
  int rc = WEIR_OK;
  while (rc == WEIR_OK) {
    rc = weir_path_shortest(txn, weir_str("h0"), weir_str("v40"), NULL, &path, &arena, error);
    run->visits++;
  }
  weir_arena_clear(&arena);
  return rc;
}

static int triangles(weir_txn *txn, struct run *run, weir_error *error) {
  int rc = WEIR_OK;
  while (rc == WEIR_OK) {
    rc = weir_triangles(txn, weir_str("h0"), NULL, NULL, NULL, NULL, error);
    run->visits++;
  }
  return rc;
}

GRAPH_TEST(query_cancel, what_comes_to_its_deadline_ends) {
  int (*const calls[])(weir_txn *, struct run *, weir_error *) = {within, shortest, triangles, all_shortest};
  OK(weir_write(txn, fill, NULL, NULL, &err));
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    struct run run = {.call = calls[i]};
    weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
    options.deadline_ms = 5;
    FAILS(weir_read(txn, call, &run, &options, &err), WEIR_TIMEOUT, "");
    uint64_t around[3];
    OK(weir_within_count(txn, weir_str("h0"), 2, NULL, around, &err));
    cr_assert(eq(u64, around[1], LEAVES));
  }
}
