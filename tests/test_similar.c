/* Similarity and link prediction: against a naive model, to the last bit, and against igraph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "igraph_graphs.h"
#include "threads.h"

enum { NODES = 24, KINDS = 3, BEST = 500 };

static weir_error err;
static const unsigned threads[] = {1, 2, 3, 8};
static const weir_direction directions[] = {WEIR_OUT, WEIR_IN, WEIR_BOTH};

/* ---- The model: who is whose neighbor ------------------------------------------------------------------ */

struct model {
  uint32_t nodes;
  int near[2][NODES][NODES]; /* by WEIR_IN: 0, WEIR_OUT: 1 */
};

static void make_model(struct model *m, const algo_graph *g) {
  memset(m, 0, sizeof *m);
  m->nodes = g->nodes;
  for (uint64_t i = 0; i < g->count; i++) {
    uint32_t src = g->src[i], dst = g->dst[i];
    if (src != dst) {
      m->near[1][src][dst] = m->near[0][dst][src] = 1;
      if (g->undirected) {
        m->near[1][dst][src] = m->near[0][src][dst] = 1;
      }
    }
  }
}

static int is_near(const struct model *m, weir_direction direction, uint32_t a, uint32_t b) {
  int out = m->near[1][a][b], in = m->near[0][a][b];
  return direction == WEIR_BOTH ? out || in : direction == WEIR_OUT ? out : in;
}

/* The score; *shared: how many neighbors they share. */
static double expect(const struct model *m, weir_similarity kind, weir_direction direction, uint32_t a,
                     uint32_t b, unsigned *shared) {
  unsigned either = 0;
  double sum = 0;
  *shared = 0;
  for (uint32_t w = 0; w < m->nodes; w++) {
    int of_a = is_near(m, direction, a, w), of_b = is_near(m, direction, b, w);
    either += of_a || of_b;
    if (of_a && of_b) {
      unsigned turned = 0;
      for (uint32_t i = 0; i < m->nodes; i++) {
        turned += is_near(m, direction, i, w) != 0;
      }
      (*shared)++;
      sum += turned > 1 ? 1 / log(turned) : 0;
    }
  }
  if (kind == WEIR_ADAMIC_ADAR) {
    return sum;
  }
  return kind == WEIR_COMMON_NEIGHBORS ? *shared : either ? (double)*shared / either : 0;
}

static int compare_links(const void *x, const void *y) {
  const weir_link *a = x, *b = y;
  if (a->value != b->value) {
    return a->value > b->value ? -1 : 1;
  }
  return a->a != b->a ? (a->a < b->a ? -1 : 1) : (a->b > b->b) - (a->b < b->b);
}

/* ---- The checks of one graph --------------------------------------------------------------------------- */

static void check_pairs(const struct model *m, const weir_projection *p, weir_similarity kind,
                        weir_direction direction, const weir_run *run) {
  static uint32_t a[NODES * NODES], b[NODES * NODES];
  static double score[NODES * NODES];
  size_t count = (size_t)m->nodes * m->nodes;
  for (uint32_t i = 0; i < count; i++) {
    a[i] = i / m->nodes;
    b[i] = i % m->nodes;
  }
  cr_assert(eq(int, weir_similar_pairs(p, kind, direction, a, b, count, run, score, &err), WEIR_OK));
  for (size_t i = 0; i < count; i++) {
    unsigned shared = 0;
    double wanted = expect(m, kind, direction, a[i], b[i], &shared);
    cr_assert(score[i] == wanted, "%u %u, kind %d: %f, not %f", a[i], b[i], kind, score[i], wanted);
  }
}

static void check_nodes(const struct model *m, const weir_projection *p, weir_similarity kind,
                        weir_direction direction, size_t room) {
  weir_link expected[NODES], out[NODES];
  for (uint32_t node = 0; node < m->nodes; node++) {
    size_t all = 0, count = 0;
    for (uint32_t b = 0; b < m->nodes; b++) {
      unsigned shared = 0;
      double score = expect(m, kind, direction, node, b, &shared);
      if (b != node && shared) {
        expected[all++] = (weir_link){node, b, score};
      }
    }
    qsort(expected, all, sizeof *expected, compare_links);
    cr_assert(eq(int, weir_similar_nodes(p, kind, direction, node, NULL, out, room, &count, &err), WEIR_OK));
    cr_assert(eq(sz, count, all < room ? all : room));
    cr_assert(memcmp(out, expected, count * sizeof *out) == 0, "node %u, kind %d", node, kind);
  }
}

static void check_links(const struct model *m, const weir_projection *p, weir_similarity kind,
                        weir_direction direction, size_t room, const weir_run *run) {
  static weir_link expected[NODES * NODES], out[NODES * NODES];
  size_t all = 0, count = 0;
  for (uint32_t a = 0; a < m->nodes; a++) {
    for (uint32_t b = a + 1; b < m->nodes; b++) {
      unsigned shared = 0;
      double score = expect(m, kind, direction, a, b, &shared);
      if (shared && !is_near(m, WEIR_BOTH, a, b)) {
        expected[all++] = (weir_link){a, b, score};
      }
    }
  }
  qsort(expected, all, sizeof *expected, compare_links);
  cr_assert(eq(int, weir_predict_links(p, kind, direction, run, out, room, &count, &err), WEIR_OK));
  cr_assert(eq(sz, count, all < room ? all : room));
  cr_assert(memcmp(out, expected, count * sizeof *out) == 0, "kind %d, direction %d", kind, direction);
}

Test(similar, is_what_a_count_of_all_neighbors_says, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  static struct model m;
  for (int round = 0; round < (TEST_IS_SLOW ? 15 : 60); round++) {
    algo_graph g = algo_graph_random(&rng, NODES);
    weir_projection *p = algo_graph_project(&g);
    make_model(&m, &g);
    for (int i = 0; i < KINDS * 3; i++) {
      weir_similarity kind = (weir_similarity)(i % KINDS);
      weir_direction direction = directions[i / KINDS];
      weir_run run = WEIR_RUN_INIT;
      run.threads = threads[weir_test_below(&rng, 4)];
      size_t room = weir_test_below(&rng, 4) ? weir_test_below(&rng, NODES) : NODES;
      check_pairs(&m, p, kind, direction, &run);
      check_nodes(&m, p, kind, direction, room);
      check_links(&m, p, kind, direction, room, &run);
      check_links(&m, p, kind, direction, (size_t)NODES * NODES, &run);
    }
    weir_projection_close(p);
    algo_graph_free(&g);
  }
}

/* ---- igraph -------------------------------------------------------------------------------------------- */

/* igraph's scores count loops and parallel edges, so they are taken out of its graph. */
static void check_with_igraph(const algo_graph *g, weir_direction direction) {
  static const igraph_neimode_t modes[] = {0, IGRAPH_OUT, IGRAPH_IN, IGRAPH_ALL};
  igraph_t ig;
  igraph_matrix_t scores;
  weir_projection *p = algo_graph_project(g);
  igraph_graph_make(g, &ig, NULL);
  igraph_simplify(&ig, 1, 1, NULL);
  if (direction == WEIR_BOTH) {
    igraph_to_undirected(&ig, IGRAPH_TO_UNDIRECTED_COLLAPSE, NULL);
  }
  igraph_matrix_init(&scores, 0, 0);
  uint32_t *a = malloc((g->nodes + 1) * sizeof *a), *b = malloc((g->nodes + 1) * sizeof *b);
  double *score = malloc((g->nodes + 1) * sizeof *score);
  for (int kind = WEIR_JACCARD; kind <= WEIR_ADAMIC_ADAR; kind++) {
    igraph_neimode_t mode = modes[direction];
    if (kind == WEIR_JACCARD) {
      igraph_similarity_jaccard(&ig, &scores, igraph_vss_all(), mode, 0);
    } else {
      igraph_similarity_inverse_log_weighted(&ig, &scores, igraph_vss_all(), mode);
    }
    for (uint32_t i = 0; i < g->nodes; i++) {
      for (uint32_t j = 0; j < g->nodes; j++) {
        a[j] = i;
        b[j] = j;
      }
      cr_assert(eq(int,
                   weir_similar_pairs(p, (weir_similarity)kind, direction, a, b, g->nodes, NULL, score, &err),
                   WEIR_OK));
      for (uint32_t j = 0; j < g->nodes; j++) {
        cr_assert(i == j || algo_close(score[j], MATRIX(scores, i, j), 1e-12, 1e-12),
                  "%u %u, kind %d: %f, %f", i, j, kind, score[j], MATRIX(scores, i, j));
      }
    }
  }
  free(a);
  free(b);
  free(score);
  igraph_matrix_destroy(&scores);
  igraph_destroy(&ig);
  weir_projection_close(p);
}

Test(similar, is_what_igraph_says, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  for (int round = 0; round < 15; round++) {
    algo_graph g = algo_graph_random(&rng, 40);
    check_with_igraph(&g, directions[round % 3]);
    algo_graph_free(&g);
  }
}

/* ---- ego-Facebook -------------------------------------------------------------------------------------- */

Test(similar, predicts_the_same_by_any_number_of_threads_and_as_the_pairs_say, .timeout = 60) {
  algo_graph g;
  if (!algo_graph_facebook(&g)) {
    return;
  }
  weir_projection *p = algo_graph_project(&g);
  static weir_link out[BEST], other[BEST];
  static uint32_t a[BEST], b[BEST];
  static double score[BEST];
  size_t count = 0;
  for (unsigned i = 0; i < 4; i++) {
    weir_run run = WEIR_RUN_INIT;
    run.threads = threads[i];
    cr_assert(eq(int, weir_predict_links(p, WEIR_ADAMIC_ADAR, 0, &run, i ? other : out, BEST, &count, &err),
                 WEIR_OK));
    cr_assert(eq(sz, count, BEST));
    cr_assert(i == 0 || memcmp(out, other, sizeof out) == 0, "%u threads", threads[i]);
  }
  for (unsigned i = 0; i < BEST; i++) {
    a[i] = out[i].a;
    b[i] = out[i].b;
    cr_assert(i == 0 || compare_links(&out[i - 1], &out[i]) < 0);
  }
  cr_assert(eq(int, weir_similar_pairs(p, WEIR_ADAMIC_ADAR, 0, a, b, BEST, NULL, score, &err), WEIR_OK));
  for (unsigned i = 0; i < BEST; i++) {
    cr_assert(score[i] == out[i].value);
  }
  weir_projection_close(p);
  algo_graph_free(&g);
}

/* ---- Arguments, cancel --------------------------------------------------------------------------------- */

static int stop(const weir_progress *progress, void *data) {
  int *calls = data;
  (void)progress;
  return --*calls == 0;
}

Test(similar, ends_when_on_progress_says_so, .timeout = 60) {
  weir_test_rng rng = {weir_test_seed()};
  algo_graph g = algo_graph_random_of(&rng, 300, 0, 0);
  algo_graph_add(&g, 0, 0, 1);
  g.nodes = g.nodes ? g.nodes : 1;
  weir_projection *p = algo_graph_project(&g);
  uint32_t a = 0;
  double s = 0;
  weir_link link;
  size_t n = 0;
  for (int at = 1; at <= 2; at++) { /* at the beginning, at the end */
    int calls = at;
    weir_run run = {sizeof run, 2, stop, &calls};
    cr_assert(eq(int, weir_similar_pairs(p, WEIR_JACCARD, 0, &a, &a, 1, &run, &s, &err), WEIR_CANCELED));
    calls = at;
    cr_assert(eq(int, weir_similar_nodes(p, WEIR_JACCARD, 0, a, &run, &link, 1, &n, &err), WEIR_CANCELED));
    calls = at;
    cr_assert(eq(int, weir_predict_links(p, WEIR_JACCARD, 0, &run, &link, 1, &n, &err), WEIR_CANCELED));
  }
  weir_projection_close(p);
  algo_graph_free(&g);
}

Test(similar, refuses_what_makes_no_sense, .timeout = 60) {
  algo_graph g = algo_graph_empty(3, 0, 0);
  weir_projection *p = algo_graph_project(&g);
  uint32_t a[] = {0, 1}, b[] = {2, 3};
  double s[2];
  weir_link link;
  size_t n = 1;
  cr_assert(eq(int, weir_similar_pairs(NULL, 0, 0, a, b, 1, NULL, s, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_similar_pairs(p, 7, 0, a, b, 1, NULL, s, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_similar_pairs(p, 0, 9, a, b, 1, NULL, s, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_similar_pairs(p, 0, 0, NULL, b, 1, NULL, s, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_similar_pairs(p, 0, 0, a, b, 2, NULL, s, &err), WEIR_INVALID));
  cr_assert(eq(str, err.message, (char *)"pair 1: there is no node 3: the projection has 3 nodes"));
  cr_assert(eq(int, weir_similar_pairs(p, 0, 0, NULL, NULL, 0, NULL, NULL, &err), WEIR_OK));
  cr_assert(eq(int, weir_similar_nodes(p, 0, 0, 3, NULL, &link, 1, &n, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_similar_nodes(p, 0, 0, 0, NULL, NULL, 1, &n, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_similar_nodes(p, 0, 0, 0, NULL, &link, 1, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_similar_nodes(p, 0, 0, 0, NULL, NULL, 0, &n, &err), WEIR_OK));
  cr_assert(eq(int, weir_predict_links(p, 0, 0, NULL, NULL, 1, &n, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_predict_links(p, 0, 0, NULL, &link, 1, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_predict_links(p, 0, 0, NULL, NULL, 0, &n, &err), WEIR_OK));
  cr_assert(eq(sz, n, 0));
  weir_projection_close(p);
}
