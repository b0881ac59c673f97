/*
 * The side of bare SQLite: one connection, every statement prepared once, on the store that weir made.
 *
 * For the nodes with a value it has a copy of the store with an index on the expression that the statement
 * asks by. That is the way an application would take with the same table: one search in one index and then
 * the row, and nothing to keep in step by hand. In a copy, because the index is foreign to weir's schema.
 */
#include "queries.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "baseline.h"
#include "queries_loop.h"

#define COLUMNS "id, key, label_set, props, rev"
#define VALUE   "json_extract(props, '$.value')"

enum { BEGIN, COMMIT, GET, ID, HOP, CTE, OUT, IN, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [BEGIN] = "BEGIN",
    [COMMIT] = "COMMIT",
    [GET] = "SELECT " COLUMNS " FROM node WHERE key = ?1",
    [ID] = "SELECT id FROM node WHERE key = ?1",
    [HOP] =
        "SELECT d.key FROM node s JOIN edge e ON e.src = s.id JOIN node d ON d.id = e.dst WHERE s.key = ?1",
    [CTE] = "WITH RECURSIVE within(id, depth) AS (SELECT id, 0 FROM node WHERE key = ?1"
            " UNION SELECT e.dst, w.depth + 1 FROM within w JOIN edge e ON e.src = w.id WHERE w.depth < ?2)"
            " SELECT count(DISTINCT id) FROM within",
    [OUT] = "SELECT dst FROM edge WHERE src = ?1",
    [IN] = "SELECT src FROM edge WHERE dst = ?1",
};

struct queries_bare {
  sqlite3 *db;
  sqlite3_stmt *statement[STATEMENTS];
  loop *search;
  sqlite3 *copy;
  sqlite3_stmt *copy_begin, *copy_commit, *by_value;
};

static void check(sqlite3 *db, int rc, const char *doing) {
  if (rc != SQLITE_OK) {
    bench_fail("bare SQLite: %s: %s", doing, sqlite3_errmsg(db));
  }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text) {
  sqlite3_stmt *statement = NULL;
  check(db, sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), text);
  return statement;
}

/* ---- Opening ---- */

static void copy_path(const uniform *data, char *out, size_t size) {
  if (snprintf(out, size, "%s-copy", data->path) >= (int)size) {
    bench_fail("the name of the store is too long");
  }
}

/* JSON functions in an index need a trusted schema, which has no part in how fast they are. */
static sqlite3 *connect_copy(const uniform *data, const bench_settings *settings) {
  char path[PATH_MAX];
  copy_path(data, path, sizeof path);
  sqlite3 *db = baseline_connect(path, settings, WEIR_NORMAL);
  check(db, sqlite3_exec(db, "PRAGMA trusted_schema = ON", NULL, NULL, NULL), "pragmas");
  return db;
}

void queries_bare_index(const uniform *data, const bench_settings *settings) {
  char path[PATH_MAX];
  copy_path(data, path, sizeof path);
  baseline_copy(data->path, path);
  sqlite3 *db = connect_copy(data, settings);
  check(db, sqlite3_exec(db, "CREATE INDEX bare_value ON node(" VALUE ")", NULL, NULL, NULL),
        "making an index");
  check(db, sqlite3_close(db), "close");
}

queries_bare *queries_bare_open(const uniform *data, const bench_settings *settings) {
  queries_bare *b = bench_alloc(sizeof *b);
  b->db = baseline_connect(data->path, settings, WEIR_NORMAL);
  for (int i = 0; i < STATEMENTS; i++) {
    b->statement[i] = prepare(b->db, sql[i]);
  }
  b->search = loop_new(b->statement[OUT], b->statement[IN]);
  b->copy = connect_copy(data, settings);
  b->copy_begin = prepare(b->copy, sql[BEGIN]);
  b->copy_commit = prepare(b->copy, sql[COMMIT]);
  b->by_value = prepare(b->copy, "SELECT " COLUMNS " FROM node WHERE " VALUE " = ?1");
  return b;
}

void queries_bare_close(queries_bare *b) {
  loop_free(b->search);
  for (int i = 0; i < STATEMENTS; i++) {
    sqlite3_finalize(b->statement[i]);
  }
  sqlite3_finalize(b->copy_begin);
  sqlite3_finalize(b->copy_commit);
  sqlite3_finalize(b->by_value);
  check(b->db, sqlite3_close(b->db), "close");
  check(b->copy, sqlite3_close(b->copy), "close");
  free(b);
}

/* ---- Answers ---- */

/* Each returns a SQLite code. */
typedef int (*answer_one)(queries_bare *b, const question *asked, uint64_t *sum);

static void bind_key(sqlite3_stmt *statement, weir_text key) {
  sqlite3_bind_text(statement, 1, key.ptr, (int)key.len, SQLITE_STATIC);
}

static weir_text column(sqlite3_stmt *statement, int i) {
  const char *text = (const char *)sqlite3_column_text(statement, i);
  return (weir_text){text, (size_t)sqlite3_column_bytes(statement, i)};
}

/* All five columns are read. */
static void add_node(sqlite3_stmt *row, uint64_t *sum) {
  volatile int64_t id = sqlite3_column_int64(row, 0), label_set = sqlite3_column_int64(row, 2);
  (void)id, (void)label_set;
  *sum += queries_digest(column(row, 1)) + queries_digest(column(row, 3)) +
          (uint64_t)sqlite3_column_int64(row, 4);
}

static int point(queries_bare *b, const question *asked, uint64_t *sum) {
  sqlite3_stmt *get = b->statement[GET];
  bind_key(get, asked->from_key);
  if (sqlite3_step(get) == SQLITE_ROW) {
    add_node(get, sum);
  }
  return sqlite3_reset(get); /* repeats the error of the step */
}

static int hop_keys(queries_bare *b, const question *asked, uint64_t *sum) {
  sqlite3_stmt *hop = b->statement[HOP];
  bind_key(hop, asked->from_key);
  while (sqlite3_step(hop) == SQLITE_ROW) {
    *sum += queries_digest(column(hop, 0));
  }
  return sqlite3_reset(hop);
}

static int find_id(queries_bare *b, weir_text key, int64_t *id) {
  sqlite3_stmt *find = b->statement[ID];
  bind_key(find, key);
  *id = sqlite3_step(find) == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;
  int rc = sqlite3_reset(find);
  return rc == SQLITE_OK && *id == 0 ? SQLITE_NOTFOUND : rc;
}

static int within_loop(queries_bare *b, const question *asked, uint64_t *sum) {
  int64_t start;
  uint64_t count = 0;
  int rc = find_id(b, asked->from_key, &start);
  if (rc == SQLITE_OK) {
    rc = loop_within(b->search, start, QUERIES_HOPS, &count);
  }
  *sum += count;
  return rc;
}

static int within_cte(queries_bare *b, const question *asked, uint64_t *sum) {
  sqlite3_stmt *cte = b->statement[CTE];
  bind_key(cte, asked->from_key);
  sqlite3_bind_int(cte, 2, QUERIES_HOPS);
  if (sqlite3_step(cte) == SQLITE_ROW) {
    *sum += (uint64_t)sqlite3_column_int64(cte, 0);
  }
  return sqlite3_reset(cte);
}

static int shortest(queries_bare *b, const question *asked, uint64_t *sum) {
  int64_t from, to, length = -1;
  int rc = find_id(b, asked->from_key, &from);
  if (rc == SQLITE_OK) {
    rc = find_id(b, asked->to_key, &to);
  }
  if (rc == SQLITE_OK) {
    rc = loop_shortest(b->search, from, to, &length);
  }
  *sum += (uint64_t)(length + 1);
  return rc;
}

static int by_value(queries_bare *b, const question *asked, uint64_t *sum) {
  sqlite3_bind_int64(b->by_value, 1, asked->value);
  while (sqlite3_step(b->by_value) == SQLITE_ROW) {
    add_node(b->by_value, sum);
  }
  return sqlite3_reset(b->by_value);
}

/* `steps`: it runs many statements, which are to see one state of the store. */
static const struct {
  answer_one answer;
  int steps;
} answers[QUERIES_WORKS] = {
    [QUERIES_POINT] = {point, 0},        [QUERIES_HOP] = {hop_keys, 0},
    [QUERIES_WITHIN] = {within_loop, 1}, [QUERIES_WITHIN_CTE] = {within_cte, 0},
    [QUERIES_PATH] = {shortest, 1},      [QUERIES_VALUE] = {by_value, 0},
};

static void run(sqlite3 *db, sqlite3_stmt *statement) {
  sqlite3_step(statement);
  check(db, sqlite3_reset(statement), "a transaction");
}

void queries_bare_ask(queries_bare *b, queries_work work, const question *asked, unsigned count, int together,
                      uint64_t *sum) {
  int copied = work == QUERIES_VALUE, steps = answers[work].steps && !together;
  sqlite3 *db = copied ? b->copy : b->db;
  sqlite3_stmt *begin = copied ? b->copy_begin : b->statement[BEGIN];
  sqlite3_stmt *commit = copied ? b->copy_commit : b->statement[COMMIT];
  if (together) {
    run(db, begin);
  }
  for (unsigned i = 0; i < count; i++) {
    if (steps) {
      run(db, begin);
    }
    check(db, answers[work].answer(b, &asked[i], sum), "a question");
    if (steps) {
      run(db, commit);
    }
  }
  if (together) {
    run(db, commit);
  }
}
