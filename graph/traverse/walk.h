/*
 * A walk: what it was asked, what it has met, and where it is. Between runs all of it rests in struct
 * weir_walk; what belongs to one transaction is in struct weir__walk_run.
 *
 *   walk.c       opening, running and closing: the public functions
 *   walk_run.c   from node to node, in order, within the budget
 *   walk_met.c   what is met for the first time, and what has to be passed once more
 *   walk_step.c  what a visitor is handed
 */
#ifndef WEIR_GRAPH_WALK_H
#define WEIR_GRAPH_WALK_H

#include "../store/storage_walk.h"
#include "edgeset.h"
#include "idmap.h"
#include "reach.h"

/* A node on the way: breadth first in the queue, depth first on the stack. */
typedef struct weir__stop {
  int64_t node;
  int64_t label; /* label and rank of the edge by which it was reached */
  int64_t rank;
  uint32_t parent; /* index of the stop that it was reached from; at a start its own */
  uint32_t depth;
  uint32_t unique; /* index of the node, or of the edge, whichever is visited once */
  uint8_t against; /* 1: the edge leads from here to the parent */
  uint8_t again;   /* 1: it was visited before, and is passed once more since it is less deep this time */
} weir__stop;

/* The edges of a stop that is being expanded: read ahead in pieces, which are in walk->ahead. */
typedef struct weir__frame {
  weir__hop_place last; /* the edge that was followed last, if any */
  size_t begin;         /* of the piece; its end is the next frame's begin, or that of `ahead` */
  size_t next;          /* in the piece */
  uint64_t run;         /* in which it was read: an older one is not looked at, edges may be gone */
  uint8_t phase;        /* WEIR_OUT, WEIR_IN, or 0: no more edges */
  uint8_t moved;        /* 1: there is a `last` in this phase */
  uint8_t more;         /* 1: behind this piece there may be another */
} weir__frame;

struct weir_walk {
  weir_walk_options options; /* texts and conditions are these */
  weir_text *labels;
  weir_cond *edge_cond;
  weir_cond *node_cond;
  weir_text *keys;
  size_t key_count;
  weir_pool *pool; /* of the first run */
  int running;     /* 1: inside weir_walk_run */
  uint64_t runs;

  int64_t *starts; /* NULL: not looked up yet */
  size_t start_count;
  size_t started; /* depth first: so many of them were begun */

  weir__stop *stops;
  size_t stop_count;
  size_t stop_room;
  size_t head;   /* breadth first: the stop at hand. Depth first it is the last */
  int expanding; /* the stop at hand was visited, and its edges are being followed: the last frame is its */
  weir__frame *frames;
  size_t frame_count;
  size_t frame_room;
  weir__hop_place *ahead;
  size_t ahead_count;
  size_t ahead_room;

  weir__idmap nodes;     /* nodes met or left out; not by WEIR_UNIQUE_PATH without a condition */
  struct weir__met *met; /* what is known of them, by index */
  uint32_t met_room;
  weir__edgeset edges; /* by WEIR_UNIQUE_EDGE: edges followed */
};

typedef struct weir__walk_run {
  weir_walk *walk;
  weir_txn *txn;
  weir_step_fn visit;
  void *data;
  weir_walk_result result;
  weir__steps steps;
  size_t standing[3]; /* by direction: which frame's edges the statement is among, + 1; 0: none */
  uint64_t turns;     /* of the loop */
  uint64_t deadline;  /* of weir__deadline */
  struct weir__trail *trail;
} weir__walk_run;

/* Goes on until something ends the run. (walk_run.c) */
int weir__walk_go(weir__walk_run *run, weir_error *err);

/* What weir__met_admit says of an edge. */
enum weir__admission { WEIR__SKIP, WEIR__VISIT, WEIR__AGAIN };

/* May the edge to stop->node be followed? Sets stop->unique and ->again. (walk_met.c) */
int weir__met_admit(weir__walk_run *run, weir__stop *stop, enum weir__admission *out, weir_error *err);

/* The edge by which the stop was reached; it means nothing at a start. */
weir__edge_id weir__met_edge(const weir_walk *walk, const weir__stop *stop);

/* The starts are let in, whatever the condition on nodes says. */
int weir__met_starts(weir_walk *walk, weir_error *err);

/* The same as weir__met_admit for one of them. */
enum weir__admission weir__met_start(weir_walk *walk, weir__stop *stop);

/* The stop was visited, or is passed again: are its edges to be followed now? */
int weir__met_expand(weir_walk *walk, const weir__stop *stop);

/* The visitor does not want them to be. */
void weir__met_prune(weir_walk *walk, const weir__stop *stop);

/* Bytes that are allocated, and that will be when the next node has been met. */
size_t weir__met_bytes(const weir_walk *walk, int next);
void weir__met_clear(weir_walk *walk);

/* Visits the stop; 1 in *gone: the node is no longer there. Returns what the visitor did. (walk_step.c) */
int weir__trail_open(struct weir__trail **out, weir__walk_run *run, weir_error *err);
int weir__trail_visit(struct weir__trail *trail, const weir__stop *stop, int *gone, weir_error *err);
void weir__trail_close(struct weir__trail *trail);

#endif
