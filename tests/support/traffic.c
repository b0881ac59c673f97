/* What tests/support/traffic.h declares. */
#include "traffic.h"

#include <stdio.h>

#include <weir/async.h>

/* ---- One write ---- */

/* What is done with it, beside the append. */
struct plan {
  int flush;
  int wait_ms; /* 0: as long as it takes; negative: not at all */
  int token;
  weir_durability durability;
  weir_priority priority;
  size_t bytes; /* as the lane is told */
};

static void plan(const traffic *t, weir_test_rng *rng, append *a, struct plan *p) {
  uint64_t dice = weir_test_below(rng, 100);
  int largest = dice == 99 ? t->bytes_max : t->bytes_max / 50;
  a->key = (int32_t)weir_test_below(rng, APPEND_KEYS);
  a->bytes = (int32_t)weir_test_below(rng, (uint64_t)largest + 1);
  a->kind = t->fails && dice < 5    ? APPEND_REFUSED
            : t->fails && dice < 8  ? APPEND_ROLLBACK
            : t->fails && dice < 10 ? APPEND_IGNORED
            : dice < 15             ? APPEND_NOTHING
                                    : APPEND_KEPT;
  *p = (struct plan){.flush = weir_test_below(rng, 300) == 0,
                     .wait_ms = t->gives_up && weir_test_below(rng, 2) ? (int)weir_test_below(rng, 4) - 1 : 0,
                     .token = t->gives_up && weir_test_below(rng, 2) != 0,
                     .durability = weir_test_below(rng, 64) ? WEIR_NORMAL : WEIR_FULL_SYNC,
                     .priority = weir_test_below(rng, 4) ? WEIR_INTERACTIVE : WEIR_BULK,
                     .bytes = (size_t)a->bytes};
}

static void judge_success(traffic *t, append *a, const struct plan *p, const weir_ack *ack) {
  if (p->flush) {
    atomic_fetch_add(&t->flushed, 1);
    return;
  }
  if (append_result(a->kind) != WEIR_OK || a->runs < 1)
    fault(&t->faults, "write %d of %d: acknowledged, of kind %d, run %d times", a->n, a->writer, a->kind,
          a->runs);
  if (ack->members < 1 || ack->durability < (t->in_memory ? WEIR_NORMAL : p->durability))
    fault(&t->faults, "write %d of %d: durability %d, %u members", a->n, a->writer, (int)ack->durability,
          ack->members);
  atomic_fetch_add(&t->shared, ack->members > 1);
  if (a->kind == APPEND_NOTHING) {
    atomic_fetch_add(&t->nothings, 1);
    return;
  }
  if (ack->rev != a->rev)
    fault(&t->faults, "write %d of %d: rev %lld in the transaction, %lld in its acknowledgement", a->n,
          a->writer, (long long)a->rev, (long long)ack->rev);
  atomic_fetch_add(&t->kept, 1);
  t->told(a, t->data);
}

/* Counts an end, and tells whether it may be. `canceled` and `timed`: that may have happened; `late`: how it
 * is called then. */
static void judge(traffic *t, append *a, const struct plan *p, int rc, int canceled, int late,
                  const weir_ack *ack) {
  int given_up = (rc == WEIR_CANCELED && canceled) || (rc == late && p->wait_ms != 0);
  if (rc == WEIR_OK) {
    judge_success(t, a, p, ack);
  } else if (given_up) {
    if (a->runs != 0)
      fault(&t->faults, "write %d of %d: %s, but it had begun", a->n, a->writer, weir_error_name(rc));
    atomic_fetch_add(rc == WEIR_CANCELED ? &t->canceled : rc == WEIR_BUSY ? &t->busy : &t->timed_out, 1);
  } else if (rc == append_result(a->kind) && !p->flush) {
    atomic_fetch_add(&t->failed, 1);
  } else {
    fault(&t->faults, "write %d of %d, kind %d, run %d times: %s", a->n, a->writer, a->kind, a->runs,
          weir_error_name(rc));
  }
}

/* ---- Synchronous callers ---- */

void traffic_write(traffic *t, int writer, int count, uint64_t seed) {
  weir_test_rng rng = {.state = seed};
  weir_token *token = &t->tokens[writer % TRAFFIC_TOKENS];
  for (int n = 0; n < count && atomic_load(&t->faults.count) == 0; n++) {
    append a = {.writer = writer, .n = n};
    struct plan p;
    weir_ack ack = {.members = 0};
    weir_error err = WEIR_ERROR_INIT;
    plan(t, &rng, &a, &p);
    weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
    options.timeout_ms = p.wait_ms;
    options.token = p.token ? token : NULL;
    options.durability = p.durability;
    options.priority = p.priority;
    options.bytes = p.bytes;
    options.ack = &ack;
    __atomic_store_n(&token->canceled, 0, __ATOMIC_RELEASE);
    if (t->gives_up && weir_test_below(&rng, 2) &&
        weir_cancel(t->pool, &t->tokens[weir_test_below(&rng, TRAFFIC_TOKENS)]) != WEIR_OK)
      fault(&t->faults, "a cancel failed");
    int rc = p.flush ? weir_flush(t->pool, &options, &err)
                     : weir_write(weir_pool_auto(t->pool), append_fn, &a, &options, &err);
    judge(t, &a, &p, rc, p.token, WEIR_BUSY, &ack);
  }
}

/* ---- On a loop ---- */

/* One of those that are on their way at once. */
struct flight {
  weir_req req; /* first */
  struct airport *airport;
  append row;
  struct plan plan;
  int pending;
  int cancel; /* what the cancel returned; 1: none was tried */
};

struct airport {
  traffic *traffic;
  weir_async async;
  weir_test_rng rng;
  int writer, count, launched, landed;
  struct flight flights[TRAFFIC_FLIGHTS];
};

static int work(weir_req *req, weir_txn *txn) {
  return append_fn(txn, &((struct flight *)req)->row, &req->error);
}

static void land(weir_req *req, int status);

static void launch(struct airport *here, struct flight *f) {
  traffic *t = here->traffic;
  if (here->launched == here->count || atomic_load(&t->faults.count) != 0)
    return;
  f->row = (append){.writer = here->writer, .n = here->launched++};
  plan(t, &here->rng, &f->row, &f->plan);
  f->plan.wait_ms = f->plan.wait_ms < 0 ? 1 : f->plan.wait_ms; /* here 0 is no limit, and none is negative */
  f->cancel = 1;
  f->pending = 1;
  f->req = (weir_req)WEIR_REQ_INIT;
  f->req.timeout_ms = f->plan.wait_ms;
  f->req.durability = f->plan.durability;
  f->req.priority = f->plan.priority;
  f->req.bytes = f->plan.bytes;
  int rc = f->plan.flush ? weir_flush_async(&here->async, &f->req, land)
                         : weir_write_async(&here->async, &f->req, work, land);
  if (rc != WEIR_OK)
    fault(&t->faults, "a submission was refused: %s", weir_error_name(rc));
}

static void cancel_one(struct airport *here) {
  struct flight *f = &here->flights[weir_test_below(&here->rng, TRAFFIC_FLIGHTS)];
  int rc = weir_req_cancel(&f->req);
  if (f->pending != (rc != WEIR_INVALID))
    fault(&here->traffic->faults, "a cancel was taken wrongly: %s", weir_error_name(rc));
  else if (f->pending && f->cancel != WEIR_OK)
    f->cancel = rc;
}

static void land(weir_req *req, int status) {
  struct flight *f = (struct flight *)req;
  struct airport *here = f->airport;
  traffic *t = here->traffic;
  if (!f->pending)
    fault(&t->faults, "write %d of %d: called back twice", f->row.n, f->row.writer);
  f->pending = 0;
  here->landed++;
  if (f->cancel == WEIR_OK && status == WEIR_OK)
    fault(&t->faults, "write %d of %d: canceled, and committed", f->row.n, f->row.writer);
  judge(t, &f->row, &f->plan, status, f->cancel == WEIR_OK, WEIR_TIMEOUT, &req->ack);
  launch(here, f);
  if (t->gives_up && weir_test_below(&here->rng, 4) == 0)
    cancel_one(here);
}

void traffic_loop(traffic *t, uv_loop_t *loop, int writer, int count, uint64_t seed) {
  struct airport here = {.traffic = t, .rng = {.state = seed}, .writer = writer, .count = count};
  weir_error err = WEIR_ERROR_INIT;
  int rc = weir_async_init(&here.async, loop, t->pool, &err);
  if (rc != WEIR_OK) {
    fault(&t->faults, "a loop: %s: %s", weir_error_name(rc), err.message);
    return;
  }
  for (int i = 0; i < TRAFFIC_FLIGHTS; i++) {
    here.flights[i].airport = &here;
    launch(&here, &here.flights[i]);
  }
  (void)uv_run(loop, UV_RUN_DEFAULT); /* the test's timeout is its watchdog */
  if (here.landed != here.launched)
    fault(&t->faults, "%d writes of a loop ended, of %d", here.landed, here.launched);
  if (weir_async_close(&here.async, NULL) != WEIR_OK)
    fault(&t->faults, "the handle of a loop cannot be closed");
  (void)uv_run(loop, UV_RUN_DEFAULT);
}
