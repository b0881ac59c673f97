#include "paths.h"

#include <math.h>

#include "graph_fixture.h"

static const char *const labels[] = {"e", "f"};

void paths_list_init(paths_list *list) {
  list->count = 0;
  list->items = malloc(PATHS_MOST * sizeof *list->items);
  cr_assert(ne(ptr, list->items, NULL));
}

void paths_list_free(paths_list *list) {
  free(list->items);
}

/* ---- The graph -------------------------------------------------------------------------------------------
 */

void paths_make(paths_graph *graph, weir_test_rng *rng, int nodes, int edges, double unit) {
  memset(graph, 0, sizeof *graph);
  graph->nodes = 2 + (int)weir_test_below(rng, (uint64_t)nodes - 1);
  graph->count = (int)weir_test_below(rng, (uint64_t)edges + 1);
  for (int i = 0; i < graph->nodes; i++) {
    graph->ok[i] = weir_test_below(rng, 4) > 0;
  }
  for (int i = 0; i < graph->count; i++) {
    graph->edges[i] = (paths_edge){
        .src = (int)weir_test_below(rng, (uint64_t)graph->nodes),
        .dst = (int)weir_test_below(rng, (uint64_t)graph->nodes),
        .label = (int)weir_test_below(rng, 2),
        .rank = i,
        .weight = (double)weir_test_below(rng, 5) * unit,
        .toll = (double)weir_test_below(rng, 4) * unit,
        .open = weir_test_below(rng, 5) > 0,
    };
    if (i > 0 && weir_test_below(rng, 4) == 0) { /* parallel to the one before */
      graph->edges[i].src = graph->edges[i - 1].src;
      graph->edges[i].dst = graph->edges[i - 1].dst;
    }
  }
}

weir_text paths_key(int node) {
  static const char *const keys[] = {"n0", "n1", "n2", "n3", "n4",  "n5",
                                     "n6", "n7", "n8", "n9", "n10", "n11"};
  return weir_str(keys[node]);
}

void paths_put(const paths_graph *graph, weir_txn *txn) {
  char props[128];
  for (int i = 0; i < graph->nodes; i++) {
    weir_node node = {.key = paths_key(i),
                      .props = weir_str(graph->ok[i] ? "{\"ok\":true}" : "{\"ok\":false}")};
    OK(weir_node_put(txn, &node, NULL, &err));
  }
  for (int i = 0; i < graph->count; i++) {
    const paths_edge *from = &graph->edges[i];
    weir_edge edge = {.src = paths_key(from->src),
                      .label = weir_str(labels[from->label]),
                      .dst = paths_key(from->dst),
                      .rank = from->rank,
                      .weight = from->weight};
    snprintf(props, sizeof props, "{\"toll\":%.17g,\"open\":%s}", from->toll, from->open ? "true" : "false");
    edge.props = weir_str(props);
    OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  }
}

/* ---- Questions --------------------------------------------------------------------------------------------
 */

paths_ask paths_question(const paths_graph *graph, weir_test_rng *rng) {
  paths_ask ask = {
      .from = (int)weir_test_below(rng, (uint64_t)graph->nodes),
      .to = (int)weir_test_below(rng, (uint64_t)graph->nodes),
      .direction = (weir_direction)(1 + weir_test_below(rng, 3)),
      .label = (int)(weir_test_below(rng, 16) == 0 ? 3 : 2 - (weir_test_below(rng, 4) == 0)),
      .open_only = weir_test_below(rng, 3) == 0,
      .ok_only = weir_test_below(rng, 3) == 0,
      .cost = (weir_cost)weir_test_below(rng, 3),
      .max_depth = WEIR_UNLIMITED,
  };
  if (ask.cost == WEIR_COST_HOPS && weir_test_below(rng, 3) == 0) {
    ask.max_depth = (uint32_t)weir_test_below(rng, 6);
  }
  return ask;
}

const char *paths_tell(const paths_ask *ask) {
  static char text[200];
  snprintf(text, sizeof text, "n%d to n%d, direction %d, label %d, open %d, ok %d, cost %d, depth %u",
           ask->from, ask->to, (int)ask->direction, ask->label, ask->open_only, ask->ok_only, (int)ask->cost,
           (unsigned)ask->max_depth);
  return text;
}

const weir_path_options *paths_options(const paths_ask *ask) {
  static weir_path_options options;
  static weir_text names[4];
  static weir_cond open_cond;
  static weir_cond ok_cond;
  names[0] = weir_str("e");
  names[1] = weir_str("f");
  names[2] = weir_str("unheard of");
  open_cond = WEIR_PROP("open", WEIR_EQ, weir_bool(1));
  ok_cond = WEIR_PROP("ok", WEIR_EQ, weir_bool(1));
  options = (weir_path_options)WEIR_PATH_OPTIONS_INIT;
  options.reach.direction = ask->direction;
  if (ask->label != 2) {
    options.reach.labels = &names[ask->label == 3 ? 2 : ask->label];
    options.reach.label_count = 1;
  }
  options.reach.edges = ask->open_only ? &open_cond : NULL;
  options.reach.nodes = ask->ok_only ? &ok_cond : NULL;
  options.cost = ask->cost;
  options.cost_path = ask->cost == WEIR_COST_PROP ? weir_str("toll") : weir_str(NULL);
  options.max_depth = ask->max_depth;
  return &options;
}

/* ---- The model --------------------------------------------------------------------------------------------
 */

struct trying {
  const paths_graph *graph;
  const paths_ask *ask;
  paths_list *out;
  double least[PATHS_NODES];
  int met[PATHS_NODES];
};

static double cost_of(const paths_edge *edge, weir_cost cost) {
  return cost == WEIR_COST_HOPS ? 1 : cost == WEIR_COST_WEIGHT ? edge->weight : edge->toll;
}

/* The node that the edge leads to from `node` in that direction; -1: nowhere. */
static int end_of(const struct trying *trying, const paths_edge *edge, int node, weir_direction direction) {
  const paths_ask *ask = trying->ask;
  int near = direction == WEIR_OUT ? edge->src : edge->dst;
  int far = direction == WEIR_OUT ? edge->dst : edge->src;
  if (near != node || (ask->direction & direction) == 0 || (ask->label != 2 && edge->label != ask->label) ||
      (ask->open_only && !edge->open) || (ask->ok_only && far != ask->from && !trying->graph->ok[far])) {
    return -1;
  }
  return far;
}

/* The least sums from the start, by trying all edges until nothing changes. */
static void find_least(struct trying *trying) {
  for (int i = 0; i < trying->graph->nodes; i++) {
    trying->least[i] = i == trying->ask->from ? 0 : INFINITY;
  }
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < 2 * trying->graph->count; i++) {
      const paths_edge *edge = &trying->graph->edges[i / 2];
      int near = i % 2 ? edge->dst : edge->src;
      int far = end_of(trying, edge, near, i % 2 ? WEIR_IN : WEIR_OUT);
      if (far >= 0 && trying->least[near] + cost_of(edge, trying->ask->cost) < trying->least[far]) {
        trying->least[far] = trying->least[near] + cost_of(edge, trying->ask->cost);
        changed = 1;
      }
    }
  }
}

static void try_from(struct trying *trying, int node, const paths_path *path) {
  if (node == trying->ask->to) {
    cr_assert(lt(sz, trying->out->count, PATHS_MOST));
    trying->out->items[trying->out->count++] = *path;
    return;
  }
  if ((uint32_t)path->hops == trying->ask->max_depth) {
    return;
  }
  trying->met[node] = 1;
  for (int i = 0; i < 2 * trying->graph->count; i++) {
    const paths_edge *edge = &trying->graph->edges[i / 2];
    int far = end_of(trying, edge, node, i % 2 ? WEIR_IN : WEIR_OUT);
    if (far >= 0 && !trying->met[far]) {
      paths_path longer = *path;
      size_t at = strlen(longer.text);
      longer.hops++;
      longer.cost += cost_of(edge, trying->ask->cost);
      longer.tight = longer.tight && longer.cost == trying->least[far];
      snprintf(longer.text + at, sizeof longer.text - at, " %s%s:%d(%g)%s %s", i % 2 ? "<" : "-",
               labels[edge->label], edge->rank, edge->weight, i % 2 ? "-" : ">", paths_key(far).ptr);
      try_from(trying, far, &longer);
    }
  }
  trying->met[node] = 0;
}

static int by_cost(const void *a, const void *b) {
  const paths_path *x = a;
  const paths_path *y = b;
  return (x->cost > y->cost) - (x->cost < y->cost);
}

void paths_all(const paths_graph *graph, const paths_ask *ask, paths_list *out) {
  struct trying trying = {.graph = graph, .ask = ask, .out = out};
  paths_path path = {.tight = 1};
  out->count = 0;
  find_least(&trying);
  snprintf(path.text, sizeof path.text, "%s", paths_key(ask->from).ptr);
  try_from(&trying, ask->from, &path);
  qsort(out->items, out->count, sizeof *out->items, by_cost);
}

/* ---- What weir finds --------------------------------------------------------------------------------------
 */

void paths_note(paths_list *list, const weir_path *path, const paths_ask *ask) {
  cr_assert(lt(sz, list->count, PATHS_MOST));
  paths_path *noted = &list->items[list->count++];
  *noted = (paths_path){.cost = path->cost, .hops = (int)path->hop_count};
  snprintf(noted->text, sizeof noted->text, "%s", paths_key(ask->from).ptr);
  for (size_t i = 0; i < path->hop_count; i++) {
    const weir_hop *hop = &path->hops[i];
    int against = hop->direction == WEIR_IN;
    size_t at = strlen(noted->text);
    SAME_STRING(hop->from.ptr, i == 0 ? paths_key(ask->from).ptr : path->hops[i - 1].to.ptr);
    snprintf(noted->text + at, sizeof noted->text - at, " %s%s:%d(%g)%s %s", against ? "<" : "-",
             hop->label.ptr, (int)hop->rank, hop->weight, against ? "-" : ">", hop->to.ptr);
  }
}

int paths_see(const weir_path *path, void *data, weir_error *error) {
  paths_seen *seen = data;
  (void)error;
  paths_note(&seen->list, path, seen->ask);
  return seen->list.count == seen->stop_after ? WEIR_STOP : WEIR_OK;
}

int paths_has(const paths_list *list, const char *text) {
  for (size_t i = 0; i < list->count; i++) {
    if (strcmp(list->items[i].text, text) == 0) {
      return 1;
    }
  }
  return 0;
}
