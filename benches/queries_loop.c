/*
 * Breadth-first search over two prepared statements. The set is open addressing with linear probing, at most
 * half full; the nodes in the order in which they were met are the queue, and what the set is emptied by, so
 * a search costs what it meets, however large the set has grown before.
 */
#include "queries_loop.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The nodes met from one end. */
typedef struct reached {
  int64_t *slots; /* 0: empty; SQLite numbers rows from 1 */
  size_t size;    /* a power of two */
  int64_t *order;
  size_t count;
  size_t begin; /* of those met last, in order */
} reached;

struct loop {
  sqlite3_stmt *out, *in;
  reached near, far;
};

static size_t place_of(const reached *r, int64_t node) {
  return (size_t)(((uint64_t)node * 0x9e3779b97f4a7c15ull) >> 32) & (r->size - 1);
}

/* Where the node is, or where it would be. */
static size_t find(const reached *r, int64_t node) {
  size_t at = place_of(r, node);
  while (r->slots[at] != 0 && r->slots[at] != node) {
    at = (at + 1) & (r->size - 1);
  }
  return at;
}

static void resize(reached *r, size_t size) {
  int64_t *order = realloc(r->order, size / 2 * sizeof *order);
  if (!order) {
    bench_fail("out of memory");
  }
  free(r->slots);
  r->order = order;
  r->size = size;
  r->slots = bench_alloc(size * sizeof *r->slots);
  for (size_t i = 0; i < r->count; i++) {
    r->slots[find(r, r->order[i])] = r->order[i];
  }
}

static void clear(reached *r) {
  if (r->count > r->size / 16) {
    memset(r->slots, 0, r->size * sizeof *r->slots);
  } else { /* the last met first: none is in the way of another */
    while (r->count > 0) {
      r->slots[find(r, r->order[--r->count])] = 0;
    }
  }
  r->count = 0;
  r->begin = 0;
}

/* 1: it is new. */
static int add(reached *r, int64_t node) {
  size_t at = find(r, node);
  if (r->slots[at] != 0) {
    return 0;
  }
  r->slots[at] = node;
  r->order[r->count++] = node;
  if (r->count == r->size / 2) {
    resize(r, r->size * 2);
  }
  return 1;
}

/* Meets the nodes one step from those met last. Ends early with *hit 1 at one that `other` has met; `other`
 * may be NULL. */
static int widen(reached *r, sqlite3_stmt *step, const reached *other, int *hit) {
  size_t end = r->count;
  for (size_t i = r->begin; i < end && !*hit; i++) {
    sqlite3_bind_int64(step, 1, r->order[i]);
    while (!*hit && sqlite3_step(step) == SQLITE_ROW) {
      int64_t node = sqlite3_column_int64(step, 0);
      *hit = add(r, node) && other && other->slots[find(other, node)] == node;
    }
    int rc = sqlite3_reset(step); /* repeats the error of the step */
    if (rc != SQLITE_OK) {
      return rc;
    }
  }
  r->begin = end;
  return SQLITE_OK;
}

int loop_within(loop *l, int64_t start, unsigned hops, uint64_t *count) {
  int hit = 0, rc = SQLITE_OK;
  clear(&l->near);
  add(&l->near, start);
  for (unsigned hop = 0; hop < hops && rc == SQLITE_OK; hop++) {
    rc = widen(&l->near, l->out, NULL, &hit);
  }
  *count = l->near.count;
  return rc;
}

/* Each end has met all nodes within some number of steps, and no node is met by both: so the first that is
 * lies on a shortest way. The end that met fewer nodes last goes on. */
int loop_shortest(loop *l, int64_t from, int64_t to, int64_t *length) {
  int hit = from == to, rc = SQLITE_OK;
  int64_t steps = 0;
  clear(&l->near);
  clear(&l->far);
  add(&l->near, from);
  add(&l->far, to);
  while (!hit && rc == SQLITE_OK) {
    size_t near = l->near.count - l->near.begin, far = l->far.count - l->far.begin;
    if (near == 0 || far == 0) {
      break;
    }
    rc = near <= far ? widen(&l->near, l->out, &l->far, &hit) : widen(&l->far, l->in, &l->near, &hit);
    steps++;
  }
  *length = hit ? steps : -1;
  return rc;
}

loop *loop_new(sqlite3_stmt *out, sqlite3_stmt *in) {
  loop *l = bench_alloc(sizeof *l);
  l->out = out;
  l->in = in;
  resize(&l->near, 4096);
  resize(&l->far, 4096);
  return l;
}

void loop_free(loop *l) {
  free(l->near.slots);
  free(l->near.order);
  free(l->far.slots);
  free(l->far.order);
  free(l);
}
