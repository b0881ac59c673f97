/*
 * Edges from SNAP's edge lists: a line an edge, fields parted by runs of tabs and spaces. Lines are gathered
 * in one buffer of fixed size; a longer one cannot be an edge, since keys are bounded.
 */
#include <string.h>

#include "../text.h"
#include "load.h"

enum { LINE_SIZE = 1 << 14 };

typedef struct reader {
  weir__load *load;
  uint64_t number;      /* of the line, from 1 */
  size_t len;           /* bytes of the line so far */
  char line[LINE_SIZE]; /* its beginning, if it is longer */
} reader;

static int bad_line(const reader *r, unsigned column, const char *name, const char *message) {
  const weir_bad_row row = {.line = r->number, .column = column, .name = name, .message = message};
  return weir__load_bad_row(r->load, &row);
}

/* Cuts the line into fields, each ended by a NUL; returns how many there are, of which `max` are kept. */
static size_t split(char *line, weir_text *fields, size_t max) {
  size_t count = 0;
  for (char *at = line + strspn(line, " \t\r"); *at; count++) {
    size_t len = strcspn(at, " \t\r");
    char *next = at + len + strspn(at + len, " \t\r");
    at[len] = '\0';
    if (count < max)
      fields[count] = (weir_text){.ptr = at, .len = len};
    at = next;
  }
  return count;
}

static int put_line(reader *r) {
  static const char *const names[] = {"source", "target", "weight"};
  weir_text fields[3] = {{0}};
  weir_edge edge = {.label = weir_str(r->load->options.label), .weight = 1.0};
  weir_outcome outcome = WEIR_UNCHANGED;
  weir_error detail = WEIR_ERROR_INIT;
  int rc = weir__load_row(r->load);
  if (rc != WEIR_OK)
    return rc;
  if (r->len >= LINE_SIZE)
    return bad_line(r, 0, NULL, "the line is longer than 16 KiB: give two keys and perhaps a weight");
  if (weir__text_check((weir_text){.ptr = r->line, .len = r->len}, "the line", 1, LINE_SIZE, &detail) !=
      WEIR_OK)
    return bad_line(r, 0, NULL, detail.message);
  size_t count = split(r->line, fields, 3);
  if (count < 2 || count > 3)
    return bad_line(r, 0, NULL, "not two or three fields: give source, target and perhaps a weight");
  for (unsigned i = 0; i < 2; i++)
    if (fields[i].len > WEIR_KEY_MAX)
      return bad_line(r, i + 1, names[i], "the key is longer than 1024 bytes: shorten it");
  if (count == 3 && !weir__parse_real(fields[2], r->load->c_locale, &edge.weight))
    return bad_line(r, 3, names[2], "not a finite number: give one such as 1.5, or nothing for 1");
  edge.src = fields[0];
  edge.dst = fields[1];
  rc = weir_edge_put(r->load->txn, &edge, WEIR_CREATE_ENDPOINTS, &outcome, &detail);
  return weir__load_put(r->load, r->number, rc, outcome, &detail);
}

/* The line is complete: puts it, unless it is a comment or empty. */
static int end_line(reader *r) {
  size_t kept = r->len < LINE_SIZE ? r->len : LINE_SIZE - 1;
  r->line[kept] = '\0';
  r->number++;
  int rc = WEIR_OK;
  if (r->line[0] != '#' && (r->len != kept || strspn(r->line, " \t\r") != kept))
    rc = put_line(r);
  r->len = 0;
  return rc;
}

static int read_lines(weir__load *load) {
  reader r = {.load = load};
  const char *bytes;
  size_t count;
  int rc;
  if (!load->options.label)
    load->options.label = "edge";
  while ((rc = weir__source_read(&load->source, &bytes, &count, load->err)) == WEIR_OK && count > 0) {
    for (const char *end = bytes + count; bytes < end && rc == WEIR_OK;) {
      const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
      size_t len = (size_t)((stop ? stop : end) - bytes);
      if (r.len < LINE_SIZE)
        memcpy(r.line + r.len, bytes, len < LINE_SIZE - r.len ? len : LINE_SIZE - r.len);
      r.len += len;
      bytes += len + (stop != NULL);
      if (stop)
        rc = end_line(&r);
    }
    if (rc != WEIR_OK)
      return rc;
  }
  return rc == WEIR_OK && r.len > 0 ? end_line(&r) : rc;
}

int weir_load_snap(weir_txn *txn, const char *path, const weir_load_options *options,
                   weir_load_report *report, weir_error *err) {
  static const weir__format format = {.read = read_lines, .endpoints = WEIR__CREATES_ALL};
  return weir__load_run(&format, txn, path, options, report, err);
}
