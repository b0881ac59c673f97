/*
 * Another process that uses a pool, for tests. Waits until descriptor 3 is at its end, so that several start
 * at once; exits with 0, or the negated weir code of what failed, which it says on stderr.
 *
 *   pool_child write PATH single|pool N   opens PATH with `numbered`, commits N transactions that each insert
 *                                         their number and process into the table revs, and rolls back some
 *                                         others that had asked for a number, closes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/pool.h>

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

int main(int argc, char **argv) {
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  char byte;
  if (argc != 5 || strcmp(argv[1], "write") != 0)
    return 100;
  options.mode = strcmp(argv[3], "pool") == 0 ? WEIR_POOL : WEIR_SINGLE;
  options.numbered = 1;
  options.busy_timeout_ms = 20000; /* a busy machine, and sanitizers */
  while (read(3, &byte, 1) > 0) {
  }
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
