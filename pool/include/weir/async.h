/*
 * weir/async.h - asynchronous transactions on the caller's own libuv loop. The only header that needs <uv.h>.
 *
 * A weir_async is a handle on one loop; many loops may share one pool. A weir_req is one request. The work of
 * a request runs off the loop: reads on reader threads of the pool's own (never in libuv's worker pool),
 * writes in the pool's write lane. It calls the ordinary synchronous functions, so several of them are one
 * snapshot or one atomic write. `done` then runs on the loop's thread.
 *
 * Rules
 *
 *   1. All functions here are called on the thread that runs the handle's loop. Called elsewhere, also in
 *      the work of a request: WEIR_MISUSE.
 *   2. A submission that returns a negative code never calls back. One that returns WEIR_OK calls `done`
 *      exactly once, and never before the submitting call has returned.
 *   3. The memory of a request belongs to the library from submission until `done` is called. In `done` it
 *      may be submitted again or freed.
 *   4. A canceled request still calls back, with WEIR_CANCELED unless it had already ended otherwise.
 *   5. The handle keeps the loop alive only while requests are pending.
 *   6. weir_async_close lets running work finish, cancels what is queued, delivers every callback, then calls
 *      its own. From then on the memory of the handle may be used again, and the pool be closed; not before.
 */
#ifndef WEIR_ASYNC_H
#define WEIR_ASYNC_H

#include <uv.h>

#include <weir/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_async weir_async;
typedef struct weir_req weir_req;

/* A pool's handle on a loop, in memory of the caller's. */
struct weir_async {
  void *data;              /* the caller's; the library does not touch it */
  struct weir__port *port; /* private */
};

/* A request, in memory of the caller's. Zero it (WEIR_REQ_INIT) before its first use. */
struct weir_req {
  void *data;        /* the caller's; the library does not touch it */
  int timeout_ms;    /* deadline counted from submission; 0: none. Set before submitting. A write that
                        has begun is never cut: its deadline holds while it is queued */
  const char *label; /* or NULL: static text that names the request in diagnostics */
  weir_durability durability; /* of a write; default: the pool's */
  weir_priority priority;     /* of a write */
  size_t bytes;               /* of a write: about what it will write, and holds in memory while it waits; for
                                 queue_kib and group_kib; 1 TiB at most */
  int64_t min_rev;            /* of a read: as in weir_txn_options */
  weir_ack ack;               /* in `done` of a write, when status is 0 */
  weir_error error;           /* in `done`, when status < 0: the detail. Also when an open handle refuses a
                                 submission on the right thread, unless the request is pending */
  uint64_t private_[48];      /* private */
};

#define WEIR_REQ_INIT                                                                                        \
  {                                                                                                          \
    NULL, 0, NULL, WEIR_DURABILITY_DEFAULT, WEIR_INTERACTIVE, 0, 0, {0, WEIR_DURABILITY_DEFAULT, 0},         \
        WEIR_ERROR_INIT, {                                                                                   \
      0                                                                                                      \
    }                                                                                                        \
  }

/* The work of a request, off the loop; `txn` is its transaction. Has the request to itself. Returns WEIR_OK
 * or a negative code with the detail in req->error. For writes the rules of weir_txn_fn hold: it may run more
 * than once. */
typedef int (*weir_work_fn)(weir_req *req, weir_txn *txn);

/* The end of a request, on the loop's thread. `status` is WEIR_OK or what went wrong, also in req->error. */
typedef void (*weir_done_fn)(weir_req *req, int status);

/* Told that the handle is closed: its memory is the caller's again. */
typedef void (*weir_async_close_fn)(weir_async *handle);

/*
 * Makes `handle` a handle of `pool` on `loop`; the calling thread is from now on the loop's thread. It does
 * not touch handle->data. If it fails, nothing needs closing; if it succeeds, weir_async_close must be
 * called.
 *
 * Errors: WEIR_INVALID (NULL), WEIR_CLOSED, WEIR_FORKED, WEIR_NOMEM, WEIR_IO (the loop cannot take a handle).
 */
WEIR_API int weir_async_init(weir_async *handle, uv_loop_t *loop, weir_pool *pool,
                             weir_error *err) WEIR_CHECKED;

/*
 * Closes the handle by rule 6. `callback` may be NULL. May be called in a `done`.
 *
 * Errors: WEIR_INVALID (NULL), WEIR_CLOSED (closed before), WEIR_MISUSE (other thread), WEIR_FORKED.
 */
WEIR_API int weir_async_close(weir_async *handle, weir_async_close_fn callback);

/*
 * Submits `work` as a read: one snapshot throughout. `done` may not be NULL.
 *
 * Errors: WEIR_INVALID (NULL; the request is pending already; a member out of range), WEIR_BUSY (queue_max
 * requests wait), WEIR_CLOSED, WEIR_MISUSE (other thread), WEIR_FORKED, WEIR_NOMEM. `done` gets what
 * weir_read returns.
 */
WEIR_API int weir_read_async(weir_async *handle, weir_req *req, weir_work_fn work, weir_done_fn done);

/*
 * Submits `work` as one write transaction. `done` gets what weir_write returns.
 *
 * The queue is bounded by queue_max and queue_kib. A write that finds it full is taken, and waits for room
 * as long as weir_write would (the pool's acquire_timeout_ms); then `done` gets WEIR_BUSY. So whoever
 * submits more than the disk can take is held back by `done`, and hears of it.
 *
 * Errors as weir_read_async, but not WEIR_BUSY; and WEIR_READONLY.
 */
WEIR_API int weir_write_async(weir_async *handle, weir_req *req, weir_work_fn work, weir_done_fn done);

/* Submits what weir_flush does. Errors as weir_write_async; `done` gets what weir_flush returns. */
WEIR_API int weir_flush_async(weir_async *handle, weir_req *req, weir_done_fn done);

/*
 * Cancels a pending request: one that is queued ends at once, a read that runs is interrupted, a write that
 * runs is left alone. `done` is called in each case, after this returns.
 *
 * Errors: WEIR_INVALID (NULL, or not pending), WEIR_BUSY (a write that has begun: it goes on), WEIR_MISUSE
 * (other thread), WEIR_FORKED.
 */
WEIR_API int weir_req_cancel(weir_req *req);

/* How many requests of the handle have not called back yet. Loop thread only. */
WEIR_API size_t weir_async_pending(const weir_async *handle);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_ASYNC_H */
