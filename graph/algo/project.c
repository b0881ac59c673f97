/*
 * A projection is made of a store: its nodes first, which get their numbers in the order of those that the
 * store has given them, then the edges, of which the ends are looked up as they come.
 *
 * Progress is by the numbers of nodes in the store: those passed in the scan of the nodes, then those whose
 * edges were passed. So its total is known without counting edges.
 */
#include <inttypes.h>
#include <math.h>

#include "../internal.h"
#include "../labels.h"
#include "../query/cond.h"
#include "project.h"

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
    return options->weight_path.len || options->weight_missing
               ? weir_fail(err, WEIR_INVALID,
                           "weight_path or weight_missing is set: set weight to WEIR_COST_PROP, too")
               : WEIR_OK;
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
int weir__choose(weir_txn *txn, const weir_text *names, size_t count, const weir_cond *where,
                 int64_t ids[WEIR_LABELS_MAX], weir__chosen *chosen, int *none, weir_error *err) {
  *chosen = (weir__chosen){.labels = ids, .where = where};
  int rc = weir__labels_find(txn, names, count, ids, &chosen->label_count, err);
  *none = count > 0 && chosen->label_count == 0;
  return rc;
}

/* ---- Nodes ----------------------------------------------------------------------------------------------
 */

int weir__project_passed(weir__projecting *of, int64_t at, weir_error *err) {
  uint64_t units = at > of->passed ? (uint64_t)(at - of->passed) : 0;
  of->passed = at;
  return weir__team_tick(of->team, units, err);
}

static int pause_nodes(void *data, int64_t at, weir_error *err) {
  weir__projecting *of = data;
  if (of->rc) {
    *err = of->error;
    return of->rc;
  }
  return weir__project_passed(of, at, err);
}

static void take_node(void *data, int64_t id, weir_text key) {
  weir__projecting *of = data;
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

static int take_nodes(weir__projecting *of, weir_txn *txn, weir_error *err) {
  const weir_projection_options *options = &of->options;
  const weir__taker taker = {.node = take_node, .pause = pause_nodes, .data = of};
  int64_t labels[WEIR_LABELS_MAX];
  weir__chosen chosen;
  int none = 0;
  int rc = weir__choose(txn, options->node_labels, options->node_label_count, options->nodes, labels, &chosen,
                        &none, err);
  if (rc == WEIR_OK && !none) {
    rc = weir__store_take_nodes(txn, &chosen, &taker, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__numbers_end(&of->numbers, err);
  }
  return rc ? rc : weir__keys_end(&of->keys, err);
}

/* ---- All of it ------------------------------------------------------------------------------------------
 */

static int make_rows(weir__projecting *of, weir_error *err) {
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
  if (of->against) {
    weir__rows out = p->in;
    p->in = p->out;
    p->out = out;
  }
  p->keys = of->keys;
  of->keys = (weir__keys){.bytes = NULL};
  p->info.left_out = of->left_out;
  p->info.bytes += weir__keys_bytes(&p->keys);
  return WEIR_OK;
}

static int project(weir_txn *txn, void *data, weir_error *err) {
  weir__projecting *of = data;
  int64_t last = 0, rev = 0;
  int rc = weir_txn_rev(txn, &rev, err);
  if (rc == WEIR_OK) {
    rc = weir__store_node_last(txn, &last, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__team_open_alone(&of->team, of->run, last > 0 ? 2 * (uint64_t)last : 0, err);
  }
  if (rc) {
    return rc;
  }
  rc = take_nodes(of, txn, err);
  if (rc == WEIR_OK) {
    rc = weir__project_edges(of, txn, err);
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
  weir__projecting of = {.options = WEIR_PROJECTION_OPTIONS_INIT, .run = run, .error = WEIR_ERROR_INIT};
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
