/* weir/error.h: the list of codes, their detail, and SQLite's codes translated into them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "internal.h"
#include "support.h"
#include "threads.h"

TestSuite(errors, .timeout = 60);

static const struct {
  int code;
  const char *name, *text;
} list[] = {
#define ENTRY(name, value, text) {value, "WEIR_" #name, text},
    WEIR_ERROR_MAP(ENTRY)
#undef ENTRY
};
enum { CODES = sizeof list / sizeof list[0] };

Test(errors, success_is_zero_all_else_negative_and_every_code_has_a_name_and_a_meaning_of_its_own) {
  cr_assert(eq(int, WEIR_OK, 0));
  cr_assert(eq(int, WEIR_STOP, 1));
  for (int i = 0; i < CODES; i++) {
    cr_assert(eq(int, list[i].code, -i)); /* without gaps, and never renumbered */
    cr_assert(eq(str, (char *)weir_error_name(list[i].code), (char *)list[i].name));
    cr_assert(eq(str, (char *)weir_strerror(list[i].code), (char *)list[i].text));
    for (int j = 0; j < i; j++)
      cr_assert(ne(str, (char *)list[i].text, (char *)list[j].text));
  }
}

Test(errors, foreign_numbers_are_unknown_but_never_null) {
  const int foreign[] = {1, -CODES, 12345, -12345, -2147483647 - 1, 2147483647};
  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
    cr_assert(eq(str, (char *)weir_error_name(foreign[i]), (char *)"WEIR_UNKNOWN"));
    cr_assert(ne(ptr, (void *)weir_strerror(foreign[i]), NULL));
    cr_assert(gt(sz, strlen(weir_strerror(foreign[i])), 0));
  }
}

Test(errors, fail_fills_the_detail_and_returns_the_code) {
  weir_error err = {.code = 1, .sqlite_code = 2, .system_errno = 3, .message = "old"};
  cr_assert(eq(int, weir_fail(&err, WEIR_INVALID, "age %d is negative", -3), WEIR_INVALID));
  cr_assert(eq(int, err.code, WEIR_INVALID));
  cr_assert(eq(int, err.sqlite_code, 0));
  cr_assert(eq(int, err.system_errno, 0));
  cr_assert(eq(str, err.message, (char *)"age -3 is negative"));
  cr_assert(eq(int, weir_fail(NULL, WEIR_FULL, "%s", "nobody asks"), WEIR_FULL));
}

Test(errors, message_is_cut_at_its_size_and_ends_with_a_nul) {
  struct {
    weir_error err;
    char after[8];
  } guarded;
  char text[1000];
  memset(&guarded, 0x5a, sizeof guarded);
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  cr_assert(eq(int, weir_fail(&guarded.err, WEIR_IO, "%s", text), WEIR_IO));
  cr_assert(eq(sz, strlen(guarded.err.message), WEIR_ERROR_MESSAGE_SIZE - 1));
  cr_assert(eq(int, guarded.after[0], 0x5a));
}

Test(errors, sqlite_codes_are_translated_into_what_a_caller_can_act_on) {
  static const struct {
    int sqlite_code, code;
  } cases[] = {
      {SQLITE_OK, WEIR_OK},
      {SQLITE_ROW, WEIR_OK},
      {SQLITE_DONE, WEIR_OK},
      {SQLITE_NOMEM, WEIR_NOMEM},
      {SQLITE_IOERR_NOMEM, WEIR_NOMEM},
      {SQLITE_BUSY, WEIR_BUSY},
      {SQLITE_BUSY_RECOVERY, WEIR_BUSY},
      {SQLITE_BUSY_TIMEOUT, WEIR_BUSY},
      {SQLITE_LOCKED, WEIR_BUSY},
      {SQLITE_PROTOCOL, WEIR_BUSY},
      {SQLITE_BUSY_SNAPSHOT, WEIR_CONFLICT},
      {SQLITE_SCHEMA, WEIR_CONFLICT},
      {SQLITE_CONSTRAINT_UNIQUE, WEIR_CONSTRAINT},
      {SQLITE_CONSTRAINT_FOREIGNKEY, WEIR_CONSTRAINT},
      {SQLITE_MISMATCH, WEIR_CONSTRAINT},
      {SQLITE_FULL, WEIR_FULL},
      {SQLITE_READONLY_DIRECTORY, WEIR_READONLY},
      {SQLITE_CORRUPT, WEIR_CORRUPT},
      {SQLITE_NOTADB, WEIR_CORRUPT},
      {SQLITE_IOERR_WRITE, WEIR_IO},
      {SQLITE_CANTOPEN, WEIR_IO},
      {SQLITE_IOERR_FSYNC, WEIR_INDETERMINATE},
      {SQLITE_IOERR_DIR_FSYNC, WEIR_INDETERMINATE},
      {SQLITE_INTERRUPT, WEIR_CANCELED},
      {SQLITE_AUTH, WEIR_MISUSE},
      {SQLITE_MISUSE, WEIR_MISUSE},
      {SQLITE_RANGE, WEIR_MISUSE},
      {SQLITE_TOOBIG, WEIR_INVALID},
      {SQLITE_ERROR, WEIR_SQL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    cr_assert(eq(int, weir__sqlite_code(cases[i].sqlite_code), cases[i].code), "SQLite code %d",
              cases[i].sqlite_code);
}

Test(errors, extended_code_and_message_of_sqlite_come_with_the_error) {
  static const struct {
    const char *sql;
    int code, sqlite_code;
    const char *word;
  } cases[] = {{"INSERT INTO u VALUES(1, 1)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_PRIMARYKEY,
                "UNIQUE constraint failed: u.id"},
               {"INSERT INTO u VALUES(2, 1)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_UNIQUE, "u.v"},
               {"INSERT INTO u VALUES(2, NULL)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_NOTNULL, "u.v"},
               {"INSERT INTO u VALUES(2, -1)", WEIR_CONSTRAINT, SQLITE_CONSTRAINT_CHECK, "CHECK"},
               {"INSERT INTO u VALUES('text', 3)", WEIR_CONSTRAINT, SQLITE_MISMATCH, "mismatch"},
               {"INSERT INTO nowhere VALUES(1)", WEIR_SQL, SQLITE_ERROR, "nowhere"},
               {"SELECT zeroblob(2000000000)", WEIR_INVALID, SQLITE_TOOBIG, "too big"}};
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int,
                 sql_write(weir_pool_auto(pool),
                           "CREATE TABLE u(id INTEGER PRIMARY KEY, v UNIQUE NOT NULL CHECK(v>0));"
                           "INSERT INTO u VALUES(1, 1)",
                           NULL),
                 WEIR_OK));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      weir_error err = WEIR_ERROR_INIT;
      cr_assert(eq(int, sql_write(weir_pool_auto(pool), cases[i].sql, &err), cases[i].code), "%s",
                err.message);
      cr_assert(eq(int, err.code, cases[i].code));
      cr_assert(eq(int, err.sqlite_code, cases[i].sqlite_code));
      cr_assert(eq(int, err.system_errno, 0));
      cr_assert(ne(ptr, strstr(err.message, cases[i].word), NULL), "%s", err.message);
    }
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int use_everything(weir_txn *txn, void *data, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  int64_t rev = 0;
  (void)data;
  int rc = weir_txn_prepare(txn, weir_str("SELECT 1"), &stmt, err);
  rc = rc == WEIR_OK ? weir_txn_check(txn, sqlite3_step(stmt), err) : rc;
  rc = rc == WEIR_OK ? weir_txn_rev(txn, &rev, err) : rc;
  rc = rc == WEIR_OK ? weir_read(txn, nothing_fn, NULL, NULL, err) : rc;
  if (rc == WEIR_OK && weir_txn_writes(txn))
    rc = weir_write(txn, exec_fn, (void *)CREATE_T, NULL, err);
  return rc;
}

Test(errors, error_is_left_as_it_was_on_success) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    for (int round = 0; round < 2; round++) { /* a new file, and one that is there */
      weir_error err, before;
      weir_pool *pool = NULL;
      weir_txn *snapshot = NULL;
      weir_pool_options options = {.size = sizeof options, .numbered = 1};
      options.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
      memset(&before, 0x5a, sizeof before);
      err = before;
      cr_assert(eq(int, weir_pool_open(&pool, pool_path(kind), &options, &err), WEIR_OK));
      cr_assert(eq(int, weir_write(weir_pool_auto(pool), use_everything, NULL, NULL, &err), WEIR_OK));
      cr_assert(eq(int, weir_read(weir_pool_auto(pool), use_everything, NULL, NULL, &err), WEIR_OK));
      cr_assert(eq(int, weir_snapshot_begin(pool, &snapshot, NULL, &err), WEIR_OK));
      cr_assert(eq(int, weir_snapshot_end(snapshot, &err), WEIR_OK));
      cr_assert(eq(int, weir_pool_close(pool, &err), WEIR_OK));
      cr_assert(eq(int, memcmp(&err, &before, sizeof err), 0));
    }
  }
}

Test(errors, text_helpers_measure_what_they_are_given) {
  static const weir_text literal = WEIR_TEXT("three");
  cr_assert(eq(sz, literal.len, 5));
  cr_assert(eq(sz, weir_str("four").len, 4));
  cr_assert(eq(sz, weir_str("").len, 0));
  cr_assert(eq(sz, weir_str(NULL).len, 0));
  cr_assert(eq(ptr, (void *)weir_str(NULL).ptr, NULL));
}
