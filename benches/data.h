/*
 * What the workloads store, read and write: a graph store in the working directory, the keys that reads ask
 * for with what they must find, and the extra nodes that a writer upserts.
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <limits.h>
#include <stdatomic.h>

#include <weir/graph.h>

#include "bench.h"

enum { DATASET_EXTRAS = 500, DATASET_QUERIES = 48 };

/* A node that the writer upserts round robin. Each write puts another number into its body. */
typedef struct extra {
  char key[32];
  char *props;    /* JSON with a number of fixed width in it */
  size_t len;     /* of props */
  size_t number;  /* where in props that number is */
  uint64_t write; /* the last write of it that was committed, or 0 */
} extra;

/* The full-text index that a store has (texts.h). */
typedef enum dataset_text { TEXT_NONE, TEXT_WEIR, TEXT_BARE } dataset_text;

typedef struct dataset {
  char path[PATH_MAX];
  weir_text *keys;  /* of nodes that the writer leaves alone */
  weir_text *props; /* what each of them holds */
  size_t count;
  int64_t nodes, edges; /* rows in the store, the extra nodes included */
  uint64_t next_write;  /* number of the next write: no body is ever written twice */
  extra extras[DATASET_EXTRAS];
  weir_arena memory; /* of keys and props */

  dataset_text text;
  char queries[DATASET_QUERIES][32]; /* of one or two words: a rarer one first, then one of the others */
  uint64_t hits[DATASET_QUERIES];    /* nodes that each finds */
} dataset;

/* What went wrong, by kind. Counted from any thread. */
typedef struct tally {
  _Atomic uint64_t busy, locked, misuse, wrong, other; /* wrong: read back another value than was stored */
} tally;

/*
 * Makes the store: without settings->db the data set of the workloads (2,000 nodes n0..n1999, 6,000 edges
 * from i to i+1, i+2, i+3), else a copy of that store, from which up to 5,000 keys are sampled. Then inserts
 * the extra nodes.
 */
dataset *dataset_make(const bench_settings *settings);

/* The same in a file of this name in the working directory. One seed gives equal stores. */
dataset *dataset_make_at(const bench_settings *settings, const char *name);

void dataset_free(dataset *d);

/* The extra node that write number `write` (from 1) concerns, with that number in its props. For the one
 * thread that writes. */
weir_node dataset_upsert(dataset *d, uint64_t write);

/* Notes that the writes first..first+count-1 are committed. */
void dataset_committed(dataset *d, uint64_t first, unsigned count);

/* Checks the closed store: row counts, the last committed body of every extra node, the integrity of the
 * file. Adds what is wrong to `errors`. */
void dataset_verify(dataset *d, const bench_settings *settings, tally *errors);

/* Counts a failed weir call, and a failed call of SQLite. */
void tally_weir(tally *t, int rc);
void tally_sqlite(tally *t, int rc);

/* Adds the errors of `from`. */
void tally_add(tally *t, const tally *from);

/* All errors together. */
uint64_t tally_total(const tally *t);

/* "none", or the kinds that occurred: "busy 3, wrong 1". */
const char *tally_text(const tally *t, char *out, size_t size);

#endif
