/*
 * Link prediction: the best pairs of all that share a neighbor.
 *
 * For each node `a`, its neighbors are gone through in order, and each adds what it is worth to the scores of
 * the nodes b > a whose neighbor it is, too. So a pair that shares nothing is never looked at, and a score is
 * summed up in the same order by any number of threads. Each thread keeps the best pairs that it has seen;
 * the best of them all are the result.
 */
#include <math.h>
#include <stdlib.h>

#include "../internal.h"
#include "sets.h"

#define NODES_A_PIECE 16 /* few: one node may be a large part of the work */

/* A thread's own. */
struct bench {
  double *score; /* by node, of pairs with the current `a`: 0: none yet; -INFINITY: there is an edge */
  uint32_t *met; /* the nodes that have a score */
  weir__best best;
};

struct prediction {
  const weir_projection *p;
  weir__team *team;
  weir_similarity kind;
  weir__sets neighbors; /* of nodes, in the direction asked for */
  weir__sets sharers;   /* in the other direction: of whom a node is a neighbor */
  const weir__sets *sharing;
  double *worth; /* of WEIR_ADAMIC_ADAR: by node; else NULL */
  struct bench benches[WEIR_THREADS_MAX];
};

/* Sets the scores of the nodes above `a` in its row. */
static void mark_row(const weir__rows *rows, uint32_t a, double *score, double value) {
  for (uint64_t i = rows->start[a + 1]; i > rows->start[a] && rows->far[i - 1] > a; i--) {
    score[rows->far[i - 1]] = value;
  }
}

static void mark_linked(const weir_projection *p, uint32_t a, double *score, double value) {
  mark_row(&p->out, a, score, value);
  if (!p->info.undirected) {
    mark_row(&p->in, a, score, value);
  }
}

/* How many nodes above `a` have a score then. */
static uint32_t add_scores(const struct prediction *job, struct bench *bench, uint32_t a) {
  const weir__sets *neighbors = &job->neighbors, *sharing = job->sharing;
  double *score = bench->score;
  uint32_t count = 0;
  for (uint64_t i = neighbors->start[a]; i < neighbors->start[a + 1]; i++) {
    uint32_t shared = neighbors->far[i];
    double worth = job->worth ? job->worth[shared] : 1;
    const uint32_t *first = sharing->far + sharing->start[shared];
    for (const uint32_t *at = sharing->far + sharing->start[shared + 1]; at > first && at[-1] > a; at--) {
      uint32_t b = at[-1];
      if (score[b] == 0) {
        bench->met[count++] = b;
      }
      score[b] += worth;
    }
  }
  return count;
}

static double final_score(const struct prediction *job, uint32_t a, uint32_t b, double score) {
  if (job->kind != WEIR_JACCARD) {
    return score;
  }
  double either = (double)weir__sets_count(&job->neighbors, a) + weir__sets_count(&job->neighbors, b) - score;
  return score / either;
}

static int predict(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct prediction *job = data;
  struct bench *bench = &job->benches[worker];
  int rc = WEIR_OK;
  for (uint64_t node = first; node < last && rc == WEIR_OK && !weir__team_ended(job->team, worker); node++) {
    uint32_t a = (uint32_t)node;
    if (weir__sets_count(&job->neighbors, a) == 0) {
      continue;
    }
    mark_linked(job->p, a, bench->score, -INFINITY);
    uint32_t count = add_scores(job, bench, a);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t b = bench->met[i];
      weir_link link = {a, b, final_score(job, a, b, bench->score[b])};
      bench->score[b] = 0;
      if (rc == WEIR_OK && !weir__best_beyond(&bench->best, link.value)) {
        rc = weir__best_offer(&bench->best, link);
      }
    }
    mark_linked(job->p, a, bench->score, 0);
  }
  return rc;
}

static int find_worth(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct prediction *job = data;
  (void)worker;
  for (uint64_t node = first; node < last; node++) {
    job->worth[node] = weir__worth(weir__sets_count(job->sharing, (uint32_t)node));
  }
  return WEIR_OK;
}

static int make_sets(struct prediction *job, weir_direction direction, weir__team *team, weir_error *err) {
  int rc = weir__sets_make(&job->neighbors, job->p, direction, team, err);
  job->sharing = &job->neighbors;
  if (rc == WEIR_OK && direction != WEIR_BOTH && !job->p->info.undirected) {
    weir_direction back = direction == WEIR_OUT ? WEIR_IN : WEIR_OUT;
    rc = weir__sets_make(&job->sharers, job->p, back, team, err);
    job->sharing = &job->sharers;
  }
  return rc;
}

static int make_room(struct prediction *job, unsigned threads, weir_error *err) {
  uint32_t nodes = job->p->info.nodes;
  int missing = 0;
  for (unsigned i = 0; i < threads; i++) {
    struct bench *bench = &job->benches[i];
    bench->score = calloc((size_t)nodes + 1, sizeof *bench->score);
    bench->met = malloc(((size_t)nodes + 1) * sizeof *bench->met);
    missing |= !bench->score || !bench->met;
  }
  if (job->kind == WEIR_ADAMIC_ADAR) {
    job->worth = malloc(((size_t)nodes + 1) * sizeof *job->worth);
    missing |= !job->worth;
  }
  return missing
             ? weir_fail(err, WEIR_NOMEM, "out of memory for the scores of %lu nodes", (unsigned long)nodes)
             : WEIR_OK;
}

/* The best of all threads go to those of the first one, which are the caller's. */
static void collect(struct prediction *job, unsigned threads) {
  weir__best *best = &job->benches[0].best;
  for (unsigned i = 1; i < threads; i++) {
    const weir__best *other = &job->benches[i].best;
    for (size_t k = 0; k < other->count; k++) {
      (void)weir__best_offer(best, other->links[k]); /* there is room for all */
    }
  }
  weir__best_sort(best);
}

static void clear(struct prediction *job) {
  weir__sets_free(&job->neighbors);
  weir__sets_free(&job->sharers);
  free(job->worth);
  for (unsigned i = 0; i < WEIR_THREADS_MAX; i++) {
    free(job->benches[i].score);
    free(job->benches[i].met);
    if (!job->benches[i].best.borrowed) {
      free(job->benches[i].best.links);
    }
  }
}

int weir_predict_links(const weir_projection *projection, weir_similarity kind, weir_direction direction,
                       const weir_run *run, weir_link *out, size_t room, size_t *count, weir_error *err) {
  int rc = weir__similar_check(projection, kind, &direction, err);
  if (rc == WEIR_OK && room > 0) {
    rc = weir__check_set(out, "out", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(count, "count", err);
  }
  if (rc) {
    return rc;
  }
  weir__team *team = NULL;
  uint64_t nodes = projection->info.nodes;
  rc = weir__team_open(&team, run, 6 * nodes, 4 * projection->info.edges,
                       err); /* the most: two for each set, one for worth, one for pairs */
  if (rc) {
    return rc;
  }
  struct prediction job = {.p = projection, .team = team, .kind = kind};
  unsigned threads = weir__team_size(team);
  job.benches[0].best = (weir__best){.links = out, .room = room, .limit = room, .borrowed = 1};
  for (unsigned i = 1; i < threads; i++) {
    job.benches[i].best.limit = room;
  }
  rc = make_room(&job, threads, err);
  if (rc == WEIR_OK) {
    rc = make_sets(&job, direction, team, err);
  }
  if (rc == WEIR_OK && job.worth) {
    rc = weir__team_each(team, nodes, 1024, find_worth, &job, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, nodes, NODES_A_PIECE, predict, &job, err);
  }
  if (rc == WEIR_OK) {
    collect(&job, threads);
    *count = job.benches[0].best.count;
  }
  clear(&job);
  return weir__team_close(team, rc, err);
}
