/*
 * What the loaders share: one load is one file read within one transaction. load.c runs it; the reader of a
 * format (load_csv.c, snap.c) goes through the source and tells it of each row.
 */
#ifndef WEIR_IO_LOAD_H
#define WEIR_IO_LOAD_H

#include <weir/io.h>

#include "source.h"
#include "value.h"

typedef struct weir__load {
  const struct weir__format *format;
  const char *path;
  weir_load_options options; /* checked; NULL and 0 still mean the default */
  locale_t c_locale;
  weir__source source;
  int creates; /* edges make the endpoints that are missing */

  /* Of the run at hand; a transaction may be run again. */
  weir_txn *txn;
  weir_error *err; /* never NULL */
  weir_load_report report;
  uint64_t next_progress_ns;
} weir__load;

typedef struct weir__format {
  int (*read)(weir__load *load); /* reads load->source from its beginning to its end and puts the rows */
  enum { WEIR__CREATES_NONE, WEIR__CREATES_IF_ASKED, WEIR__CREATES_ALL } endpoints;
} weir__format;

/* Runs a load: completes and checks the options, opens the file, reads it in a write transaction, fills
 * *report. Errors: those of the public loaders. */
int weir__load_run(const weir__format *format, weir_txn *in, const char *path,
                   const weir_load_options *options, weir_load_report *report, weir_error *err);

/* To be called for each data row, before anything else is done with it. Errors: WEIR_CANCELED. */
int weir__load_row(weir__load *load);

/* A row that cannot be loaded: WEIR_OK if the load goes on without it. */
int weir__load_bad_row(weir__load *load, const weir_bad_row *row);

/* The same when there is no going on, whatever the options say. Returns WEIR_INVALID. */
int weir__load_fail(weir__load *load, const weir_bad_row *row);

/* What came of putting the row at `line`: counts it, or makes it a bad row, or ends the load. `detail` is for
 * rc != WEIR_OK. */
int weir__load_put(weir__load *load, uint64_t line, int rc, weir_outcome outcome, const weir_error *detail);

#endif
