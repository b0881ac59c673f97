/* Statements made of pieces. Invariant: text has a NUL behind it once there is any. */
#include "draft.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 3    /* number of the first parameter */
#define ROOM  1024 /* most statements fit, and malloc has it at hand */

void weir__draft_bytes(weir__draft *draft, const char *text, size_t len) {
  if (draft->failed) {
    return;
  }
  if (draft->room - draft->len <= len) {
    size_t room = draft->len + len < ROOM ? ROOM : 2 * (draft->len + len) + 1;
    char *grown = realloc(draft->text, room);
    if (!grown) {
      draft->failed = 1;
      return;
    }
    draft->text = grown;
    draft->room = room;
  }
  memcpy(draft->text + draft->len, text, len);
  draft->len += len;
  draft->text[draft->len] = '\0';
}

static void add_bind(weir__draft *draft, weir__bind bind) {
  weir__draft_sql(draft, "?");
  weir__draft_number(draft, (int64_t)draft->bind_count + FIRST);
  if (draft->bind_count == draft->bind_room && !draft->failed) {
    size_t room = draft->bind_room ? 2 * draft->bind_room : 16;
    weir__bind *grown = realloc(draft->binds, room * sizeof *grown);
    draft->failed = !grown;
    if (grown) {
      draft->binds = grown;
      draft->bind_room = room;
    }
  }
  if (draft->failed) {
    free(bind.own);
    return;
  }
  draft->binds[draft->bind_count++] = bind;
}

void weir__draft_literal(weir__draft *draft, weir_text text) {
  const char *at = text.ptr;
  const char *end = at + text.len;
  weir__draft_sql(draft, "'");
  for (const char *quote; (quote = memchr(at, '\'', (size_t)(end - at))) != NULL; at = quote + 1) {
    weir__draft_bytes(draft, at, (size_t)(quote - at));
    weir__draft_sql(draft, "''");
  }
  weir__draft_bytes(draft, at, (size_t)(end - at));
  weir__draft_sql(draft, "'");
}

void weir__draft_number(weir__draft *draft, int64_t number) {
  char text[24]; /* from its end: numbers are in every statement, and printf takes its time */
  char *at = text + sizeof text;
  uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
  do {
    *--at = (char)('0' + left % 10);
    left /= 10;
  } while (left > 0);
  if (number < 0) {
    *--at = '-';
  }
  weir__draft_bytes(draft, at, (size_t)(text + sizeof text - at));
}

void weir__draft_first(weir__draft *draft) {
  weir__draft_sql(draft, "?1");
}

void weir__draft_second(weir__draft *draft) {
  weir__draft_sql(draft, "?2");
}

void weir__draft_value(weir__draft *draft, weir_value value) {
  add_bind(draft, (weir__bind){.value = value});
}

void weir__draft_int(weir__draft *draft, int64_t value) {
  weir__draft_value(draft, weir_int(value));
}

void weir__draft_text(weir__draft *draft, weir_text text) {
  weir__draft_value(draft, (weir_value){.type = WEIR_TYPE_TEXT, .text = text});
}

void weir__draft_own(weir__draft *draft, char *text, size_t len) {
  draft->failed = draft->failed || !text;
  add_bind(draft, (weir__bind){.value = {.type = WEIR_TYPE_TEXT, .text = {text, len}}, .own = text});
}

static void bind_value(weir__sql *sql, const weir_value *value) {
  switch (value->type) {
  case WEIR_TYPE_BOOL:
  case WEIR_TYPE_INT:
    weir__sql_int(sql, value->integer);
    break;
  case WEIR_TYPE_REAL:
    weir__sql_real(sql, value->real);
    break;
  case WEIR_TYPE_TEXT:
    weir__sql_text(sql, value->text.len > 0 ? value->text : weir_str("")); /* a NULL would be an SQL NULL */
    break;
  case WEIR_TYPE_NONE:
    break;
  }
}

int weir__draft_begin(weir__draft *draft, weir__sql *sql, weir_txn *txn, weir_error *err) {
  if (draft->failed) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a query");
  }
  int rc = weir__sql_begin(sql, txn, (weir_text){draft->text, draft->len}, err);
  if (rc) {
    return rc;
  }
  sql->bound = FIRST - 1;
  for (size_t i = 0; i < draft->bind_count; i++) {
    bind_value(sql, &draft->binds[i].value);
  }
  sql->bound = 0; /* for ?1 */
  return WEIR_OK;
}

void weir__draft_clear(weir__draft *draft) {
  for (size_t i = 0; i < draft->bind_count; i++) {
    free(draft->binds[i].own);
  }
  free(draft->binds);
  free(draft->text);
  *draft = (weir__draft){.text = NULL};
}
