/* Finds by label alone: nodes of several sets of labels in one order, looked up in batches. */
#include "graph_fixture.h"

#include <sqlite3.h>

#include <weir/query.h>

enum { PAIRS = 300 };

struct looks {
  weir_txn *txn;
  weir_find inner;
  int rows;
  int inner_rows;
  int runs; /* of the statement that looks nodes up */
};

static int count_inner(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  (void)error;
  return ++*(int *)data % 50 == 0 ? WEIR_STOP : WEIR_OK;
}

/* Each row is looked at while another find by the same label begins and ends. */
static int look_within(const weir_node *node, void *data, weir_error *error) {
  struct looks *looks = data;
  char key[16];
  sqlite3 *db = weir_txn_db(looks->txn);
  snprintf(key, sizeof key, "n%d", looks->rows++);
  if (strcmp(node->key.ptr, key) != 0) {
    return weir_fail(error, WEIR_CORRUPT, "%s is not %s", node->key.ptr, key);
  }
  looks->runs = 0;
  for (sqlite3_stmt *stmt = sqlite3_next_stmt(db, NULL); stmt; stmt = sqlite3_next_stmt(db, stmt)) {
    if (sqlite3_stmt_busy(stmt) && strstr(sqlite3_sql(stmt), "json_each")) {
      looks->runs = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_RUN, 0);
    }
  }
  return weir_node_find(looks->txn, &looks->inner, count_inner, &looks->inner_rows, error);
}

static int find_within(weir_txn *txn, void *data, weir_error *error) {
  struct looks *looks = data;
  const weir_find find = looks->inner;
  looks->txn = txn;
  return weir_node_find(txn, &find, look_within, looks, error);
}

/* A set of values is made ready each time the statement is run: that is not once for each node. */
GRAPH_TEST(find_label, looks_many_nodes_up_at_once) {
  weir_value values[2 * PAIRS];
  weir_cond set = {.op = WEIR_ONE_OF,
                   .field = WEIR_FIELD_PROP,
                   .path = weir_str("n"),
                   .values = values,
                   .count = 2 * PAIRS};
  struct looks looks = {.inner = WEIR_FIND_INIT};
  for (int i = 0; i < 2 * PAIRS; i++) { /* in two sets of labels */
    const weir_text both[] = {WEIR_TEXT("x"), WEIR_TEXT("y")};
    char key[16];
    char props[32];
    snprintf(key, sizeof key, "n%d", i);
    snprintf(props, sizeof props, "{\"n\":%d}", i);
    weir_node node = WEIR_NODE(key, NULL, props);
    node.labels = both;
    node.label_count = i % 2 ? 2 : 1;
    OK(weir_node_put(txn, &node, NULL, &err));
    values[i] = weir_int(i);
  }
  looks.inner.label = weir_str("x");
  looks.inner.where = &set;
  OK(weir_read(txn, find_within, &looks, NULL, &err));
  cr_assert(eq(int, looks.rows, 2 * PAIRS));
  cr_assert(eq(int, looks.inner_rows, 50 * 2 * PAIRS));
  cr_assert(gt(int, looks.runs, 0));
  cr_assert(lt(int, looks.runs, 10));
}
