/*
 * How fast a projection is made of the store. Beside it a bare scan of the same columns, which reads the
 * edges and drops them: the floor for whoever reads them by SQL.
 */
#include "algo.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "baseline.h"
#include "spread.h"

enum { BARE = -1 };

typedef struct row {
  const char *name, *text;
  int threads; /* BARE; 0: the default */
  weir_cost weight;
  double target; /* edges a second; 0: none */
} row;

static const row rows[] = {
    {"bare-scan", "bare scan of src, dst, weight", BARE, WEIR_COST_HOPS, 0},
    {"project", "projection with weights", 0, WEIR_COST_WEIGHT, 5e6},
    {"project-1", "the same, one thread", 1, WEIR_COST_WEIGHT, 0},
    {"project-unweighted", "projection without weights", 0, WEIR_COST_HOPS, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct run {
  double rate; /* edges a second */
} run;

typedef struct plan {
  const bench_settings *settings;
  algo_graph *g;
  sqlite3 *db;
  sqlite3_stmt *scan;
  jsonl *out;
  run *runs[ROWS];
} plan;

static volatile double kept; /* what the scan sums up is used, as far as the compiler knows */

/* ---- Running ---- */

/* Returns the edges read. */
static uint64_t scan_bare(const plan *p) {
  double sum = 0;
  uint64_t read = 0;
  while (sqlite3_step(p->scan) == SQLITE_ROW) {
    sum += (double)(sqlite3_column_int64(p->scan, 0) ^ sqlite3_column_int64(p->scan, 1)) +
           sqlite3_column_double(p->scan, 2);
    read++;
  }
  if (sqlite3_reset(p->scan) != SQLITE_OK) {
    bench_fail("bare SQLite: %s", sqlite3_errmsg(p->db));
  }
  kept = sum;
  return read;
}

static weir_projection *project(const plan *p, const row *r) {
  weir_error err = WEIR_ERROR_INIT;
  weir_projection *made = NULL;
  weir_run how = WEIR_RUN_INIT;
  weir_projection_options options = algo_projection_options(p->g->undirected);
  options.weight = r->weight;
  how.threads = (unsigned)r->threads;
  bench_check(weir_projection_open(&made, weir_graph_auto(p->g->store), &options, &how, &err), &err,
              "making a projection");
  return made;
}

/* Freeing what was made is not timed. */
static double time_row(const plan *p, const row *r) {
  uint64_t begin = bench_now(), ns = 0, edges = 0;
  if (r->threads == BARE) {
    edges = scan_bare(p);
    ns = bench_now() - begin;
  } else {
    weir_projection *made = project(p, r);
    weir_projection_info info;
    ns = bench_now() - begin;
    weir_projection_describe(made, &info);
    edges = info.edges;
    weir_projection_close(made);
  }
  if (edges != p->g->info.edges) {
    bench_fail("%s: %llu edges instead of %llu", r->text, (unsigned long long)edges,
               (unsigned long long)p->g->info.edges);
  }
  return (double)edges * 1e9 / (double)ns;
}

static void run_row(void *grid, unsigned index, unsigned repetition) {
  plan *p = grid;
  if (repetition == 0) {
    time_row(p, &rows[index]); /* fills the page cache */
  }
  double rate = p->runs[index][repetition].rate = time_row(p, &rows[index]);
  json_t *line = json_pack("{ss si}", "work", rows[index].name, "repetition", (int)repetition);
  jsonl_figure(line, "edges_per_s", rate);
  jsonl_write(p->out, line);
}

/* ---- Reporting ---- */

static void print(const plan *p) {
  unsigned repeat = p->settings->repeat;
  printf("\nMaking the projection: edges a second, medians of %u repetitions.\n\n", repeat);
  table *t = table_new("<work|edges/s|of the scan|(min..max)|target|<");
  for (unsigned i = 0; i < ROWS; i++) {
    spread rate = spread_of(p->runs[i], sizeof(run), repeat, offsetof(run, rate), NULL, 0);
    spread part =
        spread_of(p->runs[i], sizeof(run), repeat, offsetof(run, rate), p->runs[0], offsetof(run, rate));
    table_cell(t, "%s", rows[i].text);
    table_number(t, rate.median);
    table_cell(t, "%.2f", part.median);
    table_cell(t, "(%.2f..%.2f)", part.low, part.high);
    if (rows[i].target > 0) {
      table_number(t, rows[i].target);
      table_cell(t, "%s", rate.median >= rows[i].target ? "met" : "MISSED");
    } else {
      table_cell(t, "-");
      table_cell(t, "%s", "");
    }
  }
  table_print(t);
}

/* What a projection without edges takes is due to the nodes. */
static void print_memory(const plan *p) {
  weir_error err = WEIR_ERROR_INIT;
  weir_projection *made = NULL;
  weir_projection_info info;
  weir_text none = WEIR_TEXT("no such label");
  weir_projection_options options = algo_projection_options(p->g->undirected);
  options.edge_labels = &none;
  options.edge_label_count = 1;
  bench_check(weir_projection_open(&made, weir_graph_auto(p->g->store), &options, NULL, &err), &err,
              "making a projection");
  weir_projection_describe(made, &info);
  weir_projection_close(made);
  double node = (double)info.bytes / (double)info.nodes;
  double edge =
      p->g->info.edges ? ((double)p->g->info.bytes - (double)info.bytes) / (double)p->g->info.edges : 0;
  printf("memory: %.1f MB, %.1f bytes an edge and %.1f a node with its key\n", (double)p->g->info.bytes / 1e6,
         edge, node);
  json_t *line = json_pack("{ss sI}", "work", "memory", "bytes", (json_int_t)p->g->info.bytes);
  jsonl_figure(line, "bytes_per_edge", edge);
  jsonl_figure(line, "bytes_per_node", node);
  jsonl_write(p->out, line);
}

void algo_build(const bench_settings *settings, algo_graph *g, jsonl *out) {
  plan p = {.settings = settings, .g = g, .out = out};
  p.db = baseline_connect(g->path, settings, WEIR_NORMAL);
  if (sqlite3_prepare_v2(p.db, "SELECT src, dst, weight FROM edge", -1, &p.scan, NULL) != SQLITE_OK) {
    bench_fail("bare SQLite: %s", sqlite3_errmsg(p.db));
  }
  for (unsigned i = 0; i < ROWS; i++) {
    p.runs[i] = bench_alloc(settings->repeat * sizeof(run));
  }
  report_turns("projection", settings->repeat, ROWS, run_row, &p);
  print(&p);
  print_memory(&p);
  for (unsigned i = 0; i < ROWS; i++) {
    free(p.runs[i]);
  }
  sqlite3_finalize(p.scan);
  if (sqlite3_close(p.db) != SQLITE_OK) {
    bench_fail("bare SQLite: %s", sqlite3_errmsg(p.db));
  }
}
