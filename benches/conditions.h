/*
 * Fair conditions: all modes run under the same settings, and the report says which.
 */
#ifndef BENCH_CONDITIONS_H
#define BENCH_CONDITIONS_H

#include "data.h"
#include "report.h"

/*
 * Opens the store bare, in single mode and in pool mode, reads the pragmas back from each connection, and
 * ends the program if they differ in anything that matters for speed. Prints them, with the machine and the
 * store, and puts them into every line of `out`.
 */
void conditions_check(const bench_settings *settings, const dataset *data, jsonl *out);

#endif
