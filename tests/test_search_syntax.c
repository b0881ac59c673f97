/* Queries that are wrong: what is said of them, and at which byte. Queries that are meant to do harm. */
#include "searches.h"

static void put_base(weir_txn *txn) {
  put_text(txn, "a", NULL, "graph store");
  make_index(txn, NULL, WEIR_WORDS);
}

GRAPH_TEST(search_syntax, empty_queries_are_refused) {
  put_base(txn);
  WRONG(txn, "", 0, "it is empty");
  WRONG(txn, NULL, 0, "it is empty");
  WRONG(txn, " \t\xE3\x80\x80 ", 0, "it is empty");
  WRONG(txn, "!", 0, "no word in the query");
  WRONG(txn, "? -- \"...\" &", 0, "no word in the query");
  WRONG(txn, "\"\"", 0, "no word in the query");
}

GRAPH_TEST(search_syntax, quotes_and_groups_have_to_be_closed) {
  put_base(txn);
  WRONG(txn, "graph \"store", 6, "a quote that is not closed");
  WRONG(txn, "\"", 0, "a quote that is not closed");
  WRONG(txn, "\"graph\"\"", 0, "a quote that is not closed");
  WRONG(txn, "graph (store", 6, "a ( that is not closed");
  WRONG(txn, "(graph (store)", 0, "a ( that is not closed");
  WRONG(txn, "graph) store", 5, "a ) without a (");
  WRONG(txn, "(graph))", 7, "a ) without a (");
  WRONG(txn, ")", 0, "a ) without a (");
  WRONG(txn, "graph ()", 6, "no word in the group");
  WRONG(txn, "graph (!)", 6, "no word in the group");
}

GRAPH_TEST(search_syntax, operators_have_two_sides) {
  put_base(txn);
  WRONG(txn, "OR graph", 0, "no word before OR");
  WRONG(txn, "graph OR", 6, "no word behind OR");
  WRONG(txn, "graph OR OR store", 6, "no word behind OR");
  WRONG(txn, "(graph OR) store", 7, "no word behind OR");
  WRONG(txn, "graph OR !", 6, "no word behind OR");
  WRONG(txn, "! OR graph", 2, "no word before OR");
  WRONG(txn, "AND graph", 0, "nothing before AND");
  WRONG(txn, "graph AND", 6, "nothing behind AND");
  WRONG(txn, "graph AND OR store", 6, "nothing behind AND");
  WRONG(txn, "graph AND AND store", 6, "nothing behind AND");
  WRONG(txn, "NOT graph", 0, "nothing before NOT");
  WRONG(txn, "graph NOT", 6, "nothing to take away");
  WRONG(txn, "graph NOT OR store", 6, "nothing to take away");
  WRONG(txn, "graph NOT -store", 6, "nothing to take away");
  WRONG(txn, "store OR NOT graph", 9, "nothing before NOT");
}

GRAPH_TEST(search_syntax, something_has_to_be_there_to_take_away_from) {
  put_base(txn);
  WRONG(txn, "-graph", 0, "nothing to take it away from");
  WRONG(txn, "  -graph -store", 2, "nothing to take it away from");
  WRONG(txn, "graph OR -store", 9, "nothing to take it away from");
  WRONG(txn, "! -store", 2, "nothing to take it away from");
  WRONG(txn, "graph -!", 6, "no word to take away");
  WRONG(txn, "graph NOT \"?\"", 6, "no word to take away");
}

GRAPH_TEST(search_syntax, stars_stand_at_the_end) {
  put_base(txn);
  WRONG(txn, "*", 0, "a * stands at the end");
  WRONG(txn, "graph *", 6, "a * stands at the end");
  WRONG(txn, "gr*ph", 2, "a * stands at the end");
  WRONG(txn, "graph**", 5, "a * stands at the end");
  WRONG(txn, "\"gra* store\"", 4, "a * stands at the end");
  WRONG(txn, "\"graph\"*store", 7, "a * stands at the end");
  WRONG(txn, "graph !*", 6, "no word before the *");
  WRONG(txn, "\"*\"", 0, "no word before the *");
}

GRAPH_TEST(search_syntax, text_has_to_be_utf8) {
  put_base(txn);
  WRONG(txn, "graph \xFF", 6, "not UTF-8 at byte 6");
  WRONG(txn, "\xE4\xB8", 0, "not UTF-8 at byte 0");
  weir_search search = WEIR_SEARCH_INIT;
  size_t at = 0;
  search.index = weir_str("i");
  search.query = (weir_text){"a\0b", 3};
  search.error_at = &at;
  FAILS(weir_node_search(txn, &search, see_no_hit, NULL, &err), WEIR_INVALID, "NUL at byte 1");
  cr_assert(eq(sz, at, 1));
}

/* `count` times `piece`, then `end`; the caller frees it. */
static char *repeat(const char *start, const char *piece, int count, const char *end) {
  size_t len = strlen(piece);
  char *text = malloc(strlen(start) + len * (size_t)count + strlen(end) + 1);
  char *at = stpcpy(text, start);
  for (int i = 0; i < count; i++) {
    at = stpcpy(at, piece);
  }
  strcpy(at, end);
  return text;
}

static void is_wrong(weir_txn *txn, char *query, size_t at, const char *part) {
  WRONG(txn, query, at, part);
  free(query);
}

static void is_right(weir_txn *txn, char *query) {
  SAME_STRING(found(txn, query), "a");
  free(query);
}

GRAPH_TEST(search_syntax, size_and_depth_are_bounded) {
  put_base(txn);
  is_wrong(txn, repeat("", "graph ", 200000, ""), WEIR_QUERY_MAX, "at most 16384");
  is_wrong(txn, repeat("", "x ", 257, ""), 512, "more than 256 words");
  is_wrong(txn, repeat("", "(", 1000, "graph"), 10, "more than 10 groups");
  is_wrong(txn, repeat("", "-(", 1000, "graph"), 21, "more than 10 groups");
  is_wrong(txn, repeat("\"", "x ", 1025, "\""), 0, "more than 1024 terms");
  is_wrong(txn, repeat("", "x-", 1025, ""), 0, "more than 1024 terms");
  is_right(txn, repeat("", "graph ", 256, ""));
  is_right(txn, repeat("graph", " !", 8000, ""));
  is_right(txn, repeat("graph", " OR store", 255, ""));
  is_right(txn, repeat("graph", " -x", 255, ""));
  is_right(txn, repeat("graph OR ", "-x ", 2, "store"));
}

/* What a group is written as takes the most of the parser of FTS5 in this form. */
GRAPH_TEST(search_syntax, groups_within_groups_go_as_deep_as_they_may) {
  static const char *const forms[][2] = {{"x OR graph store -y -(", ")"},
                                         {"graph OR x y -((z OR graph) (x OR ", "))"},
                                         {"(x OR graph -store) OR graph -y -z -(", ")"},
                                         {"x OR graph (", ")"}};
  put_base(txn);
  for (int form = 0; form < 4; form++) {
    int levels = form == 1 ? 5 : 10;
    char *open = repeat("", forms[form][0], levels, "x OR y -z");
    char *whole = repeat(open, forms[form][1], levels, "");
    (void)found(txn, whole); /* no error */
    free(whole);
    free(open);
  }
}

GRAPH_TEST(search_syntax, random_queries_are_answered_or_refused) {
  static const char *const pieces[] = {"graph", "store", " ", "\"", "(", ")", "-", "*", "OR", "NOT",
                                       "AND",   "!",     "ä", "中", ":", "^", "+", "{", "\\", "'"};
  weir_test_rng seed = {weir_test_seed()};
  put_base(txn);
  for (int round = 0; round < 3000; round++) {
    char query[512] = "";
    int count = 1 + pick(&seed, 14);
    for (int i = 0; i < count; i++) {
      strcat(query, pieces[pick(&seed, sizeof pieces / sizeof pieces[0])]);
      strcat(query, pick(&seed, 3) ? " " : "");
    }
    size_t at = 9999;
    weir_search search = WEIR_SEARCH_INIT;
    search.index = weir_str("i");
    search.query = weir_str(query);
    search.error_at = &at;
    search.snippet_tokens = 5;
    search.limit = 1;
    int rc = weir_node_search(txn, &search, see_no_hit, NULL, &err);
    cr_assert(rc == WEIR_OK || rc == WEIR_CONFLICT || (rc == WEIR_INVALID && at <= strlen(query)), "%s: %s ",
              query, err.message);
  }
}
