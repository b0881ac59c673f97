/* A priority queue of nodes by cost: a binary heap. A node may be in it more than once. */
#ifndef WEIR_GRAPH_HEAP_H
#define WEIR_GRAPH_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include <weir/pool.h>

typedef struct weir__heap_item {
  double cost;
  uint32_t node;
} weir__heap_item;

/* Zero it to begin. items[0] is the least. Emptied by count = 0. */
typedef struct weir__heap {
  weir__heap_item *items;
  size_t count;
  size_t room;
} weir__heap;

/* Errors: WEIR_NOMEM. */
int weir__heap_push(weir__heap *heap, double cost, uint32_t node, weir_error *err);

/* Takes the least; there is one. */
weir__heap_item weir__heap_pop(weir__heap *heap);

/* Frees the memory; it may be used again. */
void weir__heap_clear(weir__heap *heap);

#endif
