/*
 * Random operations on a store and on a model in memory, compared all the time. Transactions of several
 * operations, some of which are rolled back as a whole or behind a savepoint. Prints its seed.
 */
#include "graph_fixture.h"

#define NODES  12
#define LABELS 3
#define RANKS  3
#define STEPS  1200

struct model_edge {
  int there;
  int weight;
  int props;
};

/* Node i has the key "n<i>". Labels are bits; props are {"v":number}. */
struct model {
  struct model_node {
    int there;
    unsigned labels;
    int props;
  } node[NODES];
  struct model_edge edge[NODES][LABELS][NODES][RANKS];
};

static const char *const names[LABELS] = {"a", "b", "c"};

struct run {
  struct model model;
  weir_test_rng rng;
  int operations;  /* in this transaction */
  int fail;        /* it is rolled back at the end */
  int fail_inside; /* half of it is, behind a savepoint */
  char said[256];  /* what was wrong */
};

static int below(struct run *run, int limit) {
  return (int)weir_test_below(&run->rng, (uint64_t)limit);
}

static int wrong(struct run *run, const char *what, int expected, int actual) {
  snprintf(run->said, sizeof run->said, "%s: %d in the model, %d in the store", what, expected, actual);
  return WEIR_CORRUPT;
}

static char *key_of(int number) {
  static char keys[4][8];
  static unsigned next;
  char *key = keys[next++ % 4];
  snprintf(key, sizeof keys[0], "n%d", number);
  return key;
}

static char *props_of(int value) {
  static char props[32];
  snprintf(props, sizeof props, "{\"v\":%d}", value);
  return props;
}

/* ---- Operations on both
 * ------------------------------------------------------------------------------------ */

static int put_model_node(struct run *run, weir_txn *txn, weir_error *error) {
  int number = below(run, NODES);
  struct model_node *node = &run->model.node[number];
  struct model_node next = {.there = 1, .labels = (unsigned)below(run, 1 << LABELS), .props = below(run, 3)};
  weir_text labels[LABELS];
  weir_node input = {
      .key = weir_str(key_of(number)), .labels = labels, .props = weir_str(props_of(next.props))};
  weir_outcome outcome = (weir_outcome)-1;
  for (int i = 0; i < LABELS; i++) {
    if (next.labels & (1U << i)) {
      labels[input.label_count++] = weir_str(names[i]);
    }
  }
  int rc = weir_node_put(txn, &input, &outcome, error);
  weir_outcome expected = !node->there                                               ? WEIR_INSERTED
                          : node->labels == next.labels && node->props == next.props ? WEIR_UNCHANGED
                                                                                     : WEIR_UPDATED;
  *node = next;
  return rc == WEIR_OK && outcome != expected ? wrong(run, "outcome of node put", (int)expected, (int)outcome)
                                              : rc;
}

static int merge_model_node(struct run *run, weir_txn *txn, weir_error *error) {
  int number = below(run, NODES);
  struct model_node *node = &run->model.node[number];
  int value = below(run, 3);
  int rc = weir_node_merge(txn, weir_str(key_of(number)), weir_str(props_of(value)), NULL, error);
  if (!node->there) {
    return rc == WEIR_NOT_FOUND ? WEIR_OK : wrong(run, "merge of a missing node", WEIR_NOT_FOUND, rc);
  }
  node->props = value;
  return rc;
}

static int del_model_node(struct run *run, weir_txn *txn, weir_error *error) {
  int number = below(run, NODES);
  int existed = -1;
  int rc = weir_node_del(txn, weir_str(key_of(number)), &existed, error);
  int expected = run->model.node[number].there;
  run->model.node[number].there = 0;
  memset(run->model.edge[number], 0, sizeof run->model.edge[number]);
  for (int src = 0; src < NODES; src++) {
    for (int label = 0; label < LABELS; label++) {
      memset(run->model.edge[src][label][number], 0, sizeof run->model.edge[src][label][number]);
    }
  }
  return rc == WEIR_OK && existed != expected ? wrong(run, "del existed", expected, existed) : rc;
}

static int put_model_edge(struct run *run, weir_txn *txn, weir_error *error) {
  int src = below(run, NODES);
  int dst = below(run, NODES);
  int label = below(run, LABELS);
  int rank = below(run, RANKS);
  unsigned flags = below(run, 2) ? WEIR_CREATE_ENDPOINTS : 0;
  struct model_edge *edge = &run->model.edge[src][label][dst][rank];
  struct model_edge next = {.there = 1, .weight = below(run, 2), .props = below(run, 2)};
  weir_edge input = WEIR_EDGE(key_of(src), names[label], key_of(dst));
  weir_outcome outcome = (weir_outcome)-1;
  input.rank = rank - 1;
  input.weight = next.weight;
  input.props = weir_str(props_of(next.props));
  int rc = weir_edge_put(txn, &input, flags, &outcome, error);
  if ((!run->model.node[src].there || !run->model.node[dst].there) && flags == 0) {
    return rc == WEIR_NOT_FOUND ? WEIR_OK : wrong(run, "edge without an endpoint", WEIR_NOT_FOUND, rc);
  }
  for (int end = 0; end < 2; end++) {
    struct model_node *node = &run->model.node[end ? dst : src];
    if (!node->there) {
      *node = (struct model_node){.there = 1, .props = -1}; /* {} */
    }
  }
  weir_outcome expected = !edge->there                                               ? WEIR_INSERTED
                          : edge->weight == next.weight && edge->props == next.props ? WEIR_UNCHANGED
                                                                                     : WEIR_UPDATED;
  *edge = next;
  return rc == WEIR_OK && outcome != expected ? wrong(run, "outcome of edge put", (int)expected, (int)outcome)
                                              : rc;
}

static int del_model_edge(struct run *run, weir_txn *txn, weir_error *error) {
  int src = below(run, NODES);
  int dst = below(run, NODES);
  int label = below(run, LABELS);
  int rank = below(run, RANKS);
  struct model_edge *edge = &run->model.edge[src][label][dst][rank];
  weir_edge input = WEIR_EDGE(key_of(src), names[label], key_of(dst));
  int existed = -1;
  input.rank = rank - 1;
  int rc = weir_edge_del(txn, &input, &existed, error);
  int expected = edge->there;
  edge->there = 0;
  return rc == WEIR_OK && existed != expected ? wrong(run, "edge existed", expected, existed) : rc;
}

/* ---- Comparing
 * ------------------------------------------------------------------------------------------------ */

static int compare_nodes(struct run *run, weir_txn *txn, weir_error *error) {
  weir_arena arena = WEIR_ARENA_INIT;
  int rc = WEIR_OK;
  for (int i = 0; i < NODES && rc == WEIR_OK; i++) {
    const struct model_node *expected = &run->model.node[i];
    unsigned labels = 0;
    weir_node node;
    rc = weir_node_get(txn, weir_str(key_of(i)), &node, &arena, error);
    if ((rc == WEIR_OK) != expected->there) {
      rc = wrong(run, "node is there", expected->there, rc);
    } else if (rc == WEIR_NOT_FOUND) {
      rc = WEIR_OK;
    } else {
      for (size_t l = 0; l < node.label_count; l++) {
        labels |= 1U << (node.labels[l].ptr[0] - 'a');
      }
      if (labels != expected->labels) {
        rc = wrong(run, "labels", (int)expected->labels, (int)labels);
      } else if (strcmp(node.props.ptr, expected->props < 0 ? "{}" : props_of(expected->props)) != 0) {
        rc = wrong(run, "props", expected->props, -9);
      }
    }
  }
  weir_arena_clear(&arena);
  return rc;
}

static int compare_counts(struct run *run, weir_txn *txn, weir_error *error) {
  for (int label = 0; label < LABELS; label++) {
    int nodes = 0;
    int edges = 0;
    int64_t count;
    for (int i = 0; i < NODES; i++) {
      nodes += run->model.node[i].there && (run->model.node[i].labels & (1U << label));
      for (int dst = 0; dst < NODES; dst++) {
        for (int rank = 0; rank < RANKS; rank++) {
          edges += run->model.edge[i][label][dst][rank].there;
        }
      }
    }
    int rc = weir_node_count(txn, weir_str(names[label]), &count, error);
    if (rc || count != nodes) {
      return rc ? rc : wrong(run, "nodes with a label", nodes, (int)count);
    }
    rc = weir_edge_count(txn, weir_str(names[label]), &count, error);
    if (rc || count != edges) {
      return rc ? rc : wrong(run, "edges with a label", edges, (int)count);
    }
  }
  return WEIR_OK;
}

/* Takes each edge that is visited off a copy of the model. */
static int take_off(const weir_neighbor *neighbor, void *data, weir_error *error) {
  struct model_edge(*left)[NODES][RANKS] = data;
  struct model_edge *edge =
      &left[neighbor->label.ptr[0] - 'a'][atoi(neighbor->node.key.ptr + 1)][neighbor->rank + 1];
  if (!edge->there || edge->weight != neighbor->weight ||
      strcmp(neighbor->props.ptr, props_of(edge->props)) != 0) {
    return weir_fail(error, WEIR_CORRUPT, "an edge that the model does not have");
  }
  edge->there = 0;
  return WEIR_OK;
}

static int compare_edges(struct run *run, weir_txn *txn, weir_error *error) {
  int node = below(run, NODES);
  for (weir_direction direction = WEIR_OUT; direction <= WEIR_IN && run->model.node[node].there;
       direction++) {
    struct model_edge left[LABELS][NODES][RANKS];
    for (int label = 0; label < LABELS; label++) {
      for (int other = 0; other < NODES; other++) {
        memcpy(left[label][other],
               direction == WEIR_OUT ? run->model.edge[node][label][other]
                                     : run->model.edge[other][label][node],
               sizeof left[label][other]);
      }
    }
    int rc =
        weir_neighbors(txn, weir_str(key_of(node)), direction, WEIR_WITH_EDGES, NULL, take_off, left, error);
    if (rc) {
      return rc;
    }
    for (size_t i = 0; i < sizeof left / sizeof left[0][0][0]; i++) {
      if ((&left[0][0][0])[i].there) {
        return wrong(run, "an edge that was not visited", 1, 0);
      }
    }
  }
  return WEIR_OK;
}

/* ---- Transactions
 * ---------------------------------------------------------------------------------------------- */

static int operate(weir_txn *txn, void *data, weir_error *error) {
  struct run *run = data;
  int rc = WEIR_OK;
  for (int i = 0; i < run->operations && rc == WEIR_OK; i++) {
    switch (below(run, 8)) {
    case 0:
    case 1:
    case 2:
      rc = put_model_node(run, txn, error);
      break;
    case 3:
      rc = merge_model_node(run, txn, error);
      break;
    case 4:
      rc = del_model_node(run, txn, error);
      break;
    case 5:
      rc = del_model_edge(run, txn, error);
      break;
    default:
      rc = put_model_edge(run, txn, error);
      break;
    }
  }
  return rc == WEIR_OK && run->fail ? WEIR_CONFLICT : rc;
}

static int compare(weir_txn *txn, void *data, weir_error *error) {
  struct run *run = data;
  int rc = compare_nodes(run, txn, error);
  if (rc == WEIR_OK) {
    rc = compare_counts(run, txn, error);
  }
  return rc ? rc : compare_edges(run, txn, error);
}

static int transact(weir_txn *txn, void *data, weir_error *error) {
  struct run *run = data;
  struct model before = run->model;
  int rc = operate(txn, run, error);
  if (run->fail_inside && rc == WEIR_OK) {
    before = run->model;
    run->fail = 1;
    rc = weir_write(txn, operate, run, NULL, error);
    run->fail = 0;
    run->model = before;
    rc = rc == WEIR_CONFLICT ? WEIR_OK : rc;
  }
  return rc ? rc : compare(txn, run, error); /* also before the commit */
}

GRAPH_TEST(model, agrees_with_the_store) {
  static struct run run;
  memset(&run, 0, sizeof run);
  run.rng.state = weir_test_seed();
  for (int step = 0; step < STEPS; step++) {
    struct model before = run.model;
    int kind = below(&run, 4);
    run.operations = 1 + below(&run, 6);
    run.fail = kind == 0;
    run.fail_inside = kind == 1;
    int fails = run.fail;
    int rc = weir_write(txn, transact, &run, NULL, &err);
    if (fails && rc == WEIR_CONFLICT) {
      run.model = before;
      rc = WEIR_OK;
    }
    run.fail = 0;
    if (rc == WEIR_OK) {
      rc = weir_read(txn, compare, &run, NULL, &err);
    }
    cr_assert(eq(int, rc, WEIR_OK), "step %d: %s; %s", step, run.said, err.message);
  }
}
