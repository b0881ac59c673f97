/*
 * The catalog of property indexes on SQLite: the table property_index (schema.c), and what a connection
 * remembers of it.
 */
#include "storage_query.h"

#include <stdlib.h>

#include "../internal.h"
#include "sql.h"

static const char *prefix_of(weir_target target) {
  return target == WEIR_NODES ? "node" : "edge";
}

static int visit_rows(weir__sql *sql, weir__index_visit visit, void *data, weir_error *err) {
  int rc;
  while ((rc = weir__sql_step(sql, err)) > 0) {
    weir__index_row row = {
        .id = weir__sql_get_int(sql, 0),
        .target = weir__sql_get_int(sql, 1) ? WEIR_NODES : WEIR_EDGES,
        .label = weir__sql_get_int(sql, 2),
        .path = weir__sql_get_text(sql, 3),
        .unique = (int)weir__sql_get_int(sql, 4),
        .ready = (int)weir__sql_get_int(sql, 5),
    };
    rc = row.path.ptr ? visit(&row, data, err) : weir_fail(err, WEIR_NOMEM, "out of memory for an index");
    if (rc) {
      break;
    }
  }
  weir__sql_end(sql);
  return rc;
}

#define COLUMNS "SELECT id, target = 'node', label, path, is_unique, ready FROM property_index "

int weir__store_index_list(weir_txn *txn, weir__index_visit visit, void *data, weir_error *err) {
  static const weir_text text = WEIR_TEXT(COLUMNS "ORDER BY id");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  return rc ? rc : visit_rows(&sql, visit, data, err);
}

int weir__store_index_find(weir_txn *txn, weir__index_row *row, weir_error *err) {
  static const weir_text text =
      WEIR_TEXT("SELECT id, ready FROM property_index WHERE target = ?1 AND label = ?2 AND path = ?3");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, weir_str(prefix_of(row->target)));
  weir__sql_int(&sql, row->label);
  weir__sql_text(&sql, row->path);
  rc = weir__sql_step(&sql, err);
  if (rc >= 0) {
    row->id = rc ? weir__sql_get_int(&sql, 0) : 0;
    row->ready = rc ? (int)weir__sql_get_int(&sql, 1) : 0;
    rc = WEIR_OK;
  }
  weir__sql_end(&sql);
  return rc;
}

/* ---- What is remembered -------------------------------------------------------------------------------- */

/* What is remembered of the catalog. The data version of a connection changes with each commit of its own,
 * and when a snapshot begins that sees another's; so in a snapshot with the same one the catalog is the same.
 */
struct weir__indexes {
  unsigned version;
  struct remembered {
    weir__index_row row;
    char *path; /* its */
  } * all;
  size_t count;
  size_t room;
};

void weir__store_indexes_free(struct weir__indexes *indexes) {
  if (!indexes) {
    return;
  }
  for (size_t i = 0; i < indexes->count; i++) {
    free(indexes->all[i].path);
  }
  free(indexes->all);
  free(indexes);
}

static int remember_index(const weir__index_row *row, void *data, weir_error *err) {
  struct weir__indexes *indexes = data;
  if (!row->ready) {
    return WEIR_OK;
  }
  if (indexes->count == indexes->room) {
    size_t room = 2 * indexes->room + 4;
    struct remembered *all = realloc(indexes->all, room * sizeof *all);
    if (!all) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for an index");
    }
    indexes->all = all;
    indexes->room = room;
  }
  struct remembered *last = &indexes->all[indexes->count];
  last->path = malloc(row->path.len + 1);
  if (!last->path) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for an index");
  }
  last->row = *row;
  last->row.path = weir__text_copy(&(char *){last->path}, row->path);
  indexes->count++;
  return WEIR_OK;
}

/* *out: the catalog as this transaction sees it. */
static int read_indexes(weir_txn *txn, struct weir__indexes **out, weir_error *err) {
  struct weir__indexes *indexes = calloc(1, sizeof *indexes);
  *out = indexes;
  return indexes ? weir__store_index_list(txn, remember_index, indexes, err)
                 : weir_fail(err, WEIR_NOMEM, "out of memory for indexes");
}

static int visit_some(const struct weir__indexes *indexes, weir_target target, int64_t label,
                      weir__index_visit visit, void *data, weir_error *err) {
  int rc = WEIR_OK;
  for (size_t i = 0; i < indexes->count && rc == WEIR_OK; i++) {
    if (indexes->all[i].row.target == target && indexes->all[i].row.label == label) {
      rc = visit(&indexes->all[i].row, data, err);
    }
  }
  return rc;
}

/* 1 if the connection remembers what it has seen with this data version. */
static int remembers(weir_txn *txn) {
  const weir__local *local = weir_txn_local(txn);
  unsigned version;
  return local->indexes &&
         sqlite3_file_control(weir_txn_db(txn), "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK &&
         version == local->indexes->version;
}

int weir__store_index_of(weir_txn *txn, weir_target target, int64_t label, int *guessed,
                         weir__index_visit visit, void *data, weir_error *err) {
  weir__local *local = weir_txn_local(txn);
  struct weir__indexes *indexes;
  int writes = weir_txn_writes(txn); /* what it has written itself has no version yet */
  int begun = sqlite3_txn_state(weir_txn_db(txn), "main") != SQLITE_TXN_NONE;
  if (guessed) {
    *guessed = !begun && !writes;
  }
  if (!writes && (begun || guessed) && remembers(txn)) {
    return visit_some(local->indexes, target, label, visit, data, err);
  }
  int rc = read_indexes(txn, &indexes, err);
  if (rc == WEIR_OK) {
    rc = visit_some(indexes, target, label, visit, data, err);
  }
  if (guessed) {
    *guessed = 0;
  }
  if (indexes && rc >= 0 && !writes &&
      sqlite3_file_control(weir_txn_db(txn), "main", SQLITE_FCNTL_DATA_VERSION, &indexes->version) ==
          SQLITE_OK) {
    weir__store_indexes_free(local->indexes);
    local->indexes = indexes;
  } else {
    weir__store_indexes_free(indexes);
  }
  return rc;
}
