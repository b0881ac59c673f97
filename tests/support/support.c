/* What tests/support/support.h declares. */
#define _GNU_SOURCE /* nftw */
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "support.h"

static char test_dir[512];

static void fail(const char *what, const char *path) {
  fprintf(stderr, "%s: %s: %s\n", what, path, strerror(errno));
  abort();
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place) {
  (void)info;
  (void)type;
  (void)place;
  return remove(path);
}

static void make_dirs(char *path) {
  for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash)
      *slash = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      fail("mkdir", path);
    if (!slash)
      return;
    *slash = '/';
  }
}

const char *weir_test_dir(void) {
  if (test_dir[0] != '\0')
    return test_dir;
  /* Not argv[0], which Criterion replaces in the process that runs a test. */
  char program[512] = "";
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
    fail("readlink", "/proc/self/exe");
  const char *slash = strrchr(program, '/');
  const struct criterion_test *test = criterion_current_test;
  int length = snprintf(test_dir, sizeof test_dir, "%s/%s/%s.%s", WEIR_TEST_TMP, slash ? slash + 1 : program,
                        test->category, test->name);
  if (length < 0 || (size_t)length >= sizeof test_dir) {
    errno = ENAMETOOLONG;
    fail("test directory", WEIR_TEST_TMP);
  }
  if (nftw(test_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
    fail("remove", test_dir);
  make_dirs(test_dir);
  return test_dir;
}

void weir_test_path(char *buf, size_t size, const char *name) {
  int length = snprintf(buf, size, "%s/%s", weir_test_dir(), name);
  if (length < 0 || (size_t)length >= size) {
    errno = ENAMETOOLONG;
    fail("test path", name);
  }
}

static uint64_t now_ns(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t seed;

static void choose_seed(void) {
  const char *given = getenv("WEIR_TEST_SEED");
  seed = given ? strtoull(given, NULL, 0) : now_ns(CLOCK_REALTIME);
  fprintf(stderr, "seed: run again with WEIR_TEST_SEED=%llu\n", (unsigned long long)seed);
}

uint64_t weir_test_seed(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, choose_seed);
  return seed;
}

uint64_t weir_test_next(weir_test_rng *rng) {
  uint64_t mixed = rng->state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

uint64_t weir_test_below(weir_test_rng *rng, uint64_t below) {
  return weir_test_next(rng) % below;
}

int weir_test_wait(int (*condition)(void *data), void *data, unsigned timeout_ms) {
  const uint64_t end = now_ns(CLOCK_MONOTONIC) + timeout_ms * UINT64_C(1000000);
  const struct timespec pause = {.tv_nsec = 1000000};
  while (!condition(data)) {
    if (now_ns(CLOCK_MONOTONIC) >= end)
      return condition(data);
    (void)nanosleep(&pause, NULL);
  }
  return 1;
}
