/*
 * The neighbors of a node, and how many there are.
 *
 * WEIR_BOTH is the edges that lead away, then those that lead to the node; a loop is among both. The cursor
 * says which of the two it is in (place[0], a weir_direction), then label, far node and rank.
 */
#include "labels.h"
#include "node.h"
#include "scan.h"

/* ---- Visiting ------------------------------------------------------------------------------------------ */

struct walk {
  weir_txn *txn;
  weir_text key;
  weir_direction direction;
  unsigned flags;
  weir__page page;
  weir_neighbor_fn visit;
  void *data;
  weir_direction phase; /* WEIR_OUT, then WEIR_IN */
  int64_t label;        /* the last edge's, */
  weir_text label_name; /* whose name this is: most often the next one's, too */
};

static int name_label(struct walk *walk, int64_t label, weir_error *err) {
  int rc = walk->label == label ? WEIR_OK : weir__label_name(walk->txn, label, &walk->label_name, err);
  walk->label = rc ? 0 : label;
  return rc;
}

static int visit_hop(const weir__hop *hop, void *data, weir_error *err) {
  struct walk *walk = data;
  weir_neighbor neighbor = {
      .node = {.key = hop->node.key},
      .direction = walk->phase,
      .rank = hop->place.rank,
      .weight = hop->weight,
      .props = hop->props,
      .rev = hop->rev,
  };
  if (weir__page_full(&walk->page)) {
    return WEIR_STOP;
  }
  int rc = name_label(walk, hop->place.label, err);
  neighbor.label = walk->label_name;
  if (rc == WEIR_OK && (walk->flags & WEIR_WITH_NODES)) {
    rc = weir__node_view(walk->txn, &hop->node, &neighbor.node, err);
  }
  if (rc) {
    return rc;
  }
  weir__visit_begin(walk->txn);
  rc = weir__visit_end(walk->txn, &walk->page, walk->visit(&neighbor, walk->data, &walk->page.error), err);
  if (rc >= 0) {
    int64_t *place = walk->page.cursor.place;
    place[0] = walk->phase;
    place[1] = hop->place.label;
    place[2] = hop->place.far;
    place[3] = hop->place.rank;
  }
  return rc;
}

static int walk_phase(struct walk *walk, int64_t label, weir_direction phase, weir_error *err) {
  const int64_t *place = walk->page.cursor.place;
  const weir__hop_place after = {.label = place[1], .far = place[2], .rank = place[3]};
  const weir__expansion expansion = {
      .key = walk->key,
      .direction = phase,
      .label = label,
      .reach = walk->flags & WEIR_WITH_NODES ? WEIR__REACH_NODE : WEIR__REACH_KEY,
      .edges = (walk->flags & WEIR_WITH_EDGES) != 0,
      .places = walk->page.options.cursor != NULL,
      .after = place[0] == (int64_t)phase ? &after : NULL,
  };
  int found;
  walk->phase = phase;
  int rc = weir__store_expand(walk->txn, &expansion, visit_hop, walk, &found, err);
  return rc == WEIR_OK && !found ? weir__node_missing(walk->key, err) : rc;
}

/* Is there anything left to visit in that direction? */
static int has_phase(const struct walk *walk, weir_direction phase) {
  return (walk->direction & phase) != 0 && walk->page.cursor.place[0] <= (int64_t)phase;
}

static int visit_neighbors(weir_txn *txn, void *data, weir_error *err) {
  struct walk *walk = data;
  int64_t node;
  int64_t label;
  int none;
  walk->txn = txn;
  int rc = weir__label_filter(txn, walk->page.options.label, &label, &none, err);
  if (rc) {
    return rc;
  }
  int out = !none && !walk->page.cursor.done && has_phase(walk, WEIR_OUT);
  int in = !none && !walk->page.cursor.done && has_phase(walk, WEIR_IN);
  if (!out && !in) {
    return weir__node_number(txn, walk->key, &node, err);
  }
  rc = out ? walk_phase(walk, label, WEIR_OUT, err) : WEIR_OK;
  return rc || !in ? rc : walk_phase(walk, label, WEIR_IN, err);
}

int weir_neighbors(weir_txn *txn, weir_text key, weir_direction direction, unsigned flags,
                   const weir_scan *options, weir_neighbor_fn visit, void *data, weir_error *err) {
  struct walk walk = {.key = key, .direction = direction, .flags = flags, .visit = visit, .data = data};
  int rc = weir__key_check(key, "key", err);
  if (rc == WEIR_OK) {
    rc = weir__direction_check(direction, err);
  }
  if (rc == WEIR_OK && (flags & ~(unsigned)(WEIR_WITH_NODES | WEIR_WITH_EDGES)) != 0) {
    rc = weir_fail(err, WEIR_INVALID, "flags 0x%x: give WEIR_WITH_NODES, WEIR_WITH_EDGES or both", flags);
  }
  if (rc == WEIR_OK) {
    rc = weir__page_begin(&walk.page, options, visit != NULL, err);
  }
  if (rc) {
    return rc;
  }
  rc = direction == WEIR_BOTH ? weir__graph_read(txn, visit_neighbors, &walk, err)
                              : weir__graph_read_one(txn, visit_neighbors, &walk, err);
  return weir__page_end(&walk.page, rc);
}

/* ---- Counting ------------------------------------------------------------------------------------------ */

struct degree {
  weir_text key;
  weir_direction direction;
  weir_text label;
  int64_t count;
};

static int count_neighbors(weir_txn *txn, void *data, weir_error *err) {
  struct degree *degree = data;
  int64_t node;
  int64_t label;
  int none;
  int64_t out = 0;
  int64_t in = 0;
  degree->count = 0;
  int rc = weir__node_number(txn, degree->key, &node, err);
  if (rc == WEIR_OK) {
    rc = weir__label_filter(txn, degree->label, &label, &none, err);
  }
  if (rc || none) {
    return rc;
  }
  if (degree->direction & WEIR_OUT) {
    rc = weir__store_edge_count(txn, node, WEIR_OUT, label, &out, err);
  }
  if (rc == WEIR_OK && (degree->direction & WEIR_IN)) {
    rc = weir__store_edge_count(txn, node, WEIR_IN, label, &in, err);
  }
  degree->count = out + in;
  return rc;
}

int weir_degree(weir_txn *txn, weir_text key, weir_direction direction, weir_text label, int64_t *out,
                weir_error *err) {
  struct degree degree = {.key = key, .direction = direction, .label = label};
  int rc = weir__check_set(out, "out", err);
  if (rc == WEIR_OK) {
    rc = weir__key_check(key, "key", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__direction_check(direction, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__text_check(label, "label", 0, WEIR_LABEL_MAX, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, count_neighbors, &degree, err);
  }
  if (rc == WEIR_OK) {
    *out = degree.count;
  }
  return rc;
}
