/*
 * Pages of scans. A page asks storage for one row more than its limit: so it knows whether that was the end,
 * and no caller has to fetch an empty page to find out.
 *
 * A row that the visitor accepted (WEIR_OK or WEIR_STOP) is behind the cursor; one at which it failed is not.
 */
#include "scan.h"

#include <stdint.h>

#include "internal.h"

int weir__page_begin(weir__page *page, const weir_scan *options, int has_visitor, weir_error *err) {
  *page = (weir__page){.options = WEIR_SCAN_INIT};
  if (!has_visitor) {
    return weir_fail(err, WEIR_INVALID, "visit is NULL");
  }
  int rc = weir__options_copy(&page->options, sizeof page->options, options, "weir_scan", err);
  if (rc == WEIR_OK) {
    rc = weir__text_check(page->options.label, "label", 0, WEIR_LABEL_MAX, err);
  }
  if (rc == WEIR_OK && page->options.cursor) {
    page->cursor = *page->options.cursor;
  }
  return rc;
}

int weir__page_full(const weir__page *page) {
  return page->options.limit > 0 && page->visited == page->options.limit;
}

size_t weir__page_wants(const weir__page *page) {
  size_t limit = page->options.limit;
  return limit > 0 && limit < SIZE_MAX ? limit + 1 : 0;
}

void weir__visit_begin(weir_txn *txn) {
  weir__local *local = weir_txn_local(txn);
  local->visiting++;
}

int weir__visit_end(weir_txn *txn, weir__page *page, int rc, weir_error *err) {
  weir__local *local = weir_txn_local(txn);
  local->visiting--;
  if (rc > WEIR_STOP) {
    return weir_fail(err, WEIR_MISUSE, "the visitor returned %d: give WEIR_OK, WEIR_STOP or an error", rc);
  }
  if (rc >= 0) {
    page->visited++;
    return rc;
  }
  if (page->error.code != rc) {
    return weir_fail(err, rc, "the visitor returned %s", weir_error_name(rc));
  }
  *err = page->error;
  return rc;
}

int weir__page_end(const weir__page *page, int rc) {
  weir_cursor *cursor = page->options.cursor;
  if (cursor) {
    *cursor = page->cursor;
    cursor->done = rc == WEIR_OK;
  }
  return rc < 0 ? rc : WEIR_OK;
}
