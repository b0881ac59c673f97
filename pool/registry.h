/*
 * The files that this process has open as pools, how often it has been forked, and how many threads have been
 * seen: the library's only global state. SQLite's POSIX locks belong to the process, so one file must be one
 * pool; and they do not pass to a child, so a child must use neither the pools nor the files that its parent
 * had open.
 */
#ifndef WEIR_POOL_REGISTRY_H
#define WEIR_POOL_REGISTRY_H

#include <stdint.h>

#include <weir/error.h>

struct weir__file;

/* Installs the fork handlers, once. To be called before anything else here. Errors: WEIR_NOMEM. */
int weir__registry_start(weir_error *err);

/* How many forks lie between that and this process: a handle is usable in the generation it was opened in. */
unsigned weir__fork_generation(void);

/* The calling thread's number, never given again. (A pthread_t is, once its thread has ended.) */
uint64_t weir__thread_id(void);

/* WEIR_FORKED if a parent had the file at `path` open, told without SQLite, some lock of which another thread
 * of the parent may have held. WEIR_OK also if `path` is no file's name. */
int weir__registry_check(const char *path, weir_error *err);

/*
 * Enters the file at `path` (which exists), by device and inode. Errors: WEIR_EXISTS, WEIR_FORKED (a parent
 * had it open), WEIR_IO, WEIR_NOMEM.
 */
int weir__registry_add(const char *path, struct weir__file **out, weir_error *err);

/* WEIR_IO if another file is at `path` now than the one of the entry, or none. */
int weir__registry_same(const struct weir__file *file, const char *path, weir_error *err);

/* Takes it out again. NULL is a no-op. */
void weir__registry_remove(struct weir__file *file);

#endif
