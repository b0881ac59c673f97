/*
 * Fast local moving. A node is looked at again when a neighbor has moved to another community than its own.
 *
 * Invariant: total and members are those of community. A move is made only if it brings more than rounding
 * could feign; so modularity grows with each, and there is an end.
 */
#include <string.h>

#include "leiden.h"

#define MARGIN 1e-12 /* of the strength of a node: gains that differ by less are alike */

/* Sums up communities; how many numbers are spare. */
static uint32_t take_stock(weir__leiden *l, const weir__level *level) {
  uint32_t spare = 0;
  memset(l->total, 0, level->nodes * sizeof *l->total);
  memset(l->members, 0, level->nodes * sizeof *l->members);
  for (uint32_t i = 0; i < level->nodes; i++) {
    l->total[l->community[i]] += level->strength[i];
    l->members[l->community[i]]++;
  }
  for (uint32_t i = level->nodes; i-- > 0;) {
    l->spare[spare] = i;
    spare += l->members[i] == 0;
  }
  return spare;
}

/* The community in which the node, which is in none now, brings most: its old one, if no other is better. */
static uint32_t choose(weir__leiden *l, double strength, uint32_t own, uint32_t touched, uint32_t spare) {
  double loss = l->density * strength, margin = MARGIN * strength;
  double most = l->to[own] - loss * l->total[own];
  uint32_t best = own;
  for (uint32_t i = 0; i < touched; i++) {
    uint32_t there = l->touched[i];
    double gain = l->to[there] - loss * l->total[there];
    if (gain > most + margin) {
      most = gain;
      best = there;
    }
  }
  return most < -margin && spare > 0 ? l->spare[spare - 1] : best;
}

int weir__leiden_move(weir__leiden *l, const weir__level *level, weir_error *err) {
  uint32_t nodes = level->nodes, spare = take_stock(l, level), first = 0, waiting = nodes;
  for (uint32_t i = 0; i < nodes; i++) {
    l->queue[i] = i;
    l->queued[i] = 1;
  }
  weir__random_shuffle(&l->random, l->queue, nodes, nodes);
  int rc = WEIR_OK;
  while (waiting > 0 && rc == WEIR_OK) {
    uint32_t node = l->queue[first], own = l->community[node];
    double strength = level->strength[node];
    first = first + 1 < nodes ? first + 1 : 0;
    waiting--;
    l->queued[node] = 0;
    uint32_t touched = weir__leiden_sum(l, level, node, l->community, 0);
    l->total[own] -= strength;
    l->members[own]--;
    uint32_t best = choose(l, strength, own, touched, spare);
    for (uint32_t i = 0; i < touched; i++) {
      l->to[l->touched[i]] = 0;
    }
    spare -= l->members[best] == 0 && best != own;
    if (l->members[own] == 0 && best != own) {
      l->spare[spare++] = own;
      l->total[own] = 0; /* not what rounding has left */
    }
    l->total[best] += strength;
    l->members[best]++;
    l->community[node] = best;
    for (uint64_t i = level->start[node]; i < level->start[node + 1] && best != own; i++) {
      uint32_t far = level->far[i];
      if (!l->queued[far] && l->community[far] != best) {
        uint64_t end = (uint64_t)first + waiting++;
        l->queue[end < nodes ? end : end - nodes] = far;
        l->queued[far] = 1;
      }
    }
    rc = weir__leiden_spend(l, level->start[node + 1] - level->start[node], err);
  }
  return rc;
}
