/* Closeness: the distances from each node, by steps of many nodes at once, or by weights of one after
 * another; a node's are added up by one thread, the nearest first. */
#include <math.h>
#include <stdlib.h>

#include <weir/algo.h>

#include "../internal.h"
#include "dijkstra.h"
#include "steps.h"

#define PIECES 16 /* a round: then progress is told */

/* What a thread needs: one of the two. */
struct scratch {
  weir__steps steps;
  weir__dijkstra ways;
};

struct closeness {
  const weir_projection *p;
  weir__team *team;
  weir__sides sides;
  int weighted;
  int harmonic;
  uint32_t done;  /* sources before the round */
  uint32_t piece; /* sources in one */
  double *score;
  struct scratch *scratch; /* by worker */
};

/* What is known of the way from one node to all others. */
struct sums {
  uint64_t reached;
  double distance, inverse;
};

static double score_of(const struct closeness *c, const struct sums *sums) {
  uint32_t nodes = c->p->info.nodes;
  if (c->harmonic) {
    return nodes > 1 ? sums->inverse / (nodes - 1.0) : 0;
  }
  return sums->reached > 0 ? (double)sums->reached / sums->distance : NAN;
}

/* A step in a large graph takes a second: it may be the last. */
static void walk_steps(const struct closeness *c, unsigned worker, uint32_t first, uint32_t last) {
  weir__steps *s = &c->scratch[worker].steps;
  struct sums sums[WEIR__STEPS_SOURCES] = {{0, 0, 0}};
  weir__steps_begin(s, first, last);
  for (uint32_t depth = 1; weir__steps_go(s) && !weir__team_ended(c->team, worker); depth++) {
    for (uint32_t i = 0; i < last - first; i++) {
      sums[i].reached += s->met[i];
      sums[i].distance += (double)depth * s->met[i];
      sums[i].inverse += (double)s->met[i] / depth;
    }
  }
  for (uint32_t i = 0; i < last - first; i++) {
    c->score[first + i] = score_of(c, &sums[i]);
  }
}

static void walk_weighted(const struct closeness *c, weir__dijkstra *d, uint32_t source) {
  struct sums sums = {0, 0, 0};
  weir__dijkstra_from(d, source);
  sums.reached = d->reached - 1;
  for (uint32_t at = 1; at < d->reached; at++) {
    sums.distance += d->distance[d->order[at]];
    sums.inverse += 1 / d->distance[d->order[at]];
  }
  c->score[source] = score_of(c, &sums);
}

/* The items are sources, counted from those that are done. */
static int walk(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct closeness *c = data;
  struct scratch *scratch = &c->scratch[worker];
  uint32_t from = c->done + (uint32_t)first, end = c->done + (uint32_t)last;
  if (!c->weighted) {
    walk_steps(c, worker, from, end);
    return WEIR_OK;
  }
  for (; from < end; from++) {
    walk_weighted(c, &scratch->ways, from);
  }
  return WEIR_OK;
}

static int init_scratch(struct scratch *scratch, const struct closeness *c) {
  scratch->steps.sides = scratch->ways.sides = c->sides;
  uint32_t nodes = c->p->info.nodes;
  return c->weighted ? weir__dijkstra_init(&scratch->ways, nodes) : weir__steps_init(&scratch->steps, nodes);
}

static int make_scratch(struct closeness *c, unsigned workers, weir_error *err) {
  c->scratch = calloc(workers, sizeof *c->scratch);
  int rc = c->scratch ? WEIR_OK : WEIR_NOMEM;
  for (unsigned i = 0; i < workers && rc == WEIR_OK; i++) {
    c->scratch[i].ways.team = c->team;
    c->scratch[i].ways.worker = i;
    rc = init_scratch(&c->scratch[i], c);
  }
  if (rc) {
    rc = weir_fail(err, rc, "out of memory for the closeness of %lu nodes", (unsigned long)c->p->info.nodes);
  }
  return rc;
}

static void free_scratch(struct closeness *c, unsigned workers) {
  for (unsigned i = 0; i < workers && c->scratch; i++) {
    weir__dijkstra_clear(&c->scratch[i].ways);
    weir__steps_clear(&c->scratch[i].steps);
  }
  free(c->scratch);
}

static int compute(struct closeness *c, const weir_run *run, weir_error *err) {
  uint32_t nodes = c->p->info.nodes;
  uint64_t work = (nodes + weir__sides_total(&c->sides, nodes)) / (c->weighted ? 1 : WEIR__STEPS_SOURCES);
  weir__team *team = NULL;
  int rc = weir__team_open(&team, run, nodes * (1 + work), nodes * (1 + work), err);
  if (rc) {
    return rc;
  }
  unsigned workers = weir__team_size(team);
  c->team = team;
  c->piece = c->weighted ? 1 : WEIR__STEPS_SOURCES;
  uint64_t round = (uint64_t)PIECES * c->piece;
  rc = make_scratch(c, workers, err);
  for (uint64_t done = 0; done < nodes && rc == WEIR_OK; done += round) {
    uint64_t left = nodes - done, now = left < round ? left : round;
    c->done = (uint32_t)done;
    rc = weir__team_each(team, now, c->piece, walk, c, err);
    if (rc == WEIR_OK) {
      rc = weir__team_tick(team, now * work, err);
    }
  }
  free_scratch(c, workers);
  return weir__team_close(team, rc, err);
}

int weir_closeness(const weir_projection *p, const weir_centrality_options *options, const weir_run *run,
                   double *score, weir_error *err) {
  weir_centrality_options known = WEIR_CENTRALITY_OPTIONS_INIT;
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(score, "score", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__options_copy(&known, sizeof known, options, "weir_centrality_options", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__direction_of(p, &known.direction, err);
  }
  struct closeness c = {.p = p, .harmonic = known.harmonic, .score = score};
  if (rc == WEIR_OK) {
    c.sides = weir__sides_of(p, known.direction);
    rc = weir__dijkstra_wanted(p, known.unweighted, &c.weighted, err);
  }
  return rc == WEIR_OK ? compute(&c, run, err) : rc;
}
