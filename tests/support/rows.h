/*
 * Rows of a table t that can be told from what they should be, and whether a file that may have lost pages
 * has them. Nothing here asserts.
 */
#ifndef WEIR_TEST_ROWS_H
#define WEIR_TEST_ROWS_H

#include <stdint.h>

#include "support.h"

struct sqlite3;

#define CREATE_ROWS "CREATE TABLE t(id INTEGER PRIMARY KEY, size INTEGER, v)"

/* Bytes of the greatest v, rows of an INSERT, bytes of its SQL. */
enum { ROW_MAX = 5000, ROWS_MAX = 8, ROWS_SQL = ROWS_MAX * 100 };

/* The SQL that inserts `count` rows from `id` on: of random sizes, or all of the greatest if `rng` is NULL.
 */
void rows_insert(char sql[ROWS_SQL], int64_t id, int count, weir_test_rng *rng);

/* A number out of the file, or minus SQLite's code. */
int64_t rows_number(struct sqlite3 *db, const char *sql);

/* Looks at the file, which nobody has open: is it whole, and has it the rows 0 to rows-1 as they were
 * written? Says in `why` what is wrong. */
int rows_whole(const char *path, int64_t rows, char why[160]);

#endif
