/*
 * Snippets.
 *
 * A snippet is a window of so many terms on one field. The best window holds the most different phrases of
 * the query, then the most matches; the first of equals is taken. What is left of its length goes to both
 * sides. It is cut where terms begin and end, and shows the text as it is; where the matches are is told
 * apart from it. Matches that overlap or touch are one.
 */
#include "text_snippet.h"

#include <stdlib.h>
#include <string.h>

#include "text_tokenizer.h"

#define EDGE_BYTES 16 /* punctuation at the ends of the text, up to this, is shown as well */

/* A match of a phrase, in terms. */
struct match {
  int phrase;
  int column;
  int start;
  int len;
};

struct matches {
  struct match *list; /* by column, then start */
  int count;
};

/* A window on one column, in terms. */
struct window {
  int column;
  int start;
  int len;
  int phrases; /* different ones in it */
  int matches;
};

static int read_matches(const Fts5ExtensionApi *api, Fts5Context *fts, struct matches *out) {
  int rc = api->xInstCount(fts, &out->count);
  if (rc != SQLITE_OK || out->count == 0) {
    return rc;
  }
  out->list = calloc((size_t)out->count, sizeof *out->list);
  if (!out->list) {
    return SQLITE_NOMEM;
  }
  for (int i = 0; i < out->count && rc == SQLITE_OK; i++) {
    struct match *match = &out->list[i];
    rc = api->xInst(fts, i, &match->phrase, &match->column, &match->start);
    if (rc == SQLITE_OK) {
      match->len = api->xPhraseSize(fts, match->phrase);
    }
  }
  return rc;
}

/* ---- The best window ------------------------------------------------------------------------------------
 */

/* Puts the matches from..to-1 of one column in the middle of a window. */
static struct window around(const struct matches *matches, int from, int to, int tokens, int phrases) {
  const struct match *first = &matches->list[from];
  int end = first->start;
  for (int i = from; i < to; i++) {
    const struct match *match = &matches->list[i];
    end = match->start + match->len > end ? match->start + match->len : end;
  }
  int spare = tokens - (end - first->start);
  int start = spare > 0 ? first->start - spare / 2 : first->start;
  return (struct window){first->column, start > 0 ? start : 0, tokens, phrases, to - from};
}

/* `seen` has a zero for each phrase. */
static struct window best_window(const struct matches *matches, int tokens, int *seen) {
  struct window best = {.column = -1};
  int to = 0;
  int phrases = 0;
  for (int from = 0; from < matches->count; from++) {
    const struct match *first = &matches->list[from];
    to = to > from ? to : from;
    for (; to < matches->count; to++) {
      const struct match *next = &matches->list[to];
      if (to > from && (next->column != first->column || next->start + next->len > first->start + tokens)) {
        break;
      }
      phrases += seen[next->phrase]++ == 0;
    }
    if (phrases > best.phrases || (phrases == best.phrases && to - from > best.matches)) {
      best = around(matches, from, to, tokens, phrases);
    }
    phrases -= --seen[first->phrase] == 0;
  }
  return best;
}

/* ---- From terms to bytes --------------------------------------------------------------------------------
 */

struct bytes {
  int first; /* number of the term that starts[0] is of */
  int wanted;
  int next; /* number of the next term */
  int count;
  int starts[WEIR__SNIPPET_TOKENS_MAX];
  int ends[WEIR__SNIPPET_TOKENS_MAX];
};

static int note_bytes(void *data, int flags, const char *token, int len, int start, int end) {
  struct bytes *bytes = data;
  (void)flags;
  (void)token;
  (void)len;
  if (bytes->next++ >= bytes->first) {
    bytes->starts[bytes->count] = start;
    bytes->ends[bytes->count] = end;
    bytes->count++;
  }
  return bytes->count == bytes->wanted ? SQLITE_DONE : SQLITE_OK;
}

static int add_span(weir__snippet *snippet, size_t start, size_t end) {
  weir_span *last = snippet->span_count ? &snippet->spans[snippet->span_count - 1] : NULL;
  if (last && start <= last->start + last->len) {
    last->len = end > last->start + last->len ? end - last->start : last->len;
    return SQLITE_OK;
  }
  if (snippet->span_count == snippet->span_room) {
    size_t room = snippet->span_room ? 2 * snippet->span_room : 16;
    weir_span *grown = realloc(snippet->spans, room * sizeof *grown);
    if (!grown) {
      return SQLITE_NOMEM;
    }
    snippet->spans = grown;
    snippet->span_room = room;
  }
  snippet->spans[snippet->span_count++] = (weir_span){start, end - start};
  return SQLITE_OK;
}

/* The bytes of `text` that the match is, as far as they are in the window. */
static int add_match(weir__snippet *snippet, const struct bytes *bytes, const struct match *match,
                     const char *text) {
  int from = match->start - bytes->first;
  int to = from + match->len;
  from = from > 0 ? from : 0;
  to = to < bytes->count ? to : bytes->count;
  if (from >= to) {
    return SQLITE_OK;
  }
  size_t start = (size_t)bytes->starts[from];
  size_t end = (size_t)bytes->ends[to - 1];
  size_t chars = (size_t)match->phrase < snippet->phrases ? snippet->chars[match->phrase] : 0;
  if (chars > 0) {
    size_t at = start;
    for (; chars > 0 && at < end; chars--) {
      at += weir__char_bytes(text + at, end - at);
    }
    end = at;
  }
  return add_span(snippet, start - snippet->start, end - snippet->start);
}

static int copy_text(weir__snippet *snippet, const char *text, size_t len) {
  if (len >= snippet->room) {
    char *grown = realloc(snippet->memory, len + 1);
    if (!grown) {
      return SQLITE_NOMEM;
    }
    snippet->memory = grown;
    snippet->room = len + 1;
  }
  memcpy(snippet->memory, text, len);
  snippet->memory[len] = '\0';
  snippet->text = (weir_text){snippet->memory, len};
  return SQLITE_OK;
}

static int show(const Fts5ExtensionApi *api, Fts5Context *fts, struct window window,
                const struct matches *matches, weir__snippet *snippet) {
  const char *text = NULL;
  int total = 0;
  int tokens = 0;
  int rc = api->xColumnText(fts, window.column, &text, &total);
  if (rc == SQLITE_OK) {
    rc = api->xColumnSize(fts, window.column, &tokens);
  }
  if (rc != SQLITE_OK) {
    return rc;
  }
  if (window.start > 0 && window.start + window.len > tokens) {
    window.start = tokens > window.len ? tokens - window.len : 0;
  }
  struct bytes bytes = {.first = window.start, .wanted = window.len};
  rc = api->xTokenize(fts, text, total, &bytes, note_bytes);
  if ((rc != SQLITE_OK && rc != SQLITE_DONE) || bytes.count == 0) {
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
  }
  int start = bytes.starts[0];
  int end = bytes.ends[bytes.count - 1];
  start = window.start == 0 && start <= EDGE_BYTES ? 0 : start;
  end = window.start + bytes.count == tokens && total - end <= EDGE_BYTES ? total : end;
  snippet->column = window.column;
  snippet->start = (size_t)start;
  snippet->total = (size_t)total;
  rc = copy_text(snippet, text + start, (size_t)(end - start));
  for (int i = 0; i < matches->count && rc == SQLITE_OK; i++) {
    if (matches->list[i].column == window.column) {
      rc = add_match(snippet, &bytes, &matches->list[i], text);
    }
  }
  return rc;
}

/* ---- The function -----------------------------------------------------------------------------------------
 */

static int make_snippet(const Fts5ExtensionApi *api, Fts5Context *fts, weir__snippet *snippet) {
  struct matches matches = {NULL, 0};
  int phrases = api->xPhraseCount(fts);
  int *seen = calloc((size_t)phrases + 1, sizeof *seen);
  snippet->column = -1;
  snippet->span_count = 0;
  int rc = seen ? read_matches(api, fts, &matches) : SQLITE_NOMEM;
  if (rc == SQLITE_OK && matches.count > 0) {
    rc = show(api, fts, best_window(&matches, (int)snippet->tokens, seen), &matches, snippet);
  }
  free(seen);
  free(matches.list);
  return rc;
}

static void snippet_function(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context,
                             int count, sqlite3_value **values) {
  weir__snippet *snippet = count == 1 ? sqlite3_value_pointer(values[0], WEIR__SNIPPET_POINTER) : NULL;
  int rc = snippet ? make_snippet(api, fts, snippet) : SQLITE_MISUSE;
  if (rc != SQLITE_OK) {
    sqlite3_result_error_code(context, rc);
  }
}

int weir__snippet_add(fts5_api *api) {
  return api->xCreateFunction(api, "weir_snippet", NULL, snippet_function, NULL);
}

void weir__snippet_clear(weir__snippet *snippet) {
  free(snippet->memory);
  free(snippet->spans);
  *snippet = (weir__snippet){.column = -1};
}
