/*
 * Projections of random stores, with random options, against a naive choice among the edges that were put.
 * Some nodes are deleted before, so that there are holes among the store's numbers.
 */
#include <math.h>

#include <weir/projection.h>

#include "graph_fixture.h"

enum { NODES = 24, EDGES = 200, LABELS = 3, PROJECTIONS = 40 };

static const char *const node_labels[] = {"A", "B", "C"}, *const edge_labels[] = {"e", "f", "g"};

struct node {
  int there;
  unsigned labels; /* a bit each */
  int k;           /* a property */
};

struct edge {
  int src, dst, label;
  int64_t rank;
  double weight;
  int w; /* a property; negative: a string, or none */
};

struct model {
  struct node nodes[NODES];
  struct edge edges[EDGES];
  int count;
};

/* ---- The store ------------------------------------------------------------------------------------------
 */

static const char *key_of(int node) {
  static char keys[4][16];
  static int next;
  char *key = keys[next++ % 4];
  (void)snprintf(key, sizeof keys[0], "k%d", node);
  return key;
}

static void put_one_node(weir_txn *txn, struct model *m, int i, weir_test_rng *rng) {
  char props[32];
  weir_text labels[LABELS];
  size_t count = 0;
  struct node *node = &m->nodes[i];
  *node = (struct node){1, (unsigned)weir_test_below(rng, 1 << LABELS), (int)weir_test_below(rng, 4)};
  for (int l = 0; l < LABELS; l++) {
    if (node->labels >> l & 1) {
      labels[count++] = weir_str(node_labels[l]);
    }
  }
  (void)snprintf(props, sizeof props, "{\"k\":%d}", node->k);
  weir_node row = {
      .key = weir_str(key_of(i)), .labels = labels, .label_count = count, .props = weir_str(props)};
  OK(weir_node_put(txn, &row, NULL, &err));
}

static void put_one_edge(weir_txn *txn, struct model *m, weir_test_rng *rng) {
  struct edge *edge = &m->edges[m->count];
  char props[32] = "{}";
  uint64_t below = weir_test_below(rng, 2) ? NODES : 5; /* some are parallel to many */
  *edge = (struct edge){(int)weir_test_below(rng, below),
                        (int)weir_test_below(rng, below),
                        (int)weir_test_below(rng, LABELS),
                        (int64_t)weir_test_below(rng, 3) - 1,
                        (double)weir_test_below(rng, 1000) / 7 - 20,
                        (int)weir_test_below(rng, 12) - 2};
  for (int i = 0; i < m->count; i++) {
    const struct edge *old = &m->edges[i];
    if (old->src == edge->src && old->dst == edge->dst && old->label == edge->label &&
        old->rank == edge->rank) {
      return;
    }
  }
  if (!m->nodes[edge->src].there || !m->nodes[edge->dst].there) {
    return;
  }
  if (edge->w >= 0) {
    (void)snprintf(props, sizeof props, edge->w % 2 ? "{\"w\":%d}" : "{\"w\":%d.5}", edge->w);
  } else if (edge->w == -1) {
    (void)snprintf(props, sizeof props, "{\"w\":\"1\"}");
  }
  weir_edge row = {.src = weir_str(key_of(edge->src)),
                   .label = weir_str(edge_labels[edge->label]),
                   .dst = weir_str(key_of(edge->dst)),
                   .rank = edge->rank,
                   .weight = edge->weight,
                   .props = weir_str(props)};
  OK(weir_edge_put(txn, &row, 0, NULL, &err));
  m->count++;
}

struct filling {
  struct model *m;
  weir_test_rng *rng;
};

static int fill(weir_txn *txn, void *data, weir_error *error) {
  const struct filling *filling = data;
  struct model *m = filling->m;
  (void)error;
  m->count = 0;
  for (int i = 0; i < NODES; i++) {
    put_one_node(txn, m, i, filling->rng);
  }
  for (int i = 0; i < NODES; i++) {
    if (weir_test_below(filling->rng, 4) == 0) {
      OK(weir_node_del(txn, weir_str(key_of(i)), NULL, &err));
      m->nodes[i].there = 0;
    }
  }
  for (int i = 0; i < EDGES; i++) {
    put_one_edge(txn, m, filling->rng);
  }
  return WEIR_OK;
}

/* ---- What is expected -----------------------------------------------------------------------------------
 */

struct question {
  weir_projection_options options;
  unsigned nodes, edges; /* labels, a bit each; 0: any */
  int k, below;          /* nodes with this k alone, edges below this weight; or -1 */
  double missing;
};

static int has_node(const struct model *m, const struct question *q, int node) {
  const struct node *n = &m->nodes[node];
  return n->there && (q->nodes == 0 || (n->labels & q->nodes)) && (q->k < 0 || n->k == q->k);
}

static int has_edge(const struct question *q, const struct edge *edge) {
  return (q->edges == 0 || (q->edges >> edge->label & 1)) && (q->below < 0 || edge->weight < q->below);
}

static double weight_of(const struct question *q, const struct edge *edge) {
  if (q->options.weight != WEIR_COST_PROP) {
    return q->options.weight == WEIR_COST_WEIGHT ? edge->weight : 0;
  }
  return edge->w < 0 ? q->missing : edge->w % 2 ? edge->w : edge->w + 0.5;
}

struct entry {
  uint32_t far;
  double weight;
};

static int by_far(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  return x->far != y->far ? (x->far > y->far) - (x->far < y->far)
                          : (x->weight > y->weight) - (x->weight < y->weight);
}

/* Of entries, which are in order, each `step` with the same far end (and twice the loop, if it is `twice`)
 * becomes one. */
static size_t merge(struct entry *entries, size_t count, const struct question *q, uint32_t node) {
  size_t at = 0;
  for (size_t i = 0; i < count;) {
    size_t first = i, times = q->options.undirected && entries[i].far == node ? 2 : 1;
    double sum = 0;
    for (; i < count && entries[i].far == entries[first].far; i++) {
      sum += entries[i].weight / (double)times;
    }
    double weight = q->options.parallel == WEIR_PARALLEL_SUM   ? sum
                    : q->options.parallel == WEIR_PARALLEL_MIN ? entries[first].weight
                                                               : entries[i - 1].weight;
    struct entry one = {entries[first].far, weight};
    for (size_t t = 0; t < times; t++) {
      entries[at++] = one;
    }
  }
  return at;
}

static size_t expect(const struct model *m, const struct question *q, const uint32_t *numbers, int node,
                     int out, struct entry *entries) {
  size_t count = 0;
  for (int i = 0; i < m->count; i++) {
    const struct edge *edge = &m->edges[i];
    if (!has_edge(q, edge) || !has_node(m, q, edge->src) || !has_node(m, q, edge->dst) ||
        (q->options.drop_loops && edge->src == edge->dst)) {
      continue;
    }
    if (edge->src == node && (out || q->options.undirected)) {
      entries[count++] = (struct entry){numbers[edge->dst], weight_of(q, edge)};
    }
    if (edge->dst == node && (!out || q->options.undirected)) {
      entries[count++] = (struct entry){numbers[edge->src], weight_of(q, edge)};
    }
  }
  qsort(entries, count, sizeof *entries, by_far);
  return q->options.parallel ? merge(entries, count, q, numbers[node]) : count;
}

/* ---- Comparing ------------------------------------------------------------------------------------------
 */

static void check_row(const struct model *m, const struct question *q, const weir_projection *p,
                      const uint32_t *numbers, int node, int out) {
  struct entry expected[2 * EDGES], got[2 * EDGES];
  weir_adjacent row = weir_projection_adjacent(p, numbers[node], out ? WEIR_OUT : WEIR_IN);
  size_t count = expect(m, q, numbers, node, out, expected);
  cr_assert(eq(sz, row.count, count), "k%d", node);
  cr_assert(
      eq(int, row.weights != NULL || row.count == 0, q->options.weight != WEIR_COST_HOPS || row.count == 0));
  for (size_t i = 0; i < count; i++) {
    cr_assert(i == 0 || row.nodes[i - 1] <= row.nodes[i], "ascending");
    got[i] = (struct entry){row.nodes[i], row.weights ? row.weights[i] : 0};
  }
  qsort(got, count, sizeof *got, by_far);
  for (size_t i = 0; i < count; i++) {
    cr_assert(eq(u32, got[i].far, expected[i].far));
    cr_assert(fabs(got[i].weight - expected[i].weight) < 1e-9, "%g, not %g", got[i].weight,
              expected[i].weight);
  }
  for (size_t i = 0; i < row.count && q->options.parallel && row.weights;
       i++) { /* the same to the last bit */
    weir_adjacent back = weir_projection_adjacent(p, row.nodes[i], out ? WEIR_IN : WEIR_OUT);
    for (size_t j = 0; j < back.count; j++) {
      cr_assert(back.nodes[j] != numbers[node] || back.weights[j] == row.weights[i]);
    }
  }
}

static void check_projection(const struct model *m, const struct question *q, const weir_projection *p) {
  uint32_t numbers[NODES], count = 0;
  uint64_t left_out = 0;
  weir_projection_info info;
  weir_projection_describe(p, &info);
  for (int i = 0; i < NODES; i++) { /* the order in which they were put */
    numbers[i] = has_node(m, q, i) ? count++ : WEIR_NO_NODE;
  }
  cr_assert(eq(u32, info.nodes, count));
  for (int i = 0; i < m->count; i++) {
    left_out +=
        has_edge(q, &m->edges[i]) && !(has_node(m, q, m->edges[i].src) && has_node(m, q, m->edges[i].dst));
  }
  cr_assert(eq(u64, info.left_out, left_out));
  for (int i = 0; i < NODES; i++) {
    if (numbers[i] != WEIR_NO_NODE) {
      SAME(weir_projection_key(p, numbers[i]), key_of(i));
      check_row(m, q, p, numbers, i, 1);
      check_row(m, q, p, numbers, i, 0);
    }
  }
}

static size_t pick(weir_test_rng *rng, const char *const names[LABELS], unsigned *bits, weir_text *out) {
  size_t count = 0;
  *bits = weir_test_below(rng, 2) ? (unsigned)weir_test_below(rng, 1 << LABELS) : 0;
  for (int l = 0; l < LABELS; l++) {
    if (*bits >> l & 1) {
      out[count++] = weir_str(names[l]);
    }
  }
  return count;
}

static void project_at_random(weir_txn *txn, const struct model *m, weir_test_rng *rng) {
  struct question q = {.options = WEIR_PROJECTION_OPTIONS_INIT, .missing = 0.25};
  weir_text nodes[LABELS], edges[LABELS];
  weir_run run = WEIR_RUN_INIT;
  weir_projection *p = NULL;
  q.options.node_label_count = pick(rng, node_labels, &q.nodes, nodes);
  q.options.edge_label_count = pick(rng, edge_labels, &q.edges, edges);
  q.options.node_labels = nodes;
  q.options.edge_labels = edges;
  q.k = (int)weir_test_below(rng, 8) - 4;
  q.below = (int)weir_test_below(rng, 240) - 120;
  const weir_cond k = WEIR_PROP("k", WEIR_EQ, weir_int(q.k));
  const weir_cond below = WEIR_TEST(WEIR_FIELD_WEIGHT, WEIR_LT, weir_int(q.below));
  q.options.nodes = q.k < 0 ? NULL : &k;
  q.options.edges = q.below < 0 ? NULL : &below;
  q.options.undirected = (int)weir_test_below(rng, 2);
  q.options.drop_loops = (int)weir_test_below(rng, 2);
  q.options.parallel = (weir_parallel)weir_test_below(rng, 4);
  q.options.weight = (weir_cost)weir_test_below(rng, 3);
  if (q.options.weight == WEIR_COST_PROP) {
    q.options.weight_path = weir_str("w");
    q.options.weight_missing = &q.missing;
  }
  run.threads = 1 + (unsigned)weir_test_below(rng, 3);
  OK(weir_projection_open(&p, txn, &q.options, &run, &err));
  check_projection(m, &q, p);
  weir_projection_close(p);
}

GRAPH_TEST(projection_model, is_what_a_naive_choice_finds) {
  weir_test_rng rng = {weir_test_seed()};
  static struct model m;
  struct filling filling = {&m, &rng};
  OK(weir_write(txn, fill, &filling, NULL, &err));
  for (int i = 0; i < PROJECTIONS; i++) {
    project_at_random(txn, &m, &rng);
  }
}
