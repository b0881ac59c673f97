/*
 * Indexes made by processes that are killed at any point, and by several at once. The children are forks from
 * before the store is open.
 */
#include "graph_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/query.h>

enum { ROWS = 60 };

static const weir_index by_n = {WEIR_NODES, WEIR_TEXT("x"), WEIR_TEXT("n"), 1, 0};

TestSuite(index_processes, .timeout = 100);

static weir_graph *open_store(const char *path) {
  weir_graph *graph;
  OK(weir_graph_open(&graph, path, NULL, &err));
  return graph;
}

static void fill(const char *path) {
  weir_graph *graph = open_store(path);
  for (int i = 0; i < ROWS; i++) {
    char key[16];
    char props[32];
    snprintf(key, sizeof key, "n%d", i);
    snprintf(props, sizeof props, "{\"n\":%d}", i);
    OK(weir_node_put(weir_graph_auto(graph), &WEIR_NODE(key, "x", props), NULL, &err));
  }
  OK(weir_graph_close(graph, &err));
}

/* There is one table, and it holds all rows. */
static void is_whole(weir_txn *txn) {
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM property_index WHERE ready"), 1));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM property_index"), 1));
  cr_assert(eq(i64,
               sql_number(txn, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
                               " AND name GLOB 'node_index_*'"),
               1));
  weir_cond where = WEIR_PROP("n", WEIR_GE, weir_int(0));
  weir_find find = WEIR_FIND_INIT;
  weir_plan plan;
  find.label = by_n.label;
  find.where = &where;
  OK(weir_node_explain(txn, &find, &plan, &err));
  cr_assert(eq(int, (int)plan.access, WEIR_BY_INDEX));
  char sql[200];
  int64_t id = sql_number(txn, "SELECT id FROM property_index");
  snprintf(sql, sizeof sql,
           "SELECT count(*) FROM node n JOIN node_index_%" PRId64
           " i ON i.node = n.id AND i.kind = 2 AND i.value = json_extract(n.props, '$.n')",
           id);
  cr_assert(eq(i64, sql_number(txn, sql), count_nodes(txn, "x")));
  SAME_STRING(integrity(txn), "ok");
}

static int tell(const weir_progress *progress, void *data) {
  (void)progress;
  return write(*(int *)data, "", 1) != 1;
}

/* In a child: makes the index, a row in each write. */
static int create(const char *path, unsigned batch, int out) {
  weir_graph *graph;
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  options.batch = batch;
  options.on_progress = out >= 0 ? tell : NULL;
  options.data = &out;
  int rc = weir_graph_open(&graph, path, NULL, NULL);
  if (rc == WEIR_OK) {
    rc = weir_index_create(weir_graph_auto(graph), &by_n, &options, NULL);
    int closed = weir_graph_close(graph, NULL);
    rc = rc ? rc : closed;
  }
  return -rc;
}

Test(index_processes, one_that_is_killed_leaves_nothing_that_stays) {
  char path[512];
  weir_test_rng rng = {weir_test_seed()};
  weir_test_path(path, sizeof path, "killed.db");
  fill(path);
  for (int round = 0; round < 12; round++) {
    int ends[2];
    cr_assert(zero(int, pipe(ends)));
    pid_t child = fork();
    if (child == 0) {
      _exit(create(path, 1, ends[1]));
    }
    cr_assert(gt(int, child, 0));
    close(ends[1]);
    char byte;
    for (int left = (int)weir_test_below(&rng, ROWS); left >= 0 && read(ends[0], &byte, 1) == 1;) {
      left--;
    }
    cr_assert(zero(int, kill(child, SIGKILL)));
    cr_assert(eq(int, waitpid(child, NULL, 0), child));
    close(ends[0]);
    weir_graph *graph = open_store(path);
    weir_txn *txn = weir_graph_auto(graph);
    char key[16];
    snprintf(key, sizeof key, "n%d", (int)weir_test_below(&rng, ROWS));
    OK(weir_node_del(txn, weir_str(key), NULL, &err)); /* writes keep an unfinished one right */
    char props[32];
    snprintf(props, sizeof props, "{\"n\":%d}", 1000 + round);
    OK(weir_node_put(txn, &WEIR_NODE(key, "x", props), NULL, &err));
    int rc = weir_index_create(txn, &by_n, NULL, &err);
    cr_assert(rc == WEIR_OK || rc == WEIR_EXISTS, "%s", err.message);
    is_whole(txn);
    OK(weir_index_drop(txn, &by_n, NULL, &err));
    OK(weir_graph_close(graph, &err));
  }
}

Test(index_processes, of_several_that_make_the_same_one_is_left) {
  char path[512];
  weir_test_path(path, sizeof path, "same.db");
  fill(path);
  for (int round = 0; round < 5; round++) {
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
      children[i] = fork();
      if (children[i] == 0) {
        _exit(create(path, 1 + (unsigned)i, -1));
      }
      cr_assert(gt(int, children[i], 0));
    }
    int made = 0;
    for (int i = 0; i < 3; i++) {
      int status;
      cr_assert(eq(int, waitpid(children[i], &status, 0), children[i]));
      cr_assert(zero(int, WIFEXITED(status) == 0));
      int rc = -WEXITSTATUS(status);
      made += rc == WEIR_OK;
      cr_assert(rc == WEIR_OK || rc == WEIR_EXISTS || rc == WEIR_CANCELED, "%s", weir_error_name(rc));
    }
    cr_assert(eq(int, made, 1));
    weir_graph *graph = open_store(path);
    is_whole(weir_graph_auto(graph));
    OK(weir_index_drop(weir_graph_auto(graph), &by_n, NULL, &err));
    OK(weir_graph_close(graph, &err));
  }
}
