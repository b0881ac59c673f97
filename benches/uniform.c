/*
 * The uniform random graph. Edges are put in the order of the table, sorted, which is what makes a large load
 * fast; two edges between the same nodes get ranks of their own, so that there are as many as were asked for.
 */
#include "uniform.h"

#include <stdio.h>
#include <stdlib.h>

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
  fill_edges(u, graph, b, &random);
  bench_check(weir_graph_close(graph, &err), &err, "closing the store");
  free(b);
  u->seconds = (double)(bench_now() - begin) / 1e9;
}
