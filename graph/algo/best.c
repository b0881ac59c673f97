/*
 * The best of many links, in a heap whose root is the worst of them: a link that is better takes its place.
 */
#include <stdlib.h>

#include "similar.h"

static void swap(weir_link *x, weir_link *y) {
  weir_link kept = *x;
  *x = *y;
  *y = kept;
}

/* Moves the first of `count` links down to its place. */
static void sink(weir_link *links, size_t count) {
  for (size_t at = 0;;) {
    size_t worst = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
      if (weir__link_before(&links[worst], &links[child])) {
        worst = child;
      }
    }
    if (worst == at) {
      return;
    }
    swap(&links[at], &links[worst]);
    at = worst;
  }
}

static int grow(weir__best *best) {
  size_t room = best->room ? 2 * best->room : 64;
  room = room < best->limit ? room : best->limit;
  weir_link *links = realloc(best->links, room * sizeof *links);
  if (!links) {
    return WEIR_NOMEM;
  }
  best->links = links;
  best->room = room;
  return WEIR_OK;
}

int weir__best_offer(weir__best *best, weir_link link) {
  if (best->count == best->limit) {
    if (best->limit > 0 && weir__link_before(&link, &best->links[0])) {
      best->links[0] = link;
      sink(best->links, best->count);
    }
    return WEIR_OK;
  }
  if (best->count == best->room) {
    int rc = grow(best);
    if (rc) {
      return rc;
    }
  }
  size_t at = best->count++;
  best->links[at] = link;
  while (at > 0 && weir__link_before(&best->links[(at - 1) / 2], &best->links[at])) {
    swap(&best->links[(at - 1) / 2], &best->links[at]);
    at = (at - 1) / 2;
  }
  return WEIR_OK;
}

void weir__best_sort(weir__best *best) {
  for (size_t count = best->count; count > 1; count--) {
    swap(&best->links[0], &best->links[count - 1]);
    sink(best->links, count - 1);
  }
}
