/*
 * Betweenness from one source, by U. Brandes: how many shortest paths lead to each node; then, from the
 * farthest node back, how much of the paths to what lies behind it passes through each.
 *
 * With `share` of a node as (1 + what passes through it) / paths to it, what passes through a node is its
 * number of paths times the sum of the shares of those behind it.
 */
#include "brandes.h"

#include <stdlib.h>
#include <string.h>

#define PULL   4 /* looks from the far side if the frontier is at least a fourth of what is left */
#define UNSEEN UINT32_MAX

int weir__brandes_init(weir__brandes *b, const weir_projection *p) {
  size_t room = (size_t)p->info.nodes + 1;
  b->p = p;
  b->ways.sides = weir__sides_of(p, WEIR_OUT);
  b->depth = malloc(room * sizeof *b->depth);
  b->share = calloc(room, sizeof *b->share);
  b->passing = malloc(room * sizeof *b->passing);
  if (!b->depth || !b->share || !b->passing) {
    return WEIR_NOMEM;
  }
  memset(b->depth, 0xff, room * sizeof *b->depth);
  return weir__dijkstra_init(&b->ways, p->info.nodes);
}

void weir__brandes_clear(weir__brandes *b) {
  weir__dijkstra_clear(&b->ways);
  free(b->depth);
  free(b->share);
  free(b->passing);
}

/* ---- Without weights  ------------------------------------------------------------------ */

/* Adds up values of the nodes to which the edges of a node lead. Four sums at once, since each addition waits
 * for the one before it. */
static double sum_ends(const weir__rows *rows, uint32_t node, const double *value) {
  const uint32_t *far = rows->far + rows->start[node], *end = rows->far + rows->start[node + 1];
  double sum[4] = {0, 0, 0, 0};
  for (; end - far >= 4; far += 4) {
    for (int i = 0; i < 4; i++) {
      sum[i] += value[far[i]];
    }
  }
  for (; far < end; far++) {
    sum[0] += value[*far];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* From the nodes first to last - 1 in order, which are those of a depth, to the next ones, whose number it
 * returns. Without branches, which nobody could predict. */
static uint32_t push(weir__brandes *b, const weir__rows *rows, uint32_t first, uint32_t last, uint32_t next) {
  uint32_t *order = b->ways.order, reached = last;
  for (uint32_t at = first; at < last; at++) {
    const uint32_t *far = rows->far + rows->start[order[at]];
    const uint32_t *end = rows->far + rows->start[order[at] + 1];
    const double plus[2] = {0, b->ways.paths[order[at]]};
    for (; far < end; far++) {
      uint32_t depth = b->depth[*far];
      order[reached] = *far;
      reached += depth == UNSEEN;
      b->depth[*far] = depth < next ? depth : next;
      b->ways.paths[*far] += plus[depth >= next];
    }
  }
  return reached - last;
}

/* The same, for many nodes: each of those not reached looks for edges from them. */
static uint32_t pull(weir__brandes *b, const weir__rows *back, uint32_t nodes, uint32_t last, uint32_t next) {
  uint32_t *order = b->ways.order, reached = last;
  for (uint32_t node = 0; node < nodes; node++) {
    if (b->depth[node] == UNSEEN) {
      double paths = sum_ends(back, node, b->ways.paths);
      if (paths > 0) {
        b->passing[reached] = paths;
        order[reached++] = node;
      }
    }
  }
  for (uint32_t at = last; at < reached; at++) {
    b->depth[order[at]] = next;
    b->ways.paths[order[at]] = b->passing[at];
  }
  return reached - last;
}

static void count_paths(weir__brandes *b, uint32_t source) {
  uint32_t nodes = b->p->info.nodes, first = 0, last = 1;
  b->ways.order[0] = source;
  b->depth[source] = 0;
  b->ways.paths[source] = 1;
  for (uint32_t next = 1; first < last; next++) {
    uint64_t frontier = last - first, left = nodes - last;
    uint32_t found = frontier * PULL > left ? pull(b, &b->p->in, nodes, last, next)
                                            : push(b, &b->p->out, first, last, next);
    first = last;
    last += found;
  }
  b->ways.reached = last;
}

/* Depth by depth: an edge leads to the next depth at most, and of shallower nodes no share is known; so all
 * shares that are known are of nodes behind. A share of 0, or that is no number, tells of infinitely many
 * paths. */
static int pass_back(weir__brandes *b, const weir__rows *rows, double *sum) {
  const uint32_t *order = b->ways.order;
  const double *paths = b->ways.paths;
  uint32_t reached = b->ways.reached, last = reached;
  int full = 0;
  while (last > 1) {
    uint32_t first = last - 1, depth = b->depth[order[first]];
    while (b->depth[order[first - 1]] == depth) {
      first--;
    }
    for (uint32_t at = first; at < last; at++) {
      uint32_t node = order[at];
      b->passing[at] = last < reached ? paths[node] * sum_ends(rows, node, b->share) : 0;
    }
    for (uint32_t at = first; at < last; at++) {
      double share = (1 + b->passing[at]) / paths[order[at]];
      full |= !(share > 0);
      b->share[order[at]] = share;
      sum[order[at]] += b->passing[at];
    }
    last = first;
  }
  return full ? WEIR_FULL : WEIR_OK;
}

static void forget(weir__brandes *b) {
  for (uint32_t at = 0; at < b->ways.reached; at++) {
    b->depth[b->ways.order[at]] = UNSEEN;
    b->share[b->ways.order[at]] = 0;
    b->ways.paths[b->ways.order[at]] = 0;
  }
}

int weir__brandes_add(weir__brandes *b, uint32_t source, double *sum) {
  count_paths(b, source);
  int rc = pass_back(b, &b->p->out, sum);
  forget(b);
  return rc;
}

/* ---- By weights  ----------------------------------------------------------------------- */

static int pass_back_weighted(weir__brandes *b, const weir__rows *rows, double *sum) {
  const double *distance = b->ways.distance;
  int full = 0;
  for (uint32_t at = b->ways.reached - 1; at > 0; at--) {
    uint32_t node = b->ways.order[at];
    double behind = 0, here = distance[node];
    for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
      behind += here + rows->weight[i] == distance[rows->far[i]] ? b->share[rows->far[i]] : 0;
    }
    double passing = behind * b->ways.paths[node];
    b->share[node] = (1 + passing) / b->ways.paths[node];
    full |= !(b->share[node] > 0);
    sum[node] += passing;
  }
  for (uint32_t at = 0; at < b->ways.reached; at++) {
    b->share[b->ways.order[at]] = 0;
  }
  return full ? WEIR_FULL : WEIR_OK;
}

int weir__brandes_add_weighted(weir__brandes *b, uint32_t source, double *sum) {
  weir__dijkstra_from(&b->ways, source);
  return pass_back_weighted(b, &b->p->out, sum);
}
