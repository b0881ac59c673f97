/*
 * Running finds: rows from the statement that storage_find_sql.c writes, with their places.
 */
#include "storage_find.h"

#include <stdlib.h>

#include "../internal.h"
#include "rows.h"
#include "storage_frontier.h"

/* ---- Rows ------------------------------------------------------------------------------------------------
 */

static weir_value value_at(const weir__sql *row, int column) {
  weir_value value = {.type = WEIR_TYPE_INT};
  switch (sqlite3_column_type(row->stmt, column)) {
  case SQLITE_TEXT:
    value.type = WEIR_TYPE_TEXT;
    value.text = weir__sql_get_text(row, column);
    break;
  case SQLITE_FLOAT:
    value.type = WEIR_TYPE_REAL;
    value.real = sqlite3_column_double(row->stmt, column);
    break;
  default:
    value.integer = weir__sql_get_int(row, column);
    break;
  }
  return value;
}

static int position_of(const weir__find_sql *st, const weir__sql *row, int64_t rev, weir__position *at,
                       weir_error *err) {
  if (st->spec->order == WEIR_FIELD_REV) {
    at->value = weir_int(rev);
  } else if (st->spec->order == WEIR_FIELD_PROP) {
    at->kind = weir__sql_get_int(row, st->first_extra);
    at->value = value_at(row, st->first_extra + 1);
    if (at->value.type == WEIR_TYPE_TEXT && !at->value.text.ptr) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for a value");
    }
  }
  return WEIR_OK;
}

static int visit_node(const weir__find_sql *st, const weir__sql *from, weir__node_found visit, void *data,
                      weir_error *err) {
  weir__node_row row;
  int rc = weir__node_row_read(from, &row, err);
  if (rc) {
    return rc;
  }
  weir__position at = {.id = {row.id}};
  if (st->spec->order == WEIR_FIELD_KEY) {
    at.value.type = WEIR_TYPE_TEXT;
    at.value.text = row.key;
  }
  rc = position_of(st, from, row.rev, &at, err);
  return rc ? rc : visit(&row, &at, data, err);
}

static int visit_edge(const weir__find_sql *st, const weir__sql *from, weir__edge_found visit, void *data,
                      weir_error *err) {
  weir__edge_row row;
  int rc = weir__edge_row_read(from, &row, err);
  if (rc) {
    return rc;
  }
  weir__position at = {.id = {row.id.src, row.id.label, row.id.dst, row.id.rank}};
  if (st->spec->order == WEIR_FIELD_WEIGHT) {
    at.value = weir_real(row.weight);
  }
  rc = position_of(st, from, row.rev, &at, err);
  return rc ? rc : visit(&row, &at, data, err);
}

/* ---- Nodes by label, in the order of the scan ------------------------------------------------------------
 */

/*
 * The label's numbers are merged from its sets, as in a scan, and handed to a statement, many at a time: it
 * makes ready what the conditions compare with each time it is run, and a set may be large. So the batches
 * grow; the first is small, since the visitor may soon have enough.
 */
#define BATCH_FIRST 32
#define BATCH_MOST  65536

struct merging {
  weir__find_sql *st;
  weir__sql row;
  weir__frontier *frontier; /* the connection's: others use it between two steps */
  weir__node_found visit;
  void *data;
  int64_t *ids;
  size_t count;
  size_t at;    /* how far the statement is */
  size_t batch; /* as many as there is room for */
};

static int step_batch(struct merging *merging, weir_error *err) {
  *merging->frontier =
      (weir__frontier){.nodes = merging->ids, .node_count = merging->count, .at = merging->at};
  int rc = weir__sql_step(&merging->row, err);
  merging->at = merging->frontier->at;
  *merging->frontier = (weir__frontier){.nodes = NULL};
  return rc;
}

static int look_up(struct merging *merging, weir_error *err) {
  int rc;
  weir__sql_again(&merging->row);
  while ((rc = step_batch(merging, err)) > 0) {
    rc = visit_node(merging->st, &merging->row, merging->visit, merging->data, err);
    if (rc) {
      return rc;
    }
  }
  merging->count = 0;
  int64_t *grown =
      merging->batch < BATCH_MOST ? realloc(merging->ids, 2 * merging->batch * sizeof *grown) : NULL;
  if (grown) { /* else batches stay as they are */
    merging->ids = grown;
    merging->batch *= 2;
  }
  return rc;
}

static int collect(int64_t id, void *data, weir_error *err) {
  struct merging *merging = data;
  merging->ids[merging->count++] = id;
  return merging->count < merging->batch ? WEIR_OK : look_up(merging, err);
}

static int merge_batches(struct merging *merging, weir_error *err) {
  const weir__plan_spec *spec = merging->st->spec;
  size_t wants = spec->check_count ? 0 : spec->wants; /* with checks nobody knows how many numbers it takes */
  merging->batch = wants && wants < BATCH_FIRST ? wants : BATCH_FIRST;
  merging->ids = malloc(merging->batch * sizeof *merging->ids);
  if (!merging->ids) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a find");
  }
  int rc = weir__store_node_merge(merging->st->txn, spec->label, spec->after ? &spec->after->id[0] : NULL,
                                  spec->descending, wants, collect, merging, err);
  if (rc == WEIR_OK && merging->count > 0) {
    rc = look_up(merging, err);
  }
  free(merging->ids);
  return rc;
}

static int merge_nodes(weir__find_sql *st, weir__node_found visit, void *data, weir_error *err) {
  weir__local *local = weir_txn_local(st->txn);
  struct merging merging = {.st = st, .frontier = local->frontier, .visit = visit, .data = data};
  int rc = weir__find_write_lookup(st, err);
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(&st->draft, &merging.row, st->txn, err);
  }
  if (rc == WEIR_OK) {
    rc = merge_batches(&merging, err);
    weir__sql_end(&merging.row);
  }
  return rc;
}

/* ---- Running ---------------------------------------------------------------------------------------------
 */

/* What a step returns for a row; visitors never do. */
#define HAS_ROW 3

static int step(int rc, weir__sql *row, weir_error *err) {
  if (rc) { /* of the visitor */
    return rc;
  }
  rc = weir__sql_step(row, err);
  return rc > 0 ? HAS_ROW : rc;
}

/* Begins the statement and takes its first step. That shows if a guess was right: the table is there, and
 * with the snapshot that has begun it is known whether it is the right one. Without HAS_ROW nothing needs
 * ending. */
static int start(weir__find_sql *st, weir__sql *row, weir_error *err) {
  int rc = weir__draft_begin(&st->draft, row, st->txn, err);
  if (rc) {
    return st->spec->guessed ? WEIR__STALE : rc;
  }
  rc = step(WEIR_OK, row, err);
  if (st->spec->guessed && rc < 0) {
    rc = WEIR__STALE;
  }
  if (rc != HAS_ROW) {
    weir__sql_end(row);
  }
  return rc;
}

static int run_nodes(weir__find_sql *st, weir__node_found visit, void *data, weir_error *err) {
  weir__sql row = {.txn = st->txn};
  int rc = weir__find_write(st, err);
  rc = rc ? rc : start(st, &row, err);
  if (rc == HAS_ROW) {
    while (rc == HAS_ROW) {
      rc = step(visit_node(st, &row, visit, data, err), &row, err);
    }
    weir__sql_end(&row);
  }
  return rc;
}

int weir__store_node_query(weir_txn *txn, const weir__plan_spec *spec, weir__node_found visit, void *data,
                           weir_error *err) {
  weir__find_sql st = {.txn = txn, .spec = spec};
  int by_label = spec->access == WEIR_BY_LABEL;
  int rc = by_label ? weir__store_label_only_set(txn, spec->label, &st.only_set, err) : WEIR_OK;
  if (rc == WEIR_OK) {
    rc = by_label && !st.only_set && spec->order == WEIR_FIELD_NONE ? merge_nodes(&st, visit, data, err)
                                                                    : run_nodes(&st, visit, data, err);
  }
  weir__draft_clear(&st.draft);
  return rc;
}

int weir__store_edge_query(weir_txn *txn, const weir__plan_spec *spec, weir__edge_found visit, void *data,
                           weir_error *err) {
  weir__find_sql st = {.txn = txn, .spec = spec};
  weir__sql row = {.txn = txn};
  int rc = weir__find_write(&st, err);
  rc = rc ? rc : start(&st, &row, err);
  if (rc == HAS_ROW) {
    while (rc == HAS_ROW) {
      rc = step(visit_edge(&st, &row, visit, data, err), &row, err);
    }
    weir__sql_end(&row);
  }
  weir__draft_clear(&st.draft);
  return rc;
}
