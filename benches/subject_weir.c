/*
 * The weir modes. Asynchronous: a wave is submitted to one loop, which runs until the last request is done.
 * Synchronous: a wave is done by a crew whose workers call the graph API.
 */
#include "subject.h"

#include <stdlib.h>
#include <string.h>

#include <weir/async.h>

#include "crew.h"

typedef struct slot {
  weir_req req;
  subject *subject;
  unsigned item;
  weir_arena arena; /* grown once: reading allocates nothing after that */
} slot;

typedef struct store {
  weir_graph *graph;
  weir_txn *autocommit;
  uv_loop_t loop;
  weir_async async;
  unsigned left;         /* requests of the wave that are not done */
  crew *crew;            /* of the synchronous mode */
  const unsigned *items; /* of the wave */
  slot slots[SUBJECT_WAVE_MAX];
} store;

static void open_store(subject *s, weir_mode mode) {
  weir_error err = WEIR_ERROR_INIT;
  store *w = s->state = bench_alloc(sizeof *w);
  weir_pool_options options = bench_pool_options(s->settings, mode, s->readers, s->durability);
  bench_check(weir_graph_open(&w->graph, s->data->path, &options, &err), &err, "opening the store");
  w->autocommit = weir_graph_auto(w->graph);
  for (unsigned i = 0; i < SUBJECT_WAVE_MAX; i++) {
    w->slots[i].subject = s;
    w->slots[i].req.data = &w->slots[i];
  }
}

static int read_item(subject *s, weir_txn *txn, slot *place, unsigned item, weir_error *err) {
  weir_node node;
  weir_text want = s->data->props[item];
  int rc = weir_node_get(txn, s->data->keys[item], &node, &place->arena, err);
  if (rc == WEIR_OK && (node.props.len != want.len || memcmp(node.props.ptr, want.ptr, want.len) != 0)) {
    s->errors.wrong++;
  }
  return rc;
}

/* ---- Asynchronous ---- */

static void open_async(subject *s, weir_mode mode) {
  weir_error err = WEIR_ERROR_INIT;
  open_store(s, mode);
  store *w = s->state;
  if (uv_loop_init(&w->loop) != 0) {
    bench_fail("cannot make a loop");
  }
  bench_check(weir_async_init(&w->async, &w->loop, weir_graph_pool(w->graph), &err), &err, "weir_async_init");
}

void subject_single_open(subject *s) {
  open_async(s, WEIR_SINGLE);
}

void subject_pool_open(subject *s) {
  open_async(s, WEIR_POOL);
}

static int work(weir_req *req, weir_txn *txn) {
  slot *place = req->data;
  return read_item(place->subject, txn, place, place->item, &req->error);
}

static void done(weir_req *req, int status) {
  slot *place = req->data;
  store *w = place->subject->state;
  tally_weir(&place->subject->errors, status);
  w->left--;
}

void subject_weir_wave(subject *s, const unsigned *items, unsigned count) {
  store *w = s->state;
  w->left = count;
  for (unsigned i = 0; i < count; i++) {
    w->slots[i].item = items[i];
    int rc = weir_read_async(&w->async, &w->slots[i].req, work, done);
    if (rc != WEIR_OK) {
      tally_weir(&s->errors, rc);
      w->left--;
    }
  }
  while (w->left > 0) {
    uv_run(&w->loop, UV_RUN_ONCE);
  }
}

weir_txn *subject_weir_auto(const subject *s) {
  const store *w = s->state;
  return w->autocommit;
}

uv_loop_t *subject_weir_loop(const subject *s) {
  store *w = s->state;
  return &w->loop;
}

weir_async *subject_weir_async(const subject *s) {
  store *w = s->state;
  return &w->async;
}

/* ---- Synchronous ---- */

static void read_one(void *context, unsigned worker, unsigned item) {
  subject *s = context;
  store *w = s->state;
  weir_error err = WEIR_ERROR_INIT;
  tally_weir(&s->errors, read_item(s, w->autocommit, &w->slots[worker], w->items[item], &err));
}

void subject_sync_open(subject *s) {
  if (s->readers > SUBJECT_WAVE_MAX) {
    bench_fail("at most %d readers", SUBJECT_WAVE_MAX);
  }
  open_store(s, WEIR_POOL);
  store *w = s->state;
  w->crew = crew_start(s->readers, read_one, s);
}

void subject_sync_wave(subject *s, const unsigned *items, unsigned count) {
  store *w = s->state;
  w->items = items;
  crew_wave(w->crew, count);
}

/* ---- Writing, closing ---- */

typedef struct batch {
  subject *subject;
  uint64_t first;
  unsigned count;
} batch;

static int upsert_all(weir_txn *txn, void *data, weir_error *err) {
  batch *b = data;
  subject *s = b->subject;
  int rc = WEIR_OK;
  atomic_fetch_add_explicit(&s->steps, 1, memory_order_relaxed);
  for (unsigned i = 0; rc == WEIR_OK && i < b->count; i++) {
    weir_node node = dataset_upsert(s->data, b->first + i);
    rc = weir_node_put(txn, &node, NULL, err);
    atomic_fetch_add_explicit(&s->steps, 1, memory_order_relaxed);
  }
  s->syncing = s->durability == WEIR_FULL_SYNC; /* what follows is the commit */
  return rc;
}

int subject_weir_write(subject *s, uint64_t first, unsigned count) {
  store *w = s->state;
  batch b = {s, first, count};
  weir_error err = WEIR_ERROR_INIT;
  int rc = weir_write(w->autocommit, upsert_all, &b, NULL, &err);
  s->syncing = 0;
  atomic_fetch_add_explicit(&s->steps, 1, memory_order_relaxed);
  tally_weir(&s->errors, rc);
  return rc != WEIR_OK;
}

void subject_weir_close(subject *s) {
  store *w = s->state;
  weir_error err = WEIR_ERROR_INIT;
  if (w->crew) {
    crew_stop(w->crew);
  } else {
    bench_check(weir_async_close(&w->async, NULL), &err, "weir_async_close");
    uv_run(&w->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&w->loop) != 0) {
      bench_fail("the loop has handles left after weir_async_close");
    }
  }
  for (unsigned i = 0; i < SUBJECT_WAVE_MAX; i++) {
    weir_arena_clear(&w->slots[i].arena);
  }
  bench_check(weir_graph_close(w->graph, &err), &err, "closing the store");
  free(w);
}
