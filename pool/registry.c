/* The registry of open files; see registry.h. A list: a process has few stores open. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <utlist.h>

#include "registry.h"

struct weir__file {
  dev_t device;
  ino_t inode;
  unsigned generation; /* of the process that opened it */
  struct weir__file *next;
};

static struct {
  pthread_mutex_t lock; /* guards files */
  struct weir__file *files;
  unsigned generation; /* atomic: raised in each child */
  uint64_t threads;    /* atomic: that have a number */
  pthread_once_t once;
  int failed; /* the fork handlers could not be installed */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* The lock is held across fork(), so that the child finds the list whole. */
static void before_fork(void) {
  (void)pthread_mutex_lock(&registry.lock);
}

static void after_fork_in_parent(void) {
  (void)pthread_mutex_unlock(&registry.lock);
}

static void after_fork_in_child(void) {
  __atomic_add_fetch(&registry.generation, 1, __ATOMIC_RELAXED);
  (void)pthread_mutex_unlock(&registry.lock);
}

static void install(void) {
  registry.failed = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0;
}

int weir__registry_start(weir_error *err) {
  if (pthread_once(&registry.once, install) != 0 || registry.failed) {
    return weir_fail(err, WEIR_NOMEM, "cannot install fork handlers");
  }
  return WEIR_OK;
}

unsigned weir__fork_generation(void) {
  return __atomic_load_n(&registry.generation, __ATOMIC_RELAXED);
}

uint64_t weir__thread_id(void) {
  static _Thread_local uint64_t id;
  if (!id) {
    id = __atomic_add_fetch(&registry.threads, 1, __ATOMIC_RELAXED);
  }
  return id;
}

static struct weir__file *find_locked(const struct stat *status) {
  struct weir__file *file = registry.files;
  while (file && (file->device != status->st_dev || file->inode != status->st_ino)) {
    file = file->next;
  }
  return file;
}

static int fail_forked(const char *path, weir_error *err) {
  return weir_fail(err, WEIR_FORKED, "'%s' was open when this process was forked: call exec first", path);
}

int weir__registry_check(const char *path, weir_error *err) {
  struct stat status;
  if (weir__fork_generation() == 0 || stat(path, &status) != 0) {
    return WEIR_OK;
  }
  (void)pthread_mutex_lock(&registry.lock);
  const struct weir__file *file = find_locked(&status);
  int foreign = file && file->generation != weir__fork_generation();
  (void)pthread_mutex_unlock(&registry.lock);
  return foreign ? fail_forked(path, err) : WEIR_OK;
}

int weir__registry_add(const char *path, struct weir__file **out, weir_error *err) {
  *out = NULL;
  struct stat status;
  if (stat(path, &status) != 0) { /* never open(): closing it again would drop SQLite's locks */
    int code = weir_fail(err, WEIR_IO, "cannot look at '%s': %s", path, strerror(errno));
    if (err) {
      err->system_errno = errno;
    }
    return code;
  }
  struct weir__file *file = calloc(1, sizeof(*file));
  if (!file) {
    return weir_fail(err, WEIR_NOMEM, "out of memory");
  }
  file->device = status.st_dev;
  file->inode = status.st_ino;
  file->generation = weir__fork_generation();

  (void)pthread_mutex_lock(&registry.lock);
  const struct weir__file *other = find_locked(&status);
  int foreign = other && other->generation != file->generation;
  if (!other) {
    LL_PREPEND(registry.files, file);
  }
  (void)pthread_mutex_unlock(&registry.lock);

  if (!other) {
    *out = file;
    return WEIR_OK;
  }
  free(file);
  return foreign
             ? fail_forked(path, err)
             : weir_fail(err, WEIR_EXISTS, "'%s' is already open in this process: share that handle", path);
}

int weir__registry_same(const struct weir__file *file, const char *path, weir_error *err) {
  struct stat status;
  if (stat(path, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode) {
    return WEIR_OK;
  }
  return weir_fail(err, WEIR_IO, "'%s' was replaced while it was open: close it, and open it again", path);
}

void weir__registry_remove(struct weir__file *file) {
  if (!file) {
    return;
  }
  (void)pthread_mutex_lock(&registry.lock);
  LL_DELETE(registry.files, file);
  (void)pthread_mutex_unlock(&registry.lock);
  free(file);
}
