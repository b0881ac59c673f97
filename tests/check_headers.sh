#!/bin/bash
# Each public header compiles alone, and twice, in strict C and in C++ without a warning.
# check_headers.sh INCLUDE-DIRECTORY...
set -euo pipefail

includes=() count=0 failed=0
for directory in "$@"; do
  includes+=(-I "$directory")
done

# compile NAME COMMAND...: compiles the header <NAME>.
compile() {
  local name=$1
  shift
  if ! printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
    "$@" "${includes[@]}" -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -; then
    echo "<$name> does not compile with $*" >&2
    failed=1
  fi
}

for directory in "$@"; do
  for header in "$directory"/weir/*.h; do
    name=weir/${header##*/}
    case $name in
    weir/async.h | weir/graph_async.h) c=gnu11 ;; # <uv.h> needs POSIX types, which strict C11 hides
    *) c=c11 ;;
    esac
    compile "$name" gcc -std=$c -Wstrict-prototypes -Wmissing-prototypes -Wundef -x c
    compile "$name" g++ -std=c++11 -x c++
    count=$((count + 1))
  done
done
[ "$count" -ge 5 ] || { echo "only $count headers found" >&2 && exit 1; }
exit $failed
