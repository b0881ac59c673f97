/*
 * Questions about single nodes, answered one after another with the same memory.
 *
 * A mark of a node is the number of the question, or of the side of it, that has visited the node; so the
 * marks of earlier questions need not be cleared, and a question costs what it visits. Each node that a
 * question visits is in the queue once: levels are ranges of it.
 */
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "sides.h"

#include <weir/algo.h>

struct weir_explorer {
  const weir_projection *projection;
  uint32_t nodes;
  uint32_t latest; /* the latest mark given out */
  uint32_t *marks; /* by node; 0: never visited */
  uint32_t *via;   /* by node: the one before it, on its side; valid if the node is marked for this path */
  uint32_t *queue; /* one element more than nodes: see visit */
};

int weir_explorer_open(weir_explorer **out, const weir_projection *projection, weir_error *err) {
  int rc = weir__check_set(out, "out", err);
  if (rc) {
    return rc;
  }
  *out = NULL;
  rc = weir__check_set(projection, "projection", err);
  if (rc) {
    return rc;
  }
  size_t nodes = projection->info.nodes;
  weir_explorer *x = calloc(1, sizeof *x);
  if (x) {
    x->projection = projection;
    x->nodes = projection->info.nodes;
    x->marks = calloc(nodes + 1, sizeof *x->marks);
    x->via = malloc((nodes + 1) * sizeof *x->via);
    x->queue = malloc((nodes + 1) * sizeof *x->queue);
  }
  if (!x || !x->marks || !x->via || !x->queue) {
    weir_explorer_close(x);
    return weir_fail(err, WEIR_NOMEM, "out of memory for an explorer of %zu nodes", nodes);
  }
  *out = x;
  return WEIR_OK;
}

void weir_explorer_close(weir_explorer *x) {
  if (x) {
    free(x->marks);
    free(x->via);
    free(x->queue);
    free(x);
  }
}

/* The first of `count` marks that no node has. */
static uint32_t new_marks(weir_explorer *x, uint32_t count) {
  if (x->latest > UINT32_MAX - count) {
    memset(x->marks, 0, (size_t)x->nodes * sizeof *x->marks);
    x->latest = 0;
  }
  uint32_t first = x->latest + 1;
  x->latest += count;
  return first;
}

/* ---- Within ------------------------------------------------------------------------------------------ */

/* Puts what the row of `node` leads to, and is not marked, into the queue at `tail`; its new end. It is
 * written there in any case, and stays if it was not marked: that is quicker than to choose. */
static uint32_t visit(const weir_explorer *x, const weir__rows *rows, uint32_t node, uint32_t mark,
                      uint32_t tail) {
  uint32_t *marks = x->marks, *queue = x->queue;
  uint64_t end = rows->start[node + 1];
  for (uint64_t e = rows->start[node]; e < end; e++) {
    uint32_t far = rows->far[e];
    queue[tail] = far;
    tail += marks[far] != mark;
    marks[far] = mark;
  }
  return tail;
}

int weir_explorer_within(weir_explorer *x, uint32_t node, uint32_t depth, weir_direction direction,
                         uint64_t *out, weir_error *err) {
  int rc = weir__check_set(x, "explorer", err);
  if (rc == WEIR_OK) {
    rc = weir__node_check(x->projection, node, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(out, "out", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__direction_of(x->projection, &direction, err);
  }
  if (rc) {
    return rc;
  }
  weir__sides sides = weir__sides_of(x->projection, direction);
  uint32_t mark = new_marks(x, 1), head = 0, tail = 1;
  x->marks[node] = mark;
  x->queue[0] = node;
  out[0] = 1;
  for (uint64_t d = 1; d <= depth; d++) {
    uint32_t level = tail;
    for (; head < level; head++) {
      for (unsigned side = 0; side < sides.count; side++) {
        tail = visit(x, sides.rows[side], x->queue[head], mark, tail);
      }
    }
    out[d] = tail - level;
  }
  return WEIR_OK;
}

/* ---- Paths ------------------------------------------------------------------------------------------- */

/* One end of a path, and what was visited from it. The one side takes the queue from the front, the other
 * from the back. */
struct end {
  weir__sides sides;
  uint32_t mark;
  int32_t step;         /* in the queue: 1 or -1 */
  uint32_t first, next; /* the frontier is from first up to next, exclusive */
  uint64_t edges;       /* that lead on from the frontier */
};

static void add(weir_explorer *x, struct end *end, uint32_t node, uint32_t via) {
  x->marks[node] = end->mark;
  x->via[node] = via;
  x->queue[end->next] = node;
  end->next += (uint32_t)end->step;
  end->edges += weir__sides_length(&end->sides, node);
}

/* Visits what the node leads to. Returns 1, and the edge in *near and *far, if that is a node of the other
 * side. */
static int meet(weir_explorer *x, struct end *end, uint32_t other, uint32_t node, uint32_t *far) {
  for (unsigned side = 0; side < end->sides.count; side++) {
    const weir__rows *rows = end->sides.rows[side];
    uint64_t last = rows->start[node + 1];
    for (uint64_t e = rows->start[node]; e < last; e++) {
      uint32_t to = rows->far[e], mark = x->marks[to];
      if (mark == other) {
        *far = to;
        return 1;
      }
      if (mark != end->mark) {
        add(x, end, to, node);
      }
    }
  }
  return 0;
}

/* Goes one level on. When it meets the other side, each of whose levels is complete, the way is one of the
 * fewest steps: a shorter one would have met it before. */
static int advance(weir_explorer *x, struct end *end, uint32_t other, uint32_t *near, uint32_t *far) {
  uint32_t level = end->next;
  end->edges = 0;
  for (; end->first != level; end->first += (uint32_t)end->step) {
    *near = x->queue[end->first];
    if (meet(x, end, other, *near, far)) {
      return 1;
    }
  }
  return 0;
}

/* How many nodes are on the way from `node` to where its side began. */
static size_t length_of(const weir_explorer *x, uint32_t node) {
  size_t count = 1;
  while (x->via[node] != node) {
    node = x->via[node];
    count++;
  }
  return count;
}

/* Writes the path that goes over the edge between `a`, of the side of `from`, and `b`. */
static size_t write_path(const weir_explorer *x, uint32_t a, uint32_t b, uint32_t *nodes, size_t room) {
  size_t before = length_of(x, a), count = before + length_of(x, b);
  if (count > room) {
    return count;
  }
  for (size_t i = before; i > 0; i--) {
    nodes[i - 1] = a;
    a = x->via[a];
  }
  for (size_t i = before; i < count; i++) {
    nodes[i] = b;
    b = x->via[b];
  }
  return count;
}

static size_t find_path(weir_explorer *x, uint32_t from, uint32_t to, weir_direction direction,
                        uint32_t *nodes, size_t room) {
  if (from == to) {
    if (room > 0) {
      nodes[0] = from;
    }
    return 1;
  }
  uint32_t mark = new_marks(x, 2), near = 0, far = 0;
  struct end ahead = {weir__sides_of(x->projection, direction), mark, 1, 0, 0, 0};
  struct end back = {weir__sides_back(x->projection, direction), mark + 1, -1, x->nodes, x->nodes, 0};
  add(x, &ahead, from, from);
  add(x, &back, to, to);
  while (ahead.first != ahead.next && back.first != back.next) {
    if (ahead.edges <= back.edges) {
      if (advance(x, &ahead, back.mark, &near, &far)) {
        return write_path(x, near, far, nodes, room);
      }
    } else if (advance(x, &back, ahead.mark, &near, &far)) {
      return write_path(x, far, near, nodes, room);
    }
  }
  return 0;
}

int weir_explorer_path(weir_explorer *x, uint32_t from, uint32_t to, weir_direction direction,
                       uint32_t *nodes, size_t room, size_t *count, weir_error *err) {
  int rc = weir__check_set(x, "explorer", err);
  if (rc == WEIR_OK) {
    rc = weir__node_check(x->projection, from, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__node_check(x->projection, to, err);
  }
  if (rc == WEIR_OK && room > 0) {
    rc = weir__check_set(nodes, "nodes", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__check_set(count, "count", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__direction_of(x->projection, &direction, err);
  }
  if (rc == WEIR_OK) {
    *count = find_path(x, from, to, direction, nodes, room);
  }
  return rc;
}
