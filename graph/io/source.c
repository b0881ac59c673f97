/*
 * Sources of bytes on zlib, whose gzread passes plain files through unchanged.
 *
 * zlib reports a gzip file that was cut off only on a second look: gzread returns what there is, and then
 * gzerror says Z_BUF_ERROR. So the end of the file counts as its end only when gzerror agrees.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_SIZE = 1 << 17 };

static int fail_errno(const weir__source *source, const char *doing, int number, weir_error *err) {
  int code = number == ENOENT || number == ENOTDIR ? WEIR_NOT_FOUND : number == ENOMEM ? WEIR_NOMEM : WEIR_IO;
  char text[96];
  if (strerror_r(number, text, sizeof(text)) != 0)
    (void)snprintf(text, sizeof(text), "error %d", number);
  (void)weir_fail(err, code, "%s: cannot %s: %s", source->path, doing, text);
  if (err)
    err->system_errno = number;
  return code;
}

/* What is behind the descriptor: refuses directories, notes size and kind. */
static int inspect(weir__source *source, int fd, weir_error *err) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fail_errno(source, "stat", errno, err);
  if (S_ISDIR(info.st_mode))
    return weir_fail(err, WEIR_INVALID, "%s is a directory: give a file", source->path);
  source->regular = S_ISREG(info.st_mode);
  source->bytes_total = source->regular ? (uint64_t)info.st_size : 0;
  return WEIR_OK;
}

int weir__source_open(weir__source *source, const char *path, weir_error *err) {
  *source = (weir__source){.path = path};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return fail_errno(source, "open", errno, err);
  int rc = inspect(source, fd, err);
  if (rc == WEIR_OK) {
    source->buffer = malloc(BUFFER_SIZE);
    source->gz = source->buffer ? gzdopen(fd, "rb") : NULL; /* now the owner of fd */
    if (source->gz && gzbuffer(source->gz, BUFFER_SIZE) == 0)
      return WEIR_OK;
    rc = weir_fail(err, WEIR_NOMEM, "%s: no memory for buffers", path);
  }
  if (!source->gz)
    (void)close(fd);
  weir__source_close(source);
  return rc;
}

/* The reason why gzread came back with `got` bytes, when that is an error. */
static int check_read(weir__source *source, int got, weir_error *err) {
  int status = Z_OK;
  int number = errno;
  const char *text = gzerror(source->gz, &status);
  if (status == Z_ERRNO)
    return fail_errno(source, "read", number, err);
  if (status == Z_MEM_ERROR)
    return weir_fail(err, WEIR_NOMEM, "%s: no memory to decompress", source->path);
  if (status == Z_BUF_ERROR)
    return weir_fail(err, WEIR_IO, "%s: compressed data are cut off: get the whole file", source->path);
  if (got < 0 || (status != Z_OK && status != Z_STREAM_END))
    return weir_fail(err, WEIR_IO, "%s: compressed data are damaged (%s): get a sound copy", source->path,
                     text);
  return WEIR_OK;
}

int weir__source_read(weir__source *source, const char **bytes, size_t *count, weir_error *err) {
  static const char mark[] = {'\xEF', '\xBB', '\xBF'};
  int got = gzread(source->gz, source->buffer, BUFFER_SIZE); /* less than the buffer: at the end only */
  int rc = got > 0 ? WEIR_OK : check_read(source, got, err);
  *bytes = source->buffer;
  *count = got > 0 ? (size_t)got : 0;
  if (!source->begun && *count >= sizeof(mark) && memcmp(*bytes, mark, sizeof(mark)) == 0) {
    *bytes += sizeof(mark);
    *count -= sizeof(mark);
  }
  source->begun = 1;
  return rc;
}

int weir__source_rewind(weir__source *source, weir_error *err) {
  if (!source->regular)
    return weir_fail(err, WEIR_IO,
                     "%s: the load had to start again, and what is no regular file cannot be "
                     "read twice: load from a file",
                     source->path);
  if (gzrewind(source->gz) != 0)
    return fail_errno(source, "rewind", errno, err);
  source->begun = 0;
  return WEIR_OK;
}

uint64_t weir__source_offset(const weir__source *source) {
  z_off_t offset = gzoffset(source->gz);
  return offset > 0 ? (uint64_t)offset : 0;
}

void weir__source_close(weir__source *source) {
  if (source->gz)
    (void)gzclose_r(source->gz); /* reading: nothing is left that could fail */
  free(source->buffer);
  source->gz = NULL;
  source->buffer = NULL;
}
