/* Text without spaces, and pieces of words: both tokenizers, and that the index answers. */
#include <sqlite3.h>

#include "searches.h"

#define FINDS(query, keys) SAME_STRING(found(txn, query), keys)

GRAPH_TEST(search_scripts, chinese_is_found_by_one_two_and_three_characters) {
  put_text(txn, "a", NULL, "图数据库是一种数据库");
  put_text(txn, "b", NULL, "数学和根据");
  put_text(txn, "c", NULL, "graph数据库store");
  make_index(txn, NULL, WEIR_WORDS);
  FINDS("数", "a b c");
  FINDS("数据", "a c");
  FINDS("数据库", "a c");
  FINDS("图数据库", "a");
  FINDS("据数", "");
  FINDS("数 据", "a b c");
  FINDS("\"一种数据\"", "a");
  FINDS("数据*", "a c");
  FINDS("graph", "c");
  FINDS("graph数据", "c");
  FINDS("库store", "c");
  FINDS("数据 -graph", "a");
}

GRAPH_TEST(search_scripts, japanese_korean_thai_and_others_are_found_within) {
  put_text(txn, "ja", NULL, "東京タワーへ行きました");
  put_text(txn, "ko", NULL, "그래프 데이터베이스를 만들었다");
  put_text(txn, "th", NULL, "ฐานข้อมูลกราฟ");
  put_text(txn, "lo", NULL, "ຖານຂໍ້ມູນ");
  put_text(txn, "km", NULL, "មូលដ្ឋានទិន្នន័យ");
  put_text(txn, "my", NULL, "ဒေတာဘေ့စ်");
  put_text(txn, "ext", NULL, "𠮷野家"); /* outside the Basic Multilingual Plane */
  make_index(txn, NULL, WEIR_WORDS);
  FINDS("タワー", "ja");
  FINDS("行き", "ja");
  FINDS("東", "ja");
  FINDS("데이터", "ko");
  FINDS("데이터베이스를", "ko");
  FINDS("만들", "ko");
  FINDS("ข้อมูล", "th");
  FINDS("กราฟ", "th");
  FINDS("ຂໍ້ມູນ", "lo");
  FINDS("ទិន្នន័យ", "km");
  FINDS("ဘေ့", "my");
  FINDS("𠮷野", "ext");
  FINDS("野家", "ext");
}

GRAPH_TEST(search_scripts, substrings_of_any_length_are_found) {
  put_text(txn, "a", NULL, "The Graph-Store v2.0");
  put_text(txn, "b", NULL, "ph");
  put_text(txn, "c", NULL, "x");
  put_text(txn, "d", NULL, "Straße in ÄGYPTEN, ΓΡΆΦΟΣ, ГРАФ");
  put_text(txn, "e", NULL, "数据库");
  make_index(txn, NULL, WEIR_SUBSTRING);
  FINDS("raph", "a");
  FINDS("aph-st", "a");
  FINDS("\"v2.0\"", "a");
  FINDS("\".0\"", "a");
  FINDS("\"h-\"", "a");
  FINDS("\"e G\"", "a");
  FINDS("ph", "a b");
  FINDS("h", "a b");
  FINDS("x", "c");
  FINDS("0", "a");
  FINDS(".0", "a");
  FINDS("2.0", "a");
  FINDS("GRAPH", "a");
  FINDS("äg", "d");
  FINDS("Ägyp", "d");
  FINDS("ß", "d");
  FINDS("γρά", "d");
  FINDS("гра", "d");
  FINDS("库", "e");
  FINDS("据库", "e");
  FINDS("数据库", "e");
  FINDS("数库", "");
  FINDS("graphs", "");
  FINDS("st raph", "a");
  FINDS("h -st", "b");
  FINDS("raph* OR x*", "a c");
  FINDS("\"*\"", "");
}

GRAPH_TEST(search_scripts, quoted_stars_are_characters_of_substrings) {
  put_text(txn, "a", NULL, "2*3");
  put_text(txn, "b", NULL, "23");
  make_index(txn, NULL, WEIR_SUBSTRING);
  FINDS("\"*\"", "a");
  FINDS("\"2*3\"", "a");
  FINDS("\"*3\"", "a");
  FINDS("3", "a b");
}

/* Every substring of some texts is found where it is, and nowhere else. */
GRAPH_TEST(search_scripts, every_substring_is_found_and_no_other) {
  static const char *const texts[] = {"abcab", "bca", "ab", "a", "cabb", "b"};
  char query[8];
  for (int i = 0; i < 6; i++) {
    put_text(txn, (char[]){(char)('1' + i), 0}, NULL, texts[i]);
  }
  make_index(txn, NULL, WEIR_SUBSTRING);
  for (int len = 1; len <= 5; len++) {
    int all = len == 1 ? 3 : len == 2 ? 9 : len == 3 ? 27 : len == 4 ? 81 : 243;
    for (int number = 0; number < all; number++) {
      char keys[32] = "";
      for (int i = 0, rest = number; i < len; i++, rest /= 3) {
        query[i] = (char)('a' + rest % 3);
      }
      query[len] = '\0';
      for (int i = 0; i < 6; i++) {
        if (strstr(texts[i], query)) {
          snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%d", keys[0] ? " " : "", i + 1);
        }
      }
      cr_assert(eq(str, (char *)found(txn, query), keys), "%s", query);
    }
  }
}

/* Matches are found in the table of FTS5 alone: with the texts out of its sight it answers as before. */
static int hide_texts(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_txn_exec(txn, "UPDATE text_index SET filled = 0, goal = 99", error);
}

static int show_texts(weir_txn *txn, void *data, weir_error *error) {
  (void)data;
  return weir_txn_exec(txn, "UPDATE text_index SET filled = 9223372036854775807", error);
}

static void check_index_answers(weir_txn *txn, weir_tokenizer tokenizer, const char *query) {
  char sql[200];
  put_text(txn, "a", NULL, "数据库 graph");
  put_text(txn, "b", NULL, "其他");
  make_index(txn, NULL, tokenizer);
  FINDS(query, "a");
  OK(weir_write(txn, hide_texts, NULL, NULL, &err));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM node_text_1_source"), 0));
  FINDS(query, "a");
  /* And SQLite reads no table but that. */
  snprintf(sql, sizeof sql, "SELECT count(*) FROM node_text_1 WHERE node_text_1 MATCH '\"%s\" *'", query);
  cr_assert(eq(i64, sql_number(txn, sql), 1));
  OK(weir_write(txn, show_texts, NULL, NULL, &err));
}

GRAPH_TEST(search_scripts, one_character_of_chinese_is_answered_by_the_index) {
  check_index_answers(txn, WEIR_WORDS, "据");
}

GRAPH_TEST(search_scripts, two_characters_are_answered_by_the_index_of_substrings) {
  check_index_answers(txn, WEIR_SUBSTRING, "ap");
}

GRAPH_TEST(search_scripts, one_character_is_answered_by_the_index_of_substrings) {
  check_index_answers(txn, WEIR_SUBSTRING, "库");
}

/* ---- What is not UTF-8
 * ------------------------------------------------------------------------------------- */

/* Writes random bytes into the props, behind weir's back. */
static int write_bytes(weir_txn *txn, void *data, weir_error *error) {
  static const unsigned char bytes[] = {0x80, 0xBF, 0xC3, 0xE4, 0xB8, 0xAD, 0xF0, 0xFF, 'a', ' ', 'b', 0xE0};
  weir_test_rng *rng = data;
  sqlite3_stmt *stmt;
  int rc = weir_txn_prepare(txn, weir_str("UPDATE node SET props = ?1 WHERE key = ?2"), &stmt, error);
  for (int round = 0; round < 200 && rc == WEIR_OK; round++) {
    char props[64] = "{\"body\":\"";
    size_t at = strlen(props);
    for (int count = pick(rng, 12); count > 0; count--) {
      props[at++] = (char)bytes[pick(rng, sizeof bytes)];
    }
    strcpy(props + at, "\"}");
    sqlite3_bind_text(stmt, 1, props, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(stmt, 2, round % 2 ? "a" : "b", -1, SQLITE_STATIC);
    rc = weir_txn_check(txn, sqlite3_step(stmt), error);
    sqlite3_reset(stmt);
  }
  return rc;
}

static int see_snippet(const weir_hit *hit, void *data, weir_error *error) {
  (void)data;
  (void)error;
  for (size_t i = 0; i < hit->span_count; i++) {
    cr_assert(le(sz, hit->spans[i].start + hit->spans[i].len, hit->snippet.len));
  }
  return WEIR_OK;
}

static void check_bytes(weir_txn *txn, weir_tokenizer tokenizer) {
  weir_test_rng rng = {weir_test_seed()};
  weir_search search = WEIR_SEARCH_INIT;
  put_text(txn, "a", NULL, "x");
  put_text(txn, "b", NULL, "x");
  make_index(txn, NULL, tokenizer);
  search.index = weir_str("i");
  search.query = weir_str("a OR b OR 中");
  search.snippet_tokens = 4;
  for (int round = 0; round < 20; round++) {
    OK(weir_write(txn, write_bytes, &rng, NULL, &err));
    OK(weir_node_search(txn, &search, see_snippet, NULL, &err));
    check_indexes(txn);
  }
}

GRAPH_TEST(search_scripts, bytes_that_are_no_text_do_no_harm_to_words) {
  check_bytes(txn, WEIR_WORDS);
}

GRAPH_TEST(search_scripts, bytes_that_are_no_text_do_no_harm_to_substrings) {
  check_bytes(txn, WEIR_SUBSTRING);
}
