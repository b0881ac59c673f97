/*
 * weir/error.h - return codes and error detail of every weir function.
 *
 * Every function that can fail returns int: WEIR_OK (0) or one of the negative codes below. Each code
 * is one that a caller can act on; SQLite's and libuv's own codes are translated at the border.
 *
 * The detail travels with the operation. Functions take an optional, caller-owned weir_error as their
 * last argument: NULL is allowed, and on success it is left as it was. There is no "last error" of a
 * handle or a thread.
 */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <stddef.h>

#if defined(WEIR_STATIC) || !defined(__GNUC__)
#define WEIR_API
#else
#define WEIR_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define WEIR_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))
#define WEIR_CHECKED                       __attribute__((warn_unused_result))
#else
#define WEIR_PRINTF(format_arg, first_arg)
#define WEIR_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of codes: X(name, value, what it means and what to do). */
#define WEIR_ERROR_MAP(X)                                                                                    \
  X(OK, 0, "success")                                                                                        \
  X(NOMEM, -1, "out of memory")                                                                              \
  X(INVALID, -2, "invalid argument")                                                                         \
  X(MISUSE, -3, "call not allowed here")                                                                     \
  X(NOT_FOUND, -4, "not found")                                                                              \
  X(EXISTS, -5, "already exists")                                                                            \
  X(CONSTRAINT, -6, "constraint violated")                                                                   \
  X(CONFLICT, -7, "conflicting change, run again")                                                           \
  X(BUSY, -8, "lock or place not had in time")                                                               \
  X(CANCELED, -9, "canceled")                                                                                \
  X(TIMEOUT, -10, "deadline passed")                                                                         \
  X(CLOSED, -11, "handle is closed or closing")                                                              \
  X(IO, -12, "input or output failed")                                                                       \
  X(FULL, -13, "no space left")                                                                              \
  X(READONLY, -14, "read-only")                                                                              \
  X(CORRUPT, -15, "not a usable database")                                                                   \
  X(VERSION, -16, "made by a newer version")                                                                 \
  X(FORKED, -17, "handle was opened before fork()")                                                          \
  X(INDETERMINATE, -18, "sync failed, outcome unknown")                                                      \
  X(SQL, -19, "SQL statement failed")

enum {
#define WEIR_ERROR_ENUM(name, value, text) WEIR_##name = (value),
  WEIR_ERROR_MAP(WEIR_ERROR_ENUM)
#undef WEIR_ERROR_ENUM
};

/* What a visitor returns to end the iteration early without an error. */
#define WEIR_STOP 1

#define WEIR_ERROR_MESSAGE_SIZE 256 /* bytes, the NUL included */

/*
 * Detail of one failed operation. Plain data: the caller owns it, copies it freely, has nothing to
 * release. WEIR_ERROR_INIT (or zeroing) is enough to start with. One thread at a time.
 */
typedef struct weir_error {
  int code;                              /* the code that the function returned */
  int sqlite_code;                       /* SQLite's extended result code, or 0 */
  int system_errno;                      /* errno behind an input or output failure, or 0 */
  char message[WEIR_ERROR_MESSAGE_SIZE]; /* what was wrong with which input, and what to do */
} weir_error;

#define WEIR_ERROR_INIT                                                                                      \
  {                                                                                                          \
    0, 0, 0, {                                                                                               \
      0                                                                                                      \
    }                                                                                                        \
  }

/* The meaning of `code` in a few words ("not found"). Never NULL. Static text, any thread. */
WEIR_API const char *weir_strerror(int code);

/* The name of `code` ("WEIR_NOT_FOUND"; "WEIR_UNKNOWN" for a foreign number). Static text, any thread. */
WEIR_API const char *weir_error_name(int code);

/*
 * Fills `err` (if not NULL) with `code` and a printf-formatted message, cut at its size, and returns
 * `code`. For callbacks that want to report an error of their own: `return weir_fail(err, WEIR_INVALID,
 * "age %d is negative", age);`. Any thread.
 */
WEIR_API int weir_fail(weir_error *err, int code, const char *format, ...) WEIR_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_ERROR_H */
