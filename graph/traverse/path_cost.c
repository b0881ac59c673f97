/*
 * Paths of least cost, by Dijkstra's search.
 *
 * A node is in the heap of a side once for each time that its distance became less; all but the last are
 * passed over when they come out. So what comes out has its final distance, as no cost is negative.
 *
 * From both ends: of a path that costs less than the least in one heap and the least in the other together,
 * each node is final from the start or from the target, so an edge of it joins one that is final from the
 * start to one that is final from the target, and was looked at. So when the two together are not less than
 * the best path found, there is no better one.
 */
#include "path_hops.h"

/* A node's edges. */
struct relaxing {
  weir__search *search;
  int side;
  int away; /* 1: along edges, as they are stored */
  uint32_t node;
};

static int relax(const weir__far *far, void *data, weir_error *err) {
  const struct relaxing *relaxing = data;
  weir__search *search = relaxing->search;
  int side = relaxing->side;
  int64_t id = search->map.ids[relaxing->node];
  const weir__arc arc = weir__arc_of(search, id, side, relaxing->away, far);
  if (!(arc.cost >= 0)) {
    uint32_t index; /* first see if the far end is there */
    int rc = weir__search_meet(search, far->node, &index, err);
    if (rc || search->met[index].dist[side] == WEIR__BLOCKED) {
      return rc;
    }
    return weir__arc_refuse(search, &arc, err);
  }
  double dist = search->met[relaxing->node].dist[side] + arc.cost;
  return weir__search_reach(search, side, relaxing->node, far->node, dist, err);
}

static int expand(weir__search *search, int side, uint32_t node, weir_error *err) {
  const weir__steps *steps = &search->steps[side];
  struct relaxing relaxing = {search, side, 1, node};
  int64_t id = search->map.ids[node];
  int rc = WEIR_OK;
  if (weir__search_spent(search)) {
    return WEIR_OK;
  }
  if (steps->out) {
    rc = weir__hops_each(steps->out, id, relax, &relaxing, err);
  }
  if (rc == WEIR_OK && steps->in) {
    relaxing.away = 0;
    rc = weir__hops_each(steps->in, id, relax, &relaxing, err);
  }
  return rc < 0 ? rc : WEIR_OK;
}

/* Takes out what has become less meanwhile. */
static void drop_stale(weir__search *search, int side) {
  weir__heap *heap = &search->heap[side];
  while (heap->count > 0 && heap->items[0].cost > search->met[heap->items[0].node].dist[side]) {
    (void)weir__heap_pop(heap);
  }
}

int weir__search_dijkstra(weir__search *search, weir_error *err) {
  weir__heap *heap = search->heap;
  int rc = WEIR_OK;
  while (rc == WEIR_OK && search->ending == WEIR_ENDED) {
    drop_stale(search, 0);
    drop_stale(search, 1);
    if (heap[0].count == 0 || heap[1].count == 0 ||
        (search->meet != WEIR__NO_NODE && heap[0].items[0].cost + heap[1].items[0].cost >= search->best)) {
      break;
    }
    int side = heap[1].count < heap[0].count;
    rc = expand(search, side, weir__heap_pop(&heap[side]).node, err);
  }
  return rc;
}

int weir__search_dijkstra_whole(weir__search *search, weir_error *err) {
  weir__heap *heap = &search->heap[0];
  int rc = WEIR_OK;
  while (rc == WEIR_OK && search->ending == WEIR_ENDED) {
    drop_stale(search, 0);
    if (heap->count == 0 || (search->meet != WEIR__NO_NODE && heap->items[0].cost > search->best)) {
      break;
    }
    rc = expand(search, 0, weir__heap_pop(heap).node, err);
  }
  return rc;
}
