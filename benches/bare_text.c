/*
 * The plain table of FTS5. As weir's it takes its texts from the props of the nodes when it needs them, so
 * they are not stored twice, and it has to be told the old texts when a row changes. A row is added by INSERT
 * ... VALUES: with INSERT ... SELECT FTS5 would write out what it has gathered after each row.
 */
#include "bare_text.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "bench.h"

#define TITLE(props) "json_extract(" props ", '$.title')"
#define BODY(props)  "json_extract(" props ", '$.body')"

/* Sets of labels with the label concept. */
#define LABEL_SETS                                                                                           \
  "(SELECT m.label_set FROM label l JOIN label_set_member m ON m.label = l.id WHERE l.name = 'concept')"

static const char schema[] = "CREATE VIEW bare_text_source AS SELECT id, " TITLE("props") " AS title, " BODY(
    "props") " AS body"
             " FROM node WHERE label_set IN " LABEL_SETS ";"
             "CREATE VIRTUAL TABLE bare_text USING fts5(title, body, content='bare_text_source', "
             "content_rowid='id',"
             " tokenize='unicode61 remove_diacritics 2');"
             "INSERT INTO bare_text(rowid, title, body) SELECT id, " TITLE("props") ", " BODY(
                 "props") " FROM node WHERE label_set IN " LABEL_SETS
                          " AND coalesce(" TITLE("props") ", " BODY("props") ") IS NOT NULL;";

enum { CHANGED, TAKE, PUT, SEARCH, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [CHANGED] = "SELECT ?1 IN " LABEL_SETS
                " AND (" TITLE("?2") " IS NOT " TITLE("?3") " OR " BODY("?2") " IS NOT " BODY("?3") ")",
    [TAKE] = "INSERT INTO bare_text(bare_text, rowid, title, body) VALUES ('delete', ?1, " TITLE(
        "?2") ", " BODY("?2") ")",
    [PUT] = "INSERT INTO bare_text(rowid, title, body) VALUES (?1, " TITLE("?2") ", " BODY("?2") ")",
    [SEARCH] = "SELECT bare_text.rank, n.id, n.key, n.label_set, n.props, n.rev FROM bare_text"
               " CROSS JOIN node n ON n.id = bare_text.rowid WHERE bare_text MATCH ?1 ORDER BY rank LIMIT ?2",
};

struct bare_text {
  sqlite3_stmt *statement[STATEMENTS];
};

static void check(sqlite3 *db, int rc, const char *doing) {
  if (rc != SQLITE_OK) {
    bench_fail("bare SQLite: %s: %s", doing, sqlite3_errmsg(db));
  }
}

void bare_text_create(sqlite3 *db) {
  check(db, sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), "BEGIN IMMEDIATE");
  check(db, sqlite3_exec(db, schema, NULL, NULL, NULL), "making a table of FTS5");
  check(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), "COMMIT");
}

static int has_table(sqlite3 *db) {
  sqlite3_stmt *find = NULL;
  static const char text[] = "SELECT 1 FROM sqlite_schema WHERE name = 'bare_text'";
  check(db, sqlite3_prepare_v2(db, text, -1, &find, NULL), text);
  int found = sqlite3_step(find) == SQLITE_ROW;
  check(db, sqlite3_finalize(find), text);
  return found;
}

bare_text *bare_text_open(sqlite3 *db) {
  if (!has_table(db)) {
    return NULL;
  }
  bare_text *t = bench_alloc(sizeof *t);
  for (int i = 0; i < STATEMENTS; i++) {
    check(db, sqlite3_prepare_v3(db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &t->statement[i], NULL), sql[i]);
  }
  return t;
}

void bare_text_close(bare_text *t) {
  for (int i = 0; t && i < STATEMENTS; i++) {
    sqlite3_finalize(t->statement[i]);
  }
  free(t);
}

/* Runs TAKE or PUT. */
static int change(sqlite3_stmt *statement, int64_t id, weir_text props) {
  sqlite3_bind_int64(statement, 1, id);
  sqlite3_bind_text(statement, 2, props.ptr, (int)props.len, SQLITE_STATIC);
  sqlite3_step(statement);
  return sqlite3_reset(statement); /* repeats the error of the step */
}

int bare_text_update(bare_text *t, int64_t id, int64_t label_set, weir_text old, weir_text props) {
  sqlite3_stmt *changed = t->statement[CHANGED];
  sqlite3_bind_int64(changed, 1, label_set);
  sqlite3_bind_text(changed, 2, old.ptr, (int)old.len, SQLITE_STATIC);
  sqlite3_bind_text(changed, 3, props.ptr, (int)props.len, SQLITE_STATIC);
  int differ = sqlite3_step(changed) == SQLITE_ROW && sqlite3_column_int(changed, 0);
  int rc = sqlite3_reset(changed);
  if (rc == SQLITE_OK && differ) {
    rc = change(t->statement[TAKE], id, old);
  }
  if (rc == SQLITE_OK && differ) {
    rc = change(t->statement[PUT], id, props);
  }
  return rc;
}

int bare_text_search(bare_text *t, const char *query, unsigned limit, bare_text_fn visit, void *data) {
  sqlite3_stmt *search = t->statement[SEARCH];
  sqlite3_bind_text(search, 1, query, -1, SQLITE_STATIC);
  sqlite3_bind_int64(search, 2, limit);
  while (sqlite3_step(search) == SQLITE_ROW) {
    weir_text key = {(const char *)sqlite3_column_text(search, 2), (size_t)sqlite3_column_bytes(search, 2)};
    weir_text props = {(const char *)sqlite3_column_text(search, 4), (size_t)sqlite3_column_bytes(search, 4)};
    visit(key, props, -sqlite3_column_double(search, 0), data);
  }
  return sqlite3_reset(search);
}
