/* Snippets: which piece, where it is, and what in it matches. */
#include "searches.h"

struct shown {
  char text[8192]; /* "field@start/total: ...[match]..." a line */
};

static int show(const weir_hit *hit, void *data, weir_error *error) {
  struct shown *shown = data;
  size_t from = 0;
  (void)error;
  char *at = shown->text + strlen(shown->text);
  at += sprintf(at, "%s@%zu/%zu: ", text_string(hit->field), hit->snippet_start, hit->snippet_total);
  for (size_t i = 0; i < hit->span_count; i++) {
    weir_span span = hit->spans[i];
    at += sprintf(at, "%.*s[%.*s]", (int)(span.start - from), hit->snippet.ptr + from, (int)span.len,
                  hit->snippet.ptr + span.start);
    from = span.start + span.len;
  }
  sprintf(at, "%.*s\n", (int)(hit->snippet.len - from), hit->snippet.ptr ? hit->snippet.ptr + from : "");
  return WEIR_OK;
}

static const char *snippets(weir_txn *txn, const char *query, unsigned tokens) {
  static struct shown shown;
  weir_search search = WEIR_SEARCH_INIT;
  shown.text[0] = '\0';
  search.index = weir_str("i");
  search.query = weir_str(query);
  search.snippet_tokens = tokens;
  OK(weir_node_search(txn, &search, show, &shown, &err));
  return shown.text;
}

#define SHOWS(query, tokens, text) SAME_STRING(snippets(txn, query, tokens), text)

GRAPH_TEST(search_snippets, show_matches_with_what_is_around_them) {
  put_text(txn, "a", NULL, "one two three four five six seven eight nine ten");
  make_index(txn, NULL, WEIR_WORDS);
  SHOWS("five", 3, "body@14/48: four [five] six\n");
  SHOWS("five", 1, "body@19/48: [five]\n");
  SHOWS("one", 3, "body@0/48: [one] two three\n");
  SHOWS("ten", 3, "body@34/48: eight nine [ten]\n");
  SHOWS("five", 64, "body@0/48: one two three four [five] six seven eight nine ten\n");
  SHOWS("\"five six\"", 4, "body@14/48: four [five six] seven\n");
  SHOWS("fi*", 3, "body@14/48: four [five] six\n");
  SHOWS("five NOT zero", 3, "body@14/48: four [five] six\n");
}

GRAPH_TEST(search_snippets, are_not_made_unless_asked_for) {
  put_text(txn, "a", NULL, "one");
  make_index(txn, NULL, WEIR_WORDS);
  SHOWS("one", 0, "@0/0: \n");
}

GRAPH_TEST(search_snippets, come_from_where_most_of_the_query_is) {
  put_text(txn, "a", NULL, "red x x x x x x x x red red x x x x x x x blue red x");
  put_props(txn, "b", NULL, "{\"title\":\"red red\",\"body\":\"blue red\"}");
  make_index(txn, NULL, WEIR_WORDS);
  SHOWS("red blue", 4, "body@0/8: [blue] [red]\nbody@40/52: x [blue] [red] x\n");
  SHOWS("red", 2, "title@0/7: [red] [red]\nbody@20/52: [red] [red]\n");
}

GRAPH_TEST(search_snippets, keep_the_bytes_of_the_text) {
  put_text(txn, "a", NULL, "(Ärger: CAFÉ, cafe\\u0301 — \\\"quoted\\\"; naïve.)");
  make_index(txn, NULL, WEIR_WORDS);
  SHOWS("cafe", 64, "body@0/45: (Ärger: [CAFÉ], [cafe\xCC\x81] — \"quoted\"; naïve.)\n");
  SHOWS("cafe naive", 2, "body@9/45: [CAFÉ], [cafe\xCC\x81]\n");
  SHOWS("arger", 1, "body@0/45: ([Ärger]\n");
  SHOWS("naive", 1, "body@37/45: [naïve].)\n");
}

GRAPH_TEST(search_snippets, of_arrays_show_the_strings_line_by_line) {
  put_props(txn, "a", NULL, "{\"body\":[\"one two\",3,\"three\"]}");
  make_index(txn, NULL, WEIR_WORDS);
  SHOWS("three", 64, "body@0/13: one two\n[three]\n");
}

GRAPH_TEST(search_snippets, of_chinese_show_characters) {
  put_text(txn, "a", NULL, "图数据库是一种数据库");
  make_index(txn, NULL, WEIR_WORDS);
  SHOWS("数据", 4, "body@0/30: 图[数据]库\n");
  SHOWS("种", 3, "body@15/30: 一[种]数\n");
  SHOWS("据", 64, "body@0/30: 图数[据]库是一种数[据]库\n");
}

GRAPH_TEST(search_snippets, of_substrings_show_what_was_asked_for) {
  put_text(txn, "a", NULL, "The Graph-Store of graphs");
  make_index(txn, NULL, WEIR_SUBSTRING);
  SHOWS("graph", 64, "body@0/25: The [Graph]-Store of [graph]s\n");
  SHOWS("ra", 64, "body@0/25: The G[ra]ph-Store of g[ra]phs\n");
  SHOWS("s", 64, "body@0/25: The Graph-[S]tore of graph[s]\n");
  SHOWS("h-st", 8, "body@5/25: rap[h-St]ore\n");
}

GRAPH_TEST(search_snippets, merge_matches_that_overlap_or_touch) {
  put_text(txn, "a", NULL, "aaaa ab");
  make_index(txn, NULL, WEIR_SUBSTRING);
  SHOWS("aaa", 64, "body@0/7: [aaaa] ab\n");
  SHOWS("aaa aa a ab", 64, "body@0/7: [aaaa] [ab]\n");
  SHOWS("aa*", 64, "body@0/7: [aaaa] ab\n");
}

GRAPH_TEST(search_snippets, cut_matches_that_are_longer_than_they) {
  put_text(txn, "a", NULL, "one two three four five");
  make_index(txn, NULL, WEIR_WORDS);
  SHOWS("\"two three four\"", 2, "body@4/23: [two three]\n");
}

GRAPH_TEST(search_snippets, have_at_most_64_terms) {
  make_index(txn, NULL, WEIR_WORDS);
  weir_search search = WEIR_SEARCH_INIT;
  search.index = weir_str("i");
  search.query = weir_str("x");
  search.snippet_tokens = 65;
  FAILS(weir_node_search(txn, &search, see_no_hit, NULL, &err), WEIR_INVALID, "at most 64");
}

/* Each span of a random text is the word that was asked for, and the snippet a piece of the text. */
struct truth {
  char body[2048];
  const char *word;
  int tokens;
};

static int check_hit(const weir_hit *hit, void *data, weir_error *error) {
  const struct truth *truth = data;
  int words = 1;
  (void)error;
  cr_assert(eq(sz, hit->snippet_total, strlen(truth->body)));
  cr_assert(memcmp(truth->body + hit->snippet_start, hit->snippet.ptr, hit->snippet.len) == 0);
  cr_assert(gt(sz, hit->span_count, 0));
  for (size_t i = 0; i < hit->span_count; i++) {
    cr_assert(eq(sz, hit->spans[i].len, strlen(truth->word)));
    cr_assert(memcmp(hit->snippet.ptr + hit->spans[i].start, truth->word, hit->spans[i].len) == 0);
    cr_assert(i == 0 || hit->spans[i].start > hit->spans[i - 1].start);
  }
  for (size_t i = 0; i < hit->snippet.len; i++) {
    words += hit->snippet.ptr[i] == ' ';
  }
  cr_assert(le(int, words, truth->tokens));
  return WEIR_OK;
}

GRAPH_TEST(search_snippets, of_random_texts_are_pieces_of_them) {
  static const char *const vocabulary[] = {"ab", "cd", "éf", "中x", "gh", "ij"};
  weir_test_rng seed = {weir_test_seed()};
  make_index(txn, NULL, WEIR_WORDS);
  for (int round = 0; round < 40; round++) {
    struct truth truth = {.word = "cd", .tokens = 1 + pick(&seed, 64)};
    int count = 1 + pick(&seed, 150);
    for (int i = 0; i < count; i++) {
      strcat(truth.body, i ? " " : "");
      strcat(truth.body, vocabulary[pick(&seed, 6)]);
    }
    put_text(txn, "a", NULL, truth.body);
    weir_search search = WEIR_SEARCH_INIT;
    search.index = weir_str("i");
    search.query = weir_str(truth.word);
    search.snippet_tokens = (unsigned)truth.tokens;
    OK(weir_node_search(txn, &search, check_hit, &truth, &err));
  }
}
