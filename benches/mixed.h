/*
 * The workload mixed: what its readers and writers do, in the ways that are compared (mixed_bare.c,
 * mixed_weir.c), how one cell is run (mixed_run.c), and the grid of cells with its report (mixed.c).
 *
 *   mutex        one bare connection behind a bare pthread mutex
 *   single       weir in single mode
 *   shared-pool  R + 1 bare connections, as many as pool has, behind one counting semaphore: reads and writes
 *                take any of them, and each write is a transaction of its own, BEGIN IMMEDIATE
 *   pool         weir: R reader connections and the write lane
 */
#ifndef BENCH_MIXED_H
#define BENCH_MIXED_H

#include "histogram.h"
#include "subject.h"

enum { MIXED_READERS = 16, MIXED_PAGE = 20, MIXED_REACH_MAX = 64 };

typedef enum mixed_op { POINT, ONE_HOP, SEARCH, THREE_HOPS, MIXED_OPS } mixed_op;

/* Keys of nodes, each once. */
typedef struct mixed_reach {
  unsigned count;
  int overflow;
  char keys[MIXED_REACH_MAX][32];
} mixed_reach;

/* Adds a key unless it is there. */
void mixed_reach_add(mixed_reach *reach, weir_text key);

/* What a reader wants next and what it has found. */
typedef struct mixed_read {
  mixed_op op;
  unsigned item;     /* place of the key in the data set */
  mixed_reach reach; /* of the hops: the nodes that were found, the one they started from first */
  const char *query; /* of the search */
  unsigned page;     /* nodes found that hold its first word */
  weir_text want;    /* of the point read: props */
  int same;          /* they were found so */
  weir_arena arena;  /* of the weir modes */
} mixed_read;

/* Counts a node that the search has found. */
void mixed_page_add(mixed_read *r, weir_text props);

typedef struct mixed_kind {
  const char *name;
  int bare; /* 1: without weir */
  void (*open)(subject *s);
  int (*read)(subject *s, mixed_read *r);          /* one read transaction; 0 on success */
  int (*write)(subject *s, const weir_node *node); /* one write transaction; 0 on success */
  void (*close)(subject *s);
} mixed_kind;

enum { MIXED_KINDS = 4 };
extern const mixed_kind mixed_mutex, mixed_single, mixed_shared_pool, mixed_pool;

/* One repetition of one cell. Solo: the same threads without those of the other side, just before. */
typedef struct mixed_run {
  double reads_per_s, read_p50_us, read_p99_us;
  double writes_per_s, write_p50_us, write_p99_us;
  double solo_reads_per_s, solo_writes_per_s;
} mixed_run;

/* The latencies of one repetition. */
typedef struct mixed_times {
  histogram reads[MIXED_OPS], writes;
} mixed_times;

mixed_run mixed_run_once(const mixed_kind *kind, subject *s, unsigned writers, uint64_t seed,
                         mixed_times *times);

#endif
