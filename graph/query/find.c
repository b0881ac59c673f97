/*
 * Find: a question is checked and taken apart here, planned by plan.c, answered by storage, and its rows are
 * handed on in pages.
 *
 * A page is as that of a scan: one row more than the limit is asked for, and a row that the visitor accepted
 * is behind the place. Where the place is has to be known after each row, since any of them may be the last;
 * so it is kept as it comes, and made a token once.
 */
#include <stdlib.h>
#include <string.h>

#include "../edge.h"
#include "../node.h"
#include "../scan.h"
#include "cond.h"
#include "place.h"
#include "plan.h"

struct finding {
  weir_find ask;
  weir_target target;
  weir_txn *txn;
  weir__page page;
  weir_node_fn visit_node;
  weir_edge_fn visit_edge;
  void *data;
  weir__hash question;   /* with a place */
  weir__position after;  /* where the page begins, then the last row that was visited */
  int begun;             /* `after` is set */
  unsigned char *memory; /* of the texts that were read from the token */
  char *text;            /* of after.value.text, once a row was visited */
  size_t text_room;
  int alone;       /* 1: there is to be one statement only, see weir__graph_read_one */
  weir_plan *told; /* of explain */
};

/* ---- Checks ----------------------------------------------------------------------------------------------
 */

static int can_order(weir_target target, weir_field order) {
  switch (order) {
  case WEIR_FIELD_NONE:
  case WEIR_FIELD_PROP:
  case WEIR_FIELD_REV:
    return 1;
  case WEIR_FIELD_KEY:
    return target == WEIR_NODES;
  case WEIR_FIELD_WEIGHT:
    return target == WEIR_EDGES;
  default:
    return 0;
  }
}

/* A label that rows must have by the condition; empty: there is none. */
static weir_text label_in(const weir_cond *cond) {
  weir_text label = {NULL, 0};
  if (cond && cond->op == WEIR_HAS_LABEL) {
    return cond->value.text;
  }
  for (size_t i = 0; cond && cond->op == WEIR_AND && i < cond->count && label.len == 0; i++) {
    label = label_in(&cond->parts[i]);
  }
  return label;
}

static int check_find(struct finding *finding, const weir_find *find, weir_error *err) {
  weir_find *ask = &finding->ask;
  int nodes = finding->target == WEIR_NODES;
  int rc = weir__options_copy(ask, sizeof *ask, find, "weir_find", err);
  if (rc == WEIR_OK) {
    rc = weir__text_check(ask->label, "label", 0, WEIR_LABEL_MAX, err);
  }
  if (rc == WEIR_OK && !can_order(finding->target, ask->order)) {
    rc = weir_fail(err, WEIR_INVALID, "order is field %d: %s can be ordered by %s, rev or a property",
                   (int)ask->order, nodes ? "nodes" : "edges", nodes ? "key" : "weight");
  }
  if (rc == WEIR_OK && ask->order == WEIR_FIELD_PROP) {
    rc = weir__path_check(ask->order_path, "order_path", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__cond_check(ask->where, finding->target, err);
  }
  if (rc == WEIR_OK && ask->label.len == 0) {
    ask->label = label_in(ask->where); /* an index may serve it */
  }
  return rc;
}

/* ---- Places ----------------------------------------------------------------------------------------------
 */

#define VALUES_MAX 6 /* kind and value, and the identity of an edge */

static weir__hash question_of(const struct finding *finding) {
  const weir_find *ask = &finding->ask;
  weir__hash hash = weir__hash_number(weir__hash_begin(), (uint64_t)finding->target);
  hash = weir__hash_text(hash, ask->label);
  hash = weir__hash_cond(hash, ask->where);
  hash = weir__hash_number(hash, (uint64_t)ask->order);
  hash = weir__hash_path(hash, ask->order == WEIR_FIELD_PROP ? ask->order_path : (weir_text){NULL, 0});
  return weir__hash_number(hash, ask->descending != 0);
}

static size_t id_count(const struct finding *finding) {
  return finding->target == WEIR_NODES ? 1 : 4;
}

/* Could the order give such a value? */
static int fits(weir_field order, int64_t kind, weir_type type) {
  switch (order) {
  case WEIR_FIELD_KEY:
    return type == WEIR_TYPE_TEXT;
  case WEIR_FIELD_WEIGHT:
    return type == WEIR_TYPE_REAL;
  case WEIR_FIELD_REV:
    return type == WEIR_TYPE_INT;
  default:
    return kind >= 0 && kind <= 4 && type != WEIR_TYPE_NONE;
  }
}

/* Sets `after` from the token, if there is one. */
static int begin_at_place(struct finding *finding, weir_error *err) {
  const weir_place *place = finding->ask.place;
  weir_value values[VALUES_MAX];
  size_t ids = id_count(finding);
  size_t extra = finding->ask.order == WEIR_FIELD_NONE ? 0 : 2;
  if (!place) {
    return WEIR_OK;
  }
  finding->question = question_of(finding);
  if (!place->token || place->token[0] == '\0') {
    return WEIR_OK;
  }
  int rc = weir__place_read(place, finding->question, values, extra + ids, &finding->memory, err);
  if (rc) {
    return rc;
  }
  int right = 1;
  if (extra) {
    finding->after.kind = values[0].integer;
    finding->after.value = values[1];
    right = values[0].type == WEIR_TYPE_INT && fits(finding->ask.order, values[0].integer, values[1].type);
  }
  for (size_t i = 0; i < ids; i++) {
    right = right && values[extra + i].type == WEIR_TYPE_INT;
    finding->after.id[i] = values[extra + i].integer;
  }
  finding->begun = 1;
  return right ? WEIR_OK : weir_fail(err, WEIR_INVALID, "the token of the place is damaged");
}

/* Keeps where the row is, whose texts do not last. */
static int keep_place(struct finding *finding, const weir__position *at, weir_error *err) {
  if (!finding->ask.place) {
    return WEIR_OK;
  }
  finding->begun = 1;
  finding->after = *at;
  if (at->value.type != WEIR_TYPE_TEXT) {
    return WEIR_OK;
  }
  size_t len = at->value.text.len;
  if (len > finding->text_room || !finding->text) {
    char *grown = realloc(finding->text, 2 * len + 64);
    if (!grown) {
      finding->begun = 0;
      return weir_fail(err, WEIR_NOMEM, "out of memory for a place");
    }
    finding->text = grown;
    finding->text_room = 2 * len + 64;
  }
  memcpy(finding->text, at->value.text.ptr, len);
  finding->after.value.text.ptr = finding->text;
  return WEIR_OK;
}

/* Tells the caller where the next page begins. `rc` is what storage returned. */
static int end_at_place(struct finding *finding, int rc, weir_error *err) {
  weir_place *place = finding->ask.place;
  weir_value values[VALUES_MAX];
  size_t count = 0;
  if (!place) {
    return rc;
  }
  if (rc == WEIR_OK) {
    weir_place_clear(place);
    place->done = 1;
    return rc;
  }
  if (!finding->begun || finding->page.visited == 0) {
    return rc;
  }
  if (finding->ask.order != WEIR_FIELD_NONE) {
    values[count++] = weir_int(finding->after.kind);
    values[count++] = finding->after.value;
  }
  for (size_t i = 0; i < id_count(finding); i++) {
    values[count++] = weir_int(finding->after.id[i]);
  }
  int written = weir__place_write(place, finding->question, values, count, rc < 0 ? NULL : err);
  return rc < 0 ? rc : written ? written : rc;
}

/* ---- Visiting --------------------------------------------------------------------------------------------
 */

static int found_node(const weir__node_row *row, const weir__position *at, void *data, weir_error *err) {
  struct finding *finding = data;
  weir_node node;
  if (weir__page_full(&finding->page)) {
    return WEIR_STOP;
  }
  int rc = weir__node_view(finding->txn, row, &node, err);
  if (rc) {
    return rc;
  }
  weir__visit_begin(finding->txn);
  rc = weir__visit_end(finding->txn, &finding->page,
                       finding->visit_node(&node, finding->data, &finding->page.error), err);
  if (rc >= 0 && keep_place(finding, at, err) != WEIR_OK) {
    rc = WEIR_NOMEM;
  }
  return rc;
}

static int found_edge(const weir__edge_row *row, const weir__position *at, void *data, weir_error *err) {
  struct finding *finding = data;
  if (weir__page_full(&finding->page)) {
    return WEIR_STOP;
  }
  weir_edge edge;
  int rc = weir__edge_view(finding->txn, row, &edge, err);
  if (rc) {
    return rc;
  }
  weir__visit_begin(finding->txn);
  rc = weir__visit_end(finding->txn, &finding->page,
                       finding->visit_edge(&edge, finding->data, &finding->page.error), err);
  if (rc >= 0 && keep_place(finding, at, err) != WEIR_OK) {
    rc = WEIR_NOMEM;
  }
  return rc;
}

static int run(weir_txn *txn, void *data, weir_error *err) {
  struct finding *finding = data;
  weir__plan plan;
  finding->txn = txn;
  int rc = weir__plan_make(&plan, txn, finding->target, &finding->ask, finding->alone, err);
  if (rc) {
    return rc;
  }
  if (finding->told) {
    return weir__plan_tell(&plan, txn, &finding->ask, finding->told, err);
  }
  if (plan.none || (finding->ask.place && finding->ask.place->done)) {
    return WEIR_OK;
  }
  if (finding->alone && plan.spec.access == WEIR_BY_LABEL) {
    return WEIR__STALE;
  }
  weir__position after = finding->after; /* that one moves on */
  plan.spec.after = finding->begun ? &after : NULL;
  plan.spec.wants = weir__page_wants(&finding->page);
  return finding->target == WEIR_NODES ? weir__store_node_query(txn, &plan.spec, found_node, finding, err)
                                       : weir__store_edge_query(txn, &plan.spec, found_edge, finding, err);
}

/* First by one statement alone, which costs least, and is what most finds with a condition are. */
static int run_find(struct finding *finding, weir_txn *txn, weir_error *err) {
  int rc = WEIR__STALE;
  if (finding->ask.where) {
    finding->alone = 1;
    rc = weir__graph_read_one(txn, run, finding, err);
    finding->alone = 0;
  }
  return rc == WEIR__STALE ? weir__graph_read(txn, run, finding, err) : rc;
}

static int find_rows(struct finding *finding, weir_txn *txn, const weir_find *find, weir_error *err) {
  int rc = weir__page_begin(&finding->page, NULL, finding->visit_node || finding->visit_edge, err);
  if (rc == WEIR_OK) {
    rc = check_find(finding, find, err);
  }
  if (rc == WEIR_OK) {
    finding->page.options.limit = finding->ask.limit;
    rc = begin_at_place(finding, err);
  }
  if (rc == WEIR_OK) {
    rc = run_find(finding, txn, err);
    rc = end_at_place(finding, rc, err);
  }
  free(finding->memory);
  free(finding->text);
  return rc < 0 ? rc : WEIR_OK;
}

int weir_node_find(weir_txn *txn, const weir_find *find, weir_node_fn visit, void *data, weir_error *err) {
  struct finding finding = {.ask = WEIR_FIND_INIT, .target = WEIR_NODES, .visit_node = visit, .data = data};
  return find_rows(&finding, txn, find, err);
}

int weir_edge_find(weir_txn *txn, const weir_find *find, weir_edge_fn visit, void *data, weir_error *err) {
  struct finding finding = {.ask = WEIR_FIND_INIT, .target = WEIR_EDGES, .visit_edge = visit, .data = data};
  return find_rows(&finding, txn, find, err);
}

/* ---- Explaining ------------------------------------------------------------------------------------------
 */

static int explain(weir_txn *txn, weir_target target, const weir_find *find, weir_plan *out,
                   weir_error *err) {
  struct finding finding = {.ask = WEIR_FIND_INIT, .target = target, .told = out};
  int rc = weir__check_set(out, "out", err);
  if (rc == WEIR_OK) {
    *out = (weir_plan){.access = WEIR_BY_SCAN};
    rc = check_find(&finding, find, err);
  }
  return rc ? rc : weir__graph_read(txn, run, &finding, err);
}

int weir_node_explain(weir_txn *txn, const weir_find *find, weir_plan *out, weir_error *err) {
  return explain(txn, WEIR_NODES, find, out, err);
}

int weir_edge_explain(weir_txn *txn, const weir_find *find, weir_plan *out, weir_error *err) {
  return explain(txn, WEIR_EDGES, find, out, err);
}
