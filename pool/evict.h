/*
 * Reads that are too old. A read holds its snapshot, and a checkpoint cannot pass it, so one that never ends
 * lets the WAL grow without bound. It is reported, and ended if the owner of the pool asked for that.
 */
#ifndef WEIR_POOL_EVICT_H
#define WEIR_POOL_EVICT_H

#include <weir/pool.h>

struct weir__slot;

/* Reports reads older than reader_age_ms, and with reader_evict tells them to end, or looks again at those
 * that were told before. `pages`: in the WAL. Returns how many have given their snapshot up. Called by the
 * lane's driver. */
unsigned weir__evict_old(weir_pool *pool, int pages);

/* Waits until nobody is about to end the read of a slot that its holder wants to give back. */
void weir__evict_wait(weir_pool *pool, struct weir__slot *slot);

#endif
