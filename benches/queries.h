/*
 * The workload `queries`: questions to a graph, asked weir and bare SQLite in turns.
 */
#ifndef BENCH_QUERIES_H
#define BENCH_QUERIES_H

#include <string.h>

#include <weir/graph.h>

#include "bench.h"
#include "uniform.h"

/* One question: the node to begin at, the one to end at, a value to find. */
typedef struct question {
  char from[UNIFORM_KEY_SIZE], to[UNIFORM_KEY_SIZE];
  weir_text from_key, to_key; /* these two */
  int64_t value;
} question;

/* What is asked. */
typedef enum queries_work {
  QUERIES_POINT,      /* a node by its key */
  QUERIES_HOP,        /* the keys of the nodes that its edges lead to */
  QUERIES_WITHIN,     /* how many nodes are within QUERIES_HOPS steps of it; bare: a breadth-first loop */
  QUERIES_WITHIN_CTE, /* the same; bare: one recursive statement */
  QUERIES_PATH,       /* how many steps there are to another node; bare: a loop from both ends */
  QUERIES_VALUE,      /* the nodes with a value */
  QUERIES_WORKS
} queries_work;

enum { QUERIES_HOPS = 3 };

/* What is summed up of a text: its length and its last eight bytes. */
static inline uint64_t queries_digest(weir_text text) {
  uint64_t tail = 0;
  size_t len = text.len < sizeof tail ? text.len : sizeof tail;
  memcpy(&tail, text.ptr + text.len - len, len);
  return (tail + text.len) * 0x9e3779b97f4a7c15ull;
}

/*
 * Both sides answer `count` questions of one kind, one after the other, and add what they found to *sum,
 * which must be the same for both. With `together` all are one read transaction, else each is its own. What
 * fails ends the program.
 */

/* ---- weir (queries_weir.c) ---- */

typedef struct queries_weir queries_weir;

/* Makes the index that QUERIES_VALUE uses: once, before the first open, and after queries_bare_index. */
void queries_weir_index(const uniform *data, const bench_settings *settings);

queries_weir *queries_weir_open(const uniform *data, const bench_settings *settings);
void queries_weir_close(queries_weir *w);
void queries_weir_ask(queries_weir *w, queries_work work, const question *asked, unsigned count, int together,
                      uint64_t *sum);

/* ---- Bare SQLite (queries_bare.c; the loops: queries_loop.c) ---- */

typedef struct queries_bare queries_bare;

/* Copies the store and gives the copy an index of SQLite's own, for QUERIES_VALUE. Once. */
void queries_bare_index(const uniform *data, const bench_settings *settings);

queries_bare *queries_bare_open(const uniform *data, const bench_settings *settings);
void queries_bare_close(queries_bare *b);
void queries_bare_ask(queries_bare *b, queries_work work, const question *asked, unsigned count, int together,
                      uint64_t *sum);

#endif
