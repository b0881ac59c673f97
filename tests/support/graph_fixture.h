/*
 * One suite over the three kinds of store: a file in single mode, memory, a file in pool mode.
 *
 *   GRAPH_TEST(nodes, get_finds_what_put_wrote) { OK(weir_node_put(txn, ...)); }
 *
 * runs its body once with an empty store of each kind, `graph`, and its automatic transaction, `txn`. After
 * the body the store is checked (SQLite's integrity and foreign keys) and closed. When a test fails its
 * output names the kind. All of this, `err` too, is for the test's main thread.
 */
#ifndef WEIR_TEST_GRAPH_FIXTURE_H
#define WEIR_TEST_GRAPH_FIXTURE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/graph.h>

#include "support.h"

/* Detail of the call that failed last. */
extern weir_error err;

typedef void (*graph_test_fn)(weir_graph *graph, weir_txn *txn);

void graph_in_each_kind(graph_test_fn test);

/* Tells in which kind of store a test stopped. */
void graph_tell_kind(void);

#define GRAPH_TEST(suite_, name_)                                                                            \
  static void suite_##_##name_(weir_graph *graph, weir_txn *txn);                                            \
  Test(suite_, name_, .timeout = 100, .fini = graph_tell_kind) {                                             \
    graph_in_each_kind(suite_##_##name_);                                                                    \
  }                                                                                                          \
  static void suite_##_##name_(weir_graph *graph __attribute__((unused)),                                    \
                               weir_txn *txn __attribute__((unused)))

/* `call` succeeds. */
#define OK(call) cr_assert(eq(int, (call), WEIR_OK), "%s", err.message)

/* `call` fails with `code_`, and its message holds `part`. */
#define FAILS(call, code_, part)                                                                             \
  do {                                                                                                       \
    err = (weir_error)WEIR_ERROR_INIT;                                                                       \
    cr_assert(eq(int, (call), (code_)), "%s", err.message);                                                  \
    cr_assert(eq(int, err.code, (code_)));                                                                   \
    cr_assert(ne(ptr, strstr(err.message, (part)), NULL), "\"%s\" does not say \"%s\"", err.message, part);  \
  } while (0)

/* Equal strings; equal text and string. */
#define SAME_STRING(a, b)  cr_assert(eq(str, (char *)(a), (char *)(b)))
#define SAME(text, string) SAME_STRING(text_string(text), string)

/* A copy of `text` as a string, valid until the eighth next call. */
const char *text_string(weir_text text);

/* Numbers that the tests ask for again and again. */
int64_t count_nodes(weir_txn *txn, const char *label);
int64_t count_edges(weir_txn *txn, const char *label);

/* The first column of the first row of `sql` as a number; aborts if there is none. */
int64_t sql_number(weir_txn *txn, const char *sql);

/* The number of the last write transaction. */
int64_t last_rev(weir_txn *txn);

/* What SQLite's integrity_check and foreign_key_check find: "ok". */
const char *integrity(weir_txn *txn);

/* Puts a node or edge that is not looked at further. */
void put_node(weir_txn *txn, const char *key, const char *label);
void put_edge(weir_txn *txn, const char *src, const char *label, const char *dst);

#endif
