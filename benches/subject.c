/*
 * The modes, and the writer that every mode with one gets.
 */
#include "subject.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const subject_kind subject_kinds[SUBJECT_KINDS] = {
    {"mutex", 1, 1, subject_mutex_open, subject_mutex_wave, subject_mutex_write, subject_mutex_close},
    {"single", 1, 0, subject_single_open, subject_weir_wave, subject_weir_write, subject_weir_close},
    {"pool", 1, 0, subject_pool_open, subject_weir_wave, subject_weir_write, subject_weir_close},
    {"pool-sync", 1, 0, subject_sync_open, subject_sync_wave, subject_weir_write, subject_weir_close},
    {"idle", 0, 0, subject_pool_open, subject_weir_wave, subject_weir_write, subject_weir_close},
    {"mutex-idle", 0, 1, subject_mutex_open, subject_mutex_wave, subject_mutex_write, subject_mutex_close},
};

const subject_kind *subject_find(const char *name) {
  for (unsigned i = 0; i < SUBJECT_KINDS; i++) {
    if (strcmp(subject_kinds[i].name, name) == 0) {
      return &subject_kinds[i];
    }
  }
  return NULL;
}

struct writer {
  const subject_kind *kind;
  subject *subject;
  unsigned size;
  uint64_t next; /* number of the next write */
  _Atomic uint64_t commits, upserts;
  atomic_int stop;
  pthread_t thread;
};

static void *write_on(void *arg) {
  writer *w = arg;
  while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
    if (w->kind->write(w->subject, w->next, w->size) == 0) {
      dataset_committed(w->subject->data, w->next, w->size);
      w->next += w->size;
      atomic_fetch_add_explicit(&w->commits, 1, memory_order_relaxed);
      atomic_fetch_add_explicit(&w->upserts, w->size, memory_order_relaxed);
    }
  }
  return NULL;
}

writer *writer_start(const subject_kind *kind, subject *s, unsigned size) {
  writer *w = bench_alloc(sizeof *w);
  w->kind = kind;
  w->subject = s;
  w->size = size;
  w->next = s->data->next_write;
  if (pthread_create(&w->thread, NULL, write_on, w) != 0) {
    bench_fail("cannot start a thread");
  }
  return w;
}

writer_figures writer_so_far(const writer *w) {
  return (writer_figures){atomic_load_explicit(&w->commits, memory_order_relaxed),
                          atomic_load_explicit(&w->upserts, memory_order_relaxed)};
}

void writer_stop(writer *w) {
  atomic_store(&w->stop, 1);
  pthread_join(w->thread, NULL);
  w->subject->data->next_write = w->next;
  free(w);
}
