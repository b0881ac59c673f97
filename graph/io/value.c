/*
 * Values out of text. Strings are escaped here and not by the JSON library, whose values would cost several
 * allocations a field; what is written is what RFC 8259 asks for and no more. Numbers are parsed in the C
 * locale whatever the program's is.
 */
#define _GNU_SOURCE /* strtod_l */
#include "value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int weir__bytes_reserve(weir__bytes *bytes, size_t more) {
  size_t need = bytes->len + more;
  if (need <= bytes->cap)
    return WEIR_OK;
  size_t cap = bytes->cap ? bytes->cap : 256;
  while (cap < need)
    cap *= 2;
  char *ptr = realloc(bytes->ptr, cap);
  if (!ptr)
    return WEIR_NOMEM;
  bytes->ptr = ptr;
  bytes->cap = cap;
  return WEIR_OK;
}

int weir__bytes_append(weir__bytes *bytes, const char *ptr, size_t len) {
  int rc = weir__bytes_reserve(bytes, len);
  if (rc == WEIR_OK && len > 0) {
    memcpy(bytes->ptr + bytes->len, ptr, len);
    bytes->len += len;
  }
  return rc;
}

void weir__bytes_clear(weir__bytes *bytes) {
  free(bytes->ptr);
  *bytes = (weir__bytes){0};
}

/* Writes one character that a JSON string cannot hold as it is; returns the bytes written, at most 6. */
static size_t escape(char *out, unsigned char c) {
  static const char hex[] = "0123456789abcdef";
  static const char plain[] = "\"\\\b\f\n\r\t";
  static const char letter[] = "\"\\bfnrt";
  const char *found = strchr(plain, c); /* c is not NUL */
  out[0] = '\\';
  if (found) {
    out[1] = letter[found - plain];
    return 2;
  }
  out[1] = 'u';
  out[2] = '0';
  out[3] = '0';
  out[4] = hex[c >> 4];
  out[5] = hex[c & 15];
  return 6;
}

static int is_special(char c) {
  return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

int weir__json_string(weir__bytes *json, weir_text text) {
  size_t special = 0; /* counted first, so that no more memory is taken than is written */
  for (size_t i = 0; i < text.len; i++)
    special += (size_t)is_special(text.ptr[i]);
  int rc = weir__bytes_reserve(json, text.len + special * 5 + 2);
  if (rc != WEIR_OK)
    return rc;
  char *out = json->ptr + json->len;
  *out++ = '"';
  for (size_t i = 0; i < text.len; i++) {
    if (is_special(text.ptr[i]))
      out += escape(out, (unsigned char)text.ptr[i]);
    else
      *out++ = text.ptr[i];
  }
  *out++ = '"';
  json->len = (size_t)(out - json->ptr);
  return WEIR_OK;
}

static const char *skip_digits(const char *at) {
  while (*at >= '0' && *at <= '9')
    at++;
  return at;
}

/* What the grammar of JSON numbers says to a text, and whether its size needs a closer look. */
typedef struct number {
  int integer; /* without fraction and exponent */
  int large;   /* may be beyond the range of an int64_t or of a double */
} number;

/* 1 if the whole of `text` is spelled as a JSON number (RFC 8259, section 6). */
static int scan_number(weir_text text, number *out) {
  const char *at = text.ptr;
  if (*at == '-')
    at++;
  const char *digits = at;
  at = skip_digits(at);
  if (at == digits || (*digits == '0' && at - digits > 1))
    return 0;
  *out = (number){.integer = 1, .large = at - digits > 18};
  if (*at == '.') {
    const char *fraction = ++at;
    at = skip_digits(at);
    if (at == fraction)
      return 0;
    out->integer = 0;
  }
  if (*at == 'e' || *at == 'E') {
    at++;
    if (*at == '+' || *at == '-')
      at++;
    const char *exponent = at;
    at = skip_digits(at);
    if (at == exponent)
      return 0;
    *out = (number){.integer = 0, .large = 1};
  }
  return at == text.ptr + text.len;
}

static int is_json_value(weir_text text, locale_t c_locale) {
  number kind;
  int64_t integer;
  double real;
  if (text.len == 0)
    return 0;
  if (scan_number(text, &kind))
    return !kind.large ||
           (kind.integer ? weir__parse_int(text, &integer) : weir__parse_real(text, c_locale, &real));
  return (text.len == 4 && memcmp(text.ptr, "true", 4) == 0) ||
         (text.len == 5 && memcmp(text.ptr, "false", 5) == 0);
}

int weir__json_value(weir__bytes *json, weir_text text, locale_t c_locale) {
  return is_json_value(text, c_locale) ? weir__bytes_append(json, text.ptr, text.len)
                                       : weir__json_string(json, text);
}

/* strtod also takes spaces, hexadecimal, "inf" and "nan"; fields do not. */
static int only_of(weir_text text, const char *set) {
  return text.len > 0 && strspn(text.ptr, set) == text.len;
}

int weir__parse_real(weir_text text, locale_t c_locale, double *out) {
  char *end;
  if (!only_of(text, "0123456789+-.eE"))
    return 0;
  *out = strtod_l(text.ptr, &end, c_locale);
  return end == text.ptr + text.len && isfinite(*out);
}

int weir__parse_int(weir_text text, int64_t *out) {
  char *end;
  if (!only_of(text, "0123456789+-"))
    return 0;
  errno = 0;
  *out = strtoll(text.ptr, &end, 10);
  return end == text.ptr + text.len && errno == 0;
}
