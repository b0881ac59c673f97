/*
 * Checkpoints: copying the WAL into the database file, so that it can be used anew. Only the lane's thread
 * does it, on the lane's connection, between two transactions: so it can never meet a commit. SQLite before
 * 3.51.3 can lose pages when it does.
 *
 *   checkpoint_pages       new pages in the WAL: a passive checkpoint, once no write waits
 *   4 * checkpoint_pages   the same, although some wait
 *   wal_limit_pages        in the WAL: the lane stops for checkpoint_pause_ms at most, until no reader uses
 *                          it; it begins anew with the next commit
 *   wal_keep_kib           the file is larger, and nothing was committed for a moment: it is emptied
 *
 * And the sync of the WAL, and what is done when one has failed.
 */
#ifndef WEIR_POOL_CHECKPOINT_H
#define WEIR_POOL_CHECKPOINT_H

#include "internal.h"

/* Takes note of the WAL's size after a commit. */
void weir__checkpoint_note_locked(weir_pool *pool, int wal_pages);

/* Should the lane's thread run one now? */
int weir__checkpoint_due_locked(weir_pool *pool);

/* Should the WAL's file shrink, once the lane is idle? */
int weir__trim_wanted_locked(const weir_pool *pool);

/* Runs the checkpoint that is due. The calling thread drives the lane. */
void weir__checkpoint(weir_pool *pool);

/* ---- Durability; on the lane's connection, by its driver ---- */

/* Syncs the WAL, so that all commits in it survive a power cut. Errors: WEIR_INDETERMINATE. */
int weir__wal_sync(weir__conn *conn, weir_error *err);

/* What weir_flush does. Errors: as weir__wal_sync, weir__wal_heal. */
int weir__wal_flush(weir__conn *conn, const weir__job *job);

/* A sync has failed: the connection is closed when it is given back, and before anything else is acknowledged
 * weir__wal_heal is due. */
void weir__sync_failed(weir__conn *conn);

/* After a failed sync nobody knows what of the WAL is on the disk, and the kernel does not try again. So all
 * of it is copied to the database file, and begun anew. WEIR_OK if `job` may be run now. Errors: WEIR_IO. */
int weir__wal_heal(weir__conn *conn, const weir__job *job);

#endif
