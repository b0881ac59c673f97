/*
 * From the nodes of a path to the edges between them, and to hops.
 *
 * A search keeps the nodes that it has met, not the edges: those between the nodes on the path are looked for
 * here.
 */
#include "path_hops.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "../arena.h"
#include "../internal.h"
#include "../labels.h"

/* ---- Edges --------------------------------------------------------------------------------------------- */

int weir__arcs_add(weir__arcs *arcs, const weir__arc *arc, weir_error *err) {
  weir__arc *items = weir__room(arcs->items, &arcs->room, arcs->count, sizeof *items, err);
  if (!items) {
    return WEIR_NOMEM;
  }
  arcs->items = items;
  items[arcs->count++] = *arc;
  return WEIR_OK;
}

double weir__arcs_cost(const weir__arc *arcs, size_t count) {
  double cost = 0;
  for (size_t i = 0; i < count; i++) {
    cost += arcs[i].cost;
  }
  return cost;
}

weir__arc weir__arc_of(const weir__search *search, int64_t node, int flip, int away, const weir__far *far) {
  double cost = 1;
  if (search->question->options.cost == WEIR_COST_WEIGHT) {
    cost = far->weight;
  } else if (search->question->options.cost == WEIR_COST_PROP) {
    cost = far->has_cost ? far->cost : (double)NAN;
  }
  return (weir__arc){
      .near = flip ? far->node : node,
      .far = flip ? node : far->node,
      .direction = away != flip ? WEIR_OUT : WEIR_IN,
      .label = far->label,
      .rank = far->rank,
      .weight = far->weight,
      .cost = cost,
  };
}

static int open_steps(weir__search *search, weir__steps *steps, int flip, int details, weir_error *err) {
  const weir_path_options *options = &search->question->options;
  weir_reach bare = options->reach;
  bare.nodes = NULL;
  return weir__steps_open(steps, search->txn, &bare, flip, details,
                          options->cost == WEIR_COST_PROP ? &options->cost_path : NULL, err);
}

int weir__arcs_open(weir__search *search, int flip, weir_error *err) {
  return open_steps(search, &search->arcs, flip, WEIR__HOPS_WEIGHT, err);
}

/* One node's edges, as arcs. */
struct reading {
  weir__search *search;
  int64_t node;
  int flip;
  int away; /* 1: along edges, as they are stored */
  weir__arc_visit visit;
  void *data;
};

static int read_arc(const weir__far *far, void *data, weir_error *err) {
  const struct reading *reading = data;
  const weir__arc arc = weir__arc_of(reading->search, reading->node, reading->flip, reading->away, far);
  return reading->visit(&arc, reading->data, err);
}

int weir__arcs_each(weir__search *search, int64_t node, int flip, weir__arc_visit visit, void *data,
                    weir_error *err) {
  struct reading reading = {search, node, flip, 1, visit, data};
  int rc = WEIR_OK;
  if (search->arcs.out) {
    rc = weir__hops_each(search->arcs.out, node, read_arc, &reading, err);
  }
  if (rc == WEIR_OK && search->arcs.in) {
    reading.away = 0;
    rc = weir__hops_each(search->arcs.in, node, read_arc, &reading, err);
  }
  return rc;
}

/* Of the edges from one node to the next the one that costs least, of these the first. */
struct cheapest {
  int any; /* 1: all cost the same */
  int found;
  weir__arc arc;
};

static int keep_cheapest(const weir__arc *arc, void *data, weir_error *err) {
  struct cheapest *cheapest = data;
  (void)err;
  if (arc->cost >= 0 && (!cheapest->found || arc->cost < cheapest->arc.cost)) {
    cheapest->arc = *arc;
    cheapest->found = 1;
  }
  return cheapest->any ? WEIR_STOP : WEIR_OK;
}

static int find_arc(weir__search *search, uint32_t from, uint32_t to, weir__arcs *arcs, weir_error *err) {
  const weir__steps *between = &search->between;
  const int64_t near = search->map.ids[from];
  const int64_t far = search->map.ids[to];
  struct cheapest cheapest = {.any = search->question->options.cost == WEIR_COST_HOPS};
  struct reading reading = {search, near, 0, 1, keep_cheapest, &cheapest};
  int rc = WEIR_OK;
  if (between->out) {
    rc = weir__hops_between(between->out, near, far, read_arc, &reading, err);
  }
  if (rc == WEIR_OK && between->in) {
    reading.away = 0;
    rc = weir__hops_between(between->in, near, far, read_arc, &reading, err);
  }
  if (rc < 0) {
    return rc;
  }
  if (!cheapest.found) { /* edge and edge_reverse do not hold the same edges */
    return weir_fail(err, WEIR_CORRUPT, "the store is damaged: an edge that was followed is not there");
  }
  return weir__arcs_add(arcs, &cheapest.arc, err);
}

/* ---- Nodes --------------------------------------------------------------------------------------------- */

static void reverse(weir__line *line) {
  for (size_t i = 0, j = line->count; i + 1 < j; i++) {
    uint32_t node = line->nodes[i];
    line->nodes[i] = line->nodes[--j];
    line->nodes[j] = node;
  }
}

/* If the node is on the line already, takes it and what is behind it away. */
static void cut_at(weir__line *line, uint32_t node) {
  for (size_t i = line->count; i > 0; i--) {
    if (line->nodes[i - 1] == node) {
      line->count = i - 1;
      return;
    }
  }
}

/* The nodes from the start to search->meet, and from there to the target. Two trees meet there; by rounding
 * a node may be on both, and then what lies between is left out. */
static int list_nodes(const weir__search *search, weir__line *line, weir_error *err) {
  const weir__met *met = search->met;
  int rc = WEIR_OK;
  for (uint32_t at = search->meet; at != WEIR__NO_NODE && rc == WEIR_OK; at = met[at].via[0]) {
    rc = weir__line_add(line, at, err);
  }
  reverse(line);
  for (uint32_t at = met[search->meet].via[1]; at != WEIR__NO_NODE && rc == WEIR_OK; at = met[at].via[1]) {
    if (met[at].dist[0] >= 0) {
      cut_at(line, at);
    }
    rc = weir__line_add(line, at, err);
  }
  return rc;
}

int weir__arcs_find(weir__search *search, weir__arcs *arcs, weir_error *err) {
  weir__line line = {.nodes = NULL};
  int rc = list_nodes(search, &line, err);
  if (rc == WEIR_OK && !search->between.out && !search->between.in) {
    rc = open_steps(search, &search->between, 0, WEIR__HOPS_BETWEEN, err);
  }
  for (size_t i = 1; i < line.count && rc == WEIR_OK; i++) {
    rc = find_arc(search, line.nodes[i - 1], line.nodes[i], arcs, err);
  }
  free(line.nodes);
  return rc;
}

/* ---- Hops ---------------------------------------------------------------------------------------------- */

struct copy {
  weir_arena *arena;
  weir_text *out;
};

static int copy_text(struct copy *copy, weir_text text, weir_error *err) {
  char *at = weir__arena_alloc(copy->arena, text.len + 1, err);
  if (!at) {
    return WEIR_NOMEM;
  }
  *copy->out = weir__text_copy(&at, text);
  return WEIR_OK;
}

static int copy_key(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  (void)index;
  return copy_text(data, row->key, err);
}

int weir__key_copy(weir__search *search, int64_t id, weir_arena *arena, weir_text *out, weir_error *err) {
  const weir__question *question = search->question;
  struct copy copy = {arena, out};
  int rc = WEIR_OK;
  *out = (weir_text){NULL, 0};
  if (id == search->from || id == search->to) {
    return copy_text(&copy, id == search->from ? question->from : question->to, err);
  }
  if (!search->keys) {
    rc = weir__lookup_open(&search->keys, search->txn, WEIR__REACH_KEY, NULL, err);
  }
  return rc ? rc : weir__lookup_node(search->keys, id, copy_key, &copy, err);
}

static int copy_props(const weir__edge_row *row, void *data, weir_error *err) {
  return copy_text(data, row->props, err);
}

int weir__hop_fill(weir__search *search, const weir__arc *arc, weir_arena *arena, weir_hop *out,
                   weir_error *err) {
  weir_text label;
  struct copy copy = {arena, &out->label};
  out->direction = arc->direction;
  out->rank = arc->rank;
  out->weight = arc->weight;
  out->props = (weir_text){NULL, 0};
  int rc = weir__label_name(search->txn, arc->label, &label, err);
  if (rc == WEIR_OK) {
    rc = copy_text(&copy, label, err);
  }
  if (rc == WEIR_OK && (search->question->options.flags & WEIR_WITH_EDGES)) {
    int away = arc->direction == WEIR_OUT;
    const weir__edge_id id = {away ? arc->near : arc->far, arc->label, away ? arc->far : arc->near,
                              arc->rank};
    copy.out = &out->props;
    rc = weir__store_edge_get(search->txn, &id, copy_props, &copy, err);
  }
  return rc;
}

/* ---- Edges without a cost ------------------------------------------------------------------------------ */

static int refuse_named(weir__search *search, const weir__arc *arc, weir_arena *arena, weir_error *err) {
  weir_text src;
  weir_text dst;
  weir_text label;
  int away = arc->direction == WEIR_OUT;
  int rc = weir__key_copy(search, away ? arc->near : arc->far, arena, &src, err);
  if (rc == WEIR_OK) {
    rc = weir__key_copy(search, away ? arc->far : arc->near, arena, &dst, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__label_name(search->txn, arc->label, &label, err);
  }
  if (rc) {
    return rc;
  }
  if (isnan(arc->cost)) {
    return weir_fail(err, WEIR_INVALID,
                     "edge \"%.*s\" -[%.*s]-> \"%.*s\", rank %" PRId64 ", has no number at \"%.*s\"",
                     WEIR__SHOW(src), WEIR__SHOW(label), WEIR__SHOW(dst), arc->rank,
                     WEIR__SHOW(search->question->options.cost_path));
  }
  return weir_fail(err, WEIR_INVALID,
                   "edge \"%.*s\" -[%.*s]-> \"%.*s\", rank %" PRId64 ", costs %g: give costs of 0 or more",
                   WEIR__SHOW(src), WEIR__SHOW(label), WEIR__SHOW(dst), arc->rank, arc->cost);
}

int weir__arc_refuse(weir__search *search, const weir__arc *arc, weir_error *err) {
  weir_arena arena = WEIR_ARENA_INIT;
  int rc = refuse_named(search, arc, &arena, err);
  weir_arena_clear(&arena);
  return rc;
}

/* ---- Paths --------------------------------------------------------------------------------------------- */

int weir__path_fill(weir__search *search, const weir__arc *arcs, size_t count, weir_arena *arena,
                    weir_path *out, weir_error *err) {
  *out = (weir_path){.found = 1, .cost = weir__arcs_cost(arcs, count), .hop_count = count};
  out->met = search->count;
  if (count == 0) {
    return WEIR_OK;
  }
  weir_hop *hops = weir__arena_alloc(arena, count * sizeof *hops, err);
  int rc = hops ? weir__key_copy(search, arcs[0].near, arena, &hops[0].from, err) : WEIR_NOMEM;
  for (size_t i = 0; i < count && rc == WEIR_OK; i++) {
    rc = weir__key_copy(search, arcs[i].far, arena, &hops[i].to, err);
    if (rc == WEIR_OK) {
      rc = weir__hop_fill(search, &arcs[i], arena, &hops[i], err);
    }
    if (rc == WEIR_OK && i + 1 < count) {
      hops[i + 1].from = hops[i].to;
    }
  }
  out->hops = hops;
  return rc;
}

int weir__path_visit(weir__search *search, weir__page *page, const weir_path *path, weir_path_fn visit,
                     void *data, weir_error *err) {
  weir__visit_begin(search->txn);
  int rc = weir__visit_end(search->txn, page, visit(path, data, &page->error), err);
  if (rc == WEIR_STOP) {
    search->ending = WEIR_ENDED_STOP;
  }
  return rc;
}
