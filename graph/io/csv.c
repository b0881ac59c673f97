/*
 * The CSV reader, on libcsv in its strict mode. libcsv splits the text; this file adds what it does not give:
 *
 *   rows      libcsv hands over field by field, in a buffer that it uses again: `text` collects a row's.
 *   lines     libcsv does not say where it is, but with CSV_REPALL_NL it reports every line break outside of
 *             quotes, and those inside are in the fields: counting both is exact.
 *   bounds    no field, and no row, grows beyond WEIR__CSV_ROW_MAX.
 *   recovery  libcsv stops at what RFC 4180 does not allow: the rest of that line is passed over.
 *
 * libcsv's callbacks cannot stop it: after an error of the handler the rest of the chunk at hand runs idle.
 */
#include "csv.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_BLOCK = 1 << 20 }; /* libcsv's buffer grows by so much; divides WEIR__CSV_ROW_MAX */

typedef struct reader {
  const weir__csv_handler *handler;
  struct csv_parser parser;
  int rc; /* of the handler, or WEIR_NOMEM */

  weir__bytes text;                       /* the fields of the row, each with a NUL behind it */
  weir_text fields[WEIR__CSV_FIELDS_MAX]; /* until the row is complete, ptr only tells whether one is empty */
  size_t count;                           /* fields so far */
  int too_large;                          /* the row goes beyond WEIR__CSV_ROW_MAX: `text` has only a part */

  uint64_t line;     /* where the reader is */
  uint64_t row_line; /* where the row begins */
  int after_cr;      /* a CR has just ended a line: an LF right behind it belongs to it */
  int skipping;      /* to the end of the line, after a fault */
} reader;

static void count_line_break(reader *r, int c) {
  if (c == '\r' || (c == '\n' && !r->after_cr))
    r->line++;
  r->after_cr = c == '\r';
}

/* Counts the line breaks in a field, or in what there is of it. */
static void count_field_lines(reader *r, const unsigned char *bytes, size_t len) {
  r->after_cr = 0;
  for (size_t i = 0; i < len; i++)
    if (bytes[i] == '\n' || bytes[i] == '\r')
      count_line_break(r, bytes[i]);
    else
      r->after_cr = 0;
  r->after_cr = 0;
}

static void fault(reader *r, size_t column, int final, const char *message) {
  const weir__csv_fault what = {
      .line = r->row_line, .column = (unsigned)column, .final = final, .message = message};
  r->rc = r->handler->fault(r->handler->data, &what);
}

static void reset_row(reader *r) {
  r->text.len = 0;
  r->count = 0;
  r->too_large = 0;
}

/* ---- libcsv's callbacks ----------------------------------------------------------------------- */

static void on_field(void *bytes, size_t len, void *data) {
  reader *r = data;
  if (r->rc != WEIR_OK)
    return;
  if (r->count == 0)
    r->row_line = r->line;
  count_field_lines(r, bytes, len);
  if (r->count < WEIR__CSV_FIELDS_MAX)
    r->fields[r->count] = (weir_text){.ptr = bytes, .len = len};
  r->count++;
  r->too_large |= r->text.len + len >= WEIR__CSV_ROW_MAX;
  if (!bytes || r->too_large)
    return;
  r->rc = weir__bytes_append(&r->text, bytes, len);
  if (r->rc == WEIR_OK)
    r->rc = weir__bytes_append(&r->text, "", 1);
}

static void on_row_end(int c, void *data) {
  reader *r = data;
  if (r->rc != WEIR_OK)
    return;
  if (r->too_large) {
    fault(r, 0, 0, "the row is larger than 16 MiB: shorten it");
  } else if (r->count > 0) {
    const char *at = r->text.ptr;
    for (size_t i = 0; i < r->count && i < WEIR__CSV_FIELDS_MAX; i++) {
      if (!r->fields[i].ptr)
        continue;
      r->fields[i].ptr = at;
      at += r->fields[i].len + 1;
    }
    const weir__csv_row row = {.line = r->row_line, .fields = r->fields, .count = r->count};
    r->rc = r->handler->row(r->handler->data, &row);
  }
  reset_row(r);
  count_line_break(r, c);
}

/* RFC 4180, section 2: "Spaces are considered part of a field". */
static int no_space(unsigned char c) {
  (void)c;
  return 0;
}

/* Bounds libcsv's buffer, which holds one field. */
static void *bounded_realloc(void *ptr, size_t size) {
  return size <= WEIR__CSV_ROW_MAX ? realloc(ptr, size) : NULL;
}

/* ---- Reading ---------------------------------------------------------------------------------- */

/* libcsv has stopped within a row: says why, and sees to it that the line is passed over. */
static void stopped(reader *r) {
  struct csv_parser *parser = &r->parser;
  if (csv_error(parser) != CSV_EPARSE && parser->entry_size < WEIR__CSV_ROW_MAX) {
    r->rc = WEIR_NOMEM;
    return;
  }
  if (r->count == 0)
    r->row_line = r->line;
  count_field_lines(r, parser->entry_buf, parser->entry_pos);
  if (csv_error(parser) != CSV_EPARSE)
    fault(r, r->count + 1, 1, "the field is larger than 16 MiB: is the quote at its beginning closed?");
  else if (parser->quoted)
    fault(r, r->count + 1, 0, "text behind the closing quote: double a quote that belongs to the field");
  else
    fault(r, r->count + 1, 0, "a quote in a field without quotes: enclose the field in quotes and double it");
  reset_row(r);
  r->skipping = 1;
  if (csv_fini(parser, NULL, NULL, NULL) != 0 &&
      r->rc == WEIR_OK) /* resets it; only a final fault is refused */
    r->rc = WEIR_INVALID;
}

/* Passes over bytes up to the next line break; returns how many. */
static size_t skip_line(reader *r, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (bytes[i] == '\n' || bytes[i] == '\r') {
      count_line_break(r, bytes[i]);
      r->skipping = 0;
      return i + 1;
    }
  }
  return count;
}

static void parse(reader *r, const char *bytes, size_t count) {
  while (count > 0 && r->rc == WEIR_OK) {
    size_t done;
    if (r->skipping) {
      done = skip_line(r, bytes, count);
    } else {
      done = csv_parse(&r->parser, bytes, count, on_field, on_row_end, r);
      if (done < count && r->rc == WEIR_OK)
        stopped(r);
    }
    bytes += done;
    count -= done;
  }
}

static void finish(reader *r) {
  if (csv_fini(&r->parser, on_field, on_row_end, r) == 0 || r->rc != WEIR_OK)
    return;
  if (r->count == 0)
    r->row_line = r->line;
  fault(r, r->count + 1, 1, "the quote at the beginning of the field is never closed: close it");
}

static int read_all(reader *r, weir__source *source, weir_error *err) {
  const char *bytes;
  size_t count;
  do {
    int rc = weir__source_read(source, &bytes, &count, err);
    if (rc != WEIR_OK)
      return rc;
    parse(r, bytes, count);
  } while (count > 0 && r->rc == WEIR_OK);
  if (r->rc == WEIR_OK)
    finish(r);
  return r->rc;
}

int weir__csv_read(weir__source *source, char delimiter, char quote, const weir__csv_handler *handler,
                   weir_error *err) {
  reader *r = calloc(1, sizeof(*r));
  if (!r || csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL | CSV_EMPTY_IS_NULL) != 0) {
    free(r);
    return weir_fail(err, WEIR_NOMEM, "%s: no memory for rows", source->path);
  }
  csv_set_delim(&r->parser, (unsigned char)delimiter);
  csv_set_quote(&r->parser, (unsigned char)quote);
  csv_set_space_func(&r->parser, no_space);
  csv_set_realloc_func(&r->parser, bounded_realloc);
  csv_set_blk_size(&r->parser, FIELD_BLOCK);
  r->handler = handler;
  r->line = 1;
  int rc = read_all(r, source, err);
  if (rc == WEIR_NOMEM)
    rc = weir_fail(err, rc, "%s: no memory for a row", source->path);
  csv_free(&r->parser);
  weir__bytes_clear(&r->text);
  free(r);
  return rc;
}
