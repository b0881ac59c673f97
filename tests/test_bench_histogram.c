/*
 * benches/histogram.c against a sorted array: quantiles within one percent, the maximum exact.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "../benches/histogram.h"

TestSuite(bench_histogram, .timeout = 20);

static int by_value(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return *state >> 20;
}

static void expect_near(uint64_t got, uint64_t want) {
  double allowed = (double)want * 0.01;
  double off = got > want ? (double)(got - want) : (double)(want - got);
  cr_expect(off <= allowed, "got %lu, want %lu within one percent", (unsigned long)got, (unsigned long)want);
}

Test(bench_histogram, quantiles_are_within_one_percent_of_the_sorted_values) {
  enum { COUNT = 20000 };
  static uint64_t values[COUNT];
  histogram *h = calloc(1, sizeof *h);
  uint64_t state = 7;
  for (int i = 0; i < COUNT; i++) { /* magnitudes from 1 ns to about a minute */
    values[i] = next_random(&state) >> (8 + next_random(&state) % 36);
    histogram_record(h, values[i]);
  }
  qsort(values, COUNT, sizeof values[0], by_value);
  const double quantile[] = {0.001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999};
  for (size_t i = 0; i < sizeof quantile / sizeof quantile[0]; i++)
    expect_near(histogram_quantile(h, quantile[i]), values[(size_t)(quantile[i] * COUNT + 0.5) - 1]);
  cr_assert(eq(u64, histogram_quantile(h, 1.0), values[COUNT - 1]));
  cr_assert(eq(u64, h->max, values[COUNT - 1]));
  free(h);
}

Test(bench_histogram, small_values_are_exact) {
  histogram *h = calloc(1, sizeof *h);
  for (uint64_t v = 1; v <= 100; v++)
    histogram_record(h, v);
  cr_assert(eq(u64, histogram_quantile(h, 0.5), 50));
  cr_assert(eq(u64, histogram_quantile(h, 0.99), 99));
  cr_assert(eq(u64, histogram_quantile(h, 0.0), 1));
  free(h);
}

Test(bench_histogram, every_power_of_two_keeps_its_place) {
  for (unsigned bit = 0; bit < 42; bit++)
    for (int step = -1; step <= 1; step++) {
      histogram *h = calloc(1, sizeof *h);
      uint64_t value = (1ull << bit) + (uint64_t)(int64_t)step;
      histogram_record(h, value);
      histogram_record(h, UINT64_MAX); /* so that the maximum does not hide the bucket */
      expect_near(histogram_quantile(h, 0.5), value);
      free(h);
    }
}

Test(bench_histogram, values_beyond_the_range_are_kept_as_the_maximum) {
  histogram *h = calloc(1, sizeof *h);
  histogram_record(h, 1ull << 50);
  histogram_record(h, UINT64_MAX);
  cr_assert(eq(u64, histogram_quantile(h, 0.99), UINT64_MAX));
  cr_assert(eq(u64, h->max, UINT64_MAX));
  free(h);
}

Test(bench_histogram, an_empty_one_gives_zero) {
  histogram *h = calloc(1, sizeof *h);
  cr_assert(eq(u64, histogram_quantile(h, 0.99), 0));
  cr_assert(eq(dbl, histogram_quantiles(h).max, 0.0));
  free(h);
}

Test(bench_histogram, merging_gives_the_same_as_recording_in_one) {
  histogram *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b), *all = calloc(1, sizeof *all);
  uint64_t state = 11;
  for (int i = 0; i < 5000; i++) {
    uint64_t value = next_random(&state) >> 20;
    histogram_record(i % 3 ? a : b, value);
    histogram_record(all, value);
  }
  histogram_merge(a, b);
  cr_assert(eq(u64, a->count, all->count));
  for (double q = 0.05; q <= 1.0; q += 0.05)
    cr_assert(eq(u64, histogram_quantile(a, q), histogram_quantile(all, q)));
  free(a);
  free(b);
  free(all);
}
