/* Keys that weir makes. */
#ifndef WEIR_GRAPH_UUID_H
#define WEIR_GRAPH_UUID_H

#include <weir/graph.h>

/* Writes a new UUID version 7 as 36 characters and a NUL. Errors: WEIR_IO (no random numbers). */
int weir__uuid_make(char uuid[WEIR_UUID_SIZE], weir_error *err);

#endif
