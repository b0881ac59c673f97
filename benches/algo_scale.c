/*
 * How time and memory grow: the works of weir on uniform random graphs with ten edges a node, of several
 * sizes. The slope is that of a straight line through the logarithms of time and edges: 1 is linear.
 *
 * The memory of a work is what the process grows by at most while it runs, beside the projection and the
 * results: a peak that Linux keeps, and sets back on demand.
 */
#include "algo.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ONE, SEVERAL, SIDES };

/* The medians of a work at one size. */
typedef struct point {
  double ms[SIDES];    /* NAN: it was not run */
  double bytes[SIDES]; /* peak */
} point;

typedef struct plan {
  const bench_settings *settings;
  jsonl *out;
  point points[ALGO_WORKS + 1][BENCH_LIST_MAX]; /* the last: making the projection */
} plan;

/* ---- Memory ---- */

/* A line of /proc/self/status, in bytes; NAN if there is none. */
static double status(const char *name) {
  char line[256];
  double kib = NAN;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && isnan(kib) && fgets(line, sizeof line, file)) {
    size_t len = strlen(name);
    if (strncmp(line, name, len) == 0 && line[len] == ':') {
      kib = strtod(line + len + 1, NULL);
    }
  }
  if (file) {
    fclose(file);
  }
  return kib * 1024;
}

/* Sets the peak back to what is in use, and returns that. NAN: it cannot be done here. */
static double reset_peak(void) {
  malloc_trim(0);
  FILE *file = fopen("/proc/self/clear_refs", "w");
  int done = file && fputs("5", file) >= 0;
  if (file && fclose(file) != 0) {
    done = 0;
  }
  return done ? status("VmRSS") : NAN;
}

/* ---- Running ---- */

static void write_line(plan *p, const algo_graph *g, const char *name, int side, double ms, double bytes) {
  json_t *line = json_pack("{ss sI sI si}", "work", name, "nodes", (json_int_t)g->info.nodes, "edges",
                           (json_int_t)g->info.edges, "threads", side == ONE ? 1 : (int)p->settings->threads);
  jsonl_figure(line, "ms", ms);
  jsonl_figure(line, "peak_bytes", bytes);
  jsonl_figure(line, "peak_bytes_per_edge", bytes / (double)g->info.edges);
  jsonl_write(p->out, line);
}

/* The median of up to --repeat runs, fewer once they have taken --repeat times --seconds. */
static void run_work(plan *p, const algo_graph *g, algo_weir *weir, algo_work work, int side, point *out) {
  const bench_settings *s = p->settings;
  double *ms = bench_alloc(s->repeat * sizeof *ms), spent = 0;
  unsigned made = 0, threads = side == ONE ? 1 : s->threads;
  algo_answer answer = {0};
  double before = reset_peak();
  algo_weir_run(weir, work, 0, threads, &answer);
  out->bytes[side] = status("VmHWM") - before;
  while (made < s->repeat && spent < s->seconds * 1e3 * s->repeat) {
    algo_weir_run(weir, work, made, threads, &answer);
    ms[made] = (double)answer.ns / 1e6;
    spent += ms[made++];
  }
  out->ms[side] = bench_median(ms, made);
  free(ms);
  write_line(p, g, algo_name(work), side, out->ms[side], out->bytes[side]);
}

static void run_build(plan *p, const algo_graph *g, int side, point *out) {
  const bench_settings *s = p->settings;
  weir_error err = WEIR_ERROR_INIT;
  weir_projection *made = NULL;
  weir_run how = WEIR_RUN_INIT;
  weir_projection_options options = algo_projection_options(g->undirected);
  double *ms = bench_alloc(s->repeat * sizeof *ms);
  how.threads = side == ONE ? 1 : s->threads;
  for (unsigned i = 0; i < s->repeat; i++) {
    double before = reset_peak();
    uint64_t begin = bench_now();
    bench_check(weir_projection_open(&made, weir_graph_auto(g->store), &options, &how, &err), &err,
                "making a projection");
    ms[i] = (double)(bench_now() - begin) / 1e6;
    out->bytes[side] = status("VmHWM") - before;
    weir_projection_close(made);
  }
  out->ms[side] = bench_median(ms, s->repeat);
  free(ms);
  write_line(p, g, "project", side, out->ms[side], out->bytes[side]);
}

static void remove_store(const char *path) {
  static const char *const ends[] = {"", "-wal", "-shm"};
  char name[PATH_MAX + 8];
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    snprintf(name, sizeof name, "%s%s", path, ends[i]);
    remove(name); /* there may be none */
  }
}

static void run_size(plan *p, unsigned index) {
  bench_settings sized = *p->settings;
  char path[PATH_MAX];
  sized.edges = p->settings->sizes.values[index];
  sized.nodes = sized.edges / 10 ? sized.edges / 10 : 1;
  algo_graph *g = algo_graph_uniform(&sized, 1);
  algo_weir *weir = algo_weir_open(g);
  memcpy(path, g->path, sizeof path);
  for (int side = 0; side < SIDES; side++) {
    report_progress("%u edges: projection", sized.edges);
    run_build(p, g, side, &p->points[ALGO_WORKS][index]);
    for (algo_work work = 0; work < ALGO_WORKS; work++) {
      if (algo_wanted(&sized, g, work)) {
        report_progress("%u edges: %s", sized.edges, algo_name(work));
        run_work(p, g, weir, work, side, &p->points[work][index]);
      }
    }
  }
  report_progress(NULL);
  algo_weir_close(weir);
  algo_graph_close(g);
  remove_store(path);
}

/* ---- Reporting ---- */

/* Of the least squares line through log ms over log edges. NAN: fewer than two points. */
static double slope(const plan *p, const point *points, int side) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (unsigned i = 0; i < p->settings->sizes.count; i++) {
    if (!isnan(points[i].ms[side])) {
      double a = log(p->settings->sizes.values[i]), b = log(points[i].ms[side]);
      n++;
      x += a;
      y += b;
      xx += a * a;
      xy += a * b;
    }
  }
  double below = n * xx - x * x;
  return n < 2 || below <= 0 ? NAN : (n * xy - x * y) / below;
}

static int was_run(const plan *p, const point *points) {
  for (unsigned i = 0; i < p->settings->sizes.count; i++) {
    if (!isnan(points[i].ms[ONE])) {
      return 1;
    }
  }
  return 0;
}

static void print_row(const plan *p, const char *text, const point *points, table *t) {
  const bench_list *sizes = &p->settings->sizes;
  const point *last = &points[sizes->count - 1];
  table_cell(t, "%s", text);
  for (unsigned i = 0; i < sizes->count; i++) {
    table_time(t, points[i].ms[ONE] * 1e3);
  }
  table_number(t, slope(p, points, ONE));
  table_time(t, last->ms[SEVERAL] * 1e3);
  table_number(t, slope(p, points, SEVERAL));
  for (int side = 0; side < SIDES; side++) {
    table_number(t, last->bytes[side] / sizes->values[sizes->count - 1]);
  }
}

static void print(const plan *p) {
  const bench_list *sizes = &p->settings->sizes;
  char heads[512], several[ALGO_THREADS_SIZE];
  algo_threads(p->settings->threads, several);
  int at = snprintf(heads, sizeof heads, "<work");
  for (unsigned i = 0; i < sizes->count; i++) {
    at += snprintf(heads + at, sizeof heads - (size_t)at, "|%.3g edges", (double)sizes->values[i]);
  }
  snprintf(heads + at, sizeof heads - (size_t)at, "|slope|%s|slope|B/edge|%s", several, several);
  printf("\nGrowth with the edges, of which there are ten a node: time of a run on one thread at each size; "
         "then\n"
         "`%s`, at the largest; peak memory at the largest, in bytes an edge, beside projection and "
         "results.\n\n",
         several);
  table *t = table_new(heads);
  print_row(p, "projection", p->points[ALGO_WORKS], t);
  table_rule(t);
  for (algo_work work = 0; work < ALGO_WORKS; work++) {
    if (was_run(p, p->points[work])) {
      print_row(p, algo_text(work), p->points[work], t);
    }
  }
  table_print(t);
}

void algo_scale(const bench_settings *settings, jsonl *out) {
  plan *p = bench_alloc(sizeof *p);
  p->settings = settings;
  p->out = out;
  for (unsigned work = 0; work <= ALGO_WORKS; work++) {
    for (unsigned i = 0; i < BENCH_LIST_MAX; i++) {
      p->points[work][i] = (point){{NAN, NAN}, {NAN, NAN}};
    }
  }
  for (unsigned i = 0; i < settings->sizes.count; i++) {
    run_size(p, i);
  }
  print(p);
  free(p);
}
