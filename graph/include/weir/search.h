/*
 * weir/search.h - full text over the props of nodes, on SQLite's FTS5.
 *
 * A text index holds chosen properties of the nodes that have one of its labels. It is kept up to date by
 * every write, in the same transaction, and is left alone by a write that changes none of its properties. A
 * property is indexed if it is a string, or an array: then the strings in it, one behind another.
 *
 * The language of queries
 *
 *   graph store        both words, anywhere; also: graph AND store
 *   "graph store"      one behind the other
 *   gra*               words that begin so; "graph sto*" too
 *   graph OR store     one of them at least
 *   graph NOT store    the first and not the second; also: graph -store
 *   ( ... )            groups. NOT binds closest, then what stands side by side, then OR
 *
 *   AND, OR and NOT are capitals; quote them to find the words: "or". A quote within quotes is doubled. The
 *   minus stands right before what it takes away, which may be a phrase or a group. With WEIR_WORDS case does
 *   not matter, nor do diacritics; punctuation separates words, and is not found. With WEIR_SUBSTRING a word
 *   or what is in quotes is found as it is, but for the case of its letters, also within words; a * behind it
 *   changes nothing.
 *
 * Threads, transactions and errors are those of weir/graph.h.
 */
#ifndef WEIR_SEARCH_H
#define WEIR_SEARCH_H

#include <weir/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How text becomes terms. docs/search.md tells how each finds short terms and text without spaces. */
typedef enum weir_tokenizer {
  WEIR_WORDS = 0,    /* words, folded to lower case and without diacritics; each character of Chinese,
                        Japanese, Korean and Thai text is a word, and what is written together in a query is
                        found together */
  WEIR_SUBSTRING = 1 /* any run of characters, of one or two too, in any case of letters */
} weir_tokenizer;

/* A property in a text index. */
typedef struct weir_text_field {
  weir_text path; /* as in weir_cond */
  double weight;  /* how much a match in it counts for the score; 0: 1.0. Else above 0, finite */
} weir_text_field;

#define WEIR_TEXT_FIELDS_MAX 32    /* properties in a text index; the least is 1 */
#define WEIR_QUERY_MAX       16384 /* bytes in a query */
#define WEIR_QUERY_WORDS_MAX 256   /* words and phrases in a query */
#define WEIR_QUERY_TERMS_MAX 1024  /* terms that they are made of: words, of WEIR_SUBSTRING characters */
#define WEIR_QUERY_DEPTH_MAX 10    /* groups within groups */

/* A text index. In lists its memory is the library's, valid during the call. */
typedef struct weir_text_index {
  weir_text name;                /* 1 to 255 bytes, unique among text indexes */
  const weir_text *labels;       /* of the nodes in it; none: all nodes */
  size_t label_count;            /* how many; at most WEIR_LABELS_MAX */
  const weir_text_field *fields; /* their properties */
  size_t field_count;            /* 1 to WEIR_TEXT_FIELDS_MAX */
  weir_tokenizer tokenizer;      /* of texts and queries */
  int ready;                     /* output only: 1; 0 while it is being made, or if that was cut off */
} weir_text_index;

/* Makes a text index, in the same way as weir_index_create does. Errors: WEIR_EXISTS (the name),
 * WEIR_CANCELED (by on_progress; or another call has dropped it, or begun it anew, meanwhile). After an error
 * there is no index, but that of the other call. */
WEIR_API int weir_text_index_create(weir_txn *txn, const weir_text_index *index,
                                    const weir_build_options *options, weir_error *err);

/* Drops the text index. *existed (NULL: not wanted) becomes 1 or 0; none is no error. */
WEIR_API int weir_text_index_drop(weir_txn *txn, weir_text name, int *existed, weir_error *err);

/* Visits one text index; as weir_node_fn. */
typedef int (*weir_text_index_fn)(const weir_text_index *index, void *data, weir_error *err);

/* Visits all text indexes, in the order in which they were made. */
WEIR_API int weir_text_index_list(weir_txn *txn, weir_text_index_fn visit, void *data, weir_error *err);

/* What to search for. Start from WEIR_SEARCH_INIT, since `size` has to be set. A member that is zero means
 * its default; index and query have none. */
typedef struct weir_search {
  size_t size;             /* sizeof(weir_search) */
  weir_text index;         /* the name of the text index */
  weir_text query;         /* see above */
  weir_text label;         /* only nodes with this label; empty: any of the index */
  const weir_cond *where;  /* only nodes for which this is true; NULL: all */
  size_t limit;            /* visit at most so many; 0: no limit */
  weir_place *place;       /* in and out; NULL: from the best. Scores change as others write: pages are exact
                              within one snapshot */
  unsigned snippet_tokens; /* length of snippets in terms, at most 64; 0: no snippets */
  size_t *error_at;        /* or NULL: receives the byte offset in `query` at which it is wrong, and is left
                              alone unless it is */
} weir_search;

#define WEIR_SEARCH_INIT                                                                                     \
  { sizeof(weir_search), {NULL, 0}, {NULL, 0}, {NULL, 0}, NULL, 0, NULL, 0, NULL }

/* A part of a snippet that matches. */
typedef struct weir_span {
  size_t start; /* bytes from the start of the snippet */
  size_t len;   /* bytes */
} weir_span;

/* A node that was found. Its memory is the library's, valid during the call. */
typedef struct weir_hit {
  weir_node node;         /* the node */
  double score;           /* BM25 (k1 = 1.2, b = 0.75) with the weights of the fields; more is better */
  weir_text field;        /* path of the field that the snippet is from; empty without snippets */
  weir_text snippet;      /* a piece of the field's text, unchanged, where most of the query matches */
  size_t snippet_start;   /* where it begins in that text, in bytes */
  size_t snippet_total;   /* how long that text is, in bytes */
  const weir_span *spans; /* what matches in the snippet, in order, without overlap */
  size_t span_count;      /* how many */
} weir_hit;

/* Visits one hit; as weir_node_fn. */
typedef int (*weir_hit_fn)(const weir_hit *hit, void *data, weir_error *err);

/*
 * Visits the nodes that match, best first (ties in the order of weir_node_scan), from one snapshot.
 *
 * Errors: WEIR_NOT_FOUND (no such text index), WEIR_BUSY (it is being made), WEIR_INVALID (a syntax error in
 * the query; a query without a word; a place that is not of this question).
 */
WEIR_API int weir_node_search(weir_txn *txn, const weir_search *search, weir_hit_fn visit, void *data,
                              weir_error *err);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_SEARCH_H */
