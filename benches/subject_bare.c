/*
 * The mutex mode: one bare connection, one bare pthread mutex. A read locks it for one prepared point read,
 * the writer for one whole transaction.
 */
#include "subject.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "crew.h"

typedef struct bare {
  baseline *db;
  pthread_mutex_t lock;
  crew *crew;
  const unsigned *items; /* of the wave */
} bare;

static void read_one(void *context, unsigned worker, unsigned item) {
  (void)worker;
  subject *s = context;
  bare *b = s->state;
  unsigned at = b->items[item];
  weir_text want = s->data->props[at], got = {NULL, 0};
  pthread_mutex_lock(&b->lock);
  int rc = baseline_get(b->db, s->data->keys[at], &got);
  int right = rc == SQLITE_OK && got.len == want.len && memcmp(got.ptr, want.ptr, want.len) == 0;
  baseline_done(b->db);
  pthread_mutex_unlock(&b->lock);
  if (rc != SQLITE_OK && rc != SQLITE_NOTFOUND) {
    tally_sqlite(&s->errors, rc);
  } else if (!right) {
    s->errors.wrong++;
  }
}

void subject_mutex_open(subject *s) {
  bare *b = s->state = bench_alloc(sizeof *b);
  pthread_mutex_init(&b->lock, NULL);
  b->db = baseline_open(s->data->path, s->settings, s->durability);
  b->crew = crew_start(s->readers, read_one, s);
}

void subject_mutex_wave(subject *s, const unsigned *items, unsigned count) {
  bare *b = s->state;
  b->items = items;
  crew_wave(b->crew, count);
}

static int write_all(subject *s, baseline *db, uint64_t first, unsigned count) {
  int rc = baseline_begin(db);
  atomic_fetch_add_explicit(&s->steps, 1, memory_order_relaxed);
  for (unsigned i = 0; rc == SQLITE_OK && i < count; i++) {
    weir_node node = dataset_upsert(s->data, first + i);
    rc = baseline_upsert(db, &node);
    atomic_fetch_add_explicit(&s->steps, 1, memory_order_relaxed);
  }
  if (rc == SQLITE_OK) {
    s->syncing = s->durability == WEIR_FULL_SYNC;
    rc = baseline_commit(db);
    s->syncing = 0;
  }
  return rc;
}

int subject_mutex_write(subject *s, uint64_t first, unsigned count) {
  bare *b = s->state;
  pthread_mutex_lock(&b->lock);
  int rc = write_all(s, b->db, first, count);
  if (rc != SQLITE_OK) {
    baseline_rollback(b->db);
  }
  pthread_mutex_unlock(&b->lock);
  atomic_fetch_add_explicit(&s->steps, 1, memory_order_relaxed);
  tally_sqlite(&s->errors, rc);
  return rc != SQLITE_OK;
}

void subject_mutex_close(subject *s) {
  bare *b = s->state;
  crew_stop(b->crew);
  baseline_close(b->db);
  pthread_mutex_destroy(&b->lock);
  free(b);
}
