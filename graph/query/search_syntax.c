/*
 * Queries, read into a tree.
 *
 *   any   = all { OR all }
 *   all   = part { [AND] part | NOT one | -one }     what stands beside each other, in any order
 *   one   = word | "phrase" | ( any )
 *
 * "a NOT b c" is "a c NOT b": so an `all` is the parts that have to be there, and those that must not. A word
 * of punctuation alone is no word: it is left out where others stand beside it.
 *
 * Invariants: recursion is bounded by WEIR_QUERY_DEPTH_MAX. A WEIR__QUERY_TERM is never without terms.
 */
#include "search_syntax.h"

#include <stdlib.h>
#include <string.h>

#include "../internal.h"

#define NONE WEIR__QUERY_NONE

#define DIGITS(number)  #number
#define DECIMAL(number) DIGITS(number)

struct list {
  int first;
  int last;
};

struct parser {
  weir_text query;
  size_t at;
  weir_tokenizer tokenizer;
  weir__terms *terms;
  weir__query_part *parts;
  int count;
  int room;
  size_t words;      /* words and phrases so far */
  size_t term_count; /* terms in them */
  size_t depth;
  char *scratch; /* as long as the query */
  size_t *error_at;
  weir_error *err;
};

static int wrong(struct parser *parser, size_t at, const char *why) {
  *parser->error_at = at;
  return weir_fail(parser->err, WEIR_INVALID, "the query is wrong at byte %zu: %s", at, why);
}

/* ---- Characters -------------------------------------------------------------------------------------------
 */

/* The bytes of the space at `at`; 0: there is none. */
static size_t space(const struct parser *parser, size_t at) {
  static const struct {
    const char *bytes;
    size_t len;
  } wide[] = {{"\xC2\xA0", 2}, {"\xE3\x80\x80", 3}}; /* no-break, ideographic */
  const char *from = parser->query.ptr + at;
  size_t left = parser->query.len - at;
  if (left > 0 && (*from == ' ' || (*from >= '\t' && *from <= '\r'))) {
    return 1;
  }
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
    if (left >= wide[i].len && memcmp(from, wide[i].bytes, wide[i].len) == 0) {
      return wide[i].len;
    }
  }
  return 0;
}

static int is_at(const struct parser *parser, size_t at, char c) {
  return at < parser->query.len && parser->query.ptr[at] == c;
}

/* 1 where a word ends. */
static int is_boundary(const struct parser *parser, size_t at) {
  return at == parser->query.len || space(parser, at) || is_at(parser, at, '"') || is_at(parser, at, '(') ||
         is_at(parser, at, ')');
}

static void skip_space(struct parser *parser) {
  size_t bytes;
  while ((bytes = space(parser, parser->at)) > 0) {
    parser->at += bytes;
  }
}

static int is_word(const struct parser *parser, const char *word) {
  size_t len = strlen(word);
  return parser->query.len - parser->at >= len && memcmp(parser->query.ptr + parser->at, word, len) == 0 &&
         is_boundary(parser, parser->at + len);
}

/* 1 at a minus that takes away, and is no dash. */
static int is_minus(const struct parser *parser) {
  size_t behind = parser->at + 1;
  return is_at(parser, parser->at, '-') && behind < parser->query.len && !space(parser, behind) &&
         !is_at(parser, behind, ')') && !is_at(parser, behind, '-');
}

/* ---- The tree ---------------------------------------------------------------------------------------------
 */

static int add_part(struct parser *parser, weir__query_part part, int *out) {
  if (parser->count == parser->room) {
    int room = parser->room ? 2 * parser->room : 16;
    weir__query_part *grown = realloc(parser->parts, (size_t)room * sizeof *grown);
    if (!grown) {
      return weir_fail(parser->err, WEIR_NOMEM, "out of memory for a query");
    }
    parser->parts = grown;
    parser->room = room;
  }
  part.next = NONE;
  parser->parts[parser->count] = part;
  *out = parser->count++;
  return WEIR_OK;
}

static void append(struct parser *parser, struct list *list, int part) {
  if (list->first == NONE) {
    list->first = part;
  } else {
    parser->parts[list->last].next = part;
  }
  list->last = part;
}

/* ---- Words ------------------------------------------------------------------------------------------------
 */

/* The bytes without the doubling of quotes, in the scratch. */
static weir_text undoubled(struct parser *parser, weir_text bytes) {
  size_t len = 0;
  for (size_t i = 0; i < bytes.len; i++) {
    parser->scratch[len++] = bytes.ptr[i];
    i += bytes.ptr[i] == '"';
  }
  return (weir_text){parser->scratch, len};
}

static size_t count_chars(weir_text text) {
  size_t count = 0;
  for (size_t at = 0; at < text.len; at += weir__char_bytes(text.ptr + at, text.len - at)) {
    count++;
  }
  return count;
}

/* Adds a word or phrase; *out becomes NONE if there is no term in it. */
static int add_term(struct parser *parser, size_t at, weir_text bytes, int prefix, int *out) {
  weir__query_part part = {
      .kind = WEIR__QUERY_TERM, .bytes = bytes, .prefix = prefix, .with = NONE, .without = NONE};
  weir_text text = undoubled(parser, bytes);
  size_t count;
  *out = NONE;
  if (parser->tokenizer == WEIR_SUBSTRING) {
    count = count_chars(text);
    part.prefix = count < 3;
    part.chars = count < 3 ? (unsigned char)count : 0;
  } else {
    int rc = weir__terms_count(parser->terms, parser->tokenizer, text, &count, parser->err);
    if (rc) {
      return rc;
    }
  }
  if (count == 0) {
    return prefix ? wrong(parser, at, "there is no word before the *") : WEIR_OK;
  }
  parser->term_count += count;
  if (parser->words++ == WEIR_QUERY_WORDS_MAX) {
    return wrong(parser, at, "more than " DECIMAL(WEIR_QUERY_WORDS_MAX) " words and phrases");
  }
  if (parser->term_count > WEIR_QUERY_TERMS_MAX) {
    return wrong(parser, at, "more than " DECIMAL(WEIR_QUERY_TERMS_MAX) " terms");
  }
  return add_part(parser, part, out);
}

static const char misplaced[] = "a * stands at the end of a word or phrase";

static int parse_phrase(struct parser *parser, int *out) {
  size_t open = parser->at;
  size_t end = open + 1;
  while (end < parser->query.len && (!is_at(parser, end, '"') || is_at(parser, end + 1, '"'))) {
    end += is_at(parser, end, '"') ? 2 : 1;
  }
  if (end >= parser->query.len) {
    return wrong(parser, open, "a quote that is not closed");
  }
  weir_text bytes = {parser->query.ptr + open + 1, end - open - 1};
  int prefix = is_at(parser, end + 1, '*');
  parser->at = end + 1 + (size_t)prefix;
  if (prefix && !is_boundary(parser, parser->at)) {
    return wrong(parser, end + 1, misplaced);
  }
  if (parser->tokenizer != WEIR_SUBSTRING) {
    const char *star = bytes.len ? memchr(bytes.ptr, '*', bytes.len) : NULL;
    if (star && star + 1 < bytes.ptr + bytes.len) {
      return wrong(parser, (size_t)(star - parser->query.ptr), misplaced);
    }
    prefix |= star != NULL;
    bytes.len -= star != NULL;
  }
  return add_term(parser, open, bytes, prefix, out);
}

static int parse_word(struct parser *parser, int *out) {
  size_t from = parser->at;
  while (!is_boundary(parser, parser->at)) {
    parser->at++;
  }
  weir_text bytes = {parser->query.ptr + from, parser->at - from};
  const char *star = memchr(bytes.ptr, '*', bytes.len);
  if (star && (bytes.len == 1 || star + 1 < bytes.ptr + bytes.len)) {
    return wrong(parser, (size_t)(star - parser->query.ptr), misplaced);
  }
  bytes.len -= star != NULL;
  return add_term(parser, from, bytes, star != NULL, out);
}

/* ---- Operators --------------------------------------------------------------------------------------------
 */

static int parse_any(struct parser *parser, int *out);

static int parse_one(struct parser *parser, int *out) {
  size_t open = parser->at;
  if (is_at(parser, open, '"')) {
    return parse_phrase(parser, out);
  }
  if (!is_at(parser, open, '(')) {
    return parse_word(parser, out);
  }
  if (parser->depth++ == WEIR_QUERY_DEPTH_MAX) {
    return wrong(parser, open, "more than " DECIMAL(WEIR_QUERY_DEPTH_MAX) " groups within groups");
  }
  parser->at++;
  int rc = parse_any(parser, out);
  if (rc) {
    return rc;
  }
  if (!is_at(parser, parser->at, ')')) {
    return wrong(parser, open, "a ( that is not closed");
  }
  parser->at++;
  parser->depth--;
  return *out == NONE ? wrong(parser, open, "there is no word in the group") : WEIR_OK;
}

static int at_operator(const struct parser *parser) {
  return is_word(parser, "AND") || is_word(parser, "OR") || is_word(parser, "NOT");
}

static int ends_all(const struct parser *parser) {
  return parser->at == parser->query.len || is_at(parser, parser->at, ')') || is_word(parser, "OR");
}

/* Reads [AND] [NOT or -], of which the latter makes *negative 1. `before`: something stands before it. */
static int parse_operators(struct parser *parser, int before, int *negative) {
  size_t at = parser->at;
  *negative = 0;
  if (is_word(parser, "AND")) {
    if (!before) {
      return wrong(parser, at, "there is nothing before AND");
    }
    parser->at += 3;
    skip_space(parser);
    if (ends_all(parser) || is_word(parser, "AND")) {
      return wrong(parser, at, "there is nothing behind AND");
    }
    at = parser->at;
  }
  if (is_word(parser, "NOT")) {
    if (!before) {
      return wrong(parser, at, "there is nothing before NOT: say from what it takes away");
    }
    parser->at += 3;
    skip_space(parser);
    if (ends_all(parser) || at_operator(parser) || is_minus(parser)) {
      return wrong(parser, at, "there is nothing to take away behind NOT");
    }
    *negative = 1;
  } else if (is_minus(parser)) {
    parser->at++;
    *negative = 1;
  }
  return WEIR_OK;
}

static int parse_all(struct parser *parser, int *out) {
  struct list with = {NONE, NONE};
  struct list without = {NONE, NONE};
  size_t first_minus = 0;
  int before = 0;
  *out = NONE;
  for (skip_space(parser); !ends_all(parser); skip_space(parser)) {
    size_t at = parser->at;
    int negative;
    int part = NONE;
    int rc = parse_operators(parser, before, &negative);
    if (rc == WEIR_OK) {
      rc = parse_one(parser, &part);
    }
    if (rc) {
      return rc;
    }
    before = 1;
    if (part == NONE && negative) {
      return wrong(parser, at, "there is no word to take away");
    }
    if (part != NONE) {
      first_minus = negative && without.first == NONE ? at : first_minus;
      append(parser, negative ? &without : &with, part);
    }
  }
  if (with.first == NONE && without.first != NONE) {
    return wrong(parser, first_minus, "there is nothing to take it away from");
  }
  if (with.first == with.last && without.first == NONE) {
    *out = with.first;
    return WEIR_OK;
  }
  return add_part(
      parser, (weir__query_part){.kind = WEIR__QUERY_ALL, .with = with.first, .without = without.first}, out);
}

static int parse_any(struct parser *parser, int *out) {
  struct list list = {NONE, NONE};
  size_t last_or = 0;
  for (int more = 1; more;) {
    int part;
    int rc = parse_all(parser, &part);
    if (rc) {
      return rc;
    }
    more = is_word(parser, "OR");
    if (part == NONE && list.first != NONE) {
      return wrong(parser, last_or, "there is no word behind OR");
    }
    if (part == NONE && more) {
      return wrong(parser, parser->at, "there is no word before OR");
    }
    if (part != NONE) {
      append(parser, &list, part);
    }
    last_or = parser->at;
    parser->at += more ? 2 : 0;
  }
  *out = list.first;
  if (list.first == list.last) {
    return WEIR_OK;
  }
  return add_part(parser, (weir__query_part){.kind = WEIR__QUERY_ANY, .with = list.first, .without = NONE},
                  out);
}

static int parse(struct parser *parser, int *out) {
  skip_space(parser);
  if (parser->at == parser->query.len) {
    return wrong(parser, 0, "it is empty");
  }
  int rc = parse_any(parser, out);
  if (rc == WEIR_OK && parser->at < parser->query.len) {
    rc = wrong(parser, parser->at, "a ) without a (");
  }
  if (rc == WEIR_OK && *out == NONE) {
    rc = wrong(parser, 0, "there is no word in the query");
  }
  return rc;
}

/* ---- All of it
 * -------------------------------------------------------------------------------------------------
 */

static int check_query(const struct parser *parser) {
  weir_text query = parser->query;
  *parser->error_at = query.len > WEIR_QUERY_MAX ? WEIR_QUERY_MAX : query.ptr ? weir__text_valid(query) : 0;
  return weir__text_check(query, "query", 0, WEIR_QUERY_MAX, parser->err);
}

int weir__query_read(weir__query *out, weir__terms *terms, weir_tokenizer tokenizer, weir_text query,
                     size_t *at, weir_error *err) {
  struct parser parser = {.query = query, .tokenizer = tokenizer, .terms = terms, .error_at = at, .err = err};
  *out = (weir__query){.parts = NULL};
  int rc = check_query(&parser);
  if (rc) {
    return rc;
  }
  if (!query.ptr) {
    parser.query = weir_str("");
  }
  parser.scratch = malloc(query.len + 1);
  if (!parser.scratch) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a query");
  }
  rc = parse(&parser, &out->root);
  free(parser.scratch);
  if (rc) {
    free(parser.parts);
    return rc;
  }
  out->parts = parser.parts;
  return WEIR_OK;
}

void weir__query_clear(weir__query *query) {
  free(query->parts);
  *query = (weir__query){.parts = NULL};
}
