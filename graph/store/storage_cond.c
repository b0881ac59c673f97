/*
 * Conditions as SQL. Each is 0 or 1: what may be NULL is wrapped, so that NOT turns it over. Values are
 * parameters; what the text depends on is the shape of the condition, and which types its values have.
 */
#include "draft.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../labels.h"
#include "../query/cond.h"

#define FEW 8 /* values of a WEIR_ONE_OF that are parameters of their own */

#define NUMBERS "('integer', 'real')"
#define BOOLS   "('true', 'false')"
#define TEXTS   "('text')"

/* The types of json_type() that a value compares with. */
static const char *types_of(weir_type type) {
  return type == WEIR_TYPE_TEXT ? TEXTS : type == WEIR_TYPE_BOOL ? BOOLS : NUMBERS;
}

/* ---- Properties -------------------------------------------------------------------------------------- */

static void add_path(weir__draft *draft, weir_text path) {
  char written[WEIR__PATH_ROOM];
  size_t len = weir__path_write(path, written);
  char *copy = malloc(len + 1);
  if (copy) {
    memcpy(copy, written, len + 1);
  }
  weir__draft_own(draft, copy, len);
}

/* The path as an SQL string. */
static void add_path_literal(weir__draft *draft, weir_text path) {
  char written[WEIR__PATH_ROOM];
  size_t len = weir__path_write(path, written);
  weir__draft_literal(draft, (weir_text){written, len});
}

typedef void (*path_adder)(weir__draft *draft, weir_text path);

/* function(props, path) */
static void add_json(weir__draft *draft, const char *function, const char *props, weir_text path,
                     path_adder add) {
  weir__draft_sql(draft, function);
  weir__draft_sql(draft, "(");
  weir__draft_sql(draft, props);
  weir__draft_sql(draft, ", ");
  add(draft, path);
  weir__draft_sql(draft, ")");
}

void weir__draft_kind(weir__draft *draft, const char *props, weir_text path) {
  weir__draft_sql(draft, "CASE ");
  add_json(draft, "json_type", props, path, add_path);
  weir__draft_sql(draft, " WHEN 'text' THEN 3 WHEN 'integer' THEN 2 WHEN 'real' THEN 2 WHEN 'true' THEN 1"
                         " WHEN 'false' THEN 1 WHEN 'array' THEN 4 WHEN 'object' THEN 4 ELSE 0 END");
}

void weir__draft_prop(weir__draft *draft, const char *props, weir_text path) {
  weir__draft_sql(draft, "ifnull(");
  add_json(draft, "json_extract", props, path, add_path);
  weir__draft_sql(draft, ", 0)");
}

void weir__draft_entry(weir__draft *draft, const char *props, weir_text path) {
  weir__draft_sql(draft, "SELECT CASE j.type WHEN 'text' THEN 3 WHEN 'integer' THEN 2 WHEN 'real' THEN 2"
                         " WHEN 'true' THEN 1 WHEN 'false' THEN 1 WHEN 'array' THEN 4 WHEN 'object' THEN 4"
                         " ELSE 0 END AS kind, ifnull(j.value, 0) AS value FROM (SELECT 1) LEFT JOIN ");
  add_json(draft, "json_tree", props, path, add_path_literal);
  weir__draft_sql(draft, " j LIMIT 1");
}

/* ---- Tests ------------------------------------------------------------------------------------------- */

struct subject {
  weir__draft *draft;
  weir_txn *txn;
  weir_target target;
};

/* The value that is looked at. */
static void add_field(const struct subject *of, const weir_cond *cond) {
  static const char *const fields[] = {
      /* + takes the column's type away, which would change the value it is compared with */
      [WEIR_FIELD_KEY] = "n.key",
      [WEIR_FIELD_WEIGHT] = "+e.weight",
      [WEIR_FIELD_RANK] = "+e.rank",
      [WEIR_FIELD_SRC] = "(SELECT key FROM node WHERE id = e.src)",
      [WEIR_FIELD_DST] = "(SELECT key FROM node WHERE id = e.dst)"};
  if (cond->field == WEIR_FIELD_PROP) {
    add_json(of->draft, "json_extract", of->target == WEIR_NODES ? "n.props" : "e.props", cond->path,
             add_path);
  } else if (cond->field == WEIR_FIELD_REV) {
    weir__draft_sql(of->draft, of->target == WEIR_NODES ? "+n.rev" : "+e.rev");
  } else {
    weir__draft_sql(of->draft, fields[cond->field]);
  }
}

/* Opens a test of values of the type: "ifnull(the type is right AND value". A ", 0)" has to end it. */
static void begin_test(const struct subject *of, const weir_cond *cond, weir_type type) {
  weir__draft_sql(of->draft, "ifnull(");
  if (cond->field == WEIR_FIELD_PROP) {
    add_json(of->draft, "json_type", of->target == WEIR_NODES ? "n.props" : "e.props", cond->path, add_path);
    weir__draft_sql(of->draft, " IN ");
    weir__draft_sql(of->draft, types_of(type));
    weir__draft_sql(of->draft, " AND ");
  }
  add_field(of, cond);
}

static void add_compare(const struct subject *of, const weir_cond *cond) {
  static const char *const operators[] = {[WEIR_EQ] = " = ",  [WEIR_NE] = " = ", [WEIR_LT] = " < ",
                                          [WEIR_LE] = " <= ", [WEIR_GT] = " > ", [WEIR_GE] = " >= "};
  if (cond->op == WEIR_NE) {
    weir__draft_sql(of->draft, "NOT ");
  }
  begin_test(of, cond, cond->value.type);
  weir__draft_sql(of->draft, operators[cond->op]);
  weir__draft_value(of->draft, cond->value);
  weir__draft_sql(of->draft, ", 0)");
}

/* No byte of UTF-8 is 0xFF. */
void weir__draft_behind(weir__draft *draft, weir_text prefix) {
  char *behind = malloc(prefix.len + 1);
  if (behind) {
    memcpy(behind, prefix.ptr, prefix.len);
    behind[prefix.len] = '\0';
    behind[prefix.len - 1] = (char)((unsigned char)behind[prefix.len - 1] + 1);
  }
  weir__draft_own(draft, behind, prefix.len);
}

static void add_prefix(const struct subject *of, const weir_cond *cond) {
  weir_text prefix = cond->value.text;
  begin_test(of, cond, WEIR_TYPE_TEXT);
  if (prefix.len == 0) { /* any string */
    weir__draft_sql(of->draft, " IS NOT NULL, 0)");
    return;
  }
  weir__draft_sql(of->draft, " >= ");
  weir__draft_text(of->draft, prefix);
  weir__draft_sql(of->draft, " AND ");
  add_field(of, cond);
  weir__draft_sql(of->draft, " < ");
  weir__draft_behind(of->draft, prefix);
  weir__draft_sql(of->draft, ", 0)");
}

/* Values that compare with each other are of one class. */
static int same_class(weir_type a, weir_type b) {
  return types_of(a) == types_of(b);
}

static json_t *json_of(const weir_value *value) {
  switch (value->type) {
  case WEIR_TYPE_BOOL:
    return json_boolean(value->integer);
  case WEIR_TYPE_REAL:
    return json_real(value->real);
  case WEIR_TYPE_TEXT:
    return json_stringn_nocheck(value->text.len ? value->text.ptr : "", value->text.len);
  default:
    return json_integer(value->integer);
  }
}

/* WEIR_TYPE_NONE: of any class. */
static int is_of(const weir_value *value, weir_type type) {
  return type == WEIR_TYPE_NONE || same_class(value->type, type);
}

static int has_any(const weir_cond *cond, weir_type type) {
  for (size_t i = 0; i < cond->count; i++) {
    if (is_of(&cond->values[i], type)) {
      return 1;
    }
  }
  return 0;
}

/* The values of one class as the text of a JSON array; NULL: out of memory. */
static char *json_array_of(const weir_cond *cond, weir_type type) {
  const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(17);
  json_t *array = json_array();
  int failed = !array;
  for (size_t i = 0; i < cond->count && !failed; i++) {
    if (is_of(&cond->values[i], type)) {
      failed = json_array_append_new(array, json_of(&cond->values[i])) != 0;
    }
  }
  size_t len = failed ? 0 : json_dumpb(array, NULL, 0, flags);
  char *text = len ? malloc(len + 1) : NULL;
  if (text) {
    text[len] = '\0';
    if (json_dumpb(array, text, len, flags) != len) {
      free(text);
      text = NULL;
    }
  }
  json_decref(array);
  return text;
}

static void add_set(weir__draft *draft, const weir_cond *cond, weir_type type) {
  char *array = json_array_of(cond, type);
  weir__draft_own(draft, array, array ? strlen(array) : 0);
}

void weir__draft_set(weir__draft *draft, const weir_cond *cond) {
  add_set(draft, cond, WEIR_TYPE_NONE);
}

/* A parameter a value: for few of them that is cheaper than a set, which a statement that is run for each
 * node of a walk would make each time. */
static void add_few(weir__draft *draft, const weir_cond *cond, weir_type type) {
  const char *before = " IN (";
  for (size_t i = 0; i < cond->count; i++) {
    if (is_of(&cond->values[i], type)) {
      weir__draft_sql(draft, before);
      weir__draft_value(draft, cond->values[i]);
      before = ", ";
    }
  }
  weir__draft_sql(draft, ")");
}

static void add_one_of(const struct subject *of, const weir_cond *cond) {
  static const weir_type classes[] = {WEIR_TYPE_TEXT, WEIR_TYPE_INT, WEIR_TYPE_BOOL};
  weir__draft_sql(of->draft, "(0");
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    if (has_any(cond, classes[i])) {
      weir__draft_sql(of->draft, " OR ");
      begin_test(of, cond, classes[i]);
      if (cond->count <= FEW) {
        add_few(of->draft, cond, classes[i]);
      } else {
        weir__draft_sql(of->draft, " IN (SELECT value FROM json_each(");
        add_set(of->draft, cond, classes[i]);
        weir__draft_sql(of->draft, "))");
      }
      weir__draft_sql(of->draft, ", 0)");
    }
  }
  weir__draft_sql(of->draft, ")");
}

static void add_contains(const struct subject *of, const weir_cond *cond) {
  const char *props = of->target == WEIR_NODES ? "n.props" : "e.props";
  weir__draft_sql(of->draft, "(ifnull(");
  add_json(of->draft, "json_type", props, cond->path, add_path);
  weir__draft_sql(of->draft, " = 'array', 0) AND EXISTS (SELECT 1 FROM ");
  add_json(of->draft, "json_each", props, cond->path, add_path);
  weir__draft_sql(of->draft, " j WHERE j.type IN ");
  weir__draft_sql(of->draft, types_of(cond->value.type));
  weir__draft_sql(of->draft, " AND j.value = ");
  weir__draft_value(of->draft, cond->value);
  weir__draft_sql(of->draft, "))");
}

static void add_present(const struct subject *of, const weir_cond *cond) {
  weir__draft_sql(of->draft, "ifnull(");
  add_json(of->draft, "json_type", of->target == WEIR_NODES ? "n.props" : "e.props", cond->path, add_path);
  weir__draft_sql(of->draft, " <> 'null', 0)");
}

static int add_label(const struct subject *of, const weir_cond *cond, weir_error *err) {
  int64_t label;
  int rc = weir__label_find(of->txn, cond->value.text, &label, err);
  if (rc) {
    return rc;
  }
  if (of->target == WEIR_EDGES) {
    weir__draft_sql(of->draft, "e.label = ");
    weir__draft_int(of->draft, label);
  } else {
    weir__draft_sql(of->draft, "n.label_set IN (SELECT label_set FROM label_set_member WHERE label = ");
    weir__draft_int(of->draft, label);
    weir__draft_sql(of->draft, ")");
  }
  return WEIR_OK;
}

static int add_cond(const struct subject *of, const weir_cond *cond, weir_error *err);

/* The parts of a WEIR_AND or WEIR_OR. Parts with the same operator get no parentheses: SQLite's parser has
 * room for about thirty within one another. */
static int add_list(const struct subject *of, const weir_cond *cond, weir_error *err) {
  int rc = WEIR_OK;
  if (cond->count == 0) {
    weir__draft_sql(of->draft, cond->op == WEIR_AND ? "1" : "0");
  }
  for (size_t i = 0; i < cond->count && rc == WEIR_OK; i++) {
    const weir_cond *part = &cond->parts[i];
    if (i > 0) {
      weir__draft_sql(of->draft, cond->op == WEIR_AND ? " AND " : " OR ");
    }
    rc = part->op == cond->op ? add_list(of, part, err) : add_cond(of, part, err);
  }
  return rc;
}

static int add_parts(const struct subject *of, const weir_cond *cond, weir_error *err) {
  weir__draft_sql(of->draft, cond->op == WEIR_NOT ? "NOT (" : "(");
  int rc = cond->op == WEIR_NOT ? add_cond(of, cond->parts, err) : add_list(of, cond, err);
  weir__draft_sql(of->draft, ")");
  return rc;
}

static int add_cond(const struct subject *of, const weir_cond *cond, weir_error *err) {
  switch (cond->op) {
  case WEIR_ALWAYS:
    weir__draft_sql(of->draft, "1");
    return WEIR_OK;
  case WEIR_PREFIX:
    add_prefix(of, cond);
    return WEIR_OK;
  case WEIR_ONE_OF:
    add_one_of(of, cond);
    return WEIR_OK;
  case WEIR_CONTAINS:
    add_contains(of, cond);
    return WEIR_OK;
  case WEIR_PRESENT:
    add_present(of, cond);
    return WEIR_OK;
  case WEIR_HAS_LABEL:
    return add_label(of, cond, err);
  case WEIR_AND:
  case WEIR_OR:
  case WEIR_NOT:
    return add_parts(of, cond, err);
  default:
    add_compare(of, cond);
    return WEIR_OK;
  }
}

int weir__draft_cond(weir__draft *draft, weir_txn *txn, weir_target target, const weir_cond *cond,
                     weir_error *err) {
  const struct subject of = {draft, txn, target};
  if (!cond) {
    weir__draft_sql(draft, "1");
    return WEIR_OK;
  }
  return add_cond(&of, cond, err);
}
