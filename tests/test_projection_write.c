/* Results become properties: values of each kind, what is left alone, batches, indexes, cancel, rollback. */
#include <math.h>

#include <weir/projection.h>
#include <weir/search.h>

#include "graph_fixture.h"

enum { NODES = 25, BATCH = 4 };

static const weir_index unique_n = {WEIR_NODES, WEIR_TEXT("x"), WEIR_TEXT("n"), 1, 0};
static uint32_t ones[NODES], numbers[NODES];

static void put_nodes(weir_txn *txn) {
  char key[16];
  for (uint32_t i = 0; i < NODES; i++) {
    (void)snprintf(key, sizeof key, "n%02u", i);
    OK(weir_node_put(txn, &WEIR_NODE(key, "x", "{\"old\":1}"), NULL, &err));
    ones[i] = 1;
    numbers[i] = i;
  }
}

static weir_projection *project(weir_txn *txn) {
  weir_projection *p = NULL;
  OK(weir_projection_open(&p, txn, NULL, NULL, &err));
  return p;
}

static const char *props_of(weir_txn *txn, const char *key) {
  static weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  OK(weir_node_get(txn, weir_str(key), &node, &arena, &err));
  return text_string(node.props);
}

static void wrote(weir_written w, uint64_t updated, uint64_t unchanged, uint64_t missing) {
  cr_assert(eq(u64, w.updated, updated), "updated");
  cr_assert(eq(u64, w.unchanged, unchanged), "unchanged");
  cr_assert(eq(u64, w.missing, missing), "missing");
}

GRAPH_TEST(projection_write, sets_members_and_removes_them) {
  put_node(txn, "a", "");
  OK(weir_node_put(txn, &WEIR_NODE("b", "", "{\"z\":[1,{\"y\":0.1}],\"whole\":3,\"real\":1,\"to\":\"x\"}"),
                   NULL, &err));
  const uint32_t small[] = {7, UINT32_MAX}, to[] = {1, WEIR_NO_NODE};
  const uint64_t whole[] = {INT64_MAX, (uint64_t)INT64_MAX + 1};
  const double real[] = {2.0, (double)NAN};
  const weir_column columns[] = {{WEIR_TEXT("small"), WEIR_COLUMN_UINT32, small},
                                 {WEIR_TEXT("whole"), WEIR_COLUMN_UINT64, whole},
                                 {WEIR_TEXT("real"), WEIR_COLUMN_REAL, real},
                                 {WEIR_TEXT("to"), WEIR_COLUMN_NODE, to}};
  weir_projection *p = project(txn);
  weir_written w;
  OK(weir_projection_write(p, txn, columns, 4, NULL, &w, &err));
  wrote(w, 2, 0, 0);
  SAME_STRING(props_of(txn, "a"), "{\"small\":7,\"whole\":9223372036854775807,\"real\":2.0,\"to\":\"b\"}");
  SAME_STRING(props_of(txn, "b"), "{\"z\":[1,{\"y\":0.1}]}");
  OK(weir_projection_write(p, txn, NULL, 0, NULL, &w, &err));
  wrote(w, 0, 2, 0);
  weir_projection_close(p);
}

GRAPH_TEST(projection_write, takes_any_name_and_keeps_every_double) {
  weir_test_rng rng = {weir_test_seed()};
  static const char *const names[] = {"a.b", "$.c", "say \"hi\"", "back\\slash", "n\xc3\xa4me", "[0]", " "};
  enum { COLUMNS = 7 };
  weir_column columns[COLUMNS];
  double values[COLUMNS];
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  put_node(txn, "a", "");
  weir_projection *p = project(txn);
  for (int i = 0; i < 200; i++) {
    for (int c = 0; c < COLUMNS; c++) {
      uint64_t bits = weir_test_next(&rng);
      memcpy(&values[c], &bits, sizeof bits);
      values[c] = isfinite(values[c]) ? values[c] : (double)i / 3;
      columns[c] = (weir_column){weir_str(names[c]), WEIR_COLUMN_REAL, &values[c]};
    }
    OK(weir_projection_write(p, txn, columns, COLUMNS, NULL, NULL, &err));
    OK(weir_node_get(txn, weir_str("a"), &node, &arena, &err));
    for (int c = 0; c < COLUMNS; c++) {
      double read = 0;
      OK(weir_props_real(node.props, names[c], &read, &err));
      cr_assert(read == values[c], "%.17g became %.17g", values[c], read);
    }
  }
  weir_arena_clear(&arena);
  weir_projection_close(p);
}

GRAPH_TEST(projection_write, leaves_alone_what_is_right_already) {
  put_nodes(txn);
  const weir_column column = {WEIR_TEXT("one"), WEIR_COLUMN_UINT32, ones};
  weir_projection *p = project(txn);
  weir_written w;
  OK(weir_projection_write(p, txn, &column, 1, NULL, &w, &err));
  wrote(w, NODES, 0, 0);
  int64_t rev = last_rev(txn);
  OK(weir_projection_write(p, txn, &column, 1, NULL, &w, &err));
  wrote(w, 0, NODES, 0);
  cr_assert(eq(i64, last_rev(txn), rev), "no write was numbered");
  OK(weir_node_put(txn, &WEIR_NODE("n03", "y", "{\"new\":2}"), NULL, &err));
  OK(weir_node_del(txn, weir_str("n20"), NULL, &err));
  put_node(txn, "n99", "x"); /* may be given the number that n20 had */
  OK(weir_projection_write(p, txn, &column, 1, NULL, &w, &err));
  wrote(w, 1, NODES - 2, 1);
  SAME_STRING(props_of(txn, "n03"), "{\"new\":2,\"one\":1}");
  SAME_STRING(props_of(txn, "n99"), "{}");
  cr_assert(eq(i64, count_nodes(txn, "y"), 1), "labels stay");
  weir_projection_close(p);
}

struct progress {
  weir_graph *graph;
  int calls, cancel_at, wrong;
  uint64_t done;
};

/* Between two batches others write. */
static int watch(const weir_progress *progress, void *data) {
  struct progress *at = data;
  char key[16];
  weir_error error = WEIR_ERROR_INIT;
  at->wrong |= progress->total != NODES || progress->done < at->done;
  at->done = progress->done;
  if (at->graph) {
    (void)snprintf(key, sizeof key, "w%d", at->calls);
    at->wrong |= weir_node_put(weir_graph_auto(at->graph), &WEIR_NODE(key, "", ""), NULL, &error) != WEIR_OK;
  }
  return ++at->calls == at->cancel_at;
}

GRAPH_TEST(projection_write, writes_in_batches_and_keeps_those_before_an_end) {
  put_nodes(txn);
  weir_projection *p = project(txn);
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  weir_written w;
  const int batches = (NODES + BATCH - 1) / BATCH;
  for (int cancel_at = 1; cancel_at <= batches + 2; cancel_at++) {
    char name[16];
    struct progress progress = {.graph = graph, .cancel_at = cancel_at};
    (void)snprintf(name, sizeof name, "c%d", cancel_at);
    const weir_column column = {weir_str(name), WEIR_COLUMN_UINT32, numbers};
    options.batch = BATCH;
    options.on_progress = watch;
    options.data = &progress;
    int rc = weir_projection_write(p, txn, &column, 1, &options, &w, &err);
    int canceled = cancel_at <= batches + 1;
    int kept = canceled ? (cancel_at - 1) * BATCH : NODES;
    kept = kept < NODES ? kept : NODES;
    cr_assert(eq(int, rc, canceled ? WEIR_CANCELED : WEIR_OK), "%s", err.message);
    cr_assert(eq(int, progress.wrong, 0));
    wrote(w, (uint64_t)kept, 0, 0);
    char sql[128];
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM node WHERE json_extract(props, '$.%s') IS NOT NULL",
                   name);
    cr_assert(eq(i64, sql_number(txn, sql), kept));
    OK(weir_projection_write(p, txn, &column, 1, NULL, &w, &err));
    wrote(w, (uint64_t)(NODES - kept), (uint64_t)kept, 0);
  }
  weir_projection_close(p);
}

struct inside {
  const weir_projection *p;
  struct progress progress;
  weir_written w;
  int rc;
  int64_t revs;
};

static int write_inside(weir_txn *txn, void *data, weir_error *error) {
  struct inside *inside = data;
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  const weir_column column = {WEIR_TEXT("in"), WEIR_COLUMN_UINT32, numbers};
  inside->progress = (struct progress){.cancel_at = inside->progress.cancel_at};
  options.batch = BATCH;
  options.on_progress = watch;
  options.data = &inside->progress;
  inside->rc = weir_projection_write(inside->p, txn, &column, 1, &options, &inside->w, error);
  inside->revs =
      sql_number(txn, "SELECT count(DISTINCT rev) FROM node WHERE json_extract(props, '$.in') IS NOT NULL");
  return inside->progress.cancel_at < 0 ? WEIR_INVALID : WEIR_OK;
}

GRAPH_TEST(projection_write, is_all_or_nothing_within_a_write) {
  put_nodes(txn);
  weir_projection *p = project(txn);
  struct inside inside = {.p = p, .progress.cancel_at = 3};
  OK(weir_write(txn, write_inside, &inside, NULL, &err));
  cr_assert(eq(int, inside.rc, WEIR_CANCELED));
  wrote(inside.w, 0, 0, 0);
  cr_assert(eq(i64, inside.revs, 0), "all was undone");
  inside.progress.cancel_at = -1;
  cr_assert(eq(int, weir_write(txn, write_inside, &inside, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, inside.rc, WEIR_OK));
  SAME_STRING(props_of(txn, "n07"), "{\"old\":1}");
  inside.progress.cancel_at = 0;
  OK(weir_write(txn, write_inside, &inside, NULL, &err));
  wrote(inside.w, NODES, 0, 0);
  cr_assert(eq(i64, inside.revs, 1), "one write, one number");
  SAME_STRING(props_of(txn, "n07"), "{\"old\":1,\"in\":7}");
  weir_projection_close(p);
}

static int reads_only(weir_txn *txn, void *data, weir_error *error) {
  const weir_column column = {WEIR_TEXT("n"), WEIR_COLUMN_UINT32, ones};
  return weir_projection_write(data, txn, &column, 1, NULL, NULL, error);
}

GRAPH_TEST(projection_write, is_refused_within_a_read) {
  put_nodes(txn);
  weir_projection *p = project(txn);
  FAILS(weir_read(txn, reads_only, p, NULL, &err), WEIR_MISUSE, "");
  weir_projection_close(p);
}

static int count_one(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  (void)error;
  ++*(int *)data;
  return WEIR_OK;
}

static int count_found(weir_txn *txn, weir_cond where) {
  int count = 0;
  const weir_find find = {.size = sizeof find, .label = WEIR_TEXT("x"), .where = &where};
  OK(weir_node_find(txn, &find, count_one, &count, &err));
  return count;
}

GRAPH_TEST(projection_write, keeps_indexes_right) {
  put_nodes(txn);
  OK(weir_index_create(txn, &unique_n, NULL, &err));
  weir_projection *p = project(txn);
  weir_column column = {WEIR_TEXT("n"), WEIR_COLUMN_UINT32, numbers};
  OK(weir_projection_write(p, txn, &column, 1, NULL, NULL, &err));
  cr_assert(eq(int, count_found(txn, WEIR_PROP("n", WEIR_GE, weir_int(20))), NODES - 20));
  column.values = ones; /* n01 has 1 already */
  weir_written w;
  FAILS(weir_projection_write(p, txn, &column, 1, NULL, &w, &err), WEIR_EXISTS, "\"n\"");
  wrote(w, 0, 0, 0);
  cr_assert(eq(int, count_found(txn, WEIR_PROP("n", WEIR_GE, weir_int(20))), NODES - 20));
  weir_projection_close(p);
}

static int count_hit(const weir_hit *hit, void *data, weir_error *error) {
  return count_one(&hit->node, data, error);
}

GRAPH_TEST(projection_write, keeps_text_indexes_right) {
  put_nodes(txn);
  const weir_text_field field = {WEIR_TEXT("to"), 0};
  const weir_text_index index = {.name = WEIR_TEXT("t"), .fields = &field, .field_count = 1};
  OK(weir_text_index_create(txn, &index, NULL, &err));
  weir_projection *p = project(txn);
  const weir_column column = {WEIR_TEXT("to"), WEIR_COLUMN_NODE, ones};
  const weir_search search = {.size = sizeof search, .index = WEIR_TEXT("t"), .query = WEIR_TEXT("n01")};
  int count = 0;
  OK(weir_projection_write(p, txn, &column, 1, NULL, NULL, &err));
  OK(weir_node_search(txn, &search, count_hit, &count, &err));
  cr_assert(eq(int, count, NODES));
  weir_projection_close(p);
}

GRAPH_TEST(projection_write, refuses_columns_that_make_no_sense) {
  weir_projection *p = project(txn);
  FAILS(weir_projection_write(p, NULL, NULL, 0, NULL, NULL, &err), WEIR_INVALID, "txn is NULL");
  weir_projection_close(p);
  put_nodes(txn);
  p = project(txn);
  weir_column columns[2] = {{WEIR_TEXT("a"), WEIR_COLUMN_UINT32, ones},
                            {WEIR_TEXT("a"), WEIR_COLUMN_REAL, ones}};
  FAILS(weir_projection_write(NULL, txn, columns, 1, NULL, NULL, &err), WEIR_INVALID, "projection is NULL");
  FAILS(weir_projection_write(p, NULL, columns, 1, NULL, NULL, &err), WEIR_INVALID, "txn is NULL");
  FAILS(weir_projection_write(p, txn, NULL, 1, NULL, NULL, &err), WEIR_INVALID, "columns is NULL");
  FAILS(weir_projection_write(p, txn, columns, 2, NULL, NULL, &err), WEIR_INVALID,
        "column 1: the name \"a\"");
  weir_projection_close(p);
}

GRAPH_TEST(projection_write, refuses_values_that_make_no_sense) {
  put_nodes(txn);
  weir_projection *p = project(txn);
  weir_column columns[1] = {{WEIR_TEXT(""), WEIR_COLUMN_UINT32, ones}};
  FAILS(weir_projection_write(p, txn, columns, 1, NULL, NULL, &err), WEIR_INVALID, "column 0: name");
  columns[0].name = weir_str("b");
  columns[0].type = (weir_column_type)0;
  FAILS(weir_projection_write(p, txn, columns, 1, NULL, NULL, &err), WEIR_INVALID, "type 0");
  columns[0] = (weir_column){WEIR_TEXT("b"), WEIR_COLUMN_NODE, NULL};
  FAILS(weir_projection_write(p, txn, columns, 1, NULL, NULL, &err), WEIR_INVALID, "values is NULL");
  numbers[3] = NODES;
  columns[0].values = numbers;
  FAILS(weir_projection_write(p, txn, columns, 1, NULL, NULL, &err), WEIR_INVALID, "node 25");
  numbers[3] = 3;
  SAME_STRING(props_of(txn, "n00"), "{\"old\":1}");
  weir_projection_close(p);
}
