/* Rows that cannot be loaded: what is said of them, and that they leave no trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "loads.h"

TestSuite(bad_rows, .timeout = 240);

#define LITERAL(text) (text), sizeof(text) - 1

static const char node_a[] = "a [] {}\n";

/* A file of edges, or of nodes, in which one row is bad. */
typedef struct example {
  int edges; /* into a store that has the node "a" */
  const char *text;
  size_t len;
  const char *stop; /* the message behind "input.csv:" when the load stops */
  const char *skip; /* what on_bad_row is told: LINE:COLUMN:NAME: MESSAGE; NULL: fatal all the same */
  const char *kept; /* nodes or edges, when the row is skipped */
} example;

static const example examples[] = {
    {0, LITERAL("key,n\nx,1\ny,2,3\nz,4\n"), "3: the row has 3 fields, the header has 2: give as many",
     "3:0:: the row has 3 fields, the header has 2: give as many",
     "a [] {}\nx [] {\"n\":1}\nz [] {\"n\":4}\n"},
    {0, LITERAL("key,n\nx\n"), "2: the row has 1 fields, the header has 2: give as many",
     "2:0:: the row has 1 fields, the header has 2: give as many", node_a},
    {0, LITERAL("n,key\n1,x\n2,\n3,z\n"), "3:2 (key): the key is empty: give 1 to 1024 bytes",
     "3:2:key: the key is empty: give 1 to 1024 bytes", "a [] {}\nx [] {\"n\":1}\nz [] {\"n\":3}\n"},
    {0, LITERAL("key,n\n\"\",1\n"), "2:1 (key): the key is empty: give 1 to 1024 bytes",
     "2:1:key: the key is empty: give 1 to 1024 bytes", node_a},
    /* Lines are counted through quoted line breaks, empty lines and CRLF; a row is where it begins. */
    {0, LITERAL("key,n\r\nx,\"1\r\n2\n3\r4\"\r\n\r\n\n,\"\n\"\nz,5\n"),
     "8:1 (key): the key is empty: give 1 to 1024 bytes", "8:1:key: the key is empty: give 1 to 1024 bytes",
     "a [] {}\nx [] {\"n\":\"1\\r\\n2\\n3\\r4\"}\nz [] {\"n\":5}\n"},
    {0, LITERAL("key,n\nx,a\xFFz\n"), "2:2 (n): the field is not UTF-8 at byte 1",
     "2:2:n: the field is not UTF-8 at byte 1", node_a},
    {0, LITERAL("key,n\nx,\xED\xA0\x80\n"), "2:2 (n): the field is not UTF-8 at byte 0",
     "2:2:n: the field is not UTF-8 at byte 0", node_a},
    {0, LITERAL("key,n\nx\0y,1\n"), "2:1 (key): the key holds a NUL at byte 1",
     "2:1:key: the key holds a NUL at byte 1", node_a},
    {0, LITERAL("key,n\nx,\0\n"), "2:2 (n): the field holds a NUL at byte 0",
     "2:2:n: the field holds a NUL at byte 0", node_a},
    /* What RFC 4180 does not allow: the rest of the line is passed over. */
    {0, LITERAL("key,n\nx,1\ny,a\"b\nz,3\n"),
     "3:2 (n): a quote in a field without quotes: enclose the field in quotes and double it",
     "3:2:n: a quote in a field without quotes: enclose the field in quotes and double it",
     "a [] {}\nx [] {\"n\":1}\nz [] {\"n\":3}\n"},
    {0, LITERAL("key,n\r\nx,1\r\n\"y\"!,\"2\"\r\nz,3\r\n"),
     "3:1 (key): text behind the closing quote: double a quote that belongs to the field",
     "3:1:key: text behind the closing quote: double a quote that belongs to the field",
     "a [] {}\nx [] {\"n\":1}\nz [] {\"n\":3}\n"},
    {0, LITERAL("key,n\n\"y\" ,2\nz,3"),
     "2:1 (key): text behind the closing quote: double a quote that belongs to the field",
     "2:1:key: text behind the closing quote: double a quote that belongs to the field",
     "a [] {}\nz [] {\"n\":3}\n"},
    {0, LITERAL("key,n\nx,\"1\ny,2\nz,3\n"),
     "2:2 (n): the quote at the beginning of the field is never closed: close it", NULL, node_a},
    {1, LITERAL("src,dst,weight\na,a,1\na,a,heavy\n"),
     "3:3 (weight): \"heavy\" is not a finite number: give one such as 1.5, or nothing for 1",
     "3:3:weight: \"heavy\" is not a finite number: give one such as 1.5, or nothing for 1",
     "a -edge:0-> a 1 {}\n"},
    {1, LITERAL("src,dst,weight\na,a,1e999\n"),
     "2:3 (weight): \"1e999\" is not a finite number: give one such as 1.5, or nothing for 1",
     "2:3:weight: \"1e999\" is not a finite number: give one such as 1.5, or nothing for 1", ""},
    {1, LITERAL("src,dst,weight\na,a,nan\n"),
     "2:3 (weight): \"nan\" is not a finite number: give one such as 1.5, or nothing for 1",
     "2:3:weight: \"nan\" is not a finite number: give one such as 1.5, or nothing for 1", ""},
    {1, LITERAL("src,dst,rank\na,a,1.5\n"),
     "2:3 (rank): \"1.5\" is not an integer of 64 bits: give one, or nothing for 0",
     "2:3:rank: \"1.5\" is not an integer of 64 bits: give one, or nothing for 0", ""},
    {1, LITERAL("src,dst,rank\na,a,9223372036854775808\n"),
     "2:3 (rank): \"9223372036854775808\" is not an integer of 64 bits: give one, or nothing for 0",
     "2:3:rank: \"9223372036854775808\" is not an integer of 64 bits: give one, or nothing for 0", ""},
    {1, LITERAL("src,dst\na,b\na,a\n"), "2:2 (dst): \"b\" is no node: load it first, or set create_endpoints",
     "2:2:dst: \"b\" is no node: load it first, or set create_endpoints", "a -edge:0-> a 1 {}\n"},
    {1, LITERAL("src,dst\nb,a\n"), "2:1 (src): \"b\" is no node: load it first, or set create_endpoints",
     "2:1:src: \"b\" is no node: load it first, or set create_endpoints", ""},
    {1, LITERAL("src,dst\n,a\n"), "2:1 (src): the source's key is empty: give 1 to 1024 bytes",
     "2:1:src: the source's key is empty: give 1 to 1024 bytes", ""},
};

enum { EXAMPLES = sizeof examples / sizeof examples[0] };

static int load(const example *e, weir_graph *graph, const weir_load_options *options,
                weir_load_report *report, weir_error *err) {
  char path[LOADS_PATH_SIZE];
  loads_file(path, "input.csv", e->text, e->len);
  return (e->edges ? weir_load_csv_edges : weir_load_csv_nodes)(weir_graph_auto(graph), path, options, report,
                                                                err);
}

static weir_graph *store_with_a(void) {
  weir_graph *graph = loads_store();
  weir_error err = WEIR_ERROR_INIT;
  cr_assert(eq(int, weir_node_put(weir_graph_auto(graph), &WEIR_NODE("a", NULL, NULL), NULL, &err), WEIR_OK),
            "%s", err.message);
  return graph;
}

static void check_contents(weir_graph *graph, const example *e, const char *nodes_or_edges) {
  char *nodes = loads_nodes(weir_graph_auto(graph));
  char *edges = loads_edges(weir_graph_auto(graph));
  LOADS_SAME(nodes, e->edges ? node_a : nodes_or_edges, e->text);
  LOADS_SAME(edges, e->edges ? nodes_or_edges : "", e->text);
  free(nodes);
  free(edges);
}

Test(bad_rows, the_first_ends_the_load_and_nothing_is_kept) {
  for (size_t i = 0; i < EXAMPLES; i++) {
    const example *e = &examples[i];
    weir_graph *graph = store_with_a();
    weir_load_report report = {.rows = 77};
    weir_error err = WEIR_ERROR_INIT;
    cr_assert(eq(int, load(e, graph, NULL, &report, &err), WEIR_INVALID), "%s", e->text);
    LOADS_SAME(loads_behind(err.message, "input.csv:"), e->stop, "message");
    cr_assert(eq(u64, report.rows, 77), "the report is left alone");
    check_contents(graph, e, e->edges ? "" : node_a);
    loads_close(graph);
  }
}

typedef struct told {
  unsigned count;
  char text[300]; /* of the last */
} told;

static void on_bad_row(const weir_bad_row *row, void *data) {
  told *t = data;
  t->count++;
  snprintf(t->text, sizeof t->text, "%llu:%u:%s: %s", (unsigned long long)row->line, row->column,
           row->name ? row->name : "", row->message);
}

Test(bad_rows, skipped_ones_are_told_counted_and_leave_no_trace) {
  for (size_t i = 0; i < EXAMPLES; i++) {
    const example *e = &examples[i];
    weir_graph *graph = store_with_a();
    told t = {0};
    weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
    weir_load_report report = {0};
    weir_error err = WEIR_ERROR_INIT;
    options.bad_rows = WEIR_BAD_ROWS_SKIP;
    options.on_bad_row = on_bad_row;
    options.data = &t;
    int rc = load(e, graph, &options, &report, &err);
    if (e->skip) {
      cr_assert(eq(int, rc, WEIR_OK), "%s: %s", e->text, err.message);
      LOADS_SAME(t.text, e->skip, "told");
      cr_assert(eq(uint, t.count, 1));
      cr_assert(eq(u64, report.bad, 1));
      cr_assert(eq(u64, report.rows, report.inserted + 1));
      check_contents(graph, e, e->kept);
    } else {
      cr_assert(eq(int, rc, WEIR_INVALID), "%s", e->text);
      LOADS_SAME(loads_behind(err.message, "input.csv:"), e->stop, "message");
      cr_assert(eq(uint, t.count, 0));
      check_contents(graph, e, e->edges ? "" : node_a);
    }
    loads_close(graph);
  }
}

Test(bad_rows, one_with_an_endpoint_to_create_creates_none) {
  static const example e = {1, LITERAL("src,dst,weight\na,b,1\nc,d,x\ne,a,\n"), NULL, NULL, NULL};
  weir_graph *graph = store_with_a();
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  weir_load_report report = {0};
  weir_error err = WEIR_ERROR_INIT;
  options.bad_rows = WEIR_BAD_ROWS_SKIP;
  options.create_endpoints = 1;
  cr_assert(eq(int, load(&e, graph, &options, &report, &err), WEIR_OK), "%s", err.message);
  char *nodes = loads_nodes(weir_graph_auto(graph));
  LOADS_SAME(nodes, "a [] {}\nb [] {}\ne [] {}\n", "contents");
  cr_assert(eq(u64, report.rows, 3));
  cr_assert(eq(u64, report.inserted, 2));
  cr_assert(eq(u64, report.created, 2));
  cr_assert(eq(u64, report.bad, 1));
  free(nodes);
  loads_close(graph);
}

Test(bad_rows, lines_are_counted_through_a_fault) {
  /* The row of line 2 is left at line 3, in the middle of its last field, which goes on to line 4. */
  static const example e = {0, LITERAL("key,n\nx,\"1\n2\"z,\"3\n4\",5\n,6\ny,7\n"), NULL, NULL, NULL};
  weir_graph *graph = loads_store();
  told t = {0};
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  weir_load_report report = {0};
  weir_error err = WEIR_ERROR_INIT;
  options.bad_rows = WEIR_BAD_ROWS_SKIP;
  options.on_bad_row = on_bad_row;
  options.data = &t;
  cr_assert(eq(int, load(&e, graph, &options, &report, &err), WEIR_OK), "%s", err.message);
  cr_assert(eq(uint, t.count, 3));
  LOADS_SAME(t.text, "5:1:key: the key is empty: give 1 to 1024 bytes", "the last bad row");
  cr_assert(eq(u64, report.inserted, 1));
  loads_close(graph);
}

/* A file "key,n", a row whose fields after the first are `size` bytes of 'x' each, and a good row. */
static char *large(size_t size, unsigned fields, int close_quote, size_t *len) {
  char *text;
  char *value = malloc(size);
  FILE *out = open_memstream(&text, len);
  cr_assert(value != NULL && out != NULL);
  memset(value, 'x', size);
  fputs("key,n\ny", out);
  for (unsigned i = 0; i < fields; i++) {
    fputs(i > 0 ? "\",\"" : ",\"", out);
    cr_assert(eq(sz, fwrite(value, 1, size, out), size));
  }
  fputs(close_quote ? "\"\nz,1\n" : "\nz,1\n", out);
  free(value);
  cr_assert(eq(int, fclose(out), 0));
  return text;
}

Test(bad_rows, a_field_or_row_beyond_16_mib_is_refused) {
  const struct {
    size_t size;
    unsigned fields;
    int close_quote, rc;
    const char *message;
  } cases[] = {
      {(1 << 24) - 64, 1, 1, WEIR_OK, ""},
      {(1 << 24) + 64, 1, 0, WEIR_INVALID,
       "2:2 (n): the field is larger than 16 MiB: is the quote at its beginning closed?"},
      {1 << 23, 2, 1, WEIR_INVALID, "2: the row is larger than 16 MiB: shorten it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_graph *graph = store_with_a();
    weir_error err = WEIR_ERROR_INIT;
    size_t len;
    char *text = large(cases[i].size, cases[i].fields, cases[i].close_quote, &len);
    const example e = {.text = text, .len = len};
    cr_assert(eq(int, load(&e, graph, NULL, NULL, &err), cases[i].rc), "case %zu: %s", i, err.message);
    if (cases[i].rc != WEIR_OK)
      LOADS_SAME(loads_behind(err.message, "input.csv:"), cases[i].message, "message");
    free(text);
    loads_close(graph);
  }
}

Test(bad_rows, keys_and_labels_have_their_limits) {
  char text[3000], key[1100], label[300];
  memset(key, 'k', sizeof key);
  memset(label, 'l', sizeof label);
  const struct {
    int key, label, rc;
    const char *message;
  } cases[] = {
      {WEIR_KEY_MAX, WEIR_LABEL_MAX, WEIR_OK, ""},
      {WEIR_KEY_MAX + 1, 1, WEIR_INVALID, "2:1 (key): the key has 1025 bytes: give at most 1024"},
      {1, WEIR_LABEL_MAX + 1, WEIR_INVALID, "2:2 (label): the label is longer than 255 bytes: shorten it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_graph *graph = store_with_a();
    weir_error err = WEIR_ERROR_INIT;
    int len = snprintf(text, sizeof text, "key,label\n%.*s,%.*s\n", cases[i].key, key, cases[i].label, label);
    const example e = {.text = text, .len = (size_t)len};
    cr_assert(eq(int, load(&e, graph, NULL, NULL, &err), cases[i].rc), "case %zu: %s", i, err.message);
    if (cases[i].rc != WEIR_OK)
      LOADS_SAME(loads_behind(err.message, "input.csv:"), cases[i].message, "message");
    loads_close(graph);
  }
}
