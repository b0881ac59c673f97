/* What takes many writes: each a batch of its own, or all within the write at hand. How indexes are made so.
 */
#ifndef WEIR_GRAPH_BUILD_H
#define WEIR_GRAPH_BUILD_H

#include <weir/query.h>

/* Rows of one write, if weir_build_options does not say how many. */
#define WEIR__BATCH 2000

/* Runs `fn`, which writes about so many rows of so many bytes: within `txn` if that is a write, else as a
 * write of its own, which lets others go first. */
int weir__batch_run(weir_txn *txn, weir_txn_fn fn, void *data, const char *label, size_t rows,
                    size_t row_bytes, weir_error *err);

/* What is made. Any of its functions may be run again before its write is committed; `index` is theirs. */
typedef struct weir__build_steps {
  const char *label; /* of its writes; for messages: "making " and what it is */
  size_t row_bytes;  /* about how many bytes a row makes */
  /* Adds what keeps the index right from now on, and drops what an earlier one that was cut off has left.
   * *total: rows that there are. */
  int (*begin)(weir_txn *txn, void *index, int64_t *total, weir_error *err);
  /* Enters the next rows, or makes the index ready. */
  int (*fill)(weir_txn *txn, void *index, unsigned batch, weir_error *err);
  /* That is committed. Returns the rows looked at since `begin`; *ready: the index is. */
  uint64_t (*advance)(void *index, int *ready);
  /* Drops the index, if it is still this one. */
  int (*drop)(weir_txn *txn, void *index, weir_error *err);
} weir__build_steps;

/*
 * Makes an index: within `txn` if that is a write, else step by step, with others in between, and drops it
 * again if a step fails. What an error leaves behind is dropped; what a crash leaves behind, by the next
 * `begin`. Errors: those of the steps, and WEIR_CANCELED (options->on_progress).
 */
int weir__build_run(weir_txn *txn, const weir__build_steps *steps, void *index,
                    const weir_build_options *options, weir_error *err);

#endif
