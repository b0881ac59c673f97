/* What a projection tells of itself, and the checks of arguments that all algorithms share. */
#include "projection.h"

#include <stdlib.h>
#include <string.h>

#include "../internal.h"

void weir_projection_close(weir_projection *p) {
  if (!p) {
    return;
  }
  if (p->in.start != p->out.start) {
    free(p->in.start);
    free(p->in.far);
    free(p->in.weight);
  }
  free(p->out.start);
  free(p->out.far);
  free(p->out.weight);
  weir__keys_clear(&p->keys);
  free(p);
}

void weir_projection_describe(const weir_projection *p, weir_projection_info *out) {
  *out = p ? p->info : (weir_projection_info){.nodes = 0};
}

uint32_t weir_projection_nodes(const weir_projection *p) {
  return p ? p->info.nodes : 0;
}

weir_adjacent weir_projection_adjacent(const weir_projection *p, uint32_t node, weir_direction direction) {
  weir_adjacent none = {NULL, NULL, 0};
  int both = direction == WEIR_BOTH && p && !p->info.undirected;
  if (!p || node >= p->info.nodes || both || (unsigned)direction > WEIR_BOTH) {
    return none;
  }
  const weir__rows *rows = weir__rows_of(p, direction);
  uint64_t at = rows->start[node];
  return (weir_adjacent){rows->far + at, rows->weight ? rows->weight + at : NULL,
                         (size_t)(rows->start[node + 1] - at)};
}

/* ---- Arguments of algorithms --------------------------------------------------------------------------- */

int weir__node_check(const weir_projection *p, uint32_t node, weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK && node >= p->info.nodes) {
    rc = weir_fail(err, WEIR_INVALID, "there is no node %lu: the projection has %lu nodes",
                   (unsigned long)node, (unsigned long)p->info.nodes);
  }
  return rc;
}

int weir__direction_of(const weir_projection *p, weir_direction *direction, weir_error *err) {
  if (*direction == 0) {
    *direction = WEIR_OUT;
  }
  int rc = weir__direction_check(*direction, err);
  if (rc == WEIR_OK && p->info.undirected) {
    *direction = WEIR_OUT;
  }
  return rc;
}
