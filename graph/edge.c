/*
 * Writing edges.
 *
 * As with nodes (node.c) arguments are checked before a transaction is entered. The row of an edge is one
 * statement; a new label or new endpoints come before it, and are then behind a savepoint together with it.
 */
#include "edge.h"

#include <math.h>
#include <stdlib.h>

#include "labels.h"
#include "node.h"
#include "props.h"

/* ---- Identity ------------------------------------------------------------------------------------------ */

int weir__edge_check_id(const weir_edge *edge, weir_error *err) {
  int rc = weir__check_set(edge, "edge", err);
  if (rc == WEIR_OK) {
    rc = weir__key_check(edge->src, "src", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__text_check(edge->label, "label", 1, WEIR_LABEL_MAX, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__key_check(edge->dst, "dst", err);
  }
  return rc;
}

int weir__edge_resolve(weir_txn *txn, const weir_edge *edge, weir__edge_id *id, weir_error *err) {
  const weir_text keys[2] = {edge->src, edge->dst};
  int64_t ids[2];
  int rc = weir__store_node_ids(txn, keys, 2, ids, err);
  if (rc == WEIR_OK) {
    rc = weir__label_find(txn, edge->label, &id->label, err);
  }
  id->src = ids[0];
  id->dst = ids[1];
  id->rank = edge->rank;
  return rc;
}

int weir__edge_missing(const weir_edge *edge, weir_error *err) {
  return weir_fail(err, WEIR_NOT_FOUND, "no edge (\"%.*s\")-[%.*s, rank %lld]->(\"%.*s\")",
                   WEIR__SHOW(edge->src), WEIR__SHOW(edge->label), (long long)edge->rank,
                   WEIR__SHOW(edge->dst));
}

/* ---- Putting and adding -------------------------------------------------------------------------------- */

/* An edge on its way in. */
struct edge_write {
  const weir_edge *edge;
  unsigned flags;
  int add; /* 1: it must not be there */
  weir_outcome *outcome;
  weir__edge_id id; /* what is missing is 0 */
  int there;        /* the edge is */
  int same;         /* with this weight and props */
};

static int check_edge(const weir_edge *edge, unsigned flags, unsigned allowed, weir_error *err) {
  int rc = weir__edge_check_id(edge, err);
  if (rc == WEIR_OK) {
    rc = weir__props_check(edge->props, err);
  }
  if (rc == WEIR_OK && !isfinite(edge->weight)) {
    rc = weir_fail(err, WEIR_INVALID, "weight is not finite: give a number");
  }
  if (rc == WEIR_OK && (flags & ~allowed) != 0) {
    rc = weir_fail(err, WEIR_INVALID, "flags 0x%x: this function knows 0x%x", flags, allowed);
  }
  return rc;
}

static int compare_row(const weir__edge_row *row, void *data, weir_error *err) {
  struct edge_write *write = data;
  (void)err;
  write->there = 1;
  write->same = row->weight == write->edge->weight &&
                weir__text_same(row->props, weir__props_stored(write->edge->props));
  return WEIR_OK;
}

/* The next rank above those in use. */
static int next_rank(weir_txn *txn, struct edge_write *write, weir_error *err) {
  int64_t last;
  int used;
  int rc = weir__store_edge_last_rank(txn, &write->id, &last, &used, err);
  if (rc == WEIR_OK && used && last == INT64_MAX) {
    rc =
        weir_fail(err, WEIR_CONSTRAINT, "no rank is left above %lld: give one that is free", (long long)last);
  }
  write->id.rank = rc == WEIR_OK && used && last >= 0 ? last + 1 : 0;
  return rc;
}

/* Writes the row, if it is not there as it is; endpoints and label are known. */
static int write_row(weir_txn *txn, struct edge_write *write, weir_error *err) {
  write->there = 0;
  write->same = 0;
  int rc = write->flags & WEIR_NEXT_RANK ? next_rank(txn, write, err)
                                         : weir__store_edge_get(txn, &write->id, compare_row, write, err);
  if (rc) {
    return rc;
  }
  if (write->there && write->add) {
    return weir_fail(err, WEIR_EXISTS, "an edge (\"%.*s\")-[%.*s, rank %lld]->(\"%.*s\") exists",
                     WEIR__SHOW(write->edge->src), WEIR__SHOW(write->edge->label), (long long)write->id.rank,
                     WEIR__SHOW(write->edge->dst));
  }
  if (write->outcome) {
    *write->outcome = write->same ? WEIR_UNCHANGED : write->there ? WEIR_UPDATED : WEIR_INSERTED;
  }
  if (write->same) {
    return WEIR_OK;
  }
  weir__edge_row row = {
      .id = write->id, .weight = write->edge->weight, .props = weir__props_stored(write->edge->props)};
  rc = weir_txn_rev(txn, &row.rev, err);
  if (rc) {
    return rc;
  }
  return write->there ? weir__store_edge_update(txn, &row, err) : weir__store_edge_insert(txn, &row, err);
}

static int make_node(weir_txn *txn, weir_text key, int64_t *id, weir_error *err) {
  weir__node_row row = {.key = key, .label_set = WEIR__LABEL_SET_EMPTY, .props = WEIR_TEXT("{}")};
  int rc = weir_txn_rev(txn, &row.rev, err);
  if (rc == WEIR_OK) {
    rc = weir__store_node_write(txn, &row, err);
  }
  *id = row.id;
  return rc;
}

static int write_with_new_parts(weir_txn *txn, void *data, weir_error *err) {
  struct edge_write *write = data;
  const weir_edge *edge = write->edge;
  int rc = weir__edge_resolve(txn, edge, &write->id, err); /* anew, for when this is run again */
  if (rc == WEIR_OK && write->id.src == 0) {
    rc = make_node(txn, edge->src, &write->id.src, err);
  }
  if (rc == WEIR_OK && write->id.dst == 0) {
    if (weir__text_same(edge->src, edge->dst)) {
      write->id.dst = write->id.src;
    } else {
      rc = make_node(txn, edge->dst, &write->id.dst, err);
    }
  }
  if (rc == WEIR_OK) {
    rc = weir__label_make(txn, edge->label, &write->id.label, err);
  }
  return rc ? rc : write_row(txn, write, err);
}

static int write_edge(weir_txn *txn, void *data, weir_error *err) {
  struct edge_write *write = data;
  const weir_edge *edge = write->edge;
  int rc = weir__edge_resolve(txn, edge, &write->id, err);
  if (rc) {
    return rc;
  }
  if ((write->id.src == 0 || write->id.dst == 0) && (write->flags & WEIR_CREATE_ENDPOINTS) == 0) {
    int src_missing = write->id.src == 0;
    return weir_fail(err, WEIR_NOT_FOUND,
                     "no node has the %s key \"%.*s\": put it first, or pass WEIR_CREATE_ENDPOINTS",
                     src_missing ? "src" : "dst", WEIR__SHOW(src_missing ? edge->src : edge->dst));
  }
  if (write->id.src == 0 || write->id.dst == 0 || write->id.label == 0) {
    return weir_write(txn, write_with_new_parts, write, NULL, err);
  }
  return write_row(txn, write, err);
}

int weir_edge_put(weir_txn *txn, const weir_edge *edge, unsigned flags, weir_outcome *outcome,
                  weir_error *err) {
  int rc = check_edge(edge, flags, WEIR_CREATE_ENDPOINTS, err);
  if (rc) {
    return rc;
  }
  struct edge_write write = {.edge = edge, .flags = flags, .outcome = outcome};
  return weir__graph_write_one(txn, write_edge, &write, err);
}

int weir_edge_add(weir_txn *txn, const weir_edge *edge, unsigned flags, int64_t *rank, weir_error *err) {
  int rc = check_edge(edge, flags, WEIR_CREATE_ENDPOINTS | WEIR_NEXT_RANK, err);
  if (rc) {
    return rc;
  }
  struct edge_write write = {.edge = edge, .flags = flags, .add = 1};
  rc = weir__graph_write_one(txn, write_edge, &write, err);
  if (rc == WEIR_OK && rank) {
    *rank = write.id.rank;
  }
  return rc;
}

struct many_write {
  const weir_edge *edges;
  size_t count;
  unsigned flags;
  weir_outcome *outcomes;
};

static int write_many(weir_txn *txn, void *data, weir_error *err) {
  const struct many_write *many = data;
  for (size_t i = 0; i < many->count; i++) {
    struct edge_write write = {
        .edge = &many->edges[i],
        .flags = many->flags,
        .outcome = many->outcomes ? &many->outcomes[i] : NULL,
    };
    int rc = write_edge(txn, &write, err);
    if (rc) {
      return weir__fail_at(err, rc, "edge", i);
    }
  }
  return WEIR_OK;
}

int weir_edge_put_many(weir_txn *txn, const weir_edge *edges, size_t count, unsigned flags,
                       weir_outcome *outcomes, weir_error *err) {
  struct many_write many = {edges, count, flags, outcomes};
  if (count > 0) {
    int rc = weir__check_set(edges, "edges", err);
    if (rc) {
      return rc;
    }
  }
  for (size_t i = 0; i < count; i++) {
    int rc = check_edge(&edges[i], flags, WEIR_CREATE_ENDPOINTS, err);
    if (rc) {
      return weir__fail_at(err, rc, "edge", i);
    }
  }
  return weir__graph_write(txn, write_many, &many, err);
}

/* ---- Merging and deleting ------------------------------------------------------------------------------ */

struct edge_merge {
  const weir_edge *edge;
  struct json_t *patch;
  weir_outcome *outcome;
  weir__edge_row row; /* the one that is there; its texts are not kept */
  int there;
  char *props; /* merged, to be freed; NULL if the patch changed nothing */
};

static int merge_row(const weir__edge_row *row, void *data, weir_error *err) {
  struct edge_merge *merge = data;
  merge->there = 1;
  merge->row = (weir__edge_row){.id = row->id, .weight = row->weight};
  return weir__props_merge(row->props, merge->patch, &merge->props, &merge->row.props.len, err);
}

static int merge_edge(weir_txn *txn, void *data, weir_error *err) {
  struct edge_merge *merge = data;
  weir__edge_id id;
  merge->there = 0;
  merge->props = NULL;
  int rc = weir__edge_resolve(txn, merge->edge, &id, err);
  if (rc == WEIR_OK) {
    rc = weir__store_edge_get(txn, &id, merge_row, merge, err);
  }
  if (rc) {
    return rc;
  }
  if (!merge->there) {
    return weir__edge_missing(merge->edge, err);
  }
  if (merge->outcome) {
    *merge->outcome = merge->props ? WEIR_UPDATED : WEIR_UNCHANGED;
  }
  if (!merge->props) {
    return WEIR_OK;
  }
  merge->row.props.ptr = merge->props;
  rc = weir_txn_rev(txn, &merge->row.rev, err);
  if (rc == WEIR_OK) {
    rc = weir__store_edge_update(txn, &merge->row, err);
  }
  free(merge->props);
  return rc;
}

int weir_edge_merge(weir_txn *txn, const weir_edge *id, weir_text patch, weir_outcome *outcome,
                    weir_error *err) {
  struct edge_merge merge = {.edge = id, .outcome = outcome};
  int rc = weir__edge_check_id(id, err);
  if (rc == WEIR_OK) {
    rc = weir__patch_parse(patch, &merge.patch, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_write_one(txn, merge_edge, &merge, err);
  }
  weir__patch_free(merge.patch);
  return rc;
}

struct edge_del {
  const weir_edge *edge;
  int existed;
};

static int note_row(const weir__edge_row *row, void *data, weir_error *err) {
  struct edge_del *del = data;
  (void)row;
  (void)err;
  del->existed = 1;
  return WEIR_OK;
}

static int del_edge(weir_txn *txn, void *data, weir_error *err) {
  struct edge_del *del = data;
  weir__edge_id id;
  int64_t rev;
  del->existed = 0;
  int rc = weir__edge_resolve(txn, del->edge, &id, err);
  if (rc == WEIR_OK) {
    rc = weir__store_edge_get(txn, &id, note_row, del, err);
  }
  if (rc || !del->existed) {
    return rc;
  }
  rc = weir_txn_rev(txn, &rev, err); /* no row holds it, but it numbers the change */
  return rc ? rc : weir__store_edge_delete(txn, &id, err);
}

int weir_edge_del(weir_txn *txn, const weir_edge *id, int *existed, weir_error *err) {
  struct edge_del del = {.edge = id};
  int rc = weir__edge_check_id(id, err);
  if (rc == WEIR_OK) {
    rc = weir__graph_write_one(txn, del_edge, &del, err);
  }
  if (rc == WEIR_OK && existed) {
    *existed = del.existed;
  }
  return rc;
}
