/*
 * For the tests of what pages show: their printf prints into a buffer. Include it last.
 */
#ifndef WEIR_TEST_PRINTED_H
#define WEIR_TEST_PRINTED_H

#include <stdio.h>
#include <string.h>

static char output[4096];

#define printf(...) snprintf(output + strlen(output), sizeof output - strlen(output), __VA_ARGS__)

/* What was printed since the last call; valid until the next one. */
static const char *printed(void) {
  static char copy[sizeof output];
  memcpy(copy, output, sizeof output);
  output[0] = '\0';
  return copy;
}

#endif
