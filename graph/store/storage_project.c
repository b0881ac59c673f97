/*
 * Nodes and edges into memory, on SQLite: one scan of a table, whose rows are handed over by a function that
 * the WHERE clause calls. A step returns only when enough rows were looked at, chosen or not, so the caller
 * comes to know how far it is; and the scan goes on with the next step.
 */
#include "storage_project.h"

#include <math.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "../internal.h"
#include "draft.h"

/* What the functions hand rows to: set while a statement is stepped that calls them. */
struct weir__taking {
  const weir__taker *taker;
  unsigned rows; /* looked at in this step */
  int64_t at;    /* the last one */
};

/* ---- The functions --------------------------------------------------------------------------------------
 */

static void looked_at(sqlite3_context *context, struct weir__taking *taking, int64_t at) {
  taking->at = at;
  sqlite3_result_int(context, ++taking->rows == WEIR__TAKE_ROWS);
}

/* weir_take_node(id, key, chosen) */
static void take_node(sqlite3_context *context, int count, sqlite3_value **values) {
  struct weir__taking *taking = sqlite3_user_data(context);
  (void)count;
  int64_t id = sqlite3_value_int64(values[0]);
  if (taking->taker && sqlite3_value_int(values[2])) {
    weir_text key = {(const char *)sqlite3_value_text(values[1]), 0};
    key.len = (size_t)sqlite3_value_bytes(values[1]);
    taking->taker->node(taking->taker->data, id, key);
  }
  looked_at(context, taking, id);
}

/* weir_take_edge(near, far [, weight [, chosen]]) */
static void take_edge(sqlite3_context *context, int count, sqlite3_value **values) {
  struct weir__taking *taking = sqlite3_user_data(context);
  int64_t near = sqlite3_value_int64(values[0]);
  if (taking->taker && (count < 4 || sqlite3_value_int(values[3]))) {
    double weight = 0;
    if (count > 2) {
      weight = sqlite3_value_type(values[2]) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(values[2]);
    }
    taking->taker->edge(taking->taker->data, near, sqlite3_value_int64(values[1]), weight);
  }
  looked_at(context, taking, near);
}

int weir__take_connect(sqlite3 *db, struct weir__taking **out) {
  struct weir__taking *taking = calloc(1, sizeof *taking);
  const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  *out = taking;
  if (!taking) {
    return WEIR_NOMEM;
  }
  /* Frees it when the connection is closed, and if it fails. */
  int rc = sqlite3_create_function_v2(db, "weir_take_node", 3, flags, taking, take_node, NULL, NULL, free);
  for (int count = 2; count <= 4 && rc == SQLITE_OK; count++) {
    rc = sqlite3_create_function_v2(db, "weir_take_edge", count, flags, taking, take_edge, NULL, NULL, NULL);
  }
  return rc == SQLITE_OK ? WEIR_OK : WEIR_NOMEM;
}

/* ---- What is chosen -------------------------------------------------------------------------------------
 */

/* Adds: is `label` one of these? Few are compared faster than looked up. */
static void add_one_of(weir__draft *draft, const char *label, const weir__chosen *chosen) {
  enum { FEW = 3 };
  int few = chosen->label_count <= FEW;
  weir__draft_sql(draft, few ? "(" : label);
  weir__draft_sql(draft, few ? "" : " IN (");
  for (size_t i = 0; i < chosen->label_count; i++) {
    weir__draft_sql(draft, i == 0 ? "" : few ? " OR " : ", ");
    weir__draft_sql(draft, few ? label : "");
    weir__draft_sql(draft, few ? " = " : "");
    weir__draft_int(draft, chosen->labels[i]);
  }
  weir__draft_sql(draft, ")");
}

static void add_label_test(weir__draft *draft, weir_target target, const weir__chosen *chosen) {
  if (target == WEIR_EDGES) {
    add_one_of(draft, "e.label", chosen);
    return;
  }
  weir__draft_sql(draft, "n.label_set IN (SELECT m.label_set FROM label_set_member m WHERE ");
  add_one_of(draft, "m.label", chosen);
  weir__draft_sql(draft, ")");
}

/* Adds what is 1 for rows that are chosen. CASE: a condition costs much more than a label. */
static int add_chosen(weir__draft *draft, weir_txn *txn, weir_target target, const weir__chosen *chosen,
                      weir_error *err) {
  int both = chosen->label_count > 0 && chosen->where;
  weir__draft_sql(draft, both ? "CASE WHEN " : "");
  if (chosen->label_count > 0) {
    add_label_test(draft, target, chosen);
  }
  weir__draft_sql(draft, both ? " THEN " : "");
  int rc = WEIR_OK;
  if (chosen->where || chosen->label_count == 0) {
    rc = weir__draft_cond(draft, txn, target, chosen->where, err);
  }
  weir__draft_sql(draft, both ? " ELSE 0 END" : "");
  return rc;
}

static void add_number_at(weir__draft *draft, weir_text path) {
  weir__draft_sql(draft, "CASE ");
  weir__draft_kind(draft, "e.props", path);
  weir__draft_sql(draft, " WHEN 2 THEN ");
  weir__draft_prop(draft, "e.props", path);
  weir__draft_sql(draft, " END");
}

/* ---- Taking ---------------------------------------------------------------------------------------------
 */

/* Steps to the end of the statement, which the draft holds. */
static int take_all(weir__draft *draft, weir_txn *txn, const weir__taker *taker, weir_error *err) {
  struct weir__taking *taking = ((weir__local *)weir_txn_local(txn))->taking;
  weir__sql sql;
  int rc = weir__draft_begin(draft, &sql, txn, err);
  if (rc) {
    return rc;
  }
  int64_t at = 0;
  int more = 1;
  while ((rc = taker->pause(taker->data, at, err)) == WEIR_OK && more) {
    *taking = (struct weir__taking){.taker = taker, .at = at};
    more = weir__sql_step(&sql, err);
    at = taking->at;
    *taking = (struct weir__taking){.taker = NULL};
    if (more < 0) {
      rc = more;
      break;
    }
  }
  weir__sql_end(&sql);
  return rc;
}

int weir__store_take_nodes(weir_txn *txn, const weir__chosen *chosen, const weir__taker *taker,
                           weir_error *err) {
  weir__draft draft = {.text = NULL};
  weir__draft_sql(&draft, "SELECT 1 FROM node n NOT INDEXED WHERE weir_take_node(n.id, n.key, ");
  int rc = add_chosen(&draft, txn, WEIR_NODES, chosen, err);
  weir__draft_sql(&draft, ") ORDER BY n.id");
  if (rc == WEIR_OK) {
    rc = take_all(&draft, txn, taker, err);
  }
  weir__draft_clear(&draft);
  return rc;
}

static int write_edges(weir__draft *draft, weir_txn *txn, const weir__edges_spec *spec, weir_error *err) {
  int all = spec->chosen.label_count == 0 && !spec->chosen.where;
  weir__draft_sql(
      draft, spec->against ? "SELECT 1 FROM edge e INDEXED BY edge_reverse WHERE weir_take_edge(e.dst, e.src"
                           : "SELECT 1 FROM edge e NOT INDEXED WHERE weir_take_edge(e.src, e.dst");
  if (spec->cost == WEIR_COST_PROP) {
    weir__draft_sql(draft, ", ");
    add_number_at(draft, spec->path);
  } else if (spec->cost == WEIR_COST_WEIGHT || !all) {
    weir__draft_sql(draft, spec->cost == WEIR_COST_WEIGHT ? ", e.weight" : ", 0");
  }
  int rc = WEIR_OK;
  if (!all) {
    weir__draft_sql(draft, ", ");
    rc = add_chosen(draft, txn, WEIR_EDGES, &spec->chosen, err);
  }
  weir__draft_sql(draft, spec->against ? ") ORDER BY e.dst, e.label, e.src, e.rank"
                                       : ") ORDER BY e.src, e.label, e.dst, e.rank");
  return rc;
}

int weir__store_take_edges(weir_txn *txn, const weir__edges_spec *spec, const weir__taker *taker,
                           weir_error *err) {
  weir__draft draft = {.text = NULL};
  int rc = write_edges(&draft, txn, spec, err);
  if (rc == WEIR_OK) {
    rc = take_all(&draft, txn, taker, err);
  }
  weir__draft_clear(&draft);
  return rc;
}

/* ---- Single rows ----------------------------------------------------------------------------------------
 */

int weir__store_edge_without(weir_txn *txn, const weir__chosen *chosen, weir_text path, int64_t src,
                             int64_t dst, weir__edge_id *id, int *found, weir_error *err) {
  weir__draft draft = {.text = NULL};
  weir__sql sql;
  weir__draft_sql(&draft, "SELECT e.label, e.rank FROM edge e NOT INDEXED WHERE e.src = ");
  weir__draft_int(&draft, src);
  weir__draft_sql(&draft, " AND e.dst = ");
  weir__draft_int(&draft, dst);
  weir__draft_sql(&draft, " AND ");
  add_number_at(&draft, path);
  weir__draft_sql(&draft, " IS NULL AND ");
  int rc = add_chosen(&draft, txn, WEIR_EDGES, chosen, err);
  weir__draft_sql(&draft, " ORDER BY e.label, e.rank LIMIT 1");
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(&draft, &sql, txn, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__sql_step(&sql, err);
    *found = rc > 0;
    if (rc > 0) {
      *id = (weir__edge_id){src, weir__sql_get_int(&sql, 0), dst, weir__sql_get_int(&sql, 1)};
      rc = WEIR_OK;
    }
    weir__sql_end(&sql);
  }
  weir__draft_clear(&draft);
  return rc;
}

int weir__store_node_last(weir_txn *txn, int64_t *most, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT max(id) FROM node");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  return rc ? rc : weir__sql_number(&sql, 0, most, err);
}
