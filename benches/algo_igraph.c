/*
 * The side of igraph, on one thread: what it offers for the same question, with numbers for nodes. Its errors
 * end the program. Results are kept from one run to the next, so that neither side pays for fresh memory.
 *
 * It is a program of its own license, used here for comparison alone; nothing of weir needs it.
 */
#include "algo.h"

#include <math.h>
#include <stdlib.h>

#ifdef WEIR_BENCH_IGRAPH

#include <dlfcn.h>
#include <igraph.h>
#include <string.h>

struct algo_igraph {
  const algo_graph *g;
  igraph_t graph;
  igraph_vector_t weights;
  igraph_t mutual;   /* the same edges, undirected: for Leiden */
  igraph_t loopless; /* the same without loops, which its core numbers would count */
  igraph_vector_t strength;
  igraph_vector_t real; /* results */
  igraph_vector_int_t whole, more;
  igraph_matrix_t matrix;
  uint32_t *least; /* of each component */
};

typedef struct call {
  algo_igraph *s;
  uint32_t source;
  algo_answer *out;
} call;

typedef void (*compute_fn)(call *c);

/* ---- Results ---- */

static void give_whole(const call *c, const igraph_vector_int_t *from) {
  c->out->count = c->out->values ? (size_t)igraph_vector_int_size(from) : 0;
  for (size_t i = 0; i < c->out->count; i++) {
    c->out->values[i] = (double)VECTOR(*from)[i];
  }
}

static void give_real(const call *c, const igraph_vector_t *from) {
  c->out->count = c->out->values ? (size_t)igraph_vector_size(from) : 0;
  for (size_t i = 0; i < c->out->count; i++) {
    c->out->values[i] = VECTOR(*from)[i];
  }
}

/* Components by the least number of their nodes, as weir gives them. */
static void give_components(const call *c) {
  algo_igraph *s = c->s;
  c->out->count = c->out->values ? s->g->info.nodes : 0;
  memset(s->least, 0xff, s->g->info.nodes * sizeof *s->least);
  for (uint32_t i = 0; i < c->out->count; i++) {
    uint32_t *least = &s->least[VECTOR(s->whole)[i]];
    *least = *least == UINT32_MAX ? i : *least;
    c->out->values[i] = *least;
  }
}

/* ---- Works ---- */

#define TIMED(c, expression)                                                                                 \
  do {                                                                                                       \
    uint64_t timed_from = bench_now();                                                                       \
    (void)(expression);                                                                                      \
    (c)->out->ns = bench_now() - timed_from;                                                                 \
  } while (0)

/* The nodes by distance, and where in this order each distance begins. */
static void bfs(call *c) {
  algo_igraph *s = c->s;
  TIMED(c, igraph_bfs_simple(&s->graph, c->source, IGRAPH_OUT, &s->whole, &s->more, NULL));
  for (uint32_t i = 0; c->out->values && i < s->g->info.nodes; i++) {
    c->out->values[i] = INFINITY;
    c->out->count = s->g->info.nodes;
  }
  for (igraph_integer_t layer = 0; c->out->values && layer + 1 < igraph_vector_int_size(&s->more); layer++) {
    for (igraph_integer_t i = VECTOR(s->more)[layer]; i < VECTOR(s->more)[layer + 1]; i++) {
      c->out->values[VECTOR(s->whole)[i]] = (double)layer;
    }
  }
}

static void sssp(call *c) {
  algo_igraph *s = c->s;
  TIMED(c, igraph_distances_dijkstra(&s->graph, &s->matrix, igraph_vss_1(c->source), igraph_vss_all(),
                                     &s->weights, IGRAPH_OUT));
  c->out->count = c->out->values ? s->g->info.nodes : 0;
  for (uint32_t i = 0; i < c->out->count; i++) {
    c->out->values[i] = MATRIX(s->matrix, 0, i);
  }
}

static void components(call *c, igraph_connectedness_t mode) {
  igraph_integer_t count = 0;
  igraph_invalidate_cache(&c->s->graph);
  TIMED(c, igraph_connected_components(&c->s->graph, &c->s->whole, NULL, &count, mode));
  c->out->number = (double)count;
  give_components(c);
}

static void wcc(call *c) {
  components(c, IGRAPH_WEAK);
}

static void scc(call *c) {
  components(c, IGRAPH_STRONG);
}

static void pagerank_of(call *c, const igraph_vector_t *weights) {
  algo_igraph *s = c->s;
  igraph_real_t value = 0;
  TIMED(c, igraph_pagerank(&s->graph, IGRAPH_PAGERANK_ALGO_PRPACK, &s->real, &value, igraph_vss_all(),
                           IGRAPH_DIRECTED, 0.85, weights, NULL));
  give_real(c, &s->real);
}

static void pagerank(call *c) {
  pagerank_of(c, NULL);
}

static void pagerank_weighted(call *c) {
  pagerank_of(c, &c->s->weights);
}

/* Of a directed graph: as if it were undirected. */
static void lcc(call *c) {
  algo_igraph *s = c->s;
  TIMED(c, igraph_transitivity_local_undirected(&s->graph, &s->real, igraph_vss_all(),
                                                IGRAPH_TRANSITIVITY_ZERO));
  give_real(c, &s->real);
}

/* Until nothing changes, in a random order, with labels as they are. */
static void label_propagation(call *c) {
  algo_igraph *s = c->s;
  igraph_rng_seed(igraph_rng_default(), s->g->seed);
  TIMED(c, igraph_community_label_propagation(&s->graph, &s->whole, IGRAPH_ALL, NULL, NULL, NULL));
  give_whole(c, &s->whole);
}

static void core(call *c) {
  TIMED(c, igraph_coreness(&c->s->loopless, &c->s->whole, IGRAPH_ALL));
  c->out->number = (double)igraph_vector_int_max(&c->s->whole);
  give_whole(c, &c->s->whole);
}

static void triangles(call *c) {
  algo_igraph *s = c->s;
  TIMED(c, igraph_adjacent_triangles(&s->graph, &s->real, igraph_vss_all()));
  c->out->number = igraph_vector_sum(&s->real) / 3;
  give_real(c, &s->real);
}

static void leiden(call *c) {
  algo_igraph *s = c->s;
  igraph_integer_t count = 0;
  igraph_real_t quality = 0;
  double twice = igraph_vector_sum(&s->strength);
  igraph_rng_seed(igraph_rng_default(), s->g->seed);
  TIMED(c, igraph_community_leiden(&s->mutual, &s->weights, &s->strength, twice > 0 ? 1 / twice : 1, 0.01, 0,
                                   ALGO_ROUNDS, &s->whole, &count, &quality));
  c->out->number = quality;
  give_whole(c, &s->whole);
}

static void betweenness(call *c) {
  algo_igraph *s = c->s;
  TIMED(c, igraph_betweenness(&s->graph, &s->real, igraph_vss_all(), IGRAPH_DIRECTED, NULL));
  give_real(c, &s->real);
}

/* From sources of igraph's own choice, as many. */
static void sampled(call *c) {
  algo_igraph *s = c->s;
  uint64_t random = s->g->seed;
  igraph_integer_t room = s->g->info.nodes < ALGO_SAMPLES ? s->g->info.nodes : ALGO_SAMPLES;
  igraph_vector_int_resize(&s->whole, room);
  for (igraph_integer_t i = 0; i < room; i++) { /* one of each part of the numbers: none twice */
    uint64_t part = s->g->info.nodes / (uint64_t)room;
    VECTOR(s->whole)[i] = (igraph_integer_t)((uint64_t)i * part + bench_below(&random, part));
  }
  TIMED(c, igraph_betweenness_subset(&s->graph, &s->real, igraph_vss_all(), IGRAPH_DIRECTED,
                                     igraph_vss_vector(&s->whole), igraph_vss_all(), NULL));
}

static void closeness(call *c) {
  algo_igraph *s = c->s;
  igraph_bool_t all = 0;
  TIMED(c, igraph_closeness(&s->graph, &s->real, &s->whole, &all, igraph_vss_all(), IGRAPH_OUT, NULL, 1));
  give_real(c, &s->real);
}

static void jaccard(call *c) {
  algo_igraph *s = c->s;
  size_t pairs = s->g->pairs;
  igraph_vector_int_resize(&s->more, (igraph_integer_t)(2 * pairs));
  for (size_t i = 0; i < pairs; i++) {
    VECTOR(s->more)[2 * i] = s->g->a[i];
    VECTOR(s->more)[2 * i + 1] = s->g->b[i];
  }
  TIMED(c, igraph_similarity_jaccard_pairs(&s->graph, &s->real, &s->more, IGRAPH_OUT, 0));
  give_real(c, &s->real);
}

static void order(call *c) {
  igraph_bool_t acyclic = 0;
  igraph_invalidate_cache(&c->s->graph); /* it would know the answer from the time before */
  TIMED(c, igraph_is_dag(&c->s->graph, &acyclic));
  c->out->number = acyclic != 0;
}

static void forest(call *c) {
  algo_igraph *s = c->s;
  TIMED(c, igraph_minimum_spanning_tree(&s->graph, &s->whole, &s->weights));
  c->out->number = 0;
  for (igraph_integer_t i = 0; i < igraph_vector_int_size(&s->whole); i++) {
    c->out->number += VECTOR(s->weights)[VECTOR(s->whole)[i]];
  }
}

static const compute_fn functions[ALGO_WORKS] = {
    [ALGO_BFS] = bfs,
    [ALGO_SSSP] = sssp,
    [ALGO_WCC] = wcc,
    [ALGO_PAGERANK] = pagerank,
    [ALGO_PAGERANK_WEIGHTED] = pagerank_weighted,
    [ALGO_LCC] = lcc,
    [ALGO_CDLP] = label_propagation,
    [ALGO_SCC] = scc,
    [ALGO_CORE] = core,
    [ALGO_TRIANGLES] = triangles,
    [ALGO_LEIDEN] = leiden,
    [ALGO_BETWEENNESS] = betweenness,
    [ALGO_SAMPLED] = sampled,
    [ALGO_CLOSENESS] = closeness,
    [ALGO_JACCARD] = jaccard,
    [ALGO_ORDER] = order,
    [ALGO_FOREST] = forest,
};

int algo_igraph_has(algo_work work) {
  return functions[work] != NULL;
}

void algo_igraph_run(algo_igraph *s, algo_work work, unsigned turn, algo_answer *out) {
  call c = {s, s->g->sources[turn % ALGO_SOURCES], out};
  out->number = NAN;
  out->count = 0;
  functions[work](&c);
}

/* ---- Questions about single nodes ---- */

/* All in one call, which is the fastest way that it offers. */
void algo_igraph_within(algo_igraph *s, size_t first, size_t count, uint64_t *sum) {
  igraph_vector_int_resize(&s->whole, (igraph_integer_t)count);
  for (size_t i = 0; i < count; i++) {
    VECTOR(s->whole)[i] = s->g->from[first + i];
  }
  igraph_neighborhood_size(&s->graph, &s->more, igraph_vss_vector(&s->whole), ALGO_HOPS, IGRAPH_OUT, 0);
  *sum += (uint64_t)igraph_vector_int_sum(&s->more);
}

void algo_igraph_path(algo_igraph *s, size_t first, size_t count, uint64_t *sum) {
  for (size_t i = first; i < first + count; i++) {
    igraph_get_shortest_path(&s->graph, &s->whole, NULL, s->g->from[i], s->g->to[i], IGRAPH_OUT);
    *sum += (uint64_t)igraph_vector_int_size(&s->whole);
  }
}

/* ---- Opening ---- */

const char *algo_igraph_version(void) {
  return IGRAPH_VERSION;
}

/* igraph's OpenMP has read the environment before main() began; so it is told by a call, if it is there. */
static void use_one_thread(void) {
  void *found = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  void (*set_threads)(int) = NULL;
  memcpy(&set_threads, &found, sizeof found);
  if (set_threads) {
    set_threads(1);
  }
}

/* The edges in the order of the projection; an undirected one is listed by its lesser end, and a loop, which
 * stands twice in its row, once. */
static void list_edges(algo_igraph *s, igraph_vector_int_t *ends) {
  igraph_integer_t edges = 0;
  for (uint32_t i = 0; i < s->g->info.nodes; i++) {
    weir_adjacent out = weir_projection_adjacent(s->g->projection, i, WEIR_OUT);
    int second = 0; /* the next loop is one that has been listed */
    for (size_t k = 0; k < out.count; k++) {
      second = s->g->undirected && out.nodes[k] == i && !second;
      if (s->g->undirected && (out.nodes[k] < i || second)) {
        continue;
      }
      VECTOR(*ends)[2 * edges] = i;
      VECTOR(*ends)[2 * edges + 1] = out.nodes[k];
      VECTOR(s->weights)[edges++] = out.weights[k];
    }
  }
  if ((uint64_t)edges != s->g->info.edges) {
    bench_fail("the projection says it has %llu edges, but %llu are in its rows",
               (unsigned long long)s->g->info.edges, (unsigned long long)edges);
  }
}

algo_igraph *algo_igraph_open(const algo_graph *g) {
  algo_igraph *s = bench_alloc(sizeof *s);
  igraph_integer_t nodes = g->info.nodes, edges = (igraph_integer_t)g->info.edges;
  igraph_vector_int_t ends;
  use_one_thread();
  igraph_set_warning_handler(igraph_warning_handler_ignore); /* of nodes that no path leads to */
  s->g = g;
  s->least = bench_alloc(g->info.nodes * sizeof *s->least);
  igraph_vector_init(&s->weights, edges);
  igraph_vector_int_init(&ends, 2 * edges);
  list_edges(s, &ends);
  igraph_create(&s->graph, &ends, nodes, g->undirected ? IGRAPH_UNDIRECTED : IGRAPH_DIRECTED);
  igraph_create(&s->mutual, &ends, nodes, IGRAPH_UNDIRECTED);
  igraph_copy(&s->loopless, &s->graph);
  igraph_simplify(&s->loopless, 0, 1, NULL);
  igraph_vector_int_destroy(&ends);
  igraph_vector_init(&s->strength, 0);
  igraph_strength(&s->mutual, &s->strength, igraph_vss_all(), IGRAPH_ALL, IGRAPH_LOOPS, &s->weights);
  igraph_vector_init(&s->real, nodes);
  igraph_vector_int_init(&s->whole, nodes);
  igraph_vector_int_init(&s->more, nodes);
  igraph_matrix_init(&s->matrix, 1, nodes);
  return s;
}

void algo_igraph_close(algo_igraph *s) {
  igraph_matrix_destroy(&s->matrix);
  igraph_vector_int_destroy(&s->more);
  igraph_vector_int_destroy(&s->whole);
  igraph_vector_destroy(&s->real);
  igraph_vector_destroy(&s->strength);
  igraph_destroy(&s->loopless);
  igraph_destroy(&s->mutual);
  igraph_destroy(&s->graph);
  igraph_vector_destroy(&s->weights);
  free(s->least);
  free(s);
}

#else /* without igraph */

const char *algo_igraph_version(void) {
  return NULL;
}

algo_igraph *algo_igraph_open(const algo_graph *g) {
  (void)g;
  return NULL;
}

void algo_igraph_close(algo_igraph *s) {
  (void)s;
}

int algo_igraph_has(algo_work work) {
  (void)work;
  return 0;
}

void algo_igraph_run(algo_igraph *s, algo_work work, unsigned turn, algo_answer *out) {
  (void)s, (void)work, (void)turn, (void)out;
}

void algo_igraph_within(algo_igraph *s, size_t first, size_t count, uint64_t *sum) {
  (void)s, (void)first, (void)count, (void)sum;
}

void algo_igraph_path(algo_igraph *s, size_t first, size_t count, uint64_t *sum) {
  (void)s, (void)first, (void)count, (void)sum;
}

#endif
