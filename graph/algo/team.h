/*
 * Threads that share the work of one computation, for as long as it lasts.
 *
 * Work is split into pieces of equal size, whatever the number of threads: so what is computed piece by
 * piece, and put together in the order of the pieces, is the same for any number. The calling thread takes
 * part, and is the one that tells progress.
 */
#ifndef WEIR_GRAPH_ALGO_TEAM_H
#define WEIR_GRAPH_ALGO_TEAM_H

#include <weir/projection.h>

typedef struct weir__team weir__team;

/* Makes a team as `run` (NULL: defaults) asks. Progress is told in `units`, so many in all. `edges`: about
 * how many are looked at in all; of itself it starts no more threads than pay for so much work. */
int weir__team_open(weir__team **out, const weir_run *run, uint64_t units, uint64_t edges, weir_error *err);

/* As weir__team_open, for work that the calling thread does alone: starts no others. */
int weir__team_open_alone(weir__team **out, const weir_run *run, uint64_t units, weir_error *err);

/* How many threads weir__team_open would have made it of. */
unsigned weir__team_wished(const weir__team *team, uint64_t edges);

/* Ends the threads. If rc is WEIR_OK, tells the progress of the end. Returns rc, or what on_progress made of
 * it. NULL is a no-op. */
int weir__team_close(weir__team *team, int rc, weir_error *err);

/* How many threads there are; workers are numbered from 0 to this - 1. */
unsigned weir__team_size(const weir__team *team);

/* Works on the items first to last - 1, on worker's thread. Returns WEIR_OK or WEIR_NOMEM; or another code,
 * for which the caller of weir__team_each finds words. */
typedef int (*weir__work_fn)(void *data, uint64_t first, uint64_t last, unsigned worker);

/*
 * Works on the items 0 to count - 1, in pieces [k grain, (k + 1) grain); in any order, and at the same time.
 * Returns when all is done. Each item is a unit of progress. Errors: WEIR_NOMEM (of a piece: some others are
 * left out), WEIR_CANCELED.
 */
int weir__team_each(weir__team *team, uint64_t count, uint64_t grain, weir__work_fn work, void *data,
                    weir_error *err);

/* Within a piece that takes long: 1 if it is to be left, since another one failed, or on_progress, which the
 * calling thread asks, wants an end. */
int weir__team_ended(weir__team *team, unsigned worker);

/* For work on the calling thread alone: so many units are done. Errors: WEIR_CANCELED. */
int weir__team_tick(weir__team *team, uint64_t units, weir_error *err);

/* The same for inner loops: adds `more` to *units, and tells them once they are many. What is left in *units
 * at the end is the caller's to tell. */
static inline int weir__team_pace(weir__team *team, uint64_t *units, uint64_t more, weir_error *err) {
  *units += more;
  if (*units < UINT64_C(65536)) {
    return WEIR_OK;
  }
  uint64_t all = *units;
  *units = 0;
  return weir__team_tick(team, all, err);
}

#endif
