/* The source of bytes that loaders read from. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "io/source.h"
#include "loads.h"

TestSuite(load_source, .timeout = 60);

#define LITERAL(text) (text), sizeof(text) - 1

/* What a load that runs again relies on. */
Test(load_source, a_file_can_be_read_again_from_its_beginning) {
  char path[LOADS_PATH_SIZE];
  for (int gzip = 0; gzip < 2; gzip++) {
    weir__source source;
    weir_error err = WEIR_ERROR_INIT;
    const char *bytes;
    size_t count;
    (gzip ? loads_gzip_file(path, "file", LITERAL("\xEF\xBB\xBFtext"), 0)
          : loads_file(path, "file", LITERAL("\xEF\xBB\xBFtext")));
    cr_assert(eq(int, weir__source_open(&source, path, &err), WEIR_OK), "%s", err.message);
    for (int run = 0; run < 3; run++) {
      cr_assert(eq(int, weir__source_read(&source, &bytes, &count, &err), WEIR_OK), "%s", err.message);
      cr_assert(eq(sz, count, 4));
      cr_assert(eq(int, memcmp(bytes, "text", 4), 0));
      cr_assert(eq(int, weir__source_read(&source, &bytes, &count, &err), WEIR_OK), "%s", err.message);
      cr_assert(eq(sz, count, 0));
      cr_assert(eq(int, weir__source_rewind(&source, &err), WEIR_OK), "%s", err.message);
    }
    weir__source_close(&source);
  }
}

Test(load_source, a_byte_order_mark_counts_at_the_beginning_only) {
  enum { BUFFER = 1 << 17 }; /* of the source: what comes then is the next part */
  static const char mark[] = "\xEF\xBB\xBF";
  char path[LOADS_PATH_SIZE];
  weir__source source;
  weir_error err = WEIR_ERROR_INIT;
  const char *bytes;
  size_t count, total = 0;
  char *text = malloc(BUFFER + 3);
  cr_assert(ne(ptr, text, NULL));
  memset(text, 'x', BUFFER);
  memcpy(text + BUFFER, mark, 3);
  loads_file(path, "file", text, BUFFER + 3);
  free(text);
  cr_assert(eq(int, weir__source_open(&source, path, &err), WEIR_OK), "%s", err.message);
  do {
    cr_assert(eq(int, weir__source_read(&source, &bytes, &count, &err), WEIR_OK), "%s", err.message);
    total += count;
  } while (count > 0);
  cr_assert(eq(sz, total, BUFFER + 3));
  weir__source_close(&source);
}
