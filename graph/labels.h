/*
 * Labels and sets of labels: names outside, numbers inside. What was seen once is cached in the connection.
 *
 * Entries and names that are handed out are the cache's: valid until the operation ends. Labels are few by
 * nature, so the cache is not bounded.
 */
#ifndef WEIR_GRAPH_LABELS_H
#define WEIR_GRAPH_LABELS_H

#include <weir/graph.h>

/* A set of labels, as nodes have it. */
typedef struct weir__label_set {
  int64_t id;
  size_t count;
  size_t bytes;           /* of all names, with a NUL for each */
  const weir_text *names; /* in the order of their bytes; each is followed by a NUL */
} weir__label_set;

struct weir__labels;

/* The cache of one connection. */
int weir__labels_open(struct weir__labels **out);
void weir__labels_close(struct weir__labels *labels);

/* Forgets everything. */
void weir__labels_drop(struct weir__labels *labels);

/* *id becomes the number of the label, 0 if no node or edge ever had it. */
int weir__label_find(weir_txn *txn, weir_text name, int64_t *id, weir_error *err);

/* The numbers of those of the labels that are in the store: ids[0..*found-1], where there is room for all. */
int weir__labels_find(weir_txn *txn, const weir_text *names, size_t count, int64_t *ids, size_t *found,
                      weir_error *err);

/* The label to read by: *label becomes 0 for an empty name (any label). *none becomes 1 if there is a name
 * but no such label, so there is nothing to read. */
int weir__label_filter(weir_txn *txn, weir_text name, int64_t *label, int *none, weir_error *err);

/* As weir__label_find, but adds it if it is new. */
int weir__label_make(weir_txn *txn, weir_text name, int64_t *id, weir_error *err);

/* The name of a label. */
int weir__label_name(weir_txn *txn, int64_t id, weir_text *name, weir_error *err);

/* *id becomes the number of the set of the `count` (at most WEIR_LABELS_MAX) names, in any order and with
 * repetitions; 0 if no node ever had it. */
int weir__label_set_find(weir_txn *txn, const weir_text *names, size_t count, int64_t *id, weir_error *err);

/* As weir__label_set_find, but adds it if it is new. */
int weir__label_set_make(weir_txn *txn, const weir_text *names, size_t count, int64_t *id, weir_error *err);

/* The set of that number. */
int weir__label_set_get(weir_txn *txn, int64_t id, const weir__label_set **set, weir_error *err);

#endif
