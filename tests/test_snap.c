/* SNAP edge lists. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "loads.h"

TestSuite(snap, .timeout = 120);

#define LITERAL(text) (text), sizeof(text) - 1

Test(snap, lines_are_edges) {
  static const struct {
    const char *what, *text;
    size_t len;
    const char *edges;
  } cases[] = {
      {"tabs", LITERAL("1\t2\n2\t3\n"), "1 -edge:0-> 2 1 {}\n2 -edge:0-> 3 1 {}\n"},
      {"spaces", LITERAL("1 2\n2   3\n"), "1 -edge:0-> 2 1 {}\n2 -edge:0-> 3 1 {}\n"},
      {"mixed, around the line too", LITERAL("  1 \t 2\t\n"), "1 -edge:0-> 2 1 {}\n"},
      {"CRLF", LITERAL("1 2\r\n2 3\r\n"), "1 -edge:0-> 2 1 {}\n2 -edge:0-> 3 1 {}\n"},
      {"no line break at the end", LITERAL("1 2"), "1 -edge:0-> 2 1 {}\n"},
      {"comments and empty lines", LITERAL("# a b\n\n1 2\n \t\r\n#\n"), "1 -edge:0-> 2 1 {}\n"},
      {"byte order mark", LITERAL("\xEF\xBB\xBF# a\n1 2\n"), "1 -edge:0-> 2 1 {}\n"},
      {"weights", LITERAL("1 2 0.5\n2 3 -4e2\n"), "1 -edge:0-> 2 0.5 {}\n2 -edge:0-> 3 -400 {}\n"},
      {"keys are text", LITERAL("007 Zoë\n"), "007 -edge:0-> Zoë 1 {}\n"},
      {"a loop, and an edge twice", LITERAL("1 1\n1 1\n"), "1 -edge:0-> 1 1 {}\n"},
      {"empty file", LITERAL(""), ""},
      {"comments only", LITERAL("# nothing\n# here"), ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char path[LOADS_PATH_SIZE];
    weir_error err = WEIR_ERROR_INIT;
    weir_graph *graph = loads_store();
    loads_file(path, "input.txt", cases[i].text, cases[i].len);
    cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), path, NULL, NULL, &err), WEIR_OK), "%s: %s",
              cases[i].what, err.message);
    char *edges = loads_edges(weir_graph_auto(graph));
    LOADS_SAME(edges, cases[i].edges, cases[i].what);
    free(edges);
    loads_close(graph);
  }
}

typedef struct told {
  unsigned count;
  char text[300];
} told;

static void on_bad_row(const weir_bad_row *row, void *data) {
  told *t = data;
  t->count++;
  snprintf(t->text, sizeof t->text, "%llu:%u:%s: %s", (unsigned long long)row->line, row->column,
           row->name ? row->name : "", row->message);
}

Test(snap, bad_lines_are_told_by_line_and_column) {
  char long_key[1100], long_line[20000], key_line[1200];
  memset(long_key, 'k', sizeof long_key);
  memset(long_line, 'l', sizeof long_line);
  long_line[sizeof long_line - 1] = '\0';
  snprintf(key_line, sizeof key_line, "1 %.1025s\n", long_key);
  const struct {
    const char *text;
    size_t len;
    const char *stop, *skip;
  } cases[] = {
      {LITERAL("7\n"), "2: not two or three fields: give source, target and perhaps a weight",
       "2:0:: not two or three fields: give source, target and perhaps a weight"},
      {LITERAL("1 2 3 4\n"), "2: not two or three fields: give source, target and perhaps a weight",
       "2:0:: not two or three fields: give source, target and perhaps a weight"},
      {LITERAL("1 2 x\n"), "2:3 (weight): not a finite number: give one such as 1.5, or nothing for 1",
       "2:3:weight: not a finite number: give one such as 1.5, or nothing for 1"},
      {LITERAL("# c\n\n1 2 inf"), "4:3 (weight): not a finite number: give one such as 1.5, or nothing for 1",
       "4:3:weight: not a finite number: give one such as 1.5, or nothing for 1"},
      {LITERAL("1 \xC0\xAF\n"), "2: the line is not UTF-8 at byte 2",
       "2:0:: the line is not UTF-8 at byte 2"},
      {LITERAL("1 2\0 3\n"), "2: the line holds a NUL at byte 3", "2:0:: the line holds a NUL at byte 3"},
      {LITERAL("\0\n"), "2: the line holds a NUL at byte 0", "2:0:: the line holds a NUL at byte 0"},
      {key_line, strlen(key_line), "2:2 (target): the key is longer than 1024 bytes: shorten it",
       "2:2:target: the key is longer than 1024 bytes: shorten it"},
      {long_line, strlen(long_line), "2: the line is longer than 16 KiB: give two keys and perhaps a weight",
       "2:0:: the line is longer than 16 KiB: give two keys and perhaps a weight"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char path[LOADS_PATH_SIZE], text[40000];
    told t = {0};
    weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
    weir_load_report report = {0};
    weir_error err = WEIR_ERROR_INIT;
    weir_graph *graph = loads_store();
    size_t len = 4;
    memcpy(text, "a b\n", len);
    memcpy(text + len, cases[i].text, cases[i].len);
    len += cases[i].len;
    memcpy(text + len, "\nc d\n", 5);
    loads_file(path, "input.txt", text, len + 5);
    cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), path, &options, NULL, &err), WEIR_INVALID));
    LOADS_SAME(loads_behind(err.message, "input.txt:"), cases[i].stop, "message");
    LOADS_SAME(loads_size(graph), "0 nodes, 0 edges", "size");
    options.bad_rows = WEIR_BAD_ROWS_SKIP;
    options.on_bad_row = on_bad_row;
    options.data = &t;
    cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), path, &options, &report, &err), WEIR_OK), "%s",
              err.message);
    LOADS_SAME(t.text, cases[i].skip, "told");
    cr_assert(eq(uint, t.count, 1));
    cr_assert(eq(u64, report.rows, 3));
    cr_assert(eq(u64, report.bad, 1));
    cr_assert(eq(u64, report.inserted, 2));
    cr_assert(eq(u64, report.created, 4));
    LOADS_SAME(loads_size(graph), "4 nodes, 2 edges", "size");
    loads_close(graph);
  }
}

Test(snap, a_comment_may_be_of_any_length) {
  enum { LENGTH = 300000 };
  char path[LOADS_PATH_SIZE];
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  char *text = malloc(LENGTH);
  cr_assert(ne(ptr, text, NULL));
  memset(text, 'c', LENGTH);
  text[0] = '#';
  memcpy(text + LENGTH - 5, "\n1 2\n", 5);
  loads_file(path, "input.txt", text, LENGTH);
  free(text);
  cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), path, NULL, NULL, &err), WEIR_OK), "%s",
            err.message);
  LOADS_SAME(loads_size(graph), "2 nodes, 1 edges", "size");
  loads_close(graph);
}

Test(snap, label_option_names_the_edges) {
  char path[LOADS_PATH_SIZE];
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  options.label = "follows";
  loads_file(path, "input.txt", LITERAL("1 2\n"));
  cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), path, &options, NULL, &err), WEIR_OK), "%s",
            err.message);
  char *edges = loads_edges(weir_graph_auto(graph));
  LOADS_SAME(edges, "1 -follows:0-> 2 1 {}\n", "contents");
  free(edges);
  loads_close(graph);
}

Test(snap, ego_facebook_has_4039_nodes_and_88234_edges) {
  static const char path[] = WEIR_SOURCE_DIR "/../shared/data/snap/facebook_combined.txt.gz";
  weir_load_report report = {0};
  weir_error err = WEIR_ERROR_INIT;
  if (access(path, F_OK) != 0 && errno == ENOENT && !getenv("CI"))
    cr_skip_test("%s is not there: get it from snap.stanford.edu/data/ego-Facebook.html", path);
  weir_graph *graph = loads_store();
  cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), path, NULL, &report, &err), WEIR_OK), "%s",
            err.message);
  cr_assert(eq(u64, report.rows, 88234));
  cr_assert(eq(u64, report.inserted, 88234));
  cr_assert(eq(u64, report.created, 4039));
  LOADS_SAME(loads_size(graph), "4039 nodes, 88234 edges", "size");
  loads_close(graph);
}
