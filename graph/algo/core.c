/*
 * Core numbers, by V. Batagelj and M. Zaversnik: nodes are taken away, always one of the least degree, and
 * those that had an edge with it lose one.
 *
 * Invariants: `order` holds all nodes by degree, `place` where each is; `bin[d]` is where the first node of
 * degree d is, of those not yet taken. A node that loses an edge changes places with the first of its degree,
 * which then begins behind it. No degree falls below that of the node taken last.
 */
#include <stdlib.h>

#include <weir/algo.h>

#include "../internal.h"
#include "sides.h"

#define GRAIN 1024 /* nodes a piece, and between two looks at whether to go on */

struct peel {
  weir__sides count; /* edges that are a node's degree */
  weir__sides lose;  /* the same seen from their other ends */
  uint32_t nodes;
  uint32_t *degree; /* becomes the core number */
  uint32_t *order, *place;
  uint32_t *bin;
};

/* A degree that does not fit is told by UINT32_MAX. */
static int count_degrees(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct peel *peel = data;
  (void)worker;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    uint64_t degree = 0;
    for (unsigned side = 0; side < peel->count.count; side++) {
      const weir__rows *rows = peel->count.rows[side];
      for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
        degree += rows->far[i] != node;
      }
    }
    peel->degree[node] = degree < UINT32_MAX ? (uint32_t)degree : UINT32_MAX;
  }
  return WEIR_OK;
}

/* Sorts the nodes by degree, by counting. */
static int sort_nodes(struct peel *peel, weir_error *err) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < peel->nodes; i++) {
    most = peel->degree[i] > most ? peel->degree[i] : most;
  }
  if (most == UINT32_MAX) {
    return weir_fail(err, WEIR_FULL, "a node has 2^32 - 1 edges or more: merge parallel edges");
  }
  peel->order = calloc((size_t)peel->nodes + 1, sizeof *peel->order);
  peel->place = calloc((size_t)peel->nodes + 1, sizeof *peel->place);
  peel->bin = calloc((size_t)most + 2, sizeof *peel->bin);
  if (!peel->order || !peel->place || !peel->bin) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for the cores of %lu nodes", (unsigned long)peel->nodes);
  }
  for (uint32_t i = 0; i < peel->nodes; i++) {
    peel->bin[peel->degree[i] + 1]++;
  }
  for (size_t d = 1; d <= (size_t)most + 1; d++) {
    peel->bin[d] += peel->bin[d - 1];
  }
  for (uint32_t i = 0; i < peel->nodes; i++) {
    peel->place[i] = peel->bin[peel->degree[i]]++;
    peel->order[peel->place[i]] = i;
  }
  for (size_t d = (size_t)most + 1; d > 0; d--) {
    peel->bin[d] = peel->bin[d - 1]; /* filling them has moved each to the next one */
  }
  peel->bin[0] = 0;
  return WEIR_OK;
}

static inline void lose_one(struct peel *peel, uint32_t node, uint32_t least) {
  uint32_t degree = peel->degree[node];
  if (degree <= least) {
    return;
  }
  uint32_t at = peel->place[node], first = peel->bin[degree];
  uint32_t other = peel->order[first];
  peel->order[at] = other;
  peel->place[other] = at;
  peel->order[first] = node;
  peel->place[node] = first;
  peel->bin[degree] = first + 1;
  peel->degree[node] = degree - 1;
}

static int take_all(struct peel *peel, weir__team *team, weir_error *err) {
  for (uint32_t i = 0; i < peel->nodes; i++) {
    uint32_t node = peel->order[i], least = peel->degree[node];
    for (unsigned side = 0; side < peel->lose.count; side++) {
      const weir__rows *rows = peel->lose.rows[side];
      for (uint64_t k = rows->start[node]; k < rows->start[node + 1]; k++) {
        lose_one(peel, rows->far[k], least);
      }
    }
    if (i % GRAIN == GRAIN - 1) {
      int rc = weir__team_tick(team, GRAIN, err);
      if (rc) {
        return rc;
      }
    }
  }
  return WEIR_OK;
}

static int find_cores(struct peel *peel, const weir_run *run, weir_error *err) {
  weir__team *team = NULL;
  int rc = weir__team_open(&team, run, 2 * (uint64_t)peel->nodes, peel->nodes, err);
  if (rc) {
    return rc;
  }
  rc = weir__team_each(team, peel->nodes, GRAIN, count_degrees, peel, err);
  if (rc == WEIR_OK) {
    rc = sort_nodes(peel, err);
  }
  if (rc == WEIR_OK) {
    rc = take_all(peel, team, err);
  }
  free(peel->order);
  free(peel->place);
  free(peel->bin);
  return weir__team_close(team, rc, err);
}

int weir_core_numbers(const weir_projection *p, weir_direction direction, const weir_run *run, uint32_t *core,
                      uint32_t *greatest, weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(core, "core", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__direction_of(p, &direction, err);
  }
  if (rc) {
    return rc;
  }
  struct peel peel = {.nodes = p->info.nodes, .degree = core};
  peel.count = weir__sides_of(p, direction);
  peel.lose = weir__sides_back(p, direction);
  rc = find_cores(&peel, run, err);
  if (rc == WEIR_OK && greatest) {
    *greatest = 0;
    for (uint32_t i = 0; i < peel.nodes; i++) {
      *greatest = core[i] > *greatest ? core[i] : *greatest;
    }
  }
  return rc;
}
