/*
 * The functions of weir/pool.h by which a caller gets into a transaction: reads, writes and flushes, cancel,
 * snapshots. What can be done inside one is pool/txn.c's, how they begin and end on a connection pool/run.c's
 * and pool/group.c's.
 */
#include <string.h>

#include "internal.h"
#include "lane.h"
#include "trace.h"

/* ---- Running a function ---- */

/* How long a read may wait to be admitted: not longer than it may last. */
static uint64_t wait_of(const weir_txn_options *options) {
  uint64_t wait_ns = weir__ms(options->timeout_ms);
  uint64_t last_ns = weir__ms(options->deadline_ms);
  return last_ns && last_ns < wait_ns ? last_ns : wait_ns;
}

int weir__check_wishes(const weir_pool *pool, weir_durability durability, weir_priority priority,
                       int64_t min_rev, size_t bytes, weir_error *err) {
  if (durability > WEIR_FULL_SYNC) {
    return weir_fail(err, WEIR_INVALID, "durability is %d: give one of weir_durability", (int)durability);
  }
  if (priority > WEIR_BULK) {
    return weir_fail(err, WEIR_INVALID, "priority is %d: give one of weir_priority", (int)priority);
  }
  if (min_rev < 0) {
    return weir_fail(err, WEIR_INVALID, "min_rev is %lld: give 0 for none, or the number of a commit",
                     (long long)min_rev);
  }
  if (min_rev > 0 && !pool->options.numbered) {
    return weir_fail(err, WEIR_INVALID,
                     "min_rev is %lld, but the pool was opened without the option 'numbered'",
                     (long long)min_rev);
  }
  if (bytes > WEIR__BYTES_MAX) {
    return weir_fail(err, WEIR_INVALID, "bytes is %zu: give about what the write will write, 1 TiB at most",
                     bytes);
  }
  return WEIR_OK;
}

/* Fills the options' defaults in. */
static int read_options(const weir_pool *pool, const weir_txn_options *given, weir_txn_options *out,
                        weir_error *err) {
  memset(out, 0, sizeof(*out));
  if (given) {
    if (given->size < sizeof(given->size) || given->size > sizeof(*out)) {
      return weir_fail(err, WEIR_INVALID, "weir_txn_options.size is %zu: start from WEIR_TXN_OPTIONS_INIT",
                       given->size);
    }
    memcpy(out, given, given->size);
  }
  if (out->deadline_ms < 0) {
    return weir_fail(err, WEIR_INVALID, "deadline_ms is %d: give 0 for none, or milliseconds",
                     out->deadline_ms);
  }
  int rc = weir__check_wishes(pool, out->durability, out->priority, out->min_rev, out->bytes, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  out->timeout_ms = out->timeout_ms ? out->timeout_ms : pool->options.acquire_timeout_ms;
  out->durability = out->durability ? out->durability : pool->options.durability;
  return WEIR_OK;
}

/* Checks the arguments that all calls have in common. */
static int check_call(const weir_txn *in, weir_txn_fn fn, weir_error *err) {
  if (!in || !fn) {
    return weir_fail(err, WEIR_INVALID, "%s is NULL", in ? "the function" : "the transaction");
  }
  int rc = weir__pool_check(in->pool, err);
  if (rc == WEIR_OK && in->kind == WEIR__TXN_NONE) {
    rc = weir_fail(err, WEIR_MISUSE, "the transaction has ended");
  }
  return rc;
}

/* Leases a connection for a read, for which it waits so long at most. */
static int admit(weir_pool *pool, uint64_t wait_ns, weir__job *job, weir__slot **out) {
  weir__admission how = {.timeout_ns = wait_ns, .token = job->token};
  int rc = weir__slot_acquire(pool, &how, out, job->error);
  if (rc == WEIR_BUSY && job->deadline_ns && weir__now_ns() >= job->deadline_ns) {
    rc = weir_fail(job->error, WEIR_TIMEOUT, "the deadline passed before a connection became free");
  }
  return rc;
}

static void end(weir_pool *pool, weir__slot *slot) {
  weir__end_read(slot->conn);
  weir__slot_release(pool, slot);
}

int weir__rev_missing(const weir__job *job, int64_t rev, int code) {
  return weir_fail(job->error, code, "commit %lld has not been made, the last one is %lld",
                   (long long)job->min_rev, (long long)rev);
}

/* Waits for a commit, or a moment: WEIR_OK, or why it is given up. */
static int await_rev(weir_pool *pool, const weir__job *job, int64_t rev, uint64_t until) {
  uint64_t now = weir__now_ns();
  if (weir__canceled(job->token)) {
    return weir_fail(job->error, WEIR_CANCELED, "canceled while waiting for commit %lld",
                     (long long)job->min_rev);
  }
  if (now >= until) {
    return weir__rev_missing(job, rev,
                             job->deadline_ns && now >= job->deadline_ns ? WEIR_TIMEOUT : WEIR_BUSY);
  }
  weir__lane_await_commit(pool, now + WEIR__FOREIGN_NS < until ? now + WEIR__FOREIGN_NS : until);
  return WEIR_OK;
}

/* Begins a read whose snapshot holds the commit that the job asks for. Between two tries it holds nothing by
 * which closing would know of it, so `awaiting` says that it is there. */
static int begin_with_rev(weir_pool *pool, weir__job *job, uint64_t until, weir__slot **out) {
  int rc = WEIR_OK;
  (void)__atomic_add_fetch(&pool->awaiting, 1, __ATOMIC_RELAXED);
  for (;;) {
    int64_t rev = 0;
    uint64_t now = weir__now_ns();
    rc = admit(pool, until > now ? until - now : 0, job, out);
    if (rc != WEIR_OK) {
      break;
    }
    rc = weir__begin_read((*out)->conn, job);
    if (rc == WEIR_OK) {
      rc = weir_txn_rev(&(*out)->conn->txn, &rev, job->error);
    }
    if (rc == WEIR_OK && rev >= job->min_rev) {
      break;
    }
    end(pool, *out);
    rc = rc == WEIR_OK ? await_rev(pool, job, rev, until) : rc;
    if (rc != WEIR_OK) {
      break;
    }
  }
  (void)__atomic_sub_fetch(&pool->awaiting, 1, __ATOMIC_RELEASE); /* on failure the pool may be gone now */
  return rc;
}

/* Begins a read, and sets the job's deadline. */
static int begin(weir_pool *pool, const weir_txn_options *options, weir__job *job, weir__slot **out) {
  uint64_t called = options->min_rev || options->deadline_ms ? weir__now_ns() : 0;
  uint64_t wait_ns = wait_of(options);
  job->deadline_ns = options->deadline_ms ? called + weir__ms(options->deadline_ms) : 0;
  job->min_rev = options->min_rev;
  if (job->min_rev) {
    return begin_with_rev(pool, job, called + wait_ns, out);
  }
  int rc = admit(pool, wait_ns, job, out);
  if (rc == WEIR_OK) {
    rc = weir__begin_read((*out)->conn, job);
    if (rc != WEIR_OK) {
      end(pool, *out);
    }
  }
  return rc;
}

int weir_read(weir_txn *in, weir_txn_fn fn, void *data, const weir_txn_options *options, weir_error *err) {
  weir_error ignored = WEIR_ERROR_INIT;
  err = err ? err : &ignored;
  int rc = check_call(in, fn, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  weir_txn *own = in->kind == WEIR__TXN_AUTO ? weir__slot_own(in->pool) : in;
  if (own) {
    return weir__call(fn, own, data, err);
  }
  weir_txn_options chosen;
  rc = read_options(in->pool, options, &chosen, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  weir__job job = {.fn = fn,
                   .data = data,
                   .error = err,
                   .label = chosen.label,
                   .token = chosen.token,
                   .one_statement = chosen.one_statement && !chosen.min_rev};
  uint64_t called = in->pool->options.trace ? weir__now_ns() : 0;
  weir__slot *slot = NULL;
  rc = begin(in->pool, &chosen, &job, &slot);
  if (rc != WEIR_OK) {
    return rc;
  }
  uint64_t begun = called ? weir__now_ns() : 0;
  rc = weir__run_in_read(slot->conn, &job);
  if (weir__pool_check(in->pool, err) != WEIR_OK) { /* `fn` forked: this is the parent's connection */
    return WEIR_FORKED;
  }
  if (called) { /* before the lease is given back: then the pool may be closed */
    weir__trace_slow(in->pool, WEIR_TRACE_SLOW_READ, job.label, begun - called, weir__now_ns() - begun);
  }
  end(in->pool, slot);
  return rc;
}

int weir_write(weir_txn *in, weir_txn_fn fn, void *data, const weir_txn_options *options, weir_error *err) {
  weir_error ignored = WEIR_ERROR_INIT;
  err = err ? err : &ignored;
  int rc = check_call(in, fn, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  weir_txn *own = in->kind == WEIR__TXN_AUTO ? weir__slot_own(in->pool) : in;
  if (own && own->kind == WEIR__TXN_READ) {
    return weir_fail(err, WEIR_MISUSE, "a write inside a read: end the read first");
  }
  if (own) {
    return weir__run_nested(own, fn, data, err);
  }
  weir_txn_options chosen;
  rc = read_options(in->pool, options, &chosen, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  weir__job job = {.fn = fn,
                   .data = data,
                   .error = err,
                   .label = chosen.label,
                   .token = chosen.token,
                   .timeout_ns = weir__ms(chosen.timeout_ms),
                   .durability = chosen.durability,
                   .priority = chosen.priority,
                   .bytes = chosen.bytes,
                   .wants_ack = chosen.ack != NULL};
  rc = weir__lane_write(in->pool, &job);
  if (rc == WEIR_OK && chosen.ack) {
    *chosen.ack = job.ack;
  }
  return rc;
}

int weir_flush(weir_pool *pool, const weir_txn_options *options, weir_error *err) {
  weir_error ignored = WEIR_ERROR_INIT;
  err = err ? err : &ignored;
  if (!pool) {
    return weir_fail(err, WEIR_INVALID, "the pool is NULL");
  }
  weir_txn_options chosen;
  int rc = weir__pool_check(pool, err);
  if (rc == WEIR_OK) {
    rc = read_options(pool, options, &chosen, err);
  }
  if (rc == WEIR_OK && weir__slot_own(pool)) {
    rc = weir_fail(err, WEIR_MISUSE, "a flush inside a transaction: end that first");
  }
  if (rc != WEIR_OK) {
    return rc;
  }
  weir__job job = {.flush = 1,
                   .error = err,
                   .label = chosen.label,
                   .token = chosen.token,
                   .timeout_ns = weir__ms(chosen.timeout_ms),
                   .durability = WEIR_FULL_SYNC};
  return weir__lane_write(pool, &job);
}

int weir_cancel(weir_pool *pool, weir_token *token) {
  if (!pool || !token) {
    return WEIR_INVALID;
  }
  int rc = weir__pool_check(pool, NULL);
  if (rc == WEIR_OK) {
    __atomic_store_n(&token->canceled, 1, __ATOMIC_RELEASE);
    weir__slots_cancel(pool, token);
    weir__lane_cancel(pool, token);
  }
  return rc;
}

/* ---- Snapshots ---- */

int weir_snapshot_begin(weir_pool *pool, weir_txn **out, const weir_txn_options *options, weir_error *err) {
  if (out) {
    *out = NULL;
  }
  if (!pool || !out) {
    return weir_fail(err, WEIR_INVALID, "%s is NULL", pool ? "out" : "the pool");
  }
  weir_txn_options chosen;
  int rc = weir__pool_check(pool, err);
  if (rc == WEIR_OK) {
    rc = read_options(pool, options, &chosen, err);
  }
  if (rc == WEIR_OK && weir__slot_own(pool)) {
    rc =
        weir_fail(err, WEIR_MISUSE, "this thread is inside a transaction already: use that, or end it first");
  }
  if (rc != WEIR_OK) {
    return rc;
  }
  weir__job job = {.error = err, .label = chosen.label, .token = chosen.token};
  weir__slot *slot = NULL;
  rc = begin(pool, &chosen, &job, &slot);
  if (rc != WEIR_OK) {
    return rc;
  }
  /* BEGIN alone is lazy: the first read fixes the snapshot */
  rc = weir_txn_check(&slot->conn->txn, weir__conn_run(slot->conn, slot->conn->touch), err);
  if (rc != WEIR_OK) {
    end(pool, slot);
    return rc;
  }
  slot->conn->txn.slot = slot;
  *out = &slot->conn->txn;
  return WEIR_OK;
}

int weir_snapshot_end(weir_txn *txn, weir_error *err) {
  if (!txn) {
    return WEIR_OK;
  }
  int rc = weir__pool_check(txn->pool, err);
  if (rc == WEIR_OK && (txn->kind != WEIR__TXN_READ || !txn->slot)) {
    rc = weir_fail(err, WEIR_MISUSE, "not a snapshot of weir_snapshot_begin, or ended before");
  }
  if (rc == WEIR_OK) {
    weir__slot *slot = txn->slot;
    txn->slot = NULL;
    txn->conn->reads++;
    end(txn->pool, slot);
  }
  return rc;
}
