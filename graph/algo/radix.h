/* Records are sorted by a number, those of equal numbers staying in their order, by threads together. */
#ifndef WEIR_GRAPH_ALGO_RADIX_H
#define WEIR_GRAPH_ALGO_RADIX_H

#include <string.h>

#include "team.h"

typedef struct weir__keyed {
  uint64_t key;   /* what is sorted by, ascending */
  uint64_t value; /* what goes with it */
} weir__keyed;

/* A number whose order is that of doubles that are not NAN; -0.0 and 0.0 have the same. */
static inline uint64_t weir__key_of_double(double value) {
  uint64_t bits = 0;
  value += 0.0; /* makes -0.0 0.0 */
  memcpy(&bits, &value, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline double weir__double_of_key(uint64_t key) {
  uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
  double value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Sorts `count` records; `spare` is room for as many. The two may change places. A record is a unit
 * of progress for each time that it is looked at: at most WEIR__RADIX_MOST times. */
int weir__radix_sort(weir__keyed **records, weir__keyed **spare, uint64_t count, weir__team *team,
                     weir_error *err);

#define WEIR__RADIX_MOST 15 /* once for what differs, twice for each digit */

#endif
