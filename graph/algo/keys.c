/* The keys of a projection's nodes. Invariant of the slots: a quarter of them is empty at least. */
#include <stdlib.h>
#include <string.h>

#include "../node.h"
#include "projection.h"

#define LEAST 1024 /* nodes, and bytes, that there is room for at first */

/* ---- Making ---------------------------------------------------------------------------------------------
 */

static int refuse(uint64_t count, weir_error *err) {
  return weir_fail(err, WEIR_NOMEM, "out of memory for the keys of %llu nodes", (unsigned long long)count);
}

/* Room for one key more, and for the end of the last. */
static int grow_start(weir__keys *keys, weir_error *err) {
  size_t room = keys->room ? 2 * keys->room : LEAST;
  uint64_t *start = realloc(keys->start, room * sizeof *start);
  if (!start) {
    return refuse(room, err);
  }
  keys->start = start;
  keys->room = room;
  return WEIR_OK;
}

static int grow_bytes(weir__keys *keys, size_t least, weir_error *err) {
  size_t room = keys->byte_room ? 2 * keys->byte_room : LEAST;
  while (room < least) {
    room *= 2;
  }
  char *bytes = realloc(keys->bytes, room);
  if (!bytes) {
    return refuse(keys->count + UINT64_C(1), err);
  }
  keys->bytes = bytes;
  keys->byte_room = room;
  return WEIR_OK;
}

int weir__keys_add(weir__keys *keys, weir_text key, weir_error *err) {
  int rc = WEIR_OK;
  if (keys->count + UINT64_C(2) > keys->room) {
    rc = grow_start(keys, err);
    if (rc) {
      return rc;
    }
  }
  if (keys->count == 0) {
    keys->start[0] = 0;
  }
  size_t at = keys->start[keys->count];
  if (at + key.len + 1 > keys->byte_room) {
    rc = grow_bytes(keys, at + key.len + 1, err);
    if (rc) {
      return rc;
    }
  }
  memcpy(keys->bytes + at, key.ptr, key.len);
  keys->bytes[at + key.len] = '\0';
  keys->start[++keys->count] = at + key.len + 1;
  return WEIR_OK;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
  return hash ^ hash >> 32;
}

/* Eight bytes at a time. */
static size_t hash_of(weir_text key) {
  uint64_t hash = key.len, word;
  size_t at = 0;
  for (; at + sizeof word <= key.len; at += sizeof word) {
    memcpy(&word, key.ptr + at, sizeof word);
    hash = mix(hash, word);
  }
  word = 0;
  memcpy(&word, key.ptr + at, key.len - at);
  return (size_t)mix(mix(hash, word), 0);
}

static weir_text key_at(const weir__keys *keys, uint32_t node) {
  uint64_t at = keys->start[node];
  return (weir_text){keys->bytes + at, (size_t)(keys->start[node + 1] - at) - 1};
}

/* Gives back what is not needed; if that fails it stays. */
static void trim(weir__keys *keys) {
  size_t bytes = keys->start[keys->count];
  char *less = realloc(keys->bytes, bytes);
  if (less) {
    keys->bytes = less;
    keys->byte_room = bytes;
  }
  uint64_t *start = realloc(keys->start, ((size_t)keys->count + 1) * sizeof *start);
  if (start) {
    keys->start = start;
    keys->room = (size_t)keys->count + 1;
  }
}

int weir__keys_end(weir__keys *keys, weir_error *err) {
  size_t size = 4;
  if (keys->count == 0) {
    return WEIR_OK;
  }
  while (size - size / 4 < keys->count) {
    size *= 2;
  }
  keys->slots = calloc(size, sizeof *keys->slots);
  if (!keys->slots) {
    return refuse(keys->count, err);
  }
  keys->mask = size - 1;
  for (uint32_t node = 0; node < keys->count; node++) {
    size_t slot = hash_of(key_at(keys, node)) & keys->mask;
    while (keys->slots[slot]) {
      slot = (slot + 1) & keys->mask;
    }
    keys->slots[slot] = node + 1;
  }
  trim(keys);
  return WEIR_OK;
}

size_t weir__keys_bytes(const weir__keys *keys) {
  size_t slots = keys->slots ? keys->mask + 1 : 0;
  return keys->byte_room + keys->room * sizeof *keys->start + slots * sizeof *keys->slots;
}

void weir__keys_clear(weir__keys *keys) {
  free(keys->bytes);
  free(keys->start);
  free(keys->slots);
  *keys = (weir__keys){.bytes = NULL};
}

/* ---- Using ----------------------------------------------------------------------------------------------
 */

int weir_projection_find(const weir_projection *p, weir_text key, uint32_t *node, weir_error *err) {
  int rc = weir__check_set(p, "projection", err);
  if (rc == WEIR_OK) {
    rc = weir__check_set(node, "node", err);
  }
  if (rc == WEIR_OK) {
    rc = weir__key_check(key, "key", err);
  }
  if (rc) {
    return rc;
  }
  const weir__keys *keys = &p->keys;
  size_t slot = keys->slots ? hash_of(key) & keys->mask : 0;
  for (; keys->slots && keys->slots[slot]; slot = (slot + 1) & keys->mask) {
    uint32_t found = keys->slots[slot] - 1;
    if (weir__text_same(key_at(keys, found), key)) {
      *node = found;
      return WEIR_OK;
    }
  }
  return weir_fail(err, WEIR_NOT_FOUND, "no node with key \"%.*s\" is in the projection", WEIR__SHOW(key));
}

weir_text weir_projection_key(const weir_projection *p, uint32_t node) {
  return p && node < p->keys.count ? key_at(&p->keys, node) : (weir_text){NULL, 0};
}
