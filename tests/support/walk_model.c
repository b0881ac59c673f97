/* Walks done naively: by recursion, copies of paths, and tables of what was met. */
#include "walk_model.h"

static const char *const names[MODEL_LABELS] = {"x", "y", "z"};

/* ---- Graphs ---------------------------------------------------------------------------------------------
 */

static int compare_edges(const void *a, const void *b) {
  const struct model_edge *x = a;
  const struct model_edge *y = b;
  return x->src != y->src       ? x->src - y->src
         : x->label != y->label ? x->label - y->label
         : x->dst != y->dst     ? x->dst - y->dst
                                : x->rank - y->rank;
}

static int random_below(weir_test_rng *rng, int below) {
  return (int)weir_test_below(rng, (uint64_t)below);
}

void model_make(struct model *model, weir_test_rng *rng, int nodes, int edges) {
  memset(model, 0, sizeof *model);
  model->node_count = nodes;
  for (int i = 0; i < nodes; i++) {
    model->color[i] = random_below(rng, MODEL_COLORS);
  }
  while (model->edge_count < edges) {
    struct model_edge edge = {.src = random_below(rng, nodes),
                              .label = random_below(rng, MODEL_LABELS),
                              .dst = random_below(rng, nodes),
                              .rank = random_below(rng, 2),
                              .mark = random_below(rng, 3)};
    int known = 0;
    for (int i = 0; i < model->edge_count; i++) {
      known = known || compare_edges(&edge, &model->edges[i]) == 0;
    }
    if (!known) {
      model->edges[model->edge_count++] = edge;
    }
  }
  qsort(model->edges, (size_t)edges, sizeof *model->edges, compare_edges);
}

char *model_key(int node) {
  static char keys[8][8];
  static unsigned next;
  char *key = keys[next++ % 8];
  snprintf(key, sizeof keys[0], "n%d", node);
  return key;
}

int model_node(weir_text key) {
  return key.len > 1 && key.ptr[0] == 'n' ? atoi(key.ptr + 1) : -1;
}

void model_put(const struct model *model, weir_txn *txn) {
  char props[32];
  for (int i = 0; i < model->node_count; i++) { /* the first ones bring the labels, in their order */
    snprintf(props, sizeof props, "{\"color\":%d}", model->color[i]);
    weir_node node = WEIR_NODE(model_key(i), names[i % MODEL_LABELS], props);
    OK(weir_node_put(txn, &node, NULL, &err));
  }
  for (int i = 0; i < model->edge_count; i++) {
    const struct model_edge *from = &model->edges[i];
    weir_edge edge = WEIR_EDGE(model_key(from->src), names[from->label], model_key(from->dst));
    snprintf(props, sizeof props, "{\"mark\":%d}", from->mark);
    edge.rank = from->rank;
    edge.weight = from->mark + 0.5;
    edge.props = weir_str(props);
    OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  }
}

void model_reach_make(struct model_reach *reach, weir_test_rng *rng) {
  memset(reach, 0, sizeof *reach);
  reach->direction = 1 + random_below(rng, 3);
  reach->labels = random_below(rng, 2) ? (unsigned)random_below(rng, 1 << MODEL_LABELS) : 0;
  reach->mark = random_below(rng, 3) ? 0 : 1;
  reach->color = random_below(rng, 2) ? -1 : random_below(rng, MODEL_COLORS);
  for (int label = MODEL_LABELS - 1; label >= 0; label--) { /* not in the order of their numbers */
    if (reach->labels & (1U << label)) {
      reach->names[reach->reach.label_count++] = weir_str(names[label]);
    }
  }
  reach->edges = WEIR_PROP("mark", WEIR_GE, weir_int(reach->mark));
  reach->nodes = WEIR_PROP("color", WEIR_NE, weir_int(reach->color));
  reach->reach.direction = (weir_direction)reach->direction;
  reach->reach.labels = reach->names;
  reach->reach.edges = reach->mark ? &reach->edges : NULL;
  reach->reach.nodes = reach->color >= 0 ? &reach->nodes : NULL;
}

static int follows(const struct model_reach *reach, const struct model_edge *edge) {
  return (reach->labels == 0 || (reach->labels & (1U << edge->label))) && edge->mark >= reach->mark;
}

int model_steps(const struct model *model, const struct model_reach *reach, int node,
                struct model_hop steps[2 * MODEL_EDGES], int far[2 * MODEL_EDGES]) {
  int count = 0;
  for (int i = 0; i < model->edge_count; i++) {
    const struct model_edge *edge = &model->edges[i];
    if ((reach->direction & WEIR_OUT) && edge->src == node && follows(reach, edge)) {
      steps[count] = (struct model_hop){.edge = i};
      far[count++] = edge->dst;
    }
  }
  /* In the order of label, src, rank: one label after the other, then the order of the table. */
  for (int label = 0; (reach->direction & WEIR_IN) && label < MODEL_LABELS; label++) {
    for (int i = 0; i < model->edge_count; i++) {
      const struct model_edge *edge = &model->edges[i];
      if (edge->label == label && edge->dst == node && follows(reach, edge)) {
        steps[count] = (struct model_hop){.edge = i, .against = 1};
        far[count++] = edge->src;
      }
    }
  }
  return count;
}

int model_lets_in(const struct model *model, const struct model_reach *reach, int node) {
  return reach->color < 0 || model->color[node] != reach->color;
}

void model_distances(const struct model *model, const struct model_reach *reach, const int *starts,
                     int start_count, int distance[MODEL_NODES]) {
  struct model_hop steps[2 * MODEL_EDGES];
  int far[2 * MODEL_EDGES];
  for (int i = 0; i < MODEL_NODES; i++) {
    distance[i] = -1;
  }
  for (int i = 0; i < start_count; i++) {
    distance[starts[i]] = 0;
  }
  for (int depth = 0; depth < MODEL_NODES; depth++) {
    for (int node = 0; node < model->node_count; node++) {
      int count = distance[node] == depth ? model_steps(model, reach, node, steps, far) : 0;
      for (int i = 0; i < count; i++) {
        if (distance[far[i]] < 0 && model_lets_in(model, reach, far[i])) {
          distance[far[i]] = depth + 1;
        }
      }
    }
  }
}

/* ---- Walks ----------------------------------------------------------------------------------------------
 */

/* What was met, and what the walk is at. Edges have an index each, and so have nodes. */
struct state {
  struct model_walk *walk;
  int met_node[MODEL_NODES];
  int met_edge[MODEL_EDGES];
  int is_start[MODEL_NODES];
  unsigned expanded[MODEL_NODES]; /* at which depth, UINT32_MAX: not */
  int full;
};

static int is_on_path(const struct state *state, const struct model_visit *visit, int start, int node) {
  int at = start;
  for (unsigned i = 0; i <= visit->depth; i++) {
    if (at == node) {
      return 1;
    }
    if (i < visit->depth) {
      const struct model_edge *edge = &state->walk->model->edges[visit->path[i].edge];
      at = visit->path[i].against ? edge->src : edge->dst;
    }
  }
  return 0;
}

static void emit(struct state *state, const struct model_visit *visit) {
  struct model_walk *walk = state->walk;
  if (visit->depth < walk->options->min_depth) {
    return;
  }
  if (walk->count == MODEL_VISITS) {
    state->full = 1;
    return;
  }
  walk->visits[walk->count++] = *visit;
}

/* Is the visit to be expanded? Once, but again if it is less deep and that matters. */
static int expands(struct state *state, const struct model_visit *visit) {
  const weir_walk_options *options = state->walk->options;
  if (visit->depth >= options->max_depth) {
    return 0;
  }
  if (options->unique == WEIR_UNIQUE_PATH) {
    return 1;
  }
  if (state->expanded[visit->node] <= visit->depth) {
    return 0;
  }
  int deepening = options->order == WEIR_DEPTH_FIRST && options->max_depth != WEIR_UNLIMITED;
  state->expanded[visit->node] = deepening ? visit->depth : 0;
  return 1;
}

/* 1: visit the far end, 2: pass it once more, 0: neither. */
static int admits(struct state *state, const struct model_visit *from, int start, struct model_hop hop,
                  int far) {
  const struct model_walk *walk = state->walk;
  const weir_walk_options *options = walk->options;
  if (!state->is_start[far] && !model_lets_in(walk->model, walk->reach, far)) {
    return 0;
  }
  if (options->unique == WEIR_UNIQUE_PATH) {
    return !is_on_path(state, from, start, far);
  }
  int *met = options->unique == WEIR_UNIQUE_NODE ? &state->met_node[far] : &state->met_edge[hop.edge];
  if (!*met) {
    *met = 1;
    return 1;
  }
  return options->order == WEIR_DEPTH_FIRST && options->max_depth != WEIR_UNLIMITED &&
                 from->depth + 1 < options->max_depth && from->depth + 1 < state->expanded[far]
             ? 2
             : 0;
}

static struct model_visit beyond(const struct model_visit *from, struct model_hop hop, int far) {
  struct model_visit visit = *from;
  visit.path[visit.depth++] = hop;
  visit.node = far;
  return visit;
}

static void go_deep(struct state *state, const struct model_visit *visit, int start, int again) {
  struct model_hop steps[2 * MODEL_EDGES];
  int far[2 * MODEL_EDGES];
  if (!again) {
    emit(state, visit);
  }
  if (state->full || !expands(state, visit)) {
    return;
  }
  int count = model_steps(state->walk->model, state->walk->reach, visit->node, steps, far);
  for (int i = 0; i < count; i++) {
    int admitted = admits(state, visit, start, steps[i], far[i]);
    if (admitted) {
      struct model_visit next = beyond(visit, steps[i], far[i]);
      go_deep(state, &next, start, admitted == 2);
    }
  }
}

static void go_broad(struct state *state) {
  static struct model_visit queue[MODEL_VISITS];
  static int starts[MODEL_VISITS];
  struct model_walk *walk = state->walk;
  struct model_hop steps[2 * MODEL_EDGES];
  int far[2 * MODEL_EDGES];
  int end = 0;
  for (int i = 0; i < walk->start_count; i++) {
    state->met_node[walk->starts[i]] = 1;
    starts[end] = walk->starts[i];
    queue[end++] = (struct model_visit){.node = walk->starts[i]};
  }
  for (int at = 0; at < end && !state->full; at++) {
    emit(state, &queue[at]);
    int count =
        expands(state, &queue[at]) ? model_steps(walk->model, walk->reach, queue[at].node, steps, far) : 0;
    for (int i = 0; i < count && !state->full; i++) {
      if (end == MODEL_VISITS) {
        state->full = 1;
      } else if (admits(state, &queue[at], starts[at], steps[i], far[i])) {
        starts[end] = starts[at];
        queue[end++] = beyond(&queue[at], steps[i], far[i]);
      }
    }
  }
}

int model_walk(struct model_walk *walk) {
  struct state state = {.walk = walk};
  walk->count = 0;
  for (int i = 0; i < MODEL_NODES; i++) {
    state.expanded[i] = UINT32_MAX;
  }
  for (int i = 0; i < walk->start_count; i++) {
    state.is_start[walk->starts[i]] = 1;
  }
  if (walk->options->order == WEIR_BREADTH_FIRST) {
    go_broad(&state);
    return !state.full;
  }
  for (int i = 0; i < walk->start_count; i++) {
    int start = walk->starts[i];
    struct model_visit visit = {.node = start};
    int again = walk->options->unique == WEIR_UNIQUE_NODE && state.met_node[start];
    state.met_node[start] = 1;
    if (!again || state.expanded[start] > 0) {
      go_deep(&state, &visit, start, again);
    }
  }
  return !state.full;
}
