/* E. Dijkstra's algorithm, with a heap in which a node stands once for each time its distance fell: what
 * stands there with more than that is left. */
#include "dijkstra.h"

#include <math.h>
#include <stdlib.h>

int weir__dijkstra_init(weir__dijkstra *d, uint32_t nodes) {
  size_t room = (size_t)nodes + 1;
  d->order = malloc(room * sizeof *d->order);
  d->distance = malloc(room * sizeof *d->distance);
  d->paths = calloc(room, sizeof *d->paths);
  d->settled = calloc(room, sizeof *d->settled);
  if (!d->order || !d->distance || !d->paths || !d->settled) {
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
  free(d->settled);
  weir__heap_clear(&d->heap);
}

/* Puts all back to rest. */
static void forget(weir__dijkstra *d) {
  for (uint32_t i = 0; i < d->reached; i++) {
    d->distance[d->order[i]] = INFINITY;
    d->settled[d->order[i]] = 0;
  }
  d->reached = 0;
  d->heap.count = 0;
}

static int go_along(weir__dijkstra *d, const weir__rows *rows, uint32_t node) {
  double here = d->distance[node], paths = d->paths[node];
  for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
    uint32_t far = rows->far[i];
    double there = here + rows->weight[i];
    if (there < d->distance[far]) {
      d->distance[far] = there;
      d->paths[far] = paths;
      int rc = weir__heap_push(&d->heap, there, far, NULL);
      if (rc) {
        return rc;
      }
    } else if (there == d->distance[far] && !d->settled[far]) {
      d->paths[far] += paths;
    }
  }
  return WEIR_OK;
}

int weir__dijkstra_from(weir__dijkstra *d, uint32_t source) {
  forget(d);
  d->distance[source] = 0;
  d->paths[source] = 1;
  int rc = weir__heap_push(&d->heap, 0, source, NULL);
  while (rc == WEIR_OK && d->heap.count > 0) {
    weir__heap_item least = weir__heap_pop(&d->heap);
    if (d->settled[least.node]) {
      continue;
    }
    d->settled[least.node] = 1;
    d->order[d->reached++] = least.node;
    for (unsigned side = 0; side < d->sides.count && rc == WEIR_OK; side++) {
      rc = go_along(d, d->sides.rows[side], least.node);
    }
  }
  return rc;
}

int weir__dijkstra_wanted(const weir_projection *p, int unweighted, int *wanted, weir_error *err) {
  *wanted = p->info.weighted && !unweighted;
  if (*wanted && p->info.edges > 0 && !(p->info.least_weight > 0)) {
    return weir_fail(err, WEIR_INVALID,
                     "an edge has a weight of %g: paths need weights above 0; or set unweighted",
                     p->info.least_weight);
  }
  return WEIR_OK;
}
