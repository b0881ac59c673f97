/*
 * Betweenness: the sum over all sources, or some, of what brandes.c finds.
 *
 * Sources are dealt out to a fixed number of groups, each with a sum of its own, that are added up in order:
 * so rounding is the same for any number of threads. A round is some sources of each group.
 */
#include <math.h>
#include <stdlib.h>

#include <weir/algo.h>

#include "../internal.h"
#include "brandes.h"
#include "random.h"

#define GROUPS     16               /* more threads than these have nothing to do */
#define ROUND_WORK UINT64_C(200000) /* nodes and edges to look at for one group in a round, about */
#define GRAIN      1024             /* nodes a piece of the sum */

struct betweenness {
  const weir_projection *p;
  int weighted;
  const uint32_t *sources; /* NULL: all nodes */
  uint32_t source_count;
  uint32_t done;  /* sources before the round */
  uint32_t batch; /* sources a group has in a round */
  uint32_t groups;
  double *sums; /* by group, by node */
  double scale;
  double *score;
  weir__brandes *scratch; /* by worker */
};

/* ---- All sources --------------------------------------------------------------------------------------- */

/* The items are groups. */
static int run_groups(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct betweenness *b = data;
  for (uint64_t group = first; group < last; group++) {
    double *sum = b->sums + group * b->p->info.nodes;
    uint64_t at = b->done + group * b->batch, end = at + b->batch;
    for (; at < end && at < b->source_count; at++) {
      uint32_t source = b->sources ? b->sources[at] : (uint32_t)at;
      weir__brandes *scratch = &b->scratch[worker];
      int rc = (b->weighted ? weir__brandes_add_weighted : weir__brandes_add)(scratch, source, sum);
      if (rc) {
        return rc;
      }
    }
  }
  return WEIR_OK;
}

static int add_groups(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct betweenness *b = data;
  (void)worker;
  for (uint64_t node = first; node < last; node++) {
    double sum = 0;
    for (uint32_t group = 0; group < b->groups; group++) {
      sum += b->sums[group * (uint64_t)b->p->info.nodes + node];
    }
    b->score[node] = sum * b->scale;
  }
  return WEIR_OK;
}

static int make_scratch(struct betweenness *b, weir__team *team, weir_error *err) {
  unsigned workers = weir__team_size(team);
  b->scratch = calloc(workers, sizeof *b->scratch);
  b->sums = calloc((size_t)b->groups * b->p->info.nodes + 1, sizeof *b->sums);
  int rc = b->scratch && b->sums ? WEIR_OK : WEIR_NOMEM;
  for (unsigned i = 0; i < workers && rc == WEIR_OK; i++) {
    b->scratch[i].ways.team = team;
    b->scratch[i].ways.worker = i;
    rc = weir__brandes_init(&b->scratch[i], b->p);
  }
  if (rc) {
    rc =
        weir_fail(err, rc, "out of memory for the betweenness of %lu nodes", (unsigned long)b->p->info.nodes);
  }
  return rc;
}

static void free_scratch(struct betweenness *b, unsigned workers) {
  for (unsigned i = 0; i < workers && b->scratch; i++) {
    weir__brandes_clear(&b->scratch[i]);
  }
  free(b->scratch);
  free(b->sums);
}

static int run_rounds(struct betweenness *b, uint64_t work, weir__team *team, weir_error *err) {
  int rc = WEIR_OK;
  uint64_t round = (uint64_t)b->groups * b->batch;
  for (uint64_t done = 0; done < b->source_count && rc == WEIR_OK; done += round) {
    uint64_t left = b->source_count - done, now = left < round ? left : round;
    b->done = (uint32_t)done;
    rc = weir__team_each(team, b->groups, 1, run_groups, b, err);
    if (rc == WEIR_FULL) {
      rc =
          weir_fail(err, rc,
                    "more shortest paths lead from one node to another than a number can tell, about 10^308: "
                    "tell some apart by weights, or leave edges out");
    }
    if (rc == WEIR_OK) {
      rc = weir__team_tick(team, now * work, err);
    }
  }
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, b->p->info.nodes, GRAIN, add_groups, b, err);
  }
  return rc;
}

/* Work of one source, in nodes and edges that are looked at. */
static uint64_t work_of(const weir_projection *p) {
  return p->info.nodes + 2 * p->out.start[p->info.nodes];
}

static int compute(struct betweenness *b, const weir_run *run, weir_error *err) {
  uint64_t work = work_of(b->p) + 1;
  weir__team *team = NULL;
  int rc = weir__team_open(&team, run, b->source_count * work, b->source_count * work, err);
  if (rc) {
    return rc;
  }
  b->batch = (uint32_t)(ROUND_WORK / work + 1);
  uint64_t batches = (b->source_count + (uint64_t)b->batch - 1) / b->batch;
  b->groups = batches < GROUPS ? (uint32_t)batches : GROUPS;
  rc = make_scratch(b, team, err);
  if (rc == WEIR_OK) {
    rc = run_rounds(b, work, team, err);
  }
  free_scratch(b, weir__team_size(team));
  return weir__team_close(team, rc, err);
}

/* ---- Options ------------------------------------------------------------------------------------------- */

static double scale_of(const struct betweenness *b, const weir_centrality_options *options) {
  double n = b->p->info.nodes, scale = n > 0 ? n / b->source_count : 1;
  if (b->p->info.undirected) {
    scale /= 2; /* each pair has been counted from both ends */
  }
  if (options->normalized && n > 2) {
    scale /= (n - 1) * (n - 2) / (b->p->info.undirected ? 2 : 1);
  }
  return scale;
}

/* Chooses the sources; each set of so many is as likely as any other. */
static int choose(uint32_t **out, uint32_t nodes, uint32_t samples, uint64_t seed, weir_error *err) {
  uint32_t *sources = malloc(nodes * sizeof *sources);
  if (!sources) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)nodes);
  }
  for (uint32_t i = 0; i < nodes; i++) {
    sources[i] = i;
  }
  weir__random random = seed;
  weir__random_shuffle(&random, sources, nodes, samples);
  *out = sources;
  return WEIR_OK;
}

int weir_betweenness(const weir_projection *p, const weir_centrality_options *options, const weir_run *run,
                     double *score, weir_error *err) {
  weir_centrality_options known = WEIR_CENTRALITY_OPTIONS_INIT;
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(score, "score", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__options_copy(&known, sizeof known, options, "weir_centrality_options", err);
  }
  struct betweenness b = {.p = p, .score = score};
  if (rc == WEIR_OK) {
    rc = weir__dijkstra_wanted(p, known.unweighted, &b.weighted, err);
  }
  uint32_t *sources = NULL;
  if (rc == WEIR_OK && known.samples > 0 && known.samples < p->info.nodes) {
    rc = choose(&sources, p->info.nodes, known.samples, known.seed, err);
  }
  if (rc == WEIR_OK) {
    b.sources = sources;
    b.source_count = sources ? known.samples : p->info.nodes;
    b.scale = scale_of(&b, &known);
    rc = compute(&b, run, err);
  }
  free(sources);
  return rc;
}
