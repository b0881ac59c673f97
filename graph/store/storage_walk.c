/*
 * Steps from node to node on SQLite. The text of a statement holds just the columns that are wanted: a step
 * without details reads the key of the table edge or of its index edge_reverse, and nothing else.
 */
#include "storage_walk.h"

#include <stdlib.h>

#include "../internal.h"
#include "draft.h"
#include "storage_frontier.h"

/* ---- Hops --------------------------------------------------------------------------------------------- */

struct weir__hops {
  weir__hops_spec spec;
  int64_t labels[WEIR_LABELS_MAX]; /* of the spec; its own copy */
  weir__draft draft;
  weir__sql sql;
  weir__draft behind_draft; /* for weir__hops_seek_behind; its text is empty as long as it is not needed */
  weir__sql behind;
  weir__sql *at;            /* the one of the two that is being read */
  weir__frontier *frontier; /* the connection's */
  const int64_t *nodes;     /* with WEIR__HOPS_FRONTIER: to step from */
  size_t node_count;
  size_t node_at; /* how far that is */
};

static int is_taking(const weir__hops_spec *spec) {
  return spec->details == WEIR__HOPS_IDS || spec->details == WEIR__HOPS_FRONTIER;
}

static void write_columns(weir__draft *draft, const weir__hops_spec *spec) {
  if (is_taking(spec)) {
    weir__draft_sql(draft, "SELECT 1");
  } else {
    weir__draft_sql(draft, spec->direction == WEIR_OUT ? "SELECT e.dst, e.label, e.rank"
                                                       : "SELECT e.src, e.label, e.rank");
  }
  if (spec->details == WEIR__HOPS_DETAILS) {
    weir__draft_sql(draft, ", e.weight, e.props, e.rev");
  } else if (spec->details == WEIR__HOPS_WEIGHT || spec->details == WEIR__HOPS_BETWEEN) {
    weir__draft_sql(draft, ", e.weight");
  }
  if (spec->cost) {
    weir__draft_sql(draft, ", CASE ");
    weir__draft_kind(draft, "e.props", *spec->cost);
    weir__draft_sql(draft, " WHEN 2 THEN ");
    weir__draft_prop(draft, "e.props", *spec->cost);
    weir__draft_sql(draft, " END");
  }
  if (spec->details == WEIR__HOPS_FRONTIER) {
    weir__draft_sql(draft, spec->direction == WEIR_OUT
                               ? " FROM weir_frontier f CROSS JOIN edge e WHERE e.src = f.id"
                               : " FROM weir_frontier f CROSS JOIN edge e WHERE e.dst = f.id");
  } else { /* the node is ?1 wherever it stands, so that it can be bound first */
    weir__draft_sql(draft, spec->direction == WEIR_OUT ? " FROM edge e WHERE e.src = "
                                                       : " FROM edge e WHERE e.dst = ");
    weir__draft_first(draft);
  }
}

/* In the order of the table or its index: nothing is sorted. */
static void write_order(weir__draft *draft, const weir__hops_spec *spec) {
  weir__draft_sql(draft, spec->direction == WEIR_OUT ? " ORDER BY e.label, e.dst, e.rank"
                                                     : " ORDER BY e.label, e.src, e.rank");
}

/* Only these labels; none: any. */
static void write_labels(weir__draft *draft, const int64_t *labels, size_t count) {
  for (size_t i = 0; i < count; i++) {
    weir__draft_sql(draft, i == 0 ? " AND e.label IN (" : ", ");
    weir__draft_int(draft, labels[i]);
  }
  weir__draft_sql(draft, count ? ")" : "");
}

static int write_where(weir__draft *draft, weir_txn *txn, const weir__hops_spec *spec, weir_error *err) {
  if (!spec->where) {
    return WEIR_OK;
  }
  weir__draft_sql(draft, " AND ");
  return weir__draft_cond(draft, txn, WEIR_EDGES, spec->where, err);
}

/*
 * weir_take costs much less than a return from SQLite for each row and a call for its column. It is asked
 * last, behind the condition: CASE evaluates in order.
 */
static int write_take(weir__draft *draft, weir_txn *txn, const weir__hops_spec *spec, weir_error *err) {
  const char *call = spec->direction == WEIR_OUT ? "weir_take(e.dst)" : "weir_take(e.src)";
  weir__draft_sql(draft, " AND ");
  if (!spec->where) {
    weir__draft_sql(draft, call);
    return WEIR_OK;
  }
  weir__draft_sql(draft, "CASE WHEN ");
  int rc = weir__draft_cond(draft, txn, WEIR_EDGES, spec->where, err);
  weir__draft_sql(draft, " THEN ");
  weir__draft_sql(draft, call);
  weir__draft_sql(draft, " ELSE 0 END");
  return rc;
}

/* Only edges to one node. With all labels named, the key of the table is known up to the rank. */
static void write_far(weir__draft *draft, const weir__hops_spec *spec) {
  if (spec->label_count == 0) {
    weir__draft_sql(draft, " AND e.label IN (SELECT id FROM label)");
  }
  weir__draft_sql(draft, spec->direction == WEIR_OUT ? " AND e.dst = " : " AND e.src = ");
  weir__draft_second(draft);
}

static int write_hops(weir__hops *hops, weir_txn *txn, const weir__hops_spec *spec, weir_error *err) {
  weir__draft *draft = &hops->draft;
  write_columns(draft, spec);
  write_labels(draft, spec->labels, spec->label_count);
  if (spec->details == WEIR__HOPS_BETWEEN) {
    write_far(draft, spec);
  }
  if (is_taking(spec)) {
    return write_take(draft, txn, spec, err);
  }
  int rc = write_where(draft, txn, spec, err);
  if (spec->details == WEIR__HOPS_ORDERED) {
    write_order(draft, spec);
  }
  return rc;
}

static void write_far_rank(weir__draft *draft, const weir__hop_place *place) {
  weir__draft_int(draft, place->far);
  weir__draft_sql(draft, ", ");
  weir__draft_int(draft, place->rank);
  weir__draft_sql(draft, ")");
}

/* The edges behind a place, of any label. */
static int write_behind_any(weir__draft *draft, weir_txn *txn, const weir__hops_spec *spec,
                            const weir__hop_place *place, weir_error *err) {
  write_columns(draft, spec);
  weir__draft_sql(draft, spec->direction == WEIR_OUT ? " AND (e.label, e.dst, e.rank) > ("
                                                     : " AND (e.label, e.src, e.rank) > (");
  weir__draft_int(draft, place->label);
  weir__draft_sql(draft, ", ");
  write_far_rank(draft, place);
  int rc = write_where(draft, txn, spec, err);
  write_order(draft, spec);
  return rc;
}

/* The same of certain labels: the rest of those with the label of the place, then all of the labels behind.
 * In one SELECT the place would be looked for from the first edge with its label on. */
static int write_behind_some(weir__draft *draft, weir_txn *txn, const weir__hops_spec *spec,
                             const weir__hop_place *place, weir_error *err) {
  int64_t labels[WEIR_LABELS_MAX];
  size_t count = 0;
  for (size_t i = 0; i < spec->label_count; i++) {
    if (spec->labels[i] > place->label) {
      labels[count++] = spec->labels[i];
    }
  }
  write_columns(draft, spec);
  weir__draft_sql(draft, " AND e.label = ");
  weir__draft_int(draft, place->label);
  weir__draft_sql(draft,
                  spec->direction == WEIR_OUT ? " AND (e.dst, e.rank) > (" : " AND (e.src, e.rank) > (");
  write_far_rank(draft, place);
  int rc = write_where(draft, txn, spec, err);
  if (rc == WEIR_OK && count > 0) {
    weir__draft_sql(draft, " UNION ALL ");
    write_columns(draft, spec);
    write_labels(draft, labels, count);
    rc = write_where(draft, txn, spec, err);
  }
  weir__draft_sql(draft, " ORDER BY 2, 1, 3");
  return rc;
}

int weir__hops_open(weir__hops **out, weir_txn *txn, const weir__hops_spec *spec, weir_error *err) {
  *out = NULL;
  weir__hops *hops = calloc(1, sizeof *hops);
  if (!hops) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a step");
  }
  hops->spec = *spec;
  hops->spec.labels = hops->labels;
  for (size_t i = 0; i < spec->label_count; i++) {
    hops->labels[i] = spec->labels[i];
  }
  hops->at = &hops->sql;
  hops->frontier = ((weir__local *)weir_txn_local(txn))->frontier;
  int rc = write_hops(hops, txn, spec, err);
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

/* ---- From place to place ------------------------------------------------------------------------------ */

void weir__hops_seek(weir__hops *hops, int64_t node) {
  hops->at = &hops->sql;
  weir__sql_again(&hops->sql);
  weir__sql_int(&hops->sql, node);
}

static void end_behind(weir__hops *hops) {
  if (hops->behind_draft.text) {
    weir__sql_end(&hops->behind);
    weir__draft_clear(&hops->behind_draft);
  }
}

int weir__hops_seek_behind(weir__hops *hops, int64_t node, const weir__hop_place *place, weir_error *err) {
  weir__draft *draft = &hops->behind_draft;
  weir_txn *txn = hops->sql.txn;
  end_behind(hops);
  int rc = hops->spec.label_count > 0 ? write_behind_some(draft, txn, &hops->spec, place, err)
                                      : write_behind_any(draft, txn, &hops->spec, place, err);
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(draft, &hops->behind, txn, err);
  }
  if (rc) {
    weir__draft_clear(draft);
    return rc;
  }
  hops->at = &hops->behind;
  weir__sql_int(&hops->behind, node);
  return WEIR_OK;
}

void weir__hops_seek_all(weir__hops *hops, const int64_t *nodes, size_t count) {
  weir__sql_again(&hops->sql);
  hops->nodes = nodes;
  hops->node_count = count;
}

int weir__hops_ids(weir__hops *hops, int64_t *ids, uint32_t *from, size_t room, size_t *count,
                   weir_error *err) {
  *hops->frontier = (weir__frontier){.nodes = hops->nodes,
                                     .node_count = hops->node_count,
                                     .at = hops->node_at,
                                     .ids = ids,
                                     .from = from,
                                     .room = room};
  int rc = weir__sql_step(hops->at, err);
  *count = hops->frontier->count;
  hops->node_at = hops->frontier->at;
  *hops->frontier = (weir__frontier){.nodes = NULL};
  return rc < 0 ? rc : WEIR_OK;
}

int weir__hops_next(weir__hops *hops, weir__hop_place *places, size_t room, size_t *count, weir_error *err) {
  size_t got = 0;
  int rc = 1;
  while (got < room && (rc = weir__sql_step(hops->at, err)) > 0) {
    places[got++] = (weir__hop_place){.far = weir__sql_get_int(hops->at, 0),
                                      .label = weir__sql_get_int(hops->at, 1),
                                      .rank = weir__sql_get_int(hops->at, 2)};
  }
  *count = got;
  return rc < 0 ? rc : WEIR_OK;
}

/* ---- Edge by edge ---------------------------------------------------------------------------------------
 */

static int visit_far(const weir__hops *hops, weir__far_visit visit, void *data, weir_error *err) {
  const weir__sql *sql = &hops->sql;
  weir__far far = {.node = weir__sql_get_int(sql, 0),
                   .label = weir__sql_get_int(sql, 1),
                   .rank = weir__sql_get_int(sql, 2)};
  const int details = hops->spec.details;
  int column = 3;
  if (details == WEIR__HOPS_DETAILS || details == WEIR__HOPS_WEIGHT || details == WEIR__HOPS_BETWEEN) {
    far.weight = sqlite3_column_double(sql->stmt, column++);
  }
  if (details == WEIR__HOPS_DETAILS) {
    far.props = weir__sql_get_text(sql, column++);
    far.rev = weir__sql_get_int(sql, column++);
    if (!far.props.ptr) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for an edge");
    }
  }
  if (hops->spec.cost) {
    far.has_cost = sqlite3_column_type(sql->stmt, column) != SQLITE_NULL;
    far.cost = sqlite3_column_double(sql->stmt, column);
  }
  return visit(&far, data, err);
}

static int visit_all(weir__hops *hops, weir__far_visit visit, void *data, weir_error *err) {
  int rc;
  while ((rc = weir__sql_step(&hops->sql, err)) > 0) {
    rc = visit_far(hops, visit, data, err);
    if (rc) {
      break;
    }
  }
  return rc;
}

int weir__hops_each(weir__hops *hops, int64_t node, weir__far_visit visit, void *data, weir_error *err) {
  weir__hops_seek(hops, node);
  return visit_all(hops, visit, data, err);
}

int weir__hops_between(weir__hops *hops, int64_t node, int64_t far, weir__far_visit visit, void *data,
                       weir_error *err) {
  weir__hops_seek(hops, node);
  weir__sql_int(&hops->sql, far);
  return visit_all(hops, visit, data, err);
}

void weir__hops_close(weir__hops *hops) {
  if (hops) {
    end_behind(hops);
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
