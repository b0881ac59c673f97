/*
 * Another process that uses the file of a pool, for tests. Waits until descriptor 3 is at its end, so that
 * several start at once; exits with 0, or the negated weir code of what failed (of SQLite: its own), which it
 * says on stderr.
 *
 *   pool_child write PATH single|pool N   opens PATH with `numbered`, commits N transactions that each insert
 *                                         their number and process into the table revs, and rolls back some
 *                                         others that had asked for a number, closes
 *   pool_child plain PATH - N             opens PATH with SQLite alone, as other programs do, commits N
 *                                         transactions that insert 0 to N-1 into the table plain, and rolls
 *                                         back some others
 *   pool_child look PATH -|single|pool N  opens PATH, with SQLite alone or as a pool, waiting for no lock;
 *                                         exits with 101 if the table t has not N rows
 *   pool_child hold PATH - 0              opens PATH with SQLite alone, and has a snapshot until descriptor 3
 *                                         is at its end; makes the file PATH-held when it has it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include <weir/pool.h>

enum { BUSY_MS = 20000 }; /* a busy machine, and sanitizers */

static int number(weir_txn *txn, void *data, weir_error *err) {
  const int *refuse = data;
  int64_t rev = 0;
  char sql[200];
  int rc = weir_txn_rev(txn, &rev, err);
  if (rc == WEIR_OK) {
    (void)snprintf(sql, sizeof sql,
                   "CREATE TABLE IF NOT EXISTS revs(rev INTEGER PRIMARY KEY, process INTEGER);"
                   "INSERT INTO revs VALUES(%lld, %ld)",
                   (long long)rev, (long)getpid());
    rc = weir_txn_exec(txn, sql, err);
  }
  return rc == WEIR_OK && *refuse ? weir_fail(err, WEIR_CONFLICT, "refused") : rc;
}

static int write_numbers(weir_pool *pool, int count, weir_error *err) {
  int rc = WEIR_OK;
  for (int i = 0; rc == WEIR_OK && i < count; i++) {
    int refuse = i % 3 == 2;
    rc = weir_write(weir_pool_auto(pool), number, &refuse, NULL, err);
    if (refuse && rc == WEIR_CONFLICT) {
      refuse = 0;
      rc = weir_write(weir_pool_auto(pool), number, &refuse, NULL, err);
    }
  }
  return rc;
}

/* Does no checkpoints: SQLite before 3.51.3 can lose pages where two processes do them. */
static int write_plain(const char *path, int count) {
  const struct timespec pause = {.tv_nsec = 2000000};
  sqlite3 *db = NULL;
  int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_busy_timeout(db, BUSY_MS);
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(db, "PRAGMA wal_autocheckpoint=0", NULL, NULL, NULL);
  for (int i = 0; rc == SQLITE_OK && i < count; i++) {
    for (int undo = i % 3 == 2; rc == SQLITE_OK && undo >= 0; undo--) {
      char sql[200];
      (void)snprintf(sql, sizeof sql, "BEGIN IMMEDIATE; INSERT INTO plain VALUES(%d, randomblob(%d)); %s", i,
                     i * 37 % 3000, undo ? "ROLLBACK" : "COMMIT");
      rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    (void)nanosleep(&pause, NULL); /* others poll for the lock: leaves it to them, too */
  }
  if (rc != SQLITE_OK)
    fprintf(stderr, "pool_child: %s\n", sqlite3_errmsg(db));
  int closed = sqlite3_close(db);
  return rc != SQLITE_OK ? rc : closed;
}

static int look_fn(weir_txn *txn, void *data, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("SELECT count(*) FROM t"), &stmt, err);
  int stepped = rc == WEIR_OK ? sqlite3_step(stmt) : SQLITE_DONE;
  *(int *)data = stepped == SQLITE_ROW ? sqlite3_column_int(stmt, 0) : -1;
  return rc == WEIR_OK ? weir_txn_check(txn, stepped, err) : rc;
}

static int look(const char *path, const char *mode, int wanted) {
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  int rows = -1;
  weir_pool_options options = {.size = sizeof options, .busy_timeout_ms = -1};
  options.mode = strcmp(mode, "pool") == 0 ? WEIR_POOL : WEIR_SINGLE;
  int rc = weir_pool_open(&pool, path, &options, &err);
  if (rc == WEIR_OK)
    rc = weir_read(weir_pool_auto(pool), look_fn, &rows, NULL, &err);
  int closed = weir_pool_close(pool, NULL);
  rc = rc == WEIR_OK ? closed : rc;
  return rc == WEIR_OK && rows != wanted ? 101 : -rc;
}

/* With SQLite alone; a snapshot until `go` is at its end, or none if that is negative. */
static int look_plain(const char *path, int wanted, int go) {
  sqlite3 *db = NULL;
  sqlite3_stmt *stmt = NULL;
  char byte;
  int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &stmt, NULL);
  int rows = rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int(stmt, 0) : -1;
  if (go >= 0 && rows >= 0) {
    char held[700];
    (void)snprintf(held, sizeof held, "%s-held", path);
    FILE *file = fopen(held, "w");
    if (file)
      (void)fclose(file);
  }
  while (go >= 0 && read(go, &byte, 1) > 0) {
  }
  int ended = sqlite3_finalize(stmt);
  rc = rc == SQLITE_OK ? ended : rc;
  int closed = sqlite3_close(db);
  rc = rc == SQLITE_OK ? closed : rc;
  return rc == SQLITE_OK && go < 0 && rows != wanted ? 101 : rc;
}

int main(int argc, char **argv) {
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  char byte;
  int plain = argc == 5 && strcmp(argv[1], "plain") == 0;
  if (argc == 5 && strcmp(argv[1], "hold") == 0)
    return look_plain(argv[2], 0, 3);
  if (argc == 5 && strcmp(argv[1], "look") == 0)
    return strcmp(argv[3], "-") == 0 ? look_plain(argv[2], atoi(argv[4]), -1)
                                     : look(argv[2], argv[3], atoi(argv[4]));
  if (argc != 5 || (!plain && strcmp(argv[1], "write") != 0))
    return 100;
  options.mode = strcmp(argv[3], "pool") == 0 ? WEIR_POOL : WEIR_SINGLE;
  options.numbered = 1;
  options.busy_timeout_ms = BUSY_MS;
  while (read(3, &byte, 1) > 0) {
  }
  if (plain)
    return write_plain(argv[2], atoi(argv[4]));
  int rc = weir_pool_open(&pool, argv[2], &options, &err);
  if (rc == WEIR_OK)
    rc = write_numbers(pool, atoi(argv[4]), &err);
  if (rc != WEIR_OK)
    fprintf(stderr, "pool_child: %s: %s\n", weir_error_name(rc), err.message);
  int closed = weir_pool_close(pool, &err);
  if (closed != WEIR_OK)
    fprintf(stderr, "pool_child: closing: %s: %s\n", weir_error_name(closed), err.message);
  return rc != WEIR_OK ? -rc : -closed;
}
