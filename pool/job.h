/*
 * A job is a transaction that waits in a queue: a write in the lane (pool/lane.h) or an asynchronous read
 * before the reader threads (pool/readers.h). It lives in memory of whoever submits it, and belongs to the
 * queue until it has ended.
 *
 *             submit            taken by a driver
 *   (none) ----------> QUEUED ------------------> RUNNING -----> ENDED
 *                        |  \ handed the lane                      ^
 *                        |   `--------> LEADING ---(runs itself)---'
 *                        | removed, canceled, timed out            |
 *                        `-----------------------------------------'
 */
#ifndef WEIR_POOL_JOB_H
#define WEIR_POOL_JOB_H

#include <pthread.h>

#include <weir/pool.h>

enum { WEIR__JOB_NONE, WEIR__JOB_QUEUED, WEIR__JOB_LEADING, WEIR__JOB_RUNNING, WEIR__JOB_ENDED };

typedef struct weir__job {
  struct weir__job *prev, *next;         /* the queue's; guarded by its lock */
  weir_txn_fn fn;                        /* the work */
  void *data;                            /* handed to fn */
  weir_error *error;                     /* receives the detail of a failure; the submitter's, never NULL */
  const char *label;                     /* for diagnostics, or NULL */
  weir_token *token;                     /* ends a wait, or a running read, early; or NULL */
  uint64_t deadline_ns;                  /* on weir__now_ns(): a running read is cut then; 0: none */
  uint64_t admit_ns;                     /* a synchronous write: must have the lane, and in single mode the
                                            connection, by then; 0: the pool's acquire_timeout_ms */
  int state;                             /* WEIR__JOB_*; guarded by the queue's lock */
  uint64_t number;                       /* in the order of submission; the readers' */
  int rc;                                /* the result, once ENDED */
  int64_t rev;                           /* the number of the committed write, or 0 */
  void (*finish)(struct weir__job *job); /* asynchronous: called once ENDED, by the thread that ran it, no
                                            lock held. NULL: a synchronous caller waits on `wake` */
  pthread_cond_t wake; /* of a synchronous caller, for a change of state; waits under the queue's lock */
} weir__job;

/* A FIFO of jobs. Whoever owns it guards it. */
typedef struct weir__jobs {
  weir__job *head; /* utlist: head->prev is the tail */
  unsigned count;  /* written under the owner's lock, atomically, so that it may be peeked at without */
} weir__jobs;

/* Appends a job and makes it QUEUED. */
void weir__jobs_push(weir__jobs *jobs, weir__job *job);

/* Takes the first job out; NULL if there is none. */
weir__job *weir__jobs_pop(weir__jobs *jobs);

/* Takes out a job that is QUEUED here. */
void weir__jobs_remove(weir__jobs *jobs, weir__job *job);

#endif
