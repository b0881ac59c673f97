/*
 * The prepared statements of one connection, kept by their text. A statement that is in use is never handed
 * out again: nested use of the same text gets another one, which is not kept.
 */
#ifndef WEIR_POOL_STATEMENTS_H
#define WEIR_POOL_STATEMENTS_H

#include <sqlite3.h>

#include <weir/pool.h>

struct weir__statement;

#define WEIR__HINTS 64 /* a power of two */

typedef struct weir__statements {
  struct weir__statement *by_text;            /* uthash: all that are kept */
  struct weir__statement *idle;               /* utlist: kept, not in use, the longest unused first */
  struct weir__statement *used;               /* utlist: in use, the latest first */
  struct weir__statement *hints[WEIR__HINTS]; /* by the address of the text: spares hashing it */
  unsigned count;                             /* kept */
  unsigned limit;                             /* keep at most so many */
} weir__statements;

/* Returns SQLite's code. *out is NULL if `sql` holds no statement, or more than one: then *more is 1. */
int weir__statements_get(weir__statements *cache, sqlite3 *db, weir_text sql, sqlite3_stmt **out, int *more);

/* Gives a statement back: reset, nothing bound. */
void weir__statements_put(weir__statements *cache, sqlite3_stmt *stmt);

/* The latest statement in use, for weir__statements_put_since. */
struct weir__statement *weir__statements_mark(const weir__statements *cache);

/* Gives back all that were taken after `mark`; NULL: all. */
void weir__statements_put_since(weir__statements *cache, const struct weir__statement *mark);

/* Finalizes everything. */
void weir__statements_clear(weir__statements *cache);

#endif
