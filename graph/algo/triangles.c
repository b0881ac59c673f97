/*
 * Triangles and local clustering.
 *
 * For each node its row of the oriented graph (oriented.h) is marked, and the rows of those in it are looked
 * through for marks: each is a triangle. A triangle counts for each of its corners 1, or for local clustering
 * the number of directed edges between the other two. Each worker counts in an array of its own.
 */
#include <stdlib.h>

#include <weir/algo.h>

#include "../internal.h"
#include "oriented.h"

enum { PIECE = 256, GATHER = 128, AHEAD = 3 };

struct worker {
  uint64_t *count; /* by node */
  uint8_t *mark;   /* by node: 0, or the ways of the edge from the node that is being looked at */
};

struct search {
  const weir_projection *p;
  weir__oriented rows;
  struct worker workers[WEIR_THREADS_MAX];
  unsigned size;
  double *coefficient; /* the results; NULL: not wanted */
  uint64_t *triangles;
};

static int allocate(struct search *s, const weir__team *team, weir_error *err) {
  size_t nodes = s->p->info.nodes ? s->p->info.nodes : 1;
  s->size = weir__team_size(team);
  for (unsigned i = 0; i < s->size; i++) {
    s->workers[i].count = calloc(nodes, sizeof(uint64_t));
    s->workers[i].mark = calloc(nodes, 1);
    if (!s->workers[i].count || !s->workers[i].mark) {
      return weir_fail(err, WEIR_NOMEM, "out of memory for %lu nodes", (unsigned long)s->p->info.nodes);
    }
  }
  return WEIR_OK;
}

/*
 * The triangles of a node, whose row is marked, and `next` of that row. Hits are first gathered, without a
 * branch that depends on them, which could not be predicted.
 */
static uint64_t look(const weir__oriented *o, const struct worker *w, uint32_t *hits, uint32_t next) {
  const uint32_t *far = o->far + o->rows[next].start;
  uint32_t length = o->rows[next].length;
  uint64_t found = 0;
  for (uint32_t i = 0; i < length;) {
    uint32_t count = 0, end = length - i < GATHER ? length : i + GATHER;
    for (; i < end; i++) {
      hits[count] = far[i];
      count += w->mark[far[i]];
    }
    for (uint32_t k = 0; k < count; k++) {
      w->count[hits[k]]++;
    }
    found += count;
  }
  return found;
}

/* The same of a directed projection; the edge from the node to `next` goes `ways` ways. *own grows by the
 * directed edges opposite the node, and those opposite `next` are returned. */
static uint64_t look_ways(const weir__oriented *o, const struct worker *w, uint32_t *hits, uint32_t next,
                          uint8_t ways, uint64_t *own) {
  uint64_t at = o->rows[next].start, found = 0;
  uint32_t length = o->rows[next].length;
  for (uint32_t i = 0; i < length;) {
    uint32_t count = 0, end = length - i < GATHER ? length : i + GATHER;
    for (; i < end; i++) {
      hits[count] = i;
      count += w->mark[o->far[at + i]] != 0;
    }
    for (uint32_t k = 0; k < count; k++) {
      uint32_t far = o->far[at + hits[k]];
      w->count[far] += ways;
      *own += o->ways[at + hits[k]];
      found += w->mark[far];
    }
  }
  return found;
}

static int search_piece(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct search *s = data;
  const weir__oriented *o = &s->rows;
  const struct worker *w = &s->workers[worker];
  uint32_t hits[GATHER] = {0};
  for (uint64_t node = first; node < last; node++) {
    uint64_t at = o->rows[node].start, own = 0;
    const uint32_t *far = o->far + at;
    uint32_t length = o->rows[node].length;
    for (uint32_t i = 0; i < length && length > 1; i++) {
      w->mark[far[i]] = o->ways ? o->ways[at + i] : 1;
    }
    for (uint32_t i = 0; i < length && length > 1; i++) {
      if (i + AHEAD < length) {
        __builtin_prefetch(o->far + o->rows[far[i + AHEAD]].start);
      }
      if (o->ways) {
        w->count[far[i]] += look_ways(o, w, hits, far[i], o->ways[at + i], &own);
      } else {
        uint64_t found = look(o, w, hits, far[i]);
        w->count[far[i]] += found;
        own += found;
      }
    }
    w->count[node] += own;
    for (uint32_t i = 0; i < length && length > 1; i++) {
      w->mark[far[i]] = 0;
    }
  }
  return WEIR_OK;
}

static int sum_piece(void *data, uint64_t first, uint64_t last, unsigned worker) {
  struct search *s = data;
  (void)worker;
  for (uint64_t node = first; node < last; node++) {
    uint64_t count = 0;
    for (unsigned i = 0; i < s->size; i++) {
      count += s->workers[i].count[node];
    }
    s->workers[0].count[node] = count;
    if (s->triangles) {
      s->triangles[node] = count;
    }
    if (s->coefficient) {
      double degree = s->rows.degree[node], ways = s->rows.ways ? 1 : 2;
      s->coefficient[node] = degree < 2 ? 0 : ways * (double)count / (degree * (degree - 1));
    }
  }
  return WEIR_OK;
}

static int run(struct search *s, weir__team *team, weir_error *err) {
  uint32_t nodes = s->p->info.nodes;
  int rc = weir__oriented_make(&s->rows, s->p, s->coefficient != NULL, team, err);
  if (rc) {
    return rc;
  }
  rc = allocate(s, team, err);
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, nodes, PIECE, search_piece, s, err);
  }
  if (rc == WEIR_OK) {
    rc = weir__team_each(team, nodes, PIECE, sum_piece, s, err);
  }
  return rc;
}

static int find_triangles(struct search *s, const weir_run *how, uint64_t *total, weir_error *err) {
  weir__team *team = NULL;
  int rc = weir__team_open(&team, how, 4 * (uint64_t)s->p->info.nodes, 16 * s->p->info.edges, err);
  if (rc == WEIR_OK) {
    rc = run(s, team, err);
  }
  if (rc == WEIR_OK && total) {
    *total = 0;
    for (uint32_t node = 0; node < s->p->info.nodes; node++) {
      *total += s->workers[0].count[node];
    }
    *total /= 3;
  }
  weir__oriented_free(&s->rows);
  for (unsigned i = 0; i < s->size; i++) {
    free(s->workers[i].count);
    free(s->workers[i].mark);
  }
  return weir__team_close(team, rc, err);
}

int weir_lcc(const weir_projection *p, const weir_run *how, double *coefficient, weir_error *err) {
  struct search s = {.p = p, .coefficient = coefficient};
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(coefficient, "coefficient", err);
  }
  return rc ? rc : find_triangles(&s, how, NULL, err);
}

int weir_triangle_counts(const weir_projection *p, const weir_run *how, uint64_t *triangles, uint64_t *total,
                         weir_error *err) {
  struct search s = {.p = p, .triangles = triangles};
  int rc = weir__check_set(p, "projection", err);
  return rc ? rc : find_triangles(&s, how, total, err);
}
