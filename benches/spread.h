/*
 * The median and the extremes of one figure over the repetitions of a cell.
 */
#ifndef BENCH_SPREAD_H
#define BENCH_SPREAD_H

#include <stddef.h>

/* NAN: there is no such figure. */
typedef struct spread {
  double low, median, high;
} spread;

/* The double at `offset` in struct number `index` of an array of structs of `size` bytes. */
double spread_value(const void *runs, size_t size, unsigned index, size_t offset);

/* Of the double at `offset` in each of the `count` structs of `size` bytes at `runs`, divided by that at
 * `below` in those at `divisor` unless that is NULL; over the repetitions that have both. */
spread spread_of(const void *runs, size_t size, unsigned count, size_t offset, const void *divisor,
                 size_t below);

/* The median of `field` over `count` runs. */
#define SPREAD_MEDIAN(runs, count, type, field)                                                              \
  (spread_of((runs), sizeof(type), (count), offsetof(type, field), NULL, 0).median)

#endif
