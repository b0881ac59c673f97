/*
 * A history checker. Writers of every kind append rows (support/traffic.h), and note what they were told;
 * readers note what they see. Afterwards every snapshot must be exactly the writes up to its rev, among them
 * all that were acknowledged before it began, and one session never goes back in time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <weir/async.h>

#include "loop.h"
#include "traffic.h"

TestSuite(history, .timeout = 300);

enum {
  WRITERS = 4, /* the last one on a loop */
  READERS = 4, /* the last one on a loop */
  THREADS = WRITERS + READERS + 1,
  WRITES = TEST_IS_SLOW ? 150 : 1200, /* by each writer */
  CHILD_WRITES = TEST_IS_SLOW ? 50 : 300,
  REVS = WRITERS * (WRITES + CHILD_WRITES),
  SIGHTS = 6000, /* of each reader, at most */
  READS_AT_ONCE = 4
};

/* What a reader saw in one snapshot. */
struct sight {
  int64_t floor; /* its rev is this at least: by what had been acknowledged, or seen, or was asked for */
  append_state state;
};

struct history {
  traffic traffic;
  appends told;
  atomic_int writing;
  atomic_llong acknowledged; /* the highest rev so far */
  FILE *reports;             /* of another process; or NULL */
  struct sight sights[READERS][SIGHTS];
  int seen[READERS];
  atomic_long reads_given_up;
  weir_test_loop loops[2]; /* of a writer, of a reader */
};

/* ---- Writers ---- */

static void tell(const append *row, void *data) {
  struct history *h = data;
  if (!appends_tell(&h->told, row))
    fault(&h->traffic.faults, "rev %lld was acknowledged twice, or is none", (long long)row->rev);
  long long before = atomic_load(&h->acknowledged);
  while (before < row->rev && !atomic_compare_exchange_weak(&h->acknowledged, &before, row->rev))
    ;
}

/* What another process has reported was acknowledged there before. */
static void hear(struct history *h) {
  append row;
  while (fread(&row, sizeof row, 1, h->reports) == 1) {
    if (row.rev != 0)
      tell(&row, h);
  }
}

/* ---- Readers ---- */

/* Plans a read: what it must see, and how it may end early. */
static void prepare(struct history *h, weir_test_rng *rng, int64_t seen, struct sight *s,
                    weir_txn_options *options) {
  int64_t acknowledged = atomic_load(&h->acknowledged);
  s->floor = acknowledged > seen ? acknowledged : seen;
  switch (weir_test_below(rng, 4)) {
  case 0: /* waits for a write to come */
    options->min_rev = s->floor + 1 + (int64_t)weir_test_below(rng, 10);
    options->timeout_ms = 2;
    s->floor = options->min_rev;
    break;
  case 1:
    options->min_rev = s->floor;
    break;
  case 2:
    options->timeout_ms = 1;
    options->deadline_ms = (int)weir_test_below(rng, 3);
    break;
  default:
    break;
  }
}

/* 1: there is a sight. */
static int judge(struct history *h, int reader, int rc, const weir_error *err) {
  if (rc != WEIR_OK && rc != WEIR_BUSY && rc != WEIR_CANCELED && rc != WEIR_TIMEOUT)
    fault(&h->traffic.faults, "reader %d: %s: %s", reader, weir_error_name(rc), err->message);
  atomic_fetch_add(&h->reads_given_up, rc != WEIR_OK);
  return rc == WEIR_OK;
}

/* One sight by weir_read, or two in a snapshot that lasts: they must be the same. */
static int look(struct history *h, struct sight *s, const weir_txn_options *options, int lasting,
                weir_error *err) {
  weir_txn *snapshot = NULL;
  append_state again;
  if (!lasting)
    return weir_read(weir_pool_auto(h->traffic.pool), append_state_fn, &s->state, options, err);
  int rc = weir_snapshot_begin(h->traffic.pool, &snapshot, options, err);
  rc = rc == WEIR_OK ? weir_read(snapshot, append_state_fn, &s->state, NULL, err) : rc;
  rc = rc == WEIR_OK ? weir_read(snapshot, append_state_fn, &again, NULL, err) : rc;
  if (rc == WEIR_OK && memcmp(&again, &s->state, sizeof again) != 0)
    fault(&h->traffic.faults, "a snapshot went from rev %lld to %lld", (long long)s->state.rev,
          (long long)again.rev);
  int ended = weir_snapshot_end(snapshot, rc == WEIR_OK ? err : NULL);
  return rc == WEIR_OK ? ended : rc;
}

static void read_history(int reader, struct history *h, weir_test_rng *rng) {
  weir_token *token = &h->traffic.tokens[WRITERS + reader];
  int64_t seen = 0;
  int last = 0;
  while (h->seen[reader] < SIGHTS && !last) {
    weir_error err = WEIR_ERROR_INIT;
    weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
    struct sight *s = &h->sights[reader][h->seen[reader]];
    last = atomic_load(&h->writing) == 0; /* once more after the last write */
    prepare(h, rng, seen, s, &options);
    options.token = token;
    __atomic_store_n(&token->canceled, 0, __ATOMIC_RELEASE);
    int rc = look(h, s, &options, weir_test_below(rng, 4) == 0, &err);
    if (judge(h, reader, rc, &err)) {
      seen = s->state.rev;
      h->seen[reader]++;
    }
  }
}

/* ---- A reader on a loop: a read sees at least what those saw that had ended when it was submitted ---- */

struct post {
  struct history *history;
  weir_async async;
  weir_test_rng rng;
  int64_t seen;
  int reader;
};

struct glance {
  weir_req req; /* first */
  struct post *post;
  struct sight sight;
};

static int glance_work(weir_req *req, weir_txn *txn) {
  return append_state_fn(txn, &((struct glance *)req)->sight.state, &req->error);
}

static void glance_done(weir_req *req, int status);

static void glance_submit(struct glance *g) {
  struct post *post = g->post;
  weir_txn_options options = WEIR_TXN_OPTIONS_INIT;
  if (atomic_load(&post->history->writing) == 0 ||
      post->history->seen[post->reader] >= SIGHTS - READS_AT_ONCE)
    return;
  prepare(post->history, &post->rng, post->seen, &g->sight, &options);
  g->req = (weir_req)WEIR_REQ_INIT;
  g->req.min_rev = options.min_rev;
  g->req.timeout_ms = options.timeout_ms;
  int rc = weir_read_async(&post->async, &g->req, glance_work, glance_done);
  if (rc != WEIR_OK)
    fault(&post->history->traffic.faults, "a read was refused: %s", weir_error_name(rc));
}

static void glance_done(weir_req *req, int status) {
  struct glance *g = (struct glance *)req;
  struct post *post = g->post;
  struct history *h = post->history;
  if (judge(h, post->reader, status, &req->error)) {
    post->seen = g->sight.state.rev > post->seen ? g->sight.state.rev : post->seen;
    h->sights[post->reader][h->seen[post->reader]++] = g->sight;
  }
  glance_submit(g);
}

static void read_on_loop(int reader, struct history *h, uint64_t seed) {
  struct post post = {.history = h, .rng = {.state = seed}, .reader = reader};
  struct glance glances[READS_AT_ONCE];
  uv_loop_t *loop = &h->loops[1].uv;
  if (weir_async_init(&post.async, loop, h->traffic.pool, NULL) != WEIR_OK) {
    fault(&h->traffic.faults, "no handle on a loop");
    return;
  }
  for (int i = 0; i < READS_AT_ONCE; i++) {
    glances[i].post = &post;
    glance_submit(&glances[i]);
  }
  (void)uv_run(loop, UV_RUN_DEFAULT);
  (void)weir_async_close(&post.async, NULL);
  (void)uv_run(loop, UV_RUN_DEFAULT);
}

/* ---- The check ---- */

static void live(int index, void *data) {
  struct history *h = data;
  uint64_t seed = weir_test_seed() + 1000 * (uint64_t)index;
  weir_test_rng rng = {.state = seed};
  if (index >= WRITERS && index < WRITERS + READERS - 1)
    read_history(index - WRITERS, h, &rng);
  else if (index == WRITERS + READERS - 1)
    read_on_loop(READERS - 1, h, seed);
  else if (index == THREADS - 1 && h->reports)
    hear(h);
  else if (index < WRITERS - 1)
    traffic_write(&h->traffic, index, WRITES, seed);
  else if (index == WRITERS - 1)
    traffic_loop(&h->traffic, &h->loops[0].uv, index, WRITES, seed);
  atomic_fetch_sub(&h->writing, index < WRITERS || index == THREADS - 1);
}

static void check_readers(const struct history *h) {
  int64_t last = atomic_load(&h->acknowledged);
  append_state *model = calloc((size_t)last + 1, sizeof *model);
  cr_assert(ne(ptr, model, NULL));
  for (int64_t rev = 1; rev <= last; rev++) {
    cr_assert(eq(i64, h->told.by_rev[rev].rev, rev), "nobody was told of it");
    model[rev] = model[rev - 1];
    append_state_add(&model[rev], &h->told.by_rev[rev]);
  }
  for (int reader = 0; reader < READERS; reader++) {
    cr_assert(gt(int, h->seen[reader], 0));
    for (int i = 0; i < h->seen[reader]; i++) {
      const struct sight *s = &h->sights[reader][i];
      cr_assert(le(i64, s->state.rev, last));
      cr_assert(eq(i64, s->state.rows, model[s->state.rev].rows), "at rev %lld", (long long)s->state.rev);
      cr_assert(eq(int, memcmp(&s->state, &model[s->state.rev], sizeof s->state), 0),
                "the snapshot of rev %lld is not the writes up to it", (long long)s->state.rev);
      cr_assert(ge(i64, s->state.rev, s->floor), "acknowledged, or seen, before the read, and not in it");
    }
  }
  free(model);
}

static void run_history(int kind, int with_child) {
  static struct history h;
  char problem[300] = "";
  pid_t child = -1;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.numbered = 1;
  options.readers = 3;
  options.checkpoint_pages = 50;
  options.busy_timeout_ms = options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
  (void)weir_test_seed();
  h = (struct history){.writing = WRITERS + 1};
  h.traffic = (traffic){.gives_up = 1, .fails = 1, .bytes_max = 20000, .told = tell, .data = &h};
  h.traffic.in_memory = kind == SINGLE_MEMORY;
  h.told = (appends){calloc(REVS + 1, sizeof(append)), REVS};
  cr_assert(ne(ptr, h.told.by_rev, NULL));
  cr_assert(eq(int, pool_open(&h.traffic.pool, kind, &options), WEIR_OK));
  weir_pool *pool = h.traffic.pool;
  cr_assert(eq(int, weir_write(weir_pool_auto(pool), append_tables_fn, NULL, NULL, NULL), WEIR_OK));
  if (with_child) {
    char count[16], seed[32];
    (void)snprintf(count, sizeof count, "%d", CHILD_WRITES);
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)weir_test_seed() >> 16);
    const char *arguments[] = {pool_path(kind), "pool", count, seed, "100", "close", "50", NULL};
    child = child_report("append_child", arguments, &h.reports);
    cr_assert(gt(int, (int)child, 0));
  }
  weir_test_loop_init(&h.loops[0]);
  weir_test_loop_init(&h.loops[1]);
  cr_assert(together(THREADS, live, &h));
  cr_assert(eq(uint, weir_test_loop_close(&h.loops[0]) + weir_test_loop_close(&h.loops[1]), 0));
  cr_assert(eq(int, atomic_load(&h.traffic.faults.count), 0), "%s", h.traffic.faults.first);
  if (with_child) {
    cr_assert(eq(int, child_wait(child), 0));
    cr_assert(eq(int, fclose(h.reports), 0));
    cr_assert(gt(u64, stats_of(pool).foreign_commits, 0));
  }
  check_readers(&h);
  cr_assert(gt(long, atomic_load(&h.traffic.shared), 0));
  cr_assert(gt(long, atomic_load(&h.reads_given_up), 0));
  cr_assert(appends_check(pool, &h.told, 1, problem, sizeof problem), "%s", problem);
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  free(h.told.by_rev);
}

Test(history, every_snapshot_is_the_writes_up_to_its_rev_with_all_that_were_acknowledged) {
  for (int kind = 0; kind < POOL_KINDS; kind++)
    run_history(kind, 0);
}

Test(history, of_two_processes_is_one_sequence_that_every_snapshot_follows) {
  run_history(SINGLE_FILE, 1);
  run_history(POOL_FILE, 1);
}
