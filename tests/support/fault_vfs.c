/*
 * What tests/support/fault_vfs.h declares. A file is the default VFS's own; only its table of methods is
 * replaced by a copy with some entries changed. That VFS has a few such tables.
 */
#include "fault_vfs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <sqlite3.h>

atomic_int fault_write, fault_sync;
atomic_long fault_syncs;
void (*_Atomic fault_before_sync)(void);
_Atomic(const fault_checkpoint *) fault_at_checkpoint;

static sqlite3_vfs vfs;
static sqlite3_vfs *real;

enum { TABLES = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a table is made */
static const sqlite3_io_methods *real_tables[TABLES];
static sqlite3_io_methods tables[TABLES];

static const sqlite3_io_methods *real_methods(const sqlite3_file *file) {
  return real_tables[file->pMethods - tables];
}

static int write_file(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset) {
  int failure = atomic_load(&fault_write);
  if (failure)
    errno = ENOSPC;
  return failure ? failure : real_methods(file)->xWrite(file, data, size, offset);
}

static int sync_file(sqlite3_file *file, int flags) {
  void (*before)(void) = atomic_load(&fault_before_sync);
  if (before)
    before();
  int failure = atomic_load(&fault_sync);
  if (failure)
    errno = ENOSPC;
  int rc = failure ? failure : real_methods(file)->xSync(file, flags);
  if (rc == SQLITE_OK)
    atomic_fetch_add(&fault_syncs, 1);
  return rc;
}

/* ---- Writes and checkpoints ---- */

/* Is the calling thread in a callback? */
static _Thread_local int called;

static void call(const fault_checkpoint *at, void (*fn)(void *data)) {
  if (!fn || called)
    return;
  called = 1;
  fn(at->data);
  called = 0;
}

/* SQLite's numbers of the locks of the log's index: of writing, and the first one of reading. */
enum { WRITE_LOCK = 0, READ_LOCKS = 3 };

/* Has the calling thread given the lock of writing back, and taken none of reading since? */
static _Thread_local int wrote;

/* A transaction that writes gives the lock of writing back first, then its lock of reading. */
static int lock_index(sqlite3_file *file, int first, int count, int flags) {
  int rc = real_methods(file)->xShmLock(file, first, count, flags);
  if (called)
    return rc;
  if (first == WRITE_LOCK && flags == (SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)) {
    wrote = 1;
  } else if (first >= READ_LOCKS && flags & SQLITE_SHM_SHARED) {
    const fault_checkpoint *at = atomic_load(&fault_at_checkpoint);
    int ended = wrote && flags & SQLITE_SHM_UNLOCK;
    wrote = 0;
    if (at && ended)
      call(at, at->written);
  }
  return rc;
}

/* Without memory-mapped pages, a checkpoint whose header is new is alone in calling this with no page. */
static int unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
  const fault_checkpoint *at = atomic_load(&fault_at_checkpoint);
  if (at && !page)
    call(at, at->window);
  return real_methods(file)->xUnfetch(file, offset, page);
}

/* ---- The VFS ---- */

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out_flags) {
  (void)self;
  int rc = real->xOpen(real, name, file, flags, out_flags);
  if (rc != SQLITE_OK)
    return rc;
  (void)pthread_mutex_lock(&lock);
  int i = 0;
  while (i < TABLES && real_tables[i] && real_tables[i] != file->pMethods)
    i++;
  if (i < TABLES && !real_tables[i]) {
    real_tables[i] = file->pMethods;
    tables[i] = *file->pMethods;
    tables[i].xWrite = write_file;
    tables[i].xSync = sync_file;
    if (file->pMethods->iVersion >= 2 && file->pMethods->xShmLock)
      tables[i].xShmLock = lock_index;
    if (file->pMethods->iVersion >= 3 && file->pMethods->xUnfetch)
      tables[i].xUnfetch = unfetch;
  }
  if (i < TABLES)
    file->pMethods = &tables[i];
  (void)pthread_mutex_unlock(&lock);
  return SQLITE_OK;
}

int fault_vfs_register(void) {
  real = sqlite3_vfs_find(NULL);
  if (!real)
    return SQLITE_ERROR;
  vfs = *real;
  vfs.zName = "fault";
  vfs.pNext = NULL;
  vfs.xOpen = open_file;
  return sqlite3_vfs_register(&vfs, 0);
}

sqlite3 *fault_vfs_open(const char *path) {
  char uri[700];
  sqlite3 *db = NULL;
  (void)snprintf(uri, sizeof uri, "file:%s?vfs=fault", path);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
  if (fault_vfs_register() == SQLITE_OK && sqlite3_open_v2(uri, &db, flags, NULL) == SQLITE_OK)
    return db;
  (void)sqlite3_close(db);
  return NULL;
}
