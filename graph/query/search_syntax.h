/* The language of queries (weir/search.h), read into a tree. */
#ifndef WEIR_GRAPH_SEARCH_SYNTAX_H
#define WEIR_GRAPH_SEARCH_SYNTAX_H

#include <weir/search.h>

#include "../store/text_tokenizer.h"

#define WEIR__QUERY_NONE (-1) /* instead of a part */

/* A word or phrase; parts that have to be there, and parts that must not; parts of which one is enough. */
enum weir__query_kind { WEIR__QUERY_TERM, WEIR__QUERY_ALL, WEIR__QUERY_ANY };

/* Parts are numbers, since the list of them moves as it grows. */
typedef struct weir__query_part {
  enum weir__query_kind kind;
  int next;            /* beside it, or none */
  int with;            /* of ALL and ANY: the first part */
  int without;         /* of ALL: the first part that must not be there, or none */
  weir_text bytes;     /* of TERM: as they stand in the query, quotes doubled */
  int prefix;          /* of TERM: the beginning of one is enough */
  unsigned char chars; /* of TERM: how many characters of a term it asks for; 0: all */
} weir__query_part;

/* A query, whose text has to stay. */
typedef struct weir__query {
  weir__query_part *parts;
  int root;
} weir__query;

/* Reads a query. On error there is nothing to free, and *at is the byte at which the query is wrong. Errors:
 * WEIR_INVALID, WEIR_NOMEM, WEIR_SQL. */
int weir__query_read(weir__query *out, weir__terms *terms, weir_tokenizer tokenizer, weir_text query,
                     size_t *at, weir_error *err);

void weir__query_clear(weir__query *query);

#endif
