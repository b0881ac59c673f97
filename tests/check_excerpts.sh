#!/bin/bash
# shellcheck disable=SC2016 # backticks here are those of Markdown
# The C in a page stands in a program, where it is compiled and run.
# check_excerpts.sh SOURCE-DIRECTORY
set -euo pipefail
cd "$1"

failed=0

# check PAGE PROGRAM: each block of C in the page is in the program, to the letter.
check() {
  local page=$1 program=$2 inside=0 excerpts=0 excerpt='' text line
  text=$(<"$program")
  while IFS= read -r line; do
    case $inside$line in
    '0```c') inside=1 excerpt= ;;
    '1```')
      inside=0
      excerpts=$((excerpts + 1))
      if [[ $text != *"$excerpt"* ]]; then
        echo "$page: not in $program: ${excerpt%%$'\n'*}" >&2
        failed=1
      fi
      ;;
    1*) excerpt+=$line$'\n' ;;
    esac
  done <"$page"
  [ $excerpts -gt 0 ] || { echo "$page shows no C" >&2 && failed=1; }
}

check docs/async.md examples/async.c
check docs/querying.md tests/test_querying.c
exit $failed
