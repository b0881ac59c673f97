/*
 * stress: many tasks write at once, and each write reads back what it has inserted, by the id that it was
 * told. What is compared is how many writes a second the ways manage, and that none of them hands a task the
 * id of another's row.
 */
#include <inttypes.h>

#include "conditions.h"
#include "task_grid.h"

static int is_race(const task_cell *c) {
  return c->kind->write == tasks_race_write;
}

/* ---- Reporting ---- */

/* The share of the writes asked for that were made in time. */
static double done_share(const task_grid *g, const task_cell *c) {
  uint64_t done = 0;
  for (unsigned i = 0; i < g->settings->repeat; i++) {
    done += c->runs[i].writes;
  }
  return (double)done / ((double)g->settings->repeat * c->tasks * c->size);
}

static void print_cells(const task_grid *g) {
  table *t = table_new("each|tasks|<mode|elapsed|done|writes/"
                       "s|<(min..max)|group|misuse|busy|other|mismatches|<rows|<integrity");
  for (unsigned i = 0; i < g->count; i++) {
    const task_cell *c = &g->cells[i];
    spread rate = TASK_FIGURE(g, c, rate);
    rows_found found = task_found(g, c);
    if (i > 0 && task_row_begins(g, i)) {
      table_rule(t);
    }
    table_cell(t, "%u", c->size);
    table_cell(t, "%u", c->tasks);
    table_cell(t, "%s", c->kind->name);
    table_time(t, TASK_FIGURE(g, c, seconds).median * 1e6);
    table_cell(t, "%.3g %%", done_share(g, c) * 100);
    table_number(t, rate.median);
    table_cell(t, "(%.1fK..%.1fK)", rate.low / 1e3, rate.high / 1e3);
    table_number(t, TASK_FIGURE(g, c, group).median);
    table_cell(t, "%" PRIu64, c->errors.misuse);
    table_cell(t, "%" PRIu64, (c->errors.busy + c->errors.locked));
    table_cell(t, "%" PRIu64, c->errors.other);
    table_cell(t, "%" PRIu64, c->errors.wrong);
    if (found.wrong) {
      table_cell(t, "%" PRIu64 " WRONG", found.wrong);
    } else {
      table_cell(t, "ok");
    }
    table_cell(t, "%s", found.sound ? "ok" : "FAILED");
  }
  table_print(t);
}

static void print_ratios(const task_grid *g) {
  table *t = table_new(
      "each|tasks|single/mutex|lane/mutex|lane-async/mutex|lane/contend|lane/single|lane-async/lane");
  for (unsigned i = 0; i < g->count; i++) {
    unsigned tasks = g->cells[i].tasks, size = g->cells[i].size;
    if (!task_row_begins(g, i)) {
      continue;
    }
    const task_cell *mutex = task_grid_find(g, "mutex", tasks, size);
    const task_cell *single = task_grid_find(g, "single", tasks, size);
    const task_cell *lane = task_grid_find(g, "lane", tasks, size);
    const task_cell *async = task_grid_find(g, "lane-async", tasks, size);
    table_cell(t, "%u", size);
    table_cell(t, "%u", tasks);
    table_number(t, task_ratio(g, single, mutex));
    table_number(t, task_ratio(g, lane, mutex));
    table_number(t, task_ratio(g, async, mutex));
    table_number(t, task_ratio(g, lane, task_grid_find(g, "contend", tasks, size)));
    table_number(t, task_ratio(g, lane, single));
    table_number(t, task_ratio(g, async, lane));
  }
  table_print(t);
}

static void print_rate_targets(const task_grid *g, unsigned tasks, unsigned size) {
  int full = g->durability == WEIR_FULL_SYNC;
  const task_cell *mutex = task_grid_find(g, "mutex", tasks, size);
  const task_cell *lane = task_grid_find(g, "lane", tasks, size);
  const task_cell *async = task_grid_find(g, "lane-async", tasks, size);
  if (tasks != 32 && tasks != 128) {
    return;
  }
  task_target(task_ratio(g, lane, mutex), tasks == 32 ? (full ? 9 : 1.2) : (full ? 17 : 1.8),
              "%u tasks, %u writes: lane / mutex", tasks, size);
  task_target(task_ratio(g, lane, task_grid_find(g, "contend", tasks, size)), full ? 40 : 4,
              "%u tasks, %u writes: lane / contend", tasks, size);
  if (full) {
    task_target(task_ratio(g, async, lane), 1, "%u tasks, %u writes: lane-async / lane", tasks, size);
  } else if (tasks == 128) {
    task_target(task_ratio(g, async, mutex), 3, "%u tasks, %u writes: lane-async / mutex", tasks, size);
  }
}

/* Whether nothing was wrong: in the ways that are right, that is; in `race` something must be. */
static int print_faults(const task_grid *g) {
  uint64_t weir = 0, bare = 0, contend_busy = 0, race = 0;
  int raced = 0;
  for (unsigned i = 0; i < g->count; i++) {
    const task_cell *c = &g->cells[i];
    uint64_t faults = task_faults(g, c);
    if (is_race(c)) {
      race += c->errors.wrong;
      raced |= c->tasks > 1;
    } else if (c->kind->write == tasks_contend_write) { /* what times out under its own lock is its way */
      contend_busy += c->errors.busy;
      bare += faults - c->errors.busy;
    } else if (c->kind->commits) {
      weir += faults;
    } else {
      bare += faults;
    }
  }
  report_target(weir == 0, "%-44s %8.3g   (none)", "errors, mismatches, wrong rows of weir", (double)weir);
  if (bare > 0) {
    printf("INVALID: %" PRIu64 " errors, mismatches or wrong rows of the bare modes\n", bare);
  }
  if (contend_busy > 0) {
    printf("note: contend gave up %" PRIu64 " times, after 5 s of waiting for SQLite's lock\n", contend_busy);
  }
  if (raced) {
    report_target(race > 0, "%-44s %8.3g   (some: the fault is seen)", "mismatches of race", (double)race);
  }
  return weir == 0 && bare == 0 && (!raced || race > 0);
}

static int report(const task_grid *g) {
  printf("\n== %s ==\n\nEach task makes this many writes, or what it manages in %g s: insert a row, read it "
         "back by\n"
         "its id, commit. Medians of %u repetitions; errors are of all.\n\n",
         bench_durability_name(g->durability), g->settings->seconds, g->settings->repeat);
  print_cells(g);
  puts("\nRatios of writes a second, each within a repetition\n");
  print_ratios(g);
  puts("\ntargets");
  for (unsigned i = 0; i < g->sizes->count; i++) {
    for (unsigned k = 0; k < g->settings->tasks.count; k++) {
      print_rate_targets(g, g->settings->tasks.values[k], g->sizes->values[i]);
    }
  }
  return print_faults(g);
}

/* ---- The subcommand ---- */

static void defaults(bench_settings *s) {
  s->modes = "mutex,contend,single,lane,lane-async,race";
  s->seconds = 2;
  s->tasks = (bench_list){2, {32, 128}};
  s->writes = (bench_list){2, {20, 2000}};
  s->durability = (bench_list){2, {WEIR_NORMAL, WEIR_FULL_SYNC}};
}

static int run(const bench_settings *settings) {
  task_grid g = {.settings = settings, .read_back = 1, .sizes = &settings->writes};
  const char *names[TASKS_KINDS];
  for (unsigned i = 0; i < TASKS_KINDS; i++) {
    names[i] = tasks_kinds[i].name;
  }
  bench_check_list("modes", settings->modes, names, TASKS_KINDS);
  g.path = task_grid_file(settings, 1);
  g.out = jsonl_open(settings, "stress");
  conditions_check_file(settings, g.path, g.out);

  int good = 1;
  for (unsigned d = 0; d < settings->durability.count; d++) {
    g.durability = settings->durability.values[d];
    task_grid_run(&g);
    good &= report(&g);
    task_grid_free(&g);
  }
  jsonl_close(g.out);
  return !good;
}

const bench_command bench_stress = {
    .name = "stress",
    .summary = "many tasks write at once, each reading back what it wrote",
    .help =
        "A number of tasks begin together. Each write is one transaction: insert a row, take its id, read "
        "the\n"
        "row back by that id and compare. Afterwards each write that was acknowledged must be in the file\n"
        "exactly once, with that id, and the file must pass an integrity check.\n"
        "\n"
        "modes:\n"
        "  mutex       a bare SQLite connection behind a bare mutex, a thread a task\n"
        "  contend     a bare connection and a thread a task, SQLite's own lock and busy timeout\n"
        "  single      weir in single mode, a thread a task\n"
        "  lane        weir in pool mode, a thread a task\n"
        "  lane-async  weir in pool mode, all tasks as requests of one loop\n"
        "  race        as mutex, but the id is asked for after the mutex was given back: it must be seen to\n"
        "              fail, or the comparison proves nothing\n"
        "  bare        one connection, no lock; for one task\n"
        "  autocommit  the same without BEGIN and COMMIT\n"
        "\n"
        "A run that is not done when its seconds are over counts the writes that ended before. The status "
        "is\n"
        "1 if there was an error or a mismatch, or no mismatch in race.\n"
        "\n"
        "columns:\n"
        "  each        writes that each task is to make\n"
        "  tasks       how many tasks write at once\n"
        "  mode        see above\n"
        "  elapsed     from the first write's begin to the last one's end, or to when the seconds are over\n"
        "  done        share of the writes that were made in this time\n"
        "  writes/s    writes a second in this time, of all tasks together\n"
        "  (min..max)  the same in the slowest and the fastest repetition\n"
        "  group       writes to a COMMIT\n"
        "  misuse      calls that SQLite or weir refused as misuse\n"
        "  busy        writes given up as the lock, or a place in the lane, was not to be had in time\n"
        "  other       errors of any other kind\n"
        "  mismatches  rows read back that were not the one inserted\n"
        "  rows        whether the file holds each acknowledged write once, with its id, and nothing else\n"
        "  integrity   whether the file passes PRAGMA integrity_check\n"
        "  a/b         writes a second of mode a, divided by those of mode b\n"
        "\n"
        "examples:\n"
        "  weir-bench stress --json stress.jsonl\n"
        "  weir-bench stress --modes mutex,lane --tasks 1,32,128 --writes 500 --durability normal\n"
        "  weir-bench stress --modes race,lane --durability normal --repeat 1",
    .takes = "DmCWyrsScxkj",
    .defaults = defaults,
    .run = run,
};
