/*
 * queries: what asking a graph costs on top of SQLite. One thread asks the same questions of weir and of the
 * bare statements or loops that answer them, on the same file, in short turns.
 */
#include "queries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "conditions.h"
#include "report.h"
#include "spread.h"

typedef struct row {
  const char *name, *text;
  queries_work work;
  int together;    /* 1: the questions of a turn are one transaction */
  unsigned turn;   /* questions that a side answers before it is the other's turn */
  unsigned length; /* questions in the list that is gone through, again and again; fewer for a small graph */
  double target;   /* of the ratio; 0: none */
} row;

static const row rows[] = {
    {"point", "point read by key", QUERIES_POINT, 0, 250, 50000, 0.9},
    {"hop", "one hop out, neighbor keys", QUERIES_HOP, 0, 100, 20000, 1.0},
    {"within", "within 3 hops; bare: a loop", QUERIES_WITHIN, 0, 4, 200, 1.0},
    {"within-cte", "within 3 hops; bare: recursive", QUERIES_WITHIN_CTE, 0, 4, 200, 3.0},
    {"path", "shortest path; bare: a loop", QUERIES_PATH, 0, 4, 500, 1.0},
    {"find", "nodes with a value, by an index", QUERIES_VALUE, 0, 250, 50000, 0.8},
    {"point-together", "point read, 250 together", QUERIES_POINT, 1, 250, 50000, 0},
    {"hop-together", "one hop out, 100 together", QUERIES_HOP, 1, 100, 20000, 0},
    {"find-together", "nodes with a value, 250 together", QUERIES_VALUE, 1, 250, 50000, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0], FIRST_TOGETHER = ROWS - 3 };

/* One repetition of a row: questions a second. */
typedef struct run {
  double weir, bare;
} run;

typedef struct cell {
  const row *row;
  question *list;
  unsigned length; /* of the list; a multiple of row->turn */
  run *runs;
  uint64_t sum; /* of the whole list */
  int differ;   /* the sides got different sums */
} cell;

typedef struct plan {
  const bench_settings *settings;
  uniform data;
  queries_weir *weir;
  queries_bare *bare;
  jsonl *out;
  unsigned count;
  cell cells[ROWS];
} plan;

/* ---- Running ---- */

static void make_list(const plan *p, cell *c) {
  uint64_t random = p->settings->seed + 1;
  unsigned turns = p->data.nodes / c->row->turn + 1;
  c->length = turns < c->row->length / c->row->turn ? turns * c->row->turn : c->row->length;
  c->list = bench_alloc(c->length * sizeof *c->list);
  for (unsigned i = 0; i < c->length; i++) {
    question *q = &c->list[i];
    q->from_key = uniform_key(q->from, (unsigned)bench_below(&random, p->data.nodes));
    q->to_key = uniform_key(q->to, (unsigned)bench_below(&random, p->data.nodes));
    q->value = (int64_t)bench_below(&random, p->data.value_below);
  }
}

/* One turn of each side over the same questions; the side that begins alternates. Adds their times. */
static void take_turns(plan *p, cell *c, unsigned first, unsigned count, unsigned turn, uint64_t ns[2],
                       uint64_t sum[2]) {
  for (unsigned i = 0; i < 2; i++) {
    unsigned side = (i + turn) % 2;
    uint64_t begin = bench_now();
    if (side == 0) {
      queries_weir_ask(p->weir, c->row->work, c->list + first, count, c->row->together, &sum[0]);
    } else {
      queries_bare_ask(p->bare, c->row->work, c->list + first, count, c->row->together, &sum[1]);
    }
    ns[side] += bench_now() - begin;
  }
}

/* Goes through the whole list once: this warms both sides up, and gives the sum that is reported. */
static void warm_up(plan *p, cell *c) {
  uint64_t ns[2] = {0, 0}, sum[2] = {0, 0};
  for (unsigned at = 0, turn = 0; at < c->length; at += c->row->turn, turn++) {
    take_turns(p, c, at, c->row->turn, turn, ns, sum);
  }
  c->sum = sum[0];
  c->differ |= sum[0] != sum[1];
}

static void run_cell(void *grid, unsigned index, unsigned repetition) {
  plan *p = grid;
  cell *c = &p->cells[index];
  uint64_t limit = (uint64_t)(p->settings->seconds * 1e9);
  uint64_t ns[2] = {0, 0}, sum[2] = {0, 0}, asked = 0;
  if (repetition == 0) {
    warm_up(p, c);
  }
  for (unsigned at = 0, turn = 0; ns[0] + ns[1] < 2 * limit; turn++) {
    take_turns(p, c, at, c->row->turn, turn, ns, sum);
    asked += c->row->turn;
    at = (at + c->row->turn) % c->length;
  }
  run *r = &c->runs[repetition];
  r->weir = (double)asked * 1e9 / (double)ns[0];
  r->bare = (double)asked * 1e9 / (double)ns[1];
  c->differ |= sum[0] != sum[1];
  json_t *line = json_pack("{ss si si sI sb}", "work", c->row->name, "repetition", (int)repetition,
                           "questions_per_transaction", c->row->together ? (int)c->row->turn : 1, "questions",
                           (json_int_t)asked, "sums_equal", sum[0] == sum[1]);
  jsonl_figure(line, "weir_per_s", r->weir);
  jsonl_figure(line, "bare_per_s", r->bare);
  jsonl_figure(line, "ratio", r->weir / r->bare);
  jsonl_write(p->out, line);
}

/* ---- Reporting ---- */

static void print(const plan *p) {
  unsigned repeat = p->settings->repeat;
  printf("\nQuestions a second on one thread; medians of %u repetitions.\n\n", repeat);
  table *t = table_new("<work|weir/s|bare/s|ratio|(min..max)|target|<|<sums|sum of the list");
  for (unsigned i = 0; i < p->count; i++) {
    const cell *c = &p->cells[i];
    spread weir = spread_of(c->runs, sizeof *c->runs, repeat, offsetof(run, weir), NULL, 0);
    spread bare = spread_of(c->runs, sizeof *c->runs, repeat, offsetof(run, bare), NULL, 0);
    spread ratio =
        spread_of(c->runs, sizeof *c->runs, repeat, offsetof(run, weir), c->runs, offsetof(run, bare));
    if (c->row == &rows[FIRST_TOGETHER]) {
      table_rule(t);
    }
    table_cell(t, "%s", c->row->text);
    table_number(t, weir.median);
    table_number(t, bare.median);
    table_number(t, ratio.median);
    table_cell(t, "(%.2f..%.2f)", ratio.low, ratio.high);
    table_cell(t, c->row->target > 0 ? "%.1f" : "-", c->row->target);
    table_cell(t, "%s", c->row->target <= 0 ? "" : ratio.median >= c->row->target ? "met" : "MISSED");
    table_cell(t, "%s", c->differ ? "DIFFER" : "equal");
    table_cell(t, "%016" PRIx64, c->sum);
  }
  table_print(t);
}

static void print_store(const plan *p) {
  struct stat st;
  if (stat(p->data.path, &st) != 0) {
    bench_fail("cannot stat %s", p->data.path);
  }
  printf("store: %u nodes, %u edges, %.1f MB, made in %.1f s\n", p->data.nodes, p->data.edges,
         (double)st.st_size / 1e6, p->data.seconds);
  jsonl_common(p->out, "nodes", json_integer(p->data.nodes));
  jsonl_common(p->out, "edges", json_integer(p->data.edges));
}

/* ---- The subcommand ---- */

static void defaults(bench_settings *s) {
  s->seconds = 1;
  s->nodes = 100000;
  s->edges = 1000000;
  s->cache_kib = 512 * 1024;
  s->works = "point,hop,within,within-cte,path,find,point-together,hop-together,find-together";
}

static void plan_cells(plan *p) {
  const char *names[ROWS];
  for (unsigned i = 0; i < ROWS; i++) {
    names[i] = rows[i].name;
  }
  bench_check_list("works", p->settings->works, names, ROWS);
  for (unsigned i = 0; i < ROWS; i++) {
    if (bench_listed(p->settings->works, rows[i].name)) {
      cell *c = &p->cells[p->count++];
      c->row = &rows[i];
      c->runs = bench_alloc(p->settings->repeat * sizeof *c->runs);
      make_list(p, c);
    }
  }
}

static int has_find(const plan *p) {
  int found = 0;
  for (unsigned i = 0; i < p->count; i++) {
    found |= p->cells[i].row->work == QUERIES_VALUE;
  }
  return found;
}

static void set_up(plan *p) {
  report_progress("making the store");
  uniform_make(&p->data, p->settings);
  plan_cells(p);
  report_progress("making the indexes");
  queries_bare_index(&p->data, p->settings);
  if (has_find(p)) {
    queries_weir_index(&p->data, p->settings);
  }
  report_progress(NULL);
  p->out = jsonl_open(p->settings, "queries");
  jsonl_common(p->out, "durability", json_string("normal"));
  conditions_check_file(p->settings, p->data.path, p->out);
  print_store(p);
  p->weir = queries_weir_open(&p->data, p->settings);
  p->bare = queries_bare_open(&p->data, p->settings);
}

static int run_queries(const bench_settings *settings) {
  plan p = {.settings = settings};
  int differ = 0;
  set_up(&p);
  report_turns("queries", settings->repeat, p.count, run_cell, &p);
  print(&p);
  for (unsigned i = 0; i < p.count; i++) {
    if (p.cells[i].differ) {
      printf("INVALID ROW %s: weir and the bare statements found different things\n", p.cells[i].row->text);
    }
    differ |= p.cells[i].differ;
    free(p.cells[i].list);
    free(p.cells[i].runs);
  }
  queries_bare_close(p.bare);
  queries_weir_close(p.weir);
  jsonl_close(p.out);
  return differ;
}

const bench_command bench_queries = {
    .name = "queries",
    .summary = "reads, neighbors, reachability, paths and finds against bare SQLite",
    .help =
        "A store with a uniform random graph is made through weir. One thread asks the same questions of "
        "weir\n"
        "and of a bare connection to the same file, in short turns, and what they find is summed up and\n"
        "compared. Both have the same pragmas and page cache. Each question is a read transaction of its "
        "own;\n"
        "the rows `together` ask those of a turn in one.\n"
        "\n"
        "  point       weir_node_get; bare: one SELECT of the same columns by key\n"
        "  hop         weir_neighbors with the neighbors' keys; bare: one join of node, edge and node\n"
        "  within      weir_within_count; bare: a breadth-first loop over a statement by number, with an\n"
        "              open-addressing set that is kept\n"
        "  within-cte  the same; bare: one recursive statement with UNION\n"
        "  path        weir_path_shortest; bare: such a loop from both ends, which finds the length alone\n"
        "  find        weir_node_find by an indexed property; bare: a SELECT on a copy of the file with an\n"
        "              index on json_extract(props, '$.value')\n"
        "\n"
        "The cache holds the whole store unless --cache is less. The sums do not depend on the machine: "
        "with\n"
        "the same seed and sizes they are the same everywhere.\n"
        "\n"
        "examples:\n"
        "  weir-bench queries\n"
        "  weir-bench queries --works point,hop --seconds 0.3 --repeat 9\n"
        "  weir-bench queries --nodes 10000 --edges 100000 --cache 2048 --json queries.jsonl",
    .takes = "DGEQsrScxkj",
    .defaults = defaults,
    .run = run_queries,
};
