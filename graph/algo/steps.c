/*
 * Breadth-first search from up to 64 nodes at once: what is to be known about a node and each of the sources
 * is a bit of one word, so that an edge is looked at once for all the sources that reach it in the same step.
 * M. Then et al., The More the Merrier: Efficient Multi-Source Graph Traversal, 2014.
 */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

int weir__steps_init(weir__steps *s, uint32_t nodes) {
  size_t room = (size_t)nodes + 1;
  s->nodes = nodes;
  s->seen = malloc(room * sizeof *s->seen);
  s->visit = malloc(room * sizeof *s->visit);
  s->next = calloc(room, sizeof *s->next);
  s->frontier = malloc(room * sizeof *s->frontier);
  s->found = malloc(room * sizeof *s->found);
  return s->seen && s->visit && s->next && s->frontier && s->found ? WEIR_OK : WEIR_NOMEM;
}

void weir__steps_clear(weir__steps *s) {
  free(s->seen);
  free(s->visit);
  free(s->next);
  free(s->frontier);
  free(s->found);
}

void weir__steps_begin(weir__steps *s, uint32_t first, uint32_t last) {
  memset(s->seen, 0, s->nodes * sizeof *s->seen);
  s->count = 0;
  for (uint32_t node = first; node < last; node++) {
    s->seen[node] = s->visit[node] = UINT64_C(1) << (node - first);
    s->frontier[s->count++] = node;
  }
}

static uint32_t spread(weir__steps *s, const weir__rows *rows, uint32_t found) {
  for (uint32_t at = 0; at < s->count; at++) {
    uint32_t node = s->frontier[at];
    uint64_t visit = s->visit[node];
    for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
      uint32_t far = rows->far[i];
      uint64_t bits = s->next[far];
      s->found[found] = far;
      found += bits == 0;
      s->next[far] = bits | visit;
    }
  }
  return found;
}

int weir__steps_go(weir__steps *s) {
  uint32_t found = 0;
  for (unsigned side = 0; side < s->sides.count; side++) {
    found = spread(s, s->sides.rows[side], found);
  }
  s->count = 0;
  memset(s->met, 0, sizeof s->met);
  for (uint32_t at = 0; at < found; at++) {
    uint32_t node = s->found[at];
    uint64_t bits = s->next[node] & ~s->seen[node];
    s->next[node] = 0;
    if (bits) {
      s->seen[node] |= bits;
      s->visit[node] = bits;
      s->frontier[s->count++] = node;
      for (; bits; bits &= bits - 1) {
        s->met[__builtin_ctzll(bits)]++;
      }
    }
  }
  return s->count > 0;
}
