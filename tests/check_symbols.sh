#!/bin/bash
# The shared library exports each function that a public header declares, and nothing else. It does not call
# what a library must not: it never prints, ends the process or reads the environment.
# check_symbols.sh LIBRARY HEADER...
set -euo pipefail

library=$1
shift
failed=0

declared=$(cat "$@" | tr '\n' ' ' | grep -oP 'WEIR_API [^;({]*?\Kweir_\w+(?=\()' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u)
if ! diff --label declared --label exported -U0 <(echo "$declared") <(echo "$exported"); then
  echo "$library: '-' is declared WEIR_API and not exported, '+' should be hidden" >&2
  failed=1
fi

barred='exit|_exit|abort|__assert_fail|getenv|secure_getenv|setenv|printf|puts|putchar|perror|stdout|stderr|rand|srand'
if nm -D --undefined-only "$library" | grep -wE "($barred)(@.*)?$"; then
  echo "$library: a library calls none of these" >&2
  failed=1
fi

echo "$(wc -l <<<"$exported") symbols exported"
exit $failed
