/*
 * The memory of an agent: notes that are found by their words, weighed by how recent and how important they
 * are, and followed to the notes that they are linked to.
 *
 *   memory        in memory; a program of its own would name a file
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/search.h>
#include <weir/traverse.h>

#define TODAY      200 /* days since the agent began; a real one would ask the clock */
#define HALF_LIFE  30  /* days after which a note counts half */
#define NOTES_MOST 16

/* ---- Remembering ---- */

typedef struct note {
  const char *key, *text;
  int day;           /* when it was written down */
  double importance; /* 0 to 1 */
  const char *about; /* key of a note that it belongs to, or NULL */
} note;

static const note notes[] = {
    {"zurich", "Anna moved to Zürich and works in a bakery near the lake", 20, 0.9, NULL},
    {"bread", "Anna bakes rye bread with a sourdough that is ten years old", 150, 0.5, "zurich"},
    {"allergy", "Ben is allergic to rye, so no rye bread when he visits", 40, 1.0, "bread"},
    {"visit", "Ben visits Anna in Zurich next week", 198, 0.7, "zurich"},
    {"train", "The night train to Zurich needs a reservation", 190, 0.4, "visit"},
    {"tokyo", "Ben is learning Japanese: 東京 is Tokyo, パン is bread", 120, 0.3, NULL},
};

static int remember(weir_txn *txn, const note *new, weir_error *err) {
  char props[512];
  (void)snprintf(props, sizeof props, "{\"text\":\"%s\",\"day\":%d,\"importance\":%.1f}", new->text, new->day,
                 new->importance); /* these texts need no escapes */
  int rc = weir_node_put(txn, &WEIR_NODE(new->key, "note", props), NULL, err);
  if (rc == WEIR_OK && new->about)
    rc = weir_edge_put(txn, &WEIR_EDGE(new->key, "about", new->about), 0, NULL, err);
  return rc;
}

static int fill(weir_txn *txn, void *data, weir_error *err) {
  const weir_text label = weir_str("note");
  const weir_text_field field = {.path = weir_str("text")};
  const weir_text_index words = {
      .name = weir_str("notes"), .labels = &label, .label_count = 1, .fields = &field, .field_count = 1};
  (void)data;
  int rc = weir_text_index_create(txn, &words, NULL, err);
  for (size_t i = 0; rc == WEIR_OK && i < sizeof notes / sizeof notes[0]; i++)
    rc = remember(txn, &notes[i], err);
  return rc;
}

/* ---- Recalling ---- */

/* A note that came to mind. */
typedef struct thought {
  char key[32], snippet[256];
  double score;
} thought;

typedef struct thoughts {
  thought list[NOTES_MOST];
  size_t count;
} thoughts;

/* Copies the snippet with brackets around what matches. */
static void mark(const weir_hit *hit, char *to, size_t size) {
  size_t at = 0, len = 0;
  for (size_t i = 0; i <= hit->span_count && len < size; i++) {
    const weir_span span = i < hit->span_count ? hit->spans[i] : (weir_span){hit->snippet.len, 0};
    len +=
        (size_t)snprintf(to + len, size - len, span.len ? "%.*s[%.*s]" : "%.*s%.*s", (int)(span.start - at),
                         hit->snippet.ptr + at, (int)span.len, hit->snippet.ptr + span.start);
    at = span.start + span.len;
  }
}

static int weigh(const weir_hit *hit, void *data, weir_error *err) {
  thoughts *all = data;
  thought *new = &all->list[all->count++]; /* the search has a limit */
  int64_t day;
  double importance;
  int rc = weir_props_int(hit->node.props, "day", &day, err);
  if (rc == WEIR_OK)
    rc = weir_props_real(hit->node.props, "importance", &importance, err);
  if (rc != WEIR_OK)
    return rc;
  new->score = hit->score *importance *pow(0.5, (double)(TODAY - day) / HALF_LIFE);
  (void)snprintf(new->key, sizeof new->key, "%s", hit->node.key.ptr);
  mark(hit, new->snippet, sizeof new->snippet);
  return WEIR_OK;
}

static int compare(const void *left, const void *right) {
  const thought *a = left, *b = right;
  return a->score != b->score ? (a->score < b->score ? 1 : -1) : strcmp(a->key, b->key);
}

static int print_linked(const weir_step *step, void *data, weir_error *err) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_text text;
  (void)data;
  int rc = weir_props_text(step->node.props, "text", &text, &arena, err);
  if (rc == WEIR_OK)
    printf("     %u step%s: %s\n", step->depth, step->depth == 1 ? "" : "s", text.ptr);
  weir_arena_clear(&arena);
  return rc;
}

/* Prints what comes to mind, and what the first of it is linked to. */
static int recall(weir_txn *txn, void *data, weir_error *err) {
  const char *const *query = data;
  thoughts all = {.count = 0};
  weir_search search = WEIR_SEARCH_INIT;
  search.index = weir_str("notes");
  search.query = weir_str(*query);
  search.where = &WEIR_PROP("importance", WEIR_GE, weir_real(0.3));
  search.limit = NOTES_MOST;
  search.snippet_tokens = 8;
  int rc = weir_node_search(txn, &search, weigh, &all, err);
  if (rc != WEIR_OK)
    return rc;
  printf("%s\n", *query);
  if (all.count == 0)
    return printf("     nothing\n"), WEIR_OK;
  qsort(all.list, all.count, sizeof all.list[0], compare);
  for (size_t i = 0; i < all.count; i++)
    printf("  %zu. %-8s %s\n", i + 1, all.list[i].key, all.list[i].snippet);

  weir_walk_options walk = WEIR_WALK_OPTIONS_INIT;
  const weir_text first = weir_str(all.list[0].key);
  walk.reach.direction = WEIR_BOTH;
  walk.min_depth = 1;
  walk.max_depth = 2;
  walk.flags = WEIR_WITH_NODES;
  return weir_walk_once(txn, &first, 1, &walk, print_linked, NULL, NULL, err);
}

int main(void) {
  static const char *queries[] = {"zurich", "rye bread", "\"rye bread\" NOT sourdough", "visit* OR train",
                                  "京"};
  weir_graph *graph = NULL;
  weir_error err = WEIR_ERROR_INIT;
  int rc = weir_graph_open(&graph, ":memory:", NULL, &err);
  if (rc == WEIR_OK)
    rc = weir_write(weir_graph_auto(graph), fill, NULL, NULL, &err);
  for (size_t i = 0; rc == WEIR_OK && i < sizeof queries / sizeof queries[0]; i++)
    rc = weir_read(weir_graph_auto(graph), recall, &queries[i], NULL, &err);
  int closed = weir_graph_close(graph, rc == WEIR_OK ? &err : NULL);
  if (rc != WEIR_OK || closed != WEIR_OK)
    return fprintf(stderr, "memory: %s\n", err.message), 1;
  return 0;
}
