/*
 * What nodes share: common neighbors and triangles, by the numbers of their neighbors.
 *
 * Invariant: in a list of neighbors each is once, in ascending order, and the node itself is not among them.
 */
#include <stdlib.h>

#include "../node.h"
#include "../scan.h"
#include "idmap.h"
#include "reach.h"

#define CHUNK 128 /* far ends read at once */
#define HEAVY 4   /* a neighbor with so many times the node's neighbors is heavy */

struct near {
  int64_t *ids;
  size_t count;
  size_t room;
  int complete;
};

/* Reads the far ends of the edges of the node that `hops` goes along: all, or until there are `limit`. */
static int read_ids(struct near *near, weir__hops *hops, int64_t node, size_t limit, weir_error *err) {
  size_t count = CHUNK;
  if (!hops) {
    return WEIR_OK;
  }
  weir__hops_seek(hops, node);
  while (count == CHUNK && near->count < limit) {
    if (near->room - near->count < CHUNK) {
      size_t room = 2 * near->room + CHUNK;
      int64_t *ids = realloc(near->ids, room * sizeof *ids);
      if (!ids) {
        return weir_fail(err, WEIR_NOMEM, "out of memory for %zu neighbors", room);
      }
      near->ids = ids;
      near->room = room;
    }
    int rc = weir__hops_ids(hops, near->ids + near->count, NULL, CHUNK, &count, err);
    if (rc) {
      return rc;
    }
    near->count += count;
  }
  return WEIR_OK;
}

/* Reads the neighbors of the node; what was in the list before is gone. If there are `limit` edges or more,
 * the list is not complete. */
static int read_near(struct near *near, const weir__steps *steps, int64_t node, size_t limit,
                     weir_error *err) {
  near->count = 0;
  int rc = read_ids(near, steps->out, node, limit, err);
  if (rc == WEIR_OK) {
    rc = read_ids(near, steps->in, node, limit, err);
  }
  near->complete = near->count < limit;
  if (rc || near->count == 0) {
    return rc;
  }
  size_t kept = 0;
  qsort(near->ids, near->count, sizeof *near->ids, weir__compare_ids);
  for (size_t i = 0; i < near->count; i++) {
    int64_t id = near->ids[i];
    if (id != node && (kept == 0 || near->ids[kept - 1] != id)) {
      near->ids[kept++] = id;
    }
  }
  near->count = kept;
  return WEIR_OK;
}

/* Takes out the nodes for which reach->nodes is false. */
static int filter(struct near *near, const weir__steps *steps, weir_error *err) {
  size_t kept = 0;
  for (size_t i = 0; steps->node && i < near->count; i++) {
    int passes;
    int rc = weir__lookup_passes(steps->node, near->ids[i], &passes, err);
    if (rc) {
      return rc;
    }
    near->ids[kept] = near->ids[i];
    kept += passes != 0;
  }
  near->count = steps->node ? kept : near->count;
  return WEIR_OK;
}

/* ---- Common neighbors -----------------------------------------------------------------------------------
 */

struct common {
  weir_txn *txn;
  weir_text a;
  weir_text b;
  const weir_reach *reach;
  weir_node_fn visit;
  void *data;
  uint64_t count;
  weir__steps steps;
  struct near near_a;
  struct near near_b;
  weir__page page;
};

static int visit_common(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct common *common = data;
  weir_node node;
  (void)index;
  int rc = weir__node_view(common->txn, row, &node, err);
  if (rc) {
    return rc;
  }
  weir__visit_begin(common->txn);
  rc = common->visit(&node, common->data, &common->page.error);
  return weir__visit_end(common->txn, &common->page, rc, err);
}

/* near_a becomes what both lists hold, but for a and b. */
static void intersect(struct near *near, const struct near *with, int64_t a, int64_t b) {
  size_t kept = 0;
  size_t at = 0;
  for (size_t i = 0; i < near->count; i++) {
    int64_t id = near->ids[i];
    while (at < with->count && with->ids[at] < id) {
      at++;
    }
    if (at < with->count && with->ids[at] == id && id != a && id != b) {
      near->ids[kept++] = id;
    }
  }
  near->count = kept;
}

static int find_common(struct common *common, int64_t a, int64_t b, weir_error *err) {
  int rc = read_near(&common->near_a, &common->steps, a, SIZE_MAX, err);
  if (rc == WEIR_OK) {
    rc = read_near(&common->near_b, &common->steps, b, SIZE_MAX, err);
  }
  if (rc) {
    return rc;
  }
  intersect(&common->near_a, &common->near_b, a, b);
  rc = filter(&common->near_a, &common->steps, err);
  common->count = common->near_a.count;
  if (rc == WEIR_OK && common->visit && common->count > 0) {
    rc = weir__store_node_get(common->txn, common->near_a.ids, common->near_a.count, visit_common, common,
                              err);
  }
  return rc < 0 ? rc : WEIR_OK;
}

static int run_common(weir_txn *txn, void *data, weir_error *err) {
  struct common *common = data;
  int64_t a;
  int64_t b;
  common->txn = txn;
  int rc = weir__node_number(txn, common->a, &a, err);
  if (rc == WEIR_OK) {
    rc = weir__node_number(txn, common->b, &b, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__steps_open(&common->steps, txn, common->reach, 0, WEIR__HOPS_IDS, NULL, err);
  }
  if (rc) {
    return rc;
  }
  rc = find_common(common, a, b, err);
  weir__steps_close(&common->steps);
  free(common->near_a.ids);
  free(common->near_b.ids);
  return rc;
}

int weir_common_neighbors(weir_txn *txn, weir_text a, weir_text b, const weir_reach *reach,
                          weir_node_fn visit, void *data, uint64_t *count, weir_error *err) {
  static const weir_reach all = {.direction = WEIR_OUT};
  struct common common = {.a = a, .b = b, .reach = reach ? reach : &all, .visit = visit, .data = data};
  int rc = weir__key_check(a, "key a", err);
  if (rc == WEIR_OK) {
    rc = weir__key_check(b, "key b", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__reach_check(common.reach, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, run_common, &common, err);
  }
  if (rc == WEIR_OK && count) {
    *count = common.count;
  }
  return rc;
}

/* ---- Triangles ------------------------------------------------------------------------------------------
 */

struct triangles {
  weir_txn *txn;
  weir_text key;
  const weir_reach *reach;
  weir_triangle_fn visit;
  void *data;
  uint64_t count;
  weir__steps steps;
  weir__lookup *keys;
  struct near near;  /* of the node */
  struct near other; /* of one of them */
  weir__idmap index; /* of near */
  uint8_t *heavy;    /* by index: 1: has far more edges than the node */
  char second[WEIR_KEY_MAX + 1];
  weir_text second_key;
  weir__page page;
};

static int visit_third(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct triangles *triangles = data;
  (void)index;
  weir__visit_begin(triangles->txn);
  int rc = triangles->visit(triangles->second_key, row->key, triangles->data, &triangles->page.error);
  return weir__visit_end(triangles->txn, &triangles->page, rc, err);
}

static int copy_second(const weir__node_row *row, size_t index, void *data, weir_error *err) {
  struct triangles *triangles = data;
  char *at = triangles->second;
  (void)index;
  if (row->key.len > WEIR_KEY_MAX) {
    return weir_fail(err, WEIR_CORRUPT, "the store is damaged: a key of %zu bytes", row->key.len);
  }
  triangles->second_key = weir__text_copy(&at, row->key);
  return WEIR_OK;
}

static int visit_pair(struct triangles *triangles, uint32_t second, uint32_t third, int *copied,
                      weir_error *err) {
  const int64_t *ids = triangles->near.ids;
  int rc = WEIR_OK;
  triangles->count++;
  if (triangles->visit && !*copied) {
    rc = weir__lookup_node(triangles->keys, ids[second], copy_second, triangles, err);
    *copied = 1;
  }
  if (triangles->visit && rc == WEIR_OK) {
    rc = weir__lookup_node(triangles->keys, ids[third], visit_third, triangles, err);
  }
  return rc;
}

/*
 * The pairs that the edges of near.ids[second] show. A pair is seen from both of its nodes. It is visited
 * from the one with the lower index, but if one is heavy and the other is not, from that other: so the edges
 * of heavy nodes are read for pairs of them alone.
 */
static int visit_second(struct triangles *triangles, uint32_t second, size_t limit, weir_error *err) {
  struct near *other = &triangles->other;
  int heavy = triangles->heavy[second];
  int copied = 0;
  int rc = read_near(other, &triangles->steps, triangles->near.ids[second], limit, err);
  if (rc == WEIR_OK && !other->complete) {
    triangles->heavy[second] = 1;
    return WEIR_OK;
  }
  for (size_t i = 0; i < other->count && rc == WEIR_OK; i++) {
    uint32_t third = weir__idmap_find(&triangles->index, other->ids[i]);
    if (third == WEIR__IDMAP_NONE) {
      continue;
    }
    int behind = third > second;
    if (heavy ? behind && triangles->heavy[third] : behind || triangles->heavy[third]) {
      rc = visit_pair(triangles, second, third, &copied, err);
    }
  }
  return rc;
}

static int visit_all(struct triangles *triangles, weir_error *err) {
  uint32_t count = triangles->index.count;
  size_t limit = HEAVY * (size_t)count + CHUNK;
  uint32_t last = 0; /* of the heavy ones */
  int rc = WEIR_OK;
  triangles->heavy = calloc((size_t)count + 1, 1);
  if (!triangles->heavy) {
    return weir_fail(err, WEIR_NOMEM, "out of memory for %u neighbors", (unsigned)count);
  }
  for (uint32_t i = 0; i < count && rc == WEIR_OK; i++) {
    rc = visit_second(triangles, i, limit, err);
    last = triangles->heavy[i] ? i : last;
  }
  for (uint32_t i = 0; i < last && rc == WEIR_OK; i++) {
    if (triangles->heavy[i]) {
      rc = visit_second(triangles, i, SIZE_MAX, err);
    }
  }
  return rc;
}

static int find_triangles(struct triangles *triangles, int64_t node, weir_error *err) {
  int rc = read_near(&triangles->near, &triangles->steps, node, SIZE_MAX, err);
  if (rc == WEIR_OK) {
    rc = filter(&triangles->near, &triangles->steps, err);
  }
  for (size_t i = 0; i < triangles->near.count && rc == WEIR_OK; i++) {
    uint32_t index;
    int inserted;
    rc = weir__idmap_put(&triangles->index, triangles->near.ids[i], &index, &inserted, err);
  }
  if (rc == WEIR_OK && triangles->visit) {
    rc = weir__lookup_open(&triangles->keys, triangles->txn, WEIR__REACH_KEY, NULL, err);
  }
  if (rc == WEIR_OK) {
    rc = visit_all(triangles, err);
  }
  return rc < 0 ? rc : WEIR_OK;
}

static int run_triangles(weir_txn *txn, void *data, weir_error *err) {
  struct triangles *triangles = data;
  int64_t node;
  triangles->txn = txn;
  int rc = weir__node_number(txn, triangles->key, &node, err);
  if (rc == WEIR_OK) {
    rc = weir__steps_open(&triangles->steps, txn, triangles->reach, 0, WEIR__HOPS_IDS, NULL, err);
  }
  if (rc) {
    return rc;
  }
  rc = find_triangles(triangles, node, err);
  weir__lookup_close(triangles->keys);
  weir__steps_close(&triangles->steps);
  weir__idmap_clear(&triangles->index);
  free(triangles->near.ids);
  free(triangles->other.ids);
  free(triangles->heavy);
  return rc;
}

int weir_triangles(weir_txn *txn, weir_text key, const weir_reach *reach, weir_triangle_fn visit, void *data,
                   uint64_t *count, weir_error *err) {
  weir_reach both = {.direction = WEIR_BOTH};
  struct triangles triangles = {.key = key, .reach = &both, .visit = visit, .data = data};
  int rc = weir__key_check(key, "key", err);
  if (rc == WEIR_OK && reach) {
    both = *reach;
    both.direction = WEIR_BOTH;
    if (reach->direction && reach->direction != WEIR_BOTH) {
      rc = weir_fail(err, WEIR_INVALID, "direction %d: triangles have none, give 0 or WEIR_BOTH",
                     (int)reach->direction);
    }
  }
  if (rc == WEIR_OK) {
    rc = weir__reach_check(&both, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__graph_read(txn, run_triangles, &triangles, err);
  }
  if (rc == WEIR_OK && count) {
    *count = triangles.count;
  }
  return rc;
}
