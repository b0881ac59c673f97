/* The hooks by which a layer above the pool keeps state in every connection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sqlite3.h>

#include "support.h"
#include "threads.h"

TestSuite(pool_hooks, .timeout = 60);

/* What the hooks of one pool were called for. */
typedef struct record {
  atomic_int connects, disconnects, mixed_up;
  int refuse_at; /* the so-many-th connect fails; 0: none */
  int bare;      /* connect stores nothing */
  weir_pool *pool;
  char synchronous[8], foreign_keys[8];
} record;

typedef struct local {
  record *owner;
  struct sqlite3 *db;
} local;

static int text_of(struct sqlite3 *db, const char *sql, char *out, size_t size) {
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
  if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
    (void)snprintf(out, size, "%s", (const char *)sqlite3_column_text(stmt, 0));
  return rc | sqlite3_finalize(stmt);
}

static int connect_hook(struct sqlite3 *db, void **out, void *data, weir_error *err) {
  record *r = data;
  weir_pool_stats stats;
  int number = atomic_fetch_add(&r->connects, 1) + 1;
  if (r->pool &&
      weir_pool_stats_get(r->pool, &stats, sizeof stats) != WEIR_OK) /* no lock of the pool is held */
    return weir_fail(err, WEIR_INVALID, "no stats");
  if (text_of(db, "PRAGMA synchronous", r->synchronous, sizeof r->synchronous) != SQLITE_OK ||
      text_of(db, "PRAGMA foreign_keys", r->foreign_keys, sizeof r->foreign_keys) != SQLITE_OK)
    return weir_fail(err, WEIR_SQL, "cannot read a pragma");
  if (number == r->refuse_at)
    return weir_fail(err, WEIR_VERSION, "connection %d is refused", number);
  if (r->bare)
    return WEIR_OK;
  local *l = malloc(sizeof *l);
  if (!l)
    return weir_fail(err, WEIR_NOMEM, "out of memory");
  *l = (local){r, db};
  *out = l;
  return WEIR_OK;
}

static void disconnect_hook(void *stored, void *data) {
  record *r = data;
  local *l = stored;
  char one[8] = "";
  atomic_fetch_add(&r->disconnects, 1);
  if (r->bare) {
    r->mixed_up += l != NULL;
    return;
  }
  /* the connection is still open */
  r->mixed_up +=
      l->owner != r || text_of(l->db, "SELECT 1", one, sizeof one) != SQLITE_OK || strcmp(one, "1") != 0;
  free(l);
}

static const weir_pool_hooks hooks = {.connect = connect_hook, .disconnect = disconnect_hook};
static const weir_pool_hooks other_hooks = {.connect = connect_hook, .disconnect = disconnect_hook};

static weir_pool_options with(record *r) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.hooks = &hooks;
  options.data = r;
  options.durability = WEIR_FULL_SYNC;
  options.readers = 3;
  return options;
}

static int check_local(weir_txn *txn, void *data, weir_error *err) {
  const local *l = weir_txn_local(txn);
  (void)data;
  return l && l->db == weir_txn_db(txn) ? WEIR_OK : weir_fail(err, WEIR_CORRUPT, "not what connect stored");
}

static int check_local_and_wait(weir_txn *txn, void *data, weir_error *err) {
  latch_pass(data);
  return check_local(txn, NULL, err);
}

static void hold_readers(weir_pool *pool, int count) {
  latch all = LATCH_INIT;
  task tasks[3];
  for (int i = 0; i < count; i++) {
    tasks[i] = (task){.in = weir_pool_auto(pool), .fn = check_local_and_wait, .data = &all};
    cr_assert(eq(int, task_start(&tasks[i]), 0));
  }
  cr_assert(latch_await(&all, count));
  latch_open(&all);
  for (int i = 0; i < count; i++)
    cr_assert(eq(int, task_join(&tasks[i]), WEIR_OK), "%s", tasks[i].error.message);
}

Test(pool_hooks, connect_prepares_each_connection_after_its_settings_and_disconnect_undoes_it) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    record r = {.refuse_at = 0};
    weir_pool_options options = with(&r);
    cr_assert(eq(int, pool_open(&r.pool, kind, &options), WEIR_OK));
    cr_assert(eq(int, r.connects, 1));
    cr_assert(eq(str, r.synchronous, (char *)"2"));
    cr_assert(eq(str, r.foreign_keys, (char *)"1"));
    hold_readers(r.pool, kind == POOL_FILE ? 3 : 1);
    cr_assert(eq(int, weir_write(weir_pool_auto(r.pool), check_local, NULL, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, r.connects, kind == POOL_FILE ? 4 : 1));
    cr_assert(eq(int, r.disconnects, 0));
    cr_assert(eq(int, weir_pool_close(r.pool, NULL), WEIR_OK));
    cr_assert(eq(int, r.disconnects, r.connects));
    cr_assert(eq(int, r.mixed_up, 0));
  }
}

Test(pool_hooks, disconnect_is_called_for_a_connection_that_stored_nothing_too) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    record r = {.bare = 1};
    weir_pool_options options = with(&r);
    cr_assert(eq(int, pool_open(&r.pool, kind, &options), WEIR_OK));
    cr_assert(eq(i64, int_of(r.pool, "SELECT 1"), 1));
    cr_assert(eq(int, weir_pool_close(r.pool, NULL), WEIR_OK));
    cr_assert(eq(int, r.disconnects, r.connects));
    cr_assert(eq(int, r.mixed_up, 0));
  }
}

Test(pool_hooks, failure_of_the_first_connect_fails_the_opening_and_leaves_nothing) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    record r = {.refuse_at = 1};
    weir_pool_options options = with(&r);
    weir_pool *pool = (weir_pool *)&pool;
    weir_error err = WEIR_ERROR_INIT;
    options.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
    cr_assert(eq(int, weir_pool_open(&pool, pool_path(kind), &options, &err), WEIR_VERSION));
    cr_assert(eq(ptr, pool, NULL));
    cr_assert(eq(int, err.code, WEIR_VERSION));
    cr_assert(eq(str, err.message, (char *)"connection 1 is refused"));
    cr_assert(eq(int, r.disconnects, 0));
    cr_assert(eq(int, descriptors_of(weir_test_dir()), 0));
    cr_assert(eq(int, pool_open(&r.pool, kind, &options), WEIR_OK));
    cr_assert(eq(int, weir_pool_close(r.pool, NULL), WEIR_OK));
    cr_assert(eq(int, r.mixed_up, 0));
  }
}

Test(pool_hooks, failure_of_a_later_connect_fails_that_call_only_and_loses_no_permit) {
  record r = {.refuse_at = 2};
  weir_pool_options options = with(&r);
  weir_error err = WEIR_ERROR_INIT;
  int64_t one = 0;
  cr_assert(eq(int, pool_open(&r.pool, POOL_FILE, &options), WEIR_OK));
  int before = descriptors_of(weir_test_dir());
  cr_assert(eq(int, sql_int(weir_pool_auto(r.pool), "SELECT 1", &one, &err), WEIR_VERSION));
  cr_assert(eq(str, err.message, (char *)"connection 2 is refused"));
  cr_assert(
      le(int, descriptors_of(weir_test_dir()), before + 1)); /* SQLite keeps one until its locks are gone */
  hold_readers(r.pool, 3);
  weir_pool_stats stats = stats_of(r.pool);
  cr_assert(eq(u32, stats.readers_open, 3));
  cr_assert(eq(u32, stats.readers_in_use, 0));
  cr_assert(eq(int, weir_pool_close(r.pool, NULL), WEIR_OK));
  cr_assert(eq(int, r.connects, 5));
  cr_assert(eq(int, r.disconnects, 4));
  cr_assert(eq(int, r.mixed_up, 0));
  cr_assert(eq(int, descriptors_of(weir_test_dir()), 0));
}

static int refuse_all(void *data, int action, const char *a, const char *b, const char *c, const char *d) {
  (void)data, (void)a, (void)b, (void)c, (void)d;
  return action == SQLITE_TRANSACTION ? SQLITE_DENY : SQLITE_OK;
}

static int spoil(weir_txn *txn, void *data, weir_error *err) {
  (void)data;
  return weir_txn_check(txn, sqlite3_set_authorizer(weir_txn_db(txn), refuse_all, NULL), err);
}

Test(pool_hooks, connection_that_is_replaced_is_disconnected_and_its_successor_connected) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    record r = {.refuse_at = 0};
    weir_pool_options options = with(&r);
    cr_assert(eq(int, pool_open(&r.pool, kind, &options), WEIR_OK));
    cr_assert(eq(i64, int_of(r.pool, "SELECT 1"), 1));
    int before = r.connects;
    cr_assert(eq(int, weir_read(weir_pool_auto(r.pool), spoil, NULL, NULL, NULL), WEIR_OK));
    int replaced = kind != SINGLE_MEMORY; /* that is kept, with its database */
    cr_assert(eq(int, r.disconnects, replaced));
    cr_assert(eq(int, weir_read(weir_pool_auto(r.pool), check_local, NULL, NULL, NULL), WEIR_OK));
    cr_assert(eq(int, r.connects, before + replaced));
    cr_assert(eq(int, weir_pool_close(r.pool, NULL), WEIR_OK));
    cr_assert(eq(int, r.disconnects, r.connects));
    cr_assert(eq(int, r.mixed_up, 0));
  }
}

Test(pool_hooks, data_tells_whose_pool_it_is) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    record r = {.refuse_at = 0};
    weir_pool_options options = with(&r);
    cr_assert(eq(int, pool_open(&r.pool, kind, &options), WEIR_OK));
    cr_assert(eq(ptr, weir_pool_data(r.pool, &hooks), &r));
    cr_assert(eq(ptr, weir_pool_data(r.pool, &other_hooks), NULL));
    cr_assert(eq(ptr, weir_pool_data(r.pool, NULL), NULL));
    cr_assert(eq(ptr, weir_pool_data(NULL, &hooks), NULL));
    cr_assert(eq(int, weir_pool_close(r.pool, NULL), WEIR_OK));
    cr_assert(eq(int, pool_open(&r.pool, kind, NULL), WEIR_OK));
    cr_assert(eq(ptr, weir_pool_data(r.pool, &hooks), NULL));
    cr_assert(eq(int, weir_pool_close(r.pool, NULL), WEIR_OK));
  }
}
