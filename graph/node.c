/*
 * Writing nodes.
 *
 * Arguments are checked before a transaction is entered, so that nothing waits for the lane, and the lane for
 * nothing, because of bad input. What runs inside reads its arguments and writes its results only: a write
 * may be run again.
 *
 * A node's row is one statement, which leaves no trace when it fails. New labels come before it; both
 * together are then behind a savepoint.
 */
#include "node.h"

#include <stdlib.h>

#include "labels.h"
#include "props.h"
#include "uuid.h"

/* ---- Checks -------------------------------------------------------------------------------------------- */

static int check_labels(const weir_node *node, weir_error *err) {
  int checked = weir__text_check(node->label, "label", 0, WEIR_LABEL_MAX, err);
  if (checked || node->label_count == 0) {
    return checked;
  }
  if (!node->labels) {
    return weir_fail(err, WEIR_INVALID, "labels is NULL with a label_count of %zu", node->label_count);
  }
  if (node->label_count > WEIR_LABELS_MAX) {
    return weir_fail(err, WEIR_INVALID, "%zu labels: give at most %d", node->label_count, WEIR_LABELS_MAX);
  }
  int has_label = node->label.len == 0;
  for (size_t i = 0; i < node->label_count; i++) {
    int rc = weir__text_check(node->labels[i], "label", 1, WEIR_LABEL_MAX, err);
    if (rc) {
      return rc;
    }
    has_label = has_label || weir__text_same(node->label, node->labels[i]);
  }
  if (!has_label) {
    return weir_fail(err, WEIR_INVALID, "label is not among labels: leave it empty, or name it in both");
  }
  return WEIR_OK;
}

/* Checks all of a node but an empty key, if it may be. */
static int check_node(const weir_node *node, size_t key_least, weir_error *err) {
  int rc = weir__check_set(node, "node", err);
  if (rc == WEIR_OK) {
    rc = weir__text_check(node->key, "key", key_least, WEIR_KEY_MAX, err);
  }
  if (rc == WEIR_OK) {
    rc = check_labels(node, err);
  }
  return rc ? rc : weir__props_check(node->props, err);
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

/* A node on its way in. */
struct node_write {
  const weir_node *node;
  weir_text key; /* node->key, or a new one */
  int add;       /* 1: it must not be there */
  weir_outcome *outcome;
  int64_t id; /* of the row that is there, or 0 */
  int same;   /* it has these labels and props */
  int64_t label_set;
};

static void names_of(const weir_node *node, const weir_text **names, size_t *count) {
  *names = node->label_count ? node->labels : &node->label;
  *count = node->label_count ? node->label_count : node->label.len > 0;
}

static int compare_row(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct node_write *write = data;
  (void)index;
  (void)err;
  write->id = row->id;
  write->same = row->label_set == write->label_set &&
                weir__text_same(row->props, weir__props_stored(write->node->props));
  return WEIR_OK;
}

/* Writes the row, if it is not there as it is; label_set is known. */
static int write_row(weir_txn *txn, struct node_write *write, weir_error *err) {
  write->id = 0;
  write->same = 0;
  int rc = weir__store_node_find(txn, &write->key, 1, compare_row, write, err);
  if (rc) {
    return rc;
  }
  if (write->id && write->add) {
    return weir_fail(err, WEIR_EXISTS, "a node with key \"%.*s\" exists", WEIR__SHOW(write->key));
  }
  if (write->outcome) {
    *write->outcome = write->same ? WEIR_UNCHANGED : write->id ? WEIR_UPDATED : WEIR_INSERTED;
  }
  if (write->same) {
    return WEIR_OK;
  }
  weir__node_row row = {.id = write->id,
                        .key = write->key,
                        .label_set = write->label_set,
                        .props = weir__props_stored(write->node->props)};
  rc = weir_txn_rev(txn, &row.rev, err);
  return rc ? rc : weir__store_node_write(txn, &row, err);
}

static int write_with_new_labels(weir_txn *txn, void *data, weir_error *err) {
  struct node_write *write = data;
  const weir_text *names;
  size_t count;
  names_of(write->node, &names, &count);
  int rc = weir__label_set_make(txn, names, count, &write->label_set, err);
  return rc ? rc : write_row(txn, write, err);
}

static int write_node(weir_txn *txn, void *data, weir_error *err) {
  struct node_write *write = data;
  const weir_text *names;
  size_t count;
  names_of(write->node, &names, &count);
  int rc = weir__label_set_find(txn, names, count, &write->label_set, err);
  if (rc) {
    return rc;
  }
  return write->label_set ? write_row(txn, write, err)
                          : weir_write(txn, write_with_new_labels, write, NULL, err);
}

int weir_node_put(weir_txn *txn, const weir_node *node, weir_outcome *outcome, weir_error *err) {
  int rc = check_node(node, 1, err);
  if (rc) {
    return rc;
  }
  struct node_write write = {.node = node, .key = node->key, .outcome = outcome};
  return weir__graph_write_one(txn, write_node, &write, err);
}

int weir_node_add(weir_txn *txn, const weir_node *node, char *key, weir_error *err) {
  char made[WEIR_UUID_SIZE] = "";
  if (key) {
    key[0] = '\0';
  }
  int rc = check_node(node, 0, err);
  if (rc) {
    return rc;
  }
  struct node_write write = {.node = node, .key = node->key, .add = 1};
  if (node->key.len == 0) {
    rc = weir__uuid_make(made, err);
    if (rc) {
      return rc;
    }
    write.key = weir_str(made);
  }
  rc = weir__graph_write_one(txn, write_node, &write, err);
  if (rc == WEIR_OK && key && node->key.len == 0) {
    memcpy(key, made, sizeof made);
  }
  return rc;
}

struct many_write {
  const weir_node *nodes;
  size_t count;
  weir_outcome *outcomes;
};

static int write_many(weir_txn *txn, void *data, weir_error *err) {
  const struct many_write *many = data;
  for (size_t i = 0; i < many->count; i++) {
    struct node_write write = {
        .node = &many->nodes[i],
        .key = many->nodes[i].key,
        .outcome = many->outcomes ? &many->outcomes[i] : NULL,
    };
    int rc = write_node(txn, &write, err);
    if (rc) {
      return weir__fail_at(err, rc, "node", i);
    }
  }
  return WEIR_OK;
}

int weir_node_put_many(weir_txn *txn, const weir_node *nodes, size_t count, weir_outcome *outcomes,
                       weir_error *err) {
  struct many_write many = {nodes, count, outcomes};
  if (count > 0) {
    int rc = weir__check_set(nodes, "nodes", err);
    if (rc) {
      return rc;
    }
  }
  for (size_t i = 0; i < count; i++) {
    int rc = check_node(&nodes[i], 1, err);
    if (rc) {
      return weir__fail_at(err, rc, "node", i);
    }
  }
  return weir__graph_write(txn, write_many, &many, err);
}

/* ---- Merging and deleting -------------------------------------------------------------------------------
 */

struct node_merge {
  weir_text key;
  struct json_t *patch;
  weir_outcome *outcome;
  weir__node_row row; /* the one that is there; its texts are not kept */
  char *props;        /* merged, to be freed; NULL if the patch changed nothing */
};

static int merge_row(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct node_merge *merge = data;
  (void)index;
  merge->row = (weir__node_row){.id = row->id, .label_set = row->label_set};
  return weir__props_merge(row->props, merge->patch, &merge->props, &merge->row.props.len, err);
}

static int merge_node(weir_txn *txn, void *data, weir_error *err) {
  struct node_merge *merge = data;
  merge->row.id = 0;
  merge->props = NULL;
  int rc = weir__store_node_find(txn, &merge->key, 1, merge_row, merge, err);
  if (rc) {
    return rc;
  }
  if (merge->row.id == 0) {
    return weir__node_missing(merge->key, err);
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
    rc = weir__store_node_write(txn, &merge->row, err);
  }
  free(merge->props);
  return rc;
}

int weir_node_merge(weir_txn *txn, weir_text key, weir_text patch, weir_outcome *outcome, weir_error *err) {
  struct node_merge merge = {.key = key, .outcome = outcome};
  int rc = weir__key_check(key, "key", err);
  if (rc == WEIR_OK) {
    rc = weir__patch_parse(patch, &merge.patch, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_write_one(txn, merge_node, &merge, err);
  }
  weir__patch_free(merge.patch);
  return rc;
}

struct node_del {
  weir_text key;
  int existed;
};

static int del_node(weir_txn *txn, void *data, weir_error *err) {
  struct node_del *del = data;
  int64_t id;
  int64_t rev;
  int rc = weir__store_node_ids(txn, &del->key, 1, &id, err);
  del->existed = rc == WEIR_OK && id != 0;
  if (!del->existed) {
    return rc;
  }
  rc = weir_txn_rev(txn, &rev, err); /* no row holds it, but it numbers the change */
  return rc ? rc : weir__store_node_delete(txn, id, err);
}

int weir_node_del(weir_txn *txn, weir_text key, int *existed, weir_error *err) {
  struct node_del del = {.key = key};
  int rc = weir__key_check(key, "key", err);
  if (rc == WEIR_OK) {
    rc = weir__graph_write_one(txn, del_node, &del, err);
  }
  if (rc == WEIR_OK && existed) {
    *existed = del.existed;
  }
  return rc;
}
