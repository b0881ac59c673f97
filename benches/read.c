/*
 * read: what the graph API costs on top of SQLite. One thread reads nodes by key, through the API and through
 * a bare prepared statement on the same file, in turns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "conditions.h"
#include "report.h"
#include "subject.h"

enum { BATCH = 256 /* reads between two looks at the clock, or in one transaction */ };

/* One way to read, open. `batch` reads the nodes items[0..BATCH-1], timing each into `h` unless it is NULL.
 */
typedef struct reading {
  const bench_settings *settings;
  dataset *data;
  tally errors;
  baseline *bare;
  weir_graph *graph;
  weir_arena arena;
  unsigned items[BATCH];
  histogram *h;
} reading;

typedef struct way {
  const char *name;
  weir_mode mode; /* WEIR_MODE_DEFAULT: bare */
  int together;   /* 1: a batch is one transaction */
} way;

static const way ways[] = {
    {"bare", WEIR_MODE_DEFAULT, 0},
    {"pool", WEIR_POOL, 0},
    {"single", WEIR_SINGLE, 0},
    {"bare, 256 in a transaction", WEIR_MODE_DEFAULT, 1},
    {"pool, 256 in a transaction", WEIR_POOL, 1},
    {"single, 256 in a transaction", WEIR_SINGLE, 1},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void compare(reading *r, unsigned item, weir_text got) {
  weir_text want = r->data->props[item];
  if (got.len != want.len || memcmp(got.ptr, want.ptr, want.len) != 0) {
    r->errors.wrong++;
  }
}

static int read_bare(reading *r) {
  for (int i = 0; i < BATCH; i++) {
    uint64_t begin = r->h ? bench_now() : 0;
    weir_text props = {NULL, 0};
    int rc = baseline_get(r->bare, r->data->keys[r->items[i]], &props);
    if (rc != 0) {
      r->errors.other++;
    } else {
      compare(r, r->items[i], props);
    }
    baseline_done(r->bare);
    if (r->h) {
      histogram_record(r->h, bench_now() - begin);
    }
  }
  return 0;
}

static int read_graph(weir_txn *txn, void *data, weir_error *err) {
  reading *r = data;
  for (int i = 0; i < BATCH; i++) {
    uint64_t begin = r->h ? bench_now() : 0;
    weir_node node;
    int rc = weir_node_get(txn, r->data->keys[r->items[i]], &node, &r->arena, err);
    if (rc != WEIR_OK) {
      return rc;
    }
    compare(r, r->items[i], node.props);
    if (r->h) {
      histogram_record(r->h, bench_now() - begin);
    }
  }
  return WEIR_OK;
}

static void read_batch(reading *r, const way *how) {
  weir_error err = WEIR_ERROR_INIT;
  if (how->mode != WEIR_MODE_DEFAULT) {
    weir_txn *txn = weir_graph_auto(r->graph);
    tally_weir(&r->errors,
               how->together ? weir_read(txn, read_graph, r, NULL, &err) : read_graph(txn, r, &err));
    return;
  }
  if (how->together && baseline_begin_read(r->bare) != 0) {
    r->errors.other++;
  }
  read_bare(r);
  if (how->together && baseline_end_read(r->bare) != 0) {
    r->errors.other++;
  }
}

/* Reads for `ns`; returns reads a second. */
static double read_for(reading *r, const way *how, uint64_t ns, uint64_t *random) {
  uint64_t begin = bench_now(), now, count = 0;
  do {
    for (int i = 0; i < BATCH; i++) {
      r->items[i] = (unsigned)bench_below(random, r->data->count);
    }
    read_batch(r, how);
    count += BATCH;
    now = bench_now();
  } while (now - begin < ns);
  return (double)count * 1e9 / (double)(now - begin);
}

/* One repetition: opens, warms up, reads untimed for the rate and timed for the latencies, closes. */
static double run_way(reading *r, const way *how, uint64_t seed, histogram *h) {
  weir_error err = WEIR_ERROR_INIT;
  uint64_t ns = (uint64_t)(r->settings->seconds * 1e9), random = seed;
  if (how->mode == WEIR_MODE_DEFAULT) {
    r->bare = baseline_open(r->data->path, r->settings, WEIR_NORMAL);
  } else {
    weir_pool_options options =
        bench_pool_options(r->settings, how->mode, r->settings->readers.values[0], WEIR_NORMAL);
    bench_check(weir_graph_open(&r->graph, r->data->path, &options, &err), &err, "opening the store");
  }
  r->h = NULL;
  read_for(r, how, ns / 5, &random);
  double rate = read_for(r, how, ns, &random);
  r->h = h;
  read_for(r, how, ns / 5, &random);
  if (how->mode == WEIR_MODE_DEFAULT) {
    baseline_close(r->bare);
  } else {
    bench_check(weir_graph_close(r->graph, &err), &err, "closing the store");
  }
  return rate;
}

/* ---- Reporting ---- */

static double median_ratio(double *const rates[WAYS], int of, int to, unsigned count) {
  double *values = bench_alloc(count * sizeof *values);
  for (unsigned i = 0; i < count; i++) {
    values[i] = rates[of][i] / rates[to][i];
  }
  double median = bench_median(values, count);
  free(values);
  return median;
}

static void print(double *const rates[WAYS], histogram *const hs[WAYS], unsigned count) {
  double ratio[WAYS];
  for (int i = 0; i < WAYS; i++) {
    ratio[i] = median_ratio(rates, i, ways[i].together ? 3 : 0, count);
  }
  printf("\nPoint reads on one thread; median of %u repetitions. Latencies include the clock.\n\n", count);
  table *t = table_new("<way|reads/s|(min..max)|of bare|p50 us|p99 us|p99.9 us|max us");
  for (int i = 0; i < WAYS; i++) {
    quantiles q = histogram_quantiles(hs[i]);
    double median = bench_median(rates[i], count);
    if (i == 3) {
      table_rule(t);
    }
    table_cell(t, "%s", ways[i].name);
    table_number(t, median);
    table_cell(t, "(%.0fK..%.0fK)", rates[i][0] / 1e3, rates[i][count - 1] / 1e3);
    table_number(t, ratio[i]);
    table_number(t, q.p50);
    table_number(t, q.p99);
    table_number(t, q.p999);
    table_number(t, q.max);
  }
  table_print(t);
  puts("\ntargets");
  report_target(ratio[1] >= 0.8, "%-40s %8.3g   (at least 0.8)", "pool / bare, each read by itself",
                ratio[1]);
}

static void defaults(bench_settings *s) {
  s->seconds = 1;
}

static int run(const bench_settings *settings) {
  reading r = {.settings = settings, .data = dataset_make(settings)};
  jsonl *out = jsonl_open(settings, "read");
  double *rates[WAYS];
  histogram *hs[WAYS];
  jsonl_common(out, "durability", json_string("normal"));
  jsonl_common(out, "readers", json_integer(settings->readers.values[0]));
  jsonl_common(out, "synchronous", json_string("NORMAL"));
  jsonl_common(out, "exclusive", json_integer(settings->exclusive));
  conditions_check(settings, r.data, out);
  for (int i = 0; i < WAYS; i++) {
    rates[i] = bench_alloc(settings->repeat * sizeof *rates[i]);
    hs[i] = bench_alloc(sizeof *hs[i]);
  }
  for (unsigned k = 0; k < settings->repeat; k++) {
    for (int i = 0; i < WAYS; i++) {
      report_progress("repetition %u of %u: %s", k + 1, settings->repeat, ways[i].name);
      histogram *h = bench_alloc(sizeof *h);
      rates[i][k] = run_way(&r, &ways[i], settings->seed + k, h);
      json_t *line =
          json_pack("{ss si si sf}", "mode", bench_mode_name(ways[i].mode), "reads_per_transaction",
                    ways[i].together ? BATCH : 1, "repetition", (int)k, "reads_per_s", rates[i][k]);
      jsonl_quantiles(line, "", h);
      jsonl_write(out, line);
      histogram_merge(hs[i], h);
      free(h);
    }
  }
  report_progress(NULL);
  print(rates, hs, settings->repeat);
  dataset_verify(r.data, settings, &r.errors);
  char errors[80];
  if (tally_total(&r.errors) > 0) {
    printf("INVALID: errors: %s\n", tally_text(&r.errors, errors, sizeof errors));
  }
  for (int i = 0; i < WAYS; i++) {
    free(rates[i]);
    free(hs[i]);
  }
  jsonl_close(out);
  weir_arena_clear(&r.arena);
  dataset_free(r.data);
  return tally_total(&r.errors) > 0;
}

const bench_command bench_read = {
    .name = "read",
    .summary = "synchronous point reads through the graph API against a bare statement",
    .help = "One thread reads nodes by key, random keys that are all there: through weir_node_get in both "
            "modes,\n"
            "and through one prepared SELECT on a bare connection to the same file. Each read by itself, and "
            "256\n"
            "in one transaction. What was read is compared with what was stored.\n"
            "\n"
            "examples:\n"
            "  weir-bench read\n"
            "  weir-bench read --exclusive 1\n"
            "  weir-bench read --seconds 0.2 --repeat 3 --db flights.db",
    .takes = "dDsrScxkje",
    .defaults = defaults,
    .run = run,
};
