/*
 * The pool without the graph: any SQLite program can have it. A table of one's own, writes as transactions,
 * reads that are snapshots, statements from the connection's cache.
 */
#include <stdio.h>

#include <sqlite3.h>

#include <weir/pool.h>

static int create(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  return weir_txn_exec(
      txn,
      "CREATE TABLE IF NOT EXISTS account(name TEXT PRIMARY KEY, cents INTEGER NOT NULL CHECK(cents >= 0));"
      "INSERT OR REPLACE INTO account VALUES('alice', 1000), ('bob', 0)",
      err);
}

struct transfer {
  const char *from, *to;
  int cents;
};

/* Adds `cents` to an account. The statement is prepared once per connection: the SQL text is its key. */
static int add(weir_txn *txn, const char *name, int cents, weir_error *err) {
  sqlite3_stmt *statement;
  weir_text sql = WEIR_TEXT("UPDATE account SET cents = cents + ?2 WHERE name = ?1");
  int rc = weir_txn_prepare(txn, sql, &statement, err);
  if (rc != WEIR_OK)
    return rc;
  if ((rc = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC)) == SQLITE_OK &&
      (rc = sqlite3_bind_int(statement, 2, cents)) == SQLITE_OK)
    rc = sqlite3_step(statement);
  rc = weir_txn_check(txn, rc, err); /* SQLite's code becomes weir's, with SQLite's message */
  if (rc == WEIR_OK && sqlite3_changes(weir_txn_db(txn)) == 0)
    rc = weir_fail(err, WEIR_NOT_FOUND, "no account '%s'", name);
  weir_txn_release(txn, statement);
  return rc;
}

/* Both halves of a transfer, or neither: a negative return leaves no trace. May be run more than once. */
static int transfer(weir_txn *txn, void *data, weir_error *err) {
  const struct transfer *order = data;
  int rc = add(txn, order->to, order->cents, err);
  return rc == WEIR_OK ? add(txn, order->from, -order->cents, err) : rc;
}

/* Runs on the calling thread, with a connection of its own, and sees one moment. */
static int print_accounts(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  sqlite3_stmt *statement;
  weir_text sql = WEIR_TEXT("SELECT name, cents FROM account ORDER BY name");
  int rc = weir_txn_prepare(txn, sql, &statement, err);
  if (rc != WEIR_OK)
    return rc;
  while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
    printf("%s has %d\n", sqlite3_column_text(statement, 0), sqlite3_column_int(statement, 1));
  rc = weir_txn_check(txn, rc, err);
  weir_txn_release(txn, statement);
  return rc;
}

static void try_transfer(weir_txn *txn, const char *from, const char *to, int cents) {
  weir_error err = WEIR_ERROR_INIT;
  struct transfer order = {.from = from, .to = to, .cents = cents};
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  options.label = "transfer"; /* names it in messages */
  int rc = weir_write(txn, transfer, &order, &options, &err);
  printf("%d from %s to %s: %s%s%s\n", cents, from, to, weir_error_name(rc), rc == WEIR_OK ? "" : ", ",
         err.message);
}

int main(int argc, char **argv) {
  weir_error err = WEIR_ERROR_INIT;
  weir_pool *pool = NULL;
  /* A file gets one writing and four reading connections, ":memory:" a single one; the calls are the same. */
  int rc = weir_pool_open(&pool, argc > 1 ? argv[1] : ":memory:", NULL, &err);
  weir_txn *txn = weir_pool_auto(pool); /* makes each call a transaction of its own */
  if (rc == WEIR_OK)
    rc = weir_write(txn, create, NULL, NULL, &err);
  if (rc == WEIR_OK)
    rc = weir_read(txn, print_accounts, NULL, NULL, &err);
  if (rc == WEIR_OK) {
    try_transfer(txn, "alice", "bob", 300);
    try_transfer(txn, "alice", "bob", 5000); /* against the CHECK */
    try_transfer(txn, "carol", "bob", 1);
    rc = weir_read(txn, print_accounts, NULL, NULL, &err);
  }
  if (rc != WEIR_OK)
    fprintf(stderr, "%s: %s\n", weir_error_name(rc), err.message);
  return weir_pool_close(pool, NULL) != WEIR_OK || rc != WEIR_OK;
}
