/* Degrees and strengths: a node is summed up by one thread, in the order of its rows, out before in. */
#include "measures.h"

#include <weir/algo.h>

#include "../internal.h"

#define GRAIN 1024 /* nodes a piece */

struct degrees {
  const weir__rows *rows[2]; /* to be added up; NULL: none */
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
    uint64_t degree = 0;
    double strength = 0;
    for (int side = 0; side < 2 && d->rows[side]; side++) {
      degree += weir__row_length(d->rows[side], node);
      strength = d->strength ? row_sum(d->rows[side], node, strength) : 0;
    }
    if (d->degree) {
      d->degree[node] = degree;
    }
    if (d->strength) {
      d->strength[node] = strength;
    }
  }
  return WEIR_OK;
}

int weir__degrees(weir__team *team, const weir_projection *p, weir_direction direction, uint64_t *degree,
                  double *strength, weir_error *err) {
  int both = direction == WEIR_BOTH && !p->info.undirected;
  struct degrees d = {{weir__rows_of(p, direction), both ? &p->in : NULL}, degree, strength};
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
    rc = weir__team_open(&team, run, p->info.nodes, err);
  }
  if (rc) {
    return rc;
  }
  return weir__team_close(team, weir__degrees(team, p, direction, degree, strength, err), err);
}
