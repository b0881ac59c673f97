/*
 * The order in which the parts of a program are built: first what needs nothing, then, wave after wave, what
 * the waves before make possible. If parts need each other in a circle, it is shown.
 *
 *   build_order build.csv                 a file with the columns part and needs
 *   build_order build.csv PART NEED ...   if there is a circle: without PART needing NEED
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/algo.h>
#include <weir/io.h>

/* An edge leads from what is needed to the part that needs it: the order in which they are built. */
static int load(weir_graph *graph, const char *path, weir_error *err) {
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  options.src_column = "needs";
  options.dst_column = "part";
  options.label = "before";
  options.create_endpoints = 1;
  return weir_load_csv_edges(weir_graph_auto(graph), path, &options, NULL, err);
}

static const char *name(const weir_projection *p, uint32_t node) {
  return weir_projection_key(p, node).ptr;
}

static void print_circle(const weir_projection *p, const uint32_t *nodes, uint32_t count) {
  printf("A circle: to build\n");
  for (uint32_t i = 0; i < count; i++)
    printf("  %-12s one needs %s\n", name(p, nodes[(i + 1) % count]), name(p, nodes[i]));
}

static void print_waves(const weir_projection *p, const uint32_t *nodes, const uint32_t *level,
                        uint32_t count) {
  printf("The order, in waves of parts that can be built at the same time");
  for (uint32_t i = 0; i < count; i++) {
    if (i == 0 || level[nodes[i]] != level[nodes[i - 1]])
      printf("\n  %" PRIu32 ":", level[nodes[i]]);
    printf(" %s", name(p, nodes[i]));
  }
  printf("\n");
}

static int show_order(const weir_projection *p, int *cyclic, weir_error *err) {
  uint32_t count = weir_projection_nodes(p);
  uint32_t *nodes = malloc((count + 1) * sizeof *nodes), *level = malloc((count + 1) * sizeof *level);
  int rc = nodes && level ? weir_topological_order(p, NULL, nodes, &count, cyclic, level, err)
                          : weir_fail(err, WEIR_NOMEM, "no memory for %" PRIu32 " parts", count);
  if (rc == WEIR_OK && *cyclic)
    print_circle(p, nodes, count);
  else if (rc == WEIR_OK)
    print_waves(p, nodes, level, count);
  free(nodes);
  free(level);
  return rc;
}

/* Removes a need from the store. The projection stays what it was, and can tell that it is older. */
static int remove_need(weir_graph *graph, const weir_projection *p, char **need, weir_error *err) {
  const weir_edge edge = WEIR_EDGE(need[1], "before", need[0]);
  int64_t writes = 0;
  int existed = 0;
  int rc = weir_edge_del(weir_graph_auto(graph), &edge, &existed, err);
  if (rc == WEIR_OK && !existed)
    rc = weir_fail(err, WEIR_NOT_FOUND, "%s does not need %s", need[0], need[1]);
  if (rc == WEIR_OK)
    rc = weir_projection_behind(p, weir_graph_auto(graph), &writes, err);
  if (rc == WEIR_OK)
    printf("Without %s needing %s (writes since the projection: %" PRId64 ")\n", need[0], need[1], writes);
  return rc;
}

/* Shows the order; as long as there is a circle, takes away the next need that may go. */
static int run(weir_graph *graph, char **needs, weir_error *err) {
  int rc = WEIR_OK, again = 1;
  while (rc == WEIR_OK && again) {
    weir_projection *p = NULL;
    int cyclic = 0;
    rc = weir_projection_open(&p, weir_graph_auto(graph), NULL, NULL, err);
    if (rc == WEIR_OK)
      rc = show_order(p, &cyclic, err);
    again = cyclic && needs[0] && needs[1];
    if (rc == WEIR_OK && again)
      rc = remove_need(graph, p, needs, err);
    needs += again ? 2 : 0;
    weir_projection_close(p);
  }
  return rc;
}

int main(int argc, char **argv) {
  weir_graph *graph = NULL;
  weir_error err = WEIR_ERROR_INIT;
  if (argc < 2)
    return fputs("usage: build_order FILE [PART NEED]...\n", stderr), 1;
  int rc = weir_graph_open(&graph, ":memory:", NULL, &err);
  if (rc == WEIR_OK)
    rc = load(graph, argv[1], &err);
  if (rc == WEIR_OK)
    rc = run(graph, argv + 2, &err);
  int closed = weir_graph_close(graph, rc == WEIR_OK ? &err : NULL);
  if (rc != WEIR_OK || closed != WEIR_OK)
    return fprintf(stderr, "build_order: %s\n", err.message), 1;
  return 0;
}
