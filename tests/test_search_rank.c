/* The order of hits, their scores, pages of them, and hits restricted by label and condition. */
#include <math.h>

#include "searches.h"

/* ---- Scores
 * ------------------------------------------------------------------------------------------------ */

GRAPH_TEST(search_rank, more_and_rarer_words_in_shorter_texts_come_first) {
  put_text(txn, "a", NULL, "apple x x x x x x x x x x");
  put_text(txn, "b", NULL, "apple x");
  put_text(txn, "c", NULL, "apple apple");
  put_text(txn, "d", NULL, "apple rare");
  put_text(txn, "e", NULL, "nothing here");
  put_text(txn, "f", NULL, "nothing here");
  put_text(txn, "g", NULL, "nothing here");
  put_text(txn, "h", NULL, "nothing here");
  put_text(txn, "i", NULL, "nothing here");
  make_index(txn, NULL, WEIR_WORDS);
  SAME_STRING(ranked(txn, "apple"), "c b d a"); /* b and d are equal: in the order of the scan */
  SAME_STRING(ranked(txn, "apple OR rare"), "d c b a");
}

GRAPH_TEST(search_rank, fields_have_weights) {
  put_props(txn, "a", NULL, "{\"body\":\"apple\",\"title\":\"other\"}");
  put_props(txn, "b", NULL, "{\"body\":\"other\",\"title\":\"apple\"}");
  put_props(txn, "c", NULL, "{\"body\":\"x\",\"title\":\"y\"}");
  put_props(txn, "d", NULL, "{\"body\":\"x\",\"title\":\"y\"}");
  put_props(txn, "e", NULL, "{\"body\":\"x\",\"title\":\"y\"}");
  make_index(txn, NULL, WEIR_WORDS);
  SAME_STRING(ranked(txn, "apple"), "b a");
}

struct score {
  double score;
  int count;
};

static int note_score(const weir_hit *hit, void *data, weir_error *error) {
  struct score *score = data;
  (void)error;
  score->score = hit->score;
  score->count++;
  return WEIR_OK;
}

/* One of three texts holds "apple", twice of its 4 terms; they have 2 on average. */
GRAPH_TEST(search_rank, the_score_is_bm25) {
  struct score score = {0};
  weir_search search = WEIR_SEARCH_INIT;
  put_text(txn, "a", NULL, "apple apple x y");
  put_text(txn, "b", NULL, "z");
  put_text(txn, "c", NULL, "z");
  make_index(txn, NULL, WEIR_WORDS);
  search.index = weir_str("i");
  search.query = weir_str("apple");
  OK(weir_node_search(txn, &search, note_score, &score, &err));
  double idf = log((3 - 1 + 0.5) / (1 + 0.5));
  double expected = idf * 2 * (1.2 + 1) / (2 + 1.2 * (1 - 0.75 + 0.75 * 4 / 2));
  cr_assert(eq(int, score.count, 1));
  cr_assert(fabs(score.score - expected) < 1e-9, "%g, not %g", score.score, expected);
}

/* ---- Pages
 * ------------------------------------------------------------------------------------------------- */

struct list {
  char text[4096];
  int count;
  int stop_after;
  int fail_after;
};

static int note_hit(const weir_hit *hit, void *data, weir_error *error) {
  struct list *list = data;
  if (list->fail_after && list->count == list->fail_after) {
    return weir_fail(error, WEIR_CONFLICT, "enough");
  }
  snprintf(list->text + strlen(list->text), sizeof list->text - strlen(list->text), "%s %.17g\n",
           hit->node.key.ptr, hit->score);
  return ++list->count == list->stop_after ? WEIR_STOP : WEIR_OK;
}

static void put_fruit(weir_txn *txn) {
  static const char *const bodies[] = {"apple", "apple pie", "pie", "apple apple pie", "green apple tree"};
  for (int i = 0; i < 40; i++) {
    char key[16];
    snprintf(key, sizeof key, "n%02d", (i * 7) % 40);
    put_text(txn, key, i % 2 ? "odd" : "even", bodies[i % 5]);
  }
}

GRAPH_TEST(search_rank, pages_are_the_same_as_one_result) {
  struct list whole = {.count = 0};
  weir_search search = WEIR_SEARCH_INIT;
  put_fruit(txn);
  make_index(txn, NULL, WEIR_WORDS);
  search.index = weir_str("i");
  search.query = weir_str("apple OR pie");
  OK(weir_node_search(txn, &search, note_hit, &whole, &err));
  cr_assert(eq(int, whole.count, 40));
  for (size_t limit = 1; limit <= 41; limit += limit < 8 ? 1 : 11) {
    struct list pages = {.count = 0};
    weir_place place = WEIR_PLACE_INIT;
    int calls = 0;
    search.place = &place;
    search.limit = limit;
    while (!place.done) {
      char token[200];
      OK(weir_node_search(txn, &search, note_hit, &pages, &err));
      snprintf(token, sizeof token, "%s", place.token);
      if (!place.done) { /* as if it came back from elsewhere */
        OK(weir_place_set(&place, weir_str(token), &err));
      }
      calls++;
    }
    SAME_STRING(pages.text, whole.text);
    cr_assert(eq(int, calls, (int)((40 + limit - 1) / limit)));
    OK(weir_node_search(txn, &search, see_no_hit, NULL, &err)); /* it is done */
    weir_place_clear(&place);
  }
}

GRAPH_TEST(search_rank, a_visitor_that_stops_or_fails_is_gone_on_behind) {
  struct list whole = {.count = 0};
  struct list parts = {.stop_after = 3};
  weir_search search = WEIR_SEARCH_INIT;
  weir_place place = WEIR_PLACE_INIT;
  put_fruit(txn);
  make_index(txn, NULL, WEIR_WORDS);
  search.index = weir_str("i");
  search.query = weir_str("apple");
  OK(weir_node_search(txn, &search, note_hit, &whole, &err));
  search.place = &place;
  OK(weir_node_search(txn, &search, note_hit, &parts, &err));
  cr_assert(eq(int, parts.count, 3));
  cr_assert(zero(int, place.done));
  parts.fail_after = 9;
  FAILS(weir_node_search(txn, &search, note_hit, &parts, &err), WEIR_CONFLICT, "enough");
  cr_assert(eq(int, parts.count, 9));
  parts.fail_after = 0;
  OK(weir_node_search(txn, &search, note_hit, &parts, &err));
  SAME_STRING(parts.text, whole.text);
  cr_assert(eq(int, place.done, 1));
  weir_place_clear(&place);
}

GRAPH_TEST(search_rank, places_belong_to_their_question) {
  struct list list = {.stop_after = 1};
  weir_search search = WEIR_SEARCH_INIT;
  weir_place place = WEIR_PLACE_INIT;
  put_fruit(txn);
  make_index(txn, NULL, WEIR_WORDS);
  search.index = weir_str("i");
  search.query = weir_str("apple");
  search.place = &place;
  OK(weir_node_search(txn, &search, note_hit, &list, &err));
  search.query = weir_str("pie");
  FAILS(weir_node_search(txn, &search, see_no_hit, NULL, &err), WEIR_INVALID, "another question");
  search.query = weir_str("apple");
  search.label = weir_str("odd");
  FAILS(weir_node_search(txn, &search, see_no_hit, NULL, &err), WEIR_INVALID, "another question");
  OK(weir_place_set(&place, weir_str("nonsense"), &err));
  FAILS(weir_node_search(txn, &search, see_no_hit, NULL, &err), WEIR_INVALID, "damaged");
  weir_place_clear(&place);
}

/* ---- Restrictions
 * ------------------------------------------------------------------------------------------ */

static const char *restricted(weir_txn *txn, const char *label, const weir_cond *where) {
  static struct list list;
  weir_search search = WEIR_SEARCH_INIT;
  list = (struct list){.count = 0};
  search.index = weir_str("i");
  search.query = weir_str("word");
  search.label = weir_str(label);
  search.where = where;
  OK(weir_node_search(txn, &search, note_hit, &list, &err));
  for (char *at = list.text, *space; (space = strchr(at, ' ')); at = space) { /* keys only */
    char *end = strchr(space, '\n');
    memmove(space, end, strlen(end) + 1);
    *space = ' ';
    space++;
  }
  return list.text;
}

GRAPH_TEST(search_rank, hits_are_restricted_by_label_and_condition) {
  put_props(txn, "a", "x", "{\"body\":\"word\",\"n\":1}");
  put_props(txn, "b", "y", "{\"body\":\"word\",\"n\":2}");
  put_props(txn, "c", "x", "{\"body\":\"word\",\"n\":3}");
  put_props(txn, "d", "x", "{\"body\":\"other\",\"n\":3}");
  make_index(txn, NULL, WEIR_WORDS);
  SAME_STRING(restricted(txn, NULL, NULL), "a b c ");
  SAME_STRING(restricted(txn, "x", NULL), "a c ");
  SAME_STRING(restricted(txn, "unheard of", NULL), "");
  SAME_STRING(restricted(txn, NULL, &WEIR_PROP("n", WEIR_GE, weir_int(2))), "b c ");
  SAME_STRING(restricted(txn, "x", &WEIR_PROP("n", WEIR_GE, weir_int(2))), "c ");
  SAME_STRING(restricted(txn, "x", &WEIR_EXCEPT(WEIR_LABELED("y"))), "a c ");
  SAME_STRING(restricted(txn, NULL, &WEIR_TEST(WEIR_FIELD_KEY, WEIR_EQ, weir_string("b"))), "b ");
  weir_search search = WEIR_SEARCH_INIT;
  const weir_cond wrong = WEIR_TEST(WEIR_FIELD_WEIGHT, WEIR_EQ, weir_int(1));
  search.index = weir_str("i");
  search.query = weir_str("word");
  search.where = &wrong;
  FAILS(weir_node_search(txn, &search, see_no_hit, NULL, &err), WEIR_INVALID, "weight");
}

/* ---- Visitors
 * ---------------------------------------------------------------------------------------------- */

struct nested {
  weir_txn *txn;
  int count;
};

static int count_hit(const weir_hit *hit, void *data, weir_error *error) {
  (void)hit;
  (void)error;
  ++*(int *)data;
  return WEIR_OK;
}

/* Searches, reads, and must not write. */
static int visit_inside(const weir_hit *hit, void *data, weir_error *error) {
  struct nested *nested = data;
  weir_search search = WEIR_SEARCH_INIT;
  char before[64];
  snprintf(before, sizeof before, "%s", hit->snippet.ptr);
  search.index = weir_str("i");
  search.query = weir_str("apple");
  search.snippet_tokens = 8;
  int rc = weir_node_search(nested->txn, &search, count_hit, &nested->count, error);
  if (rc == WEIR_OK && strcmp(before, hit->snippet.ptr) != 0) {
    rc = weir_fail(error, WEIR_CORRUPT, "the snippet has changed");
  }
  if (rc == WEIR_OK && weir_node_put(nested->txn, &WEIR_NODE("z", NULL, NULL), NULL, NULL) != WEIR_MISUSE) {
    rc = weir_fail(error, WEIR_CORRUPT, "a visitor has written");
  }
  return rc;
}

static int search_inside(weir_txn *txn, void *data, weir_error *error) {
  struct nested *nested = data;
  weir_search search = WEIR_SEARCH_INIT;
  search.index = weir_str("i");
  search.query = weir_str("apple");
  search.snippet_tokens = 8;
  nested->txn = txn;
  return weir_node_search(txn, &search, visit_inside, nested, error);
}

GRAPH_TEST(search_rank, visitors_may_search_and_must_not_write) {
  struct nested nested = {.count = 0};
  put_fruit(txn);
  make_index(txn, NULL, WEIR_WORDS);
  OK(weir_read(txn, search_inside, &nested, NULL, &err));
  cr_assert(eq(int, nested.count, 32 * 32));
  OK(weir_write(txn, search_inside, &nested, NULL, &err));
  cr_assert(eq(int, nested.count, 2 * 32 * 32));
}
