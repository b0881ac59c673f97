/*
 * From a node to its neighbors on SQLite. There are 48 statements, one for each choice of direction, label,
 * places, edges and reach, made of the same parts: each has just the columns and constraints that are wanted.
 * So neither the neighbor's row nor, against the direction of the edges, the edge's own row is looked up for
 * nothing; and a column more costs a neighbor as much as all that is done with it here.
 *
 * The outer joins give a node without edges one row of NULLs: so one statement tells it from no node.
 */
#include "storage.h"

#include "sql.h"

/* Parameters: ?1 the node's key; the label; label, far and rank of the place. */
#define SELECT(near, far, where, place, node, edge)                                                          \
  WEIR_TEXT("SELECT e.label, e.rank, " node edge place " FROM node s LEFT JOIN edge e ON e." near            \
            " = s.id" where " LEFT JOIN node n ON n.id = e." far                                             \
            " WHERE s.key = ?1 ORDER BY e.label, e." far ", e.rank")

#define BY_REACH(near, far, where, place, edge)                                                              \
  {                                                                                                          \
    SELECT(near, far, where, place, "n.key", edge),                                                          \
        SELECT(near, far, where, place, "n.key, n.label_set, n.props, n.rev", edge)                          \
  }

#define BY_EDGE(near, far, where, place)                                                                     \
  { BY_REACH(near, far, where, place, ""), BY_REACH(near, far, where, place, ", e.weight, e.props, e.rev") }

#define BY_PLACE(near, far, label, after)                                                                    \
  {                                                                                                          \
    BY_EDGE(near, far, label, ""), BY_EDGE(near, far, label, ", e." far),                                    \
        BY_EDGE(near, far, label after, ", e." far)                                                          \
  }

#define BY_LABEL(near, far)                                                                                  \
  {                                                                                                          \
    BY_PLACE(near, far, "", " AND (e.label, e." far ", e.rank) > (?2, ?3, ?4)"),                             \
        BY_PLACE(near, far, " AND e.label = ?2", " AND (e." far ", e.rank) > (?3, ?4)")                      \
  }

enum { NO_PLACES, PLACES, PLACES_AFTER };

/* [against the edges][label][places][edges][whole node] */
static const weir_text texts[2][2][3][2][2] = {BY_LABEL("src", "dst"), BY_LABEL("dst", "src")};

static int visit_row(const weir__sql *sql, const weir__expansion *what, weir__hop_visit visit, void *data,
                     weir_error *err) {
  weir__hop hop = {
      .place = {.label = weir__sql_get_int(sql, 0), .rank = weir__sql_get_int(sql, 1)},
      .node = {.key = weir__sql_get_text(sql, 2)},
  };
  int complete = hop.node.key.ptr != NULL;
  int column = 3;
  if (what->reach == WEIR__REACH_NODE) {
    hop.node.label_set = weir__sql_get_int(sql, 3);
    hop.node.props = weir__sql_get_text(sql, 4);
    hop.node.rev = weir__sql_get_int(sql, 5);
    complete = complete && hop.node.props.ptr != NULL;
    column = 6;
  }
  if (what->edges) {
    hop.weight = sqlite3_column_double(sql->stmt, column);
    hop.props = weir__sql_get_text(sql, column + 1);
    hop.rev = weir__sql_get_int(sql, column + 2);
    complete = complete && hop.props.ptr != NULL;
    column += 3;
  }
  if (what->places) {
    hop.place.far = weir__sql_get_int(sql, column);
  }
  if (!complete) {
    int no_edge = sqlite3_column_type(sql->stmt, 0) == SQLITE_NULL;
    return no_edge ? WEIR_OK : weir_fail(err, WEIR_NOMEM, "out of memory for a neighbor");
  }
  return visit(&hop, data, err);
}

static void bind(weir__sql *sql, const weir__expansion *what) {
  weir__sql_text(sql, what->key);
  if (what->label || what->after) {
    weir__sql_int(sql, what->label ? what->label : what->after->label);
  }
  if (what->after) {
    weir__sql_int(sql, what->after->far);
    weir__sql_int(sql, what->after->rank);
  }
}

int weir__store_expand(weir_txn *txn, const weir__expansion *what, weir__hop_visit visit, void *data,
                       int *found, weir_error *err) {
  int places = what->after ? PLACES_AFTER : what->places ? PLACES : NO_PLACES;
  const weir_text text = texts[what->direction == WEIR_IN][what->label != 0][places][what->edges]
                              [what->reach == WEIR__REACH_NODE];
  weir__sql sql;
  *found = 0;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  bind(&sql, what);
  while ((rc = weir__sql_step(&sql, err)) > 0) {
    *found = 1;
    rc = visit_row(&sql, what, visit, data, err);
    if (rc) {
      break;
    }
  }
  weir__sql_end(&sql);
  return rc;
}
