/*
 * Small random graphs, with loops, parallel edges and several labels, and walks over them done naively, for
 * tests that compare. Node i has the key "n<i>" and the color i; the numbers of the store are in this order.
 */
#ifndef WEIR_TEST_WALK_MODEL_H
#define WEIR_TEST_WALK_MODEL_H

#include <weir/traverse.h>

#include "graph_fixture.h"

enum { MODEL_NODES = 14, MODEL_LABELS = 3, MODEL_EDGES = 64, MODEL_COLORS = 4, MODEL_VISITS = 20000 };

struct model_edge {
  int src;
  int label;
  int dst;
  int rank;
  int mark; /* a member of props, 0 to 2; the weight is that and a half */
};

struct model {
  int node_count;
  int color[MODEL_NODES]; /* a member of props */
  int edge_count;
  struct model_edge edges[MODEL_EDGES]; /* in the order of src, label, dst, rank */
};

void model_make(struct model *model, weir_test_rng *rng, int nodes, int edges);
void model_put(const struct model *model, weir_txn *txn);
char *model_key(int node);
int model_node(weir_text key); /* -1: no such key */

/* What a walk may step along, here and as the library has it. */
struct model_reach {
  int direction;   /* a weir_direction */
  unsigned labels; /* bits; 0: any */
  int mark;        /* only edges with this mark or more */
  int color;       /* only nodes of another color; -1: all */
  weir_text names[MODEL_LABELS];
  weir_cond edges;
  weir_cond nodes;
  weir_reach reach;
};

void model_reach_make(struct model_reach *reach, weir_test_rng *rng);

struct model_hop {
  int edge; /* index */
  int against;
};

/* The steps from a node in the order of a walk; returns how many. far[i] is where steps[i] leads. The
 * condition on nodes is not looked at. */
int model_steps(const struct model *model, const struct model_reach *reach, int node,
                struct model_hop steps[2 * MODEL_EDGES], int far[2 * MODEL_EDGES]);

int model_lets_in(const struct model *model, const struct model_reach *reach, int node);

struct model_visit {
  int node;
  unsigned depth;
  struct model_hop path[MODEL_NODES + 2];
};

struct model_walk {
  const struct model *model;
  const struct model_reach *reach;
  const weir_walk_options *options;
  const int *starts; /* each once */
  int start_count;
  int count;
  struct model_visit visits[MODEL_VISITS];
};

/* Fills visits with what a walk visits, in its order. 0: there are too many. */
int model_walk(struct model_walk *walk);

/* distance[i] becomes the steps from the starts to node i, -1 if it cannot be reached. */
void model_distances(const struct model *model, const struct model_reach *reach, const int *starts,
                     int start_count, int distance[MODEL_NODES]);

/* Visits that are compared, one by one. (walk_check.c) */
struct model_check {
  const struct model_walk *walk;
  int at;      /* the next visit that is expected */
  int stop_at; /* that returns WEIR_STOP; or -1 */
  int fail_at; /* that returns WEIR_CONFLICT, and is expected once more */
};

/* A weir_step_fn; data is a struct model_check. What is wrong is an error, WEIR_CORRUPT. */
int model_check_step(const weir_step *step, void *data, weir_error *error);

#endif
