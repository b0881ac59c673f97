/* The Leiden algorithm: levels and iterations; see leiden.h. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weir/algo.h>

#include "../internal.h"
#include "leiden.h"
#include "measures.h"

#define LEAST_GAIN 1e-9 /* of modularity: an iteration that brings less is the last */

/* Makes `count` numbers, which are below `range`, 0, 1, ... in the order in which they come. How many there
 * are. `known` has room for the range. */
static uint32_t renumber(uint32_t *numbers, uint32_t count, uint32_t range, uint32_t *known) {
  uint32_t next = 0;
  memset(known, 0xff, range * sizeof *known);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t *number = &known[numbers[i]];
    if (*number == UINT32_MAX) {
      *number = next++;
    }
    numbers[i] = *number;
  }
  return next;
}

static int is_all_single(const weir__leiden *l, uint32_t nodes) {
  uint32_t i = 0;
  while (i < nodes && l->members[i] == 1) {
    i++;
  }
  return i == nodes;
}

/* Works on one level; *parts becomes how many nodes the next one has, or 0: this is the last. */
static int work_level(weir__leiden *l, const weir__level *level, uint32_t *parts, weir_error *err) {
  *parts = 0;
  int rc = weir__leiden_move(l, level, err);
  if (rc || is_all_single(l, level->nodes)) {
    return rc;
  }
  rc = weir__leiden_refine(l, level, err);
  if (rc == WEIR_OK) {
    *parts = renumber(l->part, level->nodes, level->nodes, l->queue);
    *parts = *parts < level->nodes ? *parts : 0;
  }
  return rc;
}

/* Parts become nodes: of the level that follows `level`, and of what nodes of the projection belong to. The
 * first node of a part has no lower number than the part: so the community of the one is read before that of
 * the other is written. */
static void go_up(weir__leiden *l, uint32_t nodes, const weir__level *level, uint32_t parts,
                  uint32_t *place) {
  for (uint32_t i = 0; i < nodes; i++) {
    place[i] = l->part[place[i]];
  }
  for (uint32_t i = 0; i < level->nodes; i++) {
    l->community[l->part[i]] = l->community[i];
  }
  (void)renumber(l->community, parts, level->nodes, l->queue);
}

/* One iteration, from the communities that there are. */
static int iterate(weir__leiden *l, const weir__level *base, uint32_t *community, uint32_t *place,
                   weir_error *err) {
  weir__level levels[2] = {{.nodes = 0}, {.nodes = 0}}; /* the latest and the one before it, in turn */
  const weir__level *level = base;
  uint32_t parts = 0;
  int turn = 0;
  memcpy(l->community, community, base->nodes * sizeof *community);
  for (uint32_t i = 0; i < base->nodes; i++) {
    place[i] = i;
  }
  int rc = work_level(l, level, &parts, err);
  while (rc == WEIR_OK && parts > 0) {
    weir__level_clear(&levels[turn]);
    rc = weir__level_gather(&levels[turn], level, l, parts, err);
    if (rc == WEIR_OK) {
      go_up(l, base->nodes, level, parts, place);
      level = &levels[turn];
      turn = 1 - turn;
      rc = work_level(l, level, &parts, err);
    }
  }
  for (uint32_t i = 0; i < base->nodes && rc == WEIR_OK; i++) {
    community[i] = l->community[place[i]];
  }
  weir__level_clear(&levels[0]);
  weir__level_clear(&levels[1]);
  return rc;
}

/* Numbers communities by their least nodes; what does not hang together becomes several, which is never
 * worse. How many there are. */
static uint32_t settle(weir__leiden *l, const weir__level *base, uint32_t *community) {
  uint32_t next = 0;
  memset(l->part, 0xff, base->nodes * sizeof *l->part);
  for (uint32_t node = 0; node < base->nodes; node++) {
    uint32_t waiting = 0;
    if (l->part[node] == UINT32_MAX) {
      l->part[node] = next++;
      l->queue[waiting++] = node;
    }
    while (waiting > 0) {
      uint32_t at = l->queue[--waiting];
      for (uint64_t i = base->start[at]; i < base->start[at + 1]; i++) {
        uint32_t far = base->far[i];
        if (l->part[far] == UINT32_MAX && community[far] == community[at]) {
          l->part[far] = l->part[at];
          l->queue[waiting++] = far;
        }
      }
    }
  }
  memcpy(community, l->part, base->nodes * sizeof *community);
  return next;
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

static int make_arrays(weir__leiden *l, uint32_t nodes, weir_error *err) {
  size_t room = (size_t)nodes + 2;
  uint32_t **numbers[] = {&l->community, &l->part, &l->queue, &l->members, &l->spare, &l->touched};
  double **sums[] = {&l->total, &l->part_total, &l->cut, &l->to, &l->gain};
  int failed = (l->queued = calloc(room, sizeof *l->queued)) == NULL;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    failed |= (*numbers[i] = calloc(room, sizeof **numbers[i])) == NULL;
  }
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    failed |= (*sums[i] = calloc(room, sizeof **sums[i])) == NULL;
  }
  return failed
             ? weir_fail(err, WEIR_NOMEM, "out of memory for communities of %lu nodes", (unsigned long)nodes)
             : WEIR_OK;
}

static void free_arrays(weir__leiden *l) {
  free(l->community);
  free(l->part);
  free(l->queue);
  free(l->queued);
  free(l->total);
  free(l->members);
  free(l->spare);
  free(l->part_total);
  free(l->cut);
  free(l->to);
  free(l->touched);
  free(l->gain);
}

/* ---- Iterations ---------------------------------------------------------------------------------------- */

static int set_scale(weir__leiden *l, const weir_projection *p, const weir__level *base,
                     const weir_leiden_options *options, weir_error *err) {
  double twice = 0;
  for (uint32_t i = 0; i < base->nodes; i++) {
    twice += base->strength[i];
  }
  l->density = twice > 0 ? options->resolution / twice : 0;
  if (isinf(twice) || isinf(l->density)) {
    return weir_fail(err, WEIR_INVALID,
                     "the weights of the edges add up to %g: too much or too little to compare", twice / 2);
  }
  l->heat = p->info.edges > 0 ? options->randomness * twice / 2 / (double)p->info.edges : 1;
  l->heat = l->heat > DBL_MIN ? l->heat : DBL_MIN;
  return WEIR_OK;
}

static int find(weir__leiden *l, const weir_projection *p, const weir__level *base,
                const weir_leiden_options *options, uint32_t *community, uint32_t *place,
                weir_leiden_result *result, weir_error *err) {
  double before = 0;
  for (uint32_t i = 0; i < base->nodes; i++) {
    community[i] = i;
  }
  result->communities = base->nodes;
  int rc = weir__modularity(l->team, p, community, options->resolution, &result->modularity, err);
  while (rc == WEIR_OK && result->iterations < options->iterations &&
         (result->iterations == 0 || result->modularity - before > LEAST_GAIN)) {
    before = result->modularity;
    rc = iterate(l, base, community, place, err);
    if (rc == WEIR_OK) {
      result->iterations++;
      result->communities = settle(l, base, community);
      rc = weir__modularity(l->team, p, community, options->resolution, &result->modularity, err);
    }
  }
  return rc;
}

static int compute(const weir_projection *p, const weir_leiden_options *options, weir__team *team,
                   uint32_t *community, weir_leiden_result *result, weir_error *err) {
  weir__leiden l = {.team = team, .random = options->seed};
  weir__level base = {.nodes = 0};
  uint32_t *place = malloc(((size_t)p->info.nodes + 1) * sizeof *place);
  int rc = place ? make_arrays(&l, p->info.nodes, err)
                 : weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)p->info.nodes);
  if (rc == WEIR_OK) {
    rc = weir__level_make(&base, p, team, err);
  }
  if (rc == WEIR_OK) {
    rc = set_scale(&l, p, &base, options, err);
  }
  if (rc == WEIR_OK) {
    rc = find(&l, p, &base, options, community, place, result, err);
  }
  weir__level_clear(&base);
  free_arrays(&l);
  free(place);
  return rc;
}

/* ---- Options ------------------------------------------------------------------------------------------- */

static int check_options(weir_leiden_options *known, const weir_leiden_options *options, weir_error *err) {
  int rc = weir__options_copy(known, sizeof *known, options, "weir_leiden_options", err);
  if (rc) {
    return rc;
  }
  if (!(known->resolution > 0) || isinf(known->resolution)) {
    return weir_fail(err, WEIR_INVALID, "a resolution of %g: give more than 0", known->resolution);
  }
  if (!(known->randomness > 0) || isinf(known->randomness)) {
    return weir_fail(err, WEIR_INVALID, "a randomness of %g: give more than 0", known->randomness);
  }
  if (known->iterations == 0) {
    return weir_fail(err, WEIR_INVALID, "0 iterations: give at least 1");
  }
  return WEIR_OK;
}

int weir_leiden(const weir_projection *p, const weir_leiden_options *options, const weir_run *run,
                uint32_t *community, weir_leiden_result *result, weir_error *err) {
  weir_leiden_options known = WEIR_LEIDEN_OPTIONS_INIT;
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(community, "community", err);
  }
  if (rc == WEIR_OK) {
    rc = check_options(&known, options, err);
  }
  if (rc == WEIR_OK && p->info.least_weight < 0) {
    rc = weir_fail(err, WEIR_INVALID, "an edge has the weight %g: communities need weights of 0 or more",
                   p->info.least_weight);
  }
  weir__team *team = NULL;
  if (rc == WEIR_OK) {
    uint64_t edges = p->info.nodes + 2 * p->info.edges;
    rc = weir__team_open(&team, run,
                         edges * (8 * (uint64_t)(known.iterations < 1000 ? known.iterations : 1000) + 2),
                         edges * 8, err);
  }
  if (rc) {
    return rc;
  }
  weir_leiden_result found = {0, 0, 0};
  rc = compute(p, &known, team, community, &found, err);
  rc = weir__team_close(team, rc, err);
  if (rc == WEIR_OK && result) {
    *result = found;
  }
  return rc;
}
