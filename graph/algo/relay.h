/*
 * Blocks of data that one thread fills and another takes apart, in their order, at the same time; without the
 * other thread the one that fills them does both.
 */
#ifndef WEIR_GRAPH_ALGO_RELAY_H
#define WEIR_GRAPH_ALGO_RELAY_H

#include <stddef.h>

#include <weir/error.h>

typedef struct weir__relay weir__relay;

/* Takes a block apart. An error is told by the next weir__relay_pass, and no more blocks come. */
typedef int (*weir__relay_fn)(void *block, void *data, weir_error *err);

/* Begins. threaded: 1 to take blocks apart on a thread of their own, if the system has one to give. The error
 * of `take` goes to `err` of weir__relay_pass or weir__relay_close. */
int weir__relay_open(weir__relay **out, size_t block_size, int threaded, weir__relay_fn take, void *data,
                     weir_error *err);

/* The block that is to be filled; what is in it is old. */
void *weir__relay_block(weir__relay *relay);

/* It is filled. Waits while all others still are. Errors: those of `take`. */
int weir__relay_pass(weir__relay *relay, weir_error *err);

/* Waits until all that were passed are taken apart, unless rc is an error, and ends. Returns rc, or what went
 * wrong. NULL is a no-op. */
int weir__relay_close(weir__relay *relay, int rc, weir_error *err);

#endif
