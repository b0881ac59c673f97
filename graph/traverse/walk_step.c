/*
 * What the visitor of a walk is handed: keys, and what else was asked for, fetched when a stop is visited.
 *
 * A level is what is known of one stop of the way from the start. With WEIR_WITH_PATHS there is one for each
 * depth, else two that take turns: the stop and its parent. A level stays filled as long as the way leads
 * through it, so what stops have in common is fetched once.
 */
#include <stdlib.h>

#include "../labels.h"
#include "../node.h"
#include "../scan.h"
#include "walk.h"

/* A copy of a text. */
struct copy {
  char *ptr;
  size_t len;
  size_t room;
};

struct level {
  int filled;
  int64_t node;
  weir__edge_id edge; /* by which it was reached, if it is not a start */
  weir_text label;
  struct copy key;   /* empty if the node is gone */
  struct copy props; /* of the edge */
  double weight;
};

struct weir__trail {
  weir__walk_run *run;
  weir__lookup *lookup;
  struct level *levels;
  size_t room;
  weir_hop *hops; /* hops[d] leads to depth d + 1; as many as levels */
  weir__page page;
  const weir__stop *stop; /* that is being visited */
  int found;
};

static int set_copy(struct copy *copy, weir_text text, weir_error *err) {
  if (copy->room <= text.len) {
    size_t room = 2 * text.len + 32;
    char *ptr = realloc(copy->ptr, room);
    if (!ptr) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for a step of a walk");
    }
    copy->ptr = ptr;
    copy->room = room;
  }
  copy->len = text.len;
  memcpy(copy->ptr, text.ptr, text.len);
  copy->ptr[text.len] = '\0';
  return WEIR_OK;
}

static weir_text text_of(const struct copy *copy) {
  return (weir_text){copy->ptr, copy->len};
}

static unsigned flags_of(const struct weir__trail *trail) {
  return trail->run->walk->options.flags;
}

/* ---- Levels -------------------------------------------------------------------------------------------- */

static size_t slot_of(const struct weir__trail *trail, uint32_t depth) {
  return flags_of(trail) & WEIR_WITH_PATHS ? depth : depth & 1;
}

static int reserve_levels(struct weir__trail *trail, size_t count, weir_error *err) {
  if (count <= trail->room) {
    return WEIR_OK;
  }
  size_t room = 2 * count;
  struct level *levels = realloc(trail->levels, room * sizeof *levels);
  if (levels) {
    trail->levels = levels;
  }
  weir_hop *hops = realloc(trail->hops, room * sizeof *hops);
  if (hops) {
    trail->hops = hops;
  }
  if (!levels || !hops) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a way of %zu steps", count);
  }
  for (size_t i = trail->room; i < room; i++) {
    trail->levels[i] = (struct level){.filled = 0};
  }
  trail->room = room;
  return WEIR_OK;
}

static int copy_edge(const weir__edge_row *row, void *data, weir_error *err) {
  struct level *level = data;
  level->weight = row->weight;
  return set_copy(&level->props, row->props, err);
}

static int copy_key(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct level *level = data;
  (void)index;
  return set_copy(&level->key, row->key, err);
}

static int is_level_of(const struct level *level, const weir__stop *stop, const weir__edge_id *edge) {
  return level->filled && level->node == stop->node &&
         (stop->depth == 0 || (level->edge.src == edge->src && level->edge.label == edge->label &&
                               level->edge.dst == edge->dst && level->edge.rank == edge->rank));
}

/* Fills all of a stop's level but its key. *same: it was filled before. */
static int fill_edge(struct weir__trail *trail, struct level *level, const weir__stop *stop, int *same,
                     weir_error *err) {
  weir__edge_id edge = weir__met_edge(trail->run->walk, stop);
  int rc = WEIR_OK;
  *same = is_level_of(level, stop, &edge);
  if (*same) {
    return WEIR_OK;
  }
  level->filled = 0;
  level->node = stop->node;
  level->edge = edge;
  level->weight = 0;
  if (stop->depth > 0) {
    rc = weir__label_name(trail->run->txn, stop->label, &level->label, err);
  }
  if (rc == WEIR_OK) {
    rc = set_copy(&level->props, weir_str(""), err);
  }
  if (rc == WEIR_OK && stop->depth > 0 && (flags_of(trail) & WEIR_WITH_EDGES)) {
    rc = weir__store_edge_get(trail->run->txn, &edge, copy_edge, level, err);
  }
  return rc;
}

static int fill_level(struct weir__trail *trail, const weir__stop *stop, weir_error *err) {
  struct level *level = &trail->levels[slot_of(trail, stop->depth)];
  int same;
  int rc = fill_edge(trail, level, stop, &same, err);
  if (rc || same) {
    return rc;
  }
  rc = set_copy(&level->key, weir_str(""), err);
  if (rc == WEIR_OK) {
    rc = weir__lookup_node(trail->lookup, stop->node, copy_key, level, err);
  }
  level->filled = rc == WEIR_OK;
  return rc;
}

/* The levels that the stop was reached by: all with WEIR_WITH_PATHS, else its parent's. */
static int fill_way(struct weir__trail *trail, const weir__stop *stop, weir_error *err) {
  const weir_walk *walk = trail->run->walk;
  int rc = WEIR_OK;
  while (rc == WEIR_OK && stop->depth > 0) {
    stop = &walk->stops[stop->parent];
    rc = fill_level(trail, stop, err);
    if (!(flags_of(trail) & WEIR_WITH_PATHS)) {
      break;
    }
  }
  return rc;
}

/* ---- Visiting -------------------------------------------------------------------------------------------
 */

static void fill_hop(const struct weir__trail *trail, uint32_t depth, weir_hop *hop) {
  const struct level *from = &trail->levels[slot_of(trail, depth - 1)];
  const struct level *to = &trail->levels[slot_of(trail, depth)];
  *hop = (weir_hop){
      .from = text_of(&from->key), .to = text_of(&to->key), .label = to->label, .rank = to->edge.rank};
  if (flags_of(trail) & WEIR_WITH_EDGES) {
    hop->weight = to->weight;
    hop->props = text_of(&to->props);
  }
}

static int visit_row(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct weir__trail *trail = data;
  weir__walk_run *run = trail->run;
  const weir__stop *stop = trail->stop;
  struct level *level = &trail->levels[slot_of(trail, stop->depth)];
  unsigned flags = flags_of(trail);
  weir_step step = {.node = {.key = row->key}, .depth = stop->depth};
  (void)index;
  trail->found = 1;
  int rc = set_copy(&level->key, row->key, err);
  if (rc == WEIR_OK && (flags & WEIR_WITH_NODES)) {
    rc = weir__node_view(run->txn, row, &step.node, err);
  }
  if (rc) {
    return rc;
  }
  level->filled = 1;
  uint32_t depth = flags & WEIR_WITH_PATHS ? 1 : stop->depth;
  for (const weir__stop *at = stop; at->depth >= depth && at->depth > 0; at = &run->walk->stops[at->parent]) {
    weir_hop *hop = &trail->hops[flags & WEIR_WITH_PATHS ? at->depth - 1 : 0];
    fill_hop(trail, at->depth, hop);
    hop->direction = at->against ? WEIR_IN : WEIR_OUT;
    step.hop = at == stop ? hop : step.hop;
    step.path = flags & WEIR_WITH_PATHS ? hop : NULL;
  }
  run->result.visited++;
  weir__visit_begin(run->txn);
  rc = run->visit(&step, run->data, &trail->page.error);
  int ended = weir__visit_end(run->txn, &trail->page, rc == WEIR_PRUNE ? WEIR_OK : rc, err);
  return rc == WEIR_PRUNE ? WEIR_PRUNE : ended;
}

int weir__trail_visit(struct weir__trail *trail, const weir__stop *stop, int *gone, weir_error *err) {
  size_t slot = slot_of(trail, stop->depth);
  int same;
  int rc = reserve_levels(trail, (size_t)slot + 2, err);
  if (rc == WEIR_OK) {
    rc = fill_way(trail, stop, err);
  }
  if (rc == WEIR_OK) {
    rc = fill_edge(trail, &trail->levels[slot], stop, &same, err);
  }
  if (rc) {
    return rc;
  }
  trail->stop = stop;
  trail->found = 0;
  trail->levels[slot].filled = 0;
  rc = weir__lookup_node(trail->lookup, stop->node, visit_row, trail, err);
  *gone = !trail->found;
  return rc;
}

/* ---- For one run ----------------------------------------------------------------------------------------
 */

int weir__trail_open(struct weir__trail **out, weir__walk_run *run, weir_error *err) {
  *out = NULL;
  struct weir__trail *trail = calloc(1, sizeof *trail);
  if (!trail) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a walk");
  }
  trail->run = run;
  int nodes = (run->walk->options.flags & WEIR_WITH_NODES) != 0;
  int rc = weir__lookup_open(&trail->lookup, run->txn, nodes ? WEIR__REACH_NODE : WEIR__REACH_KEY, NULL, err);
  if (rc == WEIR_OK) {
    rc = reserve_levels(trail, 2, err);
  }
  if (rc) {
    weir__trail_close(trail);
    return rc;
  }
  *out = trail;
  return WEIR_OK;
}

void weir__trail_close(struct weir__trail *trail) {
  if (!trail) {
    return;
  }
  weir__lookup_close(trail->lookup);
  for (size_t i = 0; i < trail->room; i++) {
    free(trail->levels[i].key.ptr);
    free(trail->levels[i].props.ptr);
  }
  free(trail->levels);
  free(trail->hops);
  free(trail);
}
