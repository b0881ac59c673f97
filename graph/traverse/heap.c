/* A binary heap. Invariant: no item costs less than its parent, items[(i - 1) / 2]. Of items that cost the
 * same the one with the lower node is less, so that the order does not hang on how they came in. */
#include "heap.h"

#include <stdlib.h>

static int is_less(weir__heap_item a, weir__heap_item b) {
  return a.cost < b.cost || (a.cost == b.cost && a.node < b.node);
}

static int make_room(weir__heap *heap, weir_error *err) {
  size_t room = heap->room ? 2 * heap->room : 64;
  weir__heap_item *grown = realloc(heap->items, room * sizeof *grown);
  if (!grown) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %zu nodes to go on from", room);
  }
  heap->items = grown;
  heap->room = room;
  return WEIR_OK;
}

int weir__heap_push(weir__heap *heap, double cost, uint32_t node, weir_error *err) {
  const weir__heap_item item = {cost, node};
  if (heap->count == heap->room) {
    int rc = make_room(heap, err);
    if (rc) {
      return rc;
    }
  }
  size_t at = heap->count++;
  for (; at > 0 && is_less(item, heap->items[(at - 1) / 2]); at = (at - 1) / 2) {
    heap->items[at] = heap->items[(at - 1) / 2];
  }
  heap->items[at] = item;
  return WEIR_OK;
}

weir__heap_item weir__heap_pop(weir__heap *heap) {
  weir__heap_item *items = heap->items;
  const weir__heap_item least = items[0];
  const weir__heap_item last = items[--heap->count];
  size_t at = 0;
  for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
    if (child + 1 < heap->count && is_less(items[child + 1], items[child])) {
      child++;
    }
    if (!is_less(items[child], last)) {
      break;
    }
    items[at] = items[child];
    at = child;
  }
  if (heap->count > 0) {
    items[at] = last;
  }
  return least;
}

void weir__heap_clear(weir__heap *heap) {
  free(heap->items);
  *heap = (weir__heap){.items = NULL};
}
