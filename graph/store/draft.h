/*
 * An SQL statement whose text depends on what was asked, for the storage files only: pieces of text and the
 * values of its parameters, in the order in which they were added. Equal questions with other values make
 * the same text, so the statement cache finds it.
 *
 * Running out of memory is remembered, and reported when the draft is used.
 */
#ifndef WEIR_GRAPH_DRAFT_H
#define WEIR_GRAPH_DRAFT_H

#include <string.h>

#include <weir/query.h>

#include "sql.h"

/* What a parameter is. */
typedef struct weir__bind {
  weir_value value; /* WEIR_TYPE_BOOL is bound as the integer 0 or 1; not WEIR_TYPE_NONE */
  char *own;        /* memory of value.text that the draft frees, or NULL */
} weir__bind;

/* Zero it to begin; end it with weir__draft_clear. */
typedef struct weir__draft {
  char *text;
  size_t len;
  size_t room;
  weir__bind *binds;
  size_t bind_count;
  size_t bind_room;
  int failed;  /* out of memory */
} weir__draft; /* ?1 and ?2 are never among the binds: they are for weir__draft_first and _second */

/* Adds text. */
void weir__draft_bytes(weir__draft *draft, const char *text, size_t len);

/* The same; inline, since a find adds dozens of literals, and copying one whose length is known takes two or
 * three instructions. (After a failure it may add to what is there, which nobody reads.) */
static inline void weir__draft_sql(weir__draft *draft, const char *sql) {
  size_t len = strlen(sql);
  if (draft->room - draft->len > len) {
    memcpy(draft->text + draft->len, sql, len + 1);
    draft->len += len;
  } else {
    weir__draft_bytes(draft, sql, len);
  }
}

/* Adds `text` as an SQL string, with its quotes doubled. */
void weir__draft_literal(weir__draft *draft, weir_text text);

/* Adds a number, as text. */
void weir__draft_number(weir__draft *draft, int64_t number);

/* Adds ?1, which whoever runs the statement binds first each time; and ?2, if there is a second. All other
 * parameters then are from ?3 on, wherever they stand. */
void weir__draft_first(weir__draft *draft);
void weir__draft_second(weir__draft *draft);

/* Adds a parameter. A text must stay while the draft is in use. */
void weir__draft_value(weir__draft *draft, weir_value value);
void weir__draft_int(weir__draft *draft, int64_t value);
void weir__draft_text(weir__draft *draft, weir_text text);

/* Adds a parameter, and frees `text` of `len` bytes (NULL: out of memory) in the end. */
void weir__draft_own(weir__draft *draft, char *text, size_t len);

/* Takes the statement from the cache and binds all parameters but ?1 and ?2; they stay bound when the
 * statement is used again. On error nothing needs ending. */
int weir__draft_begin(weir__draft *draft, weir__sql *sql, weir_txn *txn, weir_error *err);

/* Frees the draft, which may be used anew. */
void weir__draft_clear(weir__draft *draft);

/*
 * Adds a condition (NULL: true), which was checked, on a row of the table node that the statement calls n, or
 * of edge that it calls e. It is 0 or 1, never NULL. (storage_cond.c)
 */
int weir__draft_cond(weir__draft *draft, weir_txn *txn, weir_target target, const weir_cond *cond,
                     weir_error *err);

/* Adds a parameter: the first text behind all that begin with `prefix`, which is not empty. (storage_cond.c)
 */
void weir__draft_behind(weir__draft *draft, weir_text prefix);

/* Adds a parameter: the values of a WEIR_ONE_OF as a JSON array. (storage_cond.c) */
void weir__draft_set(weir__draft *draft, const weir_cond *cond);

/* Adds the SQL for the place of a property among the types, 0: none or null, 1: false and true, 2: numbers,
 * 3: strings, 4: arrays and objects; and for its value (0 if there is none). `props` is the SQL of the props.
 * Property indexes are in the order of the two. (storage_cond.c) */
void weir__draft_kind(weir__draft *draft, const char *props, weir_text path);
void weir__draft_prop(weir__draft *draft, const char *props, weir_text path);

/* Adds SQL that selects these two, `kind` and `value`, in one row, with the path as text. It is the one for
 * triggers: with trusted_schema=off SQLite 3.40 refuses JSON functions there, but not this table of JSON
 * values, whose first row is the one that the path leads to. (storage_cond.c) */
void weir__draft_entry(weir__draft *draft, const char *props, weir_text path);

#endif
