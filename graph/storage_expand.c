/*
 * From a node to its neighbors on SQLite. There are 32 statements, one for each choice of direction, label,
 * place to go on from, edges and reach, made of the same parts: each has just the columns and constraints
 * that are wanted, so that neither the neighbor's row nor, against the direction of the edges, the edge's own
 * row is looked up for nothing.
 *
 * The outer joins give a node without edges one row of NULLs: so one statement tells it from no node.
 */
#include "storage.h"

#include "sql.h"

/* Parameters: ?1 the node's key; the label; label, far and rank of the place. */
#define SELECT(near, far, where, node, edge)                                                                 \
  WEIR_TEXT("SELECT e." far ", e.label, e.rank, " node edge " FROM node s LEFT JOIN edge e ON e." near       \
            " = s.id" where " LEFT JOIN node n ON n.id = e." far                                             \
            " WHERE s.key = ?1 ORDER BY e.label, e." far ", e.rank")

#define BY_REACH(near, far, where, edge)                                                                     \
  {                                                                                                          \
    SELECT(near, far, where, "n.key", edge),                                                                 \
        SELECT(near, far, where, "n.key, n.label_set, n.props, n.rev", edge)                                 \
  }

#define BY_EDGE(near, far, where)                                                                            \
  { BY_REACH(near, far, where, ""), BY_REACH(near, far, where, ", e.weight, e.props, e.rev") }

#define BY_PLACE(near, far)                                                                                  \
  {                                                                                                          \
    {BY_EDGE(near, far, ""), BY_EDGE(near, far, " AND (e.label, e." far ", e.rank) > (?2, ?3, ?4)")}, {      \
      BY_EDGE(near, far, " AND e.label = ?2"),                                                               \
          BY_EDGE(near, far, " AND e.label = ?2 AND (e." far ", e.rank) > (?3, ?4)")                         \
    }                                                                                                        \
  }

/* [against the edges][label][place][edges][whole node] */
static const weir_text texts[2][2][2][2][2] = {BY_PLACE("src", "dst"), BY_PLACE("dst", "src")};

static int visit_row(const weir__sql *sql, const weir__expansion *what, int64_t far, weir__hop_visit visit,
                     void *data, weir_error *err) {
  weir__hop hop = {
      .place = {.label = weir__sql_get_int(sql, 1), .far = far, .rank = weir__sql_get_int(sql, 2)},
      .node = {.id = far, .key = weir__sql_get_text(sql, 3)},
  };
  int complete = hop.node.key.ptr != NULL;
  int column = 4;
  if (what->reach == WEIR__REACH_NODE) {
    hop.node.label_set = weir__sql_get_int(sql, 4);
    hop.node.props = weir__sql_get_text(sql, 5);
    hop.node.rev = weir__sql_get_int(sql, 6);
    complete = complete && hop.node.props.ptr != NULL;
    column = 7;
  }
  if (what->edges) {
    hop.weight = sqlite3_column_double(sql->stmt, column);
    hop.props = weir__sql_get_text(sql, column + 1);
    hop.rev = weir__sql_get_int(sql, column + 2);
    complete = complete && hop.props.ptr != NULL;
  }
  if (!complete) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a neighbor");
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
  const weir_text text = texts[what->direction == WEIR_IN][what->label != 0][what->after != NULL][what->edges]
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
    int64_t far = weir__sql_get_int(&sql, 0); /* numbers of nodes are not 0 */
    if (far == 0) {                           /* the row of NULLs, which is the only one */
      rc = WEIR_OK;
      break;
    }
    rc = visit_row(&sql, what, far, visit, data, err);
    if (rc) {
      break;
    }
  }
  weir__sql_end(&sql);
  return rc;
}
