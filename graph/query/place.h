/*
 * Places in results as printable text: a few values, and which question they belong to. What is written is
 * the same in every process and on every machine.
 */
#ifndef WEIR_GRAPH_PLACE_H
#define WEIR_GRAPH_PLACE_H

#include <weir/query.h>

/* ---- What identifies a question --------------------------------------------------------------------------
 */

/* A hash that grows: begin with weir__hash_begin(). */
typedef uint64_t weir__hash;

weir__hash weir__hash_begin(void);
weir__hash weir__hash_number(weir__hash hash, uint64_t number);
weir__hash weir__hash_text(weir__hash hash, weir_text text);
weir__hash weir__hash_path(weir__hash hash, weir_text path); /* checked, or empty */
weir__hash weir__hash_value(weir__hash hash, const weir_value *value);
weir__hash weir__hash_cond(weir__hash hash, const weir_cond *cond); /* checked, or NULL */

/* ---- Tokens ----------------------------------------------------------------------------------------------
 */

/* Makes `place` the one of these values in the result of that question. Errors: WEIR_NOMEM; then it is as
 * before. */
int weir__place_write(weir_place *place, weir__hash question, const weir_value *values, size_t count,
                      weir_error *err);

/* Reads the values of a place that has a token. Texts lie in *memory, which the caller frees, also after an
 * error. Errors: WEIR_INVALID, if it is damaged, or of another question or number of values; WEIR_NOMEM. */
int weir__place_read(const weir_place *place, weir__hash question, weir_value *values, size_t count,
                     unsigned char **memory, weir_error *err);

#endif
