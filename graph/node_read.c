/*
 * Reading nodes.
 *
 * A point read is one statement, and label names from the connection's cache; everything is copied into the
 * arena in one piece. A visitor gets the row where it lies.
 */
#include "arena.h"
#include "labels.h"
#include "node.h"
#include "scan.h"

/* ---- Rows to nodes ---------------------------------------------------------------------------------------
 */

int weir__node_view(weir_txn *txn, const weir__node_row *row, weir_node *out, weir_error *err) {
  const weir__label_set *set;
  int rc = weir__label_set_get(txn, row->label_set, &set, err);
  if (rc) {
    return rc;
  }
  *out = (weir_node){
      .key = row->key,
      .label = set->count ? set->names[0] : (weir_text)WEIR_TEXT(""),
      .props = row->props,
      .labels = set->names,
      .label_count = set->count,
      .rev = row->rev,
  };
  return WEIR_OK;
}

static int copy_row(weir_txn *txn, const weir__node_row *row, weir_node *out, weir_arena *arena,
                    weir_error *err) {
  const weir__label_set *set;
  int rc = weir__label_set_get(txn, row->label_set, &set, err);
  if (rc) {
    return rc;
  }
  size_t names_size = set->count * sizeof(weir_text);
  void *memory = weir__arena_alloc(arena, names_size + set->bytes + row->key.len + row->props.len + 2, err);
  if (!memory) {
    return WEIR_NOMEM;
  }
  weir_text *labels = memory;
  char *at = (char *)memory + names_size;
  for (size_t i = 0; i < set->count; i++) {
    labels[i] = weir__text_copy(&at, set->names[i]);
  }
  *out = (weir_node){
      .key = weir__text_copy(&at, row->key),
      .label = set->count ? labels[0] : (weir_text)WEIR_TEXT(""),
      .props = weir__text_copy(&at, row->props),
      .labels = set->count ? labels : NULL,
      .label_count = set->count,
      .rev = row->rev,
  };
  return WEIR_OK;
}

/* ---- By key ---------------------------------------------------------------------------------------------
 */

struct node_read {
  weir_txn *txn;
  const weir_text *keys;
  size_t count;
  weir_node *out;
  size_t found;
  weir_arena *arena;
};

static int read_row(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct node_read *read = data;
  read->found++;
  return copy_row(read->txn, row, &read->out[index], read->arena, err);
}

int weir__node_missing(weir_text key, weir_error *err) {
  return weir_fail(err, WEIR_NOT_FOUND, "no node has key \"%.*s\"", WEIR__SHOW(key));
}

int weir__node_number(weir_txn *txn, weir_text key, int64_t *id, weir_error *err) {
  int rc = weir__store_node_ids(txn, &key, 1, id, err);
  return rc == WEIR_OK && *id == 0 ? weir__node_missing(key, err) : rc;
}

static int read_one_row(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct node_read *read = data;
  weir__arena_reset(read->arena); /* only now: the key may lie in it */
  return read_row(row, index, data, err);
}

static int get_node(weir_txn *txn, void *data, weir_error *err) {
  struct node_read *read = data;
  read->txn = txn;
  int rc = weir__store_node_find(txn, read->keys, 1, read_one_row, read, err);
  if (rc == WEIR_OK && read->found == 0) {
    rc = weir__node_missing(*read->keys, err);
  }
  return rc;
}

static int check_read(const void *out, const weir_arena *arena, weir_error *err) {
  int rc = weir__check_set(out, "out", err);
  return rc ? rc : weir__check_set(arena, "arena", err);
}

int weir_node_get(weir_txn *txn, weir_text key, weir_node *out, weir_arena *arena, weir_error *err) {
  struct node_read read = {.keys = &key, .count = 1, .out = out, .arena = arena};
  int rc = check_read(out, arena, err);
  if (rc == WEIR_OK) {
    rc = weir__key_check(key, "key", err);
  }
  return rc ? rc : weir__graph_read_one(txn, get_node, &read, err);
}

static int get_many(weir_txn *txn, void *data, weir_error *err) {
  struct node_read *read = data;
  read->txn = txn;
  weir__arena_reset(read->arena);
  for (size_t i = 0; i < read->count; i++) {
    read->out[i] = (weir_node){.rev = 0};
  }
  return weir__store_node_find(txn, read->keys, read->count, read_row, read, err);
}

int weir_node_get_many(weir_txn *txn, const weir_text *keys, size_t count, weir_node *out, size_t *found,
                       weir_arena *arena, weir_error *err) {
  struct node_read read = {.keys = keys, .count = count, .out = out, .arena = arena};
  int rc = check_read(out, arena, err);
  if (rc == WEIR_OK && count > 0) {
    rc = weir__check_set(keys, "keys", err);
  }
  for (size_t i = 0; rc == WEIR_OK && i < count; i++) {
    rc = weir__key_check(keys[i], "key", err);
    if (rc) {
      return weir__fail_at(err, rc, "key", i);
    }
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, get_many, &read, err);
  }
  if (rc == WEIR_OK && found) {
    *found = read.found;
  }
  return rc;
}

/* ---- Counts and scans -------------------------------------------------------------------------------------
 */

struct node_count {
  weir_text label;
  int64_t count;
};

static int count_nodes(weir_txn *txn, void *data, weir_error *err) {
  struct node_count *count = data;
  int64_t label;
  int none;
  count->count = 0;
  int rc = weir__label_filter(txn, count->label, &label, &none, err);
  return rc || none ? rc : weir__store_node_count(txn, label, &count->count, err);
}

int weir_node_count(weir_txn *txn, weir_text label, int64_t *out, weir_error *err) {
  struct node_count count = {.label = label};
  int rc = weir__check_set(out, "out", err);
  if (rc == WEIR_OK) {
    rc = weir__text_check(label, "label", 0, WEIR_LABEL_MAX, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, count_nodes, &count, err);
  }
  if (rc == WEIR_OK) {
    *out = count.count;
  }
  return rc;
}

/* place[0] of the cursor is the id of the last node. */
struct node_scan {
  weir_txn *txn;
  weir__page page;
  weir_node_fn visit;
  void *data;
};

static int scan_row(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct node_scan *scan = data;
  weir_node node;
  (void)index;
  if (weir__page_full(&scan->page)) {
    return WEIR_STOP;
  }
  int rc = weir__node_view(scan->txn, row, &node, err);
  if (rc) {
    return rc;
  }
  weir__visit_begin(scan->txn);
  rc = weir__visit_end(scan->txn, &scan->page, scan->visit(&node, scan->data, &scan->page.error), err);
  if (rc >= 0) {
    scan->page.cursor.place[0] = row->id;
  }
  return rc;
}

static int scan_nodes(weir_txn *txn, void *data, weir_error *err) {
  struct node_scan *scan = data;
  int64_t label;
  int none;
  scan->txn = txn;
  int rc = weir__label_filter(txn, scan->page.options.label, &label, &none, err);
  if (rc || none || scan->page.cursor.done) {
    return rc;
  }
  return weir__store_node_scan(txn, label, scan->page.cursor.place[0], weir__page_wants(&scan->page),
                               scan_row, scan, err);
}

int weir_node_scan(weir_txn *txn, const weir_scan *options, weir_node_fn visit, void *data, weir_error *err) {
  struct node_scan scan = {.visit = visit, .data = data};
  int rc = weir__page_begin(&scan.page, options, visit != NULL, err);
  if (rc) {
    return rc;
  }
  return weir__page_end(&scan.page, weir__graph_read(txn, scan_nodes, &scan, err));
}
