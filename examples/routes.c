/*
 * Ways through the graph of flights: what can be reached, and by which route. It gives each route its length
 * first (property km), from where the airports are.
 *
 *   load_csv STORE airports.csv flights-airport.csv --key iata --src origin --dst destination
 *     --weight count --node-label airport --edge-label flight
 *   routes STORE
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/traverse.h>

#define HOPS 6

/* ---- The length of routes ---- */

static int position(weir_txn *txn, weir_text key, weir_arena *arena, double *latitude, double *longitude,
                    weir_error *err) {
  weir_node node;
  int rc = weir_node_get(txn, key, &node, arena, err);
  if (rc == WEIR_OK)
    rc = weir_props_real(node.props, "latitude", latitude, err);
  return rc == WEIR_OK ? weir_props_real(node.props, "longitude", longitude, err) : rc;
}

/* Great-circle distance in kilometers, by the haversine formula, on a sphere of 6,371 km. */
static double distance(double lat1, double lon1, double lat2, double lon2) {
  const double degree = acos(-1) / 180;
  double a = sin((lat2 - lat1) * degree / 2), b = sin((lon2 - lon1) * degree / 2);
  return 2 * 6371 * asin(sqrt(a * a + cos(lat1 * degree) * cos(lat2 * degree) * b * b));
}

/* Routes that have no length yet: a visitor must not write, so they are collected. */
typedef struct route {
  char src[8], dst[8];
} route;

typedef struct routes {
  route *route;
  size_t count;
} routes;

static int collect(const weir_edge *edge, void *data, weir_error *err) {
  routes *all = data;
  route *grown = realloc(all->route, (all->count + 1) * sizeof *grown);
  if (!grown)
    return weir_fail(err, WEIR_NOMEM, "no memory for another route");
  all->route = grown;
  (void)snprintf(grown[all->count].src, sizeof grown->src, "%s", edge->src.ptr);
  (void)snprintf(grown[all->count++].dst, sizeof grown->dst, "%s", edge->dst.ptr);
  return WEIR_OK;
}

static int measure(weir_txn *txn, void *data, weir_error *err) {
  routes all = {NULL, 0};
  weir_arena arena = WEIR_ARENA_INIT;
  weir_find find = WEIR_FIND_INIT;
  (void)data;
  find.label = weir_str("flight");
  find.where = &WEIR_EXCEPT(WEIR_HAS("km"));
  int rc = weir_edge_find(txn, &find, collect, &all, err);
  for (size_t i = 0; rc == WEIR_OK && i < all.count; i++) {
    const weir_edge id = WEIR_EDGE(all.route[i].src, "flight", all.route[i].dst);
    double lat1, lon1, lat2, lon2;
    char patch[32];
    rc = position(txn, id.src, &arena, &lat1, &lon1, err);
    if (rc == WEIR_OK)
      rc = position(txn, id.dst, &arena, &lat2, &lon2, err);
    if (rc == WEIR_OK) {
      (void)snprintf(patch, sizeof patch, "{\"km\":%.0f}", distance(lat1, lon1, lat2, lon2));
      rc = weir_edge_merge(txn, &id, weir_str(patch), NULL, err);
    }
  }
  printf("%zu routes measured\n", all.count);
  weir_arena_clear(&arena);
  free(all.route);
  return rc;
}

/* ---- Questions ---- */

static int print_path(const weir_path *path, void *data, weir_error *err) {
  const char *unit = data;
  (void)err;
  if (!path->found)
    return printf("  no way\n"), WEIR_OK;
  printf("  %5.0f %s  %s", path->cost, unit, path->hop_count ? path->hops[0].from.ptr : "");
  for (size_t i = 0; i < path->hop_count; i++)
    printf(" %s", path->hops[i].to.ptr);
  printf("\n");
  return WEIR_OK;
}

static int count_path(const weir_path *path, void *data, weir_error *err) {
  (void)path, (void)err;
  ++*(size_t *)data;
  return WEIR_OK;
}

static int print_reached(weir_txn *txn, weir_text from, const weir_reach *reach, weir_error *err) {
  uint64_t at[HOPS + 1];
  int rc = weir_within_count(txn, from, HOPS, reach, at, err);
  for (int hops = 1; rc == WEIR_OK && hops <= HOPS; hops++)
    printf(" %4" PRIu64, at[hops]);
  printf("\n");
  return rc;
}

/* How many airports are 1, 2, 3 ... flights away, with and without the three busiest ones. */
static int ask_reached(weir_txn *txn, weir_text from, weir_error *err) {
  const weir_reach all = {.direction = WEIR_OUT};
  const weir_cond others =
      WEIR_EXCEPT(WEIR_TEST_IN(WEIR_FIELD_KEY, weir_string("ATL"), weir_string("ORD"), weir_string("DFW")));
  const weir_reach no_hubs = {.direction = WEIR_OUT, .nodes = &others};
  printf("Airports 1 to %d flights from %s\n  all              ", HOPS, from.ptr);
  int rc = print_reached(txn, from, &all, err);
  if (rc == WEIR_OK && printf("  not by ATL ORD DFW") > 0)
    rc = print_reached(txn, from, &no_hubs, err);
  return rc;
}

static int ask_ways(weir_txn *txn, weir_text from, weir_text to, weir_error *err) {
  weir_path_options flights = WEIR_PATH_OPTIONS_INIT, km = WEIR_PATH_OPTIONS_INIT;
  weir_arena arena = WEIR_ARENA_INIT;
  weir_path path;
  char unit[] = "km";
  size_t ways = 0;
  km.cost = WEIR_COST_PROP;
  km.cost_path = weir_str("km");
  int rc = weir_path_shortest(txn, from, to, &km, &path, &arena, err);
  if (rc == WEIR_OK && printf("\nThe shortest way from %s to %s\n", from.ptr, to.ptr) > 0)
    rc = print_path(&path, unit, err);
  weir_arena_clear(&arena);
  if (rc == WEIR_OK)
    rc = weir_path_all_shortest(txn, from, to, &flights, count_path, &ways, NULL, err);
  if (rc == WEIR_OK)
    printf("%zu ways have the fewest flights. By length the first three ways are\n", ways);
  return rc == WEIR_OK ? weir_path_k_shortest(txn, from, to, 3, &km, print_path, unit, NULL, err) : rc;
}

static int ask(weir_txn *txn, void *data, weir_error *err) {
  const weir_text home = weir_str("ABE"), adak = weir_str("ADK"); /* an island of Alaska */
  (void)data;
  int rc = ask_reached(txn, home, err);
  return rc == WEIR_OK ? ask_ways(txn, home, adak, err) : rc;
}

int main(int argc, char **argv) {
  weir_graph *graph = NULL;
  weir_error err = WEIR_ERROR_INIT;
  if (argc != 2)
    return fputs("usage: routes STORE\n", stderr), 1;
  int rc = weir_graph_open(&graph, argv[1], NULL, &err);
  if (rc == WEIR_OK)
    rc = weir_write(weir_graph_auto(graph), measure, NULL, NULL, &err);
  if (rc == WEIR_OK)
    rc = weir_read(weir_graph_auto(graph), ask, NULL, NULL, &err);
  int closed = weir_graph_close(graph, rc == WEIR_OK ? &err : NULL);
  if (rc != WEIR_OK || closed != WEIR_OK)
    return fprintf(stderr, "routes: %s\n", err.message), 1;
  return 0;
}
