/*
 * A store with a uniform random graph: nodes n0, n1, ... with the label "node" and one number "value" in
 * their props, edges with the label "link" and a weight, from anywhere to anywhere. The same seed gives the
 * same graph.
 */
#ifndef BENCH_UNIFORM_H
#define BENCH_UNIFORM_H

#include <limits.h>

#include <weir/graph.h>

#include "bench.h"

typedef struct uniform {
  char path[PATH_MAX]; /* in the working directory */
  unsigned nodes, edges;
  double seconds;       /* that it took to make */
  int bare;             /* given: 1: edges are inserted by bare statements, several times as fast */
  unsigned value_below; /* values are 0..value_below-1: as many as nodes, so that one finds a node, mostly */
} uniform;

/* Makes the store, with settings->nodes and settings->edges, and closes it. */
void uniform_make(uniform *u, const bench_settings *settings);

/* Writes the key of node number `i` into `out`, which has room for UNIFORM_KEY_SIZE bytes. */
enum { UNIFORM_KEY_SIZE = 16 };
weir_text uniform_key(char *out, unsigned i);

#endif
