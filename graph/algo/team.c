/*
 * Threads that share work; see team.h.
 *
 * A round is one call of weir__team_each: the calling thread describes it, wakes the helpers, works along,
 * and waits until those that have entered it have left. A helper that wakes up late finds the round over, and
 * is not waited for. Pieces are taken from an atomic counter.
 *
 * Many rounds are shorter than waking a thread takes, and follow each other at once. So helpers look for the
 * next one for a moment before they sleep, as does the calling thread for the last helper to leave.
 */
#include "team.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <uv.h>

#include "../internal.h"
#include "thread.h"

#define TELL_NS        UINT64_C(50000000) /* between two reports of progress */
#define LOOK_NS        UINT64_C(30000)    /* before a thread sleeps: less than waking it costs */
#define EDGES_A_THREAD UINT64_C(500000)   /* about a millisecond: less is not worth starting a thread for */

struct helper {
  weir__team *team;
  pthread_t thread;
  unsigned worker;
};

struct weir__team {
  weir_run run;
  unsigned size;
  struct helper helpers[WEIR_THREADS_MAX - 1];
  uint64_t total; /* units; for progress */
  uint64_t done;  /* of rounds that are over, and ticks */
  uint64_t told_ns;

  /* The round. Written by the calling thread while no helper is in it. */
  weir__work_fn work;
  void *data;
  uint64_t count, grain;
  weir_error *err;       /* the caller's, for the calling thread */
  _Atomic uint64_t next; /* the first item of the next piece */
  _Atomic int failed;    /* a code: no more pieces are begun */

  pthread_mutex_t lock; /* guards what is below; never held while work or on_progress runs */
  pthread_cond_t begun; /* round or closing has changed */
  pthread_cond_t left;  /* inside has become 0, and the calling thread sleeps */
  uint64_t rounds;      /* how many there were */
  unsigned asleep;      /* helpers that wait for `begun` */
  int waiting;          /* the calling thread waits for `left` */
  int closing;

  /* Written with the lock held, and also looked at without it, by those who are about to sleep. */
  _Atomic uint64_t round;  /* number of the one that may be entered; 0: there is none */
  _Atomic unsigned inside; /* helpers that have entered it, and not left */
  int looks;               /* constant: each thread has a processor, so looking takes none away */
};

/* ---- Progress ---------------------------------------------------------------------------------------- */

static int tell(weir__team *team, uint64_t done, int last, weir_error *err) {
  if (!team->run.on_progress) {
    return WEIR_OK;
  }
  uint64_t now = weir__clock_ns();
  if (!last && team->told_ns && now - team->told_ns < TELL_NS) {
    return WEIR_OK;
  }
  team->told_ns = now;
  weir_progress progress = {.done = done < team->total ? done : team->total, .total = team->total};
  if (last) {
    progress.done = progress.total;
  }
  if (team->run.on_progress(&progress, team->run.data) == 0) {
    return WEIR_OK;
  }
  return weir_fail(err, WEIR_CANCELED, "the computation was given up by on_progress");
}

int weir__team_tick(weir__team *team, uint64_t units, weir_error *err) {
  team->done += units;
  return tell(team, team->done, 0, err);
}

/* ---- Rounds ------------------------------------------------------------------------------------------ */

/* Takes the next piece; 0: there is none. */
static int take(weir__team *team, uint64_t *first, uint64_t *last) {
  if (atomic_load_explicit(&team->failed, memory_order_relaxed)) {
    return 0;
  }
  *first = atomic_fetch_add_explicit(&team->next, team->grain, memory_order_relaxed);
  *last = team->count - *first > team->grain ? *first + team->grain : team->count;
  return *first < team->count;
}

static void fail(weir__team *team, int code) {
  int none = WEIR_OK;
  (void)atomic_compare_exchange_strong(&team->failed, &none, code); /* the first failure is the one told */
}

static void help(weir__team *team, unsigned worker) {
  uint64_t first = 0, last = 0;
  while (take(team, &first, &last)) {
    int rc = team->work(team->data, first, last, worker);
    if (rc) {
      fail(team, rc);
    }
  }
}

/* Is there a round to enter, that it has not been in? */
static int has_round(weir__team *team, uint64_t seen) {
  uint64_t round = atomic_load_explicit(&team->round, memory_order_relaxed);
  return round != 0 && round != seen;
}

static void look_for_round(weir__team *team, uint64_t seen) {
  uint64_t until = weir__clock_ns() + LOOK_NS;
  while (!has_round(team, seen) && weir__clock_ns() < until) {
  }
}

static void *run_helper(void *data) {
  const struct helper *self = data;
  weir__team *team = self->team;
  uint64_t seen = 0;
  pthread_mutex_lock(&team->lock);
  for (;;) {
    while (!has_round(team, seen) && !team->closing) {
      team->asleep++;
      pthread_cond_wait(&team->begun, &team->lock);
      team->asleep--;
    }
    if (team->closing) {
      break;
    }
    seen = atomic_load_explicit(&team->round, memory_order_relaxed);
    atomic_fetch_add_explicit(&team->inside, 1, memory_order_relaxed);
    pthread_mutex_unlock(&team->lock);
    help(team, self->worker);
    pthread_mutex_lock(&team->lock);
    if (atomic_fetch_sub_explicit(&team->inside, 1, memory_order_relaxed) == 1 && team->waiting) {
      pthread_cond_signal(&team->left);
    }
    if (team->looks) {
      pthread_mutex_unlock(&team->lock);
      look_for_round(team, seen);
      pthread_mutex_lock(&team->lock);
    }
  }
  pthread_mutex_unlock(&team->lock);
  return NULL;
}

static void begin_round(weir__team *team) {
  if (team->size == 1) {
    return;
  }
  pthread_mutex_lock(&team->lock);
  atomic_store_explicit(&team->round, ++team->rounds, memory_order_relaxed);
  if (team->asleep > 0) {
    pthread_cond_broadcast(&team->begun);
  }
  pthread_mutex_unlock(&team->lock);
}

static void look_for_end(weir__team *team) {
  uint64_t until = weir__clock_ns() + LOOK_NS;
  while (atomic_load_explicit(&team->inside, memory_order_relaxed) > 0 && weir__clock_ns() < until) {
  }
}

/* What helpers wrote is seen once the lock is held after they have left. */
static void end_round(weir__team *team) {
  if (team->size == 1) {
    return;
  }
  pthread_mutex_lock(&team->lock);
  atomic_store_explicit(&team->round, 0, memory_order_relaxed);
  if (team->looks) {
    pthread_mutex_unlock(&team->lock);
    look_for_end(team);
    pthread_mutex_lock(&team->lock);
  }
  team->waiting = 1;
  while (atomic_load_explicit(&team->inside, memory_order_relaxed) > 0) {
    pthread_cond_wait(&team->left, &team->lock);
  }
  team->waiting = 0;
  pthread_mutex_unlock(&team->lock);
}

int weir__team_ended(weir__team *team, unsigned worker) {
  int failed = atomic_load_explicit(&team->failed, memory_order_relaxed);
  if (failed == WEIR_OK && worker == 0 && team->run.on_progress) {
    uint64_t begun = atomic_load_explicit(&team->next, memory_order_relaxed);
    failed = tell(team, team->done + (begun < team->count ? begun : team->count), 0, team->err);
    if (failed) {
      fail(team, failed);
    }
  }
  return failed != WEIR_OK;
}

/* The calling thread's part: as help(), and progress. */
static void lead(weir__team *team) {
  uint64_t first = 0, last = 0;
  int rc = tell(team, team->done, 0, team->err);
  if (rc) {
    fail(team, rc);
  }
  while (take(team, &first, &last)) {
    rc = team->work(team->data, first, last, 0);
    if (rc) {
      fail(team, rc);
    }
    (void)weir__team_ended(team, 0);
  }
}

int weir__team_each(weir__team *team, uint64_t count, uint64_t grain, weir__work_fn work, void *data,
                    weir_error *err) {
  if (count == 0) {
    return tell(team, team->done, 0, err);
  }
  team->work = work;
  team->data = data;
  team->count = count;
  team->grain = grain;
  team->err = err;
  atomic_store_explicit(&team->next, 0, memory_order_relaxed);
  atomic_store_explicit(&team->failed, WEIR_OK, memory_order_relaxed);
  int alone = count <= grain;
  if (!alone) {
    begin_round(team);
  }
  lead(team);
  if (!alone) {
    end_round(team);
  }
  int rc = atomic_load_explicit(&team->failed, memory_order_relaxed);
  if (rc == WEIR_CANCELED) { /* tell has said so */
    return rc;
  }
  if (rc) {
    return weir_fail(err, rc, "out of memory in a computation of %llu items", (unsigned long long)count);
  }
  team->done += count;
  return WEIR_OK;
}

unsigned weir__team_size(const weir__team *team) {
  return team->size;
}

/* ---- Life -------------------------------------------------------------------------------------------- */

static void end_helpers(weir__team *team) {
  pthread_mutex_lock(&team->lock);
  team->closing = 1;
  pthread_cond_broadcast(&team->begun);
  pthread_mutex_unlock(&team->lock);
  for (unsigned i = 0; i + 1 < team->size; i++) {
    pthread_join(team->helpers[i].thread, NULL);
  }
}

static void free_team(weir__team *team) {
  end_helpers(team);
  weir__locks_destroy(&team->lock, &team->begun, &team->left);
  free(team);
}

/* A system that has no thread left to give gets the work done by those there are. */
static void start_helpers(weir__team *team, unsigned wanted) {
  team->size = 1;
  while (team->size < wanted) {
    struct helper *helper = &team->helpers[team->size - 1];
    *helper = (struct helper){.team = team, .worker = team->size};
    if (weir__thread_begin(&helper->thread, run_helper, helper)) {
      return;
    }
    team->size++;
  }
}

static unsigned threads_for(const weir_run *run, uint64_t edges) {
  if (run->threads) {
    return run->threads;
  }
  uint64_t most = edges / EDGES_A_THREAD + 1;
  unsigned processors = uv_available_parallelism();
  processors = processors < WEIR_THREADS_MAX ? processors : WEIR_THREADS_MAX;
  return processors < most ? processors : (unsigned)most;
}

/* alone: whatever `run` says of threads, once it has been checked. */
static int open_team(weir__team **out, const weir_run *run, uint64_t units, uint64_t edges, int alone,
                     weir_error *err) {
  weir_run known = WEIR_RUN_INIT;
  int rc = weir__options_copy(&known, sizeof known, run, "weir_run", err);
  if (rc) {
    return rc;
  }
  if (known.threads > WEIR_THREADS_MAX) {
    return weir_fail(err, WEIR_INVALID, "%u threads: give at most %d", known.threads, WEIR_THREADS_MAX);
  }
  weir__team *team = calloc(1, sizeof *team);
  if (!team || weir__locks_init(&team->lock, &team->begun, &team->left)) {
    free(team);
    return weir_fail(err, WEIR_NOMEM, "out of memory for the threads of a computation");
  }
  team->run = known;
  team->total = units;
  unsigned wanted = alone ? 1 : threads_for(&known, edges);
  team->looks = wanted <= uv_available_parallelism();
  start_helpers(team, wanted);
  rc = tell(team, 0, 0, err);
  if (rc) {
    free_team(team);
    return rc;
  }
  *out = team;
  return WEIR_OK;
}

int weir__team_open(weir__team **out, const weir_run *run, uint64_t units, uint64_t edges, weir_error *err) {
  return open_team(out, run, units, edges, 0, err);
}

int weir__team_open_alone(weir__team **out, const weir_run *run, uint64_t units, weir_error *err) {
  return open_team(out, run, units, 0, 1, err);
}

unsigned weir__team_wished(const weir__team *team, uint64_t edges) {
  return threads_for(&team->run, edges);
}

int weir__team_close(weir__team *team, int rc, weir_error *err) {
  if (team) {
    if (rc == WEIR_OK) {
      rc = tell(team, team->total, 1, err);
    }
    free_team(team);
  }
  return rc;
}
