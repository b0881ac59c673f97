/* What tests/support/loop.h declares. The watchdog is not referenced, so it keeps no loop alive. */
#include "loop.h"

#include <stdio.h>
#include <stdlib.h>

#include "support.h"

static void on_late(uv_timer_t *watchdog) {
  weir_test_loop *loop = watchdog->data;
  loop->late = 1;
  uv_stop(&loop->uv);
}

void weir_test_loop_init(weir_test_loop *loop) {
  loop->late = 0;
  if (uv_loop_init(&loop->uv) != 0 || uv_timer_init(&loop->uv, &loop->watchdog) != 0)
    abort();
  loop->watchdog.data = loop;
  uv_unref((uv_handle_t *)&loop->watchdog);
}

static void start_watchdog(weir_test_loop *loop) {
  loop->late = 0;
  uv_update_time(&loop->uv);
  if (uv_timer_start(&loop->watchdog, on_late, WEIR_TEST_WAIT_MS, 0) != 0)
    abort();
}

int weir_test_loop_run(weir_test_loop *loop) {
  start_watchdog(loop);
  (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
  return !loop->late;
}

int weir_test_loop_until(weir_test_loop *loop, int (*condition)(void *data), void *data) {
  start_watchdog(loop);
  while (!condition(data)) {
    if (loop->late || !uv_run(&loop->uv, UV_RUN_ONCE))
      return condition(data);
  }
  return 1;
}

static void close_left_open(uv_handle_t *handle, void *data) {
  if (!uv_is_closing(handle)) {
    fprintf(stderr, "left open on the loop: %s%s\n", uv_handle_type_name(uv_handle_get_type(handle)),
            uv_has_ref(handle) ? "" : ", not referenced");
    uv_close(handle, NULL);
    ++*(unsigned *)data;
  }
}

unsigned weir_test_loop_close(weir_test_loop *loop) {
  unsigned left = 0;
  uv_close((uv_handle_t *)&loop->watchdog, NULL);
  uv_walk(&loop->uv, close_left_open, &left);
  (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop->uv) != 0) {
    fprintf(stderr, "the loop cannot be closed: a request is left on it\n");
    left++;
  }
  return left;
}
