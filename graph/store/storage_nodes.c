/*
 * Nodes on SQLite: the table node and its indexes (schema.c).
 *
 * A scan by label goes over the sets that hold the label. Its order is that of the node numbers, not that of
 * the sets: a node that keeps the label while others come and go moves from one set to another, and a scan
 * in several pages must neither miss it nor visit it twice. So the sets' ranges of the index are merged.
 */
#include "storage.h"

#include <stdlib.h>

#include "rows.h"
#include "storage_query.h"

/* Numbers read ahead from the index for each set. */
#define AHEAD 32

static int visit_row(const weir__sql *sql, size_t index, weir__node_visit visit, void *data,
                     weir_error *err) {
  weir__node_row row;
  int rc = weir__node_row_read(sql, &row, err);
  return rc ? rc : visit(&row, index, data, err);
}

/* ---- By key and by number ---------------------------------------------------------------------------- */

int weir__store_node_ids(weir_txn *txn, const weir_text *keys, size_t count, int64_t *ids, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT id FROM node WHERE key = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  for (size_t i = 0; i < count; i++) {
    if (i > 0) {
      weir__sql_again(&sql);
    }
    weir__sql_text(&sql, keys[i]);
    rc = weir__sql_step(&sql, err);
    if (rc < 0) {
      break;
    }
    ids[i] = rc ? weir__sql_get_int(&sql, 0) : 0;
    rc = WEIR_OK;
  }
  weir__sql_end(&sql);
  return rc;
}

/* Visits the nodes that have one of the keys, or the ids if keys is NULL, in their order. */
static int visit_each(weir_txn *txn, const weir_text *keys, const int64_t *ids, size_t count,
                      weir__node_visit visit, void *data, weir_error *err) {
  static const weir_text by_key = WEIR_TEXT("SELECT " WEIR__NODE_COLUMNS " FROM node n WHERE n.key = ?1");
  static const weir_text by_id = WEIR_TEXT("SELECT " WEIR__NODE_COLUMNS " FROM node n WHERE n.id = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, keys ? by_key : by_id, err);
  if (rc) {
    return rc;
  }
  for (size_t i = 0; i < count && rc == WEIR_OK; i++) {
    if (i > 0) {
      weir__sql_again(&sql);
    }
    if (keys) {
      weir__sql_text(&sql, keys[i]);
    } else {
      weir__sql_int(&sql, ids[i]);
    }
    rc = weir__sql_step(&sql, err);
    if (rc > 0) {
      rc = visit_row(&sql, i, visit, data, err);
    }
  }
  weir__sql_end(&sql);
  return rc;
}

int weir__store_node_find(weir_txn *txn, const weir_text *keys, size_t count, weir__node_visit visit,
                          void *data, weir_error *err) {
  return visit_each(txn, keys, NULL, count, visit, data, err);
}

int weir__store_node_get(weir_txn *txn, const int64_t *ids, size_t count, weir__node_visit visit, void *data,
                         weir_error *err) {
  return visit_each(txn, NULL, ids, count, visit, data, err);
}

/* ---- Scans ------------------------------------------------------------------------------------------- */

/* Visits the nodes of one set, or all (0). */
static int scan_rows(weir_txn *txn, int64_t set, int64_t after, weir__node_visit visit, void *data,
                     weir_error *err) {
  static const weir_text all =
      WEIR_TEXT("SELECT " WEIR__NODE_COLUMNS " FROM node n WHERE n.id > ?1 ORDER BY n.id");
  static const weir_text of_set = WEIR_TEXT(
      "SELECT " WEIR__NODE_COLUMNS " FROM node n WHERE n.id > ?1 AND n.label_set = ?2 ORDER BY n.id");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, set ? of_set : all, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, after);
  if (set) {
    weir__sql_int(&sql, set);
  }
  while ((rc = weir__sql_step(&sql, err)) > 0) {
    rc = visit_row(&sql, 0, visit, data, err);
    if (rc) {
      break;
    }
  }
  weir__sql_end(&sql);
  return rc;
}

/* The nodes of one set, read ahead. */
struct run {
  int64_t set;
  size_t next;
  size_t count;
  int64_t ids[AHEAD];
};

/* The runs of a scan, as a heap: the one with the next number is at the top. None is empty. */
struct merge {
  weir_txn *txn;
  int descending;
  size_t ahead;
  struct run *runs;
  size_t count;
  size_t room;
};

/* Reads the next numbers of a run; it may find none. */
static int refill(const struct merge *merge, struct run *run, int64_t after, weir_error *err) {
  static const weir_text texts[] = {
      WEIR_TEXT("SELECT id FROM node WHERE label_set = ?1 AND id > ?2 ORDER BY id LIMIT ?3"),
      WEIR_TEXT("SELECT id FROM node WHERE label_set = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3")};
  weir__sql sql;
  int rc = weir__sql_begin(&sql, merge->txn, texts[merge->descending], err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, run->set);
  weir__sql_int(&sql, after);
  weir__sql_int(&sql, (int64_t)merge->ahead);
  run->next = 0;
  run->count = 0;
  while ((rc = weir__sql_step(&sql, err)) > 0 && run->count < AHEAD) {
    run->ids[run->count++] = weir__sql_get_int(&sql, 0);
  }
  weir__sql_end(&sql);
  return rc < 0 ? rc : WEIR_OK;
}

static int64_t head(const struct merge *merge, size_t at) {
  return merge->runs[at].ids[merge->runs[at].next];
}

static int comes_before(const struct merge *merge, size_t a, size_t b) {
  return merge->descending ? head(merge, a) > head(merge, b) : head(merge, a) < head(merge, b);
}

static void sift_down(struct merge *merge, size_t at) {
  for (;;) {
    size_t least = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merge->count; child++) {
      if (comes_before(merge, child, least)) {
        least = child;
      }
    }
    if (least == at) {
      return;
    }
    struct run swap = merge->runs[at];
    merge->runs[at] = merge->runs[least];
    merge->runs[least] = swap;
    at = least;
  }
}

static int add_run(struct merge *merge, int64_t set, int64_t after, weir_error *err) {
  if (merge->count == merge->room) {
    size_t room = merge->room ? merge->room * 2 : 4;
    struct run *runs = realloc(merge->runs, room * sizeof *runs);
    if (!runs) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for a scan over %zu sets of labels", room);
    }
    merge->runs = runs;
    merge->room = room;
  }
  struct run *run = &merge->runs[merge->count];
  run->set = set;
  int rc = refill(merge, run, after, err);
  merge->count += rc == WEIR_OK && run->count > 0;
  return rc;
}

static int add_runs(struct merge *merge, int64_t label, int64_t after, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT label_set FROM label_set_member WHERE label = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, merge->txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, label);
  while ((rc = weir__sql_step(&sql, err)) > 0) {
    rc = add_run(merge, weir__sql_get_int(&sql, 0), after, err);
    if (rc) {
      break;
    }
  }
  weir__sql_end(&sql);
  for (size_t at = merge->count / 2; at > 0; at--) {
    sift_down(merge, at - 1);
  }
  return rc;
}

/* Takes the next number off the heap. */
static int next_id(struct merge *merge, int64_t *id, weir_error *err) {
  struct run *top = &merge->runs[0];
  *id = top->ids[top->next++];
  if (top->next == top->count) {
    int rc = refill(merge, top, *id, err);
    if (rc) {
      return rc;
    }
    if (top->count == 0) {
      *top = merge->runs[--merge->count];
    }
  }
  sift_down(merge, 0);
  return WEIR_OK;
}

int weir__store_node_merge(weir_txn *txn, int64_t label, const int64_t *after, int descending, size_t limit,
                           weir__node_id_visit visit, void *data, weir_error *err) {
  struct merge merge = {
      .txn = txn, .descending = descending != 0, .ahead = limit && limit < AHEAD ? limit : AHEAD};
  int rc = add_runs(&merge, label, after ? *after : descending ? INT64_MAX : 0, err);
  while (rc == WEIR_OK && merge.count > 0) {
    int64_t id;
    rc = next_id(&merge, &id, err);
    if (rc == WEIR_OK) {
      rc = visit(id, data, err);
    }
  }
  free(merge.runs);
  return rc;
}

/* Visits the next nodes, as many as are read ahead. */
static int visit_next(struct merge *merge, weir__node_visit visit, void *data, weir_error *err) {
  int64_t ids[AHEAD];
  size_t count = 0;
  while (count < merge->ahead && merge->count > 0) {
    int rc = next_id(merge, &ids[count++], err);
    if (rc) {
      return rc;
    }
  }
  return weir__store_node_get(merge->txn, ids, count, visit, data, err);
}

int weir__store_node_scan(weir_txn *txn, int64_t label, int64_t after, size_t limit, weir__node_visit visit,
                          void *data, weir_error *err) {
  if (label == 0) {
    return scan_rows(txn, 0, after, visit, data, err);
  }
  struct merge merge = {.txn = txn, .ahead = limit && limit < AHEAD ? limit : AHEAD};
  int rc = add_runs(&merge, label, after, err);
  if (rc == WEIR_OK && merge.count == 1) { /* nothing to merge */
    rc = scan_rows(txn, merge.runs[0].set, after, visit, data, err);
    merge.count = 0;
  }
  while (rc == WEIR_OK && merge.count > 0) {
    rc = visit_next(&merge, visit, data, err);
  }
  free(merge.runs);
  return rc;
}

int weir__store_node_count(weir_txn *txn, int64_t label, int64_t *count, weir_error *err) {
  static const weir_text all = WEIR_TEXT("SELECT count(*) FROM node");
  static const weir_text with_label = WEIR_TEXT("SELECT count(*) FROM label_set_member m CROSS JOIN node n"
                                                " ON n.label_set = m.label_set WHERE m.label = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, label ? with_label : all, err);
  if (rc) {
    return rc;
  }
  if (label) {
    weir__sql_int(&sql, label);
  }
  return weir__sql_number(&sql, 0, count, err);
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

int weir__store_node_write(weir_txn *txn, weir__node_row *row, weir_error *err) {
  static const weir_text insert =
      WEIR_TEXT("INSERT INTO node(label_set, props, rev, key) VALUES (?1, ?2, ?3, ?4)");
  static const weir_text update =
      WEIR_TEXT("UPDATE node SET label_set = ?1, props = ?2, rev = ?3 WHERE id = ?4");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, row->id ? update : insert, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, row->label_set);
  weir__sql_text(&sql, row->props);
  weir__sql_int(&sql, row->rev);
  if (row->id) {
    weir__sql_int(&sql, row->id);
  } else {
    weir__sql_text(&sql, row->key);
  }
  rc = weir__sql_run(&sql, err);
  if (rc) {
    return weir__store_node_conflict(txn, row, rc, err);
  }
  if (row->id == 0) {
    row->id = sqlite3_last_insert_rowid(weir_txn_db(txn));
  }
  return WEIR_OK;
}

int weir__store_node_delete(weir_txn *txn, int64_t id, weir_error *err) {
  static const weir_text text =
      WEIR_TEXT("DELETE FROM node WHERE id = ?1"); /* its edges: ON DELETE CASCADE */
  return weir__sql_run_int(txn, text, id, err);
}
