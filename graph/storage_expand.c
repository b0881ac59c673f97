/*
 * From nodes to their neighbors on SQLite. There are 24 statements, one for each choice of direction, label,
 * edges and reach, made of the same parts and with the same parameters and columns: what is not wanted is
 * NULL, so that neither the neighbor's row nor, against the direction of the edges, the edge's own row is
 * looked up for nothing.
 */
#include "storage.h"

#include "sql.h"

/* Parameters: ?1 the node, ?2 label, ?3 far, ?4 rank of the place to go on from. */
#define ANY_LABEL(far) "(e.label, e." far ", e.rank) > (?2, ?3, ?4)"
#define ONE_LABEL(far) "e.label = ?2 AND (e." far ", e.rank) > (?3, ?4)"

#define NO_EDGE "NULL, NULL, NULL"
#define EDGE    "e.weight, e.props, e.rev"

#define SELECT(near, far, from, edge, node, join)                                                            \
  WEIR_TEXT("SELECT e." far ", e.label, e.rank, " edge ", " node " FROM edge e" join " WHERE e." near        \
            " = ?1 AND " from " ORDER BY e.label, e." far ", e.rank")

#define BY_REACH(near, far, from, edge)                                                                      \
  {                                                                                                          \
    SELECT(near, far, from, edge, "NULL, NULL, NULL, NULL", ""),                                             \
        SELECT(near, far, from, edge, "n.key, NULL, NULL, NULL", " CROSS JOIN node n ON n.id = e." far),     \
        SELECT(near, far, from, edge, "n.key, n.label_set, n.props, n.rev",                                  \
               " CROSS JOIN node n ON n.id = e." far)                                                        \
  }

#define BY_EDGE(near, far, from)                                                                             \
  { BY_REACH(near, far, from, NO_EDGE), BY_REACH(near, far, from, EDGE) }

#define BY_LABEL(near, far)                                                                                  \
  { BY_EDGE(near, far, ANY_LABEL(far)), BY_EDGE(near, far, ONE_LABEL(far)) }

static const weir_text texts[2][2][2][3] = {BY_LABEL("src", "dst"), BY_LABEL("dst", "src")};

static int visit_row(const weir__sql *sql, const weir__expansion *what, size_t index, weir__hop_visit visit,
                     void *data, weir_error *err) {
  weir__hop hop = {
      .index = index,
      .place = {.label = weir__sql_get_int(sql, 1),
                .far = weir__sql_get_int(sql, 0),
                .rank = weir__sql_get_int(sql, 2)},
  };
  int complete = 1;
  hop.node.id = hop.place.far;
  if (what->edges) {
    hop.weight = sqlite3_column_double(sql->stmt, 3);
    hop.props = weir__sql_get_text(sql, 4);
    hop.rev = weir__sql_get_int(sql, 5);
    complete = hop.props.ptr != NULL;
  }
  if (what->reach >= WEIR__REACH_KEY) {
    hop.node.key = weir__sql_get_text(sql, 6);
    complete = complete && hop.node.key.ptr != NULL;
  }
  if (what->reach >= WEIR__REACH_NODE) {
    hop.node.label_set = weir__sql_get_int(sql, 7);
    hop.node.props = weir__sql_get_text(sql, 8);
    hop.node.rev = weir__sql_get_int(sql, 9);
    complete = complete && hop.node.props.ptr != NULL;
  }
  if (!complete) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a neighbor");
  }
  return visit(&hop, data, err);
}

int weir__store_expand(weir_txn *txn, const weir__expansion *what, weir__hop_visit visit, void *data,
                       weir_error *err) {
  const weir__hop_place start = {.label = what->label, .far = INT64_MIN, .rank = INT64_MIN};
  weir__sql sql;
  int rc = weir__sql_begin(
      &sql, txn, texts[what->direction == WEIR_IN][what->label != 0][what->edges][what->reach], err);
  if (rc) {
    return rc;
  }
  for (size_t i = 0; i < what->count && rc == WEIR_OK; i++) {
    const weir__hop_place *from = i == 0 && what->after ? what->after : &start;
    if (i > 0) {
      weir__sql_again(&sql);
    }
    weir__sql_int(&sql, what->frontier[i]);
    weir__sql_int(&sql, what->label ? what->label : from->label);
    weir__sql_int(&sql, from->far);
    weir__sql_int(&sql, from->rank);
    while ((rc = weir__sql_step(&sql, err)) > 0) {
      rc = visit_row(&sql, what, i, visit, data, err);
      if (rc) {
        break;
      }
    }
  }
  weir__sql_end(&sql);
  return rc;
}
