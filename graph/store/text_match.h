/*
 * A query as FTS5 takes it. Words reach FTS5 in quotes only, so nothing in a query means anything to it but
 * what is meant in weir/search.h.
 */
#ifndef WEIR_GRAPH_TEXT_MATCH_H
#define WEIR_GRAPH_TEXT_MATCH_H

#include "../query/search_syntax.h"
#include "draft.h"

/* The right side of a MATCH. Zero it to begin; end it with weir__match_clear. */
typedef struct weir__match {
  weir__draft text;
  unsigned char chars[WEIR_QUERY_WORDS_MAX]; /* of each phrase in it, see weir__query_part */
  size_t phrases;
} weir__match;

/* Errors: WEIR_NOMEM. */
int weir__match_write(weir__match *match, const weir__query *query, weir_error *err);

void weir__match_clear(weir__match *match);

#endif
