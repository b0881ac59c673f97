/*
 * The making of an index in many writes: what goes on meanwhile, and what ends it. The tests act in
 * on_progress, between two batches, where no lock is held.
 */
#include "graph_fixture.h"

#include <pthread.h>

#include <weir/query.h>

static const weir_index by_n = {WEIR_NODES, WEIR_TEXT("x"), WEIR_TEXT("n"), 0, 0};
static const weir_index edges_by_n = {WEIR_EDGES, WEIR_TEXT("e"), WEIR_TEXT("n"), 0, 0};

enum { ROWS = 50, BATCH = 7 };

static void put(weir_txn *txn, int number, const char *label, int value) {
  char key[16];
  char props[32];
  snprintf(key, sizeof key, "n%d", number);
  snprintf(props, sizeof props, "{\"n\":%d}", value);
  OK(weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err));
}

static void put_rows(weir_txn *txn) {
  for (int i = 0; i < ROWS; i++) {
    put(txn, i, "x", i);
    put(txn, ROWS + i, "y", i);
  }
}

/* The index holds what a scan computes. */
static void is_right(weir_txn *txn, const char *table) {
  char sql[512];
  snprintf(
      sql, sizeof sql,
      "SELECT count(*) FROM (SELECT CASE WHEN json_type(n.props, '$.n') IS NULL THEN 0 ELSE 2 END,"
      " ifnull(json_extract(n.props, '$.n'), 0), n.id FROM node n JOIN label_set_member m USING (label_set)"
      " JOIN label l ON l.id = m.label WHERE l.name = 'x' EXCEPT SELECT kind, value, node FROM %s)",
      table);
  cr_assert(zero(i64, sql_number(txn, sql)));
  snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
  cr_assert(eq(i64, sql_number(txn, sql), count_nodes(txn, "x")));
}

/* ---- Progress --------------------------------------------------------------------------------------------
 */

struct build {
  weir_graph *graph;
  weir_txn *txn;
  int calls;
  uint64_t done;
  uint64_t total;
  int cancel_at; /* the call that says no */
  int wrong;
};

static weir_build_options options_of(struct build *build,
                                     int (*fn)(const weir_progress *progress, void *data)) {
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  options.batch = BATCH;
  options.on_progress = fn;
  options.data = build;
  return options;
}

static int watch(const weir_progress *progress, void *data) {
  struct build *build = data;
  build->wrong |= build->calls == 0 ? progress->done != 0 : progress->done < build->done;
  build->done = progress->done;
  build->total = progress->total;
  return ++build->calls == build->cancel_at;
}

GRAPH_TEST(index_build, tells_how_far_it_has_come) {
  struct build build = {.txn = txn};
  weir_build_options options = options_of(&build, watch);
  put_rows(txn);
  OK(weir_index_create(txn, &by_n, &options, &err));
  cr_assert(zero(int, build.wrong));
  cr_assert(eq(u64, build.done, ROWS));
  cr_assert(eq(u64, build.total, ROWS));
  cr_assert(eq(int, build.calls, 1 + (ROWS + BATCH - 1) / BATCH));
  is_right(txn, "node_index_1");
  put_edge(txn, "n1", "e", "n2");
  put_edge(txn, "n1", "f", "n2");
  build = (struct build){.txn = txn};
  OK(weir_index_create(txn, &edges_by_n, &options, &err));
  cr_assert(eq(u64, build.done, 2)); /* all edges are looked at */
}

GRAPH_TEST(index_build, of_no_rows_is_ready) {
  const weir_index none = {WEIR_NODES, WEIR_TEXT("nothing"), WEIR_TEXT("n"), 0, 0};
  struct build build = {.txn = txn};
  weir_build_options options = options_of(&build, watch);
  OK(weir_index_create(txn, &none, &options, &err));
  OK(weir_index_create(txn, &edges_by_n, &options, &err));
  cr_assert(eq(int, build.calls, 4)); /* the beginning and the end of each */
  cr_assert(eq(i64, sql_number(txn, "SELECT sum(ready) FROM property_index"), 2));
}

/* ---- Canceling -------------------------------------------------------------------------------------------
 */

GRAPH_TEST(index_build, that_is_canceled_leaves_nothing) {
  put_rows(txn);
  for (int at = 1; at <= 9; at++) { /* at 9: the last call */
    struct build build = {.txn = txn, .cancel_at = at};
    weir_build_options options = options_of(&build, watch);
    FAILS(weir_index_create(txn, &by_n, &options, &err), WEIR_CANCELED, "on_progress");
    cr_assert(eq(int, build.calls, at));
    cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM property_index")));
    cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"
                                        " OR name GLOB 'node_index_*'")));
  }
  OK(weir_index_create(txn, &by_n, NULL, &err));
}

/* ---- What goes on meanwhile ------------------------------------------------------------------------------
 */

/* Between two batches rows before, in and behind what is done come, go, and change value and label. */
static int write_meanwhile(const weir_progress *progress, void *data) {
  struct build *build = data;
  (void)watch(progress, data);
  int at = (int)progress->done;
  put(build->txn, 1000 + at, "x", at);
  put(build->txn, at % ROWS, "x", 500 + at);
  put(build->txn, (at + 11) % ROWS, "x", 600 + at);
  put(build->txn, (at + 20) % ROWS, "y", 1);
  put(build->txn, ROWS + (at + 30) % ROWS, "x", 700 + at);
  char key[16];
  snprintf(key, sizeof key, "n%d", (at + 25) % ROWS);
  OK(weir_node_del(build->txn, weir_str(key), NULL, &err));
  return 0;
}

GRAPH_TEST(index_build, is_exact_while_others_write) {
  struct build build = {.txn = txn};
  weir_build_options options = options_of(&build, write_meanwhile);
  put_rows(txn);
  OK(weir_index_create(txn, &by_n, &options, &err));
  cr_assert(gt(int, build.calls, 3));
  is_right(txn, "node_index_1");
}

/* Not used before it is ready, and no read waits for it. */
static int read_meanwhile(const weir_progress *progress, void *data) {
  struct build *build = data;
  weir_find find = WEIR_FIND_INIT;
  weir_cond where = WEIR_PROP("n", WEIR_EQ, weir_int(3));
  weir_plan plan;
  weir_txn *snapshot;
  weir_txn_options now = WEIR_TXN_OPTIONS_INIT;
  find.label = by_n.label;
  find.where = &where;
  now.timeout_ms = -1;
  (void)watch(progress, data);
  OK(weir_snapshot_begin(weir_graph_pool(build->graph), &snapshot, &now, &err));
  OK(weir_node_explain(snapshot, &find, &plan, &err));
  build->wrong |= progress->done < ROWS && plan.access != WEIR_BY_LABEL;
  OK(weir_snapshot_end(snapshot, &err));
  return 0;
}

GRAPH_TEST(index_build, lets_reads_go_on_without_it) {
  struct build build = {.graph = graph, .txn = txn};
  weir_build_options options = options_of(&build, read_meanwhile);
  put_rows(txn);
  OK(weir_index_create(txn, &by_n, &options, &err));
  cr_assert(zero(int, build.wrong));
}

static void *create_elsewhere(void *data) {
  struct build *build = data;
  build->wrong = weir_index_create(build->txn, &by_n, NULL, NULL);
  return NULL;
}

/* A snapshot that is older than the index neither blocks it nor sees it. */
Test(index_build, does_not_wait_for_an_old_snapshot, .timeout = 100) {
  char path[512];
  weir_graph *graph;
  weir_txn *snapshot;
  weir_plan plan;
  weir_find find = WEIR_FIND_INIT;
  find.label = by_n.label;
  find.order = WEIR_FIELD_PROP;
  find.order_path = by_n.path;
  weir_test_path(path, sizeof path, "old.db");
  OK(weir_graph_open(&graph, path, NULL, &err));
  weir_txn *txn = weir_graph_auto(graph);
  put_rows(txn);
  OK(weir_snapshot_begin(weir_graph_pool(graph), &snapshot, NULL, &err));
  struct build build = {.txn = txn};
  pthread_t thread;
  cr_assert(zero(int, pthread_create(&thread, NULL, create_elsewhere, &build)));
  cr_assert(zero(int, pthread_join(thread, NULL)));
  cr_assert(zero(int, build.wrong));
  OK(weir_node_explain(snapshot, &find, &plan, &err));
  cr_assert(eq(int, (int)plan.access, WEIR_BY_LABEL));
  OK(weir_snapshot_end(snapshot, &err));
  OK(weir_node_explain(txn, &find, &plan, &err));
  cr_assert(eq(int, (int)plan.access, WEIR_BY_INDEX));
  OK(weir_graph_close(graph, &err));
}

/* ---- What a crash leaves, and two at once ----------------------------------------------------------------
 */

static int exec(weir_txn *txn, void *data, weir_error *error) {
  return weir_txn_exec(txn, data, error);
}

/* As a process leaves it that is killed between two batches. */
static void leave_unfinished(weir_txn *txn) {
  OK(weir_index_create(txn, &by_n, NULL, &err));
  OK(weir_write(txn, exec,
                (void *)"UPDATE property_index SET ready = 0; DELETE FROM node_index_1 WHERE value > 20",
                NULL, &err));
}

static int see_unfinished(const weir_index *index, void *data, weir_error *error) {
  (void)error;
  *(int *)data += index->ready == 0;
  return WEIR_OK;
}

GRAPH_TEST(index_build, that_was_cut_off_is_begun_anew) {
  int unfinished = 0;
  put_rows(txn);
  leave_unfinished(txn);
  OK(weir_index_list(txn, see_unfinished, &unfinished, &err));
  cr_assert(eq(int, unfinished, 1));
  OK(weir_index_create(txn, &by_n, NULL, &err));
  cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'node_index_1*'")));
  is_right(txn, "node_index_2");
}

GRAPH_TEST(index_build, that_was_cut_off_can_be_dropped) {
  int existed;
  put_rows(txn);
  leave_unfinished(txn);
  OK(weir_index_drop(txn, &by_n, &existed, &err));
  cr_assert(eq(int, existed, 1));
  cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'node_index_*'")));
}

static int make_the_same(const weir_progress *progress, void *data) {
  struct build *build = data;
  if (build->calls++ == 2) {
    build->wrong |= progress->done == 0 || weir_index_create(build->txn, &by_n, NULL, &err) != WEIR_OK;
  }
  return 0;
}

GRAPH_TEST(index_build, gives_way_to_another_one_of_the_same_index) {
  struct build build = {.txn = txn};
  weir_build_options options = options_of(&build, make_the_same);
  put_rows(txn);
  FAILS(weir_index_create(txn, &by_n, &options, &err), WEIR_CANCELED, "somebody else");
  cr_assert(zero(int, build.wrong));
  cr_assert(eq(int, build.calls, 3));
  is_right(txn, "node_index_2"); /* the other one's is not dropped */
  cr_assert(eq(i64, sql_number(txn, "SELECT id * 10 + ready FROM property_index"), 21));
}

static int repeat_a_value(const weir_progress *progress, void *data) {
  struct build *build = data;
  if (progress->done == 2 * BATCH) { /* n0 is in the index, the one with n1's value will be last */
    put(build->txn, 2000, "x", ROWS - 1);
  }
  return 0;
}

GRAPH_TEST(index_build, of_a_unique_one_meets_a_value_that_was_written_meanwhile) {
  weir_index unique = by_n;
  struct build build = {.txn = txn};
  weir_build_options options = options_of(&build, repeat_a_value);
  unique.unique = 1;
  put_rows(txn);
  FAILS(weir_index_create(txn, &unique, &options, &err), WEIR_EXISTS, "\"n2000\"");
  cr_assert(ne(ptr, strstr(err.message, "\"n49\""), NULL), "%s", err.message);
  cr_assert(zero(i64, sql_number(txn, "SELECT count(*) FROM property_index")));
  OK(weir_node_del(txn, weir_str("n2000"), NULL, &err));
  OK(weir_index_create(txn, &unique, NULL, &err));
}
