/*
 * The port: from the end of a request's work to its `done` on the loop, deadlines of queued requests,
 * closing.
 *
 * Invariants:
 *   - A request is in `pending` from submission until just before `done`. It enters `ended` once: by
 *     weir__port_finish if a queue still had it, by the loop thread if that took it back (`withdrawn`).
 *   - The loop is woken under the lock. The loop thread sees a request only after it has had the lock in
 * turn; so once the last request is delivered nobody is on the way to the port any more, and it can be
 * closed.
 *   - The lock also is what orders a worker's memory before the loop thread's. uv_async_send does not: sends
 *     coalesce.
 */
#define _GNU_SOURCE /* sched_getcpu */
#include "port.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <utlist.h>

#include "clock.h"
#include "internal.h"
#include "lane.h"
#include "readers.h"

/* One turn of the loop spends about this long in `done` callbacks; then its other handles get their turn. */
#define TURN_NS     ((uint64_t)WEIR__NS_PER_MS)
#define TURN_CHECKS 16u /* callbacks between looks at the clock */

int weir__port_check(const weir__port *port, weir_error *err) {
  int rc = weir__pool_check(port->pool, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  uv_thread_t self = uv_thread_self();
  if (!uv_thread_equal(&self, &port->thread)) {
    return weir_fail(err, WEIR_MISUSE, "called on a thread that is not the one of the handle's loop");
  }
  return WEIR_OK;
}

/* ---- Ending and calling back ---- */

void weir__port_finish(weir__job *job) {
  weir__request *request = (weir__request *)job;
  weir__port *port = request->port;
  pthread_mutex_lock(&port->lock);
  request->after = NULL;
  __atomic_store_n(port->ended_end, request, __ATOMIC_RELAXED); /* look() peeks at `ended` */
  port->ended_end = &request->after;
  port->cpu = sched_getcpu();
  if (!port->woken) {
    port->woken = 1;
    (void)uv_async_send(&port->wake); /* cannot fail on an open handle */
  }
  pthread_mutex_unlock(&port->lock);
}

int weir__port_withdraw(weir__request *request, int code, const char *message) {
  weir_pool *pool = request->port->pool;
  if (request->withdrawn || !(request->writes ? weir__lane_remove(pool, &request->job)
                                              : weir__readers_remove(pool, &request->job))) {
    return 0;
  }
  request->withdrawn = 1;
  request->job.rc = weir_fail(request->job.error, code, "%s", message);
  weir__port_finish(&request->job);
  return 1;
}

static void close_if_idle(weir__port *port);

/* Gives a request back to the caller. `done` may submit it again, free it, or close the handle; the port
 * itself outlives this turn of the loop. */
static void deliver(weir__port *port, weir__request *request) {
  weir_req *req = weir__req_of(request);
  weir_done_fn done = request->done;
  int status = request->job.rc;
  DL_DELETE(port->pending, request);
  if (--port->pending_count == 0) {
    uv_unref((uv_handle_t *)&port->wake);
  }
  __atomic_store_n(&request->port, NULL, __ATOMIC_RELEASE);
  done(req, status);
  close_if_idle(port);
}

/* The next request to call back. NULL if there is none; then the next one to end wakes the loop again. */
static weir__request *next_ready(weir__port *port) {
  if (!port->ready) {
    pthread_mutex_lock(&port->lock);
    port->ready = port->ended;
    port->ended = NULL;
    port->ended_end = &port->ended;
    port->woken = port->ready != NULL;
    pthread_mutex_unlock(&port->lock);
  }
  weir__request *request = port->ready;
  if (request) {
    port->ready = request->after;
  }
  return request;
}

static void on_wake(uv_async_t *wake) {
  weir__port *port = wake->data;
  uint64_t until = weir__now_ns() + TURN_NS;
  unsigned calls = 0;
  weir__request *request;
  while ((request = next_ready(port)) != NULL) {
    deliver(port, request);
    if (++calls % TURN_CHECKS == 0 && weir__now_ns() >= until && port->pending_count > 0) {
      (void)uv_async_send(wake); /* `woken` stays set, so nobody else needs to */
      return;
    }
  }
}

/* ---- Looking before sleeping ---- */

/*
 * Waking a thread that sleeps takes longer than most reads: tens of microseconds where an idle processor is
 * halted. So before the loop sleeps it looks a moment for the ends of what was just submitted, unless much is
 * pending, when many share one wake-up, or looking has not paid lately. A look that finds nothing is paid for
 * once a submission at most.
 */
#define LOOK_NS      (20u * WEIR__NS_PER_US)
#define BURST        32u /* reads submitted in one turn that wait for its end */
#define LOOK_PENDING 4u
#define LOOK_ROUNDS  16u /* then the loop's other handles get their turn */
#define MISSES_MAX   6u  /* after as many misses one look in 2^6 is tried */

/* A thread that is woken may take the processor from the loop's thread, run one read and sleep again. So the
 * first read of a turn wakes one, and those after it wait for the end of the turn, or until they are many. */
int weir__port_defers(weir__port *port) {
  return port->burst++ % BURST != 0;
}

/* 1: something has ended. */
static int look(weir__port *port) {
  pthread_mutex_lock(&port->lock);
  int elsewhere = port->cpu != sched_getcpu(); /* else looking would keep it from ending */
  if (elsewhere) {
    port->woken = 1; /* spares whoever ends something the wake-up */
  }
  pthread_mutex_unlock(&port->lock);
  if (!elsewhere) {
    return 0;
  }
  uint64_t until = weir__now_ns() + LOOK_NS;
  while (!__atomic_load_n(&port->ended, __ATOMIC_RELAXED) && weir__now_ns() < until) {
    weir__relax();
  }
  pthread_mutex_lock(&port->lock);
  int found = port->ended != NULL;
  port->woken = found;
  pthread_mutex_unlock(&port->lock);
  return found;
}

static void next_turn(uv_idle_t *awake) {
  (void)uv_idle_stop(awake); /* always succeeds */
}

/* If it calls back, the loop must not sleep after that: uv_run(UV_RUN_ONCE) is to return, so that its caller
 * can look at what `done` has changed. */
static void before_sleep(uv_prepare_t *prepare) {
  weir__port *port = prepare->data;
  if (port->burst > 0) {
    port->burst = 0;
    weir__readers_rouse(port->pool);
  }
  uint64_t until = port->submitted ? weir__now_ns() + TURN_NS : 0;
  for (unsigned round = 0; round < LOOK_ROUNDS; round++) {
    if (!port->submitted || port->pending_count == 0 || port->pending_count > LOOK_PENDING) {
      return;
    }
    port->submitted = 0;
    if (port->skip > 0) {
      port->skip--;
      return;
    }
    if (!look(port)) {
      port->misses += port->misses < MISSES_MAX ? 1 : 0;
      port->skip = (1u << port->misses) - 1;
      return;
    }
    port->misses = 0;
    (void)uv_idle_start(&port->awake, next_turn); /* always succeeds; first: `done` may close the handle */
    on_wake(&port->wake);
    if (weir__now_ns() >= until) {
      return;
    }
  }
}

/* ---- Deadlines of queued requests; those of running reads are kept by their workers ---- */

static void on_deadline(uv_timer_t *timer);

/* Sees that the timer fires no later than due_ns. It may fire early, since the loop's clock lags while
 * callbacks run; on_deadline then starts it again. */
static void arm(weir__port *port, uint64_t due_ns, uint64_t now_ns) {
  if (port->armed_ns == 0 || due_ns < port->armed_ns) {
    port->armed_ns = due_ns;
    uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    (void)uv_timer_start(&port->deadlines, on_deadline, wait_ns / WEIR__NS_PER_MS + 1, 0);
  }
}

/* The earlier of two times, of which 0 is none. */
static uint64_t earlier(uint64_t a, uint64_t b) {
  return a == 0 || (b != 0 && b < a) ? b : a;
}

/* A write that found the queue full has waited long enough for room. */
static void expire(weir__request *request) {
  if (!request->withdrawn && weir__lane_expire(request->port->pool, &request->job)) {
    request->withdrawn = 1;
    request->job.rc =
        weir_fail(request->job.error, WEIR_BUSY,
                  "the queue of writes stayed full: write less at once, or raise queue_max or queue_kib");
    weir__port_finish(&request->job);
  }
}

/* Looks at every pending request, but at most once a millisecond, and only while one waits for its deadline.
 * Most requests end long before theirs, so nothing is kept sorted, or stopped, for their sake. */
static void on_deadline(uv_timer_t *timer) {
  weir__port *port = timer->data;
  weir__request *request;
  uint64_t now = weir__now_ns();
  uint64_t next = 0;
  port->armed_ns = 0;
  DL_FOREACH (port->pending, request) {
    if (request->admit_ns > 0 && request->admit_ns <= now) {
      request->admit_ns = 0;
      expire(request);
    }
    uint64_t due = request->job.deadline_ns;
    if (due > 0 && due <= now) {
      (void)weir__port_withdraw(request, WEIR_TIMEOUT, "the deadline passed while the request was queued");
    } else {
      next = earlier(next, due);
    }
    next = earlier(next, request->admit_ns);
  }
  if (next > 0) {
    arm(port, next, now);
  }
}

void weir__port_add(weir__port *port, weir__request *request, uint64_t now_ns) {
  port->submitted = 1;
  DL_APPEND(port->pending, request);
  if (port->pending_count++ == 0) {
    uv_ref((uv_handle_t *)&port->wake);
  }
  uint64_t due = earlier(request->job.deadline_ns, request->admit_ns);
  if (due > 0) {
    arm(port, due, now_ns > 0 ? now_ns : weir__now_ns());
  }
}

/* ---- Opening and closing ---- */

int weir__port_open(weir__port **out, weir_async *handle, uv_loop_t *loop, weir_pool *pool, weir_error *err) {
  int rc = weir__pool_port_open(pool, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  weir__port *port = calloc(1, sizeof *port);
  if (!port || pthread_mutex_init(&port->lock, NULL) != 0) {
    rc = weir_fail(err, WEIR_NOMEM, "out of memory for a handle");
    goto failed;
  }
  int uv_rc = uv_async_init(loop, &port->wake, on_wake);
  if (uv_rc != 0) {
    pthread_mutex_destroy(&port->lock);
    rc = weir_fail(err, uv_rc == UV_ENOMEM ? WEIR_NOMEM : WEIR_IO, "the loop takes no handle: %s",
                   uv_strerror(uv_rc));
    goto failed;
  }
  (void)uv_timer_init(loop, &port->deadlines); /* always succeeds */
  uv_unref((uv_handle_t *)&port->wake);
  uv_unref((uv_handle_t *)&port->deadlines);
  (void)uv_prepare_init(loop, &port->before_sleep);          /* always succeeds */
  (void)uv_prepare_start(&port->before_sleep, before_sleep); /* likewise */
  uv_unref((uv_handle_t *)&port->before_sleep);
  (void)uv_idle_init(loop, &port->awake); /* likewise */
  uv_unref((uv_handle_t *)&port->awake);
  port->awake.data = port;
  port->before_sleep.data = port;
  port->wake.data = port;
  port->deadlines.data = port;
  port->open_handles = 4;
  port->handle = handle;
  port->pool = pool;
  port->thread = uv_thread_self();
  port->ended_end = &port->ended;
  *out = port;
  return WEIR_OK;

failed:
  free(port);
  weir__pool_port_close(pool);
  return rc;
}

static void on_handle_closed(uv_handle_t *closed) {
  weir__port *port = closed->data;
  if (--port->open_handles > 0) {
    return;
  }
  weir_async *handle = port->handle;
  weir_async_close_fn on_close = port->on_close;
  weir_pool *pool = port->pool;
  pthread_mutex_destroy(&port->lock);
  free(port);
  handle->port = NULL;
  weir__pool_port_close(pool);
  if (on_close) {
    on_close(handle);
  }
}

static void close_if_idle(weir__port *port) {
  if (port->closing && port->pending_count == 0 && !uv_is_closing((uv_handle_t *)&port->wake)) {
    uv_close((uv_handle_t *)&port->wake, on_handle_closed);
    uv_close((uv_handle_t *)&port->deadlines, on_handle_closed);
    uv_close((uv_handle_t *)&port->before_sleep, on_handle_closed);
    uv_close((uv_handle_t *)&port->awake, on_handle_closed);
  }
}

void weir__port_close(weir__port *port, weir_async_close_fn callback) {
  weir__request *request;
  port->closing = 1;
  port->on_close = callback;
  DL_FOREACH (port->pending, request) {
    (void)weir__port_withdraw(request, WEIR_CANCELED, "canceled: its handle was closed");
  }
  close_if_idle(port);
}
