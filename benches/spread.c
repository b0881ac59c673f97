/*
 * Spreads. Figures that do not exist (NAN, or infinite) are left out.
 */
#include "spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

double spread_value(const void *runs, size_t size, unsigned index, size_t offset) {
  double value;
  memcpy(&value, (const char *)runs + index * size + offset, sizeof value);
  return value;
}

spread spread_of(const void *runs, size_t size, unsigned count, size_t offset, const void *divisor,
                 size_t below) {
  double *values = bench_alloc(count * sizeof *values);
  unsigned known = 0;
  for (unsigned i = 0; i < count; i++) {
    double value = spread_value(runs, size, i, offset);
    if (divisor) {
      value /= spread_value(divisor, size, i, below);
    }
    if (isfinite(value)) {
      values[known++] = value;
    }
  }
  spread found = {NAN, NAN, NAN};
  if (known > 0) {
    found.median = bench_median(values, known); /* sorts them */
    found.low = values[0];
    found.high = values[known - 1];
  }
  free(values);
  return found;
}
