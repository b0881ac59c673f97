/*
 * A subject: one store opened in one of the ways that are compared, behind one set of calls.
 *
 *   mutex       a bare connection behind a bare pthread mutex, reads on R threads
 *   single      weir, one connection behind its fair lock, asynchronous reads from one loop
 *   pool        weir, R reader connections and the write lane, asynchronous reads from one loop
 *   pool-sync   the same, synchronous reads on R threads
 *   idle        as pool, without a writer
 *   mutex-idle  as mutex, without a writer
 */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include "data.h"

enum { SUBJECT_WAVE_MAX = 256 };

typedef struct subject {
  const bench_settings *settings;
  dataset *data;
  tally errors;
  _Atomic uint64_t steps; /* transactions begun, upserts done, transactions ended: the writer's progress */
  atomic_int syncing;     /* 1 while a commit with durability full is under way */
  unsigned readers, durability;
  void *state; /* of the kind */
} subject;

typedef struct subject_kind {
  const char *name;
  int writes; /* 0: the mode is a floor, measured without a writer */
  int bare;   /* 1: without weir */
  void (*open)(subject *s);
  void (*wave)(subject *s, const unsigned *items,
               unsigned count);                             /* reads nodes keys[items[i]] concurrently */
  int (*write)(subject *s, uint64_t first, unsigned count); /* one transaction; 0 on success */
  void (*close)(subject *s);
} subject_kind;

enum { SUBJECT_KINDS = 6 };
extern const subject_kind subject_kinds[SUBJECT_KINDS];

/* In subject_bare.c and subject_weir.c. */
void subject_mutex_open(subject *s);
void subject_mutex_wave(subject *s, const unsigned *items, unsigned count);
int subject_mutex_write(subject *s, uint64_t first, unsigned count);
void subject_mutex_close(subject *s);

void subject_single_open(subject *s);
void subject_pool_open(subject *s);
void subject_weir_wave(subject *s, const unsigned *items, unsigned count);
int subject_weir_write(subject *s, uint64_t first, unsigned count);
void subject_weir_close(subject *s);

void subject_sync_open(subject *s);
void subject_sync_wave(subject *s, const unsigned *items, unsigned count);

/* What an open weir subject consists of; loop and async only in asynchronous modes. */
weir_txn *subject_weir_auto(const subject *s);
struct uv_loop_s *subject_weir_loop(const subject *s);
struct weir_async *subject_weir_async(const subject *s);

/* The kind of that name; NULL if there is none. */
const subject_kind *subject_find(const char *name);

/* ---- The writer: a thread that writes transaction after transaction ---- */

typedef struct writer writer;

/* What a writer has done so far. */
typedef struct writer_figures {
  uint64_t commits, upserts;
} writer_figures;

/* Starts a thread that writes transactions of `size` upserts until it is stopped. One a dataset. */
writer *writer_start(const subject_kind *kind, subject *s, unsigned size);
writer_figures writer_so_far(const writer *w);
void writer_stop(writer *w);

#endif
