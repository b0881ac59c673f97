/*
 * What the files of pool/ share. Not for other directories.
 *
 * Locks, each a leaf: no thread holds two of them, and none is held while user code or SQLite runs.
 *
 *   registry.lock       the table of open files (pool/registry.c)
 *   weir_pool.lock      slots, waiters and the life of the pool (below)
 *   weir__lane.lock     the queue of writes and who drives (pool/lane.c)
 *   weir__readers.lock  the queue of asynchronous reads (pool/readers.c)
 *   weir__port.lock     completions on their way to a loop (pool/port.c)
 */
#ifndef WEIR_POOL_INTERNAL_H
#define WEIR_POOL_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include <weir/pool.h>

#include "clock.h"
#include "job.h"
#include "statements.h"

#define WEIR__READERS_MAX 64

/* ---- Transactions and connections ---- */

enum weir__kind { WEIR__TXN_NONE, WEIR__TXN_AUTO, WEIR__TXN_READ, WEIR__TXN_WRITE };

/* A connection is in one transaction at a time, so it holds the one it can be in. The pool holds its
 * automatic one, which has no connection. Used by the thread that has the lease. */
struct weir_txn {
  weir_pool *pool;
  struct weir__conn *conn; /* NULL: automatic */
  struct weir__slot *slot; /* of a snapshot: what to give back */
  enum weir__kind kind;
  int one_statement;    /* a read that has no BEGIN: its statement is its transaction */
  int cut;              /* the code for which the progress handler ended a read, or 0 */
  int64_t rev;          /* of a write: its number, once asked for; else 0 */
  weir_token *token;    /* or NULL */
  uint64_t deadline_ns; /* 0: none */
  const char *label;    /* or NULL */
};

/* One SQLite connection. Whoever leases its slot has it to itself. */
typedef struct weir__conn {
  weir_pool *pool;
  sqlite3 *db;
  weir__statements statements;
  sqlite3_stmt *begin_read, *begin_write, *commit, *rollback; /* the pool's own, prepared once */
  sqlite3_stmt *savepoint, *rollback_to, *release;
  sqlite3_stmt *touch;     /* reads one page, which fixes a snapshot */
  struct weir__slot *slot; /* that lends it */
  void *local;             /* what the connect hook stored */
  int connected;           /* the connect hook has succeeded, so disconnect is due */
  uint64_t reads;          /* ended since the slot was lent */
  uint64_t rollbacks;      /* see weir_txn_rollbacks */
  int evicted;             /* atomic: its read was ended by force, see pool/evict.c */

  /* The lane's. */
  int wal_pages;              /* pages in the WAL after the last commit here */
  uint64_t wal_commits;       /* commits that added to it */
  weir_durability durability; /* as `synchronous` is set */
  int64_t rev;                /* number of the last write here, committed or on its way; -1: not known */
  unsigned version;           /* SQLite's data version after the last transaction of the lane */
  int version_known;          /* 1: since then only others can have changed it */

  int trusted; /* the pool itself prepares: the authorizer looks away */
  int broken;  /* could not be cleaned, or a sync failed: close it on return */
  struct weir_txn txn;
} weir__conn;

enum weir__role { WEIR__READER, WEIR__WRITER };

/* Opens and sets up a connection (pool/connection.c). On error *out is NULL. */
int weir__conn_open(weir_pool *pool, enum weir__role role, weir__conn **out, weir_error *err);

/* Sets anew the callbacks by which the pool keeps user code within bounds, which user code can replace. */
void weir__conn_guard(weir__conn *conn);

/* Closes it, whatever state it is in. NULL is a no-op. */
void weir__conn_close(weir__conn *conn);

/* Steps one of the connection's own statements to its end and resets it. Returns SQLite's code, SQLITE_OK for
 * success. */
int weir__conn_run(weir__conn *conn, sqlite3_stmt *statement);

/* Prepares and runs `sql` with the authorizer off. */
int weir__conn_exec(weir__conn *conn, const char *sql, weir_error *err);

/* Reads the one integer that `sql` gives, with the authorizer off. */
int weir__conn_integer(weir__conn *conn, const char *sql, int *out, weir_error *err);

/* Translates a SQLite code into a weir code and describes it, with what was being done, in err. */
int weir__sqlite_fail(weir_error *err, sqlite3 *db, int sqlite_code, const char *doing);

/* Was the token, which may be NULL, canceled? */
static inline int weir__canceled(const weir_token *token) {
  return token && __atomic_load_n(&token->canceled, __ATOMIC_ACQUIRE);
}

/* The weir code for SQLite's extended code. */
int weir__sqlite_code(int sqlite_code);

/* ---- Running transactions on a leased connection (pool/run.c) ---- */

/* Resets every statement of the connection, ends its transaction, and sees that SQLite holds nothing any
 * more; if it does, the connection is broken, unless the database is in memory and would be lost with it. */
void weir__conn_clean(weir__conn *conn);

/* Makes the connection's transaction that of `job`. */
void weir__txn_enter(weir__conn *conn, enum weir__kind kind, const weir__job *job);

/* How long a read waits for a number before it looks whether another process has brought it. */
#define WEIR__FOREIGN_NS (5u * WEIR__NS_PER_MS)

/* Says that the commit a read asks for has not been made, but only `rev`. Returns `code`. */
int weir__rev_missing(const weir__job *job, int64_t rev, int code);

/* Sees that conn->rev is known, in a write transaction of a numbered pool. */
int weir__rev_known(weir_txn *txn, weir_error *err);

/* Calls fn and sees that a failure has its detail in err. */
int weir__call(weir_txn_fn fn, weir_txn *txn, void *data, weir_error *err);

/* A read transaction begins, runs one job or several, and ends. The end is due also after a beginning that
 * failed. weir__run_in_read returns the job's result. The detail of failures is in job->error. */
int weir__begin_read(weir__conn *conn, const weir__job *job);
int weir__run_in_read(weir__conn *conn, const weir__job *job);

void weir__end_read(weir__conn *conn);

/* Runs `fn` within the write transaction `txn`, behind a savepoint. */
int weir__run_nested(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err);

/* ---- Slots: the bounded right to use a connection (pool/slots.c) ---- */

/* A permit together with the connection it keeps. Fields guarded by weir_pool.lock, but for `conn`, which
 * belongs to the holder of the lease. */
typedef struct weir__slot {
  weir__conn *conn; /* opened when first needed; NULL before that and after a replacement */
  enum weir__role role;
  int leased;
  uint64_t owner;          /* while leased: the thread that is inside the transaction */
  struct weir__slot *next; /* in the free list */
  int evicting;            /* its read is being ended by force: it cannot be given back meanwhile */
  int told;                /* it was told to end, and has not given its snapshot up */
  uint64_t reported_ns;    /* the read that began then was reported as old */
  weir_trace old;          /* what was reported */
  uint64_t since_ns;       /* atomic, its holder's: when the read in progress began; 0: none */
  const char *label;       /* atomic, its holder's: of that read, or NULL */
} weir__slot;

/* Someone who waits for a slot; lives on the waiter's stack while it is in the list. */
typedef struct weir__waiter {
  struct weir__waiter *prev, *next;
  pthread_cond_t wake;
  uint64_t thread;
  int roused;              /* signaled because a slot was free, and has not looked since */
  const weir_token *token; /* or NULL */
  weir__slot *granted;     /* set by a direct hand-off */
} weir__waiter;

/* How weir__slot_acquire waits. */
typedef struct weir__admission {
  uint64_t timeout_ns; /* 0: do not wait */
  const weir_token *token;
  int draining; /* 1: admitted although the pool is closing (work that was queued before) */
  int writes;   /* 1: for the lane (in single mode): not counted among the reads that wait */
} weir__admission;

/*
 * Leases a slot with an open connection. Fair by bounded wait: a slot that is free goes to a running thread,
 * until the first waiter has been the first for WEIR__FAIR_NS; it gets the next slot. Errors:
 * WEIR_BUSY (timeout), WEIR_CANCELED, WEIR_CLOSED, and those of weir__conn_open.
 */
int weir__slot_acquire(weir_pool *pool, const weir__admission *how, weir__slot **out, weir_error *err);

/* Leases the lane's own slot of pool mode. Only the lane's driver calls this, so it never waits. */
int weir__slot_acquire_writer(weir_pool *pool, weir__slot **out, weir_error *err);

/* Gives a lease back; a broken connection is closed first. */
void weir__slot_release(weir_pool *pool, weir__slot *slot);

/* The transaction that the calling thread is inside of, or NULL. */
weir_txn *weir__slot_own(weir_pool *pool);

/* Wakes those who wait with `token`. */
void weir__slots_cancel(weir_pool *pool, const weir_token *token);

/* ---- The pool ---- */

typedef struct weir__lane {
  pthread_mutex_t lock; /* guards what follows, up to the driver's own */
  weir__jobs queues[2]; /* by weir_priority */
  unsigned queued;      /* in both; written atomically, so that it may be peeked at without the lock */
  unsigned full[2];     /* of these, by priority: want WEIR_FULL_SYNC */
  uint64_t submitted;   /* jobs queued so far */
  uint64_t left;        /* of these, have left the queue */
  uint64_t submitted_bytes, left_bytes;
  uint64_t bulk_ns;      /* when the last bulk write was taken */
  int driven;            /* some thread drives the lane */
  int looking;           /* the lane's thread does, but is out of work: a caller may take over. Peeked at */
  unsigned last_members; /* of the last commit */
  int handed;            /* the lane's thread has been given it, and has not taken it yet */
  int closing;           /* no new jobs */
  int stop;              /* the lane's thread is to end */
  int started;           /* the lane's thread exists */
  pthread_t thread;
  pthread_cond_t wake;      /* handed or stop */
  pthread_cond_t idle;      /* driven became 0 while closing */
  pthread_cond_t committed; /* a group was committed: for those who wait for a number */

  /* Checkpoints (pool/checkpoint.c). */
  uint64_t checkpoint_end_ns;  /* when the last one ended */
  uint64_t checkpoint_took_ns; /* how long it took */
  int checkpoint_mark;         /* wal_pages at the last one */
  int wal_pages;               /* pages in the WAL after the last commit */
  int wal_peak;                /* so many pages the WAL's file has room for */
  int keep_pages;              /* it is to shrink to so many */
  int trim_awaited;            /* the lane's thread waits for a good time */
  int trim_due;                /* and now is one */
  uint64_t trim_wait_ns;       /* how long the lane must be idle for that */
  uint64_t limit_retry_ns;     /* when to stop the lane for wal_limit_pages again */
  uint64_t limit_traced_ns;    /* when that was traced */

  uint64_t commits, writes, rollbacks, reruns, waits, foreign, checkpoints, checkpoint_us, wal_limits,
      wal_emptied, sync_failures;
  weir_histogram members, wait_us, commit_us; /* see weir_pool_stats */

  uint64_t busy;    /* atomic */
  unsigned waiting; /* atomic: synchronous callers that wait, or are about to leave */

  /* The driver's own. */
  sqlite3 *guard; /* keeps other processes from writing during a checkpoint; NULL until the first one */
  int full_next;  /* one that waits wants WEIR_FULL_SYNC */
  int unsynced;   /* commits since the WAL was last synced */
  int unhealed;   /* a sync has failed, and not everything was written anew since */
} weir__lane;

typedef struct weir__readers {
  pthread_mutex_t lock; /* guards everything below */
  weir__jobs queue;
  weir__jobs parked;   /* wait for a commit */
  uint64_t parked_ns;  /* since when the first of them does */
  uint64_t submitted;  /* jobs so far */
  uint64_t taken;      /* of these, by a thread */
  uint64_t taken_ns;   /* when the last one was */
  uint64_t typical_ns; /* what jobs took lately */
  unsigned active;     /* threads that run a job */
  unsigned idle;       /* threads that wait on `wake` */
  int looking;         /* a thread is awake and looks for a job */
  int watching;        /* one of the idle looks every STUCK_NS whether the queue moves */
  int waking;          /* `wake` was signaled, and nobody has woken since */
  int cpu;             /* where the last job was submitted */
  int stop;
  unsigned count; /* threads that exist */
  pthread_t threads[WEIR__READERS_MAX];
  pthread_cond_t wake; /* a job was queued, or stop */
} weir__readers;

struct weir_pool {
  /* Fixed once opened. */
  char *path;                /* as it was given, for messages */
  char *file_path;           /* the same file, wherever the process has gone since: what is opened */
  weir_pool_options options; /* every default filled in */
  int memory;                /* the database is in memory */
  int inspected;             /* the inspect hook has seen it, if there is one */
  unsigned fork_generation;  /* see registry.h */
  struct weir__file *file;   /* its entry in the registry, or NULL */
  pthread_condattr_t monotonic;
  weir_txn automatic;

  int interrupt;     /* atomic: running reads end with WEIR_CLOSED */
  unsigned awaiting; /* atomic: reads that wait for a commit */

  pthread_mutex_t lock;                    /* guards everything below */
  weir__slot slots[WEIR__READERS_MAX + 1]; /* in pool mode the last one is the lane's */
  unsigned slot_count;
  weir__slot *writer;    /* pool mode: the lane's slot; NULL in single mode and when read-only */
  weir__slot *free;      /* LIFO, so that few connections stay warm */
  weir__waiter *waiters; /* FIFO (utlist) */
  unsigned waiting;
  uint64_t first_ns;          /* when the first of them became the first */
  unsigned in_use;            /* leased slots of the free list's kind */
  unsigned ports;             /* weir_async handles */
  int closing;                /* no new transactions */
  int expired;                /* closing, and its deadline has passed: waiters give up */
  int closer;                 /* a thread is inside weir_pool_close */
  pthread_cond_t returned;    /* a slot was given back while closing */
  pthread_cond_t evicted_one; /* a slot is not `evicting` any more */
  uint64_t reads, read_waits, replaced, old_readers, evicted; /* see weir_pool_stats */
  unsigned open;                                              /* connections open */

  weir__lane lane;
  weir__readers readers;
};

/* The name of the VFS to open with; NULL: SQLite's default. A "vfs" in a URI goes before it. */
const char *weir__vfs(const weir_pool *pool);

/* Does the path ask for SQLite's shared cache? (pool/uri.c) */
int weir__uri_shares_cache(const char *path);

/* A path that opens `file`, an absolute name, in the way that `path` does, but for its "mode", which could
 * only repeat the flags, or ask for the file to be created. To be freed; NULL: out of memory (pool/uri.c) */
char *weir__uri_again(const char *path, const char *file);

/* Checks what a transaction asks for beside its function. Errors: WEIR_INVALID. */
int weir__check_wishes(const weir_pool *pool, weir_durability durability, weir_priority priority,
                       int64_t min_rev, size_t bytes, weir_error *err);

/* WEIR_FORKED (with the detail in err) if this process is a fork of the one that opened the pool. */
int weir__pool_check(const weir_pool *pool, weir_error *err);

/* Starts a thread that takes no signals: those are for the application's own threads. Returns 0 or an errno.
 */
int weir__thread_start(pthread_t *out, void *(*run)(void *pool), weir_pool *pool);

/* Starts the lane's thread unless it runs (pool/lane.c). Errors: WEIR_NOMEM. */
int weir__lane_start(weir_pool *pool, weir_error *err);

/* Refuses new jobs; waits until `deadline_ns` for the lane to be idle, then ends those still queued. 1 if it
 * is idle. */
int weir__lane_drain(weir_pool *pool, uint64_t deadline_ns);

/* Ends and joins the lane's thread. The lane must be idle. */
void weir__lane_stop(weir_pool *pool);

/* ---- For pool/async.c ---- */

/* Counts one more weir_async on the pool and sees that reader threads run. Errors: WEIR_CLOSED, WEIR_FORKED,
 * WEIR_NOMEM. */
int weir__pool_port_open(weir_pool *pool, weir_error *err);

/* Counts one less. */
void weir__pool_port_close(weir_pool *pool);

#endif
