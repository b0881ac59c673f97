/*
 * Concurrent tasks, each of which writes transaction after transaction into one file, in one of the ways that
 * are compared:
 *
 *   bare        one task, a bare connection, no lock at all
 *   autocommit  the same with one row and without BEGIN and COMMIT: one prepared INSERT in a loop
 *   mutex       a bare connection behind a bare pthread mutex, a thread a task
 *   race        the same, but the id of the row is asked for after the mutex was given back: wrong
 *   contend     a bare connection and a thread a task, BEGIN IMMEDIATE with a busy timeout: SQLite's own lock
 *   single      weir in single mode, a thread a task
 *   lane        weir in pool mode, a thread a task
 *   lane-async  weir in pool mode, all tasks as requests of one loop
 */
#ifndef BENCH_TASKS_H
#define BENCH_TASKS_H

#include <pthread.h>

#include "data.h"
#include "rows.h"

/* One task. */
typedef struct task {
  struct task_set *all;
  batch batch;   /* the transaction at hand */
  row_log log;   /* of those before it */
  uint64_t next; /* number of the next transaction */
  uint64_t stop; /* number at which the task ends */
  uint64_t begin, end;
  uint64_t timely; /* transactions acknowledged before the deadline */
  pthread_t thread;
} task;

/* The tasks of one cell. */
typedef struct task_set {
  const bench_settings *settings;
  const char *path;
  unsigned durability; /* a weir_durability */
  unsigned count;      /* of tasks */
  unsigned rows;       /* a transaction */
  int read_back;       /* see rows.h */
  uint64_t seed;
  uint64_t deadline; /* no transaction begins later */
  task *task;
  tally errors; /* wrong: a row read back was not the one inserted */
  void *state;  /* of the way */
} task_set;

/* A way. Where `loop` is set, it runs all tasks to their end on the calling thread; else each task has a
 * thread that calls `write`, which returns 0 if the task's batch is committed. */
typedef struct tasks_kind {
  const char *name;
  unsigned tasks_max, rows_max; /* 0: any number */
  void (*open)(task_set *t);
  int (*write)(task_set *t, task *k);
  void (*loop)(task_set *t);
  uint64_t (*commits)(const task_set *t); /* COMMITs so far; NULL: one a transaction */
  void (*close)(task_set *t);
} tasks_kind;

enum { TASKS_KINDS = 8 };
extern const tasks_kind tasks_kinds[TASKS_KINDS];

/* What one repetition of a cell gave. */
typedef struct tasks_run {
  double seconds;  /* from the first transaction's begin to the last one's end, or to the deadline */
  double rate;     /* transactions committed a second, of those that ended in that time */
  double group;    /* transactions a COMMIT */
  uint64_t writes; /* transactions */
  rows_found found;
} tasks_run;

/* Makes the file, opens it in the way `kind`, warms up with one task, then lets each task make `writes`
 * transactions, or what it manages in settings->seconds; closes and checks. `writes` of 0 is without limit,
 * and only for tasks that do not read back. `t` comes with what is above `deadline`, and keeps the errors. */
tasks_run tasks_run_once(const tasks_kind *kind, task_set *t, uint64_t writes);

/* For the ways: composes the task's next batch, or returns 0 if the task has come to its end. */
int task_next(task *k);

/* For the ways: notes whether the task's batch was committed. */
void task_done(task *k, int committed);

/* In tasks_bare.c and tasks_weir.c. */
void tasks_bare_open(task_set *t);
void tasks_contend_open(task_set *t);
int tasks_bare_write(task_set *t, task *k);
int tasks_autocommit_write(task_set *t, task *k);
int tasks_mutex_write(task_set *t, task *k);
int tasks_race_write(task_set *t, task *k);
int tasks_contend_write(task_set *t, task *k);
void tasks_bare_close(task_set *t);

void tasks_single_open(task_set *t);
void tasks_lane_open(task_set *t);
void tasks_async_open(task_set *t);
int tasks_weir_write(task_set *t, task *k);
void tasks_async_loop(task_set *t);
uint64_t tasks_weir_commits(const task_set *t);
void tasks_weir_close(task_set *t);

#endif
