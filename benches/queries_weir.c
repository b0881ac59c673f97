/*
 * The side of weir: one call of the library a question, as a program would ask it.
 */
#include "queries.h"

#include <stdlib.h>

#include <weir/query.h>
#include <weir/traverse.h>

#define LABEL "node"
#define PATH  "value"

struct queries_weir {
  weir_graph *graph;
  weir_arena arena;
};

/* Answers one question in the transaction. */
typedef int (*answer_one)(weir_txn *txn, queries_weir *w, const question *asked, uint64_t *sum,
                          weir_error *err);

typedef struct batch {
  queries_weir *w;
  answer_one answer;
  const question *asked;
  unsigned count;
  uint64_t *sum;
} batch;

/* ---- Opening ---- */

static weir_graph *open_store(const uniform *data, const bench_settings *settings) {
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = NULL;
  weir_pool_options options = bench_pool_options(settings, WEIR_POOL, 1, WEIR_NORMAL);
  bench_check(weir_graph_open(&graph, data->path, &options, &err), &err, "opening the store");
  return graph;
}

static void close_store(weir_graph *graph) {
  weir_error err = WEIR_ERROR_INIT;
  bench_check(weir_graph_close(graph, &err), &err, "closing the store");
}

void queries_weir_index(const uniform *data, const bench_settings *settings) {
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = open_store(data, settings);
  const weir_index index = {.target = WEIR_NODES, .label = WEIR_TEXT(LABEL), .path = WEIR_TEXT(PATH)};
  bench_check(weir_index_create(weir_graph_auto(graph), &index, NULL, &err), &err, "making an index");
  close_store(graph);
}

queries_weir *queries_weir_open(const uniform *data, const bench_settings *settings) {
  queries_weir *w = bench_alloc(sizeof *w);
  w->graph = open_store(data, settings);
  return w;
}

void queries_weir_close(queries_weir *w) {
  weir_arena_clear(&w->arena);
  close_store(w->graph);
  free(w);
}

/* ---- Answers ---- */

static int ask_all(weir_txn *txn, void *data, weir_error *err) {
  const batch *b = data;
  for (unsigned i = 0; i < b->count; i++) {
    int rc = b->answer(txn, b->w, &b->asked[i], b->sum, err);
    if (rc != WEIR_OK) {
      return rc;
    }
  }
  return WEIR_OK;
}

static int point(weir_txn *txn, queries_weir *w, const question *asked, uint64_t *sum, weir_error *err) {
  weir_node node;
  int rc = weir_node_get(txn, asked->from_key, &node, &w->arena, err);
  if (rc == WEIR_OK) {
    *sum += queries_digest(node.key) + queries_digest(node.props) + (uint64_t)node.rev;
  }
  return rc;
}

static int add_neighbor(const weir_neighbor *neighbor, void *data, weir_error *err) {
  uint64_t *sum = data;
  (void)err;
  *sum += queries_digest(neighbor->node.key);
  return WEIR_OK;
}

static int hop_keys(weir_txn *txn, queries_weir *w, const question *asked, uint64_t *sum, weir_error *err) {
  (void)w;
  return weir_neighbors(txn, asked->from_key, WEIR_OUT, 0, NULL, add_neighbor, sum, err);
}

static int within(weir_txn *txn, queries_weir *w, const question *asked, uint64_t *sum, weir_error *err) {
  uint64_t found[QUERIES_HOPS + 1];
  (void)w;
  int rc = weir_within_count(txn, asked->from_key, QUERIES_HOPS, NULL, found, err);
  for (int d = 0; rc == WEIR_OK && d <= QUERIES_HOPS; d++) {
    *sum += found[d];
  }
  return rc;
}

static int shortest(weir_txn *txn, queries_weir *w, const question *asked, uint64_t *sum, weir_error *err) {
  weir_path path;
  int rc = weir_path_shortest(txn, asked->from_key, asked->to_key, NULL, &path, &w->arena, err);
  if (rc == WEIR_OK && path.found) {
    *sum += path.hop_count + 1;
  }
  return rc;
}

static int add_node(const weir_node *node, void *data, weir_error *err) {
  uint64_t *sum = data;
  (void)err;
  *sum += queries_digest(node->key) + queries_digest(node->props) + (uint64_t)node->rev;
  return WEIR_OK;
}

static int by_value(weir_txn *txn, queries_weir *w, const question *asked, uint64_t *sum, weir_error *err) {
  const weir_cond equal = WEIR_PROP(PATH, WEIR_EQ, weir_int(asked->value));
  weir_find find = WEIR_FIND_INIT;
  (void)w;
  find.label = (weir_text)WEIR_TEXT(LABEL);
  find.where = &equal;
  return weir_node_find(txn, &find, add_node, sum, err);
}

static const answer_one answers[QUERIES_WORKS] = {
    [QUERIES_POINT] = point,       [QUERIES_HOP] = hop_keys,  [QUERIES_WITHIN] = within,
    [QUERIES_WITHIN_CTE] = within, [QUERIES_PATH] = shortest, [QUERIES_VALUE] = by_value};

void queries_weir_ask(queries_weir *w, queries_work work, const question *asked, unsigned count, int together,
                      uint64_t *sum) {
  weir_error err = WEIR_ERROR_INIT;
  batch b = {w, answers[work], asked, count, sum};
  weir_txn *txn = weir_graph_auto(w->graph); /* makes each call a transaction of its own */
  bench_check(together ? weir_read(txn, ask_all, &b, NULL, &err) : ask_all(txn, &b, &err), &err,
              "asking weir");
}
