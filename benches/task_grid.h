/*
 * The grid of cells of a workload of tasks (way, number of tasks, size), each run a number of times. Within a
 * repetition the ways of a row follow each other, so that ratios between them do not depend on how the
 * machine drifts; a ratio is taken within a repetition, and the median of these is shown.
 */
#ifndef BENCH_TASK_GRID_H
#define BENCH_TASK_GRID_H

#include "report.h"
#include "spread.h"
#include "tasks.h"

typedef struct task_cell {
  const tasks_kind *kind;
  unsigned tasks, size;
  tasks_run *runs; /* one a repetition */
  tally errors;
} task_cell;

typedef struct task_grid {
  const bench_settings *settings;
  const char *path; /* of the file that each cell makes anew */
  jsonl *out;
  unsigned durability;
  int read_back;           /* see rows.h */
  const bench_list *sizes; /* of a read back cell: transactions of each task; else rows of a transaction */
  unsigned count;
  task_cell *cells;
} task_grid;

/* Runs all cells under g->durability. The caller has set what is above `count`. */
void task_grid_run(task_grid *g);
void task_grid_free(task_grid *g);

/* The path of the file in the working directory; the file itself, empty. */
const char *task_grid_file(const bench_settings *settings, int read_back);

/* The cell; NULL if it was not run. */
const task_cell *task_grid_find(const task_grid *g, const char *mode, unsigned tasks, unsigned size);

/* Is the cell the first with its number of tasks and size? */
int task_row_begins(const task_grid *g, unsigned index);

/* The spread of a field of tasks_run over the repetitions. */
#define TASK_FIGURE(g, c, field)                                                                             \
  spread_of((c)->runs, sizeof(tasks_run), (g)->settings->repeat, offsetof(tasks_run, field), NULL, 0)

/* Of a's rate divided by b's; NAN if either was not run. */
double task_ratio(const task_grid *g, const task_cell *a, const task_cell *b);

/* Over all repetitions: rows that were not as acknowledged, and whether every file was sound. */
rows_found task_found(const task_grid *g, const task_cell *c);

/* Everything that was wrong in a cell. */
uint64_t task_faults(const task_grid *g, const task_cell *c);

/* Prints a target and whether it was met, unless `value` is NAN. */
void task_target(double value, double least, const char *format, ...) WEIR_PRINTF(3, 4);

#endif
