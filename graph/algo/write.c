/*
 * Results become properties: batch by batch, as merges of a patch, so whatever else is in the props stays,
 * and all that keeps a node's row right (indexes, unique values, rev) is where it always is.
 *
 * A batch may be run again before it is committed: what it counts is its own until then.
 */
#include <math.h>
#include <stdlib.h>

#include "../node.h"
#include "../props.h"
#include "../query/build.h"
#include "projection.h"

#define ROW_BYTES 256 /* about what a row takes in the WAL */

struct writing {
  const weir_projection *p;
  const weir_column *columns;
  size_t count;
  weir_build_options options;
  char *names;     /* of the columns, each followed by a NUL */
  weir_text *keys; /* of the batch at hand */
  struct json_t *patch;
  uint32_t first;     /* of the batch */
  uint32_t last;      /* behind it */
  weir_written batch; /* what the batch did */
  weir_written all;   /* what those before it did */
};

/* ---- What is asked --------------------------------------------------------------------------------------
 */

static int check_name(const weir_column *columns, size_t i, weir_error *err) {
  int rc = weir__text_check(columns[i].name, "name", 1, WEIR_PROPS_MAX, err);
  for (size_t j = 0; j < i && rc == WEIR_OK; j++) {
    if (weir__text_same(columns[j].name, columns[i].name)) {
      rc = weir_fail(err, WEIR_INVALID, "the name \"%.*s\" is that of column %zu, too",
                     WEIR__SHOW(columns[i].name), j);
    }
  }
  return rc;
}

/* Are there as many nodes as the column says? */
static int check_nodes(const weir_projection *p, const weir_column *column, weir_error *err) {
  const uint32_t *values = column->values;
  for (uint32_t node = 0; column->type == WEIR_COLUMN_NODE && node < p->info.nodes; node++) {
    if (values[node] >= p->info.nodes && values[node] != WEIR_NO_NODE) {
      return weir_fail(err, WEIR_INVALID, "the value of node %lu is node %lu: the projection has %lu nodes",
                       (unsigned long)node, (unsigned long)values[node], (unsigned long)p->info.nodes);
    }
  }
  return WEIR_OK;
}

static int check_column(const weir_projection *p, const weir_column *columns, size_t i, weir_error *err) {
  const weir_column *column = &columns[i];
  int rc = check_name(columns, i, err);
  if (rc == WEIR_OK && (column->type < WEIR_COLUMN_UINT32 || column->type > WEIR_COLUMN_NODE)) {
    rc = weir_fail(err, WEIR_INVALID,
                   "type %d: give WEIR_COLUMN_UINT32, WEIR_COLUMN_UINT64, WEIR_COLUMN_REAL or"
                   " WEIR_COLUMN_NODE",
                   (int)column->type);
  }
  if (rc == WEIR_OK && p->info.nodes > 0) {
    rc = weir__check_set(column->values, "values", err);
  }
  return rc ? rc : check_nodes(p, column, err);
}

static int check(const weir_projection *p, const weir_txn *txn, const weir_column *columns, size_t count,
                 weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(txn, "txn", err);
  }
  if (rc == WEIR_OK && count > 0) {
    rc = weir__check_set(columns, "columns", err);
  }
  for (size_t i = 0; i < count && rc == WEIR_OK; i++) {
    rc = check_column(p, columns, i, err);
    if (rc) {
      return weir__fail_at(err, rc, "column", i);
    }
  }
  return rc;
}

/* ---- Values ---------------------------------------------------------------------------------------------
 */

static weir_value value_of(const weir_projection *p, const weir_column *column, uint32_t node) {
  weir_value value = {.type = WEIR_TYPE_NONE};
  uint64_t whole = 0;
  switch (column->type) {
  case WEIR_COLUMN_REAL:
    value = weir_real(((const double *)column->values)[node]);
    value.type = isfinite(value.real) ? WEIR_TYPE_REAL : WEIR_TYPE_NONE;
    return value;
  case WEIR_COLUMN_NODE:
    value.text = weir_projection_key(p, ((const uint32_t *)column->values)[node]);
    value.type = value.text.ptr ? WEIR_TYPE_TEXT : WEIR_TYPE_NONE;
    return value;
  case WEIR_COLUMN_UINT32:
    whole = ((const uint32_t *)column->values)[node];
    whole = whole == UINT32_MAX ? UINT64_MAX : whole;
    break;
  default:
    whole = ((const uint64_t *)column->values)[node];
    break;
  }
  return whole <= INT64_MAX ? weir_int((int64_t)whole) : value;
}

static int fill_patch(struct writing *of, uint32_t node, weir_error *err) {
  const char *name = of->names;
  int rc = WEIR_OK;
  for (size_t i = 0; i < of->count && rc == WEIR_OK; i++) {
    const weir_value value = value_of(of->p, &of->columns[i], node);
    rc = weir__patch_set(of->patch, name, &value, err);
    name += of->columns[i].name.len + 1;
  }
  return rc;
}

/* ---- A batch --------------------------------------------------------------------------------------------
 */

struct batch {
  struct writing *of;
  weir_txn *txn;
};

static int write_node(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  const struct batch *batch = data;
  struct writing *of = batch->of;
  weir__node_row changed = {.id = row->id, .label_set = row->label_set};
  char *props = NULL;
  int rc = fill_patch(of, of->first + (uint32_t)index, err);
  if (rc == WEIR_OK) {
    rc = weir__props_merge(row->props, of->patch, &props, &changed.props.len, err);
  }
  of->batch.missing--;
  if (rc) {
    return rc;
  }
  if (!props) {
    of->batch.unchanged++;
    return WEIR_OK;
  }
  changed.props.ptr = props;
  of->batch.updated++;
  rc = weir_txn_rev(batch->txn, &changed.rev, err);
  if (rc == WEIR_OK) {
    rc = weir__store_node_write(batch->txn, &changed, err);
  }
  free(props);
  return rc;
}

static int write_batch(weir_txn *txn, void *data, weir_error *err) {
  struct writing *of = data;
  struct batch batch = {of, txn};
  of->batch = (weir_written){.missing = of->last - of->first};
  return weir__store_node_find(txn, of->keys, of->last - of->first, write_node, &batch, err);
}

static void count_batch(struct writing *of) {
  of->all.updated += of->batch.updated;
  of->all.unchanged += of->batch.unchanged;
  of->all.missing += of->batch.missing;
}

/* ---- All of them ----------------------------------------------------------------------------------------
 */

static int tell_progress(const struct writing *of, weir_error *err) {
  const weir_progress progress = {.done = of->last, .total = of->p->info.nodes};
  if (of->options.on_progress && of->options.on_progress(&progress, of->options.data) != 0) {
    return weir_fail(err, WEIR_CANCELED, "writing was given up by on_progress after %lu nodes",
                     (unsigned long)of->last);
  }
  return WEIR_OK;
}

static int write_all(weir_txn *txn, struct writing *of, weir_error *err) {
  uint32_t nodes = of->p->info.nodes;
  of->last = 0;
  of->all = (weir_written){.updated = 0};
  int rc = tell_progress(of, err);
  while (rc == WEIR_OK && of->last < nodes) {
    of->first = of->last;
    of->last = nodes - of->first > of->options.batch ? of->first + of->options.batch : nodes;
    for (uint32_t i = of->first; i < of->last; i++) {
      of->keys[i - of->first] = weir_projection_key(of->p, i);
    }
    rc = weir__batch_run(txn, write_batch, of, "writing columns", of->last - of->first, ROW_BYTES, err);
    if (rc == WEIR_OK) {
      count_batch(of);
      rc = tell_progress(of, err);
    }
  }
  return rc;
}

static int write_at_once(weir_txn *txn, void *data, weir_error *err) {
  struct writing *of = data;
  int rc = write_all(txn, of, err);
  if (rc) {
    of->all = (weir_written){.updated = 0}; /* nothing is kept */
  }
  return rc;
}

/* ---- Beginning and end ----------------------------------------------------------------------------------
 */

/* Names become strings, and there is room for the keys of a batch. */
static int prepare(struct writing *of, weir_error *err) {
  size_t bytes = 1, batch = of->options.batch;
  for (size_t i = 0; i < of->count; i++) {
    bytes += of->columns[i].name.len + 1;
  }
  batch = batch < of->p->info.nodes ? batch : of->p->info.nodes;
  of->names = malloc(bytes);
  of->keys = malloc((batch + 1) * sizeof *of->keys);
  if (!of->names || !of->keys) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a batch of %zu nodes", batch);
  }
  char *at = of->names;
  for (size_t i = 0; i < of->count; i++) {
    (void)weir__text_copy(&at, of->columns[i].name);
  }
  return weir__patch_new(&of->patch, err);
}

int weir_projection_write(const weir_projection *p, weir_txn *txn, const weir_column *columns, size_t count,
                          const weir_build_options *options, weir_written *written, weir_error *err) {
  struct writing of = {.p = p, .columns = columns, .count = count, .options = WEIR_BUILD_OPTIONS_INIT};
  if (written) {
    *written = of.all;
  }
  int rc = check(p, txn, columns, count, err);
  if (rc == WEIR_OK) {
    rc = weir__options_copy(&of.options, sizeof of.options, options, "weir_build_options", err);
  }
  of.options.batch = of.options.batch ? of.options.batch : WEIR__BATCH;
  if (rc == WEIR_OK) {
    rc = prepare(&of, err);
  }
  if (rc == WEIR_OK) {
    rc = weir_txn_writes(txn) ? weir__graph_write(txn, write_at_once, &of, err) : write_all(txn, &of, err);
  }
  if (written) {
    *written = of.all;
  }
  free(of.names);
  free(of.keys);
  weir__patch_free(of.patch);
  return rc;
}
