/* Numbers in and out of a statement: a table and a function of SQLite's that are made of C. */
#include "storage_frontier.h"

#include <stdlib.h>

#include <sqlite3.h>

#include <weir/pool.h>

static void take(sqlite3_context *context, int count, sqlite3_value **values) {
  weir__frontier *frontier = sqlite3_user_data(context);
  (void)count;
  if (frontier->count < frontier->room) {
    frontier->ids[frontier->count++] = sqlite3_value_int64(values[0]);
  }
  sqlite3_result_int(context, frontier->count == frontier->room);
}

/* ---- The table -------------------------------------------------------------------------------------------
 */

struct table {
  sqlite3_vtab base;
  const weir__frontier *frontier;
};

struct cursor {
  sqlite3_vtab_cursor base;
  size_t at;
};

static int connect_table(sqlite3 *db, void *data, int argc, const char *const *argv, sqlite3_vtab **out,
                         char **message) {
  struct table *table = sqlite3_malloc((int)sizeof *table);
  (void)argc;
  (void)argv;
  (void)message;
  if (!table) {
    return SQLITE_NOMEM;
  }
  *table = (struct table){.frontier = data};
  *out = &table->base;
  return sqlite3_declare_vtab(db, "CREATE TABLE x(id INTEGER)");
}

static int disconnect_table(sqlite3_vtab *table) {
  sqlite3_free(table);
  return SQLITE_OK;
}

static int plan(sqlite3_vtab *table, sqlite3_index_info *info) {
  (void)table;
  info->estimatedCost = 100;
  info->estimatedRows = 100;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out) {
  struct cursor *cursor = sqlite3_malloc((int)sizeof *cursor);
  (void)table;
  if (!cursor) {
    return SQLITE_NOMEM;
  }
  *cursor = (struct cursor){.at = 0};
  *out = &cursor->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
  sqlite3_free(cursor);
  return SQLITE_OK;
}

static int begin_scan(sqlite3_vtab_cursor *base, int plan_number, const char *plan_name, int argc,
                      sqlite3_value **argv) {
  (void)plan_number;
  (void)plan_name;
  (void)argc;
  (void)argv;
  ((struct cursor *)base)->at = 0;
  return SQLITE_OK;
}

static int go_on(sqlite3_vtab_cursor *base) {
  ((struct cursor *)base)->at++;
  return SQLITE_OK;
}

static const weir__frontier *frontier_of(const sqlite3_vtab_cursor *base) {
  return ((const struct table *)base->pVtab)->frontier;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
  return ((struct cursor *)base)->at >= frontier_of(base)->node_count;
}

static int read_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  (void)column;
  sqlite3_result_int64(context, frontier_of(base)->nodes[((struct cursor *)base)->at]);
  return SQLITE_OK;
}

static int read_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = (sqlite3_int64)((struct cursor *)base)->at;
  return SQLITE_OK;
}

/* Without xCreate it is there by its name alone, and in no schema. */
static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = plan,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = begin_scan,
    .xNext = go_on,
    .xEof = is_at_end,
    .xColumn = read_column,
    .xRowid = read_rowid,
};

/* ---- In a connection -------------------------------------------------------------------------------------
 */

int weir__frontier_connect(sqlite3 *db, weir__frontier **out) {
  weir__frontier *frontier = calloc(1, sizeof *frontier);
  *out = frontier;
  if (!frontier) {
    return WEIR_NOMEM;
  }
  /* Frees it when the connection is closed, and if it fails. */
  int rc = sqlite3_create_module_v2(db, "weir_frontier", &module, frontier, free);
  if (rc == SQLITE_OK) {
    rc = sqlite3_create_function_v2(db, "weir_take", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, frontier, take, NULL,
                                    NULL, NULL);
  }
  return rc == SQLITE_OK ? WEIR_OK : WEIR_NOMEM;
}
