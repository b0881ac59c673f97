/*
 * Questions about single nodes of a projection, asked weir and igraph in short turns: as `queries` asks the
 * store.
 */
#include "algo.h"

#include <math.h>
#include <stdlib.h>

#include "spread.h"

typedef struct row {
  const char *name, *text;
  void (*weir)(algo_weir *w, size_t first, size_t count, uint64_t *sum);
  void (*igraph)(algo_igraph *s, size_t first, size_t count, uint64_t *sum);
  unsigned turn;      /* questions of a turn */
  double rate, ratio; /* targets: questions a second, on the uniform graph; of igraph's */
} row;

static const row rows[] = {
    {"within", "nodes within 3 hops", algo_weir_within, algo_igraph_within, 100, 20700, 1},
    {"path", "shortest path", algo_weir_path, algo_igraph_path, 10, 3150, 10},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* One repetition of a row: questions a second. */
typedef struct run {
  double weir, igraph;
} run;

typedef struct plan {
  const bench_settings *settings;
  const algo_graph *g;
  algo_weir *weir;
  algo_igraph *igraph; /* or NULL */
  jsonl *out;
  run *runs[ROWS];
  int differ[ROWS];
} plan;

/* ---- Running ---- */

/* A turn of each side over the same questions; the side that begins alternates. Adds their times. */
static void take_turns(plan *p, const row *r, size_t first, unsigned turn, uint64_t ns[2], uint64_t sum[2]) {
  for (unsigned i = 0; i < 2; i++) {
    unsigned side = (i + turn) % 2;
    uint64_t begin = bench_now();
    if (side == 0) {
      r->weir(p->weir, first, r->turn, &sum[0]);
    } else if (p->igraph) {
      r->igraph(p->igraph, first, r->turn, &sum[1]);
    }
    ns[side] += bench_now() - begin;
  }
}

static void run_row(void *grid, unsigned index, unsigned repetition) {
  plan *p = grid;
  const row *r = &rows[index];
  uint64_t limit = (uint64_t)(p->settings->seconds * 1e9);
  uint64_t ns[2] = {0, 0}, sum[2] = {0, 0}, asked = 0;
  if (repetition == 0) { /* warms up */
    take_turns(p, r, 0, 0, (uint64_t[2]){0, 0}, (uint64_t[2]){0, 0});
  }
  for (unsigned turn = 0; ns[0] + ns[1] < 2 * limit; turn++) {
    take_turns(p, r, asked % ALGO_QUESTIONS, turn, ns, sum);
    asked += r->turn;
  }
  run *made = &p->runs[index][repetition];
  made->weir = (double)asked * 1e9 / (double)ns[0];
  made->igraph = p->igraph ? (double)asked * 1e9 / (double)ns[1] : NAN;
  p->differ[index] |= p->igraph && sum[0] != sum[1];
  json_t *line = json_pack("{ss si sI sI}", "work", r->name, "repetition", (int)repetition, "questions",
                           (json_int_t)asked, "sum", (json_int_t)sum[0]);
  jsonl_figure(line, "weir_per_s", made->weir);
  jsonl_figure(line, "igraph_per_s", made->igraph);
  jsonl_figure(line, "ratio", made->weir / made->igraph);
  jsonl_write(p->out, line);
}

/* ---- Reporting ---- */

/* A target and whether it is met, in two cells. */
static void target_cells(table *t, double value, double target) {
  if (target > 0 && !isnan(value)) {
    table_number(t, target);
    table_cell(t, "%s", value >= target ? "met" : "MISSED");
  } else {
    table_cell(t, "-");
    table_cell(t, "%s", "");
  }
}

static void print(const plan *p) {
  unsigned repeat = p->settings->repeat;
  int uniform = !p->g->undirected;
  printf("\nQuestions a second on one thread; medians of %u repetitions.\n\n", repeat);
  table *t = table_new("<work|weir/s|target|<|igraph/s|weir/igraph|(min..max)|target|<|<sums");
  for (unsigned i = 0; i < ROWS; i++) {
    const run *runs = p->runs[i];
    spread weir = spread_of(runs, sizeof *runs, repeat, offsetof(run, weir), NULL, 0);
    spread igraph = spread_of(runs, sizeof *runs, repeat, offsetof(run, igraph), NULL, 0);
    spread ratio = spread_of(runs, sizeof *runs, repeat, offsetof(run, weir), runs, offsetof(run, igraph));
    table_cell(t, "%s", rows[i].text);
    table_number(t, weir.median);
    target_cells(t, weir.median, uniform ? rows[i].rate : 0);
    table_number(t, igraph.median);
    table_number(t, ratio.median);
    table_cell(t, p->igraph ? "(%.2f..%.2f)" : "-", ratio.low, ratio.high);
    target_cells(t, ratio.median, rows[i].ratio);
    table_cell(t, "%s", !p->igraph ? "-" : p->differ[i] ? "DIFFER" : "equal");
  }
  table_print(t);
}

int algo_ask(const bench_settings *settings, const algo_graph *g, algo_weir *weir, algo_igraph *igraph,
             jsonl *out) {
  plan p = {.settings = settings, .g = g, .weir = weir, .igraph = igraph, .out = out};
  int differ = 0;
  for (unsigned i = 0; i < ROWS; i++) {
    p.runs[i] = bench_alloc(settings->repeat * sizeof(run));
  }
  report_turns("questions", settings->repeat, ROWS, run_row, &p);
  print(&p);
  for (unsigned i = 0; i < ROWS; i++) {
    differ |= p.differ[i];
    free(p.runs[i]);
  }
  return differ;
}
