/*
 * The arena is a list of chunks, the newest and largest first: each new chunk is at least twice as large as
 * the one before. Only the first is allocated from. So after a few uses one chunk holds a whole result, and
 * nothing is allocated any more.
 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>

#define FIRST_SIZE 1024u

struct weir__chunk {
  struct weir__chunk *next;
  size_t size; /* of the memory that follows */
  size_t used;
  max_align_t memory[];
};

static void free_chunks(struct weir__chunk *chunk) {
  while (chunk) {
    struct weir__chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
}

void weir_arena_clear(weir_arena *arena) {
  if (arena == NULL) {
    return;
  }
  free_chunks(arena->chunk);
  arena->chunk = NULL;
}

void weir__arena_reset(weir_arena *arena) {
  struct weir__chunk *chunk = arena->chunk;
  if (chunk == NULL) {
    return;
  }
  free_chunks(chunk->next);
  chunk->next = NULL;
  chunk->used = 0;
}

static struct weir__chunk *grow(weir_arena *arena, size_t size) {
  size_t wanted = arena->chunk ? arena->chunk->size : FIRST_SIZE / 2;
  wanted = wanted > SIZE_MAX / 2 ? wanted : wanted * 2;
  if (wanted < size) {
    wanted = size;
  }
  if (wanted > SIZE_MAX - sizeof(struct weir__chunk)) {
    return NULL;
  }
  struct weir__chunk *chunk = malloc(sizeof *chunk + wanted);
  if (chunk == NULL) {
    return NULL;
  }
  chunk->next = arena->chunk;
  chunk->size = wanted;
  chunk->used = 0;
  arena->chunk = chunk;
  return chunk;
}

void *weir__arena_alloc(weir_arena *arena, size_t size, weir_error *err) {
  const size_t unit = sizeof(max_align_t);
  struct weir__chunk *chunk = arena->chunk;
  if (size <= SIZE_MAX - unit) {
    size = (size + unit - 1) / unit * unit;
    if (chunk == NULL || chunk->size - chunk->used < size) {
      chunk = grow(arena, size);
    }
  } else {
    chunk = NULL;
  }
  if (chunk == NULL) {
    weir_fail(err, WEIR_NOMEM, "out of memory for %zu bytes of a result", size);
    return NULL;
  }
  void *memory = (char *)chunk->memory + chunk->used;
  chunk->used += size;
  return memory;
}
