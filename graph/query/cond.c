/*
 * Checks and copies of conditions.
 *
 * A path is `$` and steps: .name, ."name", [3], [#-3]. SQLite finds the end of a quoted name at the next
 * quote, and compares names with the bytes that stand in the JSON text, so neither a quote nor a backslash
 * can be in one.
 */
#include "cond.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"

/* ---- Paths ----------------------------------------------------------------------------------------- */

/* One step of a path. */
struct step {
  const char *name; /* NULL: an index, which stands in `whole` */
  size_t name_len;
  const char *whole;
  size_t whole_len;
};

static size_t digits(const char *at, const char *end) {
  const char *from = at;
  while (at < end && *at >= '0' && *at <= '9') {
    at++;
  }
  return (size_t)(at - from);
}

/* Reads [3] or [#-3] or [#]. */
static int read_index(const char **at, const char *end, struct step *step) {
  const char *p = *at + 1;
  if (p < end && *p == '#') {
    p++;
    if (p < end && *p == '-') {
      size_t count = digits(p + 1, end);
      p += count + 1;
      if (count == 0 || count > 9) {
        return 0;
      }
    }
  } else {
    size_t count = digits(p, end);
    p += count;
    if (count == 0 || count > 9) {
      return 0;
    }
  }
  if (p == end || *p != ']') {
    return 0;
  }
  *step = (struct step){.whole = *at, .whole_len = (size_t)(p + 1 - *at)};
  *at = p + 1;
  return 1;
}

/* Reads .name or ."name". */
static int read_name(const char **at, const char *end, struct step *step) {
  const char *from = *at + 1;
  int quoted = from < end && *from == '"';
  from += quoted;
  const char *p = from;
  while (p < end && *p != '"' && *p != '\\' && (quoted || (*p != '.' && *p != '['))) {
    p++;
  }
  if (p == from || (quoted ? p == end || *p != '"' : p < end && *p != '.' && *p != '[')) {
    return 0;
  }
  *step = (struct step){.name = from, .name_len = (size_t)(p - from), .whole = *at};
  *at = p + quoted;
  return 1;
}

/* Reads the step at *at and moves on. 0: that is none. */
static int read_step(const char **at, const char *end, struct step *step) {
  if (**at == '[') {
    return read_index(at, end, step);
  }
  return **at == '.' && read_name(at, end, step);
}

int weir__path_check(weir_text path, const char *what, weir_error *err) {
  int rc = weir__text_check(path, what, 1, WEIR_PATH_MAX, err);
  if (rc) {
    return rc;
  }
  if (path.ptr[0] != '$') {
    if (memchr(path.ptr, '"', path.len) || memchr(path.ptr, '\\', path.len)) {
      return weir_fail(err, WEIR_INVALID,
                       "%s \"%.*s\": a name with a quote or a backslash cannot be asked for", what,
                       WEIR__SHOW(path));
    }
    return WEIR_OK;
  }
  const char *at = path.ptr + 1;
  const char *end = path.ptr + path.len;
  struct step step;
  if (at == end) {
    return weir_fail(err, WEIR_INVALID, "%s \"$\" is the props as a whole: name a member, as in \"$.age\"",
                     what);
  }
  while (at < end) {
    if (!read_step(&at, end, &step)) {
      return weir_fail(err, WEIR_INVALID,
                       "%s \"%.*s\" is wrong at byte %zu: steps are .name, .\"name\", [0] and [#-1]", what,
                       WEIR__SHOW(path), (size_t)(at - path.ptr));
    }
  }
  return WEIR_OK;
}

static void put(char **to, const char *bytes, size_t len) {
  memcpy(*to, bytes, len);
  *to += len;
}

static void put_name(char **to, const char *name, size_t len) {
  put(to, ".\"", 2);
  put(to, name, len);
  put(to, "\"", 1);
}

size_t weir__path_write(weir_text path, char out[WEIR__PATH_ROOM]) {
  char *to = out;
  put(&to, "$", 1);
  if (path.ptr[0] != '$') {
    put_name(&to, path.ptr, path.len);
  } else {
    const char *at = path.ptr + 1;
    const char *end = path.ptr + path.len;
    struct step step;
    while (at < end && read_step(&at, end, &step)) {
      if (step.name) {
        put_name(&to, step.name, step.name_len);
      } else {
        put(&to, step.whole, step.whole_len);
      }
    }
  }
  *to = '\0';
  return (size_t)(to - out);
}

weir_text weir__path_show(weir_text written, char out[WEIR__PATH_ROOM]) {
  weir_text shown = written;
  if (written.len > 4 && written.ptr[1] == '.' && written.ptr[3] != '$' &&
      memchr(written.ptr + 3, '"', written.len - 3) == written.ptr + written.len - 1) {
    shown = (weir_text){written.ptr + 3, written.len - 4};
  }
  return weir__text_copy(&(char *){out}, shown);
}

/* ---- Checks ----------------------------------------------------------------------------------------- */

static const char *field_name(weir_field field) {
  static const char *const names[] = {"no field",   "a property", "the key",     "rev",
                                      "the weight", "the rank",   "the key src", "the key dst"};
  return (size_t)field < sizeof names / sizeof names[0] ? names[field] : "an unknown field";
}

static int is_key(weir_field field) {
  return field == WEIR_FIELD_KEY || field == WEIR_FIELD_SRC || field == WEIR_FIELD_DST;
}

static int check_field(const weir_cond *cond, weir_target target, weir_error *err) {
  switch (cond->field) {
  case WEIR_FIELD_PROP:
    return weir__path_check(cond->path, "path", err);
  case WEIR_FIELD_REV:
    return WEIR_OK;
  case WEIR_FIELD_KEY:
    if (target == WEIR_NODES) {
      return WEIR_OK;
    }
    break;
  case WEIR_FIELD_WEIGHT:
  case WEIR_FIELD_RANK:
  case WEIR_FIELD_SRC:
  case WEIR_FIELD_DST:
    if (target == WEIR_EDGES) {
      return WEIR_OK;
    }
    break;
  case WEIR_FIELD_NONE:
  default:
    break;
  }
  if (cond->field == WEIR_FIELD_NONE) {
    return weir_fail(err, WEIR_INVALID, "a condition has no field: set it, for instance to WEIR_FIELD_PROP");
  }
  return weir_fail(err, WEIR_INVALID, "a condition has field %d: that is %s, which %s do not have",
                   (int)cond->field, field_name(cond->field), target == WEIR_NODES ? "nodes" : "edges");
}

static int check_value(weir_field field, const weir_value *value, weir_error *err) {
  switch (value->type) {
  case WEIR_TYPE_BOOL:
    if (field == WEIR_FIELD_PROP) {
      return value->integer == 0 || value->integer == 1
                 ? WEIR_OK
                 : weir_fail(err, WEIR_INVALID, "a truth value is 0 or 1: make it with weir_bool");
    }
    break;
  case WEIR_TYPE_INT:
    if (!is_key(field)) {
      return WEIR_OK;
    }
    break;
  case WEIR_TYPE_REAL:
    if (!isfinite(value->real)) {
      return weir_fail(err, WEIR_INVALID, "a value to compare with is not finite");
    }
    if (!is_key(field)) {
      return WEIR_OK;
    }
    break;
  case WEIR_TYPE_TEXT:
    if (is_key(field) || field == WEIR_FIELD_PROP) {
      return weir__text_check(value->text, "value", 0, WEIR_PROPS_MAX, err);
    }
    break;
  case WEIR_TYPE_NONE:
  default:
    return weir_fail(err, WEIR_INVALID, "a condition on %s has no value: make one with weir_int and the like",
                     field_name(field));
  }
  return weir_fail(err, WEIR_INVALID, "%s is compared with %s", field_name(field),
                   value->type == WEIR_TYPE_TEXT   ? "a string"
                   : value->type == WEIR_TYPE_BOOL ? "a truth value"
                                                   : "a number");
}

static int check_set(const weir_cond *cond, weir_error *err) {
  if (cond->count > 0 && !cond->values) {
    return weir_fail(err, WEIR_INVALID, "values is NULL with a count of %zu", cond->count);
  }
  int rc = WEIR_OK;
  for (size_t i = 0; i < cond->count && rc == WEIR_OK; i++) {
    rc = check_value(cond->field, &cond->values[i], err);
  }
  return rc;
}

static int check_test(const weir_cond *cond, weir_target target, weir_error *err) {
  if (cond->op == WEIR_HAS_LABEL) {
    return weir__text_check(cond->value.text, "label", 1, WEIR_LABEL_MAX, err);
  }
  int rc = check_field(cond, target, err);
  if (rc) {
    return rc;
  }
  if (cond->op == WEIR_PRESENT) {
    return cond->field == WEIR_FIELD_PROP
               ? WEIR_OK
               : weir_fail(err, WEIR_INVALID, "WEIR_PRESENT asks for %s: it is for properties",
                           field_name(cond->field));
  }
  if (cond->op == WEIR_ONE_OF) {
    return check_set(cond, err);
  }
  if (cond->op == WEIR_CONTAINS && cond->field != WEIR_FIELD_PROP) {
    return weir_fail(err, WEIR_INVALID, "WEIR_CONTAINS asks %s: it is for properties",
                     field_name(cond->field));
  }
  if (cond->op == WEIR_PREFIX && cond->value.type != WEIR_TYPE_TEXT) {
    return weir_fail(err, WEIR_INVALID, "WEIR_PREFIX wants a string");
  }
  return check_value(cond->field, &cond->value, err);
}

/* One without an operator is an oversight, if there is anything else in it. */
static int check_always(const weir_cond *cond, weir_error *err) {
  if (cond->field != WEIR_FIELD_NONE || cond->path.len > 0 || cond->value.type != WEIR_TYPE_NONE ||
      cond->values || cond->parts || cond->count > 0) {
    return weir_fail(err, WEIR_INVALID, "a condition has no operator: set op, for instance to WEIR_EQ");
  }
  return WEIR_OK;
}

/* What there may still be in a condition. */
struct room {
  size_t parts;
  int depth;
};

/* Checks a condition that is a part of a `within`; WEIR_ALWAYS: of none. */
static int check(const weir_cond *cond, weir_op within, weir_target target, struct room *room,
                 weir_error *err) {
  if (room->parts == 0) {
    return weir_fail(err, WEIR_INVALID, "a condition of more than %d parts", WEIR_COND_MAX);
  }
  room->parts--;
  if (cond->op < WEIR_AND) {
    return cond->op == WEIR_ALWAYS ? check_always(cond, err) : check_test(cond, target, err);
  }
  if (cond->op > WEIR_NOT) {
    return weir_fail(err, WEIR_INVALID, "a condition has operator %d, which is none", (int)cond->op);
  }
  if ((cond->op == WEIR_NOT && cond->count != 1) || (cond->count > 0 && !cond->parts)) {
    return weir_fail(err, WEIR_INVALID,
                     "a condition has %zu parts%s: WEIR_NOT wants one, WEIR_AND and WEIR_OR any number",
                     cond->count, cond->count > 0 && !cond->parts ? " that are NULL" : "");
  }
  int deeper = cond->op != within || cond->op == WEIR_NOT;
  if (room->depth < deeper) {
    return weir_fail(err, WEIR_INVALID, "a condition more than %d deep", WEIR_COND_DEPTH);
  }
  int rc = WEIR_OK;
  room->depth -= deeper;
  for (size_t i = 0; i < cond->count && rc == WEIR_OK; i++) {
    rc = check(&cond->parts[i], cond->op, target, room, err);
  }
  room->depth += deeper;
  return rc;
}

int weir__cond_check(const weir_cond *cond, weir_target target, weir_error *err) {
  struct room room = {WEIR_COND_MAX, WEIR_COND_DEPTH};
  return cond ? check(cond, WEIR_ALWAYS, target, &room, err) : WEIR_OK;
}

/* ---- Copies ------------------------------------------------------------------------------------------ */

static int is_compound(const weir_cond *cond) {
  return cond->op == WEIR_AND || cond->op == WEIR_OR || cond->op == WEIR_NOT;
}

/* The texts that a condition and a value use; those that they do not use were not checked. */
static weir_text path_of(const weir_cond *cond) {
  int used = cond->op >= WEIR_EQ && cond->op <= WEIR_PRESENT && cond->field == WEIR_FIELD_PROP;
  return used ? cond->path : (weir_text){NULL, 0};
}

static weir_text text_of(const weir_value *value) {
  return value->type == WEIR_TYPE_TEXT ? value->text : (weir_text){NULL, 0};
}

static weir_text value_of(const weir_cond *cond) {
  if (cond->op == WEIR_HAS_LABEL) {
    return cond->value.text;
  }
  return cond->op >= WEIR_EQ && cond->op <= WEIR_CONTAINS ? text_of(&cond->value) : (weir_text){NULL, 0};
}

/* What a copy is made of: structs, then bytes, so that the former are aligned. */
struct sizes {
  size_t conds;
  size_t values;
  size_t bytes;
};

static void measure(const weir_cond *cond, struct sizes *sizes) {
  sizes->conds++;
  sizes->bytes += path_of(cond).len + value_of(cond).len + 2;
  if (cond->op == WEIR_ONE_OF) {
    sizes->values += cond->count;
    for (size_t i = 0; i < cond->count; i++) {
      sizes->bytes += text_of(&cond->values[i]).len + 1;
    }
  } else if (is_compound(cond)) {
    for (size_t i = 0; i < cond->count; i++) {
      measure(&cond->parts[i], sizes);
    }
  }
}

struct places {
  weir_cond *conds;
  weir_value *values;
  char *bytes;
};

static weir_text copy_text(struct places *at, weir_text text) {
  return text.len > 0 ? weir__text_copy(&at->bytes, text) : text;
}

static void copy_cond(const weir_cond *cond, weir_cond *to, struct places *at) {
  *to = *cond;
  to->path = copy_text(at, path_of(cond));
  to->value.text = copy_text(at, value_of(cond));
  if (cond->op == WEIR_ONE_OF) {
    weir_value *values = at->values;
    at->values += cond->count;
    for (size_t i = 0; i < cond->count; i++) {
      values[i] = cond->values[i];
      values[i].text = copy_text(at, text_of(&cond->values[i]));
    }
    to->values = values;
  } else if (is_compound(cond)) {
    weir_cond *parts = at->conds;
    at->conds += cond->count;
    for (size_t i = 0; i < cond->count; i++) {
      copy_cond(&cond->parts[i], &parts[i], at);
    }
    to->parts = parts;
  }
}

weir_cond *weir__cond_copy(const weir_cond *cond) {
  struct sizes sizes = {0};
  measure(cond, &sizes);
  size_t conds = sizes.conds * sizeof(weir_cond);
  size_t values = sizes.values * sizeof(weir_value);
  char *memory = malloc(conds + values + sizes.bytes);
  if (!memory) {
    return NULL;
  }
  weir_cond *copy = (weir_cond *)(void *)memory;
  struct places at = {
      .conds = copy + 1, .values = (weir_value *)(void *)(memory + conds), .bytes = memory + conds + values};
  copy_cond(cond, copy, &at);
  return copy;
}
