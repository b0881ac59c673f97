/*
 * The pragmas are read back from live connections, not taken from what was asked for: the bare one, and
 * the reading and the writing connection of both modes of weir.
 */
#include "conditions.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baseline.h"

static const char *const names[] = {"page_size", "journal_mode", "synchronous",   "cache_size",
                                    "mmap_size", "foreign_keys", "trusted_schema"};
enum { PRAGMAS = sizeof names / sizeof names[0], VALUE_SIZE = 24 };

typedef struct pragmas {
  char value[PRAGMAS][VALUE_SIZE];
} pragmas;

/* On the connection itself: weir_txn_prepare takes PRAGMA journal_mode for a statement that writes. */
static int read_pragmas(weir_txn *txn, void *data, weir_error *err) {
  pragmas *out = data;
  for (int i = 0; i < PRAGMAS; i++) {
    char text[64];
    sqlite3_stmt *statement = NULL;
    snprintf(text, sizeof text, "PRAGMA %s", names[i]);
    int rc = sqlite3_prepare_v2(weir_txn_db(txn), text, -1, &statement, NULL);
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
      snprintf(out->value[i], VALUE_SIZE, "%s", (const char *)sqlite3_column_text(statement, 0));
    }
    int end = sqlite3_finalize(statement);
    if (rc != SQLITE_OK || end != SQLITE_OK) {
      return weir_txn_check(txn, rc != SQLITE_OK ? rc : end, err);
    }
  }
  return WEIR_OK;
}

static void compare(const pragmas *bare, const pragmas *weir, const char *what) {
  for (int i = 0; i < PRAGMAS; i++) {
    if (strcmp(bare->value[i], weir->value[i]) != 0) {
      bench_fail("unfair conditions: %s is %s on the bare connection and %s on the %s", names[i],
                 bare->value[i], weir->value[i], what);
    }
  }
}

static void check_mode(const bench_settings *settings, const char *path, weir_mode mode, unsigned durability,
                       const pragmas *bare) {
  weir_error err = WEIR_ERROR_INIT;
  weir_pool *pool = NULL;
  pragmas found;
  weir_pool_options options = bench_pool_options(settings, mode, 1, durability);
  bench_check(weir_pool_open(&pool, path, &options, &err), &err, "opening the store");
  bench_check(weir_read(weir_pool_auto(pool), read_pragmas, &found, NULL, &err), &err, "reading pragmas");
  compare(bare, &found, mode == WEIR_POOL ? "pool's reader" : "single mode's connection");
  bench_check(weir_write(weir_pool_auto(pool), read_pragmas, &found, NULL, &err), &err, "reading pragmas");
  compare(bare, &found, mode == WEIR_POOL ? "pool's writer" : "single mode's connection");
  bench_check(weir_pool_close(pool, &err), &err, "closing the store");
}

static void warn_if_loaded(jsonl *out) {
  double load = 0;
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (getloadavg(&load, 1) == 1 && load > 0.5 * (double)cpus) {
    printf("WARNING: the load average is %.1f on %ld CPUs: other programs run, and figures suffer\n", load,
           cpus);
  }
  jsonl_common(out, "load_average", json_real(load));
}

void conditions_check_file(const bench_settings *settings, const char *path, jsonl *out) {
  pragmas bare = {0};
  for (unsigned d = 0; d < settings->durability.count; d++) {
    sqlite3 *db = baseline_connect(path, settings, settings->durability.values[d]);
    for (int i = 0; i < PRAGMAS; i++) {
      baseline_pragma(db, names[i], bare.value[i], VALUE_SIZE);
    }
    if (sqlite3_close(db) != SQLITE_OK) {
      bench_fail("bare SQLite: cannot close %s", path);
    }
    check_mode(settings, path, WEIR_SINGLE, settings->durability.values[d], &bare);
    check_mode(settings, path, WEIR_POOL, settings->durability.values[d], &bare);
  }
  const char *fs = bench_file_system(path);
  report_machine();
  warn_if_loaded(out);
  printf("all modes: page size %s, %s, cache %u KiB, passive checkpoint at %u WAL pages, statements cached,\n"
         "  mmap %s, foreign keys %s; on %s; seed %" PRIu64 "\n",
         bare.value[0], bare.value[1], settings->cache_kib, settings->checkpoint, bare.value[4],
         bare.value[5], fs, settings->seed);
  jsonl_common(out, "page_size", json_integer(strtol(bare.value[0], NULL, 10)));
  jsonl_common(out, "journal_mode", json_string(bare.value[1]));
  jsonl_common(out, "mmap_size", json_integer(strtol(bare.value[4], NULL, 10)));
  jsonl_common(out, "file_system", json_string(fs));
}

void conditions_check(const bench_settings *settings, const dataset *data, jsonl *out) {
  struct stat st;
  conditions_check_file(settings, data->path, out);
  if (stat(data->path, &st) != 0) {
    bench_fail("cannot stat %s", data->path);
  }
  printf("store: %" PRId64 " nodes, %" PRId64 " edges, %.1f MB%s%s\n", data->nodes, data->edges,
         (double)st.st_size / 1e6, settings->db ? ", a copy of " : "", settings->db ? settings->db : "");
  jsonl_common(out, "nodes", json_integer(data->nodes));
  jsonl_common(out, "edges", json_integer(data->edges));
}
