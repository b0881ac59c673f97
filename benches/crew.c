/*
 * The crew's queue is a counter under a mutex. A wave is published with one broadcast, and the worker that
 * ends its last item wakes the caller: as few wake-ups as condition variables allow.
 */
#include "crew.h"

#include <pthread.h>
#include <stdlib.h>

#include "bench.h"

typedef struct worker {
  crew *crew;
  unsigned index;
  pthread_t thread;
} worker;

struct crew {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  crew_fn fn;
  void *context;
  unsigned next, count, left; /* guarded by lock: next item, items in the wave, items not done yet */
  int stop;                   /* guarded by lock */
  unsigned workers;
  worker *worker;
};

static void *run(void *arg) {
  worker *w = arg;
  crew *c = w->crew;
  pthread_mutex_lock(&c->lock);
  for (;;) {
    while (c->next == c->count && !c->stop) {
      pthread_cond_wait(&c->work, &c->lock);
    }
    if (c->stop) {
      break;
    }
    unsigned item = c->next++;
    pthread_mutex_unlock(&c->lock);
    c->fn(c->context, w->index, item);
    pthread_mutex_lock(&c->lock);
    if (--c->left == 0) {
      pthread_cond_signal(&c->done);
    }
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

crew *crew_start(unsigned workers, crew_fn fn, void *context) {
  crew *c = bench_alloc(sizeof *c);
  c->fn = fn;
  c->context = context;
  c->workers = workers;
  c->worker = bench_alloc(workers * sizeof *c->worker);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->work, NULL);
  pthread_cond_init(&c->done, NULL);
  for (unsigned i = 0; i < workers; i++) {
    c->worker[i].crew = c;
    c->worker[i].index = i;
    if (pthread_create(&c->worker[i].thread, NULL, run, &c->worker[i]) != 0) {
      bench_fail("cannot start a thread");
    }
  }
  return c;
}

void crew_wave(crew *c, unsigned count) {
  pthread_mutex_lock(&c->lock);
  c->next = 0;
  c->count = c->left = count;
  pthread_cond_broadcast(&c->work);
  while (c->left > 0) {
    pthread_cond_wait(&c->done, &c->lock);
  }
  pthread_mutex_unlock(&c->lock);
}

void crew_stop(crew *c) {
  pthread_mutex_lock(&c->lock);
  c->stop = 1;
  pthread_cond_broadcast(&c->work);
  pthread_mutex_unlock(&c->lock);
  for (unsigned i = 0; i < c->workers; i++) {
    pthread_join(c->worker[i].thread, NULL);
  }
  pthread_cond_destroy(&c->work);
  pthread_cond_destroy(&c->done);
  pthread_mutex_destroy(&c->lock);
  free(c->worker);
  free(c);
}
