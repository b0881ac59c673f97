/*
 * What the tests of loaders share: files with given bytes, and the contents of a store as text to compare.
 * The functions do not assert; what cannot go wrong in a sound build aborts.
 */
#ifndef WEIR_TEST_LOADS_H
#define WEIR_TEST_LOADS_H

#include <stddef.h>
#include <string.h>

#include <weir/graph.h>
#include <weir/io.h>

enum { LOADS_PATH_SIZE = 600 };

/* A file of the running test's directory: writes its path to `path` and its contents from `bytes`. */
void loads_file(char path[LOADS_PATH_SIZE], const char *name, const char *bytes, size_t len);

/* The same, compressed by gzip; the last `cut` bytes of the file are left out. */
void loads_gzip_file(char path[LOADS_PATH_SIZE], const char *name, const char *bytes, size_t len, size_t cut);

/* A new store in memory. */
weir_graph *loads_store(void);

/* Closes it. */
void loads_close(weir_graph *graph);

/* The nodes as lines "KEY [LABEL;LABEL] PROPS", sorted, in memory of the caller's. */
char *loads_nodes(weir_txn *txn);

/* The edges as lines "SRC -LABEL:RANK-> DST WEIGHT PROPS", sorted, in memory of the caller's. */
char *loads_edges(weir_txn *txn);

/* How many nodes and edges there are, as "N nodes, M edges", in static memory. */
const char *loads_size(weir_graph *graph);

/* Asserts that two texts are equal, and shows both if they are not. Criterion's own eq(str, ...) wants texts
 * that may be written to. */
#define LOADS_SAME(found, expected, what)                                                                    \
  cr_assert(strcmp((found), (expected)) == 0, "%s: found\n%s\nnot\n%s", (what), (found), (expected))

/* What follows the name of the file in a message, or all of it. */
const char *loads_behind(const char *message, const char *name);

#endif
