/*
 * Weakly connected components: M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity
 * computation via subgraph sampling, 2018 (Afforest).
 *
 * component[] is a forest: a node points to one with a lesser number in its component, or, as a root, to
 * itself. An edge links two trees by pointing the greater root to the lesser one; so once all edges are in,
 * the root of a node is the least number in its component, in whatever order threads linked.
 *
 * The first edges of each node are linked first. Most nodes are then in one tree, as a rule, and what leads
 * from these need not be looked at: an edge that leaves the tree is met from its other end.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "../internal.h"
#include "sides.h"

#include <weir/algo.h>

enum {
  GRAIN = 1024,
  FIRST_EDGES = 2, /* of each node, that are linked first */
  SAMPLES = 1024   /* nodes that are asked for their root, to find the tree that most are in */
};

struct job {
  weir__sides sides;
  uint32_t *component;
  uint32_t skipped; /* the root of the tree whose nodes are skipped */
  _Atomic uint32_t roots;
};

static inline uint32_t parent_of(const uint32_t *component, uint32_t node) {
  return __atomic_load_n(&component[node], __ATOMIC_RELAXED);
}

/* Walks from both nodes towards their roots until they meet, or the one that is reached is a root, which is
 * then pointed to the lesser one. */
static inline void join(uint32_t *component, uint32_t a, uint32_t b) {
  a = parent_of(component, a);
  b = parent_of(component, b);
  while (a != b) {
    uint32_t high = a > b ? a : b, low = a > b ? b : a;
    uint32_t parent = parent_of(component, high);
    if (parent == low) {
      return;
    }
    if (parent == high &&
        __atomic_compare_exchange_n(&component[high], &parent, low, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return;
    }
    a = parent_of(component, parent_of(component, high));
    b = low;
  }
}

static int point_to_itself(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct job *job = data;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    job->component[node] = node;
  }
  return WEIR_OK;
}

static int join_first_edges(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct job *job = data;
  const weir__rows *rows = job->sides.rows[0];
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    uint64_t end = rows->start[node + 1];
    for (uint64_t e = rows->start[node]; e < end && e < rows->start[node] + FIRST_EDGES; e++) {
      join(job->component, node, rows->far[e]);
    }
  }
  return WEIR_OK;
}

static int join_others(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  const struct job *job = data;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    if (parent_of(job->component, node) == job->skipped) {
      continue;
    }
    for (unsigned side = 0; side < job->sides.count; side++) {
      const weir__rows *rows = job->sides.rows[side];
      uint64_t end = rows->start[node + 1];
      for (uint64_t e = rows->start[node] + (side == 0 ? FIRST_EDGES : 0); e < end; e++) {
        join(job->component, node, rows->far[e]);
      }
    }
  }
  return WEIR_OK;
}

/* Points each node to its root. */
static int compress(void *data, uint64_t first, uint64_t last, unsigned worker) {
  (void)worker;
  struct job *job = data;
  uint32_t roots = 0;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    uint32_t at = parent_of(job->component, node), next = parent_of(job->component, at);
    roots += at == node;
    while (next != at) {
      at = next;
      next = parent_of(job->component, at);
    }
    __atomic_store_n(&job->component[node], at, __ATOMIC_RELAXED);
  }
  atomic_fetch_add_explicit(&job->roots, roots, memory_order_relaxed);
  return WEIR_OK;
}

static int compare_numbers(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

/* The root that most of some nodes have. Any choice is right; this one saves most. */
static uint32_t most_frequent(const uint32_t *component, uint32_t nodes) {
  uint32_t roots[SAMPLES] = {0}, count = nodes < SAMPLES ? nodes : SAMPLES;
  uint32_t best = 0, best_times = 0, times = 0;
  for (uint32_t i = 0; i < count; i++) {
    roots[i] = component[(uint64_t)i * nodes / count];
  }
  qsort(roots, count, sizeof *roots, compare_numbers);
  for (uint32_t i = 0; i < count; i++) {
    times = i > 0 && roots[i] == roots[i - 1] ? times + 1 : 1;
    if (times > best_times) {
      best_times = times;
      best = roots[i];
    }
  }
  return best;
}

static int find_components(struct job *job, uint32_t nodes, weir__team *team, weir_error *err) {
  static const weir__work_fn before[] = {point_to_itself, join_first_edges, compress};
  static const weir__work_fn after[] = {join_others, compress};
  int rc = WEIR_OK;
  for (size_t i = 0; i < sizeof before / sizeof *before && rc == WEIR_OK; i++) {
    rc = weir__team_each(team, nodes, GRAIN, before[i], job, err);
  }
  if (rc) {
    return rc;
  }
  job->skipped = most_frequent(job->component, nodes);
  job->roots = 0;
  for (size_t i = 0; i < sizeof after / sizeof *after && rc == WEIR_OK; i++) {
    rc = weir__team_each(team, nodes, GRAIN, after[i], job, err);
  }
  return rc;
}

int weir_wcc(const weir_projection *p, const weir_run *options, uint32_t *component, uint32_t *count,
             weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(component, "component", err);
  }
  if (rc) {
    return rc;
  }
  weir__team *team = NULL;
  rc = weir__team_open(&team, options, 5 * (uint64_t)p->info.nodes, p->info.edges, err);
  if (rc) {
    return rc;
  }
  struct job job = {.sides = weir__sides_of(p, p->info.undirected ? WEIR_OUT : WEIR_BOTH),
                    .component = component};
  rc = p->info.nodes > 0 ? find_components(&job, p->info.nodes, team, err) : WEIR_OK;
  if (count) {
    *count = job.roots;
  }
  return weir__team_close(team, rc, err);
}
