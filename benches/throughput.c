/*
 * throughput: tasks that insert rows, a number to a transaction, one transaction after the other for as long
 * as a cell lasts. Each task has keys of its own.
 */
#include <inttypes.h>
#include <math.h>

#include "conditions.h"
#include "task_grid.h"

/* ---- Reporting ---- */

static void print_cells(const task_grid *g) {
  table *t = table_new("rows|tasks|<mode|tx/s|<(min..max)|rows/s|group|<errors|<count|<integrity");
  for (unsigned i = 0; i < g->count; i++) {
    const task_cell *c = &g->cells[i];
    spread rate = TASK_FIGURE(g, c, rate);
    rows_found found = task_found(g, c);
    char errors[80];
    if (i > 0 && task_row_begins(g, i)) {
      table_rule(t);
    }
    table_cell(t, "%u", c->size);
    table_cell(t, "%u", c->tasks);
    table_cell(t, "%s", c->kind->name);
    table_number(t, rate.median);
    table_cell(t, "(%.1fK..%.1fK)", rate.low / 1e3, rate.high / 1e3);
    table_number(t, rate.median * c->size);
    table_number(t, TASK_FIGURE(g, c, group).median);
    table_cell(t, "%s", tally_text(&c->errors, errors, sizeof errors));
    if (found.wrong) {
      table_cell(t, "%" PRIu64 " WRONG", found.wrong);
    } else {
      table_cell(t, "ok");
    }
    table_cell(t, "%s", found.sound ? "ok" : "FAILED");
  }
  table_print(t);
}

/* The lane against the better of contend and mutex. */
static double against_best(const task_grid *g, unsigned tasks, unsigned rows) {
  const task_cell *lane = task_grid_find(g, "lane", tasks, rows);
  double mutex = task_ratio(g, lane, task_grid_find(g, "mutex", tasks, rows));
  double contend = task_ratio(g, lane, task_grid_find(g, "contend", tasks, rows));
  return isnan(mutex) || isnan(contend) ? NAN : mutex < contend ? mutex : contend;
}

static void print_ratios(const task_grid *g) {
  table *t = table_new("rows|tasks|single/mutex|lane/mutex|lane/contend|lane/single|single/bare|lane/bare");
  for (unsigned i = 0; i < g->count; i++) {
    unsigned tasks = g->cells[i].tasks, rows = g->cells[i].size;
    if (!task_row_begins(g, i)) {
      continue;
    }
    const task_cell *mutex = task_grid_find(g, "mutex", tasks, rows);
    const task_cell *bare = task_grid_find(g, "bare", tasks, rows);
    const task_cell *single = task_grid_find(g, "single", tasks, rows);
    const task_cell *lane = task_grid_find(g, "lane", tasks, rows);
    table_cell(t, "%u", rows);
    table_cell(t, "%u", tasks);
    table_number(t, task_ratio(g, single, mutex));
    table_number(t, task_ratio(g, lane, mutex));
    table_number(t, task_ratio(g, lane, task_grid_find(g, "contend", tasks, rows)));
    table_number(t, task_ratio(g, lane, single));
    table_number(t, task_ratio(g, single, bare));
    table_number(t, task_ratio(g, lane, bare));
  }
  table_print(t);
}

static void print_targets(const task_grid *g) {
  const task_cell *lane_1 = task_grid_find(g, "lane", 1, 10), *lane_32 = task_grid_find(g, "lane", 32, 10);
  puts("\ntargets");
  if (g->durability == WEIR_FULL_SYNC) {
    task_target(against_best(g, 32, 100), 2, "32 tasks, 100 rows: lane / best of bare modes");
    task_target(against_best(g, 32, 10), 5, "32 tasks, 10 rows: lane / best of bare modes");
  } else {
    task_target(task_ratio(g, lane_1, task_grid_find(g, "mutex", 1, 10)), 1, "1 task, 10 rows: lane / mutex");
    task_target(task_ratio(g, lane_32, task_grid_find(g, "mutex", 32, 10)), 1.2,
                "32 tasks, 10 rows: lane / mutex");
  }
  task_target(task_ratio(g, task_grid_find(g, "lane", 1, 1), task_grid_find(g, "bare", 1, 1)), 0.9,
              "1 task, 1 row: lane / bare loop");
  task_target(task_ratio(g, task_grid_find(g, "lane", 1, 1), task_grid_find(g, "autocommit", 1, 1)), 0.9,
              "1 task, 1 row: lane / bare loop, autocommit");
}

static uint64_t print_invalid(const task_grid *g) {
  uint64_t all = 0;
  for (unsigned i = 0; i < g->count; i++) {
    const task_cell *c = &g->cells[i];
    uint64_t faults = task_faults(g, c);
    if (c->kind->write == tasks_contend_write) { /* what times out under its own lock is its way */
      faults -= c->errors.busy;
    }
    if (faults > 0) {
      printf("INVALID CELL %s, %u tasks, %u rows: errors or wrong rows\n", c->kind->name, c->tasks, c->size);
    }
    all += faults;
  }
  return all;
}

/* ---- The subcommand ---- */

static void defaults(bench_settings *s) {
  s->modes = "bare,autocommit,contend,mutex,single,lane";
  s->seconds = 0.5;
  s->repeat = 3;
  s->tasks = (bench_list){6, {1, 2, 4, 8, 16, 32}};
  s->rows = (bench_list){3, {1, 10, 100}};
  s->durability = (bench_list){2, {WEIR_NORMAL, WEIR_FULL_SYNC}};
}

static int run(const bench_settings *settings) {
  task_grid g = {.settings = settings, .read_back = 0, .sizes = &settings->rows};
  const char *names[TASKS_KINDS];
  unsigned known = 0;
  for (unsigned i = 0; i < TASKS_KINDS; i++) {
    if (tasks_kinds[i].write != tasks_race_write) { /* that one reads back */
      names[known++] = tasks_kinds[i].name;
    }
  }
  bench_check_list("modes", settings->modes, names, known);
  g.path = task_grid_file(settings, 0);
  g.out = jsonl_open(settings, "throughput");
  conditions_check_file(settings, g.path, g.out);

  uint64_t faults = 0;
  for (unsigned d = 0; d < settings->durability.count; d++) {
    g.durability = settings->durability.values[d];
    task_grid_run(&g);
    printf("\n== %s ==\n\nTransactions of so many inserts on keys of the task's own, closed loop for %g s.\n"
           "Medians of %u repetitions.\n\n",
           bench_durability_name(g.durability), settings->seconds, settings->repeat);
    print_cells(&g);
    puts("\nRatios of transactions a second, each within a repetition\n");
    print_ratios(&g);
    faults += print_invalid(&g);
    print_targets(&g);
    task_grid_free(&g);
  }
  jsonl_close(g.out);
  return faults > 0;
}

const bench_command bench_throughput = {
    .name = "throughput",
    .summary = "tasks that insert rows, transaction after transaction",
    .help = "Each task inserts rows with keys of its own, a number of rows to a transaction, and begins the\n"
            "next transaction at once. Afterwards the rows are counted and the file is checked. `group` is\n"
            "transactions to a COMMIT.\n"
            "\n"
            "modes:\n"
            "  bare        one connection, no lock; for one task: what a transaction costs\n"
            "  autocommit  the same with one row and without BEGIN and COMMIT\n"
            "  contend     a bare connection and a thread a task, SQLite's own lock and busy timeout\n"
            "  mutex       a bare SQLite connection behind a bare mutex, a thread a task\n"
            "  single      weir in single mode, a thread a task\n"
            "  lane        weir in pool mode, a thread a task\n"
            "  lane-async  weir in pool mode, all tasks as requests of one loop\n"
            "\n"
            "examples:\n"
            "  weir-bench throughput --json throughput.jsonl\n"
            "  weir-bench throughput --tasks 32,64 --rows 10 --durability full --repeat 5 --seconds 1\n"
            "  weir-bench throughput --modes bare,lane --tasks 1 --rows 1",
    .takes = "DmCNyrsScxkj",
    .defaults = defaults,
    .run = run,
};
