/*
 * uv_queue_work in a closed loop, on libuv's worker threads (four, unless UV_THREADPOOL_SIZE says otherwise).
 */
#include "uvwork.h"

#include <stdlib.h>
#include <uv.h>

#include "bench.h"

typedef struct circuit {
  histogram *h;
  uint64_t record_from, until, done;
} circuit;

typedef struct trip {
  uv_work_t req;
  circuit *circuit;
  uint64_t begin;
} trip;

static void nothing(uv_work_t *req) {
  (void)req;
}

static void land(uv_work_t *req, int status);

static void take_off(uv_loop_t *loop, trip *t, uint64_t now) {
  t->begin = now;
  if (uv_queue_work(loop, &t->req, nothing, land) != 0) {
    bench_fail("uv_queue_work failed");
  }
}

static void land(uv_work_t *req, int status) {
  trip *t = req->data;
  circuit *c = t->circuit;
  uint64_t now = bench_now();
  if (status == 0 && now >= c->record_from && now < c->until) {
    histogram_record(c->h, now - t->begin);
    c->done++;
  }
  if (now < c->until) {
    take_off(req->loop, t, now);
  }
}

double uvwork_run(unsigned inflight, uint64_t ns, histogram *h) {
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0) {
    bench_fail("cannot make a loop");
  }
  uint64_t now = bench_now();
  circuit c = {.h = h, .record_from = now + ns / 5, .until = now + ns / 5 + ns};
  trip *trips = bench_alloc(inflight * sizeof *trips);
  for (unsigned i = 0; i < inflight; i++) {
    trips[i].circuit = &c;
    trips[i].req.data = &trips[i];
    take_off(&loop, &trips[i], now);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop) != 0) {
    bench_fail("the loop has handles left");
  }
  free(trips);
  return (double)c.done * 1e9 / (double)ns;
}
