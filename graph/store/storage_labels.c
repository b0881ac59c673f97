/*
 * Labels on SQLite: the tables label, label_set and label_set_member (schema.c).
 *
 * A set is found by the text of its label numbers, ascending, as a JSON array; label_set_member holds the
 * same facts by label, so that the sets with a label are one range.
 */
#include "storage.h"

#include <inttypes.h>
#include <stdio.h>

#include "sql.h"
#include "storage_query.h"

/* Digits of a 64-bit number, a sign and a separator. */
#define ID_TEXT_MAX 21

static int visit_labels(weir__sql *sql, weir__label_visit visit, void *data, weir_error *err) {
  int rc;
  while ((rc = weir__sql_step(sql, err)) > 0) {
    weir_text name = weir__sql_get_text(sql, 1);
    rc = name.ptr ? visit(weir__sql_get_int(sql, 0), name, data, err)
                  : weir_fail(err, WEIR_NOMEM, "out of memory for a label");
    if (rc) {
      break;
    }
  }
  weir__sql_end(sql);
  return rc;
}

int weir__store_label_find(weir_txn *txn, weir_text name, int64_t *id, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT id FROM label WHERE name = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, name);
  return weir__sql_number(&sql, 0, id, err);
}

int weir__store_label_get(weir_txn *txn, int64_t id, weir__label_visit visit, void *data, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT id, name FROM label WHERE id = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, id);
  return visit_labels(&sql, visit, data, err);
}

int weir__store_label_add(weir_txn *txn, weir_text name, int64_t *id, weir_error *err) {
  static const weir_text text = WEIR_TEXT("INSERT INTO label(name) VALUES (?1)");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, name);
  rc = weir__sql_run(&sql, err);
  *id = sqlite3_last_insert_rowid(weir_txn_db(txn));
  return rc;
}

/* Writes the ids as a JSON array and returns its text. */
static weir_text ids_text(char *buffer, size_t size, const int64_t *ids, size_t count) {
  size_t len = 0;
  for (size_t i = 0; i < count; i++) {
    len += (size_t)snprintf(buffer + len, size - len, "%c%" PRId64, i ? ',' : '[', ids[i]);
  }
  buffer[len++] = ']';
  return (weir_text){buffer, len};
}

int weir__store_label_set_find(weir_txn *txn, const int64_t *ids, size_t count, int64_t *id,
                               weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT id FROM label_set WHERE labels = ?1");
  char buffer[WEIR_LABELS_MAX * ID_TEXT_MAX + 2];
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, ids_text(buffer, sizeof buffer, ids, count));
  return weir__sql_number(&sql, 0, id, err);
}

int weir__store_label_set_get(weir_txn *txn, int64_t id, weir__label_visit visit, void *data,
                              weir_error *err) {
  static const weir_text text =
      WEIR_TEXT("SELECT l.id, l.name FROM label_set s CROSS JOIN json_each(s.labels) j"
                " CROSS JOIN label l ON l.id = j.value WHERE s.id = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, id);
  return visit_labels(&sql, visit, data, err);
}

int weir__store_label_only_set(weir_txn *txn, int64_t label, int64_t *set, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT label_set FROM label_set_member WHERE label = ?1 LIMIT 2");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  *set = 0;
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, label);
  rc = weir__sql_step(&sql, err);
  if (rc > 0) {
    *set = weir__sql_get_int(&sql, 0);
    rc = weir__sql_step(&sql, err);
    *set = rc ? 0 : *set;
  }
  weir__sql_end(&sql);
  return rc < 0 ? rc : WEIR_OK;
}

int weir__store_label_set_add(weir_txn *txn, const int64_t *ids, size_t count, int64_t *id, weir_error *err) {
  static const weir_text set_text = WEIR_TEXT("INSERT INTO label_set(labels) VALUES (?1)");
  static const weir_text member_text =
      WEIR_TEXT("INSERT INTO label_set_member(label, label_set) VALUES (?1, ?2)");
  char buffer[WEIR_LABELS_MAX * ID_TEXT_MAX + 2];
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, set_text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, ids_text(buffer, sizeof buffer, ids, count));
  rc = weir__sql_run(&sql, err);
  if (rc) {
    return rc;
  }
  *id = sqlite3_last_insert_rowid(weir_txn_db(txn));
  rc = weir__sql_begin(&sql, txn, member_text, err);
  if (rc) {
    return rc;
  }
  for (size_t i = 0; i < count && rc == WEIR_OK; i++) {
    weir__sql_again(&sql);
    weir__sql_int(&sql, ids[i]);
    weir__sql_int(&sql, *id);
    rc = weir__sql_step(&sql, err);
  }
  weir__sql_end(&sql);
  return rc;
}
