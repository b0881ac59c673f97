/*
 * Checkpoints, syncs of the WAL, and healing after a failed one; see checkpoint.h.
 *
 * Invariant: `unsynced` is 0 only if everything that was acknowledged is on the disk, in the WAL or in the
 * database file. `unhealed` is 1 from a failed sync to the next complete checkpoint.
 */
#include "checkpoint.h"

#include "evict.h"
#include "registry.h"
#include "trace.h"

/* While writes wait, checkpoints come so much later. */
#define BUSY_FACTOR 4

/* And so much earlier while they take less than one part in EARLY_SHARE of the time: whoever writes during a
 * checkpoint waits for it, so small ones are better than large ones, until their syncs cost too much. */
#define EARLY_FACTOR 8
#define EARLY_SHARE  32u

/* After the lane was stopped in vain, commits go on for at least so many times as long. */
#define LIMIT_PAUSES 10u

/* WEIR_TRACE_WAL_LIMIT comes once in this time. */
#define LIMIT_TRACE_NS WEIR__NS_PER_S

/* A lane that has committed nothing for so long is idle enough to shrink the WAL's file. In vain: twice as
 * long, up to the longest. */
#define TRIM_NS         (250u * WEIR__NS_PER_MS)
#define TRIM_LONGEST_NS (16u * WEIR__NS_PER_S)

/* ---- When ---- */

void weir__checkpoint_note_locked(weir_pool *pool, int wal_pages) {
  weir__lane *lane = &pool->lane;
  if (wal_pages == lane->wal_pages) {
    return;
  }
  if (wal_pages < lane->wal_pages) { /* the WAL began anew; SQLite has cut the file to journal_size_limit */
    lane->checkpoint_mark = 0;
    lane->wal_peak = lane->wal_peak < lane->keep_pages ? lane->wal_peak : lane->keep_pages;
  }
  lane->wal_pages = wal_pages;
  lane->wal_peak = lane->wal_peak > wal_pages ? lane->wal_peak : wal_pages;
  lane->trim_wait_ns = TRIM_NS;
}

static int over_limit_locked(const weir_pool *pool) {
  return pool->lane.wal_pages >= (int)pool->options.wal_limit_pages &&
         weir__now_ns() >= pool->lane.limit_retry_ns;
}

int weir__checkpoint_due_locked(weir_pool *pool) {
  weir__lane *lane = &pool->lane;
  if (pool->memory || !lane->started) {
    return 0;
  }
  int64_t grown = lane->wal_pages - lane->checkpoint_mark;
  int64_t soft = pool->options.checkpoint_pages;
  if (lane->queued) {
    return grown >= BUSY_FACTOR * soft || over_limit_locked(pool);
  }
  return grown >= soft || lane->trim_due || over_limit_locked(pool) ||
         (grown > 0 && grown >= soft / EARLY_FACTOR &&
          weir__now_ns() - lane->checkpoint_end_ns >= EARLY_SHARE * lane->checkpoint_took_ns);
}

int weir__trim_wanted_locked(const weir_pool *pool) {
  const weir__lane *lane = &pool->lane;
  return !pool->memory && lane->wal_peak > lane->keep_pages && !lane->stop;
}

/* ---- How ---- */

static int acquire(weir_pool *pool, weir__slot **out) {
  weir_error ignored = WEIR_ERROR_INIT;
  weir__admission how = {.timeout_ns = WEIR__NS_PER_S, .draining = 1, .writes = 1};
  return pool->writer ? weir__slot_acquire_writer(pool, out, &ignored)
                      : weir__slot_acquire(pool, &how, out, &ignored);
}

static int is_sync_failure(int sqlite_code) {
  return weir__sqlite_code(sqlite_code) == WEIR_INDETERMINATE;
}

/* How long the checkpoint waits for another process that is committing. */
#define GUARD_NS (5u * WEIR__NS_PER_MS)

/*
 * Commits of this process cannot meet a checkpoint, since both are the lane's. Another process must be kept
 * from committing too: SQLite before 3.51.3 loses pages if the WAL is begun anew while a passive checkpoint
 * is about to begin. Only who holds the lock for writing can do that, so a second connection holds it
 * meanwhile. 1 if it does, or nobody else can come.
 */
static int lock_out(weir_pool *pool) {
  weir__lane *lane = &pool->lane;
  if (pool->options.exclusive) {
    return 1;
  }
  if (!lane->guard) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (sqlite3_open_v2(pool->file_path, &lane->guard, flags, weir__vfs(pool)) != SQLITE_OK ||
        weir__registry_same(pool->file, sqlite3_db_filename(lane->guard, "main"), NULL) != WEIR_OK ||
        sqlite3_wal_autocheckpoint(lane->guard, 0) != SQLITE_OK) {
      (void)sqlite3_close(lane->guard);
      lane->guard = NULL;
      return 0;
    }
  }
  uint64_t until = weir__now_ns() + GUARD_NS;
  int rc = SQLITE_OK;
  while ((rc = sqlite3_exec(lane->guard, "BEGIN IMMEDIATE", NULL, NULL, NULL)) == SQLITE_BUSY &&
         weir__now_ns() < until) {
    weir__pause(100 * WEIR__NS_PER_US);
  }
  return rc == SQLITE_OK;
}

static void let_in(weir_pool *pool) {
  if (pool->lane.guard && !sqlite3_get_autocommit(pool->lane.guard)) {
    (void)sqlite3_exec(pool->lane.guard, "ROLLBACK", NULL, NULL, NULL); /* it has written nothing */
  }
}

typedef struct patience {
  sqlite3 *db;
  uint64_t until_ns;
} patience;

/* The busy handler of a checkpoint that takes the lock for writing by itself. One that does not get it would
 * go on as a passive one, which is what must not be; interrupted, it ends and has changed nothing. */
static int wait_or_interrupt(void *data, int count) {
  const patience *p = data;
  (void)count;
  if (weir__now_ns() >= p->until_ns) {
    sqlite3_interrupt(p->db);
    return 0;
  }
  weir__pause(100 * WEIR__NS_PER_US);
  return 1;
}

/* SQLite may have looked at what others did meanwhile. */
static void done(weir__conn *conn, int all) {
  conn->version_known = 0;
  conn->rev = -1;
  if (all) {
    conn->pool->lane.unsynced = 0;
  }
}

/* Copies what no reader is in the way of. Returns SQLite's code; *all: nothing is left that only the WAL has.
 */
static int copy(weir__conn *conn, int *all) {
  int pages = -1;
  int copied = -1;
  int rc = SQLITE_BUSY;
  if (lock_out(conn->pool)) { /* busy or failed: what was not copied stays in the WAL, for the next time */
    rc = sqlite3_wal_checkpoint_v2(conn->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
  }
  let_in(conn->pool);
  *all = rc == SQLITE_OK && pages >= 0 && copied == pages;
  done(conn, *all);
  return rc;
}

/* The WAL's file is empty now. */
static void emptied_locked(weir__lane *lane) {
  lane->wal_pages = 0;
  lane->wal_peak = 0;
  lane->checkpoint_mark = 0;
}

/* Copies all, and empties the WAL, waiting for readers so long at most. Returns SQLite's code. */
static int empty(weir__conn *conn, int wait_ms) {
  patience p = {conn->db, weir__now_ns() + weir__ms(wait_ms)};
  (void)sqlite3_busy_handler(conn->db, wait_or_interrupt, &p); /* always SQLITE_OK */
  int rc = sqlite3_wal_checkpoint_v2(conn->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  (void)sqlite3_busy_timeout(conn->db, conn->pool->options.busy_timeout_ms);
  done(conn, rc == SQLITE_OK);
  conn->wal_pages = rc == SQLITE_OK ? 0 : conn->wal_pages;
  return (rc & 0xff) == SQLITE_INTERRUPT ? SQLITE_BUSY : rc;
}

/* Copies, and empties the WAL if it is over its limit, or to be trimmed. 1 if it was emptied. A sync that
 * fails ends it: the next one would succeed, whatever is on the disk. */
static int attempt(weir__conn *conn, int pages, int limit, int trim) {
  int all = 0;
  int rc = copy(conn, &all);
  if (rc == SQLITE_OK && !all && weir__evict_old(conn->pool, pages) > 0) {
    rc = copy(conn, &all);
  }
  if (!is_sync_failure(rc) && (limit || (trim && all))) {
    rc = empty(conn, limit ? conn->pool->options.checkpoint_pause_ms : 0);
    if (rc == SQLITE_OK) {
      return 1;
    }
  }
  if (is_sync_failure(rc)) {
    weir__sync_failed(conn);
  }
  return 0;
}

void weir__checkpoint(weir_pool *pool) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  int limit = over_limit_locked(pool);
  int trim = lane->trim_due && !lane->queued;
  int known = lane->wal_pages;
  lane->trim_due = 0;
  (void)pthread_mutex_unlock(&lane->lock);

  weir__slot *slot = NULL;
  uint64_t before = weir__now_ns();
  int leased = acquire(pool, &slot) == WEIR_OK;
  int emptied = leased && attempt(slot->conn, known, limit, trim);
  if (leased) {
    weir__slot_release(pool, slot);
  }
  uint64_t now = weir__now_ns();

  (void)pthread_mutex_lock(&lane->lock);
  lane->checkpoints += (unsigned)leased;
  lane->checkpoint_us += (now - before) / WEIR__NS_PER_US;
  lane->checkpoint_end_ns = now;
  lane->checkpoint_took_ns = now - before;
  lane->checkpoint_mark = lane->wal_pages;
  int trace = 0;
  if (emptied) {
    emptied_locked(lane);
    lane->wal_emptied++;
  } else {
    if (trim && lane->trim_wait_ns < TRIM_LONGEST_NS) { /* a reader is in the way */
      lane->trim_wait_ns *= 2;
    }
    lane->limit_retry_ns = limit ? now + LIMIT_PAUSES * (now - before) : lane->limit_retry_ns;
    trace = limit && now - lane->limit_traced_ns >= LIMIT_TRACE_NS;
    lane->limit_traced_ns = trace ? now : lane->limit_traced_ns;
  }
  lane->wal_limits += (unsigned)limit;
  (void)pthread_mutex_unlock(&lane->lock);
  if (trace) {
    weir__trace(pool, &(weir_trace){.kind = WEIR_TRACE_WAL_LIMIT,
                                    .ran_us = (now - before) / WEIR__NS_PER_US,
                                    .pages = (uint64_t)known});
  }
}

/* ---- Durability ---- */

int weir__wal_sync(weir__conn *conn, weir_error *err) {
  sqlite3_file *wal = NULL;
  if (conn->pool->memory) {
    return WEIR_OK;
  }
  int rc = sqlite3_file_control(conn->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, (void *)&wal);
  if (rc == SQLITE_OK && wal && wal->pMethods) {
    rc = wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL);
  }
  if (rc == SQLITE_OK) {
    conn->pool->lane.unsynced = 0;
    return WEIR_OK;
  }
  (void)weir_fail(err, WEIR_INDETERMINATE, "'%s': the WAL could not be synced: %s", conn->pool->path,
                  sqlite3_errstr(rc));
  if (err) {
    err->sqlite_code = rc;
  }
  return WEIR_INDETERMINATE;
}

void weir__sync_failed(weir__conn *conn) {
  weir_pool *pool = conn->pool;
  conn->broken = 1; /* its cache may hold pages that the file does not */
  pool->lane.unhealed = 1;
  pool->lane.unsynced = 1;
  (void)pthread_mutex_lock(&pool->lane.lock);
  pool->lane.sync_failures++;
  (void)pthread_mutex_unlock(&pool->lane.lock);
  weir__trace(pool, &(weir_trace){.kind = WEIR_TRACE_SYNC_FAILED});
}

int weir__wal_heal(weir__conn *conn, const weir__job *job) {
  weir_pool *pool = conn->pool;
  int rc = empty(conn, pool->options.checkpoint_pause_ms);
  if (rc == SQLITE_OK) {
    pool->lane.unhealed = 0;
    (void)pthread_mutex_lock(&pool->lane.lock);
    emptied_locked(&pool->lane);
    (void)pthread_mutex_unlock(&pool->lane.lock);
    weir__trace(pool, &(weir_trace){.kind = WEIR_TRACE_SYNC_HEALED});
    return WEIR_OK;
  }
  if (is_sync_failure(rc)) {
    weir__sync_failed(conn);
  }
  if ((rc & 0xff) != SQLITE_BUSY) {
    (void)weir_fail(job->error, WEIR_IO,
                    "a sync of '%s' has failed, and so does copying the WAL, which must come before further "
                    "writes: %s",
                    pool->path, sqlite3_errmsg(conn->db));
    job->error->sqlite_code = rc;
    return WEIR_IO;
  }
  if (job->durability == WEIR_FULL_SYNC) {
    return weir_fail(
        job->error, WEIR_IO,
        "a sync of '%s' has failed, so nothing can be made durable until the WAL has been copied: "
        "end the reads that are in the way",
        pool->path);
  }
  return WEIR_OK;
}

int weir__wal_flush(weir__conn *conn, const weir__job *job) {
  int rc = WEIR_OK;
  if (conn->pool->lane.unhealed) {
    rc = weir__wal_heal(conn, job);
  }
  if (rc == WEIR_OK && conn->pool->lane.unsynced) {
    rc = weir__wal_sync(conn, job->error);
    if (rc != WEIR_OK) {
      weir__sync_failed(conn);
    }
  }
  return rc;
}
