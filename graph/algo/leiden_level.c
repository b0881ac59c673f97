/* The graphs on which Leiden works: of a projection, directions ignored, and of parts of one before. */
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "leiden.h"
#include "measures.h"

#define GRAIN 1024 /* nodes a piece */

void weir__level_clear(weir__level *level) {
  free(level->start);
  free(level->far);
  free(level->weight);
  free(level->strength);
  *level = (weir__level){.nodes = 0};
}

static int fail(weir_error *err, uint32_t nodes) {
  return weir_fail(err, WEIR_NOMEM, "out of memory for a graph of %lu nodes", (unsigned long)nodes);
}

static int make_nodes(weir__level *level, uint32_t nodes, weir_error *err) {
  level->nodes = nodes;
  level->start = calloc((size_t)nodes + 1, sizeof *level->start);
  level->strength = calloc((size_t)nodes + 1, sizeof *level->strength);
  return level->start && level->strength ? WEIR_OK : fail(err, nodes);
}

static int make_edges(weir__level *level, uint64_t entries, weir_error *err) {
  level->far = malloc((entries + 1) * sizeof *level->far);
  level->weight = malloc((entries + 1) * sizeof *level->weight);
  return level->far && level->weight ? WEIR_OK : fail(err, level->nodes);
}

/* ---- Of a projection ----------------------------------------------------------------------------------- */

struct merge {
  const weir_projection *p;
  weir__level *level;
};

/* Merges the rows of a node in both directions, which ascend, into one, or only counts. How long it is. */
static uint64_t merge_row(const struct merge *m, uint32_t node, uint32_t *far, double *weight) {
  const weir__rows *rows[2] = {&m->p->out, &m->p->in};
  uint64_t at[2], end[2], length = 0;
  uint32_t latest = WEIR_NO_NODE;
  for (int side = 0; side < 2; side++) {
    at[side] = rows[side]->start[node];
    end[side] = side == 1 && m->p->info.undirected ? at[side] : rows[side]->start[node + 1];
  }
  while (at[0] < end[0] || at[1] < end[1]) {
    int side = at[0] == end[0] || (at[1] < end[1] && rows[1]->far[at[1]] < rows[0]->far[at[0]]);
    uint64_t i = at[side]++;
    uint32_t next = rows[side]->far[i];
    double plus = rows[side]->weight ? rows[side]->weight[i] : 1;
    if (next == node || plus == 0) {
      continue;
    }
    int again = next == latest;
    latest = next;
    length += !again;
    if (far && weight) {
      far[length - 1] = next;
      weight[length - 1] = again ? weight[length - 1] + plus : plus;
    }
  }
  return length;
}

static int count_rows(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct merge *m = data;
  (void)worker;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    m->level->start[node + 1] = merge_row(m, node, NULL, NULL);
  }
  return WEIR_OK;
}

static int fill_rows(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct merge *m = data;
  (void)worker;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    uint64_t at = m->level->start[node];
    (void)merge_row(m, node, m->level->far + at, m->level->weight + at);
  }
  return WEIR_OK;
}

int weir__level_make(weir__level *out, const weir_projection *p, weir__team *team, weir_error *err) {
  uint32_t nodes = p->info.nodes;
  struct merge m = {p, out};
  int rc = make_nodes(out, nodes, err);
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, nodes, GRAIN, count_rows, &m, err);
  }
  for (uint32_t i = 0; i < nodes && rc == WEIR_OK; i++) {
    out->start[i + 1] += out->start[i];
  }
  if (rc == WEIR_OK) {
    rc = make_edges(out, out->start[nodes], err);
  }
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, nodes, GRAIN, fill_rows, &m, err);
  }
  return rc == WEIR_OK ? weir__degrees(team, p, WEIR_BOTH, NULL, out->strength, err) : rc;
}

/* ---- Of parts ------------------------------------------------------------------------------------------ */

/* The nodes by part, into l->queue; where part i begins, into l->members[i]. */
static void sort_by_part(weir__leiden *l, const weir__level *level, uint32_t parts) {
  memset(l->members, 0, ((size_t)parts + 1) * sizeof *l->members);
  for (uint32_t i = 0; i < level->nodes; i++) {
    l->members[l->part[i] + 1]++;
  }
  for (uint32_t i = 0; i < parts; i++) {
    l->members[i + 1] += l->members[i];
  }
  memcpy(l->spare, l->members, parts * sizeof *l->spare);
  for (uint32_t i = 0; i < level->nodes; i++) {
    l->queue[l->spare[l->part[i]]++] = i;
  }
}

/* Gives room back that the rows did not need; that it stays where it is, is no failure. */
static void trim(weir__level *level) {
  uint64_t entries = level->start[level->nodes] + 1;
  void *far = realloc(level->far, entries * sizeof *level->far);
  if (far) {
    level->far = far;
  }
  void *weight = realloc(level->weight, entries * sizeof *level->weight);
  if (weight) {
    level->weight = weight;
  }
}

int weir__level_gather(weir__level *out, const weir__level *level, weir__leiden *l, uint32_t parts,
                       weir_error *err) {
  int rc = make_nodes(out, parts, err);
  if (rc == WEIR_OK) {
    rc = make_edges(out, level->start[level->nodes], err);
  }
  if (rc) {
    return rc;
  }
  sort_by_part(l, level, parts);
  uint64_t at = 0;
  for (uint32_t part = 0; part < parts && rc == WEIR_OK; part++) {
    uint32_t count = 0;
    for (uint32_t i = l->members[part]; i < l->members[part + 1] && rc == WEIR_OK; i++) {
      uint32_t node = l->queue[i];
      count = weir__leiden_sum(l, level, node, l->part, count);
      out->strength[part] += level->strength[node];
      rc = weir__leiden_spend(l, level->start[node + 1] - level->start[node], err);
    }
    for (uint32_t i = 0; i < count; i++) {
      uint32_t far = l->touched[i];
      if (far != part) {
        out->far[at] = far;
        out->weight[at++] = l->to[far];
      }
      l->to[far] = 0;
    }
    out->start[part + 1] = at;
  }
  if (rc == WEIR_OK) {
    trim(out);
  }
  return rc;
}
