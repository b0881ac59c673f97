/*
 * The queue of writes that wait for the lane: two priorities, each in the order of arrival, and bounds. All
 * of it under the lane's lock.
 */
#ifndef WEIR_POOL_QUEUE_H
#define WEIR_POOL_QUEUE_H

#include "group.h"

/* Appends a job, and makes it QUEUED. */
void weir__queue_push_locked(weir__lane *lane, weir__job *job);

/* Takes the next write out, and makes it RUNNING; with a group, only one that may join it. Without, decides
 * whether the group that it begins is to be durable for the sake of others that wait. NULL: none. */
weir__job *weir__queue_take_locked(weir_pool *pool, const weir__group *group, uint64_t now);

/* Takes out a job that is QUEUED; its new state is the caller's affair. */
void weir__queue_leave_locked(weir__lane *lane, weir__job *job);

/* Is there no room for the queued job? What has left the queue since it came counts as what was before it. */
int weir__queue_over_locked(const weir_pool *pool, const weir__job *job);

/* How long something has waited. `now` may be of a moment ago: what has come since has not waited. */
static inline uint64_t weir__waited(uint64_t now, uint64_t since) {
  return now > since ? now - since : 0;
}

#endif
