/*
 * What the files of weir-bench share: settings from the command line, a clock, random numbers, the working
 * directory. weir-bench is a program, not a library: what cannot go on ends it through bench_fail.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <time.h>

#include <weir/pool.h>

#define BENCH_LIST_MAX 16

/* A list given on the command line, "1,10,100". */
typedef struct bench_list {
  unsigned count;
  unsigned values[BENCH_LIST_MAX];
} bench_list;

/* What the command line asked for. Every subcommand fills in its own defaults first. */
typedef struct bench_settings {
  const char *db;        /* an existing store to run on (a copy of it), or NULL: data of our own */
  const char *dir;       /* where the working directory is made; NULL: $TMPDIR or /tmp */
  const char *json;      /* file for JSON Lines, or NULL */
  const char *modes;     /* names separated by commas */
  double seconds;        /* the longest time for one cell in one repetition */
  unsigned least;        /* events (waves) after which a cell may end earlier */
  unsigned repeat;       /* repetitions, interleaved */
  uint64_t seed;         /* of every random choice */
  unsigned cache_kib;    /* page cache per connection, in every mode */
  unsigned statements;   /* statement cache per connection */
  unsigned checkpoint;   /* WAL pages that start a passive checkpoint, in every mode */
  bench_list readers;    /* reader connections, or worker threads of the mutex mode */
  bench_list txn;        /* upserts per write transaction */
  bench_list durability; /* weir_durability values */
  bench_list inflight;   /* requests in flight */

  bench_list connections; /* connections, each with a thread of its own */
  bench_list rate;        /* transactions a second that are offered in all */
  bench_list writers;     /* threads that write */
  double warmup;          /* seconds before the figures of a cell count */
  unsigned passive;       /* 1: bare modes get a passive checkpoint a second beside their own */
  unsigned exclusive;     /* 1: weir keeps other processes out of the file */
  bench_list tasks;       /* concurrent writers */
  bench_list writes;      /* transactions of each of them */
  bench_list rows;        /* inserted in a transaction */

  unsigned text; /* 1: with a full-text index */

  unsigned nodes, edges; /* of a graph that is made */
  const char *works;     /* names separated by commas */
  const char *graphs;    /* the same */
  const char *snap;      /* a SNAP edge list, or NULL */
  bench_list sizes;      /* edges of graphs that are made one after another; none: one graph */
  unsigned threads;      /* of a computation that may have several */
} bench_settings;

/* A subcommand. */
typedef struct bench_command {
  const char *name;
  const char *summary; /* one line */
  const char *help;    /* its own options and examples */
  const char *takes;   /* the option letters it knows, see main.c */
  void (*defaults)(bench_settings *settings);
  int (*run)(const bench_settings *settings); /* the exit status */
} bench_command;

extern const bench_command bench_waves, bench_async, bench_read, bench_stress, bench_throughput,
    bench_latency, bench_mixed, bench_pinned, bench_queries, bench_algo;

/* Prints "weir-bench: ..." and ends the program with status 1. */
_Noreturn void bench_fail(const char *format, ...) WEIR_PRINTF(1, 2);

/* Ends the program if a weir function has failed; `doing` says what was tried. */
void bench_check(int rc, const weir_error *err, const char *doing);

/* malloc and calloc that end the program instead of returning NULL. */
void *bench_alloc(size_t size);

/* Monotonic nanoseconds. */
static inline uint64_t bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sleeps until bench_now() is `ns`; returns at once if it is later. */
void bench_sleep_until(uint64_t ns);

/* Has the kernel end this thread's sleeps on time, and not up to 50 microseconds later, as is usual. */
void bench_exact_sleep(void);

/* A splitmix64 step: uniform 64 bits from a state that may be any number. */
static inline uint64_t bench_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/* Uniform in 0..bound-1, for bounds that fit 32 bits. */
static inline uint64_t bench_below(uint64_t *state, uint64_t bound) {
  return ((bench_random(state) >> 32) * bound) >> 32;
}

/* Whether `name` is one of the names in the comma-separated `list`. */
int bench_listed(const char *list, const char *name);

/* Ends the program unless every name in `list` is one of the `count` names in `known`. */
void bench_check_list(const char *option, const char *list, const char *const *known, unsigned count);

/* Makes the working directory, which is removed when the program ends. */
const char *bench_directory(const bench_settings *settings);

/* The kind of file system the working directory is on ("ext4"). */
const char *bench_file_system(const char *path);

/* Pool options for a mode under these settings. */
weir_pool_options bench_pool_options(const bench_settings *settings, weir_mode mode, unsigned readers,
                                     unsigned durability);

/* "single" or "pool", and "bare" for WEIR_MODE_DEFAULT. */
const char *bench_mode_name(weir_mode mode);

/* "normal" or "full". */
const char *bench_durability_name(unsigned durability);

/* The middle of `count` values (sorts them). */
double bench_median(double *values, unsigned count);

#endif
