/*
 * Topological order by levels, or a cycle.
 *
 * Nodes to which no edge leads any more are taken away, one level after another, in a queue. A node comes
 * free with the last of those before it, and the queue is in the order of levels: so its level is one more
 * than that of the node that frees it. What is never free has an edge from something else that is never free:
 * going back along such edges ends in a cycle.
 */
#include <stdlib.h>
#include <string.h>

#include <weir/algo.h>

#include "../internal.h"
#include "projection.h"

struct ordering {
  const weir_projection *p;
  uint64_t *waiting; /* by node: edges that lead to it from nodes that are not taken away */
  uint32_t *level;   /* by node */
  uint32_t *nodes;   /* the queue; at the end the order, or the cycle */
  uint32_t count;    /* in it */
};

static void free_node(struct ordering *job, uint32_t node, uint32_t level) {
  job->level[node] = level;
  job->nodes[job->count++] = node;
}

/* Fills the queue. */
static int take_away(struct ordering *job, weir__team *team, weir_error *err) {
  const weir__rows *out = &job->p->out, *in = &job->p->in;
  uint64_t units = 0;
  for (uint32_t node = 0; node < job->p->info.nodes; node++) {
    job->waiting[node] = weir__row_length(in, node);
    if (job->waiting[node] == 0) {
      free_node(job, node, 0);
    }
  }
  for (uint32_t head = 0; head < job->count; head++) {
    uint32_t node = job->nodes[head], next = job->level[node] + 1;
    for (uint64_t i = out->start[node]; i < out->start[node + 1]; i++) {
      if (--job->waiting[out->far[i]] == 0) {
        free_node(job, out->far[i], next);
      }
    }
    int rc = weir__team_pace(team, &units, weir__row_length(out, node) + 1, err);
    if (rc) {
      return rc;
    }
  }
  return weir__team_tick(team, units, err);
}

/* Sorts the nodes by level, those of one level by number. The counters of `waiting` have done their work:
 * there are as many levels as nodes at most. */
static void sort_by_level(struct ordering *job) {
  uint32_t nodes = job->p->info.nodes;
  uint64_t *at = job->waiting; /* by level: where its next node goes */
  memset(at, 0, nodes * sizeof *at);
  for (uint32_t node = 0; node < nodes; node++) {
    at[job->level[node]]++;
  }
  uint64_t sum = 0;
  for (uint32_t level = 0; level < nodes; level++) {
    uint64_t count = at[level];
    at[level] = sum;
    sum += count;
  }
  for (uint32_t node = 0; node < nodes; node++) {
    job->nodes[at[job->level[node]]++] = node;
  }
}

/* A node before this one that is never free either. */
static uint32_t back_from(const struct ordering *job, uint32_t node) {
  const weir__rows *in = &job->p->in;
  uint64_t i = in->start[node];
  while (job->waiting[in->far[i]] == 0) {
    i++;
  }
  return in->far[i];
}

/* Goes back from the first node that is never free until one is met again, and writes the cycle in the
 * direction of its edges, from its least node on; job->level tells where on the way a node was met. */
static void find_cycle(struct ordering *job) {
  uint32_t node = 0, steps = 0;
  memset(job->level, 0xff, job->p->info.nodes * sizeof *job->level); /* WEIR_NO_NODE: not met */
  while (job->waiting[node] == 0) {
    node++;
  }
  for (; job->level[node] == WEIR_NO_NODE; node = back_from(job, node)) {
    job->level[node] = steps;
    job->nodes[steps++] = node;
  }
  uint32_t first = job->level[node], least = first;
  for (uint32_t i = first; i < steps; i++) {
    least = job->nodes[i] < job->nodes[least] ? i : least;
  }
  job->count = steps - first;
  uint32_t *cycle = job->level; /* its use is over; backwards along the way is forwards along the edges */
  for (uint32_t i = 0; i < job->count; i++) {
    cycle[i] = job->nodes[least];
    least = least == first ? steps - 1 : least - 1;
  }
  memcpy(job->nodes, cycle, job->count * sizeof *cycle);
}

static int order(struct ordering *job, int *cyclic, weir__team *team, weir_error *err) {
  int rc = take_away(job, team, err);
  if (rc) {
    return rc;
  }
  *cyclic = job->count < job->p->info.nodes;
  if (*cyclic) {
    find_cycle(job);
  } else {
    sort_by_level(job);
  }
  return WEIR_OK;
}

static int check_order(const weir_projection *p, const uint32_t *nodes, const uint32_t *count,
                       const int *cyclic, weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK && p->info.undirected) {
    rc = weir_fail(err, WEIR_INVALID, "the projection is undirected: an order needs directed edges");
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(nodes, "nodes", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(count, "count", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(cyclic, "cyclic", err);
  }
  return rc;
}

int weir_topological_order(const weir_projection *projection, const weir_run *run, uint32_t *nodes,
                           uint32_t *count, int *cyclic, uint32_t *level, weir_error *err) {
  int rc = check_order(projection, nodes, count, cyclic, err);
  if (rc) {
    return rc;
  }
  size_t room = (size_t)projection->info.nodes + 1;
  weir__team *team = NULL;
  struct ordering job = {.p = projection,
                         .waiting = malloc(room * sizeof *job.waiting),
                         .level = level ? level : malloc(room * sizeof *level),
                         .nodes = nodes};
  if (!job.waiting || !job.level) {
    rc = weir_fail(err, WEIR_NOMEM, "out of memory for the order of %lu nodes",
                   (unsigned long)projection->info.nodes);
    goto done;
  }
  rc = weir__team_open_alone(&team, run, projection->info.edges + projection->info.nodes, err);
  if (rc == WEIR_OK) {
    rc = order(&job, cyclic, team, err);
  }
  if (rc == WEIR_OK) {
    *count = job.count;
  }
done:
  free(job.waiting);
  if (job.level != level) {
    free(job.level);
  }
  return weir__team_close(team, rc, err);
}
