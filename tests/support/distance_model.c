/* Plain models of searches. */
#include "distance_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

steps steps_of(const algo_graph *g, weir_direction direction) {
  steps s = {malloc((2 * g->count + 1) * sizeof(step)), 0};
  for (uint64_t i = 0; i < g->count; i++) {
    double weight = g->weighted ? g->weight[i] : 1;
    if (g->undirected || direction != WEIR_IN) {
      s.list[s.count++] = (step){g->src[i], g->dst[i], weight};
    }
    if (g->undirected || direction == WEIR_IN || direction == WEIR_BOTH) {
      s.list[s.count++] = (step){g->dst[i], g->src[i], weight};
    }
  }
  return s;
}

void steps_free(steps *s) {
  free(s->list);
}

int steps_have(const steps *s, uint32_t from, uint32_t to) {
  for (uint64_t i = 0; i < s->count; i++) {
    if (s->list[i].from == from && s->list[i].to == to) {
      return 1;
    }
  }
  return 0;
}

void model_depths(const steps *s, uint32_t nodes, uint32_t source, uint32_t *depth) {
  memset(depth, 0xff, nodes * sizeof *depth);
  depth[source] = 0;
  int more = 1;
  for (uint32_t level = 0; more; level++) {
    more = 0;
    for (uint64_t i = 0; i < s->count; i++) {
      if (depth[s->list[i].from] == level && depth[s->list[i].to] == WEIR_UNREACHED) {
        depth[s->list[i].to] = level + 1;
        more = 1;
      }
    }
  }
}

void model_distances(const steps *s, uint32_t nodes, uint32_t source, double *distance) {
  for (uint32_t i = 0; i < nodes; i++) {
    distance[i] = INFINITY;
  }
  distance[source] = 0;
  for (int more = 1; more;) {
    more = 0;
    for (uint64_t i = 0; i < s->count; i++) {
      double offer = distance[s->list[i].from] + s->list[i].weight;
      if (offer < distance[s->list[i].to]) {
        distance[s->list[i].to] = offer;
        more = 1;
      }
    }
  }
}

algo_graph path_graph(uint32_t nodes, int undirected, int weighted) {
  algo_graph g = algo_graph_empty(nodes, undirected, weighted);
  for (uint32_t i = 0; i + 1 < nodes; i++) {
    algo_graph_add(&g, i, i + 1, 2);
  }
  return g;
}

void check_threads(const weir_projection *p, run_fn fn, void *out, size_t size) {
  static const unsigned threads[] = {1, 2, 3, 8};
  weir_error err = WEIR_ERROR_INIT;
  char *first = malloc(size + 1);
  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    weir_run run = WEIR_RUN_INIT;
    run.threads = threads[i];
    memset(out, 0x55, size);
    cr_assert(eq(int, fn(p, &run, out, &err), WEIR_OK), "%s", err.message);
    if (i == 0) {
      memcpy(first, out, size);
    }
    cr_assert(memcmp(first, out, size) == 0, "%u threads differ from one", threads[i]);
  }
  free(first);
}

struct watcher {
  unsigned calls, stop_at;
  uint64_t done, total; /* when it stopped */
};

/* The next report comes after some time at the earliest; the first call lets it pass. */
static int watch(const weir_progress *progress, void *data) {
  struct watcher *watcher = data;
  if (++watcher->calls == 1) {
    uint64_t begin = uv_hrtime();
    while (uv_hrtime() - begin < UINT64_C(60000000)) {
    }
  }
  watcher->done = progress->done;
  watcher->total = progress->total;
  return watcher->calls == watcher->stop_at || (watcher->stop_at == 0 && progress->done == progress->total);
}

void check_cancel(const weir_projection *p, run_fn fn, void *out) {
  static const unsigned stops[] = {1, 2, 0};
  weir_error err = WEIR_ERROR_INIT;
  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
    struct watcher watcher = {.stop_at = stops[i]};
    weir_run run = {sizeof run, 2, watch, &watcher};
    cr_assert(eq(int, fn(p, &run, out, &err), WEIR_CANCELED));
    cr_assert(eq(int, err.code, WEIR_CANCELED));
    cr_assert(ge(uint, watcher.calls, stops[i] ? stops[i] : 2));
    cr_assert(eq(int, watcher.done == watcher.total, stops[i] == 0), "stop %u: %llu of %llu", stops[i],
              (unsigned long long)watcher.done, (unsigned long long)watcher.total);
  }
}
