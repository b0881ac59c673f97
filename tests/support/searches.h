/* Text indexes, and searches in them as strings, for tests. */
#ifndef WEIR_TEST_SEARCHES_H
#define WEIR_TEST_SEARCHES_H

#include <weir/search.h>

#include "graph_fixture.h"

/* Makes the text index "i" of `label` (NULL: of all nodes) over "title" (weight 2) and "body". */
void make_index(weir_txn *txn, const char *label, weir_tokenizer tokenizer);

/* Puts a node with a body and nothing else; the body is not escaped. */
void put_text(weir_txn *txn, const char *key, const char *label, const char *body);

/* Puts a node with these props. */
void put_props(weir_txn *txn, const char *key, const char *label, const char *props);

/* The keys of the nodes in "i" that match, "a b c": in the order of the keys; best first. Valid until the
 * fourth next call. */
const char *found(weir_txn *txn, const char *query);
const char *ranked(weir_txn *txn, const char *query);

/* As found, into `keys`, and without an assertion: for the functions of transactions, which may run on
 * another thread. */
int find_keys(weir_txn *txn, const char *query, char keys[1024], weir_error *error);

/* The query is wrong at that byte, and the message says `part`. */
#define WRONG(txn, query_, at_, part_)                                                                       \
  do {                                                                                                       \
    size_t wrong_at = 9999;                                                                                  \
    weir_search search_ = WEIR_SEARCH_INIT;                                                                  \
    search_.index = weir_str("i");                                                                           \
    search_.query = weir_str(query_);                                                                        \
    search_.error_at = &wrong_at;                                                                            \
    FAILS(weir_node_search(txn, &search_, see_no_hit, NULL, &err), WEIR_INVALID, part_);                     \
    cr_assert(eq(sz, wrong_at, (size_t)(at_)), "%s: %s", query_, err.message);                               \
  } while (0)

/* A visitor that must not be called. */
int see_no_hit(const weir_hit *hit, void *data, weir_error *error);

/* A number from 0 to below-1. */
int pick(weir_test_rng *rng, size_t below);

/* Compares the table of FTS5 of every index with the texts of the nodes, term by term. */
void check_indexes(weir_txn *txn);

#endif
