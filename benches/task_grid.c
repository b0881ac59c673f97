/*
 * Running the cells, and figures over the repetitions.
 */
#include "task_grid.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Running ---- */

static void write_line(const task_grid *g, const task_cell *c, unsigned repetition, const tally *errors) {
  const tasks_run *r = &c->runs[repetition];
  json_t *line = json_pack("{ss ss ss si si si sI sI sI sI sI sI sb}", "mode", c->kind->name, "durability",
                           bench_durability_name(g->durability), "synchronous",
                           g->durability == WEIR_FULL_SYNC ? "FULL" : "NORMAL", "tasks", (int)c->tasks,
                           g->read_back ? "writes_per_task" : "rows_per_transaction", (int)c->size,
                           "repetition", (int)repetition, "transactions", (json_int_t)r->writes, "misuse",
                           (json_int_t)errors->misuse, "busy", (json_int_t)(errors->busy + errors->locked),
                           "other", (json_int_t)errors->other, "mismatches", (json_int_t)errors->wrong,
                           "wrong_rows", (json_int_t)r->found.wrong, "integrity_ok", r->found.sound);
  jsonl_figure(line, "elapsed_s", r->seconds);
  jsonl_figure(line, "transactions_per_s", r->rate);
  jsonl_figure(line, "transactions_per_commit", r->group);
  jsonl_write(g->out, line);
}

static void run_cell(void *data, unsigned index, unsigned repetition) {
  task_grid *g = data;
  task_cell *c = &g->cells[index];
  task_set t = {.settings = g->settings,
                .path = g->path,
                .durability = g->durability,
                .count = c->tasks,
                .rows = g->read_back ? 1 : c->size,
                .read_back = g->read_back,
                .seed = g->settings->seed + repetition};
  c->runs[repetition] = tasks_run_once(c->kind, &t, g->read_back ? c->size : 0);
  tally_add(&c->errors, &t.errors);
  write_line(g, c, repetition, &t.errors);
}

static void add_cells(task_grid *g, unsigned tasks, unsigned size) {
  for (unsigned m = 0; m < TASKS_KINDS; m++) {
    const tasks_kind *kind = &tasks_kinds[m];
    unsigned rows = g->read_back ? 1 : size;
    if (!bench_listed(g->settings->modes, kind->name) || (kind->tasks_max && tasks > kind->tasks_max) ||
        (kind->rows_max && rows > kind->rows_max)) {
      continue;
    }
    g->cells[g->count++] = (task_cell){.kind = kind,
                                       .tasks = tasks,
                                       .size = size,
                                       .runs = bench_alloc(g->settings->repeat * sizeof(tasks_run))};
  }
}

void task_grid_run(task_grid *g) {
  const bench_list *tasks = &g->settings->tasks;
  g->count = 0;
  g->cells = bench_alloc(tasks->count * g->sizes->count * TASKS_KINDS * sizeof *g->cells);
  for (unsigned s = 0; s < g->sizes->count; s++) {
    for (unsigned t = 0; t < tasks->count; t++) {
      add_cells(g, tasks->values[t], g->sizes->values[s]);
    }
  }
  report_turns(bench_durability_name(g->durability), g->settings->repeat, g->count, run_cell, g);
}

void task_grid_free(task_grid *g) {
  for (unsigned i = 0; i < g->count; i++) {
    free(g->cells[i].runs);
  }
  free(g->cells);
}

const char *task_grid_file(const bench_settings *settings, int read_back) {
  static char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/tasks.db", bench_directory(settings)) >= (int)sizeof path) {
    bench_fail("the name of the file is too long");
  }
  rows_create(path, read_back);
  return path;
}

/* ---- Figures ---- */

const task_cell *task_grid_find(const task_grid *g, const char *mode, unsigned tasks, unsigned size) {
  for (unsigned i = 0; i < g->count; i++) {
    const task_cell *c = &g->cells[i];
    if (c->tasks == tasks && c->size == size && strcmp(c->kind->name, mode) == 0) {
      return c;
    }
  }
  return NULL;
}

int task_row_begins(const task_grid *g, unsigned index) {
  const task_cell *c = &g->cells[index];
  return index == 0 || c->tasks != c[-1].tasks || c->size != c[-1].size;
}

double task_ratio(const task_grid *g, const task_cell *a, const task_cell *b) {
  size_t rate = offsetof(tasks_run, rate);
  return a && b ? spread_of(a->runs, sizeof(tasks_run), g->settings->repeat, rate, b->runs, rate).median
                : NAN;
}

rows_found task_found(const task_grid *g, const task_cell *c) {
  rows_found all = {.sound = 1};
  for (unsigned i = 0; i < g->settings->repeat; i++) {
    all.wrong += c->runs[i].found.wrong;
    all.sound = all.sound && c->runs[i].found.sound;
  }
  return all;
}

uint64_t task_faults(const task_grid *g, const task_cell *c) {
  rows_found found = task_found(g, c);
  return tally_total(&c->errors) + found.wrong + !found.sound;
}

void task_target(double value, double least, const char *format, ...) {
  char text[64];
  va_list args;
  if (isnan(value)) {
    return;
  }
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  report_target(value >= least, "%-44s %8.3g   (at least %g)", text, value, least);
}
