/*
 * Opening, setting up and closing one SQLite connection.
 *
 * Every connection of a pool has the same settings, whichever thread opened it and whenever: they are applied
 * here and nowhere else, before anyone else sees the connection. docs/storage.md gives the reason for each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "registry.h"

/* SQLite checks for cancellation and deadlines once in so many of its virtual machine's instructions: some
 * tens of microseconds. */
#define PROGRESS_OPS 1000

/* ---- Callbacks from SQLite ---- */

/* Ends a read that was canceled, is over its deadline, or stands in the way of closing. A write is never
 * ended: that would roll the whole transaction back, with whatever shares it. */
static int on_progress(void *data) {
  weir__conn *conn = data;
  weir_txn *txn = &conn->txn;
  if (txn->kind != WEIR__TXN_READ || conn->trusted) { /* the pool's own statements may outlive the token */
    return 0;
  }
  int evicted = __atomic_load_n(&conn->evicted, __ATOMIC_ACQUIRE);
  if (weir__canceled(txn->token)) {
    txn->cut = WEIR_CANCELED;
  } else if (__atomic_load_n(&txn->pool->interrupt, __ATOMIC_ACQUIRE)) {
    txn->cut = WEIR_CLOSED;
  } else if (evicted || (txn->deadline_ns && weir__now_ns() >= txn->deadline_ns)) {
    txn->cut = WEIR_TIMEOUT;
  }
  return txn->cut != 0;
}

/* Called before each commit that has written. Only the pool commits: a statement that runs on after SQLite
 * has rolled its transaction back, or that user code ran past the pool inside a read, is rolled back instead.
 */
static int refuse_commit(void *data) {
  const weir__conn *conn = data;
  return !conn->trusted || conn->txn.kind == WEIR__TXN_READ;
}

/* Called after each commit on the writing connection, with the number of pages in the WAL. */
static int on_commit(void *data, sqlite3 *db, const char *schema, int pages) {
  (void)db;
  (void)schema;
  weir__conn *conn = data;
  conn->wal_pages = pages;
  conn->wal_commits++;
  return SQLITE_OK;
}

/* Pragmas that only tell, and so are allowed; some take an argument that is not a new value. */
static const struct {
  const char *name;
  int argument; /* 1: allowed with an argument */
} allowed_pragmas[] = {
    {"application_id", 1},    {"busy_timeout", 0},       {"cache_size", 0},         {"collation_list", 0},
    {"compile_options", 0},   {"data_version", 0},       {"database_list", 0},      {"encoding", 0},
    {"foreign_key_check", 1}, {"foreign_key_list", 1},   {"foreign_keys", 0},       {"freelist_count", 0},
    {"function_list", 0},     {"index_info", 1},         {"index_list", 1},         {"index_xinfo", 1},
    {"integrity_check", 1},   {"journal_mode", 0},       {"journal_size_limit", 0}, {"mmap_size", 0},
    {"module_list", 0},       {"page_count", 0},         {"page_size", 0},          {"pragma_list", 0},
    {"query_only", 0},        {"quick_check", 1},        {"secure_delete", 0},      {"synchronous", 0},
    {"table_info", 1},        {"table_list", 1},         {"table_xinfo", 1},        {"trusted_schema", 0},
    {"user_version", 1},      {"wal_autocheckpoint", 0},
};

/* Transactions, attachments and settings are the pool's own business: user SQL that would change them is
 * refused when prepared. */
static int authorize(void *data, int action, const char *first, const char *second, const char *schema,
                     const char *trigger) {
  (void)schema;
  (void)trigger;
  if (((weir__conn *)data)->trusted) {
    return SQLITE_OK;
  }
  switch (action) {
  case SQLITE_TRANSACTION:
  case SQLITE_SAVEPOINT:
  case SQLITE_ATTACH:
  case SQLITE_DETACH:
    return SQLITE_DENY;
  case SQLITE_PRAGMA:
    for (size_t i = 0; i < sizeof(allowed_pragmas) / sizeof(allowed_pragmas[0]); i++) {
      if (sqlite3_stricmp(first, allowed_pragmas[i].name) == 0 && (!second || allowed_pragmas[i].argument)) {
        return SQLITE_OK;
      }
    }
    return SQLITE_DENY;
  default:
    return SQLITE_OK;
  }
}

/* ---- Set-up ---- */

int weir__conn_run(weir__conn *conn, sqlite3_stmt *statement) {
  conn->trusted++;               /* SQLite may have to prepare it again */
  (void)sqlite3_step(statement); /* sqlite3_reset repeats its error */
  conn->trusted--;
  return sqlite3_reset(statement);
}

int weir__conn_exec(weir__conn *conn, const char *sql, weir_error *err) {
  conn->trusted++;
  int rc = sqlite3_exec(conn->db, sql, NULL, NULL, NULL);
  conn->trusted--;
  return weir__sqlite_fail(err, conn->db, rc, conn->pool->path);
}

int weir__conn_integer(weir__conn *conn, const char *sql, int *out, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  conn->trusted++;
  int rc = sqlite3_prepare_v2(conn->db, sql, -1, &stmt, NULL);
  if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
    *out = sqlite3_column_int(stmt, 0);
  }
  int end = sqlite3_finalize(stmt);
  conn->trusted--;
  return weir__sqlite_fail(err, conn->db, rc != SQLITE_OK ? rc : end, conn->pool->path);
}

/* Is the journal of this database a WAL? With `convert`, makes it one. Returns SQLite's code. */
static int journal_is_wal(weir__conn *conn, int convert, int *wal) {
  sqlite3_stmt *stmt = NULL;
  *wal = 0;
  int rc = sqlite3_prepare_v2(conn->db, convert ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode", -1,
                              &stmt, NULL);
  if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
    const unsigned char *mode = sqlite3_column_text(stmt, 0);
    *wal = mode && strcmp((const char *)mode, "wal") == 0;
  }
  int end = sqlite3_finalize(stmt);
  return rc != SQLITE_OK ? rc : end;
}

/* The WAL is a property of the file, so it is set once and then found. The conversion needs the file for
 * itself, and SQLite does not always wait for that, so it is tried until the busy timeout is over, and
 * believed only by its result. */
static int ensure_wal(weir__conn *conn, weir_error *err) {
  uint64_t deadline = weir__now_ns() + weir__ms(conn->pool->options.busy_timeout_ms);
  for (;;) {
    int wal = 0;
    int rc = journal_is_wal(conn, 0, &wal);
    if (rc == SQLITE_OK && !wal) {
      rc = journal_is_wal(conn, 1, &wal);
    }
    if (rc == SQLITE_OK && wal) {
      return WEIR_OK;
    }
    if (rc == SQLITE_OK) {
      return weir_fail(err, WEIR_IO,
                       "'%s' cannot be put into WAL mode: its file system lacks shared memory or locks",
                       conn->pool->path);
    }
    if ((rc & 0xff) != SQLITE_BUSY || weir__now_ns() >= deadline) {
      return weir__sqlite_fail(err, conn->db, rc, conn->pool->path);
    }
    weir__pause(WEIR__NS_PER_MS);
  }
}

static int set_up(weir__conn *conn, enum weir__role role, weir_error *err) {
  const weir_pool_options *options = &conn->pool->options;
  /* The timeout first: everything after it may have to wait. */
  if (sqlite3_busy_timeout(conn->db, options->busy_timeout_ms) != SQLITE_OK || /* negative: none */
      sqlite3_db_config(conn->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL) != SQLITE_OK ||
      sqlite3_wal_autocheckpoint(conn->db, 0) != SQLITE_OK) {
    return weir_fail(err, WEIR_NOMEM, "cannot configure a connection to '%s'", conn->pool->path);
  }
  int rc = WEIR_OK;
  if (!conn->pool->inspected && options->hooks && options->hooks->inspect) {
    rc = options->hooks->inspect(conn->db, options->data, err);
  }
  if (rc == WEIR_OK && !conn->pool->memory && !options->read_only) {
    rc = ensure_wal(conn, err);
  }
  char sql[256];
  int length =
      snprintf(sql, sizeof(sql),
               "PRAGMA synchronous=%s; PRAGMA foreign_keys=1; PRAGMA trusted_schema=0; PRAGMA mmap_size=0;"
               "PRAGMA cache_size=-%d; PRAGMA query_only=%d",
               options->durability == WEIR_FULL_SYNC ? "FULL" : "NORMAL", options->cache_kib,
               role == WEIR__READER || options->read_only);
  if (rc == WEIR_OK && (length < 0 || (size_t)length >= sizeof(sql))) {
    rc = weir_fail(err, WEIR_INVALID, "cache_kib %d is out of range", options->cache_kib);
  }
  if (rc == WEIR_OK) {
    rc = weir__conn_exec(conn, sql, err);
  }
  conn->durability = options->durability;
  if (rc == WEIR_OK && role == WEIR__WRITER && !conn->pool->memory && !options->read_only) {
    (void)snprintf(sql, sizeof(sql), "PRAGMA journal_size_limit=%lld",
                   (long long)options->wal_keep_kib * 1024); /* fits */
    rc = weir__conn_exec(conn, sql, err);
  }
  return rc;
}

static int prepare_own(weir__conn *conn, weir_error *err) {
  const struct {
    const char *sql;
    sqlite3_stmt **out;
  } own[] = {{"BEGIN", &conn->begin_read},
             {"BEGIN IMMEDIATE", &conn->begin_write},
             {"COMMIT", &conn->commit},
             {"ROLLBACK", &conn->rollback},
             {"SAVEPOINT weir", &conn->savepoint},
             {"ROLLBACK TO weir", &conn->rollback_to},
             {"RELEASE weir", &conn->release},
             {"SELECT 1 FROM sqlite_schema LIMIT 1", &conn->touch}};
  for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
    int rc = sqlite3_prepare_v3(conn->db, own[i].sql, -1, SQLITE_PREPARE_PERSISTENT, own[i].out, NULL);
    if (rc != SQLITE_OK) {
      return weir__sqlite_fail(err, conn->db, rc, conn->pool->path);
    }
  }
  return WEIR_OK;
}

/* What stops a read, and a commit that is not the pool's. */
static void watch(weir__conn *conn) {
  sqlite3_progress_handler(conn->db, PROGRESS_OPS, on_progress, conn);
  (void)sqlite3_commit_hook(conn->db, refuse_commit, conn); /* returns the former hook's data */
}

void weir__conn_guard(weir__conn *conn) {
  (void)sqlite3_set_authorizer(conn->db, authorize, conn); /* always SQLITE_OK */
  watch(conn);
}

/* Opens the pool's file, and no other: it was there before, and is what the registry knows. */
static int open_file(weir__conn *conn, enum weir__role role, weir_error *err) {
  weir_pool *pool = conn->pool;
  int access = pool->options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  int create = pool->memory && !pool->options.read_only ? SQLITE_OPEN_CREATE : 0;
  /* serialized if another thread may have to end a read that rests, see pool/evict.c */
  int serialized = role == WEIR__READER && pool->options.reader_evict;
  int flags = access | create | SQLITE_OPEN_URI | (serialized ? SQLITE_OPEN_FULLMUTEX : SQLITE_OPEN_NOMUTEX) |
              SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  int opened = sqlite3_open_v2(pool->file_path, &conn->db, flags, weir__vfs(pool));
  int rc = weir__sqlite_fail(err, conn->db, opened, pool->path);
  if (rc == WEIR_IO && conn->db && sqlite3_system_errno(conn->db) == ENOENT) {
    return weir_fail(err, WEIR_IO, "'%s' was removed or renamed while it was open", pool->path);
  }
  if (rc == WEIR_OK && !pool->memory) {
    rc = weir__registry_same(pool->file, sqlite3_db_filename(conn->db, "main"), err);
  }
  return rc;
}

int weir__conn_open(weir_pool *pool, enum weir__role role, weir__conn **out, weir_error *err) {
  *out = NULL;
  weir__conn *conn = calloc(1, sizeof(*conn));
  if (!conn) {
    return weir_fail(err, WEIR_NOMEM, "out of memory");
  }
  conn->pool = pool;
  conn->trusted = 1;
  conn->statements.limit = pool->options.statements;
  conn->txn.pool = pool;
  conn->txn.conn = conn;
  conn->rev = -1;
  int rc = open_file(conn, role, err);
  if (rc == WEIR_OK) {
    rc = set_up(conn, role, err);
  }
  if (rc == WEIR_OK) {
    (void)sqlite3_set_authorizer(conn->db, authorize, conn); /* first: it has statements prepared anew */
    rc = prepare_own(conn, err);
  }
  if (rc == WEIR_OK && pool->options.hooks && pool->options.hooks->connect) {
    rc = pool->options.hooks->connect(conn->db, &conn->local, pool->options.data, err);
  }
  conn->connected = rc == WEIR_OK;
  if (rc != WEIR_OK) {
    weir__conn_close(conn);
    return rc;
  }
  conn->trusted = 0;
  watch(conn);
  if (role == WEIR__WRITER) {
    (void)sqlite3_wal_hook(conn->db, on_commit, conn); /* returns the former hook's data */
  }
  *out = conn;
  return WEIR_OK;
}

void weir__conn_close(weir__conn *conn) {
  if (!conn) {
    return;
  }
  const weir_pool_hooks *hooks = conn->pool->options.hooks;
  if (conn->connected && hooks && hooks->disconnect) {
    hooks->disconnect(conn->local, conn->pool->options.data);
  }
  weir__statements_clear(&conn->statements);
  /* Refused while there are statements, but it ends virtual tables first, and these finalize their own. */
  if (sqlite3_close(conn->db) != SQLITE_OK) {
    sqlite3_stmt *stmt = NULL;
    while ((stmt = sqlite3_next_stmt(conn->db, NULL)) != NULL) {
      (void)sqlite3_finalize(stmt); /* the pool's own, and any that user code left behind */
    }
    /* With no statement left, only an unfinished backup or blob handle of user code can be in the way: then
     * SQLite closes the connection when that ends. */
    if (sqlite3_close(conn->db) != SQLITE_OK) {
      (void)sqlite3_close_v2(conn->db);
    }
  }
  free(conn);
}
