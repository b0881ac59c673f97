/* Lists of edges as igraph's graphs. igraph's errors end the program, which fails the test. */
#include "igraph_graphs.h"

void igraph_graph_make(const algo_graph *g, igraph_t *out, igraph_vector_t *weights) {
  igraph_vector_int_t ends;
  igraph_vector_int_init(&ends, (igraph_integer_t)(2 * g->count));
  for (uint64_t i = 0; i < g->count; i++) {
    VECTOR(ends)[2 * i] = (igraph_integer_t)g->src[i];
    VECTOR(ends)[2 * i + 1] = (igraph_integer_t)g->dst[i];
  }
  igraph_create(out, &ends, (igraph_integer_t)g->nodes, g->undirected ? IGRAPH_UNDIRECTED : IGRAPH_DIRECTED);
  igraph_vector_int_destroy(&ends);
  if (weights) {
    igraph_vector_init(weights, (igraph_integer_t)g->count);
    for (uint64_t i = 0; i < g->count; i++) {
      VECTOR(*weights)[i] = g->weighted ? g->weight[i] : 1;
    }
  }
}
