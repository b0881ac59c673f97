/*
 * Asks the graph of flights which airports are the busiest, and what can be reached from ABE (Allentown,
 * Pennsylvania) with one stop. All of it is read in one snapshot.
 *
 *   load_csv STORE airports.csv flights-airport.csv --key iata --src origin --dst destination
 *     --weight count --node-label airport --edge-label flight
 *   flights STORE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/graph.h>

/* An airport and the number that it is ranked by. */
typedef struct place {
  char key[8]; /* IATA's code, or what small fields have instead */
  int64_t number;
} place;

/* Airports; `txn` is for visitors that read on, `skip` for those that leave some out. */
typedef struct places {
  weir_txn *txn;
  place *place;
  size_t count;
  const struct places *skip;
} places;

static place *find(const places *all, weir_text key) {
  size_t i = 0;
  while (i < all->count && strcmp(all->place[i].key, key.ptr) != 0)
    i++;
  return i < all->count ? &all->place[i] : NULL;
}

static int append(places *all, weir_text key, int64_t number, weir_error *err) {
  place *grown = realloc(all->place, (all->count + 1) * sizeof(*grown));
  if (!grown)
    return weir_fail(err, WEIR_NOMEM, "no memory for another airport");
  all->place = grown;
  all->place[all->count].number = number;
  (void)snprintf(all->place[all->count++].key, sizeof(grown->key), "%s", key.ptr);
  return WEIR_OK;
}

/* By number, the largest first; equal ones by key, so that the order is always the same. */
static int compare(const void *left, const void *right) {
  const place *a = left, *b = right;
  return a->number != b->number ? (a->number < b->number ? 1 : -1) : strcmp(a->key, b->key);
}

/* ---- Visitors: the library calls them for each node, or each step to a neighbor ---- */

static int rank_by_routes(const weir_node *node, void *data, weir_error *err) {
  places *all = data;
  int64_t routes = 0;
  int rc = weir_degree(all->txn, node->key, WEIR_BOTH, weir_str("flight"), &routes, err);
  return rc == WEIR_OK ? append(all, node->key, routes, err) : rc;
}

static int add_flights(const weir_neighbor *step, void *data, weir_error *err) {
  (void)err;
  *(double *)data += step->weight;
  return WEIR_OK;
}

static int add_place(const weir_neighbor *step, void *data, weir_error *err) {
  places *all = data;
  place *known = find(all, step->node.key);
  if (known)
    known->number++;
  else if (!all->skip || !find(all->skip, step->node.key))
    return append(all, step->node.key, 1, err);
  return WEIR_OK;
}

/* ---- Answers ---- */

/* Prints the first ten: key, number, flights from and to it, name. */
static int print(places *all, const char *title, weir_error *err) {
  weir_arena nodes = WEIR_ARENA_INIT, names = WEIR_ARENA_INIT;
  weir_node node;
  weir_text name;
  int rc = WEIR_OK;
  if (all->count > 0)
    qsort(all->place, all->count, sizeof(*all->place), compare);
  printf("%s\n", title);
  for (size_t i = 0; rc == WEIR_OK && i < all->count && i < 10; i++) {
    const place *p = &all->place[i];
    double flights = 0;
    if ((rc = weir_node_get(all->txn, weir_str(p->key), &node, &nodes, err)) == WEIR_OK &&
        (rc = weir_props_text(node.props, "name", &name, &names, err)) == WEIR_OK &&
        (rc = weir_neighbors(all->txn, node.key, WEIR_BOTH, WEIR_WITH_EDGES, NULL, add_flights, &flights,
                             err)) == WEIR_OK)
      printf("  %-4s %6" PRId64 " %10.0f  %s\n", p->key, p->number, flights, name.ptr);
  }
  weir_arena_clear(&nodes);
  weir_arena_clear(&names);
  return rc;
}

static int ask(weir_txn *txn, void *data, weir_error *err) {
  places busiest = {.txn = txn}, direct = {.txn = txn}, one_stop = {.txn = txn, .skip = &direct};
  const weir_text home = weir_str("ABE");
  (void)data;
  int rc = weir_node_scan(txn, NULL, rank_by_routes, &busiest, err);
  if (rc == WEIR_OK)
    rc = print(&busiest, "The busiest airports\n  key  routes    flights  name", err);
  if (rc == WEIR_OK)
    rc = append(&direct, home, 0, err); /* is no destination, but where the walk begins */
  if (rc == WEIR_OK)
    rc = weir_neighbors(txn, home, WEIR_OUT, 0, NULL, add_place, &direct, err);
  for (size_t i = 1; rc == WEIR_OK && i < direct.count; i++)
    rc = weir_neighbors(txn, weir_str(direct.place[i].key), WEIR_OUT, 0, NULL, add_place, &one_stop, err);
  if (rc == WEIR_OK) {
    printf("\nFrom ABE %zu airports are reached without a stop, %zu more with one, for example\n",
           direct.count - 1, one_stop.count);
    rc = print(&one_stop, "  key    ways    flights  name", err);
  }
  free(busiest.place);
  free(direct.place);
  free(one_stop.place);
  return rc;
}

int main(int argc, char **argv) {
  weir_graph *graph = NULL;
  weir_error err = WEIR_ERROR_INIT;
  if (argc != 2)
    return fputs("usage: flights STORE\n", stderr), 1;
  int rc = weir_graph_open(&graph, argv[1],
                           &(weir_pool_options){.size = sizeof(weir_pool_options), .read_only = 1}, &err);
  if (rc == WEIR_OK)
    rc = weir_read(weir_graph_auto(graph), ask, NULL, NULL, &err);
  int closed = weir_graph_close(graph, rc == WEIR_OK ? &err : NULL);
  if (rc != WEIR_OK || closed != WEIR_OK)
    return fprintf(stderr, "flights: %s\n", err.message), 1;
  return 0;
}
