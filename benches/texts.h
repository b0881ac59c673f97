/*
 * Full text in the workloads: weir's index on one store, and an equal index of plain FTS5 on another store
 * that is equal otherwise. There are two stores since a bare connection cannot write a node of a store with
 * text indexes of weir's.
 */
#ifndef BENCH_TEXTS_H
#define BENCH_TEXTS_H

#include "data.h"
#include "report.h"

#define TEXTS_INDEX "texts" /* the name of weir's index */

/*
 * Gives `data` weir's index over title and body of the nodes with label concept, and makes a second store, of
 * the bare modes, with a plain one. Ends the program if a query does not find the same nodes, with the same
 * scores, in both. Prints what there is. Returns the second store.
 */
dataset *texts_make(const bench_settings *settings, dataset *data, jsonl *out);

/* Checks the index of a closed store, if it has one: the queries find as many nodes as at first, the last
 * number that was committed in the body of an extra node finds this node alone, and the one before it none.
 */
void texts_verify(const dataset *d, const bench_settings *settings, tally *errors);

#endif
