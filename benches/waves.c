/*
 * waves: readers that want sixteen nodes at once, beside a writer that never stops. A grid of cells (mode,
 * transaction size, readers, durability), each run `repeat` times. Within one repetition the modes of a row
 * follow each other, so that the ratios between them do not depend on how the machine drifts; a ratio is
 * taken within a repetition, and the median of these is shown.
 */
#include "waves.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "report.h"
#include "spread.h"
#include "texts.h"

/* A cell with a smaller share of valid waves is noted: its figures stand on the few that were. */
#define VALID_MIN 0.1

typedef struct cell {
  const subject_kind *kind;
  unsigned txn;
  wave_run *runs; /* one a repetition */
  tally errors;
} cell;

/* The cells that share durability and readers: a row for each transaction size, a column for each mode. */
typedef struct grid {
  const bench_settings *settings;
  dataset *data, *bare; /* bare: of the bare modes, another one only with --text */
  jsonl *out;
  unsigned durability, readers;
  unsigned modes;
  const subject_kind *kinds[SUBJECT_KINDS];
  cell *cells; /* [row * modes + column] */
} grid;

/* ---- Figures over the repetitions ---- */

#define SPREAD(g, c, field)                                                                                  \
  spread_of((c)->runs, sizeof(wave_run), (g)->settings->repeat, offsetof(wave_run, field), NULL, 0)
#define MEDIAN(g, c, field) (SPREAD(g, c, field).median)

/* The median ratio of a field of `a` to a field of `b`; NAN if one of the cells has not been run. */
static double ratio(const grid *g, const cell *a, size_t of, const cell *b, size_t to) {
  return a && b ? spread_of(a->runs, sizeof(wave_run), g->settings->repeat, of, b->runs, to).median : NAN;
}

#define RATIO(g, a, b, field) ratio((g), (a), offsetof(wave_run, field), (b), offsetof(wave_run, field))

static double solo_share(const grid *g, const cell *c) {
  return c && c->kind->writes
             ? ratio(g, c, offsetof(wave_run, writes_per_s), c, offsetof(wave_run, solo_writes_per_s))
             : NAN;
}

static double valid_share(const grid *g, const cell *c) {
  uint64_t valid = 0, waves = 0;
  for (unsigned i = 0; i < g->settings->repeat; i++) {
    valid += c->runs[i].valid_waves;
    waves += c->runs[i].waves;
  }
  return waves ? (double)valid / (double)waves : 0;
}

static int writer_stood(const grid *g, const cell *c) {
  for (unsigned i = 0; i < g->settings->repeat; i++) {
    if (c->kind->writes && (c->runs[i].writer_commits == 0 || c->runs[i].valid_waves == 0)) {
      return 1;
    }
  }
  return 0;
}

static const cell *find(const grid *g, const char *mode, unsigned txn) {
  for (unsigned i = 0; i < g->settings->txn.count * g->modes; i++) {
    if (g->cells[i].txn == txn && strcmp(g->cells[i].kind->name, mode) == 0) {
      return &g->cells[i];
    }
  }
  return NULL;
}

/* ---- Running ---- */

static const struct {
  const char *name;
  size_t offset;
} figures[] = {
    {"p50_us", offsetof(wave_run, p50_us)},
    {"p90_us", offsetof(wave_run, p90_us)},
    {"p99_us", offsetof(wave_run, p99_us)},
    {"p99_9_us", offsetof(wave_run, p99_9_us)},
    {"max_us", offsetof(wave_run, max_us)},
    {"p50_all_us", offsetof(wave_run, p50_all_us)},
    {"p99_all_us", offsetof(wave_run, p99_all_us)},
    {"waves_per_s", offsetof(wave_run, waves_per_s)},
    {"writes_per_s", offsetof(wave_run, writes_per_s)},
    {"commits_per_s", offsetof(wave_run, commits_per_s)},
    {"solo_writes_per_s", offsetof(wave_run, solo_writes_per_s)},
};

static void write_line(const grid *g, const cell *c, unsigned repetition) {
  const wave_run *r = &c->runs[repetition];
  json_t *line =
      json_pack("{ss ss ss si si si si sI sI sI sI}", "mode", c->kind->name, "durability",
                bench_durability_name(g->durability), "synchronous",
                g->durability == WEIR_FULL_SYNC ? "FULL" : "NORMAL", "readers", (int)g->readers, "txn",
                (int)c->txn, "repetition", (int)repetition, "wave_reads", WAVE_READS, "waves",
                (json_int_t)r->waves, "valid_waves", (json_int_t)r->valid_waves, "writer_commits",
                (json_int_t)r->writer_commits, "errors", (json_int_t)tally_total(&c->errors));
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
    jsonl_figure(line, figures[i].name, spread_value(r, sizeof *r, 0, figures[i].offset));
  }
  jsonl_write(g->out, line);
}

/* All modes read the same keys. */
static void run_cell(void *data, unsigned index, unsigned repetition) {
  grid *g = data;
  cell *c = &g->cells[index];
  subject s = {.settings = g->settings,
               .data = c->kind->bare ? g->bare : g->data,
               .readers = g->readers,
               .durability = g->durability};
  c->runs[repetition] = wave_run_once(c->kind, &s, c->txn, g->settings->seed + repetition);
  tally_add(&c->errors, &s.errors);
  write_line(g, c, repetition);
}

static void run_grid(grid *g) {
  unsigned rows = g->settings->txn.count, repeat = g->settings->repeat;
  g->cells = bench_alloc(rows * g->modes * sizeof *g->cells);
  for (unsigned i = 0; i < rows * g->modes; i++) {
    g->cells[i].kind = g->kinds[i % g->modes];
    g->cells[i].txn = g->settings->txn.values[i / g->modes];
    g->cells[i].runs = bench_alloc(repeat * sizeof *g->cells[i].runs);
  }
  char what[40];
  snprintf(what, sizeof what, "%s, %u readers", bench_durability_name(g->durability), g->readers);
  report_turns(what, repeat, rows * g->modes, run_cell, g);
}

/* ---- Reporting ---- */

static void print_waves(const grid *g) {
  table *t = table_new("T|<mode|p50|<(min..max)|p90|p99|p99.9|max|waves/s");
  for (unsigned i = 0; i < g->settings->txn.count * g->modes; i++) {
    const cell *c = &g->cells[i];
    spread p50 = SPREAD(g, c, p50_us);
    if (i % g->modes == 0) {
      table_rule(t);
    }
    table_cell(t, "%u", c->txn);
    table_cell(t, "%s", c->kind->name);
    table_time(t, p50.median);
    table_range(t, p50.low, p50.high);
    table_time(t, MEDIAN(g, c, p90_us));
    table_time(t, MEDIAN(g, c, p99_us));
    table_time(t, MEDIAN(g, c, p99_9_us));
    table_time(t, MEDIAN(g, c, max_us));
    table_number(t, MEDIAN(g, c, waves_per_s));
  }
  table_print(t);
}

static void print_writer(const grid *g) {
  table *t = table_new("T|<mode|upserts/s|commits/s|alone|of alone|valid waves|p50 of all|<errors");
  for (unsigned i = 0; i < g->settings->txn.count * g->modes; i++) {
    const cell *c = &g->cells[i];
    char errors[40];
    if (i % g->modes == 0) {
      table_rule(t);
    }
    table_cell(t, "%u", c->txn);
    table_cell(t, "%s", c->kind->name);
    table_number(t, MEDIAN(g, c, writes_per_s));
    table_number(t, MEDIAN(g, c, commits_per_s));
    table_number(t, MEDIAN(g, c, solo_writes_per_s));
    table_number(t, solo_share(g, c));
    table_cell(t, "%.1f %%", valid_share(g, c) * 100);
    table_time(t, MEDIAN(g, c, p50_all_us));
    table_cell(t, "%s", tally_text(&c->errors, errors, sizeof errors));
  }
  table_print(t);
}

static void print_ratios(const grid *g) {
  table *t = table_new("T|mutex/pool|single/pool|mutex/single|mutex/pool-sync|pool/idle|pool/idle p99");
  for (unsigned row = 0; row < g->settings->txn.count; row++) {
    unsigned txn = g->settings->txn.values[row];
    const cell *mutex = find(g, "mutex", txn), *single = find(g, "single", txn);
    const cell *pool = find(g, "pool", txn), *idle = find(g, "idle", txn);
    table_cell(t, "%u", txn);
    table_number(t, RATIO(g, mutex, pool, p50_us));
    table_number(t, RATIO(g, single, pool, p50_us));
    table_number(t, RATIO(g, mutex, single, p50_us));
    table_number(t, RATIO(g, mutex, find(g, "pool-sync", txn), p50_us));
    table_number(t, RATIO(g, pool, idle, p50_us));
    table_number(t, RATIO(g, pool, idle, p99_us));
  }
  table_print(t);
}

/* Says which cells are not to be trusted, and returns the number of errors in all of them. */
static uint64_t print_invalid(const grid *g) {
  uint64_t errors = 0;
  for (unsigned i = 0; i < g->settings->txn.count * g->modes; i++) {
    const cell *c = &g->cells[i];
    const char *why = tally_total(&c->errors) > 0 ? "errors"
                      : writer_stood(g, c)        ? "the writer stood still"
                                                  : NULL;
    if (why) {
      printf("INVALID CELL %s, T = %u: %s\n", c->kind->name, c->txn, why);
    } else if (valid_share(g, c) < VALID_MIN) {
      printf("note: %s, T = %u: the writer made no step in most waves; figures are of the others\n",
             c->kind->name, c->txn);
    }
    errors += tally_total(&c->errors);
  }
  return errors;
}

static void print_targets(const grid *g) {
  const cell *pool_100 = find(g, "pool", 100), *pool_1000 = find(g, "pool", 1000);
  const cell *mutex_100 = find(g, "mutex", 100), *mutex_1000 = find(g, "mutex", 1000);
  const cell *idle_100 = find(g, "idle", 100), *idle_1000 = find(g, "idle", 1000);
  const cell *single_100 = find(g, "single", 100);
  if (g->durability != WEIR_NORMAL || g->readers != 4) {
    return;
  }
  const struct {
    const char *text;
    double value, bound; /* a bound below zero is an upper one */
  } targets[] = {
      {"T=100: pool p50 / idle p50", RATIO(g, pool_100, idle_100, p50_us), -1.5},
      {"T=1000: pool p50 / idle p50", RATIO(g, pool_1000, idle_1000, p50_us), -1.5},
      {"T=100: pool p99 / idle p99", RATIO(g, pool_100, idle_100, p99_us), -4},
      {"T=1000: pool p99 / idle p99", RATIO(g, pool_1000, idle_1000, p99_us), -4},
      {"T=100: mutex p50 / pool p50", RATIO(g, mutex_100, pool_100, p50_us), 200},
      {"T=1000: mutex p50 / pool p50", RATIO(g, mutex_1000, pool_1000, p50_us), 2000},
      {"T=100: mutex p50 / single p50", RATIO(g, mutex_100, single_100, p50_us), 10},
      {"T=100: pool writer with waves / alone", solo_share(g, pool_100), 0.5},
      {"T=1000: pool writer with waves / alone", solo_share(g, pool_1000), 0.5},
  };
  unsigned known = 0;
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    if (isnan(targets[i].value)) {
      continue;
    }
    if (known++ == 0) {
      puts("\ntargets");
    }
    int upper = targets[i].bound < 0;
    double bound = fabs(targets[i].bound);
    report_target(upper ? targets[i].value <= bound : targets[i].value >= bound, "%-40s %8.3g   (%s %g)",
                  targets[i].text, targets[i].value, upper ? "at most" : "at least", bound);
  }
}

static uint64_t report(const grid *g) {
  printf("\n== %s, %u readers ==\n\n"
         "Waves of %d point reads, first submit to last completion. Medians of %u repetitions,\n"
         "over valid waves: those in whose time the writer made progress.\n\n",
         bench_durability_name(g->durability), g->readers, WAVE_READS, g->settings->repeat);
  print_waves(g);
  puts("\nThe writer: upserts and commits a second beside the waves, upserts a second alone.\n");
  print_writer(g);
  puts("\nRatios of wave p50 (and p99), each within a repetition\n");
  print_ratios(g);
  uint64_t errors = print_invalid(g);
  print_targets(g);
  return errors;
}

static void free_grid(grid *g) {
  for (unsigned i = 0; i < g->settings->txn.count * g->modes; i++) {
    free(g->cells[i].runs);
  }
  free(g->cells);
}

/* ---- The subcommand ---- */

static void defaults(bench_settings *s) {
  s->modes = "mutex,single,pool,pool-sync,idle,mutex-idle";
  s->txn = (bench_list){4, {1, 10, 100, 1000}};
  s->durability = (bench_list){2, {WEIR_NORMAL, WEIR_FULL_SYNC}};
}

static int run(const bench_settings *settings) {
  grid g = {.settings = settings};
  const char *names[SUBJECT_KINDS];
  for (unsigned i = 0; i < SUBJECT_KINDS; i++) {
    names[i] = subject_kinds[i].name;
    if (bench_listed(settings->modes, subject_kinds[i].name)) {
      g.kinds[g.modes++] = &subject_kinds[i];
    }
  }
  bench_check_list("modes", settings->modes, names, SUBJECT_KINDS);
  g.data = dataset_make(settings);
  g.out = jsonl_open(settings, "waves");
  conditions_check(settings, g.data, g.out);
  g.bare = settings->text ? texts_make(settings, g.data, g.out) : g.data;
  jsonl_common(g.out, "text", json_boolean(settings->text));

  uint64_t errors = 0;
  for (unsigned d = 0; d < settings->durability.count; d++) {
    for (unsigned r = 0; r < settings->readers.count; r++) {
      g.durability = settings->durability.values[d];
      g.readers = settings->readers.values[r];
      run_grid(&g);
      errors += report(&g);
      free_grid(&g);
    }
  }
  jsonl_close(g.out);
  if (g.bare != g.data) {
    dataset_free(g.bare);
  }
  dataset_free(g.data);
  return errors > 0;
}

const bench_command bench_waves = {
    .name = "waves",
    .summary = "waves of point reads beside a writer that never stops",
    .help =
        "A writer upserts 500 nodes round robin, T to a transaction, without a pause. Meanwhile waves of 16\n"
        "point reads are submitted, and each wave is timed from its first submit to its last completion.\n"
        "\n"
        "modes:\n"
        "  mutex       a bare SQLite connection behind a bare mutex, reads on R threads\n"
        "  single      weir in single mode, asynchronous reads\n"
        "  pool        weir in pool mode with R readers, asynchronous reads\n"
        "  pool-sync   weir in pool mode, synchronous reads on R threads\n"
        "  idle        as pool, without a writer: the floor\n"
        "  mutex-idle  as mutex, without a writer: its floor\n"
        "\n"
        "All modes use the same data, pragmas and statements. A wave counts only if the writer made\n"
        "progress in its time. With --db the store is copied first, since the writer adds nodes of its\n"
        "own; reads ask for up to 5,000 nodes sampled from it. At large T a wave of the mutex mode may take\n"
        "seconds, and a cell ends with a wave. The status is 1 if there was an error or a wrong value.\n"
        "\n"
        "With --text there is a text index over title and body of label concept, and each upsert changes\n"
        "a text in it. The bare modes then have a store of their own with an equal index, a plain table of\n"
        "FTS5 that is kept up to date by statements in the same transaction; nothing is searched for.\n"
        "\n"
        "examples:\n"
        "  weir-bench waves --json waves.jsonl\n"
        "  weir-bench waves --db flights.db --txn 100 --durability normal --repeat 1 --seconds 1\n"
        "  weir-bench waves --modes pool,idle --readers 1,2,4,8 --txn 100\n"
        "  weir-bench waves --text --txn 100 --durability normal",
    .takes = "dDmtRyTswrScxkj",
    .defaults = defaults,
    .run = run,
};
