/* Neighbors as sets: counted, placed, filled in. */
#include "sets.h"

#include <stdlib.h>

#include "../internal.h"

#define NODES_A_PIECE 1024

struct making {
  weir__sides sides;
  uint64_t *start;
  uint32_t *far;
};

/* The length of the set of node i goes to start[i + 1]. */
static int count_sets(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct making *making = data;
  (void)worker;
  for (uint64_t node = first; node < last; node++) {
    making->start[node + 1] = weir__others_count(&making->sides, (uint32_t)node);
  }
  return WEIR_OK;
}

static int fill_sets(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct making *making = data;
  (void)worker;
  for (uint64_t node = first; node < last; node++) {
    weir__others others = weir__others_of(&making->sides, (uint32_t)node);
    uint32_t *at = making->far + making->start[node];
    for (uint32_t other = 0; (other = weir__others_next(&others)) != WEIR_NO_NODE;) {
      *at++ = other;
    }
  }
  return WEIR_OK;
}

int weir__sets_make(weir__sets *sets, const weir_projection *p, weir_direction direction, weir__team *team,
                    weir_error *err) {
  uint32_t nodes = p->info.nodes;
  struct making making = {.sides = weir__sides_of(p, direction)};
  making.start = sets->own_start = calloc((size_t)nodes + 1, sizeof *making.start);
  if (!making.start) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for the neighbors of %lu nodes", (unsigned long)nodes);
  }
  int rc = weir__team_each(team, nodes, NODES_A_PIECE, count_sets, &making, err);
  if (rc) {
    return rc;
  }
  for (uint32_t node = 0; node < nodes; node++) {
    making.start[node + 1] += making.start[node];
  }
  uint64_t neighbors = making.start[nodes];
  const weir__rows *rows = making.sides.rows[0];
  if (making.sides.count == 1 && neighbors == rows->start[nodes]) {
    weir__sets_free(sets);
    sets->start = rows->start;
    sets->far = rows->far;
    return weir__team_tick(team, nodes, err);
  }
  making.far = sets->own_far = malloc((neighbors ? neighbors : 1) * sizeof *making.far);
  if (!making.far) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %llu neighbors", (unsigned long long)neighbors);
  }
  sets->start = making.start;
  sets->far = making.far;
  return weir__team_each(team, nodes, NODES_A_PIECE, fill_sets, &making, err);
}

void weir__sets_free(weir__sets *sets) {
  free(sets->own_start);
  free(sets->own_far);
  *sets = (weir__sets){NULL, NULL, NULL, NULL};
}
