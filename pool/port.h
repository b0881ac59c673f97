/*
 * The port joins a pool to one libuv loop. A request's way:
 *
 *   loop thread    submitted: pending in the port, its job queued for the readers or the lane (pool/async.c)
 *   their thread   its work is run; it joins the port's `ended` list, the loop is woken
 *   loop thread    it leaves the port, `done` is called
 *
 * A request that is canceled, or whose deadline passes, while queued is taken out of its queue by the loop
 * thread and goes the last step like any other, so `done` never runs inside a submission or a cancel.
 */
#ifndef WEIR_POOL_PORT_H
#define WEIR_POOL_PORT_H

#include <weir/async.h>

#include "job.h"

/* What weir_req.private_ holds. may_alias: that is an array of another type. */
typedef struct weir__request {
  weir__job job;              /* first, so that a job is its request */
  struct weir__port *port;    /* where it is pending; NULL: it is the caller's. Read and written atomically */
  struct weir__request *prev; /* in port->pending */
  struct weir__request *next;
  struct weir__request *after; /* in port->ended and port->ready */
  weir_work_fn work;           /* off the loop */
  weir_done_fn done;           /* on the loop */
  weir_token token;            /* of a read: ends it while it runs */
  uint64_t admit_ns;           /* of a write that found the queue full: it must have room by then; else 0 */
  unsigned char writes;        /* 1: a write, the lane's; 0: a read, the readers' */
  unsigned char withdrawn;     /* 1: the loop thread took it out of its queue */
  unsigned char begun;         /* 1: a write's work was called. The worker's */
} __attribute__((may_alias)) weir__request;

/* `lock` guards the last three members; all else is the loop thread's alone, or never changes. */
typedef struct weir__port {
  uv_async_t wake;           /* referenced while requests are pending */
  uv_timer_t deadlines;      /* never referenced */
  uv_prepare_t before_sleep; /* never referenced */
  uv_idle_t awake;           /* never referenced. Active: the loop does not sleep in this turn */
  unsigned open_handles;     /* of these four */
  weir_async *handle;        /* the caller's */
  weir_pool *pool;           /* constant */
  uv_thread_t thread;        /* constant: the loop's */
  weir__request *pending;    /* not called back yet: utlist, DL */
  size_t pending_count;
  weir__request *ready; /* taken from `ended`, next to be called back */
  unsigned burst;       /* reads submitted in this turn of the loop */
  int submitted;        /* since the loop last looked for ends */
  unsigned misses;      /* looks in a row that found none */
  unsigned skip;        /* looks to leave out because of that */
  uint64_t armed_ns;    /* when `deadlines` fires; 0: it is stopped */
  int closing;          /* weir__port_close was called */
  weir_async_close_fn on_close;

  pthread_mutex_t lock;
  weir__request *ended;      /* ended, not seen by the loop thread; the oldest first */
  weir__request **ended_end; /* where the next one is linked in */
  int cpu;                   /* where the last request ended */
  int woken; /* `wake` was sent, or the loop thread looks by itself; and it has not found `ended` empty since
              */
} weir__port;

static inline weir__request *weir__request_of(weir_req *req) {
  return (weir__request *)(void *)req->private_;
}

static inline weir_req *weir__req_of(weir__request *request) {
  return (weir_req *)(void *)((char *)request - offsetof(weir_req, private_));
}

/* Makes a port of `pool` on `loop`, whose thread is the calling one. Errors: as weir_async_init. */
int weir__port_open(weir__port **out, weir_async *handle, uv_loop_t *loop, weir_pool *pool, weir_error *err);

/* WEIR_OK if the calling thread may use the port, WEIR_MISUSE or WEIR_FORKED otherwise. */
int weir__port_check(const weir__port *port, weir_error *err);

/* The functions below: loop thread only. */

/* Withdraws what is queued, lets the rest end, then closes the uv handles, frees the port, calls back. */
void weir__port_close(weir__port *port, weir_async_close_fn callback);

/* Adds a request that a queue has taken. now_ns is needed if it has a deadline. */
void weir__port_add(weir__port *port, weir__request *request, uint64_t now_ns);

/* Counts a read that is about to be submitted. 1 if waking a reader thread for it is left to the end of the
 * turn. */
int weir__port_defers(weir__port *port);

/* Takes a pending request out of its queue and ends it with `code`: 1. 0 if it runs or has ended. */
int weir__port_withdraw(weir__request *request, int code, const char *message);

/* weir__job.finish: puts an ended request on its way to the loop. Any thread. */
void weir__port_finish(weir__job *job);

#endif
