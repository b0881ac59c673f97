/*
 * Opening and closing a graph store, what it keeps in each connection, and how its operations are run.
 *
 * Invariants: whatever runs here runs on a connection of a graph's pool, with a label cache that holds
 * nothing that was rolled back. No operation writes while a visitor of the user's runs on the same
 * connection, so rows and label names that it was handed stay as they are.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "labels.h"
#include "store/storage_frontier.h"
#include "store/storage_project.h"
#include "store/storage_query.h"
#include "store/storage_text.h"

struct weir_graph {
  weir_pool *pool;
  const char *path; /* while it is being opened */
};

/* ---- State in each connection ---------------------------------------------------------------------- */

static void disconnect_graph(void *data, void *graph) {
  (void)graph;
  weir__local *local = data;
  weir__labels_close(local->labels);
  weir__terms_close(local->terms);
  weir__store_indexes_free(local->indexes);
  free(local);
}

static int connect_graph(struct sqlite3 *db, void **out, void *graph, weir_error *err) {
  fts5_api *api;
  int rc = weir__store_text_connect(db, &api, err);
  if (rc) {
    return rc;
  }
  weir__local *local = calloc(1, sizeof *local);
  if (!local) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a connection");
  }
  local->terms = weir__terms_open(api);
  if (!local->terms || weir__frontier_connect(db, &local->frontier) != WEIR_OK ||
      weir__take_connect(db, &local->taking) != WEIR_OK || weir__labels_open(&local->labels) != WEIR_OK) {
    disconnect_graph(local, graph);
    return weir_fail(err, WEIR_NOMEM, "out of memory for a connection");
  }
  *out = local;
  return WEIR_OK;
}

static int inspect_graph(struct sqlite3 *db, void *data, weir_error *err) {
  const weir_graph *graph = data;
  return weir__schema_inspect(db, graph->path, err);
}

static const weir_pool_hooks hooks = {
    .connect = connect_graph, .disconnect = disconnect_graph, .inspect = inspect_graph};

/* ---- Opening and closing --------------------------------------------------------------------------- */

static int open_pool(weir_graph *graph, const char *path, const weir_pool_options *given, weir_error *err) {
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  int rc = weir__options_copy(&options, sizeof options, given, "weir_pool_options", err);
  if (rc) {
    return rc;
  }
  if (options.hooks || options.data || options.numbered) {
    return weir_fail(err, WEIR_INVALID,
                     "the options hooks, data and numbered are the graph's own: leave them zero");
  }
  options.hooks = &hooks;
  options.data = graph;
  options.numbered = 1;
  graph->path = path;
  rc = weir_pool_open(&graph->pool, path, &options, err);
  if (rc) {
    return rc;
  }
  rc = weir__schema_open(weir_pool_auto(graph->pool), path, options.read_only, err);
  graph->path = NULL; /* the caller's */
  if (rc) {
    (void)weir_pool_close(graph->pool, NULL); /* the error that counts is in err */
  }
  return rc;
}

int weir_graph_open(weir_graph **out, const char *path, const weir_pool_options *options, weir_error *err) {
  int rc = weir__check_set((const void *)out, "out", err);
  if (rc) {
    return rc;
  }
  *out = NULL;
  weir_graph *graph = calloc(1, sizeof *graph);
  if (!graph) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for a graph");
  }
  rc = open_pool(graph, path, options, err);
  if (rc) {
    free(graph);
    return rc;
  }
  *out = graph;
  return WEIR_OK;
}

int weir_graph_close(weir_graph *graph, weir_error *err) {
  if (!graph) {
    return WEIR_OK;
  }
  int rc = weir_pool_close(graph->pool, err);
  if (rc != WEIR_MISUSE && rc != WEIR_BUSY && rc != WEIR_CLOSED) { /* else the pool is still there */
    free(graph);
  }
  return rc;
}

weir_pool *weir_graph_pool(weir_graph *graph) {
  return graph ? graph->pool : NULL;
}

weir_txn *weir_graph_auto(weir_graph *graph) {
  return graph ? weir_pool_auto(graph->pool) : NULL;
}

/* ---- Running operations ------------------------------------------------------------------------------ */

struct call {
  weir_txn_fn fn;
  void *data;
};

static weir__local *enter(weir_txn *txn) {
  weir__local *local = weir_txn_local(txn);
  uint64_t rollbacks = weir_txn_rollbacks(txn);
  /* A visitor that is running was handed names from the cache. Nothing of the graph's was written since it
   * began, so a rollback since then concerns other tables: the cache can wait to be dropped. */
  if (local->rollbacks != rollbacks && local->visiting == 0) {
    weir__labels_drop(local->labels);
    local->rollbacks = rollbacks;
  }
  return local;
}

static int run_read(weir_txn *txn, void *data, weir_error *err) {
  const struct call *call = data;
  (void)enter(txn);
  return call->fn(txn, call->data, err);
}

static int run_write(weir_txn *txn, void *data, weir_error *err) {
  const struct call *call = data;
  if (enter(txn)->visiting > 0) {
    return weir_fail(err, WEIR_MISUSE,
                     "a visitor must not write: collect what to write, and do it after the scan");
  }
  return call->fn(txn, call->data, err);
}

static int check_txn(const weir_txn *txn, weir_error *err) {
  if (!txn) {
    return weir_fail(err, WEIR_INVALID,
                     "txn is NULL: pass weir_graph_auto(graph) or a transaction of the graph's pool");
  }
  if (!weir_pool_data(weir_txn_pool(txn), &hooks)) {
    return weir_fail(err, WEIR_MISUSE, "the transaction is of a pool that weir_graph_open did not open");
  }
  return WEIR_OK;
}

int weir__graph_read(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err) {
  struct call call = {fn, data};
  int rc = check_txn(txn, err);
  return rc ? rc : weir_read(txn, run_read, &call, NULL, err);
}

int weir__graph_read_one(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err) {
  static const weir_txn_options one = {.size = sizeof one, .one_statement = 1};
  struct call call = {fn, data};
  int rc = check_txn(txn, err);
  return rc ? rc : weir_read(txn, run_read, &call, &one, err);
}

int weir__graph_write(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err) {
  return weir__graph_write_with(txn, fn, data, NULL, err);
}

int weir__graph_write_with(weir_txn *txn, weir_txn_fn fn, void *data, const weir_txn_options *options,
                           weir_error *err) {
  struct call call = {fn, data};
  int rc = check_txn(txn, err);
  return rc ? rc : weir_write(txn, run_write, &call, options, err);
}

int weir__graph_write_one(weir_txn *txn, weir_txn_fn fn, void *data, weir_error *err) {
  struct call call = {fn, data};
  int rc = check_txn(txn, err);
  if (rc) {
    return rc;
  }
  return weir_txn_writes(txn) ? run_write(txn, &call, err) : weir_write(txn, run_write, &call, NULL, err);
}

/* ---- Arguments ---------------------------------------------------------------------------------------- */

/* A larger size than this is not that of any options, but memory that was never set. */
#define OPTIONS_SIZE_MAX 4096

int weir__options_copy(void *known, size_t known_size, const void *given, const char *what, weir_error *err) {
  if (!given) {
    return WEIR_OK;
  }
  size_t size;
  memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > OPTIONS_SIZE_MAX) {
    return weir_fail(err, WEIR_INVALID, "size %zu in %s is wrong: start from its _INIT macro", size, what);
  }
  for (size_t i = known_size; i < size; i++) {
    if (((const char *)given)[i] != 0) {
      return weir_fail(err, WEIR_INVALID, "%s holds an option that this version of weir does not know", what);
    }
  }
  memcpy(known, given, size < known_size ? size : known_size);
  memcpy(known, &known_size, sizeof known_size);
  return WEIR_OK;
}

int weir__direction_check(weir_direction direction, weir_error *err) {
  if (direction != WEIR_OUT && direction != WEIR_IN && direction != WEIR_BOTH) {
    return weir_fail(err, WEIR_INVALID, "direction %d: give WEIR_OUT, WEIR_IN or WEIR_BOTH", (int)direction);
  }
  return WEIR_OK;
}

uint64_t weir__clock_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int weir__compare_ids(const void *a, const void *b) {
  const int64_t *x = a;
  const int64_t *y = b;
  return (*x > *y) - (*x < *y);
}

int weir__fail_at(weir_error *err, int rc, const char *what, size_t index) {
  if (err) {
    weir_error inner = *err;
    (void)weir_fail(err, rc, "%s %zu: %s", what, index, inner.message);
    err->sqlite_code = inner.sqlite_code;
    err->system_errno = inner.system_errno;
  }
  return rc;
}
