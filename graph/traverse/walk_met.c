/*
 * What a walk has met: nodes, or edges, that are visited once, and what the condition on nodes has said.
 *
 * Depth first and with a max_depth, a node may be reached first by a long way, on which max_depth ends the
 * walk too early, and later by a shorter one. Then it is passed once more: not visited, but expanded anew,
 * so that all nodes within max_depth are reached. met[].depth is where a node was expanded last; it only
 * ever falls, so each node is expanded max_depth times at most, and once without a max_depth or breadth
 * first.
 *
 * An entry without a verdict is harmless: a call that failed left it, and the next one asks again.
 */
#include <stdlib.h>

#include "walk.h"

#define LET_IN   1 /* verdict: the condition on nodes is true, or the node is a start */
#define LEFT_OUT 2 /* verdict: it is false */
#define MET      4 /* by WEIR_UNIQUE_NODE: visited, or about to be */
#define PRUNED   8 /* of a node or an edge: the visitor did not want to go on */

#define NOT_EXPANDED UINT32_MAX

struct weir__met {
  uint32_t depth; /* at which it was expanded */
  uint8_t flags;
};

static int is_deepening(const weir_walk *walk) {
  return walk->options.order == WEIR_DEPTH_FIRST && walk->options.max_depth != WEIR_UNLIMITED;
}

/* The entry of a node. It moves when nodes are added. */
static int find_met(weir_walk *walk, int64_t node, uint32_t *index, weir_error *err) {
  int inserted;
  if (walk->nodes.count == walk->nodes.room) {
    int rc = weir__idmap_grow(&walk->nodes, err);
    if (rc) {
      return rc;
    }
  }
  if (walk->met_room < walk->nodes.room) {
    struct weir__met *met = realloc(walk->met, walk->nodes.room * sizeof *met);
    if (!met) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for %u nodes", (unsigned)walk->nodes.room);
    }
    walk->met = met;
    walk->met_room = walk->nodes.room;
  }
  int rc = weir__idmap_put(&walk->nodes, node, index, &inserted, err);
  if (rc == WEIR_OK && inserted) {
    walk->met[*index] = (struct weir__met){.depth = NOT_EXPANDED};
  }
  return rc;
}

/* *passes: what the condition says of the node; it is asked once. */
static int ask(weir__walk_run *run, int64_t node, struct weir__met *met, int *passes, weir_error *err) {
  if (!run->steps.node) {
    met->flags |= LET_IN;
  }
  if (!(met->flags & (LET_IN | LEFT_OUT))) {
    int rc = weir__lookup_passes(run->steps.node, node, passes, err);
    if (rc) {
      return rc;
    }
    met->flags |= *passes ? LET_IN : LEFT_OUT;
  }
  *passes = (met->flags & LET_IN) != 0;
  return WEIR_OK;
}

/* Of what was visited before. */
static enum weir__admission revisit(const weir_walk *walk, weir__stop *stop, const struct weir__met *met,
                                    int pruned) {
  stop->again = 1;
  return is_deepening(walk) && !pruned && stop->depth < walk->options.max_depth && stop->depth < met->depth
             ? WEIR__AGAIN
             : WEIR__SKIP;
}

static enum weir__admission admit_node(const weir_walk *walk, weir__stop *stop, struct weir__met *met) {
  if (met->flags & MET) {
    return revisit(walk, stop, met, met->flags & PRUNED);
  }
  met->flags |= MET;
  return WEIR__VISIT;
}

weir__edge_id weir__met_edge(const weir_walk *walk, const weir__stop *stop) {
  int64_t from = walk->stops[stop->parent].node;
  return (weir__edge_id){.src = stop->against ? stop->node : from,
                         .label = stop->label,
                         .dst = stop->against ? from : stop->node,
                         .rank = stop->rank};
}

static int admit_edge(weir_walk *walk, weir__stop *stop, const struct weir__met *met,
                      enum weir__admission *out, weir_error *err) {
  const weir__edge_id edge = weir__met_edge(walk, stop);
  int inserted;
  int rc = weir__edgeset_put(&walk->edges, &edge, &stop->unique, &inserted, err);
  if (rc) {
    return rc;
  }
  *out = inserted ? WEIR__VISIT : revisit(walk, stop, met, walk->edges.flags[stop->unique] & PRUNED);
  return WEIR_OK;
}

static int is_on_path(const weir_walk *walk, const weir__stop *stop) {
  for (const weir__stop *at = &walk->stops[stop->parent];; at = &walk->stops[at->parent]) {
    if (at->node == stop->node || at->depth == 0) {
      return at->node == stop->node;
    }
  }
}

int weir__met_admit(weir__walk_run *run, weir__stop *stop, enum weir__admission *out, weir_error *err) {
  weir_walk *walk = run->walk;
  weir_unique unique = walk->options.unique;
  uint32_t index = 0;
  int passes = 0;
  *out = WEIR__SKIP;
  if (unique == WEIR_UNIQUE_PATH) {
    if (is_on_path(walk, stop)) {
      return WEIR_OK;
    }
    *out = WEIR__VISIT;
    if (!run->steps.node) {
      return WEIR_OK;
    }
  }
  int rc = find_met(walk, stop->node, &index, err);
  if (rc == WEIR_OK) {
    rc = ask(run, stop->node, &walk->met[index], &passes, err);
  }
  if (rc || !passes) {
    *out = WEIR__SKIP;
    return rc;
  }
  if (unique == WEIR_UNIQUE_NODE) {
    stop->unique = index;
    *out = admit_node(walk, stop, &walk->met[index]);
  }
  return unique == WEIR_UNIQUE_EDGE ? admit_edge(walk, stop, &walk->met[index], out, err) : WEIR_OK;
}

int weir__met_starts(weir_walk *walk, weir_error *err) {
  int rc = WEIR_OK;
  for (size_t i = 0; i < walk->start_count && rc == WEIR_OK; i++) {
    uint32_t index = 0;
    rc = find_met(walk, walk->starts[i], &index, err);
    if (rc == WEIR_OK) {
      walk->met[index].flags |= LET_IN;
    }
  }
  return rc;
}

enum weir__admission weir__met_start(weir_walk *walk, weir__stop *stop) {
  stop->unique = weir__idmap_find(&walk->nodes, stop->node);
  return walk->options.unique == WEIR_UNIQUE_NODE ? admit_node(walk, stop, &walk->met[stop->unique])
                                                  : WEIR__VISIT;
}

int weir__met_expand(weir_walk *walk, const weir__stop *stop) {
  if (stop->depth >= walk->options.max_depth) {
    return 0;
  }
  if (walk->options.unique == WEIR_UNIQUE_PATH) {
    return 1;
  }
  struct weir__met *met = &walk->met[weir__idmap_find(&walk->nodes, stop->node)];
  if (met->depth <= stop->depth) {
    return 0;
  }
  met->depth = is_deepening(walk) ? stop->depth : 0;
  return 1;
}

void weir__met_prune(weir_walk *walk, const weir__stop *stop) {
  if (walk->options.unique == WEIR_UNIQUE_NODE) {
    walk->met[stop->unique].flags |= PRUNED;
  } else if (walk->options.unique == WEIR_UNIQUE_EDGE && stop->depth > 0) {
    walk->edges.flags[stop->unique] |= PRUNED;
  }
}

static size_t bytes_of(size_t room, size_t count, size_t size, int next) {
  return (next && count == room ? 2 * room : room) * size;
}

size_t weir__met_bytes(const weir_walk *walk, int next) {
  size_t per_node = sizeof *walk->nodes.ids + 2 * sizeof *walk->nodes.slots + sizeof *walk->met;
  return bytes_of(walk->nodes.room, walk->nodes.count, per_node, next) +
         bytes_of(walk->edges.room, walk->edges.count, weir__edgeset_bytes(1), next) +
         bytes_of(walk->stop_room, walk->stop_count, sizeof *walk->stops, next) +
         bytes_of(walk->frame_room, walk->frame_count, sizeof *walk->frames, next) +
         walk->ahead_room * sizeof *walk->ahead;
}

void weir__met_clear(weir_walk *walk) {
  weir__idmap_clear(&walk->nodes);
  weir__edgeset_clear(&walk->edges);
  free(walk->met);
}
