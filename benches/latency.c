/*
 * latency: small durable transactions that come due at random, a fixed number a second in all, whatever the
 * store can do. A grid of cells (mode, connections, rate, durability), each run `repeat` times; within one
 * repetition the modes of a row follow each other and get the same schedule.
 */
#include "latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "report.h"
#include "spread.h"

#define HELD        0.99  /* a rate is held if so much of what came due in the time was committed in it */
#define TAIL_MAX_US 10000 /* the p99.9 up to which a rate counts as borne */

typedef struct cell {
  const inserts_kind *kind;
  unsigned rate, connections;
  latency_run *runs; /* one a repetition */
  tally errors;
} cell;

/* The cells of one durability: a row for each rate and number of connections, a column for each mode. */
typedef struct grid {
  const bench_settings *settings;
  jsonl *out;
  unsigned durability, rows, modes;
  const inserts_kind *kinds[INSERTS_KINDS];
  cell *cells; /* [row * modes + column] */
} grid;

#define MEDIAN(g, c, field) SPREAD_MEDIAN((c)->runs, (g)->settings->repeat, latency_run, field)

static const cell *find(const grid *g, const char *mode, unsigned rate, unsigned connections) {
  for (unsigned i = 0; i < g->rows * g->modes; i++) {
    const cell *c = &g->cells[i];
    if (c->rate == rate && c->connections == connections && strcmp(c->kind->name, mode) == 0) {
      return c;
    }
  }
  return NULL;
}

/* The p99.9 of a cell that may not have been run. */
static double tail(const grid *g, const cell *c) {
  return c ? MEDIAN(g, c, p99_9_us) : NAN;
}

static int held(const grid *g, const cell *c) {
  return MEDIAN(g, c, timely) >= HELD;
}

/* The highest rate that a mode held with a short tail, 0 if none. */
static unsigned highest(const grid *g, const char *mode, unsigned connections) {
  unsigned found = 0;
  for (unsigned i = 0; i < g->rows * g->modes; i++) {
    const cell *c = &g->cells[i];
    if (c->connections == connections && strcmp(c->kind->name, mode) == 0 && c->rate > found && held(g, c) &&
        tail(g, c) < TAIL_MAX_US) {
      found = c->rate;
    }
  }
  return found;
}

/* ---- Running ---- */

static void write_line(const grid *g, const cell *c, unsigned repetition, const histogram *h) {
  const latency_run *r = &c->runs[repetition];
  json_t *line =
      json_pack("{ss ss ss si si si si sI sI sI sI}", "mode", c->kind->name, "durability",
                bench_durability_name(g->durability), "synchronous",
                g->durability == WEIR_FULL_SYNC ? "FULL" : "NORMAL", "connections", (int)c->connections,
                "rate", (int)c->rate, "repetition", (int)repetition, "rows_per_transaction", INSERT_ROWS,
                "given_up", (json_int_t)r->given_up, "busy", (json_int_t)r->busy, "passive_checkpoints",
                (json_int_t)r->checkpoints, "errors", (json_int_t)tally_total(&c->errors));
  jsonl_quantiles(line, "", h);
  jsonl_figure(line, "offered_per_s", r->offered_per_s);
  jsonl_figure(line, "achieved_per_s", r->achieved_per_s);
  jsonl_figure(line, "timely_share", r->timely);
  jsonl_write(g->out, line);
}

static void run_cell(void *data, unsigned index, unsigned repetition) {
  grid *g = data;
  cell *c = &g->cells[index];
  const bench_settings *settings = g->settings;
  histogram *h = bench_alloc(sizeof *h);
  inserts s = {.settings = settings, .connections = c->connections, .durability = g->durability};
  schedule plan = schedule_make(settings, c->rate, settings->seed + repetition);
  c->runs[repetition] = latency_run_once(c->kind, &s, &plan, h);
  schedule_free(&plan);
  tally_add(&c->errors, &s.errors);
  write_line(g, c, repetition, h);
  free(h);
}

static void run_grid(grid *g) {
  const bench_list *rates = &g->settings->rate, *connections = &g->settings->connections;
  unsigned repeat = g->settings->repeat, cells = rates->count * connections->count * g->modes;
  g->rows = rates->count * connections->count;
  g->cells = bench_alloc(cells * sizeof *g->cells);
  for (unsigned i = 0; i < cells; i++) {
    unsigned row = i / g->modes;
    g->cells[i].kind = g->kinds[i % g->modes];
    g->cells[i].rate = rates->values[row / connections->count];
    g->cells[i].connections = connections->values[row % connections->count];
    g->cells[i].runs = bench_alloc(repeat * sizeof *g->cells[i].runs);
  }
  report_turns(bench_durability_name(g->durability), repeat, cells, run_cell, g);
}

/* ---- Reporting ---- */

static void print_cells(const grid *g) {
  table *t = table_new("rate/s|C|<mode|p50|p90|p99|p99.9|<(min..max)|max|offered/s|achieved/s|<held|busy");
  for (unsigned i = 0; i < g->rows * g->modes; i++) {
    const cell *c = &g->cells[i];
    spread p999 =
        spread_of(c->runs, sizeof *c->runs, g->settings->repeat, offsetof(latency_run, p99_9_us), NULL, 0);
    uint64_t busy = 0;
    for (unsigned r = 0; r < g->settings->repeat; r++) {
      busy += c->runs[r].busy;
    }
    if (i % g->modes == 0) {
      table_rule(t);
    }
    table_cell(t, "%u", c->rate);
    table_cell(t, "%u", c->connections);
    table_cell(t, "%s", c->kind->name);
    table_time(t, MEDIAN(g, c, p50_us));
    table_time(t, MEDIAN(g, c, p90_us));
    table_time(t, MEDIAN(g, c, p99_us));
    table_time(t, p999.median);
    table_range(t, p999.low, p999.high);
    table_time(t, MEDIAN(g, c, max_us));
    table_number(t, MEDIAN(g, c, offered_per_s));
    table_number(t, MEDIAN(g, c, achieved_per_s));
    table_cell(t, "%s", held(g, c) ? "yes" : "no");
    table_cell(t, "%llu", (unsigned long long)busy);
  }
  table_print(t);
}

static void print_highest(const grid *g) {
  const bench_list *connections = &g->settings->connections;
  puts("\nThe highest of these rates that was held with a p99.9 under 10 ms\n");
  table *t = table_new("C|<mode|rate/s");
  for (unsigned i = 0; i < connections->count; i++) {
    table_rule(t);
    for (unsigned k = 0; k < g->modes; k++) {
      unsigned rate = highest(g, g->kinds[k]->name, connections->values[i]);
      table_cell(t, "%u", connections->values[i]);
      table_cell(t, "%s", g->kinds[k]->name);
      table_number(t, rate ? (double)rate : NAN);
    }
  }
  table_print(t);
}

static uint64_t print_invalid(const grid *g) {
  uint64_t errors = 0;
  char text[80];
  for (unsigned i = 0; i < g->rows * g->modes; i++) {
    const cell *c = &g->cells[i];
    if (tally_total(&c->errors) > 0) {
      printf("INVALID CELL %s, %u/s, C = %u: errors: %s\n", c->kind->name, c->rate, c->connections,
             tally_text(&c->errors, text, sizeof text));
    }
    errors += tally_total(&c->errors);
  }
  return errors;
}

/* The lowest of the rates: of a mode that held none of them it is known that it holds less than this. */
static unsigned lowest_rate(const bench_list *rates) {
  unsigned lowest = rates->values[0];
  for (unsigned i = 1; i < rates->count; i++) {
    lowest = rates->values[i] < lowest ? rates->values[i] : lowest;
  }
  return lowest;
}

/* A bound below zero is an upper one. Prints nothing for a figure that does not exist. */
static void target(unsigned *known, const char *text, double value, double bound) {
  if (isnan(value)) {
    return;
  }
  if ((*known)++ == 0) {
    puts("\ntargets");
  }
  int upper = bound < 0;
  bound = fabs(bound);
  report_target(upper ? value <= bound : value >= bound, "%-44s %8.5g   (%s %g)", text, value,
                upper ? "at most" : "at least", bound);
}

static void print_targets(const grid *g) {
  const bench_list *connections = &g->settings->connections, *rates = &g->settings->rate;
  unsigned known = 0;
  char text[64];
  if (g->durability != WEIR_FULL_SYNC) {
    return;
  }
  for (unsigned i = 0; i < connections->count; i++) {
    snprintf(text, sizeof text, "1,000/s, C = %u: lane p99.9, ms", connections->values[i]);
    target(&known, text, tail(g, find(g, "lane", 1000, connections->values[i])) / 1e3, -2.4);
  }
  target(&known, "1,000/s, C = 32: contend p99.9 / lane p99.9",
         tail(g, find(g, "contend", 1000, 32)) / tail(g, find(g, "lane", 1000, 32)), 20);
  target(&known, "8,000/s, C = 32: lane p99.9, ms", tail(g, find(g, "lane", 8000, 32)) / 1e3, -5);
  if (rates->count > 1 && find(g, "lane", rates->values[0], 32)) {
    unsigned lane = highest(g, "lane", 32), mutex = highest(g, "mutex", 32);
    target(&known, "C = 32: highest rate of lane", lane, 12000);
    target(&known,
           mutex ? "C = 32: highest rate of lane / mutex" : "C = 32: highest rate of lane / lowest here",
           find(g, "mutex", rates->values[0], 32) ? (double)lane / (mutex ? mutex : lowest_rate(rates)) : NAN,
           3);
  }
}

static uint64_t report(const grid *g) {
  printf("\n== %s ==\n\n"
         "Transactions of %d rows, from the time due to the return of the commit. Medians of %u repetitions\n"
         "of %g s after %g s of warm-up; range of the p99.9. Held: at least 99 %% committed in time.\n\n",
         bench_durability_name(g->durability), INSERT_ROWS, g->settings->repeat, g->settings->seconds,
         g->settings->warmup);
  print_cells(g);
  if (g->settings->rate.count > 1) {
    print_highest(g);
  }
  uint64_t errors = print_invalid(g);
  print_targets(g);
  for (unsigned i = 0; i < g->rows * g->modes; i++) {
    free(g->cells[i].runs);
  }
  free(g->cells);
  return errors;
}

/* ---- The subcommand ---- */

static void defaults(bench_settings *s) {
  s->modes = "contend,mutex,single,lane";
  s->connections = (bench_list){4, {1, 8, 16, 32}};
  s->rate = (bench_list){1, {1000}};
  s->durability = (bench_list){1, {WEIR_FULL_SYNC}};
  s->warmup = 1;
  s->repeat = 3;
}

static int run(const bench_settings *settings) {
  grid g = {.settings = settings};
  const char *names[INSERTS_KINDS];
  for (unsigned i = 0; i < INSERTS_KINDS; i++) {
    names[i] = inserts_kinds[i].name;
    if (bench_listed(settings->modes, inserts_kinds[i].name)) {
      g.kinds[g.modes++] = &inserts_kinds[i];
    }
  }
  bench_check_list("modes", settings->modes, names, INSERTS_KINDS);
  g.out = jsonl_open(settings, "latency");
  jsonl_common(g.out, "warmup", json_real(settings->warmup));
  jsonl_common(g.out, "passive", json_integer(settings->passive));
  inserts probe = {.settings = settings};
  inserts_create(&probe);
  conditions_check_file(settings, probe.path, g.out);
  uint64_t errors = 0;
  for (unsigned d = 0; d < settings->durability.count; d++) {
    g.durability = settings->durability.values[d];
    run_grid(&g);
    errors += report(&g);
  }
  jsonl_close(g.out);
  return errors > 0;
}

const bench_command bench_latency = {
    .name = "latency",
    .summary = "transactions that come due at a fixed rate: how late they are committed",
    .help =
        "Transactions that insert 10 rows come due at random times, so many a second in all (Poisson; one\n"
        "schedule for every mode). C threads take the next one, sleep until it is due, and run it. Its "
        "latency\n"
        "is from when it was due to when its commit returned, so what waits for a free thread counts too.\n"
        "The offer does not slow down for a mode that cannot keep up; what has not begun a little after the\n"
        "end is given up, and counts with what it has waited.\n"
        "\n"
        "modes:\n"
        "  contend  a bare SQLite connection a thread, BEGIN IMMEDIATE, busy timeout 5 s\n"
        "  mutex    one bare SQLite connection behind a bare mutex\n"
        "  single   weir in single mode, synchronous writes\n"
        "  lane     weir in pool mode: the write lane, synchronous writes\n"
        "\n"
        "Checkpoints are as each mode ships them: in a commit with SQLite's own, in the lane with weir.\n"
        "\n"
        "examples:\n"
        "  weir-bench latency                                    four numbers of connections at 1,000/s\n"
        "  weir-bench latency --seconds 30 --warmup 5 --repeat 1\n"
        "  weir-bench latency --connections 32 --rate 2000,4000,8000,12000,16000,24000",
    .takes = "DmyoasurSckjp",
    .defaults = defaults,
    .run = run,
};
