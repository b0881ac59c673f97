/* Threads without signals; locks with two conditions. */
#include "thread.h"

#include <signal.h>

int weir__thread_begin(pthread_t *out, void *(*run)(void *data), void *data) {
  sigset_t all, before;
  (void)sigfillset(&all); /* neither can fail */
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(out, NULL, run, data);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

int weir__locks_init(pthread_mutex_t *lock, pthread_cond_t *first, pthread_cond_t *second) {
  int failed = pthread_mutex_init(lock, NULL);
  if (failed) {
    return failed;
  }
  failed = pthread_cond_init(first, NULL);
  if (!failed) {
    failed = pthread_cond_init(second, NULL);
    if (failed) {
      pthread_cond_destroy(first);
    }
  }
  if (failed) {
    pthread_mutex_destroy(lock);
  }
  return failed;
}

void weir__locks_destroy(pthread_mutex_t *lock, pthread_cond_t *first, pthread_cond_t *second) {
  pthread_cond_destroy(second);
  pthread_cond_destroy(first);
  pthread_mutex_destroy(lock);
}
