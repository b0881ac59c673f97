/*
 * Property indexes on SQLite. The catalog is the table property_index (schema.c). Each index has a table of
 * its own, node_index_<id> or edge_index_<id>, in the order of (kind, value, identity of the row): see
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

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draft.h"
#include "labels.h"
#include "query/cond.h"
#include "text.h"

/* What RAISE says, with the id behind it. */
#define UNIQUE_MESSAGE "weir: unique index "

#define NAME_ROOM 64

static const char *prefix_of(weir_target target) {
  return target == WEIR_NODES ? "node" : "edge";
}

/* ---- The catalog --------------------------------------------------------------------------------------- */

static int visit_rows(weir__sql *sql, weir__index_visit visit, void *data, weir_error *err) {
  int rc;
  while ((rc = weir__sql_step(sql, err)) > 0) {
    weir__index_row row = {
        .id = weir__sql_get_int(sql, 0),
        .target = weir__sql_get_int(sql, 1) ? WEIR_NODES : WEIR_EDGES,
        .label = weir__sql_get_int(sql, 2),
        .path = weir__sql_get_text(sql, 3),
        .unique = (int)weir__sql_get_int(sql, 4),
        .ready = (int)weir__sql_get_int(sql, 5),
    };
    rc = row.path.ptr ? visit(&row, data, err) : weir_fail(err, WEIR_NOMEM, "out of memory for an index");
    if (rc) {
      break;
    }
  }
  weir__sql_end(sql);
  return rc;
}

#define COLUMNS "SELECT id, target = 'node', label, path, is_unique, ready FROM property_index "

int weir__store_index_list(weir_txn *txn, weir__index_visit visit, void *data, weir_error *err) {
  static const weir_text text = WEIR_TEXT(COLUMNS "ORDER BY id");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  return rc ? rc : visit_rows(&sql, visit, data, err);
}

int weir__store_index_of(weir_txn *txn, weir_target target, int64_t label, weir__index_visit visit,
                         void *data, weir_error *err) {
  static const weir_text text =
      WEIR_TEXT(COLUMNS "WHERE target = ?1 AND label = ?2 AND ready = 1 ORDER BY path");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, weir_str(prefix_of(target)));
  weir__sql_int(&sql, label);
  return visit_rows(&sql, visit, data, err);
}

int weir__store_index_find(weir_txn *txn, weir__index_row *row, weir_error *err) {
  static const weir_text text =
      WEIR_TEXT("SELECT id, ready FROM property_index WHERE target = ?1 AND label = ?2 AND path = ?3");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, weir_str(prefix_of(row->target)));
  weir__sql_int(&sql, row->label);
  weir__sql_text(&sql, row->path);
  rc = weir__sql_step(&sql, err);
  if (rc >= 0) {
    row->id = rc ? weir__sql_get_int(&sql, 0) : 0;
    row->ready = rc ? (int)weir__sql_get_int(&sql, 1) : 0;
    rc = WEIR_OK;
  }
  weir__sql_end(&sql);
  return rc;
}

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
    " BEGIN SELECT RAISE(ABORT, '" UNIQUE_MESSAGE "{I}'); END;";

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
    " BEGIN SELECT RAISE(ABORT, '" UNIQUE_MESSAGE "{I}'); END;";

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
  weir__sql_text(&sql, weir_str(prefix_of(row->target)));
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
  weir__sql sql;
  /* IF EXISTS: what is there of an index that was damaged goes too. {T}_unique goes with the table. */
  int rc = run_pattern(txn, row,
                       "DROP TRIGGER IF EXISTS {T}_insert; DROP TRIGGER IF EXISTS {T}_delete;"
                       "DROP TRIGGER IF EXISTS {T}_update; DROP TABLE IF EXISTS {T};",
                       err);
  if (rc == WEIR_OK) {
    rc = weir__sql_begin(&sql, txn, text, err);
  }
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, row->id);
  return weir__sql_run(&sql, err);
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

static int make_ready(weir_txn *txn, int64_t id, weir_error *err) {
  static const weir_text text = WEIR_TEXT("UPDATE property_index SET ready = 1 WHERE id = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, id);
  return weir__sql_run(&sql, err);
}

int weir__store_index_fill(weir_txn *txn, const weir__index_row *row, size_t batch, weir__fill *fill,
                           weir_error *err) {
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
    rc = make_ready(txn, row->id, err);
  }
  return rc < 0 ? rc : WEIR_OK;
}

/* ---- Values that are there already ----------------------------------------------------------------------
 */

/* The index that has just refused an entry; its path is to be freed. id 0: none has. */
static int refusing_index(weir_txn *txn, int rc, weir__index_row *out, weir_error *err) {
  static const weir_text text = WEIR_TEXT(COLUMNS "WHERE id = ?1");
  sqlite3 *db = weir_txn_db(txn);
  *out = (weir__index_row){.id = 0};
  if (rc != WEIR_CONSTRAINT || sqlite3_extended_errcode(db) != SQLITE_CONSTRAINT_TRIGGER) {
    return WEIR_OK;
  }
  const char *message = sqlite3_errmsg(db);
  if (strncmp(message, UNIQUE_MESSAGE, strlen(UNIQUE_MESSAGE)) != 0) {
    return WEIR_OK;
  }
  int64_t id = strtoll(message + strlen(UNIQUE_MESSAGE), NULL, 10);
  weir__sql sql;
  rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, id);
  rc = weir__sql_step(&sql, err);
  if (rc > 0) {
    weir_text path = weir__sql_get_text(&sql, 3);
    char *copy = path.ptr ? malloc(path.len + 1) : NULL;
    rc = copy ? WEIR_OK : weir_fail(err, WEIR_NOMEM, "out of memory for an index");
    if (copy) {
      *out = (weir__index_row){.id = id,
                               .target = weir__sql_get_int(&sql, 1) ? WEIR_NODES : WEIR_EDGES,
                               .label = weir__sql_get_int(&sql, 2),
                               .path = weir__text_copy(&(char *){copy}, path)};
    }
  }
  weir__sql_end(&sql);
  return rc;
}

#define FROM_ENTRY " FROM ({P}) p CROSS JOIN {T} i ON i.kind = p.kind AND i.value = p.value"
#define SHOW_VALUE                                                                                           \
  "SELECT CASE i.kind WHEN 1 THEN CASE i.value WHEN 1 THEN 'true' ELSE 'false' END ELSE json_quote(i.value)" \
  " END, "

/* Says which row has the value. */
static int tell_conflict(weir_txn *txn, const weir__index_row *index, weir_text props, const int64_t *self,
                         size_t self_count, weir_error *err) {
  weir_text label;
  weir__sql sql;
  weir__draft draft = {.text = NULL};
  const struct pattern pattern = {&draft, index};
  add_pattern(&pattern, index->target == WEIR_NODES ? SHOW_VALUE "n.key" FROM_ENTRY
                                                                 " CROSS JOIN node n ON n.id = i.node"
                                                                 " WHERE i.node <> ?2"
                                                    : SHOW_VALUE
                            "s.key, d.key, i.rank" FROM_ENTRY
                            " CROSS JOIN node s ON s.id = i.src CROSS JOIN node d ON d.id = i.dst"
                            " WHERE (i.src, i.dst, i.rank) IS NOT (?2, ?3, ?4)");
  int rc = weir__label_name(txn, index->label, &label, err);
  if (rc == WEIR_OK) {
    rc = weir__draft_begin(&draft, &sql, txn, err);
  }
  if (rc == WEIR_OK) {
    weir__sql_text(&sql, props);
    for (size_t i = 0; i < self_count; i++) {
      weir__sql_int(&sql, self[i]);
    }
    rc = weir__sql_step(&sql, err);
    if (rc > 0) {
      weir_text path = weir__path_show(index->path);
      weir_text value = weir__sql_get_text(&sql, 0);
      weir_text key = weir__sql_get_text(&sql, 1);
      if (index->target == WEIR_NODES) {
        rc = weir_fail(
            err, WEIR_EXISTS,
            "node \"%.*s\" has \"%.*s\": %.*s already, and the index of nodes with label %.*s is unique",
            WEIR__SHOW(key), WEIR__SHOW(path), WEIR__SHOW(value), WEIR__SHOW(label));
      } else {
        weir_text dst = weir__sql_get_text(&sql, 2);
        rc = weir_fail(
            err, WEIR_EXISTS,
            "edge (\"%.*s\")-[%.*s, rank %lld]->(\"%.*s\") has \"%.*s\": %.*s already, and the index is"
            " unique",
            WEIR__SHOW(key), WEIR__SHOW(label), (long long)weir__sql_get_int(&sql, 3), WEIR__SHOW(dst),
            WEIR__SHOW(path), WEIR__SHOW(value));
      }
    }
    weir__sql_end(&sql);
  }
  weir__draft_clear(&draft);
  return rc ? rc : weir_fail(err, WEIR_CORRUPT, "the store is damaged: an index holds an entry of no row");
}

static int translate(weir_txn *txn, weir_text props, const int64_t *self, size_t self_count, int rc,
                     weir_error *err) {
  weir__index_row index;
  int found = refusing_index(txn, rc, &index, err);
  if (found || index.id == 0) {
    return found ? found : rc;
  }
  rc = tell_conflict(txn, &index, props, self, self_count, err);
  free((void *)(uintptr_t)index.path.ptr);
  return rc;
}

int weir__store_node_conflict(weir_txn *txn, const weir__node_row *row, int rc, weir_error *err) {
  return translate(txn, row->props, &row->id, 1, rc, err);
}

int weir__store_edge_conflict(weir_txn *txn, const weir__edge_row *row, int rc, weir_error *err) {
  const int64_t self[3] = {row->id.src, row->id.dst, row->id.rank};
  return translate(txn, row->props, self, 3, rc, err);
}
