/*
 * PageRank.
 *
 * Let P be the matrix of the random edges, a the damping, v where jumps lead. With a tolerance of 0 it is the
 * power iteration x' = a P x + (1 - a + a d) v, where d is the score of the nodes without edges that lead
 * away.
 *
 * Else, directed: the same by Gauss-Seidel steps between a few ranges of nodes, the phases. Nodes see of
 * their own phase what was before it, so that their order, and which thread has them, does not matter; d is
 * that of the iteration before. More phases take fewer iterations, and threads wait for each other at each.
 * Undirected: P has real eigenvalues from -1 to 1, so Chebyshev iterations need about a third as many steps
 * (G. Golub, R. Varga, Chebyshev semi-iterative methods, 1961) for the linear system x = a P x + (1 - a) v,
 * which has the same solution but for a factor: G. Del Corso, A. Gulli, F. Romani, Fast PageRank computation
 * via a sparse linear system, 2005.
 *
 * What a node gives along an edge is its share: score / sum of the weights. Sums over nodes are made in
 * pieces of PIECE nodes and added in the order of these.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weir/algo.h>

#include "../internal.h"
#include "projection.h"

enum { PIECE = 512, PHASES = 2, PHASES_ALONE = 8 };
#define EDGES_A_ROUND UINT64_C(250000) /* fewer are not worth waking threads for */

enum method { POWER, GAUSS_SEIDEL, CHEBYSHEV };

/* Of one piece. */
struct sums {
  double moved;    /* what scores changed by, absolutely */
  double total;    /* the new scores */
  double dangling; /* of these, of nodes from which no edge leads */
};

struct rank {
  const weir_projection *p;
  weir_pagerank_options options;
  weir__team *team;
  enum method method;
  int weighted;
  int alone; /* one thread does a round sooner than another wakes up */
  uint32_t nodes;
  double *score;   /* the caller's; what is there at the end is moved there if need be */
  double *now;     /* the scores: `score`, or in Chebyshev iterations `spare` in turns */
  double *before;  /* Chebyshev: those of the iteration before, which the next ones replace; else `now` */
  double *spare;   /* Chebyshev only */
  double *share;   /* as other nodes see it */
  double *fresh;   /* as it is computed */
  double *inverse; /* 1 / sum of the weights that lead away; 0: no edge does */
  double *jump;    /* v; NULL: to any node alike */
  struct sums *sums;
  double base;    /* the part of v in a score */
  double stretch; /* Chebyshev: omega of this iteration */
  uint64_t first; /* node of this phase */
};

/* ---- Beginning ----------------------------------------------------------------------------------------- */

static int check(const weir_projection *p, const weir_pagerank_options *o, const double *score,
                 weir_error *err) {
  int rc = weir__check_set(score, "score", err);
  if (rc) {
    return rc;
  }
  if (!(o->damping >= 0 && o->damping < 1)) {
    return weir_fail(err, WEIR_INVALID, "damping is %g: give at least 0, less than 1", o->damping);
  }
  if (o->iterations == 0) {
    return weir_fail(err, WEIR_INVALID, "iterations is 0: give at least 1");
  }
  if (!(o->tolerance >= 0)) {
    return weir_fail(err, WEIR_INVALID, "tolerance is %g: give 0 or more", o->tolerance);
  }
  if (!o->unweighted && p->info.least_weight < 0) {
    return weir_fail(err, WEIR_INVALID,
                     "an edge has the weight %g: PageRank needs weights of 0 or more; or set unweighted",
                     p->info.least_weight);
  }
  return o->source_count ? weir__check_set(o->sources, "sources", err) : WEIR_OK;
}

static int make_jump(struct rank *r, weir_error *err) {
  const weir_pagerank_options *o = &r->options;
  double sum = 0;
  if (o->source_count == 0) {
    return WEIR_OK;
  }
  r->jump = calloc(r->nodes ? r->nodes : 1, sizeof *r->jump);
  if (!r->jump) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)r->nodes);
  }
  for (size_t i = 0; i < o->source_count; i++) {
    int rc = weir__node_check(r->p, o->sources[i], err);
    if (rc) {
      return weir__fail_at(err, rc, "source", i);
    }
    double weight = o->source_weights ? o->source_weights[i] : 1;
    if (!(weight >= 0 && isfinite(weight))) {
      return weir_fail(err, WEIR_INVALID, "source %zu has the weight %g: give 0 or more", i, weight);
    }
    r->jump[o->sources[i]] += weight;
    sum += weight;
  }
  if (!(sum > 0 && isfinite(sum))) {
    return weir_fail(err, WEIR_INVALID, "the weights of the sources add up to %g: give some above 0", sum);
  }
  for (uint32_t i = 0; i < r->nodes; i++) {
    r->jump[i] /= sum;
  }
  return WEIR_OK;
}

static int allocate(struct rank *r, weir_error *err) {
  size_t nodes = r->nodes ? r->nodes : 1;
  r->share = malloc(nodes * sizeof *r->share);
  r->fresh = malloc(nodes * sizeof *r->fresh);
  r->inverse = malloc(nodes * sizeof *r->inverse);
  r->sums = calloc(nodes / PIECE + 1, sizeof *r->sums);
  r->spare = r->method == CHEBYSHEV ? malloc(nodes * sizeof *r->spare) : NULL;
  if (!r->share || !r->fresh || !r->inverse || !r->sums || (r->method == CHEBYSHEV && !r->spare)) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)r->nodes);
  }
  r->now = r->score;
  r->before = r->spare ? r->spare : r->score;
  return WEIR_OK;
}

/* What an edge of weight 1 gets of a node's score; NAN if that is no number. */
static double inverse_of(const struct rank *r, uint32_t node) {
  const weir__rows *out = &r->p->out;
  double sum = (double)weir__row_length(out, node);
  if (r->weighted) {
    sum = 0;
    for (uint64_t i = out->start[node]; i < out->start[node + 1]; i++) {
      sum += out->weight[i];
    }
  }
  return sum > 0 ? (isfinite(sum) && isfinite(1 / sum) ? 1 / sum : NAN) : sum;
}

static double jump_to(const struct rank *r, uint64_t node) {
  return r->jump ? r->jump[node] : 1 / (double)r->nodes;
}

static int begin_piece(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct rank *r = data;
  struct sums sums = {0, 0, 0};
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    r->inverse[i] = inverse_of(r, (uint32_t)i);
    r->score[i] = r->method == POWER ? 1 / (double)r->nodes : jump_to(r, i);
    r->share[i] = r->score[i] * r->inverse[i];
    sums.moved += r->inverse[i]; /* to find NAN */
    sums.total += r->score[i];
    sums.dangling += r->inverse[i] > 0 ? 0 : r->score[i];
    if (r->spare) {
      r->spare[i] = r->score[i];
    }
  }
  r->sums[first / PIECE] = sums;
  return WEIR_OK;
}

static struct sums sum_up(const struct rank *r) {
  struct sums all = {0, 0, 0};
  for (uint64_t i = 0; i < ((uint64_t)r->nodes + PIECE - 1) / PIECE; i++) {
    all.moved += r->sums[i].moved;
    all.total += r->sums[i].total;
    all.dangling += r->sums[i].dangling;
  }
  return all;
}

/* The part of v in the scores of the next iteration. */
static double base_of(const struct rank *r, const struct sums *sums) {
  double damping = r->options.damping;
  double total = r->method == GAUSS_SEIDEL ? sums->total : 1;
  return (1 - damping) * total + (r->method != CHEBYSHEV ? damping * sums->dangling : 0);
}

static int begin(struct rank *r, weir_error *err) {
  int rc = weir__team_each(r->team, r->nodes, PIECE, begin_piece, r, err);
  if (rc) {
    return rc;
  }
  struct sums sums = sum_up(r);
  if (!isfinite(sums.moved)) {
    return weir_fail(err, WEIR_INVALID,
                     "the weights of the edges of a node are too small or too great to add up");
  }
  r->base = base_of(r, &sums);
  return WEIR_OK;
}

/* ---- Iterations ---------------------------------------------------------------------------------------- */

/* The sum over what edges bring to a node. */
static inline double pull(const struct rank *r, uint64_t node) {
  const weir__rows *in = &r->p->in;
  const double *share = r->share;
  uint64_t i = in->start[node], end = in->start[node + 1];
  double even = 0, odd = 0; /* two chains of additions, which the processor does side by side */
  if (r->weighted) {
    for (; i + 1 < end; i += 2) {
      even += share[in->far[i]] * in->weight[i];
      odd += share[in->far[i + 1]] * in->weight[i + 1];
    }
    even += i < end ? share[in->far[i]] * in->weight[i] : 0;
  } else {
    for (; i + 1 < end; i += 2) {
      even += share[in->far[i]];
      odd += share[in->far[i + 1]];
    }
    even += i < end ? share[in->far[i]] : 0;
  }
  return even + odd;
}

/* The nodes first to last - 1, which are of one piece. */
static void step_piece(struct rank *r, uint64_t first, uint64_t last) {
  struct sums sums = {0, 0, 0};
  double damping = r->options.damping, uniform = 1 / (double)r->nodes;
  for (uint64_t i = first; i < last; i++) {
    double score = damping * pull(r, i) + r->base * (r->jump ? r->jump[i] : uniform);
    sums.moved += fabs(score - r->now[i]);
    if (r->stretch > 1) {
      score = r->before[i] + r->stretch * (score - r->before[i]);
    }
    r->before[i] = score;
    r->fresh[i] = score * r->inverse[i];
    sums.total += score;
    sums.dangling += r->inverse[i] > 0 ? 0 : score;
  }
  r->sums[first / PIECE] = sums;
}

static int step(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct rank *r = data;
  (void)worker;
  for (uint64_t at = r->first + first; at < r->first + last; at += PIECE) {
    step_piece(r, at, at + PIECE < r->first + last ? at + PIECE : r->first + last);
  }
  return WEIR_OK;
}

static void swap(double **a, double **b) {
  double *held = *a;
  *a = *b;
  *b = held;
}

/* One iteration: phase after phase. */
static int iterate(struct rank *r, weir_error *err) {
  uint64_t pieces = ((uint64_t)r->nodes + PIECE - 1) / PIECE;
  uint64_t phases = r->method != GAUSS_SEIDEL ? 1 : r->alone ? PHASES_ALONE : PHASES;
  for (uint64_t k = 0; k < phases; k++) {
    uint64_t end = k + 1 < phases ? pieces * (k + 1) / phases * PIECE : r->nodes;
    r->first = pieces * k / phases * PIECE;
    int rc = weir__team_each(r->team, end - r->first, r->alone ? r->nodes : PIECE, step, r, err);
    if (rc) {
      return rc;
    }
    if (phases > 1) {
      memcpy(r->share + r->first, r->fresh + r->first, (end - r->first) * sizeof *r->share);
    }
  }
  if (phases == 1) {
    swap(&r->share, &r->fresh);
  }
  swap(&r->now, &r->before);
  return WEIR_OK;
}

/*
 * What the iteration changed of scores that add up to 1. Sums are not 1 but in power iterations: that is
 * allowed for by counting twice. One power iteration more would change no more than this, so the error is
 * at most this / (1 - damping).
 */
static double change_of(const struct rank *r, const struct sums *sums) {
  return r->method == POWER ? sums->moved : 2 * sums->moved / fmax(sums->total, 1 - r->options.damping);
}

/* Omega of the next Chebyshev iteration. The last one, once scores are near enough or no more may be made, is
 * a plain step, whose change says how near they are. */
static double next_stretch(const struct rank *r, unsigned made, double change) {
  double square = r->options.damping * r->options.damping;
  int plain = made > 1 && r->stretch <= 1;
  if (r->method != CHEBYSHEV || change <= r->options.tolerance || made + 1 == r->options.iterations ||
      plain) {
    return 1;
  }
  return made == 1 ? 1 / (1 - square / 2) : 1 / (1 - square * r->stretch / 4);
}

static int run(struct rank *r, weir_pagerank_result *result, weir_error *err) {
  struct sums sums = {0, 0, 0};
  int rc = begin(r, err), done = 0;
  r->stretch = 1;
  while (rc == WEIR_OK && !done && result->iterations < r->options.iterations) {
    rc = iterate(r, err);
    if (rc == WEIR_OK) {
      sums = sum_up(r);
      result->iterations++;
      result->change = change_of(r, &sums);
      r->base = base_of(r, &sums);
      done = r->method != POWER && result->change <= r->options.tolerance && r->stretch <= 1;
      r->stretch = next_stretch(r, result->iterations, result->change);
    }
  }
  double scale = rc == WEIR_OK && r->method != POWER ? 1 / sums.total : 1;
  for (uint32_t i = 0; i < r->nodes && rc == WEIR_OK && r->method != POWER; i++) {
    r->score[i] = r->now[i] * scale;
  }
  return rc;
}

/* An estimate: each iteration takes off the share `damping`, or more. */
static uint64_t units_of(const struct rank *r) {
  double most = r->options.iterations;
  if (r->method != POWER) {
    most = fmin(most, r->options.damping > 0 ? 2 + log(r->options.tolerance) / log(r->options.damping) : 2);
  }
  return (uint64_t)((double)r->nodes * (1 + fmax(most, 1)));
}

static int open_team(struct rank *r, const weir_run *how, weir_error *err) {
  weir_run run = WEIR_RUN_INIT;
  int rc = weir__options_copy(&run, sizeof run, how, "weir_run", err);
  uint64_t phases = r->method == GAUSS_SEIDEL ? PHASES : 1;
  r->alone = r->p->in.start[r->nodes] / phases < EDGES_A_ROUND;
  if (r->alone && run.threads <= WEIR_THREADS_MAX) {
    run.threads = 1;
  }
  return rc ? rc : weir__team_open(&r->team, &run, units_of(r), 10 * r->p->info.edges, err);
}

int weir_pagerank(const weir_projection *p, const weir_pagerank_options *given, const weir_run *how,
                  double *score, weir_pagerank_result *result, weir_error *err) {
  struct rank r = {.p = p, .options = WEIR_PAGERANK_OPTIONS_INIT, .score = score};
  weir_pagerank_result made = {0, 0};
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__options_copy(&r.options, sizeof r.options, given, "weir_pagerank_options", err);
  }
  if (rc == WEIR_OK) {
    rc = check(p, &r.options, score, err);
  }
  if (rc) {
    return rc;
  }
  r.nodes = p->info.nodes;
  r.weighted = p->info.weighted && !r.options.unweighted;
  r.method = r.options.tolerance <= 0 ? POWER : p->info.undirected ? CHEBYSHEV : GAUSS_SEIDEL;
  rc = make_jump(&r, err);
  if (rc == WEIR_OK) {
    rc = allocate(&r, err);
  }
  if (rc == WEIR_OK) {
    rc = open_team(&r, how, err);
  }
  if (rc == WEIR_OK && r.nodes) {
    rc = run(&r, &made, err);
  }
  rc = weir__team_close(r.team, rc, err);
  free(r.jump);
  free(r.share);
  free(r.fresh);
  free(r.inverse);
  free(r.sums);
  free(r.spare);
  if (rc == WEIR_OK && result) {
    *result = made;
  }
  return rc;
}
