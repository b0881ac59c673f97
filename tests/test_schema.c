/* The schema: made in an empty file, brought up to date in an older one, refused in others. */
#include "graph_fixture.h"

#include <weir/query.h>

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[512];

/* ---- Files
 * --------------------------------------------------------------------------------------------------- */

/* `path` becomes a copy of a file in tests/fixtures. */
static void copy_fixture(const char *name) {
  char source[512];
  char block[4096];
  size_t size;
  snprintf(source, sizeof source, "%s/tests/fixtures/%s", WEIR_SOURCE_DIR, name);
  weir_test_path(path, sizeof path, name);
  FILE *in = fopen(source, "rb");
  FILE *out = fopen(path, "wb");
  cr_assert(in && out, "%s", source);
  while ((size = fread(block, 1, sizeof block, in)) > 0) {
    cr_assert(eq(sz, fwrite(block, 1, size, out), size));
  }
  fclose(in);
  cr_assert(zero(int, fclose(out)));
}

/* Runs SQL on the file, which no graph has open. */
static void run_sql(const char *sql) {
  sqlite3 *db;
  cr_assert(eq(int, sqlite3_open(path, &db), SQLITE_OK));
  cr_assert(eq(int, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK), "%s", sqlite3_errmsg(db));
  cr_assert(eq(int, sqlite3_close(db), SQLITE_OK));
}

/* The first column of all rows, joined. */
static const char *query(const char *sql) {
  static char results[2][32768];
  static int next;
  char *result = results[next++ % 2];
  sqlite3 *db;
  sqlite3_stmt *stmt;
  result[0] = '\0';
  cr_assert(eq(int, sqlite3_open(path, &db), SQLITE_OK));
  cr_assert(eq(int, sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK), "%s", sqlite3_errmsg(db));
  while (sqlite3_step(stmt) == SQLITE_ROW) {
    size_t at = strlen(result);
    snprintf(result + at, sizeof results[0] - at, "%s\n", (const char *)sqlite3_column_text(stmt, 0));
  }
  cr_assert(eq(int, sqlite3_finalize(stmt), SQLITE_OK));
  cr_assert(eq(int, sqlite3_close(db), SQLITE_OK));
  return result;
}

#define OBJECTS                                                                                              \
  "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema WHERE tbl_name <> "            \
  "'weir_commit' ORDER BY 1"

static weir_graph *open_path(void) {
  weir_graph *graph;
  OK(weir_graph_open(&graph, path, NULL, &err));
  return graph;
}

static void refused(int code, const char *says) {
  weir_graph *graph = (weir_graph *)&graph;
  FAILS(weir_graph_open(&graph, path, NULL, &err), code, says);
  cr_assert(eq(ptr, graph, NULL));
}

static void new_path(const char *name) {
  weir_test_path(path, sizeof path, name);
}

#define SCHEMA_TEST(name) Test(schema, name, .timeout = 100)

static int count_node(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  (void)error;
  ++*(int *)data;
  return WEIR_OK;
}

static int count_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  (void)error;
  ++*(int *)data;
  return WEIR_OK;
}

/* ---- New and current stores
 * ------------------------------------------------------------------------------------ */

SCHEMA_TEST(of_a_new_store_says_what_it_is) {
  new_path("new.db");
  OK(weir_graph_close(open_path(), &err));
  SAME_STRING(query("PRAGMA application_id"), "2003134834\n");
  SAME_STRING(query("PRAGMA user_version"), "2\n");
  SAME_STRING(
      query("SELECT hex(substr(CAST(printf('%08x', application_id) AS TEXT), 1)) FROM pragma_application_id"),
      "3737363536393732\n"); /* "77656972", "weir" in ASCII */
}

SCHEMA_TEST(survives_closing_and_opening) {
  new_path("again.db");
  weir_graph *graph = open_path();
  put_edge(weir_graph_auto(graph), "a", "e", "b");
  OK(weir_graph_close(graph, &err));
  graph = open_path();
  cr_assert(eq(i64, count_edges(weir_graph_auto(graph), "e"), 1));
  OK(weir_graph_close(graph, &err));
}

/* One row has the value, and an index finds it. */
static void finds_one(weir_txn *txn, weir_target target, const char *label, const char *member, int value) {
  weir_cond where = WEIR_PROP(member, WEIR_EQ, weir_int(value));
  weir_find find = WEIR_FIND_INIT;
  int nodes = target == WEIR_NODES;
  weir_plan plan;
  int count = 0;
  find.label = weir_str(label);
  find.where = &where;
  OK(nodes ? weir_node_find(txn, &find, count_node, &count, &err)
           : weir_edge_find(txn, &find, count_edge, &count, &err));
  OK(nodes ? weir_node_explain(txn, &find, &plan, &err) : weir_edge_explain(txn, &find, &plan, &err));
  cr_assert(eq(int, count, 1));
  cr_assert(eq(int, (int)plan.access, WEIR_BY_INDEX));
}

SCHEMA_TEST(of_version_2_is_read_as_it_is) {
  copy_fixture("schema_v2.db");
  const char *before = query(OBJECTS);
  weir_graph *graph = open_path();
  weir_txn *txn = weir_graph_auto(graph);
  cr_assert(eq(i64, count_nodes(txn, "person"), 2));
  cr_assert(eq(i64, count_edges(txn, "knows"), 3));
  cr_assert(eq(i64, last_rev(txn), 3));
  finds_one(txn, WEIR_NODES, "person", "age", 42);
  finds_one(txn, WEIR_EDGES, "knows", "since", 2001);
  FAILS(weir_node_put(txn, &WEIR_NODE("dora", "person", "{\"age\":42}"), NULL, &err), WEIR_EXISTS, "alice");
  OK(weir_node_put(txn, &WEIR_NODE("bob", "person", "{\"age\":43}"), NULL, &err));
  finds_one(txn, WEIR_NODES, "person", "age", 43);
  OK(weir_graph_close(graph, &err));
  SAME_STRING(query(OBJECTS), before);
}

SCHEMA_TEST(may_be_made_by_several_processes_at_once) {
  enum { CHILDREN = 4 };
  pid_t children[CHILDREN];
  int gate[2];
  new_path("together.db");
  cr_assert(zero(int, pipe(gate)));
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      if (dup2(gate[0], STDIN_FILENO) == STDIN_FILENO && close(gate[0]) == 0 && close(gate[1]) == 0) {
        execl(WEIR_GRAPH_CHILD, "graph_child", path, (char *)NULL);
      }
      _exit(101);
    }
  }
  close(gate[0]);
  close(gate[1]); /* now they all begin */
  for (int i = 0; i < CHILDREN; i++) {
    int status = -1;
    cr_assert(eq(int, waitpid(children[i], &status, 0), children[i]));
    cr_assert(zero(int, status));
  }
  weir_graph *graph = open_path();
  cr_assert(eq(i64, count_nodes(weir_graph_auto(graph), "x"), CHILDREN));
  OK(weir_graph_close(graph, &err));
}

/* The file at `path` has the tables of a new store, to the letter. */
static void is_like_a_new_one(void) {
  char migrated[8192];
  snprintf(migrated, sizeof migrated, "%s", query(OBJECTS));
  SAME_STRING(query("PRAGMA user_version"), "2\n");
  new_path("new.db");
  OK(weir_graph_close(open_path(), &err));
  SAME_STRING(migrated, query(OBJECTS));
}

/* ---- Migration
 * -------------------------------------------------------------------------------------------------- */

SCHEMA_TEST(of_version_0_becomes_the_current_one) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  int64_t degree;
  copy_fixture("schema_v0.db");
  weir_graph *graph = open_path();
  weir_txn *txn = weir_graph_auto(graph);
  cr_assert(eq(i64, count_nodes(txn, "person"), 2)); /* by label_set_member */
  cr_assert(eq(i64, count_nodes(txn, "admin"), 1));
  OK(weir_degree(txn, weir_str("alice"), WEIR_IN, weir_str("knows"), &degree, &err)); /* by edge_reverse */
  cr_assert(eq(i64, degree, 2));
  OK(weir_node_get(txn, weir_str("bob"), &node, &arena, &err));
  SAME(node.label, "admin");
  put_node(txn, "dora", "admin");
  cr_assert(eq(i64, last_rev(txn), 4));
  OK(weir_graph_close(graph, &err));
  weir_arena_clear(&arena);

  is_like_a_new_one();
}

SCHEMA_TEST(of_version_1_becomes_the_current_one) {
  copy_fixture("schema_v1.db");
  weir_graph *graph = open_path();
  weir_txn *txn = weir_graph_auto(graph);
  const weir_index index = {WEIR_NODES, WEIR_TEXT("person"), WEIR_TEXT("age"), 0, 0};
  cr_assert(eq(i64, count_nodes(txn, "person"), 2));
  cr_assert(eq(i64, count_edges(txn, "knows"), 3));
  OK(weir_index_create(txn, &index, NULL, &err)); /* in property_index */
  finds_one(txn, WEIR_NODES, "person", "age", 42);
  OK(weir_index_drop(txn, &index, NULL, &err));
  cr_assert(eq(i64, last_rev(txn), 3));
  OK(weir_graph_close(graph, &err));
  is_like_a_new_one();
}

SCHEMA_TEST(stays_at_its_version_when_a_step_fails) {
  copy_fixture("schema_v0.db");
  run_sql("CREATE TABLE edge_reverse(a)"); /* in the way of the step's last statement but one */
  const char *before = query(OBJECTS);
  refused(WEIR_CORRUPT, "stays at schema version 0, the step to 1 failed");
  SAME_STRING(query(OBJECTS), before);
  SAME_STRING(query("PRAGMA user_version"), "0\n");
  run_sql("DROP TABLE edge_reverse");
  weir_graph *graph = open_path();
  cr_assert(eq(i64, count_nodes(weir_graph_auto(graph), "person"), 2));
  OK(weir_graph_close(graph, &err));
}

SCHEMA_TEST(of_an_older_version_is_not_changed_by_a_reader) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  weir_graph *graph;
  options.read_only = 1;
  copy_fixture("schema_v0.db");
  FAILS(weir_graph_open(&graph, path, &options, &err), WEIR_READONLY, "open it once without read_only");
  SAME_STRING(query("PRAGMA user_version"), "0\n");
  OK(weir_graph_close(open_path(), &err));
  OK(weir_graph_open(&graph, path, &options, &err));
  cr_assert(eq(i64, count_nodes(weir_graph_auto(graph), NULL), 3));
  FAILS(weir_node_put(weir_graph_auto(graph), &WEIR_NODE("x", NULL, NULL), NULL, &err), WEIR_READONLY, "");
  OK(weir_graph_close(graph, &err));
}

/* ---- What is refused
 * --------------------------------------------------------------------------------------------- */

SCHEMA_TEST(of_a_newer_version_is_refused_and_left_alone) {
  copy_fixture("schema_v2.db");
  run_sql("PRAGMA user_version = 7");
  run_sql("PRAGMA journal_mode = DELETE");
  refused(WEIR_VERSION, "schema version 7, this weir knows up to 2");
  SAME_STRING(query("PRAGMA user_version"), "7\n");
  SAME_STRING(query("PRAGMA journal_mode"), "delete\n");
}

SCHEMA_TEST(of_another_application_is_refused_and_left_alone) {
  new_path("other.db");
  run_sql("CREATE TABLE theirs(a); PRAGMA application_id = 42");
  refused(WEIR_CORRUPT, "another application (application_id 42)");
  new_path("unmarked.db");
  run_sql("CREATE TABLE theirs(a)");
  refused(WEIR_CORRUPT, "another application (application_id 0)");
  SAME_STRING(query("SELECT name FROM sqlite_schema"), "theirs\n");
  SAME_STRING(query("PRAGMA journal_mode"), "delete\n");
  SAME_STRING(query("PRAGMA application_id"), "0\n");
}

SCHEMA_TEST(that_lacks_a_table_is_refused) {
  copy_fixture("schema_v2.db");
  run_sql("DROP INDEX edge_reverse");
  refused(WEIR_CORRUPT, "8 of 9 tables and indexes");
  copy_fixture("schema_v0.db");
  run_sql("PRAGMA user_version = -1");
  refused(WEIR_CORRUPT, "damaged");
}

SCHEMA_TEST(in_a_file_that_is_no_database_is_refused) {
  new_path("text.db");
  FILE *file = fopen(path, "w");
  for (int i = 0; i < 1000; i++) {
    fputs("This is not a database. ", file);
  }
  fclose(file);
  refused(WEIR_CORRUPT, "");
}

SCHEMA_TEST(is_not_reached_with_bad_arguments) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  weir_graph *graph;
  new_path("never.db");
  FAILS(weir_graph_open(NULL, path, NULL, &err), WEIR_INVALID, "out is NULL");
  FAILS(weir_graph_open(&graph, NULL, NULL, &err), WEIR_INVALID, "");
  FAILS(weir_graph_open(&graph, "", NULL, &err), WEIR_INVALID, "");
  options.numbered = 1;
  FAILS(weir_graph_open(&graph, path, &options, &err), WEIR_INVALID, "the graph's own");
  options.numbered = 0;
  options.data = path;
  FAILS(weir_graph_open(&graph, path, &options, &err), WEIR_INVALID, "the graph's own");
  options.data = NULL;
  options.size = 0;
  FAILS(weir_graph_open(&graph, path, &options, &err), WEIR_INVALID, "_INIT");
  cr_assert(eq(int, access(path, F_OK), -1));
  OK(weir_graph_close(NULL, &err));
  cr_assert(eq(ptr, weir_graph_pool(NULL), NULL));
  cr_assert(eq(ptr, weir_graph_auto(NULL), NULL));
}
