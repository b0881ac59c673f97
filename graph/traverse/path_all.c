/*
 * All shortest paths: a search that gives the nodes on them their distance from the start, then a listing
 * from the target backwards, depth first.
 *
 * An edge is tight if the distance of its near end and its cost make the distance of its far end, to the last
 * bit, and its cost is not negative (then the search has not met it). Shortest paths are the ways over tight
 * edges alone, so each step back from the target leads on to the start, and none is in vain. But for edges
 * that cost nothing: they join nodes of one distance, and a step along one is taken only if from there a
 * lower distance can be had by nodes that are not on the path.
 *
 * Invariants: nodes on the path from the target are marked; none of them has a lower distance than the last.
 * The tight edges of a node are read when they are first wanted, and kept.
 */
#include "path_hops.h"

#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "../scan.h"

#define UNREAD SIZE_MAX

/* A tight edge: the node that it comes from, and the hop. */
struct link {
  uint32_t near;
  weir_hop hop;
};

/* What the listing knows of a node. */
struct stop {
  size_t first; /* of its links; UNREAD */
  size_t count;
  weir_text key;
  int on_path;
  uint32_t seen; /* number of the look ahead that has seen it last */
};

/* A node on the path, and the next of its links to be tried. */
struct frame {
  uint32_t node;
  size_t next;
};

struct listing {
  weir__search *search;
  weir__page page; /* the visitor's errors */
  weir_path_fn visit;
  void *data;
  weir_arena arena;
  uint32_t start;
  struct stop *stops; /* by the index of the node */
  struct link *links;
  size_t link_count;
  size_t link_room;
  struct frame *stack;
  size_t depth;
  size_t stack_room;
  weir_hop *hops; /* the last `depth` - 1 of hop_room: the path is found from its end */
  size_t hop_room;
  weir__lookup *pulse; /* see feel_pulse */
  weir__line ahead;    /* nodes of one distance to be looked at */
  uint32_t looks;
};

/* ---- Tight edges --------------------------------------------------------------------------------------- */

static int name_node(struct listing *listing, uint32_t node, weir_error *err) {
  struct stop *stop = &listing->stops[node];
  if (stop->key.ptr) {
    return WEIR_OK;
  }
  int rc = weir__key_copy(listing->search, listing->search->map.ids[node], &listing->arena, &stop->key, err);
  listing->search->extra += stop->key.len + 1;
  return rc;
}

static int add_link(const weir__arc *arc, void *data, weir_error *err) {
  struct listing *listing = data;
  weir__search *search = listing->search;
  uint32_t near = weir__idmap_find(&search->map, arc->near);
  uint32_t far = weir__idmap_find(&search->map, arc->far);
  if (near == WEIR__NO_NODE || near == far || search->met[near].dist[0] < 0 || !(arc->cost >= 0) ||
      search->met[near].dist[0] + arc->cost != search->met[far].dist[0]) {
    return WEIR_OK;
  }
  struct link *links =
      weir__room(listing->links, &listing->link_room, listing->link_count, sizeof *links, err);
  if (!links) {
    return WEIR_NOMEM;
  }
  listing->links = links;
  struct link *link = &links[listing->link_count];
  link->near = near;
  int rc = name_node(listing, near, err);
  if (rc == WEIR_OK) {
    rc = weir__hop_fill(search, arc, &listing->arena, &link->hop, err);
  }
  if (rc == WEIR_OK) {
    link->hop.from = listing->stops[near].key;
    link->hop.to = listing->stops[far].key;
    search->extra += sizeof *link + link->hop.label.len + link->hop.props.len + 2;
    listing->link_count++;
  }
  return rc;
}

static int read_links(struct listing *listing, uint32_t node, weir_error *err) {
  struct stop *stop = &listing->stops[node];
  if (stop->first != UNREAD) {
    return WEIR_OK;
  }
  size_t first = listing->link_count;
  int rc = name_node(listing, node, err);
  if (rc == WEIR_OK) {
    rc = weir__arcs_each(listing->search, listing->search->map.ids[node], 1, add_link, listing, err);
  }
  stop->first = first;
  stop->count = listing->link_count - first;
  return rc;
}

/* ---- Edges that cost nothing ----------------------------------------------------------------------------
 */

static double dist_of(const struct listing *listing, uint32_t node) {
  return listing->search->met[node].dist[0];
}

/* Sees the nodes before `node`. Returns 1 if one is the start, or nearer to it. */
static int see_before(struct listing *listing, uint32_t node, weir_error *err) {
  int rc = read_links(listing, node, err);
  const struct stop *stop = &listing->stops[node];
  for (size_t i = 0; i < stop->count && rc == WEIR_OK; i++) {
    uint32_t near = listing->links[stop->first + i].near;
    struct stop *before = &listing->stops[near];
    if (near == listing->start || dist_of(listing, near) < dist_of(listing, node)) {
      return 1;
    }
    if (!before->on_path && before->seen != listing->looks) {
      weir__line *ahead = &listing->ahead;
      uint32_t *nodes = weir__room(ahead->nodes, &ahead->room, ahead->count, sizeof *nodes, err);
      if (!nodes) {
        return WEIR_NOMEM;
      }
      ahead->nodes = nodes;
      nodes[ahead->count++] = near;
      before->seen = listing->looks;
    }
  }
  return rc;
}

/* Returns 1 if the start can be had from `node` without the nodes on the path. */
static int leads_on(struct listing *listing, uint32_t node, weir_error *err) {
  int rc = node == listing->start;
  listing->looks++;
  listing->stops[node].seen = listing->looks;
  listing->ahead.count = 0;
  for (size_t i = 0; rc == WEIR_OK; i++) {
    rc = see_before(listing, node, err);
    if (i >= listing->ahead.count) {
      break;
    }
    node = listing->ahead.nodes[i];
  }
  return rc;
}

/* ---- Listing ------------------------------------------------------------------------------------------- */

static int push(struct listing *listing, uint32_t node, weir_error *err) {
  struct frame *stack = weir__room(listing->stack, &listing->stack_room, listing->depth, sizeof *stack, err);
  if (!stack) {
    return WEIR_NOMEM;
  }
  listing->stack = stack;
  stack[listing->depth++] = (struct frame){node, 0};
  listing->stops[node].on_path = 1;
  return read_links(listing, node, err);
}

/* Puts the hop before those there are. */
static int prepend(struct listing *listing, const weir_hop *hop, weir_error *err) {
  size_t used = listing->depth - 1;
  if (used == listing->hop_room) {
    size_t room = used ? 2 * used : 64;
    weir_hop *grown = malloc(room * sizeof *grown);
    if (!grown) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for a path of %zu hops", used);
    }
    if (used > 0) {
      memcpy(grown + room - used, listing->hops, used * sizeof *grown);
    }
    free(listing->hops);
    listing->hops = grown;
    listing->hop_room = room;
  }
  listing->hops[listing->hop_room - 1 - used] = *hop;
  return WEIR_OK;
}

/* Asks the store for something: a read that was canceled is told so by what it asks for, and a listing that
 * has read all tight edges would go on. */
static int feel_pulse(struct listing *listing, weir_error *err) {
  int alive;
  return listing->pulse ? weir__lookup_passes(listing->pulse, listing->search->from, &alive, err) : WEIR_OK;
}

static int visit_path(struct listing *listing, weir_error *err) {
  weir__search *search = listing->search;
  const weir_path path = {
      .found = 1,
      .cost = search->best,
      .hops = listing->depth > 1 ? listing->hops + listing->hop_room - (listing->depth - 1) : NULL,
      .hop_count = listing->depth - 1,
      .met = search->count,
  };
  if (weir__search_spent(search)) {
    return WEIR_STOP;
  }
  int rc = feel_pulse(listing, err);
  return rc ? rc : weir__path_visit(search, &listing->page, &path, listing->visit, listing->data, err);
}

/* One step on in the listing. */
static int step(struct listing *listing, weir_error *err) {
  struct frame *top = &listing->stack[listing->depth - 1];
  const struct stop *stop = &listing->stops[top->node];
  if (top->node == listing->start || top->next == stop->count) {
    int rc = top->node == listing->start ? visit_path(listing, err) : WEIR_OK;
    listing->stops[top->node].on_path = 0;
    listing->depth--;
    return rc;
  }
  size_t at = stop->first + top->next++;
  uint32_t near = listing->links[at].near;
  if (listing->stops[near].on_path) {
    return WEIR_OK;
  }
  if (!(dist_of(listing, near) < dist_of(listing, top->node))) {
    int rc = leads_on(listing, near, err);
    if (rc <= 0) {
      return rc;
    }
  }
  int rc = prepend(listing, &listing->links[at].hop, err);
  return rc ? rc : push(listing, near, err);
}

static int list_paths(struct listing *listing, uint32_t target, weir_error *err) {
  weir__search *search = listing->search;
  listing->stops = calloc(search->map.count, sizeof *listing->stops);
  if (!listing->stops) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %u nodes", (unsigned)search->map.count);
  }
  search->extra += search->map.count * sizeof *listing->stops;
  for (uint32_t i = 0; i < search->map.count; i++) {
    listing->stops[i].first = UNREAD;
  }
  int rc = weir__arcs_open(search, 1, err);
  if (rc == WEIR_OK) {
    rc = weir__lookup_open(&listing->pulse, search->txn, WEIR__REACH_ID, NULL, err);
  }
  if (rc == WEIR_OK) {
    rc = push(listing, target, err);
  }
  while (rc == WEIR_OK && listing->depth > 0) {
    rc = step(listing, err);
  }
  return rc;
}

/* ---- Searching ----------------------------------------------------------------------------------------- */

struct all {
  weir__question question;
  weir_path_fn visit;
  void *data;
  weir_ending ending;
};

static int find_all_met(weir__search *search, struct all *all, weir_error *err) {
  struct listing listing = {.search = search, .visit = all->visit, .data = all->data};
  int rc = WEIR_OK;
  if (search->from == search->to) {
    listing.depth = 1; /* no hops */
    search->count = 1;
    rc = visit_path(&listing, err);
  } else if (search->ending == WEIR_ENDED && search->meet != WEIR__NO_NODE) {
    listing.start = weir__idmap_find(&search->map, search->from);
    rc = list_paths(&listing, weir__idmap_find(&search->map, search->to), err);
  }
  weir__lookup_close(listing.pulse);
  free(listing.stops);
  free(listing.links);
  free(listing.stack);
  free(listing.hops);
  free(listing.ahead.nodes);
  weir_arena_clear(&listing.arena);
  return rc < 0 ? rc : WEIR_OK;
}

static int find_all(weir_txn *txn, void *data, weir_error *err) {
  struct all *all = data;
  weir__search search;
  int rc = weir__search_open(&search, txn, &all->question, err);
  if (rc) {
    return rc;
  }
  if (search.from != search.to && !search.barred) {
    rc = weir__search_run(&search, 1, err);
  }
  if (rc == WEIR_OK) {
    rc = find_all_met(&search, all, err);
  }
  all->ending = search.ending;
  weir__search_close(&search);
  return rc;
}

int weir_path_all_shortest(weir_txn *txn, weir_text from, weir_text to, const weir_path_options *options,
                           weir_path_fn visit, void *data, weir_ending *ending, weir_error *err) {
  struct all all = {.visit = visit, .data = data};
  int rc = visit ? WEIR_OK : weir_fail(err, WEIR_INVALID, "visit is NULL");
  if (rc == WEIR_OK) {
    rc = weir__question_init(&all.question, from, to, options, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, find_all, &all, err);
  }
  if (rc == WEIR_OK && ending) {
    *ending = all.ending;
  }
  return rc;
}
