/*
 * A source of text: a file, read from its beginning to its end through one buffer, and decompressed on the
 * way if it begins as gzip data does. A UTF-8 byte order mark at the beginning is left out. One thread at a
 * time.
 */
#ifndef WEIR_IO_SOURCE_H
#define WEIR_IO_SOURCE_H

#include <stdint.h>

#include <weir/error.h>

typedef struct weir__source {
  const char *path;
  struct gzFile_s *gz; /* NULL: closed */
  char *buffer;
  uint64_t bytes_total; /* of a regular file; 0 for anything else */
  int regular;          /* 1: a regular file, which can be read again */
  int begun;            /* 1: the beginning has been read */
} weir__source;

/* Opens the file. `path` must outlive the source. Errors: WEIR_NOT_FOUND, WEIR_INVALID (a directory),
 * WEIR_IO, WEIR_NOMEM; then nothing needs closing. */
int weir__source_open(weir__source *source, const char *path, weir_error *err);

/* Reads on: *bytes and *count are the next part of the file, valid until the next call; *count is 0 at its
 * end. Errors: WEIR_IO, also for gzip data that are damaged or cut off. */
int weir__source_read(weir__source *source, const char **bytes, size_t *count, weir_error *err);

/* Goes back to the beginning. Errors: WEIR_IO, always so for what is not a regular file. */
int weir__source_rewind(weir__source *source, weir_error *err);

/* How many bytes of the file have been read, before decompression. */
uint64_t weir__source_offset(const weir__source *source);

/* Closes the file; a closed (or zeroed) source is left as it is. */
void weir__source_close(weir__source *source);

#endif
