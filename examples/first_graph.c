#include <stdio.h>
#include <weir/graph.h>

static int fill(weir_txn *txn, void *data, weir_error *err) { /* one transaction: as a whole or not at all */
  (void)data;
  int rc = weir_node_put(txn, &WEIR_NODE("alice", "person", "{\"age\":42}"), NULL, err);
  if (rc == WEIR_OK)
    rc = weir_node_put(txn, &WEIR_NODE("bob", "person", "{}"), NULL, err);
  if (rc == WEIR_OK)
    rc = weir_edge_put(txn, &WEIR_EDGE("alice", "knows", "bob"), 0, NULL, err);
  return rc;
}

static int print(const weir_neighbor *neighbor, void *data, weir_error *err) {
  (void)data, (void)err;
  printf("alice %s %s\n", neighbor->label.ptr, neighbor->node.key.ptr);
  return WEIR_OK; /* WEIR_STOP would end the walk */
}

int main(void) {
  weir_graph *graph = NULL;
  weir_arena arena = WEIR_ARENA_INIT; /* what is read lives here */
  weir_node alice;
  weir_error err = WEIR_ERROR_INIT;
  int rc = weir_graph_open(&graph, ":memory:", NULL, &err); /* or the name of a file */
  weir_txn *txn = weir_graph_auto(graph);                   /* makes each call a transaction of its own */
  if (rc == WEIR_OK)
    rc = weir_write(txn, fill, NULL, NULL, &err);
  if (rc == WEIR_OK)
    rc = weir_node_get(txn, weir_str("alice"), &alice, &arena, &err);
  if (rc == WEIR_OK && printf("%s is a %s: %s\n", alice.key.ptr, alice.label.ptr, alice.props.ptr) > 0)
    rc = weir_neighbors(txn, alice.key, WEIR_OUT, 0, NULL, print, NULL, &err);
  if (rc != WEIR_OK)
    fprintf(stderr, "%s\n", err.message);
  weir_arena_clear(&arena);
  return weir_graph_close(graph, NULL) != WEIR_OK || rc != WEIR_OK;
}
