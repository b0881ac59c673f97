/* Random writes, with text indexes that come and go, compared with a list of texts; the same with writers in
 * other threads while an index is made. */
#include <pthread.h>

#include "searches.h"

#define NODES 24
#define WORDS 6

static const char *const vocabulary[WORDS] = {"alpha", "beta", "gamma", "délta", "中文", "x"};

/* A node as it should be: words by number in title and body, -1: no such member. */
struct model {
  int there;
  int label; /* 0: doc, 1: other, 2: both */
  int title;
  int body[4];
  int extra;
};

static void write_props(const struct model *node, char props[512]) {
  char *at = props + sprintf(props, "{\"extra\":%d", node->extra);
  if (node->title >= 0) {
    at += sprintf(at, ",\"title\":\"%s\"", vocabulary[node->title]);
  }
  at += sprintf(at, ",\"body\":[");
  for (int i = 0; i < 4; i++) {
    at +=
        node->body[i] >= 0 ? sprintf(at, "%s\"%s\"", at[-1] == '[' ? "" : ",", vocabulary[node->body[i]]) : 0;
  }
  sprintf(at, "]}");
}

static void change_node(weir_txn *txn, int number, struct model *node, weir_test_rng *seed) {
  static const weir_text labels[] = {WEIR_TEXT("doc"), WEIR_TEXT("other")};
  char key[16];
  char props[512];
  snprintf(key, sizeof key, "n%02d", number);
  if (node->there && pick(seed, 4) == 0) {
    node->there = 0;
    OK(weir_node_del(txn, weir_str(key), NULL, &err));
    return;
  }
  int what = node->there ? pick(seed, 4) : 3;
  node->extra = pick(seed, 100);
  node->label = what == 1 || what == 3 ? pick(seed, 3) : node->label;
  node->title = what == 2 || what == 3 ? pick(seed, WORDS + 1) - 1 : node->title;
  for (int i = 0; i < 4 && what == 3; i++) {
    node->body[i] = pick(seed, 2 * WORDS) - WORDS;
  }
  node->there = 1;
  write_props(node, props);
  const weir_node put = {.key = weir_str(key),
                         .labels = labels + (node->label == 1),
                         .label_count = node->label == 2 ? 2 : 1,
                         .props = weir_str(props)};
  OK(weir_node_put(txn, &put, NULL, &err));
}

static int has_word(const struct model *node, int word) {
  int has = node->title == word;
  for (int i = 0; i < 4; i++) {
    has |= node->body[i] == word;
  }
  return has;
}

static void check_words(weir_txn *txn, const struct model *nodes, int all) {
  for (int word = 0; word < WORDS; word++) {
    char keys[512] = "";
    for (int i = 0; i < NODES; i++) {
      if (nodes[i].there && (all || nodes[i].label != 1) && has_word(&nodes[i], word)) {
        sprintf(keys + strlen(keys), "%sn%02d", keys[0] ? " " : "", i);
      }
    }
    cr_assert(eq(str, (char *)found(txn, vocabulary[word]), keys), "%s", vocabulary[word]);
  }
}

GRAPH_TEST(search_model, random_writes_keep_indexes_exact) {
  struct model nodes[NODES] = {{0}};
  weir_test_rng seed = {weir_test_seed()};
  for (int round = 0; round < 6; round++) {
    int all = pick(&seed, 2);
    weir_tokenizer tokenizer = pick(&seed, 2) ? WEIR_WORDS : WEIR_SUBSTRING;
    for (int i = pick(&seed, 40); i > 0; i--) {
      int number = pick(&seed, NODES);
      change_node(txn, number, &nodes[number], &seed);
    }
    make_index(txn, all ? NULL : "doc", tokenizer);
    for (int i = 0; i < 60; i++) {
      int number = pick(&seed, NODES);
      change_node(txn, number, &nodes[number], &seed);
      if (i % 20 == 0) {
        check_words(txn, nodes, all);
      }
    }
    check_words(txn, nodes, all);
    check_indexes(txn);
    OK(weir_text_index_drop(txn, weir_str("i"), NULL, &err));
  }
}

/* ---- With writers in other threads
 * ------------------------------------------------------------------------- */

struct writer {
  weir_graph *graph;
  int number; /* it writes every second node, from this */
  weir_test_rng seed;
  int *stop;
  struct model nodes[NODES];
  int rc;
  int writes;
};

static int put_model(weir_txn *txn, int number, struct model *node, weir_test_rng *seed) {
  char key[16];
  char props[512];
  snprintf(key, sizeof key, "n%02d", number);
  if (node->there && pick(seed, 3) == 0) {
    node->there = 0;
    return weir_node_del(txn, weir_str(key), NULL, NULL);
  }
  *node = (struct model){.there = 1, .label = pick(seed, 2), .title = pick(seed, WORDS)};
  for (int i = 0; i < 4; i++) {
    node->body[i] = pick(seed, 2 * WORDS) - WORDS;
  }
  write_props(node, props);
  return weir_node_put(txn, &WEIR_NODE(key, node->label ? "other" : "doc", props), NULL, NULL);
}

static void *run_writer(void *data) {
  struct writer *writer = data;
  while (!__atomic_load_n(writer->stop, __ATOMIC_ACQUIRE) && writer->rc == WEIR_OK) {
    int number = writer->number + 2 * pick(&writer->seed, NODES / 2);
    writer->rc = put_model(weir_graph_auto(writer->graph), number, &writer->nodes[number], &writer->seed);
    __atomic_add_fetch(&writer->writes, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

struct progress {
  struct writer *writers;
  int until[2];
  int late; /* a writer did not write in time */
};

static int have_written(void *data) {
  const struct progress *progress = data;
  return __atomic_load_n(&progress->writers[0].writes, __ATOMIC_RELAXED) >= progress->until[0] &&
         __atomic_load_n(&progress->writers[1].writes, __ATOMIC_RELAXED) >= progress->until[1];
}

/* Between two batches each of the writers writes. */
static int wait_for_writes(const weir_progress *done, void *data) {
  struct progress *progress = data;
  (void)done;
  for (int i = 0; i < 2; i++) {
    progress->until[i] = __atomic_load_n(&progress->writers[i].writes, __ATOMIC_RELAXED) + 3;
  }
  progress->late |= !weir_test_wait(have_written, progress, WEIR_TEST_WAIT_MS);
  return progress->late;
}

Test(search_model, writers_go_on_while_an_index_is_made, .timeout = 100) {
  char path[512];
  weir_graph *graph = NULL;
  pthread_t threads[2];
  struct writer writers[2];
  int stop = 0;
  struct progress progress = {.writers = writers};
  weir_test_path(path, sizeof path, "writers.db");
  OK(weir_graph_open(&graph, path, NULL, &err));
  weir_txn *txn = weir_graph_auto(graph);
  for (int i = 0; i < 2; i++) {
    writers[i] =
        (struct writer){.graph = graph, .number = i, .seed = {weir_test_seed() + (uint64_t)i}, .stop = &stop};
    cr_assert(zero(int, pthread_create(&threads[i], NULL, run_writer, &writers[i])));
  }
  for (int round = 0; round < 4; round++) {
    const weir_text labels[] = {WEIR_TEXT("doc")};
    const weir_text_field fields[] = {{WEIR_TEXT("title"), 0}, {WEIR_TEXT("body"), 0}};
    const weir_text_index index = {
        .name = WEIR_TEXT("i"), .labels = labels, .label_count = 1, .fields = fields, .field_count = 2};
    weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
    options.batch = 3;
    options.on_progress = wait_for_writes;
    options.data = &progress;
    OK(weir_text_index_create(txn, &index, &options, &err));
    check_indexes(txn);
    if (round < 3) {
      OK(weir_text_index_drop(txn, weir_str("i"), NULL, &err));
    }
  }
  cr_assert(zero(int, progress.late));
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  struct model nodes[NODES];
  for (int i = 0; i < 2; i++) {
    cr_assert(zero(int, pthread_join(threads[i], NULL)));
    cr_assert(eq(int, writers[i].rc, WEIR_OK));
    for (int n = i; n < NODES; n += 2) {
      nodes[n] = writers[i].nodes[n];
    }
  }
  check_words(txn, nodes, 0);
  check_indexes(txn);
  OK(weir_graph_close(graph, &err));
}
