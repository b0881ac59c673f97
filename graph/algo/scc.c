/*
 * Strongly connected components: R. Tarjan, Depth-first search and linear graph algorithms, 1972; with an
 * explicit stack in place of recursion, so the depth of a graph does not matter.
 *
 * low[] is 0 for a node that is not visited; then the number of the visit, lowered to the earliest node on
 * the stack that it is known to reach; and DONE once its component is known. A node whose low stays what it
 * was is the root of a component, whose nodes are those above it on the stack.
 *
 * One thread: depth-first search has an order.
 */
#include <stdlib.h>

#include "../internal.h"
#include "projection.h"

#include <weir/algo.h>

#define DONE UINT32_MAX

/* A node that is being visited. */
struct frame {
  uint64_t edge; /* the next one to look at */
  uint32_t node;
  uint32_t number; /* of its visit */
};

struct search {
  const weir__rows *rows;
  uint32_t *component, *low;
  uint32_t *stack;      /* nodes that are visited, and whose component is not known yet */
  struct frame *frames; /* the way from where the search began to where it is */
  size_t stacked, depth;
  uint32_t visits, count;
};

static void enter(struct search *s, uint32_t node) {
  s->low[node] = ++s->visits;
  s->stack[s->stacked++] = node;
  s->frames[s->depth++] = (struct frame){s->rows->start[node], node, s->visits};
}

/* The nodes from `root` on up are a component. */
static void take_component(struct search *s, uint32_t root) {
  size_t first = s->stacked;
  uint32_t least = root;
  do {
    first--;
    least = s->stack[first] < least ? s->stack[first] : least;
  } while (s->stack[first] != root);
  for (size_t i = first; i < s->stacked; i++) {
    s->component[s->stack[i]] = least;
    s->low[s->stack[i]] = DONE;
  }
  s->stacked = first;
  s->count++;
}

static void leave(struct search *s) {
  struct frame frame = s->frames[--s->depth];
  uint32_t low = s->low[frame.node];
  if (low == frame.number) {
    take_component(s, frame.node);
  } else { /* a root is never without a frame below it */
    uint32_t *below = &s->low[s->frames[s->depth - 1].node];
    *below = low < *below ? low : *below;
  }
}

/* Goes on with the node on top: along its edges up to one that leads to a node not visited, or away from it.
 * How many edges that were. */
static uint64_t step(struct search *s) {
  struct frame *top = &s->frames[s->depth - 1];
  uint64_t begin = top->edge, end = s->rows->start[top->node + 1];
  uint32_t low = s->low[top->node];
  for (uint64_t e = begin; e < end; e++) {
    uint32_t far = s->rows->far[e], far_low = s->low[far];
    if (far_low == 0) {
      s->low[top->node] = low;
      top->edge = e + 1;
      enter(s, far);
      return e + 1 - begin;
    }
    low = far_low < low ? far_low : low; /* DONE is never less */
  }
  s->low[top->node] = low;
  leave(s);
  return end - begin;
}

static int run(struct search *s, uint32_t nodes, weir__team *team, weir_error *err) {
  uint64_t steps = 0;
  int rc = WEIR_OK;
  for (uint32_t node = 0; node < nodes && rc == WEIR_OK; node++) {
    if (s->low[node] != 0) {
      continue;
    }
    enter(s, node);
    while (s->depth > 0 && rc == WEIR_OK) {
      rc = weir__team_pace(team, &steps, 1 + step(s), err);
    }
  }
  return rc;
}

static int find_components(const weir_projection *p, uint32_t *component, uint32_t *count,
                           const weir_run *options, weir_error *err) {
  size_t nodes = p->info.nodes;
  weir__team *team = NULL;
  int rc = weir__team_open_alone(&team, options, 2 * (uint64_t)nodes + p->info.edges, err);
  if (rc) {
    return rc;
  }
  struct search s = {.rows = &p->out, .component = component};
  s.low = calloc(nodes + 1, sizeof *s.low);
  s.stack = malloc((nodes + 1) * sizeof *s.stack);
  s.frames = malloc((nodes + 1) * sizeof *s.frames);
  if (s.low && s.stack && s.frames) {
    rc = run(&s, p->info.nodes, team, err);
  } else {
    rc = weir_fail(err, WEIR_NOMEM, "out of memory for the components of %zu nodes", nodes);
  }
  free(s.low);
  free(s.stack);
  free(s.frames);
  if (count) {
    *count = s.count;
  }
  return weir__team_close(team, rc, err);
}

int weir_scc(const weir_projection *p, const weir_run *options, uint32_t *component, uint32_t *count,
             weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(component, "component", err);
  }
  if (rc) {
    return rc;
  }
  return p->info.undirected ? weir_wcc(p, options, component, count, err)
                            : find_components(p, component, count, options, err);
}
