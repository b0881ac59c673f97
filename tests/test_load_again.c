/*
 * A load whose transaction is run again before it is committed, as weir_txn_fn allows. The linker puts
 * __wrap_weir_write in place of the library's function; it runs each function once in vain, and then again.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "loads.h"
#include "support.h"

TestSuite(load_again, .timeout = 60);

#define LITERAL(text) (text), sizeof(text) - 1

int __real_weir_write(weir_txn *in, weir_txn_fn fn, void *data, const weir_txn_options *options,
                      weir_error *err);
int __wrap_weir_write(weir_txn *in, weir_txn_fn fn, void *data, const weir_txn_options *options,
                      weir_error *err);

typedef struct vain {
  weir_txn_fn fn;
  void *data;
  int rc; /* of fn */
} vain;

static int run_in_vain(weir_txn *txn, void *data, weir_error *err) {
  vain *v = data;
  v->rc = v->fn(txn, v->data, err);
  return WEIR_CONFLICT;
}

static int armed;

int __wrap_weir_write(weir_txn *in, weir_txn_fn fn, void *data, const weir_txn_options *options,
                      weir_error *err) {
  if (armed) {
    vain v = {.fn = fn, .data = data};
    armed = 0;
    int rc = __real_weir_write(in, run_in_vain, &v, options, err);
    if (rc != WEIR_CONFLICT || v.rc != WEIR_OK)
      return WEIR_MISUSE;
  }
  return __real_weir_write(in, fn, data, options, err);
}

typedef struct watch {
  unsigned beginnings, ends, bad;
} watch;

static int on_progress(const weir_load_progress *progress, void *data) {
  watch *w = data;
  w->beginnings += progress->rows == 0;
  w->ends += progress->rows == 3;
  return 0;
}

static void on_bad_row(const weir_bad_row *row, void *data) {
  (void)row;
  ((watch *)data)->bad++;
}

Test(load_again, a_file_is_read_again_and_counted_once) {
  char path[LOADS_PATH_SIZE];
  for (int gzip = 0; gzip < 2; gzip++) {
    watch w = {0};
    weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
    weir_load_report report;
    weir_error err = WEIR_ERROR_INIT;
    weir_graph *graph = loads_store();
    options.bad_rows = WEIR_BAD_ROWS_SKIP;
    options.create_endpoints = 1;
    options.on_progress = on_progress;
    options.on_bad_row = on_bad_row;
    options.data = &w;
    (gzip ? loads_gzip_file(path, "edges.csv", LITERAL("\xEF\xBB\xBFsrc,dst\na,b\nbad\nb,c\n"), 0)
          : loads_file(path, "edges.csv", LITERAL("\xEF\xBB\xBFsrc,dst\na,b\nbad\nb,c\n")));
    armed = 1;
    int rc = weir_load_csv_edges(weir_graph_auto(graph), path, &options, &report, &err);
    cr_assert(eq(int, rc, WEIR_OK), "%s", err.message);
    cr_assert(eq(int, armed, 0));
    cr_assert(eq(u64, report.rows, 3));
    cr_assert(eq(u64, report.inserted, 2));
    cr_assert(eq(u64, report.bad, 1));
    cr_assert(eq(u64, report.created, 3));
    cr_assert(eq(uint, w.beginnings, 2), "the callbacks see both runs");
    cr_assert(eq(uint, w.ends, 2));
    cr_assert(eq(uint, w.bad, 2));
    LOADS_SAME(loads_size(graph), "3 nodes, 2 edges", "size");
    loads_close(graph);
  }
}

static void *feed(void *path) {
  FILE *out = fopen(path, "w"); /* waits for the reader */
  return out && fputs("a b\n", out) != EOF && fclose(out) == 0 ? path : NULL;
}

Test(load_again, a_pipe_cannot_be_read_again) {
  char path[LOADS_PATH_SIZE];
  pthread_t thread;
  void *fed;
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  weir_test_path(path, sizeof path, "pipe");
  cr_assert(eq(int, mkfifo(path, 0600), 0));
  cr_assert(eq(int, pthread_create(&thread, NULL, feed, path), 0));
  armed = 1;
  int rc = weir_load_snap(weir_graph_auto(graph), path, NULL, NULL, &err);
  cr_assert(eq(int, pthread_join(thread, &fed), 0));
  cr_assert(eq(ptr, fed, path));
  cr_assert(eq(int, rc, WEIR_IO), "%s", err.message);
  cr_assert(ne(ptr, strstr(err.message, "cannot be read twice"), NULL), "%s", err.message);
  LOADS_SAME(loads_size(graph), "0 nodes, 0 edges", "size");
  loads_close(graph);
}
