/*
 * Edges come from the store in blocks, in the order of their sources, and are taken apart on another thread
 * if there is one: ends become numbers of the projection, and far ends rows. If nothing but their ends and
 * labels is wanted they come in the order of their destinations, from an index, which is smaller.
 *
 * So there are two states: that of the calling thread, which fills blocks, and that of who takes them apart,
 * which nobody else touches until the relay is closed.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../labels.h"
#include "../node.h"
#include "project.h"

struct block {
  size_t count;
  int64_t near[WEIR__TAKE_ROWS], far[WEIR__TAKE_ROWS];
  double weight[WEIR__TAKE_ROWS]; /* if weights are wanted */
};

/* Who fills blocks. */
struct filling {
  weir__projecting *of;
  weir__relay *relay;
  struct block *block; /* the one at hand */
};

/* Who takes them apart. */
struct taking {
  weir__projecting *of;
  size_t room;        /* of of->rows */
  int64_t near;       /* of the last edge */
  uint32_t near_node; /* what that became */
  uint32_t far_node;  /* of the last edge, if it has the same near end; else 0 */
  int refused;        /* 1: an edge has no weight, whose ends are: */
  int64_t ends[2];
};

/* ---- Filling --------------------------------------------------------------------------------------------
 */

static void fill_edge(void *data, int64_t near, int64_t far, double weight) {
  const struct filling *filling = data;
  struct block *block = filling->block;
  block->near[block->count] = near;
  block->far[block->count] = far;
  if (filling->of->options.weight) {
    block->weight[block->count] = weight;
  }
  block->count++;
}

static int pause_edges(void *data, int64_t at, weir_error *err) {
  struct filling *filling = data;
  if (filling->block->count > 0) {
    int rc = weir__relay_pass(filling->relay, err);
    if (rc) {
      return rc;
    }
    filling->block = weir__relay_block(filling->relay);
    filling->block->count = 0;
  }
  return weir__project_passed(filling->of, at, err);
}

/* ---- Taking apart ---------------------------------------------------------------------------------------
 */

/* For how many edges to make room: as many as there will be if the other nodes have as many as those so far,
 * within bounds. */
static size_t guess_room(const struct taking *taking) {
  const weir__projecting *of = taking->of;
  size_t least = 2 * taking->room, most = 16 * taking->room;
  if (taking->room == 0 || taking->near_node == WEIR_NO_NODE) {
    return taking->room ? least : WEIR__TAKE_ROWS;
  }
  double each = (double)of->count / (taking->near_node + 1.0);
  double guess = 1.05 * each * of->numbers.count;
  return guess < (double)least ? least : guess < (double)most ? (size_t)guess : most;
}

/* Makes room for the edges of another block. */
static int grow_rows(struct taking *taking, weir_error *err) {
  weir__rows *rows = &taking->of->rows;
  if (taking->room - taking->of->count >= WEIR__TAKE_ROWS) {
    return WEIR_OK;
  }
  size_t room = guess_room(taking);
  int weighted = taking->of->options.weight != WEIR_COST_HOPS;
  uint32_t *far = realloc(rows->far, room * sizeof *far);
  if (far) {
    rows->far = far;
  }
  double *weight = weighted ? realloc(rows->weight, room * sizeof *weight) : NULL;
  if (weight) {
    rows->weight = weight;
  }
  if (!far || (weighted && !weight)) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %zu edges", room);
  }
  taking->room = room;
  return WEIR_OK;
}

/* What an edge without a weight gets. */
static int weigh(struct taking *taking, const struct block *block, size_t i, double *weight,
                 weir_error *err) {
  const double *missing = taking->of->options.weight_missing;
  if (missing) {
    *weight = *missing;
    return WEIR_OK;
  }
  taking->refused = 1;
  taking->ends[0] = block->near[i];
  taking->ends[1] = block->far[i];
  return weir_fail(err, WEIR_INVALID, "an edge has no weight"); /* refuse_edge says which */
}

static int take_block(void *memory, void *data, weir_error *err) {
  const struct block *block = memory;
  struct taking *taking = data;
  weir__projecting *of = taking->of;
  int rc = grow_rows(taking, err);
  for (size_t i = 0; i < block->count && rc == WEIR_OK; i++) {
    if (block->near[i] != taking->near) {
      taking->near = block->near[i];
      taking->near_node = weir__numbers_find(&of->numbers, taking->near);
      taking->far_node = 0;
    }
    uint32_t far_node = weir__numbers_find(&of->numbers, block->far[i]);
    if (taking->near_node == WEIR_NO_NODE || far_node == WEIR_NO_NODE) {
      of->left_out++;
      continue;
    }
    if (of->rows.weight) {
      double *weight = &of->rows.weight[of->count];
      *weight = block->weight[i];
      if (isnan(*weight)) {
        rc = weigh(taking, block, i, weight, err);
      }
    }
    of->ascending &= far_node >= taking->far_node;
    taking->far_node = far_node;
    of->rows.far[of->count++] = far_node;
    of->rows.start[(size_t)taking->near_node + 1]++;
  }
  return rc;
}

/* Empty rows; weights are there even if no edge is. */
static int begin_rows(struct taking *taking, weir_error *err) {
  weir__projecting *of = taking->of;
  of->ascending = 1;
  of->rows.start = calloc((size_t)of->numbers.count + 2, sizeof *of->rows.start);
  if (!of->rows.start) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)of->numbers.count);
  }
  return grow_rows(taking, err);
}

/* All edges were taken: lengths become places, and what is not needed is given back. */
static void end_rows(weir__projecting *of) {
  for (size_t node = 0; node < of->numbers.count; node++) {
    of->rows.start[node + 1] += of->rows.start[node];
  }
  weir__rows_trim(&of->rows, of->count);
}

/* ---- Edges without a weight ------------------------------------------------------------------------------
 */

struct naming {
  char *text;
  size_t room;
};

static int name_node(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  const struct naming *names = data;
  (void)err;
  (void)snprintf(names[index].text, names[index].room, "%.*s", WEIR__SHOW(row->key));
  return WEIR_OK;
}

/* Says which edge has no number. */
static int refuse_edge(const struct taking *taking, weir_txn *txn, const weir__chosen *chosen,
                       weir_error *err) {
  const weir_text path = taking->of->options.weight_path;
  char src[128] = "", dst[128] = "";
  struct naming names[2] = {{src, sizeof src}, {dst, sizeof dst}};
  weir_text label = {NULL, 0};
  weir__edge_id id = {.label = 0};
  int found = 0;
  int rc = weir__store_edge_without(txn, chosen, path, taking->ends[0], taking->ends[1], &id, &found, err);
  if (rc == WEIR_OK) {
    rc = weir__store_node_get(txn, taking->ends, 2, name_node, names, err);
  }
  if (rc == WEIR_OK && found) {
    rc = weir__label_name(txn, id.label, &label, err);
  }
  if (rc) {
    return rc;
  }
  return weir_fail(err, WEIR_INVALID,
                   "edge \"%s\" -[%.*s]-> \"%s\", rank %" PRId64
                   ", has no number at \"%.*s\": give weight_missing, or leave it out by a condition",
                   src, WEIR__SHOW(label), dst, id.rank, WEIR__SHOW(path));
}

/* ---- All edges ------------------------------------------------------------------------------------------
 */

static int take_edges(struct taking *taking, weir_txn *txn, const weir__edges_spec *spec, weir_error *err) {
  weir__projecting *of = taking->of;
  struct filling filling = {.of = of};
  const weir__taker taker = {.edge = fill_edge, .pause = pause_edges, .data = &filling};
  /* Edges are not counted beforehand: ten a node, each of which takes as long as looking at twenty. */
  int threaded = weir__team_wished(of->team, 200 * (uint64_t)of->numbers.count) > 1;
  int rc = weir__relay_open(&filling.relay, sizeof(struct block), threaded, take_block, taking, err);
  if (rc) {
    return rc;
  }
  filling.block = weir__relay_block(filling.relay);
  filling.block->count = 0;
  rc = weir__store_take_edges(txn, spec, &taker, err);
  return weir__relay_close(filling.relay, rc, err);
}

int weir__project_edges(weir__projecting *of, weir_txn *txn, weir_error *err) {
  const weir_projection_options *options = &of->options;
  struct taking taking = {.of = of, .near = INT64_MIN, .near_node = WEIR_NO_NODE};
  weir__edges_spec spec = {.cost = options->weight, .path = options->weight_path};
  int64_t labels[WEIR_LABELS_MAX];
  int none = 0;
  int rc = weir__choose(txn, options->edge_labels, options->edge_label_count, options->edges, labels,
                        &spec.chosen, &none, err);
  of->passed = 0;
  of->against = spec.against = options->weight == WEIR_COST_HOPS && !options->edges;
  if (rc == WEIR_OK) {
    rc = begin_rows(&taking, err);
  }
  if (rc == WEIR_OK && !none) {
    rc = take_edges(&taking, txn, &spec, err);
  }
  if (rc && taking.refused) {
    return refuse_edge(&taking, txn, &spec.chosen, err);
  }
  if (rc == WEIR_OK) {
    end_rows(of);
  }
  return rc;
}
