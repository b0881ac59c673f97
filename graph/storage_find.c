/*
 * Finds on SQLite: one statement, made of where the rows come from, what is asked of each, the place to go on
 * at, and the order. Equal questions make equal text, so it is in the statement cache.
 *
 * The way to the rows is the plan's choice, not SQLite's: CROSS JOIN keeps the tables in their order, INDEXED
 * BY and NOT INDEXED say which index, a + before a column keeps a term from being used to seek.
 *
 * The order is a list of columns that ends in the identity of the row. A column that an equality pins to one
 * value is left out of ORDER BY and of the comparison with the place, so that SQLite sees that the index
 * gives the order, and seeks to the place.
 */
#include "storage_query.h"

#include <stdlib.h>

#include "draft.h"
#include "internal.h"
#include "storage_frontier.h"

#define COLUMNS_MAX 6

/* A column of the order. */
struct column {
  const char *sql;
  int pinned;
  int place; /* where its value is in a weir__position: PLACE_KIND, PLACE_VALUE, or the number of an id */
};

enum { PLACE_KIND = -2, PLACE_VALUE = -1 };

struct statement {
  weir__draft draft;
  weir_txn *txn;
  const weir__plan_spec *spec;
  struct column order[COLUMNS_MAX];
  size_t order_count;
  int first_extra; /* the column of the result where kind and value begin */
};

static void sql(struct statement *st, const char *text) {
  weir__draft_sql(&st->draft, text);
}

/* ---- What is asked of the index ------------------------------------------------------------------------ */

/* The first condition on the field with the operator; NULL: there is none. */
static const weir_cond *range_of(const weir__plan_spec *spec, weir_field field, weir_op op) {
  for (size_t i = 0; i < spec->range_count; i++) {
    if (spec->ranges[i]->field == field && spec->ranges[i]->op == op) {
      return spec->ranges[i];
    }
  }
  return NULL;
}

static int kind_of(weir_type type) {
  return type == WEIR_TYPE_TEXT ? 3 : type == WEIR_TYPE_BOOL ? 1 : 2;
}

/* A comparison. If the rows come in the order of the column, the place is a closer bound on one side: then
 * this one must not be chosen to seek by. */
static void add_bound(struct statement *st, const char *column, int lower, const char *operator) {
  const weir__plan_spec *spec = st->spec;
  int in_order = spec->access == WEIR_BY_KEY ? spec->order == WEIR_FIELD_KEY : spec->ordered_by_index;
  sql(st, spec->after && in_order && lower != spec->descending ? " AND +" : " AND ");
  sql(st, column);
  sql(st, operator);
}

/* The ranges of a column that is in order. */
static void add_ranges(struct statement *st, const char *column) {
  const weir__plan_spec *spec = st->spec;
  for (size_t i = 0; i < spec->range_count; i++) {
    const weir_cond *range = spec->ranges[i];
    switch (range->op) {
    case WEIR_EQ:
      sql(st, " AND ");
      sql(st, column);
      sql(st, " = ");
      weir__draft_value(&st->draft, range->value);
      break;
    case WEIR_LT:
    case WEIR_LE:
      add_bound(st, column, 0, range->op == WEIR_LT ? " < " : " <= ");
      weir__draft_value(&st->draft, range->value);
      break;
    case WEIR_GT:
    case WEIR_GE:
      add_bound(st, column, 1, range->op == WEIR_GT ? " > " : " >= ");
      weir__draft_value(&st->draft, range->value);
      break;
    case WEIR_PREFIX:
      if (range->value.text.len > 0) {
        add_bound(st, column, 1, " >= ");
        weir__draft_text(&st->draft, range->value.text);
        add_bound(st, column, 0, " < ");
        weir__draft_behind(&st->draft, range->value.text);
      }
      break;
    default: /* WEIR_ONE_OF and WEIR_PRESENT stand elsewhere */
      break;
    }
  }
}

static const weir_cond *set_of(const weir__plan_spec *spec) {
  return range_of(spec, WEIR_FIELD_PROP, WEIR_ONE_OF);
}

static void add_index_table(struct statement *st) {
  const weir_cond *set = set_of(st->spec);
  if (set) { /* DISTINCT: 1 and 1.0 are the same */
    sql(st, "(SELECT DISTINCT CASE type WHEN 'text' THEN 3 WHEN 'true' THEN 1 WHEN 'false' THEN 1 ELSE 2 END"
            " AS kind, value FROM json_each(");
    weir__draft_set(&st->draft, set);
    sql(st, ")) v CROSS JOIN ");
  }
  sql(st, st->spec->target == WEIR_NODES ? "node_index_" : "edge_index_");
  weir__draft_number(&st->draft, st->spec->index);
  sql(st, set ? " i ON i.kind = v.kind AND i.value = v.value" : " i");
}

/* Those of the index, where it is all of one type: its number; 0: it is not. */
static int index_kind(const weir__plan_spec *spec) {
  const weir_cond *first = spec->range_count ? spec->ranges[0] : NULL;
  return first && first->op != WEIR_ONE_OF && first->op != WEIR_PRESENT ? kind_of(first->value.type) : 0;
}

static void add_index_ranges(struct statement *st) {
  int kind = index_kind(st->spec);
  if (kind) {
    sql(st, " AND i.kind = ");
    weir__draft_number(&st->draft, kind);
    add_ranges(st, "i.value");
  } else if (range_of(st->spec, WEIR_FIELD_PROP, WEIR_PRESENT)) {
    add_bound(st, "i.kind", 1, " >= 1");
  }
}

/* ---- Nodes: where they come from ------------------------------------------------------------------------
 */

static void add_label_set(struct statement *st) {
  if (st->spec->label) {
    sql(st, " AND n.label_set IN (SELECT label_set FROM label_set_member WHERE label = ");
    weir__draft_int(&st->draft, st->spec->label);
    sql(st, ")");
  }
}

static void add_key_set(struct statement *st, const weir_cond *set) {
  sql(st, " IN (SELECT value FROM json_each(");
  weir__draft_set(&st->draft, set);
  sql(st, "))");
}

static void add_nodes(struct statement *st) {
  const weir__plan_spec *spec = st->spec;
  const weir_cond *keys;
  sql(st, " FROM ");
  switch (spec->access) {
  case WEIR_BY_KEY:
    sql(st, "node n INDEXED BY sqlite_autoindex_node_1 WHERE 1");
    add_ranges(st, "n.key");
    keys = range_of(spec, WEIR_FIELD_KEY, WEIR_ONE_OF);
    if (keys) {
      sql(st, " AND n.key");
      add_key_set(st, keys);
    }
    add_label_set(st);
    break;
  case WEIR_BY_INDEX:
    add_index_table(st);
    sql(st, " CROSS JOIN node n NOT INDEXED ON n.id = i.node WHERE 1");
    add_index_ranges(st);
    break;
  case WEIR_BY_LABEL:
    sql(st, "label_set_member m CROSS JOIN node n INDEXED BY node_label_set ON n.label_set = m.label_set"
            " WHERE m.label = ");
    weir__draft_int(&st->draft, spec->label);
    break;
  default:
    sql(st, "node n NOT INDEXED WHERE 1");
    add_label_set(st);
    break;
  }
}

/* ---- Edges: where they come from -------------------------------------------------------------------------
 */

/* Which of the ends the way to the edges begins with, and how. */
struct ends {
  const weir_cond *src;
  const weir_cond *dst;
  int by_src; /* an equality */
  int by_dst; /* an equality that is used to seek: with src too, only if the label stands between them */
};

static struct ends ends_of(const weir__plan_spec *spec) {
  struct ends ends = {0};
  if (spec->access != WEIR_BY_KEY) {
    return ends;
  }
  ends.src = range_of(spec, WEIR_FIELD_SRC, WEIR_EQ);
  ends.dst = range_of(spec, WEIR_FIELD_DST, WEIR_EQ);
  ends.by_src = ends.src != NULL;
  ends.by_dst = ends.dst != NULL && (!ends.src || spec->label);
  if (!ends.src && !ends.dst) {
    ends.src = range_of(spec, WEIR_FIELD_SRC, WEIR_ONE_OF);
    ends.dst = ends.src ? NULL : range_of(spec, WEIR_FIELD_DST, WEIR_ONE_OF);
  }
  return ends;
}

static void add_end(struct statement *st, const char *column, const weir_cond *cond) {
  if (!cond) {
    return;
  }
  sql(st, " AND ");
  sql(st, column);
  if (cond->op == WEIR_EQ) {
    sql(st, " = (SELECT id FROM node WHERE key = ");
    weir__draft_value(&st->draft, cond->value);
  } else {
    sql(st, " IN (SELECT id FROM node WHERE key");
    add_key_set(st, cond);
  }
  sql(st, ")");
}

static void add_edges(struct statement *st) {
  const weir__plan_spec *spec = st->spec;
  struct ends ends = ends_of(spec);
  sql(st, " FROM ");
  if (spec->access == WEIR_BY_INDEX) {
    add_index_table(st);
    sql(st, " CROSS JOIN edge e ON e.src = i.src AND e.label = ");
    weir__draft_int(&st->draft, spec->label);
    sql(st, " AND e.dst = i.dst AND e.rank = i.rank");
  } else {
    sql(st, "edge e");
  }
  sql(st,
      " CROSS JOIN node s NOT INDEXED ON s.id = e.src CROSS JOIN node d NOT INDEXED ON d.id = e.dst WHERE 1");
  if (spec->access == WEIR_BY_INDEX) {
    add_index_ranges(st);
    return;
  }
  add_end(st, "e.src", ends.src);
  add_end(st, ends.by_src && !ends.by_dst ? "+e.dst" : "e.dst", ends.dst);
  if (spec->label) {
    sql(st, spec->access == WEIR_BY_KEY ? " AND e.label = " : " AND +e.label = ");
    weir__draft_int(&st->draft, spec->label);
  }
}

/* ---- Order and place -------------------------------------------------------------------------------------
 */

static void add_column(struct statement *st, const char *text, int pinned, int place) {
  st->order[st->order_count++] = (struct column){text, pinned, place};
}

static void order_by_value(struct statement *st) {
  const weir__plan_spec *spec = st->spec;
  int nodes = spec->target == WEIR_NODES;
  switch (spec->order) {
  case WEIR_FIELD_KEY:
    add_column(st, "n.key", 0, PLACE_VALUE);
    break;
  case WEIR_FIELD_REV:
    add_column(st, nodes ? "n.rev" : "e.rev", 0, PLACE_VALUE);
    break;
  case WEIR_FIELD_WEIGHT:
    add_column(st, "e.weight", 0, PLACE_VALUE);
    break;
  case WEIR_FIELD_PROP:
    if (spec->ordered_by_index) {
      add_column(st, "i.kind", index_kind(spec) != 0, PLACE_KIND);
      add_column(st, "i.value", range_of(spec, WEIR_FIELD_PROP, WEIR_EQ) != NULL, PLACE_VALUE);
    } else {
      add_column(st, "order_kind", 0, PLACE_KIND);
      add_column(st, "order_value", 0, PLACE_VALUE);
    }
    break;
  default:
    break;
  }
}

static void order_by_identity(struct statement *st) {
  const weir__plan_spec *spec = st->spec;
  int index = spec->access == WEIR_BY_INDEX;
  if (spec->target == WEIR_NODES) {
    if (spec->order != WEIR_FIELD_KEY) { /* no two have the same */
      add_column(st, index ? "i.node" : "n.id", 0, 0);
    }
    return;
  }
  struct ends ends = ends_of(spec);
  add_column(st, index ? "i.src" : "e.src", ends.by_src, 0);
  add_column(st, "e.label", index || (spec->access == WEIR_BY_KEY && spec->label), 1);
  add_column(st, index ? "i.dst" : "e.dst", ends.by_dst, 2);
  add_column(st, index ? "i.rank" : "e.rank", 0, 3);
}

static void add_place_value(struct statement *st, int place) {
  const weir__position *after = st->spec->after;
  if (place == PLACE_VALUE) {
    weir__draft_value(&st->draft, after->value);
  } else {
    weir__draft_int(&st->draft, place == PLACE_KIND ? after->kind : after->id[place]);
  }
}

static void add_place(struct statement *st) {
  const char *between = " AND (";
  for (size_t i = 0; i < st->order_count; i++) {
    if (!st->order[i].pinned) {
      sql(st, between);
      sql(st, st->order[i].sql);
      between = ", ";
    }
  }
  between = st->spec->descending ? ") < (" : ") > (";
  for (size_t i = 0; i < st->order_count; i++) {
    if (!st->order[i].pinned) {
      sql(st, between);
      add_place_value(st, st->order[i].place);
      between = ", ";
    }
  }
  sql(st, ")");
}

static void add_order(struct statement *st) {
  const char *between = " ORDER BY ";
  if (range_of(st->spec, WEIR_FIELD_KEY, WEIR_EQ)) { /* one row */
    return;
  }
  for (size_t i = 0; i < st->order_count; i++) {
    if (!st->order[i].pinned) {
      sql(st, between);
      sql(st, st->order[i].sql);
      sql(st, st->spec->descending ? " DESC" : "");
      between = ", ";
    }
  }
}

/* ---- The statement ---------------------------------------------------------------------------------------
 */

static void add_columns(struct statement *st) {
  const weir__plan_spec *spec = st->spec;
  int nodes = spec->target == WEIR_NODES;
  sql(st, nodes ? "SELECT n.id, n.key, n.label_set, n.props, n.rev"
                : "SELECT e.src, e.label, e.dst, e.rank, e.weight, e.props, e.rev, s.key, d.key");
  st->first_extra = nodes ? 5 : 9;
  if (spec->order != WEIR_FIELD_PROP) {
    return;
  }
  if (spec->ordered_by_index) {
    sql(st, ", i.kind, i.value");
  } else {
    const char *props = nodes ? "n.props" : "e.props";
    sql(st, ", ");
    weir__draft_kind(&st->draft, props, spec->order_path);
    sql(st, " AS order_kind, ");
    weir__draft_prop(&st->draft, props, spec->order_path);
    sql(st, " AS order_value");
  }
}

static int add_checks(struct statement *st, weir_error *err) {
  const weir__plan_spec *spec = st->spec;
  int rc = WEIR_OK;
  for (size_t i = 0; i < spec->check_count && rc == WEIR_OK; i++) {
    sql(st, " AND ");
    rc = weir__draft_cond(&st->draft, st->txn, spec->target, spec->checks[i], err);
  }
  return rc;
}

static int write_statement(struct statement *st, weir_error *err) {
  const weir__plan_spec *spec = st->spec;
  add_columns(st);
  if (spec->target == WEIR_NODES) {
    add_nodes(st);
  } else {
    add_edges(st);
  }
  order_by_value(st);
  order_by_identity(st);
  int rc = add_checks(st, err);
  if (rc) {
    return rc;
  }
  if (spec->after) {
    add_place(st);
  }
  add_order(st);
  if (spec->wants > 0 && spec->wants < INT64_MAX) {
    sql(st, " LIMIT ");
    weir__draft_int(&st->draft, (int64_t)spec->wants);
  }
  return WEIR_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------------------
 */

static weir_value value_at(const weir__sql *row, int column) {
  weir_value value = {.type = WEIR_TYPE_INT};
  switch (sqlite3_column_type(row->stmt, column)) {
  case SQLITE_TEXT:
    value.type = WEIR_TYPE_TEXT;
    value.text = weir__sql_get_text(row, column);
    break;
  case SQLITE_FLOAT:
    value.type = WEIR_TYPE_REAL;
    value.real = sqlite3_column_double(row->stmt, column);
    break;
  default:
    value.integer = weir__sql_get_int(row, column);
    break;
  }
  return value;
}

static int position_of(const struct statement *st, const weir__sql *row, int64_t rev, weir__position *at,
                       weir_error *err) {
  if (st->spec->order == WEIR_FIELD_REV) {
    at->value = weir_int(rev);
  } else if (st->spec->order == WEIR_FIELD_PROP) {
    at->kind = weir__sql_get_int(row, st->first_extra);
    at->value = value_at(row, st->first_extra + 1);
    if (at->value.type == WEIR_TYPE_TEXT && !at->value.text.ptr) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for a value");
    }
  }
  return WEIR_OK;
}

static int visit_node(const struct statement *st, const weir__sql *from, weir__node_found visit, void *data,
                      weir_error *err) {
  weir__node_row row = {
      .id = weir__sql_get_int(from, 0),
      .key = weir__sql_get_text(from, 1),
      .label_set = weir__sql_get_int(from, 2),
      .props = weir__sql_get_text(from, 3),
      .rev = weir__sql_get_int(from, 4),
  };
  if (!row.key.ptr || !row.props.ptr) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a node");
  }
  weir__position at = {.id = {row.id}};
  if (st->spec->order == WEIR_FIELD_KEY) {
    at.value.type = WEIR_TYPE_TEXT;
    at.value.text = row.key;
  }
  int rc = position_of(st, from, row.rev, &at, err);
  return rc ? rc : visit(&row, &at, data, err);
}

static int visit_edge(const struct statement *st, const weir__sql *from, weir__edge_found visit, void *data,
                      weir_error *err) {
  weir__edge_row row = {
      .id = {weir__sql_get_int(from, 0), weir__sql_get_int(from, 1), weir__sql_get_int(from, 2),
             weir__sql_get_int(from, 3)},
      .weight = sqlite3_column_double(from->stmt, 4),
      .props = weir__sql_get_text(from, 5),
      .rev = weir__sql_get_int(from, 6),
      .src_key = weir__sql_get_text(from, 7),
      .dst_key = weir__sql_get_text(from, 8),
  };
  if (!row.props.ptr || !row.src_key.ptr || !row.dst_key.ptr) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for an edge");
  }
  weir__position at = {.id = {row.id.src, row.id.label, row.id.dst, row.id.rank}};
  if (st->spec->order == WEIR_FIELD_WEIGHT) {
    at.value = weir_real(row.weight);
  }
  int rc = position_of(st, from, row.rev, &at, err);
  return rc ? rc : visit(&row, &at, data, err);
}

/* ---- Nodes by label, in the order of the scan ------------------------------------------------------------
 */

/*
 * The label's numbers are merged from its sets, as in a scan, and handed to a statement, many at a time: it
 * makes ready what the conditions compare with each time it is run, and a set may be large. So the batches
 * grow; the first is small, since the visitor may soon have enough.
 */
#define BATCH_FIRST 32
#define BATCH_MOST  65536

struct merging {
  struct statement *st;
  weir__sql row;
  weir__frontier *frontier; /* the connection's: others use it between two steps */
  weir__node_found visit;
  void *data;
  int64_t *ids;
  size_t count;
  size_t batch; /* as many as there is room for */
};

static int step_batch(struct merging *merging, weir_error *err) {
  *merging->frontier = (weir__frontier){.nodes = merging->ids, .node_count = merging->count};
  int rc = weir__sql_step(&merging->row, err);
  *merging->frontier = (weir__frontier){.nodes = NULL};
  return rc;
}

static int look_up(struct merging *merging, weir_error *err) {
  int rc;
  weir__sql_again(&merging->row);
  while ((rc = step_batch(merging, err)) > 0) {
    rc = visit_node(merging->st, &merging->row, merging->visit, merging->data, err);
    if (rc) {
      return rc;
    }
  }
  merging->count = 0;
  int64_t *grown =
      merging->batch < BATCH_MOST ? realloc(merging->ids, 2 * merging->batch * sizeof *grown) : NULL;
  if (grown) { /* else batches stay as they are */
    merging->ids = grown;
    merging->batch *= 2;
  }
  return rc;
}

static int collect(int64_t id, void *data, weir_error *err) {
  struct merging *merging = data;
  merging->ids[merging->count++] = id;
  return merging->count < merging->batch ? WEIR_OK : look_up(merging, err);
}

static int merge_batches(struct merging *merging, weir_error *err) {
  const weir__plan_spec *spec = merging->st->spec;
  size_t wants = spec->check_count ? 0 : spec->wants; /* with checks nobody knows how many numbers it takes */
  merging->batch = wants && wants < BATCH_FIRST ? wants : BATCH_FIRST;
  merging->ids = malloc(merging->batch * sizeof *merging->ids);
  if (!merging->ids) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a find");
  }
  int rc = weir__store_node_merge(merging->st->txn, spec->label, spec->after ? &spec->after->id[0] : NULL,
                                  spec->descending, wants, collect, merging, err);
  if (rc == WEIR_OK && merging->count > 0) {
    rc = look_up(merging, err);
  }
  free(merging->ids);
  return rc;
}

static int merge_nodes(struct statement *st, weir__node_found visit, void *data, weir_error *err) {
  weir__local *local = weir_txn_local(st->txn);
  struct merging merging = {.st = st, .frontier = local->frontier, .visit = visit, .data = data};
  add_columns(st);
  sql(st, " FROM weir_frontier f CROSS JOIN node n NOT INDEXED ON n.id = f.id WHERE 1");
  int rc = add_checks(st, err);
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(&st->draft, &merging.row, st->txn, err);
  }
  if (rc == WEIR_OK) {
    rc = merge_batches(&merging, err);
    weir__sql_end(&merging.row);
  }
  return rc;
}

/* ---- Running ---------------------------------------------------------------------------------------------
 */

/* What a step returns for a row; visitors never do. */
#define HAS_ROW 3

static int step(int rc, weir__sql *row, weir_error *err) {
  if (rc) { /* of the visitor */
    return rc;
  }
  rc = weir__sql_step(row, err);
  return rc > 0 ? HAS_ROW : rc;
}

/* Begins the statement and takes its first step. That shows if a guess was right: the table is there, and
 * with the snapshot that has begun it is known whether it is the right one. Without HAS_ROW nothing needs
 * ending. */
static int start(struct statement *st, weir__sql *row, weir_error *err) {
  int rc = weir__draft_begin(&st->draft, row, st->txn, err);
  if (rc) {
    return st->spec->guessed ? WEIR__STALE : rc;
  }
  rc = step(WEIR_OK, row, err);
  if (st->spec->guessed && rc < 0) {
    rc = WEIR__STALE;
  }
  if (rc != HAS_ROW) {
    weir__sql_end(row);
  }
  return rc;
}

int weir__store_node_query(weir_txn *txn, const weir__plan_spec *spec, weir__node_found visit, void *data,
                           weir_error *err) {
  struct statement st = {.txn = txn, .spec = spec};
  weir__sql row;
  int rc;
  if (spec->access == WEIR_BY_LABEL && spec->order == WEIR_FIELD_NONE) {
    rc = merge_nodes(&st, visit, data, err);
  } else {
    rc = write_statement(&st, err);
    rc = rc ? rc : start(&st, &row, err);
    if (rc == HAS_ROW) {
      while (rc == HAS_ROW) {
        rc = step(visit_node(&st, &row, visit, data, err), &row, err);
      }
      weir__sql_end(&row);
    }
  }
  weir__draft_clear(&st.draft);
  return rc;
}

int weir__store_edge_query(weir_txn *txn, const weir__plan_spec *spec, weir__edge_found visit, void *data,
                           weir_error *err) {
  struct statement st = {.txn = txn, .spec = spec};
  weir__sql row;
  int rc = write_statement(&st, err);
  rc = rc ? rc : start(&st, &row, err);
  if (rc == HAS_ROW) {
    while (rc == HAS_ROW) {
      rc = step(visit_edge(&st, &row, visit, data, err), &row, err);
    }
    weir__sql_end(&row);
  }
  weir__draft_clear(&st.draft);
  return rc;
}
