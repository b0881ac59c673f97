/* What tests/support/pool_fixture.h declares. */
#define _GNU_SOURCE
#include "pool_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "support.h"

const char *pool_path(int kind) {
  static const char *const names[POOL_KINDS] = {"single.db", ":memory:", "pool.db"};
  static char paths[POOL_KINDS][600];
  if (kind == SINGLE_MEMORY)
    return names[kind];
  weir_test_path(paths[kind], sizeof paths[kind], names[kind]);
  return paths[kind];
}

int pool_open(weir_pool **out, int kind, const weir_pool_options *options) {
  weir_pool_options chosen = WEIR_POOL_OPTIONS_INIT;
  weir_error err = WEIR_ERROR_INIT;
  if (options)
    chosen = *options;
  chosen.mode = kind == POOL_FILE ? WEIR_POOL : WEIR_SINGLE;
  int rc = weir_pool_open(out, pool_path(kind), &chosen, &err);
  if (rc != WEIR_OK)
    fprintf(stderr, "opening %s: %s: %s\n", pool_path(kind), weir_error_name(rc), err.message);
  return rc;
}

/* ---- SQL ---- */

int exec_fn(weir_txn *txn, void *data, weir_error *err) {
  return weir_txn_exec(txn, data, err);
}

int sql_write(weir_txn *in, const char *sql, weir_error *err) {
  return weir_write(in, exec_fn, (void *)sql, NULL, err);
}

struct query {
  const char *sql;
  int64_t value;
};

static int int_fn(weir_txn *txn, void *data, weir_error *err) {
  struct query *query = data;
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, weir_str(query->sql), &stmt, err);
  if (rc != WEIR_OK)
    return rc;
  int stepped = sqlite3_step(stmt);
  rc = weir_txn_check(txn, stepped, err);
  query->value = stepped == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
  weir_txn_release(txn, stmt);
  return rc;
}

int sql_int(weir_txn *in, const char *sql, int64_t *out, weir_error *err) {
  struct query query = {sql, -1};
  int rc = weir_read(in, int_fn, &query, NULL, err);
  *out = query.value;
  return rc;
}

int txn_text(weir_txn *txn, const char *sql, char *buf, size_t size, weir_error *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = weir_txn_prepare(txn, weir_str(sql), &stmt, err);
  if (rc != WEIR_OK)
    return rc;
  int stepped = sqlite3_step(stmt);
  rc = weir_txn_check(txn, stepped, err);
  const char *text = stepped == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : "";
  (void)snprintf(buf, size, "%s", text ? text : "NULL");
  weir_txn_release(txn, stmt);
  return rc;
}

/* ---- Threads ---- */

static int latch_wait(latch *l, const int *counter, int wanted) {
  struct timespec until;
  (void)clock_gettime(CLOCK_MONOTONIC, &until); /* the other clock may be set meanwhile */
  until.tv_sec += WEIR_TEST_WAIT_MS / 1000;
  int timeout = 0;
  while (*counter < wanted && timeout == 0)
    timeout = pthread_cond_clockwait(&l->changed, &l->lock, CLOCK_MONOTONIC, &until);
  return *counter >= wanted;
}

void latch_pass(latch *l) {
  (void)pthread_mutex_lock(&l->lock);
  l->arrived++;
  (void)pthread_cond_broadcast(&l->changed);
  if (!latch_wait(l, &l->open, 1))
    fprintf(stderr, "nobody opened the latch\n");
  (void)pthread_mutex_unlock(&l->lock);
}

int latch_await(latch *l, int arrived) {
  (void)pthread_mutex_lock(&l->lock);
  int came = latch_wait(l, &l->arrived, arrived);
  (void)pthread_mutex_unlock(&l->lock);
  return came;
}

void latch_open(latch *l) {
  (void)pthread_mutex_lock(&l->lock);
  l->open = 1;
  (void)pthread_cond_broadcast(&l->changed);
  (void)pthread_mutex_unlock(&l->lock);
}

int latch_fn(weir_txn *txn, void *data, weir_error *err) {
  (void)txn;
  (void)err;
  latch_pass(data);
  return WEIR_OK;
}

static void *task_main(void *data) {
  task *t = data;
  t->rc = (t->write ? weir_write : weir_read)(t->in, t->fn, t->data, t->options, &t->error);
  atomic_store(&t->ended, 1);
  return NULL;
}

int task_start(task *t) {
  atomic_store(&t->ended, 0);
  return pthread_create(&t->thread, NULL, task_main, t);
}

int task_join(task *t) {
  (void)pthread_join(t->thread, NULL);
  return t->rc;
}

int task_ended(void *data) {
  return atomic_load(&((task *)data)->ended);
}

struct stats_condition {
  weir_pool *pool;
  int (*holds)(const weir_pool_stats *stats);
};

static int stats_hold(void *data) {
  const struct stats_condition *condition = data;
  weir_pool_stats stats;
  return weir_pool_stats_get(condition->pool, &stats, sizeof stats) == WEIR_OK && condition->holds(&stats);
}

int stats_await(weir_pool *pool, int (*condition)(const weir_pool_stats *stats)) {
  struct stats_condition wanted = {pool, condition};
  return weir_test_wait(stats_hold, &wanted, WEIR_TEST_WAIT_MS);
}

int a_write_is_queued(const weir_pool_stats *stats) {
  return stats->writes_queued > 0;
}

int a_read_waits(const weir_pool_stats *stats) {
  return stats->readers_waiting > 0;
}

/* ---- Processes ---- */

/* `reports` is the write end of a pipe, or -1. */
static pid_t spawn(const char *name, const char *const arguments[], int go, int reports) {
  char program[512] = "";
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0 || !strrchr(program, '/'))
    return -1;
  char *end = strrchr(program, '/') + 1;
  (void)snprintf(end, sizeof program - (size_t)(end - program), "%s", name);
  char *argv[16] = {program};
  for (int i = 0; i < 14 && arguments[i]; i++)
    argv[i + 1] = (char *)arguments[i];
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return -1;
  pid_t child = -1;
  int failed = go < 0 ? posix_spawn_file_actions_addopen(&actions, 3, "/dev/null", O_RDONLY, 0)
                      : posix_spawn_file_actions_adddup2(&actions, go, 3);
  if (failed == 0 && reports >= 0)
    failed = posix_spawn_file_actions_adddup2(&actions, reports, 4);
  if (failed == 0 && posix_spawn(&child, program, &actions, NULL, argv, environ) != 0)
    child = -1;
  (void)posix_spawn_file_actions_destroy(&actions);
  return child;
}

pid_t child_start(const char *const arguments[], int go) {
  return spawn("pool_child", arguments, go, -1);
}

pid_t child_report(const char *name, const char *const arguments[], FILE **reports) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return -1;
  pid_t child = spawn(name, arguments, -1, ends[1]);
  (void)close(ends[1]);
  *reports = fdopen(ends[0], "r");
  if (!*reports)
    (void)close(ends[0]);
  return *reports ? child : -1;
}

int child_wait(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return -1;
  return WEXITSTATUS(status);
}

int descriptors_of(const char *prefix) {
  DIR *dir = opendir("/proc/self/fd");
  int count = 0;
  for (struct dirent *entry = NULL; dir && (entry = readdir(dir)) != NULL;) {
    char link[300], target[600] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
    if (readlink(link, target, sizeof target - 1) > 0 && strncmp(target, prefix, strlen(prefix)) == 0)
      count++;
  }
  if (dir)
    (void)closedir(dir);
  return count;
}

int file_exists(const char *path, const char *suffix) {
  char name[700];
  (void)snprintf(name, sizeof name, "%s%s", path, suffix);
  return access(name, F_OK) == 0;
}
