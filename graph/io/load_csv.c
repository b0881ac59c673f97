/*
 * Nodes and edges from CSV. The header gives each column its role. A row is then read column by column: what
 * has a role goes to its place, what has none becomes a member of props, in one buffer that all rows share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "csv.h"
#include "load.h"

enum { PROP, KEY, LABEL, SRC, DST, WEIGHT, RANK, ROLES };

static const struct {
  const char *what;   /* in messages */
  const char *option; /* the option that names the column */
  const char *name;   /* its name by default */
  int needed;
  size_t most; /* bytes */
} roles[ROLES] = {
    [PROP] = {"the field", NULL, NULL, 0, WEIR__CSV_ROW_MAX},
    [KEY] = {"the key", "key_column", "key", 1, WEIR_KEY_MAX},
    [LABEL] = {"the label", "label_column", "label", 0, WEIR__CSV_ROW_MAX},
    [SRC] = {"the source's key", "src_column", "src", 1, WEIR_KEY_MAX},
    [DST] = {"the target's key", "dst_column", "dst", 1, WEIR_KEY_MAX},
    [WEIGHT] = {"the weight", "weight_column", "weight", 0, WEIR__CSV_ROW_MAX},
    [RANK] = {"the rank", "rank_column", "rank", 0, WEIR__CSV_ROW_MAX},
};

static const int node_roles[] = {KEY, LABEL, PROP};
static const int edge_roles[] = {SRC, DST, LABEL, WEIGHT, RANK, PROP};

typedef struct header_column {
  int role;
  weir__bytes text; /* owns the name, a NUL, and the member */
  const char *name; /* as the header has it */
  weir_text member; /* the name as it stands in a JSON object: "name": */
} header_column;

/* A CSV file being loaded. */
typedef struct table {
  weir__load *load;
  const int *roles; /* what columns may be, but for PROP; ends with PROP */
  int (*put)(struct table *table, uint64_t line);

  header_column *columns; /* NULL until the header has been read */
  size_t count;
  unsigned place[ROLES]; /* the column of a role, from 1; 0: none */

  weir_text values[ROLES]; /* of the row at hand; ptr NULL: left out */
  weir__bytes json;        /* its props */
} table;

static int no_memory(const table *t) {
  return weir_fail(t->load->err, WEIR_NOMEM, "%s: no memory for a row", t->load->path);
}

/* ---- Places of faults ------------------------------------------------------------------------- */

static weir_bad_row at_column(const table *t, uint64_t line, unsigned column, const char *message) {
  const char *name = column > 0 && column <= t->count ? t->columns[column - 1].name : NULL;
  return (weir_bad_row){.line = line, .column = column, .name = name, .message = message};
}

static int bad_column(const table *t, uint64_t line, unsigned column, const char *message) {
  const weir_bad_row row = at_column(t, line, column, message);
  return weir__load_bad_row(t->load, &row);
}

static int bad_role(const table *t, uint64_t line, int role, const char *message) {
  return bad_column(t, line, t->place[role], message);
}

/* A bad value, with its beginning in the message. */
static int bad_value(const table *t, uint64_t line, int role, const char *what) {
  char message[160];
  (void)snprintf(message, sizeof(message), "\"%.*s\" %s", WEIR__SHOW(t->values[role]), what);
  return bad_role(t, line, role, message);
}

/* ---- The header ------------------------------------------------------------------------------- */

static void clear_columns(table *t) {
  for (size_t i = 0; t->columns && i < t->count; i++)
    weir__bytes_clear(&t->columns[i].text);
  free(t->columns);
  t->columns = NULL;
  t->count = 0;
}

static int bad_header(const table *t, uint64_t line, size_t column, const char *message) {
  const weir_bad_row row = at_column(t, line, (unsigned)column, message);
  return weir__load_fail(t->load, &row);
}

static int set_name(header_column *c, weir_text name) {
  if (weir__bytes_append(&c->text, name.ptr, name.len) != WEIR_OK ||
      weir__bytes_append(&c->text, "", 1) != WEIR_OK || weir__json_string(&c->text, name) != WEIR_OK ||
      weir__bytes_append(&c->text, ":", 1) != WEIR_OK)
    return WEIR_NOMEM;
  c->name = c->text.ptr;
  c->member = (weir_text){.ptr = c->text.ptr + name.len + 1, .len = c->text.len - name.len - 1};
  return WEIR_OK;
}

/* The column with that name; t->count if there is none. */
static size_t find_column(const table *t, const char *name) {
  size_t i = 0;
  while (i < t->count && strcmp(t->columns[i].name, name) != 0)
    i++;
  return i;
}

/* What the header lacks for a role, with the columns that it has. */
static int no_column(const table *t, uint64_t line, int role, const char *name) {
  char message[WEIR_ERROR_MESSAGE_SIZE];
  size_t used = (size_t)snprintf(message, sizeof(message), "no column \"%.*s\": set %s to one of",
                                 WEIR__SHOW(weir_str(name)), roles[role].option);
  for (size_t i = 0; i < t->count && used + 64 < sizeof(message); i++)
    used += (size_t)snprintf(message + used, sizeof(message) - used, " %.*s",
                             WEIR__SHOW(weir_str(t->columns[i].name)));
  return bad_header(t, line, 0, message);
}

/* Gives the column named `name` its role. `chosen`: an option names it; if not, it may be missing. */
static int assign(table *t, uint64_t line, int role, const char *name, int chosen) {
  size_t i = find_column(t, name);
  int found = i < t->count && t->columns[i].role == PROP;
  if (found) {
    t->columns[i].role = role;
    t->place[role] = (unsigned)i + 1;
  }
  return found || !(chosen || roles[role].needed) ? WEIR_OK : no_column(t, line, role, name);
}

/* Columns that options name come first, then those with a default name that are still free. */
static int assign_roles(table *t, uint64_t line) {
  const weir_load_options *o = &t->load->options;
  const char *const chosen[ROLES] = {
      [KEY] = o->key_column, [LABEL] = o->label_column,   [SRC] = o->src_column,
      [DST] = o->dst_column, [WEIGHT] = o->weight_column, [RANK] = o->rank_column};
  int rc = WEIR_OK;
  for (const int *role = t->roles; rc == WEIR_OK && *role != PROP; role++)
    if (chosen[*role])
      rc = assign(t, line, *role, chosen[*role], 1);
  for (const int *role = t->roles; rc == WEIR_OK && *role != PROP; role++)
    if (!chosen[*role])
      rc = assign(t, line, *role, roles[*role].name, 0);
  return rc;
}

static int read_header(table *t, const weir__csv_row *row) {
  weir_error detail = WEIR_ERROR_INIT;
  if (row->count > WEIR__CSV_FIELDS_MAX)
    return bad_header(t, row->line, 0, "the header has more than 4096 columns: split the table");
  t->columns = calloc(row->count, sizeof(*t->columns));
  if (!t->columns)
    return no_memory(t);
  for (t->count = 0; t->count < row->count; t->count++) {
    const weir_text field = row->fields[t->count];
    const weir_text name = field.ptr ? field : (weir_text)WEIR_TEXT("");
    if (weir__text_check(name, "the name", 0, WEIR__CSV_ROW_MAX, &detail) != WEIR_OK)
      return bad_header(t, row->line, t->count + 1, detail.message);
    if (find_column(t, name.ptr) < t->count) {
      char message[160];
      (void)snprintf(message, sizeof(message), "a second column named \"%.*s\": rename one",
                     WEIR__SHOW(name));
      return bad_header(t, row->line, t->count + 1, message);
    }
    if (set_name(&t->columns[t->count], name) != WEIR_OK) {
      weir__bytes_clear(&t->columns[t->count].text);
      return no_memory(t);
    }
  }
  return assign_roles(t, row->line);
}

/* ---- Rows ------------------------------------------------------------------------------------- */

static int add_member(table *t, const header_column *c, weir_text field) {
  if ((t->json.len > 1 && weir__bytes_append(&t->json, ",", 1) != WEIR_OK) ||
      weir__bytes_append(&t->json, c->member.ptr, c->member.len) != WEIR_OK)
    return WEIR_NOMEM;
  return weir__json_value(&t->json, field, t->load->c_locale);
}

/* Fills values and json from a row of the right length. */
static int read_fields(table *t, const weir__csv_row *row, unsigned *bad, weir_error *detail) {
  memset(t->values, 0, sizeof(t->values));
  t->json.len = 0;
  int rc = weir__bytes_append(&t->json, "{", 1);
  for (size_t i = 0; i < t->count && rc == WEIR_OK; i++) {
    const weir_text field = row->fields[i];
    const int role = t->columns[i].role;
    *bad = (unsigned)i + 1;
    if (field.ptr || roles[role].needed)
      rc = weir__text_check(field, roles[role].what, (size_t)roles[role].needed, roles[role].most, detail);
    if (rc == WEIR_OK && field.ptr && role == PROP)
      rc = add_member(t, &t->columns[i], field);
    t->values[role] = field;
  }
  return rc == WEIR_OK ? weir__bytes_append(&t->json, "}", 1) : rc;
}

static int read_row(table *t, const weir__csv_row *row) {
  weir_error detail = WEIR_ERROR_INIT;
  unsigned bad = 0;
  int rc = weir__load_row(t->load);
  if (rc != WEIR_OK)
    return rc;
  if (row->count != t->count) {
    char message[120];
    (void)snprintf(message, sizeof(message), "the row has %zu fields, the header has %zu: give as many",
                   row->count, t->count);
    return bad_column(t, row->line, 0, message);
  }
  rc = read_fields(t, row, &bad, &detail);
  if (rc == WEIR_INVALID)
    return bad_column(t, row->line, bad, detail.message);
  return rc == WEIR_OK ? t->put(t, row->line) : no_memory(t);
}

static weir_text props_of(const table *t) {
  return (weir_text){.ptr = t->json.ptr, .len = t->json.len};
}

static const char label_too_long[] = "the label is longer than 255 bytes: shorten it";

/* Splits the labels column at its semicolons; the parts may be empty. Returns what is wrong with it. */
static const char *split_labels(weir_text all, weir_text *labels, size_t *count) {
  const char *at = all.ptr;
  const char *end = at + all.len;
  *count = 0;
  while (at < end) {
    const char *stop = memchr(at, ';', (size_t)(end - at));
    const weir_text label = {.ptr = at, .len = (size_t)((stop ? stop : end) - at)};
    if (label.len > WEIR_LABEL_MAX)
      return label_too_long;
    if (label.len > 0 && *count == WEIR_LABELS_MAX)
      return "more than 64 labels: give fewer";
    if (label.len > 0)
      labels[(*count)++] = label;
    at = stop ? stop + 1 : end;
  }
  return NULL;
}

static int put_node(table *t, uint64_t line) {
  weir_text labels[WEIR_LABELS_MAX];
  weir_node node = {.key = t->values[KEY], .props = props_of(t), .labels = labels};
  weir_outcome outcome = WEIR_UNCHANGED;
  weir_error detail = WEIR_ERROR_INIT;
  const char *wrong = t->values[LABEL].ptr ? split_labels(t->values[LABEL], labels, &node.label_count) : NULL;
  if (wrong)
    return bad_role(t, line, LABEL, wrong);
  if (node.label_count == 0) {
    node.labels = NULL;
    node.label = weir_str(t->load->options.label);
  }
  int rc = weir_node_put(t->load->txn, &node, &outcome, &detail);
  return weir__load_put(t->load, line, rc, outcome, &detail);
}

/* The edge's node that is missing, if it was that. */
static int missing_end(table *t, const weir_edge *edge) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  int rc = weir_node_get(t->load->txn, edge->src, &node, &arena, NULL);
  weir_arena_clear(&arena);
  return rc == WEIR_NOT_FOUND ? SRC : DST;
}

static int put_edge(table *t, uint64_t line) {
  const weir_text *values = t->values;
  weir_edge edge = {.src = values[SRC], .dst = values[DST], .weight = 1.0, .props = props_of(t)};
  weir_outcome outcome = WEIR_UNCHANGED;
  weir_error detail = WEIR_ERROR_INIT;
  edge.label = values[LABEL].len > 0 ? values[LABEL] : weir_str(t->load->options.label);
  if (edge.label.len > WEIR_LABEL_MAX)
    return bad_role(t, line, LABEL, label_too_long);
  if (values[WEIGHT].len > 0 && !weir__parse_real(values[WEIGHT], t->load->c_locale, &edge.weight))
    return bad_value(t, line, WEIGHT, "is not a finite number: give one such as 1.5, or nothing for 1");
  if (values[RANK].len > 0 && !weir__parse_int(values[RANK], &edge.rank))
    return bad_value(t, line, RANK, "is not an integer of 64 bits: give one, or nothing for 0");
  int rc =
      weir_edge_put(t->load->txn, &edge, t->load->creates ? WEIR_CREATE_ENDPOINTS : 0, &outcome, &detail);
  if (rc == WEIR_NOT_FOUND)
    return bad_value(t, line, missing_end(t, &edge), "is no node: load it first, or set create_endpoints");
  return weir__load_put(t->load, line, rc, outcome, &detail);
}

/* ---- The file --------------------------------------------------------------------------------- */

static int on_row(void *data, const weir__csv_row *row) {
  table *t = data;
  return t->columns ? read_row(t, row) : read_header(t, row);
}

static int on_fault(void *data, const weir__csv_fault *fault) {
  table *t = data;
  const weir_bad_row row = at_column(t, fault->line, fault->column, fault->message);
  if (fault->final || !t->columns)
    return weir__load_fail(t->load, &row);
  int rc = weir__load_row(t->load);
  return rc == WEIR_OK ? weir__load_bad_row(t->load, &row) : rc;
}

static int read_table(weir__load *load, const int *allowed, int (*put)(table *t, uint64_t line)) {
  table t = {.load = load, .roles = allowed, .put = put};
  const weir__csv_handler handler = {.row = on_row, .fault = on_fault, .data = &t};
  char delimiter = ',';
  char quote = '"';
  if (load->options.delimiter)
    delimiter = load->options.delimiter;
  if (load->options.quote)
    quote = load->options.quote;
  if (delimiter == quote || strchr("\r\n", delimiter) || strchr("\r\n", quote) || delimiter < 0 || quote < 0)
    return weir_fail(load->err, WEIR_INVALID,
                     "options.delimiter and quote: give two different ASCII characters");
  int rc = weir__csv_read(&load->source, delimiter, quote, &handler, load->err);
  if (rc == WEIR_OK && !t.columns)
    rc = bad_header(&t, 1, 0, "no header: the first row must name the columns");
  clear_columns(&t);
  weir__bytes_clear(&t.json);
  return rc;
}

static int read_nodes(weir__load *load) {
  return read_table(load, node_roles, put_node);
}

static int read_edges(weir__load *load) {
  if (!load->options.label)
    load->options.label = "edge";
  return read_table(load, edge_roles, put_edge);
}

int weir_load_csv_nodes(weir_txn *txn, const char *path, const weir_load_options *options,
                        weir_load_report *report, weir_error *err) {
  static const weir__format format = {.read = read_nodes, .endpoints = WEIR__CREATES_NONE};
  return weir__load_run(&format, txn, path, options, report, err);
}

int weir_load_csv_edges(weir_txn *txn, const char *path, const weir_load_options *options,
                        weir_load_report *report, weir_error *err) {
  static const weir__format format = {.read = read_edges, .endpoints = WEIR__CREATES_IF_ASKED};
  return weir__load_run(&format, txn, path, options, report, err);
}
