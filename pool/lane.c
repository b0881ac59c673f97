/*
 * The write lane: who drives it, who is told when, and when the thread of its own is woken; see lane.h. Which
 * write is next is pool/queue.c's, what becomes of it pool/drive.c's and pool/group.c's; checkpoints are
 * pool/checkpoint.c's.
 *
 * Invariants, under the lock: while `driven` is 0 the queue is empty and no checkpoint is due; the right to
 * drive is never lost: a driver that leaves gives it to the lane's thread (`handed`), or to nobody by setting
 * driven to 0. A job in the queue is QUEUED, and one that has left it is not.
 */
#define _GNU_SOURCE /* sem_clockwait */
#include <errno.h>
#include <string.h>

#include "checkpoint.h"
#include "drive.h"
#include "lane.h"
#include "queue.h"
#include "trace.h"

/* How long the lane's thread looks for more without sleeping: less than waking it, or a commit, costs. */
#define LOOK_NS (20u * WEIR__NS_PER_US)

/* ---- Driving ---- */

/* Tells whoever waits for the job. Its memory is theirs from then on. No lock is held. The state is what the
 * waiter's memory is ordered by, so all that is read here is read before: ThreadSanitizer does not know
 * sem_clockwait. */
static void tell(weir__job *job) {
  void (*finish)(weir__job *) = job->finish;
  int waits = job->waits;
  __atomic_store_n(&job->state, WEIR__JOB_ENDED, __ATOMIC_RELEASE);
  if (finish) {
    finish(job);
  } else if (waits) {
    (void)sem_post(&job->wake); /* cannot overflow: once a job */
  }
}

static void tell_all(weir__jobs *ended) {
  weir__job *job = NULL;
  while ((job = weir__jobs_pop(ended)) != NULL) {
    tell(job);
  }
}

/* Nobody drives the lane any more. */
static void give_up_locked(weir__lane *lane) {
  lane->driven = 0;
  if (lane->closing) {
    (void)pthread_cond_broadcast(&lane->idle);
  }
}

/* Looks a moment, without sleeping, for so many jobs, or for a caller that takes over. */
static void look(weir__lane *lane, unsigned wanted) {
  uint64_t until = weir__now_ns() + LOOK_NS;
  while (__atomic_load_n(&lane->queued, __ATOMIC_RELAXED) < wanted &&
         __atomic_load_n(&lane->looking, __ATOMIC_RELAXED) && weir__now_ns() < until) {
    weir__relax();
  }
}

/*
 * The lane's thread drives the lane until there is nothing to do, or a caller has taken it over. Called with
 * the lock held, and returns with it held. WEIR_FORKED as drive.
 *
 * Between two commits it looks whether there is something to do: after a write that was alone, for the next
 * one, and its caller may run that itself; after a commit that was shared, for as many as shared it, since
 * those have just been told and come again, and a commit for each of them would cost more than the moment.
 */
static int serve_locked(weir_pool *pool) {
  weir__lane *lane = &pool->lane;
  weir__jobs ended = {0};
  int looked = 0;
  for (;;) {
    unsigned wanted = lane->last_members > 1 ? lane->last_members : 1;
    int due = weir__checkpoint_due_locked(pool);
    int looks = !due && !looked && lane->queued < wanted;
    weir__job *job = due || looks ? NULL : weir__queue_take_locked(pool, NULL, weir__now_ns());
    if (!due && !looks && !job) {
      give_up_locked(lane);
      return WEIR_OK;
    }
    __atomic_store_n(&lane->looking, looks, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&lane->lock);
    tell_all(&ended);
    int rc = WEIR_OK;
    if (due) {
      weir__checkpoint(pool);
    } else if (looks) {
      look(lane, wanted);
    } else {
      rc = weir__drive(pool, job, &ended);
    }
    if (rc != WEIR_OK) {
      return rc;
    }
    (void)pthread_mutex_lock(&lane->lock);
    if (looks && !lane->looking) { /* a caller drives it now, or has handed it back */
      return WEIR_OK;
    }
    __atomic_store_n(&lane->looking, 0, __ATOMIC_RELAXED);
    looked = looks;
  }
}

static void *lane_main(void *data) {
  weir_pool *pool = data;
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  while (!lane->stop || lane->handed) {
    if (lane->handed) {
      lane->handed = 0;
      if (serve_locked(pool) == WEIR_FORKED) {
        return NULL; /* in a child, which has only this thread, and no right to the pool */
      }
    } else if (weir__trim_wanted_locked(pool)) {
      uint64_t commits = lane->commits;
      struct timespec until = weir__timespec(weir__now_ns() + lane->trim_wait_ns);
      lane->trim_awaited = 1;
      int timeout = pthread_cond_timedwait(&lane->wake, &lane->lock, &until);
      lane->trim_awaited = 0;
      if (timeout == ETIMEDOUT && !lane->driven && lane->commits == commits) {
        lane->trim_due = 1;
        lane->driven = 1;
        lane->handed = 1;
      }
    } else {
      (void)pthread_cond_wait(&lane->wake, &lane->lock);
    }
  }
  (void)pthread_mutex_unlock(&lane->lock);
  return NULL;
}

/* Starts the lane's thread unless it runs. Returns 0 or an errno. */
static int start_locked(weir_pool *pool) {
  weir__lane *lane = &pool->lane;
  int failed = lane->started ? 0 : weir__thread_start(&lane->thread, lane_main, pool);
  lane->started |= !failed;
  return failed;
}

/* A caller that drives the lane has run its own write. It does not go on with what has queued meanwhile: it
 * has its answer, and those could take long. Only if the lane's thread cannot be started somebody has to. */
static void leave(weir_pool *pool) {
  weir__lane *lane = &pool->lane;
  weir__job *job = NULL;
  (void)pthread_mutex_lock(&lane->lock);
  if (lane->queued) {
    (void)start_locked(pool);
  }
  while (!lane->started && (job = weir__queue_take_locked(pool, NULL, weir__now_ns())) != NULL) {
    weir__jobs ended = {0};
    (void)pthread_mutex_unlock(&lane->lock);
    if (weir__drive(pool, job, &ended) == WEIR_FORKED) {
      return;
    }
    tell_all(&ended);
    (void)pthread_mutex_lock(&lane->lock);
  }
  if (lane->queued || weir__checkpoint_due_locked(pool)) {
    lane->handed = 1;
    (void)pthread_cond_signal(&lane->wake);
  } else {
    if (!lane->trim_awaited && weir__trim_wanted_locked(pool)) {
      (void)pthread_cond_signal(&lane->wake);
    }
    give_up_locked(lane);
  }
  (void)pthread_mutex_unlock(&lane->lock);
}

/* ---- Synchronous callers ---- */

static int refuse_locked(const weir_pool *pool, weir_error *err) {
  if (pool->lane.closing) {
    return weir_fail(err, WEIR_CLOSED, "the pool is closed or closing");
  }
  if (pool->options.read_only) {
    return weir_fail(err, WEIR_READONLY, "'%s' was opened read-only", pool->path);
  }
  return WEIR_OK;
}

/* Waits until the queued job has ended, or its time is over. */
static int await(weir_pool *pool, weir__job *job) {
  weir__lane *lane = &pool->lane;
  struct timespec until = weir__timespec(job->queued_ns + job->timeout_ns);
  int woken = 0;
  do {
    woken = sem_clockwait(&job->wake, CLOCK_MONOTONIC, &until) == 0;
  } while (!woken && errno == EINTR);
  if (!woken) {
    (void)pthread_mutex_lock(&lane->lock);
    int queued = __atomic_load_n(&job->state, __ATOMIC_RELAXED) == WEIR__JOB_QUEUED;
    if (queued) {
      weir__queue_leave_locked(lane, job);
      job->rc = weir_fail(job->error, WEIR_BUSY, "the write lane was not free in %llu ms: %u writes wait",
                          (unsigned long long)(job->timeout_ns / WEIR__NS_PER_MS), lane->queued);
    }
    (void)pthread_mutex_unlock(&lane->lock);
    while (!queued && !woken) { /* a driver has it: it cannot be left any more */
      woken = sem_wait(&job->wake) == 0;
    }
  }
  (void)__atomic_load_n(&job->state, __ATOMIC_ACQUIRE); /* what the driver wrote before it */
  int rc = job->rc;
  (void)sem_destroy(&job->wake);
  (void)__atomic_sub_fetch(&lane->waiting, 1, __ATOMIC_RELEASE); /* from here on the lane may be gone */
  return rc;
}

/* May a caller drive the lane? If the lane's thread only looks for work, and the last write was alone, it is
 * this caller that it looks for; after a commit that was shared it is better to let the thread find all. One
 * that does not wait is not refused because of that. */
static int is_free_locked(const weir__lane *lane, const weir__job *job) {
  return !lane->driven ||
         (lane->looking && !lane->queued && (lane->last_members <= 1 || job->timeout_ns == 0));
}

int weir__lane_write(weir_pool *pool, weir__job *job) {
  weir__lane *lane = &pool->lane;
  job->queued_ns = weir__now_ns();
  (void)pthread_mutex_lock(&lane->lock);
  int rc = refuse_locked(pool, job->error);
  int leading = 0;
  if (rc == WEIR_OK && weir__canceled(job->token)) {
    rc = weir_fail(job->error, WEIR_CANCELED, "canceled before it began");
  } else if (rc == WEIR_OK && is_free_locked(lane, job)) {
    lane->driven = 1;
    __atomic_store_n(&lane->looking, 0, __ATOMIC_RELAXED);
    leading = 1;
    lane->full_next = job->durability == WEIR_FULL_SYNC;
    weir__histogram_add(&lane->wait_us, 0);
  } else if (rc == WEIR_OK && job->timeout_ns == 0) {
    rc = weir_fail(job->error, WEIR_BUSY, "another write is running");
  } else if (rc == WEIR_OK && sem_init(&job->wake, 0, 0) != 0) {
    rc = weir_fail(job->error, WEIR_NOMEM, "cannot make a semaphore: %s", strerror(errno));
  } else if (rc == WEIR_OK) {
    job->waits = 1;
    lane->waits++;
    (void)__atomic_add_fetch(&lane->waiting, 1, __ATOMIC_RELAXED);
    weir__queue_push_locked(lane, job);
  }
  (void)pthread_mutex_unlock(&lane->lock);
  if (rc != WEIR_OK) {
    return rc;
  }
  if (!leading) {
    return await(pool, job);
  }
  weir__jobs ended = {0};
  if (weir__drive(pool, job, &ended) == WEIR_FORKED) {
    return WEIR_FORKED;
  }
  leave(pool);
  tell_all(&ended); /* the pool may be gone */
  return job->rc;
}

void weir__lane_cancel(weir_pool *pool, const weir_token *token) {
  weir__lane *lane = &pool->lane;
  weir__jobs canceled_jobs = {0};
  (void)pthread_mutex_lock(&lane->lock);
  for (int priority = WEIR_INTERACTIVE; priority <= WEIR_BULK; priority++) {
    weir__job *next = NULL;
    for (weir__job *job = lane->queues[priority].head; job; job = next) {
      next = job->next;
      if (job->token == token && !job->finish) {
        weir__queue_leave_locked(lane, job);
        __atomic_store_n(&job->state, WEIR__JOB_RUNNING, __ATOMIC_RELAXED);
        weir__jobs_push(&canceled_jobs, job);
      }
    }
  }
  (void)pthread_mutex_unlock(&lane->lock);
  weir__job *job = NULL;
  while ((job = weir__jobs_pop(&canceled_jobs)) != NULL) {
    job->rc = weir_fail(job->error, WEIR_CANCELED, "canceled while waiting for the write lane");
    tell(job);
  }
}

void weir__lane_await_commit(weir_pool *pool, uint64_t until_ns) {
  weir__lane *lane = &pool->lane;
  struct timespec until = weir__timespec(until_ns);
  (void)pthread_mutex_lock(&lane->lock);
  uint64_t commits = lane->commits;
  while (lane->commits == commits && !lane->closing &&
         pthread_cond_timedwait(&lane->committed, &lane->lock, &until) == 0) {
  }
  (void)pthread_mutex_unlock(&lane->lock);
}

/* ---- Asynchronous callers ---- */

int weir__lane_submit(weir_pool *pool, weir__job *job, int *over) {
  weir__lane *lane = &pool->lane;
  job->queued_ns = weir__now_ns();
  (void)pthread_mutex_lock(&lane->lock);
  int rc = refuse_locked(pool, job->error);
  if (rc == WEIR_OK) {
    weir__queue_push_locked(lane, job);
    *over = weir__queue_over_locked(pool, job);
    if (!lane->driven) {
      lane->driven = 1;
      lane->handed = 1;
      (void)pthread_cond_signal(&lane->wake);
    } else {
      lane->waits++;
    }
  }
  (void)pthread_mutex_unlock(&lane->lock);
  return rc;
}

static int remove_queued(weir_pool *pool, weir__job *job, int only_over) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  int removed = __atomic_load_n(&job->state, __ATOMIC_RELAXED) == WEIR__JOB_QUEUED &&
                (!only_over || weir__queue_over_locked(pool, job));
  if (removed) {
    weir__queue_leave_locked(lane, job);
    __atomic_store_n(&job->state, WEIR__JOB_NONE, __ATOMIC_RELAXED);
  }
  (void)pthread_mutex_unlock(&lane->lock);
  return removed;
}

int weir__lane_remove(weir_pool *pool, weir__job *job) {
  return remove_queued(pool, job, 0);
}

int weir__lane_expire(weir_pool *pool, weir__job *job) {
  return remove_queued(pool, job, 1);
}

/* ---- The lane's thread, and closing ---- */

int weir__lane_start(weir_pool *pool, weir_error *err) {
  (void)pthread_mutex_lock(&pool->lane.lock);
  int failed = start_locked(pool);
  (void)pthread_mutex_unlock(&pool->lane.lock);
  return failed ? weir_fail(err, WEIR_NOMEM, "cannot start a thread: %s", strerror(failed)) : WEIR_OK;
}

int weir__lane_drain(weir_pool *pool, uint64_t deadline_ns) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  lane->closing = 1;
  (void)pthread_cond_broadcast(&lane->committed);
  uint64_t now = 0;
  /* waiting: those who wait leave without the lock, so it is looked for */
  while ((lane->driven || __atomic_load_n(&lane->waiting, __ATOMIC_ACQUIRE)) &&
         (now = weir__now_ns()) < deadline_ns) {
    uint64_t look = now + WEIR__NS_PER_MS;
    struct timespec until = weir__timespec(look < deadline_ns ? look : deadline_ns);
    (void)pthread_cond_timedwait(&lane->idle, &lane->lock, &until);
  }
  weir__job *job = NULL;
  while (lane->driven && (job = lane->queues[WEIR_INTERACTIVE].head ? lane->queues[WEIR_INTERACTIVE].head
                                                                    : lane->queues[WEIR_BULK].head) != NULL) {
    weir__queue_leave_locked(lane, job);
    __atomic_store_n(&job->state, WEIR__JOB_RUNNING, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&lane->lock);
    job->rc = weir_fail(job->error, WEIR_CANCELED, "the pool was closed before the write began");
    tell(job);
    (void)pthread_mutex_lock(&lane->lock);
  }
  int idle = !lane->driven && !__atomic_load_n(&lane->waiting, __ATOMIC_ACQUIRE);
  (void)pthread_mutex_unlock(&lane->lock);
  return idle;
}

void weir__lane_stop(weir_pool *pool) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  lane->stop = 1;
  int started = lane->started;
  lane->started = 0;
  (void)pthread_cond_signal(&lane->wake);
  (void)pthread_mutex_unlock(&lane->lock);
  if (started) {
    (void)pthread_join(lane->thread, NULL); /* cannot fail: it is ours, and joined once */
  }
}
