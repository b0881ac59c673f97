/* Iterating everything, and finding by an index or a label, in memory that does not grow with the rows. */
#include "graph_fixture.h"

#include <malloc.h>
#include <sqlite3.h>

#include <weir/query.h>

enum { ROWS = 3000, BIG = 6000 }; /* some 20 MB of nodes */

/* The page cache of a connection is 2 MiB; twice that for all there is. */
static const int64_t ENOUGH = 4 << 20;

static int put_rows(weir_txn *txn, void *data, weir_error *error) {
  static char props[BIG + 64];
  int rc = WEIR_OK;
  (void)data;
  for (int i = 0; i < ROWS && rc == WEIR_OK; i++) {
    char key[16];
    const weir_text labels[] = {WEIR_TEXT("x"), weir_str(i % 2 ? "odd" : "even")};
    weir_node node = {.labels = labels, .label_count = 2, .props = {props, 0}};
    snprintf(key, sizeof key, "n%d", i);
    node.key = weir_str(key);
    node.props.len = (size_t)snprintf(props, sizeof props, "{\"n\":%d,\"big\":\"%0*d\"}", i, BIG, i);
    rc = weir_node_put(txn, &node, NULL, error);
    weir_edge edge = WEIR_EDGE("n0", "e", key);
    edge.props = node.props;
    rc = rc ? rc : weir_edge_put(txn, &edge, 0, NULL, error);
  }
  return rc;
}

struct usage {
  int64_t rows;
  size_t heap; /* the most that malloc has given, of what is looked at now and then */
};

static void look(struct usage *usage) {
  if (usage->rows++ % 100 == 0) {
    struct mallinfo2 now = mallinfo2(); /* zeros under a sanitizer */
    size_t used = now.uordblks + now.hblkhd;
    usage->heap = used > usage->heap ? used : usage->heap;
  }
}

static int see_node(const weir_node *node, void *data, weir_error *error) {
  (void)node;
  (void)error;
  look(data);
  return WEIR_OK;
}

static int see_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  (void)error;
  look(data);
  return WEIR_OK;
}

static int see_everything(weir_txn *txn, void *data, weir_error *error) {
  int rc = weir_node_scan(txn, NULL, see_node, data, error);
  return rc ? rc : weir_edge_scan(txn, NULL, see_edge, data, error);
}

static int find_by_label(weir_txn *txn, void *data, weir_error *error) {
  weir_cond where = WEIR_PROP("n", WEIR_GE, weir_int(0));
  weir_find find = WEIR_FIND_INIT;
  find.label = weir_str("x"); /* of two sets, which are merged */
  find.where = &where;
  return weir_node_find(txn, &find, see_node, data, error);
}

static int find_in_order(weir_txn *txn, void *data, weir_error *error) {
  weir_place place = WEIR_PLACE_INIT;
  weir_find find = WEIR_FIND_INIT;
  find.label = weir_str("x");
  find.order = WEIR_FIELD_PROP;
  find.order_path = weir_str("n");
  find.place = &place;
  int rc = weir_node_find(txn, &find, see_node, data, error);
  weir_place_clear(&place);
  return rc;
}

static void is_bounded(weir_txn *txn, weir_txn_fn fn, int64_t rows) {
  struct usage usage = {.rows = 0};
  struct mallinfo2 now = mallinfo2();
  size_t heap = now.uordblks + now.hblkhd;
  int64_t before = sqlite3_memory_used();
  (void)sqlite3_memory_highwater(1);
  OK(weir_read(txn, fn, &usage, NULL, &err));
  cr_assert(eq(i64, usage.rows, rows));
  cr_assert(lt(i64, sqlite3_memory_highwater(0) - before, ENOUGH));
  cr_assert(lt(i64, (int64_t)usage.heap - (int64_t)heap, ENOUGH));
}

Test(find_memory, does_not_grow_with_the_rows, .timeout = 200) {
  char path[512];
  weir_graph *graph;
  const weir_index index = {WEIR_NODES, WEIR_TEXT("x"), WEIR_TEXT("n"), 0, 0};
  weir_test_path(path, sizeof path, "big.db");
  OK(weir_graph_open(&graph, path, NULL, &err));
  weir_txn *txn = weir_graph_auto(graph);
  OK(weir_write(txn, put_rows, NULL, NULL, &err));
  OK(weir_index_create(txn, &index, NULL, &err));
  is_bounded(txn, see_everything, 2 * ROWS);
  is_bounded(txn, find_by_label, ROWS);
  is_bounded(txn, find_in_order, ROWS);
  OK(weir_graph_close(graph, &err));
}
