/* How a find is answered: which of its conditions lead to the rows, and which are asked of each row. */
#ifndef WEIR_GRAPH_PLAN_H
#define WEIR_GRAPH_PLAN_H

#include "../store/storage_query.h"

/* A find as it is answered. `spec` points into it and into the caller's conditions. */
typedef struct weir__plan {
  weir__plan_spec spec;
  int none;                               /* 1: there cannot be any rows; the rest is not set */
  int sorted;                             /* rows have to be sorted */
  const weir_cond *parts[WEIR_COND_MAX];  /* what the condition joins by AND; then what is left to check */
  const weir_cond *ranges[WEIR_COND_MAX]; /* what leads to the rows */
} weir__plan;

/* Makes the plan of a find that was checked; everything is read in `txn`. may_guess: see spec.guessed.
 * `wants` and `after` are not set. */
int weir__plan_make(weir__plan *plan, weir_txn *txn, weir_target target, const weir_find *find, int may_guess,
                    weir_error *err);

/* Tells about it. */
int weir__plan_tell(const weir__plan *plan, weir_txn *txn, const weir_find *find, weir_plan *out,
                    weir_error *err);

#endif
