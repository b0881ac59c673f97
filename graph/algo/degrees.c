/* Degrees and strengths: a node is summed up by one thread, in the order of its rows, out before in. */
#include "measures.h"

#include <weir/algo.h>

#include "../internal.h"
#include "sides.h"

#define GRAIN 1024 /* nodes a piece */

struct degrees {
  weir__sides sides; /* to be added up */
  uint64_t *degree;
  double *strength;
};

static double row_sum(const weir__rows *rows, uint32_t node, double sum) {
  if (!rows->weight) {
    return sum + (double)weir__row_length(rows, node);
  }
  for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
    sum += rows->weight[i];
  }
  return sum;
}

static int sum_nodes(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct degrees *d = data;
  (void)worker;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    double strength = 0;
    for (unsigned side = 0; side < d->sides.count && d->strength; side++) {
      strength = row_sum(d->sides.rows[side], node, strength);
    }
    if (d->degree) {
      d->degree[node] = weir__sides_length(&d->sides, node);
    }
    if (d->strength) {
      d->strength[node] = strength;
    }
  }
  return WEIR_OK;
}

int weir__degrees(weir__team *team, const weir_projection *p, weir_direction direction, uint64_t *degree,
                  double *strength, weir_error *err) {
  struct degrees d = {weir__sides_of(p, p->info.undirected ? WEIR_OUT : direction), degree, strength};
  return weir__team_each(team, p->info.nodes, GRAIN, sum_nodes, &d, err);
}

int weir_degrees(const weir_projection *p, weir_direction direction, const weir_run *run, uint64_t *degree,
                 double *strength, weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__direction_of(p, &direction, err);
  }
  weir__team *team = NULL;
  if (rc == WEIR_OK) {
    rc = weir__team_open(&team, run, p->info.nodes, p->info.edges, err);
  }
  if (rc) {
    return rc;
  }
  return weir__team_close(team, weir__degrees(team, p, direction, degree, strength, err), err);
}
