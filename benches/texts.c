/*
 * Two indexes that must find the same. What a query finds is reduced to numbers that do not depend on the
 * order, since nodes with equal scores come in any.
 */
#include "texts.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include <weir/search.h>

#include "bare_text.h"
#include "baseline.h"

/* What a query has found. */
typedef struct found {
  uint64_t count, keys; /* keys: the sum of their hashes */
  double score;         /* of all together */
} found;

static void add(found *f, weir_text key, double score) {
  uint64_t hash = 0;
  for (size_t i = 0; i < key.len; i++) {
    hash ^= (unsigned char)key.ptr[i];
    hash = bench_random(&hash);
  }
  f->count++;
  f->keys += hash;
  f->score += score;
}

static int same(const found *a, const found *b) {
  return a->count == b->count && a->keys == b->keys && fabs(a->score - b->score) < 1e-6;
}

/* ---- One open store, of either kind ---- */

typedef struct source {
  weir_graph *graph; /* or NULL, and then: */
  baseline *bare;
} source;

static source open_source(const dataset *d, const bench_settings *settings) {
  weir_error err = WEIR_ERROR_INIT;
  source s = {NULL, NULL};
  if (d->text == TEXT_BARE) {
    s.bare = baseline_open(d->path, settings, WEIR_NORMAL);
    return s;
  }
  weir_pool_options options = bench_pool_options(settings, WEIR_SINGLE, 0, WEIR_NORMAL);
  bench_check(weir_graph_open(&s.graph, d->path, &options, &err), &err, "opening the store");
  return s;
}

static void close_source(source *s) {
  weir_error err = WEIR_ERROR_INIT;
  if (s->bare) {
    baseline_close(s->bare);
  } else {
    bench_check(weir_graph_close(s->graph, &err), &err, "closing the store");
  }
}

static int add_hit(const weir_hit *hit, void *data, weir_error *err) {
  (void)err;
  add(data, hit->node.key, hit->score);
  return WEIR_OK;
}

static void add_bare_hit(weir_text key, weir_text props, double score, void *data) {
  (void)props;
  add(data, key, score);
}

/* All that a query finds. */
static found search_for(const source *s, const char *query) {
  weir_error err = WEIR_ERROR_INIT;
  found f = {0};
  if (s->bare) {
    if (bare_text_search(baseline_text(s->bare), query, INT_MAX, add_bare_hit, &f) != SQLITE_OK) {
      bench_fail("bare SQLite: searching for %s failed", query);
    }
    return f;
  }
  weir_search search = WEIR_SEARCH_INIT;
  search.index = (weir_text)WEIR_TEXT(TEXTS_INDEX);
  search.query = weir_str(query);
  bench_check(weir_node_search(weir_graph_auto(s->graph), &search, add_hit, &f, &err), &err, "searching");
  return f;
}

/* ---- Making ---- */

static void make_index(dataset *d, const bench_settings *settings) {
  static const weir_text labels[] = {WEIR_TEXT("concept")};
  static const weir_text_field fields[] = {{WEIR_TEXT("title"), 0}, {WEIR_TEXT("body"), 0}};
  const weir_text_index index = {.name = WEIR_TEXT(TEXTS_INDEX),
                                 .labels = labels,
                                 .label_count = 1,
                                 .fields = fields,
                                 .field_count = 2,
                                 .tokenizer = WEIR_WORDS};
  weir_error err = WEIR_ERROR_INIT;
  source s = open_source(d, settings);
  bench_check(weir_text_index_create(weir_graph_auto(s.graph), &index, NULL, &err), &err,
              "making the text index");
  close_source(&s);
  d->text = TEXT_WEIR;
}

static dataset *make_bare(const bench_settings *settings) {
  dataset *d = dataset_make_at(settings, "bare.db");
  sqlite3 *db = baseline_connect(d->path, settings, WEIR_NORMAL);
  bare_text_create(db);
  if (sqlite3_close(db) != SQLITE_OK) {
    bench_fail("bare SQLite: cannot close %s", d->path);
  }
  d->text = TEXT_BARE;
  return d;
}

static void compare(const bench_settings *settings, dataset *data, dataset *bare) {
  source weir_side = open_source(data, settings), bare_side = open_source(bare, settings);
  for (unsigned i = 0; i < DATASET_QUERIES; i++) {
    found a = search_for(&weir_side, data->queries[i]), b = search_for(&bare_side, data->queries[i]);
    if (!same(&a, &b)) {
      bench_fail("unfair conditions: \"%s\" finds %" PRIu64
                 " nodes with a score of %g together in weir's index,"
                 " and %" PRIu64 " with %g, or others, in the bare one",
                 data->queries[i], a.count, a.score, b.count, b.score);
    }
    data->hits[i] = bare->hits[i] = a.count;
  }
  close_source(&weir_side);
  close_source(&bare_side);
}

static double megabytes(const dataset *d) {
  struct stat st;
  if (stat(d->path, &st) != 0) {
    bench_fail("cannot stat %s", d->path);
  }
  return (double)st.st_size / 1e6;
}

dataset *texts_make(const bench_settings *settings, dataset *data, jsonl *out) {
  double before = megabytes(data);
  dataset *bare = make_bare(settings);
  make_index(data, settings);
  compare(settings, data, bare);
  uint64_t least = UINT64_MAX, most = 0;
  for (unsigned i = 0; i < DATASET_QUERIES; i++) {
    least = data->hits[i] < least ? data->hits[i] : least;
    most = data->hits[i] > most ? data->hits[i] : most;
  }
  printf(
      "full text over title and body of concept: weir's index, %.1f MB; on a store of the bare modes plain "
      "FTS5\n"
      "  (unicode61), %.1f MB. %d queries of one and two words find %" PRIu64 " to %" PRIu64
      " nodes, with the same\n"
      "  scores on both sides\n",
      megabytes(data) - before, megabytes(bare) - before, DATASET_QUERIES, least, most);
  jsonl_common(out, "query_hits_least", json_integer((json_int_t)least));
  jsonl_common(out, "query_hits_most", json_integer((json_int_t)most));
  return bare;
}

/* ---- Checking afterwards ---- */

static void check_number(const source *s, const extra *x, uint64_t write, int there, tally *errors) {
  char query[24];
  found wanted = {0};
  snprintf(query, sizeof query, "%016" PRIu64, write);
  if (there) {
    add(&wanted, weir_str(x->key), 0);
  }
  found f = search_for(s, query);
  errors->wrong += f.count != wanted.count || f.keys != wanted.keys;
}

void texts_verify(const dataset *d, const bench_settings *settings, tally *errors) {
  if (d->text == TEXT_NONE) {
    return;
  }
  source s = open_source(d, settings);
  for (unsigned i = 0; i < DATASET_QUERIES; i++) {
    found f = search_for(&s, d->queries[i]);
    errors->wrong += f.count != d->hits[i];
  }
  for (unsigned i = 0; i < DATASET_EXTRAS; i++) {
    const extra *x = &d->extras[i];
    if (x->write) {
      check_number(&s, x, x->write, 1, errors);
    }
    if (x->write > DATASET_EXTRAS) {
      check_number(&s, x, x->write - DATASET_EXTRAS, 0, errors);
    }
  }
  close_source(&s);
}
