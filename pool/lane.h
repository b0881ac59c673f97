/*
 * The write lane: the only place that writes and the only place that checkpoints. At any time at most one
 * thread drives it:
 *
 *   - a synchronous caller that finds it idle runs its own write on its own thread, and what joins its
 *     commit, and leaves;
 *   - the lane's own thread drives it while it is busy, for asynchronous writes, and for checkpoints.
 *
 * Who finds it driven queues, and is told when a driver has committed the write. Driving is a flag, not a
 * mutex: no lock is held while a write function runs.
 */
#ifndef WEIR_POOL_LANE_H
#define WEIR_POOL_LANE_H

#include "job.h"

/* Runs a synchronous job to its end on behalf of the calling thread. Returns job->rc. */
int weir__lane_write(weir_pool *pool, weir__job *job);

/* Queues an asynchronous job (finish is set). WEIR_OK: finish will be called once, on another thread. *over
 * is 1 if the queue was full: then the job waits for room, see weir__lane_expire. Errors: WEIR_CLOSED,
 * WEIR_READONLY. */
int weir__lane_submit(weir_pool *pool, weir__job *job, int *over);

/* Takes an asynchronous job out of the queue: 1 and the job is the caller's again (finish is not called), 0
 * if it is not queued any more. */
int weir__lane_remove(weir_pool *pool, weir__job *job);

/* Takes out a job that has found no room so far: 1 as weir__lane_remove; 0 if it has, or is not queued. */
int weir__lane_expire(weir_pool *pool, weir__job *job);

/* Ends queued synchronous jobs that wait with `token`. */
void weir__lane_cancel(weir_pool *pool, const weir_token *token);

/* Waits, until `until_ns` at most, for the lane to commit. For those who wait for a number. */
void weir__lane_await_commit(weir_pool *pool, uint64_t until_ns);

#endif
