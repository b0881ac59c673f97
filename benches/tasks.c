/*
 * The ways, and how a cell is run. Threads wait at a barrier, so that none has a lead; creating them, opening
 * connections and the warm-up are outside of the time. The warm-up is one task's: it takes the WAL to the
 * size that it has from then on. What ends after the deadline is checked, but is not in the rate.
 */
#include "tasks.h"

#include <stdlib.h>

enum { WARM_WRITES = 2000 /* at most */ };

const tasks_kind tasks_kinds[TASKS_KINDS] = {
    {"bare", 1, 0, tasks_bare_open, tasks_bare_write, NULL, NULL, tasks_bare_close},
    {"autocommit", 1, 1, tasks_bare_open, tasks_autocommit_write, NULL, NULL, tasks_bare_close},
    {"mutex", 0, 0, tasks_bare_open, tasks_mutex_write, NULL, NULL, tasks_bare_close},
    {"race", 0, 0, tasks_bare_open, tasks_race_write, NULL, NULL, tasks_bare_close},
    {"contend", 0, 0, tasks_contend_open, tasks_contend_write, NULL, NULL, tasks_bare_close},
    {"single", 0, 0, tasks_single_open, tasks_weir_write, NULL, tasks_weir_commits, tasks_weir_close},
    {"lane", 0, 0, tasks_lane_open, tasks_weir_write, NULL, tasks_weir_commits, tasks_weir_close},
    {"lane-async", 0, 0, tasks_async_open, NULL, tasks_async_loop, tasks_weir_commits, tasks_weir_close},
};

/* ---- A task ---- */

int task_next(task *k) {
  uint64_t now = bench_now();
  if (!k->begin) {
    k->begin = now;
  }
  if (now < k->all->deadline) {
    k->timely = k->log.count;
  }
  if (k->next >= k->stop || now >= k->all->deadline) {
    k->end = now;
    return 0;
  }
  batch_compose(&k->batch, k->next++, k->all->seed);
  return 1;
}

void task_done(task *k, int committed) {
  if (!committed) {
    return;
  }
  k->log.count++;
  if (k->log.ids) {
    k->log.ids[k->batch.number] = k->batch.id;
    k->all->errors.wrong += k->batch.mismatch != 0;
  }
}

/* ---- A phase: every task makes a number of transactions ---- */

typedef struct runner {
  const tasks_kind *kind;
  task_set *tasks;
  task *task;
  pthread_barrier_t *gate;
} runner;

static void *run_task(void *arg) {
  const runner *r = arg;
  pthread_barrier_wait(r->gate);
  while (task_next(r->task)) {
    task_done(r->task, r->kind->write(r->tasks, r->task) == 0);
  }
  return NULL;
}

static void run_threads(const tasks_kind *kind, task_set *t, uint64_t ns) {
  pthread_barrier_t gate;
  runner *runners = bench_alloc(t->count * sizeof *runners);
  pthread_barrier_init(&gate, NULL, t->count + 1);
  for (unsigned i = 0; i < t->count; i++) {
    runners[i] = (runner){kind, t, &t->task[i], &gate};
    if (pthread_create(&t->task[i].thread, NULL, run_task, &runners[i]) != 0) {
      bench_fail("cannot start a thread");
    }
  }
  t->deadline = bench_now() + ns;
  pthread_barrier_wait(&gate);
  for (unsigned i = 0; i < t->count; i++) {
    pthread_join(t->task[i].thread, NULL);
  }
  pthread_barrier_destroy(&gate);
  free(runners);
}

/* Lets the first `active` tasks make `writes` transactions each, for at most `ns`. */
static tasks_run run_phase(const tasks_kind *kind, task_set *t, unsigned active, uint64_t writes,
                           uint64_t ns) {
  uint64_t begin = UINT64_MAX, end = 0, before = 0, all = 0;
  uint64_t commits = kind->commits ? kind->commits(t) : 0;
  tasks_run run = {0};
  for (unsigned i = 0; i < t->count; i++) {
    task *k = &t->task[i];
    k->stop = i >= active ? k->next : writes ? k->next + writes : UINT64_MAX;
    k->begin = 0;
    k->timely = k->log.count;
    before += k->log.count;
  }
  if (kind->loop) {
    t->deadline = bench_now() + ns;
    kind->loop(t);
  } else {
    run_threads(kind, t, ns);
  }
  for (unsigned i = 0; i < t->count; i++) {
    const task *k = &t->task[i];
    begin = k->begin < begin ? k->begin : begin;
    end = k->end > end ? k->end : end;
    run.writes += k->timely;
    all += k->log.count;
  }
  end = end < t->deadline ? end : t->deadline;
  run.writes -= before;
  run.seconds = (double)(end - begin) / 1e9;
  run.rate = (double)run.writes / run.seconds;
  run.group = kind->commits ? (double)(all - before) / (double)(kind->commits(t) - commits) : 1;
  return run;
}

/* ---- A cell ---- */

static void make_tasks(task_set *t, uint64_t writes) {
  t->task = bench_alloc(t->count * sizeof *t->task);
  for (unsigned i = 0; i < t->count; i++) {
    task *k = &t->task[i];
    k->all = t;
    k->batch = (batch){.read_back = t->read_back, .task = i, .count = t->rows};
    k->batch.text = bench_alloc(t->rows * sizeof *k->batch.text);
    if (t->read_back) {
      k->log.capacity = writes + WARM_WRITES;
      k->log.ids = bench_alloc(k->log.capacity * sizeof *k->log.ids);
    }
  }
}

static rows_found check_rows(const task_set *t) {
  row_log *logs = bench_alloc(t->count * sizeof *logs);
  for (unsigned i = 0; i < t->count; i++) {
    logs[i] = t->task[i].log;
  }
  rows_found found = rows_check(t->path, logs, t->count, t->rows, t->seed);
  free(logs);
  return found;
}

tasks_run tasks_run_once(const tasks_kind *kind, task_set *t, uint64_t writes) {
  uint64_t ns = (uint64_t)(t->settings->seconds * 1e9);
  rows_create(t->path, t->read_back);
  make_tasks(t, writes);
  kind->open(t);
  run_phase(kind, t, 1, t->read_back ? WARM_WRITES : 0, ns / 10);
  tasks_run run = run_phase(kind, t, t->count, writes, ns);
  kind->close(t);
  run.found = check_rows(t);
  for (unsigned i = 0; i < t->count; i++) {
    free(t->task[i].batch.text);
    free(t->task[i].log.ids);
  }
  free(t->task);
  return run;
}
