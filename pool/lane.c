/*
 * The write lane; see lane.h for who drives it.
 *
 * Invariants, under the lock: while `driven` is 0 the queue is empty and no checkpoint is due; the right to
 * drive is never lost: a driver that leaves hands it to the first in the queue, to the lane's thread, or to
 * nobody by setting driven to 0. A job in the queue is QUEUED; one that is LEADING or RUNNING has left it.
 */
#include <string.h>

#include "internal.h"
#include "lane.h"

/* Runs a job's transaction on the writing connection. The caller drives the lane, and holds no lock. */
static int drive(weir_pool *pool, weir__job *job) {
  weir__slot *slot = NULL;
  int rc = WEIR_OK;
  if (pool->writer) {
    rc = weir__slot_acquire_writer(pool, &slot, job->error);
  } else { /* single mode: reads and writes share the one connection, under the same fair admission */
    int timeout_ms = pool->options.acquire_timeout_ms;
    weir__admission how = {.timeout_ns = timeout_ms > 0 ? (uint64_t)timeout_ms * WEIR__NS_PER_MS : 0,
                           .token = job->token,
                           .draining = 1,
                           .writes = 1};
    if (job->admit_ns) {
      uint64_t now = weir__now_ns();
      how.timeout_ns = job->admit_ns > now ? job->admit_ns - now : 0;
    }
    rc = weir__slot_acquire(pool, &how, &slot, job->error);
  }
  if (rc != WEIR_OK) {
    return rc;
  }
  rc = weir__run_write(slot->conn, job);

  weir__lane *lane = &pool->lane;
  int pages = slot->conn->wal_pages;
  weir__slot_release(pool, slot);
  (void)pthread_mutex_lock(&lane->lock);
  if (rc == WEIR_OK) {
    lane->commits++;
  } else {
    lane->rollbacks++;
  }
  lane->wal_pages = (uint64_t)pages;
  if (pages < lane->checkpoint_mark) {
    lane->checkpoint_mark = 0; /* the WAL began anew */
  }
  if (pages - lane->checkpoint_mark >= (int)pool->options.checkpoint_pages && lane->started) {
    lane->checkpoint_due = 1;
  }
  (void)pthread_mutex_unlock(&lane->lock);
  return rc;
}

/* Copies what the WAL holds into the database file, as far as readers allow. In the lane, so that it can
 * never meet a commit: SQLite before 3.51.3 can lose pages then. */
static void checkpoint(weir_pool *pool) {
  weir__slot *slot = NULL;
  weir_error ignored = WEIR_ERROR_INIT;
  int rc = pool->writer
               ? weir__slot_acquire_writer(pool, &slot, &ignored)
               : weir__slot_acquire(
                     pool, &(weir__admission){.timeout_ns = WEIR__NS_PER_S, .draining = 1, .writes = 1},
                     &slot, &ignored);
  if (rc != WEIR_OK) {
    return; /* it comes due again with the next commit */
  }
  uint64_t before = weir__now_ns();
  int pages = -1;
  int copied = -1;
  /* Busy or failed: what was not copied stays in the WAL, and the next one tries again. */
  (void)sqlite3_wal_checkpoint_v2(slot->conn->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
  uint64_t spent = weir__now_ns() - before;
  weir__slot_release(pool, slot);

  (void)pthread_mutex_lock(&pool->lane.lock);
  pool->lane.checkpoints++;
  pool->lane.checkpoint_us += spent / WEIR__NS_PER_US;
  if (pages >= 0) {
    pool->lane.checkpoint_mark = pages;
  }
  (void)pthread_mutex_unlock(&pool->lane.lock);
}

/* Tells whoever waits for the job. Its memory is theirs from then on. Called with the lock held, and returns
 * with it held. */
static void end_locked(weir__lane *lane, weir__job *job, int rc) {
  job->rc = rc;
  job->state = WEIR__JOB_ENDED;
  if (job->finish) {
    (void)pthread_mutex_unlock(&lane->lock);
    job->finish(job);
    (void)pthread_mutex_lock(&lane->lock);
  } else {
    (void)pthread_cond_signal(&job->wake);
  }
}

/* The driver goes: hands the lane on. */
static void leave_locked(weir__lane *lane) {
  if (lane->checkpoint_due || (lane->queue.head && lane->queue.head->finish)) {
    lane->handed = 1;
    (void)pthread_cond_signal(&lane->wake);
  } else if (lane->queue.head) {
    weir__job *next = weir__jobs_pop(&lane->queue);
    next->state = WEIR__JOB_LEADING;
    (void)pthread_cond_signal(&next->wake);
  } else {
    lane->driven = 0;
    if (lane->closing) {
      (void)pthread_cond_broadcast(&lane->idle);
    }
  }
}

static void *lane_main(void *data) {
  weir_pool *pool = data;
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  for (;;) {
    while (!lane->handed && !lane->stop) {
      (void)pthread_cond_wait(&lane->wake, &lane->lock);
    }
    if (!lane->handed) {
      break;
    }
    lane->handed = 0;
    for (;;) {
      if (lane->checkpoint_due) {
        lane->checkpoint_due = 0;
        (void)pthread_mutex_unlock(&lane->lock);
        checkpoint(pool);
        (void)pthread_mutex_lock(&lane->lock);
      }
      weir__job *job = weir__jobs_pop(&lane->queue);
      if (!job) {
        break;
      }
      job->state = WEIR__JOB_RUNNING;
      (void)pthread_mutex_unlock(&lane->lock);
      int rc = drive(pool, job);
      (void)pthread_mutex_lock(&lane->lock);
      end_locked(lane, job, rc);
    }
    lane->driven = 0;
    if (lane->closing) {
      (void)pthread_cond_broadcast(&lane->idle);
    }
  }
  (void)pthread_mutex_unlock(&lane->lock);
  return NULL;
}

static int refuse_locked(const weir_pool *pool, weir_error *err) {
  const weir__lane *lane = &pool->lane;
  if (lane->closing) {
    return weir_fail(err, WEIR_CLOSED, "the pool is closed or closing");
  }
  if (pool->options.read_only) {
    return weir_fail(err, WEIR_READONLY, "'%s' was opened read-only", pool->path);
  }
  if (lane->queue.count >= pool->options.queue_max) {
    return weir_fail(err, WEIR_BUSY, "%u writes wait already: write less at once, or raise queue_max",
                     lane->queue.count);
  }
  return WEIR_OK;
}

static int canceled(const weir__job *job) {
  return job->token && __atomic_load_n(&job->token->canceled, __ATOMIC_ACQUIRE);
}

/* Waits in the queue: WEIR_OK with the state LEADING or ENDED, or why it has given up. */
static int wait_locked(weir_pool *pool, weir__job *job, uint64_t timeout_ns) {
  weir__lane *lane = &pool->lane;
  if (timeout_ns == 0) {
    return weir_fail(job->error, WEIR_BUSY, "another write is running");
  }
  if (pthread_cond_init(&job->wake, &pool->monotonic) != 0) {
    return weir_fail(job->error, WEIR_NOMEM, "out of memory");
  }
  struct timespec until = weir__timespec(job->admit_ns);
  int rc = WEIR_OK;
  weir__jobs_push(&lane->queue, job);
  lane->waiting++;
  while (rc == WEIR_OK && job->state != WEIR__JOB_LEADING && job->state != WEIR__JOB_ENDED) {
    if (job->state == WEIR__JOB_RUNNING) { /* on the lane's thread: it cannot be left any more */
      (void)pthread_cond_wait(&job->wake, &lane->lock);
      continue;
    }
    int timeout = pthread_cond_timedwait(&job->wake, &lane->lock, &until);
    if (job->state != WEIR__JOB_QUEUED) {
      continue;
    }
    if (canceled(job)) {
      rc = weir_fail(job->error, WEIR_CANCELED, "canceled while waiting for the write lane");
    } else if (timeout != 0) {
      rc = weir_fail(job->error, WEIR_BUSY, "the write lane was not free in %llu ms: %u writes wait",
                     (unsigned long long)(timeout_ns / WEIR__NS_PER_MS), lane->queue.count);
    }
    if (rc != WEIR_OK) {
      weir__jobs_remove(&lane->queue, job);
    }
  }
  (void)pthread_cond_destroy(&job->wake);
  if (--lane->waiting == 0 && lane->closing) {
    (void)pthread_cond_broadcast(&lane->idle);
  }
  return rc;
}

int weir__lane_write(weir_pool *pool, weir__job *job, uint64_t timeout_ns) {
  weir__lane *lane = &pool->lane;
  job->admit_ns = weir__now_ns() + timeout_ns;
  (void)pthread_mutex_lock(&lane->lock);
  int rc = refuse_locked(pool, job->error);
  if (rc == WEIR_OK && canceled(job)) {
    rc = weir_fail(job->error, WEIR_CANCELED, "canceled before it began");
  }
  int leading = 0;
  if (rc == WEIR_OK && !lane->driven) {
    lane->driven = 1;
    leading = 1;
  } else if (rc == WEIR_OK) {
    rc = wait_locked(pool, job, timeout_ns);
    leading = rc == WEIR_OK && job->state == WEIR__JOB_LEADING;
    rc = rc == WEIR_OK ? job->rc : rc;
  }
  (void)pthread_mutex_unlock(&lane->lock);
  if (leading) {
    rc = drive(pool, job);
    (void)pthread_mutex_lock(&lane->lock);
    leave_locked(lane);
    (void)pthread_mutex_unlock(&lane->lock);
  }
  return rc;
}

int weir__lane_submit(weir_pool *pool, weir__job *job) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  int rc = refuse_locked(pool, job->error);
  if (rc == WEIR_OK) {
    weir__jobs_push(&lane->queue, job);
    if (!lane->driven) {
      lane->driven = 1;
      lane->handed = 1;
      (void)pthread_cond_signal(&lane->wake);
    }
  }
  (void)pthread_mutex_unlock(&lane->lock);
  return rc;
}

int weir__lane_remove(weir_pool *pool, weir__job *job) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  int queued = job->state == WEIR__JOB_QUEUED;
  if (queued) {
    weir__jobs_remove(&lane->queue, job);
    job->state = WEIR__JOB_NONE;
  }
  (void)pthread_mutex_unlock(&lane->lock);
  return queued;
}

void weir__lane_cancel(weir_pool *pool, const weir_token *token) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  for (weir__job *job = lane->queue.head; job; job = job->next) {
    if (job->token == token && !job->finish) {
      (void)pthread_cond_signal(&job->wake);
    }
  }
  (void)pthread_mutex_unlock(&lane->lock);
}

int weir__lane_start(weir_pool *pool, weir_error *err) {
  weir__lane *lane = &pool->lane;
  int rc = WEIR_OK;
  (void)pthread_mutex_lock(&lane->lock);
  if (!lane->started) {
    int failed = weir__thread_start(&lane->thread, lane_main, pool);
    if (failed) {
      rc = weir_fail(err, WEIR_NOMEM, "cannot start a thread: %s", strerror(failed));
    } else {
      lane->started = 1;
    }
  }
  (void)pthread_mutex_unlock(&lane->lock);
  return rc;
}

int weir__lane_drain(weir_pool *pool, uint64_t deadline_ns) {
  weir__lane *lane = &pool->lane;
  struct timespec until = weir__timespec(deadline_ns);
  (void)pthread_mutex_lock(&lane->lock);
  lane->closing = 1;
  int timeout = 0;
  while ((lane->driven || lane->waiting) && timeout == 0) { /* waiting: they still use the lock */
    timeout = pthread_cond_timedwait(&lane->idle, &lane->lock, &until);
  }
  weir__job *job = NULL;
  while (lane->driven && (job = weir__jobs_pop(&lane->queue)) != NULL) {
    end_locked(lane, job, weir_fail(job->error, WEIR_CANCELED, "the pool was closed before the write began"));
  }
  int idle = !lane->driven && !lane->waiting;
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
