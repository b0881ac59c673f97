/*
 * The queue of writes; see queue.h.
 *
 * Invariants, under the lane's lock: `queued`, `full` and the byte counts are those of the jobs in the two
 * lists. A job in them is QUEUED, and one that has left them is not.
 */
#include "queue.h"

#include "trace.h"

void weir__queue_push_locked(weir__lane *lane, weir__job *job) {
  job->number = lane->submitted++;
  job->bytes_before = lane->submitted_bytes;
  lane->submitted_bytes += job->bytes;
  lane->full[job->priority] += job->durability == WEIR_FULL_SYNC;
  __atomic_store_n(&job->state, WEIR__JOB_QUEUED, __ATOMIC_RELAXED);
  weir__jobs_push(&lane->queues[job->priority], job);
  __atomic_store_n(&lane->queued, lane->queued + 1, __ATOMIC_RELAXED);
}

/* Interactive ones first; but one bulk write in bulk_age_ms, lest they starve. */
static weir__jobs *next_locked(weir__lane *lane, uint64_t now, uint64_t age_ns) {
  weir__jobs *bulk = &lane->queues[WEIR_BULK];
  weir__jobs *interactive = &lane->queues[WEIR_INTERACTIVE];
  if (!bulk->head) {
    return interactive;
  }
  uint64_t since = bulk->head->queued_ns > lane->bulk_ns ? bulk->head->queued_ns : lane->bulk_ns;
  return interactive->head && weir__waited(now, since) < age_ns ? interactive : bulk;
}

void weir__queue_leave_locked(weir__lane *lane, weir__job *job) {
  weir__jobs_remove(&lane->queues[job->priority], job);
  __atomic_store_n(&lane->queued, lane->queued - 1, __ATOMIC_RELAXED);
  lane->left++;
  lane->left_bytes += job->bytes;
  lane->full[job->priority] -= job->durability == WEIR_FULL_SYNC;
}

weir__job *weir__queue_take_locked(weir_pool *pool, const weir__group *group, uint64_t now) {
  weir__lane *lane = &pool->lane;
  const weir_pool_options *options = &pool->options;
  if (!lane->queued) {
    return NULL;
  }
  weir__job *job = next_locked(lane, now, (uint64_t)options->bulk_age_ms * WEIR__NS_PER_MS)->head;
  if (group && (job->flush || group->ran.head->alone || group->ran.count >= options->group_max ||
                group->bytes + job->bytes > (size_t)options->group_kib * 1024 ||
                now - group->begun_ns >= options->group_us * WEIR__NS_PER_US ||
                (job->priority == WEIR_BULK && group->interactive) ||
                (job->durability == WEIR_FULL_SYNC && group->durability != WEIR_FULL_SYNC))) {
    return NULL;
  }
  weir__queue_leave_locked(lane, job);
  __atomic_store_n(&job->state, WEIR__JOB_RUNNING, __ATOMIC_RELAXED);
  if (job->priority == WEIR_BULK) {
    lane->bulk_ns = now;
  }
  if (!group) { /* bulk writes join only what bulk writes have begun */
    lane->full_next = lane->full[WEIR_INTERACTIVE] || (job->priority == WEIR_BULK && lane->full[WEIR_BULK]);
  }
  weir__histogram_add(&lane->wait_us, weir__waited(now, job->queued_ns) / WEIR__NS_PER_US);
  return job;
}

int weir__queue_over_locked(const weir_pool *pool, const weir__job *job) {
  const weir__lane *lane = &pool->lane;
  return (int64_t)(job->number - lane->left) >= (int64_t)pool->options.queue_max ||
         (int64_t)(job->bytes_before - lane->left_bytes) > (int64_t)pool->options.queue_kib * 1024;
}
