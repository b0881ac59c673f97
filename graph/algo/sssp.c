/*
 * Single-source shortest paths: batches of the nearest nodes, taken from radix heaps.
 *
 * Labels only fall: a node's distance is lowered whenever an edge offers less, and then waits in a heap to
 * have its own edges looked at. A radix heap (R. Ahuja, K. Mehlhorn, J. Orlin, R. Tarjan, Faster algorithms
 * for the shortest path problem, 1990) keeps what waits in piles: by the highest bit in which a distance, as
 * a number of 64 bits, differs from `last`, which nothing that waits is below. The lowest pile that is not
 * empty has the nearest nodes. If it is small enough it becomes a batch, all of whose edges threads look at
 * at the same time, as in delta-stepping (U. Meyer, P. Sanders, Delta-stepping: a parallelizable shortest
 * path algorithm, 2003); else it is split into lower piles. So the width of a batch follows from how many
 * nodes are near, and no scale of weights needs to be known. Each thread has a heap of its own to put nodes
 * into; their piles are taken together.
 *
 * Distances do not depend on threads, nor on batches. Addition as doubles do it, rounded, is monotone: a <= b
 * makes a + w <= b + w, and a + w >= a as no weight is negative. So among the sums along all ways to a node
 * there is a least one; each label is the sum of some way; and once no edge offers less, each label is the
 * least: by induction along the way that has the least sum, each label on it is at most the sum so far.
 */
#include "sssp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "bfs.h"

enum {
  PILES = 64,
  BATCH = 4096,        /* nodes a batch has at most: of more, too many would be looked at too early */
  GRAIN = 256,         /* nodes of a batch a piece */
  SHARED_NODES = 1024, /* a batch of fewer is one piece */
  SPLIT_SHARED = 8192  /* as is the splitting of a smaller pile */
};

/* A node that waits. If its distance is not this one any more, it has been there again since. */
struct waiting {
  double distance;
  uint32_t node;
};

struct pile {
  struct waiting *nodes;
  size_t count, room;
};

struct heap {
  struct pile piles[PILES];
  uint64_t filled; /* bit i: pile i is not empty */
  uint64_t edges;  /* looked at by its thread, and not told yet */
};

struct search {
  weir__sides sides;
  double *distance;
  uint64_t last;      /* the bits of a distance: nothing that waits is below */
  struct heap *heaps; /* one a worker */
  unsigned size;      /* how many */
  unsigned low;       /* the pile that is split */
  int alone;          /* one thread works on this batch */
  struct pile batch;
};

/* ---- Heaps ------------------------------------------------------------------------------------------- */

/* The bits of a double that is not negative are in the order of its value. */
static inline uint64_t bits_of(double distance) {
  uint64_t bits = 0;
  memcpy(&bits, &distance, sizeof bits);
  return bits;
}

static int grow(struct pile *pile, size_t count) {
  size_t room = pile->room ? pile->room : 64;
  while (room < count) {
    room *= 2;
  }
  struct waiting *grown = realloc(pile->nodes, room * sizeof *grown);
  if (!grown) {
    return WEIR_NOMEM;
  }
  pile->nodes = grown;
  pile->room = room;
  return WEIR_OK;
}

static inline int append(struct pile *pile, struct waiting node) {
  if (pile->count == pile->room && grow(pile, pile->count + 1)) {
    return WEIR_NOMEM;
  }
  pile->nodes[pile->count++] = node;
  return WEIR_OK;
}

static inline int put(struct heap *heap, uint64_t last, struct waiting node) {
  uint64_t differs = bits_of(node.distance) ^ last;
  unsigned i = differs ? 64 - (unsigned)__builtin_clzll(differs) : 0; /* at most 63: no sign */
  heap->filled |= UINT64_C(1) << i;
  return append(&heap->piles[i], node);
}

/* ---- Batches ----------------------------------------------------------------------------------------- */

/* 1 if the node's distance was more, and is `less` now. */
static inline int lower(const struct search *s, uint32_t node, double less) {
  double seen;
  __atomic_load(&s->distance[node], &seen, __ATOMIC_RELAXED);
  while (less < seen) {
    if (s->alone) {
      __atomic_store(&s->distance[node], &less, __ATOMIC_RELAXED);
      return 1;
    }
    if (__atomic_compare_exchange(&s->distance[node], &seen, &less, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return 1;
    }
  }
  return 0;
}

static int look_at_edges(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct search *s = data;
  struct heap *heap = &s->heaps[worker];
  int failed = 0;
  for (uint64_t i = first; i < last && !failed; i++) {
    struct waiting from = s->batch.nodes[i];
    if (i + WEIR__START_AHEAD < last) {
      weir__fetch_start(&s->sides, s->batch.nodes[i + WEIR__START_AHEAD].node);
      weir__fetch_row(&s->sides, s->batch.nodes[i + WEIR__ROW_AHEAD].node);
    }
    double now;
    __atomic_load(&s->distance[from.node], &now, __ATOMIC_RELAXED);
    if (now < from.distance) {
      continue;
    }
    for (unsigned side = 0; side < s->sides.count; side++) {
      const weir__rows *rows = s->sides.rows[side];
      uint64_t begin = rows->start[from.node], end = rows->start[from.node + 1];
      for (uint64_t e = begin; e < end; e++) {
        struct waiting to = {from.distance + rows->weight[e], rows->far[e]};
        if (lower(s, to.node, to.distance)) {
          failed |= put(heap, s->last, to);
        }
      }
      heap->edges += end - begin;
    }
  }
  return failed ? WEIR_NOMEM : WEIR_OK;
}

/* Makes pile `low` of all heaps the batch. What comes of it is in its range, for lower piles, or above. */
static int take_batch(struct search *s) {
  struct pile spare = s->batch;
  spare.count = 0;
  s->batch = s->heaps[0].piles[s->low];
  s->heaps[0].piles[s->low] = spare;
  s->heaps[0].filled &= ~(UINT64_C(1) << s->low);
  for (unsigned i = 1; i < s->size; i++) {
    struct pile *pile = &s->heaps[i].piles[s->low];
    size_t count = s->batch.count + pile->count;
    if (count > s->batch.room && grow(&s->batch, count)) {
      return WEIR_NOMEM;
    }
    if (pile->count > 0) {
      memcpy(s->batch.nodes + s->batch.count, pile->nodes, pile->count * sizeof *pile->nodes);
    }
    s->batch.count = count;
    pile->count = 0;
    s->heaps[i].filled &= ~(UINT64_C(1) << s->low);
  }
  if (s->low > 0) { /* the least number of the pile's range */
    s->last = ((s->last >> (s->low - 1)) | 1) << (s->low - 1);
  }
  return WEIR_OK;
}

/* Puts what is in pile `low` of some heaps into lower ones, as `last` has been raised into its range. */
static int split(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct search *s = data;
  int failed = 0;
  for (uint64_t i = first; i < last; i++) {
    struct heap *heap = &s->heaps[i];
    struct pile *pile = &heap->piles[s->low];
    for (size_t k = 0; k < pile->count; k++) {
      failed |= put(heap, s->last, pile->nodes[k]);
    }
    pile->count = 0;
    heap->filled &= ~(UINT64_C(1) << s->low);
  }
  return failed ? WEIR_NOMEM : WEIR_OK;
}

static uint64_t least_of_pile(const struct search *s) {
  double least = INFINITY;
  for (unsigned i = 0; i < s->size; i++) {
    const struct pile *pile = &s->heaps[i].piles[s->low];
    for (size_t k = 0; k < pile->count; k++) {
      least = pile->nodes[k].distance < least ? pile->nodes[k].distance : least;
    }
  }
  return bits_of(least);
}

/* The next batch; empty: nothing waits. */
static int next_batch(struct search *s, weir__team *team, weir_error *err) {
  s->batch.count = 0;
  for (;;) {
    uint64_t filled = 0;
    for (unsigned i = 0; i < s->size; i++) {
      filled |= s->heaps[i].filled;
    }
    if (!filled) {
      return WEIR_OK;
    }
    s->low = (unsigned)__builtin_ctzll(filled);
    size_t count = 0;
    for (unsigned i = 0; i < s->size; i++) {
      count += s->heaps[i].piles[s->low].count;
    }
    if (s->low == 0 || count <= BATCH) {
      return take_batch(s) ? weir_fail(err, WEIR_NOMEM, "out of memory for %zu nodes of a search", count)
                           : WEIR_OK;
    }
    s->last = least_of_pile(s);
    int rc = weir__team_each(team, s->size, count < SPLIT_SHARED ? s->size : 1, split, s, err);
    if (rc) {
      return rc;
    }
  }
}

/* ---- The whole --------------------------------------------------------------------------------------- */

static uint64_t edges_looked_at(struct search *s) {
  uint64_t edges = 0;
  for (unsigned i = 0; i < s->size; i++) {
    edges += s->heaps[i].edges;
    s->heaps[i].edges = 0;
  }
  return edges;
}

static int run(struct search *s, uint32_t source, weir__team *team, weir_error *err) {
  if (put(&s->heaps[0], 0, (struct waiting){0, source})) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a search");
  }
  int rc = next_batch(s, team, err);
  while (rc == WEIR_OK && s->batch.count > 0) {
    size_t count = s->batch.count;
    s->alone = s->size == 1 || count < SHARED_NODES;
    rc = weir__team_each(team, count, s->alone ? count : GRAIN, look_at_edges, s, err);
    if (rc == WEIR_OK) {
      rc = weir__team_tick(team, edges_looked_at(s), err);
    }
    if (rc == WEIR_OK) {
      rc = next_batch(s, team, err);
    }
  }
  return rc;
}

static void free_heaps(struct search *s) {
  for (unsigned i = 0; i < s->size && s->heaps; i++) {
    for (unsigned k = 0; k < PILES; k++) {
      free(s->heaps[i].piles[k].nodes);
    }
  }
  free(s->heaps);
  free(s->batch.nodes);
}

static int by_weight(const weir_projection *p, uint32_t source, weir_direction direction, weir__team *team,
                     double *distance, uint32_t *parent, weir_error *err) {
  struct search s = {
      .sides = weir__sides_of(p, direction), .distance = distance, .size = weir__team_size(team)};
  s.heaps = calloc(s.size, sizeof *s.heaps);
  if (!s.heaps) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a search among %lu nodes",
                     (unsigned long)p->info.nodes);
  }
  for (uint32_t i = 0; i < p->info.nodes; i++) {
    distance[i] = INFINITY;
  }
  distance[source] = 0;
  int rc = run(&s, source, team, err);
  free_heaps(&s);
  if (rc == WEIR_OK && parent) {
    rc = weir__sssp_parents(p, source, direction, team, distance, parent, err);
  }
  return rc;
}

/* Without weights the distances are depths. */
static int by_steps(const weir_projection *p, uint32_t source, weir_direction direction, weir__team *team,
                    double *distance, uint32_t *parent, weir_error *err) {
  uint32_t *depth = malloc((size_t)p->info.nodes * sizeof *depth);
  if (!depth) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a search among %lu nodes",
                     (unsigned long)p->info.nodes);
  }
  int rc = weir__bfs(p, source, direction, team, depth, parent, err);
  for (uint32_t i = 0; i < p->info.nodes && rc == WEIR_OK; i++) {
    distance[i] = depth[i] == WEIR_UNREACHED ? (double)INFINITY : depth[i];
  }
  free(depth);
  return rc;
}

static int check(const weir_projection *p, uint32_t source, weir_direction *direction, const double *distance,
                 weir_error *err) {
  int rc = weir__node_check(p, source, err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(distance, "distance", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__direction_of(p, direction, err);
  }
  if (rc == WEIR_OK && p->info.least_weight < 0) {
    rc = weir_fail(err, WEIR_INVALID, "an edge has the weight %g: shortest paths need weights of 0 or more",
                   p->info.least_weight);
  }
  return rc;
}

int weir_sssp(const weir_projection *p, uint32_t source, weir_direction direction, const weir_run *options,
              double *distance, uint32_t *parent, weir_error *err) {
  int rc = check(p, source, &direction, distance, err);
  if (rc) {
    return rc;
  }
  weir__sides sides = weir__sides_of(p, direction);
  uint64_t units = p->info.weighted ? 2 * (uint64_t)p->info.nodes + weir__sides_total(&sides, p->info.nodes)
                                    : weir__bfs_units(p, direction);
  weir__team *team =
      NULL; /* a quarter: on a million edges, which fit a cache, a second thread brings nothing */
  rc = weir__team_open(&team, options, units, p->info.edges / 4, err);
  if (rc) {
    return rc;
  }
  rc = (p->info.weighted ? by_weight : by_steps)(p, source, direction, team, distance, parent, err);
  return weir__team_close(team, rc, err);
}
