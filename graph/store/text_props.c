/*
 * weir_text(props, path).
 *
 * It reads the props as they are stored, without making a tree of them: one pass to the property, and one
 * over it. The path is as weir__path_write makes it, and means what it means to SQLite. Props are JSON that
 * was checked; of what is not, something is made, within its bounds.
 */
#include "text_props.h"

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

/* What is left of the text of props, or of a path. */
struct span {
  const char *at;
  const char *end;
};

static int is_at(const struct span *span, char c) {
  return span->at < span->end && *span->at == c;
}

/* Moves behind the character if it is there. */
static int take(struct span *span, char c) {
  int there = is_at(span, c);
  span->at += there;
  return there;
}

static void skip_space(struct span *json) {
  while (is_at(json, ' ') || is_at(json, '\n') || is_at(json, '\t') || is_at(json, '\r')) {
    json->at++;
  }
}

/* Reads the string at hand; *inside: between its quotes, as it is written. */
static int take_string(struct span *json, struct span *inside) {
  if (!take(json, '"')) {
    return 0;
  }
  inside->at = json->at;
  while (json->at < json->end && *json->at != '"') {
    json->at += *json->at == '\\' && json->end - json->at > 1 ? 2 : 1;
  }
  inside->end = json->at;
  return take(json, '"');
}

/* Moves behind the value at hand. */
static void skip_value(struct span *json) {
  static const char ends[] = ",]} \n\t\r"; /* of a number */
  struct span inside;
  int depth = 0;
  do {
    skip_space(json);
    if (is_at(json, '"')) {
      (void)take_string(json, &inside); /* at worst, to the end */
    } else if (is_at(json, '{') || is_at(json, '[')) {
      depth++;
      json->at++;
    } else if (is_at(json, '}') || is_at(json, ']')) {
      depth--;
      json->at++;
    } else {
      json->at += json->at < json->end;
      while (depth == 0 && json->at < json->end && !memchr(ends, *json->at, sizeof ends - 1)) {
        json->at++;
      }
    }
  } while (depth > 0 && json->at < json->end);
}

/* ---- Paths ------------------------------------------------------------------------------------------------
 */

/* Moves to the value of the member; 0: there is none. */
static int enter_member(struct span *json, const struct span *name) {
  size_t len = (size_t)(name->end - name->at);
  struct span key;
  if (!take(json, '{')) {
    return 0;
  }
  do {
    skip_space(json);
    if (!take_string(json, &key)) {
      return 0;
    }
    skip_space(json);
    if (!take(json, ':')) {
      return 0;
    }
    skip_space(json);
    if ((size_t)(key.end - key.at) == len && memcmp(key.at, name->at, len) == 0) {
      return 1;
    }
    skip_value(json);
    skip_space(json);
  } while (take(json, ','));
  return 0;
}

/* Moves to an element of an array; 0: there is none. */
static int enter_element(struct span *json, int64_t index) {
  if (!take(json, '[')) {
    return 0;
  }
  skip_space(json);
  while (json->at < json->end && !is_at(json, ']')) {
    if (index-- == 0) {
      return 1;
    }
    skip_value(json);
    skip_space(json);
    (void)take(json, ',');
    skip_space(json);
  }
  return 0;
}

static int64_t count_elements(struct span json) {
  int64_t count = 0;
  int more = take(&json, '[');
  for (skip_space(&json); more && json.at < json.end && !is_at(&json, ']'); count++) {
    skip_value(&json);
    skip_space(&json);
    more = take(&json, ',');
    skip_space(&json);
  }
  return count;
}

static int64_t take_number(struct span *path) {
  int64_t number = 0;
  while (path->at < path->end && *path->at >= '0' && *path->at <= '9' && number < INT32_MAX) {
    number = 10 * number + (*path->at++ - '0');
  }
  return number;
}

/* Moves along one step of the path, ."name", [3] or [#-3]. */
static int enter_step(struct span *json, struct span *path) {
  struct span name;
  skip_space(json);
  if (take(path, '.')) {
    return take_string(path, &name) && enter_member(json, &name);
  }
  if (!take(path, '[')) {
    return 0;
  }
  int64_t index = 0;
  if (take(path, '#')) {
    int64_t back = take(path, '-') ? take_number(path) : 0;
    index = count_elements(*json) - back;
  } else {
    index = take_number(path);
  }
  return take(path, ']') && index >= 0 && enter_element(json, index);
}

/* ---- Strings ----------------------------------------------------------------------------------------------
 */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four digits; a question mark, which takes no more bytes than what is there, if they are not. */
static uint32_t take_hex(struct span *from) {
  uint32_t code = 0;
  for (int i = 0; i < 4; i++) {
    int digit = from->at < from->end ? hex_digit(*from->at) : -1;
    if (digit < 0) {
      return '?';
    }
    code = code << 4 | (uint32_t)digit;
    from->at++;
  }
  return code;
}

/* The character of a \u, whose u is behind us. */
static uint32_t take_code(struct span *from) {
  uint32_t code = take_hex(from);
  if (code >= 0xD800 && code <= 0xDBFF && from->end - from->at >= 6 && from->at[0] == '\\' &&
      from->at[1] == 'u') {
    from->at += 2;
    uint32_t low = take_hex(from);
    return low >= 0xDC00 && low <= 0xDFFF ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
  }
  return code == 0 || (code >= 0xD800 && code <= 0xDFFF) ? 0xFFFD : code;
}

static char *put_code(char *to, uint32_t code) {
  if (code < 0x80) {
    *to++ = (char)code;
    return to;
  }
  if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      *to++ = (char)(0xE0 | code >> 12);
    } else {
      *to++ = (char)(0xF0 | code >> 18);
      *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    }
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
  }
  *to++ = (char)(0x80 | (code & 0x3F));
  return to;
}

/* Writes what the string says, in no more bytes than it is written in. */
static char *put_string(char *to, struct span from) {
  static const char escapes[] = "bfnrt";
  static const char meanings[] = "\b\f\n\r\t";
  while (from.at < from.end) {
    char c = *from.at++;
    if (c != '\\' || from.at == from.end) {
      *to++ = c;
      continue;
    }
    c = *from.at++;
    const char *escape = strchr(escapes, c);
    if (c == 'u') {
      to = put_code(to, take_code(&from));
    } else if (c && escape) {
      *to++ = meanings[escape - escapes];
    } else {
      *to++ = c;
    }
  }
  return to;
}

/* Writes all strings of the value at hand, but for names of members. *count: how many there are. */
static char *put_strings(char *to, struct span json, size_t *count) {
  struct span all = json;
  struct span string;
  skip_value(&all);
  json.end = all.at;
  while (json.at < json.end) {
    if (!is_at(&json, '"')) {
      json.at++;
      continue;
    }
    int whole = take_string(&json, &string);
    skip_space(&json);
    if (whole && !is_at(&json, ':')) {
      if ((*count)++ > 0) {
        *to++ = '\n';
      }
      to = put_string(to, string);
    }
  }
  return to;
}

/* ---- The function -----------------------------------------------------------------------------------------
 */

static void text_function(sqlite3_context *context, int arguments, sqlite3_value **values) {
  struct span json = {(const char *)sqlite3_value_text(values[0]), NULL};
  struct span path = {(const char *)sqlite3_value_text(values[1]), NULL};
  size_t count = 0;
  (void)arguments; /* SQLite sees to it */
  if (!json.at || !path.at) {
    return; /* NULL */
  }
  json.end = json.at + sqlite3_value_bytes(values[0]);
  path.end = path.at + sqlite3_value_bytes(values[1]);
  int there = take(&path, '$');
  while (there && path.at < path.end) {
    there = enter_step(&json, &path);
  }
  skip_space(&json);
  if (!there || (!is_at(&json, '"') && !is_at(&json, '['))) {
    return;
  }
  struct span whole = json;
  skip_value(&whole);
  char *text = sqlite3_malloc64((sqlite3_uint64)(whole.at - json.at) + 1);
  if (!text) {
    sqlite3_result_error_nomem(context);
    return;
  }
  char *end = put_strings(text, json, &count);
  if (count == 0) {
    sqlite3_free(text);
    return;
  }
  sqlite3_result_text64(context, text, (sqlite3_uint64)(end - text), sqlite3_free, SQLITE_UTF8);
}

int weir__text_function_add(sqlite3 *db) {
  return sqlite3_create_function_v2(db, "weir_text", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                    NULL, text_function, NULL, NULL, NULL);
}
