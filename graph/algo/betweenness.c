/*
 * Betweenness by U. Brandes: from each source, how many shortest paths lead to each node; then, from the
 * farthest node back, how much of the paths to what lies behind it passes through each.
 *
 * With `share` of a node as (1 + what passes through it) / paths to it, what passes through a node is its
 * number of paths times the sum of the shares of those behind it.
 *
 * Sources are dealt out to a fixed number of groups, each with a sum of its own, that are added up in order:
 * so rounding is the same for any number of threads. A round is some sources of each group.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weir/algo.h>

#include "../internal.h"
#include "dijkstra.h"
#include "random.h"

#define GROUPS     16               /* more threads than these have nothing to do */
#define ROUND_WORK UINT64_C(200000) /* nodes and edges to look at for one group in a round, about */
#define GRAIN      1024             /* nodes a piece of the sum */
#define UNSEEN     UINT32_MAX

/* What a thread needs. Arrays are by node. */
struct scratch {
  weir__dijkstra ways; /* without weights order, reached and paths are used */
  uint32_t *depth;     /* without weights; UNSEEN: not reached */
  double *share;       /* 0: not known yet, or not reached */
  double *passing;     /* by place in order: what passes through the nodes of one depth */
};

struct betweenness {
  const weir_projection *p;
  const weir__rows *rows;
  int weighted;
  const uint32_t *sources; /* NULL: all nodes */
  uint32_t source_count;
  uint32_t done;  /* sources before the round */
  uint32_t batch; /* sources a group has in a round */
  uint32_t groups;
  double *sums; /* by group, by node */
  double scale;
  double *score;
  struct scratch *scratch; /* by worker */
};

/* ---- From one source, without weights ------------------------------------------------------------------ */

static void count_paths(struct scratch *s, const weir__rows *rows, uint32_t source) {
  uint32_t *order = s->ways.order, *depth = s->depth, reached = 1;
  double *paths = s->ways.paths;
  order[0] = source;
  depth[source] = 0;
  paths[source] = 1;
  for (uint32_t at = 0; at < reached; at++) {
    uint32_t node = order[at], next = depth[node] + 1;
    double here = paths[node];
    for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
      uint32_t far = rows->far[i];
      if (depth[far] == UNSEEN) {
        depth[far] = next;
        paths[far] = here;
        order[reached++] = far;
      } else if (depth[far] == next) {
        paths[far] += here;
      }
    }
  }
  s->ways.reached = reached;
}

/* Depth by depth: an edge leads to the next depth at most, and of shallower nodes no share is known; so all
 * shares that are known are of nodes behind. */
static void pass_back(struct scratch *s, const weir__rows *rows, double *sum) {
  const uint32_t *order = s->ways.order;
  const double *paths = s->ways.paths;
  uint32_t last = s->ways.reached;
  while (last > 1) {
    uint32_t first = last - 1, depth = s->depth[order[first]];
    while (s->depth[order[first - 1]] == depth) {
      first--;
    }
    for (uint32_t at = first; at < last; at++) {
      uint32_t node = order[at];
      double behind = 0;
      for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
        behind += s->share[rows->far[i]];
      }
      s->passing[at] = behind * paths[node];
    }
    for (uint32_t at = first; at < last; at++) {
      s->share[order[at]] = (1 + s->passing[at]) / paths[order[at]];
      sum[order[at]] += s->passing[at];
    }
    last = first;
  }
}

static void forget(struct scratch *s) {
  for (uint32_t at = 0; at < s->ways.reached; at++) {
    s->depth[s->ways.order[at]] = UNSEEN;
    s->share[s->ways.order[at]] = 0;
  }
}

/* ---- From one source, by weights ----------------------------------------------------------------------- */

static void pass_back_weighted(struct scratch *s, const weir__rows *rows, double *sum) {
  const double *distance = s->ways.distance;
  for (uint32_t at = s->ways.reached - 1; at > 0; at--) {
    uint32_t node = s->ways.order[at];
    double behind = 0, here = distance[node];
    for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
      behind += here + rows->weight[i] == distance[rows->far[i]] ? s->share[rows->far[i]] : 0;
    }
    double passing = behind * s->ways.paths[node];
    s->share[node] = (1 + passing) / s->ways.paths[node];
    sum[node] += passing;
  }
  for (uint32_t at = 0; at < s->ways.reached; at++) {
    s->share[s->ways.order[at]] = 0;
  }
}

/* ---- All sources --------------------------------------------------------------------------------------- */

static int add_source(struct scratch *s, const struct betweenness *b, uint32_t source, double *sum) {
  if (b->weighted) {
    int rc = weir__dijkstra_from(&s->ways, source);
    if (rc == WEIR_OK) {
      pass_back_weighted(s, b->rows, sum);
    }
    return rc;
  }
  count_paths(s, b->rows, source);
  pass_back(s, b->rows, sum);
  forget(s);
  return WEIR_OK;
}

/* The items are groups. */
static int run_groups(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct betweenness *b = data;
  for (uint64_t group = first; group < last; group++) {
    double *sum = b->sums + group * b->p->info.nodes;
    uint64_t at = b->done + group * b->batch, end = at + b->batch;
    for (; at < end && at < b->source_count; at++) {
      uint32_t source = b->sources ? b->sources[at] : (uint32_t)at;
      int rc = add_source(&b->scratch[worker], b, source, sum);
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

static int init_scratch(struct scratch *s, const struct betweenness *b) {
  size_t room = (size_t)b->p->info.nodes + 1;
  s->ways.rows[0] = b->rows;
  s->depth = malloc(room * sizeof *s->depth);
  s->share = calloc(room, sizeof *s->share);
  s->passing = malloc(room * sizeof *s->passing);
  if (!s->depth || !s->share || !s->passing) {
    return WEIR_NOMEM;
  }
  memset(s->depth, 0xff, room * sizeof *s->depth);
  return weir__dijkstra_init(&s->ways, b->p->info.nodes);
}

static int make_scratch(struct betweenness *b, unsigned workers, weir_error *err) {
  b->scratch = calloc(workers, sizeof *b->scratch);
  b->sums = calloc((size_t)b->groups * b->p->info.nodes + 1, sizeof *b->sums);
  int rc = b->scratch && b->sums ? WEIR_OK : WEIR_NOMEM;
  for (unsigned i = 0; i < workers && rc == WEIR_OK; i++) {
    rc = init_scratch(&b->scratch[i], b);
  }
  if (rc) {
    rc =
        weir_fail(err, rc, "out of memory for the betweenness of %lu nodes", (unsigned long)b->p->info.nodes);
  }
  return rc;
}

static void free_scratch(struct betweenness *b, unsigned workers) {
  for (unsigned i = 0; i < workers && b->scratch; i++) {
    weir__dijkstra_clear(&b->scratch[i].ways);
    free(b->scratch[i].depth);
    free(b->scratch[i].share);
    free(b->scratch[i].passing);
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
  int rc = weir__team_open(&team, run, b->source_count * work, err);
  if (rc) {
    return rc;
  }
  b->batch = (uint32_t)(ROUND_WORK / work + 1);
  uint64_t batches = (b->source_count + (uint64_t)b->batch - 1) / b->batch;
  b->groups = batches < GROUPS ? (uint32_t)batches : GROUPS;
  unsigned workers = weir__team_size(team);
  rc = make_scratch(b, workers, err);
  if (rc == WEIR_OK) {
    rc = run_rounds(b, work, team, err);
  }
  free_scratch(b, workers);
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
    b.rows = &p->out;
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
