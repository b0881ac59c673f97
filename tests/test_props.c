/* Props: what is accepted and stored, merging by RFC 7396, typed members. */
#include "graph_fixture.h"

/* ---- What is accepted ------------------------------------------------------------------------------------
 */

GRAPH_TEST(props, are_stored_as_the_bytes_given) {
  const char *accepted[] = {
      "{}",
      " { } ",
      "{\"a\":1,\"b\":[1,2.50,-0.0,1e3],\"c\":{\"d\":null,\"e\":true,\"f\":\"\\u00e4\\n\"}}",
      "{\"\":0}",
      "{\"least\":-9223372036854775808,\"most\":9223372036854775807}",
      "{\"\xE2\x82\xAC\":\"\xF0\x9F\x98\x80\"}",
      "{\"pair\":\"\\ud83d\\ude00\"}",
  };
  weir_arena arena = WEIR_ARENA_INIT;
  weir_node node;
  for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
    OK(weir_node_put(txn, &WEIR_NODE("a", NULL, accepted[i]), NULL, &err));
    OK(weir_node_get(txn, weir_str("a"), &node, &arena, &err));
    SAME(node.props, accepted[i]);
  }
  weir_arena_clear(&arena);
}

GRAPH_TEST(props, that_are_no_json_object_are_refused_with_the_place) {
  const struct {
    const char *props;
    const char *says;
  } refused[] = {
      {"x", "byte 1"},
      {"[1]", "not a JSON object"},
      {"1", "byte 1"},
      {"\"a\"", "byte 3"},
      {" ", "byte 1"},
      {"{\"a\":}", "byte 6"},
      {"{\"a\":1,}", "byte 8"},
      {"{\"a\":1} x", "byte 9"},
      {"{'a':1}", "byte 2"},
      {"{\"a\":01}", "byte 6"},
      {"{\"a\":NaN}", "byte 8"},
      {"{\"a\":1,\"a\":2}", "duplicate"},
      {"{\"a\":9223372036854775808}", "beyond 64 bits: give it as a string"},
      {"{\"a\":-9223372036854775809}", "beyond 64 bits"},
      {"{\"a\":1e999}", "beyond 64 bits"},
      {"{\"a\":\"\\u0000\"}", "NUL"},
      {"{\"\\u0000\":1}", "NUL"},
      {"{\"a\":\"\\ud800\"}", "byte"},
      {"{\"a\":\"\xFF\"}", "not UTF-8 at byte 6"},
      {"{\"a\":\"\xC0\x80\"}", "not UTF-8 at byte 6"},
      {"{\"a\":\"\n\"}", "byte"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    FAILS(weir_node_put(txn, &WEIR_NODE("a", NULL, refused[i].props), NULL, &err), WEIR_INVALID,
          refused[i].says);
  }
  weir_node nul = WEIR_NODE("a", NULL, NULL);
  nul.props = (weir_text){"{\"a\":1\0}", 8};
  FAILS(weir_node_put(txn, &nul, NULL, &err), WEIR_INVALID, "NUL at byte 6");
  nul.props = (weir_text){"{\"a\":1}\0", 8};
  FAILS(weir_node_put(txn, &nul, NULL, &err), WEIR_INVALID, "NUL at byte 7");
  char deep[6000] = "{\"a\":";
  memset(deep + 5, '[', 5900);
  FAILS(weir_node_put(txn, &WEIR_NODE("a", NULL, deep), NULL, &err), WEIR_INVALID, "nested too deeply");
  cr_assert(eq(i64, count_nodes(txn, NULL), 0));
}

/* {"t":"...","a":[[...]]} with so many levels; the string holds what looks like more. */
static const char *nested(int levels, char out[2 * WEIR_PROPS_DEPTH + 100]) {
  char *to = out + sprintf(out, "{\"t\":\"[[{{\\\"[\\\\\",\"a\":");
  for (int i = 1; i < levels; i++) {
    *to++ = '[';
  }
  for (int i = 1; i < levels; i++) {
    *to++ = ']';
  }
  strcpy(to, "}");
  return out;
}

GRAPH_TEST(props, are_as_deep_as_they_can_be_asked_about) {
  char props[2 * WEIR_PROPS_DEPTH + 100];
  OK(weir_node_put(txn, &WEIR_NODE("a", NULL, nested(WEIR_PROPS_DEPTH, props)), NULL, &err));
  cr_assert(eq(i64, sql_number(txn, "SELECT json_type(props, '$.a') = 'array' FROM node"), 1));
  nested(WEIR_PROPS_DEPTH + 1, props);
  FAILS(weir_node_put(txn, &WEIR_NODE("b", NULL, props), NULL, &err), WEIR_INVALID, "nested too deeply");
  FAILS(weir_node_merge(txn, weir_str("a"), weir_str(props), NULL, &err), WEIR_INVALID, "nested too deeply");
}

/* ---- Merging ---------------------------------------------------------------------------------------------
 */

/* The cases of RFC 7396, appendix A, whose documents and patches are objects, and what more there is to say.
 */
static const struct {
  const char *props;
  const char *patch;
  const char *result; /* NULL: unchanged */
} merges[] = {
    {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
    {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
    {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
    {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
    {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
    {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
    {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
    {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
    {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
    {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    {"{}", "{}", NULL},
    {"{\"a\":1}", "{}", NULL},
    {"{\"a\":1}", "{\"b\":null}", NULL},
    {" { \"a\" : [ 1 , { \"b\" : null } ] } ", "{\"a\":[1,{\"b\":null}]}", NULL},
    {"{\"a\":1,\"b\":2,\"c\":3}", "{\"b\":null,\"d\":4,\"a\":9}", "{\"a\":9,\"c\":3,\"d\":4}"},
    {"{\"a\":1}", "{\"a\":1.0}", "{\"a\":1.0}"},
    {"{\"a\":9007199254740993}", "{\"b\":-9223372036854775808}",
     "{\"a\":9007199254740993,\"b\":-9223372036854775808}"},
    {"{\"a\":0.1,\"b\":1e300,\"c\":100.0}", "{\"d\":2.5}", "{\"a\":0.1,\"b\":1e300,\"c\":100.0,\"d\":2.5}"},
    {"{\"a\":0.30000000000000004}", "{\"b\":1}", "{\"a\":0.30000000000000004,\"b\":1}"},
    {"{\"a\":\"\\u00e4\\\"\\n\"}", "{\"b\":\"\\u20ac\"}",
     "{\"a\":\"\xC3\xA4\\\"\\n\",\"b\":\"\xE2\x82\xAC\"}"},
};

GRAPH_TEST(props, merge_as_rfc_7396_says) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_outcome outcome;
  weir_node node;
  for (size_t i = 0; i < sizeof merges / sizeof merges[0]; i++) {
    OK(weir_node_put(txn, &WEIR_NODE("a", NULL, merges[i].props), NULL, &err));
    OK(weir_node_merge(txn, weir_str("a"), weir_str(merges[i].patch), &outcome, &err));
    OK(weir_node_get(txn, weir_str("a"), &node, &arena, &err));
    SAME(node.props, merges[i].result ? merges[i].result : merges[i].props);
    cr_assert(eq(int, outcome, merges[i].result ? WEIR_UPDATED : WEIR_UNCHANGED), "merge %zu", i);
  }
  weir_arena_clear(&arena);
}

GRAPH_TEST(props, reals_survive_a_merge) {
  weir_test_rng rng = {weir_test_seed()};
  weir_arena arena = WEIR_ARENA_INIT;
  for (int i = 0; i < 200; i++) {
    char props[64];
    double value;
    double merged;
    weir_node node;
    do {
      uint64_t bits = weir_test_next(&rng);
      memcpy(&value, &bits, sizeof value);
    } while (value != value || value - value != 0); /* NaN, infinite */
    snprintf(props, sizeof props, "{\"a\":%.17e}", value);
    OK(weir_node_put(txn, &WEIR_NODE("a", NULL, props), NULL, &err));
    OK(weir_node_merge(txn, weir_str("a"), weir_str("{\"b\":1}"), NULL, &err));
    OK(weir_node_get(txn, weir_str("a"), &node, &arena, &err));
    OK(weir_props_real(node.props, "a", &merged, &err));
    cr_assert(merged == value, "%.17g became %.17g", value, merged);
  }
  weir_arena_clear(&arena);
}

GRAPH_TEST(props, a_patch_that_is_no_object_is_refused) {
  put_node(txn, "a", NULL);
  FAILS(weir_node_merge(txn, weir_str("a"), weir_str("[]"), NULL, &err), WEIR_INVALID, "patch");
  FAILS(weir_node_merge(txn, weir_str("a"), weir_str("{\"a\":1,\"a\":1}"), NULL, &err), WEIR_INVALID,
        "duplicate");
  FAILS(weir_node_merge(txn, weir_str("a"), weir_str("nope"), NULL, &err), WEIR_INVALID, "patch");
  OK(weir_node_merge(txn, weir_str("a"), weir_str(NULL), NULL, &err)); /* empty means {} here too */
}

/* ---- Members ------------------------------------------------------------------------------------------- */

#define MEMBERS                                                                                              \
  "{\"int\":-9223372036854775808,\"real\":0.5,\"yes\":true,\"no\":false,\"text\":\"K\xC3\xB6ln\","           \
  "\"none\":null,\"list\":[],\"empty\":\"\"}"

Test(members, are_read_by_type, .timeout = 100) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_text props = WEIR_TEXT(MEMBERS);
  int64_t integer;
  double real;
  int truth = -1;
  weir_text text;
  OK(weir_props_int(props, "int", &integer, &err));
  cr_assert(eq(i64, integer, INT64_MIN));
  OK(weir_props_real(props, "real", &real, &err));
  cr_assert(eq(dbl, real, 0.5));
  OK(weir_props_real(props, "int", &real, &err));
  cr_assert(eq(dbl, real, -9223372036854775808.0));
  OK(weir_props_bool(props, "yes", &truth, &err));
  cr_assert(eq(int, truth, 1));
  OK(weir_props_bool(props, "no", &truth, &err));
  cr_assert(eq(int, truth, 0));
  OK(weir_props_text(props, "text", &text, &arena, &err));
  SAME(text, "K\xC3\xB6ln");
  cr_assert(zero(chr, text.ptr[text.len]));
  OK(weir_props_text(props, "empty", &text, &arena, &err));
  cr_assert(zero(sz, text.len));
  weir_arena_clear(&arena);
}

Test(members, of_another_type_or_missing_are_errors, .timeout = 100) {
  weir_arena arena = WEIR_ARENA_INIT;
  weir_text props = WEIR_TEXT(MEMBERS);
  int64_t integer;
  double real;
  int truth;
  weir_text text;
  FAILS(weir_props_int(props, "real", &integer, &err), WEIR_INVALID, "\"real\" is not an integer");
  FAILS(weir_props_int(props, "missing", &integer, &err), WEIR_NOT_FOUND, "\"missing\"");
  FAILS(weir_props_int(props, "none", &integer, &err), WEIR_NOT_FOUND, "\"none\"");
  FAILS(weir_props_real(props, "yes", &real, &err), WEIR_INVALID, "not a number");
  FAILS(weir_props_bool(props, "int", &truth, &err), WEIR_INVALID, "not true or false");
  FAILS(weir_props_text(props, "list", &text, &arena, &err), WEIR_INVALID, "not a string");
  FAILS(weir_props_int(weir_str(NULL), "a", &integer, &err), WEIR_NOT_FOUND, "\"a\"");
  FAILS(weir_props_int(weir_str("[1]"), "a", &integer, &err), WEIR_INVALID, "not a JSON object");
  FAILS(weir_props_int(weir_str("{\"a\":99999999999999999999}"), "a", &integer, &err), WEIR_INVALID,
        "64 bits");
  FAILS(weir_props_int(props, NULL, &integer, &err), WEIR_INVALID, "name is NULL");
  FAILS(weir_props_int(props, "int", NULL, &err), WEIR_INVALID, "out is NULL");
  FAILS(weir_props_text(props, "text", &text, NULL, &err), WEIR_INVALID, "arena is NULL");
  cr_assert(eq(int, weir_props_int(props, "missing", &integer, NULL), WEIR_NOT_FOUND)); /* err may be NULL */
  weir_arena_clear(&arena);
}
