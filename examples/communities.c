/*
 * The communities of a social network, and its central people. What was computed becomes properties of the
 * people, and is asked for like all others.
 *
 *   communities karate.txt     an edge list, plain or gzip; each line is a friendship
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/algo.h>
#include <weir/io.h>
#include <weir/query.h>

#define SEED    1   /* of what is random: the same seed, the same output */
#define SAMPLES 200 /* from so many people paths are searched; betweenness is exact if there are no more */
#define SHOWN   5

/* Results, by node. */
typedef struct results {
  uint32_t *community;
  uint64_t *friends;
  double *pagerank, *betweenness;
  weir_leiden_result found;
} results;

static int make_room(results *r, uint32_t nodes, weir_error *err) {
  r->community = calloc(nodes + 1, sizeof *r->community);
  r->friends = calloc(nodes + 1, sizeof *r->friends);
  r->pagerank = calloc(nodes + 1, sizeof *r->pagerank);
  r->betweenness = calloc(nodes + 1, sizeof *r->betweenness);
  return r->community && r->friends && r->pagerank && r->betweenness
             ? WEIR_OK
             : weir_fail(err, WEIR_NOMEM, "no memory for %" PRIu32 " people", nodes);
}

static int compute(const weir_projection *p, results *r, weir_error *err) {
  weir_leiden_options leiden = WEIR_LEIDEN_OPTIONS_INIT;
  weir_centrality_options centrality = WEIR_CENTRALITY_OPTIONS_INIT;
  leiden.seed = centrality.seed = SEED;
  centrality.samples = SAMPLES;
  centrality.normalized = 1;
  int rc = weir_leiden(p, &leiden, NULL, r->community, &r->found, err);
  if (rc == WEIR_OK)
    rc = weir_degrees(p, WEIR_BOTH, NULL, r->friends, NULL, err);
  if (rc == WEIR_OK)
    rc = weir_pagerank(p, NULL, NULL, r->pagerank, NULL, err);
  if (rc == WEIR_OK)
    rc = weir_betweenness(p, &centrality, NULL, r->betweenness, err);
  return rc;
}

static int keep(weir_graph *graph, const weir_projection *p, const results *r, weir_error *err) {
  const weir_column columns[] = {{weir_str("community"), WEIR_COLUMN_UINT32, r->community},
                                 {weir_str("friends"), WEIR_COLUMN_UINT64, r->friends},
                                 {weir_str("pagerank"), WEIR_COLUMN_REAL, r->pagerank},
                                 {weir_str("betweenness"), WEIR_COLUMN_REAL, r->betweenness}};
  return weir_projection_write(p, weir_graph_auto(graph), columns, sizeof columns / sizeof *columns, NULL,
                               NULL, err);
}

/* ---- Questions to the store ---- */

static int print(const weir_node *node, void *data, weir_error *err) {
  const char *name = data;
  double value = 0;
  int rc = weir_props_real(node->props, name, &value, err);
  if (rc == WEIR_OK)
    printf(value < 1 ? "  %s (%.3g)" : "  %s (%.0f)", node->key.ptr, value);
  return rc;
}

/* The people with the most of a property, of those for whom the condition is true. */
static int ask(weir_graph *graph, const char *property, const weir_cond *where, weir_error *err) {
  char name[16];
  weir_find find = WEIR_FIND_INIT;
  find.where = where;
  find.order = WEIR_FIELD_PROP;
  find.order_path = weir_str(property);
  find.descending = 1;
  find.limit = SHOWN;
  (void)snprintf(name, sizeof name, "%s", property);
  int rc = weir_node_find(weir_graph_auto(graph), &find, print, name, err);
  printf("\n");
  return rc;
}

static int ask_central(weir_graph *graph, weir_error *err) {
  static const char *const properties[] = {"friends", "pagerank", "betweenness"};
  int rc = WEIR_OK;
  for (int i = 0; rc == WEIR_OK && i < 3; i++) {
    printf("Most %-11s", properties[i]);
    rc = ask(graph, properties[i], NULL, err);
  }
  return rc;
}

static int ask_communities(weir_graph *graph, const results *r, uint32_t nodes, weir_error *err) {
  int rc = WEIR_OK;
  printf("%" PRIu32 " communities, modularity %.4f\n", r->found.communities, r->found.modularity);
  for (uint32_t i = 0; rc == WEIR_OK && i < r->found.communities; i++) {
    uint32_t people = 0;
    for (uint32_t node = 0; node < nodes; node++)
      people += r->community[node] == i;
    printf("%4" PRIu32 " people:", people);
    rc = ask(graph, "pagerank", &WEIR_PROP("community", WEIR_EQ, weir_int(i)), err);
  }
  return rc;
}

/* ---- From the file to the answers ---- */

static int run(weir_graph *graph, const char *path, weir_error *err) {
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  weir_projection *p = NULL;
  results r = {.community = NULL};
  options.undirected = 1;
  int rc = weir_load_snap(weir_graph_auto(graph), path, NULL, NULL, err);
  if (rc == WEIR_OK)
    rc = weir_projection_open(&p, weir_graph_auto(graph), &options, NULL, err);
  if (rc == WEIR_OK)
    rc = make_room(&r, weir_projection_nodes(p), err);
  if (rc == WEIR_OK)
    rc = compute(p, &r, err);
  if (rc == WEIR_OK)
    rc = keep(graph, p, &r, err);
  if (rc == WEIR_OK)
    rc = ask_central(graph, err);
  if (rc == WEIR_OK)
    rc = ask_communities(graph, &r, weir_projection_nodes(p), err);
  free(r.community);
  free(r.friends);
  free(r.pagerank);
  free(r.betweenness);
  weir_projection_close(p);
  return rc;
}

int main(int argc, char **argv) {
  weir_graph *graph = NULL;
  weir_error err = WEIR_ERROR_INIT;
  if (argc != 2)
    return fputs("usage: communities EDGE-LIST\n", stderr), 1;
  int rc = weir_graph_open(&graph, ":memory:", NULL, &err);
  if (rc == WEIR_OK)
    rc = run(graph, argv[1], &err);
  int closed = weir_graph_close(graph, rc == WEIR_OK ? &err : NULL);
  if (rc != WEIR_OK || closed != WEIR_OK)
    return fprintf(stderr, "communities: %s\n", err.message), 1;
  return 0;
}
