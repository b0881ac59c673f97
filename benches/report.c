/*
 * Tables and JSON Lines. A table keeps its cells as text until it is printed, when each column gets the width
 * of its widest cell. A JSON line is flushed as soon as it is written, so a run that is cut keeps its
 * figures.
 */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <uv.h>

enum { COLUMNS_MAX = 24, CELL_SIZE = 48 };

struct table {
  unsigned columns, cells, capacity;
  int left[COLUMNS_MAX];
  int width[COLUMNS_MAX];
  char head[COLUMNS_MAX][CELL_SIZE];
  char (*cell)[CELL_SIZE];
  unsigned rules, rule_before[64]; /* rows that a rule goes before */
};

struct jsonl {
  FILE *file;
  const char *path;
  json_t *common;
};

/* ---- Tables ---- */

table *table_new(const char *heads) {
  table *t = bench_alloc(sizeof *t);
  for (const char *p = heads; *p;) {
    size_t len = strcspn(p, "|");
    const char *text = p;
    size_t text_len = len;
    if (t->columns == COLUMNS_MAX || len >= CELL_SIZE) {
      bench_fail("table heads \"%s\": too many or too long", heads);
    }
    if (*text == '<') {
      t->left[t->columns] = 1;
      text++;
      text_len--;
    }
    memcpy(t->head[t->columns], text, text_len);
    t->width[t->columns++] = (int)text_len;
    p += len + (p[len] == '|');
  }
  return t;
}

void table_cell(table *t, const char *format, ...) {
  if (t->cells == t->capacity) {
    t->capacity = t->capacity ? t->capacity * 2 : 64;
    t->cell = realloc(t->cell, t->capacity * sizeof *t->cell);
    if (!t->cell) {
      bench_fail("out of memory");
    }
  }
  va_list args;
  va_start(args, format);
  int len = vsnprintf(t->cell[t->cells], CELL_SIZE, format, args);
  va_end(args);
  unsigned column = t->cells++ % t->columns;
  if (len > t->width[column]) {
    t->width[column] = len < CELL_SIZE ? len : CELL_SIZE - 1;
  }
}

/* "1234567" -> "1,234,567" */
static void group_digits(char *out, size_t size, double value) {
  char digits[32];
  int len = snprintf(digits, sizeof digits, "%.0f", value);
  size_t at = 0;
  for (int i = 0; i < len && at + 2 < size; i++) {
    if (i > 0 && (len - i) % 3 == 0) {
      out[at++] = ',';
    }
    out[at++] = digits[i];
  }
  out[at] = '\0';
}

void table_number(table *t, double value) {
  char text[CELL_SIZE];
  if (isnan(value)) {
    table_cell(t, "-");
  } else if (value >= 99.95 || value == 0) {
    group_digits(text, sizeof text, value);
    table_cell(t, "%s", text);
  } else {
    table_cell(t, value >= 9.995 ? "%.1f" : "%.2f", value);
  }
}

void table_time(table *t, double us) {
  const char *unit = us < 999.5 ? "us" : us < 999500 ? "ms" : "s";
  double value = us < 999.5 ? us : us < 999500 ? us / 1e3 : us / 1e6;
  if (isnan(us)) {
    table_cell(t, "-");
  } else {
    table_cell(t, value >= 99.95 ? "%.0f %s" : value >= 9.995 ? "%.1f %s" : "%.2f %s", value, unit);
  }
}

void table_range(table *t, double low_us, double high_us) {
  double unit = high_us < 999.5 ? 1 : high_us < 999500 ? 1e3 : 1e6;
  double low = low_us / unit, high = high_us / unit;
  if (isnan(high_us)) {
    table_cell(t, "-");
  } else {
    table_cell(t,
               high >= 99.95   ? "(%.0f..%.0f)"
               : high >= 9.995 ? "(%.1f..%.1f)"
                               : "(%.2f..%.2f)",
               low, high);
  }
}

void table_rule(table *t) {
  if (t->rules < sizeof t->rule_before / sizeof t->rule_before[0]) {
    t->rule_before[t->rules++] = t->cells / t->columns;
  }
}

static void print_rule(const table *t) {
  for (unsigned c = 0; c < t->columns; c++) {
    for (int i = 0; i < t->width[c]; i++) {
      putchar('-');
    }
    fputs(c + 1 < t->columns ? "  " : "\n", stdout);
  }
}

static void print_row(const table *t, char (*cells)[CELL_SIZE]) {
  char line[COLUMNS_MAX * (CELL_SIZE + 2) + 1];
  size_t len = 0;
  for (unsigned c = 0; c < t->columns; c++) {
    len += (size_t)snprintf(line + len, sizeof line - len, t->left[c] ? "%s%-*s" : "%s%*s", c ? "  " : "",
                            t->width[c], cells[c]);
  }
  while (len > 0 && line[len - 1] == ' ') {
    line[--len] = '\0';
  }
  puts(line);
}

void table_print(table *t) {
  print_row(t, t->head);
  print_rule(t);
  for (unsigned row = 0; row < t->cells / t->columns; row++) {
    for (unsigned i = 0; i < t->rules; i++) {
      if (t->rule_before[i] == row && row > 0) {
        print_rule(t);
      }
    }
    print_row(t, t->cell + row * t->columns);
  }
  fflush(stdout);
  free(t->cell);
  free(t);
}

/* ---- JSON Lines ---- */

static void cpu_model(char *out, size_t size) {
  uv_cpu_info_t *cpus = NULL;
  int count = 0;
  snprintf(out, size, "unknown");
  if (uv_cpu_info(&cpus, &count) != 0) {
    return;
  }
  if (count > 0) {
    snprintf(out, size, "%s", cpus[0].model);
  }
  uv_free_cpu_info(cpus, count);
}

static long cpu_count(void) {
  return sysconf(_SC_NPROCESSORS_ONLN);
}

static void set(json_t *object, const char *name, json_t *value) {
  if (json_object_set_new(object, name, value) != 0) {
    bench_fail("cannot set \"%s\" in a JSON line", name);
  }
}

jsonl *jsonl_open(const bench_settings *settings, const char *workload) {
  if (!settings->json) {
    return NULL;
  }
  jsonl *out = bench_alloc(sizeof *out);
  out->path = settings->json;
  out->file = fopen(settings->json, "w");
  if (!out->file) {
    bench_fail("cannot write %s: %s", settings->json, strerror(errno));
  }
  char model[128], date[32];
  cpu_model(model, sizeof model);
  time_t now = time(NULL);
  struct tm utc;
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  out->common = json_pack("{ss ss ss ss si sf si sI si si si}", "workload", workload, "date", date, "sqlite",
                          sqlite3_libversion(), "cpu", model, "cpus", (int)cpu_count(), "seconds",
                          settings->seconds, "repeat", (int)settings->repeat, "seed",
                          (json_int_t)settings->seed, "cache_kib", (int)settings->cache_kib, "statements",
                          (int)settings->statements, "checkpoint_pages", (int)settings->checkpoint);
  if (!out->common) {
    bench_fail("out of memory");
  }
  return out;
}

void jsonl_common(jsonl *out, const char *name, json_t *value) {
  if (out) {
    set(out->common, name, value);
  } else {
    json_decref(value);
  }
}

void jsonl_write(jsonl *out, json_t *line) {
  if (out) {
    json_t *whole = json_copy(out->common);
    if (!line || !whole || json_object_update(whole, line) != 0) {
      bench_fail("cannot build a JSON line");
    }
    if (json_dumpf(whole, out->file, JSON_COMPACT | JSON_REAL_PRECISION(6)) != 0 ||
        fputc('\n', out->file) == EOF || fflush(out->file) != 0) {
      bench_fail("cannot write %s: %s", out->path, strerror(errno));
    }
    json_decref(whole);
  }
  json_decref(line);
}

void jsonl_figure(json_t *line, const char *name, double value) {
  set(line, name, isfinite(value) ? json_real(value) : json_null());
}

void jsonl_quantiles(json_t *line, const char *prefix, const histogram *h) {
  quantiles q = histogram_quantiles(h);
  const struct {
    const char *name;
    double value;
  } figures[] = {
      {"p50_us", q.p50}, {"p90_us", q.p90}, {"p99_us", q.p99}, {"p99_9_us", q.p999}, {"max_us", q.max}};
  char name[64];
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
    snprintf(name, sizeof name, "%s%s", prefix, figures[i].name);
    jsonl_figure(line, name, figures[i].value);
  }
  snprintf(name, sizeof name, "%scount", prefix);
  set(line, name, json_integer((json_int_t)h->count));
}

void jsonl_close(jsonl *out) {
  if (!out) {
    return;
  }
  json_decref(out->common);
  if (fclose(out->file) != 0) {
    bench_fail("cannot write %s: %s", out->path, strerror(errno));
  }
  printf("raw figures: %s\n", out->path);
  free(out);
}

/* ---- Progress, verdicts ---- */

void report_progress(const char *format, ...) {
  if (!isatty(STDERR_FILENO)) {
    return;
  }
  fputs("\r\033[K", stderr);
  if (format) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
  }
  fflush(stderr);
}

void report_turns(const char *what, unsigned repeat, unsigned cells,
                  void (*run)(void *grid, unsigned cell, unsigned repetition), void *grid) {
  for (unsigned r = 0; r < repeat; r++) {
    for (unsigned i = 0; i < cells; i++) {
      report_progress("%s: repetition %u of %u, cell %u of %u", what, r + 1, repeat, i + 1, cells);
      run(grid, i, r);
    }
  }
  report_progress(NULL);
}

void report_target(int pass, const char *format, ...) {
  va_list args;
  printf("  %s  ", pass ? "pass" : "MISS");
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  putchar('\n');
}

void report_machine(void) {
  char model[128];
  struct utsname os;
  cpu_model(model, sizeof model);
  int known = uname(&os) == 0;
  printf("machine: %s, %ld CPUs, %s %s; SQLite %s\n", model, cpu_count(), known ? os.sysname : "",
         known ? os.release : "", sqlite3_libversion());
}
