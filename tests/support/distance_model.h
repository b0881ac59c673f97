/*
 * What tests of distances compare with: steps as a plain list, and runs that are watched.
 */
#ifndef WEIR_TEST_DISTANCE_MODEL_H
#define WEIR_TEST_DISTANCE_MODEL_H

#include "algo_graphs.h"

/* One step that a direction allows. */
typedef struct step {
  uint32_t from, to;
  double weight;
} step;

typedef struct steps {
  step *list;
  uint64_t count;
} steps;

/* All steps: an undirected edge is two, and so is each with WEIR_BOTH. */
steps steps_of(const algo_graph *g, weir_direction direction);

void steps_free(steps *s);

/* 1 if a step leads from the one to the other. */
int steps_have(const steps *s, uint32_t from, uint32_t to);

/* Steps from the source to each node; WEIR_UNREACHED. */
void model_depths(const steps *s, uint32_t nodes, uint32_t source, uint32_t *depth);

/* Looks at all steps until none offers less. */
void model_distances(const steps *s, uint32_t nodes, uint32_t source, double *distance);

/* A path of n nodes, 0 to n - 1, each leading to the next. */
algo_graph path_graph(uint32_t nodes, int undirected, int weighted);

/* Fills `out` with `threads` threads. Returns what the function of weir did. */
typedef int (*run_fn)(const weir_projection *p, const weir_run *run, void *out, weir_error *err);

/* 1, 2, 3 and 8 threads leave the same `size` bytes in `out`. */
void check_threads(const weir_projection *p, run_fn fn, void *out, size_t size);

/* on_progress ends the run at its beginning, in its middle, and at its end. The projection has to be large
 * enough for a middle. */
void check_cancel(const weir_projection *p, run_fn fn, void *out);

#endif
