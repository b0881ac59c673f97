/* CSV as RFC 4180 has it, and what becomes of fields: keys, labels, weights, ranks, JSON values. */
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "loads.h"

TestSuite(csv, .timeout = 60);

/* A file and what a load makes of it. A text given by LITERAL may hold NUL. */
typedef struct example {
  const char *what;
  const char *text;
  size_t len;
  const char *expected;
} example;

#define LITERAL(text) (text), sizeof(text) - 1

typedef int (*load_fn)(weir_txn *txn, const char *path, const weir_load_options *options,
                       weir_load_report *report, weir_error *err);

/* Loads one text into a new store and compares the dump. */
static void check_load(const example *e, load_fn load, const weir_load_options *options,
                       char *(*dump)(weir_txn *txn)) {
  char path[LOADS_PATH_SIZE];
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = loads_store();
  loads_file(path, "input.csv", e->text, e->len);
  cr_assert(eq(int, load(weir_graph_auto(graph), path, options, NULL, &err), WEIR_OK), "%s: %s", e->what,
            err.message);
  char *found = dump(weir_graph_auto(graph));
  LOADS_SAME(found, e->expected, e->what);
  free(found);
  loads_close(graph);
}

Test(csv, text_is_split_as_rfc_4180_says) {
  static const example examples[] = {
      {"plain", LITERAL("key,a\nx,one\ny,two\n"), "x [] {\"a\":\"one\"}\ny [] {\"a\":\"two\"}\n"},
      {"no line break at the end", LITERAL("key,a\nx,one"), "x [] {\"a\":\"one\"}\n"},
      {"CRLF", LITERAL("key,a\r\nx,one\r\ny,two\r\n"), "x [] {\"a\":\"one\"}\ny [] {\"a\":\"two\"}\n"},
      {"CR alone", LITERAL("key,a\rx,one\ry,two\r"), "x [] {\"a\":\"one\"}\ny [] {\"a\":\"two\"}\n"},
      {"byte order mark", LITERAL("\xEF\xBB\xBFkey,a\nx,one\n"), "x [] {\"a\":\"one\"}\n"},
      {"byte order mark and quotes", LITERAL("\xEF\xBB\xBF\"key\",a\nx,one\n"), "x [] {\"a\":\"one\"}\n"},
      {"header only", LITERAL("key,a\n"), ""},
      {"header only, no line break", LITERAL("key,a"), ""},
      {"one column", LITERAL("key\nx\ny\n"), "x [] {}\ny [] {}\n"},
      {"quoted", LITERAL("\"key\",\"a\"\n\"x\",\"one\"\n"), "x [] {\"a\":\"one\"}\n"},
      {"delimiter in quotes", LITERAL("key,a\nx,\"one, two\"\n"), "x [] {\"a\":\"one, two\"}\n"},
      {"doubled quotes", LITERAL("key,a\nx,\"say \"\"hi\"\"\"\n"), "x [] {\"a\":\"say \\\"hi\\\"\"}\n"},
      {"nothing but a doubled quote", LITERAL("key,a\nx,\"\"\"\"\n"), "x [] {\"a\":\"\\\"\"}\n"},
      {"line break in quotes", LITERAL("key,a\nx,\"one\ntwo\"\ny,3\n"),
       "x [] {\"a\":\"one\\ntwo\"}\ny [] {\"a\":3}\n"},
      {"CRLF in quotes", LITERAL("key,a\r\nx,\"one\r\ntwo\"\r\n"), "x [] {\"a\":\"one\\r\\ntwo\"}\n"},
      {"line break in a name", LITERAL("key,\"a\nb\"\nx,1\n"), "x [] {\"a\\nb\":1}\n"},
      {"empty lines", LITERAL("\n\nkey,a\n\nx,one\n\r\n\ny,two\n\n"),
       "x [] {\"a\":\"one\"}\ny [] {\"a\":\"two\"}\n"},
      {"spaces belong to the field", LITERAL("key,a\nx, one \n y,2\n"),
       " y [] {\"a\":2}\nx [] {\"a\":\" one \"}\n"},
      {"tabs belong to the field", LITERAL("key,a\nx,\tone\t\n"), "x [] {\"a\":\"\\tone\\t\"}\n"},
      {"empty, unquoted: left out", LITERAL("key,a,b\nx,,1\ny,2,\n"), "x [] {\"b\":1}\ny [] {\"a\":2}\n"},
      {"empty, quoted: the empty string", LITERAL("key,a\nx,\"\"\n"), "x [] {\"a\":\"\"}\n"},
      {"key in the middle", LITERAL("a,key,b\n1,x,2\n"), "x [] {\"a\":1,\"b\":2}\n"},
      {"a column without a name", LITERAL(",key\n0,x\n"), "x [] {\"\":0}\n"},
      {"not only ASCII", LITERAL("key,größe\nZürich,\"ñ € 😀\"\n"), "Zürich [] {\"größe\":\"ñ € 😀\"}\n"},
      {"control characters", LITERAL("key,a\nx,\x01\x1F\x7F\\\n"),
       "x [] {\"a\":\"\\u0001\\u001f\x7F\\\\\"}\n"},
  };
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
    check_load(&examples[i], weir_load_csv_nodes, NULL, loads_nodes);
}

Test(csv, spelling_alone_makes_numbers_and_booleans) {
  static const struct {
    const char *field, *json;
  } values[] = {
      {"0", "0"},
      {"-0", "-0"},
      {"42", "42"},
      {"-17", "-17"},
      {"\"42\"", "42"}, /* RFC 4180: quotes are no part of the value */
      {"9223372036854775807", "9223372036854775807"},
      {"9223372036854775808", "\"9223372036854775808\""},
      {"-9223372036854775808", "-9223372036854775808"},
      {"-9223372036854775809", "\"-9223372036854775809\""},
      {"123456789012345678901234567890", "\"123456789012345678901234567890\""},
      {"1.50", "1.50"},
      {"31.95376472", "31.95376472"},
      {"123456789012345678901234567890.5", "123456789012345678901234567890.5"},
      {"-0.5e-3", "-0.5e-3"},
      {"1E5", "1E5"},
      {"1e308", "1e308"},
      {"1e309", "\"1e309\""},
      {"-1e999", "\"-1e999\""},
      {"1e-999", "1e-999"},
      {"00123", "\"00123\""},
      {"-01", "\"-01\""},
      {"+1", "\"+1\""},
      {".5", "\".5\""},
      {"5.", "\"5.\""},
      {"1e", "\"1e\""},
      {"1e+", "\"1e+\""},
      {"-", "\"-\""},
      {"1 ", "\"1 \""},
      {" 1", "\" 1\""},
      {"1-2", "\"1-2\""},
      {"1.2.3", "\"1.2.3\""},
      {"0x10", "\"0x10\""},
      {"NaN", "\"NaN\""},
      {"inf", "\"inf\""},
      {"true", "true"},
      {"false", "false"},
      {"True", "\"True\""},
      {"TRUE", "\"TRUE\""},
      {"truer", "\"truer\""},
      {"null", "\"null\""},
      {"2024-01-31", "\"2024-01-31\""},
      {"{}", "\"{}\""},
  };
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    char text[200], expected[200];
    int len = snprintf(text, sizeof text, "key,a\nx,%s\n", values[i].field);
    snprintf(expected, sizeof expected, "x [] {\"a\":%s}\n", values[i].json);
    const example e = {values[i].field, text, (size_t)len, expected};
    check_load(&e, weir_load_csv_nodes, NULL, loads_nodes);
  }
}

Test(csv, labels_come_from_the_column_or_the_option) {
  static const example examples[] = {
      {"one", LITERAL("key,label\nx,city\n"), "x [city] {}\n"},
      {"several", LITERAL("key,label\nx,city;port;city\n"), "x [city;port] {}\n"},
      {"empty parts", LITERAL("key,label\nx,;city;;port;\n"), "x [city;port] {}\n"},
      {"none brought", LITERAL("key,label\nx,\ny,\"\"\nz,;\n"), "x [place] {}\ny [place] {}\nz [place] {}\n"},
      {"no column", LITERAL("key\nx\n"), "x [place] {}\n"},
  };
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  options.label = "place";
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
    check_load(&examples[i], weir_load_csv_nodes, &options, loads_nodes);
}

Test(csv, edges_have_label_weight_rank_and_props) {
  static const example examples[] = {
      {"least", LITERAL("src,dst\nx,y\n"), "x -edge:0-> y 1 {}\n"},
      {"all", LITERAL("rank,weight,label,dst,src,since\n7,2.5,knows,y,x,1999\n"),
       "x -knows:7-> y 2.5 {\"since\":1999}\n"},
      {"left out", LITERAL("src,dst,label,weight,rank\nx,y,,,\n"), "x -edge:0-> y 1 {}\n"},
      {"quoted and empty", LITERAL("src,dst,label,weight,rank\nx,y,\"\",\"\",\"\"\n"),
       "x -edge:0-> y 1 {}\n"},
      {"numbers as people write them", LITERAL("src,dst,weight,rank\nx,y,+.5,-3\nx,z,1e3,+007\n"),
       "x -edge:-3-> y 0.5 {}\nx -edge:7-> z 1000 {}\n"},
      {"parallel", LITERAL("src,dst,rank\nx,y,0\nx,y,1\n"), "x -edge:0-> y 1 {}\nx -edge:1-> y 1 {}\n"},
      {"one twice: the last holds", LITERAL("src,dst,weight\nx,y,1\nx,y,2\n"), "x -edge:0-> y 2 {}\n"},
      {"label with a semicolon", LITERAL("src,dst,label\nx,y,a;b\n"), "x -a;b:0-> y 1 {}\n"},
  };
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  options.create_endpoints = 1;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
    check_load(&examples[i], weir_load_csv_edges, &options, loads_edges);
}

Test(csv, options_name_columns_delimiter_and_quote) {
  static const example nodes = {"nodes", LITERAL("key;id;label;kind\n'1;2';x;l;'it''s'\n"),
                                "x [it's] {\"key\":\"1;2\",\"label\":\"l\"}\n"};
  static const example edges = {"edges", LITERAL("from\tto\tkm\tno\tas\tweight\nx\ty\t3\t4\tl\t5\n"),
                                "x -l:4-> y 3 {\"weight\":5}\n"};
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  options.key_column = "id";
  options.label_column = "kind";
  options.delimiter = ';';
  options.quote = '\'';
  check_load(&nodes, weir_load_csv_nodes, &options, loads_nodes);
  options = (weir_load_options)WEIR_LOAD_OPTIONS_INIT;
  options.src_column = "from";
  options.dst_column = "to";
  options.weight_column = "km";
  options.rank_column = "no";
  options.label_column = "as";
  options.delimiter = '\t';
  options.create_endpoints = 1;
  check_load(&edges, weir_load_csv_edges, &options, loads_edges);
}

Test(csv, a_column_named_for_one_purpose_is_not_taken_for_another) {
  static const example nodes = {"the default name of labels", LITERAL("label,a\nx,1\n"), "x [] {\"a\":1}\n"};
  weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
  options.key_column = "label";
  check_load(&nodes, weir_load_csv_nodes, &options, loads_nodes);
}
