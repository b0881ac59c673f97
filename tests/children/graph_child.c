/*
 * Another process that opens a graph store, for tests: graph_child PATH. Waits until its input is at its end,
 * so that several start at once, opens PATH, adds a node with the label "x", closes. Exits with 0, or the
 * negated weir code of what failed, which it says on stderr.
 */
#include <stdio.h>
#include <unistd.h>

#include <weir/graph.h>

int main(int argc, char **argv) {
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = NULL;
  char byte;
  if (argc != 2) {
    return 100;
  }
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  int rc = weir_graph_open(&graph, argv[1], NULL, &err);
  if (rc == WEIR_OK) {
    rc = weir_node_add(weir_graph_auto(graph), &WEIR_NODE(NULL, "x", NULL), NULL, &err);
    int closed = weir_graph_close(graph, rc == WEIR_OK ? &err : NULL);
    rc = rc == WEIR_OK ? closed : rc;
  }
  if (rc != WEIR_OK) {
    fprintf(stderr, "%s: %s\n", weir_error_name(rc), err.message);
  }
  return -rc;
}
