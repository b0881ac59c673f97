/* Files that can and cannot be loaded, headers, transactions around loads, progress. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "loads.h"
#include "support.h"

TestSuite(load_files, .timeout = 60);

#define LITERAL(text) (text), sizeof(text) - 1

enum { ROWS = 9000 }; /* more than what fits into one buffer of the reader, 128 KiB */

/* "key,n" and `rows` rows. */
static char *many_rows(unsigned rows, size_t *len) {
  char *text;
  FILE *out = open_memstream(&text, len);
  cr_assert(ne(ptr, out, NULL));
  fputs("key,n\n", out);
  for (unsigned i = 0; i < rows; i++)
    fprintf(out, "node%u,\"%u\n\"\n", i, i * 7919 % 1000);
  cr_assert(eq(int, fclose(out), 0));
  return text;
}

Test(load_files, gzip_is_read_as_what_is_in_it) {
  char path[LOADS_PATH_SIZE];
  size_t len;
  char *text = many_rows(ROWS, &len);
  weir_load_report report;
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  loads_gzip_file(path, "nodes.csv", text, len, 0); /* told by its content, not by its name */
  cr_assert(eq(int, weir_load_csv_nodes(weir_graph_auto(graph), path, NULL, &report, &err), WEIR_OK), "%s",
            err.message);
  cr_assert(eq(u64, report.inserted, ROWS));
  loads_file(path, "plain.csv", text, len);
  cr_assert(eq(int, weir_load_csv_nodes(weir_graph_auto(graph), path, NULL, &report, &err), WEIR_OK), "%s",
            err.message);
  cr_assert(eq(u64, report.unchanged, ROWS), "a second load of the same changes nothing");
  cr_assert(eq(u64, report.inserted + report.updated, 0));
  free(text);
  loads_close(graph);
}

Test(load_files, damaged_gzip_is_an_error_and_nothing_is_kept) {
  char path[LOADS_PATH_SIZE];
  size_t len;
  char *text = many_rows(ROWS, &len);
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  options.bad_rows = WEIR_BAD_ROWS_SKIP; /* it is no matter of rows */
  weir_graph *graph = loads_store();
  const size_t cuts[] = {1, 4, 8, 9, 1000};
  for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
    weir_error err = WEIR_ERROR_INIT;
    loads_gzip_file(path, "cut.csv.gz", text, len, cuts[i]);
    cr_assert(eq(int, weir_load_csv_nodes(weir_graph_auto(graph), path, &options, NULL, &err), WEIR_IO),
              "%zu bytes less", cuts[i]);
    cr_assert(ne(ptr, strstr(err.message, "compressed data are cut off"), NULL), "%s", err.message);
  }
  for (long from_end = 1; from_end <= 16; from_end += 5) { /* check sum, length, the data themselves */
    weir_error err = WEIR_ERROR_INIT;
    loads_gzip_file(path, "damaged.csv.gz", text, len, 0);
    FILE *file = fopen(path, "r+b");
    cr_assert(file && fseek(file, -from_end, SEEK_END) == 0);
    int byte = getc(file);
    cr_assert(fseek(file, -from_end, SEEK_END) == 0 && putc(byte ^ 0x55, file) != EOF && fclose(file) == 0);
    cr_assert(eq(int, weir_load_csv_nodes(weir_graph_auto(graph), path, &options, NULL, &err), WEIR_IO),
              "byte %ld from the end", from_end);
    cr_assert(ne(ptr, strstr(err.message, "compressed data are"), NULL), "%s", err.message);
  }
  LOADS_SAME(loads_size(graph), "0 nodes, 0 edges", "size");
  free(text);
  loads_close(graph);
}

Test(load_files, what_is_no_readable_file_is_refused) {
  char path[LOADS_PATH_SIZE];
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  weir_txn *txn = weir_graph_auto(graph);
  weir_test_path(path, sizeof path, "nothing.csv");
  cr_assert(eq(int, weir_load_csv_nodes(txn, path, NULL, NULL, &err), WEIR_NOT_FOUND));
  cr_assert(ne(ptr, strstr(err.message, "nothing.csv: cannot open: No such file"), NULL), "%s", err.message);
  cr_assert(eq(int, weir_load_csv_nodes(txn, weir_test_dir(), NULL, NULL, &err), WEIR_INVALID));
  cr_assert(ne(ptr, strstr(err.message, "is a directory: give a file"), NULL), "%s", err.message);
  cr_assert(eq(int, weir_load_csv_nodes(txn, "", NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_load_csv_nodes(txn, NULL, NULL, NULL, &err), WEIR_INVALID));
  cr_assert(eq(int, weir_load_csv_nodes(NULL, path, NULL, NULL, &err), WEIR_INVALID));
  loads_close(graph);
}

Test(load_files, the_store_itself_is_not_opened_as_a_file_to_load) {
  char store[LOADS_PATH_SIZE], other[LOADS_PATH_SIZE];
  static const char *const suffixes[] = {"", "-wal", "-shm"};
  weir_graph *graph;
  weir_error err = WEIR_ERROR_INIT;
  weir_test_path(store, sizeof store, "store.weir");
  cr_assert(eq(int, weir_graph_open(&graph, store, NULL, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(int, weir_node_put(weir_graph_auto(graph), &WEIR_NODE("a", "l", "{}"), NULL, &err), WEIR_OK));
  for (size_t i = 0; i < 3; i++) {
    snprintf(other, sizeof other, "%s%s", store, suffixes[i]);
    cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), other, NULL, NULL, &err), WEIR_INVALID));
    cr_assert(ne(ptr, strstr(err.message, "is the store itself"), NULL), "%s", err.message);
  }
  weir_test_path(other, sizeof other, "link.csv");
  cr_assert(eq(int, symlink(store, other), 0));
  cr_assert(eq(int, weir_load_snap(weir_graph_auto(graph), other, NULL, NULL, &err), WEIR_INVALID));
  loads_close(graph);
}

Test(load_files, headers_must_name_what_is_needed_once) {
  static const struct {
    const char *text;
    size_t len;
    const char *message;
  } cases[] = {
      {LITERAL(""), "1: no header: the first row must name the columns"},
      {LITERAL("\xEF\xBB\xBF\r\n\r\n"), "1: no header: the first row must name the columns"},
      {LITERAL("id,name\nx,1\n"), "1: no column \"key\": set key_column to one of id name"},
      {LITERAL("\n\nid\nx\n"), "3: no column \"key\": set key_column to one of id"},
      {LITERAL("Key,n\nx,1\n"), "1: no column \"key\": set key_column to one of Key n"},
      {LITERAL("key,n,m,n\nx,1,2,3\n"), "1:4: a second column named \"n\": rename one"},
      {LITERAL("key,n\xFF\nx,1\n"), "1:2: the name is not UTF-8 at byte 1"},
      {LITERAL("key,n\0\nx,1\n"), "1:2: the name holds a NUL at byte 1"},
      {LITERAL("key,n\"\nx,1\n"),
       "1:2: a quote in a field without quotes: enclose the field in quotes and double it"},
      {LITERAL("key,\"n\nx,1\n"), "1:2: the quote at the beginning of the field is never closed: close it"},
  };
  weir_graph *graph = loads_store();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int skip = 0; skip < 2; skip++) {
      char path[LOADS_PATH_SIZE];
      weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
      weir_error err = WEIR_ERROR_INIT;
      options.bad_rows = skip ? WEIR_BAD_ROWS_SKIP : WEIR_BAD_ROWS_STOP;
      loads_file(path, "input.csv", cases[i].text, cases[i].len);
      cr_assert(
          eq(int, weir_load_csv_nodes(weir_graph_auto(graph), path, &options, NULL, &err), WEIR_INVALID));
      LOADS_SAME(loads_behind(err.message, "input.csv:"), cases[i].message, "message");
    }
  }
  LOADS_SAME(loads_size(graph), "0 nodes, 0 edges", "size");
  loads_close(graph);
}

Test(load_files, options_that_make_no_sense_are_refused) {
  char path[LOADS_PATH_SIZE];
  weir_graph *graph = loads_store();
  loads_file(path, "input.csv", LITERAL("key,n\nx,1\n"));
  for (int i = 0; i < 9; i++) {
    weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
    weir_error err = WEIR_ERROR_INIT;
    switch (i) {
    case 0:
      options.size = 0;
      break;
    case 1:
      options.bad_rows = 9;
      break;
    case 2:
      options.label = "";
      break;
    case 3:
      options.label = "\xFF";
      break;
    case 4:
      options.delimiter = '"';
      break;
    case 5:
      options.delimiter = '\n';
      break;
    case 6:
      options.quote = '\xE4';
      break;
    case 7:
      options.label_column = "kind";
      break; /* named, but not there */
    default:
      options.label_column = "key";
      options.key_column = "key";
      break;
    }
    cr_assert(eq(int, weir_load_csv_nodes(weir_graph_auto(graph), path, &options, NULL, &err), WEIR_INVALID),
              "case %d", i);
    cr_assert(ne(int, err.message[0], 0), "case %d", i);
  }
  LOADS_SAME(loads_size(graph), "0 nodes, 0 edges", "size");
  loads_close(graph);
}
