/* The language of queries, over words: what each form finds. */
#include "searches.h"

/* The store of most tests. */
static void put_base(weir_txn *txn) {
  put_text(txn, "a", "doc", "A graph store, embedded");
  put_text(txn, "b", "doc", "the store of a graph");
  put_text(txn, "c", "doc", "graphs and graphics");
  put_text(txn, "d", "doc", "nothing of the kind");
  put_text(txn, "e", "other", "graph store");
  make_index(txn, "doc", WEIR_WORDS);
}

#define FINDS(query, keys) SAME_STRING(found(txn, query), keys)

GRAPH_TEST(search, words_are_and_ed) {
  put_base(txn);
  FINDS("graph", "a b");
  FINDS("graph store", "a b");
  FINDS("graph embedded", "a");
  FINDS("graph nothing", "");
  FINDS("unheardof", "");
  FINDS("graph AND store", "a b");
  FINDS("graph AND store embedded", "a");
}

GRAPH_TEST(search, phrases_are_found_in_their_order) {
  put_base(txn);
  FINDS("\"graph store\"", "a");
  FINDS("\"store graph\"", "");
  FINDS("\"graph store\" embedded", "a");
  FINDS("\"a graph\"", "a b");
}

GRAPH_TEST(search, what_is_written_together_is_a_phrase) {
  put_base(txn);
  FINDS("graph-store", "a");
  FINDS("store/graph", "");
  FINDS("graph,store", "a");
}

GRAPH_TEST(search, a_star_finds_beginnings) {
  put_base(txn);
  FINDS("graph*", "a b c");
  FINDS("graphi*", "c");
  FINDS("gra* sto*", "a b");
  FINDS("\"graph sto*\"", "a");
  FINDS("\"graph sto\"*", "a");
  FINDS("\"store gra*\"", "");
}

GRAPH_TEST(search, or_and_not_and_minus_combine) {
  put_base(txn);
  FINDS("embedded OR kind", "a d");
  FINDS("graph NOT embedded", "b");
  FINDS("graph -embedded", "b");
  FINDS("-embedded graph", "b");
  FINDS("graph AND NOT embedded", "b");
  FINDS("graph AND -embedded", "b");
  FINDS("the -graph", "d");
  FINDS("the -graph -kind", "");
  FINDS("gra* -\"graph store\" -graphics", "b");
}

GRAPH_TEST(search, not_binds_closest_then_and_then_or) {
  put_base(txn);
  FINDS("embedded OR graph store", "a b");
  FINDS("graph store OR kind", "a b d");
  FINDS("kind OR graph NOT embedded", "b d");
  FINDS("graph NOT embedded OR kind", "b d");
  FINDS("graph NOT embedded store", "b");
  FINDS("graphs OR kind OR embedded", "a c d");
}

GRAPH_TEST(search, groups_change_that) {
  put_base(txn);
  FINDS("(embedded OR kind)", "a d");
  FINDS("(embedded OR the) (graph OR kind)", "a b d");
  FINDS("graph NOT (embedded OR kind)", "b");
  FINDS("graph -(embedded OR the)", "");
  FINDS("the NOT (graph NOT store)", "b d");
  FINDS("((graph) (store (embedded)))", "a");
  FINDS("graph* NOT (graph store -embedded)", "a c");
  FINDS("(graph NOT embedded) OR (kind -graph)", "b d");
}

GRAPH_TEST(search, operators_are_words_when_quoted_or_small) {
  put_text(txn, "a", "doc", "this or that");
  put_text(txn, "b", "doc", "not this and OR");
  make_index(txn, "doc", WEIR_WORDS);
  FINDS("\"or\"", "a b");
  FINDS("\"OR\"", "a b");
  FINDS("or", "a b");
  FINDS("not", "b");
  FINDS("this \"AND\"", "b");
  FINDS("ORx OR that", "a");
}

GRAPH_TEST(search, quotes_are_doubled_and_mean_nothing_more) {
  put_text(txn, "a", "doc", "say \\\"hello\\\" there");
  make_index(txn, "doc", WEIR_WORDS);
  FINDS("\"say \"\"hello\"\" there\"", "a");
  FINDS("\"\"\"hello\"\"\"", "a");
  FINDS("\"hello\"there", "a");
}

GRAPH_TEST(search, what_fts5_would_take_as_syntax_is_punctuation) {
  put_text(txn, "a", "doc", "title a NEAR b");
  put_text(txn, "b", "doc", "c0 title");
  make_index(txn, "doc", WEIR_WORDS);
  FINDS("body:title", "");
  FINDS("c0:title", "b");
  FINDS("NEAR(a b)", "a");
  FINDS("^title", "a b");
  FINDS("a + near", "a");
  FINDS("{title}", "a b");
  FINDS("title;", "a b");
}

GRAPH_TEST(search, words_of_punctuation_alone_are_left_out) {
  put_base(txn);
  FINDS("graph & store", "a b");
  FINDS("graph - store", "a b");
  FINDS("graph -- store !", "a b");
  FINDS("\"\" graph", "a b");
}

GRAPH_TEST(search, case_and_diacritics_do_not_matter) {
  put_text(txn, "a", "doc", "Ärger im Café, ΣΊΣΥΦΟΣ, ЁЛКА");
  make_index(txn, "doc", WEIR_WORDS);
  FINDS("arger CAFE", "a");
  FINDS("ÄRGER café", "a");
  FINDS("cafe\xCC\x81", "a");
  FINDS("σίσυφος", "a");
  FINDS("ёлка", "a");
}

GRAPH_TEST(search, spaces_of_other_scripts_separate) {
  put_base(txn);
  FINDS("graph\xE3\x80\x80store", "a b");
  FINDS("graph\xC2\xA0store", "a b");
  FINDS(" \t graph\n(\tstore ) ", "a b");
}
