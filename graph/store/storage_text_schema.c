/*
 * What stands in the database for a text index; for the one with id 1:
 *
 *   node_text_1          a table of FTS5, which holds terms and no text
 *   node_text_1_source   a view: the nodes that are in the index and their texts, c0, c1, ...; FTS5 reads it
 *   node_text_1_insert, node_text_1_update, node_text_1_delete     triggers that keep the two equal
 *
 * Invariant, after each statement: a node is in the table, once and with the texts that it has now, if the
 * view has it; and not, if not. The view has a node if it is none of those that are still to be looked
 * at (see storage_text.c), has one of the labels, and one text at least.
 *
 * FTS5 has to be told the old texts when a row leaves: so the texts must be functions of props alone.
 */
#include "storage_text.h"

#include <string.h>

#include "draft.h"

/* Adds pieces of SQL, up to NULL; "#" stands for the number of the index. */
static void add(weir__draft *draft, int64_t id, const char *const *pieces) {
  for (; *pieces; pieces++) {
    if (strcmp(*pieces, "#") == 0) {
      weir__draft_number(draft, id);
    } else {
      weir__draft_sql(draft, *pieces);
    }
  }
}

#define ADD(draft, index, ...) add(draft, (index)->id, (const char *const[]){__VA_ARGS__, NULL})

/* The text of a field. `row` is node, NEW or OLD. */
static void add_text(weir__draft *draft, const char *row, weir_text path) {
  weir__draft_sql(draft, "weir_text(");
  weir__draft_sql(draft, row);
  weir__draft_sql(draft, ".props, ");
  weir__draft_literal(draft, path);
  weir__draft_sql(draft, ")");
}

/* c0, c1, ... */
static void add_columns(weir__draft *draft, const weir__text_index *index) {
  for (size_t i = 0; i < index->field_count; i++) {
    weir__draft_sql(draft, i ? ", c" : "c");
    weir__draft_number(draft, (int64_t)i);
  }
}

/* (SELECT ... AS c0, ...) */
static void add_texts(weir__draft *draft, const weir__text_index *index, const char *row) {
  weir__draft_sql(draft, "(SELECT ");
  for (size_t i = 0; i < index->field_count; i++) {
    add_text(draft, row, index->fields[i].path);
    weir__draft_sql(draft, " AS c");
    weir__draft_number(draft, (int64_t)i);
    weir__draft_sql(draft, i + 1 < index->field_count ? ", " : ")");
  }
}

static void add_any_text(weir__draft *draft, const weir__text_index *index) {
  weir__draft_sql(draft, "coalesce(NULL, ");
  add_columns(draft, index);
  weir__draft_sql(draft, ") IS NOT NULL");
}

/* 1 if the row has one of the labels, else 0. */
static void add_labeled(weir__draft *draft, const weir__text_index *index, const char *row) {
  if (index->label_count == 0) {
    weir__draft_sql(draft, "1");
    return;
  }
  weir__draft_sql(draft, row);
  weir__draft_sql(draft, ".label_set IN (SELECT label_set FROM label_set_member WHERE label IN (");
  for (size_t i = 0; i < index->label_count; i++) {
    weir__draft_sql(draft, i ? ", " : "");
    weir__draft_number(draft, index->labels[i]);
  }
  weir__draft_sql(draft, "))");
}

/* 1 if the row is none of those that have still to be looked at. */
static void add_filled(weir__draft *draft, const weir__text_index *index, const char *row) {
  ADD(draft, index, "(SELECT ", row, ".id <= filled OR ", row, ".id > goal FROM text_index WHERE id = ", "#",
      ")");
}

static void add_table(weir__draft *draft, const weir__text_index *index) {
  ADD(draft, index, "CREATE VIRTUAL TABLE node_text_", "#", " USING fts5(");
  add_columns(draft, index);
  ADD(draft, index, ", content='node_text_", "#", "_source', content_rowid='id', tokenize='",
      weir__tokenizer_name(index->tokenizer), "'", index->tokenizer == WEIR_SUBSTRING ? ", prefix='1 2'" : "",
      ");");
}

static void add_view(weir__draft *draft, const weir__text_index *index) {
  ADD(draft, index, "CREATE VIEW node_text_", "#", "_source AS SELECT * FROM (SELECT node.id AS id");
  for (size_t i = 0; i < index->field_count; i++) {
    weir__draft_sql(draft, ", ");
    add_text(draft, "node", index->fields[i].path);
    weir__draft_sql(draft, " AS c");
    weir__draft_number(draft, (int64_t)i);
  }
  weir__draft_sql(draft, " FROM node WHERE ");
  add_filled(draft, index, "node");
  weir__draft_sql(draft, " AND ");
  add_labeled(draft, index, "node");
  weir__draft_sql(draft, ") WHERE ");
  add_any_text(draft, index);
  weir__draft_sql(draft, ";");
}

/* The statement that puts the row NEW into the table. */
static void add_put(weir__draft *draft, const weir__text_index *index) {
  ADD(draft, index, " INSERT INTO node_text_", "#", "(rowid, ");
  add_columns(draft, index);
  weir__draft_sql(draft, ") SELECT NEW.id, * FROM ");
  add_texts(draft, index, "NEW");
  weir__draft_sql(draft, " WHERE ");
  add_labeled(draft, index, "NEW");
  weir__draft_sql(draft, " AND ");
  add_any_text(draft, index);
  weir__draft_sql(draft, ";");
}

/* The statement that takes the row OLD out of it. */
static void add_take(weir__draft *draft, const weir__text_index *index) {
  ADD(draft, index, " INSERT INTO node_text_", "#", "(node_text_", "#", ", rowid, ");
  add_columns(draft, index);
  weir__draft_sql(draft, ") SELECT 'delete', OLD.id, * FROM ");
  add_texts(draft, index, "OLD");
  weir__draft_sql(draft, " WHERE ");
  add_labeled(draft, index, "OLD");
  weir__draft_sql(draft, " AND ");
  add_any_text(draft, index);
  weir__draft_sql(draft, ";");
}

static void add_insert_trigger(weir__draft *draft, const weir__text_index *index) {
  ADD(draft, index, "CREATE TRIGGER node_text_", "#", "_insert AFTER INSERT ON node WHEN ");
  add_filled(draft, index, "NEW");
  weir__draft_sql(draft, " BEGIN");
  add_put(draft, index);
  weir__draft_sql(draft, " END;");
}

static void add_delete_trigger(weir__draft *draft, const weir__text_index *index) {
  ADD(draft, index, "CREATE TRIGGER node_text_", "#", "_delete AFTER DELETE ON node WHEN ");
  add_filled(draft, index, "OLD");
  weir__draft_sql(draft, " BEGIN");
  add_take(draft, index);
  weir__draft_sql(draft, " END;");
}

/* A node that stays in the index with the texts that it had is left alone. */
static void add_update_trigger(weir__draft *draft, const weir__text_index *index) {
  ADD(draft, index, "CREATE TRIGGER node_text_", "#",
      "_update AFTER UPDATE OF props, label_set ON node WHEN ");
  add_filled(draft, index, "OLD");
  weir__draft_sql(draft, " AND ((");
  add_labeled(draft, index, "OLD");
  weir__draft_sql(draft, ") <> (");
  add_labeled(draft, index, "NEW");
  weir__draft_sql(draft, ") OR (OLD.props <> NEW.props AND ");
  add_labeled(draft, index, "NEW");
  weir__draft_sql(draft, " AND (");
  for (size_t i = 0; i < index->field_count; i++) {
    weir__draft_sql(draft, i ? " OR " : "");
    add_text(draft, "OLD", index->fields[i].path);
    weir__draft_sql(draft, " IS NOT ");
    add_text(draft, "NEW", index->fields[i].path);
  }
  weir__draft_sql(draft, "))) BEGIN");
  add_take(draft, index);
  add_put(draft, index);
  weir__draft_sql(draft, " END;");
}

/* Runs what was drafted, which has no parameters. */
static int run(weir__draft *draft, weir_txn *txn, weir_error *err) {
  int rc = draft->failed ? weir_fail(err, WEIR_NOMEM, "out of memory for a text index")
                         : weir_txn_exec(txn, draft->text, err);
  weir__draft_clear(draft);
  return rc;
}

int weir__text_schema_create(weir_txn *txn, const weir__text_index *index, weir_error *err) {
  weir__draft draft = {.text = NULL};
  add_view(&draft, index);
  add_table(&draft, index);
  add_insert_trigger(&draft, index);
  add_delete_trigger(&draft, index);
  add_update_trigger(&draft, index);
  return run(&draft, txn, err);
}

int weir__text_schema_drop(weir_txn *txn, int64_t id, weir_error *err) {
  weir__draft draft = {.text = NULL};
  const weir__text_index index = {.id = id};
  ADD(&draft, &index, "DROP TRIGGER IF EXISTS node_text_", "#", "_insert;",
      "DROP TRIGGER IF EXISTS node_text_", "#", "_delete;", "DROP TRIGGER IF EXISTS node_text_", "#",
      "_update;", "DROP TABLE IF EXISTS node_text_", "#", ";", "DROP VIEW IF EXISTS node_text_", "#",
      "_source;");
  return run(&draft, txn, err);
}

int weir__text_schema_fill(weir_txn *txn, const weir__text_index *index, int64_t after, int64_t last,
                           weir_error *err) {
  weir__draft draft = {.text = NULL};
  weir__sql sql;
  ADD(&draft, index, "INSERT INTO node_text_", "#", "(rowid, ");
  add_columns(&draft, index);
  ADD(&draft, index, ") SELECT * FROM node_text_", "#", "_source WHERE id > ");
  weir__draft_int(&draft, after);
  weir__draft_sql(&draft, " AND id <= ");
  weir__draft_int(&draft, last);
  int rc = weir__draft_begin(&draft, &sql, txn, err);
  if (rc == WEIR_OK) {
    rc = weir__sql_run(&sql, err);
  }
  weir__draft_clear(&draft);
  return rc;
}
