/*
 * The validation graphs of LDBC Graphalytics, with the results that it publishes, and as near as it asks for:
 * depths and labels equal, components equal but for their names, numbers within a relative 0.0001.
 *
 * A graph is a file of rows "node far far ...", or two: NAME.v with nodes, NAME.e with "src dst weight".
 * Nodes get their numbers in the order of their ids, so that the least label is the least id.
 *
 * Of the two graphs for its forest fire model there is no result, and weir has no such thing: they are left
 * out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/algo.h>

#include "algo_graphs.h"

#define FOLDER WEIR_SOURCE_DIR "/../shared/data/graphalytics/"
#define NEAR   0.0001

enum { IDS = 64, LINE = 512 };

static weir_error err;

/* Numbers from ids, which are below IDS. */
struct validation {
  algo_graph graph;
  weir_projection *p;
  uint32_t number[IDS]; /* WEIR_NO_NODE: none */
  unsigned id[IDS];
};

/* ---- Files --------------------------------------------------------------------------------------------- */

/* 0: the folder is not there, which is an error in CI. */
static int available(void) {
  FILE *file = fopen(FOLDER "bfs-dir-input", "r");
  if (file) {
    return fclose(file) == 0;
  }
  cr_assert(getenv("CI") == NULL, "%s is missing", FOLDER);
  cr_log_warn("left out: %s is not there", FOLDER);
  return 0;
}

static FILE *open_file(const char *name, const char *suffix) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s%s%s", FOLDER, name, suffix);
  return fopen(path, "r");
}

/* Takes the next number of a line; 0: there is none. */
static int take(char **at, unsigned *id) {
  char *end = *at;
  unsigned long number = strtoul(*at, &end, 10);
  int there = end != *at;
  *at = end;
  *id = (unsigned)number;
  cr_assert(lt(ulong, number, IDS));
  return there;
}

/* The nodes are all that are named: of rows, some only as ends of edges. */
static void read_nodes(struct validation *v, FILE *file) {
  char line[LINE];
  unsigned id = 0;
  int there[IDS] = {0};
  while (fgets(line, sizeof line, file)) {
    char *at = line;
    while (take(&at, &id)) {
      there[id] = 1;
    }
  }
  for (id = 0; id < IDS; id++) {
    v->number[id] = there[id] ? v->graph.nodes : WEIR_NO_NODE;
    if (there[id]) {
      v->id[v->graph.nodes++] = id;
    }
  }
}

static uint32_t number_of(const struct validation *v, unsigned id) {
  cr_assert(ne(u32, v->number[id], WEIR_NO_NODE), "no node %u", id);
  return v->number[id];
}

/* In rows an undirected edge stands twice. */
static void read_rows(struct validation *v, FILE *file) {
  char line[LINE];
  unsigned id = 0, far = 0;
  while (fgets(line, sizeof line, file)) {
    char *at = line;
    (void)take(&at, &id);
    while (take(&at, &far)) {
      if (!v->graph.undirected || id < far) {
        algo_graph_add(&v->graph, number_of(v, id), number_of(v, far), 1);
      }
    }
  }
}

static void read_edges(struct validation *v, FILE *file) {
  char line[LINE];
  unsigned src = 0, dst = 0;
  v->graph.weighted = 1;
  while (fgets(line, sizeof line, file)) {
    char *at = line;
    if (take(&at, &src) && take(&at, &dst)) {
      algo_graph_add(&v->graph, number_of(v, src), number_of(v, dst), strtod(at, NULL));
    }
  }
}

static struct validation load(const char *name, int undirected) {
  struct validation v = {.graph = algo_graph_empty(0, undirected, 0)};
  FILE *rows = open_file(name, ""), *nodes = rows ? rows : open_file(name, ".v");
  cr_assert(ne(ptr, nodes, NULL), "%s is missing", name);
  read_nodes(&v, nodes);
  if (rows) {
    rewind(rows);
    read_rows(&v, rows);
  } else {
    FILE *edges = open_file(name, ".e");
    cr_assert(ne(ptr, edges, NULL), "%s.e is missing", name);
    read_edges(&v, edges);
    cr_assert(eq(int, fclose(edges), 0));
  }
  cr_assert(eq(int, fclose(nodes), 0));
  v.p = algo_graph_project(&v.graph);
  return v;
}

static void drop(struct validation *v) {
  weir_projection_close(v->p);
  algo_graph_free(&v->graph);
}

/* The published results, by number of the node. All nodes have one. Depths, too, fit into a double. */
static void read_results(const struct validation *v, const char *name, double *values) {
  FILE *file = open_file(name, "");
  char line[LINE];
  unsigned id = 0;
  uint32_t count = 0;
  cr_assert(ne(ptr, file, NULL), "%s is missing", name);
  while (fgets(line, sizeof line, file)) {
    char *at = line;
    if (take(&at, &id)) {
      values[number_of(v, id)] = strtod(at, NULL);
      count++;
    }
  }
  cr_assert(eq(int, fclose(file), 0));
  cr_assert(eq(u32, count, v->graph.nodes), "%s", name);
}

static void check_near(const struct validation *v, const char *name, const double *got) {
  double want[IDS] = {0};
  read_results(v, name, want);
  for (uint32_t i = 0; i < v->graph.nodes; i++) {
    cr_assert(algo_close(got[i], want[i], NEAR, 0), "%s, node %u: %.17g, not %.17g", name, v->id[i], got[i],
              want[i]);
  }
}

/* ---- One algorithm on one graph: input, output, parameters -----------------------------------------------
 */

static void bfs(const char *input, const char *output, int undirected, unsigned source) {
  struct validation v = load(input, undirected);
  uint32_t depth[IDS];
  double want[IDS] = {0};
  read_results(&v, output, want);
  cr_assert(eq(int, weir_bfs(v.p, number_of(&v, source), WEIR_OUT, NULL, depth, NULL, &err), WEIR_OK));
  for (uint32_t i = 0; i < v.graph.nodes; i++) {
    double got = depth[i] == WEIR_UNREACHED ? (double)INT64_MAX : depth[i];
    cr_assert(eq(dbl, got, want[i]), "%s, node %u", output, v.id[i]);
  }
  drop(&v);
}

static void sssp(const char *input, const char *output, int undirected, unsigned source) {
  struct validation v = load(input, undirected);
  double distance[IDS];
  cr_assert(eq(int, weir_sssp(v.p, number_of(&v, source), WEIR_OUT, NULL, distance, NULL, &err), WEIR_OK));
  check_near(&v, output, distance);
  drop(&v);
}

static void wcc(const char *input, const char *output, int undirected) {
  struct validation v = load(input, undirected);
  uint32_t component[IDS];
  double want[IDS] = {0};
  read_results(&v, output, want);
  cr_assert(eq(int, weir_wcc(v.p, NULL, component, NULL, &err), WEIR_OK));
  for (uint32_t a = 0; a < v.graph.nodes; a++) {
    for (uint32_t b = 0; b < v.graph.nodes; b++) {
      int together = want[a] >= want[b] && want[a] <= want[b];
      cr_assert(eq(int, component[a] == component[b], together), "%s, nodes %u and %u", output, v.id[a],
                v.id[b]);
    }
  }
  drop(&v);
}

static void pr(const char *input, const char *output, int undirected, unsigned iterations) {
  struct validation v = load(input, undirected);
  weir_pagerank_options o = WEIR_PAGERANK_OPTIONS_INIT;
  double score[IDS];
  o.tolerance = 0;
  o.iterations = iterations;
  o.unweighted = 1;
  cr_assert(eq(int, weir_pagerank(v.p, &o, NULL, score, NULL, &err), WEIR_OK), "%s", err.message);
  check_near(&v, output, score);
  drop(&v);
}

static void cdlp(const char *input, const char *output, int undirected, unsigned iterations) {
  struct validation v = load(input, undirected);
  uint32_t label[IDS];
  double want[IDS] = {0};
  read_results(&v, output, want);
  cr_assert(eq(int, weir_cdlp(v.p, iterations, NULL, label, NULL, &err), WEIR_OK));
  for (uint32_t i = 0; i < v.graph.nodes; i++) {
    cr_assert(eq(dbl, v.id[label[i]], want[i]), "%s, node %u", output, v.id[i]);
  }
  drop(&v);
}

static void lcc(const char *input, const char *output, int undirected) {
  struct validation v = load(input, undirected);
  double coefficient[IDS];
  cr_assert(eq(int, weir_lcc(v.p, NULL, coefficient, &err), WEIR_OK));
  check_near(&v, output, coefficient);
  drop(&v);
}

/* ---- All of them: parameters are those of Graphalytics' own tests -----------------------------------------
 */

Test(graphalytics, its_graphs_for_each_algorithm, .timeout = 60) {
  if (!available()) {
    return;
  }
  bfs("bfs-dir-input", "bfs-dir-output", 0, 1);
  bfs("bfs-undir-input", "bfs-undir-output", 1, 1);
  sssp("sssp-dir-input", "sssp-dir-output", 0, 1);
  sssp("sssp-undir-input", "sssp-undir-output", 1, 1);
  wcc("wcc-dir-input", "wcc-dir-output", 0);
  wcc("wcc-undir-input", "wcc-undir-output", 1);
  pr("pr-dir-input", "pr-dir-output", 0, 14);
  pr("pr-undir-input", "pr-undir-output", 1, 26);
  cdlp("cdlp-dir-input", "cdlp-dir-output", 0, 5);
  cdlp("cdlp-undir-input", "cdlp-undir-output", 1, 5);
  lcc("lcc-dir-input", "lcc-dir-output", 0);
  lcc("lcc-undir-input", "lcc-undir-output", 1);
}

/* As rows, and as the same edges with weights. */
static void run_example(const char *name, int undirected, unsigned source) {
  static const char *const inputs[] = {"-input", ""};
  char input[64], output[64];
#define OUTPUT(of) ((void)snprintf(output, sizeof output, "%s-" of, name), output)
  for (int i = 0; i < 2; i++) {
    (void)snprintf(input, sizeof input, "%s%s", name, inputs[i]);
    bfs(input, OUTPUT("BFS"), undirected, source);
    wcc(input, OUTPUT("WCC"), undirected);
    pr(input, OUTPUT("PR"), undirected, 2);
    cdlp(input, OUTPUT("CDLP"), undirected, 2);
    lcc(input, OUTPUT("LCC"), undirected);
  }
  sssp(input, OUTPUT("SSSP"), undirected, source);
}

Test(graphalytics, its_examples, .timeout = 60) {
  if (available()) {
    run_example("example-example-directed", 0, 1);
    run_example("example-example-undirected", 1, 2);
  }
}
