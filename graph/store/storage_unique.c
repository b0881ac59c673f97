/*
 * What a unique index says no to. Its trigger (storage_index.c) only says which index it is, so the row that
 * has the value is looked for here, once the write has failed and is undone: writes that succeed pay nothing.
 */
#include "storage_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../labels.h"
#include "../query/cond.h"
#include "../text.h"
#include "draft.h"

/* The index that has just refused an entry. */
struct refusal {
  int64_t id;
  weir__index_row index; /* id 0: none has */
  char path[WEIR__PATH_ROOM];
};

static int note_index(const weir__index_row *row, void *data, weir_error *err) {
  struct refusal *refusal = data;
  (void)err;
  if (row->id != refusal->id || row->path.len >= sizeof refusal->path) {
    return WEIR_OK;
  }
  refusal->index = *row;
  refusal->index.path = weir__text_copy(&(char *){refusal->path}, row->path);
  return WEIR_STOP;
}

/* Reads from SQLite's message which index it was, if it was one. */
static int find_refusal(weir_txn *txn, int rc, struct refusal *out, weir_error *err) {
  sqlite3 *db = weir_txn_db(txn);
  const size_t len = strlen(WEIR__UNIQUE_MESSAGE);
  out->index.id = 0;
  if (rc != WEIR_CONSTRAINT || sqlite3_extended_errcode(db) != SQLITE_CONSTRAINT_TRIGGER ||
      strncmp(sqlite3_errmsg(db), WEIR__UNIQUE_MESSAGE, len) != 0) {
    return WEIR_OK;
  }
  out->id = strtoll(sqlite3_errmsg(db) + len, NULL, 10);
  rc = weir__store_index_list(txn, note_index, out, err);
  return rc < 0 ? rc : WEIR_OK;
}

/* ---- Telling ---------------------------------------------------------------------------------------------
 */

/* The statement: the value, and who has it, but for the row that was to be written, ?2 and what follows; ?1
 * is its props. */
static void write_statement(weir__draft *draft, const weir__index_row *index) {
  int nodes = index->target == WEIR_NODES;
  weir__draft_sql(draft, "SELECT CASE i.kind WHEN 1 THEN CASE i.value WHEN 1 THEN 'true' ELSE 'false' END"
                         " ELSE json_quote(i.value) END, ");
  weir__draft_sql(draft, nodes ? "n.key FROM (" : "s.key, d.key, i.rank FROM (");
  weir__draft_entry(draft, "?1", index->path);
  weir__draft_sql(draft, nodes ? ") p CROSS JOIN node_index_" : ") p CROSS JOIN edge_index_");
  weir__draft_number(draft, index->id);
  weir__draft_sql(draft, " i ON i.kind = p.kind AND i.value = p.value");
  weir__draft_sql(draft, nodes ? " CROSS JOIN node n ON n.id = i.node WHERE i.node <> ?2"
                               : " CROSS JOIN node s ON s.id = i.src CROSS JOIN node d ON d.id = i.dst"
                                 " WHERE (i.src, i.dst, i.rank) IS NOT (?2, ?3, ?4)");
}

static int fail_with_row(const weir__sql *row, const struct refusal *refusal, weir_text label,
                         weir_error *err) {
  char shown[WEIR__PATH_ROOM];
  weir_text path = weir__path_show(refusal->index.path, shown);
  weir_text value = weir__sql_get_text(row, 0);
  weir_text key = weir__sql_get_text(row, 1);
  if (refusal->index.target == WEIR_NODES) {
    return weir_fail(err, WEIR_EXISTS,
                     "node \"%.*s\" has \"%.*s\": %.*s already, which is unique among nodes with label %.*s",
                     WEIR__SHOW(key), WEIR__SHOW(path), WEIR__SHOW(value), WEIR__SHOW(label));
  }
  weir_text dst = weir__sql_get_text(row, 2);
  return weir_fail(
      err, WEIR_EXISTS,
      "edge (\"%.*s\")-[%.*s, rank %lld]->(\"%.*s\") has \"%.*s\": %.*s already, which is unique",
      WEIR__SHOW(key), WEIR__SHOW(label), (long long)weir__sql_get_int(row, 3), WEIR__SHOW(dst),
      WEIR__SHOW(path), WEIR__SHOW(value));
}

static int tell(weir_txn *txn, const struct refusal *refusal, weir_text props, const int64_t *self,
                size_t self_count, weir_error *err) {
  weir_text label;
  weir__sql row;
  weir__draft draft = {.text = NULL};
  write_statement(&draft, &refusal->index);
  int rc = weir__label_name(txn, refusal->index.label, &label, err);
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(&draft, &row, txn, err);
  }
  if (rc == WEIR_OK) {
    weir__sql_text(&row, props);
    for (size_t i = 0; i < self_count; i++) {
      weir__sql_int(&row, self[i]);
    }
    rc = weir__sql_step(&row, err);
    if (rc >= 0) {
      rc = rc ? fail_with_row(&row, refusal, label, err)
              : weir_fail(err, WEIR_CORRUPT, "the store is damaged: an index has an entry of no row");
    }
    weir__sql_end(&row);
  }
  weir__draft_clear(&draft);
  return rc;
}

/* ---- After a failure -------------------------------------------------------------------------------------
 */

static int translate(weir_txn *txn, weir_text props, const int64_t *self, size_t self_count, int rc,
                     weir_error *err) {
  struct refusal refusal;
  int failed = find_refusal(txn, rc, &refusal, err);
  if (failed || refusal.index.id == 0) {
    return failed ? failed : rc;
  }
  return tell(txn, &refusal, props, self, self_count, err);
}

int weir__store_node_conflict(weir_txn *txn, const weir__node_row *row, int rc, weir_error *err) {
  return translate(txn, row->props, &row->id, 1, rc, err);
}

int weir__store_edge_conflict(weir_txn *txn, const weir__edge_row *row, int rc, weir_error *err) {
  const int64_t self[3] = {row->id.src, row->id.dst, row->id.rank};
  return translate(txn, row->props, self, 3, rc, err);
}
