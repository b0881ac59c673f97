/*
 * The bare baseline: one SQLite connection used directly, with the pragmas, the schema and the statements of
 * a weir store, every statement prepared once. No locking inside: the caller's mutex is what is measured.
 */
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

#include <weir/graph.h>

#include "bench.h"

typedef struct baseline baseline;

/* Opens the file at `path`, which must be there, with the pragmas of a pool's connection. */
struct sqlite3 *baseline_connect(const char *path, const bench_settings *settings, unsigned durability);

/* Opens a store made by weir, which no weir_graph of this process may have open. */
baseline *baseline_open(const char *path, const bench_settings *settings, unsigned durability);
void baseline_close(baseline *b);

/* The point read: *props is valid until baseline_done, which ends the statement and with it SQLite's read
 * transaction. Returns a SQLite code; SQLITE_NOTFOUND if the key is not there. */
int baseline_get(baseline *b, weir_text key, weir_text *props);
void baseline_done(baseline *b);

/* One transaction: begin, any number of upserts of nodes that are there, commit. Each returns a SQLite code.
 */
int baseline_begin(baseline *b);
int baseline_upsert(baseline *b, const weir_node *node);
int baseline_commit(baseline *b);
void baseline_rollback(baseline *b);

/* A transaction for reads alone. */
int baseline_begin_read(baseline *b);
int baseline_end_read(baseline *b);

/* Visits the nodes that the edges of the node `key` lead to, by their keys, as weir_neighbors does. */
typedef void (*baseline_key_fn)(weir_text key, void *data);
int baseline_neighbors(baseline *b, weir_text key, baseline_key_fn visit, void *data);

/* The full-text index of the file (bare_text.h), which upserts keep up to date; NULL if there is none. */
struct bare_text *baseline_text(const baseline *b);

/* Copies the store at `from` to the new file `to`, with what its WAL holds. */
void baseline_copy(const char *from, const char *to);

/* The value of a pragma of this connection, as text in `out`. */
void baseline_pragma(struct sqlite3 *db, const char *name, char *out, size_t size);

#endif
