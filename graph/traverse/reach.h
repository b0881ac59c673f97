/* What a walk and a path have in common: weir_reach made ready to step with, and the time that they have. */
#ifndef WEIR_GRAPH_REACH_H
#define WEIR_GRAPH_REACH_H

#include <weir/traverse.h>

#include "../store/storage_walk.h"

/* WEIR_OK if the reach makes sense. */
int weir__reach_check(const weir_reach *reach, weir_error *err);

/* Steps in one transaction. Zero it to begin; weir__steps_close ends it. */
typedef struct weir__steps {
  weir__hops *out;    /* along edges; NULL: none */
  weir__hops *in;     /* against them; NULL: none */
  weir__lookup *node; /* asks reach->nodes; NULL: all pass */
} weir__steps;

/*
 * Makes steps ready. `flip` 1: seen from the other end, WEIR_OUT becomes WEIR_IN and the reverse. If none of
 * the labels is in the store, out and in are both NULL. `reach` has to stay as long. details and cost: as
 * weir__hops_spec. On error there is nothing to close.
 */
int weir__steps_open(weir__steps *steps, weir_txn *txn, const weir_reach *reach, int flip, int details,
                     const weir_text *cost, weir_error *err);
void weir__steps_close(weir__steps *steps);

/* The point in time so many milliseconds from now; 0 for 0: never. */
uint64_t weir__deadline(unsigned time_ms);

/* 1 if it has come. */
int weir__deadline_passed(uint64_t deadline);

#endif
