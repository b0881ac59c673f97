/*
 * What the measures of similarity share: the neighbors that they count, what a shared one is worth, and the
 * best of many links.
 *
 * The neighbors of a node are the distinct other nodes that its edges in a direction lead to. They are read
 * off the rows, which are ascending: loops and parallel edges are skipped on the way.
 */
#ifndef WEIR_GRAPH_ALGO_SIMILAR_H
#define WEIR_GRAPH_ALGO_SIMILAR_H

#include <weir/algo.h>

#include "sides.h"

/* Where one reads in the neighbors of a node. */
typedef struct weir__others {
  const uint32_t *at, *end;
  const uint32_t *more, *more_end;
  uint32_t self, last; /* last: the neighbor that was read last */
} weir__others;

static inline weir__others weir__others_of(const weir__sides *sides, uint32_t node) {
  const weir__rows *rows = sides->rows[0], *more = sides->rows[1];
  weir__others others = {.at = rows->far + rows->start[node],
                         .end = rows->far + rows->start[node + 1],
                         .self = node,
                         .last = WEIR_NO_NODE};
  if (sides->count > 1) {
    others.more = more->far + more->start[node];
    others.more_end = more->far + more->start[node + 1];
  }
  return others;
}

/* The next neighbor, ascending; WEIR_NO_NODE after the last. */
static inline uint32_t weir__others_next(weir__others *others) {
  for (;;) {
    uint32_t one = others->at < others->end ? *others->at : WEIR_NO_NODE;
    uint32_t two = others->more < others->more_end ? *others->more : WEIR_NO_NODE;
    uint32_t next = one < two ? one : two;
    if (next == WEIR_NO_NODE) {
      return next;
    }
    others->at += one == next;
    others->more += two == next;
    if (next != others->self && next != others->last) {
      others->last = next;
      return next;
    }
  }
}

/* How many neighbors a node has. */
uint32_t weir__others_count(const weir__sides *sides, uint32_t node);

/* What a shared neighbor adds to WEIR_ADAMIC_ADAR, which has itself so many neighbors in the other direction.
 * It has only one if nodes are compared with themselves: then 0. */
double weir__worth(uint32_t neighbors);

/* Checks what functions of similarity are given, and makes the direction what weir__direction_of does. */
int weir__similar_check(const weir_projection *p, weir_similarity kind, weir_direction *direction,
                        weir_error *err);

/* ---- The best of many links -------------------------------------------------------------------------- */

/* At most `limit` links, the best that were offered: a heap, the worst of them first. Which links that are
 * does not depend on the order in which they are offered. */
typedef struct weir__best {
  weir_link *links;
  size_t count, room;
  size_t limit;
  int borrowed; /* `links` is the caller's, and has room for all */
} weir__best;

/* 1 if x comes before y: more alike, or as much and less. */
static inline int weir__link_before(const weir_link *x, const weir_link *y) {
  if (x->value != y->value) {
    return x->value > y->value;
  }
  return x->a != y->a ? x->a < y->a : x->b < y->b;
}

/* 1 if a link with that value cannot be among the best. */
static inline int weir__best_beyond(const weir__best *best, double value) {
  return best->count == best->limit && (best->limit == 0 || value < best->links[0].value);
}

/* Offers a link. Errors: WEIR_NOMEM, without a message. */
int weir__best_offer(weir__best *best, weir_link link);

/* Sorts them, the best first: nothing more can be offered. */
void weir__best_sort(weir__best *best);

#endif
