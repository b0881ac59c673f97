#!/bin/bash
# shellcheck disable=SC2016 # backticks here are those of Markdown
# The C in docs/async.md stands in examples/async.c, where it is compiled and run.
# check_excerpts.sh SOURCE-DIRECTORY
set -euo pipefail
cd "$1"

page=docs/async.md
program=examples/async.c
text=$(<"$program")
inside=0 excerpts=0 failed=0 excerpt=
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
[ $excerpts -gt 0 ] || { echo "$page shows no C" >&2 && exit 1; }
exit $failed
