/*
 * The tables of property indexes on SQLite. Each index (storage_catalog.c) has a table of its own,
 * node_index_<id> or edge_index_<id>, in the order of (kind, value, identity of the row): see
 * weir__draft_kind. Every row with the index's label has one entry, also without the property, so the table
 * is all of them in their order.
 *
 * Triggers on node and edge keep the entries, whoever writes and whatever a foreign key deletes; an update
 * that leaves an entry as it is does not touch the table. They are there before the index is filled, so a row
 * that is written meanwhile is right from then on, and filling it once more changes nothing.
 *
 * Uniqueness is a trigger too: it looks for an equal value next to where the new entry goes. A second index
 * on the same columns would say the same, for twice the space and another tree to write.
 */
#include "storage_query.h"

#include <stdio.h>
#include <string.h>

#include "../text.h"
#include "draft.h"

/* ---- Making and dropping ------------------------------------------------------------------------------- */

/* The text of statements about one index: T is the name of its table, L the number of its label, I its id;
 * O, N and P select the entry, kind and value, of old.props, new.props and ?1. */
struct pattern {
  weir__draft *draft;
  const weir__index_row *row;
};

static void add_letter(const struct pattern *of, char letter) {
  weir__draft *draft = of->draft;
  const weir__index_row *row = of->row;
  switch (letter) {
  case 'T':
    weir__draft_sql(draft, row->target == WEIR_NODES ? "node_index_" : "edge_index_");
    weir__draft_number(draft, row->id);
    break;
  case 'L':
    weir__draft_number(draft, row->label);
    break;
  case 'I':
    weir__draft_number(draft, row->id);
    break;
  default:
    weir__draft_entry(draft, letter == 'O' ? "old.props" : letter == 'N' ? "new.props" : "?1", row->path);
    break;
  }
}

/* Adds `text`, in which {T} and the like stand for what add_letter makes of them. */
static void add_pattern(const struct pattern *of, const char *text) {
  char piece[512];
  while (*text) {
    const char *brace = strchr(text, '{');
    size_t len = brace ? (size_t)(brace - text) : strlen(text);
    if (len >= sizeof piece) {
      len = sizeof piece - 1;
      brace = NULL;
    }
    memcpy(piece, text, len);
    piece[len] = '\0';
    weir__draft_sql(of->draft, piece);
    text += len;
    if (brace) {
      add_letter(of, brace[1]);
      text += 3;
    }
  }
}

#define HAS(row) "EXISTS(SELECT 1 FROM label_set_member WHERE label = {L} AND label_set = " row ".label_set)"

static const char *const node_tables =
    "CREATE TABLE {T}(kind INTEGER NOT NULL, value ANY NOT NULL, node INTEGER NOT NULL,"
    " PRIMARY KEY(kind, value, node)) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER {T}_insert AFTER INSERT ON node WHEN " HAS("new") /* clang-format would join these */
    " BEGIN INSERT INTO {T}(kind, value, node) SELECT kind, value, new.id FROM ({N}); END;"
    "CREATE TRIGGER {T}_delete AFTER DELETE ON node WHEN " HAS("old") /* */
    " BEGIN DELETE FROM {T} WHERE (kind, value) = ({O}) AND node = old.id; END;"
    "CREATE TRIGGER {T}_update AFTER UPDATE OF label_set, props ON node"
    " WHEN (" HAS("old") " OR " HAS("new") ") AND NOT (" HAS("old") " AND " HAS("new") /* */
    " AND ({O}) IS ({N}))"
    " BEGIN DELETE FROM {T} WHERE (kind, value) = ({O}) AND node = old.id;"
    " INSERT INTO {T}(kind, value, node) SELECT kind, value, new.id FROM ({N}) WHERE " HAS("new") "; END;";

static const char *const node_unique =
    "CREATE TRIGGER {T}_unique BEFORE INSERT ON {T} WHEN new.kind BETWEEN 1 AND 3 AND EXISTS("
    "SELECT 1 FROM {T} WHERE kind = new.kind AND value = new.value AND node <> new.node)"
    " BEGIN SELECT RAISE(ABORT, '" WEIR__UNIQUE_MESSAGE "{I}'); END;";

static const char *const edge_tables =
    "CREATE TABLE {T}(kind INTEGER NOT NULL, value ANY NOT NULL, src INTEGER NOT NULL, dst INTEGER NOT NULL,"
    " rank INTEGER NOT NULL, PRIMARY KEY(kind, value, src, dst, rank)) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER {T}_insert AFTER INSERT ON edge WHEN new.label = {L}"
    " BEGIN INSERT INTO {T}(kind, value, src, dst, rank)"
    " SELECT kind, value, new.src, new.dst, new.rank FROM ({N}); END;"
    "CREATE TRIGGER {T}_delete AFTER DELETE ON edge WHEN old.label = {L}"
    " BEGIN DELETE FROM {T} WHERE (kind, value) = ({O}) AND src = old.src AND dst = old.dst"
    " AND rank = old.rank; END;"
    "CREATE TRIGGER {T}_update AFTER UPDATE OF props ON edge WHEN new.label = {L} AND ({O}) IS NOT ({N})"
    " BEGIN DELETE FROM {T} WHERE (kind, value) = ({O}) AND src = old.src AND dst = old.dst"
    " AND rank = old.rank;"
    " INSERT INTO {T}(kind, value, src, dst, rank)"
    " SELECT kind, value, new.src, new.dst, new.rank FROM ({N}); END;";

static const char *const edge_unique =
    "CREATE TRIGGER {T}_unique BEFORE INSERT ON {T} WHEN new.kind BETWEEN 1 AND 3 AND EXISTS("
    "SELECT 1 FROM {T} WHERE kind = new.kind AND value = new.value"
    " AND (src, dst, rank) IS NOT (new.src, new.dst, new.rank))"
    " BEGIN SELECT RAISE(ABORT, '" WEIR__UNIQUE_MESSAGE "{I}'); END;";

/* Runs statements without parameters. */
static int run_pattern(weir_txn *txn, const weir__index_row *row, const char *text, weir_error *err) {
  weir__draft draft = {.text = NULL};
  const struct pattern pattern = {&draft, row};
  add_pattern(&pattern, text);
  int rc = draft.failed ? weir_fail(err, WEIR_NOMEM, "out of memory for an index")
                        : weir_txn_exec(txn, draft.text, err);
  weir__draft_clear(&draft);
  return rc;
}

int weir__store_index_add(weir_txn *txn, weir__index_row *row, weir_error *err) {
  static const weir_text text =
      WEIR_TEXT("INSERT INTO property_index(target, label, path, is_unique) VALUES (?1, ?2, ?3, ?4)");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, weir_str(row->target == WEIR_NODES ? "node" : "edge"));
  weir__sql_int(&sql, row->label);
  weir__sql_text(&sql, row->path);
  weir__sql_int(&sql, row->unique);
  rc = weir__sql_run(&sql, err);
  if (rc) {
    return rc;
  }
  row->id = sqlite3_last_insert_rowid(weir_txn_db(txn));
  rc = run_pattern(txn, row, row->target == WEIR_NODES ? node_tables : edge_tables, err);
  if (rc || !row->unique) {
    return rc;
  }
  return run_pattern(txn, row, row->target == WEIR_NODES ? node_unique : edge_unique, err);
}

int weir__store_index_drop(weir_txn *txn, const weir__index_row *row, weir_error *err) {
  static const weir_text text = WEIR_TEXT("DELETE FROM property_index WHERE id = ?1");
  /* IF EXISTS: what is there of an index that was damaged goes too. {T}_unique goes with the table. */
  int rc = run_pattern(txn, row,
                       "DROP TRIGGER IF EXISTS {T}_insert; DROP TRIGGER IF EXISTS {T}_delete;"
                       "DROP TRIGGER IF EXISTS {T}_update; DROP TABLE IF EXISTS {T};",
                       err);
  return rc ? rc : weir__sql_run_int(txn, text, row->id, err);
}

/* ---- Filling ------------------------------------------------------------------------------------------- */

int weir__store_index_total(weir_txn *txn, const weir__index_row *row, int64_t *total, weir_error *err) {
  return row->target == WEIR_NODES ? weir__store_node_count(txn, row->label, total, err)
                                   : weir__store_edge_count(txn, 0, WEIR_OUT, 0, total, err);
}

/* Rows on their way into an index. */
struct filling {
  weir_txn *txn;
  const weir__index_row *index;
  weir__sql sql; /* puts one entry in */
  weir__fill *fill;
  size_t left; /* rows of this batch */
};

static int fill_node(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct filling *filling = data;
  (void)index;
  if (filling->left == 0) {
    return WEIR_STOP;
  }
  weir__sql_again(&filling->sql);
  weir__sql_text(&filling->sql, row->props);
  weir__sql_int(&filling->sql, row->id);
  int rc = weir__sql_step(&filling->sql, err);
  if (rc) {
    rc = weir__store_node_conflict(filling->txn, row, rc, err);
    if (rc == WEIR_EXISTS && err) {
      weir_error why = *err;
      (void)weir_fail(err, rc, "node \"%.*s\" does not fit in: %s", WEIR__SHOW(row->key), why.message);
    }
    return rc;
  }
  filling->left--;
  filling->fill->seen++;
  filling->fill->after[0] = row->id;
  return WEIR_OK;
}

static int fill_nodes(struct filling *filling, weir_error *err) {
  size_t wants = filling->left < SIZE_MAX ? filling->left + 1 : 0;
  return weir__store_node_scan(filling->txn, filling->index->label, filling->fill->after[0], wants, fill_node,
                               filling, err);
}

static int show_edge(weir_txn *txn, const weir__edge_row *row, char *out, size_t size, weir_error *err) {
  static const weir_text text =
      WEIR_TEXT("SELECT s.key, l.name, d.key FROM node s CROSS JOIN node d CROSS JOIN label l"
                " WHERE s.id = ?1 AND l.id = ?2 AND d.id = ?3");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  out[0] = '\0';
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, row->id.src);
  weir__sql_int(&sql, row->id.label);
  weir__sql_int(&sql, row->id.dst);
  rc = weir__sql_step(&sql, err);
  if (rc > 0) {
    weir_text src = weir__sql_get_text(&sql, 0);
    weir_text label = weir__sql_get_text(&sql, 1);
    weir_text dst = weir__sql_get_text(&sql, 2);
    (void)snprintf(out, size, "(\"%.*s\")-[%.*s, rank %lld]->(\"%.*s\")", WEIR__SHOW(src), WEIR__SHOW(label),
                   (long long)row->id.rank, WEIR__SHOW(dst));
    rc = WEIR_OK;
  }
  weir__sql_end(&sql);
  return rc;
}

#define EDGE_ROOM 320

static int fill_edge(struct filling *filling, const weir__edge_row *row, weir_error *err) {
  weir__sql_again(&filling->sql);
  weir__sql_text(&filling->sql, row->props);
  weir__sql_int(&filling->sql, row->id.src);
  weir__sql_int(&filling->sql, row->id.dst);
  weir__sql_int(&filling->sql, row->id.rank);
  int rc = weir__sql_step(&filling->sql, err);
  if (rc) {
    rc = weir__store_edge_conflict(filling->txn, row, rc, err);
    if (rc == WEIR_EXISTS && err) {
      weir_error why = *err;
      char own[EDGE_ROOM];
      (void)show_edge(filling->txn, row, own, sizeof own, NULL); /* the error that counts is there */
      (void)weir_fail(err, rc, "edge %s does not fit in: %s", own, why.message);
    }
  }
  return rc;
}

/* Edges are not in the order of their labels, so all are looked at: a batch bounds how many of them. */
static int fill_edges(struct filling *filling, weir_error *err) {
  static const weir_text text =
      WEIR_TEXT("SELECT src, label, dst, rank, CASE WHEN label = ?5 THEN props END FROM edge"
                " WHERE (src, label, dst, rank) > (?1, ?2, ?3, ?4) ORDER BY src, label, dst, rank");
  int64_t *after = filling->fill->after;
  weir__sql sql;
  int rc = weir__sql_begin(&sql, filling->txn, text, err);
  if (rc) {
    return rc;
  }
  for (size_t i = 0; i < 4; i++) {
    weir__sql_int(&sql, after[i]);
  }
  weir__sql_int(&sql, filling->index->label);
  while ((rc = weir__sql_step(&sql, err)) > 0) {
    weir__edge_row row = {.id = {weir__sql_get_int(&sql, 0), weir__sql_get_int(&sql, 1),
                                 weir__sql_get_int(&sql, 2), weir__sql_get_int(&sql, 3)}};
    if (filling->left == 0) {
      rc = WEIR_STOP;
      break;
    }
    if (row.id.label == filling->index->label) {
      row.props = weir__sql_get_text(&sql, 4);
      rc = row.props.ptr ? fill_edge(filling, &row, err)
                         : weir_fail(err, WEIR_NOMEM, "out of memory for an edge");
      if (rc < 0) {
        break;
      }
    }
    filling->left--;
    filling->fill->seen++;
    after[0] = row.id.src;
    after[1] = row.id.label;
    after[2] = row.id.dst;
    after[3] = row.id.rank;
  }
  weir__sql_end(&sql);
  return rc;
}

/* Fails if the index is not there any more, or was begun anew under another id. */
static int check_unfinished(weir_txn *txn, int64_t id, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT count(*) FROM property_index WHERE id = ?1 AND ready = 0");
  int64_t count;
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, id);
  rc = weir__sql_number(&sql, 0, &count, err);
  return rc || count > 0 ? rc
                         : weir_fail(err, WEIR_CANCELED,
                                     "somebody else has dropped the index, or begun it anew, meanwhile");
}

int weir__store_index_fill(weir_txn *txn, const weir__index_row *row, size_t batch, weir__fill *fill,
                           weir_error *err) {
  static const weir_text ready = WEIR_TEXT("UPDATE property_index SET ready = 1 WHERE id = ?1");
  struct filling filling = {.txn = txn, .index = row, .fill = fill, .left = batch};
  weir__draft draft = {.text = NULL};
  const struct pattern pattern = {&draft, row};
  int rc = check_unfinished(txn, row->id, err);
  if (rc) {
    return rc;
  }
  /* WHERE: else ON would be read as that of a join */
  add_pattern(&pattern, row->target == WEIR_NODES
                            ? "INSERT INTO {T}(kind, value, node)"
                              " SELECT kind, value, ?2 FROM ({P}) WHERE 1 ON CONFLICT DO NOTHING"
                            : "INSERT INTO {T}(kind, value, src, dst, rank)"
                              " SELECT kind, value, ?2, ?3, ?4 FROM ({P}) WHERE 1 ON CONFLICT DO NOTHING");
  rc = weir__draft_begin(&draft, &filling.sql, txn, err);
  if (rc == WEIR_OK) {
    rc = row->target == WEIR_NODES ? fill_nodes(&filling, err) : fill_edges(&filling, err);
    weir__sql_end(&filling.sql);
  }
  weir__draft_clear(&draft);
  fill->end = rc == WEIR_OK;
  if (rc == WEIR_OK) {
    rc = weir__sql_run_int(txn, ready, row->id, err);
  }
  return rc < 0 ? rc : WEIR_OK;
}
