/*
 * Stores for the workload `algo`, their projections, and the questions. A SNAP edge list has no weights as a
 * rule; so that weights matter, each edge gets one that is drawn from the seed.
 */
#include "algo.h"

#include <stdlib.h>
#include <string.h>

#include <weir/io.h>

#include "uniform.h"

enum { WEIGHTS = 100 /* weights are whole numbers from 1 to this */, TRIES = 100 };

/* ---- Stores ---- */

static void open_store(algo_graph *g, const bench_settings *settings) {
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = bench_pool_options(settings, WEIR_POOL, 1, WEIR_NORMAL);
  bench_check(weir_graph_open(&g->store, g->path, &options, &err), &err, "opening the store");
}

/* All edges of a store, with text of their own. */
typedef struct edges {
  weir_edge *list;
  size_t count, room;
  uint64_t random;
} edges;

static weir_text keep_text(weir_text text) {
  char *copy = bench_alloc(text.len + 1);
  memcpy(copy, text.ptr, text.len);
  return (weir_text){copy, text.len};
}

static int keep_edge(const weir_edge *edge, void *data, weir_error *err) {
  edges *e = data;
  (void)err;
  if (e->count == e->room) {
    e->room = e->room ? 2 * e->room : 1024;
    e->list = realloc(e->list, e->room * sizeof *e->list);
    if (!e->list) {
      bench_fail("out of memory");
    }
  }
  e->list[e->count++] = (weir_edge){.src = keep_text(edge->src),
                                    .label = keep_text(edge->label),
                                    .dst = keep_text(edge->dst),
                                    .rank = edge->rank,
                                    .weight = (double)(1 + bench_below(&e->random, WEIGHTS))};
  return WEIR_OK;
}

static int put_edges(weir_txn *txn, void *data, weir_error *err) {
  const edges *e = data;
  return weir_edge_put_many(txn, e->list, e->count, 0, NULL, err);
}

static void load_snap(algo_graph *g, const bench_settings *settings) {
  weir_error err = WEIR_ERROR_INIT;
  edges e = {.random = settings->seed};
  bench_check(weir_load_snap(weir_graph_auto(g->store), settings->snap, NULL, NULL, &err), &err,
              "loading the edge list");
  bench_check(weir_edge_scan(weir_graph_auto(g->store), NULL, keep_edge, &e, &err), &err, "reading edges");
  bench_check(weir_write(weir_graph_auto(g->store), put_edges, &e, NULL, &err), &err, "giving weights");
  for (size_t i = 0; i < e.count; i++) {
    free((char *)e.list[i].src.ptr);
    free((char *)e.list[i].label.ptr);
    free((char *)e.list[i].dst.ptr);
  }
  free(e.list);
}

/* ---- Questions ---- */

weir_projection_options algo_projection_options(int undirected) {
  weir_projection_options options = WEIR_PROJECTION_OPTIONS_INIT;
  options.undirected = undirected;
  options.weight = WEIR_COST_WEIGHT;
  return options;
}

static weir_adjacent out_of(const algo_graph *g, uint32_t node) {
  return weir_projection_adjacent(g->projection, node, WEIR_OUT);
}

static int has_loop(const algo_graph *g, uint32_t node) {
  weir_adjacent out = out_of(g, node);
  for (size_t i = 0; i < out.count; i++) {
    if (out.nodes[i] == node) {
      return 1;
    }
  }
  return 0;
}

static uint32_t draw_node(const algo_graph *g, uint64_t *random) {
  return (uint32_t)bench_below(random, g->info.nodes);
}

/* Along a random edge from a random node, and back along another. Programs do not agree whether a node with a
 * loop is its own neighbor, so such are left out. */
static void draw_pairs(algo_graph *g, uint64_t *random) {
  for (unsigned tries = 0; tries < 2 * ALGO_PAIRS && g->pairs < ALGO_PAIRS; tries++) {
    uint32_t a = draw_node(g, random), b = a;
    weir_adjacent out = out_of(g, a);
    if (out.count > 0) {
      uint32_t shared = out.nodes[bench_below(random, out.count)];
      weir_adjacent in = weir_projection_adjacent(g->projection, shared, WEIR_IN);
      b = in.nodes[bench_below(random, in.count)];
    }
    if (a != b && !has_loop(g, a) && !has_loop(g, b)) {
      g->a[g->pairs] = a;
      g->b[g->pairs++] = b;
    }
  }
}

static void draw(algo_graph *g) {
  uint64_t random = g->seed;
  for (unsigned i = 0; i < ALGO_SOURCES; i++) {
    g->sources[i] = draw_node(g, &random);
    for (unsigned tries = 0; tries < TRIES && out_of(g, g->sources[i]).count == 0; tries++) {
      g->sources[i] = draw_node(g, &random);
    }
  }
  for (unsigned i = 0; i < ALGO_QUESTIONS; i++) {
    g->from[i] = draw_node(g, &random);
    g->to[i] = draw_node(g, &random);
  }
  draw_pairs(g, &random);
}

/* ---- Opening ---- */

static void project(algo_graph *g) {
  weir_error err = WEIR_ERROR_INIT;
  weir_projection_options options = algo_projection_options(g->undirected);
  bench_check(weir_projection_open(&g->projection, weir_graph_auto(g->store), &options, NULL, &err), &err,
              "making the projection");
  weir_projection_describe(g->projection, &g->info);
  if (g->info.nodes == 0) {
    bench_fail("the graph %s has no nodes", g->name);
  }
  draw(g);
}

algo_graph *algo_graph_uniform(const bench_settings *settings, int bare) {
  algo_graph *g = bench_alloc(sizeof *g);
  uniform data = {.bare = bare};
  report_progress("making the uniform graph");
  uniform_make(&data, settings);
  memcpy(g->path, data.path, sizeof g->path);
  g->name = "uniform";
  g->seed = settings->seed;
  open_store(g, settings);
  project(g);
  report_progress(NULL);
  return g;
}

algo_graph *algo_graph_snap(const bench_settings *settings) {
  algo_graph *g = bench_alloc(sizeof *g);
  if (snprintf(g->path, sizeof g->path, "%s/snap.db", bench_directory(settings)) >= (int)sizeof g->path) {
    bench_fail("the name of the store is too long");
  }
  g->name = "snap";
  g->seed = settings->seed;
  g->undirected = 1;
  open_store(g, settings);
  load_snap(g, settings);
  project(g);
  return g;
}

void algo_graph_close(algo_graph *g) {
  weir_error err = WEIR_ERROR_INIT;
  weir_projection_close(g->projection);
  bench_check(weir_graph_close(g->store, &err), &err, "closing the store");
  free(g);
}
