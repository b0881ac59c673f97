/*
 * How SQLite runs the statements of the graph: every one by an index that fits, none with a sort of its own.
 *
 * The test calls every function of the API in one transaction, then asks SQLite for the plan of each
 * statement that is in the connection's cache.
 */
#include "graph_fixture.h"

#include <sqlite3.h>

#include <weir/traverse.h>

static int see_node(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  (void)data;
  (void)error;
  return WEIR_OK;
}

static int see_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  (void)data;
  (void)error;
  return WEIR_OK;
}

static int see_neighbor(const weir_neighbor *neighbor, void *data, weir_error *error) {
  (void)neighbor;
  (void)data;
  (void)error;
  return WEIR_OK;
}

static int call_points(weir_txn *txn, weir_error *error) {
  const weir_text patch = WEIR_TEXT("{\"a\":1}");
  const weir_edge edge = WEIR_EDGE("a", "e", "b");
  weir_arena arena = WEIR_ARENA_INIT;
  weir_edge edge_out;
  weir_node node_out;
  int rc = weir_edge_put(txn, &edge, WEIR_CREATE_ENDPOINTS, NULL, error);
  rc = rc ? rc : weir_edge_put(txn, &WEIR_EDGE("b", "e", "a"), 0, NULL, error);
  rc = rc ? rc : weir_node_put(txn, &WEIR_NODE("a", "x", NULL), NULL, error);
  rc = rc ? rc : weir_node_merge(txn, edge.src, patch, NULL, error);
  rc = rc ? rc : weir_edge_add(txn, &edge, WEIR_NEXT_RANK, NULL, error);
  rc = rc ? rc : weir_edge_merge(txn, &edge, patch, NULL, error);
  rc = rc ? rc : weir_edge_get(txn, &edge, &edge_out, &arena, error);
  rc = rc ? rc : weir_node_get(txn, edge.src, &node_out, &arena, error);
  weir_arena_clear(&arena);
  return rc;
}

static int call_scans(weir_txn *txn, weir_error *error) {
  weir_text labels[] = {WEIR_TEXT(""), WEIR_TEXT("e"), WEIR_TEXT("x")};
  int rc = WEIR_OK;
  for (size_t i = 0; i < 3; i++) {
    weir_scan scan = WEIR_SCAN_INIT;
    int64_t count;
    scan.label = labels[i];
    rc = rc ? rc : weir_node_scan(txn, &scan, see_node, NULL, error);
    rc = rc ? rc : weir_edge_scan(txn, &scan, see_edge, NULL, error);
    rc = rc ? rc : weir_node_count(txn, scan.label, &count, error);
    rc = rc ? rc : weir_edge_count(txn, scan.label, &count, error);
    rc = rc ? rc : weir_degree(txn, weir_str("a"), WEIR_BOTH, scan.label, &count, error);
    for (unsigned flags = 0; flags <= (WEIR_WITH_NODES | WEIR_WITH_EDGES); flags++) {
      rc = rc ? rc : weir_neighbors(txn, weir_str("a"), WEIR_BOTH, flags, &scan, see_neighbor, NULL, error);
    }
    weir_cursor cursor = WEIR_CURSOR_INIT;
    scan.limit = 1;
    scan.cursor = &cursor;
    for (int pages = 0; pages < 100 && !cursor.done; pages++) {
      rc = rc ? rc : weir_neighbors(txn, weir_str("a"), WEIR_BOTH, 0, &scan, see_neighbor, NULL, error);
    }
  }
  return rc;
}

static int see_step(const weir_step *step, void *data, weir_error *error) {
  (void)step;
  (void)data;
  (void)error;
  return WEIR_OK;
}

static int see_path(const weir_path *path, void *data, weir_error *error) {
  (void)path;
  (void)data;
  (void)error;
  return WEIR_OK;
}

static int call_traversals(weir_txn *txn, const weir_reach *reach, weir_error *error) {
  const weir_text a = WEIR_TEXT("a");
  const weir_text c = WEIR_TEXT("c");
  weir_walk_options walk = WEIR_WALK_OPTIONS_INIT;
  weir_path_options paths = WEIR_PATH_OPTIONS_INIT;
  weir_arena arena = WEIR_ARENA_INIT;
  weir_path path;
  uint64_t around[3];
  walk.reach = paths.reach = *reach;
  walk.flags = WEIR_WITH_NODES | WEIR_WITH_EDGES;
  walk.order = WEIR_DEPTH_FIRST; /* so places are come back to */
  int rc = weir_walk_once(txn, &a, 1, &walk, see_step, NULL, NULL, error);
  rc = rc ? rc : weir_within_count(txn, a, 2, reach, around, error);
  rc = rc ? rc : weir_common_neighbors(txn, a, c, reach, see_node, NULL, NULL, error);
  for (int cost = WEIR_COST_HOPS; cost <= WEIR_COST_WEIGHT; cost++) {
    paths.cost = (weir_cost)cost;
    rc = rc ? rc : weir_path_shortest(txn, a, c, &paths, &path, &arena, error);
    rc = rc ? rc : weir_path_all_shortest(txn, a, c, &paths, see_path, NULL, NULL, error);
    rc = rc ? rc : weir_path_k_shortest(txn, a, c, 3, &paths, see_path, NULL, NULL, error);
  }
  weir_arena_clear(&arena);
  return rc;
}

/* More edges than are read at once lead from a to others, and two to c. */
static int walk_and_search(weir_txn *txn, weir_error *error) {
  const weir_text labels[] = {WEIR_TEXT("e"), WEIR_TEXT("f")};
  int rc = weir_edge_put(txn, &WEIR_EDGE("b", "f", "c"), WEIR_CREATE_ENDPOINTS, NULL, error);
  for (int i = 0; i < 70 && rc == WEIR_OK; i++) {
    char far[16];
    snprintf(far, sizeof far, "b%d", i);
    rc = weir_edge_put(txn, &WEIR_EDGE("a", "e", i ? far : "b"), WEIR_CREATE_ENDPOINTS, NULL, error);
    rc = rc || i ? rc : weir_edge_put(txn, &WEIR_EDGE("b", "e", "c"), 0, NULL, error);
  }
  for (size_t count = 0; count <= 2; count++) {
    const weir_reach reach = {.direction = WEIR_BOTH, .labels = labels, .label_count = count};
    rc = rc ? rc : call_traversals(txn, &reach, error);
  }
  return rc;
}

/* Full scans that are meant: all nodes or edges are counted, or the table has one row. */
static int may_scan(const char *sql) {
  return strncmp(sql, "SELECT count(*) FROM ", 21) == 0 || strstr(sql, "weir_commit") ||
         strstr(sql, "sqlite_schema");
}

/* The first step of the plan of `sql` that should not be, or "". */
static void check_plan(sqlite3 *db, const char *sql, char *bad, size_t size) {
  sqlite3_stmt *plan;
  char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
  bad[0] = '\0';
  if (sqlite3_prepare_v2(db, explain, -1, &plan, NULL) == SQLITE_OK) { /* else: the pool's, of transactions */
    while (bad[0] == '\0' && sqlite3_step(plan) == SQLITE_ROW) {
      const char *step = (const char *)sqlite3_column_text(plan, 3);
      int table_function = strstr(step, "VIRTUAL TABLE") != NULL;
      int between = strstr(sql, "e.src = ?") && strstr(sql, "e.dst = ?");
      int wrong_index =
          (strstr(sql, " AND label_set = ") && !strstr(step, "node_label_set")) ||
          (between && strstr(step, "SEARCH e") && !strstr(step, "(src=? AND label=? AND dst=?)"));
      if (wrong_index || strstr(step, "TEMP B-TREE") || strstr(step, "AUTOMATIC") ||
          (strncmp(step, "SCAN", 4) == 0 && !table_function && !may_scan(sql))) {
        snprintf(bad, size, "%s: %s", step, sql);
      }
    }
    sqlite3_finalize(plan);
  }
  sqlite3_free(explain);
}

struct plans {
  int (*call)(weir_txn *txn, weir_error *error);
  int statements;
  char bad[512];
};

static int get_and_put(weir_txn *txn, weir_error *error) {
  int rc = call_points(txn, error);
  rc = rc ? rc : call_scans(txn, error);
  rc = rc ? rc : weir_edge_del(txn, &WEIR_EDGE("a", "e", "b"), NULL, error);
  return rc ? rc : weir_node_del(txn, weir_str("a"), NULL, error);
}

static int check_plans(weir_txn *txn, void *data, weir_error *error) {
  struct plans *plans = data;
  int rc = plans->call(txn, error);
  sqlite3 *db = weir_txn_db(txn);
  plans->statements = 0;
  plans->bad[0] = '\0';
  for (sqlite3_stmt *stmt = sqlite3_next_stmt(db, NULL); stmt; stmt = sqlite3_next_stmt(db, stmt)) {
    plans->statements++;
    if (plans->bad[0] == '\0') {
      check_plan(db, sqlite3_sql(stmt), plans->bad, sizeof plans->bad);
    }
  }
  return rc;
}

GRAPH_TEST(query_plans, use_indexes_and_do_not_sort) {
  struct plans plans = {.call = get_and_put};
  put_node(txn, "other", "x");
  OK(weir_write(txn, check_plans, &plans, NULL, &err));
  cr_assert(plans.statements > 40, "%d statements: the cache has lost some", plans.statements);
  cr_assert(zero(chr, plans.bad[0]), "%s", plans.bad);
}

GRAPH_TEST(query_plans, of_walks_and_paths_use_indexes_and_do_not_sort) {
  struct plans plans = {.call = walk_and_search};
  OK(weir_write(txn, check_plans, &plans, NULL, &err));
  cr_assert(plans.statements > 20, "%d statements: the cache has lost some", plans.statements);
  cr_assert(zero(chr, plans.bad[0]), "%s", plans.bad);
}
