/* The text of a property, weir_text(props, path), compared with SQLite's own functions of JSON. */
#include "searches.h"

#include <sqlite3.h>

/* What SQLite would say; ?1 is the props, ?2 the path. */
#define MODEL                                                                                                \
  "CASE json_type(?1, ?2) WHEN 'text' THEN json_extract(?1, ?2) WHEN 'array' THEN"                           \
  " (SELECT group_concat(atom, char(10)) FROM json_tree(?1, ?2) WHERE type = 'text') END"

struct pair {
  const char *props;
  const char *path;
  char ours[512];
  char theirs[512];
};

static void copy_column(char out[512], sqlite3_stmt *stmt, int column) {
  const char *text = (const char *)sqlite3_column_text(stmt, column);
  snprintf(out, 512, "%s", text ? text : "(null)");
}

static int compare(weir_txn *txn, void *data, weir_error *error) {
  struct pair *pair = data;
  sqlite3_stmt *stmt;
  int rc = weir_txn_prepare(txn, weir_str("SELECT weir_text(?1, ?2), " MODEL), &stmt, error);
  if (rc) {
    return rc;
  }
  sqlite3_bind_text(stmt, 1, pair->props, -1, SQLITE_STATIC);
  sqlite3_bind_text(stmt, 2, pair->path, -1, SQLITE_STATIC);
  int step = sqlite3_step(stmt);
  copy_column(pair->ours, stmt, 0);
  copy_column(pair->theirs, stmt, 1);
  return weir_txn_check(txn, step, error);
}

/* The text, which SQLite finds as well. */
static const char *text_of(weir_txn *txn, const char *props, const char *path) {
  static struct pair pair;
  pair.props = props;
  pair.path = path;
  OK(weir_read(txn, compare, &pair, NULL, &err));
  cr_assert(eq(str, pair.ours, pair.theirs), "%s %s", props, path);
  return pair.ours;
}

#define TEXT(props, path, text) SAME_STRING(text_of(txn, props, path), text)

GRAPH_TEST(search_text, strings_are_taken_as_they_are) {
  TEXT("{\"a\":\"x\"}", "$.\"a\"", "x");
  TEXT("{\"b\":{\"a\":1},\"a\":\"x y\"}", "$.\"a\"", "x y");
  TEXT("{\"b\":[\"a\",{\"a\":\"no\"}],\"a\":\"\"}", "$.\"a\"", "");
  TEXT("{ \"a\" :\t\"x\" }", "$.\"a\"", "x");
  TEXT("{\"a\":\"q\\\"q \\\\ \\/ \\b\\f\\n\\r\\t \\u00e4 \\u4e2d \\ud834\\udd1e\"}", "$.\"a\"",
       "q\"q \\ / \b\f\n\r\t ä 中 𝄞");
  TEXT("{\"ä.b\":\"x\"}", "$.\"ä.b\"", "x");
}

GRAPH_TEST(search_text, arrays_give_their_strings) {
  TEXT("{\"a\":[\"x\",\"y\"]}", "$.\"a\"", "x\ny");
  TEXT("{\"a\":[1,\"x\",null,[\"y\",{\"k\":\"z\",\"n\":2}],true,\"w\"]}", "$.\"a\"", "x\ny\nz\nw");
  TEXT("{\"a\":[\"x\",\"\",\"y\"]}", "$.\"a\"", "x\n\ny");
  TEXT("{\"a\":[]}", "$.\"a\"", "(null)");
  TEXT("{\"a\":[1,{\"k\":2}]}", "$.\"a\"", "(null)");
  TEXT("{\"a\":[\"[\",\"]}\\\"\",\":\"]}", "$.\"a\"", "[\n]}\"\n:");
}

GRAPH_TEST(search_text, other_values_give_none) {
  TEXT("{\"a\":1}", "$.\"a\"", "(null)");
  TEXT("{\"a\":null}", "$.\"a\"", "(null)");
  TEXT("{\"a\":true}", "$.\"a\"", "(null)");
  TEXT("{\"a\":{\"b\":\"x\"}}", "$.\"a\"", "(null)");
  TEXT("{}", "$.\"a\"", "(null)");
  TEXT("{\"aa\":\"x\"}", "$.\"a\"", "(null)");
}

GRAPH_TEST(search_text, paths_lead_into_objects_and_arrays) {
  const char *props = "{\"a\":{\"b\":[\"x\",{\"c\":\"y\"},[\"z\"],4]},\"l\":[\"p\",\"q\"]}";
  TEXT(props, "$.\"a\".\"b\"[0]", "x");
  TEXT(props, "$.\"a\".\"b\"[1].\"c\"", "y");
  TEXT(props, "$.\"a\".\"b\"[2][0]", "z");
  TEXT(props, "$.\"a\".\"b\"[2]", "z");
  TEXT(props, "$.\"a\".\"b\"[#-2]", "z");
  TEXT(props, "$.\"a\".\"b\"[#-4]", "x");
  TEXT(props, "$.\"a\".\"b\"[#-5]", "(null)");
  TEXT(props, "$.\"a\".\"b\"[3]", "(null)");
  TEXT(props, "$.\"a\".\"b\"[9]", "(null)");
  TEXT(props, "$.\"a\".\"b\"", "x\ny\nz");
  TEXT(props, "$.\"l\"[#-1]", "q");
  TEXT(props, "$.\"l\"[#]", "(null)");
  TEXT(props, "$.\"l\".\"a\"", "(null)");
  TEXT(props, "$.\"a\"[0]", "(null)");
  TEXT(props, "$[0]", "(null)");
}

/* ---- Random props -----------------------------------------------------------------------------------------
 */

static void add_value(char *out, weir_test_rng *seed, int depth) {
  static const char *const plain[] = {"1",      "-2.5e3",    "true",      "null",  "\"\"",
                                      "\"x\"",  "\"\\\"]\"", "\"a:b\"",   "\"ä\"", "\"\\u00e4,\"",
                                      "\"{[\"", "\"y\\\\\"", "\"\\n z\"", "false", "0"};
  int kind = depth > 3 ? 0 : pick(seed, 4);
  int count = pick(seed, 4);
  if (kind < 2) {
    strcat(out, plain[pick(seed, sizeof plain / sizeof plain[0])]);
    return;
  }
  strcat(out, kind == 2 ? "[" : "{");
  for (int i = 0; i < count; i++) {
    if (kind == 3) {
      sprintf(out + strlen(out), "\"%c\":", 'a' + i);
    }
    add_value(out, seed, depth + 1);
    strcat(out, i + 1 < count ? "," : "");
  }
  strcat(out, kind == 2 ? "]" : "}");
}

GRAPH_TEST(search_text, is_that_of_sqlite_for_random_props) {
  static const char *const steps[] = {".\"a\"", ".\"b\"", ".\"c\"", "[0]", "[1]", "[#-1]", "[#-2]"};
  weir_test_rng seed = {weir_test_seed()};
  for (int round = 0; round < 2000; round++) {
    char props[8192] = "{\"a\":";
    char path[64] = "$.\"a\"";
    add_value(props, &seed, 0);
    strcat(props, "}");
    for (int i = pick(&seed, 4); i > 0; i--) {
      strcat(path, steps[pick(&seed, sizeof steps / sizeof steps[0])]);
    }
    (void)text_of(txn, props, path);
  }
}

/* What no write of weir's makes, but a damaged or hostile file may hold. */
static int run_alone(weir_txn *txn, void *data, weir_error *error) {
  static const char *const pieces[] = {"{", "}", "[", "]", "\"", "\\", "u", "12", ",", ":", "a", " ", "\\u"};
  weir_test_rng *seed = data;
  sqlite3_stmt *stmt;
  int rc = weir_txn_prepare(txn, weir_str("SELECT length(weir_text(?1, ?2))"), &stmt, error);
  for (int round = 0; round < 5000 && rc == WEIR_OK; round++) {
    char props[128] = "{\"a\":";
    for (int i = 0; i < 20; i++) {
      strcat(props, pieces[pick(seed, sizeof pieces / sizeof pieces[0])]);
    }
    sqlite3_bind_text(stmt, 1, round % 3 ? props : props + 5, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(stmt, 2, round % 2 ? "$.\"a\"" : "$.\"a\"[#-1].\"", -1, SQLITE_STATIC);
    rc = weir_txn_check(txn, sqlite3_step(stmt), error);
    sqlite3_reset(stmt);
  }
  return rc;
}

GRAPH_TEST(search_text, of_what_is_not_json_stays_within_bounds) {
  weir_test_rng seed = {weir_test_seed()};
  OK(weir_read(txn, run_alone, &seed, NULL, &err));
}
