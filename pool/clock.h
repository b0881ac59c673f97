/* Monotonic time for waits and deadlines, and waiting with and without sleeping. */
#ifndef WEIR_POOL_CLOCK_H
#define WEIR_POOL_CLOCK_H

#include <stddef.h>
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

/* One turn of a loop that waits a few microseconds for another processor. Not sched_yield(): Linux from 6.18
 * on takes a whole time slice from whoever yields, so that beside a busy writer it would not run for
 * milliseconds. */
static inline void weir__relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* An option in milliseconds as nanoseconds; negative means none. */
static inline uint64_t weir__ms(int ms) {
  return ms > 0 ? (uint64_t)ms * WEIR__NS_PER_MS : 0;
}

static inline struct timespec weir__timespec(uint64_t ns) {
  struct timespec time = {.tv_sec = (time_t)(ns / WEIR__NS_PER_S), .tv_nsec = (long)(ns % WEIR__NS_PER_S)};
  return time;
}

/* Sleeps so long, or less: callers look and pause again. */
static inline void weir__pause(uint64_t ns) {
  struct timespec pause = weir__timespec(ns);
  (void)nanosleep(&pause, NULL);
}

#endif
