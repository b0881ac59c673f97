/* Monotonic time for waits and deadlines. */
#ifndef WEIR_POOL_CLOCK_H
#define WEIR_POOL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define WEIR__NS_PER_US UINT64_C(1000)
#define WEIR__NS_PER_MS UINT64_C(1000000)
#define WEIR__NS_PER_S  UINT64_C(1000000000)

static inline uint64_t weir__now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
  return (uint64_t)now.tv_sec * WEIR__NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline struct timespec weir__timespec(uint64_t ns) {
  struct timespec time = {.tv_sec = (time_t)(ns / WEIR__NS_PER_S), .tv_nsec = (long)(ns % WEIR__NS_PER_S)};
  return time;
}

#endif
