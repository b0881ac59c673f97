/*
 * Steps from node to node on SQLite. The text of a statement holds just the columns that are wanted: a step
 * without details reads the key of the table edge or of its index edge_reverse, and nothing else.
 */
#include "storage_walk.h"

#include <stdlib.h>

#include "draft.h"

/* ---- Hops --------------------------------------------------------------------------------------------- */

struct weir__hops {
  weir__draft draft;
  weir__sql sql;
  int details;
  int cost;
};

static void write_columns(weir__draft *draft, const weir__hops_spec *spec) {
  weir__draft_sql(draft, spec->direction == WEIR_OUT ? "SELECT e.dst" : "SELECT e.src");
  if (spec->details != WEIR__HOPS_IDS) {
    weir__draft_sql(draft, ", e.label, e.rank");
  }
  if (spec->details == 1) {
    weir__draft_sql(draft, ", e.weight, e.props, e.rev");
  } else if (spec->details == WEIR__HOPS_WEIGHT) {
    weir__draft_sql(draft, ", e.weight");
  }
  if (spec->cost) {
    weir__draft_sql(draft, ", CASE ");
    weir__draft_kind(draft, "e.props", *spec->cost);
    weir__draft_sql(draft, " WHEN 2 THEN ");
    weir__draft_prop(draft, "e.props", *spec->cost);
    weir__draft_sql(draft, " END");
  }
  weir__draft_sql(draft, " FROM edge e WHERE ");
}

static int write_hops(weir__draft *draft, weir_txn *txn, const weir__hops_spec *spec, weir_error *err) {
  /* The node is ?1 wherever it stands, so that it can be bound first. */
  write_columns(draft, spec);
  weir__draft_sql(draft, spec->direction == WEIR_OUT ? "e.src = " : "e.dst = ");
  weir__draft_first(draft);
  for (size_t i = 0; i < spec->label_count; i++) {
    weir__draft_sql(draft, i == 0 ? " AND e.label IN (" : ", ");
    weir__draft_int(draft, spec->labels[i]);
  }
  weir__draft_sql(draft, spec->label_count ? ")" : "");
  if (!spec->where) {
    return WEIR_OK;
  }
  weir__draft_sql(draft, " AND ");
  return weir__draft_cond(draft, txn, WEIR_EDGES, spec->where, err);
}

int weir__hops_open(weir__hops **out, weir_txn *txn, const weir__hops_spec *spec, weir_error *err) {
  *out = NULL;
  weir__hops *hops = calloc(1, sizeof *hops);
  if (!hops) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a step");
  }
  hops->details = spec->details;
  hops->cost = spec->cost != NULL;
  int rc = write_hops(&hops->draft, txn, spec, err);
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(&hops->draft, &hops->sql, txn, err);
  }
  if (rc) {
    weir__draft_clear(&hops->draft);
    free(hops);
    return rc;
  }
  *out = hops;
  return WEIR_OK;
}

void weir__hops_seek(weir__hops *hops, int64_t node) {
  weir__sql_again(&hops->sql);
  weir__sql_int(&hops->sql, node);
}

int weir__hops_ids(weir__hops *hops, int64_t *ids, size_t room, size_t *count, weir_error *err) {
  size_t got = 0;
  int rc = 1;
  while (got < room && (rc = weir__sql_step(&hops->sql, err)) > 0) {
    ids[got++] = weir__sql_get_int(&hops->sql, 0);
  }
  *count = got;
  return rc < 0 ? rc : WEIR_OK;
}

static int visit_far(const weir__hops *hops, weir__far_visit visit, void *data, weir_error *err) {
  const weir__sql *sql = &hops->sql;
  weir__far far = {.node = weir__sql_get_int(sql, 0),
                   .label = weir__sql_get_int(sql, 1),
                   .rank = weir__sql_get_int(sql, 2)};
  int column = 3;
  if (hops->details) {
    far.weight = sqlite3_column_double(sql->stmt, column++);
  }
  if (hops->details == 1) {
    far.props = weir__sql_get_text(sql, 4);
    far.rev = weir__sql_get_int(sql, 5);
    column = 6;
    if (!far.props.ptr) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for an edge");
    }
  }
  if (hops->cost) {
    far.has_cost = sqlite3_column_type(sql->stmt, column) != SQLITE_NULL;
    far.cost = sqlite3_column_double(sql->stmt, column);
  }
  return visit(&far, data, err);
}

int weir__hops_each(weir__hops *hops, int64_t node, weir__far_visit visit, void *data, weir_error *err) {
  int rc;
  weir__hops_seek(hops, node);
  while ((rc = weir__sql_step(&hops->sql, err)) > 0) {
    rc = visit_far(hops, visit, data, err);
    if (rc) {
      break;
    }
  }
  return rc;
}

void weir__hops_close(weir__hops *hops) {
  if (hops) {
    weir__sql_end(&hops->sql);
    weir__draft_clear(&hops->draft);
    free(hops);
  }
}

/* ---- Nodes -------------------------------------------------------------------------------------------- */

struct weir__lookup {
  weir__draft draft;
  weir__sql sql;
  enum weir__reach reach;
};

int weir__lookup_open(weir__lookup **out, weir_txn *txn, enum weir__reach reach, const weir_cond *where,
                      weir_error *err) {
  static const char *const columns[] = {[WEIR__REACH_ID] = "SELECT n.id FROM node n WHERE n.id = ",
                                        [WEIR__REACH_KEY] = "SELECT n.id, n.key FROM node n WHERE n.id = ",
                                        [WEIR__REACH_NODE] = "SELECT n.id, n.key, n.label_set, n.props, n.rev"
                                                             " FROM node n WHERE n.id = "};
  *out = NULL;
  weir__lookup *lookup = calloc(1, sizeof *lookup);
  if (!lookup) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a step");
  }
  lookup->reach = reach;
  weir__draft_sql(&lookup->draft, columns[reach]);
  weir__draft_first(&lookup->draft);
  int rc = WEIR_OK;
  if (where) {
    weir__draft_sql(&lookup->draft, " AND ");
    rc = weir__draft_cond(&lookup->draft, txn, WEIR_NODES, where, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(&lookup->draft, &lookup->sql, txn, err);
  }
  if (rc) {
    weir__draft_clear(&lookup->draft);
    free(lookup);
    return rc;
  }
  *out = lookup;
  return WEIR_OK;
}

/* Finds the node; 1: it is there. */
static int find_node(weir__lookup *lookup, int64_t id, weir_error *err) {
  weir__sql_again(&lookup->sql);
  weir__sql_int(&lookup->sql, id);
  return weir__sql_step(&lookup->sql, err);
}

int weir__lookup_node(weir__lookup *lookup, int64_t id, weir__node_visit visit, void *data, weir_error *err) {
  int rc = find_node(lookup, id, err);
  if (rc <= 0) {
    return rc;
  }
  const weir__sql *sql = &lookup->sql;
  weir__node_row row = {.id = id};
  int complete = 1;
  if (lookup->reach >= WEIR__REACH_KEY) {
    row.key = weir__sql_get_text(sql, 1);
    complete = row.key.ptr != NULL;
  }
  if (lookup->reach >= WEIR__REACH_NODE) {
    row.label_set = weir__sql_get_int(sql, 2);
    row.props = weir__sql_get_text(sql, 3);
    row.rev = weir__sql_get_int(sql, 4);
    complete = complete && row.props.ptr != NULL;
  }
  return complete ? visit(&row, 0, data, err) : weir_fail(err, WEIR_NOMEM, "out of memory for a node");
}

int weir__lookup_passes(weir__lookup *lookup, int64_t id, int *passes, weir_error *err) {
  int rc = find_node(lookup, id, err);
  *passes = rc > 0;
  return rc < 0 ? rc : WEIR_OK;
}

void weir__lookup_close(weir__lookup *lookup) {
  if (lookup) {
    weir__sql_end(&lookup->sql);
    weir__draft_clear(&lookup->draft);
    free(lookup);
  }
}
