/*
 * algo: graph algorithms on a projection, beside igraph: on the uniform random graph, and on an edge list
 * that is given. With --sizes: how they grow.
 */
#include "algo.h"

#include "conditions.h"

static void defaults(bench_settings *s) {
  s->seconds = 0.5;
  s->nodes = 100000;
  s->edges = 1000000;
  s->cache_kib = 512 * 1024;
  s->threads = 0;
  s->graphs = "uniform,snap";
  s->works = "bfs,sssp,wcc,pagerank,pagerank-weighted,lcc,cdlp,scc,core,triangles,leiden,betweenness,sampled,"
             "closeness,jaccard,predict,order,forest";
}

static void print_graph(const algo_graph *g, const bench_settings *settings) {
  printf("\n== %s: %u nodes, %llu %s edges, %llu of them loops\n",
         settings->snap && g->undirected ? settings->snap : g->name, g->info.nodes,
         (unsigned long long)g->info.edges, g->undirected ? "undirected" : "directed",
         (unsigned long long)g->info.loops);
}

/* 1: the sides found different things. */
static int run_graph(const bench_settings *settings, algo_graph *g, jsonl *out) {
  jsonl_common(out, "graph", json_string(g->name));
  jsonl_common(out, "nodes", json_integer(g->info.nodes));
  jsonl_common(out, "edges", json_integer((json_int_t)g->info.edges));
  print_graph(g, settings);
  algo_build(settings, g, out);

  algo_weir *weir = algo_weir_open(g);
  algo_igraph *igraph = algo_igraph_version() ? algo_igraph_open(g) : NULL;
  int differ = algo_ask(settings, g, weir, igraph, out);
  differ |= algo_run(settings, g, weir, igraph, out);
  if (igraph) {
    algo_igraph_close(igraph);
  }
  algo_weir_close(weir);
  algo_graph_close(g);
  return differ;
}

static void print_igraph(jsonl *out) {
  const char *version = algo_igraph_version();
  if (version) {
    printf("igraph %s, one thread, nodes by number, its graph made of the projection\n", version);
  } else {
    puts("igraph was not there when weir-bench was built: its columns are empty");
  }
  jsonl_common(out, "igraph", version ? json_string(version) : json_null());
}

static void check_lists(const bench_settings *settings) {
  static const char *const graphs[] = {"uniform", "snap"};
  const char *works[ALGO_WORKS];
  for (algo_work work = 0; work < ALGO_WORKS; work++) {
    works[work] = algo_name(work);
  }
  bench_check_list("works", settings->works, works, ALGO_WORKS);
  bench_check_list("graphs", settings->graphs, graphs, 2);
  if (!bench_listed(settings->graphs, "uniform") && !settings->snap) {
    bench_fail("--graphs %s: give the edge list with --snap", settings->graphs);
  }
}

static int run_algo(const bench_settings *settings) {
  int uniform = bench_listed(settings->graphs, "uniform"), differ = 0;
  check_lists(settings);
  jsonl *out = jsonl_open(settings, "algo");
  jsonl_common(out, "threads", json_integer(settings->threads));
  report_machine();
  print_igraph(out);
  if (settings->sizes.count > 0) {
    algo_scale(settings, out);
    jsonl_close(out);
    return 0;
  }
  if (uniform) {
    differ |= run_graph(settings, algo_graph_uniform(settings, 0), out);
  }
  if (settings->snap && bench_listed(settings->graphs, "snap")) {
    differ |= run_graph(settings, algo_graph_snap(settings), out);
  }
  jsonl_close(out);
  return differ;
}

const bench_command bench_algo = {
    .name = "algo",
    .summary = "projections and graph algorithms, beside igraph",
    .help =
        "A store with a uniform random graph (directed, weights 1 to 100) is made through weir and "
        "projected.\n"
        "With --snap also one from a SNAP edge list (undirected, weights drawn from the seed). weir on one\n"
        "thread, weir on several and igraph on one run in turns on the same graph, and what they find is\n"
        "compared. igraph's graph is made of the projection; neither that nor its reading is timed.\n"
        "\n"
        "With --sizes: only weir, on uniform graphs of so many edges and a tenth as many nodes; how time\n"
        "grows, and what memory a work needs.\n"
        "\n"
        "Where the two do not do the same: CDLP (igraph's label propagation is another one, and goes on "
        "until\n"
        "nothing changes), LCC of a directed graph (igraph ignores directions), Leiden (random), "
        "betweenness\n"
        "from some sources (each chooses its own). betweenness and closeness are measured on small graphs\n"
        "only, `sampled` on others.\n"
        "\n"
        "examples:\n"
        "  weir-bench algo --snap facebook_combined.txt.gz\n"
        "  weir-bench algo --works pagerank,wcc --repeat 9\n"
        "  weir-bench algo --graphs snap --snap facebook_combined.txt.gz --works betweenness\n"
        "  weir-bench algo --sizes 100000,1000000,10000000 --repeat 3",
    .takes = "DGEQgFzHsrScxkj",
    .defaults = defaults,
    .run = run_algo,
};
