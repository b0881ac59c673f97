/* Sets of nodes that are united: union-find. Each set is named by its least node. */
#ifndef WEIR_GRAPH_ALGO_UNIONS_H
#define WEIR_GRAPH_ALGO_UNIONS_H

#include <stdint.h>

/* parent[i]: a node of the same set, less than i or i itself. At first each node is its own. */
typedef uint32_t weir__unions;

static inline void weir__unions_init(weir__unions *parent, uint32_t nodes) {
  for (uint32_t node = 0; node < nodes; node++) {
    parent[node] = node;
  }
}

/* The least node of the set that `node` is in. On the way each second node is hung two steps higher. */
static inline uint32_t weir__unions_find(weir__unions *parent, uint32_t node) {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

/* Makes one set of two; 0: they were one. */
static inline int weir__unions_join(weir__unions *parent, uint32_t a, uint32_t b) {
  a = weir__unions_find(parent, a);
  b = weir__unions_find(parent, b);
  if (a < b) {
    parent[b] = a;
  } else {
    parent[a] = b;
  }
  return a != b;
}

#endif
