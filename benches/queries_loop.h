/*
 * Searches as an application writes them over bare SQLite: breadth first, with a set of its own, from one end
 * or from both.
 */
#ifndef BENCH_QUERIES_LOOP_H
#define BENCH_QUERIES_LOOP_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3_stmt;

typedef struct loop loop;

/* `out` and `in` give the far ends of the edges that leave, and that reach, the node with the number ?1. */
loop *loop_new(struct sqlite3_stmt *out, struct sqlite3_stmt *in);
void loop_free(loop *l);

/* *count becomes the number of distinct nodes within `hops` steps out of `start`, itself included. Returns a
 * SQLite code, as does the next. */
int loop_within(loop *l, int64_t start, unsigned hops, uint64_t *count);

/* *length becomes the number of steps on a shortest way from `from` to `to`; -1: there is none. */
int loop_shortest(loop *l, int64_t from, int64_t to, int64_t *length);

#endif
