/* The test support itself: what other tests stand on. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support.h"

TestSuite(support, .timeout = 30);

Test(support, directory_is_empty_and_the_same_throughout_a_test) {
  const char *dir = weir_test_dir();
  char path[600];
  weir_test_path(path, sizeof path, "file");
  cr_assert(eq(int, strncmp(path, dir, strlen(dir)), 0));
  cr_assert(ne(int, access(path, F_OK), 0), "left over from an earlier run: %s", path);
  FILE *file = fopen(path, "w");
  cr_assert(ne(ptr, file, NULL));
  cr_assert(eq(int, fclose(file), 0));
  cr_assert(eq(str, (char *)weir_test_dir(), (char *)dir));
  cr_assert(eq(int, access(path, F_OK), 0));
}

Test(support, equal_seeds_give_equal_streams) {
  weir_test_rng one = {.state = weir_test_seed()}, two = one;
  for (int i = 0; i < 1000; i++) {
    uint64_t below = weir_test_below(&one, 7);
    cr_assert(eq(u64, below, weir_test_below(&two, 7)));
    cr_assert(lt(u64, below, 7));
  }
}

static int counts_down(void *data) {
  return --*(int *)data <= 0;
}
static int never(void *data) {
  (void)data;
  return 0;
}

Test(support, wait_ends_with_the_condition_or_at_its_deadline) {
  int asks = 3;
  cr_assert(eq(int, weir_test_wait(counts_down, &asks, WEIR_TEST_WAIT_MS), 1));
  cr_assert(eq(int, asks, 0));
  cr_assert(eq(int, weir_test_wait(never, NULL, 5), 0));
}
