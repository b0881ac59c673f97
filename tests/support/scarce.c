#include "scarce.h"

#include <stdlib.h>

#include <jansson.h>
#include <sqlite3.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming) */

/* The linker leads the program's own calls here (--wrap), so the library's, which is linked in. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static _Thread_local long fail_at; /* counts down: 1 is the next; 0: none */

static int fails(void) {
  return fail_at > 0 && --fail_at == 0;
}

void *__wrap_malloc(size_t size) {
  return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  return fails() ? NULL : __real_realloc(memory, size);
}

/* NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming) */

static sqlite3_mem_methods sqlite_memory;

static void *sqlite_malloc(int size) {
  return fails() ? NULL : sqlite_memory.xMalloc(size);
}

static void *sqlite_realloc(void *memory, int size) {
  return fails() ? NULL : sqlite_memory.xRealloc(memory, size);
}

void scarce_init(void) {
  cr_assert(eq(int, sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory), SQLITE_OK));
  sqlite3_mem_methods fallible = sqlite_memory;
  fallible.xMalloc = sqlite_malloc;
  fallible.xRealloc = sqlite_realloc;
  cr_assert(eq(int, sqlite3_config(SQLITE_CONFIG_MALLOC, &fallible), SQLITE_OK));
  cr_assert(eq(int, sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK)); /* else few are asked for */
  json_set_alloc_funcs(__wrap_malloc, free);
}

void scarce_begin(long at) {
  fail_at = at;
}

int scarce_end(void) {
  int reached = fail_at == 0;
  fail_at = 0;
  return reached;
}
