/*
 * From the text of a field to a value: JSON for props, numbers for weight and rank. Text comes with a NUL
 * behind it that is not counted.
 */
#ifndef WEIR_IO_VALUE_H
#define WEIR_IO_VALUE_H

#include <locale.h>
#include <stdint.h>

#include <weir/pool.h>

/* A growing run of bytes that is reused from row to row. Zero it to begin with. */
typedef struct weir__bytes {
  char *ptr;
  size_t len;
  size_t cap;
} weir__bytes;

/* Makes room for `more` bytes behind the end. Errors: WEIR_NOMEM, as of all that append. */
int weir__bytes_reserve(weir__bytes *bytes, size_t more);

int weir__bytes_append(weir__bytes *bytes, const char *ptr, size_t len);

/* Frees the memory; the run is empty again. */
void weir__bytes_clear(weir__bytes *bytes);

/* Appends `text`, which is UTF-8 without NUL, as a JSON string. */
int weir__json_string(weir__bytes *json, weir_text text);

/* Appends `text` as it is if it is spelled as a JSON number that fits 64 bits (integers) or a double
 * (others), or is true or false; as a JSON string otherwise. */
int weir__json_value(weir__bytes *json, weir_text text, locale_t c_locale);

/* 1 and *out if the whole of `text` is a finite decimal number; else 0. */
int weir__parse_real(weir_text text, locale_t c_locale, double *out);

/* 1 and *out if the whole of `text` is a decimal integer of 64 bits; else 0. */
int weir__parse_int(weir_text text, int64_t *out);

#endif
