/*
 * The table, its rows and their check. The text of a row is a hash of (seed, task, transaction, row), so what
 * must be in the file needs no memory but the ids.
 */
#include "rows.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void check(sqlite3 *db, int rc, const char *doing) {
  if (rc != SQLITE_OK) {
    bench_fail("bare SQLite: %s: %s", doing, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
  }
}

/* ---- A transaction ---- */

static void compose(char out[ROW_TEXT], uint64_t seed, unsigned task, uint64_t number, unsigned row) {
  static const char digits[] = "0123456789abcdef";
  uint64_t state = seed + number * 0x2545f4914f6cdd1dull + ((uint64_t)task << 42) + ((uint64_t)row << 32);
  uint64_t bits = bench_random(&state);
  for (int i = 0; i < ROW_TEXT; i++, bits >>= 4) {
    if (i == ROW_TEXT / 2) {
      bits = bench_random(&state);
    }
    out[i] = digits[bits & 15];
  }
}

void batch_compose(batch *b, uint64_t number, uint64_t seed) {
  b->number = number;
  for (unsigned i = 0; i < b->count; i++) {
    compose(b->text[i], seed, b->task, number, i);
  }
}

const char *rows_insert_sql(int read_back) {
  return read_back ? "INSERT INTO entry (task, seq, marker) VALUES (?1, ?2, ?3)"
                   : "INSERT INTO entry (id, data) VALUES (?1, ?2)";
}

const char *rows_select_sql(void) {
  return "SELECT task, seq, marker FROM entry WHERE id = ?1";
}

static int insert_one(sqlite3_stmt *insert, const batch *b, unsigned row) {
  int text = b->read_back ? 3 : 2;
  if (b->read_back) {
    sqlite3_bind_int64(insert, 1, b->task);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)b->number);
  } else { /* each task has four thousand million keys to itself */
    sqlite3_bind_int64(insert, 1,
                       ((sqlite3_int64)b->task << 32) + (sqlite3_int64)(b->number * b->count + row));
  }
  sqlite3_bind_text(insert, text, b->text[row], ROW_TEXT, SQLITE_STATIC);
  sqlite3_step(insert);
  return sqlite3_reset(insert); /* repeats the error of the step */
}

int rows_insert(sqlite3_stmt *insert, const batch *b) {
  int rc = SQLITE_OK;
  for (unsigned i = 0; rc == SQLITE_OK && i < b->count; i++) {
    rc = insert_one(insert, b, i);
  }
  return rc;
}

static int same(sqlite3_stmt *row, unsigned task, uint64_t number, const char text[ROW_TEXT]) {
  const char *marker = (const char *)sqlite3_column_text(row, 2);
  return sqlite3_column_int64(row, 0) == task && (uint64_t)sqlite3_column_int64(row, 1) == number &&
         sqlite3_column_bytes(row, 2) == ROW_TEXT && memcmp(marker, text, ROW_TEXT) == 0;
}

int rows_read_back(sqlite3_stmt *select, batch *b) {
  sqlite3_bind_int64(select, 1, b->id);
  b->mismatch = sqlite3_step(select) != SQLITE_ROW || !same(select, b->task, b->number, b->text[0]);
  return sqlite3_reset(select);
}

/* ---- The file ---- */

void rows_create(const char *path, int read_back) {
  static const char *const suffixes[] = {"", "-wal", "-shm"};
  sqlite3 *db = NULL;
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    char name[PATH_MAX];
    if (snprintf(name, sizeof name, "%s%s", path, suffixes[i]) >= (int)sizeof name ||
        (unlink(name) != 0 && errno != ENOENT)) {
      bench_fail("cannot remove %s%s", path, suffixes[i]);
    }
  }
  check(db, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), path);
  check(db, sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), "journal_mode");
  check(db,
        sqlite3_exec(db,
                     read_back ? "CREATE TABLE entry (id INTEGER PRIMARY KEY, task INTEGER, seq INTEGER,"
                                 " marker TEXT)"
                               : "CREATE TABLE entry (id INTEGER PRIMARY KEY, data TEXT)",
                     NULL, NULL, NULL),
        "CREATE TABLE");
  check(db, sqlite3_close(db), path);
}

/* How many rows are as the logs say; the number of all of them goes into *all. */
static uint64_t count_right(sqlite3 *db, const row_log *logs, unsigned tasks, uint64_t seed, uint64_t *all) {
  sqlite3_stmt *rows = NULL;
  uint64_t right = 0;
  check(db, sqlite3_prepare_v2(db, "SELECT task, seq, marker, id FROM entry", -1, &rows, NULL), "SELECT");
  for (*all = 0; sqlite3_step(rows) == SQLITE_ROW; ++*all) {
    unsigned task = (unsigned)sqlite3_column_int64(rows, 0);
    uint64_t number = (uint64_t)sqlite3_column_int64(rows, 1);
    char text[ROW_TEXT];
    if (task < tasks && number < logs[task].capacity &&
        logs[task].ids[number] == sqlite3_column_int64(rows, 3)) {
      compose(text, seed, task, number, 0);
      right += (uint64_t)same(rows, task, number, text);
    }
  }
  check(db, sqlite3_finalize(rows), "SELECT");
  return right;
}

static uint64_t count_rows(sqlite3 *db) {
  sqlite3_stmt *count = NULL;
  check(db, sqlite3_prepare_v2(db, "SELECT count(*) FROM entry", -1, &count, NULL), "SELECT");
  uint64_t rows = sqlite3_step(count) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(count, 0) : 0;
  check(db, sqlite3_finalize(count), "SELECT");
  return rows;
}

static int sound(sqlite3 *db) {
  sqlite3_stmt *test = NULL;
  check(db, sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &test, NULL), "integrity_check");
  int ok = sqlite3_step(test) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(test, 0), "ok") == 0;
  return sqlite3_finalize(test) == SQLITE_OK && ok;
}

rows_found rows_check(const char *path, const row_log *logs, unsigned tasks, unsigned rows, uint64_t seed) {
  sqlite3 *db = NULL;
  rows_found found = {0};
  uint64_t acknowledged = 0, all, right;
  for (unsigned i = 0; i < tasks; i++) {
    acknowledged += logs[i].count * rows;
  }
  check(db, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), path);
  if (logs[0].ids) {
    right = count_right(db, logs, tasks, seed, &all);
  } else {
    all = count_rows(db);
    right = all < acknowledged ? all : acknowledged;
  }
  found.wrong = (all - right) + (acknowledged - right);
  found.sound = sound(db);
  check(db, sqlite3_close(db), path);
  return found;
}
