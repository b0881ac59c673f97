/*
 * Plans of finds. What the condition joins by AND are its parts. Parts that the way to the rows answers
 * exactly, since an index holds the very values, are its ranges; the other ones are looked at row by row.
 *
 * The way is chosen by rules, not by counting rows: a key, or a set of keys; an index, by an equality rather
 * than a set, a set rather than a range, a range rather than the order; then the order of the keys, a range
 * of keys; the label; all rows. Every way gives the same rows in the same order.
 */
#include "plan.h"

#include <stdio.h>
#include <string.h>

#include "../internal.h"
#include "../labels.h"
#include "cond.h"

/* ---- Parts ----------------------------------------------------------------------------------------------
 */

static void add_parts(weir__plan *plan, const weir_cond *cond) {
  if (cond->op == WEIR_AND) {
    for (size_t i = 0; i < cond->count; i++) {
      add_parts(plan, &cond->parts[i]);
    }
  } else if (cond->op != WEIR_ALWAYS) {
    plan->parts[plan->spec.check_count++] = cond; /* no more than WEIR_COND_MAX */
  }
}

/* How well a condition leads to rows; 0: not at all. */
enum { BY_ORDER = 2, BY_RANGE = 3, BY_SET = 4, BY_VALUE = 5, BY_PRESENCE = 1 };

static int strength(const weir_cond *part) {
  switch (part->op) {
  case WEIR_EQ:
    return BY_VALUE;
  case WEIR_ONE_OF:
    return BY_SET;
  case WEIR_LT:
  case WEIR_LE:
  case WEIR_GT:
  case WEIR_GE:
  case WEIR_PREFIX:
    return BY_RANGE;
  case WEIR_PRESENT:
    return BY_PRESENCE;
  default:
    return 0;
  }
}

/* What a part has to be about to be a range. */
struct subject {
  weir_field field;
  weir_text path; /* of WEIR_FIELD_PROP: as weir__path_write makes it */
};

static int same_path(weir_text path, weir_text written) {
  char own[WEIR__PATH_ROOM];
  size_t len = weir__path_write(path, own);
  return weir__text_same((weir_text){own, len}, written);
}

static int is_about(const weir_cond *part, const struct subject *subject) {
  return strength(part) > 0 && part->field == subject->field &&
         (part->field != WEIR_FIELD_PROP || same_path(part->path, subject->path));
}

/* The part about the subject that leads to the rows best; NULL: none does. */
static const weir_cond *best_part(const weir__plan *plan, const struct subject *subject) {
  const weir_cond *best = NULL;
  for (size_t i = 0; i < plan->spec.check_count; i++) {
    const weir_cond *part = plan->parts[i];
    if ((!best || strength(part) > strength(best)) && is_about(part, subject)) {
      best = part;
    }
  }
  return best;
}

static int is_number(weir_type type) {
  return type == WEIR_TYPE_INT || type == WEIR_TYPE_REAL;
}

static int same_kind(weir_type a, weir_type b) {
  return a == b || (is_number(a) && is_number(b));
}

/* 1 if the ranges, of which `best` is one, answer `part` too. */
static int goes_with(const weir_cond *part, const weir_cond *best, const struct subject *subject) {
  if (part == best) {
    return 1;
  }
  return strength(best) == BY_RANGE && strength(part) == BY_RANGE &&
         same_kind(part->value.type, best->value.type) && is_about(part, subject);
}

/* Makes ranges of the parts about the subject. */
static void take_ranges(weir__plan *plan, const struct subject *subject) {
  const weir_cond *best = best_part(plan, subject);
  size_t kept = 0;
  for (size_t i = 0; best && i < plan->spec.check_count; i++) {
    const weir_cond *part = plan->parts[i];
    if (goes_with(part, best, subject)) {
      plan->ranges[plan->spec.range_count++] = part;
    } else if (part->op != WEIR_PRESENT || strength(best) < BY_RANGE || !is_about(part, subject)) {
      plan->parts[kept++] = part; /* but that it is there goes without saying, if it has a value */
    }
  }
  if (best) {
    plan->spec.check_count = kept;
  }
}

/* ---- Indexes ---------------------------------------------------------------------------------------------
 */

struct choice {
  const weir__plan *plan;
  const weir_find *find;
  int strength;
  int in_order;
  int64_t index;
  size_t path_len;
  char path[WEIR__PATH_ROOM];
};

static int look_at_index(const weir__index_row *row, void *data, weir_error *err) {
  struct choice *choice = data;
  const struct subject subject = {WEIR_FIELD_PROP, row->path};
  const weir_cond *best = best_part(choice->plan, &subject);
  int in_order = choice->find->order == WEIR_FIELD_PROP && same_path(choice->find->order_path, row->path);
  int found = best ? strength(best) : 0;
  (void)err;
  if (in_order && found < BY_ORDER) {
    found = BY_ORDER;
  }
  if (found > choice->strength || (found == choice->strength && in_order && !choice->in_order)) {
    choice->strength = found;
    choice->in_order = in_order;
    choice->index = row->id;
    choice->path_len = row->path.len < sizeof choice->path ? row->path.len : 0;
    memcpy(choice->path, row->path.ptr, choice->path_len);
  }
  return WEIR_OK;
}

/* Is there anything in the find that an index could serve? */
static int wants_index(const weir__plan *plan, const weir_find *find) {
  if (plan->spec.label == 0) {
    return 0;
  }
  if (find->order == WEIR_FIELD_PROP) {
    return 1;
  }
  for (size_t i = 0; i < plan->spec.check_count; i++) {
    if (plan->parts[i]->field == WEIR_FIELD_PROP && strength(plan->parts[i]) > 0) {
      return 1;
    }
  }
  return 0;
}

static int choose_index(struct choice *choice, const weir__plan *plan, const weir_find *find, int guess,
                        weir_txn *txn, weir_error *err) {
  choice->plan = plan;
  choice->find = find;
  choice->strength = 0;
  choice->in_order = 0;
  if (!wants_index(plan, find)) {
    return WEIR_OK;
  }
  return (guess ? weir__store_index_guess : weir__store_index_of)(txn, plan->spec.target, plan->spec.label,
                                                                  look_at_index, choice, err);
}

static void use_index(weir__plan *plan, const struct choice *choice) {
  const struct subject subject = {WEIR_FIELD_PROP, {choice->path, choice->path_len}};
  plan->spec.access = WEIR_BY_INDEX;
  plan->spec.index = choice->index;
  plan->spec.ordered_by_index = choice->in_order;
  take_ranges(plan, &subject);
}

/* ---- Keys ------------------------------------------------------------------------------------------------
 */

/* Takes the conditions on a key if they are that strong. */
static int use_keys(weir__plan *plan, weir_field field, int least) {
  const struct subject subject = {field, {NULL, 0}};
  const weir_cond *best = best_part(plan, &subject);
  if (!best || strength(best) < least) {
    return 0;
  }
  plan->spec.access = WEIR_BY_KEY;
  take_ranges(plan, &subject);
  return 1;
}

static int use_ends(weir__plan *plan) {
  int by_src = use_keys(plan, WEIR_FIELD_SRC, BY_VALUE);
  int by_dst = use_keys(plan, WEIR_FIELD_DST, BY_VALUE);
  return by_src || by_dst || use_keys(plan, WEIR_FIELD_SRC, BY_SET) || use_keys(plan, WEIR_FIELD_DST, BY_SET);
}

/* ---- The plan --------------------------------------------------------------------------------------------
 */

static weir_op range_op(const weir__plan *plan) {
  return plan->spec.range_count ? plan->ranges[0]->op : WEIR_ALWAYS;
}

static int has_range(const weir__plan *plan, weir_field field) {
  for (size_t i = 0; i < plan->spec.range_count; i++) {
    if (plan->ranges[i]->field == field) {
      return 1;
    }
  }
  return 0;
}

/* Do rows come in another order than is asked for? */
static int is_sorted(const weir__plan *plan) {
  const weir__plan_spec *spec = &plan->spec;
  weir_op op = range_op(plan);
  if (op == WEIR_ONE_OF) {
    return 1;
  }
  switch (spec->access) {
  case WEIR_BY_INDEX:
    return !spec->ordered_by_index && (spec->order != WEIR_FIELD_NONE || op != WEIR_EQ);
  case WEIR_BY_KEY:
    if (spec->target == WEIR_NODES) {
      return op != WEIR_EQ && spec->order != WEIR_FIELD_KEY;
    }
    /* the edges that lead to a node are in the order of their labels first */
    return spec->order != WEIR_FIELD_NONE || (!has_range(plan, WEIR_FIELD_SRC) && spec->label == 0);
  default:
    return spec->order != WEIR_FIELD_NONE;
  }
}

static void choose_way(weir__plan *plan, const struct choice *choice) {
  int nodes = plan->spec.target == WEIR_NODES;
  if (choice->strength < BY_ORDER && nodes &&
      (use_keys(plan, WEIR_FIELD_KEY, BY_RANGE) || plan->spec.order == WEIR_FIELD_KEY)) {
    plan->spec.access = WEIR_BY_KEY;
  } else if (choice->strength > 0) {
    use_index(plan, choice);
  } else {
    plan->spec.access = nodes && plan->spec.label ? WEIR_BY_LABEL : WEIR_BY_SCAN;
  }
}

int weir__plan_make(weir__plan *plan, weir_txn *txn, weir_target target, const weir_find *find, int guess,
                    weir_error *err) {
  struct choice choice; /* its path need not be set */
  plan->spec = (weir__plan_spec){
      .target = target,
      .checks = plan->parts,
      .ranges = plan->ranges,
      .order = find->order,
      .order_path = find->order_path,
      .descending = find->descending != 0,
  };
  int rc = weir__label_filter(txn, find->label, &plan->spec.label, &plan->none, err);
  if (rc || plan->none) {
    return rc;
  }
  if (find->where) {
    add_parts(plan, find->where);
  }
  if (!(target == WEIR_NODES ? use_keys(plan, WEIR_FIELD_KEY, BY_SET) : use_ends(plan))) {
    rc = choose_index(&choice, plan, find, guess, txn, err);
    if (rc) {
      return rc;
    }
    choose_way(plan, &choice);
    plan->spec.guessed = guess && plan->spec.access == WEIR_BY_INDEX;
  }
  plan->sorted = is_sorted(plan);
  return WEIR_OK;
}

/* ---- For people ------------------------------------------------------------------------------------------
 */

static const char *range_name(const weir__plan *plan) {
  switch (range_op(plan)) {
  case WEIR_EQ:
    return "equality";
  case WEIR_ONE_OF:
    return "set";
  case WEIR_PRESENT:
    return "presence";
  case WEIR_ALWAYS:
    return "order";
  default:
    return "range";
  }
}

static const char *order_name(weir_field order) {
  return order == WEIR_FIELD_KEY      ? "key"
         : order == WEIR_FIELD_REV    ? "rev"
         : order == WEIR_FIELD_WEIGHT ? "weight"
         : order == WEIR_FIELD_PROP   ? "property"
                                      : "identity";
}

struct telling {
  int64_t id;
  weir_plan *out;
};

static int tell_path(const weir__index_row *row, void *data, weir_error *err) {
  struct telling *telling = data;
  char *to = telling->out->index_path;
  (void)err;
  if (row->id != telling->id) {
    return WEIR_OK;
  }
  char shown[WEIR__PATH_ROOM];
  weir_text path = weir__path_show(row->path, shown);
  if (path.len > WEIR_PATH_MAX) { /* with all its quotes: then its beginning */
    path.len = WEIR_PATH_MAX;
  }
  memcpy(to, path.ptr, path.len);
  to[path.len] = '\0';
  return WEIR_STOP;
}

static void tell_way(const weir__plan *plan, const weir_find *find, char *text, size_t size,
                     const weir_plan *out) {
  const char *rows = plan->spec.target == WEIR_NODES ? "nodes" : "edges";
  switch (plan->spec.access) {
  case WEIR_BY_INDEX:
    (void)snprintf(text, size, "index %.*s(%.*s), %s", WEIR__SHOW(find->label),
                   WEIR__SHOW(weir_str(out->index_path)), range_name(plan));
    break;
  case WEIR_BY_KEY:
    (void)snprintf(text, size, "%s%s, %s",
                   plan->spec.target == WEIR_NODES   ? "key"
                   : has_range(plan, WEIR_FIELD_SRC) ? "src"
                                                     : "dst",
                   has_range(plan, WEIR_FIELD_SRC) && has_range(plan, WEIR_FIELD_DST) ? " and dst" : "",
                   range_name(plan));
    break;
  case WEIR_BY_LABEL:
    (void)snprintf(text, size, "all %s with label %.*s", rows, WEIR__SHOW(find->label));
    break;
  default:
    (void)snprintf(text, size, "all %s", rows);
    break;
  }
}

int weir__plan_tell(const weir__plan *plan, weir_txn *txn, const weir_find *find, weir_plan *out,
                    weir_error *err) {
  if (plan->none) {
    out->access = WEIR_BY_NOTHING;
    (void)snprintf(out->text, sizeof out->text, "nothing: no row ever had label %.*s",
                   WEIR__SHOW(find->label));
    return WEIR_OK;
  }
  out->access = plan->spec.access;
  out->sorted = plan->sorted;
  if (plan->spec.access == WEIR_BY_INDEX) {
    struct telling telling = {plan->spec.index, out};
    int rc = weir__store_index_of(txn, plan->spec.target, plan->spec.label, tell_path, &telling, err);
    if (rc < 0) {
      return rc;
    }
  }
  char way[160];
  char checks[48] = "";
  tell_way(plan, find, way, sizeof way, out);
  if (plan->spec.check_count > 0) {
    (void)snprintf(checks, sizeof checks, "; %zu %s row by row", plan->spec.check_count,
                   plan->spec.check_count == 1 ? "condition" : "conditions");
  }
  (void)snprintf(out->text, sizeof out->text, "%s%s%s%s", way, checks, plan->sorted ? "; sorted by " : "",
                 plan->sorted ? order_name(plan->spec.order) : "");
  return WEIR_OK;
}
