/*
 * Modularity. What is within communities is summed up in pieces of nodes, and the pieces in their order, so
 * that rounding is the same for any number of threads.
 */
#include <math.h>
#include <stdlib.h>

#include <weir/algo.h>

#include "../internal.h"
#include "measures.h"

#define GRAIN 1024 /* nodes a piece */

struct division {
  const weir_projection *p;
  const uint32_t *community; /* by node */
  uint32_t *number;          /* by node: the same below nodes; NULL: community is so already */
  double *strength;          /* by node */
  double *total;             /* by number of a community: strength of its nodes */
  double *within;            /* by piece of nodes: weight of edges that stay in the community of their node */
};

/* The rows of one direction are enough: there a directed edge is once, an undirected one twice, as a loop is
 * too. */
static int sum_within(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct division *d = data;
  const weir__rows *rows = &d->p->out;
  double sum = 0;
  (void)worker;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    uint32_t own = d->community[node];
    for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
      if (d->community[rows->far[i]] == own) {
        sum += rows->weight ? rows->weight[i] : 1;
      }
    }
  }
  d->within[first / GRAIN] = sum;
  return WEIR_OK;
}

/* ---- Any numbers become numbers below the number of nodes ---------------------------------------------- */

static int compare_pairs(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

static int number_communities(struct division *d, weir_error *err) {
  uint32_t nodes = d->p->info.nodes, greatest = 0;
  for (uint32_t i = 0; i < nodes; i++) {
    greatest = d->community[i] > greatest ? d->community[i] : greatest;
  }
  if (nodes == 0 || greatest < nodes) {
    return WEIR_OK;
  }
  uint64_t *pairs = malloc(nodes * sizeof *pairs);
  d->number = malloc(nodes * sizeof *d->number);
  if (!pairs || !d->number) {
    free(pairs);
    return weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)nodes);
  }
  for (uint32_t i = 0; i < nodes; i++) {
    pairs[i] = (uint64_t)d->community[i] << 32 | i;
  }
  qsort(pairs, nodes, sizeof *pairs, compare_pairs);
  uint32_t number = 0;
  for (uint32_t i = 0; i < nodes; i++) {
    number += i > 0 && pairs[i] >> 32 != pairs[i - 1] >> 32;
    d->number[(uint32_t)pairs[i]] = number;
  }
  free(pairs);
  return WEIR_OK;
}

/* ---- The sum ------------------------------------------------------------------------------------------- */

static int add_up(struct division *d, double resolution, double *out, weir_error *err) {
  const uint32_t *number = d->number ? d->number : d->community;
  uint32_t nodes = d->p->info.nodes;
  double twice = 0, inside = 0, squares = 0; /* twice: the weight of all edges */
  for (uint32_t i = 0; i < nodes; i++) {
    twice += d->strength[i];
    d->total[number[i]] += d->strength[i];
  }
  *out = 0;
  if (!(twice > 0)) {
    return WEIR_OK;
  }
  if (isinf(twice)) {
    return weir_fail(err, WEIR_INVALID, "the weights of the edges add up to more than a number can be");
  }
  for (uint64_t piece = 0; piece < ((uint64_t)nodes + GRAIN - 1) / GRAIN; piece++) {
    inside += d->within[piece];
  }
  for (uint32_t c = 0; c < nodes; c++) {
    squares += (d->total[c] / twice) * (d->total[c] / twice);
  }
  *out = (d->p->info.undirected ? inside : 2 * inside) / twice - resolution * squares;
  return WEIR_OK;
}

static int compute(struct division *d, double resolution, weir__team *team, double *out, weir_error *err) {
  size_t nodes = d->p->info.nodes;
  d->strength = malloc((nodes + 1) * sizeof *d->strength);
  d->total = calloc(nodes + 1, sizeof *d->total);
  d->within = malloc((nodes / GRAIN + 1) * sizeof *d->within);
  if (!d->strength || !d->total || !d->within) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for the communities of %zu nodes", nodes);
  }
  int rc = number_communities(d, err);
  if (rc == WEIR_OK) {
    rc = weir__degrees(team, d->p, WEIR_BOTH, NULL, d->strength, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, nodes, GRAIN, sum_within, d, err);
  }
  return rc ? rc : add_up(d, resolution, out, err);
}

int weir__modularity(weir__team *team, const weir_projection *p, const uint32_t *community, double resolution,
                     double *out, weir_error *err) {
  struct division d = {.p = p, .community = community};
  int rc = compute(&d, resolution, team, out, err);
  free(d.number);
  free(d.strength);
  free(d.total);
  free(d.within);
  return rc;
}

int weir_modularity(const weir_projection *p, const uint32_t *community, double resolution,
                    const weir_run *run, double *out, weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(community, "community", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(out, "out", err);
  }
  if (rc == WEIR_OK && (!(resolution >= 0) || isinf(resolution))) {
    rc = weir_fail(err, WEIR_INVALID, "a resolution of %g: give 0 or more", resolution);
  }
  if (rc == WEIR_OK && p->info.least_weight < 0) {
    rc = weir_fail(err, WEIR_INVALID, "an edge has the weight %g: modularity needs weights of 0 or more",
                   p->info.least_weight);
  }
  weir__team *team = NULL;
  if (rc == WEIR_OK) {
    rc = weir__team_open(&team, run, 2 * (uint64_t)p->info.nodes, p->info.edges, err);
  }
  if (rc) {
    return rc;
  }
  rc = weir__modularity(team, p, community, resolution, out, err);
  return weir__team_close(team, rc, err);
}
