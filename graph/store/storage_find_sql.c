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
#include "storage_find.h"

#include "rows.h"

enum { PLACE_KIND = -2, PLACE_VALUE = -1 };

static inline void sql(weir__find_sql *st, const char *text) {
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
static void add_bound(weir__find_sql *st, const char *column, int lower, const char *operator) {
  const weir__plan_spec *spec = st->spec;
  int in_order = spec->access == WEIR_BY_KEY ? spec->order == WEIR_FIELD_KEY : spec->ordered_by_index;
  sql(st, spec->after && in_order && lower != spec->descending ? " AND +" : " AND ");
  sql(st, column);
  sql(st, operator);
}

/* The ranges of a column that is in order. */
static void add_ranges(weir__find_sql *st, const char *column) {
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

static void add_index_table(weir__find_sql *st) {
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

static void add_index_ranges(weir__find_sql *st) {
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

static void add_label_set(weir__find_sql *st) {
  if (st->spec->label) {
    sql(st, " AND n.label_set IN (SELECT label_set FROM label_set_member WHERE label = ");
    weir__draft_int(&st->draft, st->spec->label);
    sql(st, ")");
  }
}

static void add_key_set(weir__find_sql *st, const weir_cond *set) {
  sql(st, " IN (SELECT value FROM json_each(");
  weir__draft_set(&st->draft, set);
  sql(st, "))");
}

static void add_nodes(weir__find_sql *st) {
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
    if (st->only_set) {
      sql(st, "node n INDEXED BY node_label_set WHERE n.label_set = ");
      weir__draft_int(&st->draft, st->only_set);
      break;
    }
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

static void add_end(weir__find_sql *st, const char *column, const weir_cond *cond) {
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

static void add_edges(weir__find_sql *st) {
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

static void add_column(weir__find_sql *st, const char *text, int pinned, int place) {
  st->order[st->order_count++] = (struct weir__order_column){text, pinned, place};
}

static void order_by_value(weir__find_sql *st) {
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

static void order_by_identity(weir__find_sql *st) {
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

static void add_place_value(weir__find_sql *st, int place) {
  const weir__position *after = st->spec->after;
  if (place == PLACE_VALUE) {
    weir__draft_value(&st->draft, after->value);
  } else {
    weir__draft_int(&st->draft, place == PLACE_KIND ? after->kind : after->id[place]);
  }
}

static void add_place(weir__find_sql *st) {
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

static void add_order(weir__find_sql *st) {
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

static void add_columns(weir__find_sql *st) {
  const weir__plan_spec *spec = st->spec;
  int nodes = spec->target == WEIR_NODES;
  sql(st, nodes ? "SELECT " WEIR__NODE_COLUMNS : "SELECT " WEIR__EDGE_COLUMNS);
  st->first_extra = nodes ? WEIR__NODE_WIDTH : WEIR__EDGE_WIDTH;
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

static int add_checks(weir__find_sql *st, weir_error *err) {
  const weir__plan_spec *spec = st->spec;
  int rc = WEIR_OK;
  for (size_t i = 0; i < spec->check_count && rc == WEIR_OK; i++) {
    sql(st, " AND ");
    rc = weir__draft_cond(&st->draft, st->txn, spec->target, spec->checks[i], err);
  }
  return rc;
}

int weir__find_write(weir__find_sql *st, weir_error *err) {
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

int weir__find_write_lookup(weir__find_sql *st, weir_error *err) {
  add_columns(st);
  sql(st, " FROM weir_frontier f CROSS JOIN node n NOT INDEXED ON n.id = f.id WHERE 1");
  return add_checks(st, err);
}
