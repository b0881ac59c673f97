/* What a "file:" URI asks of SQLite that the pool must know before it opens it, and how to open it again. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Copies what stands before one of `ends`, decoded as SQLite does it: an encoded NUL hides the rest. What
 * does not fit is cut. Returns where it stopped. */
static const char *decode(const char *from, const char *ends, char *to, size_t size) {
  size_t length = 0;
  int hidden = 0;
  for (; *from && !strchr(ends, *from); from++) {
    char byte = *from;
    if (byte == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
      const char digits[3] = {from[1], from[2], '\0'};
      byte = (char)strtol(digits, NULL, 16);
      from += 2;
    }
    hidden |= byte == '\0';
    if (!hidden && length + 1 < size) {
      to[length++] = byte;
    }
  }
  to[length] = '\0';
  return from;
}

static int is_uri(const char *path) {
  return strncmp(path, "file:", 5) == 0;
}

/* sqlite3_uri_parameter could tell, but not of a database in memory. */
int weir__uri_shares_cache(const char *path) {
  const char *at = path + strcspn(path, "?#");
  int shares = 0;
  if (!is_uri(path)) {
    return 0;
  }
  while (*at == '?' || *at == '&') {
    char key[8];
    char value[8] = "";
    at = decode(at + 1, "=&#", key, sizeof(key));
    if (*at == '=') {
      at = decode(at + 1, "&#", value, sizeof(value));
    }
    shares |= strcmp(key, "cache") == 0 && strcmp(value, "shared") == 0;
  }
  return shares;
}

/* Writes the name of a file as it stands in a URI. Returns where it ends. */
static char *encode(const char *name, char *to) {
  static const char digits[] = "0123456789abcdef";
  for (; *name; name++) {
    unsigned char byte = (unsigned char)*name;
    if (isalnum(byte) || strchr("/-._", byte)) {
      *to++ = (char)byte;
    } else {
      *to++ = '%';
      *to++ = digits[byte >> 4];
      *to++ = digits[byte & 15];
    }
  }
  return to;
}

char *weir__uri_again(const char *path, const char *file) {
  if (!is_uri(path)) {
    return strdup(file);
  }
  char *uri = malloc(sizeof("file://") + 3 * strlen(file) + strlen(path));
  if (!uri) {
    return NULL;
  }
  char *to = encode(file, stpcpy(uri, "file://"));
  char join = '?';
  for (const char *at = path + strcspn(path, "?#"); *at == '?' || *at == '&';) {
    char key[8];
    const char *begin = at + 1;
    at = begin + strcspn(begin, "&#");
    (void)decode(begin, "=&#", key, sizeof(key));
    if (strcmp(key, "mode") != 0) {
      *to++ = join;
      memcpy(to, begin, (size_t)(at - begin));
      to += at - begin;
      join = '&';
    }
  }
  *to = '\0';
  return uri;
}
