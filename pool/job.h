/*
 * A job is a transaction that waits in a queue: a write in the lane (pool/lane.h) or an asynchronous read
 * before the reader threads (pool/readers.h). It lives in memory of whoever submits it, and belongs to the
 * queue until it has ended.
 *
 *             submit            taken by a driver
 *   (none) ----------> QUEUED ------------------> RUNNING -----> ENDED
 *                        |                                         ^
 *                        |------ removed, canceled, timed out -----'
 *                        `---- PARKED: a read that waits for a commit
 */
#ifndef WEIR_POOL_JOB_H
#define WEIR_POOL_JOB_H

#include <semaphore.h>

#include <weir/pool.h>

enum { WEIR__JOB_NONE, WEIR__JOB_QUEUED, WEIR__JOB_PARKED, WEIR__JOB_RUNNING, WEIR__JOB_ENDED };

/* The most that a write may say it will write, 1 TiB: the sums of all that wait stay far from wrapping. */
#define WEIR__BYTES_MAX (UINT64_C(1) << 40)

typedef struct weir__job {
  struct weir__job *prev, *next; /* the queue's; guarded by its lock */
  weir_txn_fn fn;                /* the work */
  void *data;                    /* handed to fn */
  weir_error *error;             /* receives the detail of a failure; the submitter's, never NULL */
  const char *label;             /* for diagnostics, or NULL */
  weir_token *token;             /* ends a wait, or a running read, early; or NULL */
  uint64_t deadline_ns;          /* on weir__now_ns(): a running read is cut then; 0: none */
  int state;                     /* WEIR__JOB_*; written under the queue's lock, or by whoever runs it */
  uint64_t number;               /* in the order of submission */
  int rc;                        /* the result, once ENDED */
  void (*finish)(struct weir__job *job); /* asynchronous: called once ENDED, by the thread that ran it, no
                                            lock held. NULL: a synchronous caller waits on `wake` */

  uint64_t queued_ns;  /* when it was called or submitted; of a read only if it is asked for */
  uint64_t timeout_ns; /* how long it may wait, counted from queued_ns */

  /* A read. */
  int64_t min_rev;   /* the snapshot's number must be this at least; 0: any */
  int one_statement; /* see weir_txn_options; only without min_rev, which needs a statement before */

  /* A write. */
  sem_t wake;            /* of a synchronous caller that waits: posted once, when it has ENDED */
  size_t bytes;          /* see weir_txn_options; at most WEIR__BYTES_MAX */
  uint64_t bytes_before; /* of all that were queued before it */
  weir_durability durability;
  weir_priority priority;
  unsigned char waits;     /* 1: `wake` is there, and somebody waits for it */
  unsigned char wants_ack; /* 1: `ack` is of interest */
  unsigned char flush;     /* 1: not a transaction, but a sync of the WAL */
  unsigned char alone;     /* 1: it has ended the transaction of a group: run again by itself */
  weir_ack ack;            /* once ENDED with success */
} weir__job;

/* A FIFO of jobs. Whoever owns it guards it. */
typedef struct weir__jobs {
  weir__job *head; /* utlist: head->prev is the tail */
  unsigned count;  /* written under the owner's lock, atomically, so that it may be peeked at without */
} weir__jobs;

/* Appends a job. Its state is the caller's affair. */
void weir__jobs_push(weir__jobs *jobs, weir__job *job);

/* Puts all of `more` before those of `jobs`, in their order; `more` is empty then. */
void weir__jobs_put_first(weir__jobs *jobs, weir__jobs *more);

/* Takes the first job out; NULL if there is none. */
weir__job *weir__jobs_pop(weir__jobs *jobs);

/* Takes out a job that is here. */
void weir__jobs_remove(weir__jobs *jobs, weir__job *job);

#endif
