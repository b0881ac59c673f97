/*
 * The table that concurrent tasks write into: the transaction that each of them repeats, and the check of
 * what the file holds afterwards. Two shapes of it:
 *
 *   read back   one row a transaction, whose id SQLite chooses; the id is taken and the row read back by it
 *               before the commit
 *   plain       any number of rows a transaction, each task with keys of its own
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include <sqlite3.h>

#include "bench.h"

enum { ROW_TEXT = 32, ROWS_MAX = 1000 };

/* One transaction of one task: what it writes, and what came of it. */
typedef struct batch {
  int read_back;
  unsigned task, count;   /* count: rows, 1 if they are read back */
  uint64_t number;        /* of the transaction within its task, from 0 */
  char (*text)[ROW_TEXT]; /* of each row; no two rows ever have the same */
  int64_t id;             /* of the inserted row, as the writer was told */
  int mismatch;           /* the row of that id is another task's, or none */
} batch;

/* Sets the texts of transaction number `number`. Nothing of this is in the transaction. */
void batch_compose(batch *b, uint64_t number, uint64_t seed);

/* The statements of the transaction. */
const char *rows_insert_sql(int read_back);
const char *rows_select_sql(void);

/* Inserts the rows of `b`. Returns a SQLite code. */
int rows_insert(sqlite3_stmt *insert, const batch *b);

/* Reads the row b->id and sets b->mismatch. Returns a SQLite code. */
int rows_read_back(sqlite3_stmt *select, batch *b);

/* The transactions of one task that were acknowledged. */
typedef struct row_log {
  uint64_t count;    /* how many */
  uint64_t capacity; /* of ids */
  int64_t *ids;      /* of the row of transaction number i, 0 if it was not acknowledged; NULL if plain */
} row_log;

/* What a check has found: rows that are not as acknowledged (missing, not acknowledged, other contents),
 * and whether the file passes PRAGMA integrity_check. */
typedef struct rows_found {
  uint64_t wrong;
  int sound;
} rows_found;

/* Makes a new file with the empty table, in place of what is there. */
void rows_create(const char *path, int read_back);

/* Compares the closed file with the logs of `tasks` tasks that wrote `rows` rows a transaction. */
rows_found rows_check(const char *path, const row_log *logs, unsigned tasks, unsigned rows, uint64_t seed);

#endif
