/* Included before each file that clang-tidy looks at (./dev check tidy): says that weir_fail returns its
 * code, so that the analyzer does not follow paths on which a failure is WEIR_OK. */
#include <weir/error.h>
#define weir_fail(err, code, ...) (weir_fail((err), (code), __VA_ARGS__), (code))
