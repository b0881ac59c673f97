/*
 * One cell of latency: open loop. Each connection has a thread, which takes the next transaction of the
 * schedule, sleeps until it is due, and runs it. When all connections are busy the transactions that come due
 * wait, and their latency counts from then, not from when a thread was free for them. So a mode that cannot
 * hold the rate shows it in its latencies, which grow for as long as the cell lasts.
 */
#include "latency.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { LEAD_NS = 50000000 }; /* for the threads to start */

schedule schedule_make(const bench_settings *settings, unsigned rate, uint64_t seed) {
  schedule plan = {.begin = (uint64_t)(settings->warmup * 1e9)};
  plan.end = plan.begin + (uint64_t)(settings->seconds * 1e9);
  plan.cut = plan.end + (uint64_t)(settings->seconds * 1e8);
  size_t capacity = 1024;
  plan.due = bench_alloc(capacity * sizeof *plan.due);
  double at = 0;
  for (;;) {
    double uniform = ((double)(bench_random(&seed) >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
    at -= log(uniform) * 1e9 / rate;
    if (at >= (double)plan.cut) {
      return plan;
    }
    if (plan.count == capacity) {
      capacity *= 2;
      plan.due = realloc(plan.due, capacity * sizeof *plan.due);
      if (!plan.due) {
        bench_fail("out of memory");
      }
    }
    uint64_t due = (uint64_t)at;
    plan.due[plan.count++] = due;
    plan.offered += due >= plan.begin && due < plan.end;
  }
}

void schedule_free(schedule *plan) {
  free(plan->due);
}

/* What the threads of a cell share. */
typedef struct cell {
  const inserts_kind *kind;
  inserts *inserts;
  const schedule *plan;
  uint64_t start;
  _Atomic size_t next;        /* place in the schedule of the next transaction */
  _Atomic int64_t next_id;    /* number of the next row */
  _Atomic int64_t sum;        /* of the first numbers of what was committed */
  _Atomic uint64_t committed; /* all of them */
  _Atomic uint64_t achieved;  /* in the time that counts */
  _Atomic uint64_t timely;    /* of these, were due in it too */
  _Atomic uint64_t given_up, busy;
  uint64_t checkpoints;
} cell;

typedef struct server {
  cell *cell;
  unsigned connection;
  histogram *h;
  pthread_t thread;
} server;

/* Runs one transaction until it is committed, it fails, or it is too late. WEIR_OK, or what it failed with.
 */
static int run_one(cell *c, unsigned connection, int64_t first) {
  int rc;
  while ((rc = c->kind->insert(c->inserts, connection, first)) == WEIR_BUSY) {
    c->busy++;
    if (bench_now() >= c->start + c->plan->cut) {
      break;
    }
  }
  return rc;
}

static void *serve(void *arg) {
  server *me = arg;
  cell *c = me->cell;
  const schedule *plan = c->plan;
  bench_exact_sleep();
  for (;;) {
    size_t i = c->next++;
    if (i >= plan->count) {
      return NULL;
    }
    uint64_t due = plan->due[i];
    int counts = due >= plan->begin && due < plan->end;
    bench_sleep_until(c->start + due);
    int done = 0;
    if (bench_now() < c->start + plan->cut) {
      int64_t first = atomic_fetch_add(&c->next_id, INSERT_ROWS);
      done = run_one(c, me->connection, first) == WEIR_OK;
      c->committed += (uint64_t)done;
      c->sum += done ? first : 0;
    }
    uint64_t now = bench_now() - c->start;
    int inside = done && now >= plan->begin && now < plan->end;
    c->achieved += inside;
    c->timely += inside && counts;
    if (counts) {
      c->given_up += !done;
      histogram_record(me->h, now - due);
    }
  }
}

/* A passive checkpoint a second, as a program that has switched to checkpoints of its own would run it. */
static void *checkpoint(void *arg) {
  cell *c = arg;
  struct sqlite3 *db = NULL;
  for (uint64_t at = c->start; at < c->start + c->plan->cut; at += 1000000000u) {
    bench_sleep_until(at);
    c->checkpoints += (uint64_t)inserts_checkpoint(c->inserts, &db);
  }
  inserts_checkpoint_end(db);
  return NULL;
}

static void start_thread(pthread_t *thread, void *(*fn)(void *), void *arg) {
  if (pthread_create(thread, NULL, fn, arg) != 0) {
    bench_fail("cannot start a thread");
  }
}

latency_run latency_run_once(const inserts_kind *kind, inserts *s, const schedule *plan, histogram *h) {
  cell c = {.kind = kind, .inserts = s, .plan = plan, .next_id = 1};
  server *servers = bench_alloc(s->connections * sizeof *servers);
  pthread_t checkpointer;
  int passive = kind->bare && s->settings->passive;
  inserts_create(s);
  kind->open(s);
  c.start = bench_now() + LEAD_NS;
  for (unsigned i = 0; i < s->connections; i++) {
    servers[i] = (server){.cell = &c, .connection = i, .h = bench_alloc(sizeof *h)};
    start_thread(&servers[i].thread, serve, &servers[i]);
  }
  if (passive) {
    start_thread(&checkpointer, checkpoint, &c);
  }
  for (unsigned i = 0; i < s->connections; i++) {
    pthread_join(servers[i].thread, NULL);
    histogram_merge(h, servers[i].h);
    free(servers[i].h);
  }
  if (passive) {
    pthread_join(checkpointer, NULL);
  }
  free(servers);
  kind->close(s);
  inserts_verify(s, c.committed, c.sum);

  double seconds = (double)(plan->end - plan->begin) / 1e9;
  quantiles q = histogram_quantiles(h);
  return (latency_run){
      .p50_us = q.p50,
      .p90_us = q.p90,
      .p99_us = q.p99,
      .p99_9_us = q.p999,
      .max_us = q.max,
      .offered_per_s = (double)plan->offered / seconds,
      .achieved_per_s = (double)c.achieved / seconds,
      .timely = plan->offered ? (double)c.timely / (double)plan->offered : NAN,
      .given_up = c.given_up,
      .busy = c.busy,
      .checkpoints = c.checkpoints,
  };
}
