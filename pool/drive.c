/*
 * Driving the lane for one group: from the first write to the COMMIT and the counters; see drive.h.
 *
 * Invariant: a transaction begins only on a connection that is whole, and after everything is healed that a
 * failed sync has left.
 */
#include "drive.h"

#include "checkpoint.h"
#include "queue.h"
#include "readers.h"
#include "trace.h"

/* An asynchronous write that waited long in the queue still waits so long for the connection, in single mode.
 */
#define LEASE_LEAST_NS (100u * WEIR__NS_PER_MS)

static int lease(weir_pool *pool, const weir__job *job, weir__slot **out) {
  if (pool->writer) {
    return weir__slot_acquire_writer(pool, out, job->error);
  }
  /* single mode: reads and writes share the one connection, under the same fair admission */
  weir__admission how = {.timeout_ns = weir__ms(pool->options.acquire_timeout_ms),
                         .token = job->token,
                         .draining = 1,
                         .writes = 1};
  uint64_t gone = weir__waited(weir__now_ns(), job->queued_ns);
  if (!job->finish) {
    how.timeout_ns = job->timeout_ns > gone ? job->timeout_ns - gone : 0;
  } else { /* those that queue behind one that waits here do not wait as long again */
    uint64_t least = how.timeout_ns < LEASE_LEAST_NS ? how.timeout_ns : LEASE_LEAST_NS;
    how.timeout_ns = how.timeout_ns > gone + least ? how.timeout_ns - gone : least;
  }
  return weir__slot_acquire(pool, &how, out, job->error);
}

/* Adds what a group has done to the lane's counters. */
static void count(weir_pool *pool, const weir__group *group, const weir__conn *conn) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  lane->commits += group->commits;
  lane->writes += group->writes;
  lane->rollbacks += group->rollbacks;
  lane->reruns += group->reruns;
  lane->foreign += group->foreign;
  if (group->commits) {
    weir__histogram_add(&lane->members, group->members);
    weir__histogram_add(&lane->commit_us, group->commit_ns / WEIR__NS_PER_US);
    (void)pthread_cond_broadcast(&lane->committed);
    lane->last_members = group->members;
  }
  if (group->wrote) { /* else the connection may not know what a checkpoint has done to the WAL */
    weir__checkpoint_note_locked(pool, conn->wal_pages);
  }
  (void)pthread_mutex_unlock(&lane->lock);
  if (group->commits) {
    weir__readers_unpark(pool);
  }
}

/* The next member, or NULL to commit. */
static weir__job *next_member(weir_pool *pool, weir__group *group, const weir__conn *conn) {
  if (conn->broken) {
    return NULL;
  }
  if (group->redo.head) {
    return weir__group_may_redo(group) ? weir__jobs_pop(&group->redo) : NULL;
  }
  weir__lane *lane = &pool->lane;
  if (!group->begun || !__atomic_load_n(&lane->queued, __ATOMIC_RELAXED)) {
    return NULL; /* not begun: the one that was to begin it has failed, and is told so now */
  }
  (void)pthread_mutex_lock(&lane->lock);
  weir__job *job = weir__queue_take_locked(pool, group, group->now_ns);
  (void)pthread_mutex_unlock(&lane->lock);
  return job;
}

/* Sees that there is a connection on which the job may begin a transaction; a flush is done thereby. */
static int prepare(weir_pool *pool, const weir__job *job, weir__slot **slot) {
  int rc = *slot ? WEIR_OK : lease(pool, job, slot);
  if (rc == WEIR_OK && job->flush) {
    rc = weir__wal_flush((*slot)->conn, job);
  } else if (rc == WEIR_OK && pool->lane.unhealed) {
    rc = weir__wal_heal((*slot)->conn, job);
  }
  return rc;
}

int weir__drive(weir_pool *pool, weir__job *job, weir__jobs *ended) {
  weir__slot *slot = NULL;
  weir__group group = {0};
  while (job) {
    if (!slot || (pool->lane.unhealed && !group.begun)) {
      int rc = prepare(pool, job, &slot);
      if (rc != WEIR_OK || job->flush) {
        job->rc = rc;
        weir__jobs_push(&group.ended, job);
        job = weir__jobs_pop(&group.redo);
        continue;
      }
    }
    if (!group.begun) {
      group.durability =
          pool->lane.unhealed ? job->durability : weir__group_durability(&group, job, pool->lane.full_next);
    }
    if (weir__group_run(slot->conn, &group, job) == WEIR_FORKED) {
      return WEIR_FORKED;
    }
    job = next_member(pool, &group, slot->conn);
    if (!job) {
      weir__group_commit(slot->conn, &group);
      count(pool, &group, slot->conn);
      group = (weir__group){.redo = group.redo, .ended = group.ended};
      job = weir__jobs_pop(&group.redo);
      if (job && slot->conn->broken) { /* its sync failed, or it could not be cleaned */
        weir__slot_release(pool, slot);
        slot = NULL;
      }
    }
  }
  if (slot) {
    weir__slot_release(pool, slot);
  }
  *ended = group.ended;
  return WEIR_OK;
}
