/*
 * Full text on a bare connection: a plain table of FTS5 beside the tables of a store, kept up to date by
 * statements of its own within the transaction of an upsert. It holds what the text index of texts.c holds,
 * and weir's tokenizer is not needed for it: unicode61 cuts the texts of the workloads in the same way.
 */
#ifndef BENCH_BARE_TEXT_H
#define BENCH_BARE_TEXT_H

#include <weir/pool.h>

typedef struct bare_text bare_text;

/* Adds the table to a store, with what is to be in it. */
void bare_text_create(struct sqlite3 *db);

/* Prepares the statements; NULL if the file has no such table. */
bare_text *bare_text_open(struct sqlite3 *db);

/* NULL is a no-op. */
void bare_text_close(bare_text *t);

/* Node `id` has had the props `old` and gets `props`: replaces its texts in the table, if it is in it and
 * they differ. Returns a SQLite code, as the next one does. */
int bare_text_update(bare_text *t, int64_t id, int64_t label_set, weir_text old, weir_text props);

/* Visits the nodes that match, best first, at most `limit`. More is better, as in weir. */
typedef void (*bare_text_fn)(weir_text key, weir_text props, double score, void *data);
int bare_text_search(bare_text *t, const char *query, unsigned limit, bare_text_fn visit, void *data);

#endif
