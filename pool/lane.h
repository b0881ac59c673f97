/*
 * The write lane: the only place that writes and the only place that checkpoints. At any time at most one
 * thread drives it:
 *
 *   - a synchronous caller that finds it idle runs its own write on its own thread, and leaves;
 *   - callers that find it driven queue in order; a driver that leaves hands the lane to the first of them;
 *   - the lane's own thread drives it for asynchronous writes and for checkpoints.
 *
 * Driving is a flag, not a mutex: no lock is held while a write function runs.
 */
#ifndef WEIR_POOL_LANE_H
#define WEIR_POOL_LANE_H

#include "job.h"

/* Runs a synchronous job to its end on behalf of the calling thread; waits at most timeout_ns for the lane.
 * Returns job->rc. */
int weir__lane_write(weir_pool *pool, weir__job *job, uint64_t timeout_ns);

/* Queues an asynchronous job (finish is set). WEIR_OK: finish will be called once, on another thread or on
 * this one. Errors: WEIR_BUSY (queue full), WEIR_CLOSED, WEIR_READONLY, WEIR_NOMEM (no thread). */
int weir__lane_submit(weir_pool *pool, weir__job *job);

/* Takes an asynchronous job out of the queue: 1 and the job is the caller's again (finish is not called), 0
 * if it is not queued any more. */
int weir__lane_remove(weir_pool *pool, weir__job *job);

/* Ends queued synchronous jobs that wait with `token`. */
void weir__lane_cancel(weir_pool *pool, const weir_token *token);

#endif
