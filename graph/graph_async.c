/*
 * The commonest operations as requests: each submits a function that calls its synchronous twin. A write may
 * run more than once; what it leaves in the request is of its last run.
 */
#include <weir/graph_async.h>

#include "arena.h"
#include "text.h"

#define ROOM_LEAST 16

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

/* ---- A page of neighbors ----------------------------------------------------------------------------- */

struct collection {
  weir_neighbors_req *req;
  size_t room;
};

static int make_room(struct collection *into, weir_error *err) {
  weir_neighbors_req *req = into->req;
  size_t room = into->room ? into->room * 2 : ROOM_LEAST;
  if (req->limit > 0 && room > req->limit) {
    room = req->limit;
  }
  weir_neighbor *neighbors = weir__arena_alloc(&req->arena, room * sizeof *neighbors, err);
  if (!neighbors) {
    return WEIR_NOMEM;
  }
  if (req->count > 0) {
    memcpy(neighbors, req->neighbors, req->count * sizeof *neighbors);
  }
  req->neighbors = neighbors;
  into->room = room;
  return WEIR_OK;
}

/* Moves `text` to *at, unless it is one that was not asked for. */
static void keep_text(char **at, weir_text *text) {
  if (text->ptr) {
    *text = weir__text_copy(at, *text);
  }
}

/* Copies the texts of a neighbor into the arena. */
static int copy_texts(weir_arena *arena, weir_neighbor *neighbor, weir_error *err) {
  weir_node *node = &neighbor->node;
  size_t labels_size = node->label_count * sizeof(weir_text);
  size_t size = labels_size + node->key.len + node->props.len + neighbor->label.len + neighbor->props.len + 5;
  for (size_t i = 0; i < node->label_count; i++) {
    size += node->labels[i].len + 1;
  }
  weir_text *labels = weir__arena_alloc(arena, size, err);
  if (!labels) {
    return WEIR_NOMEM;
  }
  char *at = (char *)labels + labels_size;
  for (size_t i = 0; i < node->label_count; i++) {
    labels[i] = weir__text_copy(&at, node->labels[i]);
  }
  if (node->label_count > 0) {
    node->labels = labels;
    node->label = labels[0];
  }
  keep_text(&at, &node->key);
  keep_text(&at, &node->props);
  keep_text(&at, &neighbor->label);
  keep_text(&at, &neighbor->props);
  return WEIR_OK;
}

static int collect(const weir_neighbor *neighbor, void *data, weir_error *err) {
  struct collection *into = data;
  weir_neighbors_req *req = into->req;
  int rc = req->count == into->room ? make_room(into, err) : WEIR_OK;
  if (rc) {
    return rc;
  }
  weir_neighbor *copy = &req->neighbors[req->count];
  *copy = *neighbor;
  rc = copy_texts(&req->arena, copy, err);
  req->count += rc == WEIR_OK;
  return rc;
}

static int get_neighbors(weir_req *req, weir_txn *txn) {
  weir_neighbors_req *page = (weir_neighbors_req *)req;
  struct collection into = {.req = page};
  const weir_scan scan = {
      .size = sizeof scan, .label = page->label, .limit = page->limit, .cursor = &page->cursor};
  const weir_cursor before = page->cursor;
  weir__arena_reset(&page->arena);
  page->neighbors = NULL;
  page->count = 0;
  int rc = weir_neighbors(txn, page->key, page->direction, page->flags, &scan, collect, &into, &req->error);
  if (rc != WEIR_OK) {
    page->cursor = before; /* the neighbors that it has passed are not handed out */
  }
  return rc;
}

int weir_neighbors_async(weir_async *handle, weir_neighbors_req *req, weir_done_fn done) {
  return req ? weir_read_async(handle, &req->req, get_neighbors, done) : WEIR_INVALID;
}
