/* What can be stepped along: labels, conditions and directions as statements. Deadlines. */
#include "reach.h"

#include "../internal.h"
#include "../labels.h"
#include "../query/cond.h"

int weir__reach_check(const weir_reach *reach, weir_error *err) {
  int rc = reach->direction ? weir__direction_check(reach->direction, err) : WEIR_OK;
  if (rc) {
    return rc;
  }
  if (reach->label_count > WEIR_LABELS_MAX) {
    return weir_fail(err, WEIR_INVALID, "%zu labels: give at most %d", reach->label_count, WEIR_LABELS_MAX);
  }
  if (reach->label_count > 0 && !reach->labels) {
    return weir_fail(err, WEIR_INVALID, "labels is NULL with a label_count of %zu", reach->label_count);
  }
  for (size_t i = 0; i < reach->label_count && rc == WEIR_OK; i++) {
    rc = weir__text_check(reach->labels[i], "label", 1, WEIR_LABEL_MAX, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__cond_check(reach->edges, WEIR_EDGES, err);
  }
  return rc ? rc : weir__cond_check(reach->nodes, WEIR_NODES, err);
}

static int open_steps(weir__steps *steps, weir_txn *txn, const weir_reach *reach, int flip,
                      weir__hops_spec *spec, weir_error *err) {
  int direction = reach->direction ? (int)reach->direction : WEIR_OUT;
  int along = direction & (flip ? WEIR_IN : WEIR_OUT);
  int against = direction & (flip ? WEIR_OUT : WEIR_IN);
  int rc = WEIR_OK;
  if (reach->nodes) {
    rc = weir__lookup_open(&steps->node, txn, WEIR__REACH_ID, reach->nodes, err);
  }
  if (rc || (reach->label_count > 0 && spec->label_count == 0)) {
    return rc;
  }
  if (along) {
    spec->direction = WEIR_OUT;
    rc = weir__hops_open(&steps->out, txn, spec, err);
  }
  if (rc == WEIR_OK && against) {
    spec->direction = WEIR_IN;
    rc = weir__hops_open(&steps->in, txn, spec, err);
  }
  return rc;
}

int weir__steps_open(weir__steps *steps, weir_txn *txn, const weir_reach *reach, int flip, int details,
                     const weir_text *cost, weir_error *err) {
  int64_t ids[WEIR_LABELS_MAX];
  weir__hops_spec spec = {.labels = ids, .where = reach->edges, .details = details, .cost = cost};
  *steps = (weir__steps){NULL, NULL, NULL};
  int rc = weir__labels_find(txn, reach->labels, reach->label_count, ids, &spec.label_count, err);
  if (rc == WEIR_OK) {
    rc = open_steps(steps, txn, reach, flip, &spec, err);
  }
  if (rc) {
    weir__steps_close(steps);
  }
  return rc;
}

void weir__steps_close(weir__steps *steps) {
  weir__hops_close(steps->out);
  weir__hops_close(steps->in);
  weir__lookup_close(steps->node);
  *steps = (weir__steps){NULL, NULL, NULL};
}

uint64_t weir__deadline(unsigned time_ms) {
  return time_ms ? weir__clock_ns() + time_ms * UINT64_C(1000000) : 0;
}

int weir__deadline_passed(uint64_t deadline) {
  return deadline && weir__clock_ns() >= deadline;
}
