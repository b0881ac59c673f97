/* Conditions: what each test is true for, by the types of JSON, and which conditions make no sense. */
#include "graph_fixture.h"

#include <weir/query.h>

/* ---- What is true ----------------------------------------------------------------------------------------
 */

static int note(const weir_node *node, void *data, weir_error *error) {
  char *text = data;
  (void)error;
  strcat(strcat(text, text[0] ? " " : ""), node->key.ptr);
  return WEIR_OK;
}

static const char *true_for(weir_txn *txn, weir_cond where) {
  static char text[1024];
  weir_find find = WEIR_FIND_INIT;
  find.where = &where;
  text[0] = '\0';
  OK(weir_node_find(txn, &find, note, text, &err));
  return text;
}

static void put(weir_txn *txn, const char *key, const char *label, const char *props) {
  OK(weir_node_put(txn, &WEIR_NODE(key, label, props), NULL, &err));
}

#define TRUE_FOR(where, keys) SAME_STRING(true_for(txn, (where)), keys)

/* A node for each type and edge of it. */
static void put_values(weir_txn *txn) {
  put(txn, "none", NULL, "{}");
  put(txn, "null", NULL, "{\"v\":null}");
  put(txn, "false", NULL, "{\"v\":false}");
  put(txn, "true", NULL, "{\"v\":true}");
  put(txn, "one", NULL, "{\"v\":1}");
  put(txn, "one.0", NULL, "{\"v\":1.0}");
  put(txn, "five", NULL, "{\"v\":5}");
  put(txn, "text5", NULL, "{\"v\":\"5\"}");
  put(txn, "empty", NULL, "{\"v\":\"\"}");
  put(txn, "array", NULL, "{\"v\":[5]}");
  put(txn, "object", NULL, "{\"v\":{\"v\":5}}");
}

GRAPH_TEST(conditions, compare_within_one_type) {
  put_values(txn);
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_int(1)), "one one.0");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_real(1)), "one one.0");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_bool(7)), "true");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_bool(0)), "false");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_int(5)), "five");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_string("5")), "text5");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_string("[5]")), "");
  TRUE_FOR(WEIR_PROP("v", WEIR_GE, weir_int(0)), "one one.0 five");
  TRUE_FOR(WEIR_PROP("v", WEIR_LT, weir_real(1e308)), "one one.0 five");
  TRUE_FOR(WEIR_PROP("v", WEIR_GE, weir_string("")), "text5 empty");
  TRUE_FOR(WEIR_PROP("v", WEIR_LT, weir_bool(1)), "false");
  TRUE_FOR(WEIR_PROP("v", WEIR_LE, weir_bool(1)), "false true");
}

GRAPH_TEST(conditions, are_never_unknown) {
  put_values(txn);
  TRUE_FOR(WEIR_PROP("v", WEIR_NE, weir_int(1)), "none null false true five text5 empty array object");
  TRUE_FOR(WEIR_EXCEPT(WEIR_PROP("v", WEIR_GE, weir_int(0))),
           "none null false true text5 empty array object");
  TRUE_FOR(WEIR_EXCEPT(WEIR_PROP("v", WEIR_NE, weir_int(1))), "one one.0");
  TRUE_FOR(WEIR_EXCEPT(WEIR_PROP_IN("v", weir_int(1), weir_string("5"), weir_bool(1))),
           "none null false five empty array object");
  TRUE_FOR(WEIR_EXCEPT(WEIR_HAS("v")), "none null");
  TRUE_FOR(WEIR_EXCEPT(WEIR_PROP("v", WEIR_PREFIX, weir_string(""))),
           "none null false true one one.0 five array object");
}

GRAPH_TEST(conditions, know_what_is_there) {
  put_values(txn);
  TRUE_FOR(WEIR_HAS("v"), "false true one one.0 five text5 empty array object");
  TRUE_FOR(WEIR_HAS("$.v.v"), "object");
  TRUE_FOR(WEIR_HAS("$.v[0]"), "array");
  TRUE_FOR(WEIR_PROP("$.v[#-1]", WEIR_EQ, weir_int(5)), "array");
  TRUE_FOR(WEIR_PROP("$.\"v\".v", WEIR_EQ, weir_int(5)), "object");
}

GRAPH_TEST(conditions, of_no_parts_or_values_are_as_documented) {
  put(txn, "a", NULL, "{\"v\":1}");
  TRUE_FOR(((weir_cond){.op = WEIR_ALWAYS}), "a");
  TRUE_FOR(((weir_cond){.op = WEIR_AND}), "a");
  TRUE_FOR(((weir_cond){.op = WEIR_OR}), "");
  TRUE_FOR(((weir_cond){.op = WEIR_ONE_OF, .field = WEIR_FIELD_PROP, .path = WEIR_TEXT("v")}), "");
  TRUE_FOR(((weir_cond){.op = WEIR_ONE_OF, .field = WEIR_FIELD_KEY}), "");
}

GRAPH_TEST(conditions, compare_numbers_by_value) {
  put(txn, "2^53", NULL, "{\"v\":9007199254740992}");
  put(txn, "2^53+1", NULL, "{\"v\":9007199254740993}");
  put(txn, "2^53.0", NULL, "{\"v\":9007199254740992.0}");
  put(txn, "max", NULL, "{\"v\":9223372036854775807}");
  put(txn, "2^63.0", NULL, "{\"v\":9223372036854775808.0}");
  put(txn, "min", NULL, "{\"v\":-9223372036854775808}");
  put(txn, "-0", NULL, "{\"v\":-0.0}");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_real(9007199254740992.0)), "2^53 2^53.0");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_int(9007199254740993)), "2^53+1");
  TRUE_FOR(WEIR_PROP("v", WEIR_GT, weir_real(9007199254740992.0)), "2^53+1 max 2^63.0");
  TRUE_FOR(WEIR_PROP("v", WEIR_GT, weir_int(INT64_MAX)), "2^63.0");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_int(INT64_MIN)), "min");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_int(0)), "-0");
  TRUE_FOR(WEIR_PROP_IN("v", weir_int(INT64_MAX), weir_real(-0.0), weir_int(9007199254740993)),
           "2^53+1 max -0");
}

GRAPH_TEST(conditions, compare_strings_by_their_bytes) {
  put(txn, "a", NULL, "{\"v\":\"a\"}");
  put(txn, "A", NULL, "{\"v\":\"A\"}");
  put(txn, "ab", NULL, "{\"v\":\"ab\"}");
  put(txn, "umlaut", NULL, "{\"v\":\"\\u00e4\"}");
  put(txn, "umlaut2", NULL, "{\"v\":\"\xc3\xa4z\"}");
  put(txn, "last", NULL, "{\"v\":\"\xf4\x8f\xbf\xbf\"}");
  TRUE_FOR(WEIR_PROP("v", WEIR_EQ, weir_string("\xc3\xa4")), "umlaut"); /* however it was written */
  TRUE_FOR(WEIR_PROP("v", WEIR_PREFIX, weir_string("\xc3\xa4")), "umlaut umlaut2");
  TRUE_FOR(WEIR_PROP("v", WEIR_PREFIX, weir_string("a")), "a ab");
  TRUE_FOR(WEIR_PROP("v", WEIR_PREFIX, weir_string("\xf4\x8f\xbf\xbf")), "last");
  TRUE_FOR(WEIR_PROP("v", WEIR_LT, weir_string("a")), "A");
  TRUE_FOR(WEIR_PROP("v", WEIR_GT, weir_string("\xc3\xa4")), "umlaut2 last");
}

GRAPH_TEST(conditions, take_names_as_they_are) {
  put(txn, "dot", NULL, "{\"home.town\":1}");
  put(txn, "deep", NULL, "{\"home\":{\"town\":1}}");
  put(txn, "quote", NULL, "{\"it's\":1}");
  put(txn, "bracket", NULL, "{\"a[0]\":1}");
  put(txn, "space", NULL, "{\" \":1}");
  TRUE_FOR(WEIR_HAS("home.town"), "dot");
  TRUE_FOR(WEIR_HAS("$.home.town"), "deep");
  TRUE_FOR(WEIR_HAS("$.\"home.town\""), "dot");
  TRUE_FOR(WEIR_HAS("it's"), "quote");
  TRUE_FOR(WEIR_HAS("a[0]"), "bracket");
  TRUE_FOR(WEIR_HAS(" "), "space");
}

GRAPH_TEST(conditions, know_labels_keys_and_rev) {
  put(txn, "a", "x", NULL);
  put(txn, "b", "y", NULL);
  put(txn, "ba", "x", NULL);
  TRUE_FOR(WEIR_LABELED("x"), "a ba");
  TRUE_FOR(WEIR_LABELED("unheard of"), "");
  TRUE_FOR(WEIR_EXCEPT(WEIR_LABELED("x")), "b");
  TRUE_FOR(WEIR_TEST(WEIR_FIELD_KEY, WEIR_PREFIX, weir_string("b")), "b ba");
  TRUE_FOR(WEIR_TEST(WEIR_FIELD_KEY, WEIR_NE, weir_string("b")), "a ba");
  TRUE_FOR(WEIR_TEST(WEIR_FIELD_REV, WEIR_GT, weir_real(1.5)), "b ba");
  TRUE_FOR(WEIR_ANY(WEIR_TEST(WEIR_FIELD_KEY, WEIR_EQ, weir_string("a")), WEIR_LABELED("y")), "a b");
}

/* ---- What makes no sense ---------------------------------------------------------------------------------
 */

static int see_edge(const weir_edge *edge, void *data, weir_error *error) {
  (void)edge;
  (void)data;
  (void)error;
  return WEIR_OK;
}

static int ask(weir_txn *txn, weir_target target, weir_cond where) {
  char text[256] = "";
  weir_find find = WEIR_FIND_INIT;
  find.where = &where;
  err = (weir_error)WEIR_ERROR_INIT;
  return target == WEIR_NODES ? weir_node_find(txn, &find, note, text, &err)
                              : weir_edge_find(txn, &find, see_edge, NULL, &err);
}

#define NO_NODES(where, says) FAILS(ask(txn, WEIR_NODES, (where)), WEIR_INVALID, says)
#define NO_EDGES(where, says) FAILS(ask(txn, WEIR_EDGES, (where)), WEIR_INVALID, says)

GRAPH_TEST(conditions, that_make_no_sense_are_refused) {
  weir_value none = {.type = WEIR_TYPE_NONE};
  weir_value odd = {.type = (weir_type)9};
  weir_value truth = {.type = WEIR_TYPE_BOOL, .integer = 2};
  weir_value bad = {.type = WEIR_TYPE_TEXT, .text = {"\xff", 1}};
  weir_value nul = {.type = WEIR_TYPE_TEXT, .text = {"a\0b", 3}};
  NO_NODES(WEIR_PROP("v", WEIR_EQ, none), "has no value");
  NO_NODES(WEIR_PROP("v", WEIR_EQ, odd), "has no value");
  NO_NODES(WEIR_PROP("v", WEIR_EQ, truth), "0 or 1");
  NO_NODES(WEIR_PROP("v", WEIR_EQ, bad), "UTF-8");
  NO_NODES(WEIR_PROP("v", WEIR_EQ, nul), "NUL");
  NO_NODES(WEIR_PROP("v", WEIR_EQ, weir_real(1.0 / 0.0 * 1)), "not finite");
  NO_NODES(WEIR_PROP("v", WEIR_PREFIX, weir_int(1)), "WEIR_PREFIX wants a string");
  NO_NODES(WEIR_PROP("", WEIR_EQ, weir_int(1)), "path");
  NO_NODES(WEIR_PROP("$", WEIR_EQ, weir_int(1)), "name a member");
  NO_NODES(WEIR_PROP("$.a..b", WEIR_EQ, weir_int(1)), "wrong at byte 3");
  NO_NODES(WEIR_PROP("$.a[x]", WEIR_EQ, weir_int(1)), "wrong at byte 3");
  NO_NODES(WEIR_PROP("$.a[#-]", WEIR_EQ, weir_int(1)), "wrong at byte 3");
  NO_NODES(WEIR_PROP("$a", WEIR_EQ, weir_int(1)), "wrong at byte 1");
  NO_NODES(WEIR_PROP("say \"x\"", WEIR_EQ, weir_int(1)), "quote or a backslash");
  NO_NODES(WEIR_TEST(WEIR_FIELD_KEY, WEIR_EQ, weir_int(1)), "the key is compared with a number");
  NO_NODES(WEIR_TEST(WEIR_FIELD_KEY, WEIR_EQ, weir_bool(1)), "a truth value");
  NO_NODES(WEIR_TEST(WEIR_FIELD_REV, WEIR_EQ, weir_string("1")), "rev is compared with a string");
  NO_NODES(WEIR_TEST(WEIR_FIELD_REV, WEIR_PRESENT, weir_int(1)), "it is for properties");
  NO_NODES(WEIR_TEST(WEIR_FIELD_NONE, WEIR_EQ, weir_int(1)), "no field");
  NO_NODES(WEIR_TEST((weir_field)77, WEIR_EQ, weir_int(1)), "an unknown field");
  NO_NODES(WEIR_TEST(WEIR_FIELD_SRC, WEIR_EQ, weir_string("a")), "which nodes do not have");
  NO_NODES(WEIR_TEST(WEIR_FIELD_WEIGHT, WEIR_EQ, weir_int(1)), "which nodes do not have");
  NO_EDGES(WEIR_TEST(WEIR_FIELD_KEY, WEIR_EQ, weir_string("a")), "which edges do not have");
  NO_EDGES(WEIR_TEST(WEIR_FIELD_DST, WEIR_EQ, weir_int(1)), "the key dst is compared with a number");
  NO_EDGES(WEIR_TEST(WEIR_FIELD_WEIGHT, WEIR_EQ, weir_string("1")), "the weight is compared with a string");
  NO_NODES(WEIR_LABELED(""), "label");
  NO_NODES(((weir_cond){.op = (weir_op)99}), "operator 99");
  NO_NODES(((weir_cond){.op = (weir_op)-1}), "");
  NO_NODES(((weir_cond){.op = WEIR_NOT}), "WEIR_NOT wants one");
  NO_NODES(((weir_cond){.op = WEIR_AND, .count = 2}), "NULL");
  NO_NODES(((weir_cond){.op = WEIR_ONE_OF, .field = WEIR_FIELD_KEY, .count = 2}), "values is NULL");
  NO_NODES(((weir_cond){.op = WEIR_ONE_OF, .field = WEIR_FIELD_KEY, .values = &truth, .count = 1}),
           "the key is compared with");
}

GRAPH_TEST(conditions, may_have_so_many_parts_and_no_more) {
  weir_cond parts[WEIR_COND_MAX];
  char text[64] = "";
  weir_find find = WEIR_FIND_INIT;
  put(txn, "a", NULL, "{\"v\":300}");
  for (int i = 0; i < WEIR_COND_MAX; i++) {
    parts[i] = WEIR_PROP("v", WEIR_NE, weir_int(i));
  }
  for (int op = WEIR_AND; op <= WEIR_OR; op++) {
    weir_cond all = {.op = (weir_op)op, .parts = parts, .count = WEIR_COND_MAX - 1};
    find.where = &all;
    text[0] = '\0';
    OK(weir_node_find(txn, &find, note, text, &err));
    SAME_STRING(text, "a");
    all.count++;
    FAILS(weir_node_find(txn, &find, note, text, &err), WEIR_INVALID, "more than 256 parts");
  }
}

/* Of the kind that SQLite's parser needs the most room for. */
GRAPH_TEST(conditions, may_be_nested_so_deep_and_no_deeper) {
  weir_cond levels[WEIR_COND_DEPTH + 2][2];
  char text[64] = "";
  weir_find find = WEIR_FIND_INIT;
  put(txn, "a", "x", "{\"v\":1}");
  for (int i = 0; i <= WEIR_COND_DEPTH; i++) {
    levels[i][0] = WEIR_PROP("v", i % 2 ? WEIR_EQ : WEIR_NE, weir_int(1));
    levels[i][1] = (weir_cond){.op = i % 2 ? WEIR_OR : WEIR_AND, .parts = levels[i + 1], .count = 2};
  }
  levels[WEIR_COND_DEPTH + 1][0] = WEIR_PROP_IN("v", weir_int(1), weir_string("x"), weir_bool(1));
  levels[WEIR_COND_DEPTH + 1][1] = WEIR_LABELED("x");
  find.where = &levels[1][1];
  find.order = WEIR_FIELD_PROP;
  find.order_path = weir_str("v");
  OK(weir_node_find(txn, &find, note, text, &err));
  SAME_STRING(text, "a");
  find.where = &levels[0][1];
  FAILS(weir_node_find(txn, &find, note, text, &err), WEIR_INVALID, "more than 16 deep");
}
