/*
 * weir/pool.h - SQLite connections for programs that read from many places while one place writes.
 *
 * A weir_pool is one SQLite database file. It works in one of two modes, with the same calls, results
 * and errors in both:
 *
 *   WEIR_POOL    N reader connections bounded by a counting semaphore, and one write lane. WAL.
 *   WEIR_SINGLE  one connection behind one fair lock. Also for ":memory:".
 *
 * All access goes through a weir_txn: a read transaction (one snapshot) or a write transaction (one
 * BEGIN IMMEDIATE ... COMMIT). The pool knows nothing of graphs; weir/graph.h is built on this header.
 *
 * Who may call from where
 *
 *   weir_pool    any thread, any number at once
 *   weir_txn     one thread at a time; the one that weir_pool_auto() returns: any thread
 *   weir_token   any thread
 *   weir_error, options: their owner; the library keeps no pointer to them after a call returns
 *
 * Nothing here may be used in a child after fork(): every call returns WEIR_FORKED, and the file must
 * not be opened again by the child before it calls exec.
 */
#ifndef WEIR_POOL_H
#define WEIR_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weir/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;
struct sqlite3_stmt;

typedef struct weir_pool weir_pool; /* an open database; opaque */
typedef struct weir_txn weir_txn;   /* a transaction; opaque */

/* UTF-8 text that somebody else owns: pointer and length in bytes, no terminating NUL needed. A NUL
 * byte inside is an error wherever text is stored. {NULL, 0} means "none". */
typedef struct weir_text {
  const char *ptr; /* the bytes */
  size_t len;      /* how many */
} weir_text;

/* Text from a string literal, usable in initializers. */
#define WEIR_TEXT(literal)                                                                                   \
  { (literal), sizeof(literal) - 1 }

/* Text from a NUL-terminated string; NULL gives the empty text. */
static inline weir_text weir_str(const char *string) {
  weir_text text;
  text.ptr = string;
  text.len = string ? strlen(string) : 0;
  return text;
}

/* ---- Opening and closing ---- */

/* How a pool gives access to its database. */
typedef enum weir_mode {
  WEIR_MODE_DEFAULT = 0, /* WEIR_POOL for files, WEIR_SINGLE for ":memory:" */
  WEIR_SINGLE = 1,
  WEIR_POOL = 2
} weir_mode;

/* What a commit survives. */
typedef enum weir_durability {
  WEIR_DURABILITY_DEFAULT = 0, /* of a pool: WEIR_NORMAL; of a write: its pool's */
  WEIR_NORMAL = 1,   /* synchronous=NORMAL: a commit survives a crash of the process; a power cut may
                        lose the latest commits, never their order, and never corrupts */
  WEIR_FULL_SYNC = 2 /* synchronous=FULL: a commit survives a power cut */
} weir_durability;

/*
 * Hooks by which a layer above the pool keeps state of its own in every connection (functions, caches). The
 * struct must outlive the pool; its address also tells whose pool it is, see weir_pool_data. The hooks run on
 * whichever thread opens or closes the connection, while no other has it, and with no lock held.
 *
 *   connect     after all pragmas are set. May set *local. A failure closes the connection again.
 *   disconnect  before the connection is closed. `local` is what connect stored.
 *   inspect     by weir_pool_open, before anything is written to the file. It may read, and refuse the file:
 *               then that is left as it was.
 *
 * Each may be NULL.
 */
typedef struct weir_pool_hooks {
  /* Prepares a new connection. */
  int (*connect)(struct sqlite3 *db, void **local, void *data, weir_error *err);
  /* Undoes connect. */
  void (*disconnect)(void *local, void *data);
  /* Judges the database. */
  int (*inspect)(struct sqlite3 *db, void *data, weir_error *err);
} weir_pool_hooks;

/* What a weir_trace tells of. */
typedef enum weir_trace_kind {
  WEIR_TRACE_SLOW_READ = 1,   /* a read waited or ran for slow_ms */
  WEIR_TRACE_SLOW_WRITE = 2,  /* a write waited or ran for slow_ms */
  WEIR_TRACE_SLOW_COMMIT = 3, /* a COMMIT took slow_ms */
  WEIR_TRACE_OLD_READER = 4,  /* a read is older than reader_age_ms and keeps the WAL from being used anew */
  WEIR_TRACE_EVICTED = 5,     /* it was told to end, see reader_evict, and its snapshot is gone */
  WEIR_TRACE_WAL_LIMIT = 6,   /* the WAL has passed wal_limit_pages and cannot be emptied now */
  WEIR_TRACE_SYNC_FAILED = 7, /* a sync failed: the writing connection is closed and opened again */
  WEIR_TRACE_SYNC_HEALED = 8  /* after that, everything acknowledged is on the disk again */
} weir_trace_kind;

/* Something that happened, for weir_pool_options.trace. Valid during the call. */
typedef struct weir_trace {
  weir_trace_kind kind; /* what happened */
  const char *label;    /* of the transaction, or NULL */
  uint64_t waited_us;   /* microseconds it waited to be admitted */
  uint64_t ran_us;      /* microseconds its function ran, without the commit; a commit's time; a reader's age;
                           WAL_LIMIT: how long the lane stopped */
  uint64_t pages;       /* WAL_LIMIT, OLD_READER, EVICTED: pages in the WAL */
} weir_trace;

/* Receives trace events, on whichever thread has met them, with no lock held. It should be short, and must
 * not use the pool, but for weir_pool_stats_get. */
typedef void (*weir_trace_fn)(const weir_trace *event, void *data);

/* Options of weir_pool_open. Start from WEIR_POOL_OPTIONS_INIT; zero means the default. */
typedef struct weir_pool_options {
  size_t size;                  /* sizeof(weir_pool_options), set by WEIR_POOL_OPTIONS_INIT */
  weir_mode mode;               /* default: WEIR_POOL for files, WEIR_SINGLE for ":memory:" */
  weir_durability durability;   /* default: WEIR_NORMAL */
  unsigned readers;             /* reader connections in pool mode, 1 to 64; default 4 */
  int read_only;                /* 1: open an existing file for reading; writes return WEIR_READONLY */
  int busy_timeout_ms;          /* wait for locks of other processes; default 5000; negative: none. It begins
                                   when the lane is had, so a write may wait this long after its timeout_ms */
  int acquire_timeout_ms;       /* wait for a connection or the lane; default 5000; negative: none */
  int close_timeout_ms;         /* weir_pool_close waits this long before it interrupts; default 5000 */
  int cache_kib;                /* page cache per connection in KiB; default 2048 */
  unsigned statements;          /* cached statements per connection; default 64 */
  unsigned queue_max;           /* asynchronous writes, and reads, that may wait; default 65536 */
  unsigned checkpoint_pages;    /* WAL pages since the last checkpoint that start one, fewer while they take
                                   little time; default 1000 */
  int numbered;                 /* 1: number write transactions, see weir_txn_rev */
  const weir_pool_hooks *hooks; /* or NULL. Not copied */
  void *data;                   /* handed to the hooks; see weir_pool_data */

  /* Group commit: writes that wait while another one runs share its COMMIT, within these bounds. */
  unsigned group_max; /* writes a COMMIT; default 256; 1: each has its own */
  unsigned group_kib; /* KiB of their weir_txn_options.bytes in all; default 1024 */
  unsigned group_us;  /* microseconds after its BEGIN from which no more join; default 2000 */
  unsigned queue_kib; /* KiB of `bytes` in all that may wait, beside queue_max; default 65536 */
  int bulk_age_ms;    /* with interactive writes all the time, one WEIR_BULK write runs in this time; default
                         100 */

  /* Checkpoints. */
  unsigned wal_limit_pages; /* WAL pages from which the lane stops, for a moment, to empty the WAL; default
                               16 times checkpoint_pages */
  int checkpoint_pause_ms;  /* that moment: how long writes wait for readers then; default 20; negative: 0 */
  unsigned wal_keep_kib;    /* the WAL file shrinks to this when it is idle (journal_size_limit); default
                               16384 */
  int reader_age_ms; /* a read older than this is traced while it is in the way of a checkpoint; default
                        30000; negative: none is */
  int reader_evict;  /* 1: such a read is ended with WEIR_TIMEOUT: at once while it is inside SQLite, or rests
                        between two statements. One that rests in the middle of a result (it has stepped to a
                        row, and neither stepped on nor reset or released the statement), or is inside a
                        function called by SQL, keeps its row and its snapshot until it goes on: its next step
                        fails, and the WAL may grow until then. Reader connections are serialized, which
                        costs a read some percent */

  int exclusive;       /* 1: keep other processes out (SQLite's VFS unix-excl), which also saves a read and a
                          write the file locks */
  unsigned slow_ms;    /* what takes longer is traced; default 100 */
  weir_trace_fn trace; /* or NULL */
  void *trace_data;    /* handed to trace */
} weir_pool_options;

#define WEIR_POOL_OPTIONS_INIT                                                                               \
  {                                                                                                          \
    sizeof(weir_pool_options), WEIR_MODE_DEFAULT, WEIR_DURABILITY_DEFAULT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,     \
        NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL                                           \
  }

/*
 * Opens (and creates, unless read_only) the SQLite database at `path` and returns it in *out. `path` is a
 * file name, a "file:" URI, or ":memory:". Every connection gets WAL (files), the durability's
 * `synchronous`, busy_timeout, foreign_keys=on, trusted_schema=off, the defensive flag,
 * wal_autocheckpoint=0 and mmap_size=0; docs/storage.md says why.
 *
 * The pool opens one connection here and the others when they are first needed. One open pool per
 * file and process, told by the file's device and inode. A relative path means the same file for as long as
 * the pool is open. If that is removed, renamed or replaced, calls that need another connection return
 * WEIR_IO.
 *
 * Errors: WEIR_INVALID (NULL, empty path, option out of range, ":memory:" in pool mode, a URI with
 * cache=shared, or another VFS than exclusive means), WEIR_EXISTS (this process has the file open: share that
 * handle), WEIR_FORKED (the file was open when this process was forked), WEIR_BUSY (another process kept the
 * file locked for busy_timeout_ms), WEIR_NOT_FOUND, WEIR_READONLY, WEIR_CORRUPT, WEIR_FULL, WEIR_IO,
 * WEIR_NOMEM. On error *out is NULL and nothing needs closing.
 */
WEIR_API int weir_pool_open(weir_pool **out, const char *path, const weir_pool_options *options,
                            weir_error *err) WEIR_CHECKED;

/*
 * Closes the pool: refuses new work with WEIR_CLOSED, waits up to close_timeout_ms for transactions in
 * progress and queued writes, cancels the writes that are still queued and interrupts reads that
 * still run, closes the readers, checkpoints, and closes the writing connection last. NULL is a no-op.
 *
 * Errors: WEIR_MISUSE (the calling thread is inside a transaction of this pool, or a weir_async is still
 * open on it: nothing was closed), WEIR_BUSY (a transaction did not end: the pool stays closing, and may be
 * closed again once it has), WEIR_CLOSED (another thread is closing it). After WEIR_OK, or an error other
 * than these, the handle is gone. In a forked child it only releases memory, and returns WEIR_FORKED.
 */
WEIR_API int weir_pool_close(weir_pool *pool, weir_error *err);

/* The `data` of the options if the pool was opened with these `hooks`, else NULL. Any thread. */
WEIR_API void *weir_pool_data(const weir_pool *pool, const weir_pool_hooks *hooks);

/* The mode in which the pool works (never WEIR_MODE_DEFAULT). Any thread. */
WEIR_API weir_mode weir_pool_mode(const weir_pool *pool);

/* ---- Transactions ---- */

/*
 * The automatic transaction of the pool: pass it where a weir_txn is wanted and none is at hand, and
 * the call runs as a transaction of its own. It never ends, holds nothing, and may be used by any number of
 * threads. Called on a thread that is inside a transaction of the same pool it means that transaction.
 */
WEIR_API weir_txn *weir_pool_auto(weir_pool *pool);

/* Cancels waits and reads from another thread, see weir_cancel. Zero it before use; it must outlive
 * the calls it is given to. */
typedef struct weir_token {
  int canceled; /* private */
} weir_token;

/* Which of the writes that wait is next: the interactive ones in their order, then the bulk ones in theirs. A
 * bulk write does not join a commit that interactive writes wait for, and does not wait for ever, see
 * weir_pool_options.bulk_age_ms. */
typedef enum weir_priority { WEIR_INTERACTIVE = 0, WEIR_BULK = 1 } weir_priority;

/* What a write that was committed is told of its commit. Left alone if it failed, and by a nested write. */
typedef struct weir_ack {
  int64_t rev; /* of a numbered pool: reads from this number on see the write, see min_rev; else
                  0 */
  weir_durability
      durability;   /* what the commit survives: at least what was asked for. In memory: WEIR_NORMAL */
  unsigned members; /* writes that shared the commit, this one included */
} weir_ack;

/* Options of one transaction. Start from WEIR_TXN_OPTIONS_INIT; NULL or zero means the default. */
typedef struct weir_txn_options {
  size_t size;       /* sizeof(weir_txn_options) */
  int timeout_ms;    /* wait to be admitted; default: the pool's acquire_timeout_ms; negative: no wait */
  int deadline_ms;   /* for a read: from the call to its end; 0: none. A write that has begun is never cut */
  weir_token *token; /* or NULL */
  const char *label; /* or NULL: static text that names the transaction in diagnostics */
  weir_durability durability; /* of a write; default: the pool's */
  weir_priority priority;     /* of a write */
  size_t bytes;               /* of a write: about what it will write, for group_kib; 1 TiB at most */
  int64_t min_rev;   /* of a read, numbered pools: it sees the commit of this number, and waits for it as long
                        as for admission; 0: none */
  weir_ack *ack;     /* or NULL: receives the acknowledgement of a write that was committed */
  int one_statement; /* of weir_read: 1 if what `fn` reads comes from one statement, so that it needs no BEGIN
                        and COMMIT. Others that it runs see the same snapshot as long as that one has a row at
                        hand */
} weir_txn_options;

#define WEIR_TXN_OPTIONS_INIT                                                                                \
  { sizeof(weir_txn_options), 0, 0, NULL, NULL, WEIR_DURABILITY_DEFAULT, WEIR_INTERACTIVE, 0, 0, NULL, 0 }

/*
 * The work of a transaction. Return WEIR_OK to keep it, a negative code to end it without a trace; that code,
 * with the detail left in `err`, is what the caller of weir_read or weir_write gets. `err` is never NULL.
 *
 * A write function may be run more than once, and on another thread than its caller's, before its transaction
 * is committed. So it must derive everything from its arguments and the database, and its effects outside the
 * database must bear repetition. It must not commit or roll back by itself, and must not keep `txn`.
 */
typedef int (*weir_txn_fn)(weir_txn *txn, void *data, weir_error *err);

/*
 * Runs `fn` inside one read snapshot: everything it reads is of one moment. It runs on the calling thread.
 *
 * `in` is weir_pool_auto(), or a transaction in progress: then `fn` runs inside that one (a read nested in a
 * read sees the same snapshot; nested in a write it sees the write so far), and `options` are not looked at.
 *
 * Errors: what `fn` returned; WEIR_BUSY (not admitted in time), WEIR_CANCELED, WEIR_TIMEOUT (deadline),
 * WEIR_CLOSED, WEIR_FORKED, WEIR_INVALID, WEIR_MISUSE (`in` has ended), WEIR_NOMEM, WEIR_IO, WEIR_CORRUPT.
 */
WEIR_API int weir_read(weir_txn *in, weir_txn_fn fn, void *data, const weir_txn_options *options,
                       weir_error *err);

/*
 * Runs `fn` as one write transaction and returns once it is committed, or has left no trace. Writes go one
 * after another through the pool's write lane. Those that wait meanwhile share its next COMMIT: each behind
 * a savepoint, so that one which fails is undone alone, and seen by the others as if it had never run. If
 * SQLite ends the whole transaction for one of them, the others are run again.
 *
 * If the lane is idle `fn` runs on the calling thread; if not, it may be another's. What `fn` has stored
 * elsewhere counts only once this has returned WEIR_OK.
 *
 * Inside a write transaction (`in`, or the calling thread's own) `fn` joins it behind a savepoint: if it
 * fails, its own changes are undone and the outer function decides. Inside a read: WEIR_MISUSE, at once.
 *
 * Errors: what `fn` returned; WEIR_BUSY (lane or file lock not had in time), WEIR_CANCELED
 * (while it waited), WEIR_CONSTRAINT, WEIR_FULL, WEIR_IO, WEIR_INDETERMINATE (a sync failed), WEIR_READONLY,
 * WEIR_MISUSE, WEIR_CLOSED, WEIR_FORKED, WEIR_INVALID, WEIR_NOMEM, WEIR_CORRUPT, WEIR_SQL (SQLite rolled the
 * transaction back after an error that `fn` ignored), WEIR_CONFLICT (the schema changed under it).
 *
 * After WEIR_INDETERMINATE the write may be there or not, also after a power cut that follows. The connection
 * is opened anew, and before the next write the WAL is copied and synced. If readers are in the way of that,
 * WEIR_NORMAL writes go on, and it is tried again at each; WEIR_FULL_SYNC ones return WEIR_IO until then.
 */
WEIR_API int weir_write(weir_txn *in, weir_txn_fn fn, void *data, const weir_txn_options *options,
                        weir_error *err);

/*
 * Makes every write acknowledged so far survive a power cut, whatever durability it had, and returns once it
 * does: one sync of the WAL. It takes its turn in the write lane; of `options` it looks at timeout_ms, token
 * and label. Any thread, but not inside a transaction of the pool (WEIR_MISUSE). Nothing to do for a database
 * in memory.
 *
 * Errors: WEIR_BUSY, WEIR_CANCELED, WEIR_INDETERMINATE (the sync failed), WEIR_IO (one has failed before, and
 * the WAL cannot be copied now), WEIR_READONLY, WEIR_MISUSE, WEIR_CLOSED, WEIR_FORKED, WEIR_INVALID,
 * WEIR_NOMEM.
 */
WEIR_API int weir_flush(weir_pool *pool, const weir_txn_options *options, weir_error *err);

/*
 * Begins a read snapshot that lasts until weir_snapshot_end, and returns it in *out. It holds one reader
 * connection (in single mode: the only one, so writes wait). May be used and ended by another thread than the
 * one that began it, one at a time. The snapshot is fixed when this returns.
 *
 * Errors: as weir_read; WEIR_MISUSE inside a transaction of the same pool. On error *out is NULL.
 */
WEIR_API int weir_snapshot_begin(weir_pool *pool, weir_txn **out, const weir_txn_options *options,
                                 weir_error *err) WEIR_CHECKED;

/* Ends a snapshot and returns its connection. NULL is a no-op. WEIR_MISUSE for any other kind of transaction;
 * WEIR_FORKED in a child. */
WEIR_API int weir_snapshot_end(weir_txn *txn, weir_error *err);

/*
 * Cancels every transaction of `pool` that was given `token`: those that wait return WEIR_CANCELED, reads
 * that run are interrupted and return it too, writes that run are left alone. Later uses of the token are
 * canceled at once. Any thread.
 */
WEIR_API int weir_cancel(weir_pool *pool, weir_token *token);

/* ---- Inside a transaction ---- */

/*
 * Returns in *out the statement for `sql` from the connection's cache, prepared if need be, reset and with
 * nothing bound. Only the caller has it, until weir_txn_release or the end of the transaction, whichever is
 * first; bind and step it with SQLite's own functions. The text is the key of the cache; only its first
 * statement may be there. Not for weir_pool_auto().
 *
 * Errors: WEIR_SQL (syntax, unknown table; the offset is in the message), WEIR_MISUSE (a statement that
 * writes in a read transaction; transaction control, ATTACH, or a pragma that changes the connection; no
 * transaction), WEIR_NOMEM.
 */
WEIR_API int weir_txn_prepare(weir_txn *txn, weir_text sql, struct sqlite3_stmt **out,
                              weir_error *err) WEIR_CHECKED;

/* Gives a statement of weir_txn_prepare back early: resets it, clears its bindings. NULL is a no-op. */
WEIR_API void weir_txn_release(weir_txn *txn, struct sqlite3_stmt *statement);

/* Runs one or more statements without parameters (DDL, say) to their end, ignoring rows. Errors: as
 * weir_txn_prepare. */
WEIR_API int weir_txn_exec(weir_txn *txn, const char *sql, weir_error *err);

/*
 * Translates the SQLite code `sqlite_code`, which a call on a statement of `txn` has just returned, into a
 * weir code, and copies SQLite's message into `err`. SQLITE_OK, SQLITE_ROW and SQLITE_DONE give WEIR_OK.
 */
WEIR_API int weir_txn_check(weir_txn *txn, int sqlite_code, weir_error *err);

/* The connection behind `txn`, for SQLite functions that need it. Owned by the pool; valid until the
 * transaction ends. NULL for weir_pool_auto(). */
WEIR_API struct sqlite3 *weir_txn_db(weir_txn *txn);

/* What the connect hook stored for this connection. */
WEIR_API void *weir_txn_local(weir_txn *txn);

/* How often something written on this connection was rolled back. A cache in weir_txn_local that holds what a
 * write transaction has seen is stale once this number has changed. */
WEIR_API uint64_t weir_txn_rollbacks(const weir_txn *txn);

/* The pool of `txn`. */
WEIR_API weir_pool *weir_txn_pool(const weir_txn *txn);

/* 1 inside a write transaction, else 0. */
WEIR_API int weir_txn_writes(const weir_txn *txn);

/*
 * The number (rev) of this write transaction, for pools opened with `numbered`. Numbers are given to write
 * transactions that ask for one, here or by asking for an acknowledgement of a change; in commit order,
 * without gaps. They are kept in the one-row table weir_commit of the file, so that several processes agree.
 * The first call in a transaction assigns it. In a read transaction: the number of the last commit in the
 * snapshot.
 *
 * Errors: WEIR_MISUSE (pool not numbered, or weir_pool_auto()), WEIR_IO, WEIR_CORRUPT.
 */
WEIR_API int weir_txn_rev(weir_txn *txn, int64_t *out, weir_error *err);

/* ---- Watching ---- */

#define WEIR_HISTOGRAM_SIZE 24 /* buckets of a weir_histogram */

/* A histogram of whole numbers. */
typedef struct weir_histogram {
  uint64_t buckets[WEIR_HISTOGRAM_SIZE]; /* [i] counts the values v with 2^i <= v < 2^(i+1); the first one
                                            also 0, the last one all that are larger */
} weir_histogram;

/* Counters of a pool. All are totals since it was opened, but for those marked "now". */
typedef struct weir_pool_stats {
  unsigned readers_open;    /* now: reader connections open */
  unsigned readers_in_use;  /* now: of these, lent to a transaction */
  unsigned readers_waiting; /* now: transactions that wait for one */
  unsigned writes_queued;   /* now: writes that wait for the lane */
  uint64_t reads;           /* read transactions ended */
  uint64_t read_waits;      /* of these, had to wait */
  uint64_t commits;         /* COMMITs that succeeded */
  uint64_t writes;          /* write functions whose transaction was committed */
  uint64_t rollbacks;       /* write functions whose transaction was not */
  uint64_t busy;          /* SQLITE_BUSY seen at BEGIN (another process, or a reader recovering the index) */
  uint64_t replaced;      /* connections closed because they could not be cleaned; none in memory */
  uint64_t wal_pages;     /* now: pages in the WAL after the last commit here */
  uint64_t checkpoints;   /* checkpoints run */
  uint64_t checkpoint_us; /* microseconds spent in them */

  uint64_t writes_queued_bytes;    /* now: their `bytes` */
  uint64_t write_waits;            /* writes that had to wait for the lane */
  uint64_t reruns;                 /* write functions run again because another one ended their transaction */
  uint64_t foreign_commits;        /* times that another process was found to have committed between two
                                      transactions of the lane */
  uint64_t oldest_reader_us;       /* now: age of the oldest read transaction in microseconds; 0: none */
  const char *oldest_reader_label; /* now: its label, or NULL */
  uint64_t old_readers;            /* reads found in the way of a checkpoint past reader_age_ms */
  uint64_t evicted;                /* of these, told to end, and their snapshot is gone */
  uint64_t wal_limits;             /* times that the lane stopped because of wal_limit_pages */
  uint64_t wal_emptied;            /* of these, and of idle moments: the WAL was emptied */
  uint64_t sync_failures;          /* COMMITs, flushes and checkpoints whose sync failed */
  weir_histogram members;          /* writes a COMMIT */
  weir_histogram write_wait_us;    /* microseconds from the call or submission of a write to its beginning */
  weir_histogram commit_us;        /* microseconds a COMMIT */
} weir_pool_stats;

/* Fills *out. `size` is sizeof(weir_pool_stats). Cheap; any thread. Errors: WEIR_INVALID, WEIR_FORKED. */
WEIR_API int weir_pool_stats_get(weir_pool *pool, weir_pool_stats *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_POOL_H */
