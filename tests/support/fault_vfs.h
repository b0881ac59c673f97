/*
 * A SQLite VFS named "fault": the default one, but that its writes and syncs fail when told to, and that it
 * calls back between writes, and in the middle of checkpoints. For databases opened as "file:PATH?vfs=fault".
 * Nothing here asserts.
 */
#ifndef WEIR_TEST_FAULT_VFS_H
#define WEIR_TEST_FAULT_VFS_H

#include <stdatomic.h>

struct sqlite3;

/* What all writes, and all syncs, return from now on, with errno ENOSPC; 0: they work. */
extern atomic_int fault_write, fault_sync;

/* How many syncs have succeeded so far. */
extern atomic_long fault_syncs;

/* Is called before each sync, also one that is to fail, on its thread; NULL: nothing is. */
extern void (*_Atomic fault_before_sync)(void);

/*
 * What is called, on the thread of any connection that comes to that point. What these do with SQLite
 * themselves calls nothing. A NULL member is not called.
 */
typedef struct fault_checkpoint {
  /* A transaction that had the lock of writing has ended, and holds nothing any more. */
  void (*written)(void *data);
  /* A checkpoint has copied the header of the log's index, which was not the one that its connection knew,
   * and has not yet compared it with what was copied before. In this window a commit that begins the log anew
   * makes SQLite 3.7.0 to 3.51.2 lose pages. */
  void (*window)(void *data);
  void *data;
} fault_checkpoint;

/* NULL: nothing is called. */
extern _Atomic(const fault_checkpoint *) fault_at_checkpoint;

/* Registers the VFS. Returns SQLite's code. */
int fault_vfs_register(void);

/* A connection on it, past any pool, or NULL. */
struct sqlite3 *fault_vfs_open(const char *path);

#endif
