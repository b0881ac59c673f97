/*
 * Transactions that insert rows into a table of its own file, in the ways that are compared:
 *
 *   contend  a bare connection a thread: SQLite's own lock, BEGIN IMMEDIATE, the busy timeout
 *   mutex    one bare connection behind a bare pthread mutex
 *   single   weir in single mode: one connection behind its fair lock
 *   lane     weir in pool mode: its write lane
 */
#ifndef BENCH_INSERTS_H
#define BENCH_INSERTS_H

#include <limits.h>

#include "data.h"

enum { INSERT_ROWS = 10 }; /* a transaction */

/* A file with the table, opened in one of the ways. */
typedef struct inserts {
  const bench_settings *settings;
  char path[PATH_MAX];
  unsigned connections, durability;
  tally errors;
  void *state; /* of the kind */
} inserts;

typedef struct inserts_kind {
  const char *name;
  int bare; /* checkpoints are SQLite's own */
  void (*open)(inserts *s);
  /* Inserts the rows first .. first + INSERT_ROWS - 1 as one transaction, on behalf of connection
   * `connection`. WEIR_OK, WEIR_BUSY, or another code, which is counted in s->errors. */
  int (*insert)(inserts *s, unsigned connection, int64_t first);
  void (*close)(inserts *s);
} inserts_kind;

enum { INSERTS_KINDS = 4 };
extern const inserts_kind inserts_kinds[INSERTS_KINDS];

/* Makes a new file with the empty table, in place of the one there may be. */
void inserts_create(inserts *s);

/* Checks the closed file: `transactions` were committed, and `sum` is that of their first numbers. Adds what
 * is wrong to s->errors. */
void inserts_verify(inserts *s, uint64_t transactions, int64_t sum);

/* A passive checkpoint through a connection that is opened at the first call and left in *db, to be closed by
 * inserts_checkpoint_end. Returns 1 if it ran to its end. */
int inserts_checkpoint(const inserts *s, struct sqlite3 **db);
void inserts_checkpoint_end(struct sqlite3 *db);

#endif
