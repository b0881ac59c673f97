#include "searches.h"

void make_index(weir_txn *txn, const char *label, weir_tokenizer tokenizer) {
  const weir_text labels[] = {weir_str(label)};
  const weir_text_field fields[] = {{WEIR_TEXT("title"), 2.0}, {WEIR_TEXT("body"), 0}};
  const weir_text_index index = {.name = WEIR_TEXT("i"),
                                 .labels = label ? labels : NULL,
                                 .label_count = label != NULL,
                                 .fields = fields,
                                 .field_count = 2,
                                 .tokenizer = tokenizer};
  OK(weir_text_index_create(txn, &index, NULL, &err));
}

void put_props(weir_txn *txn, const char *key, const char *label, const char *props) {
  OK(weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err));
}

void put_text(weir_txn *txn, const char *key, const char *label, const char *body) {
  char props[4096];
  snprintf(props, sizeof props, "{\"body\":\"%s\"}", body);
  put_props(txn, key, label, props);
}

int pick(weir_test_rng *rng, size_t below) {
  return (int)weir_test_below(rng, below);
}

struct keys {
  char list[64][16];
  int count;
};

static int note_key(const weir_hit *hit, void *data, weir_error *error) {
  struct keys *keys = data;
  if (keys->count == 64) {
    return weir_fail(error, WEIR_FULL, "more than 64 hits");
  }
  snprintf(keys->list[keys->count++], sizeof keys->list[0], "%s", hit->node.key.ptr);
  return WEIR_OK;
}

static int compare_keys(const void *a, const void *b) {
  return strcmp(a, b);
}

static int search_keys(weir_txn *txn, const char *query, int sorted, char text[1024], weir_error *error) {
  struct keys keys = {.count = 0};
  weir_search search = WEIR_SEARCH_INIT;
  search.index = weir_str("i");
  search.query = weir_str(query);
  int rc = weir_node_search(txn, &search, note_key, &keys, error);
  if (sorted) {
    qsort(keys.list, (size_t)keys.count, sizeof keys.list[0], compare_keys);
  }
  text[0] = '\0';
  for (int i = 0; i < keys.count; i++) {
    strcat(text, i ? " " : "");
    strcat(text, keys.list[i]);
  }
  return rc;
}

static char *next_text(void) {
  static char texts[4][1024];
  static unsigned next;
  return texts[next++ % 4];
}

int find_keys(weir_txn *txn, const char *query, char keys[1024], weir_error *error) {
  return search_keys(txn, query, 1, keys, error);
}

const char *found(weir_txn *txn, const char *query) {
  char *text = next_text();
  OK(search_keys(txn, query, 1, text, &err));
  return text;
}

const char *ranked(weir_txn *txn, const char *query) {
  char *text = next_text();
  OK(search_keys(txn, query, 0, text, &err));
  return text;
}

int see_no_hit(const weir_hit *hit, void *data, weir_error *error) {
  (void)data;
  return weir_fail(error, WEIR_CONFLICT, "visited %s", hit->node.key.ptr);
}

struct ids {
  int64_t list[16];
  int count;
};

/* FTS5's own check, against the view that it reads: it is a write to SQLite. */
static int check_fts(weir_txn *txn, void *data, weir_error *error) {
  const struct ids *ids = data;
  int rc = WEIR_OK;
  for (int i = 0; i < ids->count && rc == WEIR_OK; i++) {
    char sql[200];
    snprintf(sql, sizeof sql,
             "INSERT INTO node_text_%" PRId64 "(node_text_%" PRId64 ", rank) VALUES ('integrity-check', 1)",
             ids->list[i], ids->list[i]);
    rc = weir_txn_exec(txn, sql, error);
  }
  return rc;
}

void check_indexes(weir_txn *txn) {
  struct ids ids = {.count = (int)sql_number(txn, "SELECT count(*) FROM text_index")};
  for (int i = 0; i < ids.count; i++) {
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT id FROM text_index ORDER BY id LIMIT 1 OFFSET %d", i);
    ids.list[i] = sql_number(txn, sql);
  }
  OK(weir_write(txn, check_fts, &ids, NULL, &err));
}
