/* The visitor that compares steps with what a model expects. */
#include "walk_model.h"

static int wrong(weir_error *error, int at, const char *what) {
  return weir_fail(error, WEIR_CORRUPT, "visit %d: %s", at, what);
}

static int is_text(weir_text text, const char *string) {
  return text.len == strlen(string) && text.ptr[text.len] == '\0' && strcmp(text.ptr, string) == 0;
}

/* The hop from `node`, which becomes the node it leads to. */
static const char *check_hop(const struct model_walk *walk, const weir_hop *hop, struct model_hop expected,
                             int *node) {
  static const char *const names[MODEL_LABELS] = {"x", "y", "z"};
  const struct model_edge *edge = &walk->model->edges[expected.edge];
  int with_edges = walk->options->flags & WEIR_WITH_EDGES;
  char props[32] = "";
  if (with_edges) {
    snprintf(props, sizeof props, "{\"mark\":%d}", edge->mark);
  }
  if (hop->direction != (expected.against ? WEIR_IN : WEIR_OUT) || !is_text(hop->label, names[edge->label]) ||
      hop->rank != edge->rank) {
    return "another edge";
  }
  if (*node != (expected.against ? edge->dst : edge->src) || !is_text(hop->from, model_key(*node))) {
    return "the hop begins elsewhere";
  }
  *node = expected.against ? edge->src : edge->dst;
  if (!is_text(hop->to, model_key(*node))) {
    return "the hop ends elsewhere";
  }
  if (hop->weight != (with_edges ? edge->mark + 0.5 : 0) ||
      (with_edges ? !is_text(hop->props, props) : hop->props.len != 0)) {
    return "details of the edge";
  }
  return NULL;
}

static const char *check_node(const struct model_walk *walk, const weir_node *node,
                              const struct model_visit *expected) {
  char props[32];
  snprintf(props, sizeof props, "{\"color\":%d}", walk->model->color[expected->node]);
  if (!is_text(node->key, model_key(expected->node))) {
    return "another node";
  }
  if (walk->options->flags & WEIR_WITH_NODES) {
    return is_text(node->props, props) && node->label_count == 1 ? NULL : "props of the node";
  }
  return node->props.ptr || node->label_count ? "props that were not asked for" : NULL;
}

/* Where the path begins. */
static int start_of(const struct model_walk *walk, const struct model_visit *visit) {
  const struct model_edge *edge = &walk->model->edges[visit->path[0].edge];
  return visit->path[0].against ? edge->dst : edge->src;
}

static const char *check_path(const struct model_walk *walk, const weir_step *step,
                              const struct model_visit *expected) {
  const char *said = NULL;
  int node = start_of(walk, expected);
  for (unsigned i = 0; i < expected->depth && !said; i++) {
    said = check_hop(walk, &step->path[i], expected->path[i], &node);
  }
  return said ? said : step->hop == &step->path[step->depth - 1] ? NULL : "hop is not the last of path";
}

int model_check_step(const weir_step *step, void *data, weir_error *error) {
  struct model_check *check = data;
  const struct model_walk *walk = check->walk;
  int at = check->at;
  if (at >= walk->count) {
    return wrong(error, at, "one too many");
  }
  const struct model_visit *expected = &walk->visits[at];
  const char *said = check_node(walk, &step->node, expected);
  if (step->depth != expected->depth) {
    said = "another depth";
  }
  if (!said && (expected->depth > 0) != (step->hop != NULL)) {
    said = "a hop to a start, or none to another";
  }
  if (!said && expected->depth > 0) {
    const struct model_hop *last = &expected->path[expected->depth - 1];
    const struct model_edge *edge = &walk->model->edges[last->edge];
    int from = last->against ? edge->dst : edge->src;
    said = check_hop(walk, step->hop, *last, &from);
    if (!said && (walk->options->flags & WEIR_WITH_PATHS)) {
      said = check_path(walk, step, expected);
    }
  }
  if (said) {
    return wrong(error, at, said);
  }
  if (at == check->fail_at) {
    check->fail_at = -1;
    return weir_fail(error, WEIR_CONFLICT, "as asked for");
  }
  check->at++;
  return at == check->stop_at ? WEIR_STOP : WEIR_OK;
}
