/* Random traffic through weir/async.h against a model: every request calls back once, with a status that what
 * was done to it allows, and a write has taken effect exactly if its status says so. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/async.h>

#include "async_store.h"
#include "support.h"

TestSuite(async_storm, .timeout = 120);

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { REQUESTS = 4000 };
#else
enum { REQUESTS = 20000 };
#endif

enum { SLOTS = 48 };
enum kind { READ_QUICK, READ_ENDLESS, WRITE };

/* One of the requests that are in flight together. */
typedef struct flight {
  call call; /* first */
  struct storm *storm;
  enum kind kind;
  int id;     /* of the row that a write inserts */
  int cancel; /* what the cancel returned; 1: none was tried */
  char sql[64];
} flight;

typedef struct storm {
  store store;
  weir_test_rng rng;
  flight slots[SLOTS];
  int submitted;
  int statuses[4]; /* ok, canceled, timed out, and anything else */
  char *expected;  /* [id]: the row must be there */
  char problem[200];
} storm;

static void problem(storm *s, const flight *slot, const char *what, int status) {
  if (!s->problem[0])
    (void)snprintf(s->problem, sizeof s->problem, "%s: kind %d, id %d, timeout %d, cancel %d, status %d",
                   what, (int)slot->kind, slot->id, slot->call.req.timeout_ms, slot->cancel, status);
}

static void check_end(storm *s, const flight *slot, int status) {
  int canceled = slot->cancel == WEIR_OK;
  if (slot->call.early)
    problem(s, slot, "called back inside the submission", status);
  if (status == WEIR_OK && slot->kind == READ_ENDLESS)
    problem(s, slot, "an endless read has ended", status);
  if (status == WEIR_CANCELED && !canceled)
    problem(s, slot, "nobody canceled it", status);
  if (status == WEIR_TIMEOUT && slot->call.req.timeout_ms == 0)
    problem(s, slot, "it had no deadline", status);
  if (slot->kind == WRITE && slot->cancel == WEIR_BUSY && status == WEIR_CANCELED)
    problem(s, slot, "it had begun", status);
  if (slot->kind == WRITE && canceled && status == WEIR_OK)
    problem(s, slot, "a canceled write was committed", status);
  s->statuses[status == WEIR_OK ? 0 : status == WEIR_CANCELED ? 1 : status == WEIR_TIMEOUT ? 2 : 3]++;
}

static void on_end(weir_req *req, int status);

static void launch(storm *s, flight *slot) {
  if (s->submitted == REQUESTS)
    return;
  unsigned dice = (unsigned)weir_test_below(&s->rng, 100);
  slot->kind = dice < 5 ? READ_ENDLESS : dice < 45 ? READ_QUICK : WRITE;
  slot->cancel = 1;
  slot->id = s->submitted++;
  slot->call = (call){.store = &s->store};
  slot->call.req.timeout_ms = slot->kind == READ_ENDLESS || weir_test_below(&s->rng, 4) == 0
                                  ? 1 + (int)weir_test_below(&s->rng, 3)
                                  : 0;
  (void)snprintf(slot->sql, sizeof slot->sql, "INSERT INTO t VALUES(%d)", slot->id);
  slot->call.sql = slot->kind == WRITE          ? slot->sql
                   : slot->kind == READ_ENDLESS ? ENDLESS_SQL
                                                : "SELECT count(*) FROM t WHERE k < 10";
  slot->call.done = 0;
  int rc = slot->kind == WRITE ? weir_write_async(&s->store.async, &slot->call.req, work_exec, on_end)
                               : weir_read_async(&s->store.async, &slot->call.req, work_value, on_end);
  slot->call.returned = 1;
  if (rc != WEIR_OK)
    problem(s, slot, "refused", rc);
}

static void cancel_one(storm *s) {
  flight *victim = &s->slots[weir_test_below(&s->rng, SLOTS)];
  int rc = weir_req_cancel(&victim->call.req);
  int idle = victim->call.done > 0;
  if (idle != (rc == WEIR_INVALID))
    problem(s, victim, "a cancel was taken wrongly", rc);
  else if (!idle && victim->cancel != WEIR_OK)
    victim->cancel = rc;
}

static void on_end(weir_req *req, int status) {
  flight *self = (flight *)req;
  storm *s = self->storm;
  call_done(req, status);
  if (self->call.done != 1)
    problem(s, self, "called back twice", status);
  if (self->kind == WRITE)
    s->expected[self->id] = status == WEIR_OK;
  check_end(s, self, status);
  launch(s, self);
  for (uint64_t n = weir_test_below(&s->rng, 3); n > 0; n--) {
    cancel_one(s);
  }
}

/* Cancels at moments that do not depend on completions. */
static void on_idle(uv_idle_t *idle) {
  storm *s = idle->data;
  if (s->submitted == REQUESTS && weir_async_pending(&s->store.async) == 0)
    uv_close((uv_handle_t *)idle, NULL);
  else if (weir_test_below(&s->rng, 8) == 0)
    cancel_one(s);
}

/* 1 if the table holds exactly the rows of the writes that ended with WEIR_OK. */
static int rows_are_as_expected(storm *s) {
  int64_t rows = -1;
  int64_t found = 0;
  int expected = 0;
  char sql[64];
  if (store_value(&s->store, "SELECT count(*) FROM t", &rows) != WEIR_OK)
    return 0;
  for (int id = 0; id < REQUESTS; id++) {
    if (s->expected[id]) {
      (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE k = %d", id);
      expected++;
      if (store_value(&s->store, sql, &found) != WEIR_OK || found != 1)
        return 0;
    }
  }
  return rows == expected;
}

static void run_storm(int kind) {
  static storm s;
  uv_idle_t idle;
  memset(&s, 0, sizeof s);
  s.rng.state = weir_test_seed() + (uint64_t)kind;
  s.expected = calloc(REQUESTS, 1);
  cr_assert(ne(ptr, s.expected, NULL));
  cr_assert(eq(int, store_open(&s.store, kind, NULL), WEIR_OK));
  cr_assert(eq(int, store_exec(&s.store, "CREATE TABLE t(k INTEGER PRIMARY KEY)"), WEIR_OK));
  s.store.ended = 0;
  cr_assert(eq(int, uv_idle_init(&s.store.loop.uv, &idle), 0));
  idle.data = &s;
  cr_assert(eq(int, uv_idle_start(&idle, on_idle), 0));
  for (int i = 0; i < SLOTS; i++) {
    s.slots[i].storm = &s;
    launch(&s, &s.slots[i]);
  }
  cr_assert(weir_test_loop_run(&s.store.loop));
  cr_assert(eq(int, s.problem[0], 0), "%s", s.problem);
  cr_assert(eq(int, s.submitted, REQUESTS));
  cr_assert(eq(int, s.store.ended, REQUESTS));
  cr_assert(eq(int, s.statuses[3], 0));
  cr_assert(gt(int, s.statuses[0], 0));
  cr_assert(gt(int, s.statuses[1], 0));
  cr_assert(gt(int, s.statuses[2], 0));
  cr_assert(rows_are_as_expected(&s));
  free(s.expected);
  cr_assert(store_close(&s.store));
}

Test(async_storm, cancels_and_deadlines_at_random_in_pool_mode) {
  run_storm(POOL_FILE);
}

Test(async_storm, cancels_and_deadlines_at_random_in_single_mode) {
  run_storm(SINGLE_FILE);
}

Test(async_storm, cancels_and_deadlines_at_random_in_memory) {
  run_storm(SINGLE_MEMORY);
}
