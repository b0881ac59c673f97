/*
 * Refinement: within each community every node begins as a part of its own, and may then, while it is alone,
 * join another part: at random, the likelier the more that brings, and never if it brings a loss. Only nodes
 * and parts that are well connected with the rest of their community take part; so parts hang together.
 *
 * Invariant: part_total and cut are those of part; a part has the number of a node that is in it.
 */
#include <math.h>
#include <string.h>

#include "leiden.h"

#define GRAIN 1024 /* nodes a piece */

struct begin {
  weir__leiden *l;
  const weir__level *level;
};

/* Each node is a part. */
static int begin_parts(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct begin *b = data;
  weir__leiden *l = b->l;
  (void)worker;
  for (uint32_t node = (uint32_t)first; node < last; node++) {
    double cut = 0;
    for (uint64_t i = b->level->start[node]; i < b->level->start[node + 1]; i++) {
      cut += l->community[b->level->far[i]] == l->community[node] ? b->level->weight[i] : 0;
    }
    l->cut[node] = cut;
    l->part[node] = node;
    l->part_total[node] = b->level->strength[node];
    l->members[node] = 1;
  }
  return WEIR_OK;
}

static int is_connected(const weir__leiden *l, uint32_t part, double whole) {
  return l->cut[part] >= l->density * l->part_total[part] * (whole - l->part_total[part]);
}

/* Adds up the edges of a node to the parts of its community. */
static uint32_t sum_parts(weir__leiden *l, const weir__level *level, uint32_t node) {
  uint32_t touched = 0, community = l->community[node];
  for (uint64_t i = level->start[node]; i < level->start[node + 1]; i++) {
    uint32_t far = level->far[i];
    if (l->community[far] == community) {
      uint32_t there = l->part[far];
      l->touched[touched] = there;
      touched += l->to[there] == 0;
      l->to[there] += level->weight[i];
    }
  }
  return touched;
}

/* How likely a choice is that brings `less` than the best one, for which it is 1. */
static double chance_of(const weir__leiden *l, double less) {
  double exponent = -less / l->heat;
  return exponent < -50 ? 0 : exp(exponent);
}

/* One of the parts in touched, or the node's own one, which is not among them and brings 0. */
static uint32_t choose(weir__leiden *l, double strength, uint32_t own, double whole, uint32_t touched) {
  double *gain = l->gain, most = 0;
  for (uint32_t i = 0; i < touched; i++) {
    uint32_t there = l->touched[i];
    gain[i] = l->to[there] - l->density * strength * l->part_total[there];
    gain[i] = is_connected(l, there, whole) ? gain[i] : -1;
    most = gain[i] > most ? gain[i] : most;
  }
  double sum = chance_of(l, most);
  for (uint32_t i = 0; i < touched; i++) {
    gain[i] = gain[i] < 0 ? 0 : chance_of(l, most - gain[i]);
    sum += gain[i];
  }
  double at = sum * weir__random_real(&l->random);
  for (uint32_t i = 0; i < touched; i++) {
    at -= gain[i];
    if (at < 0) {
      return l->touched[i];
    }
  }
  return own;
}

/* Lets a node that is a part of its own join another. */
static void join_part(weir__leiden *l, const weir__level *level, uint32_t node) {
  double whole = l->total[l->community[node]];
  if (!is_connected(l, node, whole)) {
    return;
  }
  uint32_t touched = sum_parts(l, level, node);
  uint32_t best = choose(l, level->strength[node], node, whole, touched);
  if (best != node) {
    l->part[node] = best;
    l->members[node] = 0;
    l->members[best]++;
    l->part_total[best] += level->strength[node];
    l->cut[best] += l->cut[node] - 2 * l->to[best];
  }
  for (uint32_t i = 0; i < touched; i++) {
    l->to[l->touched[i]] = 0;
  }
}

int weir__leiden_refine(weir__leiden *l, const weir__level *level, weir_error *err) {
  struct begin begin = {l, level};
  int rc = weir__team_each(l->team, level->nodes, GRAIN, begin_parts, &begin, err);
  for (uint32_t i = 0; i < level->nodes; i++) {
    l->queue[i] = i;
  }
  weir__random_shuffle(&l->random, l->queue, level->nodes, level->nodes);
  for (uint32_t i = 0; i < level->nodes && rc == WEIR_OK; i++) {
    uint32_t node = l->queue[i];
    if (l->members[node] == 1 && l->part[node] == node) {
      join_part(l, level, node);
      rc = weir__leiden_spend(l, level->start[node + 1] - level->start[node], err);
    }
  }
  return rc;
}
