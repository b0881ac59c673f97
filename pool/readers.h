/*
 * The reader threads: they run asynchronous reads, each with a leased connection and a snapshot of its own.
 * They are started when the first weir_async is made, and are the pool's own: libuv's worker pool is shared
 * with file system and DNS calls, so a wait for a connection in it could deadlock the program.
 */
#ifndef WEIR_POOL_READERS_H
#define WEIR_POOL_READERS_H

#include "job.h"

/* Starts the threads unless they run. Errors: WEIR_NOMEM. */
int weir__readers_start(weir_pool *pool, weir_error *err);

/* Queues an asynchronous read. WEIR_OK: job->finish will be called once, on a reader thread. With `defer` no
 * thread is woken for it at once: weir__readers_rouse is due; without that it is taken about a millisecond
 * later. Errors: WEIR_BUSY (queue full), WEIR_CLOSED. */
int weir__readers_submit(weir_pool *pool, weir__job *job, int defer);

/* Sees that a thread is awake for jobs that were queued with `defer`. */
void weir__readers_rouse(weir_pool *pool);

/* Those who wait for a commit (min_rev) look again. Called after each commit of the lane. */
void weir__readers_unpark(weir_pool *pool);

/* Takes a job out of the queue: 1 and the job is the caller's again (finish is not called), 0 if it is not
 * queued any more. */
int weir__readers_remove(weir_pool *pool, weir__job *job);

/* Refuses new jobs, runs those queued, joins the threads. */
void weir__readers_stop(weir_pool *pool);

#endif
