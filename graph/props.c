/*
 * Props are JSON objects in the words of RFC 8259, parsed by jansson: names in an object are unique, integers
 * have 64 bits, and a NUL (\u0000) is refused, since text reaches users as C strings too. They are stored as
 * the bytes that were given; only a merge writes them anew.
 *
 * jansson is used with its own allocator, and no pointer of its memory leaves this file but for patches.
 */
#include "props.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "internal.h"

/* 17 digits tell any two doubles apart; 15 survive the way there and back. */
#define DIGITS_LEAST 15
#define DIGITS_MOST  17

/* ---- Parsing ----------------------------------------------------------------------------------------- */

static int parse_failed(const json_error_t *error, const char *what, weir_error *err) {
  switch (json_error_code(error)) {
  case json_error_out_of_memory:
    return weir_fail(err, WEIR_NOMEM, "out of memory for %s", what);
  case json_error_numeric_overflow:
    return weir_fail(err, WEIR_INVALID,
                     "%s: the number before byte %d is beyond 64 bits: give it as a string", what,
                     error->position);
  case json_error_null_character:
  case json_error_null_byte_in_key:
    return weir_fail(err, WEIR_INVALID, "%s: the string before byte %d holds a NUL", what, error->position);
  case json_error_stack_overflow:
    return weir_fail(err, WEIR_INVALID, "%s: nested too deeply near byte %d", what, error->position);
  default:
    return weir_fail(err, WEIR_INVALID, "%s: not a JSON object, near byte %d: %s", what, error->position,
                     error->text);
  }
}

/* Is the text, which was parsed, nested deeper than SQLite reads it? Then no condition and no index could. */
static int is_too_deep(weir_text text) {
  const char *end = text.ptr + text.len;
  int depth = 0;
  int quoted = 0;
  if (text.len < (size_t)2 * WEIR_PROPS_DEPTH) { /* each level takes two bytes */
    return 0;
  }
  for (const char *at = text.ptr; at < end && depth <= WEIR_PROPS_DEPTH; at++) {
    if (*at == '"') {
      quoted = !quoted;
    } else if (quoted) {
      at += *at == '\\'; /* what follows is of the string */
    } else {
      depth += *at == '{' || *at == '[';
      depth -= *at == '}' || *at == ']';
    }
  }
  return depth > WEIR_PROPS_DEPTH;
}

/* Parses `text` as an object. jansson checks UTF-8 too, but reads over a NUL that follows a number. */
static int parse(weir_text text, const char *what, json_t **out, weir_error *err) {
  *out = NULL;
  int rc = weir__text_check(text, what, 0, WEIR_PROPS_MAX, err);
  if (rc) {
    return rc;
  }
  if (text.len == 0) {
    text = (weir_text)WEIR_TEXT("{}");
  }
  json_error_t error;
  json_t *json = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &error);
  if (!json) {
    return parse_failed(&error, what, err);
  }
  if (!json_is_object(json)) {
    json_decref(json);
    return weir_fail(err, WEIR_INVALID, "%s: not a JSON object but an array, near byte 0", what);
  }
  if (is_too_deep(text)) {
    json_decref(json);
    return weir_fail(err, WEIR_INVALID, "%s: nested too deeply, more than %d levels", what, WEIR_PROPS_DEPTH);
  }
  *out = json;
  return WEIR_OK;
}

int weir__props_check(weir_text props, weir_error *err) {
  if (props.len == 0 || (props.len == 2 && props.ptr && memcmp(props.ptr, "{}", 2) == 0)) {
    return WEIR_OK;
  }
  json_t *json;
  int rc = parse(props, "props", &json, err);
  json_decref(json);
  return rc;
}

int weir__patch_parse(weir_text patch, struct json_t **out, weir_error *err) {
  return parse(patch, "patch", out, err);
}

void weir__patch_free(struct json_t *patch) {
  json_decref(patch);
}

int weir__patch_new(struct json_t **out, weir_error *err) {
  *out = json_object();
  return *out ? WEIR_OK : weir_fail(err, WEIR_NOMEM, "out of memory for a patch");
}

static json_t *json_of(const weir_value *value) {
  switch (value->type) {
  case WEIR_TYPE_INT:
    return json_integer(value->integer);
  case WEIR_TYPE_REAL:
    return json_real(value->real);
  case WEIR_TYPE_TEXT:
    return json_stringn(value->text.ptr, value->text.len);
  default:
    return json_null();
  }
}

int weir__patch_set(struct json_t *patch, const char *name, const weir_value *value, weir_error *err) {
  return json_object_set_new(patch, name, json_of(value)) /* also if that is NULL */
             ? weir_fail(err, WEIR_NOMEM, "out of memory for a patch")
             : WEIR_OK;
}

/* ---- Merging ------------------------------------------------------------------------------------------- */

static int no_memory(weir_error *err) {
  return weir_fail(err, WEIR_NOMEM, "out of memory for merged props");
}

static int merge_object(json_t *target, json_t *patch, int *changed, weir_error *err);

/* Gives `name` in `target` the value of a member of a patch. */
static int merge_member(json_t *target, const char *name, json_t *value, int *changed, weir_error *err) {
  json_t *old = json_object_get(target, name);
  if (json_is_null(value)) {
    if (old) {
      *changed = 1;
      (void)json_object_del(target, name); /* it is there */
    }
    return WEIR_OK;
  }
  if (!json_is_object(value)) {
    if (old && json_equal(old, value)) {
      return WEIR_OK;
    }
    *changed = 1;
    return json_object_set(target, name, value) ? no_memory(err) : WEIR_OK;
  }
  if (!json_is_object(old)) {
    *changed = 1;
    old = json_object();
    if (json_object_set_new(target, name, old)) { /* also if old is NULL */
      return no_memory(err);
    }
  }
  return merge_object(old, value, changed, err);
}

/* MergePatch of RFC 7396. `target` belongs to the document alone; values of the patch that are no objects are
 * shared and not changed. */
static int merge_object(json_t *target, json_t *patch, int *changed, weir_error *err) {
  const char *name;
  json_t *value;
  int rc = WEIR_OK;
  json_object_foreach(patch, name, value) {
    rc = merge_member(target, name, value, changed, err);
    if (rc) {
      break;
    }
  }
  return rc;
}

/* The least number of digits with which all reals in `json` keep their value. */
static int digits_for(json_t *json, int least) {
  if (json_is_real(json)) {
    for (double value = json_real_value(json); least < DIGITS_MOST; least++) {
      char text[32];
      (void)snprintf(text, sizeof text, "%.*g", least, value);
      if (strtod(text, NULL) == value) {
        break;
      }
    }
  } else if (json_is_array(json)) {
    for (size_t i = 0; i < json_array_size(json); i++) {
      least = digits_for(json_array_get(json, i), least);
    }
  } else if (json_is_object(json)) {
    const char *name;
    json_t *value;
    json_object_foreach(json, name, value) {
      least = digits_for(value, least);
    }
  }
  return least;
}

static int print(json_t *json, char **out, size_t *out_len, weir_error *err) {
  size_t flags = JSON_COMPACT | JSON_REAL_PRECISION((size_t)digits_for(json, DIGITS_LEAST));
  size_t len = json_dumpb(json, NULL, 0, flags);
  if (len > WEIR_PROPS_MAX) {
    return weir_fail(err, WEIR_INVALID, "merged props have %zu bytes: at most %d are stored", len,
                     WEIR_PROPS_MAX);
  }
  char *text = len ? malloc(len) : NULL;
  if (!text || json_dumpb(json, text, len, flags) != len) {
    free(text);
    return no_memory(err);
  }
  *out = text;
  *out_len = len;
  return WEIR_OK;
}

int weir__props_merge(weir_text props, struct json_t *patch, char **out, size_t *len, weir_error *err) {
  json_t *json;
  int changed = 0;
  *out = NULL;
  int rc = parse(props, "stored props", &json, err);
  if (rc == WEIR_OK) {
    rc = merge_object(json, patch, &changed, err);
  }
  if (rc == WEIR_OK && changed) {
    rc = print(json, out, len, err);
  }
  json_decref(json);
  return rc;
}

/* ---- Members ------------------------------------------------------------------------------------------- */

/* Parses props and finds a member. *json is to be released in every case. */
static int get_member(weir_text props, const char *name, const void *out, json_t **json,
                      const json_t **member, weir_error *err) {
  *json = NULL;
  if (!name || !out) {
    return weir_fail(err, WEIR_INVALID, "%s is NULL", name ? "out" : "name");
  }
  int rc = parse(props, "props", json, err);
  if (rc) {
    return rc;
  }
  *member = json_object_get(*json, name);
  if (!*member || json_is_null(*member)) {
    return weir_fail(err, WEIR_NOT_FOUND, "props have no member \"%.*s\"", WEIR__SHOW(weir_str(name)));
  }
  return WEIR_OK;
}

static int wrong_type(const char *name, const char *wanted, weir_error *err) {
  return weir_fail(err, WEIR_INVALID, "the member \"%.*s\" is not %s", WEIR__SHOW(weir_str(name)), wanted);
}

int weir_props_int(weir_text props, const char *name, int64_t *out, weir_error *err) {
  json_t *json;
  const json_t *member = NULL;
  int rc = get_member(props, name, out, &json, &member, err);
  if (rc == WEIR_OK && !json_is_integer(member)) {
    rc = wrong_type(name, "an integer", err);
  }
  if (rc == WEIR_OK) {
    *out = json_integer_value(member);
  }
  json_decref(json);
  return rc;
}

int weir_props_real(weir_text props, const char *name, double *out, weir_error *err) {
  json_t *json;
  const json_t *member = NULL;
  int rc = get_member(props, name, out, &json, &member, err);
  if (rc == WEIR_OK && !json_is_number(member)) {
    rc = wrong_type(name, "a number", err);
  }
  if (rc == WEIR_OK) {
    *out = json_number_value(member);
  }
  json_decref(json);
  return rc;
}

int weir_props_bool(weir_text props, const char *name, int *out, weir_error *err) {
  json_t *json;
  const json_t *member = NULL;
  int rc = get_member(props, name, out, &json, &member, err);
  if (rc == WEIR_OK && !json_is_boolean(member)) {
    rc = wrong_type(name, "true or false", err);
  }
  if (rc == WEIR_OK) {
    *out = json_is_true(member);
  }
  json_decref(json);
  return rc;
}

int weir_props_text(weir_text props, const char *name, weir_text *out, weir_arena *arena, weir_error *err) {
  json_t *json = NULL;
  const json_t *member = NULL;
  int rc = weir__check_set(arena, "arena", err);
  if (rc == WEIR_OK) {
    rc = get_member(props, name, out, &json, &member, err);
  }
  if (rc == WEIR_OK && !json_is_string(member)) {
    rc = wrong_type(name, "a string", err);
  }
  if (rc == WEIR_OK) {
    size_t len = json_string_length(member);
    weir__arena_reset(arena); /* only now: props may lie in it */
    char *text = weir__arena_alloc(arena, len + 1, err);
    if (text) {
      memcpy(text, json_string_value(member), len + 1);
      *out = (weir_text){text, len};
    } else {
      rc = WEIR_NOMEM;
    }
  }
  json_decref(json);
  return rc;
}
