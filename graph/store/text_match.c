/*
 * Queries as expressions of FTS5. Invariant: what is written needs no more of the parser stack of FTS5 than
 * there is (100 symbols, of which a group takes eight at most): WEIR_QUERY_DEPTH_MAX sees to it.
 */
#include "text_match.h"

/* How close FTS5 binds: OR, AND, NOT, and what needs no parentheses. */
enum binding { BINDS_OR, BINDS_AND, BINDS_NOT, BINDS_ALWAYS };

static void write_part(weir__match *match, const weir__query *query, int number, enum binding at_least);

static void write_list(weir__match *match, const weir__query *query, int first, enum binding binding,
                       enum binding at_least) {
  const char *between = binding == BINDS_OR ? " OR " : " AND ";
  int single = query->parts[first].next == WEIR__QUERY_NONE;
  if (single) {
    write_part(match, query, first, at_least);
    return;
  }
  weir__draft_sql(&match->text, binding < at_least ? "(" : "");
  for (int part = first; part != WEIR__QUERY_NONE; part = query->parts[part].next) {
    weir__draft_sql(&match->text, part == first ? "" : between);
    write_part(match, query, part, binding + 1);
  }
  weir__draft_sql(&match->text, binding < at_least ? ")" : "");
}

static void write_term(weir__match *match, const weir__query_part *part) {
  weir__draft_sql(&match->text, "\"");
  weir__draft_bytes(&match->text, part->bytes.ptr, part->bytes.len);
  weir__draft_sql(&match->text, part->prefix ? "\" *" : "\"");
  match->chars[match->phrases++] = part->chars;
}

static void write_part(weir__match *match, const weir__query *query, int number, enum binding at_least) {
  const weir__query_part *part = &query->parts[number];
  if (part->kind == WEIR__QUERY_TERM) {
    write_term(match, part);
  } else if (part->kind == WEIR__QUERY_ANY) {
    write_list(match, query, part->with, BINDS_OR, at_least);
  } else if (part->without == WEIR__QUERY_NONE) {
    write_list(match, query, part->with, BINDS_AND, at_least);
  } else {
    weir__draft_sql(&match->text, at_least > BINDS_NOT ? "(" : "");
    write_list(match, query, part->with, BINDS_AND, BINDS_ALWAYS);
    weir__draft_sql(&match->text, " NOT ");
    write_list(match, query, part->without, BINDS_OR, BINDS_ALWAYS);
    weir__draft_sql(&match->text, at_least > BINDS_NOT ? ")" : "");
  }
}

int weir__match_write(weir__match *match, const weir__query *query, weir_error *err) {
  write_part(match, query, query->root, BINDS_OR);
  return match->text.failed ? weir_fail(err, WEIR_NOMEM, "out of memory for a query") : WEIR_OK;
}

void weir__match_clear(weir__match *match) {
  weir__draft_clear(&match->text);
}
