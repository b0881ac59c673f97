/* What all scans share: their options, how many rows to visit, and where the next page begins. */
#ifndef WEIR_GRAPH_SCAN_H
#define WEIR_GRAPH_SCAN_H

#include <weir/graph.h>

/* One page of a scan. `place` is where the cursor was, then behind each row that was visited. */
typedef struct weir__page {
  weir_scan options;
  weir_cursor cursor;
  size_t visited;
  weir_error error; /* for the visitor: nothing of an earlier call is in it */
} weir__page;

/* Checks the options (NULL: none), and that there is a visitor, and begins a page. */
int weir__page_begin(weir__page *page, const weir_scan *options, int has_visitor, weir_error *err);

/* 1 if the row at hand is one too many: leave it, and return WEIR_STOP to the storage. */
int weir__page_full(const weir__page *page);

/* How many rows a page wants from storage, with the one that shows that there are more; 0: all. */
size_t weir__page_wants(const weir__page *page);

/* Before and after the user's visitor, which must not write. */
void weir__visit_begin(weir_txn *txn);

/* `rc` is what the visitor returned. If that is no error the page counts the row: set page->cursor.place
 * then. Returns what to return to the storage. */
int weir__visit_end(weir_txn *txn, weir__page *page, int rc, weir_error *err);

/* Ends the page with what the storage returned, and writes the caller's cursor. */
int weir__page_end(const weir__page *page, int rc);

#endif
