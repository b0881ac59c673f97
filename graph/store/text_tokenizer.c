/*
 * The tokenizers of the text indexes.
 *
 * Each stands on one of FTS5's own, which knows how to fold letters: weir_words on unicode61, weir_substring
 * on trigram. Both are functions of the text alone, for a row is taken out of an index by its old text.
 *
 * FTS5's callback may return SQLITE_DONE, which means enough; tokenizers below may make SQLITE_OK of it. So
 * what the callback returned is kept here.
 */
#include "text_tokenizer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int (*token_fn)(void *data, int flags, const char *token, int bytes, int start, int end);

/* FTS5's tokenizer below one of ours. */
struct tokenizer {
  fts5_tokenizer module;
  Fts5Tokenizer *inner;
};

/* Makes the tokenizer of that kind. */
static int create(fts5_api *api, weir_tokenizer kind, Fts5Tokenizer **out) {
  const char *fold[] = {"remove_diacritics", "2"};
  void *data = NULL;
  struct tokenizer *made = calloc(1, sizeof *made);
  if (!made) {
    return SQLITE_NOMEM;
  }
  int words = kind == WEIR_WORDS;
  int rc = api->xFindTokenizer(api, words ? "unicode61" : "trigram", &data, &made->module);
  if (rc == SQLITE_OK) {
    rc = made->module.xCreate(data, words ? fold : NULL, words ? 2 : 0, &made->inner);
  }
  if (rc != SQLITE_OK) {
    free(made);
    return rc;
  }
  *out = (Fts5Tokenizer *)made;
  return SQLITE_OK;
}

/* What a connection's tokenizers are made with. */
struct maker {
  sqlite3 *db;
  fts5_api *api;
};

/*
 * FTS5 makes the tokenizer of a table while it connects the table. That is where a virtual table can say that
 * it does no harm in a schema that is not trusted: so these say it for FTS5, of which not all versions do it
 * themselves. Else triggers could not write to a text index.
 */
static int create_for_table(const struct maker *maker, weir_tokenizer kind, Fts5Tokenizer **out) {
  (void)sqlite3_vtab_config(maker->db, SQLITE_VTAB_INNOCUOUS); /* else refused where it matters */
  return create(maker->api, kind, out);
}

static int create_words(void *maker, const char **args, int count, Fts5Tokenizer **out) {
  (void)args;
  (void)count;
  return create_for_table(maker, WEIR_WORDS, out);
}

static int create_substring(void *maker, const char **args, int count, Fts5Tokenizer **out) {
  (void)args;
  (void)count;
  return create_for_table(maker, WEIR_SUBSTRING, out);
}

static void delete_tokenizer(Fts5Tokenizer *tokenizer) {
  struct tokenizer *made = (struct tokenizer *)tokenizer;
  if (made) {
    made->module.xDelete(made->inner);
    free(made);
  }
}

/* Where terms go: to FTS5. */
struct sink {
  token_fn give;
  void *data;
  const char *text; /* the whole */
  int bytes;
  int base; /* where in it the piece begins that the tokenizer below was given */
  int tail; /* terms of a tail that were given */
  int rc;   /* what `give` returned last */
};

static int give(struct sink *sink, const char *token, int bytes, int start, int end) {
  sink->rc = sink->give(sink->data, 0, token, bytes, start, end);
  return sink->rc;
}

/* ---- Words -------------------------------------------------------------------------------------------- */

/* Letters, marks and digits of the scripts that are written without spaces, and Korean, whose words carry
 * their endings with them. */
static const struct {
  uint32_t first, last;
} alone[] = {
    {0x0E01, 0x0E3A},   {0x0E40, 0x0E4E},   {0x0E50, 0x0E59}, /* Thai */
    {0x0E81, 0x0EDF},                                         /* Lao */
    {0x1000, 0x1049},   {0x1050, 0x109F},                     /* Myanmar */
    {0x1100, 0x11FF},                                         /* Hangul */
    {0x1780, 0x17D3},   {0x17D7, 0x17D7},   {0x17DC, 0x17E9}, /* Khmer */
    {0x3005, 0x3007},   {0x3021, 0x3029},   {0x3031, 0x3035},
    {0x303B, 0x303C}, /* Han: signs for repetition, numbers */
    {0x3041, 0x309A},   {0x309D, 0x309F},   {0x30A1, 0x30FA},
    {0x30FC, 0x30FF}, /* Hiragana, Katakana */
    {0x3105, 0x312F},   {0x3131, 0x318E},   {0x31A0, 0x31BF},
    {0x31F0, 0x31FF},                                         /* Bopomofo, Hangul, Katakana */
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},                     /* Han */
    {0xA960, 0xA97C},   {0xA9E0, 0xA9FE},   {0xAA60, 0xAA7F}, /* Hangul, Myanmar */
    {0xAC00, 0xD7FB},                                         /* Hangul */
    {0xF900, 0xFAFF},   {0xFF66, 0xFFDC},                     /* Han; narrow Katakana and Hangul */
    {0x1B000, 0x1B16F}, {0x20000, 0x323AF},                   /* Kana, Han */
};

/* The number of bytes of the character at text[0], if it is a word of its own; else 0. */
static int alone_bytes(const unsigned char *text, int left) {
  uint32_t code;
  int bytes;
  if (text[0] < 0xE0 || left < 3) { /* what takes two bytes is none of them */
    return 0;
  }
  if (text[0] < 0xF0) {
    bytes = 3;
    code = (uint32_t)(text[0] & 0x0F) << 12 | (uint32_t)(text[1] & 0x3F) << 6 | (text[2] & 0x3F);
  } else if (left >= 4) {
    bytes = 4;
    code = (uint32_t)(text[0] & 0x07) << 18 | (uint32_t)(text[1] & 0x3F) << 12 |
           (uint32_t)(text[2] & 0x3F) << 6 | (text[3] & 0x3F);
  } else {
    return 0;
  }
  for (size_t i = 0; i < sizeof alone / sizeof alone[0] && alone[i].first <= code; i++) {
    if (code <= alone[i].last) {
      return bytes;
    }
  }
  return 0;
}

static int give_word(void *data, int flags, const char *token, int bytes, int start, int end) {
  struct sink *sink = data;
  (void)flags; /* unicode61 sets none */
  return give(sink, token, bytes, sink->base + start, sink->base + end);
}

static int words(Fts5Tokenizer *tokenizer, void *data, int flags, const char *text, int bytes,
                 token_fn token) {
  const struct tokenizer *made = (struct tokenizer *)tokenizer;
  const unsigned char *at = (const unsigned char *)text;
  struct sink sink = {.give = token, .data = data};
  int rc = SQLITE_OK;
  for (int from = 0, to = 0; from < bytes && rc == SQLITE_OK && sink.rc == SQLITE_OK; from = to) {
    int len = 0;
    while (to < bytes && (len = alone_bytes(at + to, bytes - to)) == 0) {
      to++;
    }
    if (to > from) {
      sink.base = from;
      rc = made->module.xTokenize(made->inner, &sink, flags, text + from, to - from, give_word);
    }
    if (rc == SQLITE_OK && sink.rc == SQLITE_OK && to < bytes) {
      (void)give(&sink, text + to, len, to, to + len);
      to += len;
    }
  }
  return sink.rc != SQLITE_OK ? sink.rc : rc;
}

/* ---- Substrings --------------------------------------------------------------------------------------- */

/* Where the character before text[at] begins. */
static int before(const char *text, int at) {
  do {
    at--;
  } while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80);
  return at;
}

static int give_three(void *data, int flags, const char *token, int bytes, int start, int end) {
  struct sink *sink = data;
  int to = start;
  (void)flags; /* trigram sets none */
  (void)end;   /* is where the folded letters would end */
  for (int i = 0; i < 3 && to < sink->bytes; i++) {
    to += (int)weir__char_bytes(sink->text + to, (size_t)(sink->bytes - to));
  }
  return give(sink, token, bytes, start, to);
}

/* Two bytes stand behind the tail, so that trigram folds and gives it: of them one is behind two characters,
 * two behind one. */
#define FILL 2

static int give_tail(void *data, int flags, const char *token, int bytes, int start, int end) {
  struct sink *sink = data;
  int from = sink->base + start;
  int one = from + (int)weir__char_bytes(sink->text + from, (size_t)(sink->bytes - from)) == sink->bytes;
  (void)flags;
  (void)end;
  if (sink->tail == 0) { /* of a query just the first: it holds all */
    return SQLITE_OK;
  }
  sink->tail--;
  return give(sink, token, bytes - (one ? FILL : FILL - 1), from, sink->bytes);
}

static int substrings(Fts5Tokenizer *tokenizer, void *data, int flags, const char *text, int bytes,
                      token_fn token) {
  const struct tokenizer *made = (struct tokenizer *)tokenizer;
  struct sink sink = {.give = token, .data = data, .text = text, .bytes = bytes};
  char tail[4 * FILL + FILL] = {0};
  int query = (flags & FTS5_TOKENIZE_QUERY) != 0;
  if (bytes == 0) {
    return SQLITE_OK;
  }
  int rc = made->module.xTokenize(made->inner, &sink, flags, text, bytes, give_three);
  int last = before(text, bytes);
  int from = last > 0 ? before(text, last) : last;
  int len = bytes - from;
  int no_room = len > 4 * FILL; /* not UTF-8 */
  if (rc != SQLITE_OK || sink.rc != SQLITE_OK || no_room || (query && from > 0)) {
    return sink.rc != SQLITE_OK ? sink.rc : rc;
  }
  memcpy(tail, text + from, (size_t)len);
  memset(tail + len, ' ', FILL);
  sink.base = from;
  sink.tail = query ? 1 : FILL;
  rc = made->module.xTokenize(made->inner, &sink, flags, tail, len + FILL, give_tail);
  return sink.rc != SQLITE_OK ? sink.rc : rc;
}

/* ---- Registering, and use without FTS5 ------------------------------------------------------------------
 */

static const struct {
  const char *name;
  fts5_tokenizer module;
} tokenizers[] = {
    [WEIR_WORDS] = {"weir_words", {create_words, delete_tokenizer, words}},
    [WEIR_SUBSTRING] = {"weir_substring", {create_substring, delete_tokenizer, substrings}},
};

#define KINDS (sizeof tokenizers / sizeof tokenizers[0])

const char *weir__tokenizer_name(weir_tokenizer kind) {
  return (size_t)kind < KINDS ? tokenizers[kind].name : NULL;
}

int weir__tokenizers_add(sqlite3 *db, fts5_api *api) {
  int rc = SQLITE_OK;
  for (size_t i = 0; i < KINDS && rc == SQLITE_OK; i++) {
    fts5_tokenizer module = tokenizers[i].module; /* SQLite asks for one that is not const, and copies it */
    struct maker *maker = malloc(sizeof *maker);
    if (!maker) {
      return SQLITE_NOMEM;
    }
    *maker = (struct maker){db, api};
    rc = api->xCreateTokenizer(api, tokenizers[i].name, maker, &module, free);
    if (rc != SQLITE_OK) {
      free(maker);
    }
  }
  return rc;
}

struct weir__terms {
  fts5_api *api;
  Fts5Tokenizer *made[KINDS]; /* when first wanted */
};

weir__terms *weir__terms_open(fts5_api *api) {
  weir__terms *terms = calloc(1, sizeof *terms);
  if (terms) {
    terms->api = api;
  }
  return terms;
}

void weir__terms_close(weir__terms *terms) {
  if (terms) {
    for (size_t i = 0; i < KINDS; i++) {
      delete_tokenizer(terms->made[i]);
    }
    free(terms);
  }
}

static int count_token(void *data, int flags, const char *token, int bytes, int start, int end) {
  size_t *count = data;
  (void)flags;
  (void)token;
  (void)bytes;
  (void)start;
  (void)end;
  ++*count;
  return SQLITE_OK;
}

int weir__terms_count(weir__terms *terms, weir_tokenizer kind, weir_text text, size_t *count,
                      weir_error *err) {
  const fts5_tokenizer *module = &tokenizers[kind].module;
  *count = 0;
  if (!terms->api) {
    return weir_fail(err, WEIR_SQL, "this SQLite has no FTS5");
  }
  int rc = SQLITE_OK;
  if (!terms->made[kind]) {
    rc = create(terms->api, kind, &terms->made[kind]);
  }
  if (rc == SQLITE_OK) {
    rc = module->xTokenize(terms->made[kind], count, FTS5_TOKENIZE_QUERY, text.ptr, (int)text.len,
                           count_token);
  }
  return rc == SQLITE_OK ? WEIR_OK
                         : weir_fail(err, rc == SQLITE_NOMEM ? WEIR_NOMEM : WEIR_SQL,
                                     "FTS5's tokenizers failed with %d", rc);
}
