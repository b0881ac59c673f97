/* What a "file:" URI asks of SQLite that the pool must know before it opens it. */
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

/* sqlite3_uri_parameter could tell, but not of a database in memory. */
int weir__uri_shares_cache(const char *path) {
  const char *at = path + strcspn(path, "?#");
  int shares = 0;
  if (strncmp(path, "file:", 5) != 0) {
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
