/*
 * Text indexes: the catalog, and how they are filled. What stands in the database for one of them is in
 * storage_text_schema.c.
 *
 * What there is to fill is nodes with numbers above text_index.filled, up to text_index.goal: the highest
 * number when it began. So filling comes to its end however fast others write. A node that is written
 * meanwhile is left to the filling if its number is among these, and else seen to by a trigger. `filled`
 * moves in the transaction that fills.
 */
#include "storage_text.h"

#include <jansson.h>
#include <string.h>

#include "draft.h"

/* ---- The catalog ------------------------------------------------------------------------------------------
 */

static const char *const tokenizer_words[] = {[WEIR_WORDS] = "words", [WEIR_SUBSTRING] = "substring"};

static int damaged(const weir__text_index *index, weir_error *err) {
  return weir_fail(err, WEIR_CORRUPT, "the description of text index \"%.*s\" is damaged",
                   (int)index->name.len, index->name.ptr);
}

static int read_tokenizer(weir__text_index *index, weir_text word) {
  for (size_t i = 0; i < sizeof tokenizer_words / sizeof tokenizer_words[0]; i++) {
    if (word.len == strlen(tokenizer_words[i]) && memcmp(word.ptr, tokenizer_words[i], word.len) == 0) {
      index->tokenizer = (weir_tokenizer)i;
      return 1;
    }
  }
  return 0;
}

static int read_labels(weir__text_index *index, const json_t *labels) {
  index->label_count = json_array_size(labels);
  if (!json_is_array(labels) || index->label_count > WEIR_LABELS_MAX) {
    return 0;
  }
  for (size_t i = 0; i < index->label_count; i++) {
    index->labels[i] = json_integer_value(json_array_get(labels, i));
  }
  return 1;
}

/* The paths are those in `fields`. */
static int read_fields(weir__text_index *index, const json_t *fields) {
  index->field_count = json_array_size(fields);
  if (index->field_count == 0 || index->field_count > WEIR_TEXT_FIELDS_MAX) {
    return 0;
  }
  for (size_t i = 0; i < index->field_count; i++) {
    const json_t *field = json_array_get(fields, i);
    const json_t *path = json_array_get(field, 0);
    if (!json_is_string(path)) {
      return 0;
    }
    index->fields[i].path = (weir_text){json_string_value(path), json_string_length(path)};
    index->fields[i].weight = json_number_value(json_array_get(field, 1));
  }
  return 1;
}

static int visit_index(const weir__sql *sql, weir__text_index_visit visit, void *data, weir_error *err) {
  weir__text_index index = {.id = weir__sql_get_int(sql, 0),
                            .name = weir__sql_get_text(sql, 1),
                            .ready = weir__sql_get_int(sql, 5) == 1};
  weir_text tokenizer = weir__sql_get_text(sql, 2);
  weir_text labels = weir__sql_get_text(sql, 3);
  weir_text fields = weir__sql_get_text(sql, 4);
  if (!index.name.ptr || !tokenizer.ptr || !labels.ptr || !fields.ptr) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a text index");
  }
  json_t *label_list = json_loadb(labels.ptr, labels.len, 0, NULL);
  json_t *field_list = json_loadb(fields.ptr, fields.len, 0, NULL);
  int rc =
      read_tokenizer(&index, tokenizer) && read_labels(&index, label_list) && read_fields(&index, field_list)
          ? visit(&index, data, err)
          : damaged(&index, err);
  json_decref(label_list);
  json_decref(field_list);
  return rc;
}

int weir__store_text_each(weir_txn *txn, weir_text name, weir__text_index_visit visit, void *data,
                          weir_error *err) {
  static const weir_text all =
      WEIR_TEXT("SELECT id, name, tokenizer, labels, fields, ready FROM text_index ORDER BY id");
  static const weir_text named =
      WEIR_TEXT("SELECT id, name, tokenizer, labels, fields, ready FROM text_index WHERE name = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, name.len ? named : all, err);
  if (rc) {
    return rc;
  }
  if (name.len) {
    weir__sql_text(&sql, name);
  }
  while ((rc = weir__sql_step(&sql, err)) > 0) {
    rc = visit_index(&sql, visit, data, err);
    if (rc) {
      break;
    }
  }
  weir__sql_end(&sql);
  return rc;
}

int weir__store_text_find(weir_txn *txn, weir_text name, int64_t *id, int *ready, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT id, ready FROM text_index WHERE name = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_text(&sql, name);
  rc = weir__sql_step(&sql, err);
  if (rc >= 0) {
    *id = rc ? weir__sql_get_int(&sql, 0) : 0;
    *ready = rc && weir__sql_get_int(&sql, 1) == 1;
    rc = WEIR_OK;
  }
  weir__sql_end(&sql);
  return rc;
}

static json_t *labels_json(const weir__text_index *index) {
  json_t *labels = json_array();
  for (size_t i = 0; labels && i < index->label_count; i++) {
    if (json_array_append_new(labels, json_integer(index->labels[i]))) {
      json_decref(labels);
      return NULL;
    }
  }
  return labels;
}

static json_t *fields_json(const weir__text_index *index) {
  json_t *fields = json_array();
  for (size_t i = 0; fields && i < index->field_count; i++) {
    const weir_text_field *field = &index->fields[i];
    json_t *pair = json_pack("[s%f]", field->path.ptr, field->path.len, field->weight);
    if (!pair || json_array_append_new(fields, pair)) {
      json_decref(fields);
      return NULL;
    }
  }
  return fields;
}

/* The JSON as text, which is freed. */
static void add_json(weir__draft *draft, json_t *json) {
  size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(17);
  char *text = json ? json_dumps(json, flags) : NULL;
  json_decref(json);
  weir__draft_own(draft, text, text ? strlen(text) : 0);
}

static int add_row(weir_txn *txn, weir__text_index *index, weir_error *err) {
  weir__draft draft = {.text = NULL};
  weir__sql sql;
  weir__draft_sql(&draft, "INSERT INTO text_index(goal, name, tokenizer, labels, fields) VALUES ("
                          "(SELECT ifnull(max(id), 0) FROM node), ");
  weir__draft_text(&draft, index->name);
  weir__draft_sql(&draft, ", ");
  weir__draft_text(&draft, weir_str(tokenizer_words[index->tokenizer]));
  weir__draft_sql(&draft, ", ");
  add_json(&draft, labels_json(index));
  weir__draft_sql(&draft, ", ");
  add_json(&draft, fields_json(index));
  weir__draft_sql(&draft, ")");
  int rc = weir__draft_begin(&draft, &sql, txn, err);
  if (rc == WEIR_OK) {
    rc = weir__sql_run(&sql, err);
  }
  if (rc == WEIR_OK) {
    index->id = sqlite3_last_insert_rowid(weir_txn_db(txn));
  }
  weir__draft_clear(&draft);
  return rc;
}

int weir__store_text_add(weir_txn *txn, weir__text_index *index, weir_error *err) {
  int rc = add_row(txn, index, err);
  return rc ? rc : weir__text_schema_create(txn, index, err);
}

int weir__store_text_drop(weir_txn *txn, int64_t id, weir_error *err) {
  static const weir_text text = WEIR_TEXT("DELETE FROM text_index WHERE id = ?1");
  int rc = weir__text_schema_drop(txn, id, err);
  return rc ? rc : weir__sql_run_int(txn, text, id, err);
}

/* ---- Filling ----------------------------------------------------------------------------------------------
 */

/* *filled: -1 if there is no such index that is being made. */
static int read_mark(weir_txn *txn, int64_t id, int64_t *filled, weir_error *err) {
  static const weir_text text = WEIR_TEXT("SELECT filled FROM text_index WHERE id = ?1 AND ready = 0");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, id);
  return weir__sql_number(&sql, -1, filled, err);
}

static int move_mark(weir_txn *txn, int64_t id, int64_t to, int ready, weir_error *err) {
  static const weir_text text = WEIR_TEXT("UPDATE text_index SET filled = ?1, ready = ?2 WHERE id = ?3");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, to);
  weir__sql_int(&sql, ready);
  weir__sql_int(&sql, id);
  return weir__sql_run(&sql, err);
}

/* The number of the last of the next `batch` nodes, or the goal, and how many nodes these are. */
static int look_ahead(weir_txn *txn, const weir__text_index *index, int64_t after, unsigned batch,
                      int64_t *last, uint64_t *count, weir_error *err) {
  static const weir_text text =
      WEIR_TEXT("SELECT iif(count(n.id) = ?3, max(n.id), goal), count(n.id) FROM text_index LEFT JOIN"
                " (SELECT id FROM node WHERE id > ?2 AND id <= (SELECT goal FROM text_index WHERE id = ?1)"
                " ORDER BY id LIMIT ?3) n WHERE text_index.id = ?1");
  weir__sql sql;
  int rc = weir__sql_begin(&sql, txn, text, err);
  if (rc) {
    return rc;
  }
  weir__sql_int(&sql, index->id);
  weir__sql_int(&sql, after);
  weir__sql_int(&sql, batch);
  rc = weir__sql_step(&sql, err);
  if (rc > 0) {
    *last = weir__sql_get_int(&sql, 0);
    *count = (uint64_t)weir__sql_get_int(&sql, 1);
    rc = WEIR_OK;
  }
  weir__sql_end(&sql);
  return rc;
}

int weir__store_text_fill(weir_txn *txn, const weir__text_index *index, unsigned batch, weir__text_fill *out,
                          weir_error *err) {
  int64_t filled = -1;
  int64_t last = 0;
  *out = (weir__text_fill){.looked = 0};
  int rc = read_mark(txn, index->id, &filled, err);
  out->gone = filled < 0;
  if (rc || out->gone) {
    return rc;
  }
  rc = look_ahead(txn, index, filled, batch, &last, &out->looked, err);
  if (rc) {
    return rc;
  }
  out->done = out->looked < batch;
  /* First the mark: the view has what is behind it. */
  rc = move_mark(txn, index->id, out->done ? INT64_MAX : last, out->done, err);
  return rc ? rc : weir__text_schema_fill(txn, index, filled, last, err);
}
