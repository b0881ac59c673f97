/*
 * The bare modes of mixed: one connection behind a mutex, and a pool that knows no difference between reads
 * and writes. Both run weir's own SQL on weir's own tables, and each hop of a read finds its nodes by key, as
 * the graph API does; so modes differ in who waits for whom. Searches are their own: one statement on a plain
 * table of FTS5.
 */
#include "mixed.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "bare_text.h"
#include "baseline.h"

/* Connections and the permits to use them: one, which the lock guards, or several, which are lent. */
typedef struct bare {
  pthread_mutex_t lock;
  pthread_cond_t returned;
  unsigned count, idle; /* idle is guarded by lock */
  baseline *connections[];
} bare;

static void open_connections(subject *s, unsigned count) {
  bare *b = s->state = bench_alloc(sizeof *b + count * sizeof(baseline *));
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->returned, NULL);
  b->count = b->idle = count;
  for (unsigned i = 0; i < count; i++) {
    b->connections[i] = baseline_open(s->data->path, s->settings, s->durability);
  }
}

static void mutex_open(subject *s) {
  open_connections(s, 1);
}

static void shared_open(subject *s) {
  open_connections(s, s->readers + 1);
}

static baseline *take(bare *b) {
  pthread_mutex_lock(&b->lock);
  if (b->count == 1) {
    return b->connections[0]; /* give unlocks */
  }
  while (b->idle == 0) {
    pthread_cond_wait(&b->returned, &b->lock);
  }
  baseline *db = b->connections[--b->idle];
  pthread_mutex_unlock(&b->lock);
  return db;
}

static void give(bare *b, baseline *db) {
  if (b->count > 1) {
    pthread_mutex_lock(&b->lock);
    b->connections[b->idle++] = db;
    pthread_cond_signal(&b->returned);
  }
  pthread_mutex_unlock(&b->lock);
}

static void add_key(weir_text key, void *data) {
  mixed_reach_add(data, key);
}

static void count_hit(weir_text key, weir_text props, double score, void *data) {
  (void)key, (void)score;
  mixed_page_add(data, props);
}

static int three_hops(baseline *db, mixed_reach *reach) {
  for (unsigned hop = 0, at = 0; hop < 3; hop++) {
    for (unsigned end = reach->count; at < end; at++) {
      int rc = baseline_neighbors(db, weir_str(reach->keys[at]), add_key, reach);
      if (rc != SQLITE_OK) {
        return rc;
      }
    }
  }
  return SQLITE_OK;
}

static int point_read(baseline *db, weir_text key, mixed_read *r) {
  weir_text got = {NULL, 0};
  int rc = baseline_get(db, key, &got);
  r->same = rc == SQLITE_OK && got.len == r->want.len && memcmp(got.ptr, r->want.ptr, got.len) == 0;
  baseline_done(db);
  return rc;
}

static int read_on(baseline *db, subject *s, mixed_read *r) {
  weir_text key = s->data->keys[r->item];
  if (r->op == POINT) {
    return point_read(db, key, r);
  }
  int rc = baseline_begin_read(db);
  if (rc != SQLITE_OK) {
    return rc;
  }
  if (r->op == ONE_HOP) {
    rc = baseline_neighbors(db, key, add_key, &r->reach);
  } else if (r->op == SEARCH) {
    rc = bare_text_search(baseline_text(db), r->query, MIXED_PAGE, count_hit, r);
  } else {
    rc = three_hops(db, &r->reach);
  }
  int end = baseline_end_read(db);
  return rc == SQLITE_OK ? end : rc;
}

static int bare_read(subject *s, mixed_read *r) {
  baseline *db = take(s->state);
  int rc = read_on(db, s, r);
  give(s->state, db);
  tally_sqlite(&s->errors, rc);
  return rc != SQLITE_OK;
}

static int bare_write(subject *s, const weir_node *node) {
  baseline *db = take(s->state);
  int rc = baseline_begin(db);
  if (rc == SQLITE_OK) {
    rc = baseline_upsert(db, node);
  }
  if (rc == SQLITE_OK) {
    rc = baseline_commit(db);
  }
  if (rc != SQLITE_OK) {
    baseline_rollback(db);
  }
  give(s->state, db);
  tally_sqlite(&s->errors, rc);
  return rc != SQLITE_OK;
}

static void bare_close(subject *s) {
  bare *b = s->state;
  for (unsigned i = 0; i < b->count; i++) {
    baseline_close(b->connections[i]);
  }
  pthread_cond_destroy(&b->returned);
  pthread_mutex_destroy(&b->lock);
  free(b);
}

const mixed_kind mixed_mutex = {"mutex", 1, mutex_open, bare_read, bare_write, bare_close};
const mixed_kind mixed_shared_pool = {"shared-pool", 1, shared_open, bare_read, bare_write, bare_close};
