/*
 * The Leiden algorithm: V. Traag, L. Waltman, N. van Eck, From Louvain to Leiden: guaranteeing well-connected
 * communities, 2019.
 *
 * Nodes move between communities (leiden_move.c); each community is divided into parts that hang together
 * well (leiden_refine.c); the parts become the nodes of a smaller graph (leiden_level.c), on which the same
 * is done. leiden.c puts these together. Communities and parts have numbers below the number of nodes.
 */
#ifndef WEIR_GRAPH_ALGO_LEIDEN_H
#define WEIR_GRAPH_ALGO_LEIDEN_H

#include "projection.h"
#include "random.h"

/* A graph in which each edge stands in the rows of both its ends, once. No loops; no weight is 0. */
typedef struct weir__level {
  uint32_t nodes;
  uint64_t *start; /* of rows; one more than nodes */
  uint32_t *far;
  double *weight;
  double *strength; /* by node: of all edges of what it stands for, those within it counted twice */
} weir__level;

/* One computation. The arrays have room for the nodes of the projection. */
typedef struct weir__leiden {
  weir__team *team;
  weir__random random;
  double density; /* resolution / (twice the weight of all edges): what a community loses for each product of
                     the strengths of two nodes in it */
  double heat;    /* theta, as a weight */
  uint64_t spent; /* edges looked at since progress was told */

  uint32_t *community; /* by node of the level */
  uint32_t *part;      /* by node of the level */

  uint32_t *queue;    /* of nodes */
  uint8_t *queued;    /* by node: stands there */
  double *total;      /* by community: strength of its nodes */
  uint32_t *members;  /* by community or part: how many nodes it has */
  uint32_t *spare;    /* numbers of communities without nodes */
  double *part_total; /* by part: strength of its nodes */
  double *cut;        /* by part: weight of its edges to the rest of its community */
  double *to;         /* by community or part: weight of the edges that lead there from the node at hand; 0
                         at rest */
  uint32_t *touched;  /* where `to` is not 0 */
  double *gain;       /* by place in touched */
} weir__leiden;

/* Tells progress once in a while. Errors: WEIR_CANCELED. */
static inline int weir__leiden_spend(weir__leiden *l, uint64_t edges, weir_error *err) {
  l->spent += edges + 1;
  if (l->spent < 65536) {
    return WEIR_OK;
  }
  uint64_t spent = l->spent;
  l->spent = 0;
  return weir__team_tick(l->team, spent, err);
}

/* Adds up the edges of a node by where `group` of their ends says they lead; `touched` becomes a list of
 * these. How many. All of `to` that it lists is to be made 0 again. */
static inline uint32_t weir__leiden_sum(weir__leiden *l, const weir__level *level, uint32_t node,
                                        const uint32_t *group, uint32_t count) {
  for (uint64_t i = level->start[node]; i < level->start[node + 1]; i++) {
    uint32_t there = group[level->far[i]];
    l->touched[count] = there;
    count += l->to[there] == 0;
    l->to[there] += level->weight[i];
  }
  return count;
}

/* The graph of a projection, or, zeroed, of the nodes that parts become. Clear both, after errors, too. */
int weir__level_make(weir__level *out, const weir_projection *p, weir__team *team, weir_error *err);
int weir__level_gather(weir__level *out, const weir__level *level, weir__leiden *l, uint32_t parts,
                       weir_error *err);
void weir__level_clear(weir__level *level);

/* Moves nodes to the community of a neighbor, or to one of their own, while that makes modularity greater. */
int weir__leiden_move(weir__leiden *l, const weir__level *level, weir_error *err);

/* Divides communities into parts. */
int weir__leiden_refine(weir__leiden *l, const weir__level *level, weir_error *err);

#endif
