/*
 * What the searches for paths share.
 *
 *   path.c        weir_path_shortest; checks of what is asked; breadth first from both ends
 *   path_cost.c   Dijkstra's search, from both ends or from one
 *   path_all.c    weir_path_all_shortest
 *   path_k.c      weir_path_k_shortest
 *   path_search.c a search: what was met, what is reached next, budgets
 *   path_hops.c   from nodes to the edges between them, and to hops
 *
 * A search goes from side 0, the start, along edges, and from side 1, the target, against them. While it goes
 * on it keeps nodes alone, not the edges between them: these are read again for the few nodes on the path
 * (path_hops.h).
 */
#ifndef WEIR_GRAPH_PATH_H
#define WEIR_GRAPH_PATH_H

#include <weir/traverse.h>

#include "heap.h"
#include "idmap.h"
#include "reach.h"

/* Instead of a distance. */
#define WEIR__UNMET   (-1.0) /* not met from this side */
#define WEIR__BLOCKED (-2.0) /* to be treated as if it were not there */

#define WEIR__NO_NODE WEIR__IDMAP_NONE

/* ---- What is asked ------------------------------------------------------------------------------------ */

typedef struct weir__question {
  weir_text from;
  weir_text to;
  weir_path_options options;
  uint64_t deadline; /* of weir__deadline */
} weir__question;

/* Checks everything, and takes it over. The time of its budget begins. */
int weir__question_init(weir__question *question, weir_text from, weir_text to,
                        const weir_path_options *options, weir_error *err);

/* ---- A search (path_search.c) -------------------------------------------------------------------------- */

/* A node that was met, by its index in the map. */
typedef struct weir__met {
  double dist[2];  /* from the start, to the target: the least that is known, or one of the above */
  uint32_t via[2]; /* the node before it, the node behind it; WEIR__NO_NODE where the search began */
} weir__met;

/* Nodes by their index. */
typedef struct weir__line {
  uint32_t *nodes;
  size_t count;
  size_t room;
} weir__line;

typedef struct weir__search {
  weir_txn *txn;
  const weir__question *question;
  int64_t from;
  int64_t to;
  int barred;           /* 1: the condition on nodes is not true for `to`, so there is no path */
  weir__steps steps[2]; /* from the start; from the target. steps[0].node asks the condition */
  weir__steps arcs;     /* for path_hops.h, when it was needed: edges with label, rank and weight */
  weir__steps between;  /* the same, but for the edges between two nodes */
  weir__lookup *keys;   /* the same: keys of nodes */
  weir__idmap map;
  weir__met *met;
  size_t room;
  weir__line line[2]; /* breadth first: nodes in the order in which they were met */
  weir__heap heap[2]; /* Dijkstra: nodes to go on from */
  uint32_t meet;      /* a node on the best path so far; WEIR__NO_NODE: there is none */
  double best;        /* its cost */
  weir_ending ending; /* other than WEIR_ENDED: the budget is used up */
  uint64_t count;     /* nodes met */
  size_t extra;       /* bytes that its user has allocated */
} weir__search;

/* Begins to look from question->from to question->to. Errors: WEIR_NOT_FOUND. On error nothing needs
 * closing. */
int weir__search_open(weir__search *search, weir_txn *txn, const weir__question *question, weir_error *err);
void weir__search_close(weir__search *search);

/* Forgets what it has met. */
void weir__search_reset(weir__search *search);

/* *index becomes that of the node, which is BLOCKED if the condition is not true for it. Returns 1 if the
 * budget is used up. */
int weir__search_meet(weir__search *search, int64_t id, uint32_t *index, weir_error *err);

/* Treats the node as if it were not there. */
int weir__search_block(weir__search *search, int64_t id, weir_error *err);

/* The node can be had at that distance from that side, behind the node `via` (WEIR__NO_NODE: the search
 * begins there). Returns 1 if the budget is used up. */
int weir__search_reach(weir__search *search, int side, uint32_t via, int64_t id, double dist,
                       weir_error *err);

/* 1 if the budget of time or memory is used up. To be asked once a node. */
int weir__search_spent(weir__search *search);

int weir__line_add(weir__line *line, uint32_t node, weir_error *err);

/* More room for items of that size: `items`, or NULL if memory is out. */
void *weir__room(void *items, size_t *room, size_t count, size_t size, weir_error *err);

/* ---- Searching (path.c, path_cost.c) --------------------------------------------------------------------
 */

/* Looks for a path from `from` to `to` in the way that suits its costs. whole: as below. */
int weir__search_run(weir__search *search, int whole, weir_error *err);

/*
 * Looks for a path from what the search was started at: search->meet and best. They return with the search's
 * `ending` set if the budget is used up.
 *
 * Breadth first: paths of at most `limit` hops. whole: 1 to meet all nodes on shortest paths, and to give
 * them their distance from the start.
 */
int weir__search_breadth(weir__search *search, uint32_t limit, int whole, weir_error *err);
int weir__search_dijkstra(weir__search *search, weir_error *err);

/* From the start alone, until all nodes have their distance that are not further than the target. */
int weir__search_dijkstra_whole(weir__search *search, weir_error *err);

#endif
