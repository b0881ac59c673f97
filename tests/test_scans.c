/* Scans: complete, in pages, and exactly once for what was there all the time, whatever others do meanwhile.
 */
#include "graph_fixture.h"

#define PERMANENT 60
#define TRANSIENT 30

/* How often each was visited. Permanent things are named "p0", "p1", ... */
struct visits {
  int of[PERMANENT];
  int others;
  int count;
  int fail_at; /* the visit that fails, from 1; 0: none */
  int silent;  /* it does so without a message */
};

static int note_key(struct visits *visits, weir_text key, weir_error *error) {
  int number = key.ptr[0] == 'p' ? atoi(key.ptr + 1) : -1;
  if (visits->count + 1 == visits->fail_at) {
    visits->fail_at = 0;
    return visits->silent ? WEIR_CONFLICT : weir_fail(error, WEIR_CONFLICT, "did not like %s", key.ptr);
  }
  visits->count++;
  if (number < 0) {
    visits->others++;
  } else {
    visits->of[number]++;
  }
  return WEIR_OK;
}

static int note_node(const weir_node *node, void *data, weir_error *error) {
  return note_key(data, node->key, error);
}

static int note_edge(const weir_edge *edge, void *data, weir_error *error) {
  return note_key(data, edge->dst, error);
}

static int note_neighbor(const weir_neighbor *neighbor, void *data, weir_error *error) {
  return note_key(data, neighbor->node.key, error);
}

static void each_once(const struct visits *visits) {
  for (int i = 0; i < PERMANENT; i++) {
    cr_assert(eq(int, visits->of[i], 1), "p%d was visited %d times", i, visits->of[i]);
  }
}

static weir_text key_of(char kind, int number) {
  static char keys[8][16];
  static unsigned next;
  char *key = keys[next++ % 8];
  snprintf(key, sizeof keys[0], "%c%d", kind, number);
  return weir_str(key);
}

/* Labels that a node has beside "all": each subset of four is a set of its own. */
static void put_labeled(weir_txn *txn, weir_text key, unsigned subset) {
  static const weir_text names[] = {WEIR_TEXT("a"), WEIR_TEXT("b"), WEIR_TEXT("c"), WEIR_TEXT("d")};
  weir_text labels[5] = {WEIR_TEXT("all")};
  weir_node node = {.key = key, .labels = labels, .label_count = 1};
  for (int i = 0; i < 4; i++) {
    if (subset & (1U << i)) {
      labels[node.label_count++] = names[i];
    }
  }
  OK(weir_node_put(txn, &node, NULL, &err));
}

/* The permanent and half of the transient nodes and the edges hub -> each. */
static void put_base(weir_txn *txn) {
  put_node(txn, "hub", NULL);
  for (int i = 0; i < PERMANENT; i++) {
    weir_text key = key_of('p', i);
    put_labeled(txn, key, (unsigned)i % 16);
    OK(weir_edge_put(txn,
                     &(weir_edge){.src = weir_str("hub"), .label = weir_str(i % 2 ? "e" : "f"), .dst = key},
                     0, NULL, &err));
    if (i < TRANSIENT && i % 2) {
      put_labeled(txn, key_of('t', i), (unsigned)i % 16);
    }
  }
}

/* One random change that leaves permanent nodes there, with the label "all", and their edges. */
static void disturb(weir_txn *txn, weir_test_rng *rng) {
  weir_text transient = key_of('t', (int)weir_test_below(rng, TRANSIENT));
  weir_text permanent = key_of('p', (int)weir_test_below(rng, PERMANENT));
  switch (weir_test_below(rng, 4)) {
  case 0:
    OK(weir_node_del(txn, transient, NULL, &err));
    break;
  case 1:
    put_labeled(txn, transient, (unsigned)weir_test_below(rng, 16));
    break;
  case 2:
    put_labeled(txn, permanent, (unsigned)weir_test_below(rng, 16)); /* moves to another set */
    break;
  default:
    OK(weir_edge_put(txn, &(weir_edge){.src = weir_str("hub"), .label = weir_str("g"), .dst = transient},
                     WEIR_CREATE_ENDPOINTS, NULL, &err));
    break;
  }
}

/* One page of a scan; `what` is 0 nodes, 1 nodes by label, 2 edges, 3 neighbors. */
static int scan_page(weir_txn *txn, int what, weir_scan *scan, struct visits *visits) {
  scan->label = weir_str(what == 1 ? "all" : NULL);
  switch (what) {
  case 0:
  case 1:
    return weir_node_scan(txn, scan, note_node, visits, &err);
  case 2:
    return weir_edge_scan(txn, scan, note_edge, visits, &err);
  default:
    return weir_neighbors(txn, weir_str("hub"), WEIR_OUT, 0, scan, note_neighbor, visits, &err);
  }
}

GRAPH_TEST(scans, visit_everything_once) {
  put_base(txn);
  for (int what = 0; what < 4; what++) {
    struct visits visits = {.count = 0};
    weir_scan scan = WEIR_SCAN_INIT;
    OK(scan_page(txn, what, &scan, &visits));
    each_once(&visits);
    cr_assert(eq(int, visits.others, what == 0 ? TRANSIENT / 2 + 1 : what == 1 ? TRANSIENT / 2 : 0));
  }
}

GRAPH_TEST(scans, in_pages_visit_everything_once) {
  put_base(txn);
  for (int what = 0; what < 4; what++) {
    for (size_t limit = 1; limit < 80; limit += 1 + limit / 3) {
      struct visits visits = {.count = 0};
      weir_cursor cursor = WEIR_CURSOR_INIT;
      weir_scan scan = WEIR_SCAN_INIT;
      scan.limit = limit;
      scan.cursor = &cursor;
      while (!cursor.done) {
        int before = visits.count;
        OK(scan_page(txn, what, &scan, &visits));
        cr_assert(visits.count - before == (int)limit || cursor.done);
        cr_assert(visits.count > before); /* no empty page */
      }
      each_once(&visits);
      OK(scan_page(txn, what, &scan, &visits)); /* done stays done */
      each_once(&visits);
    }
  }
}

GRAPH_TEST(scans, in_pages_are_exact_for_what_stays_while_others_write) {
  weir_test_rng rng = {weir_test_seed()};
  put_base(txn);
  for (int round = 0; round < 24; round++) {
    struct visits visits = {.count = 0};
    weir_cursor cursor = WEIR_CURSOR_INIT;
    weir_scan scan = WEIR_SCAN_INIT;
    scan.cursor = &cursor;
    while (!cursor.done) {
      scan.limit = 1 + (size_t)weir_test_below(&rng, 12);
      OK(scan_page(txn, round % 4, &scan, &visits));
      for (int i = 0; i < 6; i++) {
        disturb(txn, &rng);
      }
    }
    each_once(&visits);
  }
}

GRAPH_TEST(scans, by_label_come_in_one_order_over_all_sets) {
  weir_scan scan = WEIR_SCAN_INIT;
  struct visits visits = {.count = 0};
  for (int i = 0; i < 1000; i++) { /* more in a set than is read ahead at once */
    put_labeled(txn, key_of('t', i), i % 7 ? 0 : (unsigned)i % 16);
  }
  scan.label = weir_str("all");
  OK(weir_node_scan(txn, &scan, note_node, &visits, &err));
  cr_assert(eq(int, visits.count, 1000));
  visits.count = 0;
  scan.label = weir_str("c");
  OK(weir_node_scan(txn, &scan, note_node, &visits, &err));
  cr_assert(eq(i64, visits.count, count_nodes(txn, "c")));
}

GRAPH_TEST(scans, of_an_unknown_label_are_done_at_once) {
  struct visits visits = {.count = 0};
  weir_cursor cursor = WEIR_CURSOR_INIT;
  weir_scan scan = WEIR_SCAN_INIT;
  put_base(txn);
  int64_t labels = sql_number(txn, "SELECT count(*) FROM label");
  scan.label = weir_str("unheard of");
  scan.cursor = &cursor;
  OK(weir_node_scan(txn, &scan, note_node, &visits, &err));
  cr_assert(eq(int, cursor.done, 1));
  cursor = (weir_cursor)WEIR_CURSOR_INIT;
  OK(weir_edge_scan(txn, &scan, note_edge, &visits, &err));
  cr_assert(eq(int, cursor.done, 1));
  cr_assert(zero(int, visits.count));
  cr_assert(eq(i64, sql_number(txn, "SELECT count(*) FROM label"), labels));
}

GRAPH_TEST(scans, of_edges_by_label_leave_out_the_others) {
  struct visits visits = {.count = 0};
  weir_scan scan = WEIR_SCAN_INIT;
  put_base(txn);
  scan.label = weir_str("e");
  OK(weir_edge_scan(txn, &scan, note_edge, &visits, &err));
  cr_assert(eq(int, visits.count, PERMANENT / 2));
}

GRAPH_TEST(scans, that_a_visitor_fails_go_on_at_that_row) {
  put_base(txn);
  for (int what = 0; what < 4; what++) {
    for (int silent = 0; silent < 2; silent++) {
      struct visits visits = {.fail_at = 11, .silent = silent};
      weir_cursor cursor = WEIR_CURSOR_INIT;
      weir_scan scan = WEIR_SCAN_INIT;
      scan.cursor = &cursor;
      FAILS(scan_page(txn, what, &scan, &visits), WEIR_CONFLICT, silent ? "WEIR_CONFLICT" : "did not like");
      cr_assert(eq(int, visits.count, 10));
      cr_assert(zero(int, cursor.done));
      OK(scan_page(txn, what, &scan, &visits));
      each_once(&visits);
    }
  }
}
