/* Loads as transactions; progress and cancelation; the real graph of flights. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "loads.h"
#include "support.h"

TestSuite(load_runs, .timeout = 60);

#define LITERAL(text) (text), sizeof(text) - 1

typedef struct files {
  char nodes[LOADS_PATH_SIZE];
  char edges[LOADS_PATH_SIZE];
  int first_rc, second_rc;
} files;

static void write_files(files *f, const char *edges) {
  loads_file(f->nodes, "nodes.csv", LITERAL("key,n\nx,1\ny,2\n"));
  loads_file(f->edges, "edges.csv", edges, strlen(edges));
}

static int load_both(weir_txn *txn, void *data, weir_error *err) {
  files *f = data;
  f->first_rc = weir_load_csv_nodes(txn, f->nodes, NULL, NULL, err);
  if (f->first_rc != WEIR_OK)
    return f->first_rc;
  return f->second_rc = weir_load_csv_edges(txn, f->edges, NULL, NULL, err);
}

Test(load_runs, two_loads_in_one_transaction_are_one_transaction) {
  files f;
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  write_files(&f, "src,dst\nx,y\ny,z\n");
  cr_assert(eq(int, weir_write(weir_graph_auto(graph), load_both, &f, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, f.first_rc, WEIR_OK));
  cr_assert(eq(int, f.second_rc, WEIR_INVALID));
  cr_assert(ne(ptr, strstr(err.message, "edges.csv:3:2 (dst): \"z\" is no node"), NULL), "%s", err.message);
  LOADS_SAME(loads_size(graph), "0 nodes, 0 edges", "size");
  write_files(&f, "src,dst\nx,y\ny,x\n");
  cr_assert(eq(int, weir_write(weir_graph_auto(graph), load_both, &f, NULL, &err), WEIR_OK), "%s",
            err.message);
  LOADS_SAME(loads_size(graph), "2 nodes, 2 edges", "size");
  loads_close(graph);
}

static int go_on_after_a_failure(weir_txn *txn, void *data, weir_error *err) {
  files *f = data;
  int rc = weir_node_put(txn, &WEIR_NODE("own", NULL, NULL), NULL, err);
  if (rc != WEIR_OK)
    return rc;
  rc = load_both(txn, data, err);
  f->second_rc = weir_load_csv_nodes(txn, f->edges, NULL, NULL, err);
  return rc;
}

Test(load_runs, a_load_that_fails_undoes_itself_only) {
  files f;
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  write_files(&f, "src,dst\nx,y\n");
  cr_assert(eq(int, weir_write(weir_graph_auto(graph), go_on_after_a_failure, &f, NULL, &err), WEIR_OK), "%s",
            err.message);
  cr_assert(eq(int, f.second_rc, WEIR_INVALID));
  LOADS_SAME(loads_size(graph), "3 nodes, 1 edges", "size");
  loads_close(graph);
}

Test(load_runs, a_read_transaction_is_no_place_for_a_load) {
  files f;
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  write_files(&f, "");
  cr_assert(eq(int, weir_read(weir_graph_auto(graph), load_both, &f, NULL, &err), WEIR_MISUSE));
  LOADS_SAME(loads_size(graph), "0 nodes, 0 edges", "size");
  loads_close(graph);
}

typedef struct watch {
  unsigned calls, cancel_at; /* cancel_at: the number of the call to answer with 1 */
  weir_load_progress first, last;
  int backwards; /* progress once went back */
} watch;

static int on_progress(const weir_load_progress *progress, void *data) {
  watch *w = data;
  if (w->calls++ == 0)
    w->first = *progress;
  w->backwards |= progress->rows < w->last.rows || progress->bytes < w->last.bytes;
  w->last = *progress;
  return w->calls == w->cancel_at;
}

Test(load_runs, progress_is_told_at_the_beginning_and_at_the_end) {
  char path[LOADS_PATH_SIZE];
  watch w = {0};
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  options.on_progress = on_progress;
  options.data = &w;
  loads_file(path, "nodes.csv", LITERAL("key,n\nx,1\ny,2\n"));
  cr_assert(eq(int, weir_load_csv_nodes(weir_graph_auto(graph), path, &options, NULL, &err), WEIR_OK), "%s",
            err.message);
  cr_assert(ge(uint, w.calls, 2));
  cr_assert(eq(int, w.backwards, 0));
  cr_assert(eq(u64, w.first.rows, 0));
  cr_assert(eq(u64, w.first.bytes, 0));
  cr_assert(eq(u64, w.first.bytes_total, 14));
  cr_assert(eq(u64, w.last.rows, 2));
  cr_assert(eq(u64, w.last.bytes, 14));
  loads_close(graph);
}

Test(load_runs, a_load_that_on_progress_ends_leaves_no_trace) {
  char path[LOADS_PATH_SIZE];
  weir_graph *graph = loads_store();
  loads_file(path, "edges.txt", LITERAL("a b\nb c\n"));
  for (unsigned cancel_at = 1; cancel_at <= 2; cancel_at++) {
    watch w = {.cancel_at = cancel_at};
    weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
    weir_error err = WEIR_ERROR_INIT;
    options.on_progress = on_progress;
    options.data = &w;
    cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), path, &options, NULL, &err), WEIR_CANCELED));
    cr_assert(ne(ptr, strstr(err.message, "was ended by on_progress"), NULL), "%s", err.message);
    cr_assert(eq(uint, w.calls, cancel_at));
    LOADS_SAME(loads_size(graph), "0 nodes, 0 edges", "size");
  }
  loads_close(graph);
}

static void *feed(void *path) {
  FILE *out = fopen(path, "w"); /* waits for the reader */
  if (!out)
    return NULL;
  for (int i = 0; i < 20000; i++)
    fprintf(out, "n%d\tn%d\n", i, (i + 1) % 20000);
  return fclose(out) == 0 ? path : NULL;
}

Test(load_runs, a_pipe_can_be_loaded_and_has_no_size) {
  char path[LOADS_PATH_SIZE];
  pthread_t thread;
  void *fed;
  watch w = {0};
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  options.on_progress = on_progress;
  options.data = &w;
  weir_test_path(path, sizeof path, "pipe");
  cr_assert(eq(int, mkfifo(path, 0600), 0));
  cr_assert(eq(int, pthread_create(&thread, NULL, feed, path), 0));
  int rc = weir_load_snap(weir_graph_auto(graph), path, &options, NULL, &err);
  cr_assert(eq(int, pthread_join(thread, &fed), 0));
  cr_assert(eq(int, rc, WEIR_OK), "%s", err.message);
  cr_assert(eq(ptr, fed, path));
  cr_assert(eq(u64, w.last.bytes_total, 0));
  cr_assert(eq(u64, w.last.rows, 20000));
  LOADS_SAME(loads_size(graph), "20000 nodes, 20000 edges", "size");
  loads_close(graph);
}

Test(load_runs, messages_show_the_end_of_a_long_path) {
  char dir[4000], path[4100];
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  int length = snprintf(dir, sizeof dir, "%s", weir_test_dir());
  for (int i = 0; i < 3; i++) {
    length += snprintf(dir + length, sizeof dir - (size_t)length, "/%d%0200d", i, 0);
    cr_assert(eq(int, mkdir(dir, 0777), 0));
  }
  snprintf(path, sizeof path, "%s/bad.csv", dir);
  FILE *file = fopen(path, "w");
  cr_assert(file && fputs("key,n\nx\n", file) != EOF && fclose(file) == 0);
  cr_assert(eq(int, weir_load_csv_nodes(weir_graph_auto(graph), path, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(ne(ptr, strstr(err.message, "/bad.csv:2: the row has 1 fields, the header has 2"), NULL), "%s",
            err.message);
  loads_close(graph);
}

typedef struct flights {
  weir_load_report airports, routes;
} flights;

static int load_flights(weir_txn *txn, void *data, weir_error *err) {
  static const char dir[] = WEIR_SOURCE_DIR "/examples/data";
  char path[sizeof dir + 40];
  flights *f = data;
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  options.key_column = "iata";
  options.label = "airport";
  snprintf(path, sizeof path, "%s/airports.csv", dir);
  int rc = weir_load_csv_nodes(txn, path, &options, &f->airports, err);
  if (rc != WEIR_OK)
    return rc;
  options = (weir_load_options)WEIR_LOAD_OPTIONS_INIT;
  options.src_column = "origin";
  options.dst_column = "destination";
  options.weight_column = "count";
  options.label = "flight";
  snprintf(path, sizeof path, "%s/flights-airport.csv", dir);
  return weir_load_csv_edges(txn, path, &options, &f->routes, err);
}

Test(load_runs, flights_load_the_same_into_every_kind_of_store) {
  const weir_mode modes[] = {WEIR_SINGLE, WEIR_SINGLE, WEIR_POOL};
  char *first_nodes = NULL, *first_edges = NULL;
  for (int i = 0; i < 3; i++) {
    char path[LOADS_PATH_SIZE] = ":memory:";
    weir_graph *graph;
    flights f = {0};
    weir_error err = WEIR_ERROR_INIT;
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.mode = modes[i];
    if (i > 0)
      weir_test_path(path, sizeof path, i == 1 ? "single.weir" : "pool.weir");
    cr_assert(eq(int, weir_graph_open(&graph, path, &options, &err), WEIR_OK), "%s", err.message);
    cr_assert(eq(int, weir_write(weir_graph_auto(graph), load_flights, &f, NULL, &err), WEIR_OK), "%s",
              err.message);
    cr_assert(eq(u64, f.airports.inserted, 3376));
    cr_assert(eq(u64, f.routes.inserted, 5366));
    LOADS_SAME(loads_size(graph), "3376 nodes, 5366 edges", "size");
    cr_assert(eq(int, weir_write(weir_graph_auto(graph), load_flights, &f, NULL, &err), WEIR_OK), "%s",
              err.message);
    cr_assert(eq(u64, f.airports.unchanged, 3376));
    cr_assert(eq(u64, f.routes.unchanged, 5366));
    char *nodes = loads_nodes(weir_graph_auto(graph)), *edges = loads_edges(weir_graph_auto(graph));
    cr_assert(ne(ptr,
                 strstr(nodes, "DBN [airport] {\"name\":\"W. H. \\\"Bud\\\" Barron\",\"city\":\"Dublin\","),
                 NULL));
    cr_assert(ne(ptr, strstr(edges, "ABE -flight:0-> ATL 853 {}\n"), NULL));
    cr_assert(i == 0 || (strcmp(nodes, first_nodes) == 0 && strcmp(edges, first_edges) == 0));
    if (i == 0) {
      first_nodes = nodes;
      first_edges = edges;
    } else {
      free(nodes);
      free(edges);
    }
    loads_close(graph);
  }
  free(first_nodes);
  free(first_edges);
}
