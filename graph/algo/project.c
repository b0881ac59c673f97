/*
 * A projection is made of a store: its nodes first, which get their numbers in the order of those that the
 * store has given them, then the edges, of which the ends are looked up as they come.
 *
 * Progress is by the numbers of nodes in the store: those passed in the scan of the nodes, then those whose
 * edges were passed. So its total is known without counting edges.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../labels.h"
#include "../node.h"
#include "../query/cond.h"
#include "../store/storage_project.h"
#include "numbers.h"
#include "projection.h"

struct projecting {
  weir_projection_options options;
  const weir_run *run;
  weir_projection *made;

  weir__team *team;
  int64_t passed; /* where the scan at hand is */
  weir__numbers numbers;
  weir__keys keys;
  int rc; /* what went wrong in a callback, and its detail */
  weir_error error;

  int64_t src;       /* of the last edge */
  uint32_t src_node; /* what that became */
  uint32_t dst_node; /* of the edge before, if that has the same source; else 0 */
  int ascending;
  weir__rows rows; /* of the sources; start[node + 1]: how many edges node has */
  size_t room, count;
  uint64_t left_out;
  int refused; /* 1: an edge has no weight, whose ends are: */
  int64_t ends[2];
};

/* ---- What is asked --------------------------------------------------------------------------------------
 */

static int check_labels(const weir_text *labels, size_t count, const char *what, weir_error *err) {
  if (count > WEIR_LABELS_MAX) {
    return weir_fail(err, WEIR_INVALID, "%zu %s: give at most %d", count, what, WEIR_LABELS_MAX);
  }
  int rc = count > 0 ? weir__check_set(labels, what, err) : WEIR_OK;
  for (size_t i = 0; i < count && rc == WEIR_OK; i++) {
    rc = weir__text_check(labels[i], "label", 1, WEIR_LABEL_MAX, err);
    if (rc) {
      return weir__fail_at(err, rc, what, i);
    }
  }
  return rc;
}

static int check_weight(const weir_projection_options *options, weir_error *err) {
  if ((unsigned)options->weight > WEIR_COST_PROP) {
    return weir_fail(err, WEIR_INVALID, "weight %d: give WEIR_COST_HOPS, WEIR_COST_WEIGHT or WEIR_COST_PROP",
                     (int)options->weight);
  }
  if (options->weight != WEIR_COST_PROP) {
    return WEIR_OK;
  }
  if (options->weight_missing && !isfinite(*options->weight_missing)) {
    return weir_fail(err, WEIR_INVALID, "weight_missing is %g: give a finite number",
                     *options->weight_missing);
  }
  return weir__path_check(options->weight_path, "weight_path", err);
}

static int check_options(const weir_projection_options *options, weir_error *err) {
  int rc = check_labels(options->node_labels, options->node_label_count, "node_labels", err);
  if (rc == WEIR_OK) {
    rc = check_labels(options->edge_labels, options->edge_label_count, "edge_labels", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__cond_check(options->nodes, WEIR_NODES, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__cond_check(options->edges, WEIR_EDGES, err);
  }
  if (rc == WEIR_OK && (unsigned)options->parallel > WEIR_PARALLEL_MAX) {
    rc = weir_fail(err, WEIR_INVALID, "parallel %d: give WEIR_PARALLEL_KEEP, _SUM, _MIN or _MAX",
                   (int)options->parallel);
  }
  return rc ? rc : check_weight(options, err);
}

/* The labels as numbers. *none: labels were given, but the store has none of them. */
static int choose(weir_txn *txn, const weir_text *names, size_t count, const weir_cond *where,
                  int64_t ids[WEIR_LABELS_MAX], weir__chosen *chosen, int *none, weir_error *err) {
  *chosen = (weir__chosen){.labels = ids, .where = where};
  for (size_t i = 0; i < count; i++) {
    int64_t id;
    int rc = weir__label_find(txn, names[i], &id, err);
    if (rc) {
      return rc;
    }
    if (id) {
      ids[chosen->label_count++] = id;
    }
  }
  *none = count > 0 && chosen->label_count == 0;
  return WEIR_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------------------
 */

static int pause_scan(void *data, int64_t at, weir_error *err) {
  struct projecting *of = data;
  if (of->rc) {
    *err = of->error;
    return of->rc;
  }
  uint64_t units = at > of->passed ? (uint64_t)(at - of->passed) : 0;
  of->passed = at;
  return weir__team_tick(of->team, units, err);
}

static void take_node(void *data, int64_t id, weir_text key) {
  struct projecting *of = data;
  if (of->rc) {
    return;
  }
  if (!key.ptr) {
    of->rc = weir_fail(&of->error, WEIR_NOMEM, "out of memory for a node");
    return;
  }
  of->rc = weir__numbers_add(&of->numbers, id, &of->error);
  if (of->rc == WEIR_OK) {
    of->rc = weir__keys_add(&of->keys, key, &of->error);
  }
}

static int take_nodes(struct projecting *of, weir_txn *txn, weir_error *err) {
  const weir_projection_options *options = &of->options;
  const weir__taker taker = {.node = take_node, .pause = pause_scan, .data = of};
  int64_t labels[WEIR_LABELS_MAX];
  weir__chosen chosen;
  int none = 0;
  int rc = choose(txn, options->node_labels, options->node_label_count, options->nodes, labels, &chosen,
                  &none, err);
  if (rc == WEIR_OK && !none) {
    rc = weir__store_take_nodes(txn, &chosen, &taker, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__numbers_end(&of->numbers, err);
  }
  return rc ? rc : weir__keys_end(&of->keys, err);
}

/* ---- Edges ----------------------------------------------------------------------------------------------
 */

static int grow_edges(struct projecting *of, weir_error *err) {
  size_t room = of->room ? 2 * of->room : WEIR__TAKE_ROWS;
  uint32_t *far = realloc(of->rows.far, room * sizeof *far);
  double *weight = of->options.weight ? realloc(of->rows.weight, room * sizeof *weight) : NULL;
  of->rows.far = far ? far : of->rows.far;
  of->rows.weight = weight ? weight : of->rows.weight;
  if (!far || (of->options.weight && !weight)) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %zu edges", room);
  }
  of->room = room;
  return WEIR_OK;
}

/* 0: the edge has no weight. */
static int weigh(struct projecting *of, int64_t src, int64_t dst, double *weight) {
  if (!isnan(*weight)) {
    return 1;
  }
  if (of->options.weight_missing) {
    *weight = *of->options.weight_missing;
    return 1;
  }
  of->refused = 1;
  of->ends[0] = src;
  of->ends[1] = dst;
  of->rc = weir_fail(&of->error, WEIR_INVALID, "an edge has no weight");
  return 0;
}

static void take_edge(void *data, int64_t src, int64_t dst, double weight) {
  struct projecting *of = data;
  if (src != of->src) {
    of->src = src;
    of->src_node = weir__numbers_find(&of->numbers, src);
    of->dst_node = 0;
  }
  uint32_t dst_node = weir__numbers_find(&of->numbers, dst);
  if (of->src_node == WEIR_NO_NODE || dst_node == WEIR_NO_NODE) {
    of->left_out++;
    return;
  }
  if (of->rc || !weigh(of, src, dst, &weight)) {
    return;
  }
  if (of->count == of->room) {
    of->rc = grow_edges(of, &of->error);
    if (of->rc) {
      return;
    }
  }
  of->ascending &= dst_node >= of->dst_node;
  of->dst_node = dst_node;
  of->rows.start[(size_t)of->src_node + 1]++;
  of->rows.far[of->count] = dst_node;
  if (of->rows.weight) {
    of->rows.weight[of->count] = weight;
  }
  of->count++;
}

/* Empty rows; weights are there even if no edge is. */
static int begin_rows(struct projecting *of, weir_error *err) {
  of->rows.start = calloc((size_t)of->numbers.count + 2, sizeof *of->rows.start);
  if (!of->rows.start) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)of->numbers.count);
  }
  of->passed = 0;
  of->src_node = WEIR_NO_NODE;
  of->ascending = 1;
  return grow_edges(of, err);
}

/* All edges were taken: lengths become places, and what is not needed is given back. */
static void end_rows(struct projecting *of) {
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
static int refuse_edge(const struct projecting *of, weir_txn *txn, const weir__chosen *chosen,
                       weir_error *err) {
  char src[128] = "", dst[128] = "";
  struct naming names[2] = {{src, sizeof src}, {dst, sizeof dst}};
  weir_text label = {NULL, 0};
  weir__edge_id id = {.label = 0};
  int found = 0;
  int rc = weir__store_edge_without(txn, chosen, of->options.weight_path, of->ends[0], of->ends[1], &id,
                                    &found, err);
  if (rc == WEIR_OK) {
    rc = weir__store_node_get(txn, of->ends, 2, name_node, names, err);
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
                   src, WEIR__SHOW(label), dst, id.rank, WEIR__SHOW(of->options.weight_path));
}

static int take_edges(struct projecting *of, weir_txn *txn, weir_error *err) {
  const weir_projection_options *options = &of->options;
  const weir__taker taker = {.edge = take_edge, .pause = pause_scan, .data = of};
  int64_t labels[WEIR_LABELS_MAX];
  weir__chosen chosen;
  int none = 0;
  int rc = choose(txn, options->edge_labels, options->edge_label_count, options->edges, labels, &chosen,
                  &none, err);
  if (rc == WEIR_OK) {
    rc = begin_rows(of, err);
  }
  if (rc == WEIR_OK && !none) {
    rc = weir__store_take_edges(txn, &chosen, options->weight, options->weight_path, &taker, err);
  }
  if (rc == WEIR_OK) {
    end_rows(of);
  }
  return rc && of->refused ? refuse_edge(of, txn, &chosen, err) : rc;
}

/* ---- All of it ------------------------------------------------------------------------------------------
 */

static int make_rows(struct projecting *of, weir_error *err) {
  const weir__shape shape = {.nodes = of->numbers.count,
                             .undirected = of->options.undirected != 0,
                             .drop_loops = of->options.drop_loops != 0,
                             .parallel = of->options.parallel,
                             .ascending = of->ascending};
  int rc = weir__projection_of_rows(&of->made, &of->rows, &shape, of->team, err);
  if (rc) {
    return rc;
  }
  weir_projection *p = of->made;
  p->keys = of->keys;
  of->keys = (weir__keys){.bytes = NULL};
  p->info.left_out = of->left_out;
  p->info.bytes += weir__keys_bytes(&p->keys);
  return WEIR_OK;
}

static int project(weir_txn *txn, void *data, weir_error *err) {
  struct projecting *of = data;
  int64_t last = 0, rev = 0;
  int rc = weir_txn_rev(txn, &rev, err);
  if (rc == WEIR_OK) {
    rc = weir__store_node_last(txn, &last, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__team_open(&of->team, of->run, last > 0 ? 2 * (uint64_t)last : 0, err);
  }
  if (rc) {
    return rc;
  }
  rc = take_nodes(of, txn, err);
  if (rc == WEIR_OK) {
    rc = take_edges(of, txn, err);
  }
  if (rc == WEIR_OK) {
    rc = make_rows(of, err);
  }
  if (rc == WEIR_OK) {
    of->made->info.rev = rev;
  }
  return weir__team_close(of->team, rc, err);
}

int weir_projection_open(weir_projection **out, weir_txn *txn, const weir_projection_options *options,
                         const weir_run *run, weir_error *err) {
  struct projecting of = {.options = WEIR_PROJECTION_OPTIONS_INIT, .run = run, .error = WEIR_ERROR_INIT};
  int rc = weir__check_set((const void *)out, "out", err);
  if (rc) {
    return rc;
  }
  *out = NULL;
  rc = weir__options_copy(&of.options, sizeof of.options, options, "weir_projection_options", err);
  if (rc == WEIR_OK) {
    rc = check_options(&of.options, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, project, &of, err);
  }
  if (rc) {
    weir_projection_close(of.made);
  } else {
    *out = of.made;
  }
  weir__numbers_clear(&of.numbers);
  weir__keys_clear(&of.keys);
  weir__rows_clear(&of.rows);
  return rc;
}

/* ---- How old it is --------------------------------------------------------------------------------------
 */

static int see_rev(weir_txn *txn, void *data, weir_error *err) {
  return weir_txn_rev(txn, data, err);
}

int weir_projection_behind(const weir_projection *p, weir_txn *txn, int64_t *writes, weir_error *err) {
  int64_t rev = 0;
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(writes, "writes", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, see_rev, &rev, err);
  }
  if (rc == WEIR_OK && rev < p->info.rev) {
    return weir_fail(err, WEIR_MISUSE,
                     "the transaction sees write %" PRId64 ", the projection is of write %" PRId64, rev,
                     p->info.rev);
  }
  if (rc == WEIR_OK) {
    *writes = rev - p->info.rev;
  }
  return rc;
}
