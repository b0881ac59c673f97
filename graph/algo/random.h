/* Random numbers from a seed (SplitMix64): the same everywhere, and not for secrets. */
#ifndef WEIR_GRAPH_ALGO_RANDOM_H
#define WEIR_GRAPH_ALGO_RANDOM_H

#include <stdint.h>

/* A stream of numbers: begins as the seed. */
typedef uint64_t weir__random;

static inline uint64_t weir__random_next(weir__random *random) {
  uint64_t mixed = *random += UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ (mixed >> 31);
}

/* From 0 to below - 1; the highest bits of a product, which favors no number by more than below / 2^32. */
static inline uint32_t weir__random_below(weir__random *random, uint32_t below) {
  return (uint32_t)(((weir__random_next(random) >> 32) * below) >> 32);
}

/* From 0 on, less than 1. */
static inline double weir__random_real(weir__random *random) {
  return (double)(weir__random_next(random) >> 11) * 0x1p-53;
}

/* Puts the first `count` of `size` items into random order: each that of any of those not before it. */
static inline void weir__random_shuffle(weir__random *random, uint32_t *items, uint32_t size,
                                        uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t other = i + weir__random_below(random, size - i), item = items[i];
    items[i] = items[other];
    items[other] = item;
  }
}

#endif
