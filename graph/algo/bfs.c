/*
 * Breadth-first search, one level after another: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing
 * breadth-first search, 2012.
 *
 * A level is found from the one before it, the frontier, in one of two ways: down, along the edges that lead
 * on from the frontier, or up, where each node that is not reached looks for one of the frontier among those
 * before it, and stops at the first. Up is the cheaper way while much of the graph is in the frontier.
 *
 * Threads set depths at the same time, but all of a level to the same number, so depths do not depend on
 * them. The order of nodes within a frontier does, and nothing else depends on that order: parents are looked
 * up afterwards, by depths alone.
 */
#include "bfs.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "../internal.h"

enum {
  FOUND_ROOM = 256,   /* nodes that a thread finds before it adds them to the next frontier */
  DOWN_GRAIN = 256,   /* nodes of the frontier a piece */
  UP_GRAIN = 2048,    /* nodes a piece */
  EDGES_A_UNIT = 32,  /* of progress: most edges cost little, and many are never looked at */
  SCAN_SHARE = 8,     /* a look at the depth of so many nodes costs as much as one edge */
  SHARED_EDGES = 8192 /* fewer are not worth waking a thread for */
};

struct search {
  weir__sides ahead, back;
  uint32_t *depth, *parent;
  uint32_t level;         /* of the frontier */
  int alone;              /* one thread works on this level */
  uint32_t *frontier;     /* its nodes */
  uint32_t *next;         /* those of the next level: */
  _Atomic uint64_t count; /* how many */
  _Atomic uint64_t edges; /* how many edges lead on from them */
};

/* Nodes of the next level that a thread has found. */
struct found {
  struct search *search;
  uint64_t edges;
  unsigned count;
  uint32_t nodes[FOUND_ROOM];
};

static void flush(struct found *found) {
  struct search *s = found->search;
  uint64_t at = atomic_fetch_add_explicit(&s->count, found->count, memory_order_relaxed);
  for (unsigned i = 0; i < found->count; i++) {
    s->next[at + i] = found->nodes[i];
  }
  atomic_fetch_add_explicit(&s->edges, found->edges, memory_order_relaxed);
  found->count = 0;
  found->edges = 0;
}

static inline void add(struct found *found, uint32_t node) {
  if (found->count == FOUND_ROOM) {
    flush(found);
  }
  found->nodes[found->count++] = node;
  found->edges += weir__sides_length(&found->search->ahead, node);
}

/* 1 for the one thread that reaches the node. */
static inline int reach(struct search *s, uint32_t node) {
  uint32_t seen = __atomic_load_n(&s->depth[node], __ATOMIC_RELAXED);
  if (seen != WEIR_UNREACHED) {
    return 0;
  }
  if (s->alone) {
    s->depth[node] = s->level + 1;
    return 1;
  }
  return __atomic_compare_exchange_n(&s->depth[node], &seen, s->level + 1, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}

static int go_down(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct search *s = data;
  struct found found;
  found.search = s;
  found.count = 0;
  found.edges = 0;
  for (uint64_t i = first; i < last; i++) {
    if (i + WEIR__START_AHEAD < last) {
      weir__fetch_start(&s->ahead, s->frontier[i + WEIR__START_AHEAD]);
      weir__fetch_row(&s->ahead, s->frontier[i + WEIR__ROW_AHEAD]);
    }
    for (unsigned side = 0; side < s->ahead.count; side++) {
      const weir__rows *rows = s->ahead.rows[side];
      uint64_t end = rows->start[s->frontier[i] + 1];
      for (uint64_t e = rows->start[s->frontier[i]]; e < end; e++) {
        if (reach(s, rows->far[e])) {
          add(&found, rows->far[e]);
        }
      }
    }
  }
  flush(&found);
  return WEIR_OK;
}

/* The least node at `depth` in the rows of `node`; WEIR_NO_NODE if there is none. */
static inline uint32_t find_at(const struct search *s, const weir__rows *rows, uint32_t node,
                               uint32_t depth) {
  uint64_t end = rows->start[node + 1];
  for (uint64_t e = rows->start[node]; e < end; e++) {
    if (__atomic_load_n(&s->depth[rows->far[e]], __ATOMIC_RELAXED) == depth) {
      return rows->far[e];
    }
  }
  return WEIR_NO_NODE;
}

static int go_up(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct search *s = data;
  struct found found;
  found.search = s;
  found.count = 0;
  found.edges = 0;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    if (__atomic_load_n(&s->depth[node], __ATOMIC_RELAXED) != WEIR_UNREACHED) {
      continue;
    }
    for (unsigned side = 0; side < s->back.count; side++) {
      if (find_at(s, s->back.rows[side], node, s->level) != WEIR_NO_NODE) {
        __atomic_store_n(&s->depth[node], s->level + 1, __ATOMIC_RELAXED);
        add(&found, node);
        break;
      }
    }
  }
  flush(&found);
  return WEIR_OK;
}

/* 1 if up is the cheaper way: a node that is not reached looks at so many edges as there are for each that
 * comes from the frontier, or at all of its own. */
static int up_is_cheaper(uint64_t nodes, uint64_t edges, uint64_t unreached, uint64_t leading_on) {
  uint64_t tries = edges / (leading_on + 1) + 1, row = edges / nodes + 1;
  return nodes / SCAN_SHARE + unreached * (tries < row ? tries : row) < leading_on;
}

static int run(struct search *s, uint32_t nodes, weir__team *team, weir_error *err) {
  uint64_t count = 1, reached = 1, edges = weir__sides_total(&s->ahead, nodes);
  uint64_t leading_on = weir__sides_length(&s->ahead, s->frontier[0]);
  int rc = WEIR_OK;
  while (rc == WEIR_OK && count > 0) {
    s->count = 0;
    s->edges = 0;
    if (up_is_cheaper(nodes, edges, nodes - reached, leading_on)) {
      s->alone = 0;
      rc = weir__team_each(team, nodes, UP_GRAIN, go_up, s, err);
    } else {
      s->alone = leading_on < SHARED_EDGES || weir__team_size(team) == 1;
      rc = weir__team_each(team, count, leading_on < SHARED_EDGES ? count : DOWN_GRAIN, go_down, s, err);
    }
    if (rc == WEIR_OK) {
      rc = weir__team_tick(team, leading_on / EDGES_A_UNIT, err);
    }
    uint32_t *before = s->frontier;
    s->frontier = s->next;
    s->next = before;
    count = s->count;
    leading_on = s->edges;
    reached += count;
    s->level++;
  }
  return rc;
}

static int set_parents(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct search *s = data;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    uint32_t depth = s->depth[node], parent = WEIR_NO_NODE;
    for (unsigned side = 0; side < s->back.count && depth != 0 && depth != WEIR_UNREACHED; side++) {
      uint32_t found = find_at(s, s->back.rows[side], node, depth - 1);
      parent = found < parent ? found : parent;
    }
    s->parent[node] = parent;
  }
  return WEIR_OK;
}

uint64_t weir__bfs_units(const weir_projection *p, weir_direction direction) {
  weir__sides ahead = weir__sides_of(p, direction);
  return 3 * (uint64_t)p->info.nodes + weir__sides_total(&ahead, p->info.nodes) / EDGES_A_UNIT;
}

int weir__bfs(const weir_projection *p, uint32_t source, weir_direction direction, weir__team *team,
              uint32_t *depth, uint32_t *parent, weir_error *err) {
  uint32_t nodes = p->info.nodes;
  struct search s = {.ahead = weir__sides_of(p, direction),
                     .back = weir__sides_back(p, direction),
                     .depth = depth,
                     .parent = parent};
  uint32_t *frontiers = malloc(2 * (size_t)nodes * sizeof *frontiers);
  if (!frontiers) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a search among %lu nodes", (unsigned long)nodes);
  }
  s.frontier = frontiers;
  s.next = frontiers + nodes;
  for (uint32_t i = 0; i < nodes; i++) {
    depth[i] = WEIR_UNREACHED;
  }
  depth[source] = 0;
  s.frontier[0] = source;
  int rc = run(&s, nodes, team, err);
  if (rc == WEIR_OK && parent) {
    rc = weir__team_each(team, nodes, UP_GRAIN, set_parents, &s, err);
  }
  free(frontiers);
  return rc;
}

int weir_bfs(const weir_projection *p, uint32_t source, weir_direction direction, const weir_run *options,
             uint32_t *depth, uint32_t *parent, weir_error *err) {
  int rc = weir__node_check(p, source, err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(depth, "depth", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__direction_of(p, &direction, err);
  }
  if (rc) {
    return rc;
  }
  weir__team *team = NULL;
  rc = weir__team_open(&team, options, weir__bfs_units(p, direction), p->info.edges / 4, err);
  if (rc) {
    return rc;
  }
  rc = weir__bfs(p, source, direction, team, depth, parent, err);
  return weir__team_close(team, rc, err);
}
