/*
 * One cell of mixed: closed loop. Each reader and each writer is a thread that begins its next operation as
 * soon as the last has ended. The readers alone, the writers alone, then both; each phase warms up before it
 * counts.
 */
#define _GNU_SOURCE /* memmem */
#include "mixed.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texts.h"

enum { WARM, COUNT, STOP };

typedef struct phase {
  const mixed_kind *kind;
  subject *subject;
  unsigned writers;
  uint64_t round; /* of the writers' numbers */
  atomic_int state;
} phase;

typedef struct worker {
  phase *phase;
  unsigned index;
  uint64_t random, round, done;
  mixed_times *times;
  pthread_t thread;
} worker;

void mixed_reach_add(mixed_reach *reach, weir_text key) {
  for (unsigned i = 0; i < reach->count; i++) {
    if (strncmp(reach->keys[i], key.ptr, key.len) == 0 && reach->keys[i][key.len] == '\0') {
      return;
    }
  }
  if (reach->count == MIXED_REACH_MAX || key.len >= sizeof reach->keys[0]) {
    reach->overflow = 1;
    return;
  }
  memcpy(reach->keys[reach->count], key.ptr, key.len);
  reach->keys[reach->count++][key.len] = '\0';
}

void mixed_page_add(mixed_read *r, weir_text props) {
  r->page += memmem(props.ptr, props.len, r->query, strcspn(r->query, " ")) != NULL;
}

/* ---- Readers ---- */

/* Whether what was found is right. The nodes are n0, n1, ..., and edges lead from each to the next three. */
static int right(const mixed_read *r, const dataset *data) {
  unsigned long begin, far, nodes = data->count, span = r->op == ONE_HOP ? 3 : 9;
  if (r->op == POINT) {
    return r->same;
  }
  if (r->op == SEARCH) {
    uint64_t hits = data->hits[r->item % DATASET_QUERIES];
    return r->page == (hits < MIXED_PAGE ? hits : MIXED_PAGE);
  }
  begin = strtoul(r->reach.keys[0] + 1, NULL, 10);
  for (unsigned i = 1; i < r->reach.count; i++) {
    far = (strtoul(r->reach.keys[i] + 1, NULL, 10) + nodes - begin) % nodes;
    if (far < 1 || far > span) {
      return 0;
    }
  }
  return !r->reach.overflow && r->reach.count == span + 1; /* each is there once */
}

static void *read_on(void *arg) {
  worker *me = arg;
  phase *p = me->phase;
  subject *s = p->subject;
  mixed_read r = {.op = POINT};
  uint64_t before = bench_now();
  for (int state; (state = atomic_load_explicit(&p->state, memory_order_relaxed)) != STOP;) {
    r.op = (mixed_op)bench_below(&me->random, MIXED_OPS);
    r.item = (unsigned)bench_below(&me->random, s->data->count);
    r.want = s->data->props[r.item];
    r.query = s->data->queries[r.item % DATASET_QUERIES];
    r.page = 0;
    r.reach.count = 0;
    mixed_reach_add(&r.reach, s->data->keys[r.item]);
    int ok = p->kind->read(s, &r) == 0;
    s->errors.wrong += ok && !right(&r, s->data);
    uint64_t now = bench_now();
    if (ok && state == COUNT) {
      me->done++;
      histogram_record(&me->times->reads[r.op], now - before);
    }
    before = now;
  }
  weir_arena_clear(&r.arena);
  return NULL;
}

/* ---- Writers ---- */

/* Writer i of W has the extra nodes i, i + W, ... to itself, and upserts them round robin. */
static void *write_on(void *arg) {
  worker *me = arg;
  phase *p = me->phase;
  dataset *data = p->subject->data;
  unsigned place = me->index;
  uint64_t before = bench_now();
  me->round = p->round;
  for (int state; (state = atomic_load_explicit(&p->state, memory_order_relaxed)) != STOP;) {
    uint64_t number = me->round * DATASET_EXTRAS + place;
    weir_node node = dataset_upsert(data, number);
    int ok = p->kind->write(p->subject, &node) == 0;
    if (ok) {
      dataset_committed(data, number, 1);
    }
    uint64_t now = bench_now();
    if (ok && state == COUNT) {
      me->done++;
      histogram_record(&me->times->writes, now - before);
    }
    before = now;
    place += p->writers;
    if (place >= DATASET_EXTRAS) {
      place = me->index;
      me->round++;
    }
  }
  return NULL;
}

/* ---- Phases ---- */

static void start(worker *w, phase *p, unsigned index, uint64_t seed, void *(*fn)(void *)) {
  *w = (worker){.phase = p, .index = index, .random = seed + index * 1000003u};
  w->times = bench_alloc(sizeof *w->times);
  if (pthread_create(&w->thread, NULL, fn, w) != 0) {
    bench_fail("cannot start a thread");
  }
}

static void finish(worker *w, mixed_times *times) {
  pthread_join(w->thread, NULL);
  for (int op = 0; op < MIXED_OPS; op++) {
    histogram_merge(&times->reads[op], &w->times->reads[op]);
  }
  histogram_merge(&times->writes, &w->times->writes);
  free(w->times);
}

/* Runs so many readers and writers for `ns`; *reads and *writes become the rates. */
static void run_phase(const mixed_kind *kind, subject *s, unsigned readers, unsigned writers, uint64_t seed,
                      uint64_t ns, mixed_times *times, double *reads, double *writes) {
  phase p = {.kind = kind, .subject = s, .writers = writers};
  worker *workers = bench_alloc((readers + writers) * sizeof *workers);
  uint64_t read = 0, written = 0, last = s->data->next_write / DATASET_EXTRAS;
  p.round = last + 1;
  for (unsigned i = 0; i < readers + writers; i++) {
    int reads_nodes = i < readers;
    start(&workers[i], &p, reads_nodes ? i : i - readers, seed, reads_nodes ? read_on : write_on);
  }
  bench_sleep_until(bench_now() + ns / 5);
  uint64_t begin = bench_now();
  p.state = COUNT;
  bench_sleep_until(begin + ns);
  double seconds = (double)(bench_now() - begin) / 1e9;
  p.state = STOP;
  for (unsigned i = 0; i < readers + writers; i++) {
    finish(&workers[i], times);
    *(i < readers ? &read : &written) += workers[i].done;
    last = workers[i].round > last ? workers[i].round : last;
  }
  s->data->next_write = (last + 1) * DATASET_EXTRAS;
  *reads = (double)read / seconds;
  *writes = (double)written / seconds;
  free(workers);
}

mixed_run mixed_run_once(const mixed_kind *kind, subject *s, unsigned writers, uint64_t seed,
                         mixed_times *times) {
  mixed_run run = {0};
  uint64_t ns = (uint64_t)(s->settings->seconds * 1e9);
  mixed_times *ignored = bench_alloc(sizeof *ignored);
  histogram *all = bench_alloc(sizeof *all);
  double none;
  kind->open(s);
  run_phase(kind, s, MIXED_READERS, 0, seed, ns / 5, ignored, &run.solo_reads_per_s, &none);
  run_phase(kind, s, 0, writers, seed, ns / 5, ignored, &none, &run.solo_writes_per_s);
  run_phase(kind, s, MIXED_READERS, writers, seed, ns, times, &run.reads_per_s, &run.writes_per_s);
  kind->close(s);
  dataset_verify(s->data, s->settings, &s->errors);
  texts_verify(s->data, s->settings, &s->errors);
  for (int op = 0; op < MIXED_OPS; op++) {
    histogram_merge(all, &times->reads[op]);
  }
  quantiles none_yet = {NAN, NAN, NAN, NAN, NAN};
  quantiles read = all->count ? histogram_quantiles(all) : none_yet;
  quantiles write = times->writes.count ? histogram_quantiles(&times->writes) : none_yet;
  run.read_p50_us = read.p50;
  run.read_p99_us = read.p99;
  run.write_p50_us = write.p50;
  run.write_p99_us = write.p99;
  free(all);
  free(ignored);
  return run;
}
