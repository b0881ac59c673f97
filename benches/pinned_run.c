/*
 * One mode of pinned. The main thread holds a snapshot and takes the samples, another writes transactions at
 * a fixed rate. In each sample the snapshot must still read what it read at first. The WAL is only looked at
 * from outside: a descriptor on it, when closed, would drop SQLite's locks.
 */
#include "pinned.h"

#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "baseline.h"

/* The store, open in one of the modes, and its writer. */
typedef struct store {
  const bench_settings *settings;
  dataset *data;
  weir_graph *graph;           /* of the pool, else NULL */
  weir_txn *snapshot;          /* of the pool, while it is held */
  baseline *writing, *reading; /* bare */
  int held;
  weir_arena arena;
  char *first; /* what the snapshot read at first */
  tally *errors;
  _Atomic uint64_t commits, slowest_ns;
  atomic_int stop;
  pthread_t writer;
} store;

double pinned_age_s(const bench_settings *settings) {
  return settings->seconds / 4;
}

/* ---- Opening and closing ---- */

/* The limits that are shown. Options of a pool that knows them, which a macro of its header tells. */
static void limit_wal(weir_pool_options *options, const bench_settings *settings) {
  options->wal_limit_pages = PINNED_LIMIT * settings->checkpoint;
  options->wal_keep_kib = PINNED_LIMIT * settings->checkpoint * 4;
  options->reader_age_ms = (int)(pinned_age_s(settings) * 1e3);
  options->reader_evict = 1;
}

static void open_store(store *s, int bare) {
  weir_error err = WEIR_ERROR_INIT;
  unsigned durability = s->settings->durability.values[0];
  if (bare) {
    s->writing = baseline_open(s->data->path, s->settings, durability);
    s->reading = baseline_open(s->data->path, s->settings, durability);
    return;
  }
  weir_pool_options options =
      bench_pool_options(s->settings, WEIR_POOL, s->settings->readers.values[0], durability);
  limit_wal(&options, s->settings);
  bench_check(weir_graph_open(&s->graph, s->data->path, &options, &err), &err, "opening the store");
}

static void close_store(store *s) {
  weir_error err = WEIR_ERROR_INIT;
  if (s->graph) {
    bench_check(weir_graph_close(s->graph, &err), &err, "closing the store");
  } else {
    baseline_close(s->reading);
    baseline_close(s->writing);
  }
  weir_arena_clear(&s->arena);
  free(s->first);
}

/* ---- The snapshot ---- */

/* Reads in the snapshot a node that the writer changes. Returns 0 if the snapshot has been ended. */
static int look(store *s) {
  weir_error err = WEIR_ERROR_INIT;
  weir_text key = weir_str(s->data->extras[0].key), got = {NULL, 0};
  weir_node node;
  if (s->graph) {
    int rc = weir_node_get(s->snapshot, key, &node, &s->arena, &err);
    if (rc == WEIR_TIMEOUT) {
      return 0;
    }
    bench_check(rc, &err, "reading in the snapshot");
    got = node.props;
  } else if (baseline_get(s->reading, key, &got) != SQLITE_OK) {
    bench_fail("bare SQLite: cannot read in the snapshot");
  }
  if (!s->first) {
    s->first = strndup(got.ptr, got.len);
  }
  if (!s->first || strlen(s->first) != got.len || memcmp(s->first, got.ptr, got.len) != 0) {
    s->errors->wrong++;
  }
  if (!s->graph) {
    baseline_done(s->reading);
  }
  return 1;
}

static void pin(store *s) {
  weir_error err = WEIR_ERROR_INIT;
  if (s->graph) {
    weir_pool *pool = weir_graph_pool(s->graph);
    bench_check(weir_snapshot_begin(pool, &s->snapshot, NULL, &err), &err, "beginning the snapshot");
  } else if (baseline_begin_read(s->reading) != SQLITE_OK) {
    bench_fail("bare SQLite: cannot begin the snapshot");
  }
  s->held = look(s);
}

static void unpin(store *s) {
  weir_error err = WEIR_ERROR_INIT;
  if (s->graph) {
    int rc = weir_snapshot_end(s->snapshot, &err);
    if (rc != WEIR_TIMEOUT) { /* it may say that it was ended before */
      bench_check(rc, &err, "ending the snapshot");
    }
  } else if (baseline_end_read(s->reading) != SQLITE_OK) {
    bench_fail("bare SQLite: cannot end the snapshot");
  }
  s->held = 0;
}

/* ---- The writer ---- */

typedef struct batch {
  store *store;
  uint64_t first;
} batch;

static int upsert_all(weir_txn *txn, void *data, weir_error *err) {
  const batch *b = data;
  int rc = WEIR_OK;
  for (unsigned i = 0; rc == WEIR_OK && i < b->store->settings->txn.values[0]; i++) {
    weir_node node = dataset_upsert(b->store->data, b->first + i);
    rc = weir_node_put(txn, &node, NULL, err);
  }
  return rc;
}

static int write_bare(store *s, uint64_t first) {
  int rc = baseline_begin(s->writing);
  for (unsigned i = 0; rc == SQLITE_OK && i < s->settings->txn.values[0]; i++) {
    weir_node node = dataset_upsert(s->data, first + i);
    rc = baseline_upsert(s->writing, &node);
  }
  if (rc == SQLITE_OK) {
    rc = baseline_commit(s->writing);
  }
  if (rc != SQLITE_OK) {
    baseline_rollback(s->writing);
    s->errors->busy += rc == SQLITE_BUSY;
    s->errors->other += rc != SQLITE_BUSY;
  }
  return rc == SQLITE_OK;
}

static int write_one(store *s, uint64_t first) {
  weir_error err = WEIR_ERROR_INIT;
  if (!s->graph) {
    return write_bare(s, first);
  }
  batch b = {s, first};
  int rc = weir_write(weir_graph_auto(s->graph), upsert_all, &b, NULL, &err);
  tally_weir(s->errors, rc);
  return rc == WEIR_OK;
}

/* At most rate transactions a second; what was missed is not made up for. */
static void *write_on(void *arg) {
  store *s = arg;
  unsigned size = s->settings->txn.values[0];
  uint64_t gap = 1000000000u / s->settings->rate.values[0], next = s->data->next_write;
  bench_exact_sleep();
  for (uint64_t due = bench_now(); !atomic_load(&s->stop);) {
    uint64_t begin = bench_now();
    if (write_one(s, next)) {
      dataset_committed(s->data, next, size);
      s->commits++;
    }
    next += size;
    uint64_t now = bench_now();
    if (now - begin > s->slowest_ns) {
      s->slowest_ns = now - begin;
    }
    due = due + gap > now ? due + gap : now;
    bench_sleep_until(due);
  }
  s->data->next_write = next;
  return NULL;
}

/* ---- Sampling ---- */

static uint64_t wal_size(const store *s) {
  char path[PATH_MAX + 8];
  struct stat st;
  snprintf(path, sizeof path, "%s-wal", s->data->path);
  return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void take_sample(store *s, pinned_sample *out, uint64_t size) {
  out->wal_mib = (double)size / (1 << 20);
  out->used_mib = out->checkpoints = NAN;
  if (s->graph) {
    weir_pool_stats stats;
    weir_error err = WEIR_ERROR_INIT;
    bench_check(weir_pool_stats_get(weir_graph_pool(s->graph), &stats, sizeof stats), &err, "statistics");
    out->used_mib = (double)stats.wal_pages * 4096 / (1 << 20);
    out->checkpoints = (double)stats.checkpoints;
  }
}

static void watch(store *s, pinned_run *run) {
  uint64_t interval = (uint64_t)(s->settings->seconds * 1e9 / PINNED_SAMPLES);
  uint64_t begin = bench_now(), before = begin, seen = s->commits;
  for (unsigned i = 0; i < PINNED_SAMPLES + PINNED_AFTER && !run->stopped; i++) {
    bench_sleep_until(begin + (i + 1) * interval);
    uint64_t now = bench_now(), commits = s->commits, size = wal_size(s);
    pinned_sample *sample = &run->samples[run->count++];
    sample->at_s = (double)(now - begin) / 1e9;
    if (s->held && !look(s)) {
      run->evicted_s = sample->at_s;
      unpin(s);
    }
    sample->held_s = s->held ? sample->at_s : NAN;
    sample->commits_per_s = (double)(commits - seen) * 1e9 / (double)(now - before);
    sample->slowest_us = (double)atomic_exchange(&s->slowest_ns, 0) / 1e3;
    take_sample(s, sample, size);
    run->stopped = size > PINNED_WAL_MAX;
    seen = commits;
    before = now;
    if (s->held && i + 1 == PINNED_SAMPLES) {
      unpin(s);
    }
  }
}

void pinned_run_once(const bench_settings *settings, dataset *data, int bare, pinned_run *run) {
  store s = {.settings = settings, .data = data, .errors = &run->errors};
  run->evicted_s = NAN;
  open_store(&s, bare);
  if (pthread_create(&s.writer, NULL, write_on, &s) != 0) {
    bench_fail("cannot start a thread");
  }
  pin(&s);
  watch(&s, run);
  s.stop = 1;
  pthread_join(s.writer, NULL);
  if (s.held) {
    unpin(&s);
  }
  close_store(&s);
  dataset_verify(data, settings, &run->errors);
}
