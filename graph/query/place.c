/*
 * Tokens of places. The bytes are: version, question (8), the values, a check sum (4); numbers have their
 * lowest byte first. Each value is its type, and 8 bytes of number, or 8 bytes of length and a text. As text
 * they are base64 with the alphabet for URLs, without padding (RFC 4648, section 5).
 *
 * The check sum finds damage, not forgery: a place decides where a page begins, and gives no access to
 * anything that the question would not.
 */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "cond.h"

#define VERSION 1

/* ---- Hashes ----------------------------------------------------------------------------------------------
 */

/* FNV-1a, 64 bits. */
static weir__hash hash_bytes(weir__hash hash, const void *bytes, size_t len) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < len; i++) {
    hash = (hash ^ at[i]) * 1099511628211u;
  }
  return hash;
}

weir__hash weir__hash_begin(void) {
  return 14695981039346656037u;
}

weir__hash weir__hash_number(weir__hash hash, uint64_t number) {
  unsigned char bytes[8];
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (unsigned char)(number >> (8 * i));
  }
  return hash_bytes(hash, bytes, sizeof bytes);
}

weir__hash weir__hash_text(weir__hash hash, weir_text text) {
  hash = weir__hash_number(hash, text.len);
  return hash_bytes(hash, text.ptr, text.len);
}

weir__hash weir__hash_path(weir__hash hash, weir_text path) {
  char written[WEIR__PATH_ROOM];
  if (path.len == 0) {
    return weir__hash_number(hash, 0);
  }
  size_t len = weir__path_write(path, written);
  return weir__hash_text(hash, (weir_text){written, len});
}

static uint64_t bits_of(const weir_value *value) {
  uint64_t bits = (uint64_t)value->integer;
  if (value->type == WEIR_TYPE_REAL) {
    memcpy(&bits, &value->real, sizeof bits);
  }
  return value->type == WEIR_TYPE_TEXT ? value->text.len : bits;
}

weir__hash weir__hash_value(weir__hash hash, const weir_value *value) {
  hash = weir__hash_number(hash, (uint64_t)value->type);
  return value->type == WEIR_TYPE_TEXT ? weir__hash_text(hash, value->text)
                                       : weir__hash_number(hash, bits_of(value));
}

weir__hash weir__hash_cond(weir__hash hash, const weir_cond *cond) {
  static const weir_cond always = {.op = WEIR_ALWAYS};
  cond = cond ? cond : &always;
  hash = weir__hash_number(hash, (uint64_t)cond->op);
  if (cond->op == WEIR_ALWAYS) {
    return hash;
  }
  if (cond->op >= WEIR_AND) {
    hash = weir__hash_number(hash, cond->count);
    for (size_t i = 0; i < cond->count; i++) {
      hash = weir__hash_cond(hash, &cond->parts[i]);
    }
    return hash;
  }
  if (cond->op == WEIR_HAS_LABEL) {
    return weir__hash_text(hash, cond->value.text);
  }
  hash = weir__hash_number(hash, (uint64_t)cond->field);
  if (cond->field == WEIR_FIELD_PROP) {
    hash = weir__hash_path(hash, cond->path);
  }
  if (cond->op == WEIR_ONE_OF) {
    hash = weir__hash_number(hash, cond->count);
    for (size_t i = 0; i < cond->count; i++) {
      hash = weir__hash_value(hash, &cond->values[i]);
    }
  } else if (cond->op != WEIR_PRESENT) {
    hash = weir__hash_value(hash, &cond->value);
  }
  return hash;
}

/* ---- Bytes -----------------------------------------------------------------------------------------------
 */

static void put_number(unsigned char **at, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    *(*at)++ = (unsigned char)(number >> (8 * i));
  }
}

/* 0: there are not so many bytes. */
static int get_number(const unsigned char **at, const unsigned char *end, size_t bytes, uint64_t *number) {
  *number = 0;
  if ((size_t)(end - *at) < bytes) {
    return 0;
  }
  for (size_t i = 0; i < bytes; i++) {
    *number |= (uint64_t) * (*at)++ << (8 * i);
  }
  return 1;
}

static uint64_t sum_of(const unsigned char *bytes, size_t len) {
  uint64_t hash = hash_bytes(weir__hash_begin(), bytes, len);
  return (hash ^ hash >> 32) & 0xFFFFFFFFu;
}

/* ---- Base64 ----------------------------------------------------------------------------------------------
 */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t encoded_len(size_t len) {
  return len / 3 * 4 + (len % 3 ? len % 3 + 1 : 0);
}

static void encode(const unsigned char *bytes, size_t len, char *out) {
  for (size_t i = 0; i < len; i += 3) {
    size_t count = len - i < 3 ? len - i : 3;
    unsigned group = (unsigned)bytes[i] << 16;
    group |= count > 1 ? (unsigned)bytes[i + 1] << 8 : 0;
    group |= count > 2 ? bytes[i + 2] : 0;
    for (size_t j = 0; j <= count; j++) {
      *out++ = alphabet[(group >> (18 - 6 * j)) & 63];
    }
  }
  *out = '\0';
}

/* 0: that is no base64. */
static int decode(const char *text, size_t len, unsigned char *out) {
  unsigned group = 0;
  unsigned bits = 0;
  for (size_t i = 0; i < len; i++) {
    const char *found = memchr(alphabet, text[i], sizeof alphabet - 1);
    if (!found) {
      return 0;
    }
    group = (group << 6 | (unsigned)(found - alphabet)) & 0xFFFFu;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      *out++ = (unsigned char)(group >> bits);
    }
  }
  return len % 4 != 1 && (group & ((1u << bits) - 1)) == 0;
}

/* ---- Places ----------------------------------------------------------------------------------------------
 */

void weir_place_clear(weir_place *place) {
  if (place) {
    free(place->token);
    *place = (weir_place)WEIR_PLACE_INIT;
  }
}

int weir_place_set(weir_place *place, weir_text token, weir_error *err) {
  int rc = weir__check_set(place, "place", err);
  if (rc == WEIR_OK && token.len > 0) {
    rc = weir__check_set(token.ptr, "token", err);
  }
  if (rc) {
    return rc;
  }
  char *copy = NULL;
  if (token.len > 0) {
    copy = malloc(token.len + 1);
    if (!copy) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for a place");
    }
    memcpy(copy, token.ptr, token.len);
    copy[token.len] = '\0';
  }
  weir_place_clear(place);
  place->token = copy;
  return WEIR_OK;
}

int weir__place_write(weir_place *place, weir__hash question, const weir_value *values, size_t count,
                      weir_error *err) {
  size_t len = 1 + 8 + 4;
  for (size_t i = 0; i < count; i++) {
    len += 9 + (values[i].type == WEIR_TYPE_TEXT ? values[i].text.len : 0);
  }
  unsigned char *bytes = malloc(len);
  char *token = malloc(encoded_len(len) + 1);
  if (!bytes || !token) {
    free(bytes);
    free(token);
    return weir_fail(err, WEIR_NOMEM, "out of memory for a place");
  }
  unsigned char *at = bytes;
  put_number(&at, VERSION, 1);
  put_number(&at, question, 8);
  for (size_t i = 0; i < count; i++) {
    put_number(&at, (uint64_t)values[i].type, 1);
    put_number(&at, bits_of(&values[i]), 8);
    if (values[i].type == WEIR_TYPE_TEXT && values[i].text.len > 0) {
      memcpy(at, values[i].text.ptr, values[i].text.len);
      at += values[i].text.len;
    }
  }
  put_number(&at, sum_of(bytes, len - 4), 4);
  encode(bytes, len, token);
  free(bytes);
  free(place->token);
  place->token = token;
  return WEIR_OK;
}

static int get_value(const unsigned char **at, const unsigned char *end, weir_value *value) {
  uint64_t type;
  uint64_t bits;
  if (!get_number(at, end, 1, &type) || !get_number(at, end, 8, &bits) || type > WEIR_TYPE_TEXT) {
    return 0;
  }
  *value = (weir_value){.type = (weir_type)type};
  if (value->type == WEIR_TYPE_TEXT) {
    if (bits > (uint64_t)(end - *at)) {
      return 0;
    }
    value->text = (weir_text){(const char *)*at, (size_t)bits};
    *at += bits;
  } else if (value->type == WEIR_TYPE_REAL) {
    memcpy(&value->real, &bits, sizeof bits);
  } else {
    value->integer = (int64_t)bits;
  }
  return 1;
}

int weir__place_read(const weir_place *place, weir__hash question, weir_value *values, size_t count,
                     unsigned char **memory, weir_error *err) {
  size_t chars = strlen(place->token);
  size_t len = chars / 4 * 3 + (chars % 4 ? chars % 4 - 1 : 0);
  uint64_t version;
  uint64_t asked;
  uint64_t sum;
  *memory = calloc(len + 1, 1);
  if (!*memory) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a place");
  }
  const unsigned char *at = *memory;
  const unsigned char *end = *memory + (len < 4 ? 0 : len - 4);
  const unsigned char *tail = end;
  if (len < 1 + 8 + 4 || !decode(place->token, chars, *memory) ||
      !get_number(&tail, *memory + len, 4, &sum) || sum != sum_of(*memory, len - 4)) {
    return weir_fail(err, WEIR_INVALID, "the token of the place is damaged: give it back as it was");
  }
  if (!get_number(&at, end, 1, &version) || version != VERSION) {
    return weir_fail(err, WEIR_INVALID, "the token of the place is of another version of weir");
  }
  if (!get_number(&at, end, 8, &asked) || asked != question) {
    return weir_fail(
        err, WEIR_INVALID,
        "the place belongs to another question: what is asked for, label, condition and order have "
        "to be the same");
  }
  for (size_t i = 0; i < count; i++) {
    if (!get_value(&at, end, &values[i])) {
      return weir_fail(err, WEIR_INVALID, "the token of the place is damaged: give it back as it was");
    }
  }
  if (at != end) {
    return weir_fail(err, WEIR_INVALID, "the token of the place is damaged: give it back as it was");
  }
  return WEIR_OK;
}
