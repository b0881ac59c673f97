/* Makes simple, oriented rows: first all distinct neighbors, and then of these those that stay. */
#include "oriented.h"

#include <stdlib.h>

#include "../internal.h"

enum { PIECE = 512 };

struct making {
  const weir_projection *p;
  weir__oriented *made;
};

void weir__oriented_free(weir__oriented *o) {
  free(o->degree);
  free(o->rows);
  free(o->far);
  free(o->ways);
  *o = (weir__oriented){NULL, NULL, NULL, NULL};
}

/* Where there is room for the row of a node. */
static uint64_t place_of(const weir_projection *p, uint32_t node) {
  return p->out.start[node] + (p->info.undirected ? 0 : p->in.start[node]);
}

static int allocate(weir__oriented *o, const weir_projection *p, int ways, weir_error *err) {
  size_t nodes = p->info.nodes ? p->info.nodes : 1;
  uint64_t entries = place_of(p, p->info.nodes);
  o->degree = malloc(nodes * sizeof *o->degree);
  o->rows = malloc(nodes * sizeof *o->rows);
  o->far = malloc((entries ? entries : 1) * sizeof *o->far);
  o->ways = ways ? malloc(entries ? entries : 1) : NULL;
  if (!o->degree || !o->rows || !o->far || (ways && !o->ways)) {
    weir__oriented_free(o);
    return weir_fail(err, WEIR_NOMEM, "out of memory for %llu edges", (unsigned long long)entries);
  }
  return WEIR_OK;
}

/* The distinct neighbors of a node whose row is `out`; how many. */
static uint32_t list_one(const weir__rows *out, uint32_t node, uint32_t *far) {
  uint32_t count = 0, last = node;
  for (uint64_t i = out->start[node]; i < out->start[node + 1]; i++) {
    uint32_t next = out->far[i];
    if (next != last && next != node) {
      far[count++] = next;
      last = next;
    }
  }
  return count;
}

/* The same of two rows, which are merged. */
static uint32_t list_both(const weir_projection *p, uint32_t node, uint32_t *far, uint8_t *ways) {
  const uint32_t *a = p->out.far + p->out.start[node], *a_end = p->out.far + p->out.start[node + 1];
  const uint32_t *b = p->in.far + p->in.start[node], *b_end = p->in.far + p->in.start[node + 1];
  uint32_t count = 0;
  while (a < a_end || b < b_end) {
    uint32_t next = b == b_end || (a < a_end && *a < *b) ? *a : *b;
    const uint32_t *a_before = a, *b_before = b;
    while (a < a_end && *a == next) {
      a++;
    }
    while (b < b_end && *b == next) {
      b++;
    }
    if (next != node) {
      far[count] = next;
      if (ways) {
        ways[count] = (uint8_t)((a > a_before) + (b > b_before));
      }
      count++;
    }
  }
  return count;
}

static int list_piece(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct making *m = data;
  const weir_projection *p = m->p;
  const weir__oriented *o = m->made;
  (void)worker;
  for (uint64_t i = first; i < last; i++) {
    uint32_t node = (uint32_t)i;
    uint64_t at = place_of(p, node);
    o->degree[i] = p->info.undirected ? list_one(&p->out, node, o->far + at)
                                      : list_both(p, node, o->far + at, o->ways ? o->ways + at : NULL);
  }
  return WEIR_OK;
}

static int orient_piece(void *data, uint64_t first, uint64_t last, unsigned worker) {
  const struct making *m = data;
  const weir__oriented *o = m->made;
  const uint32_t *degree = o->degree;
  (void)worker;
  for (uint64_t node = first; node < last; node++) {
    uint64_t at = place_of(m->p, (uint32_t)node);
    uint32_t kept = 0, own = degree[node];
    for (uint32_t i = 0; i < own; i++) {
      uint32_t far = o->far[at + i];
      o->far[at + kept] = far;
      if (o->ways) {
        o->ways[at + kept] = o->ways[at + i];
      }
      kept += degree[far] > own || (degree[far] == own && far > node);
    }
    o->rows[node] = (weir__oriented_row){at, kept};
  }
  return WEIR_OK;
}

int weir__oriented_make(weir__oriented *out, const weir_projection *p, int ways, weir__team *team,
                        weir_error *err) {
  struct making m = {p, out};
  int rc = allocate(out, p, ways && !p->info.undirected, err);
  if (rc) {
    return rc;
  }
  rc = weir__team_each(team, p->info.nodes, PIECE, list_piece, &m, err);
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, p->info.nodes, PIECE, orient_piece, &m, err);
  }
  if (rc) {
    weir__oriented_free(out);
  }
  return rc;
}
