/*
 * mixed: readers that never stop beside writers that never stop. A grid of cells (mode, writers, readers'
 * connections, durability), each run `repeat` times; within one repetition the modes of a row follow each
 * other, and a ratio is taken within a repetition.
 */
#include "mixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "report.h"
#include "spread.h"
#include "texts.h"

#define STARVED 0.01 /* a side with a smaller share of its solo rate starves */

static const mixed_kind *const kinds[MIXED_KINDS] = {&mixed_mutex, &mixed_single, &mixed_shared_pool,
                                                     &mixed_pool};

static const char *const operations[MIXED_OPS] = {"point_", "one_hop_", "search_", "three_hops_"};

typedef struct cell {
  const mixed_kind *kind;
  unsigned writers;
  mixed_run *runs; /* one a repetition */
  tally errors;
} cell;

/* The cells that share durability and connections: a row for each number of writers, a column for each mode.
 */
typedef struct grid {
  const bench_settings *settings;
  dataset *data, *bare; /* bare: of the bare modes */
  jsonl *out;
  unsigned durability, readers, modes;
  const mixed_kind *kinds[MIXED_KINDS];
  cell *cells; /* [row * modes + column] */
} grid;

#define SPREAD(g, c, field)                                                                                  \
  spread_of((c)->runs, sizeof(mixed_run), (g)->settings->repeat, offsetof(mixed_run, field), NULL, 0)
#define MEDIAN(g, c, field) (SPREAD(g, c, field).median)

/* The median ratio of a field of `a` to a field of `b`; NAN if one of the cells has not been run. */
static double ratio(const grid *g, const cell *a, size_t of, const cell *b, size_t to) {
  return a && b ? spread_of(a->runs, sizeof(mixed_run), g->settings->repeat, of, b->runs, to).median : NAN;
}

#define RATIO(g, a, of, b, to) ratio(g, a, offsetof(mixed_run, of), b, offsetof(mixed_run, to))

static const cell *find(const grid *g, const char *mode, unsigned writers) {
  for (unsigned i = 0; i < g->settings->writers.count * g->modes; i++) {
    if (g->cells[i].writers == writers && strcmp(g->cells[i].kind->name, mode) == 0) {
      return &g->cells[i];
    }
  }
  return NULL;
}

/* The share of its solo rate that the worse side has kept, in the worst repetition. */
static double least_share(const grid *g, const cell *c) {
  double least = INFINITY;
  for (unsigned i = 0; i < g->settings->repeat; i++) {
    const mixed_run *r = &c->runs[i];
    least = fmin(least, fmin(r->reads_per_s / r->solo_reads_per_s, r->writes_per_s / r->solo_writes_per_s));
  }
  return least;
}

/* ---- Running ---- */

static void write_line(const grid *g, const cell *c, unsigned repetition, const mixed_times *times) {
  const mixed_run *r = &c->runs[repetition];
  json_t *line = json_pack("{ss ss ss si si si si sI}", "mode", c->kind->name, "durability",
                           bench_durability_name(g->durability), "synchronous",
                           g->durability == WEIR_FULL_SYNC ? "FULL" : "NORMAL", "readers", (int)g->readers,
                           "reader_threads", MIXED_READERS, "writers", (int)c->writers, "repetition",
                           (int)repetition, "errors", (json_int_t)tally_total(&c->errors));
  jsonl_figure(line, "reads_per_s", r->reads_per_s);
  jsonl_figure(line, "writes_per_s", r->writes_per_s);
  jsonl_figure(line, "solo_reads_per_s", r->solo_reads_per_s);
  jsonl_figure(line, "solo_writes_per_s", r->solo_writes_per_s);
  jsonl_figure(line, "read_p50_us", r->read_p50_us);
  jsonl_figure(line, "read_p99_us", r->read_p99_us);
  jsonl_quantiles(line, "write_", &times->writes);
  for (int op = 0; op < MIXED_OPS; op++) {
    jsonl_quantiles(line, operations[op], &times->reads[op]);
  }
  jsonl_write(g->out, line);
}

static void run_cell(void *data, unsigned index, unsigned repetition) {
  grid *g = data;
  cell *c = &g->cells[index];
  subject s = {.settings = g->settings,
               .data = c->kind->bare ? g->bare : g->data,
               .readers = g->readers,
               .durability = g->durability};
  mixed_times *times = bench_alloc(sizeof *times);
  c->runs[repetition] = mixed_run_once(c->kind, &s, c->writers, g->settings->seed + repetition, times);
  tally_add(&c->errors, &s.errors);
  write_line(g, c, repetition, times);
  free(times);
}

static void run_grid(grid *g) {
  unsigned cells = g->settings->writers.count * g->modes, repeat = g->settings->repeat;
  g->cells = bench_alloc(cells * sizeof *g->cells);
  for (unsigned i = 0; i < cells; i++) {
    g->cells[i].kind = g->kinds[i % g->modes];
    g->cells[i].writers = g->settings->writers.values[i / g->modes];
    g->cells[i].runs = bench_alloc(repeat * sizeof *g->cells[i].runs);
  }
  report_turns(bench_durability_name(g->durability), repeat, cells, run_cell, g);
}

/* ---- Reporting ---- */

static void print_cells(const grid *g) {
  table *t = table_new("W|<mode|reads/s|of alone|p50|p99|writes/s|of alone|p50|p99|<errors");
  for (unsigned i = 0; i < g->settings->writers.count * g->modes; i++) {
    const cell *c = &g->cells[i];
    char errors[40];
    if (i % g->modes == 0) {
      table_rule(t);
    }
    table_cell(t, "%u", c->writers);
    table_cell(t, "%s", c->kind->name);
    table_number(t, MEDIAN(g, c, reads_per_s));
    table_number(t, RATIO(g, c, reads_per_s, c, solo_reads_per_s));
    table_time(t, MEDIAN(g, c, read_p50_us));
    table_time(t, MEDIAN(g, c, read_p99_us));
    table_number(t, MEDIAN(g, c, writes_per_s));
    table_number(t, RATIO(g, c, writes_per_s, c, solo_writes_per_s));
    table_time(t, MEDIAN(g, c, write_p50_us));
    table_time(t, MEDIAN(g, c, write_p99_us));
    table_cell(t, "%s", tally_text(&c->errors, errors, sizeof errors));
  }
  table_print(t);
}

static void range_cell(table *t, spread s) {
  table_cell(t, "%.1fK..%.1fK", s.low / 1e3, s.high / 1e3);
}

static void print_ranges(const grid *g) {
  table *t = table_new("W|<mode|reads/s|(min..max)|reads/s alone|writes/s|(min..max)|writes/s alone");
  for (unsigned i = 0; i < g->settings->writers.count * g->modes; i++) {
    const cell *c = &g->cells[i];
    if (i % g->modes == 0) {
      table_rule(t);
    }
    table_cell(t, "%u", c->writers);
    table_cell(t, "%s", c->kind->name);
    table_number(t, MEDIAN(g, c, reads_per_s));
    range_cell(t, SPREAD(g, c, reads_per_s));
    table_number(t, MEDIAN(g, c, solo_reads_per_s));
    table_number(t, MEDIAN(g, c, writes_per_s));
    range_cell(t, SPREAD(g, c, writes_per_s));
    table_number(t, MEDIAN(g, c, solo_writes_per_s));
  }
  table_print(t);
}

static uint64_t print_invalid(const grid *g) {
  uint64_t errors = 0;
  for (unsigned i = 0; i < g->settings->writers.count * g->modes; i++) {
    const cell *c = &g->cells[i];
    if (tally_total(&c->errors) > c->errors.busy) {
      printf("INVALID CELL %s, W = %u: errors\n", c->kind->name, c->writers);
    }
    if (!(least_share(g, c) >= STARVED)) {
      printf("STARVED %s, W = %u: one side made under 1 %% of what it makes alone\n", c->kind->name,
             c->writers);
    }
    errors += tally_total(&c->errors) - c->errors.busy;
  }
  return errors;
}

static void print_targets(const grid *g) {
  unsigned known = 0;
  for (unsigned i = 0; i < g->settings->writers.count; i++) {
    unsigned writers = g->settings->writers.values[i];
    const cell *pool = find(g, "pool", writers), *shared = find(g, "shared-pool", writers);
    double writes = RATIO(g, pool, writes_per_s, shared, writes_per_s);
    double reads = RATIO(g, pool, reads_per_s, shared, reads_per_s);
    if (!pool || !shared) {
      continue;
    }
    if (known++ == 0) {
      puts("\ntargets");
    }
    report_target(writes >= 5, "W = %-3u writes, pool / shared-pool      %8.3g   (at least 5)", writers,
                  writes);
    report_target(reads >= 0.9, "W = %-3u reads, pool / shared-pool       %8.3g   (at least 0.9)", writers,
                  reads);
    report_target(least_share(g, pool) >= STARVED,
                  "W = %-3u least share of alone, pool      %8.3g   (at least "
                  "0.01)",
                  writers, least_share(g, pool));
  }
}

static uint64_t report(const grid *g) {
  printf("\n== %s, %u reader connections ==\n\n"
         "%d threads that read and W that write, all without a pause. Medians of %u repetitions of %g s.\n"
         "Alone: the same threads without those of the other side.\n\n",
         bench_durability_name(g->durability), g->readers, MIXED_READERS, g->settings->repeat,
         g->settings->seconds);
  print_cells(g);
  puts("");
  print_ranges(g);
  uint64_t errors = print_invalid(g);
  print_targets(g);
  for (unsigned i = 0; i < g->settings->writers.count * g->modes; i++) {
    free(g->cells[i].runs);
  }
  free(g->cells);
  return errors;
}

/* ---- The subcommand ---- */

static void defaults(bench_settings *s) {
  s->modes = "mutex,single,shared-pool,pool";
  s->writers = (bench_list){2, {1, 8}};
  s->seconds = 3;
}

static int run(const bench_settings *settings) {
  grid g = {.settings = settings};
  const char *names[MIXED_KINDS];
  for (unsigned i = 0; i < MIXED_KINDS; i++) {
    names[i] = kinds[i]->name;
    if (bench_listed(settings->modes, names[i])) {
      g.kinds[g.modes++] = kinds[i];
    }
  }
  bench_check_list("modes", settings->modes, names, MIXED_KINDS);
  g.data = dataset_make(settings);
  g.out = jsonl_open(settings, "mixed");
  conditions_check(settings, g.data, g.out);
  g.bare = texts_make(settings, g.data, g.out);
  uint64_t errors = 0;
  for (unsigned d = 0; d < settings->durability.count; d++) {
    for (unsigned r = 0; r < settings->readers.count; r++) {
      g.durability = settings->durability.values[d];
      g.readers = settings->readers.values[r];
      run_grid(&g);
      errors += report(&g);
    }
  }
  jsonl_close(g.out);
  dataset_free(g.bare);
  dataset_free(g.data);
  return errors > 0;
}

const bench_command bench_mixed = {
    .name = "mixed",
    .summary = "readers and writers that never stop, side by side",
    .help =
        "16 threads read and W threads write, each without a pause. A read is, with equal chances: one node\n"
        "by key; the keys of a node's neighbors; the top 20 of a full-text search for one or two words,\n"
        "which find some dozens to hundreds of nodes, ranked by BM25; the distinct nodes within three hops.\n"
        "A write is one upsert with a new body, a transaction of its own, which changes the text index too.\n"
        "Both sides are also measured alone, to see whether one starves beside the other.\n"
        "\n"
        "modes:\n"
        "  mutex        one bare SQLite connection behind a bare mutex\n"
        "  single       weir in single mode\n"
        "  shared-pool  R + 1 bare connections behind one counting semaphore; reads and writes take any of\n"
        "               them, and writes meet at SQLite's lock (BEGIN IMMEDIATE, busy timeout 5 s)\n"
        "  pool         weir with R readers and its write lane: R + 1 connections too\n"
        "The bare modes run the SQL that weir runs, on the same tables, but for full text: they cannot use\n"
        "weir's tokenizers, so they have an equal store of their own with a plain table of FTS5 over the\n"
        "same texts, kept up to date by statements in the same transaction. Before the run all queries must\n"
        "find the same nodes with the same scores on both sides.\n"
        "\n"
        "With one writer shared-pool has nobody to meet at the lock: what differs is who gets a connection.\n"
        "\n"
        "examples:\n"
        "  weir-bench mixed\n"
        "  weir-bench mixed --writers 1,4,16 --durability normal,full --json mixed.jsonl",
    .takes = "DmnRysrSckxj",
    .defaults = defaults,
    .run = run,
};
