/*
 * The reader threads; see readers.h.
 *
 * A thread that finds more work keeps its lease for up to LEASE_NS, so that a burst of small reads does not
 * pay admission one by one. Nor does each of them pay SQLite's file locks: a read may join the snapshot of
 * the read before it if it was submitted before that snapshot was begun, since then it cannot tell the
 * difference.
 *
 * Most reads are shorter than it takes to wake a thread. So one thread runs them, and others join it only
 * when what is queued would keep those at work for longer than WAKE_NS, by what reads took lately. A read
 * that takes much longer than its like must not hold up those behind it: who submits one then wakes another
 * thread; and while there is work an idle thread watches, and joins if nothing was taken from the queue for
 * STUCK_NS.
 *
 * In single mode one thread is enough, as there is one connection. A read that waits for a commit (min_rev)
 * is put aside, without a thread or a snapshot, and looks again after each commit of the lane.
 */
#define _GNU_SOURCE /* sched_getcpu */
#include <sched.h>
#include <string.h>

#include "internal.h"
#include "readers.h"
#include "trace.h"

/* How long a thread keeps a lease while there is work. Shorter than the time after which waiters are not
 * passed any more. */
#define LEASE_NS (100u * WEIR__NS_PER_US)

/* About what it takes to wake a thread and to move the work to another processor. */
#define WAKE_NS (50u * WEIR__NS_PER_US)

/* How long a read waits at most behind one that does not end before another thread is found for it. */
#define STUCK_NS WEIR__NS_PER_MS

/* How long one thread that has run out of work looks for more before it sleeps: less than waking it costs. */
#define LOOK_NS (20u * WEIR__NS_PER_US)

typedef struct lease {
  weir__slot *slot; /* or NULL */
  int reading;      /* a snapshot is open on it */
  uint64_t mark;    /* jobs with lower numbers were submitted before that snapshot was begun */
  uint64_t until_ns;
} lease;

static void end_snapshot(lease *held) {
  if (held->reading) {
    weir__end_read(held->slot->conn);
    held->reading = 0;
  }
}

static void give_back(weir_pool *pool, lease *held) {
  if (held->slot) {
    end_snapshot(held);
    weir__slot_release(pool, held->slot);
    held->slot = NULL;
  }
}

static int take(weir_pool *pool, const weir__job *job, uint64_t now, lease *held) {
  weir__admission how = {
      .timeout_ns = weir__ms(pool->options.acquire_timeout_ms), .token = job->token, .draining = 1};
  if (job->deadline_ns && how.timeout_ns) {
    uint64_t left = job->deadline_ns > now ? job->deadline_ns - now : 1;
    how.timeout_ns = how.timeout_ns < left ? how.timeout_ns : left;
  }
  int rc = weir__slot_acquire(pool, &how, &held->slot, job->error);
  if (rc == WEIR_BUSY && job->deadline_ns && weir__now_ns() >= job->deadline_ns) {
    rc = weir_fail(job->error, WEIR_TIMEOUT, "the deadline passed before a connection became free");
  }
  return rc;
}

/* Sees that there is a snapshot for the job. `submitted`: see run. */
static int begin(weir_pool *pool, const weir__job *job, uint64_t submitted, uint64_t now, lease *held) {
  int rc = WEIR_OK;
  if (!held->slot) {
    rc = take(pool, job, now, held);
    held->until_ns = now + LEASE_NS;
  }
  if (rc == WEIR_OK && !held->reading) {
    rc = weir__begin_read(held->slot->conn, job);
    held->reading = 1;
    held->mark = submitted;
  }
  return rc;
}

/* Has the snapshot the commit that the job asks for? If not, *early is 1 while there is time to wait for it.
 */
static int check_rev(const weir__job *job, uint64_t now, const lease *held, int *early) {
  int64_t rev = 0;
  int rc = weir_txn_rev(&held->slot->conn->txn, &rev, job->error);
  if (rc != WEIR_OK || rev >= job->min_rev) {
    return rc;
  }
  *early = now < job->queued_ns + job->timeout_ns;
  return *early ? WEIR_OK : weir__rev_missing(job, rev, WEIR_BUSY);
}

/* Runs a job. 1: it has ended. 0: it is to wait for a commit. `submitted`: how many jobs had been submitted
 * when this one was taken from the queue. */
static int run(weir_pool *pool, weir__job *job, uint64_t submitted, uint64_t now, lease *held) {
  if (held->slot && (now >= held->until_ns || held->slot->conn->broken)) {
    give_back(pool, held);
  }
  if (held->reading && (job->number >= held->mark || sqlite3_get_autocommit(held->slot->conn->db))) {
    end_snapshot(held); /* autocommit: an error of the read before it made SQLite end the snapshot */
  }
  int early = 0;
  int rc = begin(pool, job, submitted, now, held);
  if (rc == WEIR_OK && job->min_rev) {
    rc = check_rev(job, now, held, &early);
  }
  if (early) {
    give_back(pool, held); /* in single mode the lane needs it */
    return 0;
  }
  if (rc == WEIR_OK) {
    uint64_t admitted = pool->options.trace ? weir__now_ns() : 0;
    rc = weir__run_in_read(held->slot->conn, job);
    if (pool->options.trace) {
      weir__trace_slow(pool, WEIR_TRACE_SLOW_READ, job->label, admitted - job->queued_ns,
                       weir__now_ns() - admitted);
    }
  } else {
    give_back(pool, held);
  }
  job->rc = rc;
  return 1;
}

/* Those who wait for a commit look again, each in a snapshot that is begun from now on. */
static void unpark_locked(weir__readers *readers) {
  weir__job *job = NULL;
  while ((job = weir__jobs_pop(&readers->parked)) != NULL) {
    job->number = readers->submitted++;
    job->state = WEIR__JOB_QUEUED;
    weir__jobs_push(&readers->queue, job);
  }
}

/* Is it time to look whether another process has made the commit? Also bounds the wait for one of this
 * process that was missed on the way into the list. */
static int parked_long_locked(const weir__readers *readers) {
  return readers->parked.head && weir__now_ns() - readers->parked_ns >= WEIR__FOREIGN_NS;
}

/* Waits for a job a short while without sleeping. Not on the processor of whoever submits them, who could not
 * go on meanwhile. */
static void look_locked(weir__readers *readers) {
  readers->looking = 1;
  (void)pthread_mutex_unlock(&readers->lock);
  uint64_t until = weir__now_ns() + LOOK_NS;
  while (!__atomic_load_n(&readers->queue.count, __ATOMIC_RELAXED) && weir__now_ns() < until) {
    weir__relax();
  }
  (void)pthread_mutex_lock(&readers->lock);
  readers->looking = 0;
}

/* Does what is queued want more threads than are at work? */
static int crowded_locked(const weir__readers *readers) {
  return readers->active == 0 || readers->queue.count * readers->typical_ns > readers->active * WAKE_NS ||
         weir__now_ns() - readers->taken_ns > WAKE_NS; /* those at work are at long reads */
}

/* Sees that enough threads are awake for what is queued. One at a time: who takes a job rouses the next. */
static void rouse_locked(weir__readers *readers) {
  if (readers->queue.count > (readers->looking ? 1u : 0u) && readers->idle && !readers->waking &&
      (crowded_locked(readers) || !readers->watching)) {
    readers->waking = 1;
    (void)pthread_cond_signal(&readers->wake);
  }
}

/* Sleeps until there may be something to do; as the watcher if there is none and there has been work since
 * `seen`. 1: there is work, and nobody took any for STUCK_NS. */
static int rest_locked(weir__readers *readers, uint64_t *seen) {
  uint64_t taken = readers->taken;
  int timeout = 0;
  int watch = !readers->watching &&
              (readers->queue.head || readers->parked.head || readers->active || *seen != readers->submitted);
  *seen = readers->submitted;
  readers->idle++;
  if (watch) {
    struct timespec until = weir__timespec(weir__now_ns() + STUCK_NS);
    readers->watching = 1;
    timeout = pthread_cond_timedwait(&readers->wake, &readers->lock, &until);
    readers->watching = 0;
  } else {
    (void)pthread_cond_wait(&readers->wake, &readers->lock);
  }
  readers->idle--;
  readers->waking = 0;
  return timeout && readers->queue.head && readers->taken == taken;
}

/* Takes the first job and runs it. */
static void work_locked(weir_pool *pool, lease *held) {
  weir__readers *readers = &pool->readers;
  weir__job *job = weir__jobs_pop(&readers->queue);
  uint64_t submitted = readers->submitted;
  uint64_t begun = weir__now_ns();
  job->state = WEIR__JOB_RUNNING;
  readers->active++;
  readers->taken++;
  readers->taken_ns = begun;
  rouse_locked(readers);
  (void)pthread_mutex_unlock(&readers->lock);
  int has_ended = run(pool, job, submitted, begun, held);
  if (has_ended) {
    job->finish(job);
  }
  uint64_t took = weir__now_ns() - begun;
  (void)pthread_mutex_lock(&readers->lock);
  readers->active--;
  if (!has_ended) {
    readers->parked_ns = readers->parked.head ? readers->parked_ns : begun;
    job->state = WEIR__JOB_PARKED;
    weir__jobs_push(&readers->parked, job);
  }
  took = took < STUCK_NS ? took : STUCK_NS; /* or one long read would count for too many */
  readers->typical_ns = (readers->typical_ns * 7 + took) / 8;
}

static void *reader_main(void *data) {
  weir_pool *pool = data;
  weir__readers *readers = &pool->readers;
  lease held = {0};
  uint64_t seen = 0;
  int looked = 1; /* 0: has worked since it last looked or slept, so goes on while there is work */
  int stuck = 0;
  (void)pthread_mutex_lock(&readers->lock);
  for (;;) {
    if (parked_long_locked(readers)) {
      unpark_locked(readers);
    }
    if (readers->queue.head && (!looked || stuck || readers->stop || crowded_locked(readers))) {
      work_locked(pool, &held);
      looked = 0;
      stuck = 0;
    } else if (held.slot) { /* never wait with a lease */
      (void)pthread_mutex_unlock(&readers->lock);
      give_back(pool, &held);
      (void)pthread_mutex_lock(&readers->lock);
    } else if (readers->stop) {
      break;
    } else if (!looked && !readers->looking && readers->cpu != sched_getcpu()) {
      look_locked(readers);
      looked = readers->queue.head == NULL;
    } else {
      stuck = rest_locked(readers, &seen);
      looked = 1;
    }
  }
  (void)pthread_mutex_unlock(&readers->lock);
  return NULL;
}

int weir__readers_start(weir_pool *pool, weir_error *err) {
  weir__readers *readers = &pool->readers;
  unsigned wanted = pool->options.mode == WEIR_SINGLE ? 1 : pool->options.readers;
  int failed = 0;
  (void)pthread_mutex_lock(&readers->lock);
  while (readers->count < wanted && !failed) {
    failed = weir__thread_start(&readers->threads[readers->count], reader_main, pool);
    readers->count += failed ? 0 : 1;
  }
  int any = readers->count > 0;
  (void)pthread_mutex_unlock(&readers->lock);
  return any ? WEIR_OK : weir_fail(err, WEIR_NOMEM, "cannot start a thread: %s", strerror(failed));
}

int weir__readers_submit(weir_pool *pool, weir__job *job, int defer) {
  weir__readers *readers = &pool->readers;
  int rc = WEIR_OK;
  (void)pthread_mutex_lock(&readers->lock);
  if (readers->stop) {
    rc = weir_fail(job->error, WEIR_CLOSED, "the pool is closed or closing");
  } else if (readers->queue.count >= pool->options.queue_max) {
    rc = weir_fail(job->error, WEIR_BUSY, "%u reads wait already: read less at once, or raise queue_max",
                   readers->queue.count);
  } else {
    job->number = readers->submitted++;
    job->queued_ns = job->min_rev || pool->options.trace ? weir__now_ns() : 0;
    job->state = WEIR__JOB_QUEUED;
    weir__jobs_push(&readers->queue, job);
    readers->cpu = sched_getcpu();
    if (!defer || !readers->watching) { /* a watcher takes it in time if nobody else does */
      rouse_locked(readers);
    }
  }
  (void)pthread_mutex_unlock(&readers->lock);
  return rc;
}

void weir__readers_rouse(weir_pool *pool) {
  (void)pthread_mutex_lock(&pool->readers.lock);
  rouse_locked(&pool->readers);
  (void)pthread_mutex_unlock(&pool->readers.lock);
}

void weir__readers_unpark(weir_pool *pool) {
  weir__readers *readers = &pool->readers;
  if (__atomic_load_n(&readers->parked.count, __ATOMIC_RELAXED)) {
    (void)pthread_mutex_lock(&readers->lock);
    unpark_locked(readers);
    rouse_locked(readers);
    (void)pthread_mutex_unlock(&readers->lock);
  }
}

int weir__readers_remove(weir_pool *pool, weir__job *job) {
  weir__readers *readers = &pool->readers;
  (void)pthread_mutex_lock(&readers->lock);
  int parked = job->state == WEIR__JOB_PARKED;
  int queued = parked || job->state == WEIR__JOB_QUEUED;
  if (queued) {
    weir__jobs_remove(parked ? &readers->parked : &readers->queue, job);
    job->state = WEIR__JOB_NONE;
  }
  (void)pthread_mutex_unlock(&readers->lock);
  return queued;
}

void weir__readers_stop(weir_pool *pool) {
  weir__readers *readers = &pool->readers;
  (void)pthread_mutex_lock(&readers->lock);
  readers->stop = 1;
  unsigned count = readers->count;
  readers->count = 0;
  (void)pthread_cond_broadcast(&readers->wake);
  (void)pthread_mutex_unlock(&readers->lock);
  for (unsigned i = 0; i < count; i++) {
    (void)pthread_join(readers->threads[i], NULL); /* cannot fail: they are ours, and joined once */
  }
}
