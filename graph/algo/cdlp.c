/*
 * Community detection by label propagation, synchronous: an iteration reads the labels of the one before, so
 * the order of nodes does not matter.
 *
 * A worker counts labels in a table with a place for each, which it clears of what it has met after each
 * node. When few labels change, those that do mark their neighbors, and the next iteration looks at these
 * only: a node whose neighbors kept their labels keeps its own.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <weir/algo.h>

#include "../internal.h"
#include "projection.h"

enum { PIECE = 512, LITTLE = 50000 };
#define FEW 4 /* of 4 nodes fewer than one has changed: marks are worth their time */

struct worker {
  uint32_t *count; /* by label; 0 between nodes */
  uint32_t *met;   /* the labels that are not 0 there */
};

struct propagation {
  const weir_projection *p;
  uint32_t *label, *next;         /* before and after this iteration */
  _Atomic uint8_t *marked, *mark; /* nodes to look at in this iteration, and in the next one */
  int look_at_all, marking;
  _Atomic uint64_t changed; /* nodes, in this iteration */
  _Atomic uint64_t strayed; /* nodes whose label is not the one of two iterations before */
  struct worker workers[WEIR_THREADS_MAX];
  unsigned size;
};

/* ---- One node ------------------------------------------------------------------------------------------ */

/* The most frequent label so far, of several the least. */
struct best {
  uint32_t label, count;
};

/* Counts the labels of a row. `met` labels are in the table before, returns how many after. */
static uint32_t count_row(const weir__rows *rows, uint32_t node, const uint32_t *label,
                          const struct worker *w, uint32_t met, struct best *best) {
  struct best found = *best;
  for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
    uint32_t one = label[rows->far[i]];
    uint32_t count = ++w->count[one];
    w->met[met] = one;
    met += count == 1;
    if (count > found.count || (count == found.count && one < found.label)) {
      found = (struct best){one, count};
    }
  }
  *best = found;
  return met;
}

/* A node without neighbors keeps its label. */
static uint32_t label_of(const struct propagation *g, uint32_t node, const struct worker *w) {
  struct best best = {g->label[node], 0};
  uint32_t met = count_row(&g->p->out, node, g->label, w, 0, &best);
  if (!g->p->info.undirected) {
    met = count_row(&g->p->in, node, g->label, w, met, &best);
  }
  for (uint32_t i = 0; i < met; i++) {
    w->count[w->met[i]] = 0;
  }
  return best.label;
}

static void mark_row(const weir__rows *rows, uint32_t node, _Atomic uint8_t *mark) {
  for (uint64_t i = rows->start[node]; i < rows->start[node + 1]; i++) {
    atomic_store_explicit(&mark[rows->far[i]], 1, memory_order_relaxed);
  }
}

static int propagate_piece(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct propagation *g = data;
  uint64_t changed = 0, strayed = 0;
  for (uint64_t i = first; i < last; i++) {
    uint32_t node = (uint32_t)i;
    int look = g->look_at_all || atomic_load_explicit(&g->marked[i], memory_order_relaxed);
    uint32_t label = look ? label_of(g, node, &g->workers[worker]) : g->label[i];
    strayed += label != g->next[i];
    g->next[i] = label;
    atomic_store_explicit(&g->marked[i], 0, memory_order_relaxed);
    if (label == g->label[i]) {
      continue;
    }
    changed++;
    if (g->marking) {
      mark_row(&g->p->out, node, g->mark);
    }
    if (g->marking && !g->p->info.undirected) {
      mark_row(&g->p->in, node, g->mark);
    }
  }
  atomic_fetch_add_explicit(&g->changed, changed, memory_order_relaxed);
  atomic_fetch_add_explicit(&g->strayed, strayed, memory_order_relaxed);
  return WEIR_OK;
}

/* ---- All of them --------------------------------------------------------------------------------------- */

/* The neighbors of a node have at most as many labels as there are nodes; and count_row writes one more. */
static int allocate(struct propagation *g, const weir__team *team, weir_error *err) {
  size_t nodes = (size_t)g->p->info.nodes + 1;
  g->size = weir__team_size(team);
  g->next = calloc(nodes, sizeof *g->next);
  g->marked = calloc(nodes, sizeof *g->marked);
  g->mark = calloc(nodes, sizeof *g->mark);
  int failed = !g->next || !g->marked || !g->mark;
  for (unsigned i = 0; i < g->size; i++) {
    g->workers[i].count = calloc(nodes, sizeof(uint32_t));
    g->workers[i].met = malloc(nodes * sizeof(uint32_t));
    failed |= !g->workers[i].count || !g->workers[i].met;
  }
  return failed ? weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)g->p->info.nodes)
                : WEIR_OK;
}

static void free_all(struct propagation *g, uint32_t *result) {
  free(g->label == result ? g->next : g->label);
  free(g->marked);
  free(g->mark);
  for (unsigned i = 0; i < g->size; i++) {
    free(g->workers[i].count);
    free(g->workers[i].met);
  }
}

static void turn(struct propagation *g) {
  uint32_t *label = g->label;
  _Atomic uint8_t *marked = g->marked;
  g->label = g->next;
  g->next = label;
  g->marked = g->mark;
  g->mark = marked;
  g->look_at_all = !g->marking;
  g->marking = atomic_load_explicit(&g->changed, memory_order_relaxed) < g->p->info.nodes / FEW;
}

/* Few marks are not worth waking threads for. */
static uint64_t piece_of(const struct propagation *g) {
  uint64_t changed = atomic_load_explicit(&g->changed, memory_order_relaxed), nodes = g->p->info.nodes;
  uint64_t entries = g->p->out.start[nodes] + (g->p->info.undirected ? 0 : g->p->in.start[nodes]);
  return !g->look_at_all && changed * (entries / nodes) < LITTLE ? nodes : PIECE;
}

static int run(struct propagation *g, unsigned iterations, unsigned *made, weir__team *team,
               weir_error *err) {
  uint32_t nodes = g->p->info.nodes;
  int rc = WEIR_OK, done = nodes == 0;
  for (uint32_t i = 0; i < nodes; i++) {
    g->label[i] = i;
  }
  while (rc == WEIR_OK && !done && *made < iterations) {
    uint64_t piece = piece_of(g);
    atomic_store_explicit(&g->changed, 0, memory_order_relaxed);
    atomic_store_explicit(&g->strayed, 0, memory_order_relaxed);
    rc = weir__team_each(team, nodes, piece, propagate_piece, g, err);
    if (rc == WEIR_OK) {
      ++*made;
      turn(g);
      done = atomic_load_explicit(&g->changed, memory_order_relaxed) == 0;
    }
    if (rc == WEIR_OK && !done && *made > 1 && atomic_load_explicit(&g->strayed, memory_order_relaxed) == 0) {
      if ((iterations - *made) % 2 == 1) { /* from now on it goes to and fro */
        turn(g);
      }
      *made = iterations;
    }
  }
  return rc;
}

int weir_cdlp(const weir_projection *p, unsigned iterations, const weir_run *how, uint32_t *label,
              unsigned *made, weir_error *err) {
  struct propagation g = {.p = p, .label = label, .look_at_all = 1};
  weir__team *team = NULL;
  unsigned count = 0;
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(label, "label", err);
  }
  if (rc) {
    return rc;
  }
  rc = weir__team_open(&team, how, (uint64_t)iterations * p->info.nodes,
                       2 * p->info.edges * (iterations < 10 ? iterations : 10), err);
  if (rc) {
    return rc;
  }
  rc = allocate(&g, team, err);
  if (rc == WEIR_OK) {
    rc = run(&g, iterations, &count, team, err);
  }
  if (rc == WEIR_OK && g.label != label) {
    memcpy(label, g.label, p->info.nodes * sizeof *label);
  }
  free_all(&g, label);
  rc = weir__team_close(team, rc, err);
  if (rc == WEIR_OK && made) {
    *made = count;
  }
  return rc;
}
