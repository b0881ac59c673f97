/*
 * The k shortest paths that meet no node twice, by Yen's algorithm, over edges rather than nodes.
 *
 * Each path but the first leaves an earlier one at some node: up to there it is the same, from there on it
 * takes another edge than all earlier paths that have the same beginning. So when a path is visited, the best
 * way to leave it at each of its nodes is looked for, and put among the candidates; the best of these is the
 * next path. A path is left only from the node on where it left its own predecessor, since what leaves
 * earlier has been looked for before (E. L. Lawler, A procedure for computing the k best solutions, 1972). So
 * no path is found twice.
 *
 * Order: by cost; of equal costs those with fewer hops first, then those that were found first.
 */
#include "path_hops.h"

#include <stdlib.h>
#include <string.h>

#include "../arena.h"
#include "../internal.h"
#include "../scan.h"

struct route {
  double cost;
  size_t count;
  size_t left_at;  /* index of the edge where it left its predecessor */
  weir__arc *arcs; /* its own */
};

struct routes {
  struct route *items;
  size_t count;
  size_t room;
};

struct ranking {
  weir__search *search;
  size_t wanted;
  weir_path_fn visit;
  void *data;
  weir__page page; /* the visitor's errors */
  weir_arena arena;
  struct routes visited;
  struct routes candidates; /* the best last */
  unsigned char *same;      /* of each visited path: does it begin like the one that is left? */
  size_t same_room;
  weir__arcs exits; /* edges by which the path can be left at the node at hand */
  weir__arcs arcs;  /* of a path that is being put together */
};

/* ---- Paths ----------------------------------------------------------------------------------------------
 */

static int same_arc(const weir__arc *a, const weir__arc *b) {
  return a->near == b->near && a->far == b->far && a->label == b->label && a->rank == b->rank &&
         a->direction == b->direction;
}

static size_t bytes_of(const struct route *route) {
  return sizeof *route + route->count * sizeof *route->arcs;
}

/* 1 if `a` comes before `b`, which was found before it. */
static int is_better(const struct route *a, const struct route *b) {
  return a->cost < b->cost || (a->cost == b->cost && a->count < b->count);
}

/* Puts the route, which it takes over, at that place. */
static int insert(struct ranking *ranking, struct routes *routes, struct route route, size_t at,
                  weir_error *err) {
  struct route *items = weir__room(routes->items, &routes->room, routes->count, sizeof *items, err);
  if (!items) {
    free(route.arcs);
    return WEIR_NOMEM;
  }
  routes->items = items;
  memmove(items + at + 1, items + at, (routes->count - at) * sizeof *items);
  items[at] = route;
  routes->count++;
  ranking->search->extra += bytes_of(&route);
  return WEIR_OK;
}

static void drop_worst(struct ranking *ranking) {
  struct routes *candidates = &ranking->candidates;
  ranking->search->extra -= bytes_of(&candidates->items[0]);
  free(candidates->items[0].arcs);
  candidates->count--;
  memmove(candidates->items, candidates->items + 1, candidates->count * sizeof *candidates->items);
}

/* Puts ranking->arcs among the candidates, as long as it is one of the best that are still wanted. */
static int add_candidate(struct ranking *ranking, size_t left_at, weir_error *err) {
  struct routes *candidates = &ranking->candidates;
  const weir__arcs *arcs = &ranking->arcs;
  struct route route = {weir__arcs_cost(arcs->items, arcs->count), arcs->count, left_at, NULL};
  route.arcs = malloc(arcs->count * sizeof *route.arcs);
  if (!route.arcs) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a path of %zu hops", arcs->count);
  }
  memcpy(route.arcs, arcs->items, arcs->count * sizeof *route.arcs);
  size_t low = 0;
  for (size_t high = candidates->count; low < high;) {
    size_t middle = low + (high - low) / 2;
    if (is_better(&route, &candidates->items[middle])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  int rc = insert(ranking, candidates, route, low, err);
  if (rc == WEIR_OK && candidates->count > ranking->wanted - ranking->visited.count) {
    drop_worst(ranking);
  }
  return rc;
}

/* ---- Leaving a path --------------------------------------------------------------------------------------
 */

/* A node of a path, and where it can be left to. */
struct fork {
  struct ranking *ranking;
  const struct route *route; /* NULL: there is no path yet */
  size_t at;                 /* edges before the node */
  double cost;               /* of these */
};

/* 1 if an earlier path with the same beginning goes on with that edge. */
static int is_taken(const struct fork *fork, const weir__arc *arc) {
  const struct ranking *ranking = fork->ranking;
  for (size_t i = 0; fork->route && i < ranking->visited.count; i++) {
    const struct route *other = &ranking->visited.items[i];
    if (ranking->same[i] && same_arc(&other->arcs[fork->at], arc)) {
      return 1;
    }
  }
  return 0;
}

static int add_exit(const weir__arc *arc, void *data, weir_error *err) {
  const struct fork *fork = data;
  weir__search *search = fork->ranking->search;
  uint32_t index;
  int rc = weir__search_meet(search, arc->far, &index, err);
  if (rc || search->met[index].dist[0] == WEIR__BLOCKED) {
    return rc;
  }
  if (!(arc->cost >= 0)) {
    return weir__arc_refuse(search, arc, err);
  }
  if (is_taken(fork, arc)) {
    return WEIR_OK;
  }
  double dist = search->question->options.cost == WEIR_COST_HOPS ? 0 : fork->cost + arc->cost;
  rc = weir__search_reach(search, 0, WEIR__NO_NODE, arc->far, dist, err);
  return rc ? rc : weir__arcs_add(&fork->ranking->exits, arc, err);
}

/* The best of the exits to the node at which the path that was found begins. */
static const weir__arc *best_exit(const struct ranking *ranking) {
  const weir__search *search = ranking->search;
  const weir__arc *best = NULL;
  uint32_t node = search->meet;
  while (search->met[node].via[0] != WEIR__NO_NODE) {
    node = search->met[node].via[0];
  }
  for (size_t i = 0; i < ranking->exits.count; i++) {
    const weir__arc *arc = &ranking->exits.items[i];
    if (arc->far == search->map.ids[node] && (!best || arc->cost < best->cost)) {
      best = arc;
    }
  }
  return best;
}

/* Puts the path together: up to the fork, the exit, and what the search has found. */
static int join(const struct fork *fork, weir_error *err) {
  struct ranking *ranking = fork->ranking;
  int rc = WEIR_OK;
  ranking->arcs.count = 0;
  for (size_t i = 0; i < fork->at && rc == WEIR_OK; i++) {
    rc = weir__arcs_add(&ranking->arcs, &fork->route->arcs[i], err);
  }
  if (rc == WEIR_OK) {
    rc = weir__arcs_add(&ranking->arcs, best_exit(ranking), err);
  }
  if (rc == WEIR_OK) {
    rc = weir__arcs_find(ranking->search, &ranking->arcs, err);
  }
  return rc ? rc : add_candidate(ranking, fork->at, err);
}

static int search_on(weir__search *search, size_t hops, weir_error *err) {
  const weir_path_options *options = &search->question->options;
  if (options->cost != WEIR_COST_HOPS) {
    return weir__search_dijkstra(search, err);
  }
  uint32_t most = options->max_depth;
  return weir__search_breadth(search, most == WEIR_UNLIMITED ? most : most - (uint32_t)hops, 0, err);
}

/* Looks for the best way to leave the path at the fork. */
static int leave(struct fork *fork, weir_error *err) {
  struct ranking *ranking = fork->ranking;
  weir__search *search = ranking->search;
  int64_t node = fork->at ? fork->route->arcs[fork->at - 1].far : search->from;
  int rc = WEIR_OK;
  if (fork->at >= search->question->options.max_depth) {
    return WEIR_OK;
  }
  weir__search_reset(search);
  for (size_t i = 0; i < fork->at && rc == WEIR_OK; i++) {
    rc = weir__search_block(search, fork->route->arcs[i].near, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__search_block(search, node, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__search_reach(search, 1, WEIR__NO_NODE, search->to, 0, err);
  }
  ranking->exits.count = 0;
  if (rc == WEIR_OK) {
    rc = weir__arcs_each(search, node, 0, add_exit, fork, err);
  }
  if (rc == WEIR_OK && !weir__search_spent(search)) {
    rc = search_on(search, fork->at + 1, err);
  }
  if (rc == WEIR_OK && search->ending == WEIR_ENDED && search->meet != WEIR__NO_NODE) {
    rc = join(fork, err);
  }
  return rc < 0 ? rc : WEIR_OK;
}

/* Which of the visited paths begin with the first `count` edges of the route, given which do so with one
 * less.
 */
static void compare(struct ranking *ranking, const struct route *route, size_t count) {
  for (size_t i = 0; i < ranking->visited.count; i++) {
    const struct route *other = &ranking->visited.items[i];
    int same = count == 0 || (ranking->same[i] && same_arc(&other->arcs[count - 1], &route->arcs[count - 1]));
    ranking->same[i] = same && other->count > count;
  }
}

/* Looks for the best ways to leave the path that was visited last. */
static int leave_everywhere(struct ranking *ranking, weir_error *err) {
  const struct route *route = &ranking->visited.items[ranking->visited.count - 1];
  struct fork fork = {ranking, route, 0, 0};
  int rc = WEIR_OK;
  unsigned char *same = weir__room(ranking->same, &ranking->same_room, ranking->visited.count, 1, err);
  if (!same) {
    return WEIR_NOMEM;
  }
  ranking->same = same;
  for (; fork.at < route->count && rc == WEIR_OK && ranking->search->ending == WEIR_ENDED; fork.at++) {
    compare(ranking, route, fork.at);
    if (fork.at >= route->left_at) {
      rc = leave(&fork, err);
    }
    fork.cost += route->arcs[fork.at].cost;
  }
  return rc;
}

/* ---- Visiting -------------------------------------------------------------------------------------------
 */

static int visit_path(struct ranking *ranking, const weir__arc *arcs, size_t count, weir_error *err) {
  weir__search *search = ranking->search;
  weir_path path;
  weir__arena_reset(&ranking->arena);
  int rc = weir__path_fill(search, arcs, count, &ranking->arena, &path, err);
  return rc ? rc : weir__path_visit(search, &ranking->page, &path, ranking->visit, ranking->data, err);
}

/* Visits the best of the candidates, which becomes the last of the visited. */
static int visit_best(struct ranking *ranking, weir_error *err) {
  struct route route = ranking->candidates.items[--ranking->candidates.count];
  ranking->search->extra -= bytes_of(&route);
  int rc = insert(ranking, &ranking->visited, route, ranking->visited.count, err);
  return rc ? rc : visit_path(ranking, route.arcs, route.count, err);
}

static int rank_paths(struct ranking *ranking, weir_error *err) {
  struct fork beginning = {ranking, NULL, 0, 0};
  int rc = weir__arcs_open(ranking->search, 0, err);
  if (rc == WEIR_OK) {
    rc = leave(&beginning, err);
  }
  while (rc == WEIR_OK && ranking->search->ending == WEIR_ENDED && ranking->candidates.count > 0) {
    rc = visit_best(ranking, err);
    if (ranking->visited.count == ranking->wanted) {
      break;
    }
    if (rc == WEIR_OK) {
      rc = leave_everywhere(ranking, err);
    }
  }
  return rc;
}

static void clear_routes(struct routes *routes) {
  for (size_t i = 0; i < routes->count; i++) {
    free(routes->items[i].arcs);
  }
  free(routes->items);
}

struct k_shortest {
  weir__question question;
  size_t count;
  weir_path_fn visit;
  void *data;
  weir_ending ending;
};

static int find_k(weir_txn *txn, void *data, weir_error *err) {
  struct k_shortest *k = data;
  weir__search search;
  struct ranking ranking = {.search = &search, .wanted = k->count, .visit = k->visit, .data = k->data};
  int rc = weir__search_open(&search, txn, &k->question, err);
  if (rc) {
    return rc;
  }
  if (search.from == search.to && k->count > 0) {
    search.count = 1;
    rc = visit_path(&ranking, NULL, 0, err);
  } else if (!search.barred && k->count > 0) {
    rc = rank_paths(&ranking, err);
  }
  k->ending = search.ending;
  clear_routes(&ranking.visited);
  clear_routes(&ranking.candidates);
  free(ranking.same);
  free(ranking.exits.items);
  free(ranking.arcs.items);
  weir_arena_clear(&ranking.arena);
  weir__search_close(&search);
  return rc < 0 ? rc : WEIR_OK;
}

int weir_path_k_shortest(weir_txn *txn, weir_text from, weir_text to, size_t count,
                         const weir_path_options *options, weir_path_fn visit, void *data,
                         weir_ending *ending, weir_error *err) {
  struct k_shortest k = {.count = count, .visit = visit, .data = data};
  int rc = visit ? WEIR_OK : weir_fail(err, WEIR_INVALID, "visit is NULL");
  if (rc == WEIR_OK) {
    rc = weir__question_init(&k.question, from, to, options, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, find_k, &k, err);
  }
  if (rc == WEIR_OK && ending) {
    *ending = k.ending;
  }
  return rc;
}
