/*
 * Which way a find goes: what explain says, and that SQLite does just that. While a row is visited the
 * statement runs, so SQLite can be asked for its plan.
 */
#include "graph_fixture.h"

#include <weir/query.h>

#include <sqlite3.h>

/* ---- SQLite's plan ---------------------------------------------------------------------------------------
 */

struct look {
  weir_txn *txn;
  int rows;
  char plan[2048]; /* SQLite's lines */
};

static int add_line(void *data, int columns, char **values, char **names) {
  struct look *look = data;
  size_t at = strlen(look->plan);
  (void)columns;
  (void)names;
  snprintf(look->plan + at, sizeof look->plan - at, "%s\n", values[3]);
  return 0;
}

static void look_at_plan(struct look *look) {
  sqlite3 *db = weir_txn_db(look->txn);
  for (sqlite3_stmt *stmt = sqlite3_next_stmt(db, NULL); stmt; stmt = sqlite3_next_stmt(db, stmt)) {
    const char *sql = sqlite3_sql(stmt);
    if (sqlite3_stmt_busy(stmt) && (strncmp(sql, "SELECT n.", 9) == 0 || strncmp(sql, "SELECT e.", 9) == 0)) {
      char explain[4096];
      snprintf(explain, sizeof explain, "EXPLAIN QUERY PLAN %s", sql);
      sqlite3_exec(db, explain, add_line, look, NULL);
    }
  }
}

static int look_at_node(const weir_node *node, void *data, weir_error *error) {
  struct look *look = data;
  (void)node;
  (void)error;
  if (look->rows++ == 0) {
    look_at_plan(look);
  }
  return WEIR_OK;
}

static int look_at_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  return look_at_node(NULL, data, error);
}

/* ---- Questions -------------------------------------------------------------------------------------------
 */

struct question {
  weir_target target;
  weir_find find;
  const char *text; /* of explain */
  const char *uses; /* in SQLite's plan */
  weir_plan told;
  struct look look;
};

static int answer(weir_txn *txn, void *data, weir_error *error) {
  struct question *question = data;
  question->look.txn = txn;
  int nodes = question->target == WEIR_NODES;
  int rc = nodes ? weir_node_explain(txn, &question->find, &question->told, error)
                 : weir_edge_explain(txn, &question->find, &question->told, error);
  if (rc) {
    return rc;
  }
  return nodes ? weir_node_find(txn, &question->find, look_at_node, &question->look, error)
               : weir_edge_find(txn, &question->find, look_at_edge, &question->look, error);
}

static void goes(weir_txn *txn, weir_target target, weir_find find, const char *text, const char *uses) {
  struct question question = {.target = target, .find = find, .text = text, .uses = uses};
  OK(weir_read(txn, answer, &question, NULL, &err));
  SAME_STRING(question.told.text, text);
  cr_assert(gt(int, question.look.rows, 0), "%s", text);
  cr_assert(ne(ptr, strstr(question.look.plan, uses), NULL), "%s:\n%s", text, question.look.plan);
  int sorts = strstr(question.look.plan, "USE TEMP B-TREE") != NULL &&
              strstr(question.look.plan, "FOR ORDER BY") != NULL;
  int scans = strstr(question.look.plan, "SCAN n\n") || strstr(question.look.plan, "SCAN e\n");
  cr_assert(eq(int, sorts, question.told.sorted), "%s:\n%s", text, question.look.plan);
  cr_assert(eq(int, scans, question.told.access == WEIR_BY_SCAN && !find.place), "%s:\n%s", text,
            question.look.plan);
}

static weir_find find_of(const char *label, const weir_cond *where, weir_field order, const char *path) {
  weir_find find = WEIR_FIND_INIT;
  find.label = weir_str(label);
  find.where = where;
  find.order = order;
  find.order_path = weir_str(path);
  return find;
}

static void fill(weir_txn *txn) {
  const weir_index by_age = {WEIR_NODES, WEIR_TEXT("person"), WEIR_TEXT("age"), 0, 0};
  const weir_index by_name = {WEIR_NODES, WEIR_TEXT("person"), WEIR_TEXT("name"), 1, 0};
  const weir_index by_since = {WEIR_EDGES, WEIR_TEXT("knows"), WEIR_TEXT("since"), 0, 0};
  for (int i = 0; i < 40; i++) {
    char key[16];
    char props[64];
    snprintf(key, sizeof key, "p%d", i);
    snprintf(props, sizeof props, "{\"age\":%d,\"name\":\"n%d\"}", i % 10, i);
    OK(weir_node_put(txn, &WEIR_NODE(key, "person", props), NULL, &err));
    weir_edge edge = WEIR_EDGE("p0", i % 2 ? "knows" : "likes", key);
    edge.props = weir_str(i % 3 ? "{\"since\":1}" : "{\"since\":2}");
    OK(weir_edge_put(txn, &edge, 0, NULL, &err));
  }
  OK(weir_index_create(txn, &by_age, NULL, &err));
  OK(weir_index_create(txn, &by_name, NULL, &err));
  OK(weir_index_create(txn, &by_since, NULL, &err));
}

#define NODES(label, where, order, path, text, uses)                                                         \
  goes(txn, WEIR_NODES, find_of(label, where, order, path), text, uses)
#define EDGES(label, where, order, path, text, uses)                                                         \
  goes(txn, WEIR_EDGES, find_of(label, where, order, path), text, uses)

GRAPH_TEST(find_plans, of_nodes_are_what_sqlite_does) {
  fill(txn);
  weir_cond key = WEIR_TEST(WEIR_FIELD_KEY, WEIR_EQ, weir_string("p1"));
  weir_cond keys = {.op = WEIR_ONE_OF,
                    .field = WEIR_FIELD_KEY,
                    .values = (weir_value[]){weir_string("p1"), weir_string("p2")},
                    .count = 2};
  weir_cond prefix = WEIR_TEST(WEIR_FIELD_KEY, WEIR_PREFIX, weir_string("p1"));
  weir_cond age = WEIR_PROP("age", WEIR_EQ, weir_int(3));
  weir_cond ages = WEIR_PROP_IN("age", weir_int(3), weir_string("x"));
  weir_cond has = WEIR_HAS("age");
  weir_cond range = WEIR_ALL(WEIR_PROP("age", WEIR_GE, weir_int(3)), WEIR_PROP("$.age", WEIR_LT, weir_int(5)),
                             WEIR_HAS("age"));
  weir_cond both = WEIR_ALL(WEIR_PROP("name", WEIR_GT, weir_string("n")), age);
  weir_cond other = WEIR_PROP("other", WEIR_NE, weir_int(3));
  const char *scan_label = "SEARCH n USING INDEX node_label_set (label_set=?)";
  const char *by_range = "SEARCH i USING PRIMARY KEY (kind=? AND value>? AND value<?)";

  NODES("", NULL, WEIR_FIELD_NONE, NULL, "all nodes", "SCAN n");
  NODES("", &age, WEIR_FIELD_NONE, NULL, "all nodes; 1 condition row by row", "SCAN n");
  NODES("", NULL, WEIR_FIELD_REV, NULL, "all nodes; sorted by rev", "SCAN n");
  NODES("", NULL, WEIR_FIELD_PROP, "age", "all nodes; sorted by property", "SCAN n");
  NODES("", NULL, WEIR_FIELD_KEY, NULL, "key, order", "sqlite_autoindex_node_1");
  NODES("person", NULL, WEIR_FIELD_KEY, NULL, "key, order", "sqlite_autoindex_node_1");
  NODES("", &key, WEIR_FIELD_NONE, NULL, "key, equality", "sqlite_autoindex_node_1 (key=?)");
  NODES("person", &key, WEIR_FIELD_REV, NULL, "key, equality", "sqlite_autoindex_node_1 (key=?)");
  NODES("", &keys, WEIR_FIELD_NONE, NULL, "key, set; sorted by identity", "sqlite_autoindex_node_1 (key=?)");
  NODES("", &prefix, WEIR_FIELD_KEY, NULL, "key, range", "sqlite_autoindex_node_1 (key>? AND key<?)");
  NODES("", &prefix, WEIR_FIELD_NONE, NULL, "key, range; sorted by identity", "(key>? AND key<?)");
  NODES("person", NULL, WEIR_FIELD_REV, NULL, "all nodes with label person; sorted by rev", scan_label);
  NODES("person", &age, WEIR_FIELD_NONE, NULL, "index person(age), equality", "(kind=? AND value=?)");
  NODES("person", &age, WEIR_FIELD_PROP, "age", "index person(age), equality", "(kind=? AND value=?)");
  NODES("person", &age, WEIR_FIELD_KEY, NULL, "index person(age), equality; sorted by key",
        "(kind=? AND value=?)");
  NODES("person", &ages, WEIR_FIELD_NONE, NULL, "index person(age), set; sorted by identity",
        "(kind=? AND value=?)");
  NODES("person", &range, WEIR_FIELD_NONE, NULL, "index person(age), range; sorted by identity", by_range);
  NODES("person", &range, WEIR_FIELD_PROP, "age", "index person(age), range", by_range);
  NODES("person", &both, WEIR_FIELD_NONE, NULL, "index person(age), equality; 1 condition row by row",
        "(kind=? AND value=?)");
  NODES("person", NULL, WEIR_FIELD_PROP, "age", "index person(age), order", "SCAN i");
  NODES("person", &other, WEIR_FIELD_PROP, "age", "index person(age), order; 1 condition row by row",
        "SCAN i");
  NODES("person", &has, WEIR_FIELD_PROP, "age", "index person(age), presence", "(kind>?)");
  NODES("person", &has, WEIR_FIELD_NONE, NULL, "index person(age), presence; sorted by identity", "(kind>?)");
}

GRAPH_TEST(find_plans, of_edges_are_what_sqlite_does) {
  fill(txn);
  weir_cond src = WEIR_TEST(WEIR_FIELD_SRC, WEIR_EQ, weir_string("p0"));
  weir_cond dst = WEIR_TEST(WEIR_FIELD_DST, WEIR_EQ, weir_string("p1"));
  weir_cond ends = WEIR_ALL(src, dst);
  weir_cond set = {.op = WEIR_ONE_OF,
                   .field = WEIR_FIELD_DST,
                   .values = (weir_value[]){weir_string("p1"), weir_string("p2")},
                   .count = 2};
  weir_cond since = WEIR_PROP("since", WEIR_EQ, weir_int(1));
  weir_cond heavy = WEIR_TEST(WEIR_FIELD_WEIGHT, WEIR_GT, weir_real(0.5));

  EDGES("", NULL, WEIR_FIELD_NONE, NULL, "all edges", "SCAN e");
  EDGES("knows", NULL, WEIR_FIELD_NONE, NULL, "all edges", "SCAN e");
  EDGES("knows", &heavy, WEIR_FIELD_WEIGHT, NULL, "all edges; 1 condition row by row; sorted by weight",
        "SCAN e");
  EDGES("", &src, WEIR_FIELD_NONE, NULL, "src, equality", "SEARCH e USING PRIMARY KEY (src=?)");
  EDGES("knows", &src, WEIR_FIELD_NONE, NULL, "src, equality",
        "SEARCH e USING PRIMARY KEY (src=? AND label=?)");
  EDGES("", &dst, WEIR_FIELD_NONE, NULL, "dst, equality; sorted by identity", "edge_reverse (dst=?)");
  EDGES("knows", &dst, WEIR_FIELD_NONE, NULL, "dst, equality", "edge_reverse (dst=? AND label=?)");
  EDGES("", &ends, WEIR_FIELD_NONE, NULL, "src and dst, equality", "PRIMARY KEY (src=?)");
  EDGES("knows", &ends, WEIR_FIELD_NONE, NULL, "src and dst, equality", "label=?");
  EDGES("", &set, WEIR_FIELD_NONE, NULL, "dst, set; sorted by identity", "edge_reverse (dst=?)");
  EDGES("knows", &since, WEIR_FIELD_NONE, NULL, "index knows(since), equality", "(kind=? AND value=?)");
  EDGES("knows", NULL, WEIR_FIELD_PROP, "since", "index knows(since), order", "SCAN i");
  EDGES("knows", &since, WEIR_FIELD_REV, NULL, "index knows(since), equality; sorted by rev", "PRIMARY KEY");
}

/* ---- Pages and labels ------------------------------------------------------------------------------------
 */

/* A page behind the first one seeks to its place. */
GRAPH_TEST(find_plans, of_later_pages_seek) {
  fill(txn);
  const struct {
    weir_target target;
    weir_find find;
    const char *text;
    const char *uses;
  } pages[] = {
      {WEIR_NODES, find_of("", NULL, WEIR_FIELD_NONE, NULL), "all nodes", "INTEGER PRIMARY KEY (rowid>?)"},
      {WEIR_NODES, find_of("", NULL, WEIR_FIELD_KEY, NULL), "key, order", "(key>?)"},
      {WEIR_NODES, find_of("person", NULL, WEIR_FIELD_PROP, "age"), "index person(age), order",
       "((kind,value,node)>(?,?,?))"},
      {WEIR_EDGES, find_of("", NULL, WEIR_FIELD_NONE, NULL), "all edges", "((src,label,dst,rank)>(?,?,?,?))"},
      {WEIR_EDGES, find_of("knows", NULL, WEIR_FIELD_PROP, "since"), "index knows(since), order",
       "((kind,value,src,dst,rank)>(?,?,?,?,?))"},
  };
  for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
    weir_place place = WEIR_PLACE_INIT;
    weir_find find = pages[i].find;
    find.place = &place;
    find.limit = 3;
    for (int page = 0; page < 2; page++) {
      struct question question = {.target = pages[i].target, .find = find};
      OK(weir_read(txn, answer, &question, NULL, &err));
      SAME_STRING(question.told.text, pages[i].text);
      cr_assert(zero(int, question.told.sorted));
      cr_assert(eq(ptr, strstr(question.look.plan, "FOR ORDER BY"), NULL), "%s", question.look.plan);
      cr_assert(eq(int, strstr(question.look.plan, pages[i].uses) != NULL, page), "%s", question.look.plan);
    }
    weir_place_clear(&place);
  }
}

/* Where the order is another one the place does not lead to the rows, so the range has to. */
GRAPH_TEST(find_plans, of_later_pages_in_another_order_keep_to_their_range) {
  fill(txn);
  weir_cond age = WEIR_PROP("age", WEIR_GE, weir_int(5));
  weir_cond key = WEIR_TEST(WEIR_FIELD_KEY, WEIR_PREFIX, weir_string("p1"));
  const struct {
    weir_find find;
    const char *uses;
  } pages[] = {
      {find_of("person", &age, WEIR_FIELD_NONE, NULL), "(kind=? AND value>?)"},
      {find_of("person", &age, WEIR_FIELD_REV, NULL), "(kind=? AND value>?)"},
      {find_of("person", &key, WEIR_FIELD_NONE, NULL), "(key>? AND key<?)"},
  };
  for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
    for (int descending = 0; descending < 2; descending++) {
      weir_place place = WEIR_PLACE_INIT;
      weir_find find = pages[i].find;
      find.place = &place;
      find.limit = 3;
      find.descending = descending;
      for (int page = 0; page < 2; page++) {
        struct question question = {.target = WEIR_NODES, .find = find};
        OK(weir_read(txn, answer, &question, NULL, &err));
        cr_assert(ne(ptr, strstr(question.look.plan, pages[i].uses), NULL), "%s", question.look.plan);
      }
      weir_place_clear(&place);
    }
  }
}

GRAPH_TEST(find_plans, of_a_label_that_never_was_need_no_rows) {
  weir_plan plan;
  weir_find find = find_of("nobody", NULL, WEIR_FIELD_NONE, NULL);
  OK(weir_node_explain(txn, &find, &plan, &err));
  cr_assert(eq(int, (int)plan.access, WEIR_BY_NOTHING));
  SAME_STRING(plan.text, "nothing: no row ever had label nobody");
  OK(weir_edge_explain(txn, &find, &plan, &err));
  cr_assert(eq(int, (int)plan.access, WEIR_BY_NOTHING));
  FAILS(weir_node_explain(txn, &find, NULL, &err), WEIR_INVALID, "out is NULL");
}
