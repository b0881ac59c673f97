/*
 * A SQLite VFS named "fault": the default one, but that its writes and syncs fail when told to. For databases
 * opened as "file:PATH?vfs=fault". Nothing here asserts.
 */
#ifndef WEIR_TEST_FAULT_VFS_H
#define WEIR_TEST_FAULT_VFS_H

#include <stdatomic.h>

/* What all writes, and all syncs, return from now on, with errno ENOSPC; 0: they work. */
extern atomic_int fault_write, fault_sync;

/* Registers the VFS. Returns SQLite's code. */
int fault_vfs_register(void);

#endif
