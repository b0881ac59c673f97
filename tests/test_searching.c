/* The C of docs/search.md, compiled and run. What marks a snippet is in examples/memory.c. */
#include "graph_fixture.h"

#include <weir/search.h>

#include "printed.h"

static int make_notes(weir_txn *txn, weir_error *error) {
  const weir_text labels[] = {WEIR_TEXT("note")};
  const weir_text_field fields[] = {{WEIR_TEXT("title"), 3.0}, {WEIR_TEXT("body"), 0}};
  const weir_text_index index = {
      .name = WEIR_TEXT("notes"), .labels = labels, .label_count = 1, .fields = fields, .field_count = 2};
  return weir_text_index_create(txn, &index, NULL, error);
}

static int print_hit(const weir_hit *hit, void *data, weir_error *error) {
  (void)data;
  (void)error;
  printf("%s: %s\n", hit->node.key.ptr, hit->snippet.ptr);
  return WEIR_OK;
}

static int search_notes(weir_txn *txn, const char *query, weir_error *error) {
  size_t wrong_at = SIZE_MAX;
  weir_search search = WEIR_SEARCH_INIT;
  search.index = weir_str("notes");
  search.query = weir_str(query);
  search.limit = 10;
  search.snippet_tokens = 16;
  search.error_at = &wrong_at;
  int rc = weir_node_search(txn, &search, print_hit, NULL, error);
  if (rc == WEIR_INVALID && wrong_at != SIZE_MAX) /* it is the query that is wrong */
    printf("%s\n%*s^\n%s\n", query, (int)wrong_at, "", error->message);
  return rc;
}

/* ---- It does what the page says --------------------------------------------------------------------------
 */

GRAPH_TEST(searching, page_says_what_is_so) {
  OK(make_notes(txn, &err));
  OK(weir_node_put(txn,
                   &WEIR_NODE("n1", "note", "{\"title\":\"Stores\",\"body\":\"A graph store on SQLite\"}"),
                   NULL, &err));
  OK(weir_node_put(txn, &WEIR_NODE("n2", "note", "{\"body\":\"The draft of a graph store\"}"), NULL, &err));
  OK(search_notes(txn, "\"graph store\" OR sqlite* -draft", &err));
  SAME_STRING(printed(), "n1: A graph store on SQLite\nn2: The draft of a graph store\n");
  FAILS(search_notes(txn, "graph OR", &err), WEIR_INVALID, "byte");
  SAME_STRING(printed(), "graph OR\n      ^\nthe query is wrong at byte 6: there is no word behind OR\n");
}

GRAPH_TEST(searching, error_at_is_left_alone_unless_the_query_is_wrong) {
  size_t wrong_at = 77;
  weir_search search = WEIR_SEARCH_INIT;
  search.index = weir_str("notes");
  search.query = weir_str("graph");
  search.error_at = &wrong_at;
  FAILS(weir_node_search(txn, &search, print_hit, NULL, &err), WEIR_NOT_FOUND, "notes");
  OK(make_notes(txn, &err));
  OK(weir_node_search(txn, &search, print_hit, NULL, &err));
  cr_assert(eq(sz, wrong_at, 77));
  search.query = weir_str("(graph");
  FAILS(weir_node_search(txn, &search, print_hit, NULL, &err), WEIR_INVALID, "byte");
  cr_assert(ne(sz, wrong_at, 77));
}
