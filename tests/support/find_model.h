/*
 * Finds done naively: all rows of a store in memory, conditions evaluated on jansson's values, a stable sort.
 * With it random props, conditions and orders that meet the edges of the types.
 */
#ifndef WEIR_TEST_FIND_MODEL_H
#define WEIR_TEST_FIND_MODEL_H

#include <jansson.h>

#include <weir/query.h>

#include "support.h"

enum { MODEL_LABELS = 3, MODEL_PATHS = 6, MODEL_CONDS = 64, MODEL_VALUES = 64 };

/* The names of the labels, and the paths that random conditions are about. */
extern const char *const model_labels[MODEL_LABELS];
extern const char *const model_paths[MODEL_PATHS];

typedef struct model_row {
  char name[64];   /* what a visitor makes of the row, see model_name_node */
  char key[32];    /* of a node */
  char src[32];    /* of an edge */
  char dst[32];    /* of an edge */
  unsigned labels; /* bits */
  double weight;   /* of an edge */
  int64_t rank;    /* of an edge */
  int64_t rev;
  json_t *props;
} model_row;

typedef struct find_model {
  weir_target target;
  model_row *rows; /* in the order of the scan */
  size_t count;
  size_t room;
} find_model;

/* Reads all rows of a store. Returns a weir code. */
int model_load(find_model *out, weir_txn *txn, weir_target target, weir_error *err);
void model_clear(find_model *model);

/* The name by which a row is told from others. */
void model_name_node(const weir_node *node, char out[64]);
void model_name_edge(const weir_edge *edge, char out[64]);

/* Numbers of the rows that are found, in order, in out[0..model->count-1]; returns how many there are. The
 * limit and the place are not looked at. */
size_t model_find(const find_model *model, const weir_find *find, size_t *out);

/* Random props as JSON text. */
void model_props(weir_test_rng *rng, char *out, size_t size);

/* A random condition in memory of its own. */
typedef struct model_cond {
  weir_cond conds[MODEL_CONDS]; /* the first is the whole */
  size_t cond_count;
  weir_value values[MODEL_VALUES];
  size_t value_count;
} model_cond;

const weir_cond *model_condition(model_cond *memory, weir_test_rng *rng, weir_target target);

/* A random order. */
void model_order(weir_find *find, weir_test_rng *rng, weir_target target);

#endif
