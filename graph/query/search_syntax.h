/*
 * The language of queries (weir/search.h), made the MATCH of FTS5. Words reach FTS5 in quotes only, so
 * nothing in a query means anything to it but what is meant here.
 */
#ifndef WEIR_GRAPH_SEARCH_SYNTAX_H
#define WEIR_GRAPH_SEARCH_SYNTAX_H

#include <weir/search.h>

#include "../store/text_tokenizer.h"

/* A query as FTS5 takes it. */
typedef struct weir__match {
  char *text; /* NUL-terminated; malloc'ed */
  size_t len;
  unsigned char chars[WEIR_QUERY_WORDS_MAX]; /* for each phrase in it: how many characters of a term it asks
                                                for; 0: all */
  size_t phrases;
} weir__match;

/* Reads a query. On error there is nothing to free, and *at is the byte at which the query is wrong. Errors:
 * WEIR_INVALID, WEIR_NOMEM, WEIR_SQL. */
int weir__match_make(weir__match *match, weir__terms *terms, weir_tokenizer tokenizer, weir_text query,
                     size_t *at, weir_error *err);

void weir__match_clear(weir__match *match);

#endif
