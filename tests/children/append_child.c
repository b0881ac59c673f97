/*
 * Another process that writes appends (support/appends.h) to the file of a pool, and says so:
 *
 *   append_child PATH single|pool COUNT SEED WRITER close|leave PAGES
 *
 * Three threads and a loop write COUNT times each, or for ever if that is 0, as WRITER to WRITER+3, with
 * checkpoints after PAGES pages. Every row that was acknowledged is written to descriptor 4 as an `append`,
 * then, when all have ended, one with the number 0. With `leave` the process then ends without closing the
 * pool, so without a last checkpoint. Waits for the end of descriptor 3 before it opens the file. Exits with
 * 0, or 1, and says on stderr what went wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"
#include "traffic.h"

enum { GO = 3, REPORTS = 4, THREADS = 3 };

struct life {
  traffic traffic;
  weir_test_loop loop;
  int count, writer;
  uint64_t seed;
};

/* At once, and as a whole: others write there too. */
static void report(const append *row, void *data) {
  (void)data;
  if (write(REPORTS, row, sizeof *row) != (ssize_t)sizeof *row)
    _exit(1);
}

static void live(int index, void *data) {
  struct life *life = data;
  uint64_t seed = life->seed * 100 + (uint64_t)index;
  int count = life->count ? life->count : INT32_MAX;
  if (index < THREADS)
    traffic_write(&life->traffic, life->writer + index, count, seed);
  else
    traffic_loop(&life->traffic, &life->loop.uv, life->writer + index, count, seed);
}

int main(int argc, char **argv) {
  static struct life life;
  weir_error err = WEIR_ERROR_INIT;
  weir_pool_options options = WEIR_POOL_OPTIONS_INIT;
  char byte;
  if (argc != 8)
    return 1;
  options.mode = strcmp(argv[2], "pool") == 0 ? WEIR_POOL : WEIR_SINGLE;
  options.numbered = 1;
  options.busy_timeout_ms = WEIR_TEST_WAIT_MS;
  options.acquire_timeout_ms = WEIR_TEST_WAIT_MS;
  options.cache_kib = 64; /* a large row does not fit: its pages are written before the commit */
  options.checkpoint_pages = (unsigned)atoi(argv[7]);
  life = (struct life){.count = atoi(argv[3]), .seed = strtoull(argv[4], NULL, 0), .writer = atoi(argv[5])};
  life.traffic.gives_up = 1;
  life.traffic.fails = 1;
  life.traffic.bytes_max = 100000;
  life.traffic.told = report;
  weir_test_loop_init(&life.loop);
  while (read(GO, &byte, 1) > 0) {
  }
  int rc = weir_pool_open(&life.traffic.pool, argv[1], &options, &err);
  if (rc == WEIR_OK)
    rc = weir_write(weir_pool_auto(life.traffic.pool), append_tables_fn, NULL, NULL, &err);
  if (rc == WEIR_OK && !together(THREADS + 1, live, &life))
    rc = weir_fail(&err, WEIR_NOMEM, "no threads");
  if (weir_test_loop_close(&life.loop) != 0)
    fault(&life.traffic.faults, "something was left on the loop");
  if (rc == WEIR_OK && atomic_load(&life.traffic.faults.count) > 0)
    rc = weir_fail(&err, WEIR_INVALID, "%s", life.traffic.faults.first);
  if (rc == WEIR_OK) {
    report(&(append){.rev = 0}, NULL);
    if (strcmp(argv[6], "leave") == 0)
      _exit(0);
    rc = weir_pool_close(life.traffic.pool, &err);
  }
  if (rc != WEIR_OK)
    fprintf(stderr, "append_child: %s: %s\n", weir_error_name(rc), err.message);
  return rc != WEIR_OK;
}
