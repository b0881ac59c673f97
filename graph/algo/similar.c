/*
 * Similarity of pairs that are given, and the nodes most like one.
 *
 * Scores are summed up over the shared neighbors in the order of their numbers, so that a pair has the same
 * score, to the last bit, whichever function tells it.
 */
#include "similar.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../internal.h"

#define PAIRS_A_PIECE 64

uint32_t weir__others_count(const weir__sides *sides, uint32_t node) {
  weir__others others = weir__others_of(sides, node);
  uint32_t count = 0;
  while (weir__others_next(&others) != WEIR_NO_NODE) {
    count++;
  }
  return count;
}

double weir__worth(uint32_t neighbors) {
  return neighbors < 2 ? 0 : 1 / log(neighbors);
}

int weir__similar_check(const weir_projection *p, weir_similarity kind, weir_direction *direction,
                        weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__direction_of(p, direction, err);
  }
  if (rc == WEIR_OK && kind != WEIR_COMMON_NEIGHBORS && kind != WEIR_JACCARD && kind != WEIR_ADAMIC_ADAR) {
    rc = weir_fail(err, WEIR_INVALID, "kind %d: give WEIR_COMMON_NEIGHBORS, WEIR_JACCARD or WEIR_ADAMIC_ADAR",
                   (int)kind);
  }
  return rc;
}

static double jaccard(uint64_t shared, uint64_t of_a, uint64_t of_b) {
  uint64_t either = of_a + of_b - shared;
  return either ? (double)shared / (double)either : 0;
}

/* ---- Pairs ------------------------------------------------------------------------------------------- */

struct pairs {
  weir_similarity kind;
  weir__sides sides, turned;
  _Atomic uint32_t *counts; /* of WEIR_ADAMIC_ADAR, by node: the neighbors in the other direction, once they
                               have been counted; 0: not yet. Threads may count the same twice */
  const uint32_t *a, *b;
  double *score;
};

static double worth_of(struct pairs *pairs, uint32_t node) {
  uint32_t count = atomic_load_explicit(&pairs->counts[node], memory_order_relaxed);
  if (count == 0) {
    count = weir__others_count(&pairs->turned, node);
    atomic_store_explicit(&pairs->counts[node], count, memory_order_relaxed);
  }
  return weir__worth(count);
}

static double score_pair(struct pairs *pairs, uint32_t a, uint32_t b) {
  weir__others of_a = weir__others_of(&pairs->sides, a), of_b = weir__others_of(&pairs->sides, b);
  uint32_t i = weir__others_next(&of_a), j = weir__others_next(&of_b);
  uint64_t shared = 0, either = 0;
  double sum = 0;
  while (i != WEIR_NO_NODE && j != WEIR_NO_NODE) {
    either++;
    if (i == j) {
      shared++;
      sum += pairs->kind == WEIR_ADAMIC_ADAR ? worth_of(pairs, i) : 1;
    }
    uint32_t passed = i < j ? i : j;
    i = i == passed ? weir__others_next(&of_a) : i;
    j = j == passed ? weir__others_next(&of_b) : j;
  }
  if (pairs->kind != WEIR_JACCARD) {
    return sum;
  }
  for (; i != WEIR_NO_NODE; i = weir__others_next(&of_a)) {
    either++;
  }
  for (; j != WEIR_NO_NODE; j = weir__others_next(&of_b)) {
    either++;
  }
  return either ? (double)shared / (double)either : 0;
}

static int score_pairs(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct pairs *pairs = data;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    pairs->score[i] = score_pair(pairs, pairs->a[i], pairs->b[i]);
  }
  return WEIR_OK;
}

static int check_pairs(const weir_projection *p, const uint32_t *a, const uint32_t *b, size_t count,
                       const double *score, weir_error *err) {
  if (count > 0 && (!a || !b || !score)) {
    return weir_fail(err, WEIR_INVALID, "%s is NULL", !a ? "a" : !b ? "b" : "score");
  }
  for (size_t i = 0; i < count; i++) {
    int rc = weir__node_check(p, a[i] > b[i] ? a[i] : b[i], err);
    if (rc) {
      return weir__fail_at(err, rc, "pair", i);
    }
  }
  return WEIR_OK;
}

int weir_similar_pairs(const weir_projection *projection, weir_similarity kind, weir_direction direction,
                       const uint32_t *a, const uint32_t *b, size_t count, const weir_run *run, double *score,
                       weir_error *err) {
  int rc = weir__similar_check(projection, kind, &direction, err);
  if (rc == WEIR_OK) {
    rc = check_pairs(projection, a, b, count, score, err);
  }
  if (rc) {
    return rc;
  }
  struct pairs pairs = {.kind = kind,
                        .sides = weir__sides_of(projection, direction),
                        .turned = weir__sides_back(projection, direction),
                        .a = a,
                        .b = b,
                        .score = score};
  if (kind == WEIR_ADAMIC_ADAR) {
    pairs.counts = calloc((size_t)projection->info.nodes + 1, sizeof *pairs.counts);
    if (!pairs.counts) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for the neighbors of %lu nodes",
                       (unsigned long)projection->info.nodes);
    }
  }
  weir__team *team = NULL;
  uint64_t nodes = (uint64_t)projection->info.nodes + 1; /* both have about as many edges as others */
  rc = weir__team_open(&team, run, count, count * (1 + 4 * projection->info.edges / nodes), err);
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, count, PAIRS_A_PIECE, score_pairs, &pairs, err);
  }
  free(pairs.counts);
  return weir__team_close(team, rc, err);
}

/* ---- The nodes most like one ------------------------------------------------------------------------- */

struct nearest {
  weir_similarity kind;
  weir__sides sides, turned;
  uint32_t node, neighbors; /* neighbors: how many it has */
  double *score;            /* by node; 0: none yet */
  uint32_t *met;            /* the nodes that have a score */
  uint32_t count;           /* of them */
};

/* Adds what `shared`, a neighbor, is worth to all others whose neighbor it is. */
static void meet_others(struct nearest *nearest, uint32_t shared) {
  double worth =
      nearest->kind == WEIR_ADAMIC_ADAR ? weir__worth(weir__others_count(&nearest->turned, shared)) : 1;
  weir__others others = weir__others_of(&nearest->turned, shared);
  for (uint32_t other = 0; (other = weir__others_next(&others)) != WEIR_NO_NODE;) {
    if (other != nearest->node) {
      if (nearest->score[other] == 0) {
        nearest->met[nearest->count++] = other;
      }
      nearest->score[other] += worth;
    }
  }
}

static int meet_all(struct nearest *nearest, weir__team *team, weir_error *err) {
  weir__others others = weir__others_of(&nearest->sides, nearest->node);
  uint64_t units = 0;
  for (uint32_t shared = 0; (shared = weir__others_next(&others)) != WEIR_NO_NODE;) {
    meet_others(nearest, shared);
    nearest->neighbors++;
    int rc = weir__team_pace(team, &units, weir__sides_length(&nearest->turned, shared), err);
    if (rc) {
      return rc;
    }
  }
  return WEIR_OK;
}

/* The score of Jaccard needs the neighbors of the other node counted: only where it may be among the best. */
static int choose(const struct nearest *nearest, weir__best *best, weir__team *team, weir_error *err) {
  for (uint32_t i = 0; i < nearest->count; i++) {
    uint32_t other = nearest->met[i];
    double score = nearest->score[other];
    if (nearest->kind == WEIR_JACCARD) {
      if (weir__best_beyond(best, score / nearest->neighbors)) {
        continue;
      }
      uint32_t of_other = weir__others_count(&nearest->sides, other);
      score = jaccard((uint64_t)score, nearest->neighbors, of_other);
    }
    int rc = weir__best_offer(best, (weir_link){nearest->node, other, score}); /* borrowed: room for all */
    if (rc == WEIR_OK && i % 4096 == 4095) {
      rc = weir__team_tick(team, 0, err);
    }
    if (rc) {
      return rc;
    }
  }
  return WEIR_OK;
}

static uint64_t edges_to_read(const struct nearest *nearest) {
  weir__others others = weir__others_of(&nearest->sides, nearest->node);
  uint64_t edges = 0;
  for (uint32_t shared = 0; (shared = weir__others_next(&others)) != WEIR_NO_NODE;) {
    edges += weir__sides_length(&nearest->turned, shared);
  }
  return edges;
}

int weir_similar_nodes(const weir_projection *projection, weir_similarity kind, weir_direction direction,
                       uint32_t node, const weir_run *run, weir_link *out, size_t room, size_t *count,
                       weir_error *err) {
  int rc = weir__similar_check(projection, kind, &direction, err);
  if (rc == WEIR_OK) {
    rc = weir__node_check(projection, node, err);
  }
  if (rc == WEIR_OK && room > 0) {
    rc = weir__check_set(out, "out", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(count, "count", err);
  }
  if (rc) {
    return rc;
  }
  uint32_t nodes = projection->info.nodes;
  weir__team *team = NULL;
  weir__best best = {.links = out, .room = room, .limit = room, .borrowed = 1};
  struct nearest nearest = {.kind = kind,
                            .sides = weir__sides_of(projection, direction),
                            .turned = weir__sides_back(projection, direction),
                            .node = node,
                            .score = calloc(nodes, sizeof *nearest.score),
                            .met = malloc(nodes * sizeof *nearest.met)};
  if (!nearest.score || !nearest.met) {
    rc = weir_fail(err, WEIR_NOMEM, "out of memory for the scores of %lu nodes", (unsigned long)nodes);
    goto done;
  }
  rc = weir__team_open_alone(&team, run, edges_to_read(&nearest), err);
  if (rc == WEIR_OK) {
    rc = meet_all(&nearest, team, err);
  }
  if (rc == WEIR_OK) {
    rc = choose(&nearest, &best, team, err);
  }
  if (rc == WEIR_OK) {
    weir__best_sort(&best);
    *count = best.count;
  }
done:
  free(nearest.score);
  free(nearest.met);
  return weir__team_close(team, rc, err);
}
