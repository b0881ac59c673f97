/*
 * The parts of weir-bench that every subcommand needs. One working directory a process; atexit removes it.
 */
#define _GNU_SOURCE /* nftw */
#include "bench.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <unistd.h>

static char directory[PATH_MAX];

_Noreturn void bench_fail(const char *format, ...) {
  va_list args;
  fflush(stdout);
  fputs("weir-bench: ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(1);
}

void bench_check(int rc, const weir_error *err, const char *doing) {
  if (rc != WEIR_OK) {
    bench_fail("%s: %s (%s)", doing, err->message[0] ? err->message : weir_strerror(rc), weir_error_name(rc));
  }
}

void *bench_alloc(size_t size) {
  void *memory = calloc(1, size ? size : 1);
  if (!memory) {
    bench_fail("out of memory (%zu bytes)", size);
  }
  return memory;
}

void bench_sleep_until(uint64_t ns) {
  struct timespec until = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  if (bench_now() < ns) {
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
  }
}

void bench_exact_sleep(void) {
  if (prctl(PR_SET_TIMERSLACK, 1) != 0) {
    bench_fail("cannot set the timer slack: %s", strerror(errno));
  }
}

int bench_listed(const char *list, const char *name) {
  size_t len = strlen(name);
  for (const char *p = list; p; p = strchr(p, ',')) {
    p += *p == ',';
    if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0')) {
      return 1;
    }
  }
  return 0;
}

void bench_check_list(const char *option, const char *list, const char *const *known, unsigned count) {
  char all[512] = "";
  size_t named = 0, at = 0;
  for (unsigned i = 0; i < count; i++) {
    named += bench_listed(list, known[i]) ? strlen(known[i]) + 1 : 0;
    at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "", known[i]);
  }
  if (named != strlen(list) + 1) { /* something is left over: a name that is not known, or one given twice */
    bench_fail("--%s %s: give some of %s, separated by commas, each once", option, list, all);
  }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  return remove(path);
}

static void remove_directory(void) {
  if (directory[0] && nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0) {
    fprintf(stderr, "weir-bench: cannot remove %s: %s\n", directory, strerror(errno));
  }
}

const char *bench_directory(const bench_settings *settings) {
  if (directory[0]) {
    return directory;
  }
  const char *parent = settings->dir ? settings->dir : getenv("TMPDIR");
  char path[PATH_MAX];
  int len = snprintf(path, sizeof path, "%s/weir-bench-XXXXXX", parent && *parent ? parent : "/tmp");
  if (len < 0 || (size_t)len >= sizeof path) {
    bench_fail("the name of the working directory is too long");
  }
  if (!mkdtemp(path)) {
    bench_fail("cannot make a directory like %s: %s", path, strerror(errno));
  }
  memcpy(directory, path, sizeof directory);
  if (atexit(remove_directory) != 0) {
    bench_fail("atexit failed");
  }
  return directory;
}

const char *bench_file_system(const char *path) {
  static const struct {
    unsigned long magic;
    const char *name;
  } known[] = {{0xef53, "ext4"},      {0x01021994, "tmpfs"},     {0x58465342, "xfs"},
               {0x9123683e, "btrfs"}, {0x794c7630, "overlayfs"}, {0x2fc12fc1, "zfs"}};
  struct statfs fs;
  if (statfs(path, &fs) != 0) {
    return "unknown";
  }
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if ((unsigned long)fs.f_type == known[i].magic) {
      return known[i].name;
    }
  }
  return "other";
}

weir_pool_options bench_pool_options(const bench_settings *settings, weir_mode mode, unsigned readers,
                                     unsigned durability) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.mode = mode;
  options.readers = mode == WEIR_POOL ? readers : 0;
  options.durability = (weir_durability)durability;
  options.cache_kib = (int)settings->cache_kib;
  options.statements = settings->statements;
  options.checkpoint_pages = settings->checkpoint;
  options.exclusive = (int)settings->exclusive;
  return options;
}

const char *bench_mode_name(weir_mode mode) {
  return mode == WEIR_POOL ? "pool" : mode == WEIR_SINGLE ? "single" : "bare";
}

const char *bench_durability_name(unsigned durability) {
  return durability == WEIR_FULL_SYNC ? "full" : "normal";
}

static int by_value(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

double bench_median(double *values, unsigned count) {
  if (count == 0) {
    return 0;
  }
  qsort(values, count, sizeof *values, by_value);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
