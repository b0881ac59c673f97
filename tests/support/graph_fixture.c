#include "graph_fixture.h"

#include <sqlite3.h>

weir_error err;

static const struct {
  const char *name;
  const char *file; /* NULL: memory */
  weir_mode mode;
} kinds[] = {
    {"single, file", "single.db", WEIR_SINGLE},
    {"single, memory", NULL, WEIR_SINGLE},
    {"pool", "pool.db", WEIR_POOL},
};

static const char *kind;

void graph_in_each_kind(graph_test_fn test) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    char path[512] = ":memory:";
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    weir_graph *graph = NULL;
    kind = kinds[i].name;
    options.mode = kinds[i].mode;
    if (kinds[i].file) {
      weir_test_path(path, sizeof path, kinds[i].file);
    }
    OK(weir_graph_open(&graph, path, &options, &err));
    test(graph, weir_graph_auto(graph));
    SAME_STRING(integrity(weir_graph_auto(graph)), "ok");
    OK(weir_graph_close(graph, &err));
  }
  kind = NULL;
}

void graph_tell_kind(void) {
  if (kind) {
    fprintf(stderr, "in a store of kind: %s\n", kind);
  }
}

const char *text_string(weir_text text) {
  static char copies[8][4096];
  static unsigned next;
  char *copy = copies[next++ % 8];
  snprintf(copy, sizeof copies[0], "%.*s", (int)text.len, text.ptr ? text.ptr : "(none)");
  return copy;
}

int64_t count_nodes(weir_txn *txn, const char *label) {
  int64_t count = -1;
  OK(weir_node_count(txn, weir_str(label), &count, &err));
  return count;
}

int64_t count_edges(weir_txn *txn, const char *label) {
  int64_t count = -1;
  OK(weir_edge_count(txn, weir_str(label), &count, &err));
  return count;
}

struct query {
  const char *sql;
  int64_t number;
  char text[256];
};

static int run_query(weir_txn *txn, void *data, weir_error *error) {
  struct query *query = data;
  sqlite3_stmt *stmt;
  int rc = weir_txn_prepare(txn, weir_str(query->sql), &stmt, error);
  if (rc) {
    return rc;
  }
  int step = sqlite3_step(stmt);
  query->number = 0;
  query->text[0] = '\0';
  if (step == SQLITE_ROW) {
    query->number = sqlite3_column_int64(stmt, 0);
    snprintf(query->text, sizeof query->text, "%s", (const char *)sqlite3_column_text(stmt, 0));
  }
  return weir_txn_check(txn, step, error);
}

int64_t sql_number(weir_txn *txn, const char *sql) {
  struct query query = {.sql = sql};
  OK(weir_read(txn, run_query, &query, NULL, &err));
  return query.number;
}

const char *integrity(weir_txn *txn) {
  static struct query query;
  query.sql = "PRAGMA integrity_check";
  OK(weir_read(txn, run_query, &query, NULL, &err));
  if (strcmp(query.text, "ok") == 0) {
    int64_t orphans = sql_number(txn, "SELECT count(*) FROM pragma_foreign_key_check");
    if (orphans > 0) {
      snprintf(query.text, sizeof query.text, "%" PRId64 " edges without an endpoint", orphans);
    }
  }
  return query.text;
}

static int read_rev(weir_txn *txn, void *data, weir_error *error) {
  return weir_txn_rev(txn, data, error);
}

int64_t last_rev(weir_txn *txn) {
  int64_t rev = -1;
  OK(weir_read(txn, read_rev, &rev, NULL, &err));
  return rev;
}

void put_node(weir_txn *txn, const char *key, const char *label) {
  OK(weir_node_put(txn, &WEIR_NODE(key, label, NULL), NULL, &err));
}

void put_edge(weir_txn *txn, const char *src, const char *label, const char *dst) {
  OK(weir_edge_put(txn, &WEIR_EDGE(src, label, dst), WEIR_CREATE_ENDPOINTS, NULL, &err));
}
