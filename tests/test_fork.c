/* fork() while threads of the parent are at work, and what a child may do. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/async.h>

#include "threads.h"

TestSuite(fork, .timeout = 120);

/* A child writes the name of the first thing that was wrong to a pipe, and leaves without cleaning up. */
typedef int (*child_fn)(void *data, const char **wrong);

static void child_main(child_fn fn, void *data, int to) {
  const char *wrong = "";
  alarm(WEIR_TEST_WAIT_MS / 1000); /* a child that hangs is ended */
  if (fn(data, &wrong) != 0 && write(to, wrong, strlen(wrong)) < 0)
    _exit(2);
  _exit(0);
}

/* Runs fn in a forked child. Returns its process and the read end of the pipe. */
static pid_t begin_child(child_fn fn, void *data, int *from) {
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  pid_t child = fork();
  if (child == 0)
    child_main(fn, data, ends[1]);
  (void)close(ends[1]);
  *from = ends[0];
  return child;
}

/* Waits for it, and puts what it wrote, or how it died, into wrong. 0 if nothing was wrong. */
static int end_child(pid_t child, int from, char wrong[200]) {
  int status = 0;
  ssize_t length = read(from, wrong, 199);
  wrong[length > 0 ? length : 0] = '\0';
  (void)close(from);
  if (child < 0 || waitpid(child, &status, 0) != child)
    (void)snprintf(wrong, 200, "no child");
  else if (WIFSIGNALED(status))
    (void)snprintf(wrong, 200, "ended by signal %d", WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0 && length <= 0)
    (void)snprintf(wrong, 200, "exit status %d", WEXITSTATUS(status));
  return wrong[0] != '\0';
}

static void in_child(child_fn fn, void *data) {
  char wrong[200];
  int from = -1;
  pid_t child = begin_child(fn, data, &from);
  cr_assert(eq(int, end_child(child, from, wrong), 0), "%s", wrong);
}

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      *wrong = #condition;                                                                                   \
      return 1;                                                                                              \
    }                                                                                                        \
  } while (0)

/* ---- A parent with busy threads ---- */

struct busy {
  weir_pool *pool;
  const char *path;
  atomic_int stop;
  atomic_long writes;
  faults faults;
};

static int forked(void *data, const char **wrong) {
  struct busy *b = data;
  weir_pool *second = NULL;
  weir_txn *txn = NULL;
  weir_error err = WEIR_ERROR_INIT;
  CHECK(weir_read(weir_pool_auto(b->pool), nothing_fn, NULL, NULL, &err) == WEIR_FORKED);
  CHECK(weir_write(weir_pool_auto(b->pool), nothing_fn, NULL, NULL, &err) == WEIR_FORKED);
  CHECK(weir_snapshot_begin(b->pool, &txn, NULL, &err) == WEIR_FORKED);
  /* Without getting into SQLite, whose own locks a thread may have held when it was left behind. */
  CHECK(weir_pool_open(&second, b->path, NULL, &err) == WEIR_FORKED);
  CHECK(weir_pool_close(b->pool, &err) == WEIR_FORKED);
  CHECK(weir_pool_open(&second, b->path, NULL, &err) == WEIR_FORKED); /* closing changes nothing */
  return 0;
}

static void work_or_fork(int index, void *data) {
  enum { FORKS = TEST_IS_SLOW ? 20 : 100 };
  struct busy *b = data;
  weir_error err = WEIR_ERROR_INIT;
  int rc = WEIR_OK;
  for (int i = 0; index == 0 && i < FORKS; i++) {
    char wrong[200];
    int from = -1;
    pid_t child = begin_child(forked, b, &from);
    if (end_child(child, from, wrong) != 0)
      fault(&b->faults, "child %d: %s", i, wrong);
  }
  while (index > 0 && rc == WEIR_OK && !atomic_load(&b->stop)) {
    int64_t count = 0;
    rc = index % 2 ? sql_write(weir_pool_auto(b->pool), "INSERT INTO t(v) VALUES(randomblob(100))", &err)
                   : sql_int(weir_pool_auto(b->pool), "SELECT count(*) FROM t", &count, &err);
    atomic_fetch_add(&b->writes, index % 2);
  }
  if (rc != WEIR_OK)
    fault(&b->faults, "thread %d: %s: %s", index, weir_error_name(rc), err.message);
  atomic_store(&b->stop, index == 0 || atomic_load(&b->stop));
}

Test(fork, of_a_busy_parent_leaves_it_whole_and_the_child_is_refused_without_hanging) {
  for (int kind = SINGLE_FILE; kind < POOL_KINDS; kind += POOL_FILE - SINGLE_FILE) {
    struct busy b = {.path = pool_path(kind)};
    weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
    options.checkpoint_pages = 20;
    cr_assert(eq(int, pool_open(&b.pool, kind, &options), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(b.pool), CREATE_T, NULL), WEIR_OK));
    cr_assert(together(4, work_or_fork, &b));
    cr_assert(eq(int, atomic_load(&b.faults.count), 0), "%s", b.faults.first);
    cr_assert(eq(i64, int_of(b.pool, "SELECT count(*) FROM t"), atomic_load(&b.writes)));
    cr_assert(eq(i64, int_of(b.pool, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1));
    cr_assert(eq(int, weir_pool_close(b.pool, NULL), WEIR_OK));
  }
}

/* ---- A child of a child, a fork in a transaction, asynchronous handles ---- */

static int child_with_child(void *data, const char **wrong) {
  char said[200];
  int from = -1;
  pid_t child = begin_child(forked, data, &from);
  CHECK(end_child(child, from, said) == 0);
  return forked(data, wrong);
}

Test(fork, of_a_forked_child_gives_a_child_that_is_refused_too) {
  struct busy b = {.path = pool_path(POOL_FILE)};
  cr_assert(eq(int, pool_open(&b.pool, POOL_FILE, NULL), WEIR_OK));
  in_child(child_with_child, &b);
  cr_assert(eq(int, weir_pool_close(b.pool, NULL), WEIR_OK));
}

static int nested(void *data, const char **wrong) {
  weir_txn *txn = data;
  weir_error err = WEIR_ERROR_INIT;
  CHECK(weir_read(txn, nothing_fn, NULL, NULL, &err) == WEIR_FORKED);
  CHECK(weir_write(txn, nothing_fn, NULL, NULL, &err) == WEIR_FORKED);
  CHECK(weir_txn_exec(txn, "SELECT 1", &err) == WEIR_FORKED);
  CHECK(weir_pool_close(weir_txn_pool(txn), &err) == WEIR_FORKED);
  return 0;
}

static int fork_inside_fn(weir_txn *txn, void *data, weir_error *err) {
  in_child(nested, txn);
  return weir_txn_exec(txn, data, err);
}

Test(fork, inside_a_transaction_does_not_hurt_the_parents) {
  for (int kind = 0; kind < POOL_KINDS; kind++) {
    weir_pool *pool = NULL;
    cr_assert(eq(int, pool_open(&pool, kind, NULL), WEIR_OK));
    cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
    weir_txn *in = weir_pool_auto(pool);
    cr_assert(
        eq(int, weir_write(in, fork_inside_fn, (void *)"INSERT INTO t VALUES(1, 1)", NULL, NULL), WEIR_OK));
    cr_assert(eq(int, weir_read(in, fork_inside_fn, (void *)"SELECT * FROM t", NULL, NULL), WEIR_OK));
    cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM t"), 1));
    cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  }
}

struct asynchronous {
  uv_loop_t loop;
  weir_pool *pool;
  weir_async handle;
  weir_req running;
  latch latch;
  int ended;
};

static int async_work(weir_req *req, weir_txn *txn) {
  (void)txn;
  latch_pass(&((struct asynchronous *)req->data)->latch);
  return WEIR_OK;
}

static void async_done(weir_req *req, int status) {
  struct asynchronous *a = req->data;
  a->ended = status == WEIR_OK ? 1 : -1;
}

static int async_forked(void *data, const char **wrong) {
  struct asynchronous *a = data;
  uv_loop_t loop;
  weir_async handle;
  weir_req req = WEIR_REQ_INIT;
  CHECK(weir_read_async(&a->handle, &req, async_work, async_done) == WEIR_FORKED);
  CHECK(weir_write_async(&a->handle, &req, async_work, async_done) == WEIR_FORKED);
  CHECK(weir_req_cancel(&a->running) == WEIR_FORKED);
  CHECK(weir_async_close(&a->handle, NULL) == WEIR_FORKED);
  CHECK(uv_loop_init(&loop) == 0);
  CHECK(weir_async_init(&handle, &loop, a->pool, NULL) == WEIR_FORKED);
  CHECK(uv_loop_close(&loop) == 0);
  return 0;
}

Test(fork, refuses_the_child_every_asynchronous_call_and_the_parents_requests_end) {
  struct asynchronous a = {.latch = LATCH_INIT, .running = WEIR_REQ_INIT};
  a.running.data = &a;
  cr_assert(eq(int, pool_open(&a.pool, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, uv_loop_init(&a.loop), 0));
  cr_assert(eq(int, weir_async_init(&a.handle, &a.loop, a.pool, NULL), WEIR_OK));
  cr_assert(eq(int, weir_read_async(&a.handle, &a.running, async_work, async_done), WEIR_OK));
  cr_assert(latch_await(&a.latch, 1));
  in_child(async_forked, &a);
  latch_open(&a.latch);
  cr_assert(eq(int, uv_run(&a.loop, UV_RUN_DEFAULT), 0));
  cr_assert(eq(int, a.ended, 1));
  cr_assert(eq(int, weir_async_close(&a.handle, NULL), WEIR_OK));
  cr_assert(eq(int, uv_run(&a.loop, UV_RUN_DEFAULT), 0));
  cr_assert(eq(int, uv_loop_close(&a.loop), 0));
  cr_assert(eq(int, weir_pool_close(a.pool, NULL), WEIR_OK));
}

/* ---- What a child may do ---- */

static int opens(void *data, const char **wrong) {
  weir_pool *pool = NULL;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  options.read_only = 1; /* then no thread is started, which ThreadSanitizer would not stand in a child */
  CHECK(weir_pool_open(&pool, data, &options, NULL) == WEIR_OK);
  CHECK(int_of(pool, "SELECT count(*) FROM t") == 0);
  CHECK(weir_pool_close(pool, NULL) == WEIR_OK);
  return 0;
}

Test(fork, child_may_open_what_was_closed_before_it_was_forked) {
  weir_pool *pool = NULL;
  cr_assert(eq(int, pool_open(&pool, POOL_FILE, NULL), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
  in_child(opens, (void *)pool_path(POOL_FILE));
  cr_assert(eq(int, pool_open(&pool, POOL_FILE, NULL), WEIR_OK)); /* and that is not the parent's business */
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}

static int execs(void *data, const char **wrong) {
  char program[512] = "";
  CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
  CHECK(strrchr(program, '/') != NULL);
  (void)strcpy(strrchr(program, '/') + 1, "pool_child"); /* shorter than the name of the test */
  (void)close(3); /* what it would wait for; free for use if it was not open */
  (void)execl(program, program, "write", (char *)data, "pool", "10", (char *)NULL);
  *wrong = "exec failed";
  return 1;
}

Test(fork, child_may_open_the_file_after_exec_while_the_parent_has_it_open) {
  weir_pool *pool = NULL;
  weir_pool_options options = {.size = sizeof options, .numbered = 1};
  cr_assert(eq(int, pool_open(&pool, POOL_FILE, &options), WEIR_OK));
  cr_assert(eq(int, sql_write(weir_pool_auto(pool), CREATE_T, NULL), WEIR_OK));
  in_child(execs, (void *)pool_path(POOL_FILE));
  cr_assert(eq(i64, int_of(pool, "SELECT count(*) FROM revs"), 10));
  cr_assert(eq(int, weir_pool_close(pool, NULL), WEIR_OK));
}
