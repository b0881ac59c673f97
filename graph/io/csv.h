/*
 * A reader of CSV as RFC 4180 has it: quoted fields with delimiters, line breaks and doubled quotes in them,
 * LF, CRLF or CR at the end of a row. Spaces belong to the field. Empty lines are passed over. It knows
 * nothing of headers.
 */
#ifndef WEIR_IO_CSV_H
#define WEIR_IO_CSV_H

#include "source.h"
#include "value.h"

enum {
  WEIR__CSV_ROW_MAX = 1 << 24,   /* bytes of the fields of a row */
  WEIR__CSV_FIELDS_MAX = 1 << 12 /* fields of a row that are kept; more are counted */
};

/* One row. A field that is empty and not quoted has ptr NULL; every other one has a NUL behind it that is not
 * counted. Valid during the call. */
typedef struct weir__csv_row {
  uint64_t line;           /* where it begins, from 1 */
  const weir_text *fields; /* the first WEIR__CSV_FIELDS_MAX of them */
  size_t count;            /* how many there are */
} weir__csv_row;

/* A row that cannot be had. */
typedef struct weir__csv_fault {
  uint64_t line;   /* where it begins */
  unsigned column; /* the field at fault, from 1; 0: the row as a whole */
  int final;       /* 1: there is no going on behind it */
  const char *message;
} weir__csv_fault;

/* What the reader tells. A code other than WEIR_OK ends it with that code. */
typedef struct weir__csv_handler {
  int (*row)(void *data, const weir__csv_row *row);
  int (*fault)(void *data, const weir__csv_fault *fault);
  void *data;
} weir__csv_handler;

/*
 * Reads `source` to its end. After a fault that is not final the reader goes on with the next line. Errors:
 * what the handler returned; those of weir__source_read, and WEIR_NOMEM, with the detail in err.
 */
int weir__csv_read(weir__source *source, char delimiter, char quote, const weir__csv_handler *handler,
                   weir_error *err);

#endif
