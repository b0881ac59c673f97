/* Copies of rows. Texts that are there are followed by a NUL; those that are not (ptr NULL) stay so. */
#include "keep.h"

#include <string.h>

#include "arena.h"
#include "text.h"

#define ROOM_LEAST 16

void *weir__keep(weir__kept *kept, weir_arena *arena, const void *item, size_t size, size_t most,
                 weir_error *err) {
  if (kept->count == kept->room) {
    size_t room = kept->room ? kept->room * 2 : ROOM_LEAST;
    room = most > kept->count && room > most ? most : room;
    char *items = weir__arena_alloc(arena, room * size, err);
    if (!items) {
      return NULL;
    }
    if (kept->count > 0) {
      memcpy(items, kept->items, kept->count * size);
    }
    kept->items = items;
    kept->room = room;
  }
  return memcpy((char *)kept->items + size * kept->count++, item, size);
}

/* Copies the texts that are there, all into one piece of memory. */
static int keep_texts(weir_arena *arena, weir_text *const *texts, size_t count, weir_error *err) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    size += texts[i]->ptr ? texts[i]->len + 1 : 0;
  }
  if (size == 0) {
    return WEIR_OK;
  }
  char *at = weir__arena_alloc(arena, size, err);
  if (!at) {
    return WEIR_NOMEM;
  }
  for (size_t i = 0; i < count; i++) {
    if (texts[i]->ptr) {
      *texts[i] = weir__text_copy(&at, *texts[i]);
    }
  }
  return WEIR_OK;
}

static int keep_labels(weir_arena *arena, weir_node *node, weir_error *err) {
  size_t size = node->label_count * sizeof(weir_text);
  for (size_t i = 0; i < node->label_count; i++) {
    size += node->labels[i].len + 1;
  }
  weir_text *labels = weir__arena_alloc(arena, size, err);
  if (!labels) {
    return WEIR_NOMEM;
  }
  char *at = (char *)(labels + node->label_count);
  for (size_t i = 0; i < node->label_count; i++) {
    labels[i] = weir__text_copy(&at, node->labels[i]);
  }
  node->labels = labels;
  node->label = labels[0];
  return WEIR_OK;
}

int weir__keep_node(weir_arena *arena, weir_node *node, weir_error *err) {
  weir_text *texts[] = {&node->key, &node->props};
  int rc = node->label_count > 0 ? keep_labels(arena, node, err) : WEIR_OK;
  return rc ? rc : keep_texts(arena, texts, 2, err);
}

int weir__keep_edge(weir_arena *arena, weir_edge *edge, weir_error *err) {
  weir_text *texts[] = {&edge->src, &edge->label, &edge->dst, &edge->props};
  return keep_texts(arena, texts, 4, err);
}

int weir__keep_neighbor(weir_arena *arena, weir_neighbor *neighbor, weir_error *err) {
  weir_text *texts[] = {&neighbor->label, &neighbor->props};
  int rc = weir__keep_node(arena, &neighbor->node, err);
  return rc ? rc : keep_texts(arena, texts, 2, err);
}

weir_hop *weir__keep_hops(weir_arena *arena, const weir_hop *hops, size_t count, weir_error *err) {
  weir_hop *copies = weir__arena_alloc(arena, (count + 1) * sizeof *copies, err); /* never 0 bytes */
  if (!copies) {
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    copies[i] = hops[i];
    weir_text *texts[] = {&copies[i].from, &copies[i].to, &copies[i].label, &copies[i].props};
    if (keep_texts(arena, texts, 4, err)) {
      return NULL;
    }
  }
  return copies;
}

int weir__keep_step(weir_arena *arena, weir_step *step, weir_error *err) {
  if (step->hop) {
    step->hop = weir__keep_hops(arena, step->hop, 1, err);
    if (!step->hop) {
      return WEIR_NOMEM;
    }
  }
  if (step->path) {
    step->path = weir__keep_hops(arena, step->path, step->depth, err);
    if (!step->path) {
      return WEIR_NOMEM;
    }
  }
  return weir__keep_node(arena, &step->node, err);
}

int weir__keep_hit(weir_arena *arena, weir_hit *hit, weir_error *err) {
  weir_text *texts[] = {&hit->field, &hit->snippet};
  if (hit->span_count > 0) {
    weir_span *spans = weir__arena_alloc(arena, hit->span_count * sizeof *spans, err);
    if (!spans) {
      return WEIR_NOMEM;
    }
    memcpy(spans, hit->spans, hit->span_count * sizeof *spans);
    hit->spans = spans;
  }
  int rc = keep_texts(arena, texts, 2, err);
  return rc ? rc : weir__keep_node(arena, &hit->node, err);
}
