/*
 * The uniform random graph. Edges are put in the order of the table, sorted, which is what makes a large load
 * fast; two edges between the same nodes get ranks of their own, so that there are as many as were asked for.
 */
#include "uniform.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "baseline.h"

enum { BATCH = 10000 /* rows that are put in one call */ };

typedef struct pair {
  unsigned src, dst;
} pair;

/* Rows of one call, and the text that they point to. */
typedef struct batch {
  size_t count;
  weir_node nodes[BATCH];
  weir_edge edges[BATCH];
  char keys[2][BATCH][UNIFORM_KEY_SIZE];
  char props[BATCH][32];
} batch;

weir_text uniform_key(char *out, unsigned i) {
  int len = snprintf(out, UNIFORM_KEY_SIZE, "n%u", i);
  return (weir_text){out, (size_t)len};
}

static int put_nodes(weir_txn *txn, void *data, weir_error *err) {
  const batch *b = data;
  return weir_node_put_many(txn, b->nodes, b->count, NULL, err);
}

static void fill_nodes(const uniform *u, weir_graph *graph, batch *b, uint64_t *random) {
  weir_error err = WEIR_ERROR_INIT;
  b->count = 0;
  for (unsigned i = 0; i < u->nodes; i++) {
    unsigned value = (unsigned)bench_below(random, u->value_below);
    size_t at = b->count++;
    int len = snprintf(b->props[at], sizeof b->props[at], "{\"value\":%u}", value);
    b->nodes[at] = (weir_node){.key = uniform_key(b->keys[0][at], i),
                               .label = WEIR_TEXT("node"),
                               .props = {b->props[at], (size_t)len}};
    if (b->count == BATCH || i + 1 == u->nodes) {
      bench_check(weir_write(weir_graph_auto(graph), put_nodes, b, NULL, &err), &err, "filling the store");
      b->count = 0;
    }
  }
}

/* All edges, sorted, and the first random number of their weights. */
typedef struct filling {
  const uniform *u;
  pair *pairs;
  batch *rows;
  uint64_t random;
} filling;

static int by_place(const void *a, const void *b) {
  const pair *x = a, *y = b;
  return x->src != y->src ? (x->src > y->src) - (x->src < y->src) : (x->dst > y->dst) - (x->dst < y->dst);
}

static pair *draw_pairs(const uniform *u, uint64_t *random) {
  pair *pairs = bench_alloc(u->edges * sizeof *pairs);
  for (unsigned i = 0; i < u->edges; i++) {
    pairs[i].src = (unsigned)bench_below(random, u->nodes);
    pairs[i].dst = (unsigned)bench_below(random, u->nodes);
  }
  qsort(pairs, u->edges, sizeof *pairs, by_place);
  return pairs;
}

static int put_edges(weir_txn *txn, void *data, weir_error *err) {
  const filling *f = data;
  const pair *pairs = f->pairs;
  batch *b = f->rows;
  uint64_t random = f->random;
  int64_t rank = 0;
  int rc = WEIR_OK;
  b->count = 0;
  for (unsigned i = 0; rc == WEIR_OK && i < f->u->edges; i++) {
    size_t at = b->count++;
    rank = i > 0 && by_place(&pairs[i - 1], &pairs[i]) == 0 ? rank + 1 : 0;
    b->edges[at] = (weir_edge){.src = uniform_key(b->keys[0][at], pairs[i].src),
                               .label = WEIR_TEXT("link"),
                               .dst = uniform_key(b->keys[1][at], pairs[i].dst),
                               .rank = rank,
                               .weight = (double)(1 + bench_below(&random, 100))};
    if (b->count == BATCH || i + 1 == f->u->edges) {
      rc = weir_edge_put_many(txn, b->edges, b->count, 0, NULL, err);
      b->count = 0;
    }
  }
  return rc;
}

/* In one transaction: a page of the reverse index is written once, not once for each batch. */
static void fill_edges(const uniform *u, weir_graph *graph, batch *b, uint64_t *random) {
  weir_error err = WEIR_ERROR_INIT;
  filling f = {.u = u, .pairs = draw_pairs(u, random), .rows = b, .random = *random};
  bench_check(weir_write(weir_graph_auto(graph), put_edges, &f, NULL, &err), &err, "filling the store");
  free(f.pairs);
}

/* ---- By bare statements ---- */

static void check(sqlite3 *db, int rc, const char *doing) {
  if (rc != SQLITE_OK) {
    bench_fail("bare SQLite: %s: %s", doing, sqlite3_errmsg(db));
  }
}

static void execute(sqlite3 *db, const char *sql) {
  check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

/* Copies of the one edge that is there, to which its label is due; nodes are numbered in the order of their
 * keys. */
static void insert_edges(const filling *f, sqlite3 *db) {
  sqlite3_stmt *insert = NULL;
  uint64_t random = f->random;
  int64_t rank = 0;
  check(db,
        sqlite3_prepare_v2(db,
                           "INSERT INTO edge(src, label, dst, rank, weight, rev)"
                           " SELECT ?1 + first, label, ?2 + first, ?3, ?4, rev FROM model",
                           -1, &insert, NULL),
        "preparing");
  for (unsigned i = 0; i < f->u->edges; i++) {
    rank = i > 0 && by_place(&f->pairs[i - 1], &f->pairs[i]) == 0 ? rank + 1 : 0;
    sqlite3_bind_int64(insert, 1, f->pairs[i].src);
    sqlite3_bind_int64(insert, 2, f->pairs[i].dst);
    sqlite3_bind_int64(insert, 3, rank);
    sqlite3_bind_double(insert, 4, (double)(1 + bench_below(&random, 100)));
    sqlite3_step(insert);
    check(db, sqlite3_reset(insert), "inserting an edge");
  }
  sqlite3_finalize(insert);
}

/* What an index is made by, which is kept to make it again. */
static char *text_of_index(sqlite3 *db) {
  sqlite3_stmt *find = NULL;
  char *sql = NULL;
  check(db,
        sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE name = 'edge_reverse'", -1, &find, NULL),
        "preparing");
  if (sqlite3_step(find) == SQLITE_ROW) {
    sql = sqlite3_mprintf("%s", (const char *)sqlite3_column_text(find, 0));
  }
  sqlite3_finalize(find);
  if (!sql) {
    bench_fail("the store has no index edge_reverse");
  }
  return sql;
}

/* The reverse index is made at the end, from sorted rows. */
static void fill_edges_bare(const uniform *u, const bench_settings *settings, uint64_t *random) {
  filling f = {.u = u, .pairs = draw_pairs(u, random), .random = *random};
  sqlite3 *db = baseline_connect(u->path, settings, WEIR_NORMAL);
  char *index = text_of_index(db);
  execute(db, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE; DROP INDEX edge_reverse;"
              "CREATE TEMP TABLE model AS SELECT (SELECT id FROM node WHERE key = 'n0') AS first,"
              " label, rev FROM edge; DELETE FROM edge");
  insert_edges(&f, db);
  execute(db, index);
  execute(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_free(index);
  check(db, sqlite3_close(db), "close");
  free(f.pairs);
}

static int put_model(weir_txn *txn, void *data, weir_error *err) {
  const weir_edge edge = WEIR_EDGE("n0", "link", "n0");
  (void)data;
  return weir_edge_put(txn, &edge, 0, NULL, err);
}

/* ---- All of it ---- */

void uniform_make(uniform *u, const bench_settings *settings) {
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = NULL;
  uint64_t random = settings->seed, begin = bench_now();
  batch *b = bench_alloc(sizeof *b);
  u->nodes = settings->nodes;
  u->edges = settings->edges;
  u->value_below = u->nodes;
  if (snprintf(u->path, sizeof u->path, "%s/graph.db", bench_directory(settings)) >= (int)sizeof u->path) {
    bench_fail("the name of the store is too long");
  }
  weir_pool_options options = bench_pool_options(settings, WEIR_SINGLE, 0, WEIR_NORMAL);
  bench_check(weir_graph_open(&graph, u->path, &options, &err), &err, "opening the store");
  fill_nodes(u, graph, b, &random);
  if (u->bare) {
    bench_check(weir_write(weir_graph_auto(graph), put_model, NULL, NULL, &err), &err, "filling the store");
  } else {
    fill_edges(u, graph, b, &random);
  }
  bench_check(weir_graph_close(graph, &err), &err, "closing the store");
  if (u->bare) {
    fill_edges_bare(u, settings, &random);
  }
  free(b);
  u->seconds = (double)(bench_now() - begin) / 1e9;
}
