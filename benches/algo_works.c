/*
 * The works: weir on one thread, weir on several and igraph on one take turns, and what they find is compared
 * once a repetition. A side's time is that of its call alone; making it comparable is not timed.
 */
#include "algo.h"

#include <math.h>
#include <stdlib.h>

#include "spread.h"

enum { ONE, SEVERAL, IGRAPH, SIDES };

/* Nodes times edges up to which a work from each node is done from all of them. */
#define SMALL 1e9

typedef struct row {
  const char *name, *text;
  double within; /* values may differ by this, relatively if they are above 1; NAN: they are not comparable */
  int target;    /* 1: no slower than igraph, and faster on several threads */
} row;

static const row rows[ALGO_WORKS] = {
    [ALGO_BFS] = {"bfs", "BFS", 0, 1},
    [ALGO_SSSP] = {"sssp", "SSSP", 0, 1},
    [ALGO_WCC] = {"wcc", "WCC", 0, 1},
    [ALGO_PAGERANK] = {"pagerank", "PageRank", 1e-8, 1},
    [ALGO_PAGERANK_WEIGHTED] = {"pagerank-weighted", "PageRank, weighted", 1e-8, 1},
    [ALGO_LCC] = {"lcc", "LCC", 1e-12, 1},
    [ALGO_CDLP] = {"cdlp", "CDLP, 10 iterations", NAN, 1},
    [ALGO_SCC] = {"scc", "SCC", 0, 0},
    [ALGO_CORE] = {"core", "core numbers", 0, 0},
    [ALGO_TRIANGLES] = {"triangles", "triangles", 0, 0},
    [ALGO_LEIDEN] = {"leiden", "Leiden, 2 iterations", NAN, 0},
    [ALGO_BETWEENNESS] = {"betweenness", "betweenness", 1e-8, 0},
    [ALGO_SAMPLED] = {"sampled", "betweenness, 32 sources", NAN, 0},
    [ALGO_CLOSENESS] = {"closeness", "closeness", 1e-12, 0},
    [ALGO_JACCARD] = {"jaccard", "Jaccard, 20,000 pairs", 1e-12, 0},
    [ALGO_PREDICT] = {"predict", "link prediction", NAN, 0},
    [ALGO_ORDER] = {"order", "order, or a cycle", 0, 0},
    [ALGO_FOREST] = {"forest", "spanning forest", 0, 0},
};

/* One repetition of a row: milliseconds a run. */
typedef struct run {
  double ms[SIDES];
} run;

typedef struct cell {
  algo_work work;
  run *runs;
  int igraph;          /* 1: it has this */
  int comparable;      /* and by the same definition */
  int differ;          /* 1: the sides found different things */
  int threads;         /* 1: several threads found another thing than one */
  double found[SIDES]; /* the number */
} cell;

typedef struct plan {
  const bench_settings *settings;
  const algo_graph *g;
  algo_weir *weir;
  algo_igraph *igraph; /* or NULL */
  jsonl *out;
  unsigned count;
  cell cells[ALGO_WORKS];
  double *values[SIDES];
} plan;

/* ---- What is wanted ---- */

const char *algo_name(algo_work work) {
  return rows[work].name;
}

const char *algo_text(algo_work work) {
  return rows[work].text;
}

const char *algo_threads(unsigned threads, char out[ALGO_THREADS_SIZE]) {
  if (threads == 0) {
    snprintf(out, ALGO_THREADS_SIZE, "default");
  } else {
    snprintf(out, ALGO_THREADS_SIZE, "%u thread%s", threads, threads == 1 ? "" : "s");
  }
  return out;
}

int algo_wanted(const bench_settings *settings, const algo_graph *g, algo_work work) {
  int small = (double)g->info.nodes * (double)g->info.edges <= SMALL;
  if ((work == ALGO_BETWEENNESS || work == ALGO_CLOSENESS) && !small) {
    return 0;
  }
  if ((work == ALGO_SAMPLED && small) || (work == ALGO_ORDER && g->undirected)) {
    return 0;
  }
  return bench_listed(settings->works, rows[work].name);
}

/* ---- Comparing ---- */

static int near(double a, double b, double within) {
  double size = fabs(a) > 1 ? fabs(a) : 1;
  return (isnan(a) && isnan(b)) || (isinf(a) && isinf(b)) || fabs(a - b) <= within * size;
}

static int alike(const algo_answer *a, const algo_answer *b, double within) {
  int same = a->count == b->count;
  for (size_t i = 0; same && i < a->count; i++) {
    same = near(a->values[i], b->values[i], within);
  }
  return same && (isnan(a->number) || isnan(b->number) || near(a->number, b->number, within));
}

/* Communities have no values to compare; their modularity says how good they are, by the same function. */
static void judge_communities(const plan *p, algo_answer *answer) {
  weir_error err = WEIR_ERROR_INIT;
  uint32_t *community = bench_alloc(answer->count * sizeof *community);
  for (size_t i = 0; i < answer->count; i++) {
    community[i] = (uint32_t)answer->values[i];
  }
  bench_check(weir_modularity(p->g->projection, community, 1, NULL, &answer->number, &err), &err,
              "modularity");
  free(community);
}

static void compare(const plan *p, cell *c, algo_answer answers[SIDES]) {
  for (int side = 0; side < SIDES; side++) {
    if ((c->work == ALGO_LEIDEN || c->work == ALGO_CDLP) && answers[side].count > 0) {
      judge_communities(p, &answers[side]);
    }
    c->found[side] = answers[side].number;
  }
  c->threads |= !alike(&answers[ONE], &answers[SEVERAL], 0);
  c->differ |= c->comparable && !alike(&answers[ONE], &answers[IGRAPH], rows[c->work].within);
}

/* ---- Running ---- */

static void take_turn(plan *p, cell *c, unsigned turn, int look, uint64_t ns[SIDES]) {
  algo_answer answers[SIDES];
  for (unsigned i = 0; i < SIDES; i++) {
    unsigned side = (i + turn) % SIDES;
    answers[side] = (algo_answer){.values = look ? p->values[side] : NULL, .number = NAN};
    if (side != IGRAPH) {
      algo_weir_run(p->weir, c->work, turn, side == ONE ? 1 : p->settings->threads, &answers[side]);
    } else if (c->igraph) {
      algo_igraph_run(p->igraph, c->work, turn, &answers[side]);
    }
    ns[side] += answers[side].ns;
  }
  if (look) {
    compare(p, c, answers);
  }
}

static void run_cell(void *grid, unsigned index, unsigned repetition) {
  plan *p = grid;
  cell *c = &p->cells[index];
  const row *r = &rows[c->work];
  uint64_t limit = (uint64_t)(p->settings->seconds * 1e9), ns[SIDES] = {0, 0, 0};
  unsigned turns = 0;
  if (repetition == 0) { /* warms up */
    take_turn(p, c, 0, 0, (uint64_t[SIDES]){0, 0, 0});
  }
  while (turns == 0 || ns[ONE] + ns[SEVERAL] + ns[IGRAPH] < SIDES * limit) {
    take_turn(p, c, repetition + turns, turns == 0, ns);
    turns++;
  }
  run *made = &c->runs[repetition];
  for (int side = 0; side < SIDES; side++) {
    made->ms[side] = side == IGRAPH && !c->igraph ? NAN : (double)ns[side] / 1e6 / turns;
  }
  json_t *line = json_pack("{ss si si sb sb sb}", "work", r->name, "repetition", (int)repetition, "turns",
                           (int)turns, "comparable", c->comparable, "equal", c->comparable && !c->differ,
                           "threads_equal", !c->threads);
  jsonl_figure(line, "weir_ms", made->ms[ONE]);
  jsonl_figure(line, "weir_threads_ms", made->ms[SEVERAL]);
  jsonl_figure(line, "igraph_ms", made->ms[IGRAPH]);
  jsonl_figure(line, "igraph_to_weir", made->ms[IGRAPH] / made->ms[ONE]);
  jsonl_figure(line, "one_to_threads", made->ms[ONE] / made->ms[SEVERAL]);
  jsonl_figure(line, "weir_found", c->found[ONE]);
  jsonl_figure(line, "igraph_found", c->found[IGRAPH]);
  jsonl_write(p->out, line);
}

/* ---- Reporting ---- */

static spread times(const plan *p, const cell *c, int side, int below) {
  return spread_of(c->runs, sizeof(run), p->settings->repeat,
                   offsetof(run, ms) + sizeof(double) * (size_t)side, below < 0 ? NULL : c->runs,
                   offsetof(run, ms) + sizeof(double) * (size_t)(below < 0 ? 0 : below));
}

static void verdict_cell(table *t, const row *r, int known, int met) {
  table_cell(t, "%s", !r->target || !known ? "" : met ? "met" : "MISSED");
}

/* Done in less than a millisecond: a thread takes some tens of microseconds to start, which would not pay. */
static int is_short(const plan *p, const cell *c) {
  return times(p, c, ONE, -1).median < 1;
}

static void print_row(const plan *p, const cell *c, table *t) {
  const row *r = &rows[c->work];
  spread beside = times(p, c, IGRAPH, ONE), gain = times(p, c, ONE, SEVERAL);
  table_cell(t, "%s", r->text);
  for (int side = 0; side < SIDES; side++) {
    table_time(t, times(p, c, side, -1).median * 1e3);
  }
  table_number(t, beside.median);
  table_cell(t, c->igraph ? "(%.2f..%.2f)" : "-", beside.low, beside.high);
  verdict_cell(t, r, c->igraph, beside.median >= 1);
  table_number(t, gain.median);
  if (is_short(p, c)) {
    table_cell(t, "short");
  } else {
    verdict_cell(t, r, 1, gain.median > 1);
  }
  table_cell(t, "%s", c->threads ? "THREADS" : c->differ ? "DIFFER" : c->comparable ? "equal" : "-");
}

static void print(const plan *p) {
  char heads[160], several[ALGO_THREADS_SIZE];
  algo_threads(p->settings->threads, several);
  printf(
      "\nTime of a run; `1 thread` and `%s` are weir's, igraph has one thread; medians of %u repetitions.\n"
      "igraph/1: igraph's time to that of `1 thread`, target 1; gain: `1 thread` to `%s`, target above 1\n"
      "(short: less than a millisecond, too little for a second thread).\n\n",
      several, p->settings->repeat, several);
  snprintf(heads, sizeof heads, "<work|1 thread|%s|igraph|igraph/1|(min..max)|<|gain|<|<found", several);
  table *t = table_new(heads);
  int targets = 1;
  for (unsigned i = 0; i < p->count; i++) {
    if (targets && !rows[p->cells[i].work].target) {
      table_rule(t);
      targets = 0;
    }
    print_row(p, &p->cells[i], t);
  }
  table_print(t);
}

static void print_notes(const plan *p) {
  for (unsigned i = 0; i < p->count; i++) {
    const cell *c = &p->cells[i];
    if (c->work == ALGO_LEIDEN || c->work == ALGO_CDLP) {
      printf("%s: modularity %.4f", rows[c->work].text, c->found[ONE]);
      if (c->igraph) {
        printf(", of igraph's %.4f", c->found[IGRAPH]);
      }
      putchar('\n');
    }
    if (c->threads) {
      printf("INVALID ROW %s: the number of threads makes a difference\n", rows[c->work].text);
    }
    if (c->differ) {
      printf("INVALID ROW %s: weir and igraph found different things\n", rows[c->work].text);
    }
  }
}

int algo_run(const bench_settings *settings, const algo_graph *g, algo_weir *weir, algo_igraph *igraph,
             jsonl *out) {
  plan p = {.settings = settings, .g = g, .weir = weir, .igraph = igraph, .out = out};
  int differ = 0;
  for (int side = 0; side < SIDES; side++) {
    p.values[side] = bench_alloc(algo_room(g) * sizeof(double));
  }
  for (algo_work work = 0; work < ALGO_WORKS; work++) {
    if (algo_wanted(settings, g, work)) {
      cell *c = &p.cells[p.count++];
      c->work = work;
      c->runs = bench_alloc(settings->repeat * sizeof *c->runs);
      c->igraph = igraph && algo_igraph_has(work);
      c->comparable = c->igraph && !isnan(rows[work].within) && !(work == ALGO_LCC && !g->undirected);
    }
  }
  report_turns("algorithms", settings->repeat, p.count, run_cell, &p);
  print(&p);
  print_notes(&p);
  for (unsigned i = 0; i < p.count; i++) {
    differ |= p.cells[i].differ | p.cells[i].threads;
    free(p.cells[i].runs);
  }
  for (int side = 0; side < SIDES; side++) {
    free(p.values[side]);
  }
  return differ;
}
