/*
 * The bare baseline. Its statements are those that weir's graph layer runs for the same operations on the
 * same schema, so that modes differ in who waits for whom and not in what SQLite does: a point read is one
 * SELECT by key; an upsert is that SELECT, a comparison, and an UPDATE (or INSERT) with the transaction's
 * number; a transaction that writes updates the number of the last commit once.
 */
#include "baseline.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare_text.h"

enum { BEGIN, BEGIN_READ, COMMIT, ROLLBACK, GET, UPDATE, REV_GET, REV_SET, FIND, EXPAND, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [BEGIN_READ] = "BEGIN",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [GET] = "SELECT id, key, label_set, props, rev FROM node WHERE key = ?1",
    [UPDATE] = "UPDATE node SET label_set = ?2, props = ?3, rev = ?4 WHERE id = ?1",
    [REV_GET] = "SELECT rev FROM weir_commit",
    [REV_SET] = "UPDATE weir_commit SET rev = ?1",
    [FIND] = "SELECT id FROM node WHERE key = ?1",
    [EXPAND] = "SELECT e.dst, e.label, e.rank, n.key FROM edge e CROSS JOIN node n ON n.id = e.dst"
               " WHERE e.src = ?1 AND (e.label, e.dst, e.rank) > (0, -1, -1) ORDER BY e.label, e.dst, e.rank",
};

struct baseline {
  sqlite3 *db;
  sqlite3_stmt *statement[STATEMENTS];
  sqlite3_int64 rev; /* of the transaction in progress */
  bare_text *text;   /* or NULL */
};

static void check(sqlite3 *db, int rc, const char *doing) {
  if (rc != SQLITE_OK) {
    bench_fail("bare SQLite: %s: %s", doing, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
  }
}

sqlite3 *baseline_connect(const char *path, const bench_settings *settings, unsigned durability) {
  sqlite3 *db = NULL;
  char pragmas[512];
  check(db,
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL),
        path);
  snprintf(pragmas, sizeof pragmas,
           "PRAGMA journal_mode = WAL; PRAGMA synchronous = %s; PRAGMA busy_timeout = 5000;"
           "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0;"
           "PRAGMA cache_size = -%u; PRAGMA wal_autocheckpoint = %u;",
           bench_durability_name(durability), settings->cache_kib, settings->checkpoint);
  check(db, sqlite3_exec(db, pragmas, NULL, NULL, NULL), "pragmas");
  return db;
}

baseline *baseline_open(const char *path, const bench_settings *settings, unsigned durability) {
  baseline *b = bench_alloc(sizeof *b);
  b->db = baseline_connect(path, settings, durability);
  for (int i = 0; i < STATEMENTS; i++) {
    check(b->db, sqlite3_prepare_v3(b->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &b->statement[i], NULL),
          sql[i]);
  }
  b->text = bare_text_open(b->db);
  return b;
}

bare_text *baseline_text(const baseline *b) {
  return b->text;
}

void baseline_close(baseline *b) {
  bare_text_close(b->text);
  for (int i = 0; i < STATEMENTS; i++) {
    sqlite3_finalize(b->statement[i]);
  }
  check(b->db, sqlite3_close(b->db), "close");
  free(b);
}

/* Steps a statement that returns no row that matters. */
static int run(baseline *b, int which) {
  sqlite3_step(b->statement[which]);
  return sqlite3_reset(b->statement[which]); /* repeats the error of the step */
}

int baseline_get(baseline *b, weir_text key, weir_text *props) {
  sqlite3_stmt *get = b->statement[GET];
  sqlite3_reset(get);
  int rc = sqlite3_bind_text(get, 1, key.ptr, (int)key.len, SQLITE_STATIC);
  if (rc != SQLITE_OK) {
    return rc;
  }
  rc = sqlite3_step(get);
  if (rc != SQLITE_ROW) {
    return rc == SQLITE_DONE ? SQLITE_NOTFOUND : rc;
  }
  props->ptr = (const char *)sqlite3_column_text(get, 3);
  props->len = (size_t)sqlite3_column_bytes(get, 3);
  return SQLITE_OK;
}

void baseline_done(baseline *b) {
  sqlite3_reset(b->statement[GET]);
}

int baseline_begin(baseline *b) {
  int rc = run(b, BEGIN);
  if (rc != SQLITE_OK) {
    return rc;
  }
  sqlite3_stmt *get = b->statement[REV_GET];
  b->rev = sqlite3_step(get) == SQLITE_ROW ? sqlite3_column_int64(get, 0) + 1 : 0;
  return sqlite3_reset(get);
}

int baseline_begin_read(baseline *b) {
  return run(b, BEGIN_READ);
}

int baseline_neighbors(baseline *b, weir_text key, baseline_key_fn visit, void *data) {
  sqlite3_stmt *find = b->statement[FIND], *expand = b->statement[EXPAND];
  int rc = sqlite3_bind_text(find, 1, key.ptr, (int)key.len, SQLITE_STATIC);
  if (rc != SQLITE_OK) {
    return rc;
  }
  sqlite3_int64 id = sqlite3_step(find) == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;
  rc = sqlite3_reset(find);
  if (rc != SQLITE_OK || id == 0) {
    return rc == SQLITE_OK ? SQLITE_NOTFOUND : rc;
  }
  sqlite3_bind_int64(expand, 1, id);
  while (sqlite3_step(expand) == SQLITE_ROW) {
    weir_text found = {(const char *)sqlite3_column_text(expand, 3), (size_t)sqlite3_column_bytes(expand, 3)};
    visit(found, data);
  }
  return sqlite3_reset(expand);
}

int baseline_upsert(baseline *b, const weir_node *node) {
  sqlite3_stmt *get = b->statement[GET], *update = b->statement[UPDATE];
  weir_text old = {NULL, 0};
  int rc = baseline_get(b, node->key, &old);
  if (rc != SQLITE_OK) {
    return rc;
  }
  sqlite3_int64 id = sqlite3_column_int64(get, 0), label_set = sqlite3_column_int64(get, 2);
  int same = old.len == node->props.len && memcmp(old.ptr, node->props.ptr, old.len) == 0;
  if (!same && b->text) { /* while the old texts can still be read */
    rc = bare_text_update(b->text, id, label_set, old, node->props);
  }
  baseline_done(b);
  if (same || rc != SQLITE_OK) {
    return rc;
  }
  sqlite3_bind_int64(update, 1, id);
  sqlite3_bind_int64(update, 2, label_set);
  sqlite3_bind_text(update, 3, node->props.ptr, (int)node->props.len, SQLITE_STATIC);
  sqlite3_bind_int64(update, 4, b->rev);
  return run(b, UPDATE);
}

int baseline_commit(baseline *b) {
  sqlite3_bind_int64(b->statement[REV_SET], 1, b->rev);
  int rc = run(b, REV_SET);
  return rc == SQLITE_OK ? run(b, COMMIT) : rc;
}

int baseline_end_read(baseline *b) {
  return run(b, COMMIT);
}

void baseline_rollback(baseline *b) {
  if (!sqlite3_get_autocommit(b->db)) {
    run(b, ROLLBACK);
  }
}

void baseline_pragma(sqlite3 *db, const char *name, char *out, size_t size) {
  char text[64];
  sqlite3_stmt *statement = NULL;
  snprintf(text, sizeof text, "PRAGMA %s", name);
  check(db, sqlite3_prepare_v2(db, text, -1, &statement, NULL), text);
  const unsigned char *value =
      sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_text(statement, 0) : NULL;
  snprintf(out, size, "%s", value ? (const char *)value : "none");
  check(db, sqlite3_finalize(statement), text);
}

void baseline_copy(const char *from, const char *to) {
  sqlite3 *source = NULL, *target = NULL;
  check(source, sqlite3_open_v2(from, &source, SQLITE_OPEN_READWRITE, NULL), from);
  check(target, sqlite3_open_v2(to, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), to);
  sqlite3_backup *backup = sqlite3_backup_init(target, "main", source, "main");
  if (!backup) {
    bench_fail("copying %s: %s", from, sqlite3_errmsg(target));
  }
  int rc = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (rc != SQLITE_DONE) {
    bench_fail("copying %s: %s", from, sqlite3_errstr(rc));
  }
  check(target, sqlite3_close(target), to);
  check(source, sqlite3_close(source), from);
}
