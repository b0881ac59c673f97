/*
 * The shortest path, and the search without costs: breadth first from both ends.
 *
 * One level after the other is gone on from, each time on the side where fewer nodes wait. Before a level all
 * nodes up to some depth are met from the start, and up to another from the target, and no node from both; so
 * no path is as short as the two depths together, and the first node that is then met from both sides is on a
 * shortest one.
 */
#include "path_hops.h"

#include <stdlib.h>

#include "../node.h"
#include "../query/cond.h"

#define CHUNK 32 /* nodes gone on from, and far ends read, at once */

/* ---- What is asked ------------------------------------------------------------------------------------ */

static int check_cost(const weir_path_options *options, weir_error *err) {
  if (options->cost == WEIR_COST_PROP) {
    return weir__path_check(options->cost_path, "cost_path", err);
  }
  if (options->cost != WEIR_COST_HOPS && options->cost != WEIR_COST_WEIGHT) {
    return weir_fail(err, WEIR_INVALID, "cost %d: give WEIR_COST_HOPS, WEIR_COST_WEIGHT or WEIR_COST_PROP",
                     (int)options->cost);
  }
  return WEIR_OK;
}

static int check_options(const weir_path_options *options, weir_error *err) {
  int rc = weir__reach_check(&options->reach, err);
  if (rc == WEIR_OK) {
    rc = check_cost(options, err);
  }
  if (rc == WEIR_OK && (options->flags & ~(unsigned)WEIR_WITH_EDGES) != 0) {
    rc = weir_fail(err, WEIR_INVALID, "flags 0x%x: give 0 or WEIR_WITH_EDGES", options->flags);
  }
  if (rc == WEIR_OK && options->cost != WEIR_COST_HOPS && options->max_depth != WEIR_UNLIMITED) {
    rc = weir_fail(err, WEIR_INVALID, "max_depth %u with a cost: give WEIR_UNLIMITED, or WEIR_COST_HOPS",
                   (unsigned)options->max_depth);
  }
  return rc;
}

int weir__question_init(weir__question *question, weir_text from, weir_text to,
                        const weir_path_options *options, weir_error *err) {
  *question = (weir__question){.from = from, .to = to, .options = WEIR_PATH_OPTIONS_INIT};
  int rc = weir__key_check(from, "from", err);
  if (rc == WEIR_OK) {
    rc = weir__key_check(to, "to", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__options_copy(&question->options, sizeof question->options, options, "weir_path_options", err);
  }
  if (rc == WEIR_OK) {
    rc = check_options(&question->options, err);
  }
  question->deadline = weir__deadline(question->options.budget.time_ms);
  return rc;
}

/* ---- Breadth first ------------------------------------------------------------------------------------- */

/* Where a search goes on. */
struct level {
  weir__search *search;
  int side;
  double dist; /* of the nodes that are reached */
  int whole;   /* 1: also when a path is found */
};

/* Goes on from the nodes line[begin..end-1], which are CHUNK at most. Returns WEIR_STOP if a path is found,
 * or the budget used up. */
static int expand(const struct level *level, weir__hops *hops, size_t begin, size_t end, weir_error *err) {
  weir__search *search = level->search;
  const weir__line *line = &search->line[level->side];
  int64_t near[CHUNK];
  int64_t far[CHUNK];
  uint32_t from[CHUNK];
  size_t count = hops ? CHUNK : 0;
  int rc = WEIR_OK;
  for (size_t i = begin; hops && i < end; i++) {
    near[i - begin] = search->map.ids[line->nodes[i]];
  }
  if (hops) {
    weir__hops_seek_all(hops, near, end - begin);
  }
  while (rc == WEIR_OK && count == CHUNK) {
    if (weir__search_spent(search)) {
      return WEIR_STOP;
    }
    rc = weir__hops_ids(hops, far, from, CHUNK, &count, err);
    for (size_t i = 0; i < count && rc == WEIR_OK; i++) {
      rc = weir__search_reach(search, level->side, line->nodes[begin + from[i]], far[i], level->dist, err);
      if (rc == WEIR_OK && search->meet != WEIR__NO_NODE && !level->whole) {
        return WEIR_STOP;
      }
    }
  }
  return rc;
}

/* The same, from any number of nodes. */
static int expand_level(const struct level *level, size_t begin, size_t end, weir_error *err) {
  const weir__steps *steps = &level->search->steps[level->side];
  int rc = WEIR_OK;
  for (size_t i = begin; i < end && rc == WEIR_OK; i += CHUNK) {
    size_t to = end - i < CHUNK ? end : i + CHUNK;
    rc = expand(level, steps->out, i, to, err);
    if (rc == WEIR_OK) {
      rc = expand(level, steps->in, i, to, err);
    }
  }
  return rc;
}

/* A node that lies on shortest paths: those behind it are met from the target, but not yet from the start. */
static int reach_behind(weir__search *search, weir__hops *hops, uint32_t node, weir_error *err) {
  int64_t ids[CHUNK];
  size_t count = hops ? CHUNK : 0;
  int rc = WEIR_OK;
  const weir__met here = search->met[node];
  const int64_t id = search->map.ids[node];
  if (hops) {
    weir__hops_seek_all(hops, &id, 1);
  }
  while (rc == WEIR_OK && count == CHUNK) {
    rc = weir__hops_ids(hops, ids, NULL, CHUNK, &count, err);
    for (size_t i = 0; i < count && rc == WEIR_OK; i++) {
      uint32_t index = weir__idmap_find(&search->map, ids[i]);
      if (index != WEIR__NO_NODE && search->met[index].dist[1] == here.dist[1] - 1) {
        rc = weir__search_reach(search, 0, node, ids[i], here.dist[0] + 1, err);
      }
    }
  }
  return rc;
}

/* Gives the nodes on shortest paths, from line[begin] on, their distance from the start. */
static int reach_target(weir__search *search, size_t begin, weir_error *err) {
  const weir__line *line = &search->line[0];
  int rc = WEIR_OK;
  for (size_t i = begin; i < line->count && rc == WEIR_OK && !weir__search_spent(search); i++) {
    uint32_t node = line->nodes[i];
    if (search->met[node].dist[1] > 0) {
      rc = reach_behind(search, search->steps[0].out, node, err);
      if (rc == WEIR_OK) {
        rc = reach_behind(search, search->steps[0].in, node, err);
      }
    }
  }
  return rc;
}

int weir__search_breadth(weir__search *search, uint32_t limit, int whole, weir_error *err) {
  size_t begin[2] = {0, 0};   /* where the last level of a side begins */
  uint64_t depth[2] = {0, 0}; /* of that */
  weir__line *line = search->line;
  int rc = WEIR_OK;
  while (rc == WEIR_OK && search->meet == WEIR__NO_NODE && depth[0] + depth[1] < limit) {
    size_t waiting[2] = {line[0].count - begin[0], line[1].count - begin[1]};
    int side = waiting[1] < waiting[0];
    const struct level level = {search, side, (double)++depth[side], whole};
    size_t from = begin[side];
    if (waiting[side] == 0) {
      break;
    }
    begin[side] = line[side].count;
    rc = expand_level(&level, from, begin[side], err);
  }
  if (rc == WEIR_OK && whole && search->meet != WEIR__NO_NODE) {
    rc = reach_target(search, begin[0], err);
  }
  return rc < 0 ? rc : WEIR_OK;
}

/* ---- One path ------------------------------------------------------------------------------------------ */

struct shortest {
  weir__question question;
  weir_path path;
  weir_arena arena;
};

int weir__search_run(weir__search *search, int whole, weir_error *err) {
  const weir_path_options *options = &search->question->options;
  int rc = weir__search_reach(search, 0, WEIR__NO_NODE, search->from, 0, err);
  if (rc == WEIR_OK) {
    rc = weir__search_reach(search, 1, WEIR__NO_NODE, search->to, 0, err);
  }
  if (rc) {
    return rc < 0 ? rc : WEIR_OK;
  }
  if (options->cost == WEIR_COST_HOPS) {
    return weir__search_breadth(search, options->max_depth, whole, err);
  }
  return whole ? weir__search_dijkstra_whole(search, err) : weir__search_dijkstra(search, err);
}

/* The search is over. */
static int tell_path(weir__search *search, struct shortest *shortest, weir_error *err) {
  weir__arcs arcs = {.items = NULL};
  shortest->path = (weir_path){.ending = search->ending, .met = search->count};
  if (search->ending != WEIR_ENDED || search->meet == WEIR__NO_NODE) {
    return WEIR_OK;
  }
  int rc = weir__arcs_find(search, &arcs, err);
  if (rc == WEIR_OK) {
    rc = weir__path_fill(search, arcs.items, arcs.count, &shortest->arena, &shortest->path, err);
  }
  free(arcs.items);
  return rc;
}

static int find_shortest(weir_txn *txn, void *data, weir_error *err) {
  struct shortest *shortest = data;
  weir__search search;
  int rc = weir__search_open(&search, txn, &shortest->question, err);
  if (rc) {
    return rc;
  }
  if (search.from == search.to) {
    shortest->path = (weir_path){.found = 1, .met = 1};
  } else {
    rc = search.barred ? WEIR_OK : weir__search_run(&search, 0, err);
    if (rc == WEIR_OK) {
      rc = tell_path(&search, shortest, err);
    }
  }
  weir__search_close(&search);
  return rc;
}

int weir_path_shortest(weir_txn *txn, weir_text from, weir_text to, const weir_path_options *options,
                       weir_path *out, weir_arena *arena, weir_error *err) {
  struct shortest shortest = {.arena = WEIR_ARENA_INIT};
  int rc = weir__check_set(out, "out", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(arena, "arena", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__question_init(&shortest.question, from, to, options, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, find_shortest, &shortest, err);
  }
  if (rc) {
    weir_arena_clear(&shortest.arena);
    return rc;
  }
  weir_arena_clear(arena); /* only now: what was asked may lie in it */
  *arena = shortest.arena;
  *out = shortest.path;
  return WEIR_OK;
}
