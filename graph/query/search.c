/*
 * Searching in text indexes.
 *
 * The storage ranks numbers of nodes; a node, and its snippet, is read when it is its turn to be visited. A
 * page asks for one hit more than its limit, as scans do.
 */
#include <math.h>
#include <stdlib.h>

#include "../internal.h"
#include "../labels.h"
#include "../node.h"
#include "../scan.h"
#include "../store/storage_text.h"
#include "../store/storage_walk.h"
#include "../store/text_match.h"
#include "cond.h"
#include "place.h"
#include "search_syntax.h"

struct search {
  weir_txn *txn;
  weir_search options;
  weir_hit_fn visit;
  void *data;
  weir__page page;
  const weir__text_index *index;
  weir__match match;
  weir__lookup *lookup;
  weir__snippets *snippets; /* NULL: none are wanted */
  weir__snippet snippet;
  char field[WEIR__PATH_ROOM]; /* that it is from */
  weir__rank_place at;         /* of the hit at hand */
  int ended;                   /* 1: the result has come to its end */
  int found;                   /* there is such a text index */
};

/* ---- Places -----------------------------------------------------------------------------------------------
 */

static weir__hash question_of(const weir_search *options) {
  weir__hash hash = weir__hash_text(weir__hash_begin(), weir_str("search"));
  hash = weir__hash_text(hash, options->index);
  hash = weir__hash_text(hash, options->query);
  hash = weir__hash_text(hash, options->label);
  return weir__hash_cond(hash, options->where);
}

/* *begun 0: the page is the first. */
static int read_place(const weir_search *options, weir__rank_place *after, int *begun, weir_error *err) {
  weir_value values[2];
  unsigned char *memory = NULL;
  *begun = options->place && options->place->token;
  if (!*begun) {
    return WEIR_OK;
  }
  int rc = weir__place_read(options->place, question_of(options), values, 2, &memory, err);
  free(memory);
  if (rc) {
    return rc;
  }
  if (values[0].type != WEIR_TYPE_REAL || !isfinite(values[0].real) || values[1].type != WEIR_TYPE_INT) {
    return weir_fail(err, WEIR_INVALID, "the token of the place is damaged: give it back as it was");
  }
  *after = (weir__rank_place){values[0].real, values[1].integer};
  return WEIR_OK;
}

static int write_place(const weir_search *options, const weir__rank_place *at, weir_error *err) {
  const weir_value values[] = {weir_real(at->score), weir_int(at->node)};
  return weir__place_write(options->place, question_of(options), values, 2, err);
}

/* ---- Hits -------------------------------------------------------------------------------------------------
 */

static int add_snippet(struct search *search, int64_t node, weir_hit *hit, weir_error *err) {
  const weir__snippet *snippet = &search->snippet;
  int rc = weir__snippets_make(search->snippets, node, err);
  if (rc || snippet->column < 0) {
    return rc;
  }
  hit->field = weir__path_show(search->index->fields[snippet->column].path, search->field);
  hit->snippet = snippet->text;
  hit->snippet_start = snippet->start;
  hit->snippet_total = snippet->total;
  hit->spans = snippet->spans;
  hit->span_count = snippet->span_count;
  return WEIR_OK;
}

static int visit_node(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct search *search = data;
  weir_hit hit = {.score = search->at.score};
  (void)index;
  search->found = 1;
  int rc = weir__node_view(search->txn, row, &hit.node, err);
  if (rc == WEIR_OK && search->snippets) {
    rc = add_snippet(search, row->id, &hit, err);
  }
  if (rc) {
    return rc;
  }
  weir__visit_begin(search->txn);
  return weir__visit_end(search->txn, &search->page, search->visit(&hit, search->data, &search->page.error),
                         err);
}

static int visit_rank(const weir__rank_place *place, void *data, weir_error *err) {
  struct search *search = data;
  if (weir__page_full(&search->page)) {
    search->ended = 0;
    return WEIR_STOP;
  }
  weir__rank_place before = search->at;
  search->at = *place;
  search->found = 0;
  int rc = weir__lookup_node(search->lookup, place->node, visit_node, search, err);
  if (rc == WEIR_OK && !search->found) {
    rc = weir_fail(err, WEIR_CORRUPT,
                   "text index \"%.*s\" holds a node that is not there: drop it, and make"
                   " it anew",
                   WEIR__SHOW(search->options.index));
  }
  search->ended = rc == WEIR_OK;
  if (rc < 0) {
    search->at = before;
  }
  return rc;
}

/* ---- Searching --------------------------------------------------------------------------------------------
 */

static int rank(struct search *search, int64_t label, weir_error *err) {
  weir__rank_place after;
  int begun;
  int rc = read_place(&search->options, &after, &begun, err);
  if (rc == WEIR_OK) {
    rc = weir__lookup_open(&search->lookup, search->txn, WEIR__REACH_NODE, NULL, err);
  }
  weir_text match = {search->match.text.text, search->match.text.len};
  if (rc == WEIR_OK && search->options.snippet_tokens > 0) {
    rc = weir__snippets_open(&search->snippets, search->txn, search->index->id, match, &search->snippet, err);
  }
  if (rc == WEIR_OK) {
    const weir__ranking ranking = {.index = search->index,
                                   .match = match,
                                   .label = label,
                                   .where = search->options.where,
                                   .limit = weir__page_wants(&search->page)};
    search->ended = 1;
    rc = weir__store_rank(search->txn, &ranking, begun ? &after : NULL, visit_rank, search, err);
  }
  weir__snippets_close(search->snippets);
  weir__lookup_close(search->lookup);
  weir__snippet_clear(&search->snippet);
  return rc;
}

static int read_query(struct search *search, weir_tokenizer tokenizer, weir_error *err) {
  const weir__local *local = weir_txn_local(search->txn);
  weir__query query;
  size_t wrong_at = 0;
  int rc = weir__query_read(&query, local->terms, tokenizer, search->options.query, &wrong_at, err);
  if (rc == WEIR_INVALID && search->options.error_at) {
    *search->options.error_at = wrong_at;
  }
  if (rc) {
    return rc;
  }
  rc = weir__match_write(&search->match, &query, err);
  weir__query_clear(&query);
  return rc;
}

static int search_index(const weir__text_index *index, void *data, weir_error *err) {
  struct search *search = data;
  int64_t label;
  int none;
  search->found = 1;
  if (!index->ready) {
    return weir_fail(err, WEIR_BUSY,
                     "text index \"%.*s\" is being made; or that was cut off, then make it again",
                     WEIR__SHOW(search->options.index));
  }
  int rc = read_query(search, index->tokenizer, err);
  search->index = index;
  search->snippet.tokens = search->options.snippet_tokens;
  search->snippet.chars = search->match.chars;
  search->snippet.phrases = search->match.phrases;
  if (rc == WEIR_OK) {
    rc = weir__label_filter(search->txn, search->options.label, &label, &none, err);
    search->ended = 1;
  }
  if (rc == WEIR_OK && !none && !(search->options.place && search->options.place->done)) {
    rc = rank(search, label, err);
  }
  weir__match_clear(&search->match);
  return rc;
}

static int run_search(weir_txn *txn, void *data, weir_error *err) {
  struct search *search = data;
  search->txn = txn;
  int rc = weir__store_text_each(txn, search->options.index, search_index, search, err);
  if (rc == WEIR_OK && !search->found) {
    rc = weir_fail(err, WEIR_NOT_FOUND, "there is no text index \"%.*s\"", WEIR__SHOW(search->options.index));
  }
  return rc;
}

static int check_search(const struct search *search, weir_error *err) {
  const weir_search *options = &search->options;
  int rc = search->visit ? WEIR_OK : weir_fail(err, WEIR_INVALID, "visit is NULL");
  if (rc == WEIR_OK) {
    rc = weir__text_check(options->index, "index", 1, 255, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__text_check(options->label, "label", 0, WEIR_LABEL_MAX, err);
  }
  if (rc == WEIR_OK && options->snippet_tokens > WEIR__SNIPPET_TOKENS_MAX) {
    rc = weir_fail(err, WEIR_INVALID, "snippet_tokens %u: give at most %d", options->snippet_tokens,
                   WEIR__SNIPPET_TOKENS_MAX);
  }
  return rc ? rc : weir__cond_check(options->where, WEIR_NODES, err);
}

/* Writes the caller's place, also after an error of the visitor's. */
static int end_search(const struct search *search, int rc, weir_error *err) {
  weir_place *place = search->options.place;
  if (place && search->page.visited > 0) {
    int write = write_place(&search->options, &search->at, err);
    rc = write < 0 ? write : rc;
  }
  if (place && rc >= 0) {
    place->done = search->ended;
  }
  return rc < 0 ? rc : WEIR_OK;
}

int weir_node_search(weir_txn *txn, const weir_search *options, weir_hit_fn visit, void *data,
                     weir_error *err) {
  struct search search = {.options = WEIR_SEARCH_INIT, .visit = visit, .data = data};
  int rc = weir__check_set(options, "search", err);
  if (rc == WEIR_OK) {
    rc = weir__options_copy(&search.options, sizeof search.options, options, "weir_search", err);
  }
  if (rc == WEIR_OK) {
    rc = check_search(&search, err);
  }
  if (rc) {
    return rc;
  }
  search.page.options.limit = search.options.limit;
  return end_search(&search, weir__graph_read(txn, run_search, &search, err), err);
}
