/*
 * From node to node, for those who take many steps in one transaction: statements that are made ready once
 * and used for each step. As storage.h: above it there is no SQL. One transaction; they hold statements, so
 * close them before it ends.
 */
#ifndef WEIR_GRAPH_STORAGE_WALK_H
#define WEIR_GRAPH_STORAGE_WALK_H

#include <weir/query.h>

#include "storage.h"

/* ---- Hops --------------------------------------------------------------------------------------------- */

/* What to read of an edge. */
enum weir__hops_read {
  WEIR__HOPS_KEYS = 0,     /* the far end, label and rank */
  WEIR__HOPS_DETAILS = 1,  /* also weight, props and rev */
  WEIR__HOPS_IDS = 2,      /* the far end alone, for weir__hops_ids */
  WEIR__HOPS_ORDERED = 3,  /* as KEYS, in the order of label, far end and rank, for weir__hops_next */
  WEIR__HOPS_WEIGHT = 4,   /* as KEYS, and the weight */
  WEIR__HOPS_FRONTIER = 5, /* as IDS, but from many nodes at once: weir__hops_seek_all instead of _seek */
  WEIR__HOPS_BETWEEN = 6   /* as WEIGHT, but to one node alone: weir__hops_between instead of _each */
};

/* Which edges to follow, and what to read of them. */
typedef struct weir__hops_spec {
  weir_direction direction; /* WEIR_OUT or WEIR_IN */
  const int64_t *labels;    /* numbers; none: any label */
  size_t label_count;
  const weir_cond *where; /* on the edge, checked; or NULL. Stays the caller's, and has to stay */
  int details;            /* an enum weir__hops_read */
  const weir_text *cost;  /* or NULL: path of a property to read as a number */
} weir__hops_spec;

/* An edge seen from the node that is stepped from. */
typedef struct weir__far {
  int64_t node; /* the far end */
  int64_t label;
  int64_t rank;
  double weight;   /* with details */
  weir_text props; /* with details 1, and rev */
  int64_t rev;
  int has_cost; /* the property is a number */
  double cost;
} weir__far;

typedef int (*weir__far_visit)(const weir__far *far, void *data, weir_error *err);

typedef struct weir__hops weir__hops;

int weir__hops_open(weir__hops **out, weir_txn *txn, const weir__hops_spec *spec, weir_error *err);

/* Visits the edges of `node`, in no certain order. What `visit` returns other than WEIR_OK ends it, and is
 * returned. `visit` must not use the same weir__hops. */
int weir__hops_each(weir__hops *hops, int64_t node, weir__far_visit visit, void *data, weir_error *err);

/* The same of the edges between `node` and `far`. */
int weir__hops_between(weir__hops *hops, int64_t node, int64_t far, weir__far_visit visit, void *data,
                       weir_error *err);

/* Goes to the edges of `node`. */
void weir__hops_seek(weir__hops *hops, int64_t node);

/* Goes to the edges of all these nodes; they have to stay while the edges are read. */
void weir__hops_seek_all(weir__hops *hops, const int64_t *nodes, size_t count);

/* Goes behind a place among the edges of `node`: as often as one likes, but it costs more than a seek. */
int weir__hops_seek_behind(weir__hops *hops, int64_t node, const weir__hop_place *place, weir_error *err);

/* Reads the next edges, at most `room`; fewer: these are the last. For inner loops: no call per edge. With
 * WEIR__HOPS_FRONTIER from[i] is which of the nodes ids[i] is an edge of; NULL: not wanted. */
int weir__hops_ids(weir__hops *hops, int64_t *ids, uint32_t *from, size_t room, size_t *count,
                   weir_error *err);
int weir__hops_next(weir__hops *hops, weir__hop_place *places, size_t room, size_t *count, weir_error *err);

/* NULL is a no-op. */
void weir__hops_close(weir__hops *hops);

/* ---- Nodes -------------------------------------------------------------------------------------------- */

typedef struct weir__lookup weir__lookup;

/* Reads nodes by number. reach: how much of them. where: a checked condition, or NULL. */
int weir__lookup_open(weir__lookup **out, weir_txn *txn, enum weir__reach reach, const weir_cond *where,
                      weir_error *err);

/* Visits the node if it is there and the condition is true for it. `visit` must not use the same lookup.
 * Returns what it returned. */
int weir__lookup_node(weir__lookup *lookup, int64_t id, weir__node_visit visit, void *data, weir_error *err);

/* *passes: is it there, and is the condition true for it? */
int weir__lookup_passes(weir__lookup *lookup, int64_t id, int *passes, weir_error *err);

/* NULL is a no-op. */
void weir__lookup_close(weir__lookup *lookup);

#endif
