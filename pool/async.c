/*
 * weir/async.h: checks of arguments and threads, submission and cancellation of requests. What happens
 * between submission and `done` is pool/port.c's.
 *
 * The detail of a failed submission goes to req->error only where the request is known to be the caller's: on
 * the loop's thread, and not pending.
 */
#include "clock.h"
#include "internal.h"
#include "lane.h"
#include "port.h"
#include "readers.h"

_Static_assert(sizeof(weir__request) <= sizeof(((weir_req *)0)->private_), "weir_req.private_ is too small");
_Static_assert(_Alignof(weir__request) <= _Alignof(uint64_t), "weir_req.private_ is not aligned for it");

/* ---- Handles ---- */

int weir_async_init(weir_async *handle, uv_loop_t *loop, weir_pool *pool, weir_error *err) {
  if (!handle || !loop || !pool) {
    return weir_fail(err, WEIR_INVALID, "%s is NULL", !handle ? "handle" : !loop ? "loop" : "pool");
  }
  handle->port = NULL; /* if it fails, further calls say WEIR_CLOSED */
  return weir__port_open(&handle->port, handle, loop, pool, err);
}

int weir_async_close(weir_async *handle, weir_async_close_fn callback) {
  if (!handle) {
    return WEIR_INVALID;
  }
  if (!handle->port) {
    return WEIR_CLOSED;
  }
  int rc = weir__port_check(handle->port, NULL);
  if (rc != WEIR_OK) {
    return rc;
  }
  if (handle->port->closing) {
    return WEIR_CLOSED;
  }
  weir__port_close(handle->port, callback);
  return WEIR_OK;
}

size_t weir_async_pending(const weir_async *handle) {
  return handle && handle->port ? handle->port->pending_count : 0;
}

/* ---- Requests ---- */

/* weir__job.fn: the work of a request, on a reader's or the lane's thread. */
static int run_work(weir_txn *txn, void *data, weir_error *err) {
  weir__request *request = data;
  weir_req *req = weir__req_of(request);
  if (request->writes && !request->begun) { /* may run more than once, and is never cut once it has begun */
    request->begun = 1;
    if (request->job.deadline_ns > 0 && weir__now_ns() >= request->job.deadline_ns) {
      return weir_fail(err, WEIR_TIMEOUT, "the deadline passed before the write began");
    }
  }
  int rc = request->work(req, txn);
  if (rc < 0 && err != &req->error) {
    *err = req->error;
  }
  return rc;
}

/* weir__job.finish of a write: puts the acknowledgement where the caller finds it. */
static void finish_write(weir__job *job) {
  weir__request *request = (weir__request *)job;
  if (job->rc == WEIR_OK) {
    weir__req_of(request)->ack = job->ack;
  }
  weir__port_finish(job);
}

static int check_submission(weir_async *handle, weir_req *req, weir_work_fn work, weir_done_fn done) {
  if (!handle || !req || !work || !done) {
    return WEIR_INVALID;
  }
  weir__port *port = handle->port;
  if (!port) {
    return WEIR_CLOSED;
  }
  int rc = weir__port_check(port, NULL);
  if (rc != WEIR_OK) {
    return rc;
  }
  if (__atomic_load_n(&weir__request_of(req)->port, __ATOMIC_ACQUIRE)) {
    return WEIR_INVALID; /* pending, so its error is not ours to write */
  }
  if (port->closing) {
    return weir_fail(&req->error, WEIR_CLOSED, "the handle is closing");
  }
  if (req->timeout_ms < 0) {
    return weir_fail(&req->error, WEIR_INVALID, "timeout_ms is %d: give 0 for none, or a positive number",
                     req->timeout_ms);
  }
  return weir__check_wishes(port->pool, req->durability, req->priority, req->min_rev, req->bytes,
                            &req->error);
}

static int run_flush(weir_req *req, weir_txn *txn) {
  (void)req;
  (void)txn;
  return WEIR_OK; /* never called: the lane knows what to do */
}

static int queue_write(weir_pool *pool, weir__request *request) {
  int over = 0;
  int rc = weir__lane_submit(pool, &request->job, &over);
  if (rc == WEIR_OK && over) {
    request->admit_ns = request->job.queued_ns + request->job.timeout_ns;
  }
  return rc;
}

static int submit(weir_async *handle, weir_req *req, weir_work_fn work, weir_done_fn done, int writes) {
  int rc = check_submission(handle, req, work, done);
  if (rc != WEIR_OK) {
    return rc;
  }
  weir__port *port = handle->port;
  weir__request *request = weir__request_of(req);
  uint64_t now = req->timeout_ms > 0 ? weir__now_ns() : 0;
  req->error = (weir_error)WEIR_ERROR_INIT;
  *request = (weir__request){
      .job = {.fn = run_work,
              .data = request,
              .error = &req->error,
              .label = req->label,
              .token = writes ? NULL : &request->token,
              .deadline_ns = now > 0 ? now + weir__ms(req->timeout_ms) : 0,
              .timeout_ns = weir__ms(port->pool->options.acquire_timeout_ms),
              .min_rev = writes ? 0 : req->min_rev,
              .durability = work == run_flush ? WEIR_FULL_SYNC
                            : req->durability ? req->durability
                                              : port->pool->options.durability,
              .priority = req->priority,
              .bytes = req->bytes,
              .wants_ack = (unsigned char)writes,
              .flush = work == run_flush,
              .finish = writes ? finish_write : weir__port_finish},
      .port = port,
      .work = work,
      .done = done,
      .writes = (unsigned char)writes,
  };
  rc = writes ? queue_write(port->pool, request)
              : weir__readers_submit(port->pool, &request->job, weir__port_defers(port));
  if (rc != WEIR_OK) { /* no queue has it, so it never calls back */
    __atomic_store_n(&request->port, NULL, __ATOMIC_RELEASE);
    if (req->error.code != rc) {
      (void)weir_fail(&req->error, rc, "%s",
                      rc == WEIR_BUSY ? "queue_max requests wait already" : weir_strerror(rc));
    }
    return rc;
  }
  weir__port_add(port, request, now);
  return WEIR_OK;
}

int weir_read_async(weir_async *handle, weir_req *req, weir_work_fn work, weir_done_fn done) {
  return submit(handle, req, work, done, 0);
}

int weir_write_async(weir_async *handle, weir_req *req, weir_work_fn work, weir_done_fn done) {
  return submit(handle, req, work, done, 1);
}

int weir_flush_async(weir_async *handle, weir_req *req, weir_done_fn done) {
  return submit(handle, req, run_flush, done, 1);
}

int weir_req_cancel(weir_req *req) {
  if (!req) {
    return WEIR_INVALID;
  }
  weir__request *request = weir__request_of(req);
  weir__port *port = __atomic_load_n(&request->port, __ATOMIC_ACQUIRE);
  if (!port) {
    return WEIR_INVALID;
  }
  int rc = weir__port_check(port, NULL);
  if (rc != WEIR_OK) {
    return rc;
  }
  if (request->withdrawn || weir__port_withdraw(request, WEIR_CANCELED, "canceled while it was queued")) {
    return WEIR_OK;
  }
  return request->writes ? WEIR_BUSY : weir_cancel(port->pool, &request->token);
}
