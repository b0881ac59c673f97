/*
 * The closed loop. The clock is read once a completion: the end of one round trip is the start of the next.
 */
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#include <weir/async.h>

typedef struct flight {
  weir_req req;
  traffic *traffic;
  uint64_t begin;
  unsigned item;
  weir_arena arena;
} flight;

struct traffic {
  subject *subject;
  histogram *h;
  uint64_t until, random, done;
  int point, stopping;
  unsigned pending, inflight;
  flight *flights;
};

static int nothing(weir_req *req, weir_txn *txn) {
  (void)req, (void)txn;
  return WEIR_OK;
}

static int read_node(weir_req *req, weir_txn *txn) {
  flight *f = req->data;
  subject *s = f->traffic->subject;
  weir_node node;
  weir_text want = s->data->props[f->item];
  int rc = weir_node_get(txn, s->data->keys[f->item], &node, &f->arena, &req->error);
  if (rc == WEIR_OK && (node.props.len != want.len || memcmp(node.props.ptr, want.ptr, want.len) != 0)) {
    s->errors.wrong++;
  }
  return rc;
}

static void land(weir_req *req, int status);

static void take_off(flight *f, uint64_t now) {
  traffic *t = f->traffic;
  f->begin = now;
  f->item = (unsigned)bench_below(&t->random, t->subject->data->count);
  int rc = weir_read_async(subject_weir_async(t->subject), &f->req, t->point ? read_node : nothing, land);
  if (rc == WEIR_OK) {
    t->pending++;
  }
  tally_weir(&t->subject->errors, rc);
}

static void land(weir_req *req, int status) {
  flight *f = req->data;
  traffic *t = f->traffic;
  uint64_t now = bench_now();
  t->pending--;
  t->done++;
  tally_weir(&t->subject->errors, status);
  if (t->h) {
    histogram_record(t->h, now - f->begin);
  }
  if (now >= t->until) {
    uv_stop(subject_weir_loop(t->subject));
  }
  if (!t->stopping) {
    take_off(f, now);
  }
}

traffic *traffic_start(subject *s, int point, unsigned inflight, uint64_t seed) {
  traffic *t = bench_alloc(sizeof *t);
  t->subject = s;
  t->point = point;
  t->random = seed;
  t->inflight = inflight;
  t->until = UINT64_MAX;
  t->flights = bench_alloc(inflight * sizeof *t->flights);
  uint64_t now = bench_now();
  for (unsigned i = 0; i < inflight; i++) {
    t->flights[i].traffic = t;
    t->flights[i].req.data = &t->flights[i];
    take_off(&t->flights[i], now);
  }
  return t;
}

void traffic_record(traffic *t, histogram *h) {
  t->h = h;
}

uint64_t traffic_done(const traffic *t) {
  return t->done;
}

void traffic_run(traffic *t, uint64_t ns) {
  t->until = bench_now() + ns;
  uv_run(subject_weir_loop(t->subject), UV_RUN_DEFAULT);
  if (t->pending == 0) {
    bench_fail("the store refuses requests");
  }
}

void traffic_stop(traffic *t) {
  t->stopping = 1;
  t->until = UINT64_MAX;
  while (t->pending > 0) {
    uv_run(subject_weir_loop(t->subject), UV_RUN_ONCE);
  }
  for (unsigned i = 0; i < t->inflight; i++) {
    weir_arena_clear(&t->flights[i].arena);
  }
  free(t->flights);
  free(t);
}
