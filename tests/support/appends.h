/*
 * Writes whose results can be checked from their acknowledgements. Each appends one row to a log, under the
 * number (rev) of its commit, and to one of a few lists, of which the file keeps the length and a hash. So
 * the state at every number is known from the rows up to it. Nothing here asserts.
 */
#ifndef WEIR_TEST_APPENDS_H
#define WEIR_TEST_APPENDS_H

#include <weir/pool.h>

enum { APPEND_KEYS = 7 };

/* How a write ends. */
enum append_kind {
  APPEND_KEPT,     /* committed */
  APPEND_NOTHING,  /* committed, but it changes nothing and gets no number */
  APPEND_REFUSED,  /* WEIR_CONFLICT after its row was written */
  APPEND_ROLLBACK, /* WEIR_CONSTRAINT after its row was written, and SQLite ends the whole transaction */
  APPEND_IGNORED,  /* the same, but its function returns WEIR_OK: WEIR_SQL */
  APPEND_KINDS
};

/* A row, and also how it is told to another process. */
typedef struct append {
  int64_t rev;
  int32_t writer; /* whose; no two writers have the same */
  int32_t n;      /* as which of the writer's */
  int32_t key;    /* of the list */
  int32_t bytes;  /* beside all that */
  int32_t kind;   /* enum append_kind */
  int32_t runs;   /* how often its function has been run */
} append;

/* Makes the tables, if they are not there. A weir_txn_fn. */
int append_tables_fn(weir_txn *txn, void *data, weir_error *err);

/* The write of an `append`; sets rev and counts runs. A weir_txn_fn. */
int append_fn(weir_txn *txn, void *data, weir_error *err);

/* What a write of this kind returns if nothing keeps it from running. */
int append_result(int kind);

/* What is in the file, as far as a snapshot needs it to be told from others. */
typedef struct append_state {
  int64_t rev;                 /* weir_txn_rev */
  int64_t rows;                /* of the log */
  int64_t counts[APPEND_KEYS]; /* by list: length */
  int64_t hashes[APPEND_KEYS]; /* and the hash of its rows in their order */
} append_state;

/* Reads an append_state. A weir_txn_fn. */
int append_state_fn(weir_txn *txn, void *data, weir_error *err);

/* Adds a row to a state. */
void append_state_add(append_state *state, const append *row);

/* ---- The writes that were acknowledged ---- */

typedef struct appends {
  append *by_rev; /* [1..size]; rev is 0 where nobody was told */
  int64_t size;
} appends;

/* Notes an acknowledgement. 0 if its number was told before, or is out of range. Any thread. */
int appends_tell(appends *told, const append *row);

/*
 * Checks the whole file: it is intact, the numbers have no gap, each row is there once, the lists are those
 * of the rows, and every acknowledged row is there as it was told. With `exact` no other row is. Returns 1;
 * or 0, and what was wrong in problem[0..size-1].
 */
int appends_check(weir_pool *pool, const appends *told, int exact, char *problem, size_t size);

#endif
