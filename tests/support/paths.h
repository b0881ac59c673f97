/*
 * A small random graph in memory with all that paths depend on, and all its paths by trying each: the model
 * that searches for paths are compared with.
 *
 * Nodes are "n0", "n1", ...; labels "e" and "f". A path is written as one line, "n0 -e:0(1.5)> n3 <f:2(1)-
 * n1", so that paths from the model and from the store can be compared as text. Functions that say so assert:
 * they are for the test's main thread.
 */
#ifndef WEIR_TEST_PATHS_H
#define WEIR_TEST_PATHS_H

#include <weir/traverse.h>

#include "support.h"

enum { PATHS_NODES = 12, PATHS_EDGES = 40, PATHS_TEXT = 400, PATHS_MOST = 40000 };

typedef struct paths_edge {
  int src, dst;
  int label; /* 0: e, 1: f */
  int rank;
  double weight;
  double toll; /* a property */
  int open;    /* another: for the condition on edges */
} paths_edge;

typedef struct paths_graph {
  int nodes;
  int ok[PATHS_NODES]; /* a property: for the condition on nodes */
  int count;
  paths_edge edges[PATHS_EDGES];
} paths_graph;

/* What is asked. */
typedef struct paths_ask {
  int from, to;
  weir_direction direction;
  int label;     /* 0, 1; 2: both; 3: one that no edge has */
  int open_only; /* a condition on edges */
  int ok_only;   /* a condition on nodes */
  weir_cost cost;
  uint32_t max_depth;
} paths_ask;

typedef struct paths_path {
  double cost;
  int hops;
  int tight; /* 1: each of its beginnings costs the least that its end can be had for */
  char text[PATHS_TEXT];
} paths_path;

/* Paths; those of the model are sorted by cost. */
typedef struct paths_list {
  size_t count;
  paths_path *items; /* PATHS_MOST of them */
} paths_list;

/* A graph of up to `nodes` nodes and `edges` edges, with loops and parallel edges. unit: costs are multiples
 * of it, zero among them. */
void paths_make(paths_graph *graph, weir_test_rng *rng, int nodes, int edges, double unit);

/* Puts it into an empty store. Asserts. */
void paths_put(const paths_graph *graph, weir_txn *txn);

/* A random question. */
paths_ask paths_question(const paths_graph *graph, weir_test_rng *rng);

/* The same for weir; valid until the next call. */
const weir_path_options *paths_options(const paths_ask *ask);
weir_text paths_key(int node);

/* All paths that meet no node twice. */
void paths_all(const paths_graph *graph, const paths_ask *ask, paths_list *out);

/* Adds a path that weir found. Asserts that its hops join. */
void paths_note(paths_list *list, const weir_path *path, const paths_ask *ask);

/* A visitor for that. */
typedef struct paths_seen {
  paths_list list;
  const paths_ask *ask;
  size_t stop_after; /* 0: never */
} paths_seen;
int paths_see(const weir_path *path, void *data, weir_error *error);

/* 1 if the path is in the list. */
int paths_has(const paths_list *list, const char *text);

void paths_list_init(paths_list *list);
void paths_list_free(paths_list *list);

/* Describes a question, for the messages of tests. */
const char *paths_tell(const paths_ask *ask);

#endif
