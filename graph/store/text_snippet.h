/* Which piece of a text matches a query best, and where in it the matches are: a function for FTS5. */
#ifndef WEIR_GRAPH_TEXT_SNIPPET_H
#define WEIR_GRAPH_TEXT_SNIPPET_H

#include <sqlite3.h>

#include <weir/search.h>

#define WEIR__SNIPPET_TOKENS_MAX 64
#define WEIR__SNIPPET_POINTER    "weir_snippet" /* type of the pointer that the SQL function is given */

/* Zero it, set the first three, and end it with weir__snippet_clear. */
typedef struct weir__snippet {
  size_t tokens; /* how long, at most WEIR__SNIPPET_TOKENS_MAX */
  const unsigned char
      *chars;       /* for each phrase of the query: how many characters of a term it asks for; 0: all */
  size_t phrases;   /* how many there are */
  int column;       /* number of the field that it is from; -1: nothing matches */
  weir_text text;   /* in `memory` */
  size_t start;     /* where it begins in the field's text */
  size_t total;     /* how long that is */
  weir_span *spans; /* the snippet's own */
  size_t span_count;
  size_t span_room;
  char *memory;
  size_t room;
} weir__snippet;

/* Adds the function weir_snippet(table, pointer), which fills the weir__snippet that the pointer is of and
 * returns NULL. Returns SQLite's code. */
int weir__snippet_add(fts5_api *api);

void weir__snippet_clear(weir__snippet *snippet);

#endif
