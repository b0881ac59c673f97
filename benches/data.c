/*
 * The data set. Bodies are words drawn with a seeded generator and vary in length, so that rows spread over
 * the pages as real ones do; the same seed gives the same store.
 */
#include "data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "baseline.h"

enum { NODES = 2000, BODY_MAX = 640, SAMPLE_MAX = 5000, NUMBER_WIDTH = 16 };

static const char *const words[] = {"river",  "index",  "anchor", "paper",   "signal", "ledger", "window",
                                    "garden", "motion", "market", "copper",  "bridge", "letter", "engine",
                                    "harbor", "memory", "number", "orchard", "people", "record", "season",
                                    "theory", "valley", "winter", "author",  "branch", "circle", "degree",
                                    "effect", "figure", "ground", "history"};

/* One word in sixteen is one of these, which texts are searched for; the first more often than the last. */
static const char *const topics[] = {
    "alloy",  "beacon",  "canyon", "delta",   "ember",   "falcon", "glacier", "hollow",
    "island", "jasmine", "kernel", "lantern", "meadow",  "nectar", "obelisk", "prairie",
    "quarry", "raven",   "saddle", "temple",  "umbra",   "velvet", "walnut",  "zephyr",
    "basalt", "cobalt",  "dynamo", "furnace", "granite", "hammer", "ivory",   "juniper"};

static const char *draw_word(uint64_t *random) {
  size_t count = sizeof topics / sizeof topics[0];
  if (bench_below(random, 16) > 0) {
    return words[bench_below(random, sizeof words / sizeof words[0])];
  }
  size_t a = bench_below(random, count), b = bench_below(random, count);
  return topics[a < b ? a : b];
}

/* The first half is of one word, the other of two. The rarest words are left out. */
static void make_queries(dataset *d) {
  for (unsigned i = 0; i < DATASET_QUERIES; i++) {
    unsigned topic = i % (DATASET_QUERIES / 2);
    int two = i >= DATASET_QUERIES / 2;
    snprintf(d->queries[i], sizeof d->queries[i], "%s%s%s", topics[topic], two ? " " : "",
             two ? words[topic] : "");
  }
}

/* Writes the props of node number `i`: a title, a body of words that begins with `prefix`, two tags. */
static size_t compose(char *out, size_t size, const char *kind, unsigned i, const char *prefix,
                      uint64_t *random) {
  size_t count = sizeof words / sizeof words[0];
  size_t target = 80 + bench_below(random, 400);
  size_t at = (size_t)snprintf(out, size, "{\"title\":\"%s %u\",\"body\":\"%s", kind, i, prefix);
  while (at < target) {
    at += (size_t)snprintf(out + at, size - at, " %s", draw_word(random));
  }
  at += (size_t)snprintf(out + at, size - at, "\",\"tags\":[\"%s\",\"%s\"]}", words[i % count],
                         words[bench_below(random, count)]);
  if (at >= size) {
    bench_fail("the props of a node do not fit");
  }
  return at;
}

/* ---- Filling ---- */

static int fill(weir_txn *txn, void *data, weir_error *err) {
  const uint64_t *seed = data;
  uint64_t random = *seed; /* a copy: the function may be run again */
  char key[16], dst[16], props[BODY_MAX];
  for (unsigned i = 0; i < NODES; i++) {
    snprintf(key, sizeof key, "n%u", i);
    compose(props, sizeof props, "Concept", i, "about", &random);
    int rc = weir_node_put(txn, &WEIR_NODE(key, "concept", props), NULL, err);
    if (rc != WEIR_OK) {
      return rc;
    }
  }
  for (unsigned i = 0; i < NODES; i++) {
    for (unsigned step = 1; step <= 3; step++) {
      snprintf(key, sizeof key, "n%u", i);
      snprintf(dst, sizeof dst, "n%u", (i + step) % NODES);
      weir_edge edge = WEIR_EDGE(key, "next", dst);
      edge.weight = step;
      int rc = weir_edge_put(txn, &edge, 0, NULL, err);
      if (rc != WEIR_OK) {
        return rc;
      }
    }
  }
  return WEIR_OK;
}

static int put_extras(weir_txn *txn, void *data, weir_error *err) {
  dataset *d = data;
  for (unsigned i = 0; i < DATASET_EXTRAS; i++) {
    weir_node node = {.key = weir_str(d->extras[i].key),
                      .label = WEIR_TEXT("concept"),
                      .props = {d->extras[i].props, d->extras[i].len}};
    int rc = weir_node_put(txn, &node, NULL, err);
    if (rc != WEIR_OK) {
      return rc;
    }
  }
  return WEIR_OK;
}

static void make_extras(dataset *d, int foreign, uint64_t *random) {
  char prefix[NUMBER_WIDTH + 8], props[BODY_MAX];
  for (unsigned i = 0; i < DATASET_EXTRAS; i++) {
    extra *x = &d->extras[i];
    snprintf(x->key, sizeof x->key, foreign ? "weir-bench:%u" : "n%u", foreign ? i : NODES + i);
    snprintf(prefix, sizeof prefix, "write %0*d", NUMBER_WIDTH, 0);
    x->len = compose(props, sizeof props, "Extra", i, prefix, random);
    x->props = bench_alloc(x->len + 1);
    memcpy(x->props, props, x->len);
    x->number = (size_t)(strstr(x->props, "write ") - x->props) + strlen("write ");
  }
}

/* ---- Sampling the keys to read ---- */

struct sampling {
  uint64_t random, seen;
  char *key[SAMPLE_MAX];
};

/* Reservoir sampling: after any number of nodes every one of them was as likely to be kept. */
static int sample(const weir_node *node, void *data, weir_error *err) {
  struct sampling *s = data;
  uint64_t place = s->seen < SAMPLE_MAX ? s->seen : bench_below(&s->random, s->seen + 1);
  s->seen++;
  if (place >= SAMPLE_MAX || strncmp(node->key.ptr, "weir-bench:", 11) == 0) {
    return WEIR_OK;
  }
  free(s->key[place]);
  s->key[place] = strdup(node->key.ptr);
  return s->key[place] ? WEIR_OK : weir_fail(err, WEIR_NOMEM, "out of memory");
}

static void sample_keys(dataset *d, weir_graph *graph, uint64_t random) {
  weir_error err = WEIR_ERROR_INIT;
  struct sampling *s = bench_alloc(sizeof *s);
  s->random = random;
  weir_txn *txn = weir_graph_auto(graph);
  bench_check(weir_node_scan(txn, NULL, sample, s, &err), &err, "sampling keys");
  weir_text *keys = bench_alloc(SAMPLE_MAX * sizeof *keys);
  size_t count = 0;
  for (size_t i = 0; i < SAMPLE_MAX; i++) {
    if (s->key[i]) {
      keys[count++] = weir_str(s->key[i]);
    }
  }
  if (count == 0) {
    bench_fail("%s has no nodes to read", d->path);
  }
  weir_node *nodes = bench_alloc(count * sizeof *nodes);
  bench_check(weir_node_get_many(txn, keys, count, nodes, NULL, &d->memory, &err), &err, "reading nodes");
  d->count = count;
  d->keys = bench_alloc(count * sizeof *d->keys);
  d->props = bench_alloc(count * sizeof *d->props);
  for (size_t i = 0; i < count; i++) {
    d->keys[i] = nodes[i].key;
    d->props[i] = nodes[i].props;
    free(s->key[i]);
  }
  free(nodes);
  free(keys);
  free(s);
}

/* ---- The store ---- */

static weir_graph *open_store(const dataset *d, const bench_settings *settings) {
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = NULL;
  weir_pool_options options = bench_pool_options(settings, WEIR_SINGLE, 0, WEIR_NORMAL);
  bench_check(weir_graph_open(&graph, d->path, &options, &err), &err, "opening the store");
  return graph;
}

static void count_rows(weir_graph *graph, int64_t *nodes, int64_t *edges) {
  weir_error err = WEIR_ERROR_INIT;
  const weir_text any = {NULL, 0};
  bench_check(weir_node_count(weir_graph_auto(graph), any, nodes, &err), &err, "counting nodes");
  bench_check(weir_edge_count(weir_graph_auto(graph), any, edges, &err), &err, "counting edges");
}

dataset *dataset_make(const bench_settings *settings) {
  return dataset_make_at(settings, "store.db");
}

dataset *dataset_make_at(const bench_settings *settings, const char *name) {
  weir_error err = WEIR_ERROR_INIT;
  dataset *d = bench_alloc(sizeof *d);
  uint64_t random = settings->seed;
  d->next_write = 1;
  make_queries(d);
  if (snprintf(d->path, sizeof d->path, "%s/%s", bench_directory(settings), name) >= (int)sizeof d->path) {
    bench_fail("the name of the store is too long");
  }
  if (settings->db) {
    baseline_copy(settings->db, d->path);
  }
  weir_graph *graph = open_store(d, settings);
  if (!settings->db) {
    uint64_t seed = bench_random(&random);
    bench_check(weir_write(weir_graph_auto(graph), fill, &seed, NULL, &err), &err, "filling the store");
  }
  sample_keys(d, graph, bench_random(&random));
  make_extras(d, settings->db != NULL, &random);
  bench_check(weir_write(weir_graph_auto(graph), put_extras, d, NULL, &err), &err, "filling the store");
  count_rows(graph, &d->nodes, &d->edges);
  bench_check(weir_graph_close(graph, &err), &err, "closing the store");
  return d;
}

void dataset_free(dataset *d) {
  for (unsigned i = 0; i < DATASET_EXTRAS; i++) {
    free(d->extras[i].props);
  }
  weir_arena_clear(&d->memory);
  free(d->keys);
  free(d->props);
  free(d);
}

weir_node dataset_upsert(dataset *d, uint64_t write) {
  extra *x = &d->extras[write % DATASET_EXTRAS];
  uint64_t rest = write;
  for (size_t i = NUMBER_WIDTH; i-- > 0; rest /= 10) {
    x->props[x->number + i] = (char)('0' + rest % 10);
  }
  return (weir_node){.key = weir_str(x->key), .label = WEIR_TEXT("concept"), .props = {x->props, x->len}};
}

void dataset_committed(dataset *d, uint64_t first, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    d->extras[(first + i) % DATASET_EXTRAS].write = first + i;
  }
}

static int check_integrity(weir_txn *txn, void *data, weir_error *err) {
  sqlite3_stmt *statement = NULL;
  int *sound = data;
  int rc = weir_txn_prepare(txn, (weir_text)WEIR_TEXT("PRAGMA integrity_check"), &statement, err);
  if (rc != WEIR_OK) {
    return rc;
  }
  int step = sqlite3_step(statement);
  *sound = step == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
  return weir_txn_check(txn, step, err);
}

void dataset_verify(dataset *d, const bench_settings *settings, tally *errors) {
  weir_error err = WEIR_ERROR_INIT;
  weir_graph *graph = open_store(d, settings);
  weir_arena arena = WEIR_ARENA_INIT;
  int64_t nodes = 0, edges = 0;
  int sound = 0;
  count_rows(graph, &nodes, &edges);
  if (nodes != d->nodes || edges != d->edges) {
    errors->wrong++;
  }
  for (unsigned i = 0; i < DATASET_EXTRAS; i++) {
    extra *x = &d->extras[i];
    weir_node node;
    if (x->write) {
      dataset_upsert(d, x->write); /* puts the number of the last committed write into x->props */
    }
    bench_check(weir_node_get(weir_graph_auto(graph), weir_str(x->key), &node, &arena, &err), &err,
                "reading back");
    if (node.props.len != x->len || memcmp(node.props.ptr, x->props, x->len) != 0) {
      errors->wrong++;
    }
  }
  bench_check(weir_read(weir_graph_auto(graph), check_integrity, &sound, NULL, &err), &err,
              "PRAGMA integrity_check");
  if (!sound) {
    errors->other++;
  }
  weir_arena_clear(&arena);
  bench_check(weir_graph_close(graph, &err), &err, "closing the store");
}

/* ---- Errors by kind ---- */

void tally_weir(tally *t, int rc) {
  if (rc == WEIR_BUSY) {
    t->busy++;
  } else if (rc == WEIR_MISUSE) {
    t->misuse++;
  } else if (rc != WEIR_OK) {
    t->other++;
  }
}

void tally_sqlite(tally *t, int rc) {
  switch (rc & 0xff) {
  case SQLITE_OK:
    break;
  case SQLITE_BUSY:
    t->busy++;
    break;
  case SQLITE_LOCKED:
    t->locked++;
    break;
  case SQLITE_MISUSE:
    t->misuse++;
    break;
  default:
    t->other++;
  }
}

void tally_add(tally *t, const tally *from) {
  t->busy += from->busy;
  t->locked += from->locked;
  t->misuse += from->misuse;
  t->wrong += from->wrong;
  t->other += from->other;
}

uint64_t tally_total(const tally *t) {
  return t->busy + t->locked + t->misuse + t->wrong + t->other;
}

const char *tally_text(const tally *t, char *out, size_t size) {
  const struct {
    const char *name;
    uint64_t count;
  } kinds[] = {{"busy", t->busy},
               {"locked", t->locked},
               {"misuse", t->misuse},
               {"wrong", t->wrong},
               {"other", t->other}};
  size_t at = 0;
  snprintf(out, size, "none");
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (kinds[i].count && at < size) {
      at += (size_t)snprintf(out + at, size - at, "%s%s %" PRIu64, at ? ", " : "", kinds[i].name,
                             kinds[i].count);
    }
  }
  return out;
}
