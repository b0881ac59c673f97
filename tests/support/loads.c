/* What tests/support/loads.h declares. */
#define _GNU_SOURCE /* asprintf */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "loads.h"
#include "support.h"

static void check(int fine, const char *what) {
  if (!fine) {
    perror(what);
    abort();
  }
}

void loads_file(char path[LOADS_PATH_SIZE], const char *name, const char *bytes, size_t len) {
  weir_test_path(path, LOADS_PATH_SIZE, name);
  FILE *file = fopen(path, "wb");
  check(file && fwrite(bytes, 1, len, file) == len && fclose(file) == 0, path);
}

void loads_gzip_file(char path[LOADS_PATH_SIZE], const char *name, const char *bytes, size_t len,
                     size_t cut) {
  weir_test_path(path, LOADS_PATH_SIZE, name);
  gzFile file = gzopen(path, "wb");
  check(file && gzwrite(file, bytes, (unsigned)len) == (int)len && gzclose(file) == Z_OK, path);
  FILE *whole = fopen(path, "rb");
  check(whole && fseek(whole, 0, SEEK_END) == 0, path);
  long size = ftell(whole);
  check(fclose(whole) == 0 && size > (long)cut && truncate(path, size - (long)cut) == 0, path);
}

weir_graph *loads_store(void) {
  weir_graph *graph;
  weir_error err = WEIR_ERROR_INIT;
  check(weir_graph_open(&graph, ":memory:", NULL, &err) == WEIR_OK, err.message);
  return graph;
}

void loads_close(weir_graph *graph) {
  weir_error err = WEIR_ERROR_INIT;
  check(weir_graph_close(graph, &err) == WEIR_OK, err.message);
}

/* Lines that are gathered in any order. */
typedef struct lines {
  char **line;
  size_t count;
} lines;

static void add_line(lines *all, char *line) {
  all->line = realloc(all->line, (all->count + 1) * sizeof *all->line);
  check(all->line && line, "memory");
  all->line[all->count++] = line;
}

static int compare_lines(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *join_sorted(lines *all) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  check(out != NULL, "memory");
  if (all->count > 0)
    qsort(all->line, all->count, sizeof *all->line, compare_lines);
  for (size_t i = 0; i < all->count; i++) {
    fputs(all->line[i], out);
    free(all->line[i]);
  }
  free(all->line);
  check(fclose(out) == 0, "memory");
  return text;
}

#define SHOW(text) (int)(text).len, (text).ptr

static int add_node(const weir_node *node, void *data, weir_error *err) {
  char *line = NULL;
  size_t size;
  FILE *out = open_memstream(&line, &size);
  (void)err;
  check(out != NULL, "memory");
  fprintf(out, "%.*s [", SHOW(node->key));
  for (size_t i = 0; i < node->label_count; i++)
    fprintf(out, "%s%.*s", i > 0 ? ";" : "", SHOW(node->labels[i]));
  fprintf(out, "] %.*s\n", SHOW(node->props));
  check(fclose(out) == 0, "memory");
  add_line(data, line);
  return WEIR_OK;
}

static int add_edge(const weir_edge *edge, void *data, weir_error *err) {
  char *line;
  (void)err;
  check(asprintf(&line, "%.*s -%.*s:%lld-> %.*s %g %.*s\n", SHOW(edge->src), SHOW(edge->label),
                 (long long)edge->rank, SHOW(edge->dst), edge->weight, SHOW(edge->props)) > 0,
        "memory");
  add_line(data, line);
  return WEIR_OK;
}

char *loads_nodes(weir_txn *txn) {
  lines all = {0};
  weir_error err = WEIR_ERROR_INIT;
  check(weir_node_scan(txn, NULL, add_node, &all, &err) == WEIR_OK, err.message);
  return join_sorted(&all);
}

char *loads_edges(weir_txn *txn) {
  lines all = {0};
  weir_error err = WEIR_ERROR_INIT;
  check(weir_edge_scan(txn, NULL, add_edge, &all, &err) == WEIR_OK, err.message);
  return join_sorted(&all);
}

const char *loads_size(weir_graph *graph) {
  static char size[80];
  int64_t nodes, edges;
  weir_error err = WEIR_ERROR_INIT;
  check(weir_node_count(weir_graph_auto(graph), (weir_text){0}, &nodes, &err) == WEIR_OK, err.message);
  check(weir_edge_count(weir_graph_auto(graph), (weir_text){0}, &edges, &err) == WEIR_OK, err.message);
  snprintf(size, sizeof size, "%lld nodes, %lld edges", (long long)nodes, (long long)edges);
  return size;
}

const char *loads_behind(const char *message, const char *name) {
  const char *found = strstr(message, name);
  return found ? found + strlen(name) : message;
}
