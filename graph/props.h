/* Props as text that comes in, and their change by JSON Merge Patch (RFC 7396). */
#ifndef WEIR_GRAPH_PROPS_H
#define WEIR_GRAPH_PROPS_H

#include <weir/query.h>

struct json_t;

/* WEIR_OK if `props` is a JSON object, or empty. */
int weir__props_check(weir_text props, weir_error *err);

/* The text that is stored for props that were checked. */
static inline weir_text weir__props_stored(weir_text props) {
  static const weir_text empty = WEIR_TEXT("{}");
  return props.len > 0 ? props : empty;
}

/* Parses a patch; weir__patch_free frees it. It is not changed by its use. */
int weir__patch_parse(weir_text patch, struct json_t **out, weir_error *err);
void weir__patch_free(struct json_t *patch);

/* A patch that changes nothing. Errors: WEIR_NOMEM. */
int weir__patch_new(struct json_t **out, weir_error *err);

/* Makes it set the member `name` to an integer, a finite real or a text, or remove it (WEIR_TYPE_NONE).
 * Errors: WEIR_NOMEM. */
int weir__patch_set(struct json_t *patch, const char *name, const weir_value *value, weir_error *err);

/*
 * Patches `props`, which are valid. *out becomes the new text of *len bytes, which the caller frees, or NULL
 * if the patch changes nothing. Members keep their order, new ones follow; white space goes; numbers keep
 * their value.
 */
int weir__props_merge(weir_text props, struct json_t *patch, char **out, size_t *len, weir_error *err);

#endif
