/*
 * The weir modes of mixed: the graph API, called from the threads themselves.
 */
#include "mixed.h"

#include <string.h>

#include <weir/search.h>

#include "texts.h"

static void open_graph(subject *s, weir_mode mode) {
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = NULL;
  weir_pool_options options = bench_pool_options(s->settings, mode, s->readers, s->durability);
  bench_check(weir_graph_open(&graph, s->data->path, &options, &err), &err, "opening the store");
  s->state = graph;
}

static void single_open(subject *s) {
  open_graph(s, WEIR_SINGLE);
}

static void pool_open(subject *s) {
  open_graph(s, WEIR_POOL);
}

static int add_neighbor(const weir_neighbor *neighbor, void *data, weir_error *err) {
  (void)err;
  mixed_reach_add(data, neighbor->node.key);
  return WEIR_OK;
}

/* Breadth first from the one node in the reach. */
static int three_hops(weir_txn *txn, void *data, weir_error *err) {
  mixed_reach *reach = data;
  reach->count = 1; /* this may be run again */
  for (unsigned hop = 0, at = 0; hop < 3; hop++) {
    for (unsigned end = reach->count; at < end; at++) {
      int rc = weir_neighbors(txn, weir_str(reach->keys[at]), WEIR_OUT, 0, NULL, add_neighbor, reach, err);
      if (rc != WEIR_OK) {
        return rc;
      }
    }
  }
  return WEIR_OK;
}

static int count_hit(const weir_hit *hit, void *data, weir_error *err) {
  (void)err;
  mixed_page_add(data, hit->node.props);
  return WEIR_OK;
}

static int weir_mixed_read(subject *s, mixed_read *r) {
  weir_error err = WEIR_ERROR_INIT;
  weir_txn *txn = weir_graph_auto(s->state);
  weir_text key = s->data->keys[r->item];
  weir_search search = WEIR_SEARCH_INIT;
  weir_node node;
  int rc;
  switch (r->op) {
  case POINT:
    rc = weir_node_get(txn, key, &node, &r->arena, &err);
    r->same = rc == WEIR_OK && node.props.len == r->want.len &&
              memcmp(node.props.ptr, r->want.ptr, r->want.len) == 0;
    break;
  case ONE_HOP:
    rc = weir_neighbors(txn, key, WEIR_OUT, 0, NULL, add_neighbor, &r->reach, &err);
    break;
  case SEARCH:
    search.index = (weir_text)WEIR_TEXT(TEXTS_INDEX);
    search.query = weir_str(r->query);
    search.limit = MIXED_PAGE;
    rc = weir_node_search(txn, &search, count_hit, r, &err);
    break;
  default:
    rc = weir_read(txn, three_hops, &r->reach, NULL, &err);
  }
  tally_weir(&s->errors, rc);
  return rc != WEIR_OK;
}

static int weir_mixed_write(subject *s, const weir_node *node) {
  weir_error err = WEIR_ERROR_INIT;
  int rc = weir_node_put(weir_graph_auto(s->state), node, NULL, &err);
  tally_weir(&s->errors, rc);
  return rc != WEIR_OK;
}

static void weir_mixed_close(subject *s) {
  weir_error err = WEIR_ERROR_INIT;
  bench_check(weir_graph_close(s->state, &err), &err, "closing the store");
}

const mixed_kind mixed_single = {"single",        0, single_open, weir_mixed_read, weir_mixed_write,
                                 weir_mixed_close};
const mixed_kind mixed_pool = {"pool", 0, pool_open, weir_mixed_read, weir_mixed_write, weir_mixed_close};
