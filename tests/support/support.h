/*
 * What test programs share: a directory for files, seeded random numbers, waiting with a deadline.
 *
 * Nothing here asserts, so all of it may be used on any thread.
 */
#ifndef WEIR_TEST_SUPPORT_H
#define WEIR_TEST_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The directory of the running test, below Testing/tmp of the build tree, empty when first asked for. What is
 * in it stays for a look after a failure; the next run of the same test wipes it. Aborts if it cannot be
 * made. First call on the test's main thread.
 */
const char *weir_test_dir(void);

/* Writes the path of `name` in weir_test_dir() to buf[0..size-1]. Aborts if it does not fit. */
void weir_test_path(char *buf, size_t size, const char *name);

/*
 * The seed of this run: WEIR_TEST_SEED if it is set, else taken from the clock. Prints it with the first
 * call, so that a failure can be run again.
 */
uint64_t weir_test_seed(void);

/* How many rounds of a test that is one thread: ThreadSanitizer, which makes it some ten times slower, sees
 * no more in many than in few. */
#ifdef __SANITIZE_THREAD__
#define WEIR_TEST_ROUNDS(count) (((count) + 3) / 4)
#else
#define WEIR_TEST_ROUNDS(count) (count)
#endif

/* A stream of random numbers (SplitMix64). One thread at a time; equal seeds give equal streams. */
typedef struct weir_test_rng {
  uint64_t state;
} weir_test_rng;

uint64_t weir_test_next(weir_test_rng *rng);

/* A number from 0 to below-1; below > 0. */
uint64_t weir_test_below(weir_test_rng *rng, uint64_t below);

/* Long enough for what is bound to happen, under a sanitizer and on a busy machine too. */
enum { WEIR_TEST_WAIT_MS = 20000 };

/*
 * Waits until condition(data) is nonzero; 0 if it is not within `timeout_ms`. The condition is asked again
 * and again on the calling thread: let it read atomics, or take the lock that it needs.
 */
int weir_test_wait(int (*condition)(void *data), void *data, unsigned timeout_ms);

#endif
