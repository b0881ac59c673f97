/*
 * pinned: what a forgotten snapshot does to the WAL beside a writer. SQLite cannot begin the log anew while
 * someone reads an old state of it, so it grows; the pool can end a snapshot that has become too old. A curve
 * for each mode, and no repetitions.
 */
#include "pinned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "report.h"

static const char *const modes[] = {"pool", "bare"};
enum { MODES = sizeof modes / sizeof modes[0] };

/* As a file size: each page in the WAL has a header. */
static double hard_limit_mib(const bench_settings *settings) {
  return (double)settings->checkpoint * PINNED_LIMIT * (4096 + 24) / (1 << 20);
}

static void write_lines(jsonl *out, const char *mode, const pinned_run *run) {
  for (unsigned i = 0; i < run->count; i++) {
    const pinned_sample *s = &run->samples[i];
    json_t *line = json_pack("{ss si sI}", "mode", mode, "sample", (int)i, "errors",
                             (json_int_t)tally_total(&run->errors));
    jsonl_figure(line, "at_s", s->at_s);
    jsonl_figure(line, "held_s", s->held_s);
    jsonl_figure(line, "wal_mib", s->wal_mib);
    jsonl_figure(line, "used_mib", s->used_mib);
    jsonl_figure(line, "checkpoints", s->checkpoints);
    jsonl_figure(line, "commits_per_s", s->commits_per_s);
    jsonl_figure(line, "slowest_us", s->slowest_us);
    jsonl_figure(line, "evicted_s", run->evicted_s);
    jsonl_write(out, line);
  }
}

static double peak(const pinned_run *run) {
  double most = 0;
  for (unsigned i = 0; i < run->count; i++) {
    most = fmax(most, run->samples[i].wal_mib);
  }
  return most;
}

static void print_run(const char *mode, const pinned_run *run) {
  static const char bar[] = "########################################";
  double most = peak(run);
  printf("\n== %s ==\n\n", mode);
  table *t = table_new("time|WAL MiB|<|used MiB|checkpoints|oldest reader|commits/s|slowest");
  for (unsigned i = 0; i < run->count; i++) {
    const pinned_sample *s = &run->samples[i];
    int length = most > 0 ? (int)lround(s->wal_mib / most * (double)(sizeof bar - 1)) : 0;
    table_cell(t, "%.1f s", s->at_s);
    table_number(t, s->wal_mib);
    table_cell(t, "%.*s", length, bar);
    table_number(t, s->used_mib);
    if (isnan(s->checkpoints)) {
      table_cell(t, "-");
    } else {
      table_cell(t, "%.0f", s->checkpoints);
    }
    if (isnan(s->held_s)) {
      table_cell(t, "none");
    } else {
      table_cell(t, "%.1f s", s->held_s);
    }
    table_number(t, s->commits_per_s);
    table_time(t, s->slowest_us);
  }
  table_print(t);
  if (run->stopped) {
    puts("stopped: the WAL has passed 2 GiB");
  }
  if (!isnan(run->evicted_s)) {
    printf("the pool has ended the snapshot, found at %.1f s\n", run->evicted_s);
  }
}

/* The largest WAL at or after `from` seconds, while the snapshot was wanted; NAN if there is none. */
static double largest_after(const pinned_run *run, double from) {
  double most = NAN;
  for (unsigned i = 0; i < run->count && i < PINNED_SAMPLES; i++) {
    if (run->samples[i].at_s >= from) {
      most = fmax(most, run->samples[i].wal_mib);
    }
  }
  return most;
}

/* Two intervals are allowed for the pool to notice, and for the log to begin anew. */
static void print_target(const bench_settings *settings, const pinned_run *run) {
  double from = pinned_age_s(settings) + 2 * settings->seconds / PINNED_SAMPLES;
  double most = largest_after(run, from), limit = hard_limit_mib(settings);
  puts("\ntargets");
  report_target(most <= limit, "pool: WAL in MiB from %.1f s on            %8.3g   (at most %.3g)", from,
                most, limit);
}

static void defaults(bench_settings *s) {
  s->modes = "pool,bare";
  s->seconds = 20;
  s->txn = (bench_list){1, {1}};
  s->rate = (bench_list){1, {1000}};
}

static int run(const bench_settings *settings) {
  uint64_t errors = 0;
  char text[80];
  bench_check_list("modes", settings->modes, modes, MODES);
  if (settings->txn.count > 1 || settings->rate.count > 1 || settings->durability.count > 1 ||
      settings->readers.count > 1) {
    bench_fail("pinned takes one value for --txn, --rate, --durability and --readers");
  }
  dataset *data = dataset_make(settings);
  jsonl *out = jsonl_open(settings, "pinned");
  conditions_check(settings, data, out);
  jsonl_common(out, "rate", json_integer(settings->rate.values[0]));
  jsonl_common(out, "txn", json_integer(settings->txn.values[0]));
  jsonl_common(out, "readers", json_integer(settings->readers.values[0]));
  jsonl_common(out, "durability", json_string(bench_durability_name(settings->durability.values[0])));
  jsonl_common(out, "age_s", json_real(pinned_age_s(settings)));
  jsonl_common(out, "limit_mib", json_real(hard_limit_mib(settings)));
  printf("%u transactions a second of %u upserts, %s; a snapshot wanted for %g s. The pool's limits: %.3g s\n"
         "  for a reader that is in the way, %.3g MiB of WAL\n",
         settings->rate.values[0], settings->txn.values[0],
         bench_durability_name(settings->durability.values[0]), settings->seconds, pinned_age_s(settings),
         hard_limit_mib(settings));
  for (unsigned m = 0; m < MODES; m++) {
    if (!bench_listed(settings->modes, modes[m])) {
      continue;
    }
    pinned_run *found = bench_alloc(sizeof *found);
    report_progress("%s", modes[m]);
    pinned_run_once(settings, data, m == 1, found);
    report_progress(NULL);
    print_run(modes[m], found);
    write_lines(out, modes[m], found);
    if (m == 0) {
      print_target(settings, found);
    }
    if (tally_total(&found->errors) > 0) {
      printf("INVALID: errors: %s\n", tally_text(&found->errors, text, sizeof text));
    }
    errors += tally_total(&found->errors);
    free(found);
  }
  jsonl_close(out);
  dataset_free(data);
  return errors > 0;
}

const bench_command bench_pinned = {
    .name = "pinned",
    .summary = "the WAL beside a writer while a reader holds one snapshot",
    .help =
        "A writer commits transactions of T upserts at a fixed rate. A reader begins a snapshot and wants "
        "it\n"
        "for the seconds given. The WAL's size is sampled twenty times in that time, and three times after\n"
        "it. In each sample the snapshot must read what it read at first.\n"
        "\n"
        "modes:\n"
        "  pool  weir, which may end a reader that is in the way of a checkpoint and older than a quarter "
        "of\n"
        "        the time, and holds the WAL to four times --checkpoint\n"
        "  bare  two bare SQLite connections, SQLite's own checkpoints; stopped once the WAL has passed 2 "
        "GiB\n"
        "\n"
        "columns:\n"
        "  time           since the snapshot was begun\n"
        "  WAL MiB        size of the WAL file, also as a bar\n"
        "  used MiB       the part of it with commits since it was begun anew; pool only\n"
        "  checkpoints    run since the store was opened; pool only\n"
        "  oldest reader  age of the snapshot; none: it has ended, or was ended\n"
        "  commits/s      transactions committed a second since the line before\n"
        "  slowest        the longest of them, from its call to its return\n"
        "\n"
        "examples:\n"
        "  weir-bench pinned\n"
        "  weir-bench pinned --seconds 60 --json pinned.jsonl",
    .takes = "DmtRyasSckxj",
    .defaults = defaults,
    .run = run,
};
