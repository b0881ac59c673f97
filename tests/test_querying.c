/* The C of docs/querying.md, compiled and run. */
#include "graph_fixture.h"

#include <weir/query.h>

#include "printed.h"

static int print_key(const weir_node *node, void *data, weir_error *error) {
  (void)data;
  (void)error;
  printf("%s\n", node->key.ptr);
  return WEIR_OK;
}

static int find_adults_of_ulm(weir_txn *txn, weir_error *error) {
  weir_cond where = WEIR_ALL(WEIR_PROP("age", WEIR_GE, weir_int(18)),
                             WEIR_PROP("$.home.town", WEIR_EQ, weir_string("Ulm")));
  weir_find find = WEIR_FIND_INIT;
  find.label = weir_str("person");
  find.where = &where;
  find.order = WEIR_FIELD_PROP;
  find.order_path = weir_str("age");
  find.limit = 10;
  return weir_node_find(txn, &find, print_key, NULL, error);
}

static int find_open_or_old(weir_txn *txn, weir_error *error) {
  weir_cond where = WEIR_ANY(WEIR_PROP_IN("state", weir_string("new"), weir_string("open")),
                             WEIR_ALL(WEIR_LABELED("ticket"), WEIR_EXCEPT(WEIR_HAS("state")),
                                      WEIR_TEST(WEIR_FIELD_KEY, WEIR_PREFIX, weir_string("old:"))));
  weir_find find = WEIR_FIND_INIT;
  find.where = &where;
  return weir_node_find(txn, &find, print_key, NULL, error);
}

struct choice {
  weir_cond parts[2];
  weir_cond where;
};

static void choose(struct choice *choice, const char *town, int64_t age) {
  size_t count = 0;
  if (town)
    choice->parts[count++] = WEIR_PROP("$.home.town", WEIR_EQ, weir_string(town));
  if (age)
    choice->parts[count++] = WEIR_PROP("age", WEIR_GE, weir_int(age));
  choice->where = (weir_cond){.op = WEIR_AND, .parts = choice->parts, .count = count};
}

static int find_chosen(weir_txn *txn, const char *town, int64_t age, weir_error *error) {
  struct choice choice;
  weir_find find = WEIR_FIND_INIT;
  choose(&choice, town, age);
  find.label = weir_str("person");
  find.where = &choice.where;
  return weir_node_find(txn, &find, print_key, NULL, error);
}

static int same(weir_text a, weir_text b) {
  return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

struct wanted {
  weir_index index;
  int there; /* it is complete, and as unique as it is to be */
};

static int compare(const weir_index *index, void *data, weir_error *error) {
  struct wanted *wanted = data;
  (void)error;
  if (index->target == wanted->index.target && same(index->label, wanted->index.label) &&
      same(index->path, wanted->index.path))
    wanted->there = index->ready && index->unique == wanted->index.unique;
  return WEIR_OK;
}

static int make_index(weir_txn *txn, weir_error *error) {
  struct wanted wanted = {
      {.target = WEIR_NODES, .label = WEIR_TEXT("person"), .path = WEIR_TEXT("mail"), .unique = 1}, 0};
  int rc = weir_index_list(txn, compare, &wanted, error);
  return rc != WEIR_OK || wanted.there ? rc : weir_index_create(txn, &wanted.index, NULL, error);
}

static int next_page(weir_txn *txn, const char *token, char **next, weir_error *error) {
  weir_place place = WEIR_PLACE_INIT;
  weir_find find = WEIR_FIND_INIT;
  find.label = weir_str("person");
  find.order = WEIR_FIELD_KEY;
  find.limit = 2;
  find.place = &place;
  int rc = weir_place_set(&place, weir_str(token), error); /* NULL or "": the beginning */
  if (rc == WEIR_OK)
    rc = weir_node_find(txn, &find, print_key, NULL, error);
  *next = rc == WEIR_OK && !place.done ? strdup(place.token) : NULL; /* NULL: that was all */
  weir_place_clear(&place);
  return rc;
}

static int tell_way(weir_txn *txn, weir_error *error) {
  weir_cond where = WEIR_PROP("mail", WEIR_EQ, weir_string("alice@example.org"));
  weir_find find = WEIR_FIND_INIT;
  weir_plan plan;
  find.label = weir_str("person");
  find.where = &where;
  int rc = weir_node_explain(txn, &find, &plan, error);
  if (rc == WEIR_OK)
    printf("%s\n", plan.text);
  return rc;
}

static int count_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  (void)error;
  ++*(int64_t *)data;
  return WEIR_OK;
}

static int see_everything(weir_txn *txn, void *data, weir_error *error) {
  int rc = weir_node_scan(txn, NULL, print_key, NULL, error);
  return rc ? rc : weir_edge_scan(txn, NULL, count_edge, data, error);
}

static int visit_one_snapshot(weir_txn *txn, int64_t *edges, weir_error *error) {
  *edges = 0;
  return weir_read(txn, see_everything, edges, NULL, error);
}

/* ---- It does what the page says --------------------------------------------------------------------------
 */

static void put(weir_txn *txn, const char *key, const char *label, const char *props) {
  OK(weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err));
}

GRAPH_TEST(querying, page_says_what_is_so) {
  char *token;
  char *last;
  int64_t edges;
  put(txn, "bob", "person", "{\"age\":50,\"home\":{\"town\":\"Ulm\"},\"mail\":\"bob@example.org\"}");
  put(txn, "alice", "person", "{\"age\":30,\"home\":{\"town\":\"Ulm\"},\"mail\":\"alice@example.org\"}");
  put(txn, "carl", "person", "{\"age\":12,\"home\":{\"town\":\"Ulm\"}}");
  put(txn, "t1", "ticket", "{\"state\":\"open\"}");
  put(txn, "old:2", "ticket", "{}");
  put(txn, "t3", "ticket", "{}");
  put_edge(txn, "alice", "knows", "bob");
  OK(find_adults_of_ulm(txn, &err));
  SAME_STRING(printed(), "alice\nbob\n");
  OK(find_open_or_old(txn, &err));
  SAME_STRING(printed(), "t1\nold:2\n");
  OK(find_chosen(txn, "Ulm", 40, &err));
  SAME_STRING(printed(), "bob\n");
  OK(find_chosen(txn, "Ulm", 0, &err));
  SAME_STRING(printed(), "bob\nalice\ncarl\n");
  OK(find_chosen(txn, NULL, 0, &err));
  SAME_STRING(printed(), "bob\nalice\ncarl\n");
  OK(tell_way(txn, &err));
  SAME_STRING(printed(), "all nodes with label person; 1 condition row by row\n");
  OK(make_index(txn, &err));
  OK(make_index(txn, &err));
  OK(tell_way(txn, &err));
  SAME_STRING(printed(), "index person(mail), equality\n");
  FAILS(weir_node_put(txn, &WEIR_NODE("eve", "person", "{\"mail\":\"bob@example.org\"}"), NULL, &err),
        WEIR_EXISTS,
        "node \"bob\" has \"mail\": \"bob@example.org\" already, which is unique among nodes with label "
        "person");
  OK(next_page(txn, NULL, &token, &err));
  SAME_STRING(printed(), "alice\nbob\n");
  OK(next_page(txn, token, &last, &err));
  SAME_STRING(printed(), "carl\n");
  cr_assert(eq(ptr, last, NULL));
  free(token);
  OK(visit_one_snapshot(txn, &edges, &err));
  cr_assert(eq(i64, edges, 1));
  SAME_STRING(printed(), "bob\nalice\ncarl\nt1\nold:2\nt3\n");
}

GRAPH_TEST(querying, making_an_index_hides_no_other_one) {
  const weir_index plain = {.target = WEIR_NODES, .label = WEIR_TEXT("person"), .path = WEIR_TEXT("mail")};
  OK(weir_index_create(txn, &plain, NULL, &err));
  FAILS(make_index(txn, &err), WEIR_EXISTS, "already");
  OK(weir_index_drop(txn, &plain, NULL, &err));
  put(txn, "alice", "person", "{\"mail\":\"a@example.org\"}");
  put(txn, "bob", "person", "{\"mail\":\"a@example.org\"}");
  FAILS(make_index(txn, &err), WEIR_EXISTS, "a@example.org");
}

GRAPH_TEST(querying, an_array_contains_what_is_equal_to_an_element) {
  weir_cond where = WEIR_PROP("tags", WEIR_CONTAINS, weir_string("x"));
  weir_find find = WEIR_FIND_INIT;
  find.where = &where;
  put(txn, "a", "n", "{\"tags\":[\"y\",\"x\"]}");
  put(txn, "b", "n", "{\"tags\":\"x\"}");
  put(txn, "c", "n", "{\"tags\":[\"xy\",[\"x\"]]}");
  put(txn, "d", "n", "{\"tags\":{\"x\":\"x\"}}");
  put(txn, "e", "n", "{}");
  OK(weir_node_find(txn, &find, print_key, NULL, &err));
  SAME_STRING(printed(), "a\n");
  find.where = &WEIR_EXCEPT(where);
  OK(weir_node_find(txn, &find, print_key, NULL, &err));
  SAME_STRING(printed(), "b\nc\nd\ne\n");
}
