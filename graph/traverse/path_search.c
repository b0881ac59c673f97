/*
 * A search for a path: what it has met, and what ends it.
 *
 * Invariants: met[i] is known of the node map.ids[i]. A node is asked the condition when it is first met,
 * from whichever side, and never again. `from` and `to` themselves were asked (`to`) or need not be (`from`)
 * before the search.
 */
#include "path.h"

#include <stdlib.h>

#include "../node.h"

void *weir__room(void *items, size_t *room, size_t count, size_t size, weir_error *err) {
  if (count < *room) {
    return items;
  }
  size_t wanted = *room ? 2 * *room : 256;
  void *grown = wanted <= SIZE_MAX / size ? realloc(items, wanted * size) : NULL;
  if (!grown) {
    weir_fail(err, WEIR_NOMEM, "out of memory for the search for a path");
    return NULL;
  }
  *room = wanted;
  return grown;
}

/* ---- Budgets ------------------------------------------------------------------------------------------ */

static size_t bytes_of(const weir__search *search) {
  return weir__idmap_bytes(&search->map) + search->room * sizeof *search->met +
         (search->line[0].room + search->line[1].room) * sizeof *search->line[0].nodes +
         (search->heap[0].room + search->heap[1].room) * sizeof *search->heap[0].items + search->extra;
}

int weir__search_spent(weir__search *search) {
  const weir__question *question = search->question;
  size_t memory = question->options.budget.memory;
  if (weir__deadline_passed(question->deadline)) {
    search->ending = WEIR_ENDED_TIME;
  } else if (memory && bytes_of(search) > memory) {
    search->ending = WEIR_ENDED_MEMORY;
  }
  return search->ending != WEIR_ENDED;
}

/* ---- Meeting nodes ------------------------------------------------------------------------------------- */

/* Makes met as large as the map. */
static int grow_met(weir__search *search, weir_error *err) {
  weir__met *grown = realloc(search->met, search->map.room * sizeof *grown);
  if (!grown) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %u nodes", (unsigned)search->map.room);
  }
  search->met = grown;
  search->room = search->map.room;
  return WEIR_OK;
}

static const weir__met unmet = {{WEIR__UNMET, WEIR__UNMET}, {WEIR__NO_NODE, WEIR__NO_NODE}};
static const weir__met blocked = {{WEIR__BLOCKED, WEIR__BLOCKED}, {WEIR__NO_NODE, WEIR__NO_NODE}};

/* Puts the node into the map; a new one is blocked. */
static int take_in(weir__search *search, int64_t id, uint32_t *index, int *is_new, weir_error *err) {
  int rc = weir__idmap_put(&search->map, id, index, is_new, err);
  if (rc == WEIR_OK && *is_new) {
    if (search->room < search->map.room) {
      rc = grow_met(search, err);
    }
    if (rc == WEIR_OK) {
      search->met[*index] = blocked;
    }
  }
  return rc;
}

/* A new node; 1: the budget is used up. */
static int admit(weir__search *search, uint32_t index, weir_error *err) {
  size_t most = search->question->options.budget.nodes;
  if (search->steps[0].node) {
    int64_t id = search->map.ids[index];
    int passes = 1;
    int rc = WEIR_OK;
    if (id != search->from && id != search->to) {
      rc = weir__lookup_passes(search->steps[0].node, id, &passes, err);
    }
    if (rc || !passes) {
      return rc;
    }
  }
  if (most && search->count >= most) {
    search->ending = WEIR_ENDED_NODES;
    return 1;
  }
  search->count++;
  search->met[index] = unmet;
  return WEIR_OK;
}

int weir__search_meet(weir__search *search, int64_t id, uint32_t *index, weir_error *err) {
  int is_new;
  int rc = take_in(search, id, index, &is_new, err);
  return rc == WEIR_OK && is_new ? admit(search, *index, err) : rc;
}

int weir__search_block(weir__search *search, int64_t id, weir_error *err) {
  uint32_t index;
  int is_new;
  int rc = take_in(search, id, &index, &is_new, err);
  if (rc == WEIR_OK) {
    search->met[index] = blocked;
  }
  return rc;
}

int weir__line_add(weir__line *line, uint32_t node, weir_error *err) {
  if (line->count == line->room) {
    uint32_t *nodes = weir__room(line->nodes, &line->room, line->count, sizeof *nodes, err);
    if (!nodes) {
      return WEIR_NOMEM;
    }
    line->nodes = nodes;
  }
  line->nodes[line->count++] = node;
  return WEIR_OK;
}

int weir__search_reach(weir__search *search, int side, uint32_t via, int64_t id, double dist,
                       weir_error *err) {
  uint32_t index;
  int rc = weir__search_meet(search, id, &index, err);
  if (rc) {
    return rc;
  }
  weir__met *met = &search->met[index];
  double other = met->dist[!side];
  if (met->dist[side] != WEIR__UNMET && !(dist < met->dist[side])) {
    return WEIR_OK; /* it is blocked, which is less than any distance, or no better */
  }
  met->dist[side] = dist;
  met->via[side] = via;
  if (other >= 0 && (search->meet == WEIR__NO_NODE || dist + other < search->best)) {
    search->meet = index;
    search->best = dist + other;
  }
  return search->question->options.cost == WEIR_COST_HOPS
             ? weir__line_add(&search->line[side], index, err)
             : weir__heap_push(&search->heap[side], dist, index, err);
}

void weir__search_reset(weir__search *search) {
  weir__idmap_reset(&search->map);
  for (int side = 0; side < 2; side++) {
    search->line[side].count = 0;
    search->heap[side].count = 0;
  }
  search->meet = WEIR__NO_NODE;
}

/* ---- Opening and closing --------------------------------------------------------------------------------
 */

static int open_steps(weir__search *search, weir_error *err) {
  const weir_path_options *options = &search->question->options;
  weir_reach bare = options->reach; /* the condition on nodes is asked with the steps of one side */
  static const int details_of[] = {[WEIR_COST_HOPS] = WEIR__HOPS_FRONTIER,
                                   [WEIR_COST_WEIGHT] = WEIR__HOPS_WEIGHT,
                                   [WEIR_COST_PROP] = WEIR__HOPS_KEYS};
  int details = details_of[options->cost];
  const weir_text *cost = options->cost == WEIR_COST_PROP ? &options->cost_path : NULL;
  bare.nodes = NULL;
  int rc = weir__steps_open(&search->steps[0], search->txn, &options->reach, 0, details, cost, err);
  return rc ? rc : weir__steps_open(&search->steps[1], search->txn, &bare, 1, details, cost, err);
}

int weir__search_open(weir__search *search, weir_txn *txn, const weir__question *question, weir_error *err) {
  int passes = 1;
  *search = (weir__search){.txn = txn, .question = question, .meet = WEIR__NO_NODE};
  int rc = weir__node_number(txn, question->from, &search->from, err);
  if (rc == WEIR_OK) {
    rc = weir__node_number(txn, question->to, &search->to, err);
  }
  if (rc == WEIR_OK && search->from != search->to) {
    rc = open_steps(search, err);
    if (rc == WEIR_OK && search->steps[0].node) {
      rc = weir__lookup_passes(search->steps[0].node, search->to, &passes, err);
    }
  }
  search->barred = !passes;
  if (rc) {
    weir__search_close(search);
  }
  return rc;
}

void weir__search_close(weir__search *search) {
  for (int side = 0; side < 2; side++) {
    weir__steps_close(&search->steps[side]);
    free(search->line[side].nodes);
    weir__heap_clear(&search->heap[side]);
  }
  weir__steps_close(&search->arcs);
  weir__steps_close(&search->between);
  weir__lookup_close(search->keys);
  weir__idmap_clear(&search->map);
  free(search->met);
}
