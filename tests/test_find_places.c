/* Places in the result of a find: pages, tokens, and writers between the pages. */
#include "graph_fixture.h"

#include <weir/query.h>

enum { ROWS = 60 };

/* ---- Pages -----------------------------------------------------------------------------------------------
 */

/* How often each number was seen. */
struct seen {
  int times[4 * ROWS];
  int count;
  int stop_at;
  int fail_at;
};

static int note(const weir_node *node, void *data, weir_error *error) {
  struct seen *seen = data;
  seen->times[atoi(node->key.ptr + 1)]++;
  seen->count++;
  if (seen->count == seen->fail_at) {
    seen->times[atoi(node->key.ptr + 1)]--;
    return weir_fail(error, WEIR_CONFLICT, "not this one");
  }
  return seen->count == seen->stop_at ? WEIR_STOP : WEIR_OK;
}

static void put(weir_txn *txn, int number, const char *label, const char *props) {
  char key[16];
  snprintf(key, sizeof key, "n%d", number);
  OK(weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err));
}

static void put_rows(weir_txn *txn) {
  static const char *const values[] = {"1", "\"t\"", "2.5", "true", "[1]", "null", "\"\"", "1"};
  for (int i = 0; i < ROWS; i++) {
    char props[64];
    snprintf(props, sizeof props, "{\"v\":%s,\"keep\":%d}", values[i % 8], i % 2);
    put(txn, i, i % 3 ? "x" : "y", props);
  }
}

static weir_find by_value(weir_place *place, size_t limit) {
  weir_find find = WEIR_FIND_INIT;
  find.order = WEIR_FIELD_PROP;
  find.order_path = weir_str("v");
  find.place = place;
  find.limit = limit;
  return find;
}

/* Odd numbers stay as they are; even ones come, go and change. */
static void write_between(weir_txn *txn, weir_test_rng *rng) {
  for (int i = 0; i < 6; i++) {
    int number = 2 * (int)weir_test_below(rng, 2 * ROWS);
    char key[16];
    char props[64];
    snprintf(key, sizeof key, "n%d", number);
    snprintf(props, sizeof props, "{\"v\":%d}", (int)weir_test_below(rng, 5));
    if (weir_test_below(rng, 2)) {
      OK(weir_node_del(txn, weir_str(key), NULL, &err));
    } else {
      put(txn, number, weir_test_below(rng, 2) ? "x" : "y", props);
    }
  }
}

static void rows_that_stay_are_seen_once(weir_txn *txn, weir_find find, weir_test_rng *rng) {
  weir_place place = WEIR_PLACE_INIT;
  struct seen seen = {.count = 0};
  find.place = &place;
  for (find.limit = 1; !place.done; find.limit = 1 + weir_test_below(rng, 9)) {
    OK(weir_node_find(txn, &find, note, &seen, &err));
    write_between(txn, rng);
  }
  for (int i = 1; i < ROWS; i += 2) {
    int wanted = find.label.len == 0 || i % 3 != 0;
    cr_assert(eq(int, seen.times[i], wanted), "n%d", i);
  }
  weir_place_clear(&place);
}

GRAPH_TEST(find_places, hold_while_others_write) {
  weir_test_rng rng = {weir_test_seed()};
  const weir_index index = {WEIR_NODES, WEIR_TEXT("x"), WEIR_TEXT("v"), 0, 0};
  const weir_field orders[] = {WEIR_FIELD_NONE, WEIR_FIELD_KEY, WEIR_FIELD_REV, WEIR_FIELD_PROP};
  put_rows(txn);
  for (int i = 0; i < 32; i++) {
    weir_find find = by_value(NULL, 0);
    find.order = orders[i % 4];
    find.descending = i / 4 % 2;
    find.label = weir_str(i / 8 % 2 ? "x" : "");
    if (i == 16) {
      OK(weir_index_create(txn, &index, NULL, &err));
    }
    rows_that_stay_are_seen_once(txn, find, &rng);
  }
}

GRAPH_TEST(find_places, are_behind_the_last_row_that_was_accepted) {
  weir_place place = WEIR_PLACE_INIT;
  weir_find find = by_value(&place, 0);
  struct seen seen = {.stop_at = 7};
  put_rows(txn);
  OK(weir_node_find(txn, &find, note, &seen, &err));
  cr_assert(eq(int, seen.count, 7));
  cr_assert(zero(int, place.done));
  seen.fail_at = 20;
  FAILS(weir_node_find(txn, &find, note, &seen, &err), WEIR_CONFLICT, "not this one");
  cr_assert(eq(int, seen.count, 20));
  seen.fail_at = 21; /* at once: it stays where it is */
  FAILS(weir_node_find(txn, &find, note, &seen, &err), WEIR_CONFLICT, "not this one");
  OK(weir_node_find(txn, &find, note, &seen, &err));
  cr_assert(eq(int, place.done, 1));
  for (int i = 0; i < ROWS; i++) {
    cr_assert(eq(int, seen.times[i], 1), "n%d", i);
  }
  int before = seen.count;
  OK(weir_node_find(txn, &find, note, &seen, &err)); /* done stays done */
  cr_assert(eq(int, seen.count, before));
  weir_place_clear(&place);
  cr_assert(zero(int, place.done));
  OK(weir_node_find(txn, &find, note, &seen, &err)); /* cleared is the beginning */
  cr_assert(eq(int, seen.count, before + ROWS));
  weir_place_clear(&place);
  weir_place_clear(NULL);
}

/* ---- Tokens ----------------------------------------------------------------------------------------------
 */

static char *token_of(weir_txn *txn, weir_find find) {
  weir_place place = WEIR_PLACE_INIT;
  struct seen seen = {.count = 0};
  find.place = &place;
  find.limit = 3;
  OK(weir_node_find(txn, &find, note, &seen, &err));
  cr_assert(ne(ptr, place.token, NULL));
  char *token = strdup(place.token);
  weir_place_clear(&place);
  return token;
}

GRAPH_TEST(find_places, can_be_sent_away_as_printable_text) {
  put_rows(txn);
  weir_place place = WEIR_PLACE_INIT;
  struct seen seen = {.count = 0};
  int rows = 0;
  do {
    weir_find find = by_value(&place, 4);
    OK(weir_node_find(txn, &find, note, &seen, &err));
    char *copy = place.token ? strdup(place.token) : NULL;
    for (const char *at = copy; at && *at; at++) {
      cr_assert(
          ne(ptr, strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", *at), NULL));
    }
    rows = seen.count;
    if (!place.done) {
      weir_place_clear(&place);
      OK(weir_place_set(&place, weir_str(copy), &err));
    }
    free(copy);
  } while (!place.done);
  cr_assert(eq(int, rows, ROWS));
  OK(weir_place_set(&place, weir_str(""), &err)); /* the beginning */
  cr_assert(zero(int, place.done));
  weir_place_clear(&place);
  FAILS(weir_place_set(NULL, weir_str("x"), &err), WEIR_INVALID, "place is NULL");
  FAILS(weir_place_set(&place, (weir_text){NULL, 3}, &err), WEIR_INVALID, "token is NULL");
}

static int never(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  (void)data;
  return weir_fail(error, WEIR_CONFLICT, "an edge");
}

static int use_token(weir_txn *txn, weir_find find, const char *token, int edges) {
  weir_place place = WEIR_PLACE_INIT;
  struct seen seen = {.count = 0};
  OK(weir_place_set(&place, weir_str(token), &err));
  find.place = &place;
  err = (weir_error)WEIR_ERROR_INIT;
  int rc =
      edges ? weir_edge_find(txn, &find, never, &seen, &err) : weir_node_find(txn, &find, note, &seen, &err);
  cr_assert(rc == WEIR_OK || seen.count == 0);
  weir_place_clear(&place);
  return rc;
}

#define OTHER(find, edges) FAILS(use_token(txn, find, token, edges), WEIR_INVALID, "another question")

GRAPH_TEST(find_places, belong_to_one_question) {
  put_rows(txn);
  weir_cond keep = WEIR_PROP("keep", WEIR_GE, weir_int(0));
  weir_cond other_value = WEIR_PROP("keep", WEIR_GE, weir_int(-1));
  weir_cond same = WEIR_PROP("$.keep", WEIR_GE, weir_int(0));
  weir_find find = by_value(NULL, 0);
  weir_find asked = find;
  asked.where = &keep;
  char *token = token_of(txn, asked);
  OTHER(find, 0);
  find.where = &other_value;
  OTHER(find, 0);
  find = asked;
  find.descending = 1;
  OTHER(find, 0);
  find = asked;
  find.label = weir_str("x");
  OTHER(find, 0);
  find.label = weir_str("nobody");
  OTHER(find, 0);
  find = asked;
  find.order_path = weir_str("keep");
  OTHER(find, 0);
  find.order = WEIR_FIELD_NONE;
  OTHER(find, 0);
  OTHER(asked, 1);
  find = asked;
  find.where = &same;
  find.limit = 5; /* how many makes no difference, nor how a path is spelt */
  OK(use_token(txn, find, token, 0));
  free(token);
}

GRAPH_TEST(find_places, that_are_damaged_are_refused) {
  put_rows(txn);
  weir_find find = by_value(NULL, 0);
  char *token = token_of(txn, find);
  size_t len = strlen(token);
  FAILS(use_token(txn, find, "x", 0), WEIR_INVALID, "damaged");
  FAILS(use_token(txn, find, "what is this?", 0), WEIR_INVALID, "damaged");
  for (size_t i = 0; i < len; i++) {
    char old = token[i];
    token[i] = old == 'A' ? 'B' : 'A';
    cr_assert(eq(int, use_token(txn, find, token, 0), WEIR_INVALID), "byte %zu", i);
    token[i] = old;
  }
  for (size_t cut = 1; cut < len; cut++) {
    char old = token[cut];
    token[cut] = '\0';
    cr_assert(eq(int, use_token(txn, find, token, 0), WEIR_INVALID), "cut at %zu", cut);
    token[cut] = old;
  }
  OK(use_token(txn, find, token, 0));
  free(token);
}

/* The value in a place may be long. */
GRAPH_TEST(find_places, hold_long_values) {
  enum { LONG = 5000 };
  static char props[LONG + 64];
  weir_place place = WEIR_PLACE_INIT;
  struct seen seen = {.count = 0};
  for (int i = 0; i < 5; i++) {
    int at = snprintf(props, sizeof props, "{\"v\":\"");
    memset(props + at, 'a' + i, LONG - (size_t)i * 900);
    snprintf(props + at + LONG - i * 900, 8, "\"}");
    put(txn, i, "x", props);
  }
  for (weir_find find = by_value(&place, 1); !place.done;) {
    OK(weir_node_find(txn, &find, note, &seen, &err));
  }
  cr_assert(eq(int, seen.count, 5));
  weir_place_clear(&place);
}
