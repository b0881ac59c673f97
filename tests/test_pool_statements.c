/* Statements inside a transaction: the cache of weir_txn_prepare, weir_txn_exec, weir_txn_check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_statements, .timeout = 60);

/* Runs `fn` in a read and in a write of every kind of pool; it returns WEIR_OK if all is well. */
static void everywhere(weir_txn_fn fn, unsigned statements) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    weir_error err = WEIR_ERROR_INIT;
    weir_pool_options options = {.size = sizeof options, .readers = 1, .statements = statements};
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    cr_assert(eq(int,
                 sql_write(weir_pool_auto(pool),
                           "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v); INSERT OR REPLACE INTO "
                           "t VALUES(1, 'a'), (2, 'b')",
                           NULL),
                 WEIR_OK));
    for (int i = 0; i < 4; i++) { /* twice, so that the second finds what the first has left */
      int rc = (i % 2 ? weir_write : weir_read)(weir_pool_auto(pool), fn, &kind, NULL, &err);
      cr_assert(eq(int, rc, WEIR_OK), "kind %d, write %d: %s", kind, i % 2, err.message);
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* Fails a check inside a transaction. */
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition))                                                                                        \
      return weir_fail(err, WEIR_CORRUPT, "line %d: %s", __LINE__, #condition);                              \
  } while (0)

static sqlite3_stmt *prepared(weir_txn *txn, const char *sql) {
  sqlite3_stmt *stmt = NULL;
  weir_error err = WEIR_ERROR_INIT;
  if (weir_txn_prepare(txn, weir_str(sql), &stmt, &err) != WEIR_OK)
    fprintf(stderr, "%s: %s\n", sql, err.message);
  return stmt;
}

static int one_owner(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  sqlite3_stmt *all[20];
  for (int i = 0; i < 20; i++) {
    all[i] = prepared(txn, "SELECT id FROM t WHERE id=?1");
    CHECK(all[i]);
    CHECK(sqlite3_db_handle(all[i]) == weir_txn_db(txn));
    for (int j = 0; j < i; j++)
      CHECK(all[i] != all[j]);
  }
  for (int i = 0; i < 20; i++) { /* they do not disturb each other */
    CHECK(sqlite3_bind_int(all[i], 1, 1 + i % 2) == SQLITE_OK);
    CHECK(sqlite3_step(all[i]) == SQLITE_ROW);
  }
  for (int i = 0; i < 20; i++)
    CHECK(sqlite3_column_int(all[i], 0) == 1 + i % 2);
  for (int i = 0; i < 20; i++)
    weir_txn_release(txn, all[i]);
  weir_txn_release(txn, NULL);
  return WEIR_OK;
}

Test(pool_statements, one_in_use_is_never_handed_out_again) {
  everywhere(one_owner, 0);
  everywhere(one_owner, 2);
}

static int cached(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  static const char text[] = "SELECT v FROM t WHERE id=?1";
  char copy[sizeof text]; /* the text is the key, not its address; no NUL is needed */
  memcpy(copy, text, sizeof text);
  copy[sizeof text - 1] = 'x';
  sqlite3_stmt *stmt = prepared(txn, text), *again = NULL;
  CHECK(stmt);
  CHECK(sqlite3_bind_int(stmt, 1, 2) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW);
  weir_txn_release(txn, stmt);
  CHECK(weir_txn_prepare(txn, (weir_text){copy, sizeof text - 1}, &again, err) == WEIR_OK);
  CHECK(again == stmt);
  CHECK(!sqlite3_stmt_busy(again));                /* reset */
  CHECK(sqlite3_step(again) == SQLITE_DONE);       /* nothing bound: no id is NULL */
  sqlite3_stmt *kept = prepared(txn, "SELECT ?1"); /* for the end of the transaction to clean */
  CHECK(kept && sqlite3_column_count(kept) == 1);
  CHECK(sqlite3_step(kept) == SQLITE_ROW && sqlite3_column_type(kept, 0) == SQLITE_NULL);
  CHECK(sqlite3_reset(kept) == SQLITE_OK && sqlite3_bind_int(kept, 1, 5) == SQLITE_OK);
  CHECK(sqlite3_step(kept) == SQLITE_ROW);
  return WEIR_OK;
}

Test(pool_statements, are_kept_by_their_text_and_come_reset_and_unbound) {
  everywhere(cached, 0);
}

static int count_statements(weir_txn *txn) {
  int count = 0;
  for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(weir_txn_db(txn), stmt)) != NULL;)
    count++;
  return count;
}

static int many_texts(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  sqlite3_stmt *held = prepared(txn, "SELECT 'held'");
  CHECK(held && sqlite3_step(held) == SQLITE_ROW);
  int at_first = count_statements(txn);
  for (int i = 0; i < 200; i++) {
    char sql[40];
    (void)snprintf(sql, sizeof sql, "SELECT %d, id FROM t", i);
    sqlite3_stmt *stmt = prepared(txn, sql);
    CHECK(stmt && sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == i);
    weir_txn_release(txn, stmt);
  }
  CHECK(count_statements(txn) <= at_first + 5);
  CHECK(strcmp((const char *)sqlite3_column_text(held, 0), "held") == 0);
  return WEIR_OK;
}

Test(pool_statements, cache_keeps_no_more_than_the_option_says) {
  everywhere(many_texts, 5);
}

static int bad_texts(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  static const struct {
    const char *sql;
    int code;
    const char *word;
  } bad[] = {{"SELEC 1", WEIR_SQL, "at byte 0"},
             {"SELECT * FROM nowhere", WEIR_SQL, "nowhere"},
             {"SELECT id, nothing FROM t", WEIR_SQL, "at byte 11"},
             {"", WEIR_INVALID, "no statement"},
             {" ; ", WEIR_INVALID, "no statement"},
             {"-- a comment", WEIR_INVALID, "no statement"},
             {"SELECT 1; SELECT 2", WEIR_INVALID, "more than one"},
             {"SELECT 1 SELECT", WEIR_SQL, "syntax"}};
  for (size_t i = 0; i < 2 * sizeof bad / sizeof bad[0]; i++) { /* each twice: also not from the cache */
    weir_error own = WEIR_ERROR_INIT;
    sqlite3_stmt *stmt = (sqlite3_stmt *)&stmt;
    int rc = weir_txn_prepare(txn, weir_str(bad[i / 2].sql), &stmt, &own);
    if (rc != bad[i / 2].code || stmt || own.code != rc || !strstr(own.message, bad[i / 2].word))
      return weir_fail(err, WEIR_CORRUPT, "'%s': %d, '%s'", bad[i / 2].sql, rc, own.message);
  }
  CHECK(prepared(txn, "SELECT 1 ; \n\t;"));
  sqlite3_stmt *stmt = (sqlite3_stmt *)&stmt;
  CHECK(weir_txn_prepare(NULL, weir_str("SELECT 1"), &stmt, NULL) == WEIR_INVALID && !stmt);
  stmt = (sqlite3_stmt *)&stmt;
  CHECK(weir_txn_prepare(txn, weir_str(NULL), &stmt, NULL) == WEIR_INVALID && !stmt);
  stmt = (sqlite3_stmt *)&stmt;
  CHECK(weir_txn_prepare(txn, (weir_text){"SELECT 1\0", 9}, &stmt, NULL) == WEIR_INVALID && !stmt);
  CHECK(weir_txn_prepare(txn, weir_str("SELECT 1"), NULL, NULL) == WEIR_INVALID);
  return WEIR_OK;
}

Test(pool_statements, text_that_is_not_one_good_statement_is_refused_every_time) {
  everywhere(bad_texts, 0);
}

/* Texts in memory of exactly their size, for AddressSanitizer to watch. */
static int unterminated(weir_txn *txn, void *data, weir_error *err) {
  static const struct {
    const char *sql;
    int code;
  } texts[] = {{"SELECT 1", WEIR_OK},
               {"SELECT 2;", WEIR_OK},
               {"SELECT 3; ", WEIR_OK},
               {"COMMIT", WEIR_MISUSE},
               {"SELECT x FROM", WEIR_SQL},
               {"  ", WEIR_INVALID},
               {"PRAGMA busy_timeout=3", WEIR_MISUSE}};
  (void)data;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    sqlite3_stmt *stmt = NULL;
    size_t size = strlen(texts[i].sql);
    char *exact = malloc(size);
    CHECK(exact);
    memcpy(exact, texts[i].sql, size);
    int rc = weir_txn_prepare(txn, (weir_text){exact, size}, &stmt, err);
    free(exact);
    CHECK(rc == texts[i].code);
    CHECK(rc != WEIR_OK || sqlite3_step(stmt) == SQLITE_ROW);
  }
  return WEIR_OK;
}

Test(pool_statements, text_needs_no_terminating_nul_and_is_not_kept) {
  everywhere(unterminated, 0);
}

static int exec_texts(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  weir_error own = WEIR_ERROR_INIT;
  CHECK(weir_txn_exec(txn, "", err) == WEIR_OK && weir_txn_exec(txn, " ;; -- nothing", err) == WEIR_OK);
  CHECK(weir_txn_exec(txn, "SELECT * FROM t; SELECT ?1", err) == WEIR_OK); /* rows are ignored */
  CHECK(weir_txn_exec(txn, NULL, &own) == WEIR_INVALID && weir_txn_exec(NULL, "", &own) == WEIR_INVALID);
  CHECK(weir_txn_exec(txn, "SELECT 1; SELECT y", &own) == WEIR_SQL && strstr(own.message, "at byte 17"));
  CHECK(weir_txn_exec(txn, "SELECT abs(-9223372036854775808)", &own) == WEIR_SQL);
  CHECK(strstr(own.message, "integer overflow"));
  CHECK(weir_txn_exec(txn, "SELECT 1; COMMIT; SELECT 2", &own) == WEIR_MISUSE &&
        strstr(own.message, "COMMIT"));
  if (weir_txn_writes(txn)) {
    int64_t count = 0;
    CHECK(weir_txn_exec(txn, "CREATE TABLE a(x); INSERT INTO a VALUES(1); INSERT INTO a VALUES(2)", err) ==
          WEIR_OK);
    CHECK(sql_int(txn, "SELECT count(*) FROM a", &count, err) == WEIR_OK && count == 2);
    CHECK(weir_txn_exec(txn, "DROP TABLE a", err) == WEIR_OK);
  }
  return WEIR_OK;
}

Test(pool_statements, exec_runs_all_statements_of_a_text_up_to_the_first_that_fails) {
  everywhere(exec_texts, 0);
}

static int check_codes(weir_txn *txn, void *data, weir_error *err) {
  weir_error own = {.code = 1, .sqlite_code = 2, .system_errno = 3, .message = "untouched"};
  const weir_error before = own;
  (void)data;
  CHECK(weir_txn_check(txn, SQLITE_OK, &own) == WEIR_OK && weir_txn_check(txn, SQLITE_ROW, &own) == WEIR_OK);
  CHECK(weir_txn_check(txn, SQLITE_DONE, &own) == WEIR_OK &&
        weir_txn_check(NULL, SQLITE_OK, &own) == WEIR_OK);
  CHECK(memcmp(&own, &before, sizeof own) == 0);
  CHECK(weir_txn_check(txn, SQLITE_NOMEM, NULL) == WEIR_NOMEM);
  sqlite3_stmt *stmt = prepared(txn, "SELECT abs(-9223372036854775808)");
  CHECK(weir_txn_check(txn, sqlite3_step(stmt), &own) == WEIR_SQL);
  CHECK(own.code == WEIR_SQL && own.sqlite_code == SQLITE_ERROR && own.system_errno == 0);
  CHECK(strstr(own.message, "integer overflow"));
  return WEIR_OK;
}

Test(pool_statements, check_translates_a_code_and_copies_the_message) {
  everywhere(check_codes, 0);
}

Test(pool_statements, automatic_transaction_and_null_have_no_statements_and_no_connection) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    weir_txn *txns[2] = {weir_pool_auto(pool), NULL};
    for (int i = 0; i < 2; i++) {
      sqlite3_stmt *stmt = NULL;
      int expected = i == 0 ? WEIR_MISUSE : WEIR_INVALID;
      cr_assert(eq(int, weir_txn_prepare(txns[i], weir_str("SELECT 1"), &stmt, NULL), expected));
      cr_assert(eq(int, weir_txn_exec(txns[i], "SELECT 1", NULL), expected));
      cr_assert(eq(int, weir_txn_check(txns[i], SQLITE_ERROR, NULL), WEIR_MISUSE));
      cr_assert(eq(ptr, weir_txn_db(txns[i]), NULL));
      cr_assert(eq(ptr, weir_txn_local(txns[i]), NULL));
      cr_assert(eq(u64, weir_txn_rollbacks(txns[i]), 0));
      cr_assert(eq(ptr, weir_txn_pool(txns[i]), i == 0 ? pool : NULL));
      cr_assert(eq(int, weir_txn_writes(txns[i]), 0));
      weir_txn_release(txns[i], NULL);
    }
    cr_assert(eq(ptr, weir_pool_auto(NULL), NULL));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
