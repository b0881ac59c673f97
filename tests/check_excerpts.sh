#!/bin/bash
# shellcheck disable=SC2016 # backticks here are those of Markdown
# The C in a page stands in a program, where it is compiled and run.
# check_excerpts.sh SOURCE-DIRECTORY
set -euo pipefail
cd "$1"

failed=0

# check PAGE PROGRAM...: each block of C in the page is in one of the programs, to the letter.
check() {
  local page=$1 inside=0 excerpts=0 excerpt='' text line
  shift
  text=$(cat "$@")
  while IFS= read -r line; do
    case $inside$line in
    '0```c') inside=1 excerpt= ;;
    '1```')
      inside=0
      excerpts=$((excerpts + 1))
      if [[ $text != *"$excerpt"* ]]; then
        echo "$page: not in $*: ${excerpt%%$'\n'*}" >&2
        failed=1
      fi
      ;;
    1*) excerpt+=$line$'\n' ;;
    esac
  done <"$page"
  [ $excerpts -gt 0 ] || { echo "$page shows no C" >&2 && failed=1; }
}

check docs/algorithms.md tests/test_algorithms.c
check docs/async.md examples/async.c examples/pages.c
check docs/querying.md tests/test_querying.c
check docs/search.md tests/test_searching.c examples/memory.c
check docs/traversal.md tests/test_traversing.c
exit $failed
