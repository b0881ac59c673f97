/*
 * UUID version 7, RFC 9562 section 5.7: 48 bits of Unix time in milliseconds, then 74 random bits around
 * version and variant. Keys made one after another are therefore near each other in the index. Those of the
 * same millisecond have no order among them.
 */
#include "uuid.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#define UUID_BYTES 16

static int random_bytes(unsigned char *out, size_t size, weir_error *err) {
  while (size > 0) {
    ssize_t got = getrandom(out, size, 0);
    if (got < 0) {
      int saved = errno;
      if (saved == EINTR) {
        continue;
      }
      int rc = weir_fail(err, WEIR_IO, "no random numbers for a new key (errno %d): give a key", saved);
      if (err) {
        err->system_errno = saved;
      }
      return rc;
    }
    out += got;
    size -= (size_t)got;
  }
  return WEIR_OK;
}

int weir__uuid_make(char uuid[WEIR_UUID_SIZE], weir_error *err) {
  static const char digits[] = "0123456789abcdef";
  unsigned char bytes[UUID_BYTES];
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail with this clock */
  uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
  for (int i = 0; i < 6; i++) {
    bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
  }
  int rc = random_bytes(bytes + 6, sizeof bytes - 6, err);
  if (rc) {
    return rc;
  }
  bytes[6] = (unsigned char)(0x70 | (bytes[6] & 0x0F)); /* version 7 */
  bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3F)); /* variant 10 */
  char *out = uuid;
  for (int i = 0; i < UUID_BYTES; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      *out++ = '-';
    }
    *out++ = digits[bytes[i] >> 4];
    *out++ = digits[bytes[i] & 0x0F];
  }
  *out = '\0';
  return WEIR_OK;
}
