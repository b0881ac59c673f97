/*
 * Opening and closing a pool, and its counters.
 *
 * Closing goes in one order: refuse new work; let work in progress end, up to a deadline; interrupt what
 * still reads; join the threads; close the readers; close the writing connection, last, so that SQLite
 * copies the WAL and removes it. (Only if no other process has the file open; and then under a lock that
 * keeps others out, which a checkpoint of our own would not have.)
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "internal.h"
#include "lane.h"
#include "readers.h"
#include "registry.h"

#define CREATE_COMMIT_TABLE                                                                                  \
  "CREATE TABLE IF NOT EXISTS weir_commit(one INTEGER PRIMARY KEY CHECK(one=1), rev INTEGER NOT NULL) "      \
  "STRICT;"                                                                                                  \
  "INSERT OR IGNORE INTO weir_commit VALUES(1,0)"

int weir__pool_check(const weir_pool *pool, weir_error *err) {
  if (pool->fork_generation != weir__fork_generation()) {
    return weir_fail(err, WEIR_FORKED,
                     "'%s' was opened before fork(): open it in one process only, or call exec first",
                     pool->path);
  }
  return WEIR_OK;
}

const char *weir__vfs(const weir_pool *pool) {
  return pool->options.exclusive ? "unix-excl" : NULL;
}

/* ---- Options ---- */

static int default_to(int given, int otherwise) {
  return given ? given : otherwise;
}

static int read_options(const weir_pool_options *given, weir_pool_options *out, weir_error *err) {
  memset(out, 0, sizeof(*out));
  if (given) {
    if (given->size < sizeof(given->size) || given->size > sizeof(*out)) {
      return weir_fail(err, WEIR_INVALID, "weir_pool_options.size is %zu: start from WEIR_POOL_OPTIONS_INIT",
                       given->size);
    }
    memcpy(out, given, given->size);
  }
  out->durability = out->durability ? out->durability : WEIR_NORMAL;
  out->readers = out->readers ? out->readers : 4;
  out->busy_timeout_ms = default_to(out->busy_timeout_ms, 5000);
  out->acquire_timeout_ms = default_to(out->acquire_timeout_ms, 5000);
  out->close_timeout_ms = default_to(out->close_timeout_ms, 5000);
  out->cache_kib = default_to(out->cache_kib, 2048);
  out->statements = out->statements ? out->statements : 64;
  out->queue_max = out->queue_max ? out->queue_max : 65536;
  out->checkpoint_pages = out->checkpoint_pages ? out->checkpoint_pages : 1000;
  out->group_max = out->group_max ? out->group_max : 256;
  out->group_kib = out->group_kib ? out->group_kib : 1024;
  out->group_us = out->group_us ? out->group_us : 2000;
  out->queue_kib = out->queue_kib ? out->queue_kib : 65536;
  out->bulk_age_ms = default_to(out->bulk_age_ms, 100);
  uint64_t limit = out->wal_limit_pages ? out->wal_limit_pages : (uint64_t)out->checkpoint_pages * 16;
  out->wal_limit_pages = limit < INT32_MAX ? (unsigned)limit : INT32_MAX;
  out->checkpoint_pause_ms = default_to(out->checkpoint_pause_ms, 20);
  out->wal_keep_kib = out->wal_keep_kib ? out->wal_keep_kib : 16384;
  out->reader_age_ms = default_to(out->reader_age_ms, 30000);
  out->slow_ms = out->slow_ms ? out->slow_ms : 100;
  if (out->mode > WEIR_POOL || out->durability > WEIR_FULL_SYNC) {
    return weir_fail(err, WEIR_INVALID, "mode %d or durability %d is not one of weir/pool.h", (int)out->mode,
                     (int)out->durability);
  }
  if (out->readers > WEIR__READERS_MAX) {
    return weir_fail(err, WEIR_INVALID, "readers is %u: give 1 to %d", out->readers, WEIR__READERS_MAX);
  }
  const struct {
    const char *name;
    int64_t given, least, most;
  } ranges[] = {{"cache_kib", out->cache_kib, 1, INT32_MAX},
                {"checkpoint_pages", out->checkpoint_pages, 1, INT32_MAX},
                {"wal_limit_pages", out->wal_limit_pages, out->checkpoint_pages, INT32_MAX},
                {"wal_keep_kib", out->wal_keep_kib, 1, INT32_MAX},
                {"bulk_age_ms", out->bulk_age_ms, 1, INT32_MAX}};
  for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
    if (ranges[i].given < ranges[i].least || ranges[i].given > ranges[i].most) {
      return weir_fail(err, WEIR_INVALID, "%s is %lld: give %lld to %lld", ranges[i].name,
                       (long long)ranges[i].given, (long long)ranges[i].least, (long long)ranges[i].most);
    }
  }
  return WEIR_OK;
}

/* ---- What kind of database is it? ---- */

static int parameter_is(const char *file, const char *name, const char *value) {
  const char *given = sqlite3_uri_parameter(file, name);
  return given && sqlite3_stricmp(given, value) == 0;
}

/*
 * Looks at the path the way SQLite does, by opening it (which takes no lock and reads nothing), so that URIs
 * and links mean the same here and there: is it in memory, is the file open in this process already?
 */
static int examine(weir_pool *pool, weir_error *err) {
  if (weir__uri_shares_cache(pool->path)) {
    return weir_fail(err, WEIR_INVALID,
                     "'%s': SQLite's shared cache ignores the busy timeout: leave cache=shared out, the pool "
                     "shares the file",
                     pool->path);
  }
  int rc = weir__registry_check(pool->path, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  sqlite3 *probe = NULL;
  int access = pool->options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  int flags = access | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE;
  int opened = sqlite3_open_v2(pool->path, &probe, flags, weir__vfs(pool));
  rc = weir__sqlite_fail(err, probe, opened, pool->path);
  if (rc == WEIR_IO && probe && sqlite3_system_errno(probe) == ENOENT) {
    rc = weir_fail(err, WEIR_NOT_FOUND, "'%s' does not exist, or its directory does not", pool->path);
  }
  if (rc == WEIR_OK) {
    const char *file = sqlite3_db_filename(probe, "main");
    pool->memory =
        !file || !*file || parameter_is(file, "vfs", "memdb") || parameter_is(file, "mode", "memory");
    if (pool->memory && pool->options.mode == WEIR_POOL) {
      rc = weir_fail(err, WEIR_INVALID,
                     "'%s': each connection of a pool would get an empty memory database of its own: use "
                     "WEIR_SINGLE, or a file",
                     pool->path);
    } else if (!pool->memory && sqlite3_db_readonly(probe, "main") == 1 && !pool->options.read_only) {
      rc = weir_fail(err, WEIR_READONLY, "'%s' cannot be written: set read_only to read it", pool->path);
    } else if (!pool->memory && pool->options.exclusive && sqlite3_uri_parameter(file, "vfs") &&
               !parameter_is(file, "vfs", weir__vfs(pool))) {
      rc = weir_fail(err, WEIR_INVALID, "'%s': exclusive means SQLite's VFS %s: leave another vfs=... out",
                     pool->path, weir__vfs(pool));
    } else if (!pool->memory) {
      rc = weir__registry_add(file, &pool->file, err);
    }
    pool->file_path = pool->memory ? strdup(pool->path) : weir__uri_again(pool->path, file);
    if (rc == WEIR_OK && !pool->file_path) {
      rc = weir_fail(err, WEIR_NOMEM, "out of memory");
    }
  }
  if (sqlite3_close(probe) != SQLITE_OK && rc == WEIR_OK) {
    rc = weir_fail(err, WEIR_IO, "cannot close '%s'", pool->path);
  }
  return rc;
}

/* ---- Opening ---- */

static void free_pool(weir_pool *pool) {
  free(pool->path);
  free(pool->file_path);
  free(pool);
}

/* Makes the locks and conditions; they live as long as the pool. */
static int make_locks(weir_pool *pool) {
  int failed = pthread_condattr_init(&pool->monotonic);
  failed |= pthread_condattr_setclock(&pool->monotonic, CLOCK_MONOTONIC);
  failed |= pthread_mutex_init(&pool->lock, NULL);
  failed |= pthread_cond_init(&pool->returned, &pool->monotonic);
  failed |= pthread_cond_init(&pool->evicted_one, &pool->monotonic);
  failed |= pthread_mutex_init(&pool->lane.lock, NULL);
  failed |= pthread_cond_init(&pool->lane.wake, &pool->monotonic);
  failed |= pthread_cond_init(&pool->lane.idle, &pool->monotonic);
  failed |= pthread_cond_init(&pool->lane.committed, &pool->monotonic);
  failed |= pthread_mutex_init(&pool->readers.lock, NULL);
  failed |= pthread_cond_init(&pool->readers.wake, &pool->monotonic);
  return failed; /* on Linux none of these allocates, so there is nothing to undo */
}

static void destroy_locks(weir_pool *pool) {
  (void)pthread_cond_destroy(&pool->readers.wake);
  (void)pthread_mutex_destroy(&pool->readers.lock);
  (void)pthread_cond_destroy(&pool->lane.committed);
  (void)pthread_cond_destroy(&pool->lane.idle);
  (void)pthread_cond_destroy(&pool->lane.wake);
  (void)pthread_mutex_destroy(&pool->lane.lock);
  (void)pthread_cond_destroy(&pool->evicted_one);
  (void)pthread_cond_destroy(&pool->returned);
  (void)pthread_mutex_destroy(&pool->lock);
  (void)pthread_condattr_destroy(&pool->monotonic);
}

static void make_slots(weir_pool *pool) {
  unsigned lent = pool->options.mode == WEIR_SINGLE ? 1 : pool->options.readers;
  for (unsigned i = lent; i-- > 0;) {
    weir__slot *slot = &pool->slots[i];
    slot->role = pool->options.mode == WEIR_SINGLE ? WEIR__WRITER : WEIR__READER;
    slot->next = pool->free;
    pool->free = slot;
  }
  pool->slot_count = lent;
  if (pool->options.mode == WEIR_POOL && !pool->options.read_only) {
    pool->writer = &pool->slots[pool->slot_count++];
    pool->writer->role = WEIR__WRITER;
  }
}

/* SQLite's own words for this ("attempt to write a readonly database") would puzzle whoever only reads. */
static void explain_readonly(const weir_pool *pool, weir_error *err) {
  if (err && err->sqlite_code == SQLITE_READONLY_DIRECTORY) {
    (void)weir_fail(
        err, WEIR_READONLY,
        "'%s': to read a WAL database its directory must be writable: make it so, or if nothing writes "
        "the file, open it as \"file:...?immutable=1\"",
        pool->path);
    err->sqlite_code = SQLITE_READONLY_DIRECTORY;
  }
}

/* Opens the first connection, so that a file that cannot be used is refused here and not in some later call.
 */
static int open_first(weir_pool *pool, weir_error *err) {
  weir__slot *slot = pool->writer ? pool->writer : pool->free;
  int rc = weir__conn_open(pool, slot->role, &slot->conn, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  pool->inspected = 1;
  slot->conn->slot = slot;
  pool->open = 1;
  rc = weir__sqlite_fail(err, slot->conn->db, weir__conn_run(slot->conn, slot->conn->touch), pool->path);
  if (rc == WEIR_OK && !pool->memory && !pool->options.read_only) {
    int page_size = 0;
    rc = weir__conn_integer(slot->conn, "PRAGMA page_size", &page_size, err);
    int64_t keep = (int64_t)pool->options.wal_keep_kib * 1024 / (page_size + 24);
    pool->lane.keep_pages = keep < INT32_MAX ? (int)keep : INT32_MAX;
    pool->lane.unsynced = 1; /* what was in the file before is not known to be on the disk */
  }
  if (rc == WEIR_OK && pool->options.numbered && !pool->options.read_only) {
    rc = weir__conn_exec(slot->conn, "BEGIN IMMEDIATE;" CREATE_COMMIT_TABLE ";COMMIT", err);
  }
  return rc;
}

int weir_pool_open(weir_pool **out, const char *path, const weir_pool_options *options, weir_error *err) {
  if (!out) {
    return weir_fail(err, WEIR_INVALID, "out is NULL");
  }
  *out = NULL;
  if (!path || !*path) {
    return weir_fail(err, WEIR_INVALID, "the path is %s: give a file, or \":memory:\"",
                     path ? "empty" : "NULL");
  }
  weir_pool *pool = calloc(1, sizeof(*pool));
  if (!pool || (pool->path = strdup(path)) == NULL) {
    free(pool);
    return weir_fail(err, WEIR_NOMEM, "out of memory");
  }
  if (make_locks(pool) != 0) {
    free_pool(pool);
    return weir_fail(err, WEIR_NOMEM, "cannot make locks");
  }
  int rc = read_options(options, &pool->options, err);
  if (rc == WEIR_OK) {
    rc = weir__registry_start(err);
  }
  pool->fork_generation = weir__fork_generation();
  pool->automatic = (weir_txn){.pool = pool, .kind = WEIR__TXN_AUTO};
  if (rc == WEIR_OK) {
    rc = examine(pool, err);
  }
  if (rc == WEIR_OK) {
    if (pool->options.mode == WEIR_MODE_DEFAULT) {
      pool->options.mode = pool->memory ? WEIR_SINGLE : WEIR_POOL;
    }
    make_slots(pool);
    rc = open_first(pool, err);
    if (rc == WEIR_READONLY) {
      explain_readonly(pool, err);
    }
  }
  if (rc == WEIR_OK && !pool->memory && !pool->options.read_only) {
    rc = weir__lane_start(pool, err);
  }
  if (rc != WEIR_OK) {
    for (unsigned i = 0; i < pool->slot_count; i++) {
      weir__conn_close(pool->slots[i].conn);
    }
    weir__registry_remove(pool->file);
    destroy_locks(pool);
    free_pool(pool);
    return rc;
  }
  *out = pool;
  return WEIR_OK;
}

/* ---- Closing ---- */

/* Takes the right to close. */
static int begin_closing(weir_pool *pool, weir_error *err) {
  int inside = weir__slot_own(pool) != NULL;
  int rc = WEIR_OK;
  (void)pthread_mutex_lock(&pool->lock);
  if (inside) {
    rc = weir_fail(err, WEIR_MISUSE, "this thread is inside a transaction of the pool: end it first");
  } else if (pool->ports) {
    rc = weir_fail(err, WEIR_MISUSE, "%u weir_async handles are open on the pool: close them first",
                   pool->ports);
  } else if (pool->closer) {
    rc = weir_fail(err, WEIR_CLOSED, "another thread is closing the pool");
  } else {
    pool->closing = 1;
    pool->closer = 1;
  }
  (void)pthread_mutex_unlock(&pool->lock);
  return rc;
}

/* Whether somebody is inside the pool, or on the way into it. */
static int in_use_locked(const weir_pool *pool) {
  return pool->in_use || pool->waiters || __atomic_load_n(&pool->awaiting, __ATOMIC_ACQUIRE);
}

/* Waits for all leases to be given back. 1 if they are. Reads that wait for a commit leave without the lock,
 * so it is looked for. */
static int wait_returned(weir_pool *pool, uint64_t deadline_ns) {
  uint64_t now = 0;
  (void)pthread_mutex_lock(&pool->lock);
  while (in_use_locked(pool) && (now = weir__now_ns()) < deadline_ns) {
    uint64_t look = now + WEIR__NS_PER_MS;
    struct timespec until = weir__timespec(look < deadline_ns ? look : deadline_ns);
    (void)pthread_cond_timedwait(&pool->returned, &pool->lock, &until);
  }
  int done = !in_use_locked(pool);
  (void)pthread_mutex_unlock(&pool->lock);
  return done;
}

/* The deadline has passed: ends reads that run and waits that go on. */
static void expire(weir_pool *pool) {
  __atomic_store_n(&pool->interrupt, 1, __ATOMIC_RELEASE);
  (void)pthread_mutex_lock(&pool->lock);
  pool->expired = 1;
  weir__waiter *waiter = NULL;
  DL_FOREACH (pool->waiters, waiter) {
    (void)pthread_cond_signal(&waiter->wake);
  }
  (void)pthread_mutex_unlock(&pool->lock);
}

static void close_connections(weir_pool *pool) {
  weir__slot *last = pool->writer ? pool->writer : &pool->slots[0];
  for (unsigned i = 0; i < pool->slot_count; i++) {
    if (&pool->slots[i] != last) {
      weir__conn_close(pool->slots[i].conn);
    }
  }
  (void)sqlite3_close(pool->lane.guard); /* has no statements */
  weir__conn_close(last->conn);
}

int weir_pool_close(weir_pool *pool, weir_error *err) {
  if (!pool) {
    return WEIR_OK;
  }
  int rc = weir__pool_check(pool, err);
  if (rc != WEIR_OK) {
    /* A child must not touch SQLite's handles or the parent's locks: it only gives the memory back. */
    free_pool(pool);
    return rc;
  }
  rc = begin_closing(pool, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  uint64_t patience = weir__ms(pool->options.close_timeout_ms);
  uint64_t deadline = weir__now_ns() + patience;
  int idle = weir__lane_drain(pool, deadline);
  int returned = wait_returned(pool, deadline);
  if (!idle || !returned) {
    expire(pool);
    deadline = weir__now_ns() + (patience ? patience : WEIR__NS_PER_S);
    idle = weir__lane_drain(pool, deadline);
    returned = wait_returned(pool, deadline);
  }
  if (!idle || !returned) {
    (void)pthread_mutex_lock(&pool->lock);
    pool->closer = 0;
    unsigned in_use = pool->in_use;
    (void)pthread_mutex_unlock(&pool->lock);
    return weir_fail(err, WEIR_BUSY, "%u transactions have not ended: end them, then close again", in_use);
  }
  weir__readers_stop(pool);
  weir__lane_stop(pool);
  close_connections(pool);
  weir__registry_remove(pool->file);
  destroy_locks(pool);
  free_pool(pool);
  return WEIR_OK;
}

int weir__thread_start(pthread_t *out, void *(*run)(void *pool), weir_pool *pool) {
  sigset_t all;
  sigset_t before;
  (void)sigfillset(&all); /* neither can fail */
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(out, NULL, run, pool);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

/* ---- Small things ---- */

int weir__pool_port_open(weir_pool *pool, weir_error *err) {
  int rc = weir__pool_check(pool, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  (void)pthread_mutex_lock(&pool->lock);
  if (pool->closing) {
    rc = weir_fail(err, WEIR_CLOSED, "the pool is closed or closing");
  } else {
    pool->ports++; /* from here on it cannot be closed */
  }
  (void)pthread_mutex_unlock(&pool->lock);
  if (rc != WEIR_OK) {
    return rc;
  }
  rc = weir__readers_start(pool, err);
  if (rc == WEIR_OK && !pool->options.read_only) {
    rc = weir__lane_start(pool, err);
  }
  if (rc != WEIR_OK) {
    weir__pool_port_close(pool);
  }
  return rc;
}

void weir__pool_port_close(weir_pool *pool) {
  (void)pthread_mutex_lock(&pool->lock);
  pool->ports--;
  (void)pthread_mutex_unlock(&pool->lock);
}

void *weir_pool_data(const weir_pool *pool, const weir_pool_hooks *hooks) {
  return pool && hooks && pool->options.hooks == hooks ? pool->options.data : NULL;
}

weir_mode weir_pool_mode(const weir_pool *pool) {
  return pool ? pool->options.mode : WEIR_MODE_DEFAULT;
}

weir_txn *weir_pool_auto(weir_pool *pool) {
  return pool ? &pool->automatic : NULL;
}
