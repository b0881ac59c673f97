/* Text indexes: made, refused, dropped, listed; and what a write costs them. */
#include "searches.h"

#define FINDS(query, keys) SAME_STRING(found(txn, query), keys)

/* Label "doc", field "body", under any name. */
static int create(weir_txn *txn, const char *name, const weir_build_options *options, weir_error *error) {
  const weir_text labels[] = {WEIR_TEXT("doc")};
  const weir_text_field fields[] = {{WEIR_TEXT("body"), 0}};
  const weir_text_index index = {
      .name = weir_str(name), .labels = labels, .label_count = 1, .fields = fields, .field_count = 1};
  return weir_text_index_create(txn, &index, options, error);
}

static void put_many(weir_txn *txn, int count) {
  for (int i = 0; i < count; i++) {
    char key[16];
    snprintf(key, sizeof key, "n%02d", i);
    put_text(txn, key, i % 2 ? "doc" : "other", "word");
  }
}

/* ---- Making -----------------------------------------------------------------------------------------------
 */

static int64_t leftovers(weir_txn *txn) {
  return sql_number(txn, "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'node_text_*'") +
         sql_number(txn, "SELECT count(*) FROM text_index");
}

struct steps {
  weir_txn *txn;
  char text[256];
  char keys[1024]; /* that are found within the write */
  int give_up;     /* at this call; 0: never */
  int calls;
};

static int note_progress(const weir_progress *progress, void *data) {
  struct steps *steps = data;
  size_t at = strlen(steps->text);
  snprintf(steps->text + at, sizeof steps->text - at, "%d/%d ", (int)progress->done, (int)progress->total);
  return ++steps->calls == steps->give_up;
}

GRAPH_TEST(search_index, making_tells_how_far_it_is) {
  struct steps steps = {.calls = 0};
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  options.batch = 4;
  options.on_progress = note_progress;
  options.data = &steps;
  put_many(txn, 10);
  OK(create(txn, "i", &options, &err));
  SAME_STRING(steps.text, "0/10 4/10 8/10 10/10 ");
  FINDS("word", "n01 n03 n05 n07 n09");
  check_indexes(txn);
}

GRAPH_TEST(search_index, giving_up_leaves_nothing) {
  for (int at = 1; at <= 4; at++) {
    struct steps steps = {.give_up = at};
    weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
    options.batch = 4;
    options.on_progress = note_progress;
    options.data = &steps;
    put_many(txn, 10);
    FAILS(create(txn, "i", &options, &err), WEIR_CANCELED, "given up");
    cr_assert(eq(i64, leftovers(txn), 0));
  }
  OK(create(txn, "i", NULL, &err));
  FINDS("word", "n01 n03 n05 n07 n09");
}

static int create_in_write(weir_txn *txn, void *data, weir_error *error) {
  weir_node node = WEIR_NODE("late", "doc", "{\"body\":\"word\"}");
  struct steps *steps = data;
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  options.batch = 4;
  options.on_progress = note_progress;
  options.data = steps;
  int rc = weir_node_put(txn, &node, NULL, error);
  if (rc == WEIR_OK) {
    rc = create(txn, "i", &options, error);
  }
  if (rc == WEIR_OK) {
    rc = find_keys(txn, "word", steps->keys, error);
  }
  return rc ? rc : steps->give_up;
}

GRAPH_TEST(search_index, inside_a_write_is_part_of_it) {
  struct steps steps = {.calls = 0};
  put_many(txn, 10);
  OK(weir_write(txn, create_in_write, &steps, NULL, &err));
  SAME_STRING(steps.text, "0/11 4/11 8/11 11/11 ");
  SAME_STRING(steps.keys, "late n01 n03 n05 n07 n09");
  FINDS("word", "late n01 n03 n05 n07 n09");
  OK(weir_text_index_drop(txn, weir_str("i"), NULL, &err));
  cr_assert(eq(i64, leftovers(txn), 0));
  steps = (struct steps){.give_up = WEIR_CONFLICT};
  cr_assert(eq(int, weir_write(txn, create_in_write, &steps, NULL, &err), WEIR_CONFLICT));
  cr_assert(eq(i64, leftovers(txn), 0));
}

/* Another write between two batches: of what is in the index already, of what is not yet, and new. */
static int write_between(const weir_progress *progress, void *data) {
  weir_txn *txn = data;
  int step = (int)progress->done;
  char key[16];
  snprintf(key, sizeof key, "new%d", step);
  put_text(txn, key, "doc", "fresh");
  put_text(txn, "n01", "doc", step == 4 ? "changed" : "word");
  put_text(txn, "n09", "doc", step == 4 ? "changed" : "word again");
  put_text(txn, "n03", step == 4 ? "other" : "doc", "moved");
  if (step == 4) {
    OK(weir_node_del(txn, weir_str("n05"), NULL, &err));
    OK(weir_node_del(txn, weir_str("n07"), NULL, &err));
  }
  return 0;
}

GRAPH_TEST(search_index, writes_while_it_is_made_are_in_it_once) {
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  options.batch = 4;
  options.on_progress = write_between;
  options.data = txn;
  put_many(txn, 10);
  OK(create(txn, "i", &options, &err));
  check_indexes(txn);
  FINDS("moved", "n03");
  FINDS("again", "n09");
  FINDS("changed", "");
  FINDS("word", "n01 n09");
}

/* Another call that makes or drops the same index, between two batches. */
static int begin_anew(const weir_progress *progress, void *data) {
  weir_txn *txn = data;
  if (progress->done == 4) {
    FAILS(weir_node_search(
              txn,
              &(weir_search){.size = sizeof(weir_search), .index = weir_str("i"), .query = weir_str("word")},
              see_no_hit, NULL, &err),
          WEIR_BUSY, "is being made");
    OK(create(txn, "i", NULL, &err));
  }
  return 0;
}

GRAPH_TEST(search_index, an_unfinished_one_is_begun_anew) {
  weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
  options.batch = 4;
  options.on_progress = begin_anew;
  options.data = txn;
  put_many(txn, 10);
  FAILS(create(txn, "i", &options, &err), WEIR_CANCELED, "begun anew");
  FINDS("word", "n01 n03 n05 n07 n09"); /* that of the other */
  check_indexes(txn);
  FAILS(create(txn, "i", NULL, &err), WEIR_EXISTS, "text index \"i\"");
}

/* As a crash leaves it after the first batch. */
static int cut_off(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_txn_exec(txn,
                       "UPDATE text_index SET ready = 0, filled = 4;"
                       "INSERT INTO node_text_1(node_text_1) VALUES ('delete-all');"
                       "INSERT INTO node_text_1(rowid, c0) SELECT id, c0 FROM node_text_1_source",
                       error);
}

Test(search_index_reopened, is_there_after_reopening_and_so_is_an_unfinished_one, .timeout = 60) {
  char path[512];
  weir_graph *graph = NULL;
  weir_test_path(path, sizeof path, "reopened.db");
  OK(weir_graph_open(&graph, path, NULL, &err));
  put_many(weir_graph_auto(graph), 10);
  OK(create(weir_graph_auto(graph), "i", NULL, &err));
  OK(weir_graph_close(graph, &err));
  OK(weir_graph_open(&graph, path, NULL, &err));
  weir_txn *txn = weir_graph_auto(graph);
  FINDS("word", "n01 n03 n05 n07 n09");
  put_text(txn, "n01", "doc", "else");
  FINDS("word", "n03 n05 n07 n09");
  OK(weir_write(txn, cut_off, NULL, NULL, &err));
  OK(weir_graph_close(graph, &err));
  OK(weir_graph_open(&graph, path, NULL, &err));
  txn = weir_graph_auto(graph);
  put_text(txn, "n03", "doc", "else"); /* that was in it */
  put_text(txn, "n09", "doc", "else"); /* and that was not */
  check_indexes(txn);
  FAILS(weir_node_search(
            txn,
            &(weir_search){.size = sizeof(weir_search), .index = weir_str("i"), .query = weir_str("word")},
            see_no_hit, NULL, &err),
        WEIR_BUSY, "cut off");
  OK(create(txn, "i", NULL, &err));
  FINDS("word", "n05 n07");
  check_indexes(txn);
  OK(weir_graph_close(graph, &err));
}

/* ---- Arguments --------------------------------------------------------------------------------------------
 */

GRAPH_TEST(search_index, arguments_are_checked) {
  const weir_text labels[] = {WEIR_TEXT("doc"), WEIR_TEXT("")};
  const weir_text_field good[] = {{WEIR_TEXT("a"), 0}, {WEIR_TEXT("b"), 0}};
  const weir_text_field twice[] = {{WEIR_TEXT("a"), 0}, {WEIR_TEXT("$.a"), 0}};
  const weir_text_field negative[] = {{WEIR_TEXT("a"), -1}};
  const weir_text_field path[] = {{WEIR_TEXT("$.a."), 0}};
  const weir_text_index index = {.name = WEIR_TEXT("i"), .fields = good, .field_count = 2};
  weir_text_index wrong = index;
#define REFUSED(part) FAILS(weir_text_index_create(txn, &wrong, NULL, &err), WEIR_INVALID, part)
  FAILS(weir_text_index_create(txn, NULL, NULL, &err), WEIR_INVALID, "index is NULL");
  FAILS(weir_text_index_create(NULL, &index, NULL, &err), WEIR_INVALID, "txn is NULL");
  wrong.name = weir_str("");
  REFUSED("name is empty");
  wrong = index;
  wrong.field_count = 0;
  REFUSED("0 fields");
  wrong.field_count = 33;
  REFUSED("33 fields");
  wrong = index;
  wrong.fields = NULL;
  REFUSED("fields is NULL");
  wrong.fields = twice;
  REFUSED("field 1: \"$.a\" is there twice");
  wrong.field_count = 1;
  wrong.fields = negative;
  REFUSED("field 0: weight -1");
  wrong.fields = path;
  REFUSED("field 0: path");
  wrong = index;
  wrong.labels = labels;
  wrong.label_count = 2;
  REFUSED("label 1: label is empty");
  wrong.labels = NULL;
  REFUSED("labels is NULL");
  wrong = index;
  wrong.tokenizer = (weir_tokenizer)2;
  REFUSED("tokenizer 2");
  cr_assert(eq(i64, leftovers(txn), 0));
  FAILS(weir_text_index_drop(txn, weir_str(""), NULL, &err), WEIR_INVALID, "name is empty");
  FAILS(weir_text_index_list(txn, NULL, NULL, &err), WEIR_INVALID, "visit is NULL");
}

/* ---- Dropping and listing ---------------------------------------------------------------------------------
 */

static int note_index(const weir_text_index *index, void *data, weir_error *error) {
  char *text = data;
  (void)error;
  text += sprintf(text + strlen(text), "%s%s:", text[0] ? "; " : "", index->name.ptr) + strlen(text);
  text = data;
  for (size_t i = 0; i < index->label_count; i++) {
    sprintf(text + strlen(text), " %s", index->labels[i].ptr);
  }
  for (size_t i = 0; i < index->field_count; i++) {
    sprintf(text + strlen(text), " %s=%g", text_string(index->fields[i].path), index->fields[i].weight);
  }
  sprintf(text + strlen(text), " %d %d", (int)index->tokenizer, index->ready);
  return WEIR_OK;
}

GRAPH_TEST(search_index, are_listed_as_they_were_made_and_dropped) {
  char text[512] = "";
  int existed = -1;
  const weir_text labels[] = {WEIR_TEXT("x"), WEIR_TEXT("y"), WEIR_TEXT("x")};
  const weir_text_field fields[] = {{WEIR_TEXT("it's"), 0.25}, {WEIR_TEXT("$.a.b[0]"), 3}};
  const weir_text_index second = {.name = WEIR_TEXT("a"),
                                  .labels = labels,
                                  .label_count = 3,
                                  .fields = fields,
                                  .field_count = 2,
                                  .tokenizer = WEIR_SUBSTRING};
  make_index(txn, NULL, WEIR_WORDS);
  OK(weir_text_index_create(txn, &second, NULL, &err));
  OK(weir_text_index_list(txn, note_index, text, &err));
  SAME_STRING(text, "i: title=2 body=1 0 1; a: x y it's=0.25 $.\"a\".\"b\"[0]=3 1 1");
  put_props(txn, "k", "y", "{\"it's\":\"Found\"}");
  check_indexes(txn);
  OK(weir_text_index_drop(txn, weir_str("i"), &existed, &err));
  cr_assert(eq(int, existed, 1));
  OK(weir_text_index_drop(txn, weir_str("i"), &existed, &err));
  cr_assert(eq(int, existed, 0));
  OK(weir_text_index_drop(txn, weir_str("a"), NULL, &err));
  cr_assert(eq(i64, leftovers(txn), 0));
  put_text(txn, "k", "y", "goes on");
  FAILS(weir_node_search(
            txn, &(weir_search){.size = sizeof(weir_search), .index = weir_str("i"), .query = weir_str("x")},
            see_no_hit, NULL, &err),
        WEIR_NOT_FOUND, "no text index \"i\"");
}
