/* Every connection of a pool has the settings that weir/pool.h promises, also one that replaces another, and
 * no SQL takes them away. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "pool_fixture.h"
#include "support.h"

TestSuite(pool_settings, .timeout = 60);

enum { READERS = 8 };

/* What a connection says of itself. A plain "PRAGMA journal_mode" counts among the statements that write. */
static const char *const pragmas[] = {"SELECT * FROM pragma_journal_mode",
                                      "PRAGMA synchronous",
                                      "PRAGMA busy_timeout",
                                      "PRAGMA foreign_keys",
                                      "PRAGMA trusted_schema",
                                      "PRAGMA wal_autocheckpoint",
                                      "PRAGMA query_only",
                                      "PRAGMA mmap_size",
                                      "PRAGMA cache_size"};
enum { PRAGMAS = sizeof pragmas / sizeof pragmas[0] };

typedef struct settings {
  char values[PRAGMAS][32];
  int defensive;
  struct sqlite3 *db;
  latch *wait; /* or NULL: keep the connection until it opens */
} settings;

static int read_settings(weir_txn *txn, void *data, weir_error *err) {
  settings *s = data;
  int rc = WEIR_OK;
  for (int i = 0; rc == WEIR_OK && i < PRAGMAS; i++)
    rc = txn_text(txn, pragmas[i], s->values[i], sizeof s->values[i], err);
  s->db = weir_txn_db(txn);
  s->defensive = -1;
  int asked = sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, -1, &s->defensive);
  if (s->wait)
    latch_pass(s->wait);
  return rc == WEIR_OK ? weir_txn_check(txn, asked, err) : rc;
}

/* The settings that a connection of a kind must have. */
static void expect_settings(const settings *s, int kind, int writer, const weir_pool_options *options) {
  char cache[32];
  (void)snprintf(cache, sizeof cache, "-%d", options->cache_kib ? options->cache_kib : 2048);
  const char *expected[PRAGMAS] = {kind == SINGLE_MEMORY ? "memory" : "wal",           /* journal_mode */
                                   options->durability == WEIR_FULL_SYNC ? "2" : "1",  /* synchronous */
                                   options->busy_timeout_ms == 1234 ? "1234" : "5000", /* busy_timeout */
                                   "1",                                                /* foreign_keys */
                                   "0",                                                /* trusted_schema */
                                   "0",                                      /* wal_autocheckpoint */
                                   kind == POOL_FILE && !writer ? "1" : "0", /* query_only */
                                   kind == SINGLE_MEMORY ? "" : "0",         /* mmap_size: memory has none */
                                   cache};
  for (int i = 0; i < PRAGMAS; i++)
    cr_expect(eq(str, (char *)s->values[i], (char *)expected[i]), "kind %d, writer %d: %s", kind, writer,
              pragmas[i]);
  cr_expect(eq(int, s->defensive, 1));
}

/* Looks at all connections: in pool mode the eight readers at once, and the writer beside them. */
static void expect_everywhere(weir_pool *pool, int kind, const weir_pool_options *options) {
  static settings readers[READERS], writer;
  static task tasks[READERS];
  latch all = LATCH_INIT;
  int at_once = kind == POOL_FILE;
  memset(&writer, 0, sizeof writer);
  for (int i = 0; i < READERS; i++) {
    readers[i] = (settings){.wait = at_once ? &all : NULL};
    tasks[i] = (task){.in = weir_pool_auto(pool), .fn = read_settings, .data = &readers[i]};
    cr_assert(eq(int, task_start(&tasks[i]), 0));
    if (!at_once)
      cr_assert(eq(int, task_join(&tasks[i]), WEIR_OK), "%s", tasks[i].error.message);
  }
  if (at_once)
    cr_assert(latch_await(&all, READERS));
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, weir_write(weir_pool_auto(pool), read_settings, &writer, NULL, &err), WEIR_OK), "%s",
            err.message);
  latch_open(&all);
  for (int i = 0; i < READERS; i++) {
    if (at_once)
      cr_assert(eq(int, task_join(&tasks[i]), WEIR_OK), "%s", tasks[i].error.message);
    expect_settings(&readers[i], kind, 0, options);
    for (int j = 0; j < i && at_once; j++)
      cr_assert(ne(ptr, readers[i].db, readers[j].db));
    cr_assert(eq(int, readers[i].db == writer.db, !at_once));
  }
  expect_settings(&writer, kind, 1, options);
}

/* User code that makes its connection impossible to clean: it puts an authorizer in the place of the pool's
 * that refuses COMMIT and ROLLBACK, too. */
static int refuse_all(void *data, int action, const char *a, const char *b, const char *c, const char *d) {
  (void)data, (void)a, (void)b, (void)c, (void)d;
  return action == SQLITE_TRANSACTION ? SQLITE_DENY : SQLITE_OK;
}

static int spoil(weir_txn *txn, void *data, weir_error *err) {
  *(struct sqlite3 **)data = weir_txn_db(txn);
  return weir_txn_check(txn, sqlite3_set_authorizer(weir_txn_db(txn), refuse_all, NULL), err);
}

static int replaced(weir_pool *pool) {
  weir_pool_stats stats;
  return weir_pool_stats_get(pool, &stats, sizeof stats) == WEIR_OK ? (int)stats.replaced : -1;
}

Test(pool_settings, are_on_every_connection_and_on_replacements) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.readers = READERS;
    weir_pool *pool = NULL;
    struct sqlite3 *spoiled = NULL;
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    expect_everywhere(pool, kind, &options);
    cr_assert(eq(int, replaced(pool), 0));
    cr_assert(eq(int, weir_read(weir_pool_auto(pool), spoil, &spoiled, NULL, NULL), WEIR_OK));
    int each = kind != SINGLE_MEMORY; /* the database would be lost: the connection stays, and is mended */
    cr_assert(eq(int, replaced(pool), each));
    expect_everywhere(pool, kind, &options);
    /* and the one that writes; its COMMIT was refused, so the write has failed */
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), spoil, &spoiled, NULL, NULL), WEIR_MISUSE));
    cr_assert(eq(int, replaced(pool), 2 * each));
    expect_everywhere(pool, kind, &options);
    cr_assert(eq(int, replaced(pool), 2 * each));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

Test(pool_settings, follow_the_options_on_every_connection) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.readers = READERS;
    options.durability = WEIR_FULL_SYNC;
    options.busy_timeout_ms = 1234;
    options.cache_kib = 777;
    weir_pool *pool = NULL;
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    expect_everywhere(pool, kind, &options);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

/* SQL that must be refused in reads and in writes, by prepare and by exec. */
static const char *const refused[] = {"PRAGMA busy_timeout=1",
                                      "PRAGMA busy_timeout(0)",
                                      "PRAGMA journal_mode=DELETE",
                                      "PRAGMA synchronous=OFF",
                                      "PRAGMA foreign_keys=OFF",
                                      "PRAGMA trusted_schema=1",
                                      "PRAGMA query_only=0",
                                      "PRAGMA wal_autocheckpoint=1",
                                      "PRAGMA wal_checkpoint",
                                      "PRAGMA wal_checkpoint=FULL",
                                      "PRAGMA mmap_size=1000000",
                                      "PRAGMA cache_size=1",
                                      "PRAGMA locking_mode=EXCLUSIVE",
                                      "PRAGMA main.synchronous=0",
                                      "pragma BUSY_TIMEOUT = 7",
                                      "PRAGMA writable_schema=1",
                                      "PRAGMA temp_store=2",
                                      "PRAGMA page_size=1024",
                                      "PRAGMA read_uncommitted=1",
                                      "PRAGMA journal_size_limit=0",
                                      "PRAGMA no_such_pragma",
                                      "PRAGMA optimize",
                                      "ATTACH ':memory:' AS other",
                                      "DETACH main",
                                      "BEGIN",
                                      "BEGIN IMMEDIATE",
                                      "COMMIT",
                                      "END",
                                      "ROLLBACK",
                                      "SAVEPOINT weir",
                                      "SAVEPOINT mine",
                                      "RELEASE weir",
                                      "ROLLBACK TO weir",
                                      "EXPLAIN COMMIT"};

static int try_refused(weir_txn *txn, void *data, weir_error *err) {
  (void)err;
  int *bad = data;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    for (int exec = 0; exec < 2; exec++) {
      weir_error own = WEIR_ERROR_INIT;
      sqlite3_stmt *stmt = NULL;
      int rc = exec ? weir_txn_exec(txn, refused[i], &own)
                    : weir_txn_prepare(txn, weir_str(refused[i]), &stmt, &own);
      if (rc != WEIR_MISUSE || stmt || !strstr(own.message, refused[i])) {
        fprintf(stderr, "%s: %s: %s\n", refused[i], weir_error_name(rc), own.message);
        ++*bad;
      }
    }
  }
  return WEIR_OK;
}

Test(pool_settings, user_sql_that_would_change_them_is_refused_and_they_are_intact) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.readers = READERS;
    weir_pool *pool = NULL;
    int bad = 0;
    cr_assert(eq(int, pool_open(&pool, kind, &options), WEIR_OK));
    for (int i = 0; i < READERS; i++)
      cr_assert(eq(int, weir_read(weir_pool_auto(pool), try_refused, &bad, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), try_refused, &bad, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, bad, 0));
    expect_everywhere(pool, kind, &options);
    cr_assert(eq(int, replaced(pool), 0));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

static int use_defenses(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  weir_error own = WEIR_ERROR_INIT;
  int rc = weir_txn_exec(txn, "UPDATE sqlite_schema SET sql = 'x'", &own);
  if (rc == WEIR_OK)
    return weir_fail(err, WEIR_CORRUPT, "the schema could be written");
  rc = weir_txn_exec(txn, "INSERT INTO child VALUES(1, 99)", &own);
  if (rc != WEIR_CONSTRAINT || own.sqlite_code != SQLITE_CONSTRAINT_FOREIGNKEY)
    return weir_fail(err, WEIR_CORRUPT, "the foreign key was not checked: %s", own.message);
  return WEIR_OK;
}

Test(pool_settings, defensive_flag_and_foreign_keys_take_effect) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int,
                 sql_write(weir_pool_auto(pool),
                           CREATE_T ";CREATE TABLE child(id INTEGER PRIMARY KEY, t REFERENCES t(id))", NULL),
                 WEIR_OK));
    cr_assert(eq(int, weir_write(weir_pool_auto(pool), use_defenses, NULL, NULL, &err), WEIR_OK), "%s",
              err.message);
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}
