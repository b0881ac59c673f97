/*
 * The cache of labels and label sets, and the ways to and from their numbers.
 *
 * All use of uthash in graph/ is here. Invariants: an entry is in both of its tables or in none; the names in
 * a set are those of entries in by_name; what was rolled back is dropped before the next operation (graph.c).
 */
#define HASH_NONFATAL_OOM 1 /* a failed HASH_ADD leaves the handle's tbl NULL */
#include <uthash.h>

#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "store/storage.h"

typedef struct label_entry {
  int64_t id;
  UT_hash_handle by_id;
  UT_hash_handle by_name;
  size_t len;
  char name[]; /* len bytes and a NUL */
} label_entry;

typedef struct label_set {
  weir__label_set set; /* set.names is behind ids */
  UT_hash_handle by_id;
  UT_hash_handle by_ids;
  int64_t ids[]; /* set.count of them, ascending */
} label_set;

struct weir__labels {
  label_entry *by_id;
  label_entry *by_name;
  label_set *sets_by_id;
  label_set *sets_by_ids;
};

static const weir__label_set empty_set = {.id = WEIR__LABEL_SET_EMPTY};

static struct weir__labels *labels_of(weir_txn *txn) {
  const weir__local *local = weir_txn_local(txn);
  return local->labels;
}

static int no_memory(weir_error *err) {
  return weir_fail(err, WEIR_NOMEM, "out of memory for labels");
}

/* ---- The cache --------------------------------------------------------------------------------------- */

int weir__labels_open(struct weir__labels **out) {
  *out = calloc(1, sizeof **out);
  return *out ? WEIR_OK : WEIR_NOMEM;
}

void weir__labels_drop(struct weir__labels *labels) {
  label_set *set = labels->sets_by_id;
  label_entry *entry = labels->by_id;
  HASH_CLEAR(by_ids, labels->sets_by_ids); /* frees the tables; the entries stay chained */
  HASH_CLEAR(by_id, labels->sets_by_id);
  HASH_CLEAR(by_name, labels->by_name);
  HASH_CLEAR(by_id, labels->by_id);
  while (set) {
    label_set *next = set->by_id.next;
    free(set);
    set = next;
  }
  while (entry) {
    label_entry *next = entry->by_id.next;
    free(entry);
    entry = next;
  }
}

void weir__labels_close(struct weir__labels *labels) {
  if (labels) {
    weir__labels_drop(labels);
    free(labels);
  }
}

static label_entry *label_by_id(const struct weir__labels *labels, int64_t id) {
  label_entry *entry;
  HASH_FIND(by_id, labels->by_id, &id, sizeof id, entry);
  return entry;
}

static label_entry *label_by_name(const struct weir__labels *labels, weir_text name) {
  label_entry *entry;
  HASH_FIND(by_name, labels->by_name, name.ptr, name.len, entry);
  return entry;
}

/* Adds a label unless it is there. NULL: out of memory. */
static label_entry *cache_label(struct weir__labels *labels, int64_t id, weir_text name) {
  label_entry *entry = label_by_id(labels, id);
  if (entry) {
    return entry;
  }
  entry = calloc(1, sizeof *entry + name.len + 1);
  if (!entry) {
    return NULL;
  }
  entry->id = id;
  entry->len = name.len;
  memcpy(entry->name, name.ptr, name.len);
  HASH_ADD(by_id, labels->by_id, id, sizeof entry->id, entry);
  if (!entry->by_id.tbl) {
    free(entry);
    return NULL;
  }
  HASH_ADD(by_name, labels->by_name, name, entry->len, entry);
  if (!entry->by_name.tbl) {
    HASH_DELETE(by_id, labels->by_id, entry);
    free(entry);
    return NULL;
  }
  return entry;
}

static label_set *set_by_id(const struct weir__labels *labels, int64_t id) {
  label_set *entry;
  HASH_FIND(by_id, labels->sets_by_id, &id, sizeof id, entry);
  return entry;
}

static label_set *set_by_ids(const struct weir__labels *labels, const int64_t *ids, size_t count) {
  label_set *entry;
  /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): ids[0..count-1] are set */
  HASH_FIND(by_ids, labels->sets_by_ids, ids, count * sizeof *ids, entry);
  return entry;
}

static int compare_names(const void *a, const void *b) {
  const weir_text *x = a;
  const weir_text *y = b;
  int order = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);
  return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Adds a set, which is not there, of labels that are. NULL: out of memory. */
static label_set *cache_set(struct weir__labels *labels, int64_t id, const int64_t *ids, size_t count) {
  label_set *entry = calloc(1, sizeof *entry + count * (sizeof(int64_t) + sizeof(weir_text)));
  if (!entry) {
    return NULL;
  }
  weir_text *names = (weir_text *)(void *)(entry->ids + count);
  entry->set.id = id;
  entry->set.count = count;
  entry->set.names = names;
  for (size_t i = 0; i < count; i++) {
    const label_entry *member = label_by_id(labels, ids[i]);
    entry->ids[i] = ids[i];
    names[i] = (weir_text){member->name, member->len};
    entry->set.bytes += member->len + 1;
  }
  qsort(entry->ids, count, sizeof *entry->ids, weir__compare_ids);
  qsort(names, count, sizeof *names, compare_names);
  HASH_ADD(by_id, labels->sets_by_id, set.id, sizeof entry->set.id, entry);
  if (!entry->by_id.tbl) {
    free(entry);
    return NULL;
  }
  HASH_ADD(by_ids, labels->sets_by_ids, ids, count * sizeof *entry->ids, entry);
  if (!entry->by_ids.tbl) {
    HASH_DELETE(by_id, labels->sets_by_id, entry);
    free(entry);
    return NULL;
  }
  return entry;
}

/* ---- Labels -------------------------------------------------------------------------------------------- */

static int visit_label(int64_t id, weir_text name, void *data, weir_error *err) {
  return cache_label(data, id, name) ? WEIR_OK : no_memory(err);
}

int weir__label_find(weir_txn *txn, weir_text name, int64_t *id, weir_error *err) {
  struct weir__labels *labels = labels_of(txn);
  const label_entry *entry = label_by_name(labels, name);
  if (entry) {
    *id = entry->id;
    return WEIR_OK;
  }
  *id = 0;
  int rc = weir__store_label_find(txn, name, id, err);
  if (rc == WEIR_OK && *id != 0 && !cache_label(labels, *id, name)) {
    rc = no_memory(err);
  }
  return rc;
}

int weir__labels_find(weir_txn *txn, const weir_text *names, size_t count, int64_t *ids, size_t *found,
                      weir_error *err) {
  *found = 0;
  for (size_t i = 0; i < count; i++) {
    int rc = weir__label_find(txn, names[i], &ids[*found], err);
    if (rc) {
      return rc;
    }
    *found += ids[*found] != 0;
  }
  return WEIR_OK;
}

int weir__label_filter(weir_txn *txn, weir_text name, int64_t *label, int *none, weir_error *err) {
  *label = 0;
  *none = 0;
  if (name.len == 0) {
    return WEIR_OK;
  }
  int rc = weir__label_find(txn, name, label, err);
  *none = *label == 0;
  return rc;
}

int weir__label_make(weir_txn *txn, weir_text name, int64_t *id, weir_error *err) {
  int rc = weir__label_find(txn, name, id, err);
  if (rc || *id != 0) {
    return rc;
  }
  rc = weir__store_label_add(txn, name, id, err);
  if (rc == WEIR_OK && !cache_label(labels_of(txn), *id, name)) {
    rc = no_memory(err);
  }
  return rc;
}

int weir__label_name(weir_txn *txn, int64_t id, weir_text *name, weir_error *err) {
  struct weir__labels *labels = labels_of(txn);
  const label_entry *entry = label_by_id(labels, id);
  if (!entry) {
    int rc = weir__store_label_get(txn, id, visit_label, labels, err);
    if (rc) {
      return rc;
    }
    entry = label_by_id(labels, id);
    if (!entry) {
      return weir_fail(err, WEIR_CORRUPT, "the store is damaged: a label that is in use is missing");
    }
  }
  *name = (weir_text){entry->name, entry->len};
  return WEIR_OK;
}

/* ---- Sets ---------------------------------------------------------------------------------------------- */

typedef int (*name_to_id)(weir_txn *txn, weir_text name, int64_t *id, weir_error *err);

/* The numbers of the names, ascending, each once; *count becomes 0 if one of them has none. */
static int ids_of(weir_txn *txn, name_to_id id_of, const weir_text *names, size_t *count, int64_t *ids,
                  weir_error *err) {
  size_t known = 0;
  for (size_t i = 0; i < *count; i++) {
    int64_t id;
    int rc = id_of(txn, names[i], &id, err);
    if (rc) {
      return rc;
    }
    if (id == 0) {
      *count = 0;
      return WEIR_OK;
    }
    size_t at = known;
    while (at > 0 && ids[at - 1] > id) {
      at--;
    }
    if (at > 0 && ids[at - 1] == id) {
      continue;
    }
    memmove(ids + at + 1, ids + at, (known - at) * sizeof *ids);
    ids[at] = id;
    known++;
  }
  *count = known;
  return WEIR_OK;
}

/* *id becomes the number of the set of these labels, which are cached; 0 if there is none. */
static int find_set(weir_txn *txn, const int64_t *ids, size_t count, int64_t *id, weir_error *err) {
  struct weir__labels *labels = labels_of(txn);
  const label_set *entry = set_by_ids(labels, ids, count);
  if (entry) {
    *id = entry->set.id;
    return WEIR_OK;
  }
  int rc = weir__store_label_set_find(txn, ids, count, id, err);
  if (rc == WEIR_OK && *id != 0 && !cache_set(labels, *id, ids, count)) {
    rc = no_memory(err);
  }
  return rc;
}

int weir__label_set_find(weir_txn *txn, const weir_text *names, size_t count, int64_t *id, weir_error *err) {
  int64_t ids[WEIR_LABELS_MAX];
  *id = count ? 0 : WEIR__LABEL_SET_EMPTY;
  int rc = ids_of(txn, weir__label_find, names, &count, ids, err);
  return rc || count == 0 ? rc : find_set(txn, ids, count, id, err);
}

int weir__label_set_make(weir_txn *txn, const weir_text *names, size_t count, int64_t *id, weir_error *err) {
  int64_t ids[WEIR_LABELS_MAX];
  *id = count ? 0 : WEIR__LABEL_SET_EMPTY;
  int rc = ids_of(txn, weir__label_make, names, &count, ids, err);
  if (rc || count == 0) {
    return rc;
  }
  rc = find_set(txn, ids, count, id, err);
  if (rc || *id != 0) {
    return rc;
  }
  rc = weir__store_label_set_add(txn, ids, count, id, err);
  if (rc == WEIR_OK && !cache_set(labels_of(txn), *id, ids, count)) {
    rc = no_memory(err);
  }
  return rc;
}

struct loading {
  struct weir__labels *labels;
  size_t count;
  int64_t ids[WEIR_LABELS_MAX];
};

static int visit_member(int64_t id, weir_text name, void *data, weir_error *err) {
  struct loading *loading = data;
  if (loading->count == WEIR_LABELS_MAX) {
    return weir_fail(err, WEIR_CORRUPT, "the store is damaged: a set of more than %d labels",
                     WEIR_LABELS_MAX);
  }
  loading->ids[loading->count++] = id;
  return visit_label(id, name, loading->labels, err);
}

int weir__label_set_get(weir_txn *txn, int64_t id, const weir__label_set **set, weir_error *err) {
  struct weir__labels *labels = labels_of(txn);
  if (id == WEIR__LABEL_SET_EMPTY) {
    *set = &empty_set;
    return WEIR_OK;
  }
  const label_set *entry = set_by_id(labels, id);
  if (!entry) {
    struct loading loading = {.labels = labels};
    int rc = weir__store_label_set_get(txn, id, visit_member, &loading, err);
    if (rc) {
      return rc;
    }
    if (loading.count == 0) {
      return weir_fail(err, WEIR_CORRUPT, "the store is damaged: a set of labels that is in use is missing");
    }
    entry = cache_set(labels, id, loading.ids, loading.count);
    if (!entry) {
      return no_memory(err);
    }
  }
  *set = &entry->set;
  return WEIR_OK;
}
