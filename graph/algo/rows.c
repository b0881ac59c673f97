/*
 * From a list of edges to rows.
 *
 * Edges are put into rows by counting: how many each row has, where it begins, then one after another. That
 * keeps their order, so what was put into rows by the one end, and is then read from there into rows by the
 * other, is ascending there.
 */
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "projection.h"

static void free_rows(weir__rows *rows) {
  free(rows->start);
  free(rows->far);
  free(rows->weight);
  *rows = (weir__rows){NULL, NULL, NULL};
}

static int make_rows(weir__rows *rows, uint32_t nodes, uint64_t entries, int weighted, weir_error *err) {
  rows->start = calloc((size_t)nodes + 2, sizeof *rows->start); /* one more: see place_entries */
  rows->far = malloc((entries ? entries : 1) * sizeof *rows->far);
  rows->weight = weighted ? malloc((entries ? entries : 1) * sizeof *rows->weight) : NULL;
  if (!rows->start || !rows->far || (weighted && !rows->weight)) {
    free_rows(rows);
    return weir_fail(err, WEIR_NOMEM, "out of memory for %llu edges", (unsigned long long)entries);
  }
  return WEIR_OK;
}

/* Adds up the lengths, which stand at start[node + 2]: start[node + 1] becomes where the row begins, and
 * moves to its end as it is filled, which is where the next one begins. */
static void place_entries(weir__rows *rows, uint32_t nodes) {
  for (size_t i = 1; i < (size_t)nodes + 1; i++) {
    rows->start[i + 1] += rows->start[i];
  }
}

static inline void put_entry(weir__rows *rows, uint32_t node, uint32_t far, const double *weight) {
  uint64_t at = rows->start[node + 1]++;
  rows->far[at] = far;
  if (rows->weight) {
    rows->weight[at] = *weight;
  }
}

/* An edge of the list stands in the rows of dst; undirected, in those of src, too. */
static void scatter_list(weir__rows *rows, const weir__edge_list *list) {
  for (uint64_t i = 0; i < list->count; i++) {
    rows->start[(size_t)list->dst[i] + 2]++;
    if (list->undirected) {
      rows->start[(size_t)list->src[i] + 2]++;
    }
  }
  place_entries(rows, list->nodes);
  for (uint64_t i = 0; i < list->count; i++) {
    const double *weight = list->weight ? &list->weight[i] : NULL;
    put_entry(rows, list->dst[i], list->src[i], weight);
    if (list->undirected) {
      put_entry(rows, list->src[i], list->dst[i], weight);
    }
  }
}

/* The same edges seen from their other ends: ascending. */
static void transpose(weir__rows *out, const weir__rows *in, uint32_t nodes) {
  uint64_t entries = in->start[nodes];
  for (uint64_t i = 0; i < entries; i++) {
    out->start[(size_t)in->far[i] + 2]++;
  }
  place_entries(out, nodes);
  for (uint32_t node = 0; node < nodes; node++) {
    for (uint64_t i = in->start[node]; i < in->start[node + 1]; i++) {
      put_entry(out, in->far[i], node, in->weight ? &in->weight[i] : NULL);
    }
  }
}

/* ---- Loops and parallel edges -------------------------------------------------------------------------- */

static double merge_two(double a, double b, weir_parallel how) {
  if (how == WEIR_PARALLEL_SUM) {
    return a + b;
  }
  return (how == WEIR_PARALLEL_MIN) == (b < a) ? b : a;
}

/* Merges the entries first to last - 1, which are parallel, and writes the result to `at`; how many entries
 * that are. A loop of an undirected projection is there twice, side by side, and stays so. */
static uint64_t merge_run(weir__rows *rows, uint64_t at, uint64_t first, uint64_t last, int twice,
                          weir_parallel how) {
  uint64_t step = twice ? 2 : 1;
  uint32_t far = rows->far[first];
  double weight = rows->weight ? rows->weight[first] : 0;
  for (uint64_t i = first + step; i < last && rows->weight; i += step) {
    weight = merge_two(weight, rows->weight[i], how);
  }
  for (uint64_t i = 0; i < step; i++) {
    rows->far[at + i] = far;
    if (rows->weight) {
      rows->weight[at + i] = weight;
    }
  }
  return step;
}

/* Takes out what is not wanted; the rows are ascending. */
static void merge_rows(weir__rows *rows, const weir__edge_list *list) {
  uint64_t at = 0, first = 0;
  for (uint32_t node = 0; node < list->nodes; node++) {
    uint64_t end = rows->start[node + 1];
    while (first < end) {
      uint32_t far = rows->far[first];
      int loop = far == node;
      uint64_t last = first + 1;
      while (last < end && rows->far[last] == far && (list->parallel || (loop && list->drop_loops))) {
        last++;
      }
      if (!loop || !list->drop_loops) {
        at += merge_run(rows, at, first, last, list->undirected && loop && list->parallel, list->parallel);
      }
      first = last;
    }
    rows->start[node + 1] = at;
  }
}

/* ---- Both directions ----------------------------------------------------------------------------------- */

static void sum_up(weir_projection *p, const weir__edge_list *list) {
  weir_projection_info *info = &p->info;
  const weir__rows *rows = &p->out;
  uint64_t entries = rows->start[list->nodes], loops = 0;
  for (uint32_t node = 0; node < list->nodes; node++) {
    for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
      loops += rows->far[i] == node;
    }
  }
  for (uint64_t i = 0; i < entries && rows->weight; i++) {
    info->least_weight =
        i == 0 || rows->weight[i] < info->least_weight ? rows->weight[i] : info->least_weight;
  }
  info->nodes = list->nodes;
  info->edges = list->undirected ? entries / 2 : entries;
  info->loops = list->undirected ? loops / 2 : loops;
  info->undirected = list->undirected;
  info->weighted = list->weight != NULL;
  size_t sides = list->undirected ? 1 : 2;
  info->bytes = sizeof *p + sides * (((size_t)list->nodes + 2) * sizeof *rows->start +
                                     entries * (sizeof *rows->far + (rows->weight ? sizeof(double) : 0)));
}

static int fill(weir_projection *p, const weir__edge_list *list, weir_error *err) {
  uint64_t entries = list->undirected ? 2 * list->count : list->count;
  int weighted = list->weight != NULL;
  int rc = make_rows(&p->in, list->nodes, entries, weighted, err);
  if (rc == WEIR_OK) {
    rc = make_rows(&p->out, list->nodes, entries, weighted, err);
  }
  if (rc) {
    return rc;
  }
  scatter_list(&p->in, list);
  transpose(&p->out, &p->in, list->nodes);
  if (list->parallel || list->drop_loops) {
    merge_rows(&p->out, list);
  }
  free_rows(&p->in);
  if (list->undirected) {
    p->in = p->out;
    return WEIR_OK;
  }
  rc = make_rows(&p->in, list->nodes, p->out.start[list->nodes], weighted, err);
  if (rc == WEIR_OK) {
    transpose(&p->in, &p->out, list->nodes);
  }
  return rc;
}

int weir__projection_make(weir_projection **out, const weir__edge_list *list, weir__team *team,
                          weir_error *err) {
  (void)team;
  weir_projection *p = calloc(1, sizeof *p);
  if (!p) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a projection");
  }
  int rc = fill(p, list, err);
  if (rc) {
    weir_projection_close(p);
    return rc;
  }
  sum_up(p, list);
  *out = p;
  return WEIR_OK;
}
