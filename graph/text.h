/* Checks of text that comes in, and what error messages show of it. */
#ifndef WEIR_GRAPH_TEXT_H
#define WEIR_GRAPH_TEXT_H

#include <weir/pool.h>

/* WEIR_OK if `text` is `least` to `most` bytes of UTF-8 without a NUL; else WEIR_INVALID, and the message
 * calls it `what`. */
int weir__text_check(weir_text text, const char *what, size_t least, size_t most, weir_error *err);

/* How many bytes from the start are UTF-8 without a NUL. */
size_t weir__text_valid(weir_text text);

/* How many bytes of `text` a message shows: all, or as many whole characters as fit in about 60 bytes. */
int weir__text_shown(weir_text text);

/* Two arguments for "%.*s". */
#define WEIR__SHOW(text) weir__text_shown(text), (text).ptr

/* 1 if both hold the same bytes. */
static inline int weir__text_same(weir_text a, weir_text b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Copies `text` and a NUL to *at, and moves *at behind them. */
static inline weir_text weir__text_copy(char **at, weir_text text) {
  weir_text copy = {*at, text.len};
  memcpy(*at, text.ptr, text.len);
  (*at)[text.len] = '\0';
  *at += text.len + 1;
  return copy;
}

#endif
