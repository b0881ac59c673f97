/*
 * How text becomes terms: the tokenizers of the text indexes, for FTS5.
 *
 *   weir_words      words, as unicode61 finds and folds them; a character of a script that is written without
 *                   spaces is a word of its own
 *   weir_substring  for each character of a text the three from there on, folded to lower case; at the end of
 *                   the text the last two, and the last one. So every run of three characters or more is a
 *                   phrase of terms, and every run of one or two is what some term begins with
 */
#ifndef WEIR_GRAPH_TEXT_TOKENIZER_H
#define WEIR_GRAPH_TEXT_TOKENIZER_H

#include <sqlite3.h>

#include <weir/search.h>

/* What a tokenizer is called in the schema; NULL: there is no such. */
const char *weir__tokenizer_name(weir_tokenizer kind);

/* Adds the tokenizers to a connection. Returns SQLite's code. */
int weir__tokenizers_add(sqlite3 *db, fts5_api *api);

/* The tokenizers of one connection, for those who have text to look at themselves. */
typedef struct weir__terms weir__terms;

/* NULL: out of memory. `api`: NULL if SQLite has no FTS5. */
weir__terms *weir__terms_open(fts5_api *api);
void weir__terms_close(weir__terms *terms);

/* *count becomes how many terms `text` is in a query. Errors: WEIR_NOMEM, WEIR_SQL (no FTS5). */
int weir__terms_count(weir__terms *terms, weir_tokenizer kind, weir_text text, size_t *count,
                      weir_error *err);

/* The number of bytes of the character at text[0..len-1], len > 0, as FTS5 reads it. */
static inline size_t weir__char_bytes(const char *text, size_t len) {
  size_t bytes = 1;
  if ((unsigned char)text[0] >= 0xC0) {
    while (bytes < len && ((unsigned char)text[bytes] & 0xC0) == 0x80) {
      bytes++;
    }
  }
  return bytes;
}

#endif
