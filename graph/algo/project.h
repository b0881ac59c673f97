/*
 * What a projection is made with.
 *
 *   project.c        what is asked; nodes; all of it
 *   project_edges.c  edges, which become rows as they come
 */
#ifndef WEIR_GRAPH_ALGO_PROJECT_H
#define WEIR_GRAPH_ALGO_PROJECT_H

#include "../store/storage_project.h"
#include "numbers.h"
#include "projection.h"
#include "relay.h"

typedef struct weir__projecting {
  weir_projection_options options;
  const weir_run *run;
  weir_projection *made;

  weir__team *team;
  int64_t passed; /* where the scan at hand is */

  weir__numbers numbers;
  weir__keys keys;
  int rc; /* what went wrong when a node was taken, and its detail */
  weir_error error;

  int against;       /* 1: the near end of edges, as they are read, is their destination, not their source */
  weir__rows rows;   /* of the near ends */
  int ascending;     /* 1: each ascends */
  uint64_t count;    /* of edges in them */
  uint64_t left_out; /* edges with an end that is not projected */
} weir__projecting;

/* The labels as numbers, in `ids`. *none: labels were given, but the store has none of them. (project.c) */
int weir__choose(weir_txn *txn, const weir_text *names, size_t count, const weir_cond *where,
                 int64_t ids[WEIR_LABELS_MAX], weir__chosen *chosen, int *none, weir_error *err);

/* A scan has come to the node `at`: tells progress. (project.c) */
int weir__project_passed(weir__projecting *of, int64_t at, weir_error *err);

/* Reads the edges into rows; numbers are known. (project_edges.c) */
int weir__project_edges(weir__projecting *of, weir_txn *txn, weir_error *err);

#endif
