/*
 * Edges on SQLite: the table edge, which is stored in the order (src, label, dst, rank), and its index
 * edge_reverse in the order (dst, label, src, rank) (schema.c). So the edges of a node are one range in
 * either direction, with a label or without.
 */
#include "storage.h"

#include "rows.h"
#include "storage_query.h"

static void bind_id(weir__sql *sql, const weir__edge_id *id) {
  weir__sql_int(sql, id->src);
  weir__sql_int(sql, id->label);
  weir__sql_int(sql, id->dst);
  weir__sql_int(sql, id->rank);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

int weir__store_edge_get(weir_txn *txn, const weir__edge_id *id, weir__edge_visit visit, void *data,
                         weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT weight, props, rev FROM edge"
                                          " WHERE src = ?1 AND label = ?2 AND dst = ?3 AND rank = ?4");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  bind_id(&sql, id);
  rc = weir__sql_step(&sql, err);
  if (rc > 0) {
    weir__edge_row row = {
        .id = *id,
        .weight = sqlite3_column_double(sql.stmt, 0),
        .props = weir__sql_get_text(&sql, 1),
        .rev = weir__sql_get_int(&sql, 2),
    };
    rc = row.props.ptr ? visit(&row, data, err) : weir_fail(err, WEIR_NOMEM, "out of memory for an edge");
  }
  weir__sql_end(&sql);
  return rc;
}

int weir__store_edge_last_rank(weir_txn *txn, const weir__edge_id *id, int64_t *rank, int *used,
                               weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT rank FROM edge WHERE src = ?1 AND label = ?2 AND dst = ?3"
                                          " ORDER BY rank DESC LIMIT 1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, id->src);
  weir__sql_int(&sql, id->label);
  weir__sql_int(&sql, id->dst);
  rc = weir__sql_step(&sql, err);
  *used = rc > 0;
  *rank = rc > 0 ? weir__sql_get_int(&sql, 0) : 0;
  weir__sql_end(&sql);
  return rc < 0 ? rc : WEIR_OK;
}

#define SCAN(and_label)                                                                                      \
  WEIR_TEXT("SELECT " WEIR__EDGE_COLUMNS                                                                     \
            " FROM edge e CROSS JOIN node s ON s.id = e.src CROSS JOIN node d ON d.id = e.dst"               \
            " WHERE (e.src, e.label, e.dst, e.rank) > (?1, ?2, ?3, ?4)" and_label                            \
            " ORDER BY e.src, e.label, e.dst, e.rank")

int weir__store_edge_scan(weir_txn *txn, int64_t label, const weir__edge_id *after, weir__edge_visit visit,
                          void *data, weir_error *err) {
  static const weir_text all = SCAN("");
  /* The + keeps label in the order that is asked for, which is then that of the table. */
  static const weir_text with_label = SCAN(" AND +e.label = ?5");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, label ? with_label : all, err);
  if (rc) {
    return rc;
  }
  bind_id(&sql, after);
  if (label) {
    weir__sql_int(&sql, label);
  }
  while ((rc = weir__sql_step(&sql, err)) > 0) {
    weir__edge_row row;
    rc = weir__edge_row_read(&sql, &row, err);
    rc = rc ? rc : visit(&row, data, err);
    if (rc) {
      break;
    }
  }
  weir__sql_end(&sql);
  return rc;
}

int weir__store_edge_count(weir_txn *txn, int64_t node, weir_direction direction, int64_t label,
                           int64_t *count, weir_error *err) {
  static const weir_text texts[3][2] = {
      {WEIR_TEXT("SELECT count(*) FROM edge"), WEIR_TEXT("SELECT count(*) FROM edge WHERE label = ?1")},
      {WEIR_TEXT("SELECT count(*) FROM edge WHERE src = ?1"),
       WEIR_TEXT("SELECT count(*) FROM edge WHERE src = ?1 AND label = ?2")},
      {WEIR_TEXT("SELECT count(*) FROM edge WHERE dst = ?1"),
       WEIR_TEXT("SELECT count(*) FROM edge WHERE dst = ?1 AND label = ?2")},
  };
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, texts[node ? (direction == WEIR_OUT ? 1 : 2) : 0][label != 0], err);
  if (rc) {
    return rc;
  }
  if (node) {
    weir__sql_int(&sql, node);
  }
  if (label) {
    weir__sql_int(&sql, label);
  }
  return weir__sql_number(&sql, 0, count, err);
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static int write_row(weir_txn *txn, weir_text text, const weir__edge_row *row, weir_error *err) {
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  bind_id(&sql, &row->id);
  weir__sql_real(&sql, row->weight);
  weir__sql_text(&sql, row->props);
  weir__sql_int(&sql, row->rev);
  rc = weir__sql_run(&sql, err);
  return rc ? weir__store_edge_conflict(txn, row, rc, err) : WEIR_OK;
}

int weir__store_edge_insert(weir_txn *txn, const weir__edge_row *row, weir_error *err) {
  static const weir_text text = WEIR_TEXT("INSERT INTO edge(src, label, dst, rank, weight, props, rev)"
                                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  return write_row(txn, text, row, err);
}

int weir__store_edge_update(weir_txn *txn, const weir__edge_row *row, weir_error *err) {
  static const weir_text text = WEIR_TEXT("UPDATE edge SET weight = ?5, props = ?6, rev = ?7"
                                          " WHERE src = ?1 AND label = ?2 AND dst = ?3 AND rank = ?4");
  return write_row(txn, text, row, err);
}

int weir__store_edge_delete(weir_txn *txn, const weir__edge_id *id, weir_error *err) {
  static const weir_text text = WEIR_TEXT("DELETE FROM edge"
                                          " WHERE src = ?1 AND label = ?2 AND dst = ?3 AND rank = ?4");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  bind_id(&sql, id);
  return weir__sql_run(&sql, err);
}
