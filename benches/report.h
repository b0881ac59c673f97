/*
 * How weir-bench reports: aligned tables on stdout, and JSON Lines with every parameter and raw figure.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "bench.h"
#include "histogram.h"

/* ---- Tables -------------------------------------------------------------------------------------- */

typedef struct table table;

/* A table with the column heads in `heads`, separated by '|'. A head that begins with '<' is that of a
 * left-aligned column. */
table *table_new(const char *heads);

/* Adds one cell to the row being filled; a full row begins the next. */
void table_cell(table *t, const char *format, ...) WEIR_PRINTF(2, 3);

/* A number, short at any magnitude: 0.52, 41.3, 1,234. NAN is shown as "-", in the next two too. */
void table_number(table *t, double value);

/* A duration of `us` microseconds with its unit: 41.3 us, 38.2 ms, 1.02 s. */
void table_time(table *t, double us);

/* Two durations, "(40.1..41.3)", in the unit that table_time gives the second. */
void table_range(table *t, double low_us, double high_us);

/* Prints a rule across the table here. */
void table_rule(table *t);

/* Prints the table to stdout and frees it. */
void table_print(table *t);

/* ---- JSON Lines ------------------------------------------------------------------------------------ */

typedef struct jsonl jsonl;

/* Opens the file of settings->json; NULL if none was asked for, which the other functions accept. `workload`
 * and the parameters common to all lines are written into each of them. */
jsonl *jsonl_open(const bench_settings *settings, const char *workload);

/* One more parameter common to all lines. Takes over `value`. */
void jsonl_common(jsonl *out, const char *name, json_t *value);

/* Writes one line: the common parameters and the members of `line`. Takes over `line`. */
void jsonl_write(jsonl *out, json_t *line);

/* Sets one figure in `line`; null for one that does not exist (NAN, infinite). */
void jsonl_figure(json_t *line, const char *name, double value);

/* Sets p50_us, p90_us, p99_us, p99_9_us, max_us and count in `line`, each with `prefix` before it. */
void jsonl_quantiles(json_t *line, const char *prefix, const histogram *h);

void jsonl_close(jsonl *out);

/* ---- Progress ---- */

/* On a terminal, shows where the run is, in one line of stderr; NULL clears it. */
void report_progress(const char *format, ...) WEIR_PRINTF(1, 2);

/* Runs each of the cells 0..cells-1 of a grid `repeat` times, all of them in turns, and shows where it is;
 * `what` says in what. */
void report_turns(const char *what, unsigned repeat, unsigned cells,
                  void (*run)(void *grid, unsigned cell, unsigned repetition), void *grid);

/* ---- Verdicts ---------------------------------------------------------------------------------------- */

/* Prints "pass" or "MISS", the target and what was measured. */
void report_target(int pass, const char *format, ...) WEIR_PRINTF(2, 3);

/* One line about machine and versions: CPU model and count, kernel, SQLite, compiler. */
void report_machine(void);

#endif
