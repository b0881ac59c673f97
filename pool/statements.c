/*
 * The statement cache: uthash finds by text, two lists keep what is idle (in order of use) and what is in
 * use.
 *
 * Invariant: a kept statement is in by_text and in exactly one of the two lists; one that is not kept is in
 * `used` only. hints point to kept statements only.
 */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include <stdlib.h>

#include "statements.h"

typedef struct weir__statement {
  sqlite3_stmt *stmt;
  const char *origin; /* the address the text was last given at, for the hint */
  size_t length;
  int kept;
  int in_use;
  struct weir__statement *prev, *next;
  UT_hash_handle hh;
  char text[]; /* `length` bytes: the key */
} statement;

static statement **hint_of(weir__statements *cache, const char *origin) {
  uintptr_t address = (uintptr_t)origin;
  return &cache->hints[((address >> 4) ^ (address >> 10)) & (WEIR__HINTS - 1)];
}

static void destroy(weir__statements *cache, statement *entry) {
  if (entry->kept) {
    statement **hint = hint_of(cache, entry->origin);
    if (*hint == entry) {
      *hint = NULL;
    }
    HASH_DEL(cache->by_text, entry); /* NOLINT(clang-analyzer-core.NullDereference): inside uthash */
    cache->count--;
  }
  (void)sqlite3_finalize(entry->stmt); /* repeats the error of the last step, which its user has seen */
  free(entry);
}

static void keep(weir__statements *cache, statement *entry) {
  HASH_ADD(hh, cache->by_text, text, entry->length, entry);
  if (!entry->hh.tbl) {
    return; /* out of memory: works as one that is not kept */
  }
  entry->kept = 1;
  cache->count++;
  if (cache->count > cache->limit && cache->idle) {
    statement *oldest = cache->idle;
    DL_DELETE(cache->idle, oldest);
    destroy(cache, oldest);
  }
}

static sqlite3_stmt *take(weir__statements *cache, statement *entry) {
  DL_DELETE(cache->idle, entry);
  DL_PREPEND(cache->used, entry);
  entry->in_use = 1;
  return entry->stmt;
}

static int only_blank(const char *from, const char *end) {
  static const char blanks[] = " \t\r\n;";
  while (from < end && memchr(blanks, *from, sizeof(blanks) - 1)) {
    from++;
  }
  return from == end;
}

int weir__statements_get(weir__statements *cache, sqlite3 *db, weir_text sql, sqlite3_stmt **out, int *more) {
  statement **hint = hint_of(cache, sql.ptr);
  statement *entry = *hint;
  *out = NULL;
  *more = 0;
  if (entry && entry->origin == sql.ptr && entry->length == sql.len && !entry->in_use &&
      memcmp(entry->text, sql.ptr, sql.len) == 0) {
    *out = take(cache, entry);
    return SQLITE_OK;
  }
  HASH_FIND(hh, cache->by_text, sql.ptr, sql.len, entry);
  int known = entry != NULL;
  if (entry && !entry->in_use) {
    statement **old = hint_of(cache, entry->origin);
    if (*old == entry) {
      *old = NULL;
    }
    entry->origin = sql.ptr;
    *hint = entry;
    *out = take(cache, entry);
    return SQLITE_OK;
  }

  if (sql.len > INT32_MAX) {
    return SQLITE_TOOBIG;
  }
  sqlite3_stmt *stmt = NULL;
  const char *tail = NULL;
  int rc = sqlite3_prepare_v3(db, sql.ptr, (int)sql.len, SQLITE_PREPARE_PERSISTENT, &stmt, &tail);
  if (rc != SQLITE_OK || !stmt) {
    return rc;
  }
  if (!only_blank(tail, sql.ptr + sql.len)) {
    (void)sqlite3_finalize(stmt); /* never stepped: nothing to report */
    *more = 1;
    return SQLITE_OK;
  }
  entry = calloc(1, sizeof(*entry) + sql.len);
  if (!entry) {
    (void)sqlite3_finalize(stmt); /* never stepped: nothing to report */
    return SQLITE_NOMEM;
  }
  entry->stmt = stmt;
  entry->origin = sql.ptr;
  entry->length = sql.len;
  entry->in_use = 1;
  memcpy(entry->text, sql.ptr, sql.len);
  if (!known) {
    keep(cache, entry);
  }
  if (entry->kept) {
    *hint = entry;
  }
  DL_PREPEND(cache->used, entry);
  *out = stmt;
  return SQLITE_OK;
}

static void put(weir__statements *cache, statement *entry) {
  DL_DELETE(cache->used, entry);
  (void)sqlite3_reset(entry->stmt);          /* repeats the error of the last step, which its user has seen */
  (void)sqlite3_clear_bindings(entry->stmt); /* always SQLITE_OK */
  entry->in_use = 0;
  if (entry->kept && cache->count <= cache->limit) {
    DL_APPEND(cache->idle, entry);
  } else {
    destroy(cache, entry);
  }
}

void weir__statements_put(weir__statements *cache, sqlite3_stmt *stmt) {
  for (statement *entry = cache->used; entry; entry = entry->next) {
    if (entry->stmt == stmt) {
      put(cache, entry);
      return;
    }
  }
}

struct weir__statement *weir__statements_mark(const weir__statements *cache) {
  return cache->used;
}

void weir__statements_put_since(weir__statements *cache, const struct weir__statement *mark) {
  while (cache->used && cache->used != mark) {
    put(cache, cache->used);
  }
}

void weir__statements_clear(weir__statements *cache) {
  weir__statements_put_since(cache, NULL);
  while (cache->idle) {
    statement *entry = cache->idle;
    DL_DELETE(cache->idle, entry);
    destroy(cache, entry);
  }
}
