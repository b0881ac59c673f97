/*
 * Running a load.
 *
 * The file is opened in the transaction's first run and rewound in later ones, so all of them read the same
 * file. A run begins with an empty report: only the last one, which is committed, counts. Each row is put by
 * itself, as a whole or not at all, so a row left out leaves no trace.
 */
#include "load.h"

#include "../internal.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROGRESS_NS   100000000u /* a tenth of a second */
#define PROGRESS_ROWS 64u        /* the clock is looked at once in so many rows; a power of two */

/* ---- Bad rows --------------------------------------------------------------------------------- */

/* The end of a path, if it is too long for a message. */
static const char *path_tail(const char *path) {
  size_t len = strlen(path);
  const char *tail = len > 80 ? path + len - 80 : path;
  while (((unsigned char)*tail & 0xC0) == 0x80) /* not from within a character */
    tail++;
  return tail;
}

int weir__load_fail(weir__load *load, const weir_bad_row *row) {
  const char *path = path_tail(load->path);
  unsigned long long line = row->line;
  if (row->column == 0)
    return weir_fail(load->err, WEIR_INVALID, "%s:%llu: %s", path, line, row->message);
  if (!row->name)
    return weir_fail(load->err, WEIR_INVALID, "%s:%llu:%u: %s", path, line, row->column, row->message);
  return weir_fail(load->err, WEIR_INVALID, "%s:%llu:%u (%.*s): %s", path, line, row->column,
                   WEIR__SHOW(weir_str(row->name)), row->message);
}

int weir__load_bad_row(weir__load *load, const weir_bad_row *row) {
  if (load->options.bad_rows == WEIR_BAD_ROWS_STOP)
    return weir__load_fail(load, row);
  load->report.bad++;
  if (load->options.on_bad_row)
    load->options.on_bad_row(row, load->options.data);
  return WEIR_OK;
}

int weir__load_put(weir__load *load, uint64_t line, int rc, weir_outcome outcome, const weir_error *detail) {
  /* what the graph refuses and nobody has looked for here; EXISTS: a value of a unique index */
  if (rc == WEIR_INVALID || rc == WEIR_CONSTRAINT || rc == WEIR_EXISTS) {
    int bad = weir__load_bad_row(load, &(weir_bad_row){.line = line, .message = detail->message});
    if (bad == WEIR_INVALID && rc == WEIR_EXISTS)
      load->err->code = bad = WEIR_EXISTS;
    return bad;
  }
  if (rc != WEIR_OK) {
    *load->err = *detail;
    return rc;
  }
  load->report.inserted += outcome == WEIR_INSERTED;
  load->report.updated += outcome == WEIR_UPDATED;
  load->report.unchanged += outcome == WEIR_UNCHANGED;
  return WEIR_OK;
}

/* ---- Progress --------------------------------------------------------------------------------- */

static int tell_progress(weir__load *load) {
  const weir_load_progress progress = {.rows = load->report.rows,
                                       .bytes = weir__source_offset(&load->source),
                                       .bytes_total = load->source.bytes_total};
  if (load->options.on_progress && load->options.on_progress(&progress, load->options.data) != 0)
    return weir_fail(load->err, WEIR_CANCELED, "%s: the load was ended by on_progress after %llu rows",
                     path_tail(load->path), (unsigned long long)progress.rows);
  return WEIR_OK;
}

int weir__load_row(weir__load *load) {
  load->report.rows++;
  if (load->report.rows % PROGRESS_ROWS != 0 || !load->options.on_progress)
    return WEIR_OK;
  uint64_t now = weir__clock_ns();
  if (now < load->next_progress_ns)
    return WEIR_OK;
  load->next_progress_ns = now + PROGRESS_NS;
  return tell_progress(load);
}

/* ---- The run ---------------------------------------------------------------------------------- */

/* Closing any descriptor of a database file drops the locks that SQLite holds on it in this process, so the
 * store itself must not even be opened as a file to load. */
static int refuse_store(weir_txn *txn, const char *path, weir_error *err) {
  static const char *const suffixes[] = {"", "-wal", "-shm"};
  const char *name = sqlite3_db_filename(weir_txn_db(txn), "main");
  struct stat input, own;
  if (!name || !*name || stat(path, &input) != 0)
    return WEIR_OK; /* opening it will say why */
  for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
    char *file = sqlite3_mprintf("%s%s", name, suffixes[i]);
    if (!file)
      return weir_fail(err, WEIR_NOMEM, "%s: no memory for a path", path_tail(path));
    int same = stat(file, &own) == 0 && own.st_dev == input.st_dev && own.st_ino == input.st_ino;
    sqlite3_free(file);
    if (same)
      return weir_fail(err, WEIR_INVALID, "%s is the store itself: give a file to load", path_tail(path));
  }
  return WEIR_OK;
}

static int open_source(weir__load *load) {
  if (load->source.gz)
    return weir__source_rewind(&load->source, load->err);
  int rc = refuse_store(load->txn, load->path, load->err);
  return rc == WEIR_OK ? weir__source_open(&load->source, load->path, load->err) : rc;
}

static int run(weir_txn *txn, void *data, weir_error *err) {
  weir__load *load = data;
  int64_t before = 0, after = 0;
  load->txn = txn;
  load->err = err;
  load->report = (weir_load_report){0};
  load->next_progress_ns = weir__clock_ns() + PROGRESS_NS;
  int rc = open_source(load);
  if (rc == WEIR_OK)
    rc = tell_progress(load);
  if (rc == WEIR_OK && load->creates)
    rc = weir_node_count(txn, (weir_text){0}, &before, err);
  if (rc == WEIR_OK)
    rc = load->format->read(load);
  if (rc == WEIR_OK && load->creates)
    rc = weir_node_count(txn, (weir_text){0}, &after, err);
  if (rc == WEIR_OK)
    rc = tell_progress(load);
  load->report.created = (uint64_t)(after - before);
  return rc;
}

/* ---- Options ---------------------------------------------------------------------------------- */

static int complete_options(weir_load_options *out, const weir_load_options *given, weir_error *err) {
  *out = (weir_load_options)WEIR_LOAD_OPTIONS_INIT;
  int rc = given ? weir__options_copy(out, sizeof(*out), given, "weir_load_options", err) : WEIR_OK;
  if (rc == WEIR_OK && out->bad_rows != WEIR_BAD_ROWS_STOP && out->bad_rows != WEIR_BAD_ROWS_SKIP)
    rc = weir_fail(err, WEIR_INVALID, "options.bad_rows is %d: give WEIR_BAD_ROWS_STOP or WEIR_BAD_ROWS_SKIP",
                   (int)out->bad_rows);
  if (rc == WEIR_OK && out->label)
    rc = weir__text_check(weir_str(out->label), "options.label", 1, WEIR_LABEL_MAX, err);
  return rc;
}

int weir__load_run(const weir__format *format, weir_txn *in, const char *path,
                   const weir_load_options *options, weir_load_report *report, weir_error *err) {
  if (!in)
    return weir_fail(err, WEIR_INVALID, "txn is NULL: give weir_graph_auto(graph) or a transaction");
  if (!path || !*path)
    return weir_fail(err, WEIR_INVALID, "no path: give the file to load");
  weir__load load = {.format = format, .path = path};
  int rc = complete_options(&load.options, options, err);
  if (rc != WEIR_OK)
    return rc;
  load.creates = format->endpoints == WEIR__CREATES_ALL ||
                 (format->endpoints == WEIR__CREATES_IF_ASKED && load.options.create_endpoints);
  load.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!load.c_locale)
    return weir_fail(err, WEIR_NOMEM, "no memory for a locale");
  rc = weir_write(in, run, &load, NULL, err);
  weir__source_close(&load.source);
  freelocale(load.c_locale);
  if (rc == WEIR_OK && report)
    *report = load.report;
  return rc;
}
