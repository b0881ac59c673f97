/*
 * The commonest operations as requests: each submits a function that calls its synchronous twin. A write may
 * run more than once; what it leaves in the request is of its last run.
 */
#include <weir/graph_async.h>

#include "arena.h"
#include "keep.h"

/* ---- Points -------------------------------------------------------------------------------------------- */

static int get_node(weir_req *req, weir_txn *txn) {
  weir_node_get_req *get = (weir_node_get_req *)req;
  return weir_node_get(txn, get->key, &get->node, &get->arena, &req->error);
}

int weir_node_get_async(weir_async *handle, weir_node_get_req *req, weir_done_fn done) {
  return req ? weir_read_async(handle, &req->req, get_node, done) : WEIR_INVALID;
}

static int put_node(weir_req *req, weir_txn *txn) {
  weir_node_put_req *put = (weir_node_put_req *)req;
  return weir_node_put(txn, &put->node, &put->outcome, &req->error);
}

int weir_node_put_async(weir_async *handle, weir_node_put_req *req, weir_done_fn done) {
  if (req) {
    req->req.bytes = req->node.key.len + req->node.props.len;
  }
  return req ? weir_write_async(handle, &req->req, put_node, done) : WEIR_INVALID;
}

static int put_edge(weir_req *req, weir_txn *txn) {
  weir_edge_put_req *put = (weir_edge_put_req *)req;
  return weir_edge_put(txn, &put->edge, put->flags, &put->outcome, &req->error);
}

int weir_edge_put_async(weir_async *handle, weir_edge_put_req *req, weir_done_fn done) {
  if (req) {
    req->req.bytes = req->edge.src.len + req->edge.dst.len + req->edge.props.len;
  }
  return req ? weir_write_async(handle, &req->req, put_edge, done) : WEIR_INVALID;
}

/* ---- Pages: what a visitor is shown, collected --------------------------------------------------------- */

struct page {
  weir_arena *arena;
  size_t limit; /* 0: none */
  weir__kept kept;
};

/* A page in an arena, which is emptied. */
static struct page begin_page(weir_arena *arena, size_t limit) {
  weir__arena_reset(arena);
  return (struct page){.arena = arena, .limit = limit};
}

static void *append(struct page *page, const void *item, size_t size, weir_error *err) {
  return weir__keep(&page->kept, page->arena, item, size, page->limit, err);
}

static int collect_neighbor(const weir_neighbor *neighbor, void *data, weir_error *err) {
  struct page *page = data;
  weir_neighbor *copy = append(page, neighbor, sizeof *copy, err);
  return copy ? weir__keep_neighbor(page->arena, copy, err) : WEIR_NOMEM;
}

static int collect_node(const weir_node *node, void *data, weir_error *err) {
  struct page *page = data;
  weir_node *copy = append(page, node, sizeof *copy, err);
  return copy ? weir__keep_node(page->arena, copy, err) : WEIR_NOMEM;
}

static int collect_edge(const weir_edge *edge, void *data, weir_error *err) {
  struct page *page = data;
  weir_edge *copy = append(page, edge, sizeof *copy, err);
  return copy ? weir__keep_edge(page->arena, copy, err) : WEIR_NOMEM;
}

static int collect_hit(const weir_hit *hit, void *data, weir_error *err) {
  struct page *page = data;
  weir_hit *copy = append(page, hit, sizeof *copy, err);
  return copy ? weir__keep_hit(page->arena, copy, err) : WEIR_NOMEM;
}

static int collect_step(const weir_step *step, void *data, weir_error *err) {
  struct page *page = data;
  weir_step *copy = append(page, step, sizeof *copy, err);
  int rc = copy ? weir__keep_step(page->arena, copy, err) : WEIR_NOMEM;
  page->kept.count -= copy && rc != WEIR_OK;
  return rc == WEIR_OK && page->kept.count == page->limit ? WEIR_STOP : rc;
}

static int get_neighbors(weir_req *req, weir_txn *txn) {
  weir_neighbors_req *ask = (weir_neighbors_req *)req;
  struct page page = begin_page(&ask->arena, ask->limit);
  const weir_cursor before = ask->cursor;
  const weir_scan scan = {
      .size = sizeof scan, .label = ask->label, .limit = ask->limit, .cursor = &ask->cursor};
  int rc =
      weir_neighbors(txn, ask->key, ask->direction, ask->flags, &scan, collect_neighbor, &page, &req->error);
  if (rc != WEIR_OK) {
    ask->cursor = before; /* the neighbors that it has passed are not handed out */
    page.kept.count = 0;
  }
  ask->neighbors = page.kept.items;
  ask->count = page.kept.count;
  return rc;
}

int weir_neighbors_async(weir_async *handle, weir_neighbors_req *req, weir_done_fn done) {
  return req ? weir_read_async(handle, &req->req, get_neighbors, done) : WEIR_INVALID;
}

/* ---- Finds and searches ----------------------------------------------------------------------------------
 */

typedef int (*page_fn)(weir_txn *txn, const weir_req *req, weir_place *place, struct page *page,
                       weir_error *err);

/* Fills a page by `fn`. If that fails, the page is empty and the place stays where it was. */
static int fill_page(weir_req *req, weir_txn *txn, weir_place *place, struct page *page, page_fn fn) {
  weir_place next = WEIR_PLACE_INIT;
  int rc = weir_place_set(&next, weir_str(place->token), &req->error);
  if (rc == WEIR_OK) {
    next.done = place->done;
    rc = fn(txn, req, &next, page, &req->error);
  }
  if (rc != WEIR_OK) {
    page->kept.count = 0;
    weir_place_clear(&next);
    return rc;
  }
  weir_place_clear(place);
  *place = next;
  return WEIR_OK;
}

static int find_nodes(weir_txn *txn, const weir_req *req, weir_place *place, struct page *page,
                      weir_error *err) {
  weir_find find = ((const weir_node_find_req *)req)->find;
  find.place = place;
  return weir_node_find(txn, &find, collect_node, page, err);
}

static int get_nodes(weir_req *req, weir_txn *txn) {
  weir_node_find_req *ask = (weir_node_find_req *)req;
  struct page page = begin_page(&ask->arena, ask->find.limit);
  int rc = fill_page(req, txn, &ask->place, &page, find_nodes);
  ask->nodes = page.kept.items;
  ask->count = page.kept.count;
  return rc;
}

int weir_node_find_async(weir_async *handle, weir_node_find_req *req, weir_done_fn done) {
  return req ? weir_read_async(handle, &req->req, get_nodes, done) : WEIR_INVALID;
}

static int find_edges(weir_txn *txn, const weir_req *req, weir_place *place, struct page *page,
                      weir_error *err) {
  weir_find find = ((const weir_edge_find_req *)req)->find;
  find.place = place;
  return weir_edge_find(txn, &find, collect_edge, page, err);
}

static int get_edges(weir_req *req, weir_txn *txn) {
  weir_edge_find_req *ask = (weir_edge_find_req *)req;
  struct page page = begin_page(&ask->arena, ask->find.limit);
  int rc = fill_page(req, txn, &ask->place, &page, find_edges);
  ask->edges = page.kept.items;
  ask->count = page.kept.count;
  return rc;
}

int weir_edge_find_async(weir_async *handle, weir_edge_find_req *req, weir_done_fn done) {
  return req ? weir_read_async(handle, &req->req, get_edges, done) : WEIR_INVALID;
}

static int search_nodes(weir_txn *txn, const weir_req *req, weir_place *place, struct page *page,
                        weir_error *err) {
  weir_search search = ((const weir_node_search_req *)req)->search;
  search.place = place;
  return weir_node_search(txn, &search, collect_hit, page, err);
}

static int get_hits(weir_req *req, weir_txn *txn) {
  weir_node_search_req *ask = (weir_node_search_req *)req;
  struct page page = begin_page(&ask->arena, ask->search.limit);
  int rc = fill_page(req, txn, &ask->place, &page, search_nodes);
  ask->hits = page.kept.items;
  ask->count = page.kept.count;
  return rc;
}

int weir_node_search_async(weir_async *handle, weir_node_search_req *req, weir_done_fn done) {
  return req ? weir_read_async(handle, &req->req, get_hits, done) : WEIR_INVALID;
}

/* ---- Walks and paths ------------------------------------------------------------------------------------
 */

static int get_steps(weir_req *req, weir_txn *txn) {
  weir_walk_req *ask = (weir_walk_req *)req;
  struct page page = begin_page(&ask->arena, ask->limit);
  int rc = weir_walk_run(ask->walk, txn, collect_step, &page, &ask->result, &req->error);
  ask->steps = page.kept.items;
  ask->count = page.kept.count; /* also after an error: the walk has passed them */
  return rc;
}

int weir_walk_async(weir_async *handle, weir_walk_req *req, weir_done_fn done) {
  if (req) { /* it may be canceled before it runs */
    req->steps = NULL;
    req->count = 0;
  }
  return req ? weir_read_async(handle, &req->req, get_steps, done) : WEIR_INVALID;
}

static int find_path(weir_req *req, weir_txn *txn) {
  weir_path_req *ask = (weir_path_req *)req;
  return weir_path_shortest(txn, ask->from, ask->to, &ask->options, &ask->path, &ask->arena, &req->error);
}

int weir_path_shortest_async(weir_async *handle, weir_path_req *req, weir_done_fn done) {
  return req ? weir_read_async(handle, &req->req, find_path, done) : WEIR_INVALID;
}
