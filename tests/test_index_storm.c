/*
 * Threads that write, threads that find, and one that makes and drops the index they find by: every find sees
 * what a scan of the same snapshot sees, and of writes with the same unique value one alone succeeds.
 */
#include "graph_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include <weir/query.h>

enum { ROUNDS = 25, KEYS = 40, VALUES = 12 };

static const weir_index by_v = {WEIR_NODES, WEIR_TEXT("x"), WEIR_TEXT("v"), 0, 0};

struct storm {
  weir_txn *txn;
  uint64_t seed;
  atomic_int number; /* of the next thread */
  atomic_int over;   /* the index thread has done its rounds */
  atomic_int finds;
  pthread_mutex_t lock;
  char wrong[512]; /* the first thing that was */
};

static void complain(struct storm *storm, const char *who, const char *what) {
  pthread_mutex_lock(&storm->lock);
  if (!storm->wrong[0]) {
    snprintf(storm->wrong, sizeof storm->wrong, "%s: %s", who, what);
  }
  pthread_mutex_unlock(&storm->lock);
}

/* ---- Writers ---------------------------------------------------------------------------------------------
 */

static void *write_rows(void *data) {
  struct storm *storm = data;
  weir_test_rng rng = {storm->seed + (uint64_t)atomic_fetch_add(&storm->number, 1)};
  weir_error error = WEIR_ERROR_INIT;
  while (!atomic_load(&storm->over)) {
    char key[16];
    char props[32];
    snprintf(key, sizeof key, "n%d", (int)weir_test_below(&rng, KEYS));
    snprintf(props, sizeof props, "{\"v\":%d}", (int)weir_test_below(&rng, VALUES));
    int rc = weir_test_below(&rng, 4) == 0
                 ? weir_node_del(storm->txn, weir_str(key), NULL, &error)
                 : weir_node_put(storm->txn, &WEIR_NODE(key, weir_test_below(&rng, 3) ? "x" : "y", props),
                                 NULL, &error);
    if (rc) {
      complain(storm, "a write", error.message);
      break;
    }
  }
  return NULL;
}

/* ---- Readers ---------------------------------------------------------------------------------------------
 */

struct look {
  int64_t value;
  int found;
  int scanned;
  int backwards; /* an order that was not kept */
  int64_t last;
};

static int64_t value_of(const weir_node *node) {
  int64_t value = -1;
  return weir_props_int(node->props, "v", &value, NULL) == WEIR_OK ? value : -1;
}

static int count_found(const weir_node *node, void *data, weir_error *error) {
  struct look *look = data;
  (void)error;
  look->found += value_of(node) == look->value;
  look->backwards |= value_of(node) < look->last;
  look->last = value_of(node);
  return WEIR_OK;
}

static int count_scanned(const weir_node *node, void *data, weir_error *error) {
  struct look *look = data;
  (void)error;
  look->scanned += value_of(node) == look->value;
  return WEIR_OK;
}

static int look_twice(weir_txn *txn, void *data, weir_error *error) {
  struct look *look = data;
  weir_cond where = WEIR_PROP("v", WEIR_EQ, weir_int(look->value));
  weir_find find = WEIR_FIND_INIT;
  weir_scan scan = WEIR_SCAN_INIT;
  find.label = by_v.label;
  find.limit = KEYS + (size_t)look->value; /* with statements that are new again and again */
  scan.label = by_v.label;
  if (look->value % 2) {
    find.order = WEIR_FIELD_PROP;
    find.order_path = by_v.path;
  } else {
    find.where = &where;
  }
  int rc = weir_node_find(txn, &find, count_found, look, error);
  return rc ? rc : weir_node_scan(txn, &scan, count_scanned, look, error);
}

static void *find_rows(void *data) {
  struct storm *storm = data;
  weir_test_rng rng = {storm->seed + (uint64_t)atomic_fetch_add(&storm->number, 1)};
  weir_error error = WEIR_ERROR_INIT;
  while (!atomic_load(&storm->over)) {
    struct look look = {.value = (int64_t)weir_test_below(&rng, VALUES)};
    int rc = weir_read(storm->txn, look_twice, &look, NULL, &error);
    if (rc) {
      complain(storm, "a find", error.message);
      break;
    }
    if (look.found != look.scanned || look.backwards) {
      complain(storm, "a find", look.backwards ? "out of order" : "other rows than the scan");
      break;
    }
    atomic_fetch_add(&storm->finds, 1);
  }
  return NULL;
}

/* ---- The index -------------------------------------------------------------------------------------------
 */

static void *make_and_drop(void *data) {
  struct storm *storm = data;
  weir_test_rng rng = {storm->seed};
  weir_error error = WEIR_ERROR_INIT;
  for (int round = 0; round < ROUNDS; round++) {
    weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
    options.batch = 1 + (unsigned)weir_test_below(&rng, 20);
    int rc = weir_index_create(storm->txn, &by_v, &options, &error);
    int before = atomic_load(&storm->finds);
    for (int i = 0; i < 2000 && rc == WEIR_OK && atomic_load(&storm->finds) < before + 20; i++) {
      int64_t count;
      rc = weir_node_count(storm->txn, by_v.label, &count, &error);
    }
    rc = rc ? rc : weir_index_drop(storm->txn, &by_v, NULL, &error);
    if (rc) {
      complain(storm, "the index", error.message);
      break;
    }
  }
  atomic_store(&storm->over, 1);
  return NULL;
}

static void run_threads(struct storm *storm, void *(*const *bodies)(void *), int count) {
  pthread_t threads[8];
  for (int i = 0; i < count; i++) {
    cr_assert(zero(int, pthread_create(&threads[i], NULL, bodies[i], storm)));
  }
  for (int i = 0; i < count; i++) {
    cr_assert(zero(int, pthread_join(threads[i], NULL)));
  }
  cr_assert(eq(str, storm->wrong, (char *)""));
}

GRAPH_TEST(index_storm, finds_see_what_scans_see_while_the_index_comes_and_goes) {
  void *(*const bodies[])(void *) = {write_rows, write_rows, find_rows, find_rows, make_and_drop};
  struct storm storm = {.txn = txn, .seed = weir_test_seed(), .lock = PTHREAD_MUTEX_INITIALIZER};
  run_threads(&storm, bodies, 5);
  cr_assert(gt(int, atomic_load(&storm.finds), 0));
}

/* ---- Several that make the same one ----------------------------------------------------------------------
 */

/* Of those that begin at the same time one has its way, and the others are told so. */
static void *make_the_same(void *data) {
  struct storm *storm = data;
  int number = atomic_fetch_add(&storm->number, 1);
  weir_error error = WEIR_ERROR_INIT;
  for (int round = 0; round < ROUNDS; round++) {
    weir_build_options options = WEIR_BUILD_OPTIONS_INIT;
    options.batch = 1 + (unsigned)(number + round) % 7;
    int rc = round % 5 == 4 ? weir_index_drop(storm->txn, &by_v, NULL, &error)
                            : weir_index_create(storm->txn, &by_v, &options, &error);
    if (rc && rc != WEIR_EXISTS && rc != WEIR_CANCELED) {
      complain(storm, "the index", error.message);
      break;
    }
  }
  atomic_store(&storm->over, 1);
  return NULL;
}

GRAPH_TEST(index_storm, of_several_that_make_one_index_one_is_left) {
  void *(*const bodies[])(void *) = {write_rows, find_rows, make_the_same, make_the_same, make_the_same};
  struct storm storm = {.txn = txn, .seed = weir_test_seed(), .lock = PTHREAD_MUTEX_INITIALIZER};
  run_threads(&storm, bodies, 5);
  int rc = weir_index_create(txn, &by_v, NULL, &err);
  cr_assert(rc == WEIR_OK || rc == WEIR_EXISTS, "%s", err.message);
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM property_index WHERE ready"), 1));
  cr_assert(eq(i64,
               sql_number(txn, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"
                               " AND name GLOB 'node_index_*'"),
               1));
  struct look look = {.value = 1};
  OK(weir_read(txn, look_twice, &look, NULL, &err));
  cr_assert(eq(int, look.found, look.scanned));
}

/* ---- Unique values ---------------------------------------------------------------------------------------
 */

/* All threads write the same values under keys of their own; writes of one commit are among them. */
static void *claim_values(void *data) {
  struct storm *storm = data;
  int number = atomic_fetch_add(&storm->number, 1);
  weir_error error = WEIR_ERROR_INIT;
  for (int value = 0; value < 50; value++) {
    char key[32];
    char props[32];
    snprintf(key, sizeof key, "t%d-%d", number, value);
    snprintf(props, sizeof props, "{\"v\":%d}", value);
    int rc = weir_node_put(storm->txn, &WEIR_NODE(key, "x", props), NULL, &error);
    if (rc == WEIR_EXISTS && strstr(error.message, "-") && strstr(error.message, "\"v\": ")) {
      continue;
    }
    if (rc) {
      complain(storm, "a claim", error.message);
      break;
    }
    atomic_fetch_add(&storm->finds, 1);
  }
  return NULL;
}

GRAPH_TEST(index_storm, of_writes_with_one_unique_value_one_succeeds) {
  void *(*const bodies[])(void *) = {claim_values, claim_values, claim_values, claim_values};
  struct storm storm = {.txn = txn, .lock = PTHREAD_MUTEX_INITIALIZER};
  weir_index unique = by_v;
  unique.unique = 1;
  OK(weir_index_create(txn, &unique, NULL, &err));
  run_threads(&storm, bodies, 4);
  cr_assert(eq(int, atomic_load(&storm.finds), 50));
  cr_assert(eq(i64, count_nodes(txn, "x"), 50));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(DISTINCT value) FROM node_index_1"), 50));
}
