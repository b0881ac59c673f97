/*
 * Sorting by digits, the least first.
 *
 * Only the bits in which keys differ are looked at. For each digit every piece of the records is counted, and
 * from the counts follows where each piece's records of each digit go: so pieces can be moved at the same
 * time, and stay in order.
 */
#include "radix.h"

#include <stdatomic.h>
#include <stdlib.h>

#define DIGIT_BITS 10
#define DIGITS     (1u << DIGIT_BITS)
#define PIECES     16

struct sorting {
  const weir__keyed *from;
  weir__keyed *to;
  uint64_t grain;           /* records a piece */
  unsigned shift;           /* where the digit is */
  uint64_t (*at)[DIGITS];   /* by piece and digit: how many, then where the next one goes */
  _Atomic uint64_t varying; /* bits in which a key differs from the first one */
};

static unsigned digit_of(const struct sorting *job, uint64_t i) {
  return (unsigned)(job->from[i].key >> job->shift) & (DIGITS - 1);
}

static int compare_bits(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct sorting *job = data;
  uint64_t varying = 0, key = job->from[0].key;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    varying |= job->from[i].key ^ key;
  }
  atomic_fetch_or_explicit(&job->varying, varying, memory_order_relaxed);
  return WEIR_OK;
}

static int count_digits(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct sorting *job = data;
  uint64_t *count = job->at[first / job->grain];
  (void)worker;
  memset(count, 0, sizeof *job->at);
  for (uint64_t i = first; i < last; i++) {
    count[digit_of(job, i)]++;
  }
  return WEIR_OK;
}

static int move_records(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct sorting *job = data;
  uint64_t *at = job->at[first / job->grain];
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    job->to[at[digit_of(job, i)]++] = job->from[i];
  }
  return WEIR_OK;
}

static void place_pieces(struct sorting *job, uint64_t pieces) {
  uint64_t sum = 0;
  for (unsigned digit = 0; digit < DIGITS; digit++) {
    for (uint64_t piece = 0; piece < pieces; piece++) {
      uint64_t count = job->at[piece][digit];
      job->at[piece][digit] = sum;
      sum += count;
    }
  }
}

int weir__radix_sort(weir__keyed **records, weir__keyed **spare, uint64_t count, weir__team *team,
                     weir_error *err) {
  struct sorting job = {.from = *records, .grain = (count + PIECES - 1) / PIECES};
  if (count < 2) {
    return WEIR_OK;
  }
  job.at = malloc(PIECES * sizeof *job.at);
  if (!job.at) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for sorting");
  }
  int rc = weir__team_each(team, count, job.grain, compare_bits, &job, err);
  uint64_t varying = atomic_load_explicit(&job.varying, memory_order_relaxed);
  while (rc == WEIR_OK && varying) {
    job.shift = (unsigned)__builtin_ctzll(varying);
    varying &= ~((uint64_t)(DIGITS - 1) << job.shift);
    job.from = *records;
    job.to = *spare;
    rc = weir__team_each(team, count, job.grain, count_digits, &job, err);
    if (rc == WEIR_OK) {
      place_pieces(&job, (count + job.grain - 1) / job.grain);
      rc = weir__team_each(team, count, job.grain, move_records, &job, err);
    }
    weir__keyed *sorted = *spare;
    *spare = *records;
    *records = sorted;
  }
  free(job.at);
  return rc;
}
