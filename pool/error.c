/* Names, meanings and messages of return codes; translation of SQLite's. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

const char *weir_strerror(int code) {
  switch (code) {
#define CASE(name, value, text)                                                                              \
  case WEIR_##name:                                                                                          \
    return text;
    WEIR_ERROR_MAP(CASE)
#undef CASE
  default:
    return "unknown code";
  }
}

const char *weir_error_name(int code) {
  switch (code) {
#define CASE(name, value, text)                                                                              \
  case WEIR_##name:                                                                                          \
    return "WEIR_" #name;
    WEIR_ERROR_MAP(CASE)
#undef CASE
  default:
    return "WEIR_UNKNOWN";
  }
}

int(weir_fail)(weir_error *err, int code, const char *format, ...) { /* in (): see cmake/analyzer.h */
  if (err) {
    char message[WEIR_ERROR_MESSAGE_SIZE] = ""; /* err's own may be among the arguments */
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args); /* cut at its size, as documented */
    va_end(args);
    err->code = code;
    err->sqlite_code = 0;
    err->system_errno = 0;
    memcpy(err->message, message, strlen(message) + 1);
  }
  return code;
}

int weir__sqlite_code(int sqlite_code) {
  switch (sqlite_code) { /* extended codes first */
  case SQLITE_BUSY_SNAPSHOT:
    return WEIR_CONFLICT;
  case SQLITE_IOERR_FSYNC:
  case SQLITE_IOERR_DIR_FSYNC:
    return WEIR_INDETERMINATE;
  case SQLITE_IOERR_NOMEM:
    return WEIR_NOMEM;
  default:
    break;
  }
  switch (sqlite_code & 0xff) {
  case SQLITE_OK:
  case SQLITE_ROW:
  case SQLITE_DONE:
    return WEIR_OK;
  case SQLITE_NOMEM:
    return WEIR_NOMEM;
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
  case SQLITE_PROTOCOL:
    return WEIR_BUSY;
  case SQLITE_SCHEMA:
    return WEIR_CONFLICT;
  case SQLITE_CONSTRAINT:
  case SQLITE_MISMATCH:
    return WEIR_CONSTRAINT;
  case SQLITE_FULL:
    return WEIR_FULL;
  case SQLITE_READONLY:
    return WEIR_READONLY;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return WEIR_CORRUPT;
  case SQLITE_IOERR:
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
  case SQLITE_NOLFS:
    return WEIR_IO;
  case SQLITE_INTERRUPT:
    return WEIR_CANCELED;
  case SQLITE_AUTH:
  case SQLITE_MISUSE:
  case SQLITE_RANGE:
    return WEIR_MISUSE;
  case SQLITE_TOOBIG:
    return WEIR_INVALID;
  default:
    return WEIR_SQL;
  }
}

int weir__sqlite_fail(weir_error *err, sqlite3 *db, int sqlite_code, const char *doing) {
  int code = weir__sqlite_code(sqlite_code);
  if (code == WEIR_OK) {
    return WEIR_OK;
  }
  const char *message = db ? sqlite3_errmsg(db) : sqlite3_errstr(sqlite_code);
  (void)weir_fail(err, code, "%s: %s (SQLite code %d)", doing, message, sqlite_code);
  if (err) {
    err->sqlite_code = sqlite_code;
    int kind = sqlite_code & 0xff; /* with others SQLite leaves the errno of an earlier failure */
    err->system_errno =
        db && (kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) ? sqlite3_system_errno(db) : 0;
  }
  return code;
}
