/*
 * Loads a graph from two CSV files, in one transaction. docs/examples.md walks through it.
 *
 *   load_csv STORE NODES.csv EDGES.csv [--key iata] [--src origin] [--dst destination] ...
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <weir/graph.h>
#include <weir/io.h>

/* One file to load. The options' callbacks get it as their data. */
typedef struct input {
  const char *path;
  weir_load_options options;
  weir_load_report report;
  double began; /* when the first progress was told, in seconds */
} input;

static double now(void) {
  struct timespec time;
  return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec / 1e9 : 0;
}

/* What erases the line of progress, where there may be one: on a terminal. */
static const char *erase(const input *in) {
  return in->options.on_progress ? "\r\033[K" : "";
}

/* Shows nothing in the first second, and then a line that is written over again and again. */
static int on_progress(const weir_load_progress *p, void *data) {
  input *in = data;
  if (p->rows == 0)
    in->began = now();
  double took = now() - in->began;
  if (took < 1 || p->bytes == 0)
    return 0;
  double left = p->bytes_total ? took / (double)p->bytes * (double)(p->bytes_total - p->bytes) : 0;
  fprintf(stderr, "\r\033[K%s: %" PRIu64 " rows, %.1f of %.1f MB, %.0f rows/s, %.0f s left", in->path,
          p->rows, (double)p->bytes / 1e6, (double)p->bytes_total / 1e6, (double)p->rows / took, left);
  return 0; /* anything else would end the load */
}

static void on_bad_row(const weir_bad_row *row, void *data) {
  input *in = data;
  fprintf(stderr, "%s%s:%" PRIu64 ": left out: %s%s%s\n", erase(in), in->path, row->line,
          row->name ? row->name : "", row->name ? ": " : "", row->message);
}

/* The transaction: nodes first, since edges need their endpoints. It may be run again before it is kept, and
 * then both loads begin anew. */
static int load(weir_txn *txn, void *data, weir_error *err) {
  input *in = data; /* [0] nodes, [1] edges */
  int rc = weir_load_csv_nodes(txn, in[0].path, &in[0].options, &in[0].report, err);
  if (rc == WEIR_OK)
    rc = weir_load_csv_edges(txn, in[1].path, &in[1].options, &in[1].report, err);
  fputs(erase(in), stderr);
  return rc;
}

static void print_report(const input *in) {
  const weir_load_report *r = &in->report;
  printf("%s: %" PRIu64 " rows: %" PRIu64 " inserted, %" PRIu64 " updated, %" PRIu64 " unchanged, %" PRIu64
         " left out, %" PRIu64 " endpoints made\n",
         in->path, r->rows, r->inserted, r->updated, r->unchanged, r->bad, r->created);
}

static const char usage[] = "usage: load_csv STORE NODES.csv EDGES.csv\n"
                            "  [--key COLUMN] [--src COLUMN] [--dst COLUMN] [--weight COLUMN]\n"
                            "  [--node-label LABEL] [--edge-label LABEL] [--create-endpoints] [--skip-bad]\n";

/* Sets options from the command line; 0 if it is not understood. */
static int parse(int argc, char **argv, weir_load_options *nodes, weir_load_options *edges) {
  const char **const texts[] = {&nodes->key_column,    &edges->src_column, &edges->dst_column,
                                &edges->weight_column, &nodes->label,      &edges->label};
  static const struct option known[] = {{"key", 1, NULL, 0},        {"src", 1, NULL, 1},
                                        {"dst", 1, NULL, 2},        {"weight", 1, NULL, 3},
                                        {"node-label", 1, NULL, 4}, {"edge-label", 1, NULL, 5},
                                        {"skip-bad", 0, NULL, 'b'}, {"create-endpoints", 0, NULL, 'c'},
                                        {NULL, 0, NULL, 0}};
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    if (option == '?')
      return 0;
    if (option == 'b')
      nodes->bad_rows = edges->bad_rows = WEIR_BAD_ROWS_SKIP;
    else if (option == 'c')
      edges->create_endpoints = 1;
    else
      *texts[option] = optarg;
  }
  return argc - optind == 3;
}

int main(int argc, char **argv) {
  input in[2] = {{.options = WEIR_LOAD_OPTIONS_INIT}, {.options = WEIR_LOAD_OPTIONS_INIT}};
  weir_graph *graph = NULL;
  weir_pool_options pool = WEIR_POOL_OPTIONS_INIT;
  weir_error err = WEIR_ERROR_INIT;
  pool.cache_kib = 64 * 1024; /* a load changes pages all over the file: keep them in memory */
  if (!parse(argc, argv, &in[0].options, &in[1].options))
    return fputs(usage, stderr), 1;
  for (int i = 0; i < 2; i++) {
    in[i].path = argv[optind + 1 + i];
    in[i].options.data = &in[i];
    in[i].options.on_bad_row = on_bad_row;
    in[i].options.on_progress = isatty(STDERR_FILENO) ? on_progress : NULL;
  }
  int rc = weir_graph_open(&graph, argv[optind], &pool, &err);
  if (rc == WEIR_OK)
    rc = weir_write(weir_graph_auto(graph), load, in, NULL, &err);
  int closed = weir_graph_close(graph, rc == WEIR_OK ? &err : NULL);
  if (rc != WEIR_OK || closed != WEIR_OK) {
    fprintf(stderr, "load_csv: %s\n", err.message);
    return 1;
  }
  for (int i = 0; i < 2; i++)
    print_report(&in[i]);
  return 0;
}
