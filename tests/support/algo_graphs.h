/*
 * Graphs for tests of algorithms: random ones and files, as lists of edges, as projections, and as igraph's.
 * Aborts if memory runs out.
 */
#ifndef WEIR_TEST_ALGO_GRAPHS_H
#define WEIR_TEST_ALGO_GRAPHS_H

#include <stdint.h>

#include <algo/projection.h>

#include "support.h"

/* Edges of a graph; the arrays are its own. */
typedef struct algo_graph {
  uint32_t nodes;
  uint64_t count, room;
  uint32_t *src, *dst;
  double *weight; /* whole numbers from 1; used if `weighted` */
  int undirected, weighted;
} algo_graph;

/* Zeroed but for these. */
algo_graph algo_graph_empty(uint32_t nodes, int undirected, int weighted);

void algo_graph_add(algo_graph *g, uint32_t src, uint32_t dst, double weight);

/*
 * A random graph of up to `nodes` nodes and up to 4 edges a node: with loops, parallel edges, isolated nodes,
 * hubs; sometimes with no edge, or no node at all. Directed or not, weighted or not.
 */
algo_graph algo_graph_random(weir_test_rng *rng, uint32_t nodes);

/* The same with its kind given. */
algo_graph algo_graph_random_of(weir_test_rng *rng, uint32_t nodes, int undirected, int weighted);

/* ego-Facebook, undirected; 0 if the file is not there, which is an error in CI. */
int algo_graph_facebook(algo_graph *g);

void algo_graph_free(algo_graph *g);

/* Its projection, parallel edges and loops kept. Fails the test if it cannot be made. */
weir_projection *algo_graph_project(const algo_graph *g);

/* The same with loops and parallel edges as told. */
weir_projection *algo_graph_project_as(const algo_graph *g, weir_parallel parallel, int drop_loops);

/* 1 if two numbers differ by rounding alone: relatively, or absolutely below `least`. */
int algo_close(double a, double b, double relative, double least);

#endif
