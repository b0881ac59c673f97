/*
 * Searches in text indexes on SQLite.
 *
 * Ranking reads the table of FTS5, and of a node only what a label or a condition asks for; what it sorts is
 * scores and numbers. Snippets are made for the nodes that are visited, each by a query that FTS5 answers at
 * once, since it asks for one node.
 */
#include "storage_text.h"

#include <stdlib.h>

#include "draft.h"
#include "text_props.h"

/* ---- Connections ------------------------------------------------------------------------------------------
 */

/* FTS5 hands its functions out through a pointer; *api stays NULL if there is no FTS5. */
static int find_api(sqlite3 *db, fts5_api **api) {
  sqlite3_stmt *stmt = NULL;
  *api = NULL;
  int code = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &stmt, NULL);
  if (code != SQLITE_OK) {
    return (code & 0xff) == SQLITE_ERROR ? SQLITE_OK : code; /* no such function */
  }
  code = sqlite3_bind_pointer(stmt, 1, (void *)api, "fts5_api_ptr", NULL);
  if (code == SQLITE_OK) {
    (void)sqlite3_step(stmt); /* finalize repeats its error */
  }
  int end = sqlite3_finalize(stmt);
  return code == SQLITE_OK ? end : code;
}

int weir__store_text_connect(sqlite3 *db, fts5_api **api, weir_error *err) {
  int code = weir__text_function_add(db);
  if (code == SQLITE_OK) {
    code = find_api(db, api);
  }
  if (code == SQLITE_OK && *api) {
    code = weir__tokenizers_add(db, *api);
  }
  if (code == SQLITE_OK && *api) {
    code = weir__snippet_add(*api);
  }
  return code == SQLITE_OK ? WEIR_OK
                           : weir_fail(err, code == SQLITE_NOMEM ? WEIR_NOMEM : WEIR_SQL,
                                       "full text cannot be set up: %s", sqlite3_errstr(code));
}

/* ---- Ranking ----------------------------------------------------------------------------------------------
 */

static void add_table(weir__draft *draft, int64_t index) {
  weir__draft_sql(draft, "node_text_");
  weir__draft_number(draft, index);
}

/* The nodes that match and their scores. */
static int write_scores(weir__draft *draft, weir_txn *txn, const weir__ranking *ranking, weir_error *err) {
  const weir__text_index *index = ranking->index;
  weir__draft_sql(draft, "SELECT ");
  add_table(draft, index->id);
  weir__draft_sql(draft, ".rowid AS id, -bm25(");
  add_table(draft, index->id);
  for (size_t i = 0; i < index->field_count; i++) {
    weir__draft_sql(draft, ", ");
    weir__draft_value(draft, weir_real(index->fields[i].weight));
  }
  weir__draft_sql(draft, ") AS score FROM ");
  add_table(draft, index->id);
  if (ranking->label || ranking->where) {
    weir__draft_sql(draft, " CROSS JOIN node n ON n.id = ");
    add_table(draft, index->id);
    weir__draft_sql(draft, ".rowid");
  }
  weir__draft_sql(draft, " WHERE ");
  add_table(draft, index->id);
  weir__draft_sql(draft, " MATCH ");
  weir__draft_text(draft, ranking->match);
  if (ranking->label) {
    weir__draft_sql(draft, " AND n.label_set IN (SELECT label_set FROM label_set_member WHERE label = ");
    weir__draft_int(draft, ranking->label);
    weir__draft_sql(draft, ")");
  }
  if (!ranking->where) {
    return WEIR_OK;
  }
  weir__draft_sql(draft, " AND ");
  return weir__draft_cond(draft, txn, WEIR_NODES, ranking->where, err);
}

/* LIMIT -1 keeps SQLite from computing a score once for each place where it stands. */
static int write_ranking(weir__draft *draft, weir_txn *txn, const weir__ranking *ranking,
                         const weir__rank_place *after, weir_error *err) {
  weir__draft_sql(draft, "SELECT id, score FROM (");
  int rc = write_scores(draft, txn, ranking, err);
  if (rc) {
    return rc;
  }
  weir__draft_sql(draft, " LIMIT -1)");
  if (after) {
    weir__draft_sql(draft, " WHERE score < ");
    weir__draft_value(draft, weir_real(after->score));
    weir__draft_sql(draft, " OR (score = ");
    weir__draft_value(draft, weir_real(after->score));
    weir__draft_sql(draft, " AND id > ");
    weir__draft_int(draft, after->node);
    weir__draft_sql(draft, ")");
  }
  weir__draft_sql(draft, " ORDER BY score DESC, id LIMIT ");
  weir__draft_int(draft, ranking->limit && ranking->limit < INT64_MAX ? (int64_t)ranking->limit : -1);
  return WEIR_OK;
}

int weir__store_rank(weir_txn *txn, const weir__ranking *ranking, const weir__rank_place *after,
                     weir__rank_visit visit, void *data, weir_error *err) {
  weir__draft draft = {.text = NULL};
  weir__rank_place place = {.node = 0};
  weir__sql sql;
  int rc = write_ranking(&draft, txn, ranking, after, err);
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(&draft, &sql, txn, err);
  }
  if (rc) {
    weir__draft_clear(&draft);
    return rc;
  }
  while ((rc = weir__sql_step(&sql, err)) > 0) {
    place.node = weir__sql_get_int(&sql, 0);
    place.score = sqlite3_column_double(sql.stmt, 1);
    rc = visit(&place, data, err);
    if (rc) {
      break;
    }
  }
  weir__sql_end(&sql);
  weir__draft_clear(&draft);
  return rc;
}

/* ---- Snippets ---------------------------------------------------------------------------------------------
 */

struct weir__snippets {
  weir__draft draft;
  weir__sql sql;
  weir__snippet *snippet;
};

static void write_snippets(weir__draft *draft, int64_t index, weir_text match) {
  weir__draft_sql(draft, "SELECT weir_snippet(");
  add_table(draft, index);
  weir__draft_sql(draft, ", ");
  weir__draft_second(draft);
  weir__draft_sql(draft, ") FROM ");
  add_table(draft, index);
  weir__draft_sql(draft, " WHERE ");
  add_table(draft, index);
  weir__draft_sql(draft, " MATCH ");
  weir__draft_text(draft, match);
  weir__draft_sql(draft, " AND rowid = ");
  weir__draft_first(draft);
}

int weir__snippets_open(weir__snippets **out, weir_txn *txn, int64_t index, weir_text match,
                        weir__snippet *snippet, weir_error *err) {
  *out = NULL;
  weir__snippets *snippets = calloc(1, sizeof *snippets);
  if (!snippets) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for snippets");
  }
  snippets->snippet = snippet;
  write_snippets(&snippets->draft, index, match);
  int rc = weir__draft_begin(&snippets->draft, &snippets->sql, txn, err);
  if (rc) {
    weir__draft_clear(&snippets->draft);
    free(snippets);
    return rc;
  }
  int code = sqlite3_bind_pointer(snippets->sql.stmt, 2, snippet, WEIR__SNIPPET_POINTER, NULL);
  if (code != SQLITE_OK) {
    snippets->sql.failed = code;
  }
  *out = snippets;
  return WEIR_OK;
}

int weir__snippets_make(weir__snippets *snippets, int64_t node, weir_error *err) {
  weir__sql_again(&snippets->sql);
  weir__sql_int(&snippets->sql, node);
  snippets->snippet->column = -1;
  snippets->snippet->span_count = 0;
  int rc = weir__sql_step(&snippets->sql, err);
  return rc < 0 ? rc : WEIR_OK;
}

void weir__snippets_close(weir__snippets *snippets) {
  if (snippets) {
    weir__sql_end(&snippets->sql);
    weir__draft_clear(&snippets->draft);
    free(snippets);
  }
}
