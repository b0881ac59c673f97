/*
 * Ticks are due at fixed times from the start, and lateness is counted from there: a loop that is blocked for
 * ten milliseconds gives ten late ticks, not one.
 */
#include "lag.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bench.h"

enum { TICK_NS = 1000000 };

struct lag {
  uv_poll_t poll;
  uv_loop_t *loop;
  int fd, closed;
  uint64_t start, ticks; /* tick k is due at start + k * TICK_NS */
  uint64_t until;
  histogram *h;
};

static void on_tick(uv_poll_t *poll, int status, int events) {
  lag *l = poll->data;
  uint64_t expired = 0, now = bench_now();
  (void)events;
  if (status != 0) {
    bench_fail("timer: %s", uv_strerror(status));
  }
  if (read(l->fd, &expired, sizeof expired) != sizeof expired) {
    return;
  }
  for (uint64_t i = 0; i < expired; i++) {
    uint64_t due = l->start + ++l->ticks * TICK_NS;
    if (l->h) {
      histogram_record(l->h, now > due ? now - due : 0);
    }
  }
  if (now >= l->until) {
    uv_stop(l->loop);
  }
}

static void on_close(uv_handle_t *handle) {
  lag *l = handle->data;
  l->closed = 1;
}

lag *lag_start(uv_loop_t *loop) {
  lag *l = bench_alloc(sizeof *l);
  struct itimerspec every = {{0, TICK_NS}, {0, 0}};
  l->loop = loop;
  l->poll.data = l;
  l->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  l->start = bench_now();
  every.it_value.tv_sec = (time_t)((l->start + TICK_NS) / 1000000000u);
  every.it_value.tv_nsec = (long)((l->start + TICK_NS) % 1000000000u);
  if (l->fd < 0 || timerfd_settime(l->fd, TFD_TIMER_ABSTIME, &every, NULL) != 0 ||
      uv_poll_init(loop, &l->poll, l->fd) != 0 || uv_poll_start(&l->poll, UV_READABLE, on_tick) != 0) {
    bench_fail("cannot start a timer");
  }
  return l;
}

void lag_run(lag *l, uint64_t ns, histogram *h) {
  l->h = h;
  l->until = bench_now() + ns;
  uv_run(l->loop, UV_RUN_DEFAULT);
  l->h = NULL;
}

void lag_stop(lag *l) {
  uv_close((uv_handle_t *)&l->poll, on_close);
  while (!l->closed) {
    uv_run(l->loop, UV_RUN_ONCE);
  }
  close(l->fd);
  free(l);
}
