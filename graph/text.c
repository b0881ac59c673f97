/*
 * UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF. A NUL is refused as
 * well, since text reaches SQLite and users as C strings too.
 */
#include "text.h"

#include <stdint.h>

#define SHOWN_MAX 60

/* 1 if all eight bytes are ASCII and none is NUL. */
static int ascii8(const unsigned char *bytes) {
  const uint64_t high = UINT64_C(0x8080808080808080);
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  /* Without high bits set, subtracting 1 from a byte sets its high bit only if it was 0, or a neighbor
   * borrowed, and then that one was 0. */
  return ((word | (word - UINT64_C(0x0101010101010101))) & high) == 0;
}

/* The length of the valid sequence that `bytes` begins with; 0 if there is none. */
static size_t sequence(const unsigned char *bytes, size_t left) {
  unsigned char lead = bytes[0];
  unsigned char low = 0x80;
  unsigned char high = 0xBF; /* bounds of the second byte */
  size_t length;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
  } else {
    return 0;
  }
  if (lead == 0xE0) {
    low = 0xA0;
  } else if (lead == 0xED) {
    high = 0x9F;
  } else if (lead == 0xF0) {
    low = 0x90;
  } else if (lead == 0xF4) {
    high = 0x8F;
  }
  if (left < length || bytes[1] < low || bytes[1] > high) {
    return 0;
  }
  for (size_t i = 2; i < length; i++) {
    if ((bytes[i] & 0xC0) != 0x80) {
      return 0;
    }
  }
  return length;
}

size_t weir__text_valid(weir_text text) {
  const unsigned char *bytes = (const unsigned char *)text.ptr;
  size_t len = text.len;
  size_t at = 0;
  while (at < len) {
    if (len - at >= 8 && ascii8(bytes + at)) {
      at += 8;
      continue;
    }
    if (bytes[at] != 0 && bytes[at] < 0x80) { /* keys and names are short, and most often ASCII */
      at++;
      continue;
    }
    size_t length = sequence(bytes + at, len - at);
    if (length == 0) {
      break;
    }
    at += length;
  }
  return at;
}

int weir__text_check(weir_text text, const char *what, size_t least, size_t most, weir_error *err) {
  if (text.ptr == NULL && text.len > 0) {
    return weir_fail(err, WEIR_INVALID, "%s is NULL with a length of %zu", what, text.len);
  }
  if (text.len < least) {
    return weir_fail(err, WEIR_INVALID, "%s is empty: give %zu to %zu bytes", what, least, most);
  }
  if (text.len > most) {
    return weir_fail(err, WEIR_INVALID, "%s has %zu bytes: give at most %zu", what, text.len, most);
  }
  size_t valid = weir__text_valid(text);
  if (valid == text.len) {
    return WEIR_OK;
  }
  if (text.ptr[valid] == '\0') {
    return weir_fail(err, WEIR_INVALID, "%s holds a NUL at byte %zu", what, valid);
  }
  return weir_fail(err, WEIR_INVALID, "%s is not UTF-8 at byte %zu", what, valid);
}

int weir__text_shown(weir_text text) {
  size_t shown = text.len;
  if (shown > SHOWN_MAX) {
    for (shown = SHOWN_MAX; shown > 0 && ((unsigned char)text.ptr[shown] & 0xC0) == 0x80;) {
      shown--;
    }
  }
  return (int)shown;
}
