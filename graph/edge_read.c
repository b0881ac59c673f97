/*
 * Reading edges.
 */
#include "arena.h"
#include "edge.h"
#include "labels.h"
#include "scan.h"

/* ---- One edge ------------------------------------------------------------------------------------------ */

struct edge_read {
  const weir_edge *id;
  weir_edge *out;
  weir_arena *arena;
  int found;
};

static int read_row(const weir__edge_row *row, void *data, weir_error *err) {
  struct edge_read *read = data;
  const weir_edge *id = read->id;
  read->found = 1;
  weir__arena_reset(read->arena);
  char *at =
      weir__arena_alloc(read->arena, id->src.len + id->label.len + id->dst.len + row->props.len + 4, err);
  if (!at) {
    return WEIR_NOMEM;
  }
  weir_edge edge = {
      .src = weir__text_copy(&at, id->src),
      .label = weir__text_copy(&at, id->label),
      .dst = weir__text_copy(&at, id->dst),
      .rank = row->id.rank,
      .weight = row->weight,
      .props = weir__text_copy(&at, row->props),
      .rev = row->rev,
  };
  *read->out = edge; /* last: it may be what `id` points to */
  return WEIR_OK;
}

static int get_edge(weir_txn *txn, void *data, weir_error *err) {
  struct edge_read *read = data;
  weir__edge_id id;
  int rc = weir__edge_resolve(txn, read->id, &id, err);
  if (rc == WEIR_OK) {
    rc = weir__store_edge_get(txn, &id, read_row, read, err);
  }
  if (rc == WEIR_OK && !read->found) {
    rc = weir__edge_missing(read->id, err);
  }
  return rc;
}

int weir_edge_get(weir_txn *txn, const weir_edge *id, weir_edge *out, weir_arena *arena, weir_error *err) {
  struct edge_read read = {.id = id, .out = out, .arena = arena};
  int rc = weir__check_set(out, "out", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(arena, "arena", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__edge_check_id(id, err);
  }
  return rc ? rc : weir__graph_read(txn, get_edge, &read, err);
}

/* ---- Counts and scans -----------------------------------------------------------------------------------
 */

struct edge_count {
  weir_text label;
  int64_t count;
};

static int count_edges(weir_txn *txn, void *data, weir_error *err) {
  struct edge_count *count = data;
  int64_t label;
  int none;
  count->count = 0;
  int rc = weir__label_filter(txn, count->label, &label, &none, err);
  return rc || none ? rc : weir__store_edge_count(txn, 0, WEIR_OUT, label, &count->count, err);
}

int weir_edge_count(weir_txn *txn, weir_text label, int64_t *out, weir_error *err) {
  struct edge_count count = {.label = label};
  int rc = weir__check_set(out, "out", err);
  if (rc == WEIR_OK) {
    rc = weir__text_check(label, "label", 0, WEIR_LABEL_MAX, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, count_edges, &count, err);
  }
  if (rc == WEIR_OK) {
    *out = count.count;
  }
  return rc;
}

int weir__edge_view(weir_txn *txn, const weir__edge_row *row, weir_edge *out, weir_error *err) {
  *out = (weir_edge){
      .src = row->src_key,
      .dst = row->dst_key,
      .rank = row->id.rank,
      .weight = row->weight,
      .props = row->props,
      .rev = row->rev,
  };
  return weir__label_name(txn, row->id.label, &out->label, err);
}

/* place[] of the cursor is the identity of the last edge: src, label, dst, rank. */
struct edge_scan {
  weir_txn *txn;
  weir__page page;
  weir_edge_fn visit;
  void *data;
};

static int scan_row(const weir__edge_row *row, void *data, weir_error *err) {
  struct edge_scan *scan = data;
  int64_t *place = scan->page.cursor.place;
  if (weir__page_full(&scan->page)) {
    return WEIR_STOP;
  }
  weir_edge edge;
  int rc = weir__edge_view(scan->txn, row, &edge, err);
  if (rc) {
    return rc;
  }
  weir__visit_begin(scan->txn);
  rc = weir__visit_end(scan->txn, &scan->page, scan->visit(&edge, scan->data, &scan->page.error), err);
  if (rc >= 0) {
    place[0] = row->id.src;
    place[1] = row->id.label;
    place[2] = row->id.dst;
    place[3] = row->id.rank;
  }
  return rc;
}

static int scan_edges(weir_txn *txn, void *data, weir_error *err) {
  struct edge_scan *scan = data;
  const int64_t *place = scan->page.cursor.place;
  const weir__edge_id after = {place[0], place[1], place[2], place[3]};
  int64_t label;
  int none;
  scan->txn = txn;
  int rc = weir__label_filter(txn, scan->page.options.label, &label, &none, err);
  if (rc || none || scan->page.cursor.done) {
    return rc;
  }
  return weir__store_edge_scan(txn, label, &after, scan_row, scan, err);
}

int weir_edge_scan(weir_txn *txn, const weir_scan *options, weir_edge_fn visit, void *data, weir_error *err) {
  struct edge_scan scan = {.visit = visit, .data = data};
  int rc = weir__page_begin(&scan.page, options, visit != NULL, err);
  if (rc) {
    return rc;
  }
  return weir__page_end(&scan.page, weir__graph_read(txn, scan_edges, &scan, err));
}
