/* What tests/support/rows.h declares. */
#include "rows.h"

#include <stdio.h>

#include <sqlite3.h>

void rows_insert(char sql[ROWS_SQL], int64_t id, int count, weir_test_rng *rng) {
  int length = snprintf(sql, ROWS_SQL, "INSERT INTO t VALUES");
  for (int i = 0; i < count; i++) {
    int size = rng ? 1 + (int)weir_test_below(rng, ROW_MAX) : ROW_MAX;
    length += snprintf(sql + length, ROWS_SQL - (size_t)length, "%s(%lld,%d,printf('%%.%dc','%c'))",
                       i ? "," : "", (long long)(id + i), size, size, (char)('a' + (id + i) % 26));
  }
}

int64_t rows_number(sqlite3 *db, const char *sql) {
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
  int64_t value = 0;
  if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
    value = sqlite3_column_int64(stmt, 0);
  int end = sqlite3_finalize(stmt);
  return rc == SQLITE_OK && end == SQLITE_OK ? value : -(rc ? rc : end);
}

int rows_whole(const char *path, int64_t rows, char why[160]) {
  sqlite3 *db = NULL;
  int opened = sqlite3_open(path, &db);
  int64_t ok = rows_number(db, "SELECT integrity_check = 'ok' FROM pragma_integrity_check LIMIT 1");
  int64_t count = rows_number(db, "SELECT count(*) FROM t");
  int64_t wrong = rows_number(
      db, "SELECT count(*) FROM t WHERE v IS NOT printf('%.' || size || 'c', char(97 + id % 26))");
  int64_t last = rows_number(db, "SELECT max(id) FROM t");
  int closed = sqlite3_close(db);
  (void)snprintf(why, 160,
                 "integrity %lld, rows %lld of %lld, wrong %lld, last %lld (negative: SQLite's code)",
                 (long long)ok, (long long)count, (long long)rows, (long long)wrong, (long long)last);
  return opened == SQLITE_OK && closed == SQLITE_OK && ok == 1 && count == rows && wrong == 0 &&
         last == rows - 1;
}
