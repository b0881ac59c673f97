/*
 * Fair conditions: all modes run under the same settings, and the report says which.
 */
#ifndef BENCH_CONDITIONS_H
#define BENCH_CONDITIONS_H

#include "data.h"
#include "report.h"

/*
 * Opens the file at `path` bare, in single mode and in pool mode, reads the pragmas back from each
 * connection, and ends the program if they differ in anything that matters for speed. Prints them, with the
 * machine, and puts them into every line of `out`.
 */
void conditions_check_file(const bench_settings *settings, const char *path, jsonl *out);

/* The same with the file of a dataset, and what that holds. */
void conditions_check(const bench_settings *settings, const dataset *data, jsonl *out);

#endif
