/* Whole rows from statements, for the storage files only: which columns to select, and what they become. */
#ifndef WEIR_GRAPH_ROWS_H
#define WEIR_GRAPH_ROWS_H

#include "sql.h"
#include "storage.h"

/* Of the table node, which the statement calls n; they are its first columns. */
#define WEIR__NODE_COLUMNS "n.id, n.key, n.label_set, n.props, n.rev"
#define WEIR__NODE_WIDTH   5

/* Of the table edge, which it calls e, with the keys of its ends, s and d. */
#define WEIR__EDGE_COLUMNS "e.src, e.label, e.dst, e.rank, e.weight, e.props, e.rev, s.key, d.key"
#define WEIR__EDGE_WIDTH   9

/* The row at hand. Its texts are valid until the next step. Errors: WEIR_NOMEM. */
static inline int weir__node_row_read(const weir__sql *sql, weir__node_row *row, weir_error *err) {
  *row = (weir__node_row){
      .id = weir__sql_get_int(sql, 0),
      .key = weir__sql_get_text(sql, 1),
      .label_set = weir__sql_get_int(sql, 2),
      .props = weir__sql_get_text(sql, 3),
      .rev = weir__sql_get_int(sql, 4),
  };
  return row->key.ptr && row->props.ptr ? WEIR_OK : weir_fail(err, WEIR_NOMEM, "out of memory for a node");
}

/* As weir__node_row_read. */
static inline int weir__edge_row_read(const weir__sql *sql, weir__edge_row *row, weir_error *err) {
  *row = (weir__edge_row){
      .id = {weir__sql_get_int(sql, 0), weir__sql_get_int(sql, 1), weir__sql_get_int(sql, 2),
             weir__sql_get_int(sql, 3)},
      .weight = sqlite3_column_double(sql->stmt, 4),
      .props = weir__sql_get_text(sql, 5),
      .rev = weir__sql_get_int(sql, 6),
      .src_key = weir__sql_get_text(sql, 7),
      .dst_key = weir__sql_get_text(sql, 8),
  };
  return row->props.ptr && row->src_key.ptr && row->dst_key.ptr
             ? WEIR_OK
             : weir_fail(err, WEIR_NOMEM, "out of memory for an edge");
}

#endif
