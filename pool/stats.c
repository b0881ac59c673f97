/* Counters of a pool, and events for its owner; see weir/pool.h, "Watching". */
#include <string.h>

#include "internal.h"
#include "trace.h"

void weir__trace(const weir_pool *pool, const weir_trace *event) {
  if (pool->options.trace) {
    pool->options.trace(event, pool->options.trace_data);
  }
}

static void read_side(weir_pool *pool, weir_pool_stats *stats) {
  uint64_t now = weir__now_ns();
  (void)pthread_mutex_lock(&pool->lock);
  int writer_open = pool->writer && pool->writer->conn;
  int writing = pool->writer && pool->writer->leased;
  stats->readers_open = pool->open - (unsigned)writer_open;
  stats->readers_in_use = pool->in_use - (unsigned)writing;
  stats->readers_waiting = pool->waiting;
  stats->reads = pool->reads;
  stats->read_waits = pool->read_waits;
  stats->replaced = pool->replaced;
  stats->old_readers = pool->old_readers;
  stats->evicted = pool->evicted;
  uint64_t oldest = now;
  for (unsigned i = 0; i < pool->slot_count; i++) {
    uint64_t since = __atomic_load_n(&pool->slots[i].since_ns, __ATOMIC_RELAXED);
    if (since && since < oldest) {
      oldest = since;
      stats->oldest_reader_label = __atomic_load_n(&pool->slots[i].label, __ATOMIC_RELAXED);
    }
  }
  stats->oldest_reader_us = (now - oldest) / WEIR__NS_PER_US;
  (void)pthread_mutex_unlock(&pool->lock);
}

static void write_side(weir_pool *pool, weir_pool_stats *stats) {
  weir__lane *lane = &pool->lane;
  (void)pthread_mutex_lock(&lane->lock);
  stats->writes_queued = lane->queued;
  stats->writes_queued_bytes = lane->submitted_bytes - lane->left_bytes;
  stats->commits = lane->commits;
  stats->writes = lane->writes;
  stats->rollbacks = lane->rollbacks;
  stats->reruns = lane->reruns;
  stats->write_waits = lane->waits;
  stats->foreign_commits = lane->foreign;
  stats->busy = __atomic_load_n(&lane->busy, __ATOMIC_RELAXED);
  stats->wal_pages = (uint64_t)lane->wal_pages;
  stats->checkpoints = lane->checkpoints;
  stats->checkpoint_us = lane->checkpoint_us;
  stats->wal_limits = lane->wal_limits;
  stats->wal_emptied = lane->wal_emptied;
  stats->sync_failures = lane->sync_failures;
  stats->members = lane->members;
  stats->write_wait_us = lane->wait_us;
  stats->commit_us = lane->commit_us;
  (void)pthread_mutex_unlock(&lane->lock);
}

int weir_pool_stats_get(weir_pool *pool, weir_pool_stats *out, size_t size) {
  if (!pool || !out || size == 0 || size > sizeof(*out)) {
    return WEIR_INVALID;
  }
  int rc = weir__pool_check(pool, NULL);
  if (rc != WEIR_OK) {
    return rc;
  }
  weir_pool_stats stats = {0};
  read_side(pool, &stats);
  write_side(pool, &stats);
  memcpy(out, &stats, size);
  return WEIR_OK;
}
