/* Conditions and paths as they come in: checks, copies, and the one way in which a path is written down. */
#ifndef WEIR_GRAPH_COND_H
#define WEIR_GRAPH_COND_H

#include <weir/query.h>

/* Room for any path as weir__path_write makes it, and a NUL. */
#define WEIR__PATH_ROOM (2 * WEIR_PATH_MAX + 8)

/* WEIR_OK if `path` is the name of a member or a JSON path; else WEIR_INVALID, and the message calls it
 * `what`. */
int weir__path_check(weir_text path, const char *what, weir_error *err);

/* Writes a path that was checked as a JSON path with all its names quoted, $."home"."town"[0], so that paths
 * that mean the same become the same. Returns its length; a NUL follows. */
size_t weir__path_write(weir_text path, char out[WEIR__PATH_ROOM]);

/* The path for people that weir__path_write has made `written` of: the bare name of a single member if it is
 * one that would be taken as it is, else `written` itself. It is put into `out`, with a NUL behind it. */
weir_text weir__path_show(weir_text written, char out[WEIR__PATH_ROOM]);

/* WEIR_OK if the condition (NULL: true) makes sense for rows of that kind. */
int weir__cond_check(const weir_cond *cond, weir_target target, weir_error *err);

/* A deep copy of a condition that was checked, in one piece of memory that free() frees. NULL: out of memory.
 */
weir_cond *weir__cond_copy(const weir_cond *cond);

#endif
