/*
 * async: what a request through the loop costs, and what the loop feels of it. Round trips of empty reads and
 * of point reads, synchronous and with a number of requests in flight; and the lateness of a timer on that
 * loop while the store is under load.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "lag.h"
#include "report.h"
#include "traffic.h"
#include "uvwork.h"

enum { LOAD_TXN = 100 };
enum operation { EMPTY_READ, POINT_READ, LOOP_LAG, OPERATIONS };

static const char *const modes[] = {"pool", "single", "libuv"};
enum { MODES = sizeof modes / sizeof modes[0] };

static const char *const operations[OPERATIONS] = {"empty read", "point read", "loop lag"};

/* A row of the report: an operation in a mode with a number of requests in flight. 0 in flight is the
 * synchronous call, or, for the lag, a loop and a store without load. */
typedef struct row {
  const char *mode;
  const subject_kind *kind; /* NULL: libuv itself */
  enum operation operation;
  unsigned inflight;
  double *rates; /* one a repetition: requests a second */
  double *p50s;  /* in microseconds */
  histogram *all;
  tally errors;
} row;

typedef struct plan {
  const bench_settings *settings;
  dataset *data;
  jsonl *out;
  unsigned readers, count;
  row *rows;
} plan;

/* ---- Running ---- */

static int nothing(weir_txn *txn, void *data, weir_error *err) {
  (void)txn, (void)data, (void)err;
  return WEIR_OK;
}

static int call(subject *s, enum operation operation, unsigned item, weir_arena *arena) {
  weir_error err = WEIR_ERROR_INIT;
  weir_node node;
  if (operation == EMPTY_READ) {
    return weir_read(subject_weir_auto(s), nothing, NULL, NULL, &err);
  }
  int rc = weir_node_get(subject_weir_auto(s), s->data->keys[item], &node, arena, &err);
  if (rc == WEIR_OK && node.props.len != s->data->props[item].len) {
    s->errors.wrong++;
  }
  return rc;
}

/* Returns how many calls were made in `ns`. */
static uint64_t call_for(subject *s, enum operation operation, uint64_t ns, uint64_t *random, histogram *h) {
  weir_arena arena = WEIR_ARENA_INIT;
  uint64_t begin = bench_now(), before = begin, now = begin, count = 0;
  while (now - begin < ns) {
    tally_weir(&s->errors, call(s, operation, (unsigned)bench_below(random, s->data->count), &arena));
    now = bench_now();
    if (h) {
      histogram_record(h, now - before);
    }
    before = now;
    count++;
  }
  weir_arena_clear(&arena);
  return count;
}

/* The measurements: each warms up for a fifth of `ns`, then records for `ns` and returns events a second. */

static double measure_sync(const row *r, subject *s, uint64_t ns, uint64_t seed, histogram *h) {
  call_for(s, r->operation, ns / 5, &seed, NULL);
  uint64_t begin = bench_now();
  uint64_t count = call_for(s, r->operation, ns, &seed, h);
  return (double)count * 1e9 / (double)(bench_now() - begin);
}

static double measure_async(const row *r, subject *s, uint64_t ns, uint64_t seed, histogram *h) {
  traffic *t = traffic_start(s, r->operation == POINT_READ, r->inflight, seed);
  traffic_run(t, ns / 5);
  traffic_record(t, h);
  uint64_t begin = bench_now(), before = traffic_done(t);
  traffic_run(t, ns);
  double rate = (double)(traffic_done(t) - before) * 1e9 / (double)(bench_now() - begin);
  traffic_record(t, NULL);
  traffic_stop(t);
  return rate;
}

static double measure_lag(const row *r, subject *s, uint64_t ns, uint64_t seed, histogram *h) {
  writer *w = r->inflight ? writer_start(r->kind, s, LOAD_TXN) : NULL;
  traffic *t = r->inflight ? traffic_start(s, 1, r->inflight, seed) : NULL;
  lag *l = lag_start(subject_weir_loop(s));
  lag_run(l, ns / 5, NULL);
  uint64_t begin = bench_now(), before = t ? traffic_done(t) : 0;
  lag_run(l, ns, h);
  double rate = t ? (double)(traffic_done(t) - before) * 1e9 / (double)(bench_now() - begin) : NAN;
  if (t) {
    traffic_stop(t);
  }
  lag_stop(l);
  if (w) {
    writer_stop(w);
  }
  return rate;
}

static double measure(const plan *p, const row *r, subject *s, uint64_t seed, histogram *h) {
  uint64_t ns = (uint64_t)(p->settings->seconds * 1e9);
  double rate;
  if (!r->kind) {
    return uvwork_run(r->inflight, ns, h);
  }
  r->kind->open(s);
  if (r->operation == LOOP_LAG) {
    rate = measure_lag(r, s, ns, seed, h);
  } else if (r->inflight == 0) {
    rate = measure_sync(r, s, ns, seed, h);
  } else {
    rate = measure_async(r, s, ns, seed, h);
  }
  r->kind->close(s);
  dataset_verify(p->data, p->settings, &s->errors);
  return rate;
}

static void run_row(const plan *p, row *r, unsigned repetition) {
  subject s = {.settings = p->settings, .data = p->data, .readers = p->readers, .durability = WEIR_NORMAL};
  histogram *h = bench_alloc(sizeof *h);
  double rate = measure(p, r, &s, p->settings->seed + repetition, h);
  tally_add(&r->errors, &s.errors);
  r->rates[repetition] = rate;
  r->p50s[repetition] = histogram_quantiles(h).p50;
  histogram_merge(r->all, h);

  json_t *line = json_pack("{ss ss si si si sI}", "mode", r->mode, "operation", operations[r->operation],
                           "readers", (int)p->readers, "inflight", (int)r->inflight, "repetition",
                           (int)repetition, "errors", (json_int_t)tally_total(&s.errors));
  if (line && !isnan(rate)) {
    json_object_set_new(line, "reads_per_s", json_real(rate));
  }
  jsonl_quantiles(line, r->operation == LOOP_LAG ? "lag_" : "", h);
  jsonl_write(p->out, line);
  free(h);
}

/* ---- The rows ---- */

static void add_row(plan *p, const char *mode, enum operation operation, unsigned inflight) {
  row *r = &p->rows[p->count++];
  r->mode = mode;
  r->kind = subject_find(mode);
  r->operation = operation;
  r->inflight = inflight;
  r->rates = bench_alloc(p->settings->repeat * sizeof *r->rates);
  r->p50s = bench_alloc(p->settings->repeat * sizeof *r->p50s);
  r->all = bench_alloc(sizeof *r->all);
}

static int applies(const char *mode, enum operation operation, unsigned inflight) {
  return subject_find(mode) || (operation == EMPTY_READ && inflight > 0);
}

/* The modes are innermost, so that what is compared runs side by side. */
static void plan_rows(plan *p) {
  const bench_list *inflight = &p->settings->inflight;
  p->rows = bench_alloc(OPERATIONS * (inflight->count + 1) * MODES * sizeof *p->rows);
  for (enum operation o = 0; o < OPERATIONS; o++) {
    for (unsigned i = 0; i <= inflight->count; i++) {
      unsigned number = i ? inflight->values[i - 1] : 0;
      for (unsigned m = 0; m < MODES; m++) {
        if (bench_listed(p->settings->modes, modes[m]) && applies(modes[m], o, number)) {
          add_row(p, modes[m], o, number);
        }
      }
    }
  }
}

static void free_rows(plan *p) {
  for (unsigned i = 0; i < p->count; i++) {
    free(p->rows[i].rates);
    free(p->rows[i].p50s);
    free(p->rows[i].all);
  }
  free(p->rows);
}

/* ---- Reporting ---- */

static void row_quantiles(table *t, const row *r) {
  quantiles q = histogram_quantiles(r->all);
  table_time(t, q.p50);
  table_time(t, q.p90);
  table_time(t, q.p99);
  table_time(t, q.p999);
  table_time(t, q.max);
}

static void print_round_trips(const plan *p) {
  table *t = table_new("<operation|<mode|in flight|reads/s|(min..max)|p50|p90|p99|p99.9|max");
  enum operation last = OPERATIONS;
  for (unsigned i = 0; i < p->count; i++) {
    const row *r = &p->rows[i];
    if (r->operation == LOOP_LAG) {
      continue;
    }
    if (r->operation != last) {
      table_rule(t);
    }
    last = r->operation;
    table_cell(t, "%s", operations[r->operation]);
    table_cell(t, "%s", r->mode);
    if (r->inflight) {
      table_cell(t, "%u", r->inflight);
    } else {
      table_cell(t, "sync");
    }
    table_number(t, bench_median(r->rates, p->settings->repeat)); /* sorts them */
    table_cell(t, "(%.0fK..%.0fK)", r->rates[0] / 1e3, r->rates[p->settings->repeat - 1] / 1e3);
    row_quantiles(t, r);
  }
  table_print(t);
}

static void print_lag(const plan *p) {
  table *t = table_new("<load|<mode|reads/s|p50|p90|p99|p99.9|max");
  for (unsigned i = 0; i < p->count; i++) {
    const row *r = &p->rows[i];
    if (r->operation != LOOP_LAG) {
      continue;
    }
    if (r->inflight) {
      table_cell(t, "%u reads in flight, a writer (T=%d)", r->inflight, LOAD_TXN);
    } else {
      table_cell(t, "none");
    }
    table_cell(t, "%s", r->mode);
    table_number(t, r->inflight ? bench_median(r->rates, p->settings->repeat) : NAN);
    row_quantiles(t, r);
  }
  table_print(t);
}

static const row *find(const plan *p, const char *mode, enum operation operation, unsigned inflight) {
  for (unsigned i = 0; i < p->count; i++) {
    const row *r = &p->rows[i];
    if (strcmp(r->mode, mode) == 0 && r->operation == operation && r->inflight == inflight) {
      return r;
    }
  }
  return NULL;
}

static void print_targets(const plan *p) {
  const row *one = find(p, "pool", POINT_READ, 1), *many = find(p, "pool", POINT_READ, 256);
  unsigned repeat = p->settings->repeat;
  if (one || many) {
    puts("\ntargets");
  }
  if (many) {
    double rate = bench_median(many->rates, repeat);
    report_target(rate >= 200000, "%-45s %8.0f   (at least 200000)", "point reads a second, 256 in flight",
                  rate);
  }
  if (one) {
    double p50 = bench_median(one->p50s, repeat);
    report_target(p50 < 20, "%-45s %8.3g   (below 20)", "point read alone, round trip p50 in us", p50);
  }
}

static uint64_t print_errors(const plan *p) {
  uint64_t errors = 0;
  char text[80];
  for (unsigned i = 0; i < p->count; i++) {
    const row *r = &p->rows[i];
    if (tally_total(&r->errors) > 0) {
      printf("INVALID ROW %s, %s, %u in flight: errors: %s\n", operations[r->operation], r->mode, r->inflight,
             tally_text(&r->errors, text, sizeof text));
    }
    errors += tally_total(&r->errors);
  }
  return errors;
}

/* ---- The subcommand ---- */

static void defaults(bench_settings *s) {
  s->seconds = 1;
  s->modes = "pool,single,libuv";
  s->inflight = (bench_list){3, {1, 16, 256}};
}

static int run(const bench_settings *settings) {
  plan p = {.settings = settings, .readers = settings->readers.values[0]};
  if (settings->readers.count != 1) {
    bench_fail("async takes one value for --readers");
  }
  bench_check_list("modes", settings->modes, modes, MODES);
  p.data = dataset_make(settings);
  p.out = jsonl_open(settings, "async");
  plan_rows(&p);
  jsonl_common(p.out, "durability", json_string("normal"));
  jsonl_common(p.out, "synchronous", json_string("NORMAL"));
  conditions_check(settings, p.data, p.out);
  for (unsigned k = 0; k < settings->repeat; k++) {
    for (unsigned i = 0; i < p.count; i++) {
      report_progress("repetition %u of %u, row %u of %u", k + 1, settings->repeat, i + 1, p.count);
      run_row(&p, &p.rows[i], k);
    }
  }
  report_progress(NULL);

  printf("\nRound trips through one loop, %u readers; rates are medians of %u repetitions, times are over "
         "all\n\n",
         p.readers, settings->repeat);
  print_round_trips(&p);
  puts("\nLateness of a 1 ms timer on that loop\n");
  print_lag(&p);
  uint64_t errors = print_errors(&p);
  print_targets(&p);
  jsonl_close(p.out);
  free_rows(&p);
  dataset_free(p.data);
  return errors > 0;
}

const bench_command bench_async = {
    .name = "async",
    .summary = "round trips through a libuv loop, and the loop's lag",
    .help =
        "A number of reads is kept in flight on one loop: each, when done, is submitted again. A round\n"
        "trip is timed from submit to callback. `sync` is the same read called directly on one thread. An\n"
        "empty read begins and ends a transaction and does nothing; `libuv` is uv_queue_work with nothing\n"
        "to do. Then the lag of the loop: how late a timer of one millisecond is seen while point reads are\n"
        "in flight and a writer runs.\n"
        "\n"
        "examples:\n"
        "  weir-bench async\n"
        "  weir-bench async --modes pool --inflight 1,256 --seconds 0.5 --repeat 3 --json async.jsonl",
    .takes = "dDmRisrScxkj",
    .defaults = defaults,
    .run = run,
};
