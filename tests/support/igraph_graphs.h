/* The graphs of algo_graphs.h as igraph's, for tests that compare with it. */
#ifndef WEIR_TEST_IGRAPH_GRAPHS_H
#define WEIR_TEST_IGRAPH_GRAPHS_H

#include <igraph.h>

#include "algo_graphs.h"

/* Its nodes and edges have the same numbers. `weights` (NULL: not wanted) is initialized. Destroy both. */
void igraph_graph_make(const algo_graph *g, igraph_t *out, igraph_vector_t *weights);

#endif
