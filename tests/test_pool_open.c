/* weir_pool_open: what it accepts, what it refuses and how, and that a refusal leaves no trace. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "pool_fixture.h"
#include "support.h"

TestSuite(pool_open, .timeout = 60);

/* Opens `path`; a pool that should not have been opened is closed again. The message is to hold `word`. */
static int refusal(const char *path, const weir_pool_options *options, const char *word) {
  weir_pool *pool = (weir_pool *)&pool;
  weir_error err = WEIR_ERROR_INIT;
  int rc = weir_pool_open(&pool, path, options, &err);
  if (rc == WEIR_OK) {
    fprintf(stderr, "'%s' was opened\n", path);
    return weir_pool_close(pool, NULL);
  }
  if (pool || err.code != rc || !strstr(err.message, word)) {
    fprintf(stderr, "'%s': code %d of %d, message '%s' without '%s'\n", path, err.code, rc, err.message,
            word);
    return -1000;
  }
  return rc;
}

/* The path of `name` in the test's directory, after `before` and followed by `after`. Static memory. */
static const char *spelled(const char *before, const char *name, const char *after) {
  static char path[1200];
  char plain[600];
  weir_test_path(plain, sizeof plain, name);
  (void)snprintf(path, sizeof path, "%s%s%s", before, plain, after);
  return path;
}

Test(pool_open, null_and_empty_arguments_are_invalid) {
  cr_assert(eq(int, refusal(NULL, NULL, "NULL"), WEIR_INVALID));
  cr_assert(eq(int, refusal("", NULL, "empty"), WEIR_INVALID));
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, weir_pool_open(NULL, ":memory:", NULL, &err), WEIR_INVALID));
  cr_assert(ne(ptr, strstr(err.message, "out"), NULL));
  weir_pool *pool = NULL;
  cr_assert(eq(int, weir_pool_open(&pool, "", NULL, NULL), WEIR_INVALID)); /* err may be NULL */
}

Test(pool_open, options_out_of_range_are_invalid_and_make_no_file) {
  const char *path = pool_path(POOL_FILE);
  const weir_pool_options good = WEIR_POOL_OPTIONS_INIT;
  weir_pool_options bad[8];
  const char *words[8] = {"size", "size", "mode", "durability", "readers", "cache_kib", "checkpoint_pages",
                          "mode"};
  for (int i = 0; i < 8; i++)
    bad[i] = good;
  bad[0].size = 0;
  bad[1].size = sizeof good + 8;
  bad[2].mode = (weir_mode)3;
  bad[3].durability = (weir_durability)3;
  bad[4].readers = 65;
  bad[5].cache_kib = -1;
  bad[6].checkpoint_pages = 1u << 31;
  bad[7].mode = (weir_mode)-1;
  for (int i = 0; i < 8; i++) {
    cr_assert(eq(int, refusal(path, &bad[i], words[i]), WEIR_INVALID), "case %d", i);
    cr_assert(not(file_exists(path, "")));
  }
}

Test(pool_open, limits_of_options_are_accepted) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = 64;
  options.checkpoint_pages = (1u << 31) - 1;
  options.busy_timeout_ms = options.acquire_timeout_ms = options.close_timeout_ms = -1;
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_open, options_of_an_older_version_are_accepted) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.readers = 1000; /* beyond what this caller's struct has */
  options.size = offsetof(weir_pool_options, readers);
  weir_pool *pool = NULL;
  cr_assert(eq(int, weir_pool_open(&pool, pool_path(POOL_FILE), &options, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

Test(pool_open, default_mode_is_pool_for_files_and_single_for_memory) {
  const struct {
    const char *path;
    weir_mode mode;
  } cases[] = {{pool_path(POOL_FILE), WEIR_POOL},
               {":memory:", WEIR_SINGLE},
               {"file::memory:", WEIR_SINGLE},
               {"file:name?mode=memory", WEIR_SINGLE},
               {"file:/name?vfs=memdb", WEIR_SINGLE}};
  const weir_pool_options zero = {.size = sizeof zero};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_pool *pool = NULL;
    cr_assert(eq(int, weir_pool_open(&pool, cases[i].path, i % 2 ? &zero : NULL, NULL), WEIR_OK));
    cr_assert(eq(int, (int)weir_pool_mode(pool), (int)cases[i].mode), "%s", cases[i].path);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_open, memory_in_pool_mode_is_refused_and_says_what_to_do) {
  static const char *const paths[] = {":memory:", "file::memory:", "file:name?mode=memory",
                                      "file:/n?vfs=memdb"};
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.mode = WEIR_POOL;
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    cr_assert(eq(int, refusal(paths[i], &options, "WEIR_SINGLE"), WEIR_INVALID));
    cr_assert(eq(int, refusal(paths[i], &options, paths[i]), WEIR_INVALID));
  }
}

Test(pool_open, shared_cache_is_refused_however_it_is_spelled) {
  static const char *const queries[] = {
      "?cache=shared",         "?mode=rwc&cache=shared", "?cache=%73hared",        "?%63ache=shared",
      "?a=b&c%61che=share%64", "?cache=shared#end",      "?cache=shared%00hidden", "?cache%00hidden=shared"};
  for (int mode = WEIR_MODE_DEFAULT; mode <= WEIR_POOL; mode++) {
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.mode = (weir_mode)mode;
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
      char memory[100];
      (void)snprintf(memory, sizeof memory, "file::memory:%s", queries[i]);
      cr_assert(
          eq(int, refusal(spelled("file:", "a.db", queries[i]), &options, "cache=shared"), WEIR_INVALID));
      cr_assert(eq(int, refusal(memory, &options, "cache=shared"), WEIR_INVALID));
    }
  }
}

Test(pool_open, shared_cache_as_part_of_a_name_or_private_cache_is_fine) {
  for (int i = 0; i < 2; i++) {
    const char *path = i ? spelled("file:", "a.db", "?cache=private") : spelled("", "cache=shared", "");
    weir_pool *pool = NULL;
    cr_assert(eq(int, weir_pool_open(&pool, path, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_open, same_file_twice_is_refused_under_every_name) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    weir_pool *pool = NULL;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    const char *path = pool_path(kind);
    (void)unlink(spelled("", "symbolic", ""));
    (void)unlink(spelled("", "hard", ""));
    cr_assert(eq(int, symlink(path, spelled("", "symbolic", "")), 0));
    cr_assert(eq(int, link(path, spelled("", "hard", "")), 0));
    cr_assert(eq(int, chdir(weir_test_dir()), 0));
    char uri[700];
    (void)snprintf(uri, sizeof uri, "file:%s?vfs=unix", path);
    weir_pool_options read_only = {.size = sizeof read_only, .read_only = 1};
    const char *const names[] = {path, strrchr(path, '/') + 1, "symbolic", "hard", "./hard",
                                 uri,  "file:symbolic"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      cr_assert(eq(int, refusal(names[i], NULL, "already open"), WEIR_EXISTS));
      cr_assert(eq(int, refusal(names[i], &read_only, "share"), WEIR_EXISTS));
    }
    int64_t one = 0; /* and the pool that has it works on */
    cr_assert(eq(int, sql_int(weir_pool_auto(pool), "SELECT 1", &one, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_open, different_databases_are_open_at_once) {
  weir_pool *pools[4] = {NULL};
  const int kinds[4] = {SINGLE_FILE, POOL_FILE, SINGLE_MEMORY, SINGLE_MEMORY};
  for (int i = 0; i < 4; i++) {
    cr_assert(eq(int, pool_open(&pools[i], kinds[i], NULL), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pools[i]), CREATE_T, NULL), WEIR_OK));
  }
  for (int i = 0; i < 4; i++)
    cr_assert(eq(int, weir_pool_close(pools[i], NULL), WEIR_OK));
}

Test(pool_open, missing_file_or_directory_is_not_found) {
  weir_pool_options read_only = {.size = sizeof read_only, .read_only = 1};
  for (int mode = WEIR_SINGLE; mode <= WEIR_POOL; mode++) {
    read_only.mode = (weir_mode)mode;
    cr_assert(eq(int, refusal(spelled("", "none.db", ""), &read_only, "none.db"), WEIR_NOT_FOUND));
    cr_assert(eq(int, refusal(spelled("file:", "none.db", ""), &read_only, "none.db"), WEIR_NOT_FOUND));
    cr_assert(eq(int, refusal(spelled("", "none/a.db", ""), NULL, "none/a.db"), WEIR_NOT_FOUND));
    cr_assert(eq(int, refusal(spelled("file:", "none/a.db", ""), NULL, "none/a.db"), WEIR_NOT_FOUND));
  }
  cr_assert(not(file_exists(spelled("", "none.db", ""), "")));
}

Test(pool_open, directory_is_an_io_error_that_names_it) {
  cr_assert(eq(int, mkdir(spelled("", "folder", ""), 0777), 0));
  cr_assert(eq(int, refusal(spelled("", "folder", ""), NULL, "folder"), WEIR_IO));
  cr_assert(eq(int, refusal(spelled("file:", "folder", ""), NULL, "folder"), WEIR_IO));
  weir_pool *pool = NULL;
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, weir_pool_open(&pool, spelled("", "folder", ""), NULL, &err), WEIR_IO));
  cr_assert(eq(int, err.sqlite_code & 0xff, SQLITE_CANTOPEN));
  cr_assert(eq(int, err.system_errno, EISDIR));
}

Test(pool_open, file_that_is_no_database_is_corrupt_and_stays_as_it_is) {
  const char *path = pool_path(POOL_FILE);
  char content[5000], after[5001];
  memset(content, 'x', sizeof content);
  FILE *file = fopen(path, "w");
  cr_assert(ne(ptr, file, NULL));
  cr_assert(eq(sz, fwrite(content, 1, sizeof content, file), sizeof content));
  cr_assert(eq(int, fclose(file), 0));
  for (int i = 0; i < 4; i++) {
    weir_pool_options options = {
        .size = sizeof options, .mode = i % 2 ? WEIR_SINGLE : WEIR_POOL, .read_only = i / 2};
    weir_pool *pool = NULL;
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(eq(int, weir_pool_open(&pool, path, &options, &err), WEIR_CORRUPT));
    cr_assert(eq(int, err.sqlite_code & 0xff, SQLITE_NOTADB));
    cr_assert(ne(ptr, strstr(err.message, path), NULL), "%s", err.message);
  }
  file = fopen(path, "r");
  cr_assert(ne(ptr, file, NULL));
  cr_assert(eq(sz, fread(after, 1, sizeof after, file), sizeof content));
  cr_assert(eq(int, fclose(file), 0));
  cr_assert(eq(int, memcmp(content, after, sizeof content), 0));
  cr_assert(not(file_exists(path, "-wal")));
}

Test(pool_open, refusals_leave_no_descriptor_and_no_entry_behind) {
  const char *path = pool_path(POOL_FILE);
  FILE *file = fopen(path, "w");
  cr_assert(ne(ptr, file, NULL));
  cr_assert(gt(int,
               fputs("this is no database, but longer than the hundred bytes of a database's header, "
                     "which is what SQLite looks at first\n",
                     file),
               0));
  cr_assert(eq(int, fclose(file), 0));
  for (int i = 0; i < 20; i++)
    cr_assert(eq(int, refusal(path, NULL, path), WEIR_CORRUPT));
  cr_assert(eq(int, descriptors_of(weir_test_dir()), 0));
  cr_assert(eq(int, unlink(path), 0));
  weir_pool *pool = NULL;
  cr_assert(eq(int, pool_open(&pool, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}
