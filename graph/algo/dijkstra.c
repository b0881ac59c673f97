/*
 * E. Dijkstra's algorithm.
 *
 * Invariants of the heap: no node is nearer than its parent, the one at (place - 1) / 4; each stands there
 * once, and slot says where, so that it can rise when a shorter way to it is found.
 */
#include "dijkstra.h"

#include <math.h>
#include <stdlib.h>

#define WAYS    4    /* children of a node in the heap */
#define LOOK    4096 /* nodes between two looks at whether to go on */
#define SETTLED UINT32_MAX

int weir__dijkstra_init(weir__dijkstra *d, uint32_t nodes) {
  size_t room = (size_t)nodes + 1;
  d->order = malloc(room * sizeof *d->order);
  d->distance = malloc(room * sizeof *d->distance);
  d->paths = calloc(room, sizeof *d->paths);
  d->heap = malloc(room * sizeof *d->heap);
  d->slot = calloc(room, sizeof *d->slot);
  if (!d->order || !d->distance || !d->paths || !d->heap || !d->slot) {
    return WEIR_NOMEM;
  }
  for (uint32_t i = 0; i < nodes; i++) {
    d->distance[i] = INFINITY;
  }
  return WEIR_OK;
}

void weir__dijkstra_clear(weir__dijkstra *d) {
  free(d->order);
  free(d->distance);
  free(d->paths);
  free(d->heap);
  free(d->slot);
}

/* ---- The heap ------------------------------------------------------------------------------------------ */

static inline void place(weir__dijkstra *d, uint32_t at, weir__waiting item) {
  d->heap[at] = item;
  d->slot[item.node] = at + 1;
}

/* Puts an item at `at`, which is free, or nearer to the top. */
static void rise(weir__dijkstra *d, uint32_t at, weir__waiting item) {
  while (at > 0) {
    uint32_t parent = (at - 1) / WAYS;
    if (d->heap[parent].distance <= item.distance) {
      break;
    }
    place(d, at, d->heap[parent]);
    at = parent;
  }
  place(d, at, item);
}

/* Takes the nearest; there is one. */
static uint32_t take(weir__dijkstra *d) {
  const weir__waiting *heap = d->heap;
  uint32_t nearest = heap[0].node, at = 0, count = --d->count;
  weir__waiting item = heap[count];
  for (uint64_t child = 1; child < count; child = (uint64_t)at * WAYS + 1) {
    uint32_t best = (uint32_t)child;
    for (uint64_t other = child + 1; other < child + WAYS && other < count; other++) {
      best = heap[other].distance < heap[best].distance ? (uint32_t)other : best;
    }
    if (heap[best].distance >= item.distance) {
      break;
    }
    place(d, at, heap[best]);
    at = best;
  }
  place(d, at, item); /* which may be the one taken, and then does not matter */
  return nearest;
}

/* ---- The search ---------------------------------------------------------------------------------------- */

/* Puts all back to rest. */
static void forget(weir__dijkstra *d) {
  for (uint32_t i = 0; i < d->reached; i++) {
    d->distance[d->order[i]] = INFINITY;
    d->slot[d->order[i]] = 0;
  }
  d->reached = 0;
}

/* The nodes that wait are not found after all. */
static void give_up(weir__dijkstra *d) {
  for (; d->count > 0; d->count--) {
    uint32_t node = d->heap[d->count - 1].node;
    d->distance[node] = INFINITY;
    d->slot[node] = 0;
  }
}

static void go_along(weir__dijkstra *d, const weir__rows *rows, uint32_t node) {
  double here = d->distance[node], paths = d->paths[node];
  for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
    uint32_t far = rows->far[i];
    double there = here + rows->weight[i];
    if (there < d->distance[far]) {
      uint32_t slot = d->slot[far];
      d->distance[far] = there;
      d->paths[far] = paths;
      rise(d, slot ? slot - 1 : d->count++, (weir__waiting){there, far});
    } else if (there == d->distance[far] && d->slot[far] != SETTLED) {
      d->paths[far] += paths;
    }
  }
}

void weir__dijkstra_from(weir__dijkstra *d, uint32_t source) {
  forget(d);
  d->distance[source] = 0;
  d->paths[source] = 1;
  rise(d, d->count++, (weir__waiting){0, source});
  while (d->count > 0) {
    uint32_t node = take(d);
    d->slot[node] = SETTLED;
    d->order[d->reached++] = node;
    if (d->reached % LOOK == 0 && weir__team_ended(d->team, d->worker)) {
      give_up(d);
      return;
    }
    for (unsigned side = 0; side < d->sides.count; side++) {
      go_along(d, d->sides.rows[side], node);
    }
  }
}

int weir__dijkstra_wanted(const weir_projection *p, int unweighted, int *wanted, weir_error *err) {
  *wanted = p->info.weighted && !unweighted;
  if (*wanted && p->info.edges > 0 && !(p->info.least_weight > 0)) {
    return weir_fail(err, WEIR_INVALID,
                     "an edge has the weight %g: paths need weights above 0; or set unweighted",
                     p->info.least_weight);
  }
  return WEIR_OK;
}
